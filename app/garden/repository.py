"""A repository into the revisions of its notes: what each commit did to each file, and the texts that git keeps.

What it does not know, as beyond the edge of a shallow clone, is left out: it is never guessed.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import IO, Literal

Repository = Literal["whole", "shallow", "missing"]
"""`shallow` when its beginning was not fetched, `missing` when there is none (or no git) to ask."""
FRONT_MATTER = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE
)
LOG = ("log", "--raw", "-z", "-M", "--no-abbrev", "--no-merges", "--no-show-signature", "--format=%x1e%H %as %s")
MARKDOWN = ":(top,glob)**/*.md"
UNDECODED = re.compile("[\ud800-\udfff]")
"""Bytes of a file name that are no UTF-8; no note has such a name."""


@dataclass(frozen=True)
class Place:
    """Where a content folder stands in a repository."""

    repository: Repository
    prefix: str = ""
    """The path of the folder in the repository, with a slash at its end."""
    edge: frozenset[str] = frozenset()
    """Commits that a shallow clone begins with: what they did is not known."""


@dataclass(frozen=True)
class Revision:
    """What one commit did to one file."""

    commit: str
    day: date
    subject: str
    before: str
    """The blob; all zeros where there was no file."""
    after: str

    @property
    def begins(self) -> bool:
        """Whether there was no file before it."""
        return not self.before.strip("0")


def place(content: Path) -> Place:
    told = git(content, "rev-parse", "--show-prefix", "--is-shallow-repository", "--git-path", "shallow")
    if told is None:
        return Place("missing")
    prefix, shallow, edge_file = told.decode(errors="surrogateescape").rstrip("\n").split("\n")
    if shallow != "true":
        return Place("whole", prefix)
    edge = content / edge_file
    return Place("shallow", prefix, frozenset(edge.read_text().split()) if edge.exists() else frozenset())


def revisions(content: Path) -> dict[str, list[Revision]]:
    """Those of every file that there is now, newest first, by its path in the repository; renames are followed.

    Takes seconds in a repository of many thousand commits.
    """
    found: dict[str, list[Revision]] = {}
    now: dict[str, str | None] = {}
    """What a path of the past is called today; None for a file that is gone."""
    for commit, day, subject, changes in _log(content, "--", MARKDOWN):
        renamed: dict[str, str | None] = {}
        for status, before, after, old, new in changes:
            today = now.get(new, new if status != "D" else None)
            if status == "D":
                now.setdefault(new, None)
                continue
            if today is not None:
                found.setdefault(today, []).append(Revision(commit, day, subject, before, after))
            if status == "R":
                renamed[new] = renamed.get(new)
                renamed[old] = today
        now |= renamed
    return {path: made for path, made in found.items() if not UNDECODED.search(path)}


def revisions_of(content: Path, file: str) -> list[Revision]:
    """Those of one file of the folder, newest first.

    `git log --follow` would follow copies too, and a translation often begins as one: each name has a log of its
    own, and only where it begins a commit is asked for its renames.
    """
    found: list[Revision] = []
    asked: tuple[str, ...] | None = ("--", f":(literal){file}")
    while asked:
        log, asked = _log(content, *asked), None
        for commit, day, subject, changes in log:
            status, before, after, _, new = changes[0]
            if status == "D":
                break
            if status == "A":
                for renamed, source, _, old, name in _renames(content, commit):
                    if renamed == "R" and name == new:
                        before, asked = source, (f"{commit}^", "--", f":(top,literal){old}")
            found.append(Revision(commit, day, subject, before, after))
            if asked:
                break
    return found


class Blobs:
    """The texts of files as git stores them, through one process."""

    def __init__(self, folder: Path) -> None:
        command = ["git", "-C", str(folder), "cat-file", "--batch"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
        )
        self.text = lru_cache(maxsize=4)(self._text)
        """None for a submodule, or a blob that a partial clone left out."""

    def __enter__(self) -> "Blobs":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.communicate()

    def body(self, blob: str) -> bytes:
        """What stands below the front matter."""
        text = self.text(blob)
        return FRONT_MATTER.sub(b"", text, count=1) if text is not None else blob.encode()

    def _text(self, blob: str) -> bytes | None:
        asked, told = _pipes(self.process)
        asked.write(f"{blob}\n".encode())
        asked.flush()
        size = told.readline().split()[-1]
        return told.read(int(size) + 1)[:-1] if size.isdigit() else None


def git(folder: Path, *words: str) -> bytes | None:
    """What git says, or None when it is not there or does not know what is asked."""
    command = ["git", "-C", str(folder), *words]
    try:
        told = subprocess.run(
            command, capture_output=True, env=_environment() | {"LC_ALL": "C"}, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        return None
    return told.stdout if told.returncode == 0 else None


def _environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}


Raw = tuple[str, str, str, str, str]
"""Status, blob before and after, path before and after, of one file of a commit."""


def _log(content: Path, *words: str) -> Iterator[tuple[str, date, str, list[Raw]]]:
    """Nothing in a repository without a commit."""
    log = git(content, *LOG, *words) or b""
    for entry in log.decode(errors="surrogateescape").split("\x1e")[1:]:
        head, _, rest = entry.partition("\0")
        commit, day, subject = head.rstrip("\n").split(" ", 2)
        subject = subject.encode(errors="surrogateescape").decode(errors="replace")
        if changes := list(_raw(rest)):
            yield commit, date.fromisoformat(day), subject, changes


def _raw(text: str) -> Iterator[Raw]:
    parts = iter(text.lstrip("\n").split("\0"))
    for part in parts:
        if not part.strip():
            continue
        _, _, before, after, status = part.strip().lstrip(":").split(" ")
        old = next(parts)
        new = next(parts) if status[0] in "RC" else old
        yield "A" if status[0] == "C" else status[0], before, after, old, new


def _renames(content: Path, commit: str) -> list[Raw]:
    return next((changes for *_, changes in _log(content, "-1", commit, "--", MARKDOWN)), [])


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin and process.stdout
    return process.stdin, process.stdout
