"""Fenced code becomes a piece of its own, coloured by Pygments when it is shown."""

from functools import lru_cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from app.content.pieces import Code

FORMATTER = HtmlFormatter(nowrap=True)


def code(md: MarkdownIt) -> None:
    md.core.ruler.after("widgets", "code", _code)


def _code(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in ("fence", "code_block"):
            language = (token.info.split() or [""])[0].lower()
            token.meta["piece"] = Code(language, token.content)


@lru_cache(maxsize=1024)
def coloured(language: str, text: str) -> str:
    """The inside of a `code` element, in spans with Pygments' classes and no styles."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False) if language else None
    except ClassNotFound:
        lexer = None
    return highlight(text, lexer, FORMATTER) if lexer else escape(text, quote=False)
