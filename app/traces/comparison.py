"""Two runs into the level of each stage, and the first difference in causal order.

Both are read once, step by step; where the lines of a step are the same bytes they are not parsed.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from app.errors import Incomparable
from app.traces.hints import Evidence, Hint, hints, rates
from app.traces.lines import Watch
from app.traces.run import Record, Run, Step, parsed
from app.traces.schema import STAGES
from app.traces.stages import (
    LEVELS,
    ORDER,
    Found,
    Level,
    Records,
    Tolerances,
    compare_step,
    event_of,
    read_step,
    worse,
)

REMEMBERED = 64
"""Steps of A whose batches are kept, to tell where those of B were seen before or come later."""
MOST_IDS = 1_000_000
"""Sample ids that may be counted in one run and not in the other before the count is given up."""


@dataclass(frozen=True)
class Place:
    stage: str
    optimizer_step: int
    micro_step: int | None
    """None for what comes once a step."""
    rank: int


@dataclass(frozen=True)
class Stage:
    stage: str
    level: Level
    first_step: int | None
    """Where `bitwise` was first lost."""


@dataclass(frozen=True)
class Noise:
    """What two runs of the same thing differ in."""

    level: Level
    first_difference: Place | None
    explains: bool
    """Whether they part no later than the runs that are compared, so that nothing is to be blamed on B."""


@dataclass(frozen=True)
class Comparison:
    level: Level
    first_difference: Place | None
    stages: tuple[Stage, ...]
    hints: tuple[Hint, ...]
    not_recorded: tuple[str, ...]
    seen_twice: int | None
    """Ids that B had more often than A, up to the last step of both; None without ids."""
    never_seen: int | None
    noise: Noise | None
    environment: dict[str, tuple[Any, Any]]
    """What the runs stood on, where it differs."""
    steps: int
    only_a: int
    only_b: int
    records: int
    torn: tuple[str, ...]

    def holds(self, required: Level) -> bool:
        return self.level != "not_recorded" and ORDER.index(self.level) <= ORDER.index(required)

    def json(self) -> dict[str, Any]:
        bare = replace(self, hints=())
        return asdict(bare) | {"hints": [hint.json() for hint in self.hints]}


def compare(a: Run, b: Run, tolerances: Tolerances, noise: Run | None = None, watch: Watch | None = None) -> Comparison:
    """Raises TraceError where there is nothing to compare."""
    floor = None if noise is None else _Walk(a, noise, tolerances).done(None, watch)
    return _Walk(a, b, tolerances).done(floor, watch)


@dataclass
class _Walk:
    a: Run
    b: Run
    tolerances: Tolerances
    levels: dict[str, Level] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
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

    def done(self, floor: Comparison | None, watch: Watch | None) -> Comparison:
        _check(self.a, self.b)
        met = False
        for ours, theirs in _met(self.a.steps(watch), self.b.steps(watch), self.only):
            met = True
            self.steps += ours.number > 0  # 0 is the state before the first
            self._step(ours, theirs)
        if not met:
            raise Incomparable("the runs have no step in common")
        return self._result(floor)

    def _step(self, a: Step, b: Step) -> None:
        self.records += sum(len(part.lines) + len(part.after) for part in b.parts.values())
        if a == b:
            for part in a.parts.values():
                self._same(part.lines)
            self.before = "weights" in self.levels
            self.rates_part = False
        elif self.first is None:
            ours, theirs = read_step(a), read_step(b)
            self._unlike(a.number, ours, theirs)
        else:
            self._past(a, b)
        if self.first is None:
            self.recent.append(_batches(a))
        else:
            near = self.first.stage == "batch" and a.number <= self.first.step + REMEMBERED
            batches = [record for line in _batches(a) if near and (record := parsed(line)) is not None]
            self.evidence.go_on(a.number, batches, self.rates_part)

    def _past(self, a: Step, b: Step) -> None:
        """Past the first difference only what can still change the result is parsed."""
        known: set[bytes] = set()
        if not self.cut and a.parts.keys() == b.parts.keys():
            known = {line for rank in a.parts for line in set(a.parts[rank].lines) & set(b.parts[rank].lines)}
            self._same(known)
        settled = {stage for stage, level in self.levels.items() if level == "different"} - {"batch", "control"}
        if self.cut:
            settled.clear()
        elif self.ids_over:
            settled |= {"batch"} & {stage for stage, level in self.levels.items() if level == "different"}
        self._unlike(a.number, read_step(a, settled, known), read_step(b, settled, known))
        self.before = self.before or any(event_of(line) == "weights" for line in known)

    def _unlike(self, number: int, a: Records, b: Records) -> None:
        self.cut = self.cut or self.a.world != self.b.world or not a.is_cut_like(b)
        self._count(a, b)
        self._found(compare_step(number, a, b, self.tolerances, self.cut), a, b, number)
        self.rates_part = rates(a) != rates(b)

    def _same(self, lines: Iterable[bytes]) -> None:
        """Lines that are the same bytes on both sides."""
        for line in lines:
            event = event_of(line)
            if event == "batch" and b'"ids"' in line:
                self.has_ids = True
            if event not in self.levels and event in LEVELS and _tells(event, line):
                self.levels[event] = "bitwise"
                if event == "weights":
                    self.levels.setdefault("update", "bitwise")

    def _found(self, found: list[Found], a: Records, b: Records, number: int) -> None:
        found = [*found, *self._update(found, number)]
        for one in found:
            self.levels[one.stage] = worse(self.levels.get(one.stage, "bitwise"), one.level)
            if one.level != "bitwise":
                self.lost.setdefault(one.stage, one.step)
        parted = min((one for one in found if one.level != "bitwise"), key=lambda one: one.cause, default=None)
        if parted is not None and (self.first is None or parted.cause < self.first.cause):
            earlier = self.first is not None
            self.first = parted
            if not earlier:
                past = [record for step in self.recent for record in map(parsed, step) if record is not None]
                self.evidence.begin(parted, a, b, past, self.b.resumes)
        ends = [one.level for one in found if one.stage == "weights" and one.step == number]
        self.before = bool(ends) and all(level == "bitwise" for level in ends)

    def _update(self, found: list[Found], number: int) -> Iterator[Found]:
        """The update itself parts where the weights before are equal and those after are not.

        Gradient and control come before it in causal order; where they were not recorded, nothing is said.
        """
        own = {(one.stage, max(one.part, 0)): one for one in found if one.step == number and one.phase == 1}
        after = own.get(("weights", 0))
        led = self.first is not None or (("control", 0) in own and ("grad", 1) in own)
        if self.before and after is not None and led:
            level = after.level if after.a.get("digest") != after.b.get("digest") else "bitwise"
            yield Found("update", number, 0, after.rank, 1, 0, level, after.a, after.b)

    def _count(self, a: Records, b: Records) -> None:
        both = a.by.keys() & b.by.keys()  # half a window lacks the other half: a resume in its midst, or the end
        for records, sign in ((a, 1), (b, -1)):
            for key, batch in records.by.items():
                if key[0] != "batch" or (key not in both and not self.cut):
                    continue
                ids = batch.get("ids")
                if not isinstance(ids, list) or self.ids_over:
                    continue
                self.has_ids = True
                for one in ids:
                    if isinstance(one, int | str):
                        self._tally(one, sign)
        self.ids_over = self.ids_over or len(self.ids) > MOST_IDS

    def _tally(self, one: int | str, sign: int) -> None:
        count = self.ids[one] + sign
        if count:
            self.ids[one] = count
        else:
            del self.ids[one]

    def _result(self, floor: Comparison | None) -> Comparison:
        rungs = [stage for stage in STAGES if stage != "env"]
        stages = tuple(Stage(one, self.levels.get(one, "not_recorded"), self.lost.get(one)) for one in rungs)
        known = [stage.level for stage in stages if stage.level != "not_recorded"]
        place = None if self.first is None else _place(self.first)
        noise = None if floor is None else _noise(floor, self.first)
        counted = self.has_ids and not self.ids_over
        return Comparison(
            level=max(known, key=ORDER.index, default="not_recorded"),
            first_difference=place,
            stages=stages,
            hints=hints(self.evidence, noise is not None and noise.explains) if self.first is not None else (),
            not_recorded=tuple(stage.stage for stage in stages if stage.level == "not_recorded"),
            seen_twice=sum(-count for count in self.ids.values() if count < 0) if counted else None,
            never_seen=sum(count for count in self.ids.values() if count > 0) if counted else None,
            noise=noise,
            environment=_unlike(self.a.environment, self.b.environment),
            steps=self.steps,
            only_a=self.only["a"],
            only_b=self.only["b"],
            records=self.records,
            torn=(*self.a.torn, *self.b.torn),
        )


def _met(a: Iterator[Step], b: Iterator[Step], only: Counter[str]) -> Iterator[tuple[Step, Step]]:
    """The steps that both have, and a count of the others."""
    ours, theirs = next(a, None), next(b, None)
    while ours is not None and theirs is not None:
        if ours.number == theirs.number:
            yield ours, theirs
            ours, theirs = next(a, None), next(b, None)
        elif ours.number < theirs.number:
            only["a"] += 1
            ours = next(a, None)
        else:
            only["b"] += 1
            theirs = next(b, None)
    for side, head, rest in (("a", ours, a), ("b", theirs, b)):
        only[side] += (head is not None) + sum(1 for _ in rest)


def _batches(step: Step) -> list[bytes]:
    return [line for part in step.parts.values() for line in part.lines if event_of(line) == "batch"]


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


def _place(first: Found) -> Place:
    return Place(first.stage, first.step, first.micro if first.phase == 0 else None, first.rank)


def _noise(floor: Comparison, first: Found | None) -> Noise:
    place = floor.first_difference
    explains = place is not None and (first is None or place.optimizer_step <= first.step)
    return Noise(floor.level, place, explains)


def _unlike(a: Record, b: Record) -> dict[str, tuple[Any, Any]]:
    names = [name for name in a | b if name != "event"]
    return {name: (a.get(name), b.get(name)) for name in names if a.get(name) != b.get(name)}
