"""A folder is read as often as asked; only what something changed for is parsed again."""

import os
from pathlib import Path

import pytest

from app.content.later import Later
from app.content.reader import Reader, read_notes
from app.garden.store import Store


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def test_only_the_note_that_was_edited_is_parsed_again(tmp_path: Path) -> None:
    write(tmp_path, one="# One", two="# Two")
    reader = Reader(tmp_path, "en")
    before = reader.read()[0]
    assert reader.parsed == ("one.md", "two.md")
    assert reader.read()[0] == before and reader.parsed == ()
    write(tmp_path, one="# Other")
    after = reader.read()[0]
    assert reader.parsed == ("one.md",)
    assert (after[0].title, after[1] is before[1]) == ("Other", True)


def test_an_edit_of_the_same_length_in_the_same_moment_is_seen(tmp_path: Path) -> None:
    write(tmp_path, one="# One")
    reader = Reader(tmp_path, "en")
    reader.read()
    stamp = (tmp_path / "one.md").stat()
    write(tmp_path, one="# Two")
    os.utime(tmp_path / "one.md", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert [note.title for note in reader.read()[0]] == ["Two"]


@pytest.mark.parametrize("text", ["![](new.png)", "![[new.png]]", "[x](new.png)", "[x](new.md)", "[x](new)"])
def test_a_file_that_comes_changes_the_notes_that_asked_for_it(tmp_path: Path, text: str) -> None:
    write(tmp_path, asks=text, other="Text.")
    reader = Reader(tmp_path, "en")
    reader.read()
    (tmp_path / ("new.png" if "png" in text else "new.md")).write_bytes(b"")
    again = reader.read()
    assert "asks.md" in reader.parsed and "other.md" not in reader.parsed
    assert again == read_notes(tmp_path, "en")


def test_a_slug_that_another_file_takes_changes_those_who_mean_it(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    write(tmp_path / "a", note="# A", here="[[note]]")
    reader = Reader(tmp_path, "en")
    reader.read()
    write(tmp_path, note="# Top")
    assert reader.read() == read_notes(tmp_path, "en")
    assert set(reader.parsed) == {"note.md", "a/note.md", "a/here.md"}


def test_another_process_finds_the_notes_without_parsing_them(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    write(
        folder, one="---\nmine: [1]\n---\n# One\n\nText $x$. [[two]]\n\n![[two]]", two="[1]{ran=x}", three="\r\na\r\n"
    )
    (folder / "bytes.md").write_bytes(b"\xff\xfe")
    (folder / "drawn.md").write_text("---\nexcalidraw-plugin: parsed\n---\nx")
    cold = Reader(folder, "en", Store(tmp_path / "kept", 1))
    first = cold.read()
    warm = Reader(folder, "en", Store(tmp_path / "kept", 1))
    again = warm.read()
    assert (len(cold.parsed), warm.parsed) == (5, ())
    assert again == first == read_notes(folder, "en")
    assert isinstance(again[0][0].body, Later) and tuple(again[0][0].body) == first[0][0].body


def test_a_body_that_is_kept_no_longer_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    write(folder, one="# One\n\nText. ![[gone]]")
    first = Reader(folder, "en", Store(tmp_path / "kept", 1)).read()[0]
    store = Store(tmp_path / "kept", 1)
    again = Reader(folder, "en", store).read()[0]
    store.put("body", {key: b"" for key in dict(store.all("body"))})
    store.prune("body", ())
    assert again == first


def test_what_was_kept_for_other_files_does_not_hold_here(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    write(folder, one="![[two]]")
    Reader(folder, "en", Store(tmp_path / "kept", 1)).read()
    (folder / "two.png").write_bytes(b"")
    write(folder, one="![[two.png]]")
    Reader(folder, "en", Store(tmp_path / "kept", 1)).read()
    (folder / "two.png").unlink()
    warm = Reader(folder, "en", Store(tmp_path / "kept", 1))
    assert warm.read() == read_notes(folder, "en")
    assert warm.parsed == ("one.md",)


def test_a_note_that_goes_while_the_folder_is_read_is_not_there(tmp_path: Path) -> None:
    write(tmp_path, one="# One", two="# Two")
    reader = Reader(tmp_path, "en")

    def watch(items, count):  # type: ignore[no-untyped-def]
        assert count == 2
        return items

    assert [note.slug for note in reader.read(watch)[0]] == ["one", "two"]
    (tmp_path / "one.md").unlink()
    assert [note.slug for note in reader.read()[0]] == ["two"]
