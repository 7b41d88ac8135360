"""The finished application into a folder of files: asked for all that its pages lead to, each link led to its file.

First everything is asked for, so that each address is known to be a page, a file, moved or nothing; then it is written.
"""

import re
import zlib
from asyncio import gather
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import unquote, urljoin, urlsplit

from app.build.answers import Answer, Application, ask, running
from app.build.finding import SCRIPT, indexed
from app.build.folder import Folder
from app.build.links import Page
from app.build.places import PAGE, path, place, way

LOST = "404.html"
"""What file servers answer when there is nothing: shown at any depth, so its links begin at the root."""
TEXTS = ("application/atom+xml", "application/xml", "text/plain", "text/x-python")
"""In which absolute addresses of the site stand."""
TOGETHER = 8
"""Addresses that are asked for at once: while git or a worker is at one, others are made."""
NO_JEKYLL = ".nojekyll"
"""Tells GitHub Pages to serve the files as they are."""
NOT_ASCII = re.compile(r"[^\x21-\x7e]")
MOVED = """<!doctype html>
<html>
<head>
<meta charset="utf-8">
<title>→</title>
<link rel="canonical" href="{canonical}">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={href}">
</head>
<body><p><a href="{href}">→</a></p></body>
</html>
"""

Say = Callable[[str, int, int], None]
"""Told what is being done, how much of it is, and how much there is as far as is known."""


@dataclass(frozen=True)
class Plan:
    """What to ask for, and what to make of addresses that no file can answer."""

    starts: tuple[str, ...]
    base: str
    """The public address of the copy, without a slash at the end; nothing when it is not known."""
    live: str
    """That of the garden it is a copy of, likewise."""
    computed: Callable[[str], bool]
    """Whether only a running garden answers an address."""
    verbatim: Callable[[str], bool]
    """Whether what stands at an address is a file of the author's or the program's, never a page."""
    previewed: str
    """The selector of links whose targets are shown beside them."""
    preview: Callable[[str, str], str]
    """The address of what is shown, from the path of a link and its fragment."""
    search: bool


@dataclass(frozen=True)
class Kept:
    """What an address was answered with. A file that needs no change is written at once, and its body let go."""

    address: str
    name: str
    kind: str
    moved: str = ""
    body: bytes = b""
    """Compressed."""
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Copied:
    pages: int
    files: int
    written: int
    removed: int
    dead: tuple[str, ...]
    """Every link, with its page, that leads nowhere."""


async def build(app: Application, plan: Plan, folder: Folder, say: Say) -> Copied:
    """Raises Refused where the folder holds something that is in the way."""
    copying = Copying(plan, folder)
    async with running(app):
        await copying.gather(app, say)
    copying.write(say)
    if plan.search:
        say("search", 0, 1)
        async for name, body in indexed(folder.path):
            folder.write(name, body)
        say("search", 1, 1)
    pages = sum(kept.kind == PAGE for kept in copying.kept.values() if kept and not kept.moved)
    dead = tuple(dict.fromkeys(copying.dead))
    return Copied(pages, len(folder.made), folder.written, folder.removed, dead)


@dataclass
class Copying:
    plan: Plan
    folder: Folder
    kept: dict[str, Kept | None] = field(default_factory=dict)
    """By address; None for what is not there."""
    dead: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        root = re.escape(self.plan.base)
        self._absolute = re.compile(rf"{root}(/[\w.~%/-]*(?:\?[\w.~%/=,+&-]*)?)") if root else None
        if self.plan.search:
            self.kept[f"/{SCRIPT}"] = Kept(f"/{SCRIPT}", SCRIPT, "text/javascript")

    # asking

    async def gather(self, app: Application, say: Say) -> None:
        """Every start, and all that it leads to."""
        waiting, known = deque(dict.fromkeys(self.plan.starts)), {*self.plan.starts, *self.kept}
        while waiting:
            asked = [waiting.popleft() for _ in range(min(TOGETHER, len(waiting)))]
            for address, answer in zip(asked, await gather(*(ask(app, one) for one in asked)), strict=True):
                self.kept[address], found = self._taken(address, answer)
                new = [one for one in dict.fromkeys(found) if one not in known]
                known.update(new)
                waiting.extend(new)
            say("ask", len(known) - len(waiting), len(known))
        self.dead += [f"{start}: is not answered" for start in self.plan.starts if self.kept.get(start) is None]

    def _taken(self, address: str, answer: Answer) -> tuple[Kept | None, list[str]]:
        """What is kept of an answer, and the addresses that it leads to."""
        path = address.partition("?")[0]
        if 300 <= answer.status < 400:
            to = _normal(urljoin(address, answer.location))
            name = place(address, PAGE)
            return (Kept(address, name, PAGE, moved=to), [to.partition("#")[0]]) if name else (None, [])
        verbatim = self.plan.verbatim(path)
        name = path_name(path) if verbatim else place(address, answer.kind)
        if answer.status != 200 or name is None:
            return None, []
        kept = Kept(address, name, answer.kind)
        if verbatim or answer.kind not in (PAGE, *TEXTS):
            self.folder.write(name, answer.body)
            return kept, []
        text = answer.body.decode()
        body = zlib.compress(answer.body, 1)
        if answer.kind != PAGE:
            return replace(kept, body=body), [one for _, one in self._absolutes(text)]
        page = Page(text)
        return replace(kept, body=body, ids=page.ids()), list(self._leads(page, address))

    def _leads(self, page: Page, address: str) -> Iterator[str]:
        for link in page.links(self.plan.previewed):
            target, fragment = _parted(link.value, address)
            if not target or self.plan.computed(target):
                continue
            yield target
            if link.previewed and "?" not in target:
                yield self.plan.preview(target, fragment)

    def _absolutes(self, text: str) -> Iterator[tuple[str, str]]:
        """The absolute addresses of the site in a text, and the addresses that they are here."""
        for match in self._absolute.finditer(text) if self._absolute else ():
            yield match[0], match[1]

    # writing

    def write(self, say: Say) -> None:
        waiting = [kept for kept in self.kept.values() if kept and (kept.body or kept.moved in self.kept)]
        for at, kept in enumerate(waiting):
            self._write(kept)
            say("write", at + 1, len(waiting))
        self.folder.write(NO_JEKYLL, b"")

    def _write(self, kept: Kept) -> None:
        if kept.moved:
            self._write_moved(kept)
            return
        text = zlib.decompress(kept.body).decode()
        if kept.kind == PAGE:
            page = Page(text)
            page.led(lambda value: self._led(value, kept))
            text = page.written()
        if self._absolute:
            text = self._absolute.sub(lambda match: self._public(match, kept), text)
        self.folder.write(kept.name, text.encode())

    def _write_moved(self, kept: Kept) -> None:
        """Only what was asked for by itself: a link to what was moved leads to where it is now."""
        target = self._final(kept.moved.partition("#")[0])
        if target is not None and kept.address in self.plan.starts:
            href = way(kept.name, target.name)
            canonical = f"{self.plan.base}/{path(target.name)}" if self.plan.base else href
            self.folder.write(kept.name, MOVED.format(href=href, canonical=canonical).encode())

    def _led(self, value: str, origin: Kept) -> str | None:
        """Where a link of a page leads in the copy; None when it leads nowhere."""
        target, fragment = _parted(value, origin.address)
        if not target:
            return value
        tail = f"#{fragment}" if fragment else ""
        if self.plan.computed(target):
            return f"{self.plan.live}{target}{tail}" if self.plan.live else None
        found = self._final(target)
        if found is None:
            self.dead.append(f"{origin.address}: {value} leads nowhere")
            return None
        if fragment and found.kind == PAGE and unquote(fragment) not in found.ids:
            self.dead.append(f"{origin.address}: {value} leads to a place that is not on that page")
        if value.startswith("#"):
            return value
        if origin.name == LOST:
            return f"{urlsplit(self.plan.base).path}/{path(found.name)}{tail}"
        return way(origin.name, found.name) + tail

    def _public(self, match: re.Match[str], origin: Kept) -> str:
        """An absolute address of the site as it is in the copy."""
        address = match[1].rstrip(".")
        found = self._final(address)
        if found is None:
            if origin.kind != PAGE:
                self.dead.append(f"{origin.address}: {match[0]} leads nowhere")
            return match[0]
        return f"{self.plan.base}/{path(found.name)}{match[1][len(address) :]}"

    def _final(self, address: str) -> Kept | None:
        """What stands at an address, where it was moved to at last."""
        found = self.kept.get(address)
        for _ in range(5):
            if found is None or not found.moved:
                break
            found = self.kept.get(found.moved.partition("#")[0])
        return found


def path_name(path: str) -> str | None:
    """The name of a file that is kept under its own path."""
    parts = [part for part in unquote(path).split("/") if part]
    return None if any(part in (".", "..") for part in parts) else "/".join(parts)


def _parted(value: str, origin: str) -> tuple[str, str]:
    """The address within the site that a link leads to, and its fragment; nothing for what leads elsewhere."""
    try:
        if value.startswith("#"):
            joined = origin + value
        elif value.startswith("/") and not value.startswith("//") and "/." not in value:
            joined = value
        elif urlsplit(value).scheme or value.startswith("//"):
            return "", ""
        else:
            joined = urljoin(origin, value)
        target, _, fragment = _normal(joined).partition("#")
    except ValueError:  # as in http://[
        return "", ""
    return (target, fragment) if target.startswith("/") else ("", "")


def _normal(address: str) -> str:
    """As it stands in a request: what is not ASCII is escaped."""
    if address.startswith("http://localhost/"):
        address = address.removeprefix("http://localhost")
    return NOT_ASCII.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), address)
