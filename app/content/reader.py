"""A content folder into its notes, as often as asked: what nothing has changed for is not read again.

A note is made of the bytes of its file, of its slug and language, and of what it asked of the other files of the
folder. Where all of that is as it was, so is the note: in this process, or in one that kept it for the next.
"""

import os
import pickle
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from cachetools import LRUCache

from app.content.answers import Answers, hold
from app.content.files import Files, Listing, Source, walk
from app.content.later import Later
from app.content.note import Note
from app.content.notes import Read, note, read
from app.errors import Fault
from app.language import Language

SETTLED = 2_000_000_000
"""Nanoseconds: what is read so long after its time says that it was written cannot have been written again unseen."""
IN_USE = 512
"""Bodies that stay loaded."""
BATCH = 500
"""Notes that are kept at once."""
NOTE, BODY = "note", "body"
Loaded = tuple[tuple[Any, ...], tuple[Any, ...]]
"""The body and the passages of a note."""
Watch = Callable[[Iterable[Any], int], Iterable[Any]]
"""Hands on what it is given, so many things, and may show how far it is."""


def unwatched(items: Iterable[Any], _: int) -> Iterable[Any]:
    return items


class Kept(Protocol):
    """What outlives a process: bytes by kind and key, none of which is needed."""

    def all(self, kind: str) -> Iterable[tuple[str, bytes]]: ...

    def get(self, kind: str, key: str) -> bytes | None: ...

    def put(self, kind: str, entries: Mapping[str, bytes]) -> None: ...

    def prune(self, kind: str, used: Collection[str]) -> None:
        """What is no longer used may go."""


@dataclass(frozen=True)
class Sight:
    """A file as it lies there."""

    source: Source
    key: str
    """Digest of its bytes, path, slug and language."""
    data: bytes | None
    """None where it need not be opened, since it is as it was."""
    stamp: tuple[int, int, int]
    """When it was written, its size, and its number on the disk."""
    at: int
    """When it was looked at."""

    @property
    def shut(self) -> "Sight":
        """Without its bytes."""
        return Sight(self.source, self.key, None, self.stamp, self.at)


@dataclass(frozen=True)
class Known:
    sight: Sight
    read: Read


class Reader:
    """The notes of one folder, and what is needed to know them again."""

    def __init__(
        self,
        folder: Path,
        default_language: Language,
        kept: Kept | None = None,
        finish: Callable[[Note], Note] = lambda note: note,
    ) -> None:
        """`finish` adds to each note what its file does not say; it is asked once for each."""
        self.folder = folder
        self.default_language = default_language
        self.kept = kept
        self.finish = finish
        self.parsed: tuple[str, ...] = ()
        """The files that had to be parsed when it read last."""
        self._known: dict[str, Known] = {}
        self._bodies: LRUCache[str, Loaded] = LRUCache(IN_USE)
        self._lock = Lock()
        self._listing: Listing | None = None

    def read(self, watch: Watch = unwatched) -> tuple[tuple[Note, ...], tuple[Fault, ...]]:
        """All notes in the order of their paths; a note with faults is there wherever it can be."""
        listing = walk(self.folder, self.default_language, self._listing)
        files, same = listing.files, listing is self._listing
        looks = [self._look(source) for source in listing.sources]
        sights = [one for one in looks if isinstance(one, Sight)]
        rows = dict(self.kept.all(NOTE)) if self.kept and not self._known else {}
        known = {sight.source.path: self._again(sight, files, same, rows.get(sight.key)) for sight in sights}
        new = [one for sight in sights if known[sight.source.path] is None and (one := self._opened(sight))]
        known |= {one.sight.source.path: one for one in watch(self._parse(new, files), len(new))}
        self._known = {path: one for path, one in known.items() if one is not None}
        self._listing = listing
        self.parsed = tuple(sight.source.path for sight in new)
        if self.kept and new:
            self.kept.prune(NOTE, [one.sight.key for one in self._known.values()])
            self.kept.prune(BODY, [one.read.note.digest for one in self._known.values() if one.read.note])
        reads = [one.read for one in self._known.values()]
        unopened = (one for one in looks if isinstance(one, Fault))
        faults = (*listing.faults, *unopened, *(fault for one in reads for fault in one.faults))
        return tuple(one.note for one in reads if one.note is not None), tuple(sorted(faults))

    def _look(self, source: Source) -> Sight | Fault | None:
        """None for a file that has just gone."""
        path, at = f"{self.folder}{os.sep}{source.path}", time.time_ns()
        try:
            found = os.stat(path)
            stamp = found.st_mtime_ns, found.st_size, found.st_ino
            last = self._known.get(source.path)
            if last and (last.sight.source, last.sight.stamp) == (source, stamp) and last.sight.at - stamp[0] > SETTLED:
                return last.sight
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            what = f"cannot be opened ({error.strerror}), so this note is left out"
            return Fault(source.path, 1, what, stops=False)
        return Sight(source, _key(source, data), data, stamp, at)

    def _opened(self, sight: Sight) -> Sight | None:
        """With its bytes, whatever they are by now."""
        if sight.data is not None:
            return sight
        self._known.pop(sight.source.path)
        found = self._look(sight.source)
        return found if isinstance(found, Sight) else None

    def _again(self, sight: Sight, files: Files, same: bool, row: bytes | None) -> Known | None:
        """What is known of just this file; None where it has to be parsed. The `same` files give the same answers."""
        path = sight.source.path
        last = self._known.get(path)
        if last is not None and last.sight.key == sight.key:
            if same or hold(files, path, last.read.answers):
                return last if sight is last.sight else Known(sight.shut, last.read)
            return None
        if row is None and self._known and self.kept:
            row = self.kept.get(NOTE, sight.key)
        if row is None or sight.data is None:
            return None
        made: Read = pickle.loads(row)
        if not hold(files, path, made.answers):
            return None
        return Known(sight.shut, self._whole(made, sight.data, sight, files))

    def _whole(self, made: Read, data: bytes, sight: Sight, files: Files) -> Read:
        """With the text of its file, and where bodies are kept with one that is loaded when somebody looks into it."""
        if made.note is None:
            return made
        if self.kept is None:
            return replace(made, note=self.finish(made.note))
        text = data.decode()
        parts = Parts(self, made.note.digest, text, sight.source, files)
        whole = replace(made.note, source=text, body=Later(parts.body), passages=Later(parts.passages))
        return Read(self.finish(whole), made.faults, made.answers)

    def load(self, parts: "Parts") -> Loaded:
        """From those in use, else as it was kept, else made anew."""
        with self._lock:
            found = self._bodies.get(parts.digest)
        if found is None:
            row = self.kept.get(BODY, parts.digest) if self.kept else None
            found = pickle.loads(zlib.decompress(row)) if row is not None else parts.anew()
            with self._lock:
                self._bodies[parts.digest] = found
        return found

    def _parse(self, sights: list[Sight], files: Files) -> Iterator[Known]:
        rows: dict[str, bytes] = {}
        bodies: dict[str, bytes] = {}
        for at, sight in enumerate(sights, 1):
            made = read(sight.data or b"", sight.source, files)
            if made.note:
                made = replace(made, note=replace(made.note, digest=_digest(sight.key, made.answers)))
            if self.kept:
                rows[sight.key] = _light(made)
                bodies |= {made.note.digest: _body(made.note)} if made.note else {}
            if self.kept and (at % BATCH == 0 or at == len(sights)):
                self.kept.put(BODY, bodies)
                self.kept.put(NOTE, rows)
                rows, bodies = {}, {}
            yield Known(sight.shut, self._whole(made, sight.data or b"", sight, files))


@dataclass(frozen=True, slots=True)
class Parts:
    """What of a note is loaded when somebody looks into it; there are thousands, so it holds on to little."""

    reader: Reader
    digest: str
    text: str
    source: Source
    files: Files

    def body(self) -> tuple[Any, ...]:
        return self.reader.load(self)[0]

    def passages(self) -> tuple[Any, ...]:
        return self.reader.load(self)[1]

    def anew(self) -> Loaded:
        made, _ = note(self.text, self.source, self.files)
        return tuple(made.body), tuple(made.passages)


def read_notes(folder: Path, default_language: Language) -> tuple[tuple[Note, ...], tuple[Fault, ...]]:
    return Reader(folder, default_language).read()


def _key(source: Source, data: bytes) -> str:
    named = "\0".join((source.path, source.stem, source.slug, source.language, ""))
    return blake2b(named.encode(errors="surrogateescape") + data, digest_size=16).hexdigest()


def _digest(key: str, answers: Answers) -> str:
    return blake2b(repr((key, sorted(answers.items()))).encode(errors="surrogateescape"), digest_size=16).hexdigest()


def _light(made: Read) -> bytes:
    """What a garden is grown from: all but what stands in the file, and in the body."""
    return pickle.dumps(replace(made, note=made.note and replace(made.note, source="", body=(), passages=())), 5)


def _body(note: Note) -> bytes:
    """What only the note's own page and a search need."""
    return zlib.compress(pickle.dumps((tuple(note.body), tuple(note.passages)), 5), 1)
