"""Two traces written by hand, in which one thing differs: the comparison names that thing and its place."""

import gzip
import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import Incomparable, InvalidQuestion, TraceError, Unreadable
from app.traces.comparison import Comparison, compare
from app.traces.question import read_tolerances
from app.traces.report import report
from app.traces.run import read_run, with_ranks
from app.traces.stages import Tolerances
from app.traces.witness import Place
from tests.traces.written import (
    Record,
    changed,
    digest,
    environment,
    model,
    parted,
    resumed,
    run,
    step,
    trace,
    written,
)


def told(
    folder: Path,
    a: list[Record],
    *b: list[Record],
    tolerances: Tolerances | None = None,
    noise: list[Record] | None = None,
) -> Comparison:
    files = [written(folder / f"b{i}.jsonl", one) for i, one in enumerate(b)]
    again = None if noise is None else read_run([written(folder / "noise.jsonl", noise)])
    return compare(read_run([written(folder / "a.jsonl", a)]), read_run(files), tolerances or {}, noise=again)


def names(found: Comparison) -> set[str]:
    return {hint.name for hint in found.hints}


def level(found: Comparison, stage: str) -> str:
    return next(one.level for one in found.stages if one.stage == stage)


# The ladder


def test_a_run_is_bitwise_equal_to_itself(tmp_path: Path) -> None:
    found = told(tmp_path, run(5, 2), run(5, 2))
    assert (found.level, found.first_difference, found.hints, found.steps) == ("bitwise", None, (), 5)
    assert {one.level for one in found.stages} == {"bitwise"}
    assert (found.seen_twice, found.never_seen, found.not_recorded) == (0, 0, ())


# ruff: noqa: E501
ONE_FAULT: list[tuple[list[Record], Place, str]] = [
    (changed(run(6, 2), "batch", 3, 2, inputs=digest(1), rows=digest(2)), Place("batch", 3, 2, 0), "same-ids-other-contents"),
    (changed(run(6, 2), "batch", 3, 2, ids=[23, 22, 21, 20], order=digest(1), inputs=digest(2)), Place("batch", 3, 2, 0), "same-ids-other-order"),
    (changed(run(6, 2), "batch", 4, 1, ids=[0, 1, 2, 3], order=digest(1), members=digest(2)), Place("batch", 4, 1, 0), "batches-repeat"),
    (changed(run(6), "batch", 3, ids=[16, 17], order=digest(1), members=digest(2)), Place("batch", 3, 1, 0), "batches-skipped"),
    (changed(run(6), "batch", 3, ids=[7, 7], order=digest(1), members=digest(2)), Place("batch", 3, 1, 0), "ids-within-a-batch-repeat"),
    (changed(run(6, 2), "rng", 2, 1, generators={"cpu": digest(1)}), Place("rng", 2, 1, 0), "generator-first"),
    (parted(run(6, 2), "forward", 2, 2), Place("forward", 2, 2, 0), "forward-first"),
    (changed(run(6), "loss", 2, count=5), Place("loss", 2, 1, 0), "loss-denominator"),
    (changed(run(6), "loss", 2, loss=(1.5).hex()), Place("loss", 2, 1, 0), "loss-by-a-factor"),
    (parted(run(6), "grad", 2, norm=(16.0).hex()), Place("grad", 2, 1, 0), "gradient-by-a-power-of-two"),
    (changed(run(6), "grad", 2, when="raw", digest=digest(1), norm=(1.5).hex()), Place("grad", 2, 1, 0), "gradient-by-three-quarters"),
    (changed(run(6, 3), "grad", 2, 3, when="clipped", digest=digest(1), norm=(1 / 3).hex()), Place("grad", 2, None, 0), "gradient-by-the-accumulation-count"),
    (changed(run(6), "grad", 2, when="clipped", digest=digest(1), norm=(1.7).hex()), Place("grad", 2, None, 0), "clipping"),
    (changed(run(6), "grad", 2, when="raw", digest=digest(1)), Place("grad", 2, 1, 0), "same-norm"),
    (changed(run(6), "control", 2, lr=[(9.0).hex()]), Place("control", 2, None, 0), "rate-for-one-step"),
    (changed(changed(run(6), "control", 2, lr=[(9.0).hex()]), "control", 3, lr=[(8.0).hex()]), Place("control", 2, None, 0), "rate"),
    (changed(run(6), "control", 2, scale=(512.0).hex()), Place("control", 2, None, 0), "scale"),
    (changed(run(6), "control", 2, skipped=True), Place("control", 2, None, 0), "skip"),
    (changed(run(6), "control", 2, groups=[{"weight_decay": (0.0).hex()}]), Place("control", 2, None, 0), "options"),
    (parted(run(6), "weights", 3), Place("update", 3, None, 0), "update-alone"),
    (changed(run(6), "optimizer", 3, digest=digest(1), by={"exp_avg": digest(1)}), Place("optimizer", 3, None, 0), "optimizer-state"),
    (parted(run(6), "side", 3), Place("side", 3, None, 0), "scheduler-state"),
    (changed(run(6), "eval", 3, metrics={"loss": (7.0).hex()}), Place("eval", 3, None, 0), "evaluation"),
]  # fmt: skip


@pytest.mark.parametrize(("b", "place", "hint"), ONE_FAULT, ids=[hint for *_, hint in ONE_FAULT])
def test_one_thing_that_differs_is_named(tmp_path: Path, b: list[Record], place: Place, hint: str) -> None:
    micros = max(one.get("micro", 1) for one in b)
    found = told(tmp_path, run(6, micros), b)
    assert found.first_difference == place
    assert hint in names(found)
    assert (found.level, level(found, place.stage)) == ("different", "different")
    later = {one.first_step for one in found.stages} - {None, place.optimizer_step}
    assert all(one > place.optimizer_step for one in later if one is not None)


def test_a_stage_says_where_bitwise_was_first_lost(tmp_path: Path) -> None:
    found = told(tmp_path, run(6), parted(parted(run(6), "forward", 4), "forward", 6))
    assert [(one.level, one.first_step) for one in found.stages if one.stage == "forward"] == [("different", 4)]


def test_what_is_equal_in_value_is_no_difference_of_value(tmp_path: Path) -> None:
    canon = digest("canon")
    a, b = (changed(run(3), "forward", 2, digest=digest(sign), canon=canon) for sign in "+-")
    found = told(tmp_path, a, b)
    assert (found.level, found.holds) == ("equal", False)
    assert compare(tmp_path / "a.jsonl", tmp_path / "b0.jsonl", require="equal").holds


@pytest.mark.parametrize(("relative", "expected"), [(1e-3, "close"), (1e-6, "different")])
def test_a_declared_tolerance_makes_it_close(tmp_path: Path, relative: float, expected: str) -> None:
    b = changed(run(3), "loss", 2, loss=(0.5 * (1 + 1e-4)).hex())
    assert told(tmp_path, run(3), b, tolerances={"loss": (relative, 0.0)}).level == expected


@pytest.mark.parametrize(("far", "expected"), [(1e-5, "close"), (0.5, "different")])
def test_a_sketch_sees_a_permutation_that_norms_do_not(tmp_path: Path, far: float, expected: str) -> None:
    def sketched(records: list[Record], *values: float) -> list[Record]:
        numbers = [one.hex() for one in values] + [(0.0).hex()] * 254
        return [*records, {"event": "sketch", "step": 3, "of": "weights", "sketch": numbers, "values": {}}]

    a, b = sketched(run(3), 1.0, 2.0), sketched(parted(run(3), "weights", 3), 1.0, 2.0 + far)  # the norms are equal
    assert level(told(tmp_path, a, b, tolerances={"weights": (1e-3, 0.0)}), "weights") == expected


def test_nothing_is_close_to_what_is_not_a_number(tmp_path: Path) -> None:
    b = changed(run(3), "loss", 2, loss="nan")
    assert told(tmp_path, run(3), b, tolerances={"loss": (1.0, 1.0)}).level == "different"
    assert told(tmp_path, b, b).level == "bitwise"


def test_equal_norms_alone_say_nothing(tmp_path: Path) -> None:
    records = [{k: v for k, v in one.items() if one["event"] != "forward" or k != "digest"} for one in run(3)]
    found = told(tmp_path, records, records)
    assert found.not_recorded == ("forward",)
    assert found.level == "bitwise"


def test_the_environment_is_listed_and_never_the_first_difference(tmp_path: Path) -> None:
    b = [environment(threads=8) if one["event"] == "env" else one for one in run(3)]
    found = told(tmp_path, run(3), b)
    assert (found.first_difference, found.environment) == (None, {"threads": (2, 8)})


# Resumes


def test_a_resumed_run_is_spliced_and_what_was_taken_back_is_left_out(tmp_path: Path) -> None:
    lost = parted(run(8), "forward", 7)
    found = told(tmp_path, run(10), lost, resumed(5, 5))
    assert (found.level, found.steps, found.seen_twice) == ("bitwise", 10, 0)


def test_a_segment_in_the_same_file_is_spliced_too(tmp_path: Path) -> None:
    found = told(tmp_path, run(10), [*parted(run(8), "forward", 7), *resumed(5, 5)])
    assert (found.level, found.steps) == ("bitwise", 10)


def test_a_new_start_replaces_what_was_before(tmp_path: Path) -> None:
    found = told(tmp_path, run(4), [*parted(run(8), "forward", 2), *run(4)])
    assert (found.level, found.steps) == ("bitwise", 4)


def test_state_that_differs_after_a_resume_is_found_there(tmp_path: Path) -> None:
    again = resumed(5, 5, loaded={"optimizer": "different"})
    at = max(i for i, one in enumerate(again) if one["event"] == "optimizer" and one["step"] == 5)
    again[at] = again[at] | {"digest": digest(1)}
    found = told(tmp_path, run(10), run(5), again)
    assert found.first_difference == Place("optimizer", 5, None, 0)
    assert "optimizer-fresh" in names(found)


def test_state_that_a_itself_loaded_is_held_against_b_as_well(tmp_path: Path) -> None:
    again = resumed(5, 5)
    at = max(i for i, one in enumerate(again) if one["event"] == "weights" and one["step"] == 5)
    again[at] = again[at] | {"digest": digest(1)}
    found = compare(written(tmp_path / "a.jsonl", again), written(tmp_path / "b.jsonl", run(10)))
    assert found.first_difference == Place("weights", 5, None, 0)
    whole = compare(written(tmp_path / "a.jsonl", resumed(5, 5)), tmp_path / "b.jsonl")
    assert (whole.level, whole.steps, whole.seen_twice) == ("bitwise", 5, 0)


def test_samples_seen_twice_and_never_are_counted_over_resumes(tmp_path: Path) -> None:
    later = [
        one | ({"ids": [0, 1, 2, 3], "order": digest(0)} if one["event"] == "batch" and one["step"] == 6 else {})
        for one in resumed(5, 3)
    ]
    found = told(tmp_path, run(8), run(5), later)
    assert (found.seen_twice, found.never_seen) == (4, 4)
    assert found.first_difference == Place("batch", 6, 1, 0)


# Ranks


def test_two_ranks_meet_one_rank_at_the_whole_batch(tmp_path: Path) -> None:
    def adding(records: list[Record]) -> list[Record]:
        return [
            one
            | ({"members": f"{sum(one['ids']):032x}", "rows": f"{sum(one['ids']) * 7:032x}"} if "ids" in one else {})
            for one in records
        ]

    one_rank = adding(run(3, 2))
    for rank in (0, 1):
        own = [
            one | {"micro": 1} if "micro" in one else one | {"micros": 1} if "micros" in one else one
            for one in one_rank
            if one.get("micro", rank + 1) == rank + 1 or one.get("when") == "clipped"
        ]
        written(tmp_path / ("b.jsonl" if not rank else "b.r1.jsonl"), [trace(rank, 2), *own[1:]])
    a, b = read_run([written(tmp_path / "a.jsonl", one_rank)]), read_run(with_ranks(tmp_path / "b.jsonl"))
    found = compare(a, b, {})
    assert (found.level, found.seen_twice, found.never_seen) == ("bitwise", 0, 0)
    assert {"batch", "grad", "control", "weights", "optimizer"}.isdisjoint(found.not_recorded)


def test_the_rank_that_parts_is_named(tmp_path: Path) -> None:
    for side in "ab":
        written(tmp_path / f"{side}.jsonl", [trace(0, 2), *run(3)[1:]])
        other = run(3) if side == "a" else parted(run(3), "forward", 2)
        written(tmp_path / f"{side}.r1.jsonl", [trace(1, 2), *other[1:]])
    found = compare(*(read_run(with_ranks(tmp_path / f"{side}.jsonl")) for side in "ab"), {})
    assert found.first_difference == Place("forward", 2, 1, 1)


# Noise


def test_a_run_that_does_not_repeat_itself_blames_nobody(tmp_path: Path) -> None:
    found = told(tmp_path, run(6), parted(run(6), "forward", 4), noise=parted(run(6), "forward", 3))
    assert found.noise is not None
    assert (found.noise.level, found.noise.explains, names(found)) == ("different", True, {"noise"})


def test_a_run_that_repeats_itself_leaves_the_difference_to_b(tmp_path: Path) -> None:
    found = told(tmp_path, run(6), parted(run(6), "forward", 4), noise=run(6))
    assert found.noise is not None
    assert (found.noise.level, found.noise.explains, names(found)) == ("bitwise", False, {"forward-first"})


# What cannot be compared


def raw(folder: Path, data: bytes, name: str = "bad.jsonl") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


BAD: list[tuple[bytes, str, str]] = [
    (b"", "bad.jsonl", "is empty"),
    (b"step,loss\n1,2\n", "bad.jsonl", "is no trace"),
    (b"\x80\x02PK" * 99, "bad.pt", "is no trace"),
    (b"[" * 100_000, "bad.jsonl", "is no trace"),
    (json.dumps(trace() | {"schema": 2}).encode(), "bad.jsonl", "schema 2; this reads schema 1"),
    (json.dumps(trace() | {"digest": "xor"}).encode(), "bad.jsonl", "digests of kind xor"),
    (b"not packed", "bad.jsonl.gz", "cannot be unpacked"),
    (b"not packed", "bad.jsonl.zst", "cannot be unpacked"),
    (b'{"event":"trace"' + b" " * (18 << 20), "bad.jsonl", "a line is longer than 16 MB"),
]


@pytest.mark.parametrize(("data", "name", "message"), BAD, ids=[message for *_, message in BAD])
def test_a_file_that_is_no_trace_says_so(tmp_path: Path, data: bytes, name: str, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        read_run([raw(tmp_path, data, name)])


def test_a_torn_last_line_is_told_and_left_out(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", run(3))
    torn = raw(tmp_path, path.read_bytes()[:-20])
    found = compare(read_run([path]), read_run([torn]), {})
    assert (found.level, found.torn) == ("bitwise", (f"{torn}:{len(run(3))}",))


def test_a_torn_line_in_the_middle_is_a_fault(tmp_path: Path) -> None:
    data = written(tmp_path / "a.jsonl", run(3)).read_bytes().splitlines(keepends=True)
    data[10] = data[10][:30] + b"\n"
    with pytest.raises(Unreadable, match=":11: not a line of JSON"):
        read_run([raw(tmp_path, b"".join(data))])


def test_shuffled_lines_are_a_fault(tmp_path: Path) -> None:
    records = run(9)
    with pytest.raises(Unreadable, match="lines are shuffled"):
        told(tmp_path, records, [*records[:3], *reversed(records[3:])])


def test_other_models_and_no_step_in_common_cannot_be_compared(tmp_path: Path) -> None:
    other = [model("w", "c") if one["event"] == "model" else one for one in run(3)]
    with pytest.raises(Incomparable, match="models differ in 2 parameters: b, c"):
        told(tmp_path, run(3), other)
    with pytest.raises(Incomparable, match="no step in common"):
        told(tmp_path, run(3), [trace(), *step(7)])


def test_a_packed_file_reads_as_the_plain_one(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", run(3))
    packed = raw(tmp_path, gzip.compress(path.read_bytes()), "b.jsonl.gz")
    assert compare(read_run([path]), read_run([packed]), {}).level == "bitwise"


@pytest.mark.parametrize(
    "text", ["grad", "grad=1", "grad=a,b", "grad=-1,0", "grad=nan,0", "rng=1,1", "nothing=1,1", "grad=0,inf"]
)
def test_a_tolerance_that_cannot_be_used_is_named(text: str) -> None:
    with pytest.raises(InvalidQuestion) as found:
        read_tolerances([text])
    assert [(one.parameter, one.given) for one in found.value.problems] == [("tolerance", text)]


# Properties


@given(st.integers(1, 6), st.integers(1, 3), st.data())
def test_any_digest_that_is_changed_is_found_at_its_step(
    tmp_path_factory: pytest.TempPathFactory, steps: int, micros: int, data: st.DataObject
) -> None:
    a = run(steps, micros)
    at = data.draw(st.sampled_from([i for i, one in enumerate(a) if "digest" in one and one["event"] != "trace"]))
    b = [one | ({"digest": digest("other")} if i == at else {}) for i, one in enumerate(a)]
    found = told(tmp_path_factory.mktemp("any"), a, b)
    assert found.first_difference is not None
    assert found.first_difference.optimizer_step == a[at]["step"]
    event = a[at]["event"]
    assert found.first_difference.stage == ("update" if event == "weights" and a[at]["step"] else event)


@given(st.integers(2, 8), st.data())
def test_a_run_cut_at_any_checkpoints_is_the_whole_run(
    tmp_path_factory: pytest.TempPathFactory, steps: int, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(1, steps - 1))
    beyond = data.draw(st.integers(cut, steps))
    found = told(tmp_path_factory.mktemp("cut"), run(steps), run(beyond), resumed(cut, steps - cut))
    assert (found.level, found.steps, found.only_a, found.never_seen) == ("bitwise", steps, 0, 0)


# Size


def test_memory_does_not_grow_with_the_trace(tmp_path: Path) -> None:
    peaks = []
    for steps in (2_000, 18_200):  # 22,000 and 200,200 records a side
        paths = [long(tmp_path / f"{name}{steps}.jsonl", steps, name) for name in ("0", "f")]
        tracemalloc.start()
        found = compare(read_run(paths[:1]), read_run(paths[1:]), {})
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert (found.level, found.records) == ("different", steps * 11)
    assert peaks[1] < 1.1 * peaks[0]


def long(path: Path, steps: int, name: str) -> Path:
    """Eleven records a step, written without holding them; `name` goes into the digests from step 10 on."""
    lines = [json.dumps(one, separators=(",", ":")) for one in step(1)[:11]]
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(trace()) + "\n")
        for number in range(1, steps + 1):
            for line in lines:
                own = line.replace('"step":1', f'"step":{number}')
                file.write((re.sub('"digest":".', f'"digest":"{name}', own) if number >= 10 else own) + "\n")
    return path


# The command's two forms


def test_the_text_fits_a_terminal_and_says_the_place(tmp_path: Path) -> None:
    text = report(
        told(tmp_path, run(6, 2), changed(parted(run(6, 2), "forward", 2, 2), "forward", 2, 2, norm=(5.0).hex()))
    )
    assert "first difference: forward, step 2, micro-batch 2, rank 0\n" in text
    assert "  norm: 3.0 in A, 5.0 in B\n" in text
    assert "last that is equal: rng, step 2, micro-batch 2, rank 0\n" in text
    assert max(map(len, text.splitlines())) <= 88


def test_the_text_fits_a_terminal_where_names_are_long(tmp_path: Path) -> None:
    names = [f"model.decoder.layers.{number}.self_attention.query_key_value.weight" for number in range(3)]

    def listing(what: str) -> Record:
        each = {name: digest((name, what)) for name in names}
        return {"event": "parameters", "step": 2, "of": "weights", "complete": True, "digests": each, "norms": {}}

    text = report(told(tmp_path, [*run(2), listing("a")], [*parted(run(2), "forward", 2), listing("b")]))
    assert f"weights by name, step 2: 3 of 3 differ:\n  {names[0]},\n  {names[1]},\n" in text
    assert max(map(len, text.splitlines())) <= 88


def test_the_json_has_what_programs_read(tmp_path: Path) -> None:
    found: dict[str, Any] = json.loads(json.dumps(told(tmp_path, run(3), parted(run(3), "grad", 2)).json()))
    assert found["first_difference"] == {"stage": "grad", "optimizer_step": 2, "micro_step": 1, "rank": 0}
    assert {"hint", "concept", "en", "zh", "next_en", "next_zh"} == found["hints"][0].keys()
    named = "level first_difference stages hints not_recorded seen_twice never_seen noise"
    assert set(named.split()) <= found.keys()
    assert found["stages"][0] == {"stage": "batch", "level": "bitwise", "first_step": None}


def test_a_run_from_the_start_takes_the_place_of_what_stands_before_it(tmp_path: Path) -> None:
    """A program that was started twice with the same path: another model and another torch were tried first."""
    tried = [trace(), environment(torch="2.12.0"), model("w", "c"), *run(4)[3:]]
    one, two = written(tmp_path / "a.jsonl", run(3)), written(tmp_path / "b.jsonl", [*tried, *run(3)])
    found = compare(one, two)
    assert (found.level, found.steps, found.environment) == ("bitwise", 3, {})
    assert found.anew == (f"{two}:{len(tried) + 1}",)
    assert f"begins anew at {two}:{len(tried) + 1}: the run" in " ".join(report(found).split())
    assert compare(one, written(tmp_path / "c.jsonl", run(3))).anew == ()


def test_a_start_that_came_to_no_batch_is_not_told(tmp_path: Path) -> None:
    two = written(tmp_path / "b.jsonl", [*run(3)[:3], *run(3)])
    assert compare(written(tmp_path / "a.jsonl", run(3)), two).anew == ()


def test_ids_that_one_side_did_not_record_are_not_counted_as_unseen(tmp_path: Path) -> None:
    bare = [{k: v for k, v in one.items() if k not in ("ids", "order", "members")} for one in run(3)]
    found = told(tmp_path, run(3), bare)
    assert (found.level, found.seen_twice, found.never_seen) == ("bitwise", None, None)


def test_a_beginning_that_is_equal_says_nothing_of_weights_that_are_not_digested(tmp_path: Path) -> None:
    """As a recorder writes a large model: digests before the first step, and later norms."""

    def large(factor: float) -> list[Record]:
        records = []
        for one in run(3):
            if one["event"] in ("weights", "optimizer") and one["step"] > 0:
                one = {"event": one["event"], "step": one["step"], "norm": (2.0 * factor).hex()}
            records.append(one)
        return records

    for factor in (1.0, 1.0 + 1e-15):  # norms do not tell rounding from another number of threads
        levels = {stage.stage: stage.level for stage in told(tmp_path, large(1.0), large(factor)).stages}
        assert (levels["weights"], levels["optimizer"]) == ("not_recorded", "not_recorded")
