"""An application asked in plain ASGI, without a server: an address into its answer."""

import contextlib
from asyncio import Event, Queue, create_task
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

Message = MutableMapping[str, Any]
Application = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]


@dataclass(frozen=True)
class Answer:
    status: int
    kind: str
    """The media type, without its parameters."""
    location: str
    """Where it was moved to, or nothing."""
    body: bytes


async def ask(app: Application, address: str) -> Answer:
    """GET of a path and its query, as they stand in a link."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"localhost"), (b"accept", b"text/html,*/*")],
        "client": None,
        "server": ("localhost", 80),
    }
    start: Message = {}
    parts: list[bytes] = []
    unread: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]
    finished = Event()

    async def receive() -> Message:
        """An empty body, and then nothing until all is answered."""
        if unread:
            return unread.pop()
        await finished.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        else:
            parts.append(message.get("body", b""))

    try:
        await app(scope, receive, send)
    finally:
        finished.set()
    headers = {name.lower().decode(): value.decode("latin-1") for name, value in start["headers"]}
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return Answer(start["status"], kind, headers.get("location", ""), b"".join(parts))


@contextlib.asynccontextmanager
async def running(app: Application) -> AsyncIterator[None]:
    """The application between its startup and its shutdown."""
    told: Queue[Message] = Queue()
    heard: Queue[Message] = Queue()
    life = create_task(_live(app, told, heard))
    await told.put({"type": "lifespan.startup"})
    await heard.get()
    try:
        yield
    finally:
        await told.put({"type": "lifespan.shutdown"})
        await life


async def _live(app: Application, told: Queue[Message], heard: Queue[Message]) -> None:
    try:
        await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, told.get, heard.put)
    finally:
        await heard.put({"type": "lifespan.over"})
