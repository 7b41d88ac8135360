"""ASGI layers around the whole application: HEAD, over-long queries, bodies, headers that guard readers."""

import re
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.assets import HTMX_CDN

LONGEST_QUERY = 8192
"""Bytes of a query string."""

CDN_ORIGIN = HTMX_CDN.split("/npm/")[0]


class BodyTooLarge(Exception):
    """A body beyond the upload limit."""


class Head:
    """Every GET address answers HEAD with the same headers and no body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self.app({**scope, "method": "GET"}, receive, without_body)


class Queries:
    """Over-long queries are refused before anything reads them."""

    def __init__(self, app: ASGIApp, refuse: Callable[[Request], Response]) -> None:
        self.app = app
        self.refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and len(scope["query_string"]) > LONGEST_QUERY:
            await self.refuse(Request(scope))(scope, receive, send)
        else:
            await self.app(scope, receive, send)


TRACES = re.compile(r"/(?:api|en|zh)/compare")
"""Addresses that take whole traces."""


class Bodies:
    """Raises BodyTooLarge, where the body is read, as soon as it is known to be longer than the limit."""

    def __init__(self, app: ASGIApp, limit: int, traces: int) -> None:
        """In bytes; `traces` is the limit where traces are taken."""
        self.app = app
        self.limit = limit
        self.traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self.traces if TRACES.fullmatch(scope["path"]) else self.limit
        told = dict(scope["headers"]).get(b"content-length", b"0")
        announced = int(told) if told.isdigit() else 0
        read = 0

        async def counted() -> Message:
            nonlocal read
            if announced > limit:
                raise BodyTooLarge
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise BodyTooLarge
            return message

        await self.app(scope, counted, send)


class Headers:
    """The content security policy and its companions; an iframe elsewhere may hold the embed pages only."""

    def __init__(self, app: ASGIApp, *, hsts: bool, scripts: str) -> None:
        """`scripts` is the one foreign origin that scripts may come from, or nothing."""
        self.app = app
        self.hsts = hsts
        self.policy = POLICY.format(scripts=f" {scripts}" if scripts else "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        ancestors = "*" if scope["path"].startswith("/embed/") else "'self'"
        for_programs = scope["path"].startswith("/api/")

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("content-security-policy", self.policy + ancestors)
                headers["x-content-type-options"] = "nosniff"
                headers["referrer-policy"] = "strict-origin-when-cross-origin"
                if for_programs:
                    headers["access-control-allow-origin"] = "*"
                if self.hsts:
                    headers["strict-transport-security"] = "max-age=31536000"
            await send(message)

        await self.app(scope, receive, guarded)


POLICY = (
    "default-src 'none'; script-src 'self'{scripts}; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors "
)
