"""The digests of a translation into the front matter of its file; every other byte stays as it is."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from app.content.entries import Entry, Unreadable, entries
from app.content.front_matter import parted, unclosed
from app.errors import PerennialError

KEY = "translates"
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
BARE_ID = re.compile(r"(?!(?:true|false|yes|no|on|off|null|y|n)\Z)[^\W\d_][\w-]*", re.IGNORECASE)
"""A key that no reader of YAML takes for anything but a word."""
NUMERAL = re.compile(r"[0-9]+(?:e[0-9]+)?")
"""A digest that a reader of YAML may take for a number."""


class Unrecordable(PerennialError):
    """The front matter of a file cannot be rewritten line by line; says why."""


def record(path: Path, digests: Mapping[str, str]) -> bool:
    """Writes the key `translates` of a file, and says whether that changed it.

    Comments and the order of sections that are there already are kept. Raises Unrecordable.
    """
    try:
        before = path.read_bytes().decode()
        after = recorded(before, digests)
    except UnicodeDecodeError:
        raise Unrecordable("it is not UTF-8; save it in UTF-8") from None
    except Unreadable as fault:
        raise Unrecordable(f"line {fault.line + 1}: the front matter cannot be read: {fault}") from None
    if after != before:
        _replace(path, after.encode())
    return after != before


def recorded(source: str, digests: Mapping[str, str]) -> str:
    """The text of a file with these digests in its front matter. Raises Unreadable, Unrecordable."""
    mark = "\ufeff" if source.startswith("\ufeff") else ""
    lines = LINE.findall(source.removeprefix(mark))
    plain = _plain(source.removeprefix(mark))
    newline = next((line[len(line.rstrip("\r\n")) :] for line in lines[:1]), "") or "\n"
    head, body = parted(plain)
    if not head:
        if unclosed(plain):
            raise Unrecordable("the front matter does not end; write a line '---' below it")
        return f"{mark}---{newline}{KEY}:{newline}{''.join(_new(digests, '  ', newline))}---{newline}{''.join(lines)}"
    size = head.rstrip("\n").count("\n") + 1
    yaml = lines[1 : size - 1]
    changed = _changed(yaml, digests, newline)
    after = mark + "".join([lines[0], *changed, *lines[size - 1 :]])
    if parted(_plain(after.removeprefix(mark)))[1] != body or not _right(yaml, changed, digests):
        raise Unrecordable("its front matter is not written as one 'key: value' a line; write it so")
    return after


def _changed(yaml: list[str], digests: Mapping[str, str], newline: str) -> list[str]:
    """The lines between the two `---` with the new digests."""
    known = _read(yaml)
    entry = next((entry for entry in known if entry.key == KEY), None)
    if entry is None:
        margin = _margin(yaml[known[0].line - 1]) if known else ""
        return [*yaml, f"{margin}{KEY}:{newline}", *_new(digests, margin + "  ", newline)]
    start = entry.line - 1
    end = _end(yaml, start)
    return [*yaml[:start], *_entry(yaml, entry, end, digests, newline), *yaml[end:]]


def _entry(yaml: list[str], entry: Entry, end: int, digests: Mapping[str, str], newline: str) -> Iterator[str]:
    """The lines of the entry, each pair on its own."""
    start, node = entry.line - 1, entry.node
    tabs = any("\t" in line for line in yaml[start:end])  # whose columns are not those of the YAML that is read
    pairs = [] if tabs else list(_pairs(node, start))
    if not pairs:
        margin, after = _margin(yaml[start]), "" if tabs else _after(yaml, node)
        yield f"{margin}{KEY}:{' ' + after if after else ''}{newline}"
        yield from _new(digests, margin + "  ", newline)
        return
    by_line = {key.start_mark.line: (key, value) for key, value in pairs}
    there = {key.value for key, _ in pairs}
    last = max(by_line)
    for at in range(start, end):
        if at not in by_line:
            yield yaml[at]
        elif (digest := digests.get(by_line[at][0].value)) is not None:
            value = by_line[at][1]
            yield yaml[at][: value.start_mark.column] + _digest(digest) + yaml[at][value.end_mark.column :]
        if at == last:
            rest = {section: digest for section, digest in digests.items() if section not in there}
            yield from _new(rest, _margin(yaml[last]), newline)


def _pairs(node: Node, start: int) -> Iterator[tuple[Any, Any]]:
    """The pairs of a mapping that has each in a line of its own below its key; of any other value none."""
    if isinstance(node, MappingNode) and not node.flow_style and node.start_mark.line > start:
        yield from node.value


def _end(yaml: list[str], start: int) -> int:
    """Behind the last line of an entry: those below it that are set in further, and what they enclose."""
    end = start + 1
    for at in range(end, len(yaml)):
        text = yaml[at].strip()
        if text and len(_margin(yaml[at])) > len(_margin(yaml[start])):
            end = at + 1
        elif text and not text.startswith("#"):
            break
    return end


def _after(yaml: list[str], node: Node) -> str:
    """The comment behind a value."""
    rest = yaml[node.end_mark.line][node.end_mark.column :] if node.end_mark.line < len(yaml) else ""
    return rest.strip() if rest.strip().startswith("#") else ""


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _new(digests: Mapping[str, str], margin: str, newline: str) -> Iterator[str]:
    for section, digest in digests.items():
        name = section if BARE_ID.fullmatch(section) else f'"{section}"'
        yield f"{margin}{name}: {_digest(digest)}{newline}"


def _digest(digest: str) -> str:
    return f'"{digest}"' if NUMERAL.fullmatch(digest) else digest


def _right(before: list[str], after: list[str], digests: Mapping[str, str]) -> bool:
    """Whether the new front matter says what the old one said, and these digests."""
    try:
        old, new = ({entry.key: _shape(entry.node) for entry in _read(yaml)} for yaml in (before, after))
    except Unreadable:
        return False
    written = new.pop(KEY, None)
    old.pop(KEY, None)
    said = {key[1]: value[1] for key, value in written[1]} if written and isinstance(written[1], tuple) else None
    return list(old.items()) == list(new.items()) and said == dict(digests)


def _shape(node: Node) -> tuple[str, Any]:
    if isinstance(node, ScalarNode):
        return node.tag, node.value
    items = (_shape(item) if isinstance(item, Node) else tuple(map(_shape, item)) for item in node.value)
    return node.tag, tuple(items)


def _read(yaml: list[str]) -> tuple[Entry, ...]:
    """As app/content/front_matter.py reads them."""
    return entries(_plain("".join(yaml)).expandtabs(2))


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _replace(path: Path, data: bytes) -> None:
    """At once: who reads the file meanwhile sees the old one or the new one."""
    target = path.resolve()
    part = target.with_name(f".{target.name}.part")
    part.write_bytes(data)
    shutil.copymode(target, part)
    os.replace(part, target)
