"""The line of a block is noted down before its inline text is read, so that inline rules can say where they are."""

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

from app.content.reading import reading


def lines(md: MarkdownIt) -> None:
    md.core.ruler.at("inline", _inline)


def _inline(state: StateCore) -> None:
    desk = reading(state)
    for token in state.tokens:
        if token.type == "inline":
            desk.block_line = token.map[0] if token.map else desk.block_line
            token.children = token.children or []
            state.md.inline.parse(token.content, state.md, state.env, token.children)
