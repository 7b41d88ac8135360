"""The YAML between the first two `---` lines of a note, as in Obsidian and Hugo, into what the garden knows of it."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from app.content.entries import Entry, Unreadable, absent, entries, value
from app.content.note import GROWTHS, Growth
from app.content.reading import Reading

BLOCK = re.compile(r"---[ \t]*\n(?P<yaml>(?:.*\n)*?)---[ \t]*(?:\n|\Z)")
UNCLOSED = re.compile(r"---[ \t]*\n\s*[\w-]+:(?:[ \t]|\n)")
TEMPLATE = re.compile(r"\{\{|<%")
"""What Obsidian's templates and Templater hold; a note that is only a pattern for others stops nothing."""
DATE = re.compile(r"(?P<year>\d{4})[-/.年](?P<month>\d{1,2})[-/.月](?P<day>\d{1,2})(?:日|(?=[T\s])|$)")


@dataclass
class FrontMatter:
    """Every key is there, with its default where the note does not name it."""

    title: str = ""
    summary: str = ""
    growth: Growth = "seedling"
    planted: date | None = None
    tended: date | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    translates: Mapping[str, str] = field(default_factory=dict)
    draft: bool = False
    extra: dict[str, Any] = field(default_factory=dict)
    """Keys that the garden does not know, and `publish`, of which Obsidian's `false` makes a draft too."""


def parted(source: str) -> tuple[str, str]:
    """The front matter with both of its `---` lines, perhaps nothing, and the text below it."""
    match = BLOCK.match(source)
    return (source[: match.end()], source[match.end() :]) if match else ("", source)


def read_front_matter(written: str, reading: Reading) -> FrontMatter:
    """What stands between the lines; what is wrong with it is in the reading afterwards, and keeps its default."""
    found = FrontMatter()
    match = BLOCK.match(written)
    if match is None:
        return found
    text = match["yaml"].expandtabs(2)
    try:
        read = entries(text)
    except Unreadable as fault:
        pattern = TEMPLATE.search(text) is not None
        reading.fault(fault.line + 1, f"the front matter cannot be read: {fault}", stops=not pattern)
        return found
    for entry in read:
        key = ALSO.get(entry.key, entry.key)
        try:
            if key not in READERS:
                found.extra[key] = _kept(entry.node, text)
            elif not absent(entry.node):
                new = READERS[key](entry)
                setattr(found, key, (*getattr(found, key), *new) if isinstance(new, tuple) else new)
        except Unreadable as fault:
            what = f"'{entry.key}' in the front matter: {fault}"
            reading.fault(fault.line + 1, what, stops=key not in EVERYWHERE)
    found.draft = found.draft or _no(found.extra.get("publish"))
    return found


def _kept(node: Node, text: str) -> Any:
    """A value that nobody asks for; as it was written where YAML makes nothing of it."""
    try:
        return value(node)
    except Unreadable:
        return text[node.start_mark.index : node.end_mark.index].strip()


def _no(written: Any) -> bool:
    return written is False or (isinstance(written, str) and written.strip().lower() in ("false", "no", "off"))


def unclosed(source: str) -> bool:
    """Whether a note begins with front matter that does not end."""
    return BLOCK.match(source) is None and UNCLOSED.match(source) is not None


def _words(entry: Entry) -> str:
    return " ".join(_scalar(entry.node).split())


def _growth(entry: Entry) -> Growth:
    written = _scalar(entry.node).strip().lower()
    for growth in GROWTHS:
        if growth == written:
            return growth
    near = difflib.get_close_matches(written, GROWTHS, n=1)
    hint = f"did you mean '{near[0]}'?" if near else "write one of " + ", ".join(GROWTHS)
    raise Unreadable(entry.line, f"there is no growth '{written}'; {hint}")


def _date(entry: Entry) -> date:
    written = _scalar(entry.node).strip()
    match = DATE.match(written)
    try:
        if match:
            return date(int(match["year"]), int(match["month"]), int(match["day"]))
    except ValueError:
        pass
    raise Unreadable(entry.line, f"'{written}' is no date; write it as 2026-11-30")


def _tags(entry: Entry) -> tuple[str, ...]:
    """A list, or words parted by commas or spaces; the # before a tag is Obsidian's."""
    if isinstance(entry.node, ScalarNode):
        written = str(entry.node.value)
        parts = re.split(r"[,，、]" if re.search(r"[,，、]", written) else r"\s+", written)
    else:
        parts = _list(entry.node)
    return tuple(dict.fromkeys(tag for part in parts if (tag := part.strip().lstrip("#").strip())))


def _aliases(entry: Entry) -> tuple[str, ...]:
    """A list, or names parted by commas."""
    parts = re.split(r"[,，]", str(entry.node.value)) if isinstance(entry.node, ScalarNode) else _list(entry.node)
    return tuple(dict.fromkeys(alias for part in parts if (alias := part.strip())))


def _translates(entry: Entry) -> Mapping[str, str]:
    if not isinstance(entry.node, MappingNode):
        raise Unreadable(entry.line, "write 'section: digest' lines below it, as `perennial translated` does")
    return {_scalar(key): _scalar(item) for key, item in entry.node.value}


def _draft(entry: Entry) -> bool:
    written = _scalar(entry.node).strip().lower()
    if written in ("true", "yes", "on", "false", "no", "off"):
        return written in ("true", "yes", "on")
    raise Unreadable(entry.line, f"'{written}' is neither true nor false")


def _scalar(node: Node) -> str:
    if not isinstance(node, ScalarNode):
        raise Unreadable(node.start_mark.line + 1, "it must be a single value, not a list or a mapping")
    return str(node.value)


def _list(node: Node) -> list[str]:
    if not isinstance(node, SequenceNode):
        raise Unreadable(node.start_mark.line + 1, "it must be a word or a list of words")
    return [_scalar(item) for item in node.value if not absent(item)]


READERS = {
    "title": _words,
    "summary": _words,
    "growth": _growth,
    "planted": _date,
    "tended": _date,
    "tags": _tags,
    "aliases": _aliases,
    "translates": _translates,
    "draft": _draft,
}
ALSO = {"tag": "tags", "alias": "aliases"}
"""As older vaults write."""
EVERYWHERE = frozenset({"title", "tags", "aliases"})
"""Keys that other programs give other forms; one that is not understood is left out with a warning."""
