"""A note into the one folded text that search reads of it: its title, the labels of its concepts, its text.

Its text is what its author wrote and a reader sees: headings, paragraphs, items, cells, titles of callouts, footnotes,
formulas as plain text, code, the words that stand for a picture, and what HTML shows. Other notes that it shows within
itself are found as themselves; tags, summaries, addresses, and what the garden adds (names of callouts without a title,
results of experiments) are no text of it.
"""

import hashlib
import pickle
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.content.files import folded
from app.content.note import Concept, Note, Prose
from app.content.pieces import Anchored, Code, Footnotes
from app.content.reader import Kept
from app.garden.folding import without_accents
from app.garden.network import places
from app.garden.slips import HAN
from app.language import Language

SHEET = "sheet"
SIEVE = 4093
"""Bits of a sieve, a prime number: a note of 300 words sets about a quarter."""


@dataclass(frozen=True, slots=True)
class Sheet:
    note: Note
    text: str
    """Folded: title, labels and text, a line each; a term has no white space in it, so it never spans two."""
    title_end: int
    labels_end: int
    concepts: tuple[str, ...]
    """Ids of the concepts that the note marks or plainly names."""
    plain: str | None
    """The text without accents where it has any."""
    sieve: int
    """What the text lets through: a term whose sieve has a bit that is not in here does not stand in it."""
    packed: bytes
    """The lines of the text as they are written, compressed: a snippet of a hit needs no more of the note."""

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(zlib.decompress(self.packed).decode(errors="surrogatepass").split("\n"))

    @property
    def values(self) -> tuple[object, ...]:
        """All but the note."""
        return self.text, self.title_end, self.labels_end, self.concepts, self.plain, self.sieve, self.packed

    @property
    def title(self) -> str:
        return self.text[: self.title_end]

    @property
    def address(self) -> tuple[str, Language]:
        return self.note.slug, self.note.language


def sheet(note: Note, concepts: Mapping[str, Concept]) -> Sheet:
    its = tuple(id for id in places(note, concepts) if id in concepts) if concepts else ()
    title = folded(" ".join(note.title.split()))
    labels = folded("".join(f"\n{concepts[id].label[note.language]}" for id in its))
    written = lines(note)
    text = "\n".join((title + labels, *map(folded, written)))
    plain = without_accents(text)
    packed = zlib.compress("\n".join(written).encode(errors="surrogatepass"), 1)
    ends = len(title), len(title) + len(labels)
    return Sheet(note, text, *ends, its, plain if plain != text else None, sieve(text), packed)


def sheets_of(
    notes: Iterable[Note], concepts: Mapping[str, Concept], had: Mapping[int, Sheet], kept: Kept | None
) -> list[Sheet]:
    """One for each note: the one that it `had` (by the identity of the note), or that was kept, else a new one."""
    every = list(notes)
    found = [had.get(id(note)) for note in every]
    missing = [at for at, one in enumerate(found) if one is None]
    known = hashlib.sha256(repr(sorted(concepts.items())).encode()).hexdigest()
    keys = {at: f"{every[at].digest} {known}" for at in missing if kept and every[at].digest}
    if kept and keys and not had:
        places = {key: at for at, key in keys.items()}
        for key, row in kept.all(SHEET):
            if (at := places.get(key)) is not None:
                found[at] = Sheet(every[at], *pickle.loads(row))
    new: dict[str, bytes] = {}
    for at in missing:
        if found[at] is None:
            found[at] = one = sheet(every[at], concepts)
            new |= {keys[at]: pickle.dumps(one.values)} if at in keys else {}
    if kept and new:
        kept.put(SHEET, new)
        if not had:
            kept.prune(SHEET, keys.values())
    return [one for one in found if one is not None]


def having(term: str, sheets: list[Sheet]) -> list[Sheet]:
    """Those in which the term stands, in their order.

    Cheap sights come before a thorough one: the sieve, and single wide characters, which are soon found.
    """
    if wanted := sieve(term):
        sheets = [one for one in sheets if one.sieve & wanted == wanted]
    if len(term) > 1:
        for wide in dict.fromkeys(HAN.findall(term)):
            sheets = [one for one in sheets if wide in one.text]
    return [one for one in sheets if term in one.text]


def sieve(text: str) -> int:
    """A bit for every three characters in a row; what is not ASCII counts as one and the same character.

    Whatever stands in a text sets none but bits of the text. Nine scans in ten of alphabetic text are saved by it;
    Chinese needs none, since a single character of thousands is soon found missing.
    """
    characters = text.encode("ascii", "replace") + b"\n"
    found: set[int] = set()
    for start in range(4):
        from_here = characters[start:]
        found.update(struct.unpack_from(f"<{len(from_here) // 4}I", from_here))
    digits = bytearray(b"0" * SIEVE)
    for four in found:
        digits[(four & 0xFFFFFF) % SIEVE] = ord("1")
    return int(digits, 2)


def lines(note: Note) -> tuple[str, ...]:
    """The note's own text as rendered: headings and passages in reading order, then the lines of its code."""
    headings = ((section.line, 0, section.title) for section in note.sections)
    passages = ((passage.line, 1, passage.text) for passage in note.passages)
    reading = sorted((*headings, *passages), key=lambda item: item[:2])
    texts = (*(text for _, _, text in reading), *_code(note))
    return tuple(line for text in texts for line in text.split("\n") if line.strip())


def _code(note: Note) -> Iterator[str]:
    for block in note.body:
        if isinstance(block, Prose):
            yield from _code_in(block.tokens)


def _code_in(tokens: tuple[object, ...]) -> Iterator[str]:
    for token in tokens:
        if isinstance(token, Code):
            yield token.text
        elif isinstance(token, Anchored):
            yield from _code_in(token.tokens)
        elif isinstance(token, Footnotes):
            for footnote in token.items:
                yield from _code_in(footnote.tokens)
