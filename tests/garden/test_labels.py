"""Labels: measured in em, broken where a reader would break them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.garden.labels import lines, width


def test_a_han_character_is_one_em_and_a_latin_letter_about_half() -> None:
    assert width("精度", 13) == 26
    assert width("neon", 13) == pytest.approx(4 * 0.56 * 13, abs=0.01)
    assert width("", 13) == 0


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("Restore", ("Restore",)),
        ("Restore more than weights", ("Restore more", "than weights")),
        ("训练结果为何会变：精度、数据顺序与恢复语义", ("训练结果为何会变：", "精度、数据顺序", "与恢复语义")),
        ("按 token 平均的损失值", ("按 token", "平均的损失值")),
    ],
)
def test_lines_break_between_words_and_after_marks(text: str, broken: tuple[str, ...]) -> None:
    assert lines(text, 13, 124, 3) == broken


def test_a_term_that_is_known_is_not_torn_apart() -> None:
    assert lines("逐步比较浮点精度", 10, 50, 2) == ("逐步比较", "浮点精度")
    assert lines("逐步比较浮点精度", 10, 60, 2, whole=("逐步比较浮点",)) == ("逐步比较浮点", "精度")
    assert lines("逐步比较浮点精度", 10, 50, 2, whole=("步比较浮",)) == ("逐步比较浮", "点精度")
    assert lines("逐步比较浮点精度", 10, 40, 2, whole=("步比较浮",)) == ("逐步比较", "浮点精度")


def test_a_word_longer_than_a_line_is_broken_as_it_must() -> None:
    assert "".join(lines("unpronounceableconfiguration", 10, 50, 9)) == "unpronounceableconfiguration"


def test_what_does_not_fit_ends_in_an_ellipsis() -> None:
    assert lines("one two three four five six", 10, 50, 2)[-1].endswith("…")


@given(st.text("ab 精度，。（）-:M…é", max_size=60), st.integers(30, 200), st.integers(1, 3))
def test_no_line_is_wider_than_it_may_be(text: str, widest: int, most: int) -> None:
    broken = lines(text, 13, widest, most)
    assert len(broken) <= most
    assert all(width(line, 13) <= widest + 0.2 for line in broken)
