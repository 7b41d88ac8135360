"""Two runs side by side, step by step, into what was found of each stage.

Where the lines of a step are the same bytes they are not parsed.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.errors import Incomparable
from app.traces.hints import Evidence, rates
from app.traces.lines import Watch
from app.traces.record import Record, parsed
from app.traces.run import Run, Step
from app.traces.stages import LEVELS, Found, Level, Records, Tolerances, compare_step, read_step, told_apart, worse
from app.traces.witness import Witness

REMEMBERED = 64
"""Steps of A whose batches are kept, to tell where those of B were seen before or come later."""
MOST_IDS = 1_000_000
"""Sample ids that may be counted in one run and not in the other before the count is given up."""
ID = (int, str)


BEGUN = frozenset({"weights", "optimizer"})
"""What a run begins with or loads: that it is equal says nothing of what the steps make of it."""


@dataclass
class Walk:
    """What is found on the way: `go` fills it."""

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

    def go(self, watch: Watch | None) -> "Walk":
        """Raises Incomparable where the runs have no step in common, or are of other models."""
        _check(self.a, self.b)
        met = False
        for ours, theirs in _met(self.a.steps(watch), self.b.steps(watch), self.only, self._skipped):
            met = True
            self.steps += ours.number > 0 and _under_way(ours) and _under_way(theirs)  # 0 is the state before the first
            self._step(ours, theirs)
        if not met:
            raise Incomparable("the runs have no step in common", "两次运行没有共同的步")
        return self

    def _skipped(self, a: Step) -> None:
        """A step before B begins: what A had there may come again in B."""
        self.recent.append(_batches(a))

    def _step(self, a: Step, b: Step) -> None:
        self.records += sum(len(part.lines) + len(part.after) for part in b.parts.values())
        if a == b:
            for part in a.parts.values():
                self._same(a.number, part.events())
            self.before = any(_tells("weights", line) for part in a.parts.values() for line in part.of("weights"))
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
        loaded = any(part.after for side in (a, b) for part in side.parts.values())
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
        for event in lines.keys() & LEVELS.keys() - self.levels.keys() - (BEGUN if number == 0 else frozenset()):
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
            if one.level == "bitwise" and one.stage in BEGUN and (number == 0 or one.phase == 2):
                continue
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
        """Where both have ids; half a window lacks the other half: a resume in its midst, or the end."""
        ours, theirs = (
            {key: one["ids"] for key, one in side.by.items() if key[0] == "batch" and isinstance(one.get("ids"), list)}
            for side in (a, b)
        )
        if not ours or not theirs or self.ids_over:
            return
        for own, other, sign in ((ours, theirs, 1), (theirs, ours, -1)):
            for key in own if self.cut else own.keys() & other.keys():
                self.has_ids = True
                self._tally(own[key], sign)
        self.ids_over = len(self.ids) > MOST_IDS

    def _tally(self, ids: list[Any], sign: int) -> None:
        kept, before = self.ids, self.ids.get
        for one in ids:
            if isinstance(one, ID):
                count = before(one, 0) + sign
                if count:
                    kept[one] = count
                else:
                    del kept[one]


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
        named = ", ".join(unlike[:3])
        raise Incomparable(
            f"the models differ in {len(unlike)} parameters: {named}", f"两个模型有 {len(unlike)} 个参数不同：{named}"
        )


def _shapes(model: Record) -> dict[str, Any]:
    parameters = model.get("parameters")
    each = parameters if isinstance(parameters, list) else []
    return {str(one.get("name")): one.get("shape") for one in each if isinstance(one, dict)}


def _tells(event: str, line: bytes) -> bool:
    """Whether a line that is equal to another shows its stage to be equal: norms alone do not."""
    return b'"digest"' in line if event in ("forward", "grad", "weights", "optimizer") else event != "update"
