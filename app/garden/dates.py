"""A repository into the dates of its notes: planted with their first commit, tended when their text last changed.

One `git log` that follows renames, and one `git cat-file` that compares what stands below the front matter. What the
repository does not know, as beyond the edge of a shallow clone, is None: it is never guessed.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import IO, Any, Literal, get_args

from app.content.note import Note

Repository = Literal["whole", "shallow", "missing"]
FRONT_MATTER = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE
)
EMPTY = "0" * 40
LOG = ("log", "--raw", "-z", "-M", "--no-abbrev", "--no-merges", "--no-show-signature", "--format=%x1e%H %as")


@dataclass(frozen=True)
class Dates:
    planted: date | None = None
    tended: date | None = None


@dataclass(frozen=True)
class Calendar:
    """The dates of the files of a content folder."""

    repository: Repository
    """`shallow` when its beginning was not fetched, `missing` when there is none (or no git) to ask."""
    files: Mapping[str, Dates] = field(default_factory=dict)
    """By the path relative to the content folder, with forward slashes; committed files only."""

    def __getitem__(self, file: str) -> Dates:
        return self.files.get(file, Dates())


@dataclass(frozen=True)
class _Change:
    """What one commit did to one file."""

    commit: str
    day: date
    before: str
    """The blob; all zeros where there was no file."""
    after: str


def dates(content: Path) -> Calendar:
    """Asks git, which takes seconds in a repository of many thousand commits: call it once."""
    place = _git(content, "rev-parse", "--show-prefix", "--is-shallow-repository", "--git-path", "shallow")
    if place is None:
        return Calendar("missing")
    prefix, shallow, edge_file = place.decode().rstrip("\n").split("\n")
    log = _git(content, *LOG, "--", ":(top,glob)**/*.md")
    if log is None:  # a repository without a commit
        return Calendar("whole")
    edge = _lines(content / edge_file) if shallow == "true" else frozenset()
    histories = _histories(log)
    wanted = {path.removeprefix(prefix): found for path, found in histories.items() if path.startswith(prefix)}
    with _Blobs(content) as blobs:
        files = {path: _dates(changes, edge, blobs) for path, changes in sorted(wanted.items())}
    return Calendar("shallow" if shallow == "true" else "whole", files)


def dated(notes: Iterable[Note], calendar: Calendar) -> Iterator[Note]:
    """Notes with the dates of the calendar where their front matter names none."""
    for note in notes:
        known = calendar[note.file]
        yield replace(note, planted=note.planted or known.planted, tended=note.tended or known.tended)


def write_index(calendar: Calendar, path: Path) -> None:
    """For an image that carries no repository. What else stands in the file is kept."""
    index = _read(path)
    index["repository"] = calendar.repository
    index["dates"] = {
        file: {"planted": _text(known.planted), "tended": _text(known.tended)}
        for file, known in sorted(calendar.files.items())
    }
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(index, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(part, path)


def read_index(path: Path) -> Calendar | None:
    """None when there is no index, or none that holds dates."""
    index = _read(path)
    if index.get("repository") not in get_args(Repository) or not isinstance(index.get("dates"), dict):
        return None
    found = {file: Dates(_date(known["planted"]), _date(known["tended"])) for file, known in index["dates"].items()}
    return Calendar(index["repository"], found)


def _git(folder: Path, *words: str) -> bytes | None:
    """What git says, or None when it is not there or does not know what is asked."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(folder), *words]
    try:
        told = subprocess.run(command, capture_output=True, env=environment | {"LC_ALL": "C"}, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        return None
    return told.stdout if told.returncode == 0 else None


def _lines(path: Path) -> frozenset[str]:
    return frozenset(path.read_text().split()) if path.exists() else frozenset()


def _histories(log: bytes) -> dict[str, list[_Change]]:
    """The changes of every file that there is now, newest first, under the names that it had before as well."""
    found: dict[str, list[_Change]] = {}
    now: dict[str, str | None] = {}
    """What a path of the past is called today; None for a file that is gone."""
    for entry in log.decode(errors="surrogateescape").split("\x1e")[1:]:
        head, _, rest = entry.partition("\0")
        commit, day = head.split()
        renamed: dict[str, str | None] = {}
        for status, before, after, old, new in _raw(rest):
            today = now.get(new, new if status != "D" else None)
            if status == "D":
                now.setdefault(new, None)
                continue
            if today is not None:
                found.setdefault(today, []).append(_Change(commit, date.fromisoformat(day), before, after))
            if status == "R":
                renamed[new] = renamed.get(new)
                renamed[old] = today
        now |= renamed
    return found


def _raw(text: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Status, blob before and after, path before and after, of each file of a commit."""
    parts = iter(text.lstrip("\n").split("\0"))
    for part in parts:
        if not part.strip():
            continue
        _, _, before, after, status = part.strip().lstrip(":").split(" ")
        old = next(parts)
        new = next(parts) if status[0] in "RC" else old
        yield "A" if status[0] == "C" else status[0], before, after, old, new


def _dates(changes: list[_Change], edge: frozenset[str], blobs: "_Blobs") -> Dates:
    """Newest first; a change at the edge of a shallow clone says nothing about when it was made."""
    known = [change for change in changes if change.commit not in edge]
    planted = known[-1].day if known and len(known) == len(changes) else None
    tended = next((change.day for change in known if _text_changed(change, blobs)), None)
    return Dates(planted, tended)


def _text_changed(change: _Change, blobs: "_Blobs") -> bool:
    if change.before == change.after:
        return False
    return not change.before.strip("0") or blobs.body(change.before) != blobs.body(change.after)


class _Blobs:
    """The bodies of files as git stores them, through one process."""

    def __init__(self, folder: Path) -> None:
        command = ["git", "-C", str(folder), "cat-file", "--batch"]
        environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def __enter__(self) -> "_Blobs":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.communicate()

    def body(self, blob: str) -> bytes:
        """What stands below the front matter."""
        asked, told = _pipes(self.process)
        asked.write(f"{blob}\n".encode())
        asked.flush()
        size = told.readline().split()[-1]
        if not size.isdigit():  # a submodule, or a blob that a partial clone left out
            return blob.encode()
        text = told.read(int(size) + 1)[:-1]
        return FRONT_MATTER.sub(b"", text, count=1)


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin and process.stdout
    return process.stdin, process.stdout


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    index = json.loads(path.read_text(encoding="utf-8"))
    return index if isinstance(index, dict) else {}


def _text(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
