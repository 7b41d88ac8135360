"""Notes and concepts made by hand, with only what a test is about."""

from collections.abc import Mapping
from typing import Any

from app.content.note import Concept, Embed, Mark, Note, Passage, Prose, Ran, Section, Transclusion
from app.content.pieces import Heading
from app.language import Language, Text


def note(slug: str, language: Language = "en", **given: Any) -> Note:
    plain: dict[str, Any] = {
        "file": f"{slug}.{language}.md",
        "slug": slug,
        "language": language,
        "title": slug.capitalize(),
        "summary": "",
        "growth": "seedling",
        "planted": None,
        "tended": None,
        "translates": {},
        "draft": False,
        "extra": {},
        "source": "",
        "minutes": 1,
    }
    lists = ("tags", "aliases", "body", "sections", "passages", "marks", "rans", "links", "files")
    plain |= dict.fromkeys(lists, ())
    known = plain | given
    known["embeds"] = tuple(block for block in known["body"] if isinstance(block, Embed))
    known["transclusions"] = tuple(block for block in known["body"] if isinstance(block, Transclusion))
    return Note(**known)


def section(id: str, line: int = 1, level: int = 2, title: str = "", explicit: bool = True) -> Section:
    return Section(id, title or id.capitalize(), level, line, explicit)


def heading(id: str, level: int = 2) -> Heading:
    return Heading(level, id, id.capitalize(), ())


def prose(*tokens: Any, line: int = 1) -> Prose:
    return Prose(tokens, line)


def embed(name: str, experiment: str = "", line: int = 1, **given: str) -> Embed:
    return Embed(experiment or name, name, given, line)


def include(target: str, section: str | None = None, line: int = 1) -> Transclusion:
    return Transclusion(target, section, line)


def ran(written: str, name: str = "momentum", read: str = "final_gap", line: int = 1, **given: str) -> Ran:
    return Ran(name, given, read, written, line)


def passage(text: str, section: str | None = None, line: int = 1) -> Passage:
    return Passage(section, text, line)


def mark(concept: str, words: str, sentence: str, section: str | None = None, line: int = 1) -> Mark:
    return Mark(concept, words, section, sentence, f"at-{concept}-1", line)


def concept(id: str, english: str, chinese: str, **also: tuple[str, ...]) -> Concept:
    return Concept(id, Text(english, chinese), Text("", ""), also)  # type: ignore[arg-type]


def concepts(*entries: Concept) -> Mapping[str, Concept]:
    return {entry.id: entry for entry in entries}
