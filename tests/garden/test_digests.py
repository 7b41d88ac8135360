"""The digests of sections, the translations that are behind, and the texts that they were made from."""

import hashlib
from pathlib import Path

import pytest
from handmade import note as bare
from repositories import AUTUMN, SPRING, SUMMER, Repository

from app.checks import check
from app.content.files import Files, Source
from app.content.note import Note
from app.content.notes import note as read
from app.content.reader import read_notes
from app.errors import Fault
from app.garden.digests import (
    Stale,
    behind,
    digest,
    digests,
    old_section,
    read_old_sections,
    section_digest,
    section_in,
    section_texts,
    stale,
    write_old_sections,
)
from app.garden.garden import Garden, grow
from app.language import Language

TEXT = """\
---
title: Heat
---

First words.

## Restore {#restore}

Restore more.

### Weights {#weights}

All of them.

## Without an id

Belongs to what stands before it.

Compare {#compare}
==================

```
## No heading {#no}
```
"""


def note(source: str, language: Language = "en", slug: str = "heat") -> Note:
    made, faults = read(source, Source(f"{slug}.{language}.md", slug, slug, language), Files())
    assert faults == ()
    return made


def garden(*notes: Note) -> Garden:
    return grow(notes, {})


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def test_a_section_goes_to_the_next_of_its_level_or_above() -> None:
    rest = "## Without an id\n\nBelongs to what stands before it.\n\n"
    weights = f"### Weights {{#weights}}\n\nAll of them.\n\n{rest}"
    found = {section: text.strip() for section, text in section_texts(note(TEXT)).items()}
    assert found == {
        "top": "First words.",
        "restore": f"## Restore {{#restore}}\n\nRestore more.\n\n{weights}".strip(),
        "weights": weights.strip(),
        "compare": "Compare {#compare}\n==================\n\n```\n## No heading {#no}\n```",
    }


def test_a_digest_is_of_the_words() -> None:
    known = digests(note(TEXT))
    assert list(known) == ["top", "restore", "weights", "compare"]
    assert known["top"] == section_digest(note(TEXT), "") == sha("First words.")
    assert known["compare"] == sha("Compare {#compare} ================== ``` ## No heading {#no} ```")
    with pytest.raises(KeyError):
        section_digest(note(TEXT), "no")


@pytest.mark.parametrize(
    "other",
    [
        TEXT.replace("title: Heat", "title: Heat\ngrowth: budding"),
        TEXT.partition("---\n\n")[2],
        TEXT.replace("\n", "\r\n"),
        "\ufeff" + TEXT,
        TEXT.replace("First words.", "First\nwords.  "),
        TEXT.replace("\n\n", "\n\n\n"),
    ],
)
def test_white_space_and_front_matter_make_no_difference(other: str) -> None:
    assert digests(note(other)) == digests(note(TEXT))


def test_lines_of_chinese_may_be_broken_anywhere() -> None:
    assert digest("先声明\n相等层次，\n再看 Adam\n的状态。\n") == sha("先声明相等层次，再看 Adam 的状态。")
    assert digest("先声明") != digest("先说明")
    assert digest("e\u0301") == digest("é")
    assert digest("") == digest(" \n") == sha("")


def test_a_note_without_ids_is_one_section() -> None:
    assert digests(note("# Heat\n\nOne.\n\n## Two\n\nThree.\n")) == {"top": sha("# Heat One. ## Two Three.")}
    assert digests(note("")) == {"top": sha("")}


def test_a_section_called_top_and_the_text_before_it_are_one() -> None:
    text = "One.\n\n## Two {#top}\n\nThree.\n\n## Four {#four}\n"
    assert digests(note(text)) == {"top": sha("One. ## Two {#top} Three."), "four": sha("## Four {#four}")}
    assert section_in([text], "top", sha("One. ## Two {#top} Three.")) is not None


# Stale


def test_a_section_is_stale_when_the_text_it_was_translated_from_has_changed() -> None:
    english = note("One.\n\n## Two {#two}\n\nThree.\n\n## Four {#four}\n")
    now = sha("## Two {#two} Three.")
    chinese = bare("heat", "zh", translates={"two": "00000000", "top": sha("One."), "gone": "1111"})
    assert stale(chinese, english) == (Stale("two", "00000000", now),)
    assert stale(english, chinese) == ()
    assert stale(bare("heat", "zh", translates={"two": f" {now.upper()}"}), english) == ()


def test_what_has_no_digest_is_not_stale() -> None:
    assert stale(bare("heat", "zh"), note(TEXT)) == ()


def test_a_translation_that_is_behind_is_warned_of() -> None:
    translates = "---\ntranslates: {top: '1', two: '2'}\n---\n\n"
    english = note("One.\n\n## Two {#two}\n")
    chinese = note(f"{translates}一。\n\n## 二 {{#two}}\n", "zh")
    say = "was translated from an older text of heat.en.md; mend the translation, then run perennial translated heat"
    assert list(behind(garden(english, chinese), "en")) == [
        Fault("heat.zh.md", 4, f"the text before the first section {say}", stops=False),
        Fault("heat.zh.md", 7, f"the section 'two' {say}", stops=False),
    ]
    assert [fault.what for fault in behind(garden(english, chinese), "zh")][1] == f"the section 'two' {say} --from en"
    assert list(behind(garden(english), "en")) == list(behind(garden(chinese), "en")) == []


def test_the_name_of_a_note_can_be_copied_into_a_shell() -> None:
    old = note("---\ntranslates: {top: '1'}\n---\n\n一。\n", "zh", "heat and noise")
    (fault,) = behind(garden(note("One.\n", "en", "heat and noise"), old), "en")
    assert fault.what.startswith("the text was translated from an older text of heat and noise.en.md; ")
    assert fault.what.endswith("run perennial translated 'heat and noise'")


def test_a_check_warns_of_translations_that_are_behind(tmp_path: Path) -> None:
    (tmp_path / "heat.en.md").write_text("One.\n\n## Two {#two}\n", encoding="utf-8")
    (tmp_path / "heat.zh.md").write_text(
        "---\ntranslates:\n  two: 00000000\n---\n一。\n\n## 二 {#two}\n", encoding="utf-8"
    )
    report = check(tmp_path, "en")
    (late,) = [fault for fault in report.warnings if "older text" in fault.what]
    assert (late.file, late.line, late.stops) == (f"{tmp_path.name}/heat.zh.md", 7, False)


# Old texts


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "garden")


def test_the_text_that_was_translated_is_found_in_the_repository(repository: Repository) -> None:
    old = "One.\n\nThe first\ntwo {#two}\n---\n\nOld.\n\n### Three {#three}\n\n## Four {#four}\n"
    repository.commit(SPRING, **{"old.en": old})
    repository.commit(SUMMER, **{"old.en": None, "heat.en": old.replace("Old.", "New.")})
    repository.commit(AUTUMN, **{"heat.en": old.replace("Old.", "Newer.").replace("One.", "1.")})
    known = digests(note(old))
    found = {section: old_section(repository.content, "heat.en.md", section, known[section]) for section in known}
    assert found == section_texts(note(old))
    assert old_section(repository.content, "heat.en.md", "two", "00000000") is None
    assert old_section(repository.content, "heat.en.md", "five", known["two"]) is None


def test_an_image_without_repository_has_the_old_texts_too(repository: Repository) -> None:
    old = "One.\n\n## Two {#two}\n\nOld.\n"
    two = digests(note(old))["two"]
    lost = f"---\ntranslates: {{top: '00000000', two: '{two}'}}\n---\n一。\n\n## 二 {{#two}}\n"
    repository.commit(SPRING, **{"heat.en": old, "heat.zh": lost, "order.en": old})
    repository.commit(SUMMER, **{"heat.en": old.replace("Old", "New")})
    path = repository.folder / "index.json"
    assert read_old_sections(path) is None
    notes, _ = read_notes(repository.content, "en")
    assert write_old_sections(grow(notes, {}), repository.content, path) == 1
    assert read_old_sections(path) == {"heat.en.md": {two: "## Two {#two}\n\nOld.\n"}}
