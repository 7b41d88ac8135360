"""What stands between the finished HTML of a note: the places that need the garden, or the page, to be finished."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.content.note import Ran


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a section; headings inside lists and quotations are finished HTML."""

    level: int
    id: str
    title: str
    """Its text without markup."""
    tokens: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """A marked concept."""

    concept: str
    anchor: str
    html: str


@dataclass(frozen=True, slots=True)
class Number:
    """A ran number."""

    ran: Ran
    html: str


@dataclass(frozen=True, slots=True)
class Linked:
    """A link to a note; `html` is None where the author gave no words."""

    target: str
    section: str | None
    html: str | None


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code; colouring is left to the moment it is shown."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a footnote is referred to, counted from 1 over the whole note, and for the how-manieth time."""

    number: int
    time: int


@dataclass(frozen=True, slots=True)
class Back:
    """The way from a footnote back to one of its references."""

    number: int
    time: int


@dataclass(frozen=True, slots=True)
class Footnote:
    number: int
    tokens: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Footnotes:
    """All footnotes of a note; they stand in a Prose of their own at the end."""

    items: tuple[Footnote, ...]


def references(tokens: tuple[Any, ...]) -> Iterator[int]:
    """The numbers of the footnotes that some prose refers to, in reading order."""
    for token in tokens:
        if isinstance(token, Reference):
            yield token.number
        elif isinstance(token, Heading):
            yield from references(token.tokens)
