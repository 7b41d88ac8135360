import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from app.experiments import floating
from app.experiments.floating import decimal, exact_sum, nearest, ordinal, rounding, shortest, ulp, ulps_off
from tests.experiments.formats import BITS, DTYPES, TYPES, bits, correctly_rounded, from_bits, largest

dtypes = st.sampled_from(DTYPES)
finite = st.floats(allow_nan=False, allow_infinity=False)
near_one = st.floats(-4, 4)


@st.composite
def stored(draw, infinite=False):
    """A format and one of its numbers, every bit pattern as likely as any other."""
    dtype = draw(dtypes)
    value = from_bits(draw(st.integers(0, int(np.iinfo(BITS[dtype]).max))), dtype)
    return dtype, value if math.isfinite(value) or (infinite and math.isinf(value)) else 0.0


def test_the_formats_are_those_of_numpy_and_ml_dtypes():
    for dtype in DTYPES:
        about = ml_dtypes.finfo(TYPES[dtype])
        assert floating.layout(dtype) == (about.nmant + 1, int(about.minexp), int(about.maxexp) - 1)
    assert floating.DTYPES == DTYPES


def test_known_numbers_round_as_tables_say():
    assert rounding("float64")(0.1) == 0.1
    assert rounding("float32")(0.1) == 0.100000001490116119384765625
    assert rounding("float16")(0.1) == 0.0999755859375
    assert rounding("bfloat16")(0.1) == 0.10009765625
    assert rounding("bfloat16")(257.0) == 256.0  # a tie between 256 and 258 goes to the even one
    assert rounding("bfloat16")(259.0) == 260.0
    assert rounding("float16")(2049.0) == 2048.0
    assert rounding("float16")(65519.99) == 65504.0
    assert rounding("float16")(65520.0) == math.inf
    assert rounding("float16")(2.0**-24) == 2.0**-24
    assert rounding("float16")(2.0**-25) == 0.0


@given(dtypes, finite | near_one)
def test_rounding_finds_the_nearest_number_and_the_even_one_of_two(dtype, value):
    assert correctly_rounded(Fraction(value), rounding(dtype)(value), dtype)


@given(st.sampled_from(["float32", "float16"]), finite | near_one | st.floats(-7e4, 7e4))
def test_rounding_is_what_numpy_converts_to(dtype, value):
    with np.errstate(over="ignore"):
        expected = float(np.float64(value).astype(TYPES[dtype]))
    assert rounding(dtype)(value).hex() == expected.hex()


@given(stored(infinite=True))
def test_what_is_stored_in_a_format_is_not_changed(pair):
    dtype, value = pair
    assert rounding(dtype)(value).hex() == value.hex()


@pytest.mark.parametrize("dtype", DTYPES)
def test_signs_infinities_and_nan_pass_through(dtype):
    rounded = rounding(dtype)
    assert rounded(-0.0).hex() == "-0x0.0p+0"
    assert rounded(0.0).hex() == "0x0.0p+0"
    assert rounded(-5e-324) == (-5e-324 if dtype == "float64" else 0) and math.copysign(1, rounded(-5e-324)) == -1
    assert (rounded(math.inf), rounded(-math.inf)) == (math.inf, -math.inf)
    assert math.isnan(rounded(math.nan))


@pytest.mark.parametrize("value", [2.3010003, 0.1, 1e-6, 9e-6, 16777217.0, 1.17549435e-38, 3.4028235e38, 1e-45, -0.5])
def test_the_shortest_decimal_is_the_one_that_numpy_prints(value):
    stored = float(np.float32(value))
    assert shortest(stored, "float32") == float(str(np.float32(value)))
    assert shortest(stored, "float64") == stored


@given(stored(infinite=True))
def test_the_shortest_decimal_rounds_back(pair):
    dtype, value = pair
    near = shortest(value, dtype)
    assert rounding(dtype)(near) == value and math.copysign(1, near) == math.copysign(1, value)
    digits = {"float64": 17, "float32": 9, "float16": 5, "bfloat16": 4}[dtype]  # IEEE 754-2019, section 5.12.2
    assert math.isinf(value) or float(f"{near:.{digits}g}") == near


@given(stored())
def test_an_ulp_is_the_gap_to_the_next_number(pair):
    dtype, value = pair
    size = abs(value)
    if size == largest(dtype):
        size = from_bits(bits(size, dtype) - 1, dtype)
        assert ulp(value, dtype) == ulp(size, dtype)
    assert ulp(value, dtype) == from_bits(bits(size, dtype) + 1, dtype) - size


def test_ulps_of_what_is_not_finite():
    assert ulp(-math.inf, "float16") == math.inf
    assert math.isnan(ulp(math.nan, "float16"))
    assert ulps_off(math.inf, math.inf, "float32") == 0
    assert ulps_off(1.0, math.inf, "float32") == -math.inf
    assert ulps_off(-math.inf, 1.0, "float32") == -math.inf
    assert math.isnan(ulps_off(math.nan, 1.0, "float32"))
    assert ulps_off(1.0, 0.0, "float64") == math.inf  # 2^1074 of them are more than a float64 counts


def test_ulps_off_is_signed_and_counts_in_ulps_of_the_reference():
    assert ulps_off(math.nextafter(1.0, 2.0), 1.0, "float64") == 1
    assert ulps_off(math.nextafter(1.0, 0.0), 1.0, "float64") == -0.5
    assert ulps_off(256.0, 260.0, "bfloat16") == -2


@given(stored(infinite=True))
def test_ordinals_are_the_bit_patterns(pair):
    dtype, value = pair
    pattern = bits(abs(value), dtype)
    assert ordinal(value, dtype) == (-pattern if value < 0 else pattern)


@pytest.mark.parametrize("dtype", DTYPES)
def test_infinity_comes_one_place_after_the_largest_number(dtype):
    assert ordinal(math.inf, dtype) == bits(math.inf, dtype) == ordinal(largest(dtype), dtype) + 1
    assert ordinal(-math.inf, dtype) == -bits(math.inf, dtype)


@given(st.lists(finite, max_size=8))
def test_the_exact_sum_is_exact(values):
    total = sum(map(Fraction, values))
    units = exact_sum(values)
    assert Fraction(units, 2**1074) == total
    assert Fraction(decimal(units)) == total


def test_decimals_are_written_out_in_full():
    assert decimal(exact_sum([1e16, -1e16, 1.0])) == "1"
    assert decimal(exact_sum([-0.5])) == "-0.5"
    assert decimal(exact_sum([0.1])) == "0.1000000000000000055511151231257827021181583404541015625"
    assert decimal(exact_sum([1e22, 1e22])) == "20000000000000000000000"
    assert decimal(0) == "0"


@given(dtypes, st.lists(finite | near_one, max_size=8))
def test_an_exact_sum_is_rounded_once(dtype, values):
    total = sum(map(Fraction, values))
    assert correctly_rounded(total, nearest(exact_sum(values), dtype), dtype)


@given(st.lists(st.floats(-1e300, 1e300), max_size=8))
def test_in_float64_that_is_what_fsum_gives(values):
    assert nearest(exact_sum(values), "float64") == math.fsum(values)


def test_a_sum_is_not_rounded_twice():
    """1 + 2^-24 + 2^-60 lies above the middle between two float32, but float64 first rounds it to that middle."""
    values = [1.0, 2.0**-24, 2.0**-60]
    assert math.fsum(values) == 1 + 2.0**-24
    assert rounding("float32")(math.fsum(values)) == 1.0
    assert nearest(exact_sum(values), "float32") == 1 + 2.0**-23


@given(stored(), st.integers(0, 2**64 - 1))
def test_adding_two_numbers_in_float64_and_rounding_is_one_rounding(pair, pattern):
    dtype, x = pair
    y = from_bits(pattern & int(np.iinfo(BITS[dtype]).max), dtype)
    if not math.isfinite(y):
        y = 1.0
    assert correctly_rounded(Fraction(x) + Fraction(y), rounding(dtype)(x + y), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_adds_two_numbers_of_a_format_with_one_rounding(dtype):
    chance = torch.Generator().manual_seed(0)
    kind = getattr(torch, dtype)
    mantissas = torch.rand(2, 4000, generator=chance, dtype=torch.float64) * 2 - 1
    powers = torch.randint(-12, 12, (2, 4000), generator=chance)
    x, y = (mantissas * 2.0**powers).to(kind)
    rounded = rounding(dtype)
    expected = [rounded(a + b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert (x + y).tolist() == expected
