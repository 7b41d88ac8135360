"""A short sum in every order and grouping: all binary trees over the terms, and what each adds up to.

n terms can be added in (2n − 3)!! = 1·3·5···(2n − 3) ways, if a + b and b + a count as one, which in IEEE
arithmetic they are (R. P. Stanley, "Enumerative Combinatorics", vol. 2, 1999, example 5.2.6; N. J. Higham,
"Accuracy and Stability of Numerical Algorithms", 2nd ed., 2002, section 4.1, on orders of summation).

The ways are counted without walking through them: for each set of terms the distinct sums, and how many trees give
each, follow from those of its two parts. Equal sums are one, and 0.0 equals −0.0; yet one set never has both, since
a rounded sum is −0.0 only where both parts are, so only where every single term is, and then on every way.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from app.drawing import Dot, Drawing, Label, Line, Role, Scale, Shape, clear, legend, span, tick_words, ticks
from app.errors import Problem
from app.experiments.experiment import Column, Experiment, Preset, Result, Table
from app.experiments.floating import DTYPE, decimal, exact_sum, layout, nearest, rounding, ulp, ulps_off
from app.experiments.parameters import Numbers, Params, items, listed, numbered
from app.language import Text, alike
from app.numerals import full, grouped


def one_by_one(terms: list[float], rounded: Callable[[float], float]) -> float:
    """The sum from the first term to the last, rounded after each addition."""
    total = terms[0]
    for term in terms[1:]:
        total = rounded(total + term)
    return total


def splits(terms: int, in_order: bool) -> Iterable[int]:
    """Every part of a set that leaves its last term to the other part, all but the last first.

    Sets are bit masks. `in_order`: only those of which every term comes before all of the other part's.
    """
    rest = terms - (1 << (terms.bit_length() - 1))
    part = rest
    while part:
        yield part
        part = part - (1 << (part.bit_length() - 1)) if in_order else (part - 1) & rest


def groupings(
    terms: list[float], rounded: Callable[[float], float], in_order: bool
) -> tuple[dict[int, dict[float, int]], dict[tuple[int, float], tuple[int, float, float]]]:
    """For each set of terms its distinct sums with the number of ways to each; and how each first came about.

    How: (set, sum) → one part of the set, that part's sum, the other part's sum.
    """
    ways = {1 << at: {term: 1} for at, term in enumerate(terms)}
    how = {}
    for whole in range(3, 1 << len(terms)):
        if whole in ways:
            continue
        counts: dict[float, int] = {}
        first = {}
        for part in splits(whole, in_order):
            others = ways[whole ^ part].items()
            for x, x_ways in ways[part].items():
                for y, y_ways in others:
                    total = x + y
                    if total in counts:
                        counts[total] += x_ways * y_ways
                    else:
                        counts[total] = x_ways * y_ways
                        first[total] = part, x, y
        sums: dict[float, int] = {}
        for total, count in counts.items():
            value = rounded(total)
            if value != value:
                value = math.nan  # this very object, so that all NaN are one key
            if value not in sums:
                how[whole, value] = first[total]
            sums[value] = sums.get(value, 0) + count
        ways[whole] = sums
    return ways, how


def written(whole: int, value: float, how: dict[tuple[int, float], tuple[int, float, float]]) -> str:
    """The tree behind a sum as Python, every addition but the outermost in parentheses."""
    if (whole, value) not in how:
        return repr(value).replace("e+", "e")
    part, x, y = how[whole, value]
    sides = [written(part, x, how), written(whole ^ part, y, how)]
    if not part & whole & -whole:
        sides.reverse()  # the side of the earliest term comes first
    return " + ".join(f"({side})" if " + " in side else side for side in sides)


def summation(terms: tuple[float, ...], dtype: str) -> dict[str, Any]:
    """Round the terms to the format; add them in every order and grouping, each addition rounded to it."""
    rounded = rounding(dtype)
    stored = [rounded(term) for term in terms]
    exact = exact_sum(stored)
    best = nearest(exact, dtype)
    whole = (1 << len(stored)) - 1
    ways, how = groupings(stored, rounded, in_order=False)
    kept, how_kept = groupings(stored, rounded, in_order=True)
    sums = [
        {
            "value": value,
            "ways": count,
            "ulps_off": ulps_off(value, best, dtype),
            "example": written(whole, value, how_kept if value in kept[whole] else how),
        }
        for value, count in sorted(ways[whole].items(), key=lambda found: (math.isnan(found[0]), found[0]))
    ]
    return {
        "left_to_right": one_by_one(stored, rounded),
        "right_to_left": one_by_one(stored[::-1], rounded),
        "ways": sum(ways[whole].values()),
        "sums": sums,
        "exact": decimal(exact),
        "nearest": best,
    }


def sentence(params: Params, result: Result) -> Text:
    sums, ahead, best = result["sums"], full(result["left_to_right"]), full(result["nearest"])
    ways = grouped(result["ways"])
    right = sum(found["ways"] for found in sums if found["ulps_off"] == 0)
    stored = math.isfinite(result["nearest"]) and Fraction(result["exact"]) == Fraction(result["nearest"])
    exact = Text("the exact sum", "精确和") if stored else Text("the exact sum rounded once", "精确和舍入一次的结果")
    if len(sums) == 1:
        said = Text(f"Every order and grouping gives {ahead}", f"怎么排序、怎么分组都得到 {ahead}")
        if right:
            return said + Text(f", {exact.en}.", f"，正是{exact.zh}。")
        return said + Text(f", not {best}, {exact.en}.", f"，而不是 {best}，即{exact.zh}。")
    said = Text(
        f"{ways} ways to add these numbers give {grouped(len(sums))} different sums; left to right gives {ahead}.",
        f"同样几个数有 {ways} 种加法，得到 {grouped(len(sums))} 个不同的和；从左到右得到 {ahead}。",
    )
    if right == 0:
        return said + Text(f" None of them gives {best}, {exact.en}.", f"没有一种得到 {best}，即{exact.zh}。")
    hits = "One of them gives" if right == 1 else f"{grouped(right)} of them give"
    if ahead == best:
        return said + Text(f" {hits} that, {exact.en}.", f"这正是{exact.zh}，{ways} 种里有 {grouped(right)} 种如此。")
    return said + Text(f" {hits} {best}, {exact.en}.", f"有 {grouped(right)} 种得到 {best}，即{exact.zh}。")


def drawing(params: Params, result: Result) -> Drawing:
    """The sums along a line, each as high as it has ways; those that are not finite stand at the right."""
    place, marks, title, exact = _line(params, result)
    base, sums = 172, sorted(result["sums"], key=lambda found: -found["ways"])
    height = Scale(0, sums[0]["ways"], base, 80)
    radius = 4.5 if len(sums) <= 40 else 2.5
    shapes: list[Shape] = [Line(((40, base), (544, base)), "grid"), Line(((exact, 48), (exact, base)), "soft")]
    labels = [Label(exact, 42, Text("exact", "精确"), "middle")]
    ring: list[Shape] = []
    for found in sums:
        role: Role = "a" if found["ulps_off"] == 0 else "b"
        x, y = place(found["value"], found["ulps_off"]), height(found["ways"])
        shapes.append(Line(((x, base), (x, y)), role))
        title_of = alike(f"{full(found['value'])}: ") + _ways(found["ways"])
        if full(found["value"]) == full(result["left_to_right"]):
            ring.append(Dot(x, y, "mark", radius + 1, title_of))
        else:
            shapes.append(Dot(x, y, role, radius, title_of))
        if len(sums) <= 12 or len(labels) <= 3:
            labels.append(_count(x, y, found["ways"], exact))
    labels += [Label(x, base + 20, words, "middle") for x, words in marks]
    labels.append(Label(544, base + 42, title, "end"))
    keys: tuple[tuple[Role, Text], ...] = (
        ("a", Text("right", "准确")), ("b", Text("off", "有偏差")), ("mark", Text("left to right", "从左到右")),
    )  # fmt: skip
    shapes += [*ring, *legend(keys, 40, 14), *clear(labels, 560)]
    return Drawing(560, 220, tuple(shapes), _spoken(result))


def _spoken(result: Result) -> Text:
    sums, ways, best = result["sums"], grouped(result["ways"]), full(result["nearest"])
    count = grouped(len(sums))
    low, high = full(sums[0]["value"]), full(sums[-1]["value"])
    if len(sums) == 1:
        return Text(
            f"every way gives {low}; the exact sum is nearest to {best}", f"每种加法都得到 {low}；精确和最接近 {best}"
        )
    return Text(
        f"{count} different sums from {ways} ways, from {low} to {high}; the exact sum is nearest to {best}",
        f"{ways} 种加法得到 {count} 个不同的和，从 {low} 到 {high}；精确和最接近 {best}",
    )


def _count(x: float, y: float, ways: int, exact: float) -> Label:
    """The number of ways above a dot, or beside it where the line of the exact sum passes."""
    if abs(x - exact) > 40:
        return Label(x, y - 10, _ways(ways), "middle")
    left = x < exact or (x == exact and x > 400)
    return Label(x - 10 if left else x + 10, y + 4, _ways(ways), "end" if left else "start")


def _ways(count: int) -> Text:
    return Text(f"{grouped(count)} way" + ("s" if count > 1 else ""), f"{grouped(count)} 种")


def _line(
    params: Params, result: Result
) -> tuple[Callable[[float, float], float], list[tuple[float, Text]], Text, float]:
    """Where a sum stands, the marks below the line, what they count, and where the exact sum stands.

    In ulps where all the sums are close together, else by value.
    """
    finite = [found for found in result["sums"] if math.isfinite(found["value"])]
    widest = max((abs(found["ulps_off"]) for found in finite), default=math.inf)
    values = [found["value"] for found in finite]
    reach = max(values, default=0.0) / 2 - min(values, default=0.0) / 2
    near = widest <= 64 or (reach < 1e-3 * max(map(abs, values), default=0.0) and math.isfinite(widest))
    strange = sorted({_name(found["value"]) for found in result["sums"]} & {"−∞", "∞", "NaN"}, key="−∞ ∞ NaN".index)
    end = 530 - 52 * len(strange)
    aside = {name: 530 - 52 * at for at, name in enumerate(reversed(strange))}
    exact, best = Fraction(result["exact"]), result["nearest"]
    if near:
        fine = (exact - Fraction(best)) / Fraction(ulp(best, params["dtype"])) if math.isfinite(best) else Fraction(0)
        here, places = float(fine), [found["ulps_off"] for found in finite]
        title = Text("ulps away from the exact sum, rounded", "与精确和相差多少末位单位")
    else:
        here, places = float(exact) if math.isfinite(best) else best, values
        title = Text("the sum", "和")
    scale = Scale(*span([*places, here], pad=0.04), 54, end)
    marks = [(scale(tick), tick_words(tick)) for tick in ticks(scale.low, scale.high, 4)]
    marks += [(x, alike(name)) for name, x in aside.items()]

    def place(value: float, off: float) -> float:
        return aside[_name(value)] if not math.isfinite(value) else scale(off if near else value)

    return place, marks, title, scale(here)


def _name(value: float) -> str:
    return full(value) if not math.isfinite(value) else "finite"


def table(params: Params, result: Result) -> Table:
    columns = (
        Column("value", Text("sum", "和"), every_digit=True),
        Column("ways", Text("ways", "加法种数")),
        Column("ulps_off", Text("ulps off", "偏差（末位单位）")),
        Column("example", Text("one of them", "其中一种")),
    )
    rows = tuple((found["value"], found["ways"], found["ulps_off"], found["example"]) for found in result["sums"])
    return Table(Text("Every different sum", "每个不同的和"), columns, rows)


def check(params: Params, given: Mapping[str, str]) -> tuple[Problem, ...]:
    """Every term has to be finite in the format."""
    dtype, terms = params["dtype"], params["terms"]
    digits, _, highest = layout(dtype)
    largest = full(math.ldexp(2.0 - math.ldexp(2.0, -digits), highest))
    beyond = Text(f"is beyond the largest {dtype}, {largest}", f"超出 {dtype} 的最大值 {largest}")
    typed = items(given["terms"]) if "terms" in given else [full(term) for term in terms]
    wrong = [
        numbered(at, text, beyond)
        for at, (text, term) in enumerate(zip(typed, terms, strict=True), start=1)
        if math.isinf(rounding(dtype)(term))
    ]
    return (Problem("terms", ", ".join(typed), listed(wrong)),) if wrong else ()


EXPERIMENT = Experiment(
    name="summation",
    title=Text("Every way to add a few numbers", "几个数的所有加法"),
    summary=Text(
        "A few numbers are added in every order and grouping, each addition rounded to the chosen format.",
        "把几个数按所有顺序和分组各加一遍，每次加法都舍入到所选格式。",
    ),
    exact=True,
    parameters=(
        Numbers(
            name="terms",
            label=Text("terms", "加数"),
            default=(1e16, -1e16, 1.0),
            least=2,
            most=8,
            help=Text("2 to 8 numbers, separated by commas.", "2 到 8 个数，用逗号分隔。"),
        ),
        DTYPE,
    ),
    run=summation,
    code=(layout, rounding, ulp, ulps_off, exact_sum, nearest, decimal, one_by_one, splits, groupings, written),
    check=check,
    presets=(
        Preset(Text("10¹⁶ − 10¹⁶ + 1", "10¹⁶ − 10¹⁶ + 1"), {}),
        Preset(alike("0.1 + 0.2 + 0.3"), {"terms": "0.1,0.2,0.3"}),
        Preset(alike("256 + 1 + 1 + 1, bfloat16"), {"terms": "256,1,1,1", "dtype": "bfloat16"}),
        Preset(Text("eight terms", "八个数"), {"terms": "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8", "dtype": "float32"}),
    ),
    sentence=sentence,
    drawing=drawing,
    table=table,
    heavy=lambda params: len(params["terms"]) >= 7,
)
