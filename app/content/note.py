"""What a markdown file becomes: one note in one language, its body a tuple of blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, get_args

from app.language import Language, Text

Growth = Literal["seedling", "budding", "evergreen", "speculative"]
GROWTHS: tuple[Growth, ...] = get_args(Growth)


@dataclass(frozen=True)
class Prose:
    """Markdown already parsed; app/content/render.py turns it into HTML once links and numbers are known."""

    tokens: tuple[Any, ...]
    """Finished HTML as strings and, between them, the pieces of app/content/pieces.py that only the garden can finish.

    A tenth of the memory of the parser's own tokens; nothing is to be looked for inside the strings.
    """
    line: int


@dataclass(frozen=True)
class Embed:
    """A widget placed in a note."""

    experiment: str
    name: str
    """`as:` of its block, else the experiment's name; unique in the note."""
    given: Mapping[str, str]
    """Its own parameters as texts."""
    line: int


@dataclass(frozen=True)
class Transclusion:
    """`![[note#section]]`: stands for the blocks of another note until the garden is grown."""

    target: str
    section: str | None
    line: int


@dataclass(frozen=True)
class Section:
    """A heading; `explicit` when its id was written by the author, and so must stand in every translation."""

    id: str
    title: str
    """Its text without markup."""
    level: int
    line: int
    explicit: bool = True


@dataclass(frozen=True)
class Passage:
    """The plain text of one block of a section: a paragraph, list item, cell, quotation or displayed formula.

    A block of HTML has one for each of its lines. Code is none.
    """

    section: str | None
    """The id of the nearest explicit section of level 2 above it; None before the first."""
    text: str
    line: int
    footnote: bool = False
    """Whether it stands in a footnote: found by a search, but no part of what a section says."""


@dataclass(frozen=True)
class Mark:
    """A concept marked in the text."""

    concept: str
    words: str
    section: str | None
    sentence: str
    """The sentence around it, plain text."""
    anchor: str
    """The id of its element in the page, unique in the note: `at-momentum-1`."""
    line: int


@dataclass(frozen=True)
class Ran:
    """A number in the prose bound to an experiment's result."""

    name: str
    """An embed of the note named by `as:`, else an experiment."""
    given: Mapping[str, str]
    read: str
    """The path into the result: fields and indices parted by dots."""
    written: str
    line: int


@dataclass(frozen=True)
class Link:
    """A wikilink as written: a slug, title or alias, perhaps with a section and words of its own."""

    target: str
    section: str | None
    words: str | None
    sentence: str
    line: int


@dataclass(frozen=True)
class Note:
    file: str
    """The path relative to the content folder, with forward slashes; what faults name."""
    slug: str
    language: Language
    title: str
    summary: str
    growth: Growth
    planted: date | None
    tended: date | None
    tags: tuple[str, ...]
    """Of the front matter, then those of the text."""
    aliases: tuple[str, ...]
    translates: Mapping[str, str]
    draft: bool
    """Also where Obsidian is told `publish: false`."""
    extra: Mapping[str, Any]
    """Front matter that the garden does not know; kept, never an error."""
    source: str
    """The whole file."""
    body: Sequence[Prose | Embed | Transclusion]
    """Like the passages perhaps not loaded before it is looked into: see app/content/later.py."""
    sections: tuple[Section, ...]
    passages: Sequence[Passage]
    marks: tuple[Mark, ...]
    rans: tuple[Ran, ...]
    links: tuple[Link, ...]
    files: tuple[str, ...]
    """Files of the content folder that the text refers to, relative to it, existing ones only."""
    minutes: int
    """Reading time: Latin words / 220 + Han characters / 400, at least 1."""
    embeds: tuple[Embed, ...] = field(default=())
    transclusions: tuple[Transclusion, ...] = field(default=())
    """Like the embeds those of the body, to be seen without loading it."""
    digest: str = ""
    """Of all that it was made of: its file, its slug, and what it asked of other files; empty for one made by hand."""
    anchors: tuple[Section, ...] = field(default=())
    """Paragraphs and other blocks that `^id` names in the text, under `block-id`; their level is 0."""


@dataclass(frozen=True)
class Concept:
    """An entry of concepts.yaml."""

    id: str
    label: Text
    meaning: Text
    also: Mapping[Language, tuple[str, ...]]
    """Other spellings, by language."""
