"""A query into the notes that it may have meant: what search offers beside its exact hits, and never counts.

A term may be meant as a spelling of a concept, in either language; without its accents; or, where hardly a note has it
as it is, as one of the words of titles and labels that it may be a slip of.
"""

import heapq
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from app.content.files import folded
from app.content.note import Concept
from app.garden.folding import without_accents
from app.garden.sheets import Sheet, having
from app.garden.slips import HAN, meant, words
from app.language import LANGUAGES

MOST_TERMS = 6
"""Longer queries are looked for exactly and offered nothing near."""
MOST_SLIPS = 4

Spellings = Mapping[str, tuple[str, ...]]
"""Of each concept by its id, folded, in both languages."""


@dataclass(frozen=True)
class Meaning:
    """What may stand for a term, all of it folded."""

    term: str
    concepts: frozenset[str]
    slips: tuple[str, ...]
    """Words that it may be a slip of."""
    plain: str
    """Without accents."""
    words: tuple[str, ...]
    """All that, and every spelling of the concepts, without accents."""

    def standing_in(self, sheets: list[Sheet], accented: list[Sheet]) -> list[Sheet]:
        """Those of the sheets that have what stands for the term; some of them more than once."""
        found = [sheet for sheet in accented if self.plain in (sheet.plain or "")]
        if self.concepts:
            found += [sheet for sheet in sheets if not self.concepts.isdisjoint(sheet.concepts)]
        for word in self.slips:
            found += [sheet for sheet in sheets if sheet.text.find(word, 0, sheet.labels_end) >= 0]
        if self.plain != self.term:
            found += having(self.plain, sheets)
        return found

    def instead(self, sheet: Sheet, concepts: Mapping[str, Concept]) -> tuple[str, ...]:
        """What the note has in place of the term: labels in its language, or words; nothing where it has the term."""
        if self.term in sheet.text:
            return ()
        labels = (concepts[id].label[sheet.note.language] for id in sheet.concepts if id in self.concepts)
        return tuple(labels) or tuple(word for word in self.slips if word in sheet.text) or (self.plain,)


def spellings(concepts: Mapping[str, Concept]) -> Spellings:
    return {
        id: tuple(
            dict.fromkeys(
                folded(spelling)
                for language in LANGUAGES
                for spelling in (concept.label[language], *concept.also.get(language, ()))
            )
        )
        for id, concept in concepts.items()
    }


def meanings(
    terms: tuple[str, ...], rare: Collection[str], known: Spellings, vocabulary: Collection[str]
) -> tuple[Meaning, ...]:
    """None of a long query. `rare` terms may be slips; `vocabulary` holds the longer words of titles."""
    if len(terms) > MOST_TERMS:
        return ()
    return tuple(_meaning(term, term in rare, known, vocabulary) for term in terms)


def near(found: tuple[Meaning, ...], sheets: list[Sheet], exact: list[Sheet], most: int) -> list[Sheet]:
    """By how early they come to what is meant, then in the order of the sheets."""
    if most <= 0 or not found:
        return []
    accented = [sheet for sheet in sheets if sheet.plain is not None]
    standing = [set(map(id, meaning.standing_in(sheets, accented))) for meaning in found]
    wanted = set[int]().union(*standing) - set(map(id, exact))
    others = [sheet for sheet in sheets if id(sheet) in wanted] if wanted else []
    if len(found) > 1:
        for meaning, there in zip(found, standing, strict=True):
            term_itself = having(meaning.term, [sheet for sheet in others if id(sheet) not in there])
            enough = there.union(map(id, term_itself))
            others = [sheet for sheet in others if id(sheet) in enough]
    concepts = frozenset[str]().union(*(meaning.concepts for meaning in found))
    return heapq.nsmallest(most, others, key=lambda sheet: _earliest(sheet, concepts))


def _meaning(term: str, rare: bool, known: Spellings, vocabulary: Collection[str]) -> Meaning:
    slips: tuple[str, ...] = ()
    if rare:
        of_labels = chain.from_iterable(words(spelling) for spelling in chain.from_iterable(known.values()))
        slips = meant(term, {*vocabulary, *of_labels})[:MOST_SLIPS]
    telling = re.compile("|".join(chain.from_iterable(map(_telling, (term, *slips)))))
    told = {id: spelled for id, spelled in known.items() if any(map(telling.search, spelled))}
    plain = without_accents(term)
    every = (plain, *map(without_accents, chain(slips, *told.values())))
    return Meaning(term, frozenset(told), slips, plain, tuple(dict.fromkeys(every)))


def _telling(term: str) -> Iterator[str]:
    """An expression for the spellings that it tells: it alone, a word's beginning, in Chinese two characters of it."""
    written = re.escape(term)
    yield f"^{written}$"
    if len(term) > 1 and HAN.search(term):
        yield written
    elif len(term) > 2:
        yield rf"(?:^|\s){written}"


def _earliest(sheet: Sheet, concepts: frozenset[str]) -> int:
    for at, id in enumerate(sheet.concepts):
        if id in concepts:
            return at
    return -1
