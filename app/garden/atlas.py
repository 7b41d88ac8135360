"""Notes and concepts into the network of the whole garden, and a view of it into what one picture can show.

A note and its translation are one node. An edge `marks` joins a note and a concept that it marks, `names` a note and a
concept that it only names, in either language; `links` joins notes of which one links to the other, and `shared`
concepts that the same notes speak of, where these stand alone. No edge claims a cause.

Nodes are called `note:SLUG` and `concept:ID` and carry `what` (`note` or `concept`), `id` and `labels`; notes also the
`growths` and `languages` of their texts, and their `tags` as keys of every spelling.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import networkx as nx

from app.content.note import Concept, Growth
from app.garden.garden import Address, Garden
from app.garden.names import key
from app.language import BADGE, LANGUAGES, Language, Text, other

What = Literal["note", "concept"]
MOST: Mapping[What, int] = {"concept": 50, "note": 70}
"""Nodes of a picture, the best joined of those that a view asks for: a label needs its row, a reader an overview."""
PARTNERS = 2
"""Where concepts stand alone, each is joined to so many of those that most notes speak of together with it."""


@dataclass(frozen=True)
class View:
    """What of the network is asked for."""

    kind: What | None = None
    growth: Growth | None = None
    tag: str | None = None
    language: Language | None = None
    around: str | None = None
    """A node: it and what it is joined to."""


def whole(
    garden: Garden,
    concepts: Mapping[str, Concept],
    named: Mapping[Address, Iterable[str]],
    around: str | None = None,
) -> "nx.Graph[str]":
    """`named` are the concepts that each note marks or names. With no more notes than stand `around` a node, if any."""
    within = _near(garden, named, around) if around else dict.fromkeys(note.slug for note in garden.notes())
    graph: nx.Graph[str] = nx.Graph()
    for id, concept in concepts.items():
        graph.add_node(f"concept:{id}", what="concept", id=id, labels=concept.label)
    for slug in within:
        texts = [note for language in LANGUAGES if (note := garden.note(language, slug))]
        graph.add_node(
            f"note:{slug}",
            what="note",
            id=slug,
            labels=Text(texts[0].title, texts[-1].title),
            growths=frozenset(note.growth for note in texts),
            languages=frozenset(note.language for note in texts),
            tags=frozenset(key(tag) for note in texts for tag in note.tags),
        )
        marked = {mark.concept for note in texts for mark in note.marks}
        for id in sorted({id for note in texts for id in named.get((note.language, slug), ())} | marked):
            if id in concepts:
                graph.add_edge(f"note:{slug}", f"concept:{id}", kind="marks" if id in marked else "names")
    links = {(note.slug, aim.slug) for note, aim in garden.links() if note.slug in within and aim.slug in within}
    graph.add_edges_from(((f"note:{one}", f"note:{two}") for one, two in links), kind="links")
    return graph


def _near(garden: Garden, named: Mapping[Address, Iterable[str]], around: str) -> dict[str, None]:
    """The slugs of the notes that a node is joined to, its own among them."""
    what, _, id = around.partition(":")
    if what == "note":
        near = {slug for note, aim in garden.links() for slug in (note.slug, aim.slug) if id in (note.slug, aim.slug)}
        return dict.fromkeys(sorted({id, *near}))
    marking = {note.slug for note in garden.notes() if any(mark.concept == id for mark in note.marks)}
    return dict.fromkeys(sorted(marking | {slug for (_, slug), ids in named.items() if id in ids}))


def asked(graph: "nx.Graph[str]", view: View) -> "nx.Graph[str]":
    """The nodes that a view asks for and their edges: filters of notes leave the concepts that those speak of."""
    if view == View():
        return graph
    if view.around is not None:
        graph = graph.subgraph({view.around, *graph[view.around]})
    data = graph.nodes
    notes = {
        id
        for id in graph
        if data[id]["what"] == "note"
        and (view.growth is None or view.growth in data[id]["growths"])
        and (view.tag is None or key(view.tag) in data[id]["tags"])
        and (view.language is None or view.language in data[id]["languages"])
    }
    concepts = {id for id in graph if data[id]["what"] == "concept"}
    if (view.growth, view.tag, view.language) != (None, None, None):
        concepts = {id for id in concepts if not notes.isdisjoint(graph[id])}
    within = (set() if view.kind == "concept" else notes) | (set() if view.kind == "note" else concepts)
    if view.around is not None:
        within.add(view.around)
    found: nx.Graph[str] = nx.Graph(graph.subgraph(within))
    if view.kind == "concept" and view.around is None:
        found.add_edges_from((one, two, {"kind": "shared"}) for one, two in _together(graph, notes, concepts))
    return found


def pictured(graph: "nx.Graph[str]", view: View, language: Language) -> "nx.Graph[str]":
    """As much of it as one picture holds, for app/garden/layout.py: the parts that it plays are the `kind` of a node.

    Of notes and concepts the fewer stand inside, where a label takes most room, the others outside, each beside one
    that it is joined to. The node that a view is around stands in the middle, else one that has no other of its kind.
    """
    kept = [id for what in MOST for id in _best(graph, what, view.around)]
    shown: nx.Graph[str] = nx.Graph(graph.subgraph(kept))
    sides = [[id for id in kept if shown.nodes[id]["what"] == what and id != view.around] for what in MOST]
    inside, outside = sorted(sides, key=len)
    middle = view.around or (inside[0] if len(inside) == 1 else None)
    order = {id: at for side in (inside, outside) for at, id in enumerate(_neighbouring(shown, side), start=1)}
    for id in shown:
        shown.nodes[id]["kind"] = "note" if id == middle else "section" if id in inside else "concept"
        shown.nodes[id]["order"] = order.get(id, 0)
        shown.nodes[id]["label"] = _label(shown.nodes[id], language)
    nx.set_node_attributes(shown, _homes(shown, inside, outside), "home")
    return shown


def _label(data: Mapping[str, Any], language: Language) -> str:
    """Of a note without a text in this language, with a badge."""
    label: str = data["labels"][language]
    return label if language in data.get("languages", (language,)) else f"{label} · {BADGE[other(language)]}"


def _best(graph: "nx.Graph[str]", what: What, first: str | None) -> list[str]:
    """Those with most edges, then by name; the first in any case."""
    nodes = [id for id in graph if graph.nodes[id]["what"] == what]
    return sorted(nodes, key=lambda id: (id != first, -graph.degree(id), id))[: MOST[what]]


def _together(graph: "nx.Graph[str]", notes: Iterable[str], concepts: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Each concept with those that most notes speak of as well."""
    wanted = set(concepts)
    shared: dict[str, Counter[str]] = {id: Counter() for id in wanted}
    for note in notes:
        for one, two in combinations(sorted(wanted.intersection(graph[note])), 2):
            shared[one][two] += 1
            shared[two][one] += 1
    for one in sorted(shared):
        best = sorted(shared[one].items(), key=lambda item: (-item[1], item[0]))
        yield from ((one, two) for two, _ in best[:PARTNERS])


def _homes(graph: "nx.Graph[str]", inside: Sequence[str], outside: Sequence[str]) -> dict[str, str]:
    """The inner node that each outer one stands beside: of those it is joined to, the one with the fewest so far."""
    count: Counter[str] = Counter()
    homes: dict[str, str] = {}
    for one in sorted(outside, key=lambda id: (graph.degree(id), id)):
        near = set(inside).intersection(graph[one])
        if near:
            homes[one] = min(near, key=lambda id: (count[id], graph.edges[one, id]["kind"] != "marks", id))
            count[homes[one]] += 1
    return homes


def _neighbouring(graph: "nx.Graph[str]", nodes: Iterable[str]) -> list[str]:
    """In a row: the best joined first, each next to the one that it is joined to, or shares most neighbours with."""
    left = {id: {id, *graph[id]} for id in nodes}
    row: list[str] = []
    while left:
        near = left.pop(row[-1], set()) if row else set()
        if not left:
            break
        best = min(left, key=lambda id: (-len(near & left[id]), -len(left[id]), id))
        row.append(best)
    return row
