"""Formulas as plain text, as search finds them and panels quote them."""

import pytest

from app.content.rules.mathematics import in_words, mathml
from tests.content.garden import read


@pytest.mark.parametrize(
    ("latex", "words"),
    [
        (r"(w - \mathrm{target})^2 / 2", "(w − target)² / 2"),
        (r"10^{16} + (-10^{16} + 1)", "10¹⁶ + (−10¹⁶ + 1)"),
        (r"v' = \beta v", "v′ = βv"),
        (r"\left|a - e\right| \le \mathrm{atol}", "|a − e| ≤ atol"),
        (r"\frac{1}{2}", "1/2"),
        (r"x_i", "x_i"),
        (r"10^{-4}", "10⁻⁴"),
        (r"w", "w"),
    ],
)
def test_a_formula_reads_as_a_line_of_text(latex: str, words: str) -> None:
    html, why = mathml(latex, "inline")
    assert why == ""
    assert in_words(html) == words


def test_links_and_formulas_stand_in_a_passage_as_a_reader_sees_them() -> None:
    found, _ = read("See [[heat]], [[heat|the note]] and $x^2$.\n")
    assert [passage.text for passage in found.passages] == ["See heat, the note and x²."]


@pytest.mark.parametrize(
    ("written", "texts"),
    [
        ("$$\nw = \\frac{a}{b}\n$$", ["w = a/b"]),
        ("one line\n\n$$ x^2 $$", ["one line", "x²"]),
        ("- item\n\n  $$\n  y + 1\n  $$", ["item", "y + 1"]),
        ("$$\n\\frac{\n$$", ["$$ \\frac{ $$"]),
    ],
)
def test_a_displayed_formula_is_a_passage_of_its_own(written: str, texts: list[str]) -> None:
    found, _ = read(written + "\n")
    assert [passage.text for passage in found.passages] == texts
