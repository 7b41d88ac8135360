"""Finished answers: a page is a function of content, code and parameters, so its bytes are made once.

The outermost layer. What stands on the shelf is answered without entering the application: with its ETag, as 304
when the reader has it, compressed as it was the first time for the same Accept-Encoding.
"""

import hashlib
from dataclasses import dataclass

from cachetools import LRUCache
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.negotiation import wants_markdown

Headers = list[tuple[bytes, bytes]]
Key = tuple[str, str, bytes, bytes, bytes, bytes]

NO_TIME = bytes(4)
NOT_KEPT = (b"set-cookie", b"server-timing")
"""An answer with one of these belongs to one request."""


@dataclass(frozen=True)
class Finished:
    headers: Headers
    etag: bytes
    body: bytes
    size: int
    """Bytes that it takes on the shelf, its key included."""


class Kept(LRUCache[Key, Finished]):
    """Finished answers, those asked for most recently, up to a number of bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(size, getsizeof=lambda one: one.size)


class Shelf:
    """Answers GET from what is kept; keeps whole answers with status 200."""

    def __init__(self, app: ASGIApp, kept: Kept) -> None:
        self.app = app
        self.kept = kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        asked = dict(scope["headers"])
        key = (
            scope["scheme"],
            scope["path"],
            scope["query_string"],
            asked.get(b"accept-encoding", b""),
            b"markdown" if wants_markdown(asked.get(b"accept", b"").decode("latin-1")) else b"",
            asked.get(b"host", b""),
        )
        found = self.kept.get(key)
        if found is None:
            found = await self._made(key, scope, receive, send)
        if found is not None:
            await _answer(found, asked.get(b"if-none-match", b""), send)

    async def _made(self, key: Key, scope: Scope, receive: Receive, send: Send) -> Finished | None:
        """Enter the application; what can be kept is held back and returned, all else has been sent."""
        start: Message | None = None
        parts: list[bytes] = []
        finished: Finished | None = None

        async def watch(message: Message) -> None:
            nonlocal start, finished
            if message["type"] == "http.response.start" and _can_be_kept(message):
                start = message
            elif start is None:
                await send(message)
            else:
                parts.append(message.get("body", b""))
                if not message.get("more_body", False):
                    finished = _finished(key, start["headers"], b"".join(parts))

        await self.app(scope, receive, watch)
        if finished is not None and finished.size <= self.kept.maxsize:
            self.kept[key] = finished
        return finished


def _can_be_kept(message: Message) -> bool:
    names = {name.lower() for name, _ in message["headers"]}
    said = b",".join(value for name, value in message["headers"] if name.lower() == b"cache-control")
    private = b"no-store" in said or b"private" in said
    return message["status"] == 200 and not private and not names.intersection(NOT_KEPT)


def _finished(key: Key, headers: Headers, body: bytes) -> Finished:
    if (b"content-encoding", b"gzip") in headers:
        body = body[:4] + NO_TIME + body[8:]  # which would be the time of making it: other bytes for the same page
    etag = b'"' + hashlib.sha256(body).hexdigest()[:24].encode() + b'"'
    kept = [(name, value) for name, value in headers if name.lower() not in (b"etag", b"content-length")]
    if all(name.lower() != b"cache-control" for name, _ in kept):
        kept.append((b"cache-control", b"no-cache"))
    size = len(body) + sum(map(len, key)) + 1024
    return Finished([*kept, (b"etag", etag), (b"content-length", str(len(body)).encode())], etag, body, size)


async def _answer(finished: Finished, known: bytes, send: Send) -> None:
    tags = [tag.strip().removeprefix(b"W/") for tag in known.split(b",")]
    if finished.etag in tags or tags == [b"*"]:
        headers = [pair for pair in finished.headers if pair[0].lower() not in (b"content-length", b"content-type")]
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.start", "status": 200, "headers": finished.headers})
    await send({"type": "http.response.body", "body": finished.body})
