"""The files of one run into its optimizer steps, in order: resumes spliced, ranks side by side.

What a resume took back (steps after the one it goes on from) is left out, and so is everything before a new start.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby, takewhile
from operator import attrgetter
from pathlib import Path
from typing import Any

from app.errors import Incomparable, Unreadable
from app.traces.lines import Watch, lines
from app.traces.schema import VERSION

Record = dict[str, Any]
DIGEST = "wrapping-sum-1"

HEAD = re.compile(rb'\{"event": ?"(\w+)", ?"step": ?(\d+)')
"""How nearly every line begins; what it matches need not be parsed to know its step."""
PLAIN = b'{"event":"'
TURNS = {b"trace", b"resum", b"model", b'env",'}
"""First five letters of the events at which the course of a file turns."""


@dataclass
class Part:
    """Lines of one rank at one optimizer step."""

    lines: list[bytes] = field(default_factory=list)
    after: list[bytes] = field(default_factory=list)
    """Those that follow a resume which goes on from this step."""


@dataclass(frozen=True)
class Step:
    number: int
    parts: dict[int, Part]
    """By rank."""


@dataclass(frozen=True)
class Span:
    """Consecutive lines of a file that belong to the run."""

    path: Path
    first: int
    end: int
    """The line after the last."""
    cut: int | None
    """Steps beyond it were taken back by a later resume."""
    resumed: int | None
    """The step that it goes on from."""


@dataclass(frozen=True)
class Run:
    ranks: dict[int, tuple[Span, ...]]
    heads: tuple[Record, ...]
    """The `trace` lines."""
    resumes: tuple[Record, ...]
    environment: Record
    model: Record
    torn: tuple[str, ...]
    """Places of lines that end in the middle."""

    @property
    def world(self) -> int:
        return max(int(head.get("world", 1)) for head in self.heads)

    def steps(self, watch: Watch | None = None) -> Iterator[Step]:
        """Each step once, ascending; all ranks that have it together."""
        streams = {rank: _parts(spans, watch) for rank, spans in self.ranks.items()}
        heads = {rank: next(stream, None) for rank, stream in streams.items()}
        while waiting := {rank: head for rank, head in heads.items() if head is not None}:
            number = min(step for step, _ in waiting.values())
            there = {rank: part for rank, (step, part) in waiting.items() if step == number}
            yield Step(number, there)
            for rank in there:
                heads[rank] = next(streams[rank], None)


@dataclass(frozen=True)
class _Mark:
    """A line at which the course of a file turns, or its end."""

    path: Path
    line: int
    rank: int
    event: str
    record: Record


def read_run(paths: Sequence[Path]) -> Run:
    """What the files hold and how they fit together; their steps are read later, by `steps`.

    Files of one rank go on from each other in the order given.
    """
    return _run([mark for path in paths for mark in _marks(path)])


def read_runs(paths: Sequence[Path]) -> tuple[Run, ...]:
    """As read_run, but a file that begins anew, where its rank has begun already, is the first of another run."""
    runs: list[list[_Mark]] = [[]]
    begun: set[int] = set()
    for path in paths:
        marks = list(_marks(path))
        if _begins(marks):
            if marks[0].rank in begun:
                runs.append([])
                begun.clear()
            begun.add(marks[0].rank)
        runs[-1].extend(marks)
    return tuple(map(_run, runs))


def _run(marks: Sequence[_Mark]) -> Run:
    ranks: dict[int, list[_Mark]] = {}
    for mark in marks:
        ranks.setdefault(mark.rank, []).append(mark)
    first = {event: next((one.record for one in marks if one.event == event), {}) for event in ("env", "model")}
    return Run(
        ranks={rank: tuple(_spans(own)) for rank, own in sorted(ranks.items())},
        heads=tuple(mark.record for mark in marks if mark.event == "trace"),
        resumes=tuple(mark.record for mark in marks if mark.event == "resume"),
        environment=first["env"],
        model=first["model"],
        torn=tuple(f"{mark.path}:{mark.line}" for mark in marks if mark.event == "torn"),
    )


def with_ranks(path: Path) -> list[Path]:
    """The file and those of the other ranks beside it: `run.jsonl`, `run.r1.jsonl`, `run.r2.jsonl` …"""
    stem, suffix = path.name.split(".", 1) if "." in path.name else (path.name, "")
    names = (path.with_name(f"{stem}.r{rank}.{suffix}") for rank in count(1))
    return [path, *takewhile(Path.is_file, names)]


def parsed(line: bytes) -> Record | None:
    """The record of a line; None where the line is torn."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("event"), str) else None


def _marks(path: Path) -> Iterator[_Mark]:
    rank, number, torn, begun = -1, 0, 0, False
    for number, line in enumerate(lines(path), 1):
        if begun and not torn and line[:10] == PLAIN and line[10:15] not in TURNS and line[-1:] == b"}":
            continue  # as nearly all are
        record = parsed(line)
        if rank < 0:
            _check_head(path, record)
        if record is None:
            if torn:
                raise Unreadable(f"{path}:{torn}: not a line of JSON with an event")
            torn = number
            continue
        event = record["event"]
        if torn and event != "trace":
            raise Unreadable(f"{path}:{torn}: not a line of JSON with an event")
        if torn:
            yield _Mark(path, torn, rank, "torn", {})
            torn = 0
        if event == "trace":
            _check_head(path, record)
            rank, begun = int(record["rank"]), False
        if event == "resume" and not isinstance(record.get("step"), int):
            raise Unreadable(f"{path}:{number}: a resume line without its step")
        if event in ("trace", "resume", "env", "model") or (event == "batch" and not begun):
            begun = begun or event == "batch"
            yield _Mark(path, number, rank, event, record)
    if not number:
        raise Unreadable(f"{path}: is empty")
    if torn:
        yield _Mark(path, torn, rank, "torn", {})
    yield _Mark(path, number + 1, rank, "end", {})


def _check_head(path: Path, record: Record | None) -> None:
    if record is None or record["event"] != "trace":
        raise Unreadable(f"{path}: is no trace; its first line is not the `trace` line of a recorder")
    if record.get("schema") != VERSION:
        raise Unreadable(f"{path}: is a trace of schema {record.get('schema')}; this reads schema {VERSION}")
    if record.get("digest") != DIGEST:
        raise Incomparable(f"{path}: has digests of kind {record.get('digest')}, which equal none of {DIGEST}")
    if not isinstance(record.get("rank"), int) or not isinstance(record.get("world"), int):
        raise Unreadable(f"{path}: its first line lacks the rank or the world")


def _begins(marks: Sequence[_Mark]) -> bool:
    """Whether the segment that the first mark opens is a new start: no resume comes before its first batch."""
    turning = (mark.event for mark in marks[1:])
    return next((event for event in turning if event in ("trace", "resume", "batch", "end")), "") != "resume"


def _spans(marks: Sequence[_Mark]) -> list[Span]:
    """Where the lines of one rank's run stand."""
    pieces: list[tuple[Path, int, int, int | None]] = []  # path, first line, end, step that it goes on from
    new: set[int] = set()  # pieces that a run begins with
    for path, own in groupby(marks, attrgetter("path")):
        turns = list(own)
        open_at: tuple[int, int | None] | None = None
        for i, mark in enumerate(turns):
            if mark.event not in ("trace", "resume", "end"):
                continue
            if open_at is not None:
                pieces.append((path, open_at[0], mark.line, open_at[1]))
                open_at = None
            if mark.event == "resume":
                open_at = (mark.line + 1, int(mark.record["step"]))
            elif mark.event == "trace" and _begins(turns[i:]):
                new.add(len(pieces))
                open_at = (mark.line + 1, None)
    start = max(new, default=0)
    kept = pieces[start:]
    cuts = [min((s for *_, s in kept[i + 1 :] if s is not None), default=None) for i in range(len(kept))]
    return [Span(path, first, end, cut, step) for (path, first, end, step), cut in zip(kept, cuts, strict=True)]


def _parts(spans: Sequence[Span], watch: Watch | None) -> Iterator[tuple[int, Part]]:
    """The steps of one rank; one that a resume goes on from comes once, with both."""
    number, part = -1, Part()
    for path, own in groupby(spans, attrgetter("path")):
        for span, step, line in _kept(path, list(own), watch):
            if step > number:
                if number >= 0:
                    yield number, part
                number, part = step, Part()
            elif step < number - 1:
                raise Unreadable(f"{path}: step {step} comes after step {number} without a resume; lines are shuffled")
            (part.after if step == span.resumed else part.lines).append(line)
    if number >= 0:
        yield number, part


def _kept(path: Path, spans: list[Span], watch: Watch | None) -> Iterator[tuple[Span, int, bytes]]:
    """The lines that belong to the run and to a step."""
    turn, span, known, step = 0, spans[0], b"", 0
    for number, line in enumerate(lines(path, watch), 1):
        if number >= span.end:
            while turn < len(spans) and number >= spans[turn].end:
                turn += 1
            if turn == len(spans):
                return
            span = spans[turn]
        if number < span.first:
            continue
        head = HEAD.match(line)
        if head is None:
            found = _step(line)
            if found is None:
                continue
            known, step = b"", found
        elif head[2] != known:
            known = head[2]
            step = int(known)
        if span.cut is None or step <= span.cut:
            yield span, step, line


def _step(line: bytes) -> int | None:
    record = parsed(line)
    step = record.get("step") if record is not None else None
    return step if isinstance(step, int) and not isinstance(step, bool) else None
