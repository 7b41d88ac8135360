"""A note into its network of concepts: which sections mark or name which, and every place where they do.

A solid edge (`marks`) joins a concept to the first section in reading order that marks it, a dashed one (`repeats`)
to every other section that marks or plainly names it. A concept that is named but never marked has dashed edges only:
a solid line promises a mark. Titles of works in footnotes name nothing. What stands before the first section belongs
to the note itself, which then takes the part of a section, the first one. Neither kind of edge claims a cause.

The nodes are called `note`, `section:ID` and `concept:ID`, and carry `kind`, `id`, `label` and `order`, their place
in reading order; a concept also carries its `places`. Edges carry `kind`: `contains`, `marks` or `repeats`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import networkx as nx

from app.content.note import Concept, Mark, Note, Passage
from app.content.sentences import sentence_at
from app.language import Language

LATIN = "0-9A-Za-z_\u00aa-\u02af\u0370-\u052f\u1e00-\u1fff"
"""What a word in an alphabet is made of; a Han character beside such a word does not belong to it."""
WIDE = str.maketrans({code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)})
"""Full-width forms into plain ones, one character for one."""

Spellings = tuple[tuple[str, str], ...]
"""Pairs of a spelling and the id of its concept."""


@dataclass(frozen=True)
class Place:
    """One occurrence of a concept in a note."""

    section: str | None
    """The id of its section; None before the first."""
    sentence: str
    words: str
    """As they stand in the sentence."""
    marked: bool
    anchor: str
    """The id to go to: that of the mark, else that of the section; empty for the top of the note."""
    line: int


def network(note: Note, concepts: Mapping[str, Concept]) -> "nx.Graph[str]":
    graph: nx.Graph[str] = nx.Graph()
    graph.add_node("note", kind="note", id=note.slug, label=note.title, order=0)
    sections = [section for section in note.sections if section.explicit and section.level == 2]
    for order, section in enumerate(sections, start=1):
        graph.add_node(f"section:{section.id}", kind="section", id=section.id, label=section.title, order=order)
        graph.add_edge("note", f"section:{section.id}", kind="contains")
    shown = {section.id for section in sections}
    for at, (concept, found) in enumerate(places(note, concepts).items()):
        label = concepts[concept].label[note.language] if concept in concepts else concept
        graph.add_node(f"concept:{concept}", kind="concept", id=concept, label=label, order=at, places=found)
        first = next((place.section for place in found if place.marked), "")
        for there in dict.fromkeys(place.section for place in found):
            kind = "marks" if there == first else "repeats"
            graph.add_edge(f"section:{there}" if there in shown else "note", f"concept:{concept}", kind=kind)
    return graph


def places(note: Note, concepts: Mapping[str, Concept]) -> dict[str, tuple[Place, ...]]:
    """Every occurrence of every concept in reading order; the concepts in the order of their first."""
    sections = {section.id: at for at, section in enumerate(note.sections, start=1)}
    spellings = _spellings(concepts, note.language)
    marks: dict[int, list[Mark]] = {}
    found: list[tuple[tuple[int, int, int], str, Place]] = []
    for mark in note.marks:
        marks.setdefault(_passage_of(mark, note.passages), []).append(mark)
    for at, passage in enumerate(note.passages):
        order = sections.get(passage.section or "", 0), at
        for start, concept, place in _in_passage(passage, marks.get(at, []), () if passage.footnote else spellings):
            found.append(((*order, start), concept, place))
    for mark in marks.get(-1, []):
        place = Place(mark.section, mark.sentence, mark.words, True, mark.anchor, mark.line)
        found.append(((sections.get(mark.section or "", 0), -1, mark.line), mark.concept, place))
    gathered: dict[str, list[Place]] = {}
    for _, concept, place in sorted(found, key=lambda item: item[0]):
        gathered.setdefault(concept, []).append(place)
    return {concept: tuple(there) for concept, there in gathered.items()}


def named(text: str, spellings: Spellings) -> Iterator[tuple[int, int, str]]:
    """Where in a text which concepts are plainly named: start, end and concept; the longest spelling wins."""
    pattern, concepts = _pattern(spellings)
    for match in pattern.finditer(_flat(text)):
        for concept in concepts.get(_plain(match[0]), ()):
            yield match.start(), match.end(), concept


def _spellings(concepts: Mapping[str, Concept], language: Language) -> Spellings:
    """Of the note's language; in Chinese text the English ones as well, since many are left as they are."""
    pairs: dict[tuple[str, str], None] = {}
    for concept in concepts.values():
        for spelling in (concept.label[language], *concept.also.get(language, ())):
            pairs[(spelling, concept.id)] = None
        if language == "zh":
            for spelling in (concept.label.en, *concept.also.get("en", ())):
                pairs[(spelling, concept.id)] = None
    return tuple(pairs)


@lru_cache(maxsize=8)
def _pattern(spellings: Spellings) -> tuple[re.Pattern[str], dict[str, tuple[str, ...]]]:
    """One expression for all spellings, the longest first, and the concepts of each plain spelling."""
    concepts: dict[str, tuple[str, ...]] = {}
    for spelling, concept in spellings:
        if plain := _plain(spelling):
            concepts[plain] = tuple(dict.fromkeys((*concepts.get(plain, ()), concept)))
    longest_first = sorted(concepts, key=lambda plain: (-len(plain), plain))
    latin = [_expression(plain) for plain in longest_first if re.match(f"[{LATIN}]", plain)]
    others = [_expression(plain) for plain in longest_first if not re.match(f"[{LATIN}]", plain)]
    either = f"(?<![{LATIN}])(?:{'|'.join(latin) or '(?!)'})|(?:{'|'.join(others) or '(?!)'})"
    firsts = "".join(sorted({re.escape(plain[0]) for plain in concepts}))
    return re.compile(f"(?=[{firsts}])(?:{either})" if concepts else "(?!)"), concepts


def _expression(plain: str) -> str:
    after = f"(?![{LATIN}])" if re.search(f"[{LATIN}]$", plain) else ""
    return r"[\s\-\u2010\u2011]+".join(map(re.escape, plain.split(" "))) + after


def _plain(spelling: str) -> str:
    return " ".join(re.split(r"[\s\-\u2010\u2011]+", _flat(spelling))).strip()


def _flat(text: str) -> str:
    """Lower case and plain width, every character where it was."""
    lower = text.translate(WIDE).lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _passage_of(mark: Mark, passages: Sequence[Passage]) -> int:
    """The last passage at or above the mark's line that holds its sentence; -1 for one in a heading, say."""
    holding = [
        at for at, passage in enumerate(passages)
        if passage.section == mark.section and mark.sentence in passage.text
    ]  # fmt: skip
    return next((at for at in reversed(holding) if passages[at].line <= mark.line), holding[0] if holding else -1)


def _in_passage(passage: Passage, marks: list[Mark], spellings: Spellings) -> Iterator[tuple[int, str, Place]]:
    """The marks of a passage, and what is plainly named where no mark stands."""
    taken: list[tuple[int, int]] = []
    for mark in marks:
        start = _free(passage.text, mark, taken)
        taken.append((start, start + len(mark.words)))
        yield start, mark.concept, Place(mark.section, mark.sentence, mark.words, True, mark.anchor, mark.line)
    for start, end, concept in named(passage.text, spellings):
        if not any(start < b and a < end for a, b in taken):
            words, anchor = passage.text[start:end], passage.section or ""
            sentence = sentence_at(passage.text, start)
            yield start, concept, Place(passage.section, sentence, words, False, anchor, passage.line)


def _free(text: str, mark: Mark, taken: list[tuple[int, int]]) -> int:
    """Where the words of a mark stand: behind the marks before it, in its own sentence."""
    behind = max((end for _, end in taken), default=0)
    sentence = max(text.find(mark.sentence), 0)
    found = text.find(mark.words, max(behind, sentence))
    return found if found >= 0 else max(text.find(mark.words), 0)
