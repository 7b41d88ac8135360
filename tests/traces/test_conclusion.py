"""A rule over seeds: read as it is written, decided by means, with P(A > B) and its interval beside it."""

import math
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import Incomparable, InvalidQuestion
from app.traces.comparison import compare
from app.traces.conclusion import Conclusion, conclude, interval, read_rule, superiority
from app.traces.question import answer, read_question
from app.traces.run import Run, read_runs
from tests.traces.written import Record, run, written


def unjudged(steps: int) -> list[Record]:
    """A run without evaluations."""
    return [one for one in run(steps) if one["event"] != "eval"]


def evaluated(folder: Path, name: str, value: float, step: int = 3, **metrics: float) -> Path:
    """A run of three steps whose last evaluation found the value; its losses are its own."""
    records: list[Record] = [
        one | ({"loss": (value + i / 64).hex()} if one["event"] == "loss" else {}) for i, one in enumerate(unjudged(3))
    ]
    found = {name: one.hex() for name, one in ({"accuracy": value} | metrics).items()}
    return written(folder / name, [*records, {"event": "eval", "step": step, "name": "valid", "metrics": found}])


def sides(folder: Path, a: list[float], b: list[float]) -> tuple[list[Run], list[Run]]:
    return tuple(  # type: ignore[return-value]
        list(read_runs([evaluated(folder, f"{side}{i}.jsonl", value) for i, value in enumerate(values)]))
        for side, values in (("a", a), ("b", b))
    )


def decided(folder: Path, rule: str, a: list[float], b: list[float]) -> Conclusion:
    return conclude(read_rule(rule), *sides(folder, a, b))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("A - B > 0.2 over >= 5 seeds", (None, "A", ">", 0.2, 5)),
        ("A − B > 0.2 over ≥ 5 seeds", (None, "A", ">", 0.2, 5)),
        ("accuracy: b - a <= -1e-3 over >= 10 seeds", ("accuracy", "B", "<=", -0.001, 10)),
        ("valid/top 5:A-B>=.5 over >= 2 seeds", ("valid/top 5", "A", ">=", 0.5, 2)),
        ("Ａ－Ｂ＞０．２ over ≥ ５ seeds", (None, "A", ">", 0.2, 5)),
    ],
)
def test_a_rule_is_read_as_it_is_written(text: str, read: tuple[object, ...]) -> None:
    rule = read_rule(text)
    assert (rule.metric, rule.first, rule.relation, rule.margin, rule.seeds) == read
    assert rule.text == text


@pytest.mark.parametrize(
    "text",
    ["", "A > B", "A - A > 0 over >= 5 seeds", "A - B > . over >= 5 seeds", "A - B > 0 over >= 1 seeds",
     "A - B > 1e999 over >= 5 seeds", "A - B = 0 over >= 5 seeds", "A - B > 0 over >= 5 seeds; rm"],
)  # fmt: skip
def test_what_is_no_rule_says_how_one_is_written(text: str) -> None:
    with pytest.raises(InvalidQuestion) as found:
        read_rule(text)
    (problem,) = found.value.problems
    assert (problem.parameter, problem.given) == ("rule", text)
    assert problem.message.en != problem.message.zh


def test_the_verdict_is_that_of_the_means(tmp_path: Path) -> None:
    a, b = [0.9, 0.8, 0.85, 0.95, 0.82], [0.6, 0.5, 0.7, 0.55, 0.65]
    found = decided(tmp_path, "A - B > 0.2 over >= 5 seeds", a, b)
    assert (found.verdict, found.metric) == ("holds", "valid/accuracy")
    assert found.difference == pytest.approx(0.864 - 0.6)
    assert found.superiority == 1.0
    assert decided(tmp_path, "A - B > 0.3 over >= 5 seeds", a, b).verdict == "fails"
    assert decided(tmp_path, "B - A < -0.2 over >= 5 seeds", a, b).verdict == "holds"
    assert decided(tmp_path, "A - B > 0.2 over >= 6 seeds", a, b).verdict == "not_enough_seeds"


def test_a_run_that_repeats_another_to_the_bit_is_no_other_seed(tmp_path: Path) -> None:
    found = decided(tmp_path, "A - B > 0.2 over >= 3 seeds", [0.9, 0.9, 0.9], [0.1, 0.2, 0.3])
    assert (found.verdict, found.a, found.repeated) == ("not_enough_seeds", (0.9,), 2)


def test_where_nothing_was_evaluated_the_last_loss_decides(tmp_path: Path) -> None:
    runs = [
        read_runs([written(tmp_path / f"{side}{i}.jsonl", [
            one | ({"loss": (value + i).hex()} if one["event"] == "loss" else {}) for one in unjudged(2)
        ]) for i in range(2)])
        for side, value in (("a", 1.0), ("b", 5.0))
    ]  # fmt: skip
    found = conclude(read_rule("B - A > 3 over >= 2 seeds"), *runs)
    assert (found.metric, found.verdict, found.a, found.b) == ("loss", "holds", (1.0, 2.0), (5.0, 6.0))


def test_a_metric_that_not_all_have_or_that_is_not_named_is_no_ground(tmp_path: Path) -> None:
    runs = [read_runs([evaluated(tmp_path, f"{side}.jsonl", 0.5, loss=0.1)]) for side in "ab"]
    with pytest.raises(Incomparable, match=r"names no metric.*valid/accuracy, valid/loss"):
        conclude(read_rule("A - B > 0 over >= 2 seeds"), *runs)
    with pytest.raises(Incomparable, match="'top5'"):
        conclude(read_rule("top5: A - B > 0 over >= 2 seeds"), *runs)
    assert conclude(read_rule("valid/loss: A - B > 0 over >= 2 seeds"), *runs).a == (0.1,)
    assert conclude(read_rule("accuracy: A - B > 0 over >= 2 seeds"), *runs).a == (0.5,)


VALUES = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=8)


@given(VALUES, VALUES)
def test_superiority_counts_pairs(a: list[float], b: list[float]) -> None:
    wins = sum(1.0 if one > two else 0.5 if one == two else 0.0 for one in a for two in b)
    assert superiority(a, b) == pytest.approx(wins / (len(a) * len(b)))
    assert superiority(a, b) + superiority(b, a) == pytest.approx(1)


@given(st.floats(0, 1), st.integers(2, 50), st.integers(2, 50))
def test_the_interval_solves_its_equation(chance: float, m: int, n: int) -> None:
    """At each bound the distance from what was found is 1.96 standard errors (Newcombe's method 5), or the edge."""
    low, high = interval(chance, m, n)
    assert 0 <= low <= chance + 1e-9 and chance - 1e-9 <= high <= 1
    for bound in (low, high):
        if 1e-6 < bound < 1 - 1e-6:
            more = (m + n) / 2 - 1
            spread = 1 + more * ((1 - bound) / (2 - bound) + bound / (1 + bound))
            variance = bound * (1 - bound) / (m * n) * spread
            assert (bound - chance) ** 2 == pytest.approx(1.959963984540054**2 * variance, rel=1e-5, abs=1e-9)


def test_the_interval_does_not_collapse_where_one_side_always_wins() -> None:
    low, high = interval(1.0, 5, 5)
    assert high == 1.0
    assert 0.5 < low < 0.8


def test_the_interval_covers_as_often_as_it_says() -> None:
    """Normal values a shift apart: P(A > B) = Φ(shift/√2)."""
    draw = random.Random(3)
    for shift in (0.0, 1.0):
        truth = (1 + math.erf(shift / 2)) / 2
        covered = 0
        for _ in range(600):
            a, b = [draw.gauss(shift, 1) for _ in range(8)], [draw.gauss(0, 1) for _ in range(8)]
            low, high = interval(superiority(a, b), 8, 8)
            covered += low <= truth <= high
        assert 0.92 <= covered / 600 <= 0.99


def test_the_level_of_a_comparison_is_the_strongest_that_holds(tmp_path: Path) -> None:
    a = [evaluated(tmp_path, f"a{i}.jsonl", 0.9 + i / 100) for i in range(3)]
    b = [evaluated(tmp_path, f"b{i}.jsonl", 0.5 + i / 100) for i in range(3)]
    rule = "A - B > 0.3 over >= 3 seeds"
    found = answer(a, b, question=read_question("conclusion", [], rule))
    assert (found.level, found.holds) == ("conclusion", True)
    assert found.conclusion is not None and found.conclusion.verdict == "holds"
    failed = answer(a, b, question=read_question("conclusion", [], "A - B > 0.5 over >= 3 seeds"))
    assert (failed.level, failed.holds) == ("different", False)
    assert compare(a[0], a[0], require="conclusion").holds  # bitwise is more than any conclusion


def test_several_runs_of_a_side_need_a_rule(tmp_path: Path) -> None:
    a, b, c = (evaluated(tmp_path, f"{name}.jsonl", 0.5) for name in "abc")
    with pytest.raises(Incomparable, match="the files of B are 2 runs"):
        answer([a], [b, c])
