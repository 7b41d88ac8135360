"""`words ^id` at the end of a paragraph or an item, or `^id` in a paragraph of its own below a block: a name for it.

`[[note#^id]]` leads there and `![[note#^id]]` shows it. The element's id in the page is `block-id`.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from app.content.reading import reading

NAME = re.compile(r"(?:^|[ \t\n])\^(?P<id>[A-Za-z0-9-]+)$")
PREFIX = "block-"


def anchors(md: MarkdownIt) -> None:
    md.core.ruler.before("headings", "anchors", _anchors)


def _anchors(state: StateCore) -> None:
    if "^" not in state.src:
        return
    desk, tokens = reading(state), state.tokens
    seen: dict[str, int] = {}
    empty: list[int] = []
    for index, token in enumerate(tokens):
        if token.type != "inline" or tokens[index - 1].type not in ("paragraph_open", "heading_open"):
            continue
        match = NAME.search(token.content) if "^" in token.content else None
        if match is None:
            continue
        rest = token.content[: match.start()].rstrip()
        named = _named(tokens, index - 1, alone=not rest)
        if named is None:
            continue
        line, id = desk.line(token.map[0], token.content, match.end()) if token.map else 1, match["id"]
        if id.lower() in seen:
            what = f"the block '^{id}' is already in line {seen[id.lower()]}; give this one another name"
            desk.fault(line, what, stops=False)
        elif "anchor" not in named.meta:
            seen[id.lower()] = line
            named.meta["anchor"] = f"{PREFIX}{id}"
        token.content = rest
        if not rest:
            empty.append(index)
    for index in reversed(empty):
        del tokens[index - 1 : index + 2]


def _named(tokens: list[Token], start: int, alone: bool) -> Token | None:
    """What is named by an id at the end of the paragraph or heading that starts here."""
    opening = tokens[start]
    if not alone:
        return _item(tokens, start) if opening.type == "paragraph_open" else opening
    if opening.type == "heading_open" or start == 0:
        return None
    before = tokens[start - 1]
    if before.type == "list_item_open":
        return None
    if before.nesting < 0:
        at = next(at for at in reversed(range(start)) if tokens[at].level == before.level and tokens[at].nesting > 0)
        return tokens[at]
    return before if before.nesting == 0 else None


def _item(tokens: list[Token], start: int) -> Token:
    """The item of a list that a paragraph begins, or is a part of without space of its own; else the paragraph."""
    opening = tokens[start]
    if start and tokens[start - 1].type == "list_item_open":
        return tokens[start - 1]
    if opening.hidden:
        items = (token for token in reversed(tokens[:start]) if token.level == opening.level - 1)
        return next((token for token in items if token.type == "list_item_open"), opening)
    return opening
