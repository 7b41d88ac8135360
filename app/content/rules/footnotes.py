"""`[^1]` with `[^1]: …`, and `^[words]`: numbered over the whole note, told once at its end."""

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.footnote.index import footnote_inline

from app.content.reading import reading


def footnotes(md: MarkdownIt) -> None:
    md.use(footnote_plugin)
    md.inline.ruler.at("footnote_inline", _inline)


def _inline(state: StateInline, silent: bool) -> bool:
    """As the plugin does, with the lines of the note inside counted from where it stands."""
    desk = reading(state)
    before = desk.block_line
    desk.block_line += state.src.count("\n", 0, state.pos)
    try:
        return footnote_inline(state, silent)
    finally:
        desk.block_line = before
