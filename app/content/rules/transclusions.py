"""`![[slug#section]]` alone in a line of the text itself stands for another note; elsewhere it is a link to it."""

from collections.abc import Iterator
from itertools import groupby

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from app.content.reading import Reading, reading


def transclusions(md: MarkdownIt) -> None:
    md.core.ruler.after("footnote_tail", "transclusions", _transclusions)


def _transclusions(state: StateCore) -> None:
    if "![[" not in state.src:
        return
    desk, tokens = reading(state), state.tokens
    footnotes = (index for index, token in enumerate(tokens) if token.type == "footnote_block_open")
    end = next(footnotes, len(tokens))
    for index in reversed([index for index, token in enumerate(tokens) if _holds_one(token)]):
        paragraph = tokens[index - 1]
        if paragraph.type == "paragraph_open" and paragraph.level == 0 and index < end:
            tokens[index - 1 : index + 2] = _parted(*tokens[index - 1 : index + 2])
    for token in filter(_holds_one, tokens):
        for child in token.children or ():
            if child.type == "transclusion":
                _as_link(child, desk)


def _holds_one(token: Token) -> bool:
    return any(child.type == "transclusion" for child in token.children or ())


def _parted(opening: Token, inline: Token, closing: Token) -> Iterator[Token]:
    """A paragraph as what stands for other notes, and paragraphs of the lines between."""
    line = inline.map[0] if inline.map else 0
    for shown, lines in groupby(_lines(inline.children or []), key=_is_alone):
        if shown:
            for children in lines:
                alone = next(child for child in children if child.type == "transclusion")
                yield Token("transclusion", "", 0, meta=alone.meta, block=True)
                line += 1
            continue
        children = [child for line in lines for child in line]
        breaks = sum(child.type in ("softbreak", "hardbreak") for child in children)
        if children[-1].type in ("softbreak", "hardbreak"):
            children.pop()
        if children:
            yield opening.copy(map=[line, line + 1], meta={})
            yield inline.copy(children=children, map=[line, line + 1], meta={})
            yield closing.copy()
        line += breaks


def _lines(children: list[Token]) -> Iterator[list[Token]]:
    """The children line by line, each with the break at its end; a line inside emphasis or a link goes on."""
    line: list[Token] = []
    for child in children:
        line.append(child)
        if child.type in ("softbreak", "hardbreak") and child.level == 0:
            yield line
            line = []
    if line:
        yield line


def _is_alone(line: list[Token]) -> bool:
    kinds = [child.type for child in line if child.type not in ("softbreak", "hardbreak") and not _is_blank(child)]
    return kinds == ["transclusion"]


def _is_blank(child: Token) -> bool:
    return child.type == "text" and not child.content.strip()


def _as_link(child: Token, desk: Reading) -> None:
    target = child.meta["target"]
    what = f"'![[{target}]]' is shown as a link here; to show the note itself, give it a line of its own"
    desk.fault(child.meta["line"], f"{what} outside lists and quotations", stops=False)
    child.type = "wikilink"
