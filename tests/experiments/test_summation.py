import ast
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import InvalidParameters
from app.experiments.floating import rounding
from app.experiments.summation import EXPERIMENT, summation
from app.language import Text
from tests.experiments.formats import DTYPES, TYPES, added, correctly_rounded, from_bits

DOUBLE_FACTORIALS = {2: 1, 3: 3, 4: 15, 5: 105, 6: 945, 7: 10395, 8: 135135}  # OEIS A001147

magnitudes = st.one_of(st.floats(-4, 4), st.floats(-300, 300), st.sampled_from([1e16, -1e16, 1.0, -1.0, 0.0, -0.0]))
extremes = st.sampled_from(["largest", "-largest", "least", "-least"])


@st.composite
def states(draw, most=6):
    """Terms that are finite in their format, from its smallest to its largest."""
    dtype = draw(st.sampled_from(DTYPES))
    numbers = {"largest": from_bits(ends(dtype) - 1, dtype), "least": from_bits(1, dtype)}
    numbers |= {f"-{name}": -value for name, value in numbers.items()}
    terms = draw(st.lists(magnitudes | extremes, min_size=2, max_size=most))
    rounded = rounding(dtype)
    values = tuple(numbers.get(term, term) for term in terms)
    return tuple(value if math.isfinite(rounded(value)) else 1.0 for value in values), dtype


def ends(dtype: str) -> int:
    """The bit pattern of infinity."""
    return {"float64": 0x7FF << 52, "float32": 0xFF << 23, "float16": 0x1F << 10, "bfloat16": 0xFF << 7}[dtype]


def stored(terms, dtype: str) -> list[float]:
    return [float(TYPES[dtype](term)) if dtype != "bfloat16" else rounding(dtype)(term) for term in terms]


def trees(terms: list[float], dtype: str) -> list[float]:
    """The sums of all unordered binary trees over the terms, one by one; numpy adds."""
    if len(terms) == 1:
        return terms
    first, rest = terms[0], terms[1:]
    found = []
    for chosen in range(2 ** len(rest) - 1):  # which of the others are on the side of the first
        left = [first] + [term for at, term in enumerate(rest) if chosen >> at & 1]
        right = [term for at, term in enumerate(rest) if not chosen >> at & 1]
        found += [added(x, y, dtype) for x in trees(left, dtype) for y in trees(right, dtype)]
    return found


def in_order(terms: list[float], dtype: str) -> set[str]:
    """The sums, as hexadecimals, of the trees that keep the order of the terms."""
    if len(terms) == 1:
        return {terms[0].hex()}
    return {
        added(float.fromhex(x), float.fromhex(y), dtype).hex()
        for cut in range(1, len(terms))
        for x in in_order(terms[:cut], dtype)
        for y in in_order(terms[cut:], dtype)
    }


def evaluated(tree: ast.expr, dtype: str) -> float:
    if isinstance(tree, ast.BinOp):
        assert isinstance(tree.op, ast.Add)
        return added(evaluated(tree.left, dtype), evaluated(tree.right, dtype), dtype)
    return float(ast.literal_eval(tree))


def leaves(tree: ast.expr) -> list[float]:
    if isinstance(tree, ast.BinOp):
        return leaves(tree.left) + leaves(tree.right)
    return [float(ast.literal_eval(tree))]


def parenthesised(tree: ast.expr, outermost: bool = True) -> str:
    if not isinstance(tree, ast.BinOp):
        return repr(float(ast.literal_eval(tree))).replace("e+", "e")
    text = f"{parenthesised(tree.left, False)} + {parenthesised(tree.right, False)}"
    return text if outermost else f"({text})"


def parsed(example: str) -> ast.expr:
    assert example.isascii()
    return ast.parse(example, mode="eval").body


def left_to_right(terms: list[float], dtype: str) -> float:
    total = terms[0]
    for term in terms[1:]:
        total = added(total, term, dtype)
    return total


def key(value: float) -> str:
    """What makes two sums one: their value, so 0 and −0 are one and every NaN is."""
    return (value + 0.0).hex()


def test_the_ten_to_the_sixteenth_example_comes_out_as_by_hand():
    assert summation((1e16, -1e16, 1.0), "float64") == {
        "left_to_right": 1.0,
        "right_to_left": 0.0,
        "ways": 3,
        "sums": [
            {"value": 0.0, "ways": 2, "ulps_off": -(2.0**52), "example": "1e16 + (-1e16 + 1.0)"},
            {"value": 1.0, "ways": 1, "ulps_off": 0.0, "example": "(1e16 + -1e16) + 1.0"},
        ],
        "exact": "1",
        "nearest": 1.0,
    }


def test_three_tenths_add_up_to_two_neighbours():
    result = summation((0.1, 0.2, 0.3), "float64")
    assert [(found["value"], found["ways"], found["ulps_off"]) for found in result["sums"]] == [
        (0.6, 1, 0.0),
        (0.6000000000000001, 2, 1.0),
    ]
    assert result["left_to_right"] == 0.6000000000000001
    assert result["right_to_left"] == 0.6


def test_ones_are_lost_beside_256_in_bfloat16():
    """Between 256 and 512 its numbers are 2 apart: 256 + 1 is a tie and stays 256; 1 + 1 first gets there."""
    result = summation((256.0, 1.0, 1.0, 1.0), "bfloat16")
    assert result["left_to_right"] == 256
    assert result["right_to_left"] == 260  # 3 + 256 = 259, a tie that goes to 260
    assert (result["exact"], result["nearest"]) == ("259", 260.0)
    assert [(found["value"], found["ways"]) for found in result["sums"]] == [(256.0, 6), (258.0, 3), (260.0, 6)]


@pytest.mark.parametrize(("n", "ways"), DOUBLE_FACTORIALS.items())
def test_there_are_as_many_ways_as_trees(n, ways):
    for dtype in DTYPES:
        result = summation(tuple(0.1 * k for k in range(1, n + 1)), dtype)
        assert result["ways"] == ways == sum(found["ways"] for found in result["sums"])


@settings(max_examples=60, deadline=None)
@given(states())
def test_the_sums_are_those_of_a_walk_through_every_tree(state):
    terms, dtype = state
    found = Counter(key(value) for value in trees(stored(terms, dtype), dtype))
    result = summation(terms, dtype)
    assert {key(one["value"]): one["ways"] for one in result["sums"]} == found
    assert result["ways"] == DOUBLE_FACTORIALS[len(terms)]


@settings(max_examples=60, deadline=None)
@given(states(most=8))
def test_sums_ascend_and_hold_both_plain_directions(state):
    terms, dtype = state
    result = summation(terms, dtype)
    values = [found["value"] for found in result["sums"]]
    numbers = [value for value in values if not math.isnan(value)]
    assert numbers == sorted(set(numbers))
    assert len(values) - len(numbers) <= 1
    assert values[: len(numbers)] == numbers  # NaN is last
    there = stored(terms, dtype)
    assert result["left_to_right"].hex() == left_to_right(there, dtype).hex()
    assert result["right_to_left"].hex() == left_to_right(there[::-1], dtype).hex()
    assert {key(result["left_to_right"]), key(result["right_to_left"])} <= set(map(key, values))


@settings(max_examples=60, deadline=None)
@given(states(most=8))
def test_every_example_evaluates_to_its_sum_and_uses_every_term_once(state):
    terms, dtype = state
    for found in summation(terms, dtype)["sums"]:
        tree = parsed(found["example"])
        assert evaluated(tree, dtype).hex() == found["value"].hex()
        if dtype == "float64":
            assert eval(found["example"]).hex() == found["value"].hex()
        assert Counter(leaf.hex() for leaf in leaves(tree)) == Counter(term.hex() for term in stored(terms, dtype))
        assert parenthesised(tree) == found["example"]
        assert leaves(tree)[0].hex() == stored(terms, dtype)[0].hex()  # the earliest term stands on the left


@settings(max_examples=60, deadline=None)
@given(states(most=7))
def test_an_example_keeps_the_order_of_the_terms_where_any_tree_does(state):
    terms, dtype = state
    there = stored(terms, dtype)
    result = summation(terms, dtype)
    orderly = {key(float.fromhex(value)) for value in in_order(there, dtype)}
    for found in result["sums"]:
        kept = [leaf.hex() for leaf in leaves(parsed(found["example"]))] == [term.hex() for term in there]
        if key(found["value"]) in orderly:
            assert kept
        if key(found["value"]) == key(result["left_to_right"]):
            plain = "(" * (len(terms) - 2) + ") + ".join(
                [" + ".join(repr(term).replace("e+", "e") for term in there[:2])]
                + [repr(term).replace("e+", "e") for term in there[2:]]
            )
            assert found["example"] == plain


@settings(max_examples=100, deadline=None)
@given(states(most=8))
def test_the_exact_sum_has_every_digit_and_nearest_is_rounded_from_it(state):
    terms, dtype = state
    result = summation(terms, dtype)
    exact = sum(map(Fraction, stored(terms, dtype)))
    assert Fraction(result["exact"]) == exact
    assert "e" not in result["exact"].lower()
    assert correctly_rounded(exact, result["nearest"], dtype)


def test_a_sum_can_overflow_on_some_ways_only():
    big = 1.7e308
    result = summation((big, big, -big, -big), "float64")
    assert [found["ways"] for found in result["sums"]] == [2, 10, 2, 1]
    low, zero, high, neither = (found["value"] for found in result["sums"])
    assert (low, zero, high) == (-math.inf, 0.0, math.inf)
    assert math.isnan(neither)
    assert result["sums"][3]["example"] == "(1.7e308 + 1.7e308) + (-1.7e308 + -1.7e308)"
    off = [found["ulps_off"] for found in result["sums"]]
    assert off[:3] == [-math.inf, 0.0, math.inf]
    assert math.isnan(off[3])
    assert (result["exact"], result["nearest"]) == ("0", 0.0)


def test_all_ways_to_nan_are_one_entry():
    big = 1.7e308
    sums = summation((big, big, -big, -big, 1.0, 2.0), "float64")["sums"]
    (ways,) = [found["ways"] for found in sums if math.isnan(found["value"])]
    assert ways == sum(map(math.isnan, trees([big, big, -big, -big, 1.0, 2.0], "float64"))) > 1


def test_only_zeros_below_nothing_stay_below_nothing():
    result = summation((-0.0, -0.0, -0.0), "float32")
    assert [found["value"].hex() for found in result["sums"]] == ["-0x0.0p+0"]
    mixed = summation((-0.0, 0.0, -0.0), "float32")
    assert [found["value"].hex() for found in mixed["sums"]] == ["0x0.0p+0"]


def test_terms_are_rounded_to_the_format_first():
    result = summation((0.1, 0.2), "float16")
    assert result["sums"][0]["example"] == "0.0999755859375 + 0.199951171875"
    assert result["left_to_right"] == float(np.float16(0.1) + np.float16(0.2))


def test_a_term_beyond_the_format_is_named():
    with pytest.raises(InvalidParameters) as refused:
        EXPERIMENT.parse({"terms": "1,65520,-1e5", "dtype": "float16"})
    (problem,) = refused.value.problems
    assert (problem.parameter, problem.given) == ("terms", "1,65520,-1e5")
    assert problem.message == Text(
        "number 2 (65520) is beyond the largest float16, 65504; number 3 (-1e5) is beyond the largest float16, 65504",
        "第 2 个数（65520）超出 float16 的最大值 65504；第 3 个数（-1e5）超出 float16 的最大值 65504",
    )
    assert EXPERIMENT.parse({"terms": "1,65519", "dtype": "float16"})["terms"] == (1.0, 65519.0)


@pytest.mark.parametrize("terms", ["1", "1,2,3,4,5,6,7,8,9", "1,nan", "1,inf", "1,x", "", "1,1e309"])
def test_what_is_no_list_of_two_to_eight_numbers_is_refused(terms):
    with pytest.raises(InvalidParameters) as refused:
        EXPERIMENT.parse({"terms": terms})
    assert [problem.parameter for problem in refused.value.problems] == ["terms"]


def test_the_sentence_says_what_was_found():
    params = EXPERIMENT.parse({})
    said = EXPERIMENT.sentence(params, EXPERIMENT.run(**params))
    assert said.en == (
        "3 ways to add these numbers give 2 different sums; left to right gives 1."
        " One of them gives that, the exact sum."
    )
    assert said.zh == "同样几个数有 3 种加法，得到 2 个不同的和；从左到右得到 1。这正是精确和，3 种里有 1 种如此。"


def test_thousands_of_ways_are_separated():
    params = EXPERIMENT.parse({"terms": "1,2,3,4,5,6,7,8"})
    said = EXPERIMENT.sentence(params, EXPERIMENT.run(**params))
    assert said == Text(
        "Every order and grouping gives 36, the exact sum.", "怎么排序、怎么分组都得到 36，正是精确和。"
    )
    params = EXPERIMENT.parse({"terms": "1e16,-1e16,1,1,1,1,1,1"})
    said = EXPERIMENT.sentence(params, EXPERIMENT.run(**params))
    assert said.en.startswith("135,135 ways to add") and "有 135,135 种加法" in said.zh  # 1·3·5·7·9·11·13
