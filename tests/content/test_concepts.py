"""The concepts of the garden, and what can be wrong with a list of them."""

from pathlib import Path

import pytest

from app.content.concepts import read_concepts
from app.content.note import Concept
from app.language import Text

MOMENTUM = "momentum:\n  label: {en: momentum, zh: 动量}\n  meaning: {en: a sum, zh: 一个和}\n"
GARDEN = Path(__file__).parents[2] / "content"


def told(root: Path, text: str = "") -> list[str]:
    if text:
        (root / "concepts.yaml").write_text(text, encoding="utf-8")
    return [str(fault) for fault in read_concepts(root)[1]]


def test_no_file_is_no_concepts(tmp_path: Path) -> None:
    assert read_concepts(tmp_path) == ({}, ())


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    (tmp_path / "concepts.yaml").mkdir()
    assert told(tmp_path) == ["concepts.yaml:1: this cannot be opened (Is a directory)"]


def test_a_concept_has_both_languages_and_perhaps_other_spellings(tmp_path: Path) -> None:
    (tmp_path / "concepts.yaml").write_text(
        MOMENTUM + "  also: {en: [momenta, velocity], zh: 速度}\n", encoding="utf-8"
    )
    concepts, faults = read_concepts(tmp_path)
    assert not faults
    assert concepts == {
        "momentum": Concept(
            id="momentum",
            label=Text("momentum", "动量"),
            meaning=Text("a sum", "一个和"),
            also={"en": ("momenta", "velocity"), "zh": ("速度",)},
        )
    }


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (MOMENTUM + MOMENTUM, "concepts.yaml:4: this cannot be read: 'momentum' is already in line 1"),
        ("a: b\nc: d: e\n", "concepts.yaml:2: this cannot be read"),
        ("a: b\n", "concepts.yaml:1: the concept 'a': it needs 'label', 'meaning' and 'also'"),
        ("A b:\n  label: x\n", "concepts.yaml:1: the concept 'A b': an id is made of"),
        ("a:\n  label: {en: a, zh: 甲}\n", "concepts.yaml:1: the concept 'a': it has no 'meaning'"),
        (
            "a:\n  label: {en: a}\n  meaning: {en: b, zh: 乙}\n",
            "concepts.yaml:2: the concept 'a': its 'label' is missing in zh",
        ),
        (
            "a:\n  label: a\n  meaning: {en: b, zh: 乙}\n",
            "concepts.yaml:1: the concept 'a': it needs its 'label' in both",
        ),
        (MOMENTUM + "  links: x\n", "concepts.yaml:4: the concept 'momentum': it has no place for 'links'"),
        (
            MOMENTUM + "v:\n  label: {en: Momentum, zh: 速度}\n  meaning: {en: b, zh: 乙}\n",
            "concepts.yaml:4: 'Momentum' is a spelling of 'momentum' and of 'v'",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, fault: str) -> None:
    (found,) = told(tmp_path, text)
    assert found.startswith(fault)


def test_the_concepts_of_this_garden_can_be_read() -> None:
    concepts, faults = read_concepts(GARDEN)
    assert not faults
    assert concepts["momentum"].label == Text("momentum", "动量")
    assert "checkpoints" in concepts["checkpoint"].also["en"]
    assert "续训" in concepts["resume"].also["zh"]
