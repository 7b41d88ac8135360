"""`## Title {#id}`: an id of the author's own. Any other heading of the text itself gets one from its words."""

import re
import unicodedata
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from app.content.reading import reading

OWN_ID = re.compile(r"(?:^|\s+)\{#(?P<id>[^{}]*)\}\s*$")
UNCLOSED = re.compile(r"\{#[^{}]*$")
GOOD_ID = re.compile(r"[\w][\w.:-]*")
KEPT = re.compile(r"(?:at|fn|fnref|block)-")
"""How the ids of marks, footnotes and named blocks begin."""
HIDING = re.compile(r"<(?P<end>/?)(?:script|style)\b", re.IGNORECASE)


def headings(md: MarkdownIt) -> None:
    md.core.ruler.before("inline", "headings", _headings)
    md.core.ruler.push("heading_ids", _ids_from_words)


def _headings(state: StateCore) -> None:
    desk = reading(state)
    seen: dict[str, int] = {}
    for heading, inline in zip(state.tokens, state.tokens[1:], strict=False):
        if heading.type != "heading_open":
            continue
        line, match = desk.line(heading.map[0] if heading.map else 0), OWN_ID.search(inline.content)
        if match is None:
            if UNCLOSED.search(inline.content):
                desk.fault(line, "the id of this heading is not closed; write '}' after it")
            continue
        inline.content = inline.content[: match.start()]
        id = unicodedata.normalize("NFC", match["id"].strip())
        if heading.level:
            desk.fault(line, f"a heading inside a list or a quotation is no section; take '{{#{id}}}' away")
        elif not GOOD_ID.fullmatch(id) or KEPT.match(id):
            what = f"'{id}' cannot be the id of a section; write letters, digits and hyphens, as in {{#restore-more}}"
            desk.fault(line, what)
        elif id in seen:
            desk.fault(line, f"the section '{id}' is already in line {seen[id]}; give one of them another id")
        else:
            seen[id] = line
            heading.attrs["id"] = id


def _ids_from_words(state: StateCore) -> None:
    """Runs last, when the words of headings are known."""
    embeds = {token.meta["embed"].name for token in state.tokens if token.meta.get("embed")}
    own = {str(token.attrs["id"]) for token in state.tokens if token.type == "heading_open" and "id" in token.attrs}
    seen = embeds | own
    for heading, inline in zip(state.tokens, state.tokens[1:], strict=False):
        if heading.type == "heading_open" and not heading.level:
            heading.meta["explicit"] = "id" in heading.attrs
            heading.meta["title"] = words(inline.children or [])
            if heading.attrs.get("id") in embeds:
                desk = reading(state)
                what = f"'{heading.attrs['id']}' is a section and a widget; give one of them another name"
                desk.fault(desk.line(heading.map[0] if heading.map else 0), what)
            if "id" not in heading.attrs:
                heading.attrs["id"] = _free(id_from(heading.meta["title"]), seen)
                seen.add(str(heading.attrs["id"]))


def words(children: list[Token]) -> str:
    """The plain text of inline tokens."""
    return " ".join("".join(seen(children)).split())


def seen(children: list[Token]) -> Iterator[str]:
    """What a reader sees of each of the inline tokens; scripts and styles go with all they hold."""
    hidden = False
    for token in children:
        if token.type == "html_inline" and (tag := HIDING.match(token.content)):
            hidden = not tag["end"]
        yield "" if hidden else plain(token)


def plain(token: Token) -> str:
    """What a reader sees of an inline token, without its markup."""
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type in ("mark", "ran"):
        return "".join(plain(child) for child in token.children or ())
    return "" if token.type == "html_inline" else str(token.meta.get("plain", token.content))


def id_from(title: str) -> str:
    """As headings without an id of their own get it: letters, figures and hyphens."""
    id = re.sub(r"[^\w]+", "-", unicodedata.normalize("NFC", title).lower()).strip("-") or "section"
    return f"section-{id}" if KEPT.match(id) else id


def _free(id: str, seen: set[str]) -> str:
    number = 2
    free = id
    while free in seen:
        free, number = f"{id}-{number}", number + 1
    return free
