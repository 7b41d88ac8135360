"""What a report shows beside the verdict: records around the first difference, tensors by name, curves."""

import itertools
from pathlib import Path

import pytest

from app.traces.advice import advice
from app.traces.comparison import compare
from app.traces.witness import AROUND, POINTS, Pair, Place
from tests.traces.written import Record, changed, digest, resumed, run, written


def losses(steps: int, values: dict[int, float] | None = None) -> list[Record]:
    """A run whose loss at step i is 1/i, or what is given."""
    given = values or {}
    return [
        one | ({"loss": given.get(one["step"], 1 / one["step"]).hex()} if one["event"] == "loss" else {})
        for one in run(steps)
    ]


def files(folder: Path, a: list[Record], b: list[Record]) -> tuple[Path, Path]:
    return written(folder / "a.jsonl", a), written(folder / "b.jsonl", b)


def test_the_records_on_both_sides_of_the_first_difference(tmp_path: Path) -> None:
    b = changed(run(4), "loss", 3, loss=(1.5).hex())
    found = compare(*files(tmp_path, run(4), b))
    assert found.first_unequal is not None and found.last_equal is not None
    assert found.first_unequal.place == Place("loss", 3, 1, 0) == found.first_difference
    assert found.first_unequal.b["loss"] == (1.5).hex()
    assert found.last_equal.place == Place("forward", 3, 1, 0)
    assert found.last_equal.a["digest"] == found.last_equal.b["digest"]


def test_a_difference_at_the_beginning_of_a_step_follows_the_end_of_the_last(tmp_path: Path) -> None:
    b = changed(run(4), "batch", 3, inputs=digest(9), rows=digest(9))
    found = compare(*files(tmp_path, run(4), b))
    assert found.last_equal is not None
    assert found.last_equal.place.optimizer_step == 2
    assert compare(*files(tmp_path, run(4), run(4))).last_equal is None


def test_every_step_is_on_a_short_curve(tmp_path: Path) -> None:
    found = compare(*files(tmp_path, losses(6), losses(6, {4: 2.0})))
    assert [(one.optimizer_step, one.a, one.b) for one in found.losses] == [
        (step, 1 / step, 2.0 if step == 4 else 1 / step) for step in range(1, 7)
    ]
    assert found.horizon == 4


def test_a_long_curve_keeps_every_so_many_steps_and_all_around_the_first_difference(tmp_path: Path) -> None:
    steps, part = 5 * POINTS, 1811
    found = compare(*files(tmp_path, losses(steps), losses(steps, {part: 3.0})))
    shown = [one.optimizer_step for one in found.losses]
    assert len(shown) <= 2 * POINTS + 2 * AROUND + 1
    assert set(range(part - AROUND, part + AROUND + 1)) <= set(shown)
    far = [step for step in shown if abs(step - part) > AROUND]
    assert {two - one for one, two in itertools.pairwise(far) if two < part - AROUND} == {4}
    assert all(one.a == 1 / one.optimizer_step for one in found.losses)


def test_micro_batches_weigh_as_much_as_they_hold(tmp_path: Path) -> None:
    records = [
        one | ({"loss": float(one["micro"]).hex(), "count": one["micro"]} if one["event"] == "loss" else {})
        for one in run(1, 3)
    ]
    found = compare(*files(tmp_path, records, records))
    assert found.losses[0].a == pytest.approx((1 * 1 + 2 * 2 + 3 * 3) / 6)


def named(records: list[Record], step: int, digests: dict[str, int], complete: bool = True) -> list[Record]:
    line = {
        "event": "parameters", "step": step, "of": "weights", "complete": complete,
        "digests": {name: digest(value) for name, value in digests.items()},
        "norms": {name: float(value).hex() for name, value in digests.items()},
    }  # fmt: skip
    at = max(i for i, one in enumerate(records) if one.get("step") == step) + 1
    return [*records[:at], line, *records[at:]]


def test_tensors_are_listed_where_they_first_differ(tmp_path: Path) -> None:
    a = named(named(run(5), 3, {"w": 1, "b": 2}), 4, {"w": 1, "b": 2})
    b = changed(named(named(run(5), 3, {"w": 1, "b": 3}, complete=False), 4, {"w": 5, "b": 6}), "loss", 2, loss="nan")
    (found,) = compare(*files(tmp_path, a, b)).parameters
    assert (found.of, found.optimizer_step, found.complete) == ("weights", 4, True)
    assert [(one.name, one.same, one.norm_a, one.norm_b) for one in found.each] == [
        ("w", False, 1.0, 5.0),
        ("b", False, 2.0, 6.0),
    ]


def test_sketches_estimate_how_far_the_runs_are_apart(tmp_path: Path) -> None:
    def sketched(values: list[float]) -> list[Record]:
        line = {"event": "sketch", "step": 3, "of": "weights", "sketch": [one.hex() for one in values], "values": {}}
        return [*run(3), line]

    b = changed(sketched([3.0, 4.0 + 1.0]), "loss", 2, loss="nan")
    (found,) = compare(*files(tmp_path, sketched([3.0, 4.0]), b)).distances
    assert (found.of, found.optimizer_step, found.absolute, found.relative) == ("weights", 3, 1.0, 0.2)


def test_what_one_side_alone_recorded_is_told(tmp_path: Path) -> None:
    evaluated = {"event": "eval", "step": 2, "name": "another", "metrics": {"loss": (0.5).hex()}}
    found = compare(*files(tmp_path, run(3), [*run(2), evaluated, *run(3)[len(run(2)) :]]))
    assert found.level == "bitwise"
    assert [(one.stage, one.side, one.first_step) for one in found.one_sided] == [("eval", "b", 2)]
    assert isinstance(found.last_equal, Pair | None)


def test_an_update_is_claimed_only_where_one_was_made(tmp_path: Path) -> None:
    def told(a: list[Record], b: list[Record]) -> str:
        stages = compare(*files(tmp_path, a, b)).stages
        return next(one.level for one in stages if one.stage == "update")

    begun = [one for one in run(3) if one["event"] != "weights" or one["step"] == 0]
    assert told(begun, begun) == "not_recorded"
    assert told(run(6), resumed(3, 3)) == "bitwise"
    assert told(run(3), changed(run(3), "weights", 2, digest=digest(9))) == "different"


def test_what_to_record_next_follows_from_what_was_not(tmp_path: Path) -> None:
    whole = run(3)
    assert advice(compare(*files(tmp_path, whole, whole))) == ()
    bare = [one for one in whole if one["event"] in ("trace", "env", "model", "forward", "grad", "control")]
    (said,) = advice(compare(*files(tmp_path, bare, bare)))[:1]
    assert "`trace.batch(ids, inputs)`" in said.en and "`trace.batch(ids, inputs)`" in said.zh
    told = [one.en for one in advice(compare(*files(tmp_path, whole, changed(whole, "weights", 2, digest=digest(9)))))]
    assert any("level 2 up to step 2" in one for one in told)
    named_too = [
        named(one, 2, {"w": i}) for i, one in enumerate((whole, changed(whole, "weights", 2, digest=digest(9))))
    ]
    assert not any("level 2" in one.en for one in advice(compare(*files(tmp_path, *named_too))))
