"""Everything that can go wrong, in one tree.

PerennialError
├── AuthorError          the content is wrong: stops the start, lists every fault
├── ReaderError          a request is wrong: explained in place
│   ├── InvalidParameters
│   ├── InvalidCheckpoint
│   ├── InvalidSearch
│   └── InvalidQuestion
├── TraceError           traces cannot be compared
│   ├── Unreadable       a file is no trace, or not of this schema
│   ├── TooLarge         more lines than may be read
│   └── Incomparable     both are traces, but of nothing that could be equal
└── LaboratoryError      an experiment or a comparison could not be run just now
    ├── Busy             too many wait already; come back later
    ├── TookTooLong      stopped at its time limit
    ├── WorkerLost       the worker died, as one that is out of memory does
    └── NoRoom           the disk takes nothing more
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.language import Text


class PerennialError(Exception):
    """Anything that the garden itself raises."""


@dataclass(frozen=True, order=True)
class Fault:
    """Something an author should mend: where, what, and the likely mend."""

    file: str
    line: int
    what: str
    stops: bool = True
    """Whether the garden refuses to start; otherwise it is a warning."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


class AuthorError(PerennialError):
    """The content has faults; all of them are listed."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(sorted(faults))
        super().__init__("\n".join(map(str, self.faults)))


@dataclass(frozen=True)
class Problem:
    """One thing wrong with what a reader sent, in both languages."""

    parameter: str
    given: str
    message: Text


class ReaderError(PerennialError):
    """What a reader sent cannot be used; every problem is listed."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{p.parameter}: {p.message.en}" for p in self.problems))


class InvalidParameters(ReaderError):
    """Parameters of an experiment that cannot be run."""


class InvalidCheckpoint(ReaderError):
    """A checkpoint file that cannot be resumed from."""


class InvalidSearch(ReaderError):
    """A search with parameters that it does not have, or with values that they cannot have."""


class InvalidQuestion(ReaderError):
    """A comparison of traces that is asked for in a way that cannot be answered."""


class TraceError(PerennialError):
    """Traces that cannot be compared; says why in both languages, and begins with the file where it is one's fault."""

    def __init__(self, en: str, zh: str = "") -> None:
        self.message = Text(_one_line(en), _one_line(zh or en))
        super().__init__(en, zh)

    def __str__(self) -> str:
        return self.message.en

    def within(self, folder: Path) -> "TraceError":
        """The same, with files named as they stand in the folder."""
        before = f"{folder}{os.sep}"
        return type(self)(self.message.en.replace(before, ""), self.message.zh.replace(before, ""))


def _one_line(text: str) -> str:
    """Without what would break or colour a line: names and values out of files stand in these."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


class Unreadable(TraceError):
    """A file that is no trace, or a trace of another schema; names the file and the line."""


class TooLarge(TraceError):
    """Files whose lines, unpacked, are more than may be read; names the limit."""


class Incomparable(TraceError):
    """Two traces that have nothing in common: other models, other digests, no step that both have."""


class LaboratoryError(PerennialError):
    """An experiment or a comparison was not run to its end; the reader may try again."""


class Busy(LaboratoryError):
    """Too many wait already."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        """Seconds after which a place is likely to be free."""
        super().__init__(f"too many are waiting; try again in {retry_after} s")


class TookTooLong(LaboratoryError):
    """A computation was stopped at its time limit."""


class WorkerLost(LaboratoryError):
    """The process that ran a computation ended before it answered."""


class NoRoom(LaboratoryError):
    """What was sent could not be written: the folder for it is full, or not to be written to."""
