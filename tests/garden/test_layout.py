"""The picture of a network: labels measured, nothing on top of anything, the same tomorrow."""

import math
import random
from itertools import combinations

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from app.garden.layout import SIZE, Box, Picture, place

LATIN = [
    "Momentum",
    "kept",
    "across",
    "restarts",
    "of",
    "a",
    "very",
    "long",
    "run",
    "unpronounceableconfigurationparameters",
]
HAN = "训练结果为何会变：精度、数据顺序与恢复语义，以及《浮点数》的舍入误差（float16）"


@st.composite
def names(draw: st.DrawFn) -> str:
    """Titles of one word to many lines, in either language and in both at once."""
    latin = " ".join(draw(st.lists(st.sampled_from(LATIN), max_size=12)))
    start = draw(st.integers(0, len(HAN) - 1))
    han = HAN[start : start + draw(st.integers(0, 40))]
    return draw(st.sampled_from([latin, han, f"{latin} {han}", f"{han}{latin}"])) or "?"


@st.composite
def graphs(draw: st.DrawFn) -> "nx.Graph[str]":
    graph: nx.Graph[str] = nx.Graph()
    graph.add_node("note", kind="note", label=draw(names()), order=0)
    sections = [f"section:{n}" for n in range(draw(st.integers(0, 14)))]
    for order, id in enumerate(sections, start=1):
        graph.add_node(id, kind="section", label=draw(names()), order=order)
        graph.add_edge("note", id, kind="contains")
    chance = random.Random(draw(st.integers(0, 10**6)))
    for n in range(draw(st.sampled_from([0, 1, 2, 3, 7, 20, 60]))):
        graph.add_node(f"concept:{n}", kind="concept", label=draw(names()))
        touched = chance.sample(["note", *sections], chance.randint(0, min(3, len(sections) + 1)))
        for other in touched:
            graph.add_edge(f"concept:{n}", other, kind="marks" if other == touched[0] else "repeats")
    return graph


def article(sections: int, concepts: int) -> "nx.Graph[str]":
    """Each concept marked in one section and named in the next."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_node("note", kind="note", label="Why training results change", order=0)
    for n in range(sections):
        graph.add_node(f"section:{n}", kind="section", label=f"Section the {n}th", order=n + 1)
        graph.add_edge("note", f"section:{n}", kind="contains")
    for n in range(concepts):
        graph.add_node(f"concept:{n}", kind="concept", label=f"the {n}th concept")
        graph.add_edge(f"concept:{n}", f"section:{n % sections}", kind="marks")
        graph.add_edge(f"concept:{n}", f"section:{(n + 1) % sections}", kind="repeats")
    return graph


def obstacles(picture: Picture) -> list[Box]:
    return [box for node in picture.nodes for box in (node.circle, *node.boxes)]


@settings(deadline=None, max_examples=80)
@given(graphs())
def test_no_label_lies_on_a_label_or_a_node(graph: "nx.Graph[str]") -> None:
    picture = place(graph)
    assert [(a, b) for a, b in combinations(obstacles(picture), 2) if a.overlaps(b)] == []


@settings(deadline=None, max_examples=30)
@given(graphs())
def test_everything_lies_on_the_sheet(graph: "nx.Graph[str]") -> None:
    picture = place(graph)
    assert picture.width == 960
    for box in obstacles(picture):
        assert 0 <= box.left <= box.right <= picture.width
        assert 0 <= box.top <= box.bottom <= picture.height


@settings(deadline=None, max_examples=30)
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_in_which_a_graph_was_built_does_not_matter(graph: "nx.Graph[str]", chance: random.Random) -> None:
    nodes, edges = list(graph.nodes(data=True)), list(graph.edges(data=True))
    chance.shuffle(nodes)
    chance.shuffle(edges)
    again: nx.Graph[str] = nx.Graph()
    again.add_nodes_from(nodes)
    again.add_edges_from((b, a, data) for a, b, data in edges)
    assert place(again) == place(graph)


@settings(deadline=None, max_examples=30)
@given(graphs())
def test_every_node_and_edge_is_drawn_once(graph: "nx.Graph[str]") -> None:
    picture = place(graph)
    assert sorted(node.id for node in picture.nodes) == sorted(graph)
    drawn = {frozenset((edge.source, edge.target)): edge.kind for edge in picture.edges}
    assert drawn == {frozenset((a, b)): kind for a, b, kind in graph.edges(data="kind")}
    assert len(picture.edges) == graph.number_of_edges()


@settings(deadline=None, max_examples=30)
@given(graphs())
def test_edges_end_on_the_rims_of_their_nodes(graph: "nx.Graph[str]") -> None:
    picture = place(graph)
    nodes = {node.id: node for node in picture.nodes}
    for edge in picture.edges:
        for id, x, y in ((edge.source, edge.x1, edge.y1), (edge.target, edge.x2, edge.y2)):
            node = nodes[id]
            assert math.isclose(math.hypot(x - node.x, y - node.y), node.radius, abs_tol=0.15)
        assert edge.path.startswith(f"M{edge.x1} {edge.y1}")
        assert edge.path.endswith(f" {edge.x2} {edge.y2}") or edge.path.endswith(f"L{edge.x2} {edge.y2}")


def test_an_empty_graph_gives_an_empty_picture() -> None:
    assert place(nx.Graph()) == Picture(0, 0, (), ())


def test_a_note_alone_has_a_picture() -> None:
    graph: nx.Graph[str] = nx.Graph()
    graph.add_node("note", kind="note", label="Alone")
    (node,) = place(graph).nodes
    assert [words.text for words in node.label] == ["Alone"]


def test_the_note_is_in_the_middle_sections_around_it_and_concepts_outside() -> None:
    picture = place(article(7, 30))
    note = picture.nodes[0]
    away = {node.id: math.hypot(node.x - note.x, node.y - note.y) for node in picture.nodes}
    sections = [away[node.id] for node in picture.nodes if node.kind == "section"]
    assert note.x == 480
    assert min(sections) > 0
    for node in picture.nodes:
        if node.kind == "concept":
            beside = [other for other in picture.nodes if other.kind == "section" and abs(other.y - node.y) < 10]
            assert all(abs(node.x - 480) > abs(other.x - 480) for other in beside)


def test_sections_stand_clockwise_in_reading_order_from_the_top() -> None:
    picture = place(article(7, 0))
    note, *sections = picture.nodes
    turns = [math.atan2(node.x - note.x, note.y - node.y) % (2 * math.pi) for node in sections]
    assert turns == sorted(turns)
    assert turns[0] < math.pi / 2


def test_the_concepts_of_a_section_stand_side_by_side() -> None:
    graph = article(6, 31)
    nodes = [node for node in place(graph).nodes if node.kind == "concept"]
    right = sorted((node for node in nodes if node.x > 480), key=lambda node: node.y)
    left = sorted((node for node in nodes if node.x < 480), key=lambda node: -node.y)
    marked = [
        next(other for other in graph[node.id] if graph.edges[node.id, other]["kind"] == "marks")
        for node in (*right, *left)
    ]
    assert marked == sorted(marked)
    assert abs(len(right) - len(left)) == 1


def test_a_concept_stands_on_the_side_of_its_section() -> None:
    graph = article(4, 0)
    graph.add_edge("concept:a", "section:0", kind="marks")
    graph.add_edge("concept:b", "section:3", kind="marks")
    for id in ("concept:a", "concept:b"):
        graph.nodes[id].update(kind="concept", label=id)
    at = {node.id: node for node in place(graph).nodes}
    assert at["section:0"].x > 480 and at["concept:a"].x > 480
    assert at["section:3"].x < 480 and at["concept:b"].x < 480


def test_seven_sections_and_thirty_concepts_fit_a_screen() -> None:
    picture = place(article(7, 30))
    assert picture.width == 960
    assert 560 <= picture.height <= 720


def test_labels_are_no_wider_than_measured_and_say_their_size() -> None:
    for node in place(article(7, 30)).nodes:
        assert node.size == SIZE[node.kind]
        for words, box in zip(node.label, node.boxes, strict=True):
            assert math.isclose(box.right - box.left, words.width)


def test_a_title_too_long_for_the_middle_keeps_its_main_part() -> None:
    graph: nx.Graph[str] = nx.Graph()
    graph.add_node("note", kind="note", label="训练结果为何会变：精度、数据顺序与恢复语义")
    (node,) = place(graph).nodes
    assert "".join(words.text for words in node.label) == "训练结果为何会变"


def test_several_notes_stand_where_sections_would() -> None:
    graph: nx.Graph[str] = nx.Graph()
    for id in ("heat", "noise", "order"):
        graph.add_node(id, kind="note", label=id)
        graph.add_edge(id, "concept:momentum", kind="marks")
    graph.nodes["concept:momentum"].update(kind="concept", label="momentum")
    picture = place(graph)
    assert [node.id for node in picture.nodes] == ["heat", "noise", "order", "concept:momentum"]
    assert [(a, b) for a, b in combinations(obstacles(picture), 2) if a.overlaps(b)] == []
