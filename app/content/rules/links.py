"""`[words](files/x.py)` and `![words](picture.png)`: files of the content folder; `[words](other.md)`: other notes."""

import re
import unicodedata
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from app.content.reading import Reading, reading
from app.content.rules.wikilinks import FILE

ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/?#]|$")
"""An address with a scheme, one from the top of the site, and one inside the page are no relative links."""


def links(md: MarkdownIt) -> None:
    md.core.ruler.after("inline", "relative_links", _links)


def _links(state: StateCore) -> None:
    desk = reading(state)
    for token in state.tokens:
        line = desk.line(token.map[0]) if token.map else desk.first_line + 1
        for child in token.children or ():
            if child.type == "softbreak":
                line += 1
            elif child.type == "link_open":
                _lead(child, str(child.attrs.get("href", "")), "href", desk, line)
            elif child.type == "image" and "file" not in child.meta:
                _lead(child, str(child.attrs.get("src", "")), "src", desk, line)


def _lead(token: Token, address: str, attribute: str, desk: Reading, line: int) -> None:
    if ELSEWHERE.match(address):
        return
    path = desk.files.beside(desk.file, address) or ""
    bare, _, section = address.partition("#")
    name = unquote(bare.split("?")[0])
    if path in desk.files.others:
        token.meta["file"] = desk.files.others[path]
        token.attrs[attribute] = f"/files/{quote(desk.files.others[path])}"
    elif name.endswith(".md") and attribute == "href":
        target = desk.files.slugs.get(
            path or "", unicodedata.normalize("NFC", name.rsplit("/", 1)[-1].removesuffix(".md"))
        )
        token.meta["note"] = (target, unicodedata.normalize("NFC", unquote(section)) or None, line)
    elif FILE.search(name):
        desk.fault(line, f"there is no file '{name}' beside this note; put it there, or mend the link", stops=False)
