"""`- [ ] words` and `- [x] words`: items with a box, which only the author ticks. Other signs between the brackets
that Obsidian's themes know (`/`, `-`, `>`) are boxes that are not ticked."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

BOX = re.compile(r"\[(?P<sign>[ xX/<>?!*\"-])\][ \t\n]+(?=\S)")


def tasks(md: MarkdownIt) -> None:
    md.core.ruler.before("headings", "tasks", _tasks)


def _tasks(state: StateCore) -> None:
    for index, item in enumerate(state.tokens):
        if item.type != "list_item_open" or state.tokens[index + 1].type != "paragraph_open":
            continue
        inline = state.tokens[index + 2]
        if match := BOX.match(inline.content):
            inline.content = inline.content[match.end() :]
            inline.meta["done"] = match["sign"] in "xX"
            item.attrs["class"] = "task"
