"""Two texts into what is the same, what is gone and what is new: by words, in Chinese and Japanese by characters.

First the paragraphs that are equal are put side by side, then the words between them, so that long texts cost little.
What is the same for only a word or two between changes counts as changed: a reader sees phrases, no confetti.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

Kind = Literal["same", "gone", "new"]
Run = tuple[int, int, int]
"""Where it begins in the one and in the other, and how long it is."""

WIDE = r"\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
WORD = rf"(?:(?![{WIDE}])[\w\u0300-\u036f])+"
TOKEN = re.compile(rf"(?P<wide>[{WIDE}])|(?P<word>{WORD}(?:(?:['’.-]|,(?=\d)){WORD})*)|\s+|.", re.DOTALL)
BREAK = re.compile(r"\n\s*\n")
ENOUGH = 60_000
"""Pairs of tokens that are compared in full; where there are more, what stands once in both is found first."""
SLIGHT = 4
"""The most that a piece between two changes may weigh to be taken into them: two words, four characters."""


@dataclass(frozen=True)
class Piece:
    kind: Kind
    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph with what changed in it, the line breaks at its end included."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Unchanged:
    """Paragraphs that are the same in both texts and not shown."""

    count: int


def differences(before: str, after: str) -> tuple[Piece, ...]:
    """The pieces in reading order, what is gone before what is new in its place.

    Without the new ones they are `before`, without those gone they are `after`, to the character.
    """
    return tuple(_joined(_pieces(before, after)))


def paragraph_differences(before: str, after: str, around: int = 1) -> tuple[Paragraph | Unchanged, ...]:
    """The changed paragraphs with `around` unchanged ones before and after; two and more that are left out are counted.

    Nothing where the texts are equal.
    """
    if before == after:
        return ()
    paragraphs = list(_paragraphs_of(differences(before, after)))
    changed = [at for at, paragraph in enumerate(paragraphs) if any(p.kind != "same" for p in paragraph.pieces)]
    near = {at + step for at in changed for step in range(-around, around + 1)}
    shown: list[Paragraph | Unchanged] = []
    for wanted, group in groupby(range(len(paragraphs)), key=near.__contains__):
        stretch = [paragraphs[at] for at in group]
        shown += stretch if wanted or len(stretch) == 1 else [Unchanged(len(stretch))]
    return tuple(shown)


def _paragraphs_of(pieces: Iterable[Piece]) -> Iterator[Paragraph]:
    gathered: list[Piece] = []
    for piece in pieces:
        start = 0
        for end in [match.end() for match in BREAK.finditer(piece.text)]:
            yield Paragraph((*gathered, Piece(piece.kind, piece.text[start:end])))
            gathered, start = [], end
        if piece.text[start:]:
            gathered.append(Piece(piece.kind, piece.text[start:]))
    if gathered:
        yield Paragraph(tuple(gathered))


def _pieces(before: str, after: str) -> Iterator[Piece]:
    ours, theirs = _paragraphs(before), _paragraphs(after)
    for same, gone, new in _aligned(ours, theirs):
        if same:
            yield Piece("same", same)
        else:
            yield from _words(gone, new)


def _paragraphs(text: str) -> list[str]:
    ends = [match.end() for match in BREAK.finditer(text)]
    parts = [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [part for part in parts if part]


def _words(before: str, after: str) -> Iterator[Piece]:
    """The pieces of two passages that differ."""
    found: list[list[str]] = [["", "", ""]]
    """Each: gone, new, and the same after them."""
    for same, gone, new in _aligned(_tokens(before), _tokens(after)):
        if same:
            found[-1][2] += same
            continue
        found.append([gone, new, ""])
        while len(found) > 2 and _slight(found[-2], found[-1]):
            gone, new, last = found.pop()
            between = found[-1][2]
            found[-1] = [found[-1][0] + between + gone, found[-1][1] + between + new, last]
    for gone, new, same in found:
        yield from (Piece("gone", gone), Piece("new", new), Piece("same", same))


def _slight(one: list[str], two: list[str]) -> bool:
    """Whether what is the same between two changes is too little to stand alone."""
    between = _weight(one[2])
    least = min(max(map(_weight, one[:2])), max(map(_weight, two[:2])))
    return between <= min(least, SLIGHT) and not BREAK.search(one[2])


def _weight(text: str) -> int:
    return sum({"wide": 1, "word": 2}.get(match.lastgroup or "", 0) for match in TOKEN.finditer(text))


def _tokens(text: str) -> list[str]:
    return [match.group() for match in TOKEN.finditer(text)]


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Without empty ones, and no two of one kind side by side."""
    for kind, group in groupby((piece for piece in pieces if piece.text), key=lambda piece: piece.kind):
        yield Piece(kind, "".join(piece.text for piece in group))


def _aligned(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """In their order: what is the same, or else what is gone and what is new in its place."""
    a = b = 0
    for i, j, length in (*_runs(ours, theirs), (len(ours), len(theirs), 0)):
        if a < i or b < j:
            yield "", "".join(ours[a:i]), "".join(theirs[b:j])
        if length:
            yield "".join(ours[i : i + length]), "", ""
        a, b = i + length, j + length


def _runs(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Run]:
    """Equal runs in their order."""
    shorter = min(len(ours), len(theirs))
    head = next((at for at in range(shorter) if ours[at] != theirs[at]), shorter)
    tail = next((at for at in range(shorter - head) if ours[-1 - at] != theirs[-1 - at]), shorter - head)
    yield 0, 0, head
    yield from _moved(_inner(ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]), head, head)
    yield len(ours) - tail, len(theirs) - tail, tail


def _inner(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Run]:
    """Of texts that begin and end differently."""
    if len(ours) * len(theirs) <= ENOUGH:
        yield from SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
        return
    a = b = 0
    anchors = _anchors(ours, theirs)
    for i, j in (*anchors, (len(ours), len(theirs))) if anchors else ():
        yield from _moved(_runs(ours[a:i], theirs[b:j]), a, b)
        if i < len(ours):
            yield i, j, 1
        a, b = i + 1, j + 1


def _moved(runs: Iterable[Run], a: int, b: int) -> Iterator[Run]:
    return ((i + a, j + b, length) for i, j, length in runs)


def _anchors(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
    """The longest row of tokens that stand once in both, in the same order (patience sorting)."""
    once = {token for token, count in Counter(theirs).items() if count == 1}
    once &= {token for token, count in Counter(ours).items() if count == 1}
    places = {token: at for at, token in enumerate(theirs) if token in once}
    pairs = [(at, places[token]) for at, token in enumerate(ours) if token in once]
    ends: list[int] = []
    last: list[int] = []
    """Which pair ends the best row of each length."""
    before: list[int | None] = []
    for at, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else None)
        ends[length:] = [place] if length == len(ends) else [place, *ends[length + 1 :]]
        last[length:] = [at] if length == len(last) else [at, *last[length + 1 :]]
    row: list[tuple[int, int]] = []
    step = last[-1] if last else None
    while step is not None:
        row.append(pairs[step])
        step = before[step]
    return row[::-1]
