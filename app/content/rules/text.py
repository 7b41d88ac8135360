"""Text up to the next sign that may mean something, found in one stride instead of one character at a time."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

SIGN = re.compile(r"[\n\\`~*_!\[\]<&$^#]|==")
"""What the rules of the table begin with; every one of them."""


def text(md: MarkdownIt) -> None:
    md.inline.ruler.at("text", _text)


def _text(state: StateInline, silent: bool) -> bool:
    source, start = state.src, state.pos
    sign = SIGN.search(source, start, state.posMax)
    end = sign.start() if sign else state.posMax
    if end == start:
        return False
    if not silent:
        state.pending += source[start:end]
    state.pos = end
    return True
