"""Numbers as people write them into numbers, and numbers into what people read.

Full-width digits, a true minus sign, `×10⁻⁴` and thousands separators are all read;
what is written has no dust (0.45, not 0.45000000000000007) unless every digit is asked for.
"""

import math
import re
import unicodedata
from decimal import ROUND_HALF_EVEN, Context, Decimal

EXACT = Context(prec=2500, rounding=ROUND_HALF_EVEN, Emin=-5000, Emax=5000)
"""Wide enough for any sum or rounding of a few float64 values without a loss."""

NUMERAL = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+\.?\d*|\.\d+)"
    r"(?:e(?P<e>[+-]?\d{1,5})|\s*[×x]\s*10\^?(?P<ten>[+-]?\d{1,5}))?",
    re.IGNORECASE,
)
TIMES_TEN = re.compile(r"([×x]\s*10)([⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
SUPERSCRIPT = str.maketrans("+-0123456789", "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def folded(text: str) -> str:
    """NFKC with every kind of minus as a hyphen: `－１．５` and `−1.5` become `-1.5`."""
    text = TIMES_TEN.sub(r"\1^\2", text)
    return unicodedata.normalize("NFKC", text).replace("\u2212", "-").strip()


def numeral(text: str) -> Decimal | None:
    """The decimal that a numeral writes, its last written digit kept as its exponent; None for anything else."""
    match = NUMERAL.fullmatch(folded(text))
    if match is None:
        return None
    digits = match["sign"] + match["digits"].replace(",", "")
    return EXACT.create_decimal(f"{digits}e{match['e'] or match['ten'] or 0}")


def agrees(written: str, value: object) -> bool:
    """Whether the words of a ran number say its value.

    A numeral must equal the exact value rounded half to even at the numeral's last written digit;
    anything else must equal it as a string (`true`, `null` and the names of choices are such).
    """
    wanted = numeral(written)
    if isinstance(value, bool) or value is None:
        return written.strip() == {True: "true", False: "false", None: "null"}[value]
    exact = numeral(value) if isinstance(value, str) else _decimal(value)
    if wanted is None or exact is None:
        return written.strip() == (value if isinstance(value, str) else full(value))
    return exact.quantize(Decimal((0, (1,), int(wanted.as_tuple().exponent))), context=EXACT) == wanted


def short(value: float, digits: int = 6) -> str:
    """At most `digits` significant digits, a true minus sign, powers of ten from 10⁻⁴ down and from 10¹⁶ up."""
    return _typeset(f"{value:.{digits}g}" if not _plain_whole(value) else f"{value:.0f}")


def power(value: float) -> str:
    """Three significant digits and a power of ten: 3×10⁵."""
    digits, _, exponent = f"{value:.2e}".partition("e")
    return _typeset(f"{digits.rstrip('0').rstrip('.')}e{exponent}" if exponent else digits)


def grouped(value: float) -> str:
    """As `short`, with the thousands of a whole number separated: 69,314,702."""
    return f"{value:,.0f}".replace("-", "−") if _plain_whole(value) else short(value)


def brief(value: float) -> str:
    """A limit or a tick: as a power of ten where that is shorter and says the same: 3×10⁵."""
    plainly, by_power = short(value), power(value)
    return by_power if len(by_power) < len(plainly) and float(f"{value:.2e}") == value else plainly


def told_apart(value: float, other: float) -> str:
    """As `short`, with as many digits more as it takes to tell the one number from the other."""
    found = (short(value, digits) for digits in range(6, 18) if short(value, digits) != short(other, digits))
    return next(found, full(value))


def full(value: object) -> str:
    """Every digit that tells the number from its neighbours, set as people write it."""
    if isinstance(value, float):
        return _typeset(repr(value).removesuffix(".0"))
    return str(value).replace("-", "−")


def plain(value: object) -> object:
    """A result as JSON can carry it: numbers that are not finite become their names."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _decimal(value: object) -> Decimal | None:
    if isinstance(value, int):
        return Decimal(value)
    return Decimal(value) if isinstance(value, float) and math.isfinite(value) else None


def _plain_whole(value: float) -> bool:
    return math.isfinite(value) and value == int(value) and abs(value) < 1e15


def _typeset(text: str) -> str:
    names = {"inf": "∞", "-inf": "−∞", "nan": "NaN"}
    if text in names:
        return names[text]
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return mantissa.replace("-", "−")
    power = f"10{str(int(exponent)).translate(SUPERSCRIPT)}"
    sign = "−" if mantissa.startswith("-") else ""
    return f"{sign}{power}" if mantissa in ("1", "-1") else f"{mantissa.replace('-', '−')}×{power}"
