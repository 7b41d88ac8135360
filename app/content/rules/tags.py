"""`#tag` and `#nested/tag` in the text: letters, digits, `-`, `_`, `/` and emoji, as in Obsidian, not digits alone."""

import re
import unicodedata

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from app.content.reading import reading

EMOJI = r"\u2600-\u27bf\U0001f000-\U0001faff"
TAG = re.compile(rf"#(?!/)(?P<name>(?=[\d_/-]*(?:[^\W\d_]|[{EMOJI}]))(?:[\w/-]|[{EMOJI}\u200d\ufe0f])+)")
BEFORE = frozenset("*_~=([（「『《【〈，。；：、！？“‘…—·")
"""What a tag may stand behind, beside white space: emphasis, brackets, Chinese punctuation."""


def tags(md: MarkdownIt) -> None:
    md.inline.ruler.push("tag", _tag)


def _tag(state: StateInline, silent: bool) -> bool:
    source, start = state.src, state.pos
    if source[start] != "#" or state.linkLevel > 0:
        return False
    if start and not (source[start - 1].isspace() or source[start - 1] in BEFORE):
        return False
    match = TAG.match(source, start, state.posMax)
    name = unicodedata.normalize("NFC", match["name"].strip("/")) if match else ""
    if match is None or not name:
        return False
    if not silent:
        token = state.push("tag", "a", 0)
        token.content, token.meta["name"] = match[0].rstrip("/"), name
        state.pending = "/" * (len(match[0]) - len(token.content))
        reading(state).tags.append(name)
    state.pos = match.end()
    return True
