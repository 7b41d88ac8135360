"""Tables can be scrolled on a narrow page, and say how a column stands by a class instead of a style."""

from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token


def tables(md: MarkdownIt) -> None:
    md.core.ruler.after("block", "columns", _columns)
    md.add_render_rule("table_open", _open)
    md.add_render_rule("table_close", _close)


def _columns(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in ("th_open", "td_open") and "style" in token.attrs:
            token.attrs["class"] = str(token.attrs.pop("style")).replace("text-align:", "align-")


def _open(self: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    return '<div class="scroll"><table>\n'


def _close(self: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    return "</table></div>\n"
