"""The comparison parses only what can still change its answer: it must equal one that parses every line."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.traces.comparison import _comparison, compare
from app.traces.run import Step, read_run
from app.traces.stages import Key, Records, Tolerances
from app.traces.walk import Walk, _batches
from tests.traces.written import Record, digest, resumed, run, trace, written

CHANGED = ("batch", "rng", "forward", "loss", "grad", "control", "update", "weights", "optimizer", "side", "eval")
LEFT_OUT = ("rng", "forward", "loss", "update", "side", "eval", "parameters")
TOLERANCES: tuple[Tolerances, ...] = ({}, {"loss": (1e-3, 0.0), "forward": (1e-3, 0.0), "grad": (1.0, 0.0)})


class EveryLine(Walk):
    """Parses all lines of all steps, those that are the same bytes too."""

    def _step(self, a: Step, b: Step) -> None:
        self.records += sum(len(part.lines) + len(part.after) for part in b.parts.values())
        self._unlike(a, b, records(a), records(b))
        self.witness.unlike(a, b)
        if self.first is None:
            self.recent.append(_batches(a))
        else:
            near = self.first.stage == "batch" and a.number <= self.first.step + 64
            batches = [json.loads(line) for line in _batches(a)] if near else []
            self.evidence.go_on(a.number, batches, self.rates_part)


def records(step: Step) -> Records:
    return Records(
        by=keyed((rank, line) for rank, part in step.parts.items() for line in part.lines),
        after=keyed((rank, line) for rank, part in step.parts.items() for line in part.after),
    )


def keyed(lines: Iterable[tuple[int, bytes]]) -> dict[Key, Record]:
    found: dict[Key, Record] = {}
    for rank, line in lines:
        one = json.loads(line)
        which = [str(one[name]) for name in ("when", "at", "call", "what", "name", "of") if name in one]
        found[one["event"], one["step"], one.get("micro", 0), rank, "/".join(which)] = one
    return found


def with_parameters(records: list[Record]) -> list[Record]:
    found: list[Record] = []
    for one in records:
        found.append(one)
        if one["event"] == "grad":
            digests = {name: digest((name, one["digest"])) for name in "wb"}
            more = {"micro": one["micro"]} if one["when"] == "raw" else {}
            of = "grad" if more else "clipped"
            norms = {name: (1.0).hex() for name in "wb"}
            line = {"event": "parameters", "step": one["step"], **more, "of": of, "digests": digests, "norms": norms}
            found.append(line | {"complete": one["step"] % 2 == 0})
    return found


@st.composite
def mutated(draw: st.DrawFn, records: list[Record]) -> list[Record]:
    """With up to eight things of another run; some go on from there, as they do when runs part."""
    found = list(records)
    for _ in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(["change", "change", "on", "slightly", "leave out", "turn"]))
        names = LEFT_OUT if kind == "leave out" else CHANGED
        places = [i for i, one in enumerate(found) if one["event"] in names and one.get("step", 0) > 0]
        at = draw(st.sampled_from(places))
        one = found[at]
        if kind == "leave out":
            del found[at]
        elif kind == "turn":
            near = [i for i in places if found[i]["step"] == one["step"] and found[i].get("micro") == one.get("micro")]
            other = draw(st.sampled_from(near))
            found[at], found[other] = found[other], found[at]
        elif kind == "on":
            found = [
                other_than(two, draw(st.integers(0, 1)))
                if (two["event"], two.get("micro")) == (one["event"], one.get("micro"))
                and two.get("step", -1) >= one["step"]
                else two
                for two in found
            ]
        else:
            found[at] = other_than(one, 2 if kind == "slightly" else draw(st.integers(0, 1)))
    return found


def other_than(one: Record, how: int) -> Record:
    new = {
        "batch": {"ids": [900 + i + one["step"] * how for i in range(4)], "order": digest(how), "members": digest(how)},
        "rng": {"generators": {"cpu": digest(how)}},
        "loss": {"loss": (0.4999 + how).hex()},
        "control": {"lr": [(0.3 + how).hex()], "scale": (2.0 ** (10 - how)).hex()},
        "update": {"unmoved": how, "norm": (0.25 + how).hex()},
        "eval": {"metrics": {"loss": (1.0 + how).hex()}},
    }.get(str(one["event"]), {"digest": digest(how), "norm": (2.0 + how).hex()} if "norm" in one else {"digest": "b"})
    if how == 2:
        slight = {"canon": one["digest"]} if one["event"] in ("weights", "grad") and "canon" not in one else {}
        new = slight | {"digest": digest("slightly")} if "digest" in one else {}
        if one["event"] == "loss":
            new = {"loss": (float.fromhex(one["loss"]) * (1 + 1e-4)).hex()}
    return one | new


@given(st.integers(3, 6), st.integers(1, 3), st.booleans(), st.sampled_from(TOLERANCES), st.data())
def test_skipping_what_is_settled_changes_no_answer(
    tmp_path_factory: pytest.TempPathFactory,
    steps: int,
    micros: int,
    two_ranks: bool,
    tolerances: Tolerances,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("both")
    whole = with_parameters(run(steps, micros))
    cut = data.draw(st.integers(1, steps - 1))
    pieces = (
        [whole] if data.draw(st.booleans()) else [with_parameters(run(cut, micros)), resumed(cut, steps - cut, micros)]
    )
    theirs = [data.draw(mutated(piece)) for piece in pieces]
    a, b = (side(folder, name, files, two_ranks) for name, files in (("a", [whole]), ("b", theirs)))
    if two_ranks:
        other = data.draw(mutated(whole))
        written(folder / "a.r1.jsonl", [trace(1, 2), *whole[1:]])
        written(folder / "b.r1.jsonl", [trace(1, 2), *other[1:]])
        a, b = [*a, folder / "a.r1.jsonl"], [*b, folder / "b.r1.jsonl"]
    ours, others = read_run(a), read_run(b)
    found, expected = (
        compare(ours, others, tolerances),
        _comparison(EveryLine(ours, others, tolerances).go(None), None, None),
    )
    assert unlike(found.json(), expected.json()) == {}


def unlike(one: Record, two: Record) -> Record:
    """By name what stands in both and differs; of lists of the same length only the places that do."""
    apart: Record = {}
    for name in one.keys() | two.keys():
        x, y = one.get(name), two.get(name)
        if x != y:
            lists = isinstance(x, list) and isinstance(y, list) and len(x) == len(y)
            apart[name] = [pair for pair in zip(x, y, strict=True) if pair[0] != pair[1]] if lists else (x, y)
    return apart


def side(folder: Path, name: str, files: list[list[Record]], two_ranks: bool) -> list[Path]:
    return [
        written(
            folder / f"{name}{i}.jsonl", [trace(0, 2) if one["event"] == "trace" and two_ranks else one for one in file]
        )
        for i, file in enumerate(files)
    ]
