"""The garden while its author writes: an edit puts another application in the place of the one before it.

What answers is always one whole garden, the last that had no faults. Browsers hear of edits by server-sent events and
load their page again where its bytes have changed; faults are shown in all of them until they are mended.
"""

import asyncio
import contextlib
import functools
import gc
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import structlog
from fastapi.dependencies import models
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from watchfiles import Change, awatch
from watchfiles._rust_notify import WatchfilesRustInternalError

from app.checks import Report
from app.content.files import SKIPPED
from app.laboratory import Laboratory
from app.settings import Settings, shipped
from app.web.application import measure_again, open_site, wired
from app.web.assets import read_assets
from app.web.negotiation import preferred
from app.web.rendering import environment
from app.web.shelf import Kept
from app.web.site import Site
from app.web.words import Words

EVENTS, SCRIPT = "/api/reload", "/api/reload.js"
REST, PATIENCE = 20, 200
"""Milliseconds without another change after which an edit is taken up, and after which it is in any case."""
GLANCE = 1000
"""Milliseconds after which it is looked whether the folder is still the one that is watched."""
PULSE = 0.3
"""Seconds after which a stream looks whether the server stops."""
UNKEPT = {"Cache-Control": "no-store"}

log = structlog.get_logger()


class Live:
    """An application that follows the edits of its content folder."""

    def __init__(
        self,
        settings: Settings,
        laboratory: Laboratory,
        report: Report,
        regrow: Callable[[], Report],
        tell: Callable[[Report], None],
    ) -> None:
        """The report is the first; `regrow` reads the folder again, `tell` shows the author what came of it."""
        self.settings, self.laboratory = settings, laboratory
        self.regrow, self.tell = regrow, tell
        self.stops: Callable[[], bool] = lambda: False
        """Whether the server is about to stop, so that open streams end; whoever runs it says so."""
        self.site: Site | None = None
        self.app: ASGIApp = self._only_faults
        self.edits = time.time_ns() // 1_000_000
        """The number of the last one, which another start of the program does not give again."""
        self.faults: tuple[str, ...] = ()
        self._kept = Kept(settings.page_cache * (1 << 20))
        self._news = asyncio.Event()
        self._stage = Starlette(lifespan=self._running)
        self.take(report)

    def take(self, report: Report) -> None:
        """The garden of this report where it has no faults; else the last one goes on."""
        if not report.faults:
            self.site = open_site(self.settings, report, self.laboratory, before=self.site, live=True)
            self._kept = Kept(self.settings.page_cache * (1 << 20))
            self.app = wired(self.site, self._kept)
            _let_go()
        self.tell(report)
        self._announce(tuple(map(str, report.faults)))

    def _announce(self, faults: tuple[str, ...]) -> None:
        self.edits, self.faults = self.edits + 1, faults
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._stage(scope, receive, send)
        elif scope["path"] == SCRIPT:
            await FileResponse(shipped("static") / "reload.js", headers=UNKEPT)(scope, receive, send)
        elif scope["path"] == EVENTS:
            await self._stream(scope, receive, send)
        else:
            await self.app(scope, receive, self._stamped(send))

    def _stamped(self, send: Send) -> Send:
        """Each answer says which garden it is of and what its bytes are, where the page's own script can read it."""
        edits = self.edits

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                etag = headers.get("etag", "").strip('"')
                headers.append("server-timing", f'edits;desc="{edits}", etag;desc="{etag}"')
            await send(message)

        return stamped

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        gone, told = asyncio.ensure_future(_disconnected(receive)), 0
        while scope["method"] == "GET" and not gone.done() and not self.stops():
            news = asyncio.ensure_future(self._news.wait())
            if told != self.edits:
                told = self.edits
                data = json.dumps({"edits": told, "faults": self.faults}, ensure_ascii=False)
                body = f"retry: 500\ndata: {data}\n\n".encode()
                await send({"type": "http.response.body", "body": body, "more_body": True})
            await asyncio.wait({gone, news}, timeout=PULSE, return_when=asyncio.FIRST_COMPLETED)
            news.cancel()
        gone.cancel()
        await send({"type": "http.response.body", "body": b""})

    async def _only_faults(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Until there is a first garden."""
        assets = read_assets(shipped("static"))
        if (asset := assets.named(scope["path"].removeprefix("/static/"))) is not None:
            await Response(asset.body, media_type=asset.media_type)(scope, receive, send)
            return
        language = preferred(Request(scope), self.settings.default_language)
        templates = environment(shipped("templates"), assets, False, live=True)
        view = {"language": language, "words": Words(language), "faults": self.faults}
        page = templates.get_template("faults.html").render(view)
        await HTMLResponse(page, 503, UNKEPT)(scope, receive, send)

    @contextlib.asynccontextmanager
    async def _running(self, _: Starlette) -> AsyncIterator[None]:
        self.laboratory.start()
        watching = asyncio.ensure_future(self._watch())
        watching.add_done_callback(_ended)
        try:
            yield
        finally:
            watching.cancel()
            self.laboratory.close()
            if self.site is not None:
                self.site.comparer.close()

    async def _watch(self) -> None:
        behind = asyncio.ensure_future(self._behind())
        async for _ in _edits(self.settings.content):
            try:
                report = await asyncio.to_thread(self.regrow)
                behind.cancel()
                self.take(report)
            except Exception as error:  # a bug, or a folder that changed under it: shown, and the next edit is followed
                log.exception("the notes could not be read again")
                self._announce((f"{type(error).__name__}: {error}",))
                continue
            behind = asyncio.ensure_future(self._behind())

    async def _behind(self) -> None:
        """What a garden needs that no page waits for."""
        if self.site is not None:
            if not gc.isenabled():
                gc.freeze()  # the first garden; what is frozen is kept for ever, and later ones come and go
                gc.enable()
            await asyncio.to_thread(self.site.index)
            await measure_again(self.site, self._kept)


def _let_go() -> None:
    """FastAPI remembers what kind of function a route is, and with the routes of many applications their gardens."""
    for known in vars(models).values():
        if isinstance(known, functools._lru_cache_wrapper):
            known.cache_clear()


async def _edits(content: Path) -> AsyncIterator[None]:
    """One for each edit, and one when a watch begins, which has seen nothing of what came before.

    A watch begins anew where the folder is another one than before, or was away.
    """
    while True:
        while (watched := _identity(content)) is None:
            await asyncio.sleep(GLANCE / 1000)
        folder, begins = content.resolve(), True
        seen = functools.partial(_seen, folder)
        changes = awatch(
            folder, watch_filter=seen, step=REST, debounce=PATIENCE, rust_timeout=GLANCE, yield_on_timeout=True
        )
        fine = True
        try:
            async for found in changes:
                if _identity(content) != watched:
                    break
                if found or begins:
                    begins = False
                    yield None
        except* (WatchfilesRustInternalError, FileNotFoundError):
            fine = False  # a name that is no text, or a folder that has gone at this moment
        if not fine:  # it would fail again at once where it looks through the folder, as on a network drive
            yield None
            await asyncio.sleep(GLANCE / 1000)


def _identity(folder: Path) -> tuple[int, int] | None:
    """Of the folder that lies there now; None when there is none."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _ended(watching: asyncio.Task[None]) -> None:
    if not watching.cancelled() and (error := watching.exception()):
        log.error("edits are no longer followed", exc_info=error)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _seen(folder: Path, _: Change, path: str) -> bool:
    """Hidden files and folders are no part of a garden."""
    return not any(part.startswith(".") or part in SKIPPED for part in Path(path).relative_to(folder).parts)
