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
from app.traces.witness import Point

LEFT, RIGHT, TOP, BOTTOM = 62, 546, 46, 210


def drawings(found: Comparison) -> list[Drawing]:
    """The losses of both runs, and how far they are apart."""
    points = [point for point in found.losses if point.a is not None and point.b is not None]
    if len(points) < 2:
        return []
    first = found.first_difference.optimizer_step if found.first_difference else None
    whole = points[0].optimizer_step, points[-1].optimizer_step
    made = [_losses(points, first)]
    apart = [(point.optimizer_step, abs(point.a - point.b)) for point in points if point.a != point.b]  # type: ignore[operator]
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


def _losses(points: Sequence[Point], first: int | None) -> Drawing:
    values = [value for point in points for value in (point.a, point.b) if value is not None]
    low, high = span(values, pad=0.05)
    y_ticks = ticks(low, high)
    whole = points[0].optimizer_step, points[-1].optimizer_step
    x = _steps(whole, max(breadth(tick_words(value)) for value in y_ticks))
    y = Scale(low, high, BOTTOM, TOP)
    shapes = [*_paper(x, y, y_ticks), *_first(x, first)]
    for role in ("a", "b"):
        line = [(x(p.optimizer_step), y(p.a if role == "a" else p.b)) for p in points]  # type: ignore[arg-type]
        shapes.append(Line(tuple(line), "a" if role == "a" else "b"))
    shapes += legend((("a", alike("A")), ("b", alike("B"))), LEFT, 14)
    last = points[-1]
    label = Text(
        f"Loss by step. At step {last.optimizer_step} A has {short(last.a or 0.0)}, B {short(last.b or 0.0)}.",
        f"各步的损失。第 {last.optimizer_step} 步：A 为 {short(last.a or 0.0)}，B 为 {short(last.b or 0.0)}。",
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
