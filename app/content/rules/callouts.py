"""`> [!note] Title`: a callout; `[!note]-` is folded, `[!note]+` can be folded. Kinds as in Obsidian."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from app.content.reading import reading
from app.language import Text

FIRST_LINE = re.compile(r"\[!(?P<kind>[^\]\s|][^\]\n|]*)(?:\|[^\]\n]*)?\](?P<fold>[+-]?)[ \t]*(?P<title>[^\n]*)\n?")
NAMES = {
    "note": Text("Note", "注"),
    "info": Text("Information", "说明"),
    "tip": Text("Tip", "提示"),
    "important": Text("Important", "要点"),
    "warning": Text("Warning", "注意"),
    "caution": Text("Caution", "小心"),
    "danger": Text("Danger", "危险"),
    "question": Text("Question", "问题"),
    "example": Text("Example", "例子"),
    "quote": Text("Quotation", "引文"),
    "abstract": Text("Summary", "摘要"),
    "todo": Text("To do", "待办"),
    "success": Text("Success", "成功"),
    "failure": Text("Failure", "失败"),
    "bug": Text("Bug", "缺陷"),
}
ALIKE = {
    "abstract": ("summary", "tldr"),
    "tip": ("hint",),
    "success": ("check", "done"),
    "question": ("help", "faq"),
    "warning": ("attention",),
    "failure": ("fail", "missing"),
    "danger": ("error",),
    "quote": ("cite",),
}
"""Other names that Obsidian has for a kind."""
KINDS = {name: kind for kind, names in ALIKE.items() for name in names}


def callouts(md: MarkdownIt) -> None:
    md.core.ruler.before("headings", "callouts", _callouts)


def _callouts(state: StateCore) -> None:
    out: list[Token] = []
    tags: list[str] = []
    """Of the quotations that are open: what each has become."""
    tokens = state.tokens
    skip = 0
    for index, token in enumerate(tokens):
        if skip:
            skip -= 1
        elif token.type == "blockquote_open":
            match = _first_line(tokens, index)
            tags.append("blockquote" if match is None else "details" if match["fold"] else "aside")
            out.append(token)
            if match is not None:
                inline = tokens[index + 2]
                token.tag, token.attrs["class"] = tags[-1], f"callout callout-{_kind(match)}"
                if match["fold"] == "+":
                    token.attrs["open"] = ""
                out += _title(match, inline, tags[-1], state)
                inline.content = inline.content[match.end() :]
                inline.map = [inline.map[0] + 1, inline.map[1]] if inline.map else None
                skip = 0 if inline.content else 3  # an empty paragraph: its opening, its text and its end
        else:
            if token.type == "blockquote_close":
                token.tag = tags.pop()
            out.append(token)
    state.tokens = out


def _first_line(tokens: list[Token], index: int) -> re.Match[str] | None:
    following = tokens[index + 1 : index + 3]
    if [token.type for token in following] != ["paragraph_open", "inline"]:
        return None
    return FIRST_LINE.match(following[1].content)


def _kind(match: re.Match[str]) -> str:
    kind = re.sub(r"[^a-z0-9-]+", "-", match["kind"].lower()).strip("-")
    return KINDS.get(kind, kind) or "note"


def _name(kind: str, state: StateCore) -> str:
    name = NAMES.get(KINDS.get(kind.lower(), kind.lower()))
    return name[reading(state).language] if name else kind.strip().capitalize()


def _title(match: re.Match[str], inline: Token, tag: str, state: StateCore) -> list[Token]:
    own = match["title"].strip()
    level = inline.level
    tag = "summary" if tag == "details" else "p"
    words = Token("inline", "", 0, map=inline.map, level=level, content=own, children=[], block=True)
    if not own:
        words.content, words.meta["ours"] = _name(match["kind"], state), True
    opening = Token("callout_title_open", tag, 1, {"class": "callout-title"}, level=level - 1, block=True)
    return [opening, words, Token("callout_title_close", tag, -1, level=level - 1, block=True)]
