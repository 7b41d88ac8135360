"""One long sum: what each way of adding it is off, and what a change of order costs.

The numbers are drawn from random.Random(seed), rounded to the format, and added in that format:

    left_to_right, reversed     one after the other, from either end
    ascending                   one after the other, by magnitude, smallest first
    pairwise                    the sums of the two halves, halved down to one term
    kahan                       compensated: the part that rounding lost is added to the next term
    neumaier                    compensated, the lost parts added at the end, whichever operand they were lost from
    torch                       torch.sum

(N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., 2002, chapter 4: sections 4.1 to 4.3;
W. Kahan, "Further remarks on reducing truncation errors", 1965; A. Neumaier, "Rundungsfehleranalyse einiger Verfahren
zur Summation endlicher Summen", 1974.) The reference is the exact sum, rounded once.

Shuffled orders sort 64 random bits a number from random.Random(seed + 1), so they are the same everywhere. Measured,
since torch.sum adds in an order that depends on the processor and on torch, and the logarithms behind the
distributions come from the C library.
"""

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

from app.drawing import Box, Drawing, Label, Line, Role, Scale, Shape, clear, tick_words, ticks
from app.errors import Problem
from app.experiments.experiment import Column, Experiment, Named, Preset, Result, Table
from app.experiments.floating import DTYPE, exact_sum, layout, nearest, rounding, shortest, ulp, ulps_off
from app.experiments.parameters import Choice, Params, Slider, Whole
from app.language import Text, alike
from app.numerals import full, grouped, short


def drawn(n: int, distribution: str, seed: int) -> list[float]:
    """n random numbers."""
    source = random.Random(seed)
    if distribution == "normal":
        return [source.gauss(0, 1) for _ in range(n)]
    if distribution == "lognormal":
        return [source.lognormvariate(0, 2) for _ in range(n)]
    if distribution == "alternating":
        return [(-1) ** k * source.random() for k in range(n)]
    return [source.random() for _ in range(n)]


def in_orders(values: list[float], dtype: str, seed: int, shuffles: int) -> list[float]:
    """The sums one after the other: as given, reversed, by ascending magnitude, and in shuffled orders.

    The orders stand side by side as columns: adding a row to a row adds the next number to each sum, and
    torch rounds each to the format, which for two numbers is the correct rounding.
    """
    import torch

    given = torch.tensor(values, dtype=torch.float64)  # (n)
    source = random.Random(seed + 1)
    keys = [torch.frombuffer(bytearray(source.randbytes(8 * len(values))), dtype=torch.int64) for _ in range(shuffles)]
    orders = [torch.arange(len(values)), torch.arange(len(values)).flip(0), given.abs().argsort(stable=True)]
    orders += [key.argsort(stable=True) for key in keys]
    rows = given[torch.stack(orders, dim=1)].to(getattr(torch, dtype)).unbind(0)  # n of (3 + shuffles)
    totals = rows[0].clone()
    for row in rows[1:]:
        totals += row
    return [float(total) for total in totals]


def pairwise(values: list[float], rounded: Callable[[float], float]) -> float:
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return rounded(pairwise(values[:half], rounded) + pairwise(values[half:], rounded))


def kahan(values: list[float], rounded: Callable[[float], float]) -> float:
    total = lost = 0.0
    for value in values:
        mended = rounded(value - lost)
        longer = rounded(total + mended)
        lost = rounded(rounded(longer - total) - mended)
        total = longer
    return total


def neumaier(values: list[float], rounded: Callable[[float], float]) -> float:
    total, lost = values[0], 0.0
    for value in values[1:]:
        longer = rounded(total + value)
        large, small = (total, value) if abs(total) >= abs(value) else (value, total)
        lost = rounded(lost + rounded(rounded(large - longer) + small))
        total = longer
    return rounded(total + lost)


def torch_sum(values: list[float], dtype: str) -> float:
    import torch

    return float(torch.tensor(values, dtype=torch.float64).to(getattr(torch, dtype)).sum())


def histogram(offsets: list[float], most: int) -> list[dict[str, Any]]:
    """At most so many bins over the finite offsets, whole ulps wide, from one half below a whole one."""
    finite = [offset for offset in offsets if math.isfinite(offset)]
    if not finite:
        return []
    start = math.floor(min(finite) + 0.5) - 0.5
    width = math.floor((max(finite) - start) / most) + 1
    counts: dict[int, int] = {}
    for offset in finite:
        at = math.floor((offset - start) / width)
        counts[at] = counts.get(at, 0) + 1
    return [
        {"low": start + at * width, "high": start + (at + 1) * width, "count": counts.get(at, 0)}
        for at in range(max(counts) + 1)
    ]


def accumulation(n: int, distribution: str, seed: int, dtype: str, shuffles: int) -> dict[str, Any]:
    """Draw the numbers, round them to the format, add them every way, and measure each sum against the exact one."""
    rounded = rounding(dtype)
    values = [rounded(value) for value in drawn(n, distribution, seed)]
    reference = math.inf if math.inf in values else nearest(exact_sum(values), dtype)
    left_to_right, backwards, ascending, *others = in_orders(values, dtype, seed, shuffles)
    sums = {
        "left_to_right": left_to_right,
        "reversed": backwards,
        "ascending": ascending,
        "pairwise": pairwise(values, rounded),
        "kahan": kahan(values, rounded),
        "neumaier": neumaier(values, rounded),
        "torch": torch_sum(values, dtype),
    }
    orders = None
    if others:
        low, high = min(others), max(others)
        step = ulp(reference, dtype)
        orders = {
            "distinct": len(set(others)),
            "min": low,
            "max": high,
            "spread_ulps": (high - low) / step if low < high and step < math.inf else high - low,
            "histogram": histogram([ulps_off(value, reference, dtype) for value in others], 24),
        }
    return {
        "reference": reference,
        "algorithms": [
            {"name": name, "value": value, "ulps_off": ulps_off(value, reference, dtype)}
            for name, value in sums.items()
        ],
        "orders": orders,
    }


NAMES = {
    "left_to_right": Text("left to right", "从左到右"),
    "reversed": Text("right to left", "从右到左"),
    "ascending": Text("smallest first", "从小到大"),
    "pairwise": Text("pairwise", "成对求和"),
    "kahan": alike("Kahan"),
    "neumaier": alike("Neumaier"),
    "torch": alike("torch.sum"),
}


def sentence(params: Params, result: Result) -> Text:
    dtype, n, orders = params["dtype"], grouped(params["n"]), result["orders"]
    if math.isinf(result["reference"]):
        return Text(
            f"The sum of these {n} numbers is beyond the largest {dtype}.", f"这 {n} 个数的和超出 {dtype} 的最大值。"
        )
    off = {found["name"]: abs(found["ulps_off"]) for found in result["algorithms"]}
    errors = Text(
        f"Left to right the sum is off by {_ulps(off['left_to_right']).en}, pairwise by {grouped(off['pairwise'])},"
        f" with Kahan's compensation by {grouped(off['kahan'])}.",
        f"从左到右加，误差是{_ulps(off['left_to_right']).zh}，成对求和是 {grouped(off['pairwise'])} 个，"
        f"Kahan 补偿求和是 {grouped(off['kahan'])} 个。",
    )
    if orders is None:
        return errors
    if params["shuffles"] == 1:
        value, away = orders["min"], _ulps(abs(ulps_off(orders["min"], result["reference"], dtype)))
        given = full(shortest(value, dtype))
        return errors + Text(
            f" The one shuffled order gives {given}, off by {away.en}.",
            f"打乱一次，得到 {given}，误差是{away.zh}。",
        )
    if orders["distinct"] == 1:
        return errors + Text(
            f" All {params['shuffles']} shuffled orders give the same sum.", f"打乱 {params['shuffles']} 次，和都一样。"
        )
    apart = _ulps(orders["spread_ulps"])
    return errors + Text(
        f" {params['shuffles']} shuffled orders give {orders['distinct']} different sums, up to {apart.en} apart.",
        f"打乱 {params['shuffles']} 次，得到 {orders['distinct']} 个不同的和，最多相差{apart.zh}。",
    )


def _ulps(count: float) -> Text:
    return Text(f"{grouped(count)} ulp" + ("" if count == 1 else "s"), f" {grouped(count)} 个末位单位")


def drawing(params: Params, result: Result) -> Drawing:
    """A bar for the error of each way; below, how often the shuffled orders err by how much."""
    largest = max(
        (abs(found["ulps_off"]) for found in result["algorithms"] if math.isfinite(found["ulps_off"])), default=0
    )
    length = Scale(0, math.log1p(max(largest, 1)), 0, 300)
    shapes: list[Shape] = [
        Label(0, 16, Text("ulps off the exact sum, on a log scale", "与精确和相差的末位单位，对数刻度"))
    ]
    for at, found in enumerate(result["algorithms"]):
        y, off = 44 + 25 * at, found["ulps_off"]
        wide = length(math.log1p(abs(off))) if math.isfinite(off) else 320 * (off != 0)
        role: Role = "b" if off else "a"
        shapes.append(Label(136, y, NAMES[found["name"]], "end"))
        shapes.append(Box(146, y - 12, max(wide, 2), 14, role, alike(full(found["value"]))))
        shapes.append(Label(154 + max(wide, 2), y, alike(short(off, 4)), role=role))
    bins = result["orders"] and result["orders"]["histogram"]
    if bins:
        shapes += _histogram(bins, params["shuffles"])
    return Drawing(560, 372 if bins else 208, tuple(shapes), _spoken(params, result))


def _histogram(bins: list[dict[str, Any]], shuffles: int) -> list[Shape]:
    room = max(9 - len(bins), 0) / 2 * (bins[0]["high"] - bins[0]["low"])
    low, high = bins[0]["low"] - room, bins[-1]["high"] + room
    x, y = Scale(low, high, 30, 540), Scale(0, max(found["count"] for found in bins), 320, 252)
    shapes: list[Shape] = [Line(((30, 320), (540, 320)), "grid")]
    if low < 0 < high:
        shapes.append(Line(((x(0), 246), (x(0), 320)), "a"))
    for found in bins:
        left, right, top = x(found["low"]) + 1, x(found["high"]) - 1, y(found["count"])
        within = Text(
            f"{short(found['low'])} to {short(found['high'])} ulps: {found['count']}",
            f"{short(found['low'])} 到 {short(found['high'])} 个末位单位：{found['count']} 次",
        )
        if found["count"]:
            shapes.append(Box(left, top, round(right - left, 2), round(320 - top, 2), "soft", within))
    labels = [Label(x(tick), 340, tick_words(tick), "middle") for tick in ticks(low, high, 4)]
    labels.append(Label(540, 363, Text("ulps off the exact sum", "与精确和相差的末位单位"), "end"))
    labels.append(Label(0, 236, Text(f"{shuffles} shuffled orders", f"打乱 {shuffles} 次")))
    return [*shapes, *clear(labels, 560)]


def _spoken(params: Params, result: Result) -> Text:
    errors = [(NAMES[found["name"]], short(found["ulps_off"], 4)) for found in result["algorithms"]]
    return Text(
        "errors in ulps: " + ", ".join(f"{name.en} {off}" for name, off in errors),
        "误差（末位单位）：" + "，".join(f"{name.zh} {off}" for name, off in errors),
    )


def table(params: Params, result: Result) -> Table:
    columns = (
        Column("name", Text("way of adding", "加法")),
        Column("value", Text("sum", "和"), every_digit=True),
        Column("ulps_off", Text("ulps off", "偏差（末位单位）")),
    )
    sums = [(found["name"], NAMES[found["name"]], found["value"], found["ulps_off"]) for found in result["algorithms"]]
    rows = [(Named(name, words), value, off) for name, words, value, off in sums]
    exact = (Named("reference", Text("exact sum, rounded once", "精确和，舍入一次")), result["reference"], 0.0)
    return Table(Text("Every way of adding", "每种加法"), columns, (exact, *rows))


def check(params: Params, given: Mapping[str, str]) -> tuple[Problem, ...]:
    if params["n"] * params["shuffles"] <= MOST:
        return ()
    most = MOST // params["n"]
    n = grouped(params["n"])
    message = Text(f"must be at most {grouped(most)} for n = {n}", f"n = {n} 时最多 {grouped(most)} 次")
    return (Problem("shuffles", str(params["shuffles"]), message),)


MOST = 2_000_000
"""Numbers added in shuffled orders, at most."""

EXPERIMENT = Experiment(
    name="accumulation",
    title=Text("One long sum, many ways to add it", "一个长和的多种加法"),
    summary=Text(
        "The same random numbers are added one by one, in pairs, with compensation, by torch and in shuffled orders.",
        "同一组随机数，逐个相加、成对相加、带补偿相加、交给 torch，再打乱顺序各加一遍。",
    ),
    exact=False,
    torch=True,
    parameters=(
        Whole(
            name="n",
            label=Text("numbers", "个数"),
            default=10000,
            low=2,
            high=100_000,
            slider=Slider(100, 20000, 100),
        ),
        Choice(
            name="distribution",
            label=Text("distribution", "分布"),
            default="uniform",
            options=(
                ("uniform", Text("uniform in [0, 1)", "[0, 1) 均匀分布")),
                ("normal", Text("normal", "正态分布")),
                ("lognormal", Text("lognormal, σ = 2", "对数正态分布，σ = 2")),
                ("alternating", Text("alternating signs", "正负交替")),
            ),
        ),
        Whole(name="seed", label=Text("seed", "随机种子"), default=0, low=0, high=2**53, slider=Slider(0, 50, 1)),
        DTYPE,
        Whole(
            name="shuffles",
            label=Text("shuffled orders", "打乱次数"),
            default=20,
            low=0,
            high=200,
            slider=Slider(0, 200, 10),
        ),
    ),
    run=accumulation,
    code=(
        layout, rounding, ulp, ulps_off, exact_sum, nearest,
        drawn, in_orders, pairwise, kahan, neumaier, torch_sum, histogram,
    ),
    imports=("random",),
    check=check,
    presets=(
        Preset(Text("uniform, float32", "均匀分布，float32"), {"dtype": "float32"}),
        Preset(Text("lognormal, float32", "对数正态，float32"), {"distribution": "lognormal", "dtype": "float32"}),
        Preset(Text("alternating, float32", "正负交替，float32"), {"distribution": "alternating", "dtype": "float32"}),
        Preset(Text("uniform, bfloat16", "均匀分布，bfloat16"), {"dtype": "bfloat16"}),
    ),
    sentence=sentence,
    drawing=drawing,
    table=table,
)  # fmt: skip
