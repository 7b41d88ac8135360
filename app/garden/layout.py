"""A network into a picture: the note in the centre, its sections around it, its concepts outside.

Everything follows from the graph alone, so a picture is the same tomorrow. Sections stand in reading order, clockwise
from the top, with as much room as their concepts need; a concept stands outside the section that marks it first.
Labels are measured, given their room before anything else, and never overlap one another or a node.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, get_args

import networkx as nx

from app.drawing import Anchor
from app.garden import labels

Kind = Literal["note", "section", "concept"]
KINDS: tuple[Kind, ...] = get_args(Kind)

WIDTH = 960
EDGE = 18
"""Kept free on every side."""
SIZE = {"note": 15.0, "section": 13.0, "concept": 13.0}
"""Of the letters; a style sheet must say the same."""
WEIGHT = {"note": 1.06, "section": 1.06, "concept": 1.0}
"""How much wider letters are that are set bold."""
RADIUS = {"note": 10.0, "section": 7.0, "concept": 5.0}
WIDEST = {"note": 160.0, "section": 150.0, "concept": 160.0}
"""Of a line of a label."""
MOST = {"note": 3, "section": 2, "concept": 3}
"""Lines of a label."""
LEADING = 1.25
ASCENT, DESCENT = 0.9, 0.25
"""Of a letter above and below its base line, in em."""
BESIDE = 5.0
"""Between a node and its label."""
APART = 10.0
"""Between one section with its label and the next."""
INNER, OUTER = 175.0, 284.0
"""Half the width of the ring of sections and of that of concepts."""
ROOM = 600.0
"""The height that a ring of concepts takes when it has the choice, and no more than so many times what it needs:"""
SPREAD = 3.0


@dataclass(frozen=True)
class Words:
    """One line of a label."""

    text: str
    x: float
    y: float
    """Of the base line."""
    anchor: Anchor
    width: float
    """For `textLength`: what was measured holds whatever font is there."""


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


@dataclass(frozen=True)
class Node:
    id: str
    """As in the graph."""
    kind: Kind
    x: float
    y: float
    radius: float
    size: float
    """Of the letters of its label."""
    label: tuple[Words, ...]

    @property
    def circle(self) -> Box:
        return Box(self.x - self.radius, self.y - self.radius, self.x + self.radius, self.y + self.radius)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The box of each line of its label."""
        return tuple(_box(words, self.size) for words in self.label)


@dataclass(frozen=True)
class Edge:
    kind: str
    source: str
    target: str
    x1: float
    y1: float
    x2: float
    y2: float
    path: str
    """The `d` of a gentle curve from (x1, y1) to (x2, y2), which lie on the rims of the two circles."""


@dataclass(frozen=True)
class Picture:
    width: float
    height: float
    nodes: tuple[Node, ...]
    """The note, the sections in reading order, the concepts by side and height."""
    edges: tuple[Edge, ...]


@dataclass
class _Spot:
    """A node while its place is sought; the centre of the picture is (0, 0)."""

    id: str
    kind: Kind
    lines: tuple[str, ...]
    x: float = 0.0
    y: float = 0.0
    above: bool = False

    @property
    def wide(self) -> float:
        return max((_width(line, self.kind) for line in self.lines), default=0.0)

    @property
    def high(self) -> float:
        return len(self.lines) * SIZE[self.kind] * LEADING

    @property
    def up(self) -> float:
        """How far the node and its label, above or below it, reach up."""
        return RADIUS[self.kind] + (BESIDE + self.high if self.above else 0.0)

    @property
    def down(self) -> float:
        return RADIUS[self.kind] + (0.0 if self.above else BESIDE + self.high)


def place(graph: "nx.Graph[str]") -> Picture:
    """The same graph always gets the same picture, in whatever order its nodes and edges were added.

    A graph with several notes has them in the place of sections. An empty graph gives an empty picture.
    """
    if not graph:
        return Picture(0, 0, (), ())
    spots = _spots(graph)
    notes = [spot for spot in spots.values() if spot.kind == "note"]
    hub = notes[0] if len(notes) == 1 else None
    ring = [spot for spot in spots.values() if spot.kind != "concept" and spot is not hub]
    homes = _homes(graph, spots, ring)
    shares = _shares(ring, homes)
    outside = _around(graph, homes, shares)
    half = (len(outside) + 1) // 2
    right, left = [spots[id] for id in outside[:half]], [spots[id] for id in reversed(outside[half:])]
    _set_ring(ring, hub, shares, max(_height(right), _height(left)) * 0.36)
    _set_side(right, 1, ring, hub)
    _set_side(left, -1, ring, hub)
    return _finish(graph, spots)


def _spots(graph: "nx.Graph[str]") -> dict[str, _Spot]:
    """Every node with the lines of its label; in reading order, then by id."""
    data: dict[str, dict[str, Any]] = {id: dict(graph.nodes[id]) for id in graph}
    kinds = {id: data[id].get("kind", "concept") for id in data}
    whole = tuple(sorted({str(data[id].get("label", id)) for id in data if kinds[id] == "concept"}))
    one_note = list(kinds.values()).count("note") == 1
    spots = {}
    for id in sorted(data, key=lambda id: (KINDS.index(kinds[id]), _order(kinds[id], data[id]), id)):
        kind, label = kinds[id], str(data[id].get("label", id))
        label = _main_title(label) if kind == "note" and one_note else label
        spots[id] = _Spot(id, kind, labels.lines(label, SIZE[kind], WIDEST[kind] / WEIGHT[kind], MOST[kind], whole))
    return spots


def _main_title(title: str) -> str:
    """Without what follows a colon, when the whole would take more than two lines."""
    main = re.split(r":\s|：|\s[–—]\s|——", title, maxsplit=1)[0].strip()
    return main if main and labels.width(title, SIZE["note"]) > 1.8 * WIDEST["note"] else title


def _order(kind: str, data: dict[str, Any]) -> int:
    return int(data.get("order", 0)) if kind == "section" else 0


def _homes(graph: "nx.Graph[str]", spots: dict[str, _Spot], ring: Sequence[_Spot]) -> dict[str, str | None]:
    """The section that each concept stands beside: its `home`, or the one that marks it first, else names it first."""
    rank = {spot.id: at for at, spot in enumerate(ring)}
    homes: dict[str, str | None] = {}
    for id in (spot.id for spot in spots.values() if spot.kind == "concept"):
        if graph.nodes[id].get("home") in rank:
            homes[id] = graph.nodes[id]["home"]
            continue
        touched = [other for other in graph[id] if other in rank]
        first = min(
            touched, key=lambda other: (graph.edges[id, other].get("kind") != "marks", rank[other]), default=None
        )
        homes[id] = first
    return homes


def _shares(ring: Sequence[_Spot], homes: dict[str, str | None]) -> dict[str, float]:
    """Where on the way around, from 0 at the top to 1, each section stands: the more concepts it has, the more room."""
    counts = Counter(homes.values())
    weights = [1 + counts[spot.id] for spot in ring]
    before = accumulate(weights, initial=0)
    return {spot.id: (b + w / 2) / sum(weights) for spot, w, b in zip(ring, weights, before, strict=False)}


def _around(graph: "nx.Graph[str]", homes: dict[str, str | None], shares: dict[str, float]) -> list[str]:
    """The concepts clockwise from the top, section by section; within one, towards what else they touch."""

    def order(id: str) -> tuple[float, float, str]:
        home = homes[id]
        if home is None:
            return 1.0, float(graph.nodes[id].get("order", 0)), id
        turns = [(shares[other] - shares[home] + 0.5) % 1 - 0.5 for other in graph[id] if other in shares]
        return shares[home], round(sum(sorted(turns)) / len(turns), 6), id

    return sorted(homes, key=order)


def _set_ring(ring: Sequence[_Spot], hub: _Spot | None, shares: dict[str, float], half: float) -> None:
    """Clockwise in two columns bent to an ellipse of this half height, or as much higher as the labels need."""
    half = max(half, 90.0)
    right = [spot for spot in ring if shares[spot.id] < 0.5]
    left = [spot for spot in reversed(ring) if shares[spot.id] >= 0.5]
    for spot in ring:
        spot.y = half * (1 - 4 * abs(0.5 - shares[spot.id])) if spot in left else half * (4 * shares[spot.id] - 1)
        spot.above = spot.y < -1
    for column in (right, left):
        heights = _spread([spot.y for spot in column], [(spot.up, spot.down) for spot in column], APART)
        for spot, y in zip(column, heights, strict=True):
            spot.y = y
    reach = max((abs(spot.y) for spot in ring), default=0.0) * 1.06 + 1
    for side, column in ((1, right), (-1, left)):
        for spot in column:
            beside_hub = hub and spot.y - spot.up < hub.down + APART and spot.y + spot.down > -hub.up - APART
            clear = spot.wide / 2 + (hub.wide / 2 + APART if hub and beside_hub else APART / 2)
            spot.x = side * max(INNER * math.sqrt(1 - (spot.y / reach) ** 2), clear, 2 * RADIUS[spot.kind])
    for spot in ring:  # one that is alone at the top or the bottom stands in the middle
        if abs(shares[spot.id] - 0.5) < 0.01 and all(
            _apart(spot, other) for other in (*ring, hub) if other is not spot
        ):
            spot.x = 0.0


def _apart(spot: _Spot, other: _Spot | None) -> bool:
    """Whether one ends before the other begins, from the top down."""
    if other is None:
        return True
    return spot.y - spot.up >= other.y + other.down + APART or other.y - other.up >= spot.y + spot.down + APART


def _spread(wanted: Sequence[float], extents: Sequence[tuple[float, float]], apart: float) -> list[float]:
    """Heights near the wanted ones, in the same order, with room for each; together as high or low as before."""
    found: list[float] = []
    for y, (up, _) in zip(wanted, extents, strict=True):
        lowest = found[-1] + extents[len(found) - 1][1] + apart + up if found else y
        found.append(max(y, lowest))
    shift = sum(a - b for a, b in zip(found, wanted, strict=True)) / len(found) if found else 0.0
    return [y - shift for y in found]


def _row(spot: _Spot) -> float:
    return max(spot.high, 2 * RADIUS["concept"]) + 6


def _height(side: Sequence[_Spot]) -> float:
    rows = sum(map(_row, side))
    return max(rows, min(rows * SPREAD, ROOM))


def _set_side(side: Sequence[_Spot], sign: int, ring: Sequence[_Spot], hub: _Spot | None) -> None:
    """Rows from the top down at even distances, on the outer ellipse, but outside of every section beside them."""
    rows, total = [_row(spot) for spot in side], _height(side)
    spare = (total - sum(rows)) / max(len(rows), 1)
    y = -total / 2
    inside = [spot for spot in (*ring, hub) if spot]
    for spot, row in zip(side, rows, strict=True):
        spot.y = y + (row + spare) / 2
        y += row + spare
        x = OUTER * math.sqrt(max(1 - (spot.y / (total / 2 + 12)) ** 2, 0.06))
        for near in inside:
            if near.y - near.up < spot.y + row / 2 and near.y + near.down > spot.y - row / 2:
                x = max(x, sign * near.x + max(near.wide / 2, RADIUS[near.kind]) + 2 * APART)
        spot.x = sign * x


def _finish(graph: "nx.Graph[str]", spots: dict[str, _Spot]) -> Picture:
    """From the centre to a sheet, in rounded coordinates."""
    tops = [min(spot.y - (spot.high / 2 if spot.kind == "concept" else spot.up), spot.y - 8) for spot in spots.values()]
    ends = [
        max(spot.y + (spot.high / 2 if spot.kind == "concept" else spot.down), spot.y + 8) for spot in spots.values()
    ]
    down = EDGE - min(tops)
    nodes = {id: _node(spot, WIDTH / 2, down) for id, spot in spots.items()}
    height = float(math.ceil(max(ends) + down + EDGE))
    return Picture(WIDTH, height, tuple(nodes.values()), tuple(_edges(graph, nodes, (WIDTH / 2, down))))


def _node(spot: _Spot, right: float, down: float) -> Node:
    x, y, size = round(spot.x + right, 1), round(spot.y + down, 1), SIZE[spot.kind]
    leading = size * LEADING
    if spot.kind == "concept":
        anchor: Anchor = "start" if spot.x > 0 else "end"
        at = x + (RADIUS["concept"] + BESIDE) * (1 if spot.x > 0 else -1)
        first = y - spot.high / 2 + (leading + size * (ASCENT - DESCENT)) / 2
    else:
        anchor, at = "middle", x
        top = y - spot.up if spot.above else y + RADIUS[spot.kind] + BESIDE
        first = top + (leading + size * (ASCENT - DESCENT)) / 2
    words = tuple(
        Words(line, round(at, 1), round(first + number * leading, 1), anchor, round(_width(line, spot.kind), 1))
        for number, line in enumerate(spot.lines)
    )
    return Node(spot.id, spot.kind, x, y, RADIUS[spot.kind], size, words)


def _edges(graph: "nx.Graph[str]", nodes: dict[str, Node], centre: tuple[float, float]) -> Iterator[Edge]:
    """What contains first, then repetitions, then marks on top of them; each from the inner to the outer node."""
    kinds = ["contains", "shared", "links", "names", "repeats", "marks"]
    rank = {id: at for at, id in enumerate(nodes)}
    found = []
    for one, two in graph.edges:
        kind = str(graph.edges[one, two].get("kind", ""))
        if one != two:
            source, target = sorted((one, two), key=lambda id: (KINDS.index(nodes[id].kind), rank[id]))
            found.append((kinds.index(kind) if kind in kinds else 0, rank[source], rank[target], kind))
    by_rank = list(nodes.values())
    for _, a, b, kind in sorted(found):
        yield _edge(kind, by_rank[a], by_rank[b], centre)


def _edge(kind: str, source: Node, target: Node, centre: tuple[float, float]) -> Edge:
    """A chord bent a little towards the centre; the longer, the more."""
    bend = 0.0 if kind == "contains" else 0.14
    middle = (source.x + target.x) / 2, (source.y + target.y) / 2
    control = tuple(m + (c - m) * bend for m, c in zip(middle, centre, strict=True))
    x1, y1 = _rim(source, *control)
    x2, y2 = _rim(target, *control)
    curve = f"L{x2} {y2}" if not bend else f"Q{control[0]:.1f} {control[1]:.1f} {x2} {y2}"
    return Edge(kind, source.id, target.id, x1, y1, x2, y2, f"M{x1} {y1}{curve}")


def _rim(node: Node, x: float, y: float) -> tuple[float, float]:
    """The point of the node's circle that looks towards (x, y)."""
    away = math.hypot(x - node.x, y - node.y) or 1.0
    share = node.radius / away
    return round(node.x + (x - node.x) * share, 1), round(node.y + (y - node.y) * share, 1)


def _width(line: str, kind: Kind) -> float:
    return labels.width(line, SIZE[kind]) * WEIGHT[kind]


def _box(words: Words, size: float) -> Box:
    left = words.x - {"start": 0.0, "middle": words.width / 2, "end": words.width}[words.anchor]
    return Box(left, words.y - size * ASCENT, left + words.width, words.y + size * DESCENT)
