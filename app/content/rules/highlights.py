"""`==words==`: highlighted. It opens before no space and closes after none, whatever punctuation stands beside it."""

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter

MARKER = ord("=")


def highlights(md: MarkdownIt) -> None:
    md.inline.ruler.after("strikethrough", "highlight", _marker)
    md.inline.ruler2.after("strikethrough", "highlight", _pairs)


def _marker(state: StateInline, silent: bool) -> bool:
    source, start = state.src, state.pos
    if silent or not source.startswith("==", start):
        return False
    if source.startswith("=", start + 2) or (start and source[start - 1] == "="):
        return False
    before = source[start - 1] if start else " "
    after = source[start + 2] if start + 2 < state.posMax else " "
    state.push("text", "", 0).content = "=="
    at, opens, closes = len(state.tokens) - 1, not after.isspace(), not before.isspace()
    state.delimiters.append(Delimiter(MARKER, length=0, token=at, end=-1, open=opens, close=closes))
    state.pos += 2
    return True


def _pairs(state: StateInline) -> None:
    inner = (meta["delimiters"] for meta in state.tokens_meta if meta and "delimiters" in meta)
    for delimiters in (state.delimiters, *inner):
        for opening in delimiters:
            if opening.marker == MARKER and opening.end >= 0:
                for at, end, nesting in ((opening.token, "open", 1), (delimiters[opening.end].token, "close", -1)):
                    token = state.tokens[at]
                    token.type, token.tag, token.markup, token.content = f"highlight_{end}", "mark", "==", ""
                    token.nesting = 1 if nesting > 0 else -1
