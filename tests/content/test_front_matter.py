"""Front matter: none at all, as vaults have it, and as it goes wrong."""

from datetime import date

import pytest

from tests.content.garden import read


def matter(text: str) -> str:
    return f"---\n{text}---\n\ntext\n"


def test_a_note_needs_no_front_matter() -> None:
    note, faults = read("# Cold\n\nWinter is coming. It is late.\n")
    assert not faults
    assert (note.title, note.summary) == ("Cold", "Winter is coming. It is late.")
    assert (note.growth, note.planted, note.tended, note.tags, note.draft) == ("seedling", None, None, (), False)
    assert note.extra == {}


def test_every_known_key_is_read() -> None:
    note, faults = read(
        matter(
            "title: 热与噪声\nsummary: Two\n  lines.\ngrowth: Evergreen\n"
            "planted: 2026-11-30\ntended: 2026-12-01T10:00:00\ntags: [resume, 恢复]\n"
            "aliases: [old-slug, Old Title]\ntranslates: {restore: 3e10, first: 0012}\ndraft: true\n"
        )
    )
    assert not faults
    assert (note.title, note.summary, note.growth) == ("热与噪声", "Two lines.", "evergreen")
    assert (note.planted, note.tended) == (date(2026, 11, 30), date(2026, 12, 1))
    assert (note.tags, note.aliases) == (("resume", "恢复"), ("old-slug", "Old Title"))
    assert note.translates == {"restore": "3e10", "first": "0012"}
    assert note.draft


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: one", ("one",)),
        ("tags: one two", ("one", "two")),
        ("tags: one two, three", ("one two", "three")),
        ("tags: '#one #two'", ("one", "two")),
        ("tags: 恢复，动量", ("恢复", "动量")),
        ("tags: [2026, one, one, '']", ("2026", "one")),
        ("tags:\n  - one\n  - two", ("one", "two")),
        ("tags:", ()),
        ("tags: []", ()),
    ],
)
def test_tags_are_read_as_vaults_write_them(written: str, tags: tuple[str, ...]) -> None:
    note, faults = read(matter(f"{written}\n"))
    assert (note.tags, faults) == (tags, ())


@pytest.mark.parametrize("written", ["2026-11-30", "'2026-11-30'", "2026/11/30", "2026年11月30日", "2026-11-30 08:00"])
def test_a_date_is_a_date_or_a_string(written: str) -> None:
    note, faults = read(matter(f"planted: {written}\n"))
    assert (note.planted, faults) == (date(2026, 11, 30), ())


def test_keys_that_nobody_knows_are_kept() -> None:
    note, faults = read(matter("cssclasses: [wide]\npublish: true\nweight: 3\nnested: {a: [1, 2.5]}\nempty:\n"))
    assert not faults
    assert note.extra == {
        "cssclasses": ["wide"],
        "publish": True,
        "weight": 3,
        "nested": {"a": [1, 2.5]},
        "empty": None,
    }


def test_lines_are_counted_from_the_top_of_the_file() -> None:
    _, faults = read("---\ntitle: a\n---\n\n[x]{concept=}\n")
    assert [fault.line for fault in faults] == [5]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("title: a\ngrowth: [unclosed\nx: 1\n", 4, "the front matter cannot be read"),
        ("title: a: b\n", 2, "the front matter cannot be read"),
        ("? {a: b}\n: c\n", 2, "a key must be a word"),
        ("- a\n- b\n", 2, "no lines of the form 'key: value'"),
        ("title: a\ntags: [b]\ntitle: c\n", 4, "'title' is already in line 1"),
        ("title: a\ngrowth: sedling\n", 3, "did you mean 'seedling'?"),
        ("growth: tree\n", 2, "write one of seedling, budding, evergreen, speculative"),
        ("growth: [budding]\n", 2, "a single value"),
        ("planted: last week\n", 2, "'last week' is no date; write it as 2026-11-30"),
        ("planted: 2026-13-45\n", 2, "'2026-13-45' is no date"),
        ("draft: perhaps\n", 2, "neither true nor false"),
        ("translates: abc\n", 2, "'section: digest' lines"),
        ("other: *none\n", 2, "the front matter cannot be read"),
    ],
)
def test_what_cannot_be_read_is_a_fault_with_its_line(text: str, line: int, words: str) -> None:
    note, faults = read(matter(text))
    assert [fault.line for fault in faults] == [line]
    assert words in faults[0].what
    assert faults[0].stops
    assert note.passages[0].text == "text"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("title: {{title}}\n", 2, "'title' in the front matter"),
        ("title: [a]\n", 2, "a single value"),
        ("tags: {a: b}\n", 2, "a word or a list of words"),
        ("<% tp.file.title %>\ntags: a\n", 3, "the front matter cannot be read"),
        ("aliases: {{aliases}}\ncreated: {{date}}\n", 2, "a word or a list of words"),
    ],
)
def test_templates_and_other_forms_of_shared_keys_stop_nothing(text: str, line: int, words: str) -> None:
    note, faults = read(matter(text))
    assert [(fault.line, fault.stops) for fault in faults] == [(line, False)]
    assert words in faults[0].what
    assert note.passages[0].text == "text"


def test_unknown_keys_that_yaml_makes_nothing_of_are_kept_as_written() -> None:
    note, faults = read(matter("other: 2026-13-45\n说明: !secret x\ncreated: {{date:YYYY}}\n"))
    assert faults == ()
    assert note.extra == {"other": "2026-13-45", "说明": "!secret x", "created": "{{date:YYYY}}"}


@pytest.mark.parametrize("written", ["publish: false", "publish: 'false'", "publish: no", "draft: true\npublish: true"])
def test_what_obsidian_does_not_publish_is_a_draft(written: str) -> None:
    note, faults = read(matter(f"{written}\n"))
    assert (note.draft, faults) == (True, ())


@pytest.mark.parametrize("written", ["publish: true", "publish:", "publish: 2026-11-30", "draft: false"])
def test_all_else_is_public(written: str) -> None:
    assert not read(matter(f"{written}\n"))[0].draft


@pytest.mark.parametrize(
    ("written", "aliases"),
    [
        ("aliases: Old Title", ("Old Title",)),
        ("aliases: one, two words，三", ("one", "two words", "三")),
        ("aliases:\n  - a, b\n  - c", ("a, b", "c")),
        ("alias: one\naliases: [two]", ("one", "two")),
        ("aliases:", ()),
    ],
)
def test_aliases_are_a_string_or_a_list(written: str, aliases: tuple[str, ...]) -> None:
    note, faults = read(matter(f"{written}\n"))
    assert (note.aliases, faults) == (aliases, ())


def test_tabs_in_front_matter_are_read_as_spaces() -> None:
    note, faults = read("---\ntags:\n\t- one\n\t- two\n---\ntext\n")
    assert (note.tags, faults) == (("one", "two"), ())


def test_all_that_is_wrong_is_told_at_once() -> None:
    _, faults = read("---\ngrowth: tree\nplanted: soon\n---\n\n[x]{concept=}\n")
    assert [fault.line for fault in faults] == [2, 3, 6]


def test_front_matter_that_does_not_end_is_a_fault() -> None:
    _, faults = read("---\ntitle: a\n\n# b\n")
    assert [(fault.line, fault.what) for fault in faults] == [
        (1, "the front matter does not end; write a line '---' below it")
    ]


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    note, faults = read("---\n\nJust a line above.\n")
    assert (note.passages[0].text, faults) == ("Just a line above.", ())


@pytest.mark.parametrize("text", ["\ufeff---\ntitle: a\n---\nb", "---\r\ntitle: a\r\n---\r\nb", "---  \ntitle: a\n---"])
def test_marks_of_windows_and_a_missing_end_do_no_harm(text: str) -> None:
    note, faults = read(text)
    assert (note.title, faults) == ("a", ())
    assert note.source == text
