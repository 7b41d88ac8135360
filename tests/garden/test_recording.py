"""Digests written into front matter: the key alone, every other byte as it was; and the command that does it."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli import app
from app.content.files import Files, Source
from app.content.notes import note
from app.content.reader import read_notes
from app.garden.digests import digests
from app.garden.recording import Unrecordable, record, recorded

TWO = {"top": "aa11bb22", "two": "3f2a9c01"}
BLOCK = "translates:\n  top: aa11bb22\n  two: 3f2a9c01\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"---\n{BLOCK}---\n"),
        ("# Heat\n", f"---\n{BLOCK}---\n# Heat\n"),
        ("---\n\nA line first.\n", f"---\n{BLOCK}---\n---\n\nA line first.\n"),
        ("---\n---\ntext", f"---\n{BLOCK}---\ntext"),
        ("---\ntitle: x  # so\n---\ntext\n", f"---\ntitle: x  # so\n{BLOCK}---\ntext\n"),
        ("---\n# only a comment\n---\n", f"---\n# only a comment\n{BLOCK}---\n"),
        ("---\ntitle: x\n---", f"---\ntitle: x\n{BLOCK}---"),
        ("---\ntranslates:\n---\n", f"---\n{BLOCK}---\n"),
        (
            "---\ntranslates:  # by L.\ntags: [a,   b]\n---\n",
            "---\ntranslates: # by L.\n  top: aa11bb22\n  two: 3f2a9c01\ntags: [a,   b]\n---\n",
        ),
        ("---\na: 1\ntranslates: {two: 1,\n   old: 2}\nb: 2\n---\n", f"---\na: 1\n{BLOCK}b: 2\n---\n"),
        (
            "---\ntranslates: {} # by L.\n---\n",
            "---\ntranslates: # by L.\n  top: aa11bb22\n  two: 3f2a9c01\n---\n",
        ),
        (
            "---\ntranslates: # by L.\n    # twice\n    two: 'x'   # done\n    gone: ff\n\n    # end\n# b\n"
            "b: |\n  x\n---\n",
            "---\ntranslates: # by L.\n    # twice\n    two: 3f2a9c01   # done\n    top: aa11bb22\n\n    # end\n# b\n"
            "b: |\n  x\n---\n",
        ),
        ("---\nb: |+\n  translates: no\n\n---\n", f"---\nb: |+\n  translates: no\n\n{BLOCK}---\n"),
        ("---\n  title: x\n---\n", "---\n  title: x\n  translates:\n    top: aa11bb22\n    two: 3f2a9c01\n---\n"),
        ("---\ntranslates:\n\ttwo: ff\nb:\t1\n---\n", f"---\n{BLOCK}b:\t1\n---\n"),
        ("\ufeff---\ntitle: 热\n---\n", f"\ufeff---\ntitle: 热\n{BLOCK}---\n"),
        ("---\r\ntitle: x\r\n---\r\ntext\n", "---\r\ntitle: x\r\n" + BLOCK.replace("\n", "\r\n") + "---\r\ntext\n"),
        ("text\r\n", f"---\n{BLOCK}---\n".replace("\n", "\r\n") + "text\r\n"),
    ],
)  # fmt: skip
def test_only_the_key_changes(before: str, after: str) -> None:
    assert recorded(before, TWO) == after
    assert recorded(after, TWO) == after
    made, faults = note(after, Source("heat.md", "heat", "heat", "zh"), Files())
    assert (dict(made.translates), faults) == (TWO, ())


@pytest.mark.parametrize(
    ("digests", "lines"),
    [
        ({"no": "aa", "12": "bb", "a:b": "cc"}, '  "no": aa\n  "12": bb\n  "a:b": cc\n'),
        ({"top": "12345678", "two": "3e100000"}, '  top: "12345678"\n  two: "3e100000"\n'),
        ({"热-声": "e0000000"}, "  热-声: e0000000\n"),
    ],
)  # fmt: skip
def test_what_other_programs_would_misread_is_quoted(digests: Mapping[str, str], lines: str) -> None:
    assert recorded("", digests) == f"---\ntranslates:\n{lines}---\n"
    assert recorded(recorded("", digests), digests) == recorded("", digests)


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (b"---\ntitle: x\n\ntext\n", "does not end"),
        (b"---\ntitle: [x\n---\n", "line 2: the front matter cannot be read"),
        (b"---\n{title: x}\n---\n", "one 'key: value' a line"),
        (b"---\ntranslates: &a {two: ff}\nb: *a\n---\n", "one 'key: value' a line"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_what_cannot_be_rewritten_is_left_alone(tmp_path: Path, before: bytes, why: str) -> None:
    path = tmp_path / "heat.md"
    path.write_bytes(before)
    with pytest.raises(Unrecordable, match=why):
        record(path, TWO)
    assert path.read_bytes() == before


def test_a_file_is_replaced_at_once_and_only_when_it_changes(tmp_path: Path) -> None:
    path, link = tmp_path / "heat.md", tmp_path / "link.md"
    path.write_bytes(b"text\r\n\xe7\x83\xad")
    path.chmod(0o640)
    link.symlink_to(path)
    assert record(link, TWO)
    assert path.read_bytes().endswith(b"---\r\ntext\r\n\xe7\x83\xad")
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    inode = path.stat().st_ino
    assert not record(link, TWO)
    assert path.stat().st_ino == inode
    assert sorted(os.listdir(tmp_path)) == ["heat.md", "link.md"]


# The command


def command(content: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["translated", *words, "--content", str(content)])


@pytest.fixture
def content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("PERENNIAL_")]:
        monkeypatch.delenv(name)
    (tmp_path / "heat.md").write_text("---\naliases: [warmth]\n---\nOne.\n\n## Two {#two}\n", encoding="utf-8")
    (tmp_path / "heat.zh.md").write_text("---\ndraft: true\n---\n一。\n\n## 二 {#two}\n", encoding="utf-8")
    (tmp_path / "alone.md").write_text("Alone.\n", encoding="utf-8")
    return tmp_path


def notes(content: Path) -> dict[str, Mapping[str, str]]:
    return {note.file: note.translates for note in read_notes(content, "en")[0]}


@pytest.mark.parametrize("name", ["heat", "Warmth"])
def test_the_digests_go_into_the_translation(content: Path, name: str) -> None:
    english = (content / "heat.md").read_bytes()
    told = command(content, name)
    assert (told.exit_code, told.stdout) == (0, "")
    assert "heat.zh.md: 2 parts of heat.md written down" in told.stderr
    (original,) = [note for note in read_notes(content, "en")[0] if note.file == "heat.md"]
    assert notes(content) == {"heat.md": {}, "heat.zh.md": digests(original), "alone.md": {}}
    assert (content / "heat.md").read_bytes() == english
    assert "2 parts of heat.md stand there already" in command(content, name).stderr


def test_the_other_language_may_be_the_source(content: Path) -> None:
    told = command(content, "heat", "--from", "zh")
    assert told.exit_code == 0, told.stderr
    assert set(notes(content)["heat.md"]) == {"top", "two"}
    assert notes(content)["heat.zh.md"] == {}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["heart"], "no note is called 'heart'; did you mean 'heat'?"),
        (["alone"], "alone.md has no translation: there is no note 'alone' in 'zh'"),
        (["alone", "--from", "zh"], "alone.md has no translation: there is no note 'alone' in 'zh'"),
        (["heat", "--from", "fr"], "--from"),
    ],
)
def test_what_cannot_be_done_is_said(content: Path, words: list[str], why: str) -> None:
    told = command(content, *words)
    assert (told.exit_code, told.stdout) == (2, "")
    assert why in told.stderr


def test_front_matter_that_cannot_be_rewritten_is_said(content: Path) -> None:
    (content / "heat.zh.md").write_text("---\n{title: 热}\n---\n一。\n\n## 二 {#two}\n", encoding="utf-8")
    told = command(content, "heat")
    assert told.exit_code == 2
    assert "heat.zh.md: its front matter is not written as one 'key: value' a line" in told.stderr
