"""Two runs into the level of each stage, and the first difference in causal order.

Both are read in one pass (see walk.py), after a first one for the lines at which their course turns.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from app.numerals import plain
from app.traces.alignment import aligned
from app.traces.conclusion import Conclusion, Rule, conclude
from app.traces.hints import Hint, hints
from app.traces.lines import Watch
from app.traces.record import Record
from app.traces.run import Run, read_run, with_ranks
from app.traces.schema import STAGES
from app.traces.stages import (
    ORDER,
    Found,
    Level,
    Tolerances,
)
from app.traces.walk import Walk
from app.traces.witness import Distance, Pair, Parameters, Place, Point, place

Whole = Literal["bitwise", "equal", "close", "conclusion", "different", "not_recorded"]
"""The level of a comparison: the strongest that holds of all that was recorded."""
STRONGEST: tuple[Whole, ...] = ("bitwise", "equal", "close", "conclusion", "different")
Source = Run | Path | Sequence[Path]
"""A run that was read already, or the files to read it from."""


@dataclass(frozen=True)
class Stage:
    stage: str
    level: Level
    first_step: int | None
    """Where `bitwise` was first lost."""


@dataclass(frozen=True)
class Noise:
    """What two runs of the same thing differ in."""

    level: Whole
    first_difference: Place | None
    explains: bool
    """Whether they part no later than the runs that are compared, so that nothing is to be blamed on B."""


@dataclass(frozen=True)
class OneSided:
    """Records of a stage that one side has, from some step on, and the other has not: nothing is said of them."""

    stage: str
    side: str
    """`a` or `b`."""
    first_step: int


@dataclass(frozen=True)
class Comparison:
    level: Whole
    require: Whole
    holds: bool
    """Whether the required level does."""
    first_difference: Place | None
    stages: tuple[Stage, ...]
    hints: tuple[Hint, ...]
    not_recorded: tuple[str, ...]
    seen_twice: int | None
    """Ids that B had more often than A, up to the last step of both; None without ids."""
    never_seen: int | None
    noise: Noise | None
    horizon: int | None
    """The optimizer step past which closeness says nothing: from there on the runs go their own ways."""
    conclusion: Conclusion | None
    tolerances: Tolerances
    last_equal: Pair | None
    """The record before the first difference in causal order."""
    first_unequal: Pair | None
    parameters: tuple[Parameters, ...]
    """Tensors by name where they were recorded so, of each kind the first step at which some differ."""
    losses: tuple[Point, ...]
    distances: tuple[Distance, ...]
    one_sided: tuple[OneSided, ...]
    resumes: tuple[Record, ...]
    """What the resumes of B say that they loaded."""
    environment: dict[str, tuple[Any, Any]]
    """What the runs stood on, where it differs."""
    steps: int
    only_a: int
    only_b: int
    records: int
    torn: tuple[str, ...]
    anew: tuple[str, ...]
    """Where a file begins a run anew; what stands before it there is left out."""

    def json(self) -> dict[str, Any]:
        """As plain JSON: floats that are not finite are the strings of the API."""
        bare = asdict(replace(self, hints=()))
        found: dict[str, Any] = plain(bare | {"hints": [hint.json() for hint in self.hints]})  # type: ignore[assignment]
        return found


def compare(
    a: Source,
    b: Source,
    tolerances: Tolerances | None = None,
    require: Whole = "bitwise",
    *,
    noise: Source | None = None,
    rule: Rule | None = None,
    seeds: tuple[Sequence[Run], Sequence[Run]] = ((), ()),
    watch: Watch | None = None,
) -> Comparison:
    """Where two runs part.

    `noise` is A run once more; `rule` is decided over A, B and the `seeds`, further runs of each. Raises Unreadable
    for what is no trace, Incomparable where nothing can be compared.
    """
    ours, theirs = _read(a), _read(b)
    theirs = aligned(ours, theirs)
    declared = tolerances or {}
    floor = None if noise is None else _comparison(Walk(ours, _read(noise), declared).go(watch), None, None)
    decided = None if rule is None else conclude(rule, [ours, *seeds[0]], [theirs, *seeds[1]])
    found = _comparison(Walk(ours, theirs, declared).go(watch), floor, decided)
    return replace(found, require=require, holds=_holds(found, require))


def _read(source: Source) -> Run:
    if isinstance(source, Run):
        return source
    paths = [source] if isinstance(source, Path) else source
    return read_run([rank for path in paths for rank in with_ranks(path)])


def _holds(found: Comparison, required: Whole) -> bool:
    if required == "conclusion" and found.conclusion is not None:
        return found.conclusion.verdict == "holds"
    return found.level != "not_recorded" and STRONGEST.index(found.level) <= STRONGEST.index(required)


def _comparison(walk: Walk, floor: Comparison | None, decided: Conclusion | None) -> Comparison:
    rungs = [stage for stage in STAGES if stage != "env"]
    stages = tuple(Stage(one, walk.levels.get(one, "not_recorded"), walk.lost.get(one)) for one in rungs)
    known = [stage.level for stage in stages if stage.level != "not_recorded"]
    level: Whole = max(known, key=ORDER.index, default="not_recorded")
    if level == "different" and decided is not None and decided.verdict == "holds":
        level = "conclusion"
    first = None if walk.first is None else place(walk.first)
    noise = None if floor is None else _noise(floor, walk.first)
    counted = walk.has_ids and not walk.ids_over
    return Comparison(
        level=level,
        require="bitwise",
        holds=level == "bitwise",
        first_difference=first,
        stages=stages,
        hints=hints(walk.evidence, noise is not None and noise.explains) if walk.first is not None else (),
        not_recorded=tuple(stage.stage for stage in stages if stage.level == "not_recorded"),
        seen_twice=sum(-count for count in walk.ids.values() if count < 0) if counted else None,
        never_seen=sum(count for count in walk.ids.values() if count > 0) if counted else None,
        noise=noise,
        horizon=None if first is None else first.optimizer_step,
        conclusion=decided,
        tolerances=dict(walk.tolerances),
        last_equal=walk.witness.last_equal,
        first_unequal=walk.witness.first_unequal,
        parameters=tuple(walk.witness.parameters.values()),
        losses=walk.witness.curve(),
        distances=tuple(walk.witness.distances),
        one_sided=tuple(OneSided(*key, step) for key, step in sorted(walk.one_sided.items())),
        resumes=tuple(_told(one) for one in walk.b.resumes),
        environment=_unlike(walk.a.environment, walk.b.environment),
        steps=walk.steps,
        only_a=walk.only["a"],
        only_b=walk.only["b"],
        records=walk.records,
        torn=(*walk.a.torn, *walk.b.torn),
        anew=(*walk.a.anew, *walk.b.anew),
    )


def _noise(floor: Comparison, first: Found | None) -> Noise:
    parted = floor.first_difference
    explains = parted is not None and (first is None or parted.optimizer_step <= first.step)
    return Noise(floor.level, parted, explains)


def _told(resume: Record) -> Record:
    return {name: resume[name] for name in ("step", "from", "epoch", "loaded", "changed") if name in resume}


def _unlike(a: Record, b: Record) -> dict[str, tuple[Any, Any]]:
    names = [name for name in a | b if name != "event"]
    return {name: (a.get(name), b.get(name)) for name in names if a.get(name) != b.get(name)}
