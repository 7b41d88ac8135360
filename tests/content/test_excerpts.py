"""Sections of a note with the footnotes that they refer to, and notes shown inside other notes."""

from dataclasses import replace

import pytest

from app.content.excerpts import excerpt
from tests.content.garden import Shown, read, shown

TEXT = """before[^1]

## A {#a}

in a[^2]

### Deeper {#deeper}

in deeper

```widget momentum
```

## B {#b}

in b

[^1]: first
[^2]: second
"""


@pytest.mark.parametrize(
    ("section", "words", "others"),
    [
        ("a", ["in a", "in deeper", "(widget momentum", "second"], ["before", "in b", "first"]),
        ("deeper", ["in deeper", "(widget momentum"], ["in a", "in b", "second", "footnotes"]),
        ("b", ["in b"], ["in deeper", "widget", "footnotes"]),
        ("none", [], ["in", "widget", "footnotes"]),
    ],
)
def test_a_section_goes_to_the_next_of_its_level(section: str, words: list[str], others: list[str]) -> None:
    note, _ = read(TEXT)
    html = shown(replace(note, body=excerpt(note, section)))
    assert all(word in html for word in words)
    assert not any(word in html for word in others)


def test_without_a_section_it_is_the_whole_note() -> None:
    note, _ = read(TEXT)
    assert excerpt(note, None) == note.body


def test_an_empty_note_has_no_sections() -> None:
    assert excerpt(read("")[0], "a") == ()


def test_a_note_inside_another_repeats_no_id() -> None:
    note, _ = read("## A {#a}\n\n[x]{concept=seed} y[^1]\n\n[^1]: z\n")
    html = shown(note, Shown(prefix="in-heat-"))
    for id in ("a", "at-seed-1", "fnref-1", "fn-1"):
        assert f'id="in-heat-{id}"' in html
    for href in ("a", "fn-1", "fnref-1"):
        assert f'href="#in-heat-{href}"' in html


def test_interface_words_follow_the_language() -> None:
    note, _ = read(
        "## 甲 {#a}\n\n[[没有]]乙[^1] [0.43]{ran=resume read=loss}\n\n[^1]: 丙\n\n> [!warning]\n", language="zh"
    )
    html = shown(note)
    for words in ("链接到：甲", "回到引用处 1", "脚注", "尚未写成", "此处为 0.44", "注意"):
        assert words in html
