"""The folder of a site: what is written, kept, removed and refused."""

import shutil
from pathlib import Path

import pytest

from app.build.folder import MARK, Folder, Refused


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


def write(path: Path, notes: Path, **files: str) -> Folder:
    with Folder(path, notes) as folder:
        for name, text in files.items():
            folder.write(name.replace("__", "/").replace("_", "."), text.encode())
    return folder


def held(path: Path) -> set[str]:
    return {file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()}


def test_a_file_that_did_not_change_is_not_touched(tmp_path: Path, notes: Path) -> None:
    out = tmp_path / "out"
    write(out, notes, a_html="a", b__c_html="c")
    before = {name: (out / name).stat().st_mtime_ns for name in held(out)}
    again = write(out, notes, a_html="a", b__c_html="c")
    assert {name: (out / name).stat().st_mtime_ns for name in held(out)} == before
    assert (again.written, again.removed) == (0, 0)


def test_what_is_no_longer_made_goes_and_what_is_not_ours_stays(tmp_path: Path, notes: Path) -> None:
    out = tmp_path / "out"
    write(out, notes, a_html="a", b__c_html="c", d__e_html="e")
    (out / "CNAME").write_text("example.org")
    (out / "d/own.txt").write_text("mine")
    again = write(out, notes, a_html="changed")
    assert held(out) == {MARK, "a.html", "CNAME", "d/own.txt"}
    assert not (out / "b").exists()
    assert ((out / "a.html").read_text(), again.written, again.removed) == ("changed", 1, 2)


def test_a_page_may_become_a_file_and_a_file_a_page(tmp_path: Path, notes: Path) -> None:
    out = tmp_path / "out"
    write(out, notes, a__index_html="page", b="file")
    write(out, notes, a="file", b__index_html="page")
    assert held(out) == {MARK, "a", "b/index.html"}


def test_a_build_that_was_broken_off_is_taken_up(tmp_path: Path, notes: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyError), Folder(out, notes) as folder:
        folder.write("a.html", b"a")
        raise KeyError
    assert held(out) == {MARK, "a.html"}
    write(out, notes, b_html="b")
    assert held(out) == {MARK, "b.html"}


def test_a_folder_of_others_is_refused(tmp_path: Path, notes: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/file").write_text("x")
    (tmp_path / "plain").write_text("x")
    for path, why in [
        (tmp_path / "theirs", "is not empty"),
        (tmp_path / "plain", "is no folder"),
        (notes, "is the folder of the notes"),
        (notes / "deep/out", "or in it"),
        (tmp_path, "holds the folder of the notes"),
    ]:
        with pytest.raises(Refused, match=why):
            Folder(path, notes)
    assert held(tmp_path) == {"theirs/file", "plain"}


def test_a_file_of_others_in_the_way_is_not_overwritten(tmp_path: Path, notes: Path) -> None:
    out = tmp_path / "out"
    write(out, notes, a_html="a")
    (out / "b.html").write_text("mine")
    with pytest.raises(Refused, match=r"b\.html was not made by perennial build"):
        write(out, notes, a_html="a", b_html="b")
    assert (out / "b.html").read_text() == "mine"


def test_a_link_to_elsewhere_is_not_followed(tmp_path: Path, notes: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    write(out, notes, a_html="a", d__b_html="b")
    other.mkdir()
    (other / "b.html").write_text("theirs")
    (other / "a.html").write_text("theirs")
    for name, target in (("a.html", other / "a.html"), ("d", other)):
        shutil.move(out / name, tmp_path / "aside")
        (out / name).symlink_to(target)
        shutil.rmtree(tmp_path / "aside", ignore_errors=True)
        (tmp_path / "aside").unlink(missing_ok=True)
    with pytest.raises(Refused, match=r"a\.html was not made"):
        write(out, notes, a_html="new")
    with pytest.raises(Refused, match="leads out of"):
        write(out, notes, d__b_html="new")
    write(out, notes, c_html="c")
    assert {path.read_text() for path in other.iterdir()} == {"theirs"}


def test_a_list_that_was_tampered_with_reaches_nothing_outside(tmp_path: Path, notes: Path) -> None:
    out = tmp_path / "out"
    write(out, notes, a_html="a")
    (tmp_path / "secret").write_text("x")
    with (out / MARK).open("a") as mark:
        mark.write(f"../secret\n{tmp_path}/secret\n")
    write(out, notes, a_html="a")
    assert (tmp_path / "secret").exists()
