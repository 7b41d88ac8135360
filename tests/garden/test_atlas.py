"""The network of a garden, and what of it one picture shows; every expectation by hand."""

import hashlib
import random
import subprocess
import sys

import networkx as nx
import pytest

from app.content.note import Link, Note
from app.garden import atlas
from app.garden.atlas import View, asked, pictured, whole
from app.garden.garden import Garden, grow
from app.garden.layout import Picture, place
from app.garden.pictures import digest
from tests.garden.handmade import concept, concepts, mark, note

KNOWN = concepts(concept("flow", "flow", "流动"), concept("order", "order", "顺序"), concept("rest", "rest", "静止"))


def link(target: str) -> Link:
    return Link(target, None, None, f"See {target}.", 1)


HEAT = note("heat", tags=("Warm",), growth="budding", marks=(mark("flow", "flow", "It flows."),), links=(link("cold"),))
WARM = note("heat", "zh", title="热", tags=("暖",), links=(link("order"),))
COLD = note("cold", marks=(mark("rest", "rest", "It rests."),))
ORDER = note("order", "zh", title="顺序", growth="evergreen")
NAMED = {("en", "heat"): ("flow", "order"), ("zh", "heat"): ("rest",), ("zh", "order"): ("order",)}


@pytest.fixture(scope="module")
def garden() -> Garden:
    return grow([HEAT, WARM, COLD, ORDER], KNOWN)


def edges(graph: "nx.Graph[str]") -> set[tuple[str, str, str]]:
    return {(*sorted((one, two)), data["kind"]) for one, two, data in graph.edges(data=True)}  # type: ignore[misc]


def test_notes_are_joined_to_concepts_and_to_each_other_in_either_language(garden: Garden) -> None:
    graph = whole(garden, KNOWN, NAMED)
    assert edges(graph) == {
        ("concept:flow", "note:heat", "marks"),
        ("concept:order", "note:heat", "names"),
        ("concept:rest", "note:heat", "names"),
        ("concept:rest", "note:cold", "marks"),
        ("concept:order", "note:order", "names"),
        ("note:cold", "note:heat", "links"),
        ("note:heat", "note:order", "links"),
    }
    labels = {id: graph.nodes[id]["labels"].en for id in graph}
    assert labels == {
        "concept:flow": "flow", "concept:order": "order", "concept:rest": "rest",
        "note:heat": "Heat", "note:cold": "Cold", "note:order": "顺序",
    }  # fmt: skip
    assert graph.nodes["note:heat"]["labels"].zh == "热"


@pytest.mark.parametrize(
    ("view", "nodes"),
    [
        (View(), "flow order rest heat cold order"),
        (View(kind="note"), "heat cold order"),
        (View(kind="concept"), "flow order rest"),
        (View(growth="budding"), "heat flow order rest"),
        (View(growth="speculative"), ""),
        (View(tag="warm"), "heat flow order rest"),
        (View(tag="暖"), "heat flow order rest"),
        (View(language="zh"), "heat order flow order rest"),
        (View(language="en", kind="note"), "heat cold"),
        (View(around="note:cold"), "cold heat rest"),
        (View(around="concept:order"), "order heat order"),
        (View(around="note:heat", kind="note"), "heat cold order"),
    ],
)
def test_a_view_keeps_what_it_asks_for(garden: Garden, view: View, nodes: str) -> None:
    graph = asked(whole(garden, KNOWN, NAMED), view)
    assert sorted(graph.nodes[id]["id"] for id in graph) == sorted(nodes.split())


@pytest.mark.parametrize("around", ["note:heat", "note:cold", "note:order", "concept:flow", "concept:rest"])
def test_what_surrounds_a_node_needs_no_other_notes(garden: Garden, around: str) -> None:
    near, view = whole(garden, KNOWN, NAMED, around), View(around=around)
    one, two = asked(near, view), asked(whole(garden, KNOWN, NAMED), view)
    assert (set(one), edges(one)) == (set(two), edges(two))


def test_concepts_alone_are_joined_by_the_notes_that_speak_of_both(garden: Garden) -> None:
    graph = asked(whole(garden, KNOWN, NAMED), View(kind="concept"))
    assert edges(graph) == {
        ("concept:flow", "concept:order", "shared"),
        ("concept:flow", "concept:rest", "shared"),
        ("concept:order", "concept:rest", "shared"),
    }  # fmt: skip


def test_of_many_nodes_the_best_joined_are_pictured(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atlas, "MOST", {"note": 2, "concept": 1})
    graph = pictured(asked(whole(garden, KNOWN, NAMED), View()), View(), "en")
    assert set(graph) == {"note:heat", "note:cold", "concept:order"}
    around = pictured(asked(whole(garden, KNOWN, NAMED), View(around="note:order")), View(around="note:order"), "en")
    assert set(around) == {"note:order", "note:heat", "concept:order"}
    assert around.nodes["note:order"]["kind"] == "note"


def parts(view: View, *notes: Note) -> dict[str, str]:
    graph = pictured(asked(whole(grow(list(notes), KNOWN), KNOWN, NAMED), view), view, "en")
    return {id.partition(":")[2] + ("" if id.startswith("note") else "!"): graph.nodes[id]["kind"] for id in graph}


def test_the_fewer_stand_inside_and_the_one_that_is_asked_about_in_the_middle() -> None:
    """What stands inside is called a section by the layout, what stands outside a concept, and the middle a note."""
    inside, outside, middle = "section", "concept", "note"
    many = parts(View(), HEAT, COLD, ORDER)
    assert many == dict.fromkeys(("flow!", "order!", "rest!"), inside) | dict.fromkeys(
        ("heat", "cold", "order"), outside
    )
    two = parts(View(), HEAT, COLD)
    assert two == dict.fromkeys(("flow!", "order!", "rest!"), outside) | dict.fromkeys(("heat", "cold"), inside)
    assert parts(View(), COLD) == {"cold": middle, "flow!": outside, "order!": outside, "rest!": outside}
    assert parts(View(kind="concept"), HEAT, COLD) == dict.fromkeys(("flow!", "order!", "rest!"), outside)
    around = View(around="concept:order")
    assert parts(around, HEAT, COLD, ORDER) == {"order!": middle, "heat": outside, "order": outside}


def test_what_is_joined_stands_side_by_side() -> None:
    """By name it would be a, b, c, d; clockwise from the top on the right, and no line crosses the picture."""
    notes = [note(name, links=tuple(map(link, aim))) for name, aim in (("a", "c"), ("b", "d"), ("c", ""), ("d", ""))]
    view = View(kind="note")
    picture = place(pictured(asked(whole(grow(notes, {}), {}, {}), view), view, "en"))
    spots = {node.id[-1]: (node.x > picture.width / 2, node.y) for node in picture.nodes}
    assert [spots[id][0] for id in "acbd"] == [True, True, False, False]
    assert spots["a"][1] < spots["c"][1] and spots["d"][1] < spots["b"][1]


def big(shuffle: int | None = None) -> "nx.Graph[str]":
    draw = random.Random(7)
    known = concepts(*(concept(f"c{n}", f"concept {n}", f"概念{n}") for n in range(60)))
    notes = [
        note(f"n{n}", title=f"Note {n} with a longer title", links=tuple(link(f"n{draw.randrange(90)}") for _ in "abc"))
        for n in range(90)
    ]
    named = {("en", one.slug): tuple(f"c{draw.randrange(60)}" for _ in range(3)) for one in notes}
    if shuffle is not None:
        random.Random(shuffle).shuffle(notes)
    return pictured(asked(whole(grow(notes, known), known, named), View()), View(), "en")


def test_a_picture_is_the_same_in_whatever_order_and_process_it_is_drawn() -> None:
    assert digest(big()) == digest(big(1)) == digest(big(2))
    assert place(big()) == place(big(1))
    script = "from tests.garden.test_atlas import *; print(fingerprint(place(big(3))))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == fingerprint(place(big()))


def fingerprint(picture: Picture) -> str:
    return hashlib.sha256(repr(picture).encode()).hexdigest()


def test_labels_overlap_neither_labels_nor_nodes() -> None:
    picture = place(big())
    assert len(picture.nodes) == 120
    boxes = [(node.id, box) for node in picture.nodes for box in node.boxes]
    for at, (id, box) in enumerate(boxes):
        assert not [other for other, there in boxes[at + 1 :] if other != id and box.overlaps(there)], id
        assert not [node.id for node in picture.nodes if node.id != id and box.overlaps(node.circle)], id
