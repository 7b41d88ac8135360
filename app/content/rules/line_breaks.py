"""A line break between two wide characters is no space; next to Latin text, and in Korean, it is one."""

import unicodedata

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from app.content.rules.headings import plain

EITHER = frozenset("“”‘’…—·")
"""Punctuation of both scripts: as wide as what stands on the other side of the break."""


def line_breaks(md: MarkdownIt) -> None:
    md.core.ruler.before("heading_ids", "line_breaks", _line_breaks)


def _line_breaks(state: StateCore) -> None:
    for token in state.tokens:
        for child in token.children or ():
            child.children = _joined(child.children)
        token.children = _joined(token.children)


def _joined(children: list[Token] | None) -> list[Token] | None:
    if not children or all(child.type != "softbreak" for child in children):
        return children
    return [child for index, child in enumerate(children) if child.type != "softbreak" or not _inside(children, index)]


def _inside(children: list[Token], index: int) -> bool:
    """Whether a break stands inside running Chinese or Japanese; emphasis and links beside it do not count."""
    before = next((text[-1] for child in reversed(children[:index]) if (text := plain(child))), " ")
    after = next((text[0] for child in children[index + 1 :] if (text := plain(child))), " ")
    return (wide(before) and (wide(after) or after in EITHER)) or (wide(after) and before in EITHER)


def wide(character: str) -> bool:
    """Han, kana and their punctuation; Hangul is written with spaces."""
    return unicodedata.east_asian_width(character) in "WF" and not _hangul(character) and character.isprintable()


def _hangul(character: str) -> bool:
    return unicodedata.name(character, "").startswith(("HANGUL", "HALFWIDTH HANGUL"))
