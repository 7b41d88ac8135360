"""The network of a note: who marks what first, who comes back to it, and where exactly."""

import pytest
from handmade import concept, concepts, mark, note, passage, section
from hypothesis import given
from hypothesis import strategies as st

from app.content.note import Concept, Note
from app.garden.network import Place, network, places
from app.language import Text
from tests.content.garden import read

KNOWN = concepts(
    concept("momentum", "momentum", "动量", en=("velocity",), zh=("惯性项",)),
    concept("summation", "summation", "求和"),
    concept("kahan", "Kahan summation", "补偿求和", en=("compensated summation",)),
    concept("buffer", "momentum buffer", "动量缓冲"),
    concept("order", "addition order", "加法次序"),
    concept("f16", "float16", "半精度", en=("fp16",)),
)
A, B, C = section("a", 2), section("b", 6), section("c", 9)


def edges(written: Note) -> dict[tuple[str, str], str]:
    graph = network(written, KNOWN)
    return {tuple(sorted((one, two), reverse=True)): data["kind"] for one, two, data in graph.edges(data=True)}  # type: ignore[misc]


def named(text: str, language: str = "en") -> list[str]:
    return list(places(note("heat", language, passages=(passage(text),)), KNOWN))  # type: ignore[arg-type]


# Edges


def test_a_solid_edge_joins_a_concept_to_the_first_section_that_marks_it() -> None:
    written = note(
        "heat",
        sections=(A, B, C),
        passages=(
            passage("Momentum early.", "a", 3),
            passage("The momentum.", "b", 7),
            passage("The momentum.", "c", 10),
        ),
        marks=(
            mark("momentum", "momentum", "The momentum.", "b", 7),
            mark("momentum", "momentum", "The momentum.", "c", 10),
        ),
    )
    assert edges(written) == {
        ("section:a", "note"): "contains",
        ("section:b", "note"): "contains",
        ("section:c", "note"): "contains",
        ("section:b", "concept:momentum"): "marks",
        ("section:a", "concept:momentum"): "repeats",
        ("section:c", "concept:momentum"): "repeats",
    }


def test_a_concept_that_is_never_marked_has_dashed_edges_only() -> None:
    written = note("heat", sections=(A,), passages=(passage("Its velocity.", "a", 3),))
    assert edges(written) == {("section:a", "note"): "contains", ("section:a", "concept:momentum"): "repeats"}


def test_what_stands_before_the_first_section_belongs_to_the_note() -> None:
    written = note(
        "heat",
        sections=(A,),
        passages=(passage("On momentum.", None, 1), passage("On momentum.", "a", 3)),
        marks=(mark("momentum", "momentum", "On momentum.", None, 1),),
    )
    assert edges(written) == {
        ("section:a", "note"): "contains",
        ("note", "concept:momentum"): "marks",
        ("section:a", "concept:momentum"): "repeats",
    }


def test_only_sections_of_level_two_with_an_id_of_their_own_are_nodes() -> None:
    written = note("heat", sections=(A, section("sub", 3, level=3), section("auto", 4, explicit=False)))
    assert list(network(written, KNOWN)) == ["note", "section:a"]


def test_nodes_carry_labels_in_the_language_of_the_note_and_their_order() -> None:
    written = note("heat", "zh", title="热", sections=(B, A), passages=(passage("动量", "b"),))
    nodes = dict(network(written, KNOWN).nodes(data=True))
    assert nodes["note"] == {"kind": "note", "id": "heat", "label": "热", "order": 0}
    assert nodes["section:a"] == {"kind": "section", "id": "a", "label": "A", "order": 2}
    assert nodes["concept:momentum"]["label"] == "动量"
    assert nodes["concept:momentum"]["places"] == (Place("b", "动量", "动量", False, "b", 1),)


def test_a_note_without_concepts_has_a_network_of_its_sections() -> None:
    assert list(network(note("heat"), {})) == ["note"]


# Words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Momentum is kept.", ["momentum"]),
        ("the momenta and momentums", []),
        ("its angular-momentum!", ["momentum"]),
        ("a velocity", ["momentum"]),
        ("the momentum buffer", ["buffer"]),
        ("the momentum buffers", ["momentum"]),
        ("Kahan summation", ["kahan"]),
        ("Kahan-summation and summation", ["kahan", "summation"]),
        ("compensated\u00a0summation", ["kahan"]),
        ("summations", []),
        ("the addition  order", ["order"]),
        ("ＦＰ１６ here", ["f16"]),
        ("float160 or afloat16", []),
        ("动量", []),
        ("momentum_buffer", []),
    ],
)
def test_latin_spellings_are_whole_words(text: str, found: list[str]) -> None:
    assert named(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("丢失动量之后", ["momentum"]),
        ("补偿求和更准", ["kahan"]),
        ("补偿求和与求和", ["kahan", "summation"]),
        ("惯性项", ["momentum"]),
        ("动量缓冲", ["buffer"]),
        ("用float16训练", ["f16"]),
        ("用FP16，而不是momentum", ["f16", "momentum"]),
        ("动", []),
    ],
)
def test_in_chinese_the_longest_spelling_wins(text: str, found: list[str]) -> None:
    assert named(text, "zh") == found


def test_a_spelling_of_two_concepts_names_both() -> None:
    known = concepts(concept("a", "order", "甲"), concept("b", "sequence", "乙", en=("order",)))
    assert list(places(note("heat", passages=(passage("In order."),)), known)) == ["a", "b"]


@given(st.text(alphabet="动量补偿求和 momentu-.。Kahn\n", max_size=80))
def test_every_place_holds_its_words(text: str) -> None:
    for found in places(note("heat", "zh", passages=(passage(text),)), KNOWN).values():
        for place in found:
            assert place.words in text
            assert place.sentence in text


@given(st.text(alphabet="xy 。", max_size=20), st.text(alphabet="xy 。", max_size=20))
def test_a_name_in_chinese_is_found_wherever_it_stands(before: str, after: str) -> None:
    assert named(f"{before}动量{after}", "zh") == ["momentum"]


# Places


def test_every_occurrence_is_a_place_with_its_sentence() -> None:
    written = note(
        "heat",
        sections=(A,),
        passages=(
            passage("First. Keep the momentum, since momentum counts. Last.", "a", 3),
            passage("No velocity!", "a", 5),
        ),
        marks=(mark("momentum", "momentum", "Keep the momentum, since momentum counts.", "a", 3),),
    )
    assert places(written, KNOWN)["momentum"] == (
        Place("a", "Keep the momentum, since momentum counts.", "momentum", True, "at-momentum-1", 3),
        Place("a", "Keep the momentum, since momentum counts.", "momentum", False, "a", 3),
        Place("a", "No velocity!", "velocity", False, "a", 5),
    )


def test_words_that_are_marked_are_not_named_a_second_time() -> None:
    written = note(
        "heat",
        passages=(passage("A compensated sum is a Kahan summation.", None, 3),),
        marks=(mark("order", "Kahan summation", "A compensated sum is a Kahan summation.", None, 3),),
    )
    assert list(places(written, KNOWN)) == ["order"]


def test_a_mark_in_a_heading_has_its_place_too() -> None:
    written = note("heat", sections=(A,), marks=(mark("momentum", "Momentum", "Momentum first", "a", 2),))
    (place,) = places(written, KNOWN)["momentum"]
    assert (place.section, place.sentence, place.marked) == ("a", "Momentum first", True)


def test_concepts_stand_in_the_order_of_their_first_place() -> None:
    written = note(
        "heat", sections=(A, B), passages=(passage("Summation.", "b", 7), passage("Momentum, float16.", "a", 3))
    )
    assert list(places(written, KNOWN)) == ["momentum", "f16", "summation"]


def test_the_title_of_a_work_in_a_footnote_names_no_concept() -> None:
    text = "## One {#one}\n\nA claim.[^1]\n\n[^1]: Mixed precision training, [precision]{concept=precision} marked.\n"
    found, faults = read(text)
    assert faults == ()
    precision = Concept("precision", Text("precision", "精度"), Text("bits", "位数"), {})
    (place,) = places(found, {"precision": precision})["precision"]
    assert place.marked
