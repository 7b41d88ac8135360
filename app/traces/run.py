"""The files of one run into its optimizer steps, in order: resumes spliced, ranks side by side.

What a resume took back (steps after the one it goes on from) is left out, and so is everything before a new start.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, count, groupby, islice, takewhile
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from app.errors import Unreadable
from app.traces.lines import Budget, Watch, blocks, lines
from app.traces.record import HEAD, NAMES, Record, counts, event_of, parsed
from app.traces.turns import Turn, turns

MOST = 1 << 27
"""Bytes of the lines of one rank at one step, which memory holds."""


@dataclass
class Part:
    """Lines of one rank at one optimizer step."""

    lines: list[bytes] = field(default_factory=list)
    after: list[bytes] = field(default_factory=list)
    """Those that follow a resume which goes on from this step."""
    names: list[str] = field(default_factory=list, compare=False)
    """The events of the lines."""
    _events: dict[str, list[bytes]] | None = field(default=None, compare=False, repr=False)

    def events(self) -> dict[str, list[bytes]]:
        """The lines by their event; those of one event in their order."""
        if self._events is None:
            found: dict[str, list[bytes]] = {}
            for name, line in zip(self.names, self.lines, strict=True):
                if name in found:
                    found[name].append(line)
                else:
                    found[name] = [line]
            self._events = found
        return self._events

    def of(self, event: str) -> list[bytes]:
        return self.events().get(event, [])


class Step(NamedTuple):
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
    resume: Record | None = None
    """The line that says so."""
    shift: int = 0
    """What is added to the steps of its lines."""


@dataclass(frozen=True)
class Run:
    ranks: dict[int, tuple[Span, ...]]
    heads: tuple[Record, ...]
    """The `trace` lines."""
    environment: Record
    model: Record
    torn: tuple[str, ...]
    """Places of lines that end in the middle."""
    anew: tuple[str, ...]
    """Places at which it begins anew: what was recorded before them is left out."""

    @property
    def world(self) -> int:
        return max(int(head["world"]) for head in self.heads)

    @property
    def resumes(self) -> tuple[Record, ...]:
        """Of all ranks, each with the step that it goes on from."""
        every = [span for spans in self.ranks.values() for span in spans]
        return tuple(span.resume | {"step": span.resumed} for span in every if span.resume is not None)

    def steps(self, watch: Watch | None = None) -> Iterator[Step]:
        """Each step once, ascending; all ranks that have it together."""
        streams = {rank: _parts(spans, watch) for rank, spans in self.ranks.items()}
        if len(streams) == 1:
            for rank, stream in streams.items():
                yield from (Step(number, {rank: part}) for number, part in stream)
            return
        heads = {rank: next(stream, None) for rank, stream in streams.items()}
        while waiting := {rank: head for rank, head in heads.items() if head is not None}:
            number = min(step for step, _ in waiting.values())
            there = {rank: part for rank, (step, part) in waiting.items() if step == number}
            yield Step(number, there)
            for rank in there:
                heads[rank] = next(streams[rank], None)


def read_run(paths: Sequence[Path], limit: int | None = None) -> Run:
    """What the files hold and how they fit together; their steps are read later, by `steps`.

    Files of one rank go on from each other in the order given. `limit` is of their unpacked bytes together.
    """
    budget = Budget(limit)
    return _run([turn for path in paths for turn in turns(path, budget)])


def read_runs(paths: Sequence[Path], limit: int | None = None) -> tuple[Run, ...]:
    """As read_run, but a file that begins anew, where its rank has begun already, is the first of another run.

    Where it has not, the file stands before those that go on, in whatever order they were chosen.
    """
    runs: list[tuple[list[Turn], list[Turn]]] = [([], [])]
    begun: set[int] = set()
    budget = Budget(limit)
    for path in paths:
        alone = Budget(limit)
        own = list(turns(path, alone))
        if _begins(own, 0):
            if own[0].rank in begun:
                runs.append(([], []))
                begun.clear()
                budget = Budget(limit)
            begun.add(own[0].rank)
            runs[-1][0].extend(own)
        else:
            runs[-1][1].extend(own)
        budget.spend(path, alone.spent)
    return tuple(_run([*beginnings, *others]) for beginnings, others in runs)


def _run(every: Sequence[Turn]) -> Run:
    ranks: dict[int, list[Turn]] = {}
    for turn in every:
        ranks.setdefault(turn.rank, []).append(turn)
    starts = {rank: _start(own) for rank, own in ranks.items()}
    kept = [turn for rank, own in ranks.items() for turn in own[starts[rank] :]]
    first = {event: next((turn.record for turn in kept if turn.event == event), {}) for event in ("env", "model")}
    anew = [own[starts[rank]] for rank, own in ranks.items() if any(_is_training(t) for t in own[: starts[rank]])]
    return Run(
        ranks={rank: tuple(_spans(own[starts[rank] :])) for rank, own in sorted(ranks.items())},
        heads=tuple(turn.record for turn in kept if turn.event == "trace"),
        environment=first["env"],
        model=first["model"],
        anew=tuple(f"{turn.path}:{turn.line}" for turn in anew),
        torn=tuple(f"{turn.path}:{turn.line}" for turn in every if turn.event == "torn"),
    )


def with_ranks(path: Path) -> list[Path]:
    """The file and those of the other ranks beside it: `run.jsonl`, `run.r1.jsonl`, `run.r2.jsonl` …"""
    stem, suffix = path.name.split(".", 1) if "." in path.name else (path.name, "")
    names = (path.with_name(f"{stem}.r{rank}.{suffix}") for rank in count(1))
    return [path, *takewhile(Path.is_file, names)]


def _begins(every: Sequence[Turn], at: int) -> bool:
    """Whether the segment that this turn opens is a new start: no resume comes before its first batch."""
    turning = (every[place].event for place in range(at + 1, len(every)))
    return next((event for event in turning if event in ("trace", "resume", "batch", "end")), "") != "resume"


def _start(every: Sequence[Turn]) -> int:
    """The turn at which one rank's run begins for the last time."""
    places = reversed(range(len(every)))
    return next((place for place in places if every[place].event == "trace" and _begins(every, place)), 0)


def _is_training(turn: Turn) -> bool:
    return turn.event in ("batch", "resume")


def _spans(every: Sequence[Turn]) -> list[Span]:
    """Where the lines of one rank's run stand, from its last start on."""
    pieces: list[Span] = []
    for path, group in groupby(every, attrgetter("path")):
        own = list(group)
        open_at: Turn | None = None
        for i, turn in enumerate(own):
            if turn.event not in ("trace", "resume", "torn", "end"):
                continue
            if open_at is not None:
                resume = open_at.record if open_at.event == "resume" else None
                step = resume["step"] if resume is not None else None
                pieces.append(Span(path, open_at.line + 1, turn.line, None, step, resume))
                open_at = None
            if turn.event == "resume" or (turn.event == "trace" and _begins(own, i)):
                open_at = turn
    return cut_back(pieces)


def cut_back(spans: Sequence[Span]) -> list[Span]:
    """Each without the steps that a later one takes back."""
    later = accumulate((span.resumed for span in reversed(spans)), _lower)
    cuts = [*reversed([None, *islice(later, len(spans) - 1)])] if spans else []
    return [replace(span, cut=cut) for span, cut in zip(spans, cuts, strict=True)]


def _lower(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _parts(spans: Sequence[Span], watch: Watch | None) -> Iterator[tuple[int, Part]]:
    """The steps of one rank; one that a resume goes on from comes once, with both."""
    number, part, size = -1, Part(), 0
    for span, first, own, taken in _kept(spans, watch):
        known = b""  # the second token of the line before, where it tells a step that goes on
        lines, names = part.lines, part.names
        size += taken
        for line in own:
            tokens = line.split(b",", 2)
            name = NAMES.get(tokens[0])
            if name is not None and len(tokens) == 3 and tokens[1] == known:
                lines.append(line)
                names.append(name)
                continue
            step = _step(line)
            if step is None:
                _check_step(span.path, first, own, line)
                continue
            if span.cut is not None and step > span.cut:
                continue
            if step > number:
                if number >= 0:
                    yield number, part
                number, part, size = step, Part(), taken
                lines, names = part.lines, part.names
            elif step < number - 1:
                raise _shuffled(span.path, step, number)
            if step == span.resumed:
                part.after.append(line)
                continue
            lines.append(line)
            names.append(name or event_of(line))
            known = tokens[1] if name is not None and HEAD.match(line) else b""
        if size > MOST:
            raise Unreadable(
                f"{span.path}: the lines of step {number} take more than {MOST >> 20} MB",
                f"{span.path}：第 {number} 步的各行超过 {MOST >> 20} MB",
            )
    if number >= 0:
        yield number, part


def _kept(spans: Sequence[Span], watch: Watch | None) -> Iterator[tuple[Span, int, list[bytes], int]]:
    """Consecutive lines that belong to the run, with the number of the first and about the bytes that they take."""
    for path, group in groupby(spans, attrgetter("path")):
        own, first = list(group), 1
        for block in blocks(path, watch):
            every = lines(block)
            end = first + len(every)
            for span in own:
                if piece := every[max(span.first - first, 0) : max(span.end - first, 0)]:
                    piece = [_shifted(line, span.shift) for line in piece] if span.shift else piece
                    yield span, max(span.first, first), piece, len(block) * len(piece) // len(every)
            own = [span for span in own if span.end > end]
            if not own:
                break
            first = end


def _shifted(line: bytes, by: int) -> bytes:
    """The line as that of a later step."""
    head = HEAD.match(line)
    if head is not None:
        return b"%b%d%b" % (line[: head.start(2)], int(head[2]) + by, line[head.end(2) :])
    record, step = parsed(line), _step(line)
    return line if record is None or step is None else json.dumps(record | {"step": step + by}).encode()


def _step(line: bytes) -> int | None:
    head = HEAD.match(line)
    if head is not None:
        return int(head[2])
    record = parsed(line)
    step = record.get("step") if record is not None else None
    return step if counts(step) else None


def _check_step(path: Path, first: int, own: Sequence[bytes], line: bytes) -> None:
    """A line without a step belongs to none, but one that cannot be read, or whose step is no number, is a fault."""
    record = parsed(line)
    where = f"{path}:{first + own.index(line)}"
    if record is None:
        raise Unreadable(f"{where}: not a line of JSON with an event", f"{where}：不是带有 event 的 JSON 行")
    if "step" in record:
        raise Unreadable(f"{where}: a step that is no whole number below 2^63", f"{where}：步号不是小于 2^63 的整数")


def _shuffled(path: Path, step: int, before: int) -> Unreadable:
    return Unreadable(
        f"{path}: step {step} comes after step {before} without a resume; lines are shuffled",
        f"{path}：第 {step} 步出现在第 {before} 步之后，其间没有恢复；行的顺序被打乱",
    )
