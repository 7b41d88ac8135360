"""Floating-point formats: a real number into the nearest one that a format can store, always held in a float64.

A format has `digits` binary digits and exponents from `lowest` to `highest`: a normal number is
±1.b₁b₂… · 2^e with digits − 1 bits behind the point; below 2^lowest the spacing stays as it is there.
Rounding is to nearest, ties to even (IEEE 754-2019, sections 3.3 and 4.3.1; bfloat16 is float32 cut to 8 digits).

A sum of two numbers of float32, float16 or bfloat16 may be taken in float64 and then rounded: 53 digits are more
than twice as many and two, so the second rounding finds what a single one would have found (S. A. Figueroa,
"When is double rounding innocuous?", 1995). For more than two terms that does not hold: `exact_sum` and `nearest` do.
"""

import math
from collections.abc import Callable, Iterable

from app.experiments.parameters import Choice
from app.language import Text, alike


def layout(dtype: str) -> tuple[int, int, int]:
    """How many binary digits a format has, and its lowest and highest exponent."""
    formats = {
        "float64": (53, -1022, 1023),
        "float32": (24, -126, 127),
        "float16": (11, -14, 15),
        "bfloat16": (8, -126, 127),
    }
    return formats[dtype]


def rounding(dtype: str) -> Callable[[float], float]:
    """The function that rounds to a format's nearest number, ties to even; beyond the largest: infinite."""
    digits, lowest, highest = layout(dtype)
    if dtype == "float64":
        return float
    limit = math.ldexp(2.0, highest) - math.ldexp(1.0, highest - digits)
    frexp, ldexp = math.frexp, math.ldexp

    def rounded(value: float) -> float:
        if -limit < value < limit:
            # Beside 1.5·2^52 spacings a float64 has no bits left below one spacing, so adding it rounds.
            wide = ldexp(1.5, max(frexp(value)[1] - 1, lowest) - digits + 53)
            return value + wide - wide or math.copysign(0.0, value)
        return value if math.isnan(value) else math.copysign(math.inf, value)

    return rounded


def shortest(value: float, dtype: str) -> float:
    """The decimal of fewest digits that the format rounds to this number of it: 2.3010001, not 2.3010001182556152."""
    rounded = rounding(dtype)
    return next(
        (near for near in (float(f"{value:.{digits}g}") for digits in range(1, 17)) if rounded(near) == value), value
    )


def ulp(value: float, dtype: str) -> float:
    """The spacing of a format's numbers from |value| upwards; that of the smallest ones at zero."""
    digits, lowest, _ = layout(dtype)
    if not math.isfinite(value):
        return abs(value)
    exponent = max(math.frexp(value)[1] - 1, lowest) if value else lowest
    return math.ldexp(1.0, exponent - digits + 1)


def ulps_off(value: float, reference: float, dtype: str) -> float:
    """How many ulps of the reference a value lies above it, or below as a negative number; may be infinite or NaN."""
    if value == reference:
        return 0.0
    return value - reference if math.isinf(reference) else (value - reference) / ulp(reference, dtype)


def ordinal(value: float, dtype: str) -> int:
    """The place of a format's number among all of them: 0 for ±0, 1 for the smallest above it; infinity comes last."""
    digits, lowest, highest = layout(dtype)
    if math.isinf(value):
        place = (highest + 2 - lowest) << (digits - 1)
    else:
        exponent = max(math.frexp(value)[1] - 1, lowest) if value else lowest
        place = ((exponent - lowest) << (digits - 1)) + int(math.ldexp(abs(value), digits - 1 - exponent))
    return -place if value < 0 else place


def exact_sum(values: Iterable[float]) -> int:
    """The sum without any rounding, counted in 2^-1074, of which every float64 is a multiple."""
    total = 0
    for value in values:
        numerator, denominator = value.as_integer_ratio()
        total += numerator << (1075 - denominator.bit_length())
    return total


def nearest(units: int, dtype: str) -> float:
    """So many 2^-1074, rounded once to a format."""
    digits, lowest, highest = layout(dtype)
    size = abs(units)
    dropped = max(size.bit_length() - digits, lowest - digits + 1 + 1074)
    kept = size >> dropped
    rest = size - (kept << dropped)
    kept += 2 * rest + (kept & 1) > 1 << dropped
    beyond = kept.bit_length() + dropped - 1074 > highest + 1
    value = math.inf if beyond else math.ldexp(kept, dropped - 1074)
    return -value if units < 0 else value


def decimal(units: int) -> str:
    """So many 2^-1074, every digit written out."""
    digits = str(abs(units) * 5**1074).zfill(1075)
    text = f"{digits[:-1074]}.{digits[-1074:]}".rstrip("0").rstrip(".")
    return f"-{text}" if units < 0 else text


DTYPES = ("float64", "float32", "float16", "bfloat16")
DTYPE = Choice(
    name="dtype",
    label=Text("number format", "数值格式"),
    default="float64",
    options=tuple((name, alike(name)) for name in DTYPES),
)
