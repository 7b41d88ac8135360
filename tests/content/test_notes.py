"""A folder into notes."""

import unicodedata
from datetime import date
from pathlib import Path

import pytest

from app.content.files import walk
from app.content.note import Embed, Note, Prose
from app.content.reader import read_notes
from app.errors import Fault
from tests.content.garden import read


def folder(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def by_file(root: Path) -> tuple[dict[str, Note], tuple[Fault, ...]]:
    notes, faults = read_notes(root, "en")
    return {note.file: note for note in notes}, faults


# Files and slugs


def test_the_stem_names_slug_and_language(tmp_path: Path) -> None:
    notes, faults = by_file(
        folder(tmp_path, {"heat.en.md": "", "deep/er/heat.zh.md": "", "a/cold.md": "", "v1.2.md": ""})
    )
    assert not faults
    assert {file: (note.slug, note.language) for file, note in notes.items()} == {
        "heat.en.md": ("heat", "en"),
        "deep/er/heat.zh.md": ("heat", "zh"),
        "a/cold.md": ("cold", "en"),
        "v1.2.md": ("v1.2", "en"),
    }


def test_a_vault_without_any_front_matter_has_no_faults(tmp_path: Path) -> None:
    vault = {
        ".obsidian/app.json": "{}",
        ".trash/old.md": "[x]{concept=}",
        "Daily/2026-11-30.md": "- [ ] buy $3 milk and $5,000 shares #todo\n- [x] read [[Some Paper|it]]\n",
        "Some Paper.md": "# Some Paper\n\n> [!quote]- Said\n> words ^a1b2\n\n![[Pasted image.png|300]]\n",
        "Sums.md": "$$\n\\frac{a}{b}\n$$\n",
        "attachments/Pasted image.png": b"\x89PNG",
        "想法/动量 与 速度.md": "今天想到：**动量，**是过去的累积。\n见 [[Some Paper#Said]]、[[还没写]]。\n",
        "empty.md": "",
        "code.md": "```dataview\nlist from #x\n```\n\n```js {1,3}\na[0]{b}\n```\n",
        "canvas.canvas": "{}",
    }
    notes, faults = by_file(folder(tmp_path, vault))
    assert faults == ()
    assert len(notes) == 6
    assert notes["想法/动量 与 速度.md"].title == "动量 与 速度"
    assert notes["Some Paper.md"].files == ("attachments/Pasted image.png",)


def test_names_are_nfc_however_the_disk_spells_them(tmp_path: Path) -> None:
    spelled = unicodedata.normalize("NFD", "café")
    root = folder(tmp_path, {f"{spelled}.md": f"## x {{#{spelled}}}\n[a](heat.md#{spelled}) [[{spelled}#{spelled}]]\n"})
    (note,), faults = read_notes(root, "en")
    assert not faults
    assert (note.slug, note.title) == ("café", "café")
    assert note.sections[0].id == "café"
    assert [(link.target, link.section) for link in note.links] == [("heat", "café"), ("café", "café")]


def test_a_file_is_found_however_its_name_is_spelled(tmp_path: Path) -> None:
    spelled = unicodedata.normalize("NFD", "é.py")
    (note,), faults = read_notes(folder(tmp_path, {spelled: "", "a.md": "[x](é.py)"}), "en")
    assert (note.files, faults) == ((spelled,), ())


@pytest.mark.parametrize("word", ["widgets", "concepts", "compare", "search", "tags", "casebook", "health", "atom.xml"])
def test_a_word_of_the_addresses_is_no_slug(tmp_path: Path, word: str) -> None:
    notes, faults = by_file(folder(tmp_path, {f"{word}.md": "", f"tools/{word}.zh.md": ""}))
    assert notes[f"{word}.md"].slug == f"note-{word}"
    assert notes[f"tools/{word}.zh.md"].slug == f"tools-{word}"
    assert [(fault.line, fault.stops) for fault in faults] == [(1, False)] * 2
    told = {fault.file: fault.what for fault in faults}
    assert f"'{word}' is an address of the garden; this note is served as 'note-{word}'" in told[f"{word}.md"]


def test_a_second_note_of_a_stem_is_named_by_its_folder_with_its_translation(tmp_path: Path) -> None:
    notes, faults = by_file(folder(tmp_path, {"a/x.md": "", "b/x.en.md": "", "b/x.zh.md": "", "c/d/b/x.md": ""}))
    assert {file: note.slug for file, note in notes.items()} == {
        "a/x.md": "x",
        "b/x.en.md": "b-x",
        "b/x.zh.md": "b-x",
        "c/d/b/x.md": "c-d-b-x",
    }
    assert [fault.file for fault in faults] == ["b/x.en.md", "b/x.zh.md", "c/d/b/x.md"]
    assert not any(fault.stops for fault in faults)


def test_a_file_that_is_no_text_is_a_fault(tmp_path: Path) -> None:
    notes, faults = by_file(folder(tmp_path, {"a.md": b"one\ntwo \xff\n", "b.md": "text"}))
    assert list(notes) == ["b.md"]
    assert [str(fault) for fault in faults] == [
        "a.md:2: byte 0xff is not UTF-8, so this note is left out; save the file in UTF-8"
    ]
    assert not faults[0].stops


def test_a_link_out_of_the_folder_finds_nothing(tmp_path: Path) -> None:
    root = folder(
        tmp_path / "content", {"a/b.md": "[x](../../secret.txt) [y](../link.txt) [z](/secret.txt) [[secret.txt]]"}
    )
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (note,), faults = read_notes(root, "en")
    assert note.files == ()
    assert [fault.stops for fault in faults] == [False, False, False]


def test_links_are_followed_to_files_of_the_folder_and_to_no_folder(tmp_path: Path) -> None:
    root = folder(tmp_path / "content", {"a/b/x.md": "x", "a/.hidden/y.md": "y", "node_modules/z.md": "z"})
    for name, to in {"in.md": "a/b/x.md", "out.md": "/etc/passwd", "ring": "ring", "linked": "a", "up": ".."}.items():
        (root / name).symlink_to(to)
    listing = walk(root, "en")
    assert listing.paths == ("in.md", "ring", "a/b/x.md")
    assert walk(root, "en", listing) is listing


def test_files_are_looked_for_beside_the_note_and_from_the_top(tmp_path: Path) -> None:
    text = "[x](x.py) ![y](../pictures/y%20z.png) ![[y z.png]] [[a/x.py]]"
    root = folder(tmp_path, {"a/b.md": text, "a/x.py": "", "x.py": "", "pictures/y z.png": ""})
    (note,), faults = read_notes(root, "en")
    assert (note.files, faults) == (("a/x.py", "pictures/y z.png"), ())


def test_a_note_can_be_named_by_its_path(tmp_path: Path) -> None:
    texts = {"a.md": "[[deep/b]] [[deep/c]] [x](deep/b.md) [[and/or]]", "deep/b.md": "[x](../a.md)", "deep/c.en.md": ""}
    notes, faults = by_file(folder(tmp_path, texts))
    assert [link.target for link in notes["a.md"].links] == ["b", "c", "b", "and/or"]
    assert [link.target for link in notes["deep/b.md"].links] == ["a"]
    assert not faults


# Titles, summaries, reading time


def test_the_first_heading_is_the_title_and_leaves_the_text() -> None:
    note, _ = read("# The *title* of `x`\n\ntext\n\n## more\n")
    assert note.title == "The title of x"
    assert [section.title for section in note.sections] == ["more"]


def test_front_matter_names_the_title_and_the_same_heading_leaves_the_text() -> None:
    same, _ = read("---\ntitle: Cold\n---\n# Cold\n\ntext\n")
    other, _ = read("---\ntitle: Cold\n---\n# Warm\n\ntext\n")
    assert (same.title, same.sections) == ("Cold", ())
    assert (other.title, [section.title for section in other.sections]) == ("Cold", ["Warm"])


def test_without_a_heading_of_the_first_level_the_stem_is_the_title() -> None:
    assert read("## not this\n\n# nor this\n", stem="on-cold")[0].title == "on-cold"


def test_a_title_holds_no_marks() -> None:
    _, faults = read("# Of [cold]{concept=seed}\n")
    assert [(fault.line, fault.what[:22]) for fault in faults] == [(1, "a title holds no marks")]


def test_the_summary_is_what_the_first_paragraph_says_first() -> None:
    text = "## a\n\n- item\n\nShe **saved** the [state]{concept=checkpoint}, i.e. 0.352 of it[^1]. Then she\nwent on. "
    note, _ = read(text + "Word " * 60 + "\n\n[^1]: no\n")
    assert note.summary == "She saved the state, i.e. 0.352 of it. Then she went on."


def test_a_long_first_sentence_is_cut_between_words() -> None:
    english, _ = read("word " * 100)
    chinese, _ = read("动量" * 200)
    assert english.summary.endswith("word…") and len(english.summary) <= 240
    assert chinese.summary == "动量" * 119 + "动…"


def test_reading_time_counts_latin_words_and_han_characters() -> None:
    assert read("short")[0].minutes == 1
    assert read("word " * 660)[0].minutes == 3
    assert read("动量" * 800)[0].minutes == 4
    assert read("word " * 440 + "\n\n" + "动量" * 400)[0].minutes == 4


# What stands in a note


NOTE = """---
growth: budding
planted: 2026-11-30
---
# Cold

Before it all, a [seed]{concept=seed}.

## Restore {#restore}

It goes on. The [momentum]{concept=momentum} falls to
[0.352]{ran=momentum restore=weights read=resumed.1.w}; see [[heat#loss|there]]! And so on[^1].

- An item of [momentum]{concept=momentum}.

### Details {#details}

| cell |
|------|
| 动量。[ulp]{concept=ulp} |

## No id of its own

Last.

```widget momentum
as: second
beta: 0.90
```

[^1]: A footnote with a [seed]{concept=seed}.
"""


def test_sections_know_whose_id_they_have() -> None:
    note, faults = read(NOTE)
    assert not faults
    assert [(s.id, s.title, s.level, s.line, s.explicit) for s in note.sections] == [
        ("restore", "Restore", 2, 9, True),
        ("details", "Details", 3, 16, True),
        ("no-id-of-its-own", "No id of its own", 2, 22, False),
    ]


def test_passages_know_their_section_and_line() -> None:
    note, _ = read(NOTE)
    assert [(passage.section, passage.line, passage.text) for passage in note.passages] == [
        (None, 7, "Before it all, a seed."),
        ("restore", 11, "It goes on. The momentum falls to 0.352; see there! And so on."),
        ("restore", 14, "An item of momentum."),
        ("restore", 18, "cell"),
        ("restore", 20, "动量。ulp"),
        ("restore", 24, "Last."),
        ("restore", 31, "A footnote with a seed."),
    ]


def test_marks_know_their_sentence_section_anchor_and_line() -> None:
    note, _ = read(NOTE)
    assert [(m.concept, m.words, m.section, m.sentence, m.anchor, m.line) for m in note.marks] == [
        ("seed", "seed", None, "Before it all, a seed.", "at-seed-1", 7),
        ("momentum", "momentum", "restore", "The momentum falls to 0.352; see there!", "at-momentum-1", 11),
        ("momentum", "momentum", "restore", "An item of momentum.", "at-momentum-2", 14),
        ("ulp", "ulp", "restore", "ulp", "at-ulp-1", 20),
        ("seed", "seed", "restore", "A footnote with a seed.", "at-seed-2", 31),
    ]


def test_numbers_and_links_know_what_they_are_bound_to() -> None:
    note, _ = read(NOTE)
    (ran,), (link,) = note.rans, note.links
    assert (ran.name, ran.given, ran.read, ran.written, ran.line) == (
        "momentum",
        {"restore": "weights"},
        "resumed.1.w",
        "0.352",
        12,
    )
    assert (link.target, link.section, link.words, link.line) == ("heat", "loss", "there", 12)
    assert link.sentence == "The momentum falls to 0.352; see there!"


def test_a_body_is_prose_and_embeds_in_their_order() -> None:
    note, _ = read(NOTE)
    assert [type(block) for block in note.body] == [Prose, Embed, Prose]
    assert note.embeds == (Embed("momentum", "second", {"beta": "0.90"}, 26),)
    assert note.planted == date(2026, 11, 30)


def test_a_footnote_belongs_to_the_section_that_refers_to_it() -> None:
    note, _ = read("## a {#a}\n\nx[^1]\n\n## b {#b}\n\ny\n\n[^1]: told [here]{concept=seed}\n")
    assert [(mark.section, mark.line) for mark in note.marks] == [("a", 9)]


def test_the_name_that_a_callout_is_given_is_not_the_authors_text() -> None:
    note, _ = read("> [!note]\n> body\n\n> [!tip] Mine\n", language="zh")
    assert [passage.text for passage in note.passages] == ["body", "Mine"]
