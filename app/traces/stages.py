"""The records of one step of two runs into what was found of each stage."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from app.errors import Unreadable
from app.traces.record import Record, counts, parsed
from app.traces.run import Part, Step
from app.traces.schema import EVENTS, STAGES

Level = Literal["bitwise", "equal", "close", "different", "not_recorded"]
ORDER: tuple[Level, ...] = ("bitwise", "equal", "close", "different")
RANK = {level: rank for rank, level in enumerate(ORDER)}
RUNG = {stage: rung for rung, stage in enumerate(STAGES)}

NOISE_OF_NORMS = 1e-5
"""Norms depend on the number of threads in their last digits; only beyond this do unequal norms mean unequal values."""

Tolerances = Mapping[str, tuple[float, float]]
"""(relative, absolute) by stage."""

Key = tuple[str, int, int, int, str]
"""(event, step, micro, rank, which)"""
TELLING = ("when", "at", "call", "what", "name", "of")
WHICH = {event.name: tuple(one for one in TELLING if any(one == f.name for f in event.fields)) for event in EVENTS}
"""The fields that tell the records of one event apart."""

ENDS = ("weights", "optimizer", "side")
"""What is left when a step is done."""

IMPLEMENTATION = {"foreach", "fused", "capturable", "differentiable", "initial_lr"}
"""Options of an optimizer that say how it computes, or are another's business."""


class Found(NamedTuple):
    """What two records say of their stage."""

    stage: str
    step: int
    micro: int
    rank: int
    phase: int
    """0: within a micro-batch; 1: after all of them; 2: after a resume from this step."""
    part: int
    """Order within one stage; −1: a loss scale, which has acted before the gradient is clipped, or the generators at
    the start of an evaluation, where 1 is its end."""
    level: Level
    a: Record
    b: Record

    @property
    def cause(self) -> tuple[int, int, int, int, int, int]:
        """Causal order: what is smaller can have brought about what is larger."""
        acts_at = self.stage
        if self.stage == "control" and self.part < 0:
            acts_at = "grad"
        elif self.stage == "rng" and self.phase == 1:
            acts_at = "eval"
        rung = RUNG[acts_at]
        return (self.step, self.phase, self.micro, rung, self.part, self.rank)


@dataclass(frozen=True)
class Records:
    """The records of one step of one run."""

    by: dict[Key, Record]
    after: dict[Key, Record]

    def of(self, event: str) -> Iterator[Record]:
        return (record for key, record in self.by.items() if key[0] == event)

    def is_cut_like(self, other: "Records") -> bool:
        """Whether each rank that finished the step in both made it of as many micro-batches."""
        ours, theirs = (
            {key[3]: one.get("micros") for key, one in side.by.items() if key[0] == "control"} for side in (self, other)
        )
        return all(ours[rank] == theirs[rank] for rank in ours.keys() & theirs.keys())


def read_step(step: Step, lines: Mapping[int, Iterable[bytes]] | None = None) -> Records:
    """All of it, or of what precedes a resume only these lines of each rank."""
    own = {rank: part.lines for rank, part in step.parts.items()} if lines is None else lines
    after = {rank: part.after for rank, part in step.parts.items() if part.after}
    return Records(by=_by_key(own), after=_by_key(after) if after else {})


class Told(NamedTuple):
    """The lines of two sides, parted."""

    a: list[bytes]
    b: list[bytes]
    same: dict[str, list[bytes]]
    """Those that are the same bytes on both, by event."""


def told_apart(a: Part, b: Part, settled: Collection[str]) -> Told:
    """Without those of settled events, unless one side has more of them."""
    told = Told([], [], {})
    if a.names == b.names:
        for event, one, two in zip(a.names, a.lines, b.lines, strict=True):
            if one == two:
                told.same.setdefault(event, []).append(one)
            elif event not in settled:
                told.a.append(one)
                told.b.append(two)
        return told
    every = {**a.events(), **b.events()}
    unlike = {event for event in every if len(a.of(event)) != len(b.of(event))}
    for event in every:
        ours, theirs = a.of(event), b.of(event)
        common: set[bytes] = set() if event in unlike else set(ours).intersection(theirs)
        if common:
            told.same[event] = [line for line in ours if line in common]
        if event in unlike or event not in settled:
            told.a.extend(line for line in ours if line not in common)
            told.b.extend(line for line in theirs if line not in common)
    return told


def compare_step(
    number: int, a: Records, b: Records, tolerances: Tolerances, whole: bool, settled: Collection[str] = ()
) -> list[Found]:
    """All that both recorded of a step, but for settled stages; `whole` where its batch is cut in another way."""
    if whole:
        found = list(_whole(number, a, b, tolerances))
    else:
        left = {key: one for key, one in b.by.items() if key[0] not in settled or key[1] != number}
        found = list(_each(a.by, left, 0, tolerances)) if left else []
    if (a.after or b.after) and not whole:
        loaded = _each(_state(number, a), _state(number, b), 2, tolerances)
        found += [one for one in loaded if one.stage in (*ENDS, "rng")]
    return found


def _state(number: int, records: Records) -> dict[Key, Record]:
    """After the step: as a resume loaded it, else as the step left it."""
    return records.after or {key: one for key, one in records.by.items() if key[0] in ENDS and key[1] == number}


def number_of(record: Record, name: str) -> float | None:
    """A float of a record, whichever way it is written."""
    value = record.get(name)
    try:
        if isinstance(value, str):
            return float.fromhex(value)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        return None


def numbers_of(record: Record, name: str) -> list[float]:
    """A list of floats of a record; empty where there is none, or one that holds anything else."""
    values = record.get(name)
    each = values if isinstance(values, list) else []
    numbers = [number_of({name: value}, name) for value in each]
    known = [number for number in numbers if number is not None and math.isfinite(number)]
    return known if len(known) == len(each) else []


def worse(one: Level, other: Level) -> Level:
    return one if RANK[one] >= RANK[other] else other


def near(a: float, b: float, tolerance: tuple[float, float]) -> bool:
    """|a − b| ≤ absolute + relative·|b|, with NaN equal to nothing."""
    relative, absolute = tolerance
    return a == b or (math.isfinite(a - b) and abs(a - b) <= absolute + relative * abs(b))


def _by_key(lines: Mapping[int, Iterable[bytes]]) -> dict[Key, Record]:
    by = {}
    for rank, own in lines.items():
        for line in own:
            record = parsed(line)
            if record is None:
                raise _unreadable(rank, line)
            if counts(record.get("step")):
                by[_key(record, rank)] = record
    return by


def _unreadable(rank: int, line: bytes) -> Unreadable:
    begins = line[:60].decode("utf-8", "replace")
    return Unreadable(f"a line of rank {rank} is no JSON: {begins}…", f"进程 {rank} 有一行不是 JSON：{begins}…")


def _key(record: Record, rank: int) -> Key:
    event, micro = record["event"], record.get("micro", 0)
    names = WHICH.get(event, ())
    which = "/".join([str(record[name]) for name in names if name in record]) if names else ""
    return (event, record["step"], micro if isinstance(micro, int) else 0, rank, which)


def _each(a: dict[Key, Record], b: dict[Key, Record], phase: int, tolerances: Tolerances) -> Iterator[Found]:
    for key, theirs in b.items():
        ours = a.get(key)
        event = key[0]
        if ours is None or event not in LEVELS:
            continue
        stage, part = event, 0
        if event == "grad":
            part = int(key[4] == "clipped")
            if not part and _scales_apart(key, ours, theirs, a, b):
                continue  # what counts is the gradient that the step uses
        if event == "control" and ours.get("scale") != theirs.get("scale"):
            part = -1
        if event == "rng" and "micro" not in theirs:
            part = {"eval_start": -1, "eval_end": 1}.get(str(theirs.get("at")), 0)
        tolerance = tolerances.get(stage)
        level = LEVELS[event](ours, theirs, tolerance)
        if level == "close" and tolerance is not None and _far(key, a, b, tolerance):
            level = "different"
        late = part != 0 or event in ("control", "update", "weights", "optimizer", "side", "eval")
        if level is not None:
            yield Found(stage, key[1], key[2] * (not late), key[3], phase or int(late), part, level, ours, theirs)


def _far(key: Key, a: dict[Key, Record], b: dict[Key, Record], tolerance: tuple[float, float]) -> bool:
    """Whether sketches show what norms cannot: that the values themselves are further apart than is declared.

    Beyond three standard errors of the estimate, of √(2/length) each.
    """
    of = {"weights": "weights", "grad": "clipped"}.get(key[0], "")
    at: Key = ("sketch", key[1], 0, key[3], of)
    ours, theirs = (numbers_of(side.get(at, {}), "sketch") for side in (a, b))
    if not ours or len(ours) != len(theirs) or (of == "clipped" and key[4] != "clipped"):
        return False
    relative, absolute = tolerance
    allowed = absolute + relative * math.hypot(*theirs)
    return math.dist(ours, theirs) * (1 - 3 * math.sqrt(2 / len(ours))) > allowed


def _scales_apart(key: Key, ours: Record, theirs: Record, a: dict[Key, Record], b: dict[Key, Record]) -> bool:
    """Whether two raw gradients carry different loss scales, and nothing else that their seeds tell of."""
    if ours.get("seed") == theirs.get("seed"):
        return False
    one, two = number_of(ours, "seed"), number_of(theirs, "seed")
    control: Key = ("control", key[1], 0, key[3], "")
    scales = [number_of(side.get(control, {}), "scale") or 1.0 for side in (a, b)]
    if one is None or two is None or scales[0] == scales[1]:
        return False
    return math.isclose(one / scales[0], two / scales[1])


def _whole(number: int, a: Records, b: Records, tolerances: Tolerances) -> Iterator[Found]:
    """What does not depend on how the batch was cut: samples, loss, the final gradient, control and state."""
    merged = [_merged(records) for records in (a, b)]
    yield from _each(merged[0], merged[1], 1, tolerances)


def _merged(records: Records) -> dict[Key, Record]:
    every = list(records.by.items())
    merged: dict[Key, Record] = {}
    for (event, step, _, rank, which), record in every:
        if event in ("weights", "optimizer") and record.get("partial"):
            merged[event, step, 0, 0, which] = _sum(one for key, one in every if (key[0], key[1]) == (event, step))
        elif rank == 0 and (event in ("control", "weights", "optimizer", "update") or which == "clipped"):
            merged[event, step, 0, 0, which] = {k: v for k, v in record.items() if k not in ("micros", "micro")}
    steps = {key[1] for key in records.by if key[0] == "batch"}
    for step in steps:
        batches = [one for key, one in every if key[:2] == ("batch", step)]
        merged["batch", step, 0, 0, "whole"] = _sum(batches)
        losses = [(number_of(one, "loss"), number_of(one, "count")) for key, one in every if key[:2] == ("loss", step)]
        known = [(value, count) for value, count in losses if value is not None and count]
        if known and len(known) == len(losses):
            mean = sum(value * count for value, count in known) / sum(count for _, count in known)
            merged["loss", step, 0, 0, "whole"] = {"loss": mean.hex(), "about": True}
    return merged


def _sum(records: Iterable[Record]) -> Record:
    """The digests that add up, added lane by lane."""
    every = list(records)
    total: Record = {"event": every[0]["event"], "step": every[0]["step"]}
    for name in ("members", "rows", "pairs") if total["event"] == "batch" else ("digest", "canon"):
        texts = [one.get(name, one.get("digest") if name == "canon" else None) for one in every]
        if all(isinstance(text, str) and len(text) == 32 for text in texts):
            lanes = [sum(int(str(text)[at : at + 16], 16) for text in texts) % (1 << 64) for at in (0, 16)]
            total[name] = "".join(f"{lane:016x}" for lane in lanes)
    return total


# One function per event: the level, or None where the records say nothing that can be compared.

Tolerance = tuple[float, float] | None


def _batch(a: Record, b: Record, _: Tolerance) -> Level | None:
    return _all_same(a, b, ("order", "ids", "inputs", "members", "rows", "pairs", "shapes"))


def _rng(a: Record, b: Record, _: Tolerance) -> Level | None:
    ours, theirs = mapping(a, "generators"), mapping(b, "generators")
    return _all_same(ours, theirs, ours.keys() & theirs.keys())


def _digested(a: Record, b: Record, tolerance: Tolerance) -> Level | None:
    ours, theirs = a.get("digest"), b.get("digest")
    if ours is not None and theirs is not None:
        if ours == theirs:
            return "bitwise"
        if a.get("canon", ours) == b.get("canon", theirs):
            return "equal"
        return _near_or(a, b, "norm", tolerance, "different")
    return _near_or(a, b, "norm", tolerance, None)


def _near_or(a: Record, b: Record, name: str, tolerance: Tolerance, unequal: Level | None) -> Level | None:
    """By magnitude alone; `unequal` is the level where it does not tell them apart."""
    one, two = number_of(a, name), number_of(b, name)
    if one is None or two is None:
        return unequal
    apart = not near(one, two, (NOISE_OF_NORMS, 0.0)) and not (math.isnan(one) and math.isnan(two))
    if not apart and unequal is None:
        return None
    if tolerance is not None and near(one, two, tolerance):
        return "close"
    return "different" if apart else unequal


def _loss(a: Record, b: Record, tolerance: Tolerance) -> Level | None:
    if a.get("about") or b.get("about"):
        level = _value(a, b, "loss", tolerance or (1e-6, 0.0))
        return None if level == "close" and tolerance is None else level
    return worse(_value(a, b, "loss", tolerance), _all_same(a, b, ("count", "dtype")) or "bitwise")


def _value(a: Record, b: Record, name: str, tolerance: Tolerance) -> Level:
    if a.get(name) == b.get(name):
        return "bitwise"
    one, two = number_of(a, name), number_of(b, name)
    if one is None or two is None:
        return "different"
    if one == two or (math.isnan(one) and math.isnan(two)):
        return "equal"
    return "close" if tolerance is not None and near(one, two, tolerance) else "different"


def _grad(a: Record, b: Record, tolerance: Tolerance) -> Level | None:
    level = _digested(a, b, tolerance)
    return "different" if a.get("none") != b.get("none") and level is not None else level


def _control(a: Record, b: Record, tolerance: Tolerance) -> Level | None:
    level: Level = _all_same(a, b, ("skipped", "micros")) or "bitwise"
    level = worse(level, _value(a, b, "scale", tolerance) if "scale" in a and "scale" in b else "bitwise")
    ours, theirs = _rates(a), _rates(b)
    if len(ours) != len(theirs):
        return "different"
    for one, two in zip(ours, theirs, strict=True):
        level = worse(level, _value({"lr": one}, {"lr": two}, "lr", tolerance))
    if a.get("groups") == b.get("groups"):
        return level
    for one, two in zip(_options(a), _options(b), strict=False):
        level = worse(level, _all_same(one, two, one.keys() & two.keys()) or "bitwise")
    return level


def _rates(record: Record) -> list[Any]:
    rates = record.get("lr")
    return rates if isinstance(rates, list) else []


def _options(record: Record) -> list[Record]:
    groups = record.get("groups")
    each = groups if isinstance(groups, list) else []
    return [
        {name: value for name, value in group.items() if name not in IMPLEMENTATION}
        for group in each
        if isinstance(group, dict)
    ]


def _weights(a: Record, b: Record, tolerance: Tolerance) -> Level | None:
    level = _digested(a, b, tolerance)
    ours, theirs = a.get("buffers"), b.get("buffers")
    if ours is None or theirs is None or level is None:
        return level
    same = a.get("buffers_canon", ours) == b.get("buffers_canon", theirs)
    return worse(level, "bitwise" if ours == theirs else "equal" if same else "different")


def _optimizer(a: Record, b: Record, tolerance: Tolerance) -> Level | None:
    level = _digested(a, b, tolerance)
    return None if level is None else worse(level, _all_same(a, b, ("counters",)) or "bitwise")


def _update(a: Record, b: Record, tolerance: Tolerance) -> Level | None:
    """Its record holds counts and an estimate; whether it is bitwise follows from the weights on both sides."""
    if a.get("sampled") == b.get("sampled") and a.get("unmoved") != b.get("unmoved"):
        return _near_or(a, b, "norm", tolerance, "different")
    return _near_or(a, b, "norm", tolerance, None)


def _side(a: Record, b: Record, tolerance: Tolerance) -> Level | None:
    if "digest" not in a or "digest" not in b:
        return _all_same(a, b, ("values",))
    ends = [one.get("after", one["digest"]) for one in (a, b)]  # of a checkpoint that changed while it was written
    return worse(_digested(a, b, tolerance) or "different", "bitwise" if ends[0] == ends[1] else "different")


def _eval(a: Record, b: Record, tolerance: Tolerance) -> Level | None:
    ours, theirs = mapping(a, "metrics"), mapping(b, "metrics")
    level: Level = _all_same(a, b, ("count", "moved")) or "bitwise"
    for name in ours.keys() & theirs.keys():
        level = worse(level, _value(ours, theirs, name, tolerance))
    return level if ours.keys() & theirs.keys() else None


LEVELS = {
    "batch": _batch,
    "rng": _rng,
    "forward": _digested,
    "loss": _loss,
    "grad": _grad,
    "control": _control,
    "update": _update,
    "weights": _weights,
    "optimizer": _optimizer,
    "side": _side,
    "eval": _eval,
}


def mapping(record: Record, name: str) -> Record:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def _all_same(a: Record, b: Record, names: Iterable[str]) -> Level | None:
    level: Level | None = None
    for name in names:
        if name in a and name in b:
            if a[name] != b[name]:
                return "different"
            level = "bitwise"
    return level
