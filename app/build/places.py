"""An address into the name of the file that any file server answers it with, and the way from one file to another.

A page is the `index.html` of a folder, so its address gains a slash. A state, which the application reads from the
query, is a folder of its own that bears the query as its name: `/en/widgets/momentum?beta=0.5` becomes
`en/widgets/momentum/beta=0.5/index.html`, and `/en/widgets/momentum.csv?beta=0.5` lies in the same folder.
"""

import hashlib
import mimetypes
import posixpath
import re
import unicodedata
from urllib.parse import quote, unquote

INDEX = "index.html"
PAGE = "text/html"
AWKWARD = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]|^\.+$|[. ]$')
"""What some file system, or some server, would not let stand in a name."""
LONGEST = 180
"""Bytes of a state's name; a longer one is a digest."""
SAFE = "/=&,+@!$'()*;~-._"


def place(address: str, kind: str) -> str | None:
    """The name of the file, its parts divided by slashes; None where the path steps out of its folder."""
    path, _, query = address.partition("?")
    parts = [part for part in unquote(path).split("/") if part]
    if any(part in (".", "..") or "\0" in part for part in parts):
        return None
    state = [folder(query)] if query else []
    if kind == PAGE and not path.endswith(".html"):
        return "/".join((*parts, *state, INDEX))
    last = parts.pop()
    if not posixpath.splitext(last)[1]:
        return "/".join((*parts, last, *state, last + (mimetypes.guess_extension(kind) or "")))
    if state:
        parts.append(posixpath.splitext(last)[0])
    return "/".join((*parts, *state, last))


def folder(query: str) -> str:
    """The name of a state: its query as people read it."""
    name = unicodedata.normalize("NFC", unquote(query))
    if AWKWARD.search(name) or len(name.encode()) > LONGEST:
        return hashlib.sha256(query.encode()).hexdigest()[:16]
    return name


def path(name: str) -> str:
    """How a file is asked for, below the root of the site: a page by its folder."""
    shown = name.removesuffix(INDEX) if name == INDEX or name.endswith(f"/{INDEX}") else name
    return quote(shown, safe=SAFE)


def way(origin: str, target: str) -> str:
    """From one file to another, as a relative address."""
    here, there = path(origin).split("/")[:-1], path(target).split("/")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    return "../" * (len(here) - shared) + "/".join(there[shared:]) or "./"
