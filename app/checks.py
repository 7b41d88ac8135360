"""A content folder into a garden and everything that an author should mend in it, experiments included.

Exact ran numbers are executed here; measured ones are compared with `measured.json`, which `update` writes.
Nothing here imports torch: who can run measured experiments passes in how.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from app.content.concepts import read_concepts
from app.content.note import Concept, Embed, Note, Ran
from app.content.reader import Kept, read_notes
from app.errors import Fault, InvalidParameters
from app.experiments import EXPERIMENTS
from app.experiments.experiment import Experiment, Result
from app.experiments.parameters import Params
from app.garden.dates import Calendar
from app.garden.digests import behind
from app.garden.garden import Garden, grow
from app.laboratory import versions
from app.language import Language
from app.measured import MEASURED, Key, Measured, Record, State, key, processor
from app.numerals import agrees, full

Run = Callable[[Experiment, Params], Result]
STEP = re.compile(r"-?[0-9]+|[^\W\d]\w*")
"""A field, or an index (negative from the end)."""


class Unread(Exception):
    """A path that leads nowhere in a result; says why."""


@dataclass(frozen=True)
class Shown:
    """What a page needs to know of a ran number."""

    experiment: str
    embed: str | None
    """The embed of the note that shows the state when the number is pressed; None: the widget's own page."""
    state: Mapping[str, str]
    """The fewest texts that lead there, on top of the embed's block or the experiment's defaults."""
    value: Any = None
    """As computed or recorded; None when nothing is known yet."""
    differs: str | None = None
    """The value here in every digit, where it is not what the text says."""


@dataclass(frozen=True)
class Report:
    """A content folder, read, grown and checked."""

    content: Path
    garden: Garden
    concepts: Mapping[str, Concept]
    faults: tuple[Fault, ...]
    """What stops the start, sorted; the file is named with the content folder."""
    warnings: tuple[Fault, ...]
    outcomes: Mapping[Key, Result]
    """Results that are known: of exact ran numbers as computed, of measured states as recorded by the same code."""
    measured: Measured
    experiments: Mapping[str, Experiment]
    kept: Kept | None = None
    """Where what is worked out of the garden is kept for the next start."""

    def outcome(self, experiment: Experiment, params: Params) -> Result | None:
        return self.outcomes.get(key((experiment, params)))

    def params(self, note: Note, ran: Ran) -> Params:
        """The parameters of a ran number of a note without faults."""
        return _state(note, ran, self.experiments)[1]

    def shown(self, note: Note, ran: Ran, here: Result | None = None) -> Shown:
        """For a note without faults. `here` is what a measured experiment gave in this very place, if it ran."""
        experiment, params = _state(note, ran, self.experiments)
        embed = next((e for e in note.embeds if e.name == ran.name), None)
        embed = embed or next((e for e in note.embeds if e.experiment == experiment.name), None)
        result = here if here is not None else self.outcome(experiment, params)
        value = read(result, ran.read) if result is not None else None
        differs = full(value) if result is not None and not agrees(ran.written, value) else None
        state = experiment.state(params, embed.given if embed else None)
        return Shown(experiment.name, embed.name if embed else None, state, value, differs)


def check(
    content: Path,
    default_language: Language,
    drafts: bool = False,
    run: Run | None = None,
    *,
    experiments: Mapping[str, Experiment] = EXPERIMENTS,
    calendar: Calendar | None = None,
    read: tuple[tuple[Note, ...], tuple[Fault, ...]] | None = None,
    before: Report | None = None,
    kept: Kept | None = None,
) -> Report:
    """Every fault at once. `run` computes exact experiments, in this process when it is left out.

    The notes are those that were `read`, if they were. What an edit did not touch is taken over from the report
    `before` it: results of exact experiments, and where links lead.
    """
    notes, faults = read or read_notes(content, default_language)
    concepts, more = read_concepts(content)
    seen = map(calendar.dated, notes) if calendar else notes
    garden = grow(seen, concepts, drafts=drafts, before=before.garden if before else None)
    measured = Measured.read(content / MEASURED)
    desk = _Desk(garden, concepts, experiments, measured, run or _in_place, before.outcomes if before else {})
    late = behind(garden, default_language)
    found = {*faults, *more, *garden.faults, *garden.warnings, *late, *desk.look()}
    named = sorted(replace(fault, file=f"{content.resolve().name}/{fault.file}") for fault in found)
    stops = tuple(fault for fault in named if fault.stops)
    warns = tuple(fault for fault in named if not fault.stops)
    return Report(content, garden, concepts, stops, warns, desk.outcomes, measured, experiments, kept)


def needed(report: Report) -> tuple[State, ...]:
    """The measured states that pages show first and that ran numbers are read from, in order."""
    states = [state for note in report.garden.notes() for state in _states(note, report.experiments)]
    states += [(experiment, experiment.parse({})) for experiment in report.experiments.values()]
    found = {key(state): state for state in states if not state[0].exact}
    return tuple(state for _, state in sorted(found.items(), key=lambda item: item[0]))


def update(report: Report, run: Run, states: Iterable[State] | None = None) -> Measured:
    """Runs every needed measured state and writes the file; records that nothing needs any more go.

    `states` is `needed(report)` for those who want to show how far it is.
    """
    where, chip = versions(), processor()
    records = {}
    for experiment, params in needed(report) if states is None else states:
        result, written = run(experiment, params), experiment.written(params)
        record = Record(experiment.name, experiment.digest, written, result, where, chip)
        records[key((experiment, params))] = record
    measured = Measured(records)
    measured.write(report.content / MEASURED)
    return measured


def read(result: Result, path: str) -> Any:
    """The value at the end of a path; raises Unread with the reason."""
    value: Any = result
    steps = path.split(".")
    for at, step in enumerate(steps):
        if not STEP.fullmatch(step):
            raise Unread(f"'{path}' is no path: fields and indices parted by dots, as in resumed.1.w")
        before = ".".join(steps[:at]) or "the result"
        value = _step(value, step, before)
    if isinstance(value, Mapping | list | tuple):
        raise Unread(f"{path} leads to {_kind(value)}; go on to one of its values")
    return value


def _step(value: Any, step: str, before: str) -> Any:
    if isinstance(value, Mapping) and step in value:
        return value[step]
    if isinstance(value, list | tuple | str) and step == "length":
        return len(value)
    if isinstance(value, list | tuple) and re.fullmatch(r"-?[0-9]+", step):
        if -len(value) <= int(step) < len(value):
            return value[int(step)]
        raise Unread(f"{before} has no item {step}; it has {len(value)}, counted from 0")
    if isinstance(value, Mapping):
        near = get_close_matches(step, value, n=1)
        raise Unread(
            f"{before} has no '{step}'; " + (f"did you mean '{near[0]}'?" if near else f"it has {', '.join(value)}")
        )
    raise Unread(f"{before} is {_kind(value)} and has no '{step}'")


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"a record of {', '.join(value)}"
    return f"a list of {len(value)}" if isinstance(value, list | tuple) else f"the value {full(value)}"


class _Desk:
    """Where the notes of a garden meet the experiments."""

    def __init__(
        self,
        garden: Garden,
        concepts: Mapping[str, Concept],
        experiments: Mapping[str, Experiment],
        measured: Measured,
        run: Run,
        known: Mapping[Key, Result],
    ) -> None:
        self.garden, self.concepts, self.experiments = garden, concepts, experiments
        self.measured, self.run, self.known = measured, run, known
        self.outcomes: dict[Key, Result] = {}

    def look(self) -> Iterator[Fault]:
        if self.measured.unreadable:
            what = f"cannot be read ({self.measured.unreadable}); write it anew with perennial check --update"
            yield Fault(MEASURED, 1, what, stops=False)
        for note in self.garden.notes():
            for mark in note.marks:
                if mark.concept not in self.concepts:
                    yield Fault(note.file, mark.line, _unknown("concept", mark.concept, self.concepts))
            wrong: list[Embed] = []
            for embed in note.embeds:
                faults = list(self.embed(note, embed))
                yield from faults
                wrong += [embed] if any(fault.stops for fault in faults) else []
            for ran in note.rans:
                if _embed(note, ran) not in wrong:
                    yield from self.ran(note, ran)

    def embed(self, note: Note, embed: Embed) -> Iterator[Fault]:
        experiment = self.experiments.get(embed.experiment)
        if experiment is None:
            yield Fault(note.file, embed.line, _unknown("experiment", embed.experiment, self.experiments))
            return
        try:
            params = experiment.parse(embed.given)
        except InvalidParameters as invalid:
            yield from _invalid(note.file, embed.line, experiment, invalid)
            return
        if not experiment.exact:
            yield from self.recorded(note.file, embed.line, experiment, params)

    def ran(self, note: Note, ran: Ran) -> Iterator[Fault]:
        names = [*self.experiments, *(embed.name for embed in note.embeds if embed.experiment in self.experiments)]
        if ran.name not in names:
            yield Fault(note.file, ran.line, _unknown("experiment", ran.name, names))
            return
        try:
            state = experiment, params = _state(note, ran, self.experiments)
        except InvalidParameters as invalid:
            known = _embed(note, ran)
            yield from _invalid(note.file, ran.line, self.experiments[known.experiment if known else ran.name], invalid)
            return
        if experiment.exact and key(state) not in self.outcomes:
            before = self.known.get(key(state))
            self.outcomes[key(state)] = self.run(experiment, params) if before is None else before
        elif not experiment.exact:
            yield from self.recorded(note.file, ran.line, experiment, params)
        if (result := self.outcomes.get(key(state))) is not None:
            yield from _compare(note, ran, experiment, result)

    def recorded(self, file: str, line: int, experiment: Experiment, params: Params) -> Iterator[Fault]:
        """Takes up what was measured by the code as it is now; anything else is a warning."""
        record = self.measured.record(experiment, params)
        if record is not None and record.digest == experiment.digest:
            self.outcomes[key((experiment, params))] = record.result
            return
        stands = "was not measured yet" if record is None else "was measured by older code"
        words = " ".join((experiment.name, *(f"{name}={text}" for name, text in experiment.state(params).items())))
        yield Fault(file, line, f"{words} {stands}; run perennial check --update", stops=False)


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    mend = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known) or 'none'}"
    return f"no {what} is called '{name}'; {mend}"


def _invalid(file: str, line: int, experiment: Experiment, invalid: InvalidParameters) -> Iterator[Fault]:
    for problem in invalid.problems:
        what = f"{experiment.name}: {problem.parameter} = '{problem.given}' {problem.message.en}"
        yield Fault(file, line, what)


def _compare(note: Note, ran: Ran, experiment: Experiment, result: Result) -> Iterator[Fault]:
    try:
        value = read(result, ran.read)
    except Unread as unread:
        yield Fault(note.file, ran.line, f"{ran.name}: {unread}")
        return
    if not agrees(ran.written, value):
        gives = "the computation gives" if experiment.exact else "the measurement on record gave"
        said = f"the text says {ran.written}, {gives} {full(value)} ({ran.name}, {ran.read})"
        yield Fault(note.file, ran.line, f"{said}; mend the number or its parameters", stops=experiment.exact)


def _embed(note: Note, ran: Ran) -> Embed | None:
    """The embed that a ran number names by its `as:`; one under its experiment's own name is not meant."""
    return next((e for e in note.embeds if e.name == ran.name and e.name != e.experiment), None)


def _state(note: Note, ran: Ran, experiments: Mapping[str, Experiment]) -> State:
    """Raises InvalidParameters."""
    embed = _embed(note, ran)
    experiment = experiments[embed.experiment if embed else ran.name]
    return experiment, experiment.parse(ran.given, embed.given if embed else None)


def _states(note: Note, experiments: Mapping[str, Experiment]) -> Iterator[State]:
    """Of embeds and ran numbers; those with faults are left out."""
    for embed in note.embeds:
        if embed.experiment in experiments:
            try:
                yield experiments[embed.experiment], experiments[embed.experiment].parse(embed.given)
            except InvalidParameters:
                continue
    for ran in note.rans:
        try:
            yield _state(note, ran, experiments)
        except (InvalidParameters, KeyError):
            continue


def _in_place(experiment: Experiment, params: Params) -> Result:
    return experiment.run(**params)
