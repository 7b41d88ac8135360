"""What a report shows beside the verdict: the records around the first difference, parameters, curves.

Memory stays flat: of a long run the curves keep every so many steps, and all around the first difference.
"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.language import Text
from app.traces.record import Record, event_of, parsed
from app.traces.run import Step
from app.traces.stages import LEVELS, Found, Records, mapping, number_of, numbers_of

POINTS = 512
"""Steps of a curve; twice as many are halved."""
AROUND = 24
"""Steps on either side of the first difference that are all kept."""


@dataclass(frozen=True)
class Place:
    stage: str
    optimizer_step: int
    micro_step: int | None
    """None for what comes once a step."""
    rank: int

    @property
    def words(self) -> Text:
        micro = self.micro_step
        return Text(
            f"{self.stage}, step {self.optimizer_step}"
            + ("" if micro is None else f", micro-batch {micro}")
            + f", rank {self.rank}",
            f"{self.stage}，第 {self.optimizer_step} 步"
            + ("" if micro is None else f"，第 {micro} 个微批次")
            + f"，进程 {self.rank}",
        )


@dataclass(frozen=True)
class Pair:
    """Two records that were held against each other."""

    place: Place
    a: Record
    b: Record


@dataclass(frozen=True)
class Parameter:
    """One tensor by name: its norms on both sides, and whether its digests are equal."""

    name: str
    same: bool
    norm_a: float | None
    norm_b: float | None


@dataclass(frozen=True)
class Parameters:
    """The first step from the first difference on at which tensors were recorded one by one, and some differ."""

    of: str
    """`grad`, `clipped`, `weights`, `buffers` or `optimizer`."""
    optimizer_step: int
    complete: bool
    """Whether all of them were recorded there, not only those whose turn it was."""
    each: tuple[Parameter, ...]


@dataclass(frozen=True)
class Point:
    """The losses of one step, each the mean over what its micro-batches were taken over."""

    optimizer_step: int
    a: float | None
    b: float | None


@dataclass(frozen=True)
class Distance:
    """Of A and B as vectors, estimated from the sketches of both (Johnson and Lindenstrauss)."""

    of: str
    optimizer_step: int
    absolute: float
    relative: float
    """Over the norm of A."""


def place(found: Found) -> Place:
    return Place(found.stage, found.step, found.micro if found.phase == 0 else None, found.rank)


@dataclass
class Witness:
    """Is shown every step once, in order."""

    last_equal: Pair | None = None
    first_unequal: Pair | None = None
    parameters: dict[str, Parameters] = field(default_factory=dict)
    distances: list[Distance] = field(default_factory=list)
    _stride: int = 1
    _points: list[Point] = field(default_factory=list)
    _near: list[Point] = field(default_factory=list)
    """Around the first difference."""
    _recent: deque[Point] = field(default_factory=lambda: deque(maxlen=AROUND))
    _previous: Step | None = None
    _first: int | None = None
    """Step of the first difference."""

    def equal(self, step: Step) -> None:
        """A step that is the same bytes on both sides."""
        self._previous = step
        if self._wants(step.number):
            loss = _loss(step)
            self._keep(Point(step.number, loss, loss))

    def unlike(self, a: Step, b: Step) -> None:
        if self._first is None:
            self._previous = a
        if self._wants(a.number):
            self._keep(Point(a.number, _loss(a), _loss(b)))

    def parted(self, first: Found, found: Sequence[Found]) -> None:
        """The first difference is known, among all that was found of its step."""
        if self._first is None:
            self._near.extend(self._recent)
        self._first = first.step
        before = [one for one in found if one.level == "bitwise" and one.cause < first.cause and one.stage in LEVELS]
        last = max(before, key=lambda one: one.cause, default=None)
        self.last_equal = self._last_of_previous() if last is None else Pair(place(last), last.a, last.b)
        self.first_unequal = Pair(place(first), first.a, first.b)

    def look(self, number: int, a: Records, b: Records) -> None:
        """From the first difference on: tensors by name, and sketches."""
        for key, ours in a.by.items():
            theirs = b.by.get(key)
            if theirs is None or key[0] not in ("parameters", "sketch"):
                continue
            if key[0] == "sketch":
                self._measure(number, ours, theirs)
            else:
                self._list(number, ours, theirs)

    def curve(self) -> tuple[Point, ...]:
        every = {point.optimizer_step: point for point in (*self._points, *self._near)}
        return tuple(every[number] for number in sorted(every) if every[number].a is not None)

    def _wants(self, number: int) -> bool:
        return number > 0 and (number % self._stride == 0 or self._first is None or number <= self._first + AROUND)

    def _keep(self, point: Point) -> None:
        if self._first is None:
            self._recent.append(point)
        elif point.optimizer_step <= self._first + AROUND:
            self._near.append(point)
        if point.optimizer_step % self._stride:
            return
        self._points.append(point)
        if len(self._points) > 2 * POINTS:
            self._stride *= 2
            self._points = [one for one in self._points if one.optimizer_step % self._stride == 0]

    def _last_of_previous(self) -> Pair | None:
        step = self._previous
        for rank, part in reversed(step.parts.items()) if step is not None else ():
            for line in reversed(part.lines):
                record = parsed(line) if event_of(line) in LEVELS else None
                if record is not None:
                    micro = record.get("micro")
                    here = Place(record["event"], record["step"], micro if isinstance(micro, int) else None, rank)
                    return Pair(here, record, record)
        return None

    def _list(self, number: int, a: Record, b: Record) -> None:
        of, before = str(a.get("of")), self.parameters.get(str(a.get("of")))
        if before is not None and (before.complete or not a.get("complete")):
            return
        each = tuple(_parameters(a, b))
        if not all(one.same for one in each):
            self.parameters[of] = Parameters(of, number, bool(a.get("complete") and b.get("complete")), each)

    def _measure(self, number: int, a: Record, b: Record) -> None:
        ours, theirs = numbers_of(a, "sketch"), numbers_of(b, "sketch")
        if len(self.distances) >= POINTS or not ours or len(ours) != len(theirs):
            return
        apart, length = math.dist(ours, theirs), math.hypot(*ours)
        relative = apart / length if length else math.nan
        self.distances.append(Distance(str(a.get("of")), number, apart, relative))


def _loss(step: Step) -> float | None:
    """The mean over the step's micro-batches and ranks, weighted by their counts where all have one."""
    records = [
        record
        for part in step.parts.values()
        for line in part.of("loss")
        if (record := parsed(line)) is not None and record.get("step") == step.number
    ]
    values = [number_of(record, "loss") for record in records]
    known = [value for value in values if value is not None]
    counts = [number_of(record, "count") or 0.0 for record in records]
    weights = counts if counts and all(count > 0 for count in counts) else [1.0] * len(counts)
    if not known or len(known) < len(values):
        return None
    return sum(value * weight for value, weight in zip(known, weights, strict=True)) / sum(weights)


def _parameters(a: Record, b: Record) -> Iterator[Parameter]:
    digests, others = mapping(a, "digests"), mapping(b, "digests")
    for name in digests:
        if name in others:
            norms = (number_of(mapping(side, "norms"), name) for side in (a, b))
            yield Parameter(name, digests[name] == others[name], *norms)
