"""A content folder into the list of its files: its notes, each with its slug, and what else a text can refer to."""

import os
import posixpath
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from app.errors import Fault
from app.language import LANGUAGES, Language

ADDRESSES = """
    en zh widgets concepts compare search tags casebook health atom.xml history preview result embed api files cards
    static recorder.py sitemap.xml robots.txt llms.txt favicon.ico healthz readyz metrics
"""
RESERVED = frozenset(ADDRESSES.split())
"""The words of the table of addresses; no note can have one of them as its slug."""
SKIPPED = frozenset({"node_modules"})
"""Folders that are no part of a garden, beside the hidden ones."""
OBSIDIANS = re.compile(r"\.(?:excalidraw(?:\.md)?|canvas|base)$", re.IGNORECASE)
"""What only Obsidian can show: it is neither a note nor a file of the garden."""
MARKDOWN = re.compile(r"\.md$", re.IGNORECASE)
LANGUAGE = re.compile(rf"(?<=[^/])\.(?:{'|'.join(LANGUAGES)})$")
UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})


@dataclass(frozen=True)
class Source:
    """A markdown file, before it is read."""

    path: str
    """Relative to the content folder, with forward slashes."""
    stem: str
    """Without language and `.md`, NFC."""
    slug: str
    language: Language


@dataclass(frozen=True)
class Files:
    """The files of a content folder by their paths relative to it, with forward slashes."""

    slugs: Mapping[str, str] = field(default_factory=dict)
    """The slug of each note by its path, NFC; the shallowest first."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Files that are no notes, the shallowest first: the path as the disk spells it by the path in NFC."""

    def other(self, note: str, href: str) -> str | None:
        """The file that is no note at the path that a link in a note means."""
        return self.others.get(self.beside(note, href) or "")

    def is_note(self, note: str, href: str) -> str | None:
        """The slug of the note at the path that a link means without saying `.md`."""
        return self.slugs.get(f"{self.beside(note, href) or ''}.md")

    def beside(self, note: str, href: str) -> str | None:
        """The path that a link in a note means, or None when it leads out of the folder."""
        written = _nfc(unquote(re.split(r"[?#]", href, maxsplit=1)[0]))
        path = posixpath.normpath(posixpath.join(posixpath.dirname(note), written))
        return None if path.startswith(("../", "/")) or path in ("..", ".") else path

    def find(self, note: str, name: str) -> str | None:
        """A file that is no note: beside the note, from the top of the folder, or in any folder, as in Obsidian."""
        return self._others.find(_around(note, name), name)

    def slug(self, note: str, name: str) -> str | None:
        """The slug of the note that a path means, with or without `.md`, found like other files."""
        stem = MARKDOWN.sub("", name)
        return self._notes.find(_around(note, stem), stem)

    def twin(self, note: str, name: str) -> str | None:
        """The slug of the note of this stem in the same folder, where others have the stem too."""
        if not self._renamed or folded(name) not in self._renamed:
            return None
        return self._notes.find(_around(note, name)[:1], None)

    @cached_property
    def _renamed(self) -> frozenset[str]:
        """Folded stems of the notes that could not have theirs as their slug."""
        stems = ((_stem(posixpath.basename(path), LANGUAGES[0])[0], slug) for path, slug in self.slugs.items())
        return frozenset(folded(stem) for stem, slug in stems if stem != slug)

    @cached_property
    def _others(self) -> "Paths":
        return Paths(self.others)

    @cached_property
    def _notes(self) -> "Paths":
        """By paths without `.md`, with and without a language."""
        stems: dict[str, str] = {}
        for path, slug in self.slugs.items():
            stem = MARKDOWN.sub("", path)
            stems.setdefault(stem, slug)
            stems.setdefault(LANGUAGE.sub("", stem), slug)
        return Paths(stems)


class Paths:
    """What stands under paths, found in any spelling of them: case, width and composition make no difference."""

    def __init__(self, found: Mapping[str, str]) -> None:
        self.exact = found
        self.alike: dict[str, str] = {}
        self.named: dict[str, list[str]] = {}
        """The folded paths of each last name."""
        for path, meant in found.items():
            other = folded(path)
            if self.alike.setdefault(other, meant) == meant:
                self.named.setdefault(posixpath.basename(other), []).append(other)

    def find(self, paths: tuple[str, ...], end: str | None) -> str | None:
        """The first of these, else the shallowest that ends like this."""
        for path in paths:
            if path in self.exact:
                return self.exact[path]
        for other in map(folded, paths):
            if other in self.alike:
                return self.alike[other]
        if not end:
            return None
        last = folded(end).lstrip("/")
        tail = f"/{last}"
        for path in self.named.get(posixpath.basename(last), ()):
            if path == last or path.endswith(tail):
                return self.alike[path]
        return None


@dataclass(frozen=True)
class Listing:
    """A content folder by the names of what is in it."""

    paths: tuple[str, ...]
    odd: tuple[Fault, ...]
    """Names that cannot be printed."""
    sources: tuple[Source, ...]
    files: Files
    faults: tuple[Fault, ...]


def walk(folder: Path, default_language: Language, last: Listing | None = None) -> Listing:
    """Every note and every other file; what is hidden or leads out of the folder is not there.

    It is the `last` listing itself where no name has changed since.
    """
    paths, odd = _paths(folder)
    if last is not None and (last.paths, last.odd) == (paths, odd):
        return last
    notes = [path for path in paths if MARKDOWN.search(path)]
    others = [path for path in paths if not MARKDOWN.search(path)]
    sources, collisions = _sources(notes, default_language)
    files = Files(
        slugs={_nfc(source.path): source.slug for source in sources},
        others={_nfc(path): path for path in others},
    )
    return Listing(paths, odd, sources, files, odd + collisions)


def _paths(folder: Path) -> tuple[tuple[str, ...], tuple[Fault, ...]]:
    """The shallowest first, then by name."""
    found, faults = [], []
    for relative in _within(str(folder), "", os.path.realpath(folder) + os.sep):
        if relative.isprintable() or UNPRINTABLE.isdisjoint(map(unicodedata.category, relative)):
            found.append(relative)
        else:
            spelled = relative.encode("unicode_escape").decode()
            what = "the name of this file cannot be printed, so it is left out; give it another one"
            faults.append(Fault(spelled, 1, what, stops=False))
    return tuple(sorted(found, key=lambda path: (path.count("/"), path))), tuple(sorted(faults))


def _within(folder: str, before: str, root: str) -> Iterator[str]:
    """The files of a folder and of those below it, their paths beginning with what stands `before`.

    Links to folders are not followed, and what cannot be opened holds nothing.
    """
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except OSError:
        return
    for entry in entries:
        name, link = entry.name, entry.is_symlink()
        if name.startswith("."):
            continue
        if os.path.isdir(entry.path) if link else entry.is_dir():
            if name not in SKIPPED and not link:
                yield from _within(entry.path, f"{before}{name}/", root)
        elif not OBSIDIANS.search(name) and (not link or os.path.realpath(entry.path).startswith(root)):
            yield before + name


def _sources(paths: list[str], default_language: Language) -> tuple[tuple[Source, ...], tuple[Fault, ...]]:
    """Slugs for all notes. Notes of one folder and stem are translations and keep one slug, whatever it must be."""
    groups: dict[tuple[str, str], list[tuple[str, Language]]] = {}
    for path in paths:
        stem, language = _stem(posixpath.basename(path), default_language)
        groups.setdefault((posixpath.dirname(path), stem), []).append((path, language))
    taken: set[tuple[str, Language]] = set()
    sources, faults = [], []
    for (folder, stem), members in groups.items():
        wanted = stem
        if stem.casefold() in RESERVED or any((stem, language) in taken for _, language in members):
            wanted = f"{posixpath.basename(folder) or 'note'}-{stem}"
        for path, language in members:
            slug, number = wanted, 2
            while (slug, language) in taken:
                slug, number = f"{folder.replace('/', '-') or 'note'}-{stem}" + f"-{number}" * (number > 2), number + 1
            taken.add((slug, language))
            sources.append(Source(path, stem, slug, language))
            if slug != stem:
                why = "is an address of the garden" if stem.casefold() in RESERVED else "is the slug of another note"
                what = f"'{stem}' {why}; this note is served as '{slug}' until its file has another name"
                faults.append(Fault(path, 1, what, stops=False))
    return tuple(sources), tuple(faults)


def _stem(name: str, default_language: Language) -> tuple[str, Language]:
    stem = _nfc(MARKDOWN.sub("", name))
    for language in LANGUAGES:
        if stem.endswith(f".{language}") and stem != f".{language}":
            return stem.removesuffix(f".{language}"), language
    return stem, default_language


def _around(note: str, name: str) -> tuple[str, ...]:
    """The paths that a name may mean: beside the note, and from the top of the folder."""
    written = _nfc(name)
    paths = (posixpath.normpath(posixpath.join(place, written)) for place in (posixpath.dirname(note), ""))
    return tuple(path for path in paths if not path.startswith(("../", "/")) and path not in ("..", "."))


def folded(text: str) -> str:
    """One width, one case, one composition: `ＦＬＯＡＴ３２` and `Float32` become `float32`."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
