"""Two texts side by side: exact, and readable."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.garden.differences import Paragraph, Piece, Unchanged, differences, paragraph_differences

WORDS = [
    "the ",
    "heat",
    " noise",
    "。",
    "热",
    "噪声",
    "\n",
    "\n\n",
    "0.352",
    ", ",
    "  ",
    "it's",
    "é",
    "e\u0301",
    "が",
    "😀",
]
texts = st.lists(st.sampled_from(WORDS), max_size=40).map("".join) | st.text(max_size=60)


def shown(pieces: tuple[Piece, ...]) -> str:
    marks = {"same": "{}", "gone": "[-{}-]", "new": "[+{}+]"}
    return "".join(marks[piece.kind].format(piece.text) for piece in pieces)


@pytest.mark.parametrize(
    ("before", "after", "marked"),
    [
        ("", "", ""),
        ("", "new", "[+new+]"),
        ("gone", "", "[-gone-]"),
        ("the same", "the same", "the same"),
        ("The weight is lost.", "The momentum is lost.", "The [-weight-][+momentum+] is lost."),
        ("Restore it.", "Restore it all.", "Restore it[+ all+]."),
        ("It fell to 0.352 here", "It fell to 0.514 here", "It fell to [-0.352-][+0.514+] here"),
        ("after 1,000 steps", "after 10,000 steps", "after [-1,000-][+10,000+] steps"),
        ("they don't agree", "they do agree", "they [-don't-][+do+] agree"),
        ("第3步走到了0.352。", "第3步走到了0.514。", "第3步走到了[-0.352-][+0.514+]。"),
        ("恢复权重就够了", "恢复动量才够了", "恢复[-权重就-][+动量才+]够了"),
        ("かなを書く", "かなを読む", "かなを[-書く-][+読む+]"),
        ("它收敛了。", "它没有收敛。", "它[+没有+]收敛[-了-]。"),
    ],
)
def test_words_and_characters_are_what_changes(before: str, after: str, marked: str) -> None:
    assert shown(differences(before, after)) == marked


def test_a_letter_is_never_marked_inside_a_word() -> None:
    assert shown(differences("momentum", "momenta")) == "[-momentum-][+momenta+]"


def test_little_that_is_the_same_between_changes_is_part_of_them() -> None:
    assert shown(differences("The cat is big.", "The dog is small.")) == "The [-cat is big-][+dog is small+]."
    assert shown(differences("只有一个权重。", "只有两个参数。")) == "只有[-一个权重-][+两个参数+]。"
    far = differences("One word in each of the few.", "Two word in each of the many.")
    assert shown(far) == "[-One-][+Two+] word in each of the [-few-][+many+]."


def test_a_paragraph_that_came_between_is_new_as_a_whole() -> None:
    before, after = "One.\n\nThree.\n", "One.\n\nTwo.\n\nThree.\n"
    assert shown(differences(before, after)) == "One.\n\n[+Two.\n\n+]Three.\n"


def test_words_are_found_in_long_texts_whose_every_paragraph_changed() -> None:
    before = "".join(f"Run {n} ended at {n * 7} after its checkpoint number{n} was restored.\n\n" for n in range(400))
    pieces = differences(before, before.replace("checkpoint", "trace"))
    assert {piece.text for piece in pieces if piece.kind == "gone"} == {"checkpoint"}
    assert {piece.text for piece in pieces if piece.kind == "new"} == {"trace"}
    assert sum(piece.kind == "new" for piece in pieces) == 400


def test_long_texts_without_anything_alike_are_one_change() -> None:
    pieces = differences("a b " * 3000, "c d " * 3000)
    assert [piece.kind for piece in pieces] == ["gone", "new", "same"]


@given(texts, texts)
def test_the_pieces_give_both_texts_back(before: str, after: str) -> None:
    pieces = differences(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == after
    assert all(piece.text for piece in pieces)
    assert all(one.kind != two.kind for one, two in pairwise(pieces))


@settings(max_examples=15)
@given(st.permutations(range(300)), st.permutations(range(300)), st.sampled_from([" ", " a "]))
def test_the_pieces_of_long_passages_give_both_texts_back(one: list[int], two: list[int], between: str) -> None:
    before, after = (between.join(map(str, numbers)) for numbers in (one, two[:200]))
    pieces = differences(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == after


@given(texts)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert differences(text, text) == ((Piece("same", text),) if text else ())
    assert paragraph_differences(text, text) == ()


@given(texts, texts)
def test_the_paragraphs_hold_every_change(before: str, after: str) -> None:
    shown = paragraph_differences(before, after)
    pieces = [piece for part in shown if isinstance(part, Paragraph) for piece in part.pieces]
    for kind in ("gone", "new"):
        whole = "".join(piece.text for piece in differences(before, after) if piece.kind == kind)
        assert "".join(piece.text for piece in pieces if piece.kind == kind) == whole


def test_long_unchanged_stretches_are_counted() -> None:
    before = "".join(f"Paragraph {n}.\n\n" for n in range(10))
    same = {n: Paragraph((Piece("same", f"Paragraph {n}.\n\n"),)) for n in range(10)}
    changed = Paragraph((Piece("same", "Paragraph "), Piece("gone", "5"), Piece("new", "five"), Piece("same", ".\n\n")))
    after = before.replace("5", "five")
    assert paragraph_differences(before, after) == (Unchanged(4), same[4], changed, same[6], Unchanged(3))
    assert paragraph_differences(before, after, around=0) == (Unchanged(5), changed, Unchanged(4))
    assert paragraph_differences(before, after, around=3) == (
        Unchanged(2), *(same[n] for n in (2, 3, 4)), changed, *(same[n] for n in (6, 7, 8, 9)),
    )  # fmt: skip


def test_one_paragraph_is_not_worth_a_count() -> None:
    shown = paragraph_differences("One.\n\nTwo.\n\nThree.\n", "One.\n\nTwo.\n\n3.\n")
    assert [part for part in shown if isinstance(part, Unchanged)] == []
