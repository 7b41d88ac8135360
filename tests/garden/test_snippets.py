"""Hits in texts as they were written, and the few words around them."""

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.content.files import folded
from app.garden.folding import PLAIN, Fold, joins, origins, unaccented
from app.garden.snippets import Pieces, hits, marked, snippet

STRANGE = (
    "aé e\u0301\u0323ﬁ㎏Ｆ１½ßİΣς…ｶﾞが한\u1112\u1161\u11ab\u0345ᾳ恢复𠀋，。👩\u200d💻👍🏽🇨🇳🇫🇷\u200d\ufe0f\u00a8ŉǰ \n"
)
texts = st.text(st.one_of(st.sampled_from(STRANGE), st.characters(exclude_categories=["Cs"])), max_size=30)
lines = st.lists(texts.map(lambda text: text.replace("\n", " ")), min_size=1, max_size=5)
folds = st.sampled_from([folded, unaccented])


def written(pieces: Pieces) -> str:
    return "".join(text for text, _ in pieces)


def stressed(pieces: Pieces) -> list[str]:
    return [text for text, hit in pieces if hit]


# Folded characters and where they come from


@given(texts, folds)
@example("ｶﾞﾊﾟ", folded)
@example("\u1112\u1161\u11ab", folded)
@example("a\u0345\u0301b", folded)
@example("q\u0323\u0307", unaccented)
def test_every_folded_character_knows_the_stretch_of_text_that_it_came_from(text: str, fold: Fold) -> None:
    starts, ends = origins(text, fold)
    assert len(starts) == len(ends) == len(fold(text))
    stretches = sorted(set(zip(starts, ends, strict=True)))
    assert all(fold(text[start:end]) for start, end in stretches)
    assert "".join(fold(text[start:end]) for start, end in stretches) == fold(text)
    assert all(before[1] <= after[0] for before, after in pairwise(stretches))


def test_a_character_that_is_called_plain_folds_into_one_and_stands_for_itself() -> None:
    plain = [chr(code) for code in range(0x10000) if re.fullmatch(f"[{PLAIN}]", chr(code))]
    assert len(plain) > 21_000
    assert [c for c in plain if joins(c) or len(folded(c)) != 1 or len(unaccented(c)) != 1] == []


@pytest.mark.parametrize(
    ("text", "term", "hit"),
    [
        ("The ﬁrst", "fi", "ﬁ"),
        ("The ﬁrst", "ir", "ﬁr"),
        ("the weight is 3㎏ here", "kg", "㎏"),
        ("ＦＬＯＡＴ３２", "at3", "ＡＴ３"),
        ("in İstanbul", "i̇s", "İs"),
        ("Straße", "ss", "ß"),
        ("cafe\u0301s", "é", "e\u0301"),
        ("半ｶﾞ角", "ガ", "ｶﾞ"),
        ("从检查点恢复", "恢复", "恢复"),
        ("… and", "..", "…"),
    ],
)
def test_a_hit_is_marked_in_the_text_as_it_was_written(text: str, term: str, hit: str) -> None:
    assert stressed(marked(text, [term])) == [hit]
    assert written(marked(text, [term])) == text


def test_hits_that_overlap_or_touch_are_one() -> None:
    assert hits("aaaa resumed", ["aa", "resu", "me"]) == [(0, 4), (5, 11)]
    assert marked("no hit", ["x"]) == (("no hit", False),)
    assert marked("", ["x"]) == ()


def test_an_accent_is_overlooked_where_it_is_asked_to_be() -> None:
    assert stressed(marked("Ein Résumé, kein Lebenslauf", ["resume"], unaccented)) == ["Résumé"]


# Snippets


@given(lines, st.data(), st.integers(0, 40), folds)
def test_a_snippet_contains_its_hit_wherever_that_stands(
    written_lines: list[str], data: st.DataObject, room: int, fold: Fold
) -> None:
    line = data.draw(st.sampled_from(written_lines))
    start = data.draw(st.integers(0, len(line)))
    words = fold(line[start : start + data.draw(st.integers(1, 6))]).split()
    terms = [word for word in words if any(word in fold(one) for one in written_lines)]
    shown = snippet(written_lines, terms, room, fold)
    assert bool(terms) == bool(stressed(shown))
    assert {hit for _, hit in shown} <= {True, False}
    if len(terms) == 1:
        assert terms[0] in fold(written(shown))


@given(lines, st.integers(0, 40))
def test_a_snippet_is_made_of_whole_characters(written_lines: list[str], room: int) -> None:
    term = (folded(written_lines[-1]).split() or ["恢复"])[-1][-2:]
    for text, _ in snippet(written_lines, [term], room):
        assert text
        assert not any(unicodedata.category(character) == "Cs" for character in text)
        text.encode()


@pytest.mark.parametrize("letter", ["e\u0301\u0323", "👍🏽", "👩\u200d💻", "🇨🇳", "ｶﾞ", "\u1112\u1161\u11ab", "✔\ufe0f"])
def test_a_cut_tears_no_character_apart(letter: str) -> None:
    for room in range(1, 40):
        shown = written(snippet([letter * 12 + "恢复" + letter * 12], ["恢复"], room))
        before, after = shown.strip("…").split("恢复")
        assert before == letter * (len(before) // len(letter))
        assert after == letter * (len(after) // len(letter))


def test_a_snippet_stands_around_the_hit_and_cuts_between_words() -> None:
    text = "A training job is killed after its second step and resumed from a checkpoint, and nothing seems wrong."
    assert snippet([text], ["resumed"], 50) == (
        ("…step and ", False),
        ("resumed", True),
        (" from a checkpoint, and…", False),
    )


def test_a_chinese_snippet_is_cut_by_characters() -> None:
    text = "一个训练任务在第二步之后中断，再从检查点恢复，没有报错，训练照常收敛，只看结尾没有问题。"
    shown = snippet([text], ["恢复"], 18)
    assert stressed(shown) == ["恢复"]
    assert written(shown) == "…再从检查点恢复，没有报错，训练照常收…"


def test_terms_that_stand_apart_are_shown_apart() -> None:
    far = " ".join(["Momentum", *["and so on"] * 30, "drift."])
    shown = snippet([far, "Nothing here.", "A seed."], ["momentum", "drift", "seed"], 90)
    assert stressed(shown) == ["Momentum", "drift", "seed"]
    assert written(shown).count("…") >= 2
    assert "Nothing" not in written(shown)


def test_a_short_line_is_followed_by_what_stands_below_it() -> None:
    shown = snippet(["Restore more than weights", "A run small enough to check by hand."], ["weights"], 70)
    assert written(shown) == "Restore more than weights · A run small enough to check by hand."


def test_a_text_without_a_hit_shows_its_opening() -> None:
    assert snippet(["One two three four five six."], ["seven"], 14) == (("One two three…", False),)
    assert snippet([], ["seven"], 14) == ()
