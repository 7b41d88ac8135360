"""A comparison into its curves: the losses of both runs, and how far the runs are apart."""

import math
from collections.abc import Sequence

from app.drawing import (
    Anchor,
    Dot,
    Drawing,
    Label,
    Line,
    Role,
    Scale,
    Shape,
    axes,
    breadth,
    legend,
    span,
    tick_words,
    ticks,
)
from app.language import Text, alike
from app.numerals import short
from app.traces.comparison import Comparison

LEFT, RIGHT, TOP, BOTTOM = 62, 546, 46, 210
Losses = tuple[int, float, float]
"""A step, and the losses of A and B there."""


def drawings(found: Comparison) -> list[Drawing]:
    """The losses of both runs, and how far they are apart."""
    points = [(one.optimizer_step, one.a, one.b) for one in found.losses if one.a is not None and one.b is not None]
    if len(points) < 2:
        return []
    first = found.first_difference.optimizer_step if found.first_difference else None
    whole = points[0][0], points[-1][0]
    made = [_losses(points, whole, first)]
    apart = [(step, abs(a - b)) for step, a, b in points if a != b]
    known = [(step, far) for step, far in apart if 0 < far < math.inf]
    if known:
        title = Text("|loss A − loss B|, log scale", "|A 的损失 − B 的损失|，对数坐标")
        made.append(_distances(known, whole, first, title, "a"))
    for of in dict.fromkeys(one.of for one in found.distances):
        far = [(one.optimizer_step, one.relative) for one in found.distances if one.of == of and one.relative > 0]
        if len(far) > 1:
            title = Text(f"‖A − B‖ / ‖A‖ of {of}, estimated from sketches", f"{of} 的 ‖A − B‖ / ‖A‖，由草图估计")
            made.append(_distances(far, whole, first, title, "b"))
    return made


def _losses(points: Sequence[Losses], whole: tuple[int, int], first: int | None) -> Drawing:
    low, high = span((value for _, *both in points for value in both), pad=0.05)
    y_ticks = ticks(low, high)
    x = _steps(whole, max(breadth(tick_words(value)) for value in y_ticks))
    y = Scale(low, high, BOTTOM, TOP)
    shapes = [*_paper(x, y, y_ticks), *_first(x, first)]
    shapes.append(Line(tuple((x(step), y(a)) for step, a, _ in points), "a"))
    shapes.append(Line(tuple((x(step), y(b)) for step, _, b in points), "b"))
    shapes += legend((("a", alike("A")), ("b", alike("B"))), LEFT, 14)
    step, a, b = points[-1]
    label = Text(
        f"Loss by step. At step {step} A has {short(a)}, B {short(b)}.",
        f"各步的损失。第 {step} 步：A 为 {short(a)}，B 为 {short(b)}。",
    )
    return Drawing(560, 250, tuple(shapes), label)


def _distances(
    far: Sequence[tuple[int, float]], whole: tuple[int, int], first: int | None, title: Text, role: Role
) -> Drawing:
    powers = [math.log10(value) for _, value in far]
    low, high = math.floor(min(powers)), math.ceil(max(powers))
    high += low == high
    x, y = _steps(whole, 60), Scale(low, high, BOTTOM, TOP)
    by = max(1, math.ceil((high - low) / 5))
    shapes: list[Shape] = []
    for power in range(low, high + 1, by):
        shapes.append(Line(((x.start, y(power)), (x.end, y(power))), "grid"))
        shapes.append(Label(x.start - 8, y(power) + 4, alike(f"10{_raised(power)}"), "end"))
    shapes += [Label(x(tick), BOTTOM + 20, tick_words(tick), "middle") for tick in _whole_ticks(x)]
    shapes += _first(x, first)
    line = tuple((x(step), y(power)) for (step, _), power in zip(far, powers, strict=True))
    shapes.append(Line(line, role) if len(line) > 1 else Dot(*line[0], role))
    shapes.append(Label(LEFT, 18, title))
    most = max(far, key=lambda one: one[1])
    label = Text(
        f"{title.en}: at most {short(most[1])}, at step {most[0]}.",
        f"{title.zh}：最大为 {short(most[1])}，在第 {most[0]} 步。",
    )
    return Drawing(560, 250, tuple(shapes), label)


def _paper(x: Scale, y: Scale, y_ticks: Sequence[float]) -> list[Shape]:
    return [*axes(x, y, x_ticks=_whole_ticks(x), y_ticks=y_ticks)]


def _steps(whole: tuple[int, int], wide: float) -> Scale:
    return Scale(*whole, max(LEFT, wide - 6), RIGHT)


def _whole_ticks(x: Scale) -> list[float]:
    return [tick for tick in ticks(x.low, x.high, 6) if tick == int(tick)]


def _first(x: Scale, first: int | None) -> list[Shape]:
    """The step at which the runs part."""
    if first is None or not x.low <= first <= x.high:
        return []
    at = x(first)
    beside: Anchor = "end" if at > (x.start + x.end) / 2 else "start"
    words = Label(at + (-6 if beside == "end" else 6), TOP - 2, Text("they part", "分开"), beside, "mark")
    return [Line(((at, TOP - 12), (at, BOTTOM)), "mark"), words]


def _raised(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
