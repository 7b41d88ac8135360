"""The revisions of a note into its history: what changed when, and the texts before and after.

A version that was a draft is as if it had not been there, unless drafts are asked for: what an author kept back is
not read in the history of what was published later.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from app.content.files import Files
from app.content.front_matter import parted, read_front_matter
from app.content.reading import Reading
from app.content.rules.comments import published
from app.garden.dates import indexed, keep_in_index
from app.garden.repository import Blobs, Repository, Revision, place, revisions, revisions_of

MOST = 50
"""Changes of one note that are listed."""
MOST_IN_INDEX = 20_000
"""Changes of all notes that an index lists."""
MOST_TEXT = 4_000_000
"""Characters of text that an index keeps."""

Kind = Literal["planted", "text", "front matter"]
"""What a change did: the note began; its text changed; only what stands above its text changed."""


@dataclass(frozen=True)
class Change:
    """One commit that changed the file of a note."""

    commit: str
    """The first ten digits of its hash."""
    day: date
    subject: str
    kind: Kind
    before: str | None
    """The whole file; None where there was none, or its text is not kept."""
    after: str | None
    """The whole file; None where its text is not kept."""


@dataclass(frozen=True)
class History:
    repository: Repository
    """`shallow`: older changes are not known; `missing`: none is."""
    changes: tuple[Change, ...] = ()
    """Newest first."""
    more: int = 0
    """Older changes that are known and not listed."""


def history(content: Path, file: str, most: int = MOST, *, drafts: bool = False) -> History:
    """Of one note, through its renames. `file` is relative to the content folder, with forward slashes."""
    here = place(content)
    if here.repository == "missing":
        return History("missing")
    with Blobs(content) as blobs:
        changes = _changes(revisions_of(content, file), here.edge, blobs, drafts)
        return History(here.repository, tuple(islice(changes, most)), sum(1 for _ in changes))


def versions(content: Path, file: str, *, drafts: bool = False) -> Iterator[str]:
    """Every text that the file of a note has had, newest first; they are read as they are taken."""
    made = revisions_of(content, file)
    if not made:
        return
    with Blobs(content) as blobs:
        for blob in dict.fromkeys(blob for revision in made for blob in (revision.after, revision.before)):
            text = _text(blob, blobs, drafts)
            if text is not None:
                yield text


def write_histories(content: Path, path: Path, *, most: int = MOST_IN_INDEX, most_text: int = MOST_TEXT) -> int:
    """The histories of all notes into the index at `path`, for an image without a repository; says how many changes.

    Where there are too many, every note keeps its newest ones; the texts that do not fit are left out first.
    """
    here = place(content)
    known = revisions(content) if here.repository != "missing" else {}
    made = {file.removeprefix(here.prefix): found for file, found in known.items() if file.startswith(here.prefix)}
    files, texts = _listed(content, made, here.edge, most, most_text) if made else ({}, {})
    keep_in_index(path, history={"repository": here.repository, "files": files, "texts": texts})
    return sum(len(known["changes"]) for known in files.values())


def read_histories(path: Path) -> Mapping[str, History] | None:
    """By file; None when there is no index, or none that holds histories."""
    kept = indexed(path).get("history")
    if not isinstance(kept, dict) or kept.get("repository") not in get_args(Repository):
        return None
    return {
        file: History(
            kept["repository"], tuple(_change(entry, kept["texts"]) for entry in known["changes"]), known["more"]
        )
        for file, known in kept["files"].items()
    }


def _changes(made: Iterable[Revision], edge: frozenset[str], blobs: Blobs, drafts: bool = False) -> Iterator[Change]:
    """What the revisions changed; renames alone, and what is at the edge of a shallow clone, changed nothing."""
    for revision in made:
        if revision.before == revision.after or revision.commit in edge:
            continue
        before = None if revision.begins else _text(revision.before, blobs, drafts)
        after = _text(revision.after, blobs, drafts)
        if after is None and blobs.text(revision.after) is not None:
            continue
        kind: Kind = "text"
        if revision.begins or (before is None and blobs.text(revision.before) is not None):
            kind = "planted"
        elif blobs.body(revision.before) == blobs.body(revision.after):
            kind = "front matter"
        yield Change(revision.commit[:10], revision.day, revision.subject, kind, before, after)


def _text(blob: str, blobs: Blobs, drafts: bool) -> str | None:
    """Without the author's comments; None for a draft, for no file, and for what git does not keep here."""
    data = blobs.text(blob) if blob.strip("0") else None
    text = data.decode(errors="replace") if data is not None else None
    return None if text is None or (_is_draft(text) and not drafts) else published(text)


def _is_draft(text: str) -> bool:
    head, _ = parted(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    named = "draft" in head or "publish" in head  # seldom, and YAML is slow
    return named and read_front_matter(head, Reading("", "en", Files())).draft


def _listed(
    content: Path, made: Mapping[str, list[Revision]], edge: frozenset[str], most: int, most_text: int
) -> tuple[dict[str, Any], dict[str, str]]:
    """The changes of every file, and the texts that they name."""
    listed: dict[str, list[dict[str, Any]]] = {file: [] for file in made}
    texts = _Texts(most_text)
    with Blobs(content) as blobs:
        waiting = {file: _changes(found, edge, blobs) for file, found in made.items()}
        for file, change in islice(_in_rounds(waiting, MOST), most):
            listed[file].append(texts.entry(change))
        more = {file: sum(1 for _ in changes) for file, changes in waiting.items()}
    return {file: {"changes": changes, "more": more[file]} for file, changes in listed.items()}, texts.kept


def _in_rounds(waiting: Mapping[str, Iterator[Change]], rounds: int) -> Iterator[tuple[str, Change]]:
    """The newest change of every note, then the one before, and so on."""
    going = dict(waiting)
    for _ in range(rounds):
        for file, changes in list(going.items()):
            change = next(changes, None)
            if change is None:
                del going[file]
            else:
                yield file, change


class _Texts:
    """The texts of an index, each kept once, up to a number of characters."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.kept: dict[str, str] = {}

    def entry(self, change: Change) -> dict[str, Any]:
        """A change with the names of its texts: of both of them or of neither; a note's beginning needs none."""
        names: list[str | None] = [None, None]
        if change.before is not None and change.after is not None:
            texts = {_name(text): text for text in (change.before, change.after)}
            new = {name: text for name, text in texts.items() if name not in self.kept}
            if sum(map(len, new.values())) <= self.left:
                self.kept |= new
                self.left -= sum(map(len, new.values()))
                names = [_name(change.before), _name(change.after)]
        return {
            "commit": change.commit,
            "day": change.day.isoformat(),
            "subject": change.subject,
            "kind": change.kind,
            "before": names[0],
            "after": names[1],
        }


def _change(entry: Mapping[str, Any], texts: Mapping[str, str]) -> Change:
    return Change(
        entry["commit"],
        date.fromisoformat(entry["day"]),
        entry["subject"],
        entry["kind"],
        texts.get(entry["before"] or ""),
        texts.get(entry["after"] or ""),
    )


def _name(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
