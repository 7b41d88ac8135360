"""`[words]{concept=momentum}` marks a concept; `[0.352]{ran=momentum restore=weights read=resumed.1.w}` a ran number.

A value is `"…"` or a run of characters other than white space, quotes and `}`. What begins like a mark, that is
`[…]{` with a name and `=` after it, one name being `concept`, `ran` or `read`, and cannot be read as one is a fault.
Full-width signs, as Chinese keyboards write them, begin one too.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkLabel
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from app.content.reading import here, reading
from app.content.rules.headings import words
from app.content.rules.text import SIGN

BRACES = ("{", "｛")
OPENING = re.compile(r"[{｛]\s*[^\W\d][\w.-]*\s*[=＝]")
PAIR = re.compile(r"""\s*(?P<key>[^\W\d][\w.-]*)\s*=\s*(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"'“”‘’{}]+))(?=[\s}])""")
CLOSING = re.compile(r"\s*\}")
END = re.compile(r"[}｝]")
READ = re.compile(r"[\w-]+(\.[\w-]+)*")
OURS = re.compile(r"[{｛\s](?:concept|ran|read)\s*[=＝]")
INSIDE = {"text", "code_inline", "softbreak", "hardbreak", "math_inline", "html_inline"} | {
    f"{name}_{end}" for name in ("em", "strong", "s", "highlight") for end in ("open", "close")
}


def marks(md: MarkdownIt) -> None:
    md.inline.ruler.before("link", "marks", _mark)


def _mark(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "[" or all(state.src.find(f"]{one}", state.pos, state.posMax) < 0 for one in BRACES):
        return False
    end = parseLinkLabel(state, state.pos)
    if end < 0 or not OPENING.match(state.src, end + 1, state.posMax) or not _ours(state, end + 1):
        return False
    pairs, after = _pairs(state.src, end + 1, state.posMax)
    if after < 0:
        if not silent:
            reading(state).fault(here(state), _unread(state.src[state.pos : state.posMax]))
        return False
    if not silent:
        _push(state, end, dict(pairs), _complaint(pairs, state))
    state.pos = after
    return True


def _ours(state: StateInline, brace: int) -> bool:
    """Other programs write other things between braces behind words, as in [mot]{lang=fr}."""
    end = END.search(state.src, brace, state.posMax)
    return OURS.search(state.src, brace, end.start() if end else state.posMax) is not None


def _pairs(text: str, brace: int, end: int) -> tuple[list[tuple[str, str]], int]:
    """The keys and values between braces, and the position behind them; -1 where they cannot be read."""
    pairs: list[tuple[str, str]] = []
    if text[brace] != BRACES[0]:
        return pairs, -1
    position = brace + 1
    while match := PAIR.match(text, position, end):
        pairs.append((match["key"], match["bare"] if match["quoted"] is None else match["quoted"]))
        position = match.end()
    closing = CLOSING.match(text, position, end)
    return pairs, closing.end() if closing else -1


def _complaint(pairs: list[tuple[str, str]], state: StateInline) -> str:
    given = dict(pairs)
    if len(given) < len(pairs):
        return "names something twice; keep one of the two"
    if ("concept" in given) == ("ran" in given):
        return "needs one of 'concept=' and 'ran='" + ("; it has both" if "ran" in given else "; it has neither")
    if "concept" in given and len(given) > 1:
        return "of a concept has only 'concept='; take the rest away"
    if "ran" in given and not READ.fullmatch(given.get("read", "")):
        return "of a number needs 'read=' and a path into the result, as in read=resumed.1.w"
    return "cannot stand inside a link; take one of the two away" if state.linkLevel > 0 else ""


def _push(state: StateInline, end: int, given: dict[str, str], complaint: str) -> None:
    """The words of the mark as its children; where something is wrong they stay as they are, without the mark."""
    children = _inside(state, end)
    if not complaint and any(child.type not in INSIDE for child in children):
        complaint = "holds only text; take the link, the picture or the other mark out"
    if not complaint and not words(children):
        complaint = "has no words; write them between the brackets"
    if complaint:
        what = f"the mark '{state.src[state.pos : end + 1]}{{…}}' {complaint}"
        reading(state).fault(here(state), what)
        if state.pending:
            state.pushPending()
        state.tokens += children
        state.tokens_meta += [None] * len(children)
        return
    token = state.push("ran" if "ran" in given else "mark", "a", 0)
    token.children = children
    token.meta = {"given": given, "line": here(state)}


def _inside(state: StateInline, end: int) -> list[Token]:
    label = state.src[state.pos + 1 : end]
    if not SIGN.search(label):
        return [Token("text", "", 0, content=label)] if label else []
    children: list[Token] = []
    desk = reading(state)
    before = desk.block_line
    desk.block_line += state.src.count("\n", 0, state.pos)
    state.md.inline.parse(label, state.md, state.env, children)
    desk.block_line = before
    for child in children:
        child.type = "text" if child.type in ("text_special", "tag") else child.type
    return children


def _unread(text: str) -> str:
    start = text if len(text) <= 60 else f"{text[:60]}…"
    return (
        f"what begins like a mark cannot be read: {start!r}; write [words]{{concept=id}} or"
        " [0.5]{ran=momentum read=resumed.1.w} with half-width {, = and }, and values with spaces or signs in straight"
        ' quotes: "…"'
    )
