"""Where lines begin and end, found line by line instead of one character at a time; and the line of a block is noted
down before its inline text is read, so that inline rules can say where they are."""

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore

from app.content.reading import reading


def lines(md: MarkdownIt) -> None:
    md.core.ruler.at("block", _block)
    md.core.ruler.at("inline", _inline)


def _block(state: StateCore) -> None:
    if state.src:
        lined = Lined("", state.md, state.env, state.tokens)
        lined.cut(state.src)
        state.md.block.tokenize(lined, lined.line, lined.lineMax)


class Lined(StateBlock):
    """The parser's state with its table of lines: start, end and indentation of each, tabs as up to four spaces."""

    def cut(self, source: str) -> None:
        self.src = source
        self.bMarks, self.eMarks, self.tShift, self.sCount = [], [], [], []
        start, length = 0, len(source)
        while start < length:
            end = source.find("\n", start)
            end = end if end >= 0 else length
            indent = width = 0
            if source[start] in " \t":
                indent = end - start - len(source[start:end].lstrip(" \t"))
                width = len(source[start : start + indent].expandtabs(4))
                if start + indent == length:
                    break
            self.bMarks.append(start)
            self.eMarks.append(end)
            self.tShift.append(indent)
            self.sCount.append(width)
            start = end + 1
        self.bMarks.append(length)  # one more, so that the rules need not look for the end
        self.eMarks.append(length)
        self.tShift.append(0)
        self.sCount.append(0)
        self.bsCount = [0] * len(self.bMarks)
        self.lineMax = len(self.bMarks) - 1


def _inline(state: StateCore) -> None:
    desk = reading(state)
    for token in state.tokens:
        if token.type == "inline":
            desk.block_line = token.map[0] if token.map else desk.block_line
            token.children = token.children or []
            state.md.inline.parse(token.content, state.md, state.env, token.children)
