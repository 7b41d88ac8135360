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
    block: str = ""
    """The id of a block that the author gave it beside its own: `block-id`."""


@dataclass(frozen=True, slots=True)
class Anchored:
    """A paragraph, an item, a table or the like that links can lead to."""

    id: str
    tokens: tuple[Any, ...]
    """The first begins with the tag that carries the id."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag in the text; `html` is how it was written."""

    name: str
    html: str


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
        elif isinstance(token, Heading | Anchored):
            yield from references(token.tokens)


def anchored(tokens: tuple[Any, ...], id: str) -> Anchored | None:
    """The block of this id, wherever it stands."""
    for token in tokens:
        if isinstance(token, Anchored) and token.id == id:
            return token
        inner = tuple(piece for item in token.items for piece in item.tokens) if isinstance(token, Footnotes) else ()
        found = anchored(token.tokens if isinstance(token, Anchored) else inner, id)
        if found:
            return found
    return None
