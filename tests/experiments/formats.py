"""The number formats as numpy and ml_dtypes implement them: what the tests hold our rounding against."""

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

DTYPES = ("float64", "float32", "float16", "bfloat16")
TYPES: dict[str, Any] = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}
BITS: dict[str, Any] = {"float64": np.uint64, "float32": np.uint32, "float16": np.uint16, "bfloat16": np.uint16}


def bits(value: float, dtype: str) -> int:
    with np.errstate(all="ignore"):
        return int(np.array([value]).astype(TYPES[dtype]).view(BITS[dtype])[0])


def from_bits(pattern: int, dtype: str) -> float:
    return float(np.array([pattern], BITS[dtype]).view(TYPES[dtype])[0])


def largest(dtype: str) -> float:
    return float(ml_dtypes.finfo(TYPES[dtype]).max)


def added(x: float, y: float, dtype: str) -> float:
    """One addition, as numpy does it in the format."""
    kind = TYPES[dtype]
    with np.errstate(all="ignore"):
        return float(kind(x) + kind(y))


def correctly_rounded(exact: Fraction, value: float, dtype: str) -> bool:
    """Whether no number of the format is nearer, and a tie went to the one whose last bit is 0.

    Beyond the largest number the next one that there would be counts, and stands for infinity.
    """
    top = largest(dtype)
    beyond = 2 * Fraction(top) - Fraction(from_bits(bits(top, dtype) - 1, dtype))
    if abs(value) == float("inf"):
        return exact * (1 if value > 0 else -1) >= (Fraction(top) + beyond) / 2
    pattern = bits(abs(value), dtype)
    above = beyond if abs(value) == top else Fraction(from_bits(pattern + 1, dtype))
    below = Fraction(from_bits(pattern - 1, dtype)) if pattern else -above
    size, here = (exact if value > 0 or (value == 0 and exact > 0) else -exact), Fraction(abs(value))
    low, high = (below + here) / 2, (here + above) / 2
    return low < size < high or (pattern % 2 == 0 and size in (low, high))
