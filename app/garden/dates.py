"""The revisions of notes into their dates: planted with their first commit, tended when their text last changed.

One `git log` that follows renames, and one `git cat-file` that compares what stands below the front matter. What the
repository does not know, as beyond the edge of a shallow clone, is None: it is never guessed.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, get_args

from app.content.note import Note
from app.garden.repository import Blobs, Repository, Revision, place, revisions

INDEX = "index.json"
"""What an image without a repository knows of the past, beside its notes."""


@dataclass(frozen=True)
class Dates:
    planted: date | None = None
    tended: date | None = None


@dataclass(frozen=True)
class Calendar:
    """The dates of the files of a content folder."""

    repository: Repository
    files: Mapping[str, Dates] = field(default_factory=dict)
    """By the path relative to the content folder, with forward slashes; committed files only."""

    def __getitem__(self, file: str) -> Dates:
        return self.files.get(file, Dates())

    def dated(self, note: Note) -> Note:
        """With the dates of the calendar where its front matter names none."""
        known = self[note.file]
        planted, tended = note.planted or known.planted, note.tended or known.tended
        same = (planted, tended) == (note.planted, note.tended)
        return note if same else replace(note, planted=planted, tended=tended)


def dates(content: Path) -> Calendar:
    """Asks git, which takes seconds in a repository of many thousand commits: call it once."""
    here = place(content)
    if here.repository == "missing":
        return Calendar("missing")
    known = {path: made for path, made in revisions(content).items() if path.startswith(here.prefix)}
    with Blobs(content) as blobs:
        files = {path.removeprefix(here.prefix): _dates(made, here.edge, blobs) for path, made in sorted(known.items())}
    return Calendar(here.repository, files)


def write_index(calendar: Calendar, path: Path) -> None:
    """For an image that carries no repository. What else stands in the file is kept."""
    files = {
        file: {"planted": _text(known.planted), "tended": _text(known.tended)}
        for file, known in sorted(calendar.files.items())
    }
    keep_in_index(path, repository=calendar.repository, dates=files)


def read_index(path: Path) -> Calendar | None:
    """None when there is no index, or none that holds dates."""
    index = indexed(path)
    if index.get("repository") not in get_args(Repository) or not isinstance(index.get("dates"), dict):
        return None
    found = {file: Dates(_date(known["planted"]), _date(known["tended"])) for file, known in index["dates"].items()}
    return Calendar(index["repository"], found)


def keep_in_index(path: Path, **entries: Any) -> None:
    """Writes these entries of the index and keeps the others."""
    text = json.dumps(indexed(path) | entries, ensure_ascii=False, indent=1, sort_keys=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text + "\n", encoding="utf-8")
    os.replace(part, path)


def indexed(path: Path) -> dict[str, Any]:
    """Every entry of the index; none when there is no index."""
    if not path.exists():
        return {}
    index = json.loads(path.read_text(encoding="utf-8"))
    return index if isinstance(index, dict) else {}


def _dates(made: list[Revision], edge: frozenset[str], blobs: Blobs) -> Dates:
    """Newest first; a revision at the edge of a shallow clone says nothing about when it was made."""
    known = [revision for revision in made if revision.commit not in edge]
    planted = known[-1].day if known and len(known) == len(made) else None
    tended = next((revision.day for revision in known if _text_changed(revision, blobs)), None)
    return Dates(planted, tended)


def _text_changed(revision: Revision, blobs: Blobs) -> bool:
    if revision.before == revision.after:
        return False
    return revision.begins or blobs.body(revision.before) != blobs.body(revision.after)


def _text(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
