"""A note with transclusions into the blocks that stand for them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from app.content.excerpts import excerpt
from app.content.note import Embed, Note, Prose, Transclusion
from app.errors import Fault

DEEPEST = 8
MOST = 1000
"""Blocks in one page: notes that transclude one another twice each would grow without end otherwise."""

Lookup = Callable[[Transclusion, Note], tuple[Note, str | None] | Fault]
"""The note and the id of the section that a transclusion means, or what is wrong with it."""
Step = tuple[str, str | None]
"""The file and the section whose blocks are being placed."""


@dataclass(frozen=True)
class Placed:
    """A block in the page of a note."""

    block: Prose | Embed | Transclusion
    """A transclusion remains where what it names is not there."""
    note: Note
    """Where the block was written: its links and ran numbers are read there."""


def expand(note: Note, lookup: Lookup) -> tuple[tuple[Placed, ...], tuple[Fault, ...]]:
    """The blocks of the page, and every fault met on the way; embeds keep their names as long as they are unique."""
    if not note.transclusions:
        return tuple(Placed(block, note) for block in note.body), ()
    page = _Page(lookup, [], [])
    page.add(note, None, ())
    own = {embed.name for embed in note.embeds}
    return tuple(_uniquely_named(page.placed, note, own)), tuple(dict.fromkeys(page.faults))


@dataclass
class _Page:
    lookup: Lookup
    placed: list[Placed]
    faults: list[Fault]

    def add(self, note: Note, section: str | None, path: tuple[Step, ...]) -> None:
        here = (*path, (note.file, section))
        for block in excerpt(note, section):
            if not isinstance(block, Transclusion):
                self.placed.append(Placed(block, note))
                continue
            found = self.lookup(block, note)
            fault = found if isinstance(found, Fault) else self._trouble(block, note, found, here)
            if fault:
                self.faults.append(fault)
                self.placed.append(Placed(block, note))
            elif not isinstance(found, Fault):
                self.add(*found, here)

    def _trouble(
        self, block: Transclusion, note: Note, found: tuple[Note, str | None], here: tuple[Step, ...]
    ) -> Fault | None:
        step = (found[0].file, found[1])
        if step in here:
            ring = " → ".join(map(_shown, (*here[here.index(step) :], step)))
            return Fault(note.file, block.line, f"transclusion in a circle: {ring}; take one of them out")
        if len(here) > DEEPEST:
            return Fault(note.file, block.line, f"transclusions are nested deeper than {DEEPEST}; link instead")
        if len(self.placed) >= MOST:
            return Fault(note.file, block.line, f"transclusions make a page of more than {MOST} blocks; link instead")
        return None


def _shown(step: Step) -> str:
    return step[0] + (f"#{step[1]}" if step[1] else "")


def _uniquely_named(placed: list[Placed], host: Note, taken: set[str]) -> Iterator[Placed]:
    """An embed from elsewhere whose name is taken is called after its note."""
    for piece in placed:
        block = piece.block
        if isinstance(block, Embed) and piece.note is not host:
            name, count = block.name, 1
            while name in taken:
                name = f"{piece.note.slug.replace('.', '-')}-{block.name}" + (f"-{count}" if count > 1 else "")
                count += 1
            taken.add(name)
            piece = replace(piece, block=replace(block, name=name))
        yield piece
