"""A fence `widget NAME` places an experiment; its lines are YAML: `as: second`, `restore: weights`.

Values stay as they were written (`beta: 0.90` is "0.90"); a list is joined by commas.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from app.content.entries import Unreadable, entries, written
from app.content.note import Embed
from app.content.reading import Reading, reading

NAME = re.compile(r"[a-z][a-z0-9_-]*")


def widgets(md: MarkdownIt) -> None:
    md.core.ruler.before("headings", "widgets", _widgets)


def _widgets(state: StateCore) -> None:
    desk = reading(state)
    for token in state.tokens:
        if token.type == "fence" and token.info.split()[:1] == ["widget"]:
            line = desk.line(token.map[0] if token.map else 0)
            if len(token.info.split()) == 1:
                desk.fault(line, "this block names no experiment, so it is shown as code", stops=False)
                continue
            token.type = "embed"
            if token.level:
                what = "a widget cannot stand inside a list, a quotation or a footnote; move it to the left margin"
                desk.fault(line, what)
            else:
                token.meta["embed"] = _embed(token, line, desk)


def _embed(token: Token, line: int, desk: Reading) -> Embed | None:
    names = token.info.split()[1:]
    if len(names) != 1 or not NAME.fullmatch(names[0]):
        desk.fault(line, f"'{token.info.strip()}' names no experiment; write one name, as in ```widget momentum")
        return None
    try:
        given = {entry.key: written(entry.node) for entry in entries(token.content)}
    except Unreadable as fault:
        desk.fault(line + fault.line, f"the block of the widget cannot be read: {fault}")
        return None
    name = given.pop("as", names[0])
    if not NAME.fullmatch(name):
        what = f"'{name}' cannot be the name of a widget; write a small letter, then small letters, digits, '-' or '_'"
        desk.fault(line, what)
        return None
    return Embed(names[0], name, given, line)
