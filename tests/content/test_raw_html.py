"""HTML in notes as search, reading time and quotations read it: what a reader sees, and nothing else."""

from dataclasses import replace

import pytest

from app.content.note import Passage
from app.content.raw_html import lines
from app.garden.digests import digests
from tests.content.garden import read


@pytest.mark.parametrize(
    ("html", "seen"),
    [
        ("<p>One <b>wo</b>rd &amp; &lt;two&gt;</p>", ("One word & <two>",)),
        ("<div>a<p>b</p>c</div>", ("a", "b", "c")),
        ("a<br>b\n  c", ("a b c",)),
        ("<table><tr><td>a</td><td>b</td></tr></table>", ("a", "b")),
        ('<img src="x.png" alt="a tree"> stands', ("a tree stands",)),
        ("<math><mi>x</mi><mo>+</mo><mn>1</mn></math>", ("x+1",)),
        ("<details><summary>Open</summary>", ("Open",)),
        ("<script>alert(1)</script><style>p { color: red }</style>", ()),
        ("<div><script>a", ()),
        ('<p onclick="handler()" title="hidden" data-x="hidden">seen</p>', ("seen",)),
        ("<!-- for nobody --></div>", ()),
        ("<iframe src='https://example.org'>frame</iframe><textarea>typed", ("frametyped",)),
        ("", ()),
    ],
)
def test_html_has_the_lines_that_a_reader_sees(html: str, seen: tuple[str, ...]) -> None:
    assert lines(html) == seen


def test_each_line_of_an_html_block_is_a_passage_where_it_stands() -> None:
    found, _ = read(
        "Begin.\n\n## A {#a}\n\n<div>\n<p>One.</p><p>Two.</p>\n</div>\n\nEnd.[^1]\n\n[^1]: x\n\n    <p>In it.</p>\n"
    )
    assert found.passages[1:3] == (Passage("a", "One.", 5), Passage("a", "Two.", 5))
    assert found.passages[-1] == replace(found.passages[-1], text="In it.", footnote=True)


@pytest.mark.parametrize("word", ["script", "STYLE"])
def test_what_a_script_in_a_line_holds_is_no_text(word: str) -> None:
    found, _ = read(f'a<{word}>"<b>" hidden</{word}> <i>seen</i>\n')
    assert [passage.text for passage in found.passages] == ["a seen"]


def test_html_before_the_first_paragraph_is_not_its_summary() -> None:
    assert read("<p>Banner.</p>\n\nThe note begins.\n")[0].summary == "The note begins."
    assert read("<p>All that there is.</p>\n")[0].summary == "All that there is."


def test_a_change_in_a_formula_or_in_html_changes_the_digest_of_its_section_alone() -> None:
    text = "## A {#a}\n\n$$\nx\n$$\n\n## B {#b}\n\n<p>One.</p>\n\n## C {#c}\n\nThree.\n"
    before = digests(read(text)[0])
    for old, new, section in (("x", "y", "a"), ("One.", "Two.", "b")):
        after = digests(read(text.replace(old, new, 1))[0])
        assert [id for id in before if after[id] != before[id]] == [section]
