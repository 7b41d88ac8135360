"""Synthetic vaults of 10 to 20,000 notes: starts, memory, edits, searches, pages and the static site.

Every figure stands for all sizes in one row, so that growth beyond the linear is seen; the goals are those at 5,000.
"""

import gc
import http.client
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from app.garden.search import Index
from app.language import Language
from app.main import Gardener
from app.settings import Settings
from bench.processes import PERENNIAL, Server, garden
from bench.results import Row
from bench.vault import write_vault

SIZES = (10, 100, 1_000, 5_000, 20_000)
GOAL_SIZE = 5_000
LARGEST_BUILT = 5_000
FIRST = "/en/note-00000"
HOST = "note-00000"
"""Shows a section of another note once it is written over."""
Figures = dict[str, dict[int, float]]


def vaults(
    sizes: tuple[int, ...] = SIZES, *, runs: int = 3, edits: int = 5, queries: int = 300, built: int = LARGEST_BUILT
) -> list[Row]:
    found: Figures = {}
    for size in sizes:
        print(f"  {size:,} notes", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            content, kept = write_vault(Path(folder) / "content", size), Path(folder) / "kept"
            for name, value in _measured(content, kept, size, runs, edits, queries, built):
                found.setdefault(name, {})[size] = value
    return [row for row in map(lambda made: made(found), ROWS) if row.measured]


def _measured(
    content: Path, kept: Path, size: int, runs: int, edits: int, queries: int, built: int
) -> Iterator[tuple[str, float]]:
    with garden(content=content, cache_folder=kept) as server:
        yield "cold", server.until(FIRST)
        yield "index", server.until("/api/search?q=quetzal")
        yield "concepts", _drawn(server)
        yield "rss", server.resident_bytes() / 1e6
        yield from _searched(server, content, kept, queries)
        yield "home", _once(server, "/en/")
    warm = []
    for _ in range(runs):
        with garden(content=content, cache_folder=kept) as server:
            warm.append(server.until(FIRST))
    yield "warm", statistics.median(warm)
    with garden(content=content, cache_folder=kept, reload=True) as server:
        server.until(FIRST)
        server.until("/api/search?q=quetzal")
        yield from _edited(server, content, edits)
    if size <= built:
        began = time.perf_counter()
        out = content.parent / "site"
        command = [PERENNIAL, "build", str(out), "--content", str(content)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        yield "build", time.perf_counter() - began


def _drawn(server: Server) -> float:
    """Seconds of the concepts page once its picture is there."""
    while b'http-equiv="refresh"' in _get(server, "/en/concepts"):
        time.sleep(0.02)
    return _once(server, "/en/concepts?lang=en&kind=note")


def _once(server: Server, path: str) -> float:
    began = time.perf_counter()
    _get(server, path)
    return time.perf_counter() - began


def _get(server: Server, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path)
    body = connection.getresponse().read()
    connection.close()
    return body


def _searched(server: Server, content: Path, kept: Path, queries: int) -> Iterator[tuple[str, float]]:
    """Milliseconds of exact searches by one and two words of the notes: in a process, and over one connection."""
    draw = random.Random(1)
    texts = [path.read_text(encoding="utf-8") for path in draw.choices(sorted(content.rglob("*.md")), k=40)]
    words = [word for text in texts for word in re.findall(r"[a-z]{4,}|[\u4e00-\u9fff]{2,4}", text)]
    gardener = Gardener(Settings(content=content, cache_folder=kept))
    report = gardener.report()
    index = Index.of(report.garden.notes(), report.concepts, None, gardener.store)
    gc.freeze()
    inside, over = [], []
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for at in range(queries):
        query = " ".join(draw.choices(words, k=1 + at % 2))
        language: Language = "zh" if query > "\u4e00" else "en"
        began = time.perf_counter()
        index.search(query, language, 20, nearby=False)
        inside.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        connection.request("GET", f"/api/search?q={quote(query)}&lang={language}")
        connection.getresponse().read()
        over.append((time.perf_counter() - began) * 1000)
    connection.close()
    for name, times in (("search", inside), ("search over HTTP", over)):
        yield name, statistics.median(times)
        yield f"{name} p95", statistics.quantiles(times, n=20)[-1]


def _edited(server: Server, content: Path, edits: int) -> Iterator[tuple[str, float]]:
    """Seconds from the moment a file is saved until each of the pages that depend on it is right."""
    host, shown = (next(content.rglob(f"{slug}.en.md")) for slug in (HOST, "note-00001"))
    host.write_text(host.read_text(encoding="utf-8") + "\n![[note-00001#part-3]]\n", encoding="utf-8")
    text = shown.read_text(encoding="utf-8")
    time.sleep(3)  # what was just written is read again until its time has settled
    times: dict[str, list[float]] = {}
    for at in range(edits):
        word = f"quetzal{at}x"
        pages = {
            "edit": ("/en/note-00001", word),
            "edit: shown within another": (f"/en/{HOST}", word),
            "edit: backlinks": ("/en/note-00003", word),
            "edit: search": (f"/api/search?q={word}", '"total":1'),
            "edit: network": ("/en/concepts?around=note:note-00001", f'"node-concept-idea-{30 + at}"'),
        }
        time.sleep(0.5)
        began = time.perf_counter()
        line = f"\nIt is {word} by [[note-00003]] and [so]{{concept=idea-{30 + at}}}.\n"
        shown.write_text(text + line, encoding="utf-8")
        for name, (path, wanted) in pages.items():
            while wanted.encode() not in _get(server, path):
                if time.perf_counter() - began > 60:
                    raise RuntimeError(f"{path} never became right")
                time.sleep(0.002)
            times.setdefault(name, []).append(time.perf_counter() - began)
    for name, some in times.items():
        yield name, statistics.median(some)


def row(name: str, what: str, goal: float | None = None, unit: str = "s", digits: int = 2) -> Callable[[Figures], Row]:
    def made(found: Figures) -> Row:
        figures = found.get(name, {})
        scale = 1000 if unit == "ms" and not name.startswith("search") else 1
        said = " · ".join(f"{size:,}: {value * scale:,.{digits}f}" for size, value in figures.items())
        met = None if goal is None or GOAL_SIZE not in figures else figures[GOAL_SIZE] * scale <= goal
        return Row(what, f"≤ {goal:g} {unit} at 5,000" if goal else "", f"{said} {unit}" if said else "", met)

    return made


ROWS = (
    row("cold", "vaults: start to the first page, nothing kept", 5),
    row("warm", "vaults: start to the first page, from what was kept", 1),
    row("rss", "vaults: memory after search and network", 250, "MB", 0),
    row("index", "vaults: the first search after a cold start waits"),
    row("search", "vaults: exact search, median", None, "ms", 1),
    row("search p95", "vaults: exact search, p95", 5, "ms", 1),
    row("search over HTTP", "vaults: exact search over HTTP, median", None, "ms", 1),
    row("search over HTTP p95", "vaults: exact search over HTTP, p95", None, "ms", 1),
    row("edit", "vaults: saved file to the right page", 200, "ms", 0),
    row("edit: shown within another", "vaults: saved file to the note that shows it", 200, "ms", 0),
    row("edit: backlinks", "vaults: saved file to the right backlinks", 200, "ms", 0),
    row("edit: search", "vaults: saved file to the right search", 200, "ms", 0),
    row("edit: network", "vaults: saved file to the right network", 200, "ms", 0),
    row("home", "vaults: home page, first time", None, "ms", 0),
    row("concepts", "vaults: a view of the network, first time", None, "ms", 0),
    row("build", "vaults: static site, every file", None, "s", 1),
)
