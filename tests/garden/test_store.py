"""The file of what was worked out: shared, private, and never needed."""

import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.garden import store as module
from app.garden.store import FILE, Store

DAY = 20_000


def test_what_was_put_is_there_in_the_next_process(tmp_path: Path) -> None:
    Store(tmp_path, DAY).put("note", {"a": b"1", "b": bytes(range(256))})
    store = Store(tmp_path, DAY)
    assert (store.get("note", "a"), store.get("note", "c"), store.get("body", "a")) == (b"1", None, None)
    assert dict(store.all("note")) == {"a": b"1", "b": bytes(range(256))}


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from app.garden.store import Store\n"
        "store = Store(Path(sys.argv[1]), 20000)\n"
        "for n in range(200): store.put('note', {f'{sys.argv[2]}{n}': b'x' * n})\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", script, tmp_path, name], stderr=subprocess.PIPE) for name in "ab"]
    assert [(one.wait(), one.communicate()[1]) for one in both] == [(0, b""), (0, b"")]
    assert dict(Store(tmp_path, DAY).all("note")) == {f"{name}{n}": b"x" * n for name in "ab" for n in range(200)}


def test_processes_begin_one_file_at_once(tmp_path: Path) -> None:
    """And end it, so that others find it in each state: in forty new folders, for which they wait for one another."""
    script = (
        "import sys; from pathlib import Path; from app.garden.store import Store, code\n"
        "code(); place, name = Path(sys.argv[1]), sys.argv[2]\n"
        "for n in range(40):\n"
        "    (place / f'{n}{name}').touch()\n"
        "    while not all((place / f'{n}{one}').exists() for one in 'abc'): pass\n"
        "    for again in '123':\n"
        "        store = Store(place / str(n), 20000); store.put('note', {name + again: b''}); store.close()\n"
    )
    command = [sys.executable, "-c", script, tmp_path]
    several = [subprocess.Popen([*command, name], stderr=subprocess.PIPE) for name in "abc"]
    assert [(one.communicate()[1], one.returncode) for one in several] == [(b"", 0)] * 3
    expected = {name + again for name in "abc" for again in "123"}
    assert [set(dict(Store(tmp_path / str(n), DAY).all("note"))) for n in range(40)] == [expected] * 40


def test_other_code_sees_nothing_and_its_rows_go_after_a_week(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path, DAY).put("note", {"a": b"old"})
    old = module.code()
    monkeypatch.setattr(module, "code", lambda: "0123")
    assert Store(tmp_path, DAY + 7).get("note", "a") is None
    monkeypatch.setattr(module, "code", lambda: old)
    assert Store(tmp_path, DAY).get("note", "a") == b"old"
    monkeypatch.setattr(module, "code", lambda: "0123")
    Store(tmp_path, DAY + 8).put("note", {"a": b"new"})
    monkeypatch.setattr(module, "code", lambda: old)
    assert Store(tmp_path, DAY + 8).get("note", "a") is None


def test_what_is_not_used_goes_once_it_is_more_than_half(tmp_path: Path) -> None:
    store = Store(tmp_path, DAY)
    store.put("note", {name: b"" for name in "abcd"})
    store.prune("note", ["a", "b"])
    assert set(dict(store.all("note"))) == set("abcd")
    store.prune("note", ["a"])
    assert set(dict(store.all("note"))) == {"a"}


def garbage(path: Path) -> None:
    path.write_bytes(b"no database " * 1000)


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:6000])


def flipped(path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("UPDATE kept SET value = x'00'")
    file.close()


@pytest.mark.parametrize("damage", [garbage, torn, flipped])
def test_a_file_that_cannot_be_read_is_made_anew_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    store = Store(tmp_path, DAY)
    store.put("note", {f"{n}": b"x" * 500 for n in range(50)})
    store.close()
    damage(tmp_path / FILE)
    store = Store(tmp_path, DAY)
    with caplog.at_level(logging.WARNING):
        assert dict(store.all("note")) == {}
    assert [record.getMessage().count("made anew") for record in caplog.records] == [1]
    store.put("note", {"a": b"1"})
    assert dict(Store(tmp_path, DAY).all("note")) == {"a": b"1"}


def folder_instead(path: Path) -> None:
    path.mkdir()


def file_above(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


def anybody_may_write(path: Path) -> None:
    path.touch()
    path.chmod(0o666)


@pytest.mark.parametrize("trouble", [folder_instead, file_above, anybody_may_write])
def test_where_nothing_can_be_kept_the_log_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, trouble: Callable[[Path], None]
) -> None:
    (tmp_path / "kept").mkdir()
    trouble(tmp_path / "kept" / FILE)
    store = Store(tmp_path / "kept", DAY)
    with caplog.at_level(logging.WARNING):
        store.put("note", {"a": b"1"})
        assert (store.get("note", "a"), dict(store.all("note"))) == (None, {})
    assert [record.getMessage().count("nothing is kept") for record in caplog.records] == [1]


def test_a_file_that_another_process_holds_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    store = Store(tmp_path, DAY)
    store.put("note", {"a": b"1"})
    holder = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with caplog.at_level(logging.WARNING):
        store.put("note", {"b": b"2"})
    assert ["held by another process" in record.getMessage() for record in caplog.records] == [True]
    holder.execute("COMMIT")
    holder.close()
    store.put("note", {"c": b"3"})
    assert dict(store.all("note")) == {"a": b"1", "c": b"3"}


def test_nobody_else_can_read_or_write_it(tmp_path: Path) -> None:
    Store(tmp_path / "deep" / "down", DAY).put("note", {"a": b"1"})
    assert (tmp_path / "deep" / "down").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "deep" / "down").iterdir()} == {0o600}
    assert os.listdir(tmp_path) == ["deep"]
