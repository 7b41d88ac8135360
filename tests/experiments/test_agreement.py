import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import InvalidParameters
from app.experiments.agreement import EXPERIMENT, agreement, tolerances
from app.experiments.floating import rounding
from tests.experiments.formats import BITS, DTYPES, TYPES, bits

numbers = st.one_of(
    st.floats(),
    st.floats(-3, 3),
    st.sampled_from([0.0, -0.0, 1.0, 1 + 1e-7, 1 + 1e-3, math.inf, -math.inf, math.nan, 1e-6, 9e-6]),
)
names = st.sampled_from(DTYPES)
pairs = st.lists(st.tuples(numbers, numbers) | numbers.map(lambda x: (x, x)), min_size=1, max_size=8)


def compared(a, b, dtype="float64", **tolerance):
    given_ = {"a": ",".join(map(repr, a)), "b": ",".join(map(repr, b)), "dtype": dtype}
    params = EXPERIMENT.parse(given_ | {name: repr(value) for name, value in tolerance.items()})
    return EXPERIMENT.run(**params)


def tensor(values, dtype):
    """Rounded by us first: torch takes a float64 to bfloat16 by way of float32."""
    return torch.tensor([rounding(dtype)(value) for value in values], dtype=torch.float64).to(getattr(torch, dtype))


def accepted(a, b, dtype, **tolerance):
    try:
        torch.testing.assert_close(tensor(a, dtype), tensor(b, dtype), **tolerance)
    except AssertionError:
        return False
    return True


def test_by_default_two_lists_part_at_the_first_level_only():
    assert EXPERIMENT.run(**EXPERIMENT.parse({})) == {
        "bitwise": False,
        "close": True,
        "same_order": True,
        "max_abs": 2.0**-54,  # 0.1 + 0.2 is one ulp above 0.3, whose ulp is 2^-54
        "max_rel": 2.0**-54 / 0.3,
        "max_ulps": 1,
        "mismatches": 1,
        "first_mismatch": {"index": 0, "a": 0.30000000000000004, "b": 0.3},
        "notes": [],
    }


def test_two_gradients_ninefold_apart_are_close_in_float32():
    result = compared([1e-6], [9e-6], "float32")
    assert result["close"] is True
    assert result["max_ulps"] > 20_000_000
    assert accepted([1e-6], [9e-6], "float32")


@pytest.mark.parametrize("dtype", DTYPES)
def test_default_tolerances_are_those_of_assert_close(dtype):
    rtol, atol = tolerances(dtype)
    verdicts = set()
    for expected in (0.0, 1.0, 1000.0):
        allowed = atol + rtol * expected
        for share in (0.2, 0.9, 1.1, 1.9, 2.5):
            actual = rounding(dtype)(expected + share * allowed)
            really = abs(actual - expected) / allowed
            if abs(really - 1) > 0.05:
                verdicts.add((expected, really < 1))
                assert accepted([actual], [expected], dtype) is (really < 1)
                assert compared([actual], [expected], dtype)["close"] is (really < 1)
    assert verdicts == {(expected, close) for expected in (0.0, 1.0, 1000.0) for close in (True, False)}


@settings(max_examples=300, deadline=None)
@given(pairs, st.sampled_from([0.0, 1e-7, 1e-3, 0.5]), st.sampled_from([0.0, 1e-7, 1e-5, 1.0]))
def test_in_float64_closeness_is_what_torch_asserts(both, rtol, atol):
    a, b = zip(*both, strict=True)
    assert agreement(a, b, "float64", rtol, atol)["close"] is accepted(a, b, "float64", rtol=rtol, atol=atol)


@settings(max_examples=300, deadline=None)
@given(pairs, names)
def test_bits_are_those_of_numpy(both, dtype):
    a, b = ([rounding(dtype)(value) for value in side] for side in zip(*both, strict=True))
    nan = [bits(math.nan, dtype) if math.isnan(x) else bits(x, dtype) for x in a + b]
    result = agreement(tuple(a), tuple(b), dtype, 0.0, 0.0)
    assert result["bitwise"] is (nan[: len(a)] == nan[len(a) :])
    assert result["mismatches"] == sum(x != y for x, y in zip(a, b, strict=True))
    first = next((at for at, (x, y) in enumerate(zip(a, b, strict=True)) if x != y), None)
    assert (result["first_mismatch"] or {"index": None})["index"] == first


@settings(max_examples=300, deadline=None)
@given(pairs, names)
def test_ulps_are_the_distance_of_the_bit_patterns(both, dtype):
    a, b = ([rounding(dtype)(value) for value in side] for side in zip(*both, strict=True))
    result = agreement(tuple(a), tuple(b), dtype, 0.0, 0.0)["max_ulps"]
    if any(map(math.isnan, a + b)):
        assert math.isnan(result)
        return
    half = 1 << (np.dtype(BITS[dtype]).itemsize * 8 - 1)
    places = [[p if (p := bits(x, dtype)) < half else half - p for x in side] for side in (a, b)]
    assert result == max(abs(x - y) for x, y in zip(*places, strict=True))


@settings(max_examples=300, deadline=None)
@given(pairs)
def test_the_order_is_that_of_all_pairs(both):
    a, b = (np.array(side) for side in zip(*both, strict=True))
    expected = not (np.isnan(a).any() or np.isnan(b).any())
    expected = expected and np.array_equal(
        np.greater.outer(a, a).astype(int) - np.less.outer(a, a),
        np.greater.outer(b, b).astype(int) - np.less.outer(b, b),
    )
    assert agreement(tuple(a.tolist()), tuple(b.tolist()), "float64", 0.0, 0.0)["same_order"] is bool(expected)


def test_a_tie_that_is_broken_is_another_order():
    assert compared([1, 1], [1, 2])["same_order"] is False
    assert compared([2, 1], [5, 3])["same_order"] is True


def test_the_tolerance_is_relative_to_what_was_expected():
    assert compared([1.0], [2.0], rtol=0.5, atol=0.0)["close"] is accepted([1.0], [2.0], "float64", rtol=0.5, atol=0.0)
    assert compared([1.0], [2.0], rtol=0.5, atol=0.0)["close"] is True
    assert compared([2.0], [1.0], rtol=0.5, atol=0.0)["close"] is False


def test_zeros_of_both_signs_are_equal_in_value_not_in_bits():
    result = compared([0.0, 1.0], [-0.0, 1.0])
    assert result["bitwise"] is False
    assert (result["close"], result["same_order"], result["mismatches"], result["max_ulps"]) == (True, True, 0, 0)
    assert result["notes"] == ["equal_in_value_not_in_bits"]
    assert torch.equal(torch.tensor([0.0]), torch.tensor([-0.0]))


def test_nan_is_close_to_nothing_and_noted():
    result = compared([math.nan, 1.0], [math.nan, 1.0])
    assert result["bitwise"] is True
    assert (result["close"], result["same_order"], result["mismatches"]) == (False, False, 1)
    assert all(math.isnan(result[name]) for name in ("max_abs", "max_rel", "max_ulps"))
    assert result["notes"] == ["nan"]


def test_infinities_have_to_be_equal():
    assert compared([math.inf], [math.inf])["close"] is True
    assert compared([math.inf], [math.inf])["max_abs"] == 0
    apart = compared([math.inf, 1.0], [-math.inf, 1.0], rtol=1.0, atol=1.0)
    assert (apart["close"], apart["max_abs"], apart["max_rel"]) == (False, math.inf, math.inf)
    assert compared([1.0], [math.inf])["close"] is False


def test_the_relative_distance_from_zero_is_infinite():
    assert compared([1e-9], [0.0])["max_rel"] == math.inf
    assert compared([0.0], [0.0])["max_rel"] == 0


def test_numbers_that_become_one_in_the_format_are_noted():
    result = compared([1.0001], [1.0002], "float16")
    assert result["bitwise"] is True
    assert result["notes"] == ["equal_after_rounding"]
    assert np.float16(1.0001) == np.float16(1.0002)


def test_distances_are_taken_in_float64_after_rounding():
    result = compared([0.1], [0.3], "bfloat16")
    a, b = (float(TYPES["bfloat16"](value)) for value in (0.1, 0.3))
    assert result["max_abs"] == abs(a - b)
    assert result["max_rel"] == abs(a - b) / abs(b)


def test_one_tolerance_alone_is_refused():
    for name, other in (("rtol", "atol"), ("atol", "rtol")):
        with pytest.raises(InvalidParameters) as refused:
            EXPERIMENT.parse({name: "0.1"})
        (problem,) = refused.value.problems
        assert (problem.parameter, problem.given) == (name, "0.1")
        assert problem.message.en == f"needs {other} beside it: give both or neither"


def test_a_state_with_one_tolerance_at_its_default_reads_back():
    params = EXPERIMENT.parse({"rtol": "1e-7", "atol": "0.5"})
    assert EXPERIMENT.state(params) == {"rtol": "1e-07", "atol": "0.5"}
    assert EXPERIMENT.parse(EXPERIMENT.state(params)) == params
    assert EXPERIMENT.state(EXPERIMENT.parse({})) == {}


def test_default_tolerances_follow_the_format():
    assert EXPERIMENT.parse({"dtype": "float16"})["rtol"] == 1e-3
    assert EXPERIMENT.parse({"dtype": "float16", "rtol": "", "atol": ""})["atol"] == 1e-5


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(InvalidParameters) as refused:
        EXPERIMENT.parse({"a": "1,2", "b": "1,2,3"})
    assert [problem.parameter for problem in refused.value.problems] == ["b"]


def test_each_preset_shows_another_agreement():
    levels = [
        tuple(EXPERIMENT.run(**EXPERIMENT.parse(preset.given))[level] for level in ("bitwise", "close", "same_order"))
        for preset in EXPERIMENT.presets
    ]
    same_order, another_order = (False, True, True), (False, True, False)
    assert levels[:3] == [same_order, same_order, another_order]
    assert levels[3:5] == [(False, False, True), same_order]


def said(**texts):
    params = EXPERIMENT.parse(texts)
    return EXPERIMENT.sentence(params, EXPERIMENT.run(**params))


@pytest.mark.parametrize(
    ("texts", "english", "chinese"),
    [
        (
            {"a": "2.301,2.288,2.32", "b": "2.3010003,2.288,2.32", "dtype": "float32"},  # ulps are 2⁻²² from 2 to 4
            "1 of 3 pairs differs by 2.4×10⁻⁷ (1 ulp), within the tolerance; the order is the same.",
            "3 对里有 1 对不同，相差 2.4×10⁻⁷（1 个末位单位），在容差之内；排序不变。",
        ),
        (
            {"a": "0.7312,0.73121", "b": "0.73121,0.7312", "dtype": "float32"},  # 10⁻⁵ is 168 times 2⁻²⁴
            "2 of 2 pairs differ by up to 10⁻⁵ (up to 168 ulps), all within the tolerance; the order changes.",
            "2 对里有 2 对不同，最多相差 10⁻⁵（最多 168 个末位单位），都在容差之内；排序变了。",
        ),
        (
            {"a": "9e-6", "b": "1e-6", "dtype": "float32"},
            "The one pair differs by 8×10⁻⁶, within the tolerance.",
            "这一对数不同，相差 8×10⁻⁶，在容差之内。",
        ),
        (
            {"a": "1,2,3", "b": "1,nan,3"},
            "1 of 3 pairs differs, not within the tolerance; there is no order, since NaN has none."
            " NaN equals nothing, not even itself.",
            "3 对里有 1 对不同，超出容差；排不出先后，因为 NaN 没有大小。NaN 与任何数都不相等，包括它自己。",
        ),
        (
            {"a": "1,2", "b": "3,4"},
            "2 of 2 pairs differ by up to 2, not all within the tolerance; the order is the same.",
            "2 对里有 2 对不同，最多相差 2，有的超出容差；排序不变。",
        ),
        (
            {"a": "0", "b": "-0"},
            "The one pair is equal in value. 0 and −0 are equal in value, not in bits.",
            "这一对数的数值相等。0 与 −0 数值相等，存储的位却不同。",
        ),
        (
            {"a": "0,1", "b": "-0,1"},
            "All 2 pairs are equal in value. 0 and −0 are equal in value, not in bits.",
            "2 对数的数值都相等。0 与 −0 数值相等，存储的位却不同。",
        ),
    ],
)
def test_the_sentence_counts_pairs_and_says_how_far_they_are_apart(texts, english, chinese):
    assert (said(**texts).en, said(**texts).zh) == (english, chinese)


def test_the_table_writes_a_number_as_short_as_its_format_allows():
    params = EXPERIMENT.parse({"a": "2.301,0.1", "b": "2.3010003,nan", "dtype": "float32"})
    rows = EXPERIMENT.table(params, EXPERIMENT.run(**params)).rows
    assert rows[0][1:3] == (2.301, 2.3010004)  # numpy prints these two so
    assert [str(np.float32(2.301)), str(np.float32(2.3010003))] == ["2.301", "2.3010004"]
    assert rows[1][1] == 0.1 and math.isnan(rows[1][2])


def test_one_tolerance_alone_hides_no_other_problem():
    with pytest.raises(InvalidParameters) as refused:
        EXPERIMENT.parse({"a": "1,2", "b": "1e5", "rtol": "0.1"})
    assert [(problem.parameter, problem.given) for problem in refused.value.problems] == [("rtol", "0.1"), ("b", "1e5")]
