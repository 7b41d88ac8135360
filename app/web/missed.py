"""The addresses of pages that were asked for and not found since the start: how often, and nothing of who asked."""

import re
from threading import Lock

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST = 200
LONGEST = 120
"""Characters of an address; longer ones are no author's."""
PAGE = re.compile(r"/(?:en|zh)/.+")


class Missed:
    """Where there are too many, the one that was asked for least, and longest ago, makes room."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}
        self._writing = Lock()

    def add(self, path: str) -> None:
        if not PAGE.fullmatch(path) or len(path) > LONGEST or not path.isprintable():
            return
        with self._writing:
            times = self._times.pop(path, 0) + 1
            if len(self._times) >= MOST:
                del self._times[min(self._times, key=self._times.__getitem__)]
            self._times[path] = times

    def most_asked(self) -> tuple[tuple[str, int], ...]:
        """Addresses without queries, and how often each was asked for."""
        with self._writing:
            return tuple(sorted(self._times.items(), key=lambda one: (-one[1], one[0])))


class Watch:
    """Notes every page that the application does not have."""

    def __init__(self, app: ASGIApp, missed: Missed) -> None:
        self.app = app
        self.missed = missed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 404 and _page(message):
                self.missed.add(scope["path"])
            await send(message)

        watched = scope["type"] == "http" and scope["method"] == "GET"
        await self.app(scope, receive, watch if watched else send)


def _page(message: Message) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(b"text/html") for name, value in message["headers"])
