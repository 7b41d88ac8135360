"""Numbers into shapes in drawing units, with Text for words; templates only place what stands here.

Roles carry the meaning, the style sheet gives each its colour, dash and weight, so that no drawing
speaks by colour alone:

    a      the uninterrupted run, what executed as it should       leaf, solid
    b      the resumed run, what differs                            clay, dashed
    mark   the first difference, the value pointed at               clay ring
    grid   axes, ticks and their lines                              thin
    soft   what stands behind                                       pale
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Literal

from app.language import LANGUAGES, Text, alike
from app.numerals import brief

Role = Literal["a", "b", "mark", "grid", "soft"]
Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A polyline through points (x, y)."""

    points: tuple[Point, ...]
    role: Role

    @property
    def path(self) -> str:
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in self.points)


@dataclass(frozen=True)
class Dashes(Line):
    """A polyline of short strokes far apart, for what lies on another line: between them that one shows."""

    @property
    def path(self) -> str:
        return "".join(Line(stroke, self.role).path for stroke in strokes(self.points))


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    role: Role
    radius: float = 4.5
    title: Text | None = None


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    role: Role
    title: Text | None = None


@dataclass(frozen=True)
class Label:
    x: float
    y: float
    words: Text
    anchor: Anchor = "start"
    role: Role = "grid"


Shape = Line | Dot | Box | Label


@dataclass(frozen=True)
class Drawing:
    width: float
    height: float
    shapes: tuple[Shape, ...]
    label: Text
    """One sentence for those who do not see the picture, made from its data."""


@dataclass(frozen=True)
class Scale:
    """A linear map of [low, high] to [start, end]; what is not finite or beyond lands on the nearer edge."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        if math.isnan(value):
            return self.start
        inside = min(max(value, self.low), self.high)
        width = self.high - self.low
        share = (inside - self.low) / width if 0 < width < math.inf else 0.5 if width == 0 else _share(self, inside)
        return round(self.start + share * (self.end - self.start), 2)


def span(values: Iterable[float], pad: float = 0.0) -> tuple[float, float]:
    """The least and greatest finite values, widened by `pad` of their distance; never of zero width."""
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    if low == high:
        room = abs(low) / 2 or 1.0
        return max(low - room, -1.7e308), min(high + room, 1.7e308)
    room = (high / 2 - low / 2) * 2 * pad
    return (low - room, high + room) if math.isfinite(room) else (low, high)


def ticks(low: float, high: float, about: int = 5) -> tuple[float, ...]:
    """Round numbers (1, 2 or 5 times a power of ten apart) from low to high, about as many as asked for."""
    if not low < high or not math.isfinite(high - low):
        return (low,) if low == high else (low, high)
    raw = (high - low) / max(about, 1)
    power = 10.0 ** math.floor(math.log10(raw)) if raw > 1e-300 else 0.0
    if not power:
        return (low, high)
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if last - first > 4 * about or first + 1 == first + 0.5:
        return (low, high)
    found = tuple(float(f"{i * step:.12g}") + 0.0 for i in range(first, last + 1))
    return found if all(a < b for a, b in pairwise(found)) else (low, high)


def strokes(
    points: Sequence[Point], long: float = 5, apart: float = 13, most: int = 60
) -> tuple[tuple[Point, ...], ...]:
    """Short pieces of a polyline, bent where it bends; further apart where there would be more than `most`."""
    lengths = [0.0, *accumulate(math.dist(one, two) for one, two in pairwise(points))]
    total = lengths[-1]
    period = max(long + apart, total / most)

    def place(far: float) -> Point:
        at = min(bisect_right(lengths, far), len(points) - 1)
        (x, y), (to_x, to_y) = points[at - 1], points[at]
        share = (far - lengths[at - 1]) / ((lengths[at] - lengths[at - 1]) or 1)
        return x + share * (to_x - x), y + share * (to_y - y)

    found = []
    start = min(period, total) / 2 - long / 2
    while 0 <= start <= total - long:
        bends = points[bisect_right(lengths, start) : bisect_left(lengths, start + long)]
        found.append((place(start), *bends, place(start + long)))
        start += period
    return tuple(found)


def tick_words(value: float) -> Text:
    """A tick's number, as a power of ten where that is shorter and says the same: 3×10⁵."""
    return alike(brief(value))


def axes(
    x: Scale, y: Scale, *, x_ticks: Sequence[float], y_ticks: Sequence[float], x_title: Text | None = None
) -> tuple[Shape, ...]:
    """Grid lines with their numbers: values up the left side, steps along the bottom."""
    shapes: list[Shape] = []
    for value in y_ticks:
        at = y(value)
        shapes.append(Line(((min(x.start, x.end), at), (max(x.start, x.end), at)), "grid"))
        shapes.append(Label(min(x.start, x.end) - 8, at + 4, tick_words(value), "end"))
    bottom = max(y.start, y.end)
    shapes += [Label(x(value), bottom + 20, tick_words(value), "middle") for value in x_ticks]
    if x_title:
        shapes.append(Label(max(x.start, x.end), bottom + 38, x_title, "end"))
    return tuple(shapes)


def legend(entries: Sequence[tuple[Role, Text]], x: float, y: float) -> tuple[Shape, ...]:
    """A sign and its words for each role, in a row: a ring for `mark`, a pale box for `soft`, else a short stroke."""
    shapes: list[Shape] = []
    for role, words in entries:
        wide = 12 if role == "mark" else 26
        shapes.append(
            Dot(x + 6, y, role)
            if role == "mark"
            else Box(x, y - 6, wide, 12, role)
            if role == "soft"
            else Line(((x, y), (x + wide, y)), role)
        )
        shapes.append(Label(x + wide + 7, y + 4, words))
        x += wide + 7 + breadth(words) + 18
    return tuple(shapes)


LARGEST = 19
"""Units of the letters where a drawing is shown small, as on a phone."""


def breadth(words: Text, size: float = LARGEST) -> float:
    """About how wide a label gets in the wider of its languages: Han 1 em, everything else a little over a half."""
    return max(sum(size if ord(sign) > 0x2E7F else 0.57 * size for sign in words[each]) for each in LANGUAGES)


def clear(labels: Iterable[Label], right: float = math.inf) -> tuple[Label, ...]:
    """Those labels that cover none before them, even in the largest letters; the first ones matter most.

    One that would pass the left or the right edge is moved inside.
    """
    kept: list[Label] = []
    for label in labels:
        left, end = _extent(label)
        shift = max(-left, 0.0) or min(right - end, 0.0)
        moved = replace(label, x=round(label.x + shift, 2))
        if not any(_touch(moved, before) for before in kept):
            kept.append(moved)
    return tuple(kept)


def _touch(one: Label, two: Label) -> bool:
    (a, b), (c, d) = _extent(one), _extent(two)
    return abs(one.y - two.y) < 1.15 * LARGEST and a < d + 6 and c < b + 6


def _extent(label: Label) -> tuple[float, float]:
    wide = breadth(label.words)
    left = label.x - {"start": 0.0, "middle": wide / 2, "end": wide}[label.anchor]
    return left, left + wide


def _share(scale: Scale, value: float) -> float:
    """As the map does, halved first so that a span of nearly every float64 does not overflow."""
    return (value / 2 - scale.low / 2) / (scale.high / 2 - scale.low / 2)
