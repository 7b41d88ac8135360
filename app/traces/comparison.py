"""Two runs into the level of each stage, and the first difference in causal order.

Both are read once, step by step; where the lines of a step are the same bytes they are not parsed.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from app.errors import Incomparable
from app.numerals import plain
from app.traces.alignment import aligned
from app.traces.conclusion import Conclusion, Rule, conclude
from app.traces.hints import Evidence, Hint, hints, rates
from app.traces.lines import Watch
from app.traces.record import Record, parsed
from app.traces.run import Run, Step, read_run, with_ranks
from app.traces.schema import STAGES
from app.traces.stages import (
    LEVELS,
    ORDER,
    Found,
    Level,
    Records,
    Tolerances,
    compare_step,
    read_step,
    told_apart,
    worse,
)
from app.traces.witness import Distance, Pair, Parameters, Place, Point, Witness, place

Whole = Literal["bitwise", "equal", "close", "conclusion", "different", "not_recorded"]
"""The level of a comparison: the strongest that holds of all that was recorded."""
STRONGEST: tuple[Whole, ...] = ("bitwise", "equal", "close", "conclusion", "different")
Source = Run | Path | Sequence[Path]
"""A run that was read already, or the files to read it from."""

REMEMBERED = 64
"""Steps of A whose batches are kept, to tell where those of B were seen before or come later."""
MOST_IDS = 1_000_000
"""Sample ids that may be counted in one run and not in the other before the count is given up."""
ID = (int, str)


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
    floor = None if noise is None else _Walk(ours, _read(noise), declared).done(None, None, watch)
    decided = None if rule is None else conclude(rule, [ours, *seeds[0]], [theirs, *seeds[1]])
    found = _Walk(ours, theirs, declared).done(floor, decided, watch)
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


@dataclass
class _Walk:
    a: Run
    b: Run
    tolerances: Tolerances
    levels: dict[str, Level] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()
    """Stages that are different."""
    first: Found | None = None
    evidence: Evidence = field(default_factory=Evidence)
    ids: Counter[int | str] = field(default_factory=Counter)
    """How often A had an id more than B; those that are even are left out."""
    has_ids: bool = False
    ids_over: bool = False
    recent: deque[list[bytes]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    steps: int = 0
    only: Counter[str] = field(default_factory=Counter)
    records: int = 0
    before: bool = False
    """Whether the weights after the step before are known to be bitwise equal."""
    rates_part: bool = False
    """Whether the learning rates of this step differ."""
    cut: bool = False
    """Whether ranks or micro-batches are cut in another way on the two sides."""
    witness: Witness = field(default_factory=Witness)
    one_sided: dict[tuple[str, str], int] = field(default_factory=dict)

    def done(self, floor: Comparison | None, decided: Conclusion | None, watch: Watch | None) -> Comparison:
        _check(self.a, self.b)
        met = False
        for ours, theirs in _met(self.a.steps(watch), self.b.steps(watch), self.only, self._skipped):
            met = True
            self.steps += ours.number > 0 and _under_way(ours) and _under_way(theirs)  # 0 is the state before the first
            self._step(ours, theirs)
        if not met:
            raise Incomparable("the runs have no step in common")
        return self._result(floor, decided)

    def _skipped(self, a: Step) -> None:
        """A step before B begins: what A had there may come again in B."""
        self.recent.append(_batches(a))

    def _step(self, a: Step, b: Step) -> None:
        self.records += sum(len(part.lines) + len(part.after) for part in b.parts.values())
        if a == b:
            for part in a.parts.values():
                self._same(a.number, part.events())
            self.before = "weights" in self.levels
            self.rates_part = False
            self.witness.equal(a)
        elif self.first is None:
            self._unlike(a, b, read_step(a), read_step(b))
            self.witness.unlike(a, b)
        else:
            self._past(a, b)
            self.witness.unlike(a, b)
        if self.first is None:
            self.recent.append(_batches(a))
        else:
            near = self.first.stage == "batch" and a.number <= self.first.step + REMEMBERED
            batches = [record for line in _batches(a) if near and (record := parsed(line)) is not None]
            self.evidence.go_on(a.number, batches, self.rates_part)

    def _past(self, a: Step, b: Step) -> None:
        """Past the first difference only what can still change the result is parsed."""
        loaded = any(part.after for part in b.parts.values())
        if self.cut or loaded or a.parts.keys() != b.parts.keys():
            self._unlike(a, b, read_step(a), read_step(b))
            return
        settled = self._settled()
        told = {rank: told_apart(part, b.parts[rank], settled) for rank, part in a.parts.items()}
        for one in told.values():
            self._same(a.number, one.same)
        ours, theirs = {rank: one.a for rank, one in told.items()}, {rank: one.b for rank, one in told.items()}
        ended = any("weights" in one.same for one in told.values())
        self._unlike(a, b, read_step(a, ours), read_step(b, theirs), self.apart - {"weights"}, ended)

    def _settled(self) -> frozenset[str]:
        """Events whose records can change nothing any more: they differ already, and nothing else is told by them."""
        settled = self.apart - {"control"} if self.ids_over else self.apart - {"control", "batch"}
        return settled if "update" in settled else settled - {"weights"}

    def _unlike(
        self, one: Step, two: Step, a: Records, b: Records, settled: Collection[str] = (), ended: bool = False
    ) -> None:
        """`ended`: some weights after the step are the same lines on both sides."""
        both = _under_way(one) and _under_way(two)  # else one side begins with what it loaded after this step
        if both:
            self.cut = self.cut or self.a.world != self.b.world or not a.is_cut_like(b)
            self._count(a, b)
        self._found(compare_step(one.number, a, b, self.tolerances, self.cut, settled), a, b, one.number, ended)
        self.rates_part = rates(a) != rates(b)
        if both and not self.cut:
            self._alone(a, b, one.number)
            if self.first is not None:
                self.witness.look(one.number, a, b)

    def _alone(self, a: Records, b: Records, number: int) -> None:
        for side, own, others in (("a", a.by, b.by), ("b", b.by, a.by)):
            alone = own.keys() - others.keys()
            missing = {key[1:4] for key in alone if key[0] == "batch"}  # micro-batches that the other does not have
            for key in alone:
                if key[0] in LEVELS and key[1:4] not in missing:
                    self.one_sided.setdefault((key[0], side), number)

    def _same(self, number: int, lines: Mapping[str, Sequence[bytes]]) -> None:
        """Lines that are the same bytes on both sides, by event."""
        self.has_ids = self.has_ids or any(b'"ids"' in line for line in lines.get("batch", ()))
        for event in lines.keys() & LEVELS.keys() - self.levels.keys():
            if any(_tells(event, line) for line in lines[event]):
                self.levels[event] = "bitwise"
        if (
            number > 0
            and "update" not in self.levels
            and any(_tells("weights", one) for one in lines.get("weights", ()))
        ):
            self.levels["update"] = "bitwise"  # weights that are equal after every step: so were the steps

    def _found(self, found: list[Found], a: Records, b: Records, number: int, ended: bool) -> None:
        found = [*found, *self._update(found, number)]
        for one in found:
            self.levels[one.stage] = worse(self.levels.get(one.stage, "bitwise"), one.level)
            if one.level == "different" and one.stage not in self.apart:
                self.apart |= {one.stage}
            if one.level != "bitwise":
                self.lost.setdefault(one.stage, one.step)
        last = None if self.first is None else self.first.step  # what comes later cannot be first
        parted = min(
            (one for one in found if one.level != "bitwise" and (last is None or one.step <= last)),
            key=lambda one: one.cause,
            default=None,
        )
        if parted is not None and (self.first is None or parted.cause < self.first.cause):
            earlier = self.first is not None
            self.first = parted
            if not earlier:
                past = [record for step in self.recent for record in map(parsed, step) if record is not None]
                self.evidence.begin(parted, a, b, past, self.b.resumes)
            self.witness.parted(parted, found)
        ends = [one.level for one in found if one.stage == "weights" and one.step == number]
        self.before = (ended or bool(ends)) and all(level == "bitwise" for level in ends)

    def _update(self, found: list[Found], number: int) -> Iterator[Found]:
        """The update itself parts where the weights before are equal and those after are not.

        Gradient and control come before it in causal order; where they were not recorded, nothing is said.
        """
        own = {(one.stage, max(one.part, 0), one.rank): one for one in found if one.step == number and one.phase == 1}
        for (stage, _, rank), after in own.items():
            led = self.first is not None or (("control", 0, rank) in own and ("grad", 1, rank) in own)
            if self.before and stage == "weights" and led:
                level = after.level if after.a.get("digest") != after.b.get("digest") else "bitwise"
                yield Found("update", number, 0, rank, 1, 0, level, after.a, after.b)

    def _count(self, a: Records, b: Records) -> None:
        both = a.by.keys() & b.by.keys()  # half a window lacks the other half: a resume in its midst, or the end
        for records, sign in ((a, 1), (b, -1)):
            for key, batch in records.by.items():
                if key[0] != "batch" or (key not in both and not self.cut):
                    continue
                ids = batch.get("ids")
                if isinstance(ids, list) and not self.ids_over:
                    self.has_ids = True
                    self._tally(ids, sign)
        self.ids_over = self.ids_over or len(self.ids) > MOST_IDS

    def _tally(self, ids: list[Any], sign: int) -> None:
        kept, before = self.ids, self.ids.get
        for one in ids:
            if isinstance(one, ID):
                count = before(one, 0) + sign
                if count:
                    kept[one] = count
                else:
                    del kept[one]

    def _result(self, floor: Comparison | None, decided: Conclusion | None) -> Comparison:
        rungs = [stage for stage in STAGES if stage != "env"]
        stages = tuple(Stage(one, self.levels.get(one, "not_recorded"), self.lost.get(one)) for one in rungs)
        known = [stage.level for stage in stages if stage.level != "not_recorded"]
        level: Whole = max(known, key=ORDER.index, default="not_recorded")
        if level == "different" and decided is not None and decided.verdict == "holds":
            level = "conclusion"
        first = None if self.first is None else place(self.first)
        noise = None if floor is None else _noise(floor, self.first)
        counted = self.has_ids and not self.ids_over
        return Comparison(
            level=level,
            require="bitwise",
            holds=level == "bitwise",
            first_difference=first,
            stages=stages,
            hints=hints(self.evidence, noise is not None and noise.explains) if self.first is not None else (),
            not_recorded=tuple(stage.stage for stage in stages if stage.level == "not_recorded"),
            seen_twice=sum(-count for count in self.ids.values() if count < 0) if counted else None,
            never_seen=sum(count for count in self.ids.values() if count > 0) if counted else None,
            noise=noise,
            horizon=None if first is None else first.optimizer_step,
            conclusion=decided,
            tolerances=dict(self.tolerances),
            last_equal=self.witness.last_equal,
            first_unequal=self.witness.first_unequal,
            parameters=tuple(self.witness.parameters.values()),
            losses=self.witness.curve(),
            distances=tuple(self.witness.distances),
            one_sided=tuple(OneSided(*key, step) for key, step in sorted(self.one_sided.items())),
            resumes=tuple(_told(one) for one in self.b.resumes),
            environment=_unlike(self.a.environment, self.b.environment),
            steps=self.steps,
            only_a=self.only["a"],
            only_b=self.only["b"],
            records=self.records,
            torn=(*self.a.torn, *self.b.torn),
        )


def _met(
    a: Iterator[Step], b: Iterator[Step], only: Counter[str], skipped: Callable[[Step], object]
) -> Iterator[tuple[Step, Step]]:
    """The steps that both have, and a count of the others; those that A alone has are shown."""
    ours, theirs = next(a, None), next(b, None)
    while ours is not None and theirs is not None:
        if ours.number == theirs.number:
            yield ours, theirs
            ours, theirs = next(a, None), next(b, None)
        elif ours.number < theirs.number:
            only["a"] += ours.number > 0
            skipped(ours)
            ours = next(a, None)
        else:
            only["b"] += theirs.number > 0
            theirs = next(b, None)
    for side, head, rest in (("a", ours, a), ("b", theirs, b)):
        only[side] += (head is not None) + sum(1 for _ in rest)


def _under_way(step: Step) -> bool:
    """Whether more is there than the state that a resume loaded."""
    return any([part.lines for part in step.parts.values()])


def _batches(step: Step) -> list[bytes]:
    return [line for part in step.parts.values() for line in part.of("batch")]


def _check(a: Run, b: Run) -> None:
    ours, theirs = _shapes(a.model), _shapes(b.model)
    if ours and theirs and ours != theirs:
        unlike = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
        raise Incomparable(f"the models differ in {len(unlike)} parameters: {', '.join(unlike[:3])}")


def _shapes(model: Record) -> dict[str, Any]:
    parameters = model.get("parameters")
    each = parameters if isinstance(parameters, list) else []
    return {str(one.get("name")): one.get("shape") for one in each if isinstance(one, dict)}


def _tells(event: str, line: bytes) -> bool:
    """Whether a line that is equal to another shows its stage to be equal: norms alone do not."""
    return b'"digest"' in line if event in ("forward", "grad", "weights", "optimizer") else event != "update"


def _noise(floor: Comparison, first: Found | None) -> Noise:
    parted = floor.first_difference
    explains = parted is not None and (first is None or parted.optimizer_step <= first.step)
    return Noise(floor.level, parted, explains)


def _told(resume: Record) -> Record:
    return {name: resume[name] for name in ("step", "from", "epoch", "loaded", "changed") if name in resume}


def _unlike(a: Record, b: Record) -> dict[str, tuple[Any, Any]]:
    names = [name for name in a | b if name != "event"]
    return {name: (a.get(name), b.get(name)) for name in names if a.get(name) != b.get(name)}
