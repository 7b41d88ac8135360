"""`![[slug#section]]` alone in a paragraph of the text itself stands for another note; elsewhere it is a fault."""

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from app.content.reading import reading


def transclusions(md: MarkdownIt) -> None:
    md.core.ruler.after("inline", "transclusions", _transclusions)


def _transclusions(state: StateCore) -> None:
    alone: list[int] = []
    for index, token in enumerate(state.tokens):
        inside = [child for child in token.children or () if child.type == "transclusion"]
        if not inside:
            continue
        paragraph = state.tokens[index - 1]
        if paragraph.type == "paragraph_open" and paragraph.level == 0 and token.children == inside[:1]:
            alone.append(index)
            continue
        for child in inside:
            target = child.meta["target"]
            what = f"'![[{target}]]' must stand alone in its paragraph; leave a line empty before and after it"
            reading(state).fault(child.meta["line"], f"{what}, or take the '!' away")
            child.type = "wikilink"
    for index in reversed(alone):
        child = (state.tokens[index].children or [])[0]
        state.tokens[index - 1 : index + 2] = [Token("transclusion", "", 0, meta=child.meta, block=True)]
