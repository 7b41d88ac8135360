import itertools
import math
import random
import re
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import InvalidParameters
from app.experiments.accumulation import EXPERIMENT, accumulation, histogram, in_orders, kahan, neumaier, pairwise
from app.experiments.floating import rounding
from tests.experiments.formats import DTYPES, TYPES, added, correctly_rounded

PLAIN = rounding("float64")
LOST = [1.0, 1e100, 1.0, -1e100]


def one_by_one(values, dtype):
    total = values[0]
    for value in values[1:]:
        total = added(total, value, dtype)
    return total


def stored(n, distribution, seed, dtype):
    source = random.Random(seed)
    numbers = {
        "uniform": lambda k: source.random(),
        "normal": lambda k: source.gauss(0, 1),
        "lognormal": lambda k: source.lognormvariate(0, 2),
        "alternating": lambda k: source.random() if k % 2 == 0 else -source.random(),
    }
    return [rounding(dtype)(numbers[distribution](k)) for k in range(n)]


def values_of(result):
    return {found["name"]: found["value"] for found in result["algorithms"]}


def test_only_neumaier_finds_both_ones_beside_ten_to_the_hundredth():
    """The example of A. Neumaier's method: in any naive order, in pairs and with Kahan's method the ones are lost."""
    assert one_by_one(LOST, "float64") == 0
    assert pairwise(LOST, PLAIN) == 0
    assert kahan(LOST, PLAIN) == 0
    assert neumaier(LOST, PLAIN) == 2 == math.fsum(LOST)


@pytest.mark.parametrize(("dtype", "reached"), [("bfloat16", 256), ("float16", 2048), ("float32", 5000)])
def test_adding_one_five_thousand_times_stops_where_the_format_ends(dtype, reached):
    ones = [1.0] * 5000
    assert in_orders(ones, dtype, 0, 3) == [reached] * 6


def test_ten_tenths_are_one_with_compensation_only():
    tenths = [0.1] * 10
    assert in_orders(tenths, "float64", 0, 0) == [0.9999999999999999] * 3
    assert kahan(tenths, PLAIN) == neumaier(tenths, PLAIN) == 1.0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("distribution", ["uniform", "normal", "lognormal", "alternating"])
def test_every_sum_that_has_an_order_is_that_of_numpy_in_that_order(distribution, dtype):
    values = stored(300, distribution, 7, dtype)
    result = values_of(accumulation(300, distribution, 7, dtype, 0))
    assert result["left_to_right"] == one_by_one(values, dtype)
    assert result["reversed"] == one_by_one(values[::-1], dtype)
    assert result["ascending"] == one_by_one(sorted(values, key=abs), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_halving_is_what_it_says(dtype):
    values = stored(8, "normal", 3, dtype)

    def plus(x, y):
        return added(x, y, dtype)

    a, b, c, d, e, f, g, h = values
    assert pairwise(values, rounding(dtype)) == plus(plus(plus(a, b), plus(c, d)), plus(plus(e, f), plus(g, h)))
    assert pairwise(values[:5], rounding(dtype)) == plus(plus(a, b), plus(c, plus(d, e)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_kahan_and_neumaier_are_numpys_arithmetic_step_by_step(dtype):
    values = stored(200, "normal", 5, dtype)
    kind = TYPES[dtype]
    total = lost = kind(0)
    for value in map(kind, values):
        mended = kind(value - lost)
        longer = kind(total + mended)
        lost = kind(kind(longer - total) - mended)
        total = longer
    assert kahan(values, rounding(dtype)) == float(total)
    total, lost = kind(values[0]), kind(0)
    for value in map(kind, values[1:]):
        longer = kind(total + value)
        if abs(total) >= abs(value):
            lost = kind(lost + kind(kind(total - longer) + value))
        else:
            lost = kind(lost + kind(kind(value - longer) + total))
        total = longer
    assert neumaier(values, rounding(dtype)) == float(kind(total + lost))


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 400),
    st.sampled_from(["uniform", "normal", "lognormal", "alternating"]),
    st.integers(0, 2**40),
    st.sampled_from(DTYPES),
)
def test_the_reference_is_the_exact_sum_rounded_once(n, distribution, seed, dtype):
    result = accumulation(n, distribution, seed, dtype, 0)
    values = stored(n, distribution, seed, dtype)
    assert correctly_rounded(sum(map(Fraction, values)), result["reference"], dtype)
    if dtype == "float64":
        assert result["reference"] == math.fsum(values)
    for found in result["algorithms"]:
        assert math.isnan(found["ulps_off"]) or (found["ulps_off"] == 0) == (found["value"] == result["reference"])


def test_torch_is_torchs_own_sum():
    values = stored(10000, "uniform", 0, "float32")
    expected = torch.tensor(values, dtype=torch.float32).sum().item()
    assert values_of(accumulation(10000, "uniform", 0, "float32", 0))["torch"] == expected


def test_compensation_in_float64_stays_within_an_ulp_of_fsum():
    result = accumulation(10000, "lognormal", 1, "float64", 0)
    off = {found["name"]: found["ulps_off"] for found in result["algorithms"]}
    assert abs(off["kahan"]) <= 1
    assert abs(off["neumaier"]) <= 1


def test_shuffled_orders_are_permutations_from_the_seed_alone():
    values = stored(500, "uniform", 0, "float32")
    source = random.Random(0 + 1)
    expected = []
    for _ in range(4):
        keys = np.frombuffer(source.randbytes(8 * 500), dtype="<i8")
        expected.append(one_by_one([values[at] for at in sorted(range(500), key=keys.__getitem__)], "float32"))
    assert in_orders(values, "float32", 0, 4)[3:] == expected
    assert in_orders(values, "float32", 0, 2)[3:] == expected[:2]
    assert in_orders(values, "float32", 1, 4)[3:] != expected


def test_orders_are_counted_and_drawn_as_they_are():
    result = accumulation(2000, "uniform", 0, "float32", 30)
    values = in_orders(stored(2000, "uniform", 0, "float32"), "float32", 0, 30)[3:]
    orders, step = result["orders"], float(np.spacing(np.float32(result["reference"])))
    assert orders["distinct"] == len(set(values)) > 1
    assert (orders["min"], orders["max"]) == (min(values), max(values))
    assert orders["spread_ulps"] == (max(values) - min(values)) / step
    offsets = [(value - result["reference"]) / step for value in values]
    for found in orders["histogram"]:
        assert found["count"] == sum(found["low"] <= offset < found["high"] for offset in offsets)
    assert sum(found["count"] for found in orders["histogram"]) == 30


def test_no_shuffles_no_orders():
    assert accumulation(10, "uniform", 0, "float64", 0)["orders"] is None


@given(st.lists(st.one_of(st.floats(-1e9, 1e9), st.integers(-40, 40).map(float)), min_size=1, max_size=40))
def test_bins_are_few_adjoin_and_hold_every_offset(offsets):
    bins = histogram(offsets, 24)
    assert 1 <= len(bins) <= 24
    assert all(one["high"] == two["low"] for one, two in itertools.pairwise(bins))
    assert bins[0]["count"] and bins[-1]["count"]
    for found in bins:
        assert found["count"] == sum(found["low"] <= offset < found["high"] for offset in offsets)
    assert sum(found["count"] for found in bins) == len(offsets)


def test_few_whole_offsets_get_a_bin_each():
    assert histogram([-1.0, 1.0, 1.0], 24) == [
        {"low": -1.5, "high": -0.5, "count": 1},
        {"low": -0.5, "high": 0.5, "count": 0},
        {"low": 0.5, "high": 1.5, "count": 2},
    ]
    assert histogram([math.inf, math.nan], 24) == []


def test_a_sum_beyond_float16_says_so():
    params = EXPERIMENT.parse({"distribution": "lognormal", "dtype": "float16"})
    result = EXPERIMENT.run(**params)
    assert result["reference"] == math.inf
    assert "beyond the largest float16" in EXPERIMENT.sentence(params, result).en


def said(**texts):
    params = EXPERIMENT.parse(texts)
    return EXPERIMENT.sentence(params, EXPERIMENT.run(**params))


def test_one_shuffled_order_is_spoken_of_in_the_singular():
    sentence = said(dtype="float32", shuffles="1")
    value = np.float32(in_orders(stored(10000, "uniform", 0, "float32"), "float32", 0, 1)[3])
    assert re.search(r" The one shuffled order gives (\S+), off by \d+ ulps?\.$", sentence.en)[1] == str(value)
    assert re.search(r"打乱一次，得到 (\S+)，误差是 \d+ 个末位单位。$", sentence.zh)[1] == str(value)
    assert " All 2 shuffled orders give the same sum." in said(n="2", shuffles="2").en


def test_files_name_a_way_of_adding_as_the_result_does():
    params = EXPERIMENT.parse({"n": "10"})
    result = EXPERIMENT.run(**params)
    names = [row[0].name for row in EXPERIMENT.table(params, result).rows]
    assert names == ["reference", *(found["name"] for found in result["algorithms"])]


def test_the_same_seed_gives_the_same_result():
    assert accumulation(1000, "normal", 3, "float32", 5) == accumulation(1000, "normal", 3, "float32", 5)
    assert accumulation(1000, "normal", 3, "float32", 5) != accumulation(1000, "normal", 4, "float32", 5)


def test_too_many_shuffled_numbers_are_refused():
    assert EXPERIMENT.parse({"n": "100000", "shuffles": "20"})["shuffles"] == 20
    with pytest.raises(InvalidParameters) as refused:
        EXPERIMENT.parse({"n": "100000", "shuffles": "21"})
    (problem,) = refused.value.problems
    assert (problem.parameter, problem.given, problem.message.en) == (
        "shuffles",
        "21",
        "must be at most 20 for n = 100,000",
    )


@pytest.mark.parametrize(
    "given_",
    [{"n": "1"}, {"n": "100001"}, {"n": "2.5"}, {"shuffles": "201"}, {"seed": "-1"}, {"distribution": "cauchy"}],
)
def test_what_is_out_of_range_is_refused(given_):
    with pytest.raises(InvalidParameters) as refused:
        EXPERIMENT.parse(given_)
    assert [problem.parameter for problem in refused.value.problems] == list(given_)
