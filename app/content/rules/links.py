"""`[words](files/x.py)` and `![words](picture.png)`: files of the folder; `[words](other.md#heading)`: other notes."""

import re
import unicodedata
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from app.content.files import MARKDOWN
from app.content.reading import Reading, reading
from app.content.rules.wikilinks import MISSING, section_named

FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
IN_WORDS = re.compile(r"^#(?:\^|.*\s)")
"""A section named by its heading's words, or a block, as Obsidian writes; any other is an id."""
ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/?#]|$")
"""An address with a scheme, one from the top of the site, and one inside the page are no relative links."""


def links(md: MarkdownIt) -> None:
    md.core.ruler.after("footnote_tail", "relative_links", _links)


def _links(state: StateCore) -> None:
    desk = reading(state)
    for token in state.tokens:
        line = desk.line(token.map[0]) if token.map else desk.first_line + 1
        missing: list[bool] = []
        for child in token.children or ():
            if child.type == "softbreak":
                line += 1
            elif child.type == "link_open":
                _lead(child, str(child.attrs.get("href", "")), "href", desk, line)
                missing.append("missing" in child.meta)
                if missing[-1]:
                    child.tag, child.attrs = "span", {"class": "missing", "title": MISSING[desk.language]}
            elif child.type == "link_close" and missing.pop():
                child.tag = "span"
            elif child.type == "image" and not child.meta:
                _lead(child, str(child.attrs.get("src", "")), "src", desk, line)


def _lead(token: Token, address: str, attribute: str, desk: Reading, line: int) -> None:
    if address.startswith("#") and attribute == "href" and IN_WORDS.search(unquote(address)):
        token.meta["note"] = ("", section_named(unquote(address)), line)
    if ELSEWHERE.match(address):
        return
    bare, _, section = address.partition("#")
    name = unquote(bare.split("?")[0])
    file = desk.ask("other", address) or (desk.ask("find", name) if "." in name else None)
    if file is not None:
        token.meta["file"] = file
        token.attrs[attribute] = f"/files/{quote(file)}" + (f"#{section}" if section else "")
    elif attribute == "href" and (MARKDOWN.search(name) or desk.ask("is_note", address)):
        last = unicodedata.normalize("NFC", MARKDOWN.sub("", name.rsplit("/", 1)[-1]))
        token.meta["note"] = (desk.ask("slug", name) or last, section_named(unquote(section)), line)
    elif FILE.search(name) or attribute == "src":
        desk.fault(line, f"there is no file '{name}' beside this note; put it there, or mend the link", stops=False)
        token.meta["missing"] = name
