"""Notes into an index, and a query into the notes that contain it: exactly those, found by reading every text.

The query is folded and parted at white space; each term must stand in the note's title, in the labels of its concepts
or in its text, as a part of any word, from one character up. What is only near is told apart and never counted.

No inverted index: at 5,000 notes a scan of every text takes a few milliseconds, is exact without a proof, and an edit
replaces one sheet. One text a note was found as fast as all joined into one, and a sieve a note spares most of it.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Literal

from app.content.files import folded
from app.content.note import Concept, Growth, Note
from app.content.reader import Kept
from app.garden.folding import Fold, unaccented
from app.garden.names import key
from app.garden.near import MOST_TERMS, Meaning, Spellings, meanings, near, spellings
from app.garden.sheets import Sheet, having, sheets_of
from app.garden.slips import words
from app.garden.snippets import Pieces, marked, snippet
from app.language import LANGUAGES, Language

Where = Literal["title", "concept", "text"]
ROOM: Mapping[Language, int] = {"en": 180, "zh": 90}
"""Characters of a snippet."""
MOST_NEAR = 10
COMMON = 3
"""A term that so many notes have is no slip."""
MANY = 500
"""Among more hits than this it counts how early a note has the terms, no longer how often."""


@dataclass(frozen=True)
class Hit:
    note: Note
    where: Where
    """The best place that has a hit."""
    title: Pieces
    labels: tuple[Pieces, ...]
    """Of its concepts, those with a hit in them."""
    snippet: Pieces
    """Of its text; the opening where no hit stands in the text."""
    instead: tuple[str, ...] = ()
    """What a near note has in place of the query: labels of concepts, or words."""


@dataclass(frozen=True)
class Found:
    total: int
    """Of the exact hits, shown or not."""
    hits: tuple[Hit, ...] = ()
    near: tuple[Hit, ...] = ()
    """A few that are no exact hits."""


@dataclass(frozen=True)
class Index:
    """Never changes: after an edit another one is made, which shares all but the notes that were edited."""

    concepts: Mapping[str, Concept]
    _sheets: Mapping[Language, tuple[Sheet, ...]]
    """By their slugs."""
    _spellings: Spellings

    @classmethod
    def of(
        cls,
        notes: Iterable[Note],
        concepts: Mapping[str, Concept],
        before: "Index | None" = None,
        kept: Kept | None = None,
    ) -> "Index":
        """Takes over what the index `before` has of the very same notes, and what was kept of equal ones."""
        had = {id(one.note): one for one in before.all} if before and before.concepts == concepts else {}
        every = sorted(sheets_of(notes, concepts, had, kept), key=_slug)
        by_language = {known: tuple(one for one in every if one.note.language == known) for known in LANGUAGES}
        return cls(concepts, by_language, spellings(concepts))

    @cached_property
    def _vocabulary(self) -> Mapping[str, int]:
        """The longer words of titles, and how many titles have each."""
        return Counter(chain.from_iterable(_title_words(one) for one in self.all))

    def naming(self) -> dict[tuple[Language, str], tuple[str, ...]]:
        """The concepts that each note marks or plainly names, by its language and slug."""
        return {(one.note.language, one.note.slug): one.concepts for one in self.all}

    def speaking_of(self, concept: str, language: Language) -> tuple[Note, ...]:
        """The notes of a language that mark or plainly name a concept, by their slugs."""
        return tuple(one.note for one in self._sheets[language] if concept in one.concepts)

    @property
    def all(self) -> Iterator[Sheet]:
        return chain.from_iterable(self._sheets.values())

    def search(
        self,
        query: str,
        language: Language | None,
        limit: int,
        *,
        growth: Growth | None = None,
        tag: str | None = None,
        nearby: bool = True,
    ) -> Found:
        """In both languages where none is named. The filters hold for what is near as well.

        Without `nearby` nothing near is looked for, which costs as much again as the exact hits.
        """
        terms = tuple(dict.fromkeys(folded(query).split()))
        if not terms:
            return Found(0)
        every = chain.from_iterable(self._sheets[known] for known in ((language,) if language else LANGUAGES))
        sheets = list(every if growth is tag is None else _filtered(every, growth, tag))
        exact = _containing(sheets, terms)
        best = _best(exact, terms, limit)
        around: tuple[Meaning, ...] = ()
        if nearby:
            around = meanings(terms, _rare(sheets, terms, exact), self._spellings, self._vocabulary)
        others = near(around, sheets, exact, min(limit, MOST_NEAR))
        return Found(
            len(exact),
            tuple(self._hit(one, terms) for one in best),
            tuple(self._near_hit(one, around) for one in others),
        )

    def _hit(self, one: Sheet, words: tuple[str, ...], fold: Fold = folded) -> Hit:
        note = one.note
        title = marked(note.title, words, fold)
        labels = [marked(self.concepts[id].label[note.language], words, fold) for id in one.concepts]
        shown = tuple(label for label in labels if _has_hit(label))
        where: Where = "title" if _has_hit(title) else "concept" if shown else "text"
        return Hit(note, where, title, shown, snippet(one.lines, words, ROOM[note.language], fold))

    def _near_hit(self, one: Sheet, around: tuple[Meaning, ...]) -> Hit:
        """The words of the query are marked where they stand, and what stands for them."""
        told = tuple(dict.fromkeys(chain.from_iterable(meaning.words for meaning in around)))
        instead = dict.fromkeys(chain.from_iterable(meaning.instead(one, self.concepts) for meaning in around))
        return replace(self._hit(one, told, unaccented), instead=tuple(instead))


def _has_hit(pieces: Pieces) -> bool:
    return any(hit for _, hit in pieces)


def _slug(one: Sheet) -> str:
    return one.note.slug


def _title_words(one: Sheet) -> set[str]:
    return words(one.title)


def _filtered(sheets: Iterable[Sheet], growth: Growth | None, tag: str | None) -> Iterator[Sheet]:
    wanted = None if tag is None else key(tag)
    for one in sheets:
        if growth in (None, one.note.growth) and (wanted is None or wanted in map(key, one.note.tags)):
            yield one


def _containing(sheets: list[Sheet], terms: tuple[str, ...]) -> list[Sheet]:
    """Those that have all of the terms."""
    for term in sorted(terms, key=len, reverse=True):
        sheets = having(term, sheets)
    return sheets


def _rare(sheets: list[Sheet], terms: tuple[str, ...], exact: list[Sheet]) -> set[str]:
    """The terms that hardly any of the sheets has; none of a long query."""
    if len(exact) >= COMMON or len(terms) > MOST_TERMS:
        return set()
    if len(terms) == 1:
        return set(terms)
    return {term for term in terms if len(having(term, sheets)) < COMMON}


def _best(exact: list[Sheet], terms: tuple[str, ...], limit: int) -> list[Sheet]:
    """By where the terms stand, how often, how early, and the title."""
    if limit <= 0:
        return []
    ranks = _ranks(exact, terms)
    last = heapq.nsmallest(limit, ranks)[-1:]
    chosen = [(rank, one.title, one.address, one) for rank, one in zip(ranks, exact, strict=True) if [rank] <= last]
    return [one for *_, one in sorted(chosen, key=lambda item: item[:3])[:limit]]


def _ranks(exact: list[Sheet], terms: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """The smaller the better: 0 for each term in the title, 1 in a label, 2 in the text; how often; how early there."""
    places, starts = [0] * len(exact), [0] * len(exact)
    for term in terms:
        for at, one in enumerate(exact):
            start = one.text.find(term)
            if start >= one.labels_end:
                places[at] += 2
                start -= one.labels_end
            elif start >= one.title_end:
                places[at] += 1
                start -= one.title_end
            starts[at] += start
    counts = [0] * len(exact)
    if len(exact) <= MANY:
        counts = [-sum(map(one.text.count, terms)) if place else 0 for one, place in zip(exact, places, strict=True)]
    return list(zip(places, counts, starts, strict=True))
