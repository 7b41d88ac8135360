"""The sections of a note into digests, and a translation's digests into the sections that it is behind in.

`translates: {restore: 3f2a9c01}` says which text of the other language a section was translated from. What stands
before the first section is called `top`. A section without a digest is unknown, not stale.
"""

import hashlib
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from app.content.front_matter import parted
from app.content.note import Note
from app.content.rules.headings import OWN_ID
from app.content.rules.line_breaks import wide
from app.errors import Fault
from app.garden.dates import indexed, keep_in_index
from app.garden.garden import Garden
from app.garden.history import versions
from app.language import Language

TOP = "top"
DIGITS = 8


@dataclass(frozen=True)
class Stale:
    """A section whose other-language text changed since it was translated."""

    section: str
    recorded: str
    """The digest of the text that was translated."""
    now: str


def digests(note: Note) -> dict[str, str]:
    """By section, in reading order, `top` first."""
    return {section: digest(text) for section, text in section_texts(note).items()}


def section_digest(note: Note, section: str) -> str:
    """Raises KeyError where the note has no such section; "" is the text before the first one."""
    return digest(section_texts(note)[section or TOP])


def section_texts(note: Note) -> dict[str, str]:
    """The markdown of every section with an id of the author's own, from its heading to the next of its level or above.

    What stands under other headings belongs to the section before them, so that no text is without one. Where a
    section itself has the id `top`, the text before it and its own are one.
    """
    lines, first = _lines(note.source)
    sections = [section for section in note.sections if section.explicit]
    starts = [section.line - 1 for section in sections]
    found = {TOP: "\n".join(lines[first : starts[0] if starts else len(lines)])}
    for at, section in enumerate(sections):
        end = next((next_.line - 1 for next_ in sections[at + 1 :] if next_.level <= section.level), len(lines))
        found[section.id] = "\n".join(lines[first if section.id == TOP else starts[at] : end])
    return found


def digest(text: str) -> str:
    """Of a text in NFC; how its white space is set, and line breaks inside Chinese, make no difference."""
    words = unicodedata.normalize("NFC", text).split()
    spaced = ["" if wide(one[-1]) and wide(two[0]) else " " for one, two in pairwise(words)]
    joined = "".join(word + space for word, space in zip(words, [*spaced, ""], strict=False))
    return hashlib.sha256(joined.encode(errors="replace")).hexdigest()[:DIGITS]


def stale(note: Note, twin: Note) -> tuple[Stale, ...]:
    """The sections of `note` that were translated from an older text of `twin`, in its order."""
    if not note.translates:
        return ()
    recorded = {unicodedata.normalize("NFC", id): text.strip().lower() for id, text in note.translates.items()}
    return tuple(
        Stale(section, recorded[section], now)
        for section, now in digests(twin).items()
        if section in recorded and recorded[section] != now
    )


def behind(garden: Garden, default_language: Language) -> Iterator[Fault]:
    """A warning for every stale section of every translation, at the section's heading."""
    for note, twin in _translations(garden):
        for one in stale(note, twin):
            heading = next((section for section in note.sections if section.id == one.section), None)
            line = heading.line if heading else _lines(note.source)[1] + 1
            source = "" if twin.language == default_language else f" --from {twin.language}"
            yield Fault(
                note.file,
                line,
                f"{_named(one.section, twin)} was translated from an older text of {twin.file}; "
                f"mend the translation, then run perennial translated {shlex.quote(note.slug)}{source}",
                stops=False,
            )


def old_section(content: Path, file: str, section: str, recorded: str) -> str | None:
    """The newest text with this digest that a section of a file has had; None when git does not know it."""
    return section_in(versions(content, file), section, recorded)


def section_in(texts: Iterable[str], section: str, recorded: str) -> str | None:
    """The first text of a section that has this digest: every place where it may begin and end is tried."""
    for text in texts:
        for candidate in _candidates(text, section or TOP):
            if digest(candidate) == recorded:
                return candidate
    return None


def write_old_sections(garden: Garden, content: Path, path: Path) -> int:
    """The old texts of all stale sections into the index at `path`, for an image without a repository; how many."""
    found: dict[str, dict[str, str]] = {}
    for note, twin in _translations(garden):
        parts = stale(note, twin)
        texts = tuple(versions(content, twin.file)) if parts else ()
        old = {one.recorded: section_in(texts, one.section, one.recorded) for one in parts}
        found[twin.file] = {recorded: text for recorded, text in old.items() if text is not None}
    found = {file: known for file, known in sorted(found.items()) if known}
    keep_in_index(path, translated=found)
    return sum(map(len, found.values()))


def read_old_sections(path: Path) -> Mapping[str, Mapping[str, str]] | None:
    """By the file that was translated, then by digest; None when there is no index, or none that holds them."""
    kept = indexed(path).get("translated")
    return kept if isinstance(kept, dict) else None


def _translations(garden: Garden) -> Iterator[tuple[Note, Note]]:
    for note in garden.notes():
        twin = garden.translation(note)
        if twin is not None:
            yield note, twin


def _named(section: str, twin: Note) -> str:
    if section != TOP:
        return f"the section '{section}'"
    return "the text before the first section" if any(part.explicit for part in twin.sections) else "the text"


def _lines(source: str) -> tuple[list[str], int]:
    """The lines of a file, and how many of them are front matter."""
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n"), parted(text)[0].count("\n")


def _candidates(source: str, section: str) -> Iterator[str]:
    lines, first = _lines(source)
    headings = {at: match["id"].strip() for at in range(first, len(lines)) if (match := OWN_ID.search(lines[at]))}
    starts = [first] if section == TOP else []
    for at, id in headings.items():
        starts += _openings(lines, at) if unicodedata.normalize("NFC", id) == section else []
    ends = [end for at in headings for end in _openings(lines, at)]
    for start in starts:
        for end in (*(end for end in ends if end > start or section == TOP), len(lines)):
            yield "\n".join(lines[start:end])


def _openings(lines: list[str], at: int) -> list[int]:
    """Where a heading with its id in this line may begin: one that is underlined may have lines above."""
    opening = at
    while opening and lines[opening - 1].strip():
        opening -= 1
    return sorted({opening, at}, reverse=True)
