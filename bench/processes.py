"""Processes that are started and ended: servers, the load generator; and what Linux says a process has used."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PERENNIAL = str(Path(sys.executable).parent / "perennial")
ARTICLE = "why-training-results-change"
PATIENCE = 60


class Server:
    """A server that answers on a free port of this machine."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int) -> None:
        self.process = process
        self.port = port
        self.address = f"http://127.0.0.1:{port}"

    def until(self, path: str) -> float:
        """Seconds until the path is answered with 200, whatever it took to come up."""
        started = time.perf_counter()
        while True:
            try:
                with urllib.request.urlopen(self.address + path, timeout=PATIENCE) as answer:
                    answer.read()
                return time.perf_counter() - started
            except (urllib.error.URLError, ConnectionError):
                if self.process.poll() is not None:
                    raise RuntimeError(f"the server of {path} ended with {self.process.returncode}") from None
                if time.perf_counter() - started > PATIENCE:
                    raise
                time.sleep(0.002)

    def settle(self) -> None:
        """Wait until the workers are up, what is on record has been measured again, and the kept pages were cleared."""
        self.until("/readyz")
        time.sleep(2)

    def processor_seconds(self) -> float:
        """Of all threads so far, without its workers."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def resident_bytes(self) -> int:
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def holds(self, library: str) -> bool:
        """Whether a file of such a path is mapped into its memory."""
        return f"/{library}/" in Path(f"/proc/{self.process.pid}/maps").read_text()


@contextlib.contextmanager
def garden(reload: bool = False, **settings: object) -> Iterator[Server]:
    """The garden as it is shipped, in a process of its own as readers meet it; or as its author does, with `reload`."""
    given = {f"PERENNIAL_{name.upper()}": str(value) for name, value in settings.items()}
    with _running([PERENNIAL, "serve", *(["--reload"] if reload else [])], given) as server:
        yield server


@contextlib.contextmanager
def bare(kind: str, place: Path) -> Iterator[Server]:
    port = _free_port()
    with _running([sys.executable, "-m", "bench.bare", kind, str(port), str(place)], {}, port) as server:
        yield server


@contextlib.contextmanager
def _running(command: list[str], settings: dict[str, str], port: int | None = None) -> Iterator[Server]:
    port = port or _free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PERENNIAL_")}
    environment = kept | {"PERENNIAL_PORT": str(port), "PERENNIAL_LOG_LEVEL": "error"} | settings
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    try:
        yield Server(process, port)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextlib.contextmanager
def generator() -> "Iterator[Generator]":
    command = [sys.executable, "-m", "bench.load"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Generator(process)  # it ends with its orders


class Generator:
    """The other side of bench/load.py."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def load(self, **order: Any) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        print(json.dumps(order), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the load generator gave up on {order['path']}")
        result: dict[str, Any] = json.loads(answer)
        return result
