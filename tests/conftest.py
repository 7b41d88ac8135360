"""A garden served on a free port of this machine, and a real browser that reads it."""

import atexit
import base64
import contextlib
import hashlib
import os
import shutil
import socket
import subprocess
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, Error, Page, Playwright, sync_playwright
from starlette.types import ASGIApp

from app.main import create_app
from app.settings import Settings
from app.web.assets import HTMX, HTMX_CDN

ROOT = Path(__file__).parent.parent
CONTENT = ROOT / "content"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
os.environ["PERENNIAL_CACHE_FOLDER"] = tempfile.mkdtemp(prefix="perennial-tests-")
atexit.register(shutil.rmtree, os.environ["PERENNIAL_CACHE_FOLDER"], ignore_errors=True)
"""Of the commands that tests run as well; the user's own is left alone."""
HOOK = Callable[[ASGIApp], ASGIApp]


@contextlib.contextmanager
def served(content: Path = CONTENT, around: HOOK = lambda app: app, **options: object) -> Iterator[str]:
    """The address of a garden that runs in a thread of this process; `around` may wrap the application."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = around(create_app(Settings(content=content, port=port, **options)))  # type: ignore[arg-type]
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", lifespan="on"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert thread.is_alive() and time.monotonic() < deadline, "the garden did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="session")
def article() -> Iterator[str]:
    """The garden as it is shipped."""
    with served() as address:
        yield address


def browser_path() -> str | None:
    """The browser that setup/browser.sh settled on; None for the one that Playwright brought itself."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for name in BROWSERS if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    opened = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def htmx_file(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    return published_htmx(tmp_path_factory.mktemp("htmx"))


def published_htmx(folder: Path) -> Path | None:
    """The file as published, from the npm package when npm is there; None: the browser asks the CDN itself."""
    if shutil.which("npm") is None:
        return None
    packed = subprocess.run(["npm", "pack", f"htmx.org@{HTMX}", "--silent"], cwd=folder, capture_output=True, text=True)
    assert packed.returncode == 0, packed.stderr
    with tarfile.open(folder / packed.stdout.strip()) as package:
        package.extract("package/dist/htmx.min.js", folder, filter="data")
    return folder / "package/dist/htmx.min.js"


class Reader:
    """A page of its own context, the CDN answered from the package; what the console says is kept."""

    def __init__(self, browser: Browser, htmx: Path | None, **context: object) -> None:
        self.context = browser.new_context(**context)  # type: ignore[arg-type]
        self.page: Page = self.context.new_page()
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        if htmx is not None:
            body = htmx.read_bytes()
            self.page.route(
                HTMX_CDN,
                lambda route: route.fulfill(
                    body=body, content_type="text/javascript", headers={"access-control-allow-origin": "*"}
                ),
            )

    def leave(self) -> None:
        """A page that is just being loaded, and asks for the CDN, could hold up the end of its context for ever."""
        for page in self.context.pages:
            page.unroute_all(behavior="ignoreErrors")
            with contextlib.suppress(Error):
                page.goto("about:blank")
        self.context.close()

    def open(self, address: str) -> Page:
        self.page.goto(address, wait_until="networkidle")
        return self.page


@pytest.fixture
def reader(browser: Browser, htmx_file: Path | None) -> Iterator[Callable[..., Reader]]:
    """Opens readers; at the end none of them may have met a script error or a violation of the policy."""
    readers: list[Reader] = []

    def another(**context: object) -> Reader:
        readers.append(Reader(browser, htmx_file, **context))
        return readers[-1]

    yield another
    said = [line for one in readers for line in one.said if "status of 4" not in line and "status of 5" not in line]
    for one in readers:
        one.leave()
    assert [line for line in said if not line.startswith(("log:", "info:", "debug:"))] == []


def sha384(path: Path) -> str:
    return "sha384-" + base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()
