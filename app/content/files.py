"""A content folder into the list of its files: its notes, each with its slug, and what else a text can refer to."""

import os
import posixpath
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    """The slug of each note by its path, NFC."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Files that are no notes: the path as the disk spells it by the path in NFC."""
    named: Mapping[str, str] = field(default_factory=dict)
    """Of the others, the shallowest of each name: `![[picture.png]]` finds it in any folder, as in Obsidian."""

    def beside(self, note: str, href: str) -> str | None:
        """The path that a link in a note means, or None when it leads out of the folder."""
        written = _nfc(unquote(re.split(r"[?#]", href, maxsplit=1)[0]))
        path = posixpath.normpath(posixpath.join(posixpath.dirname(note), written))
        return None if path.startswith(("../", "/")) or path in ("..", ".") else path

    def find(self, note: str, name: str) -> str | None:
        """A file that is no note: beside the note, from the top of the folder, or anywhere by its name."""
        for path in (self.beside(note, name), self.beside("", name)):
            if path is not None and path in self.others:
                return self.others[path]
        return self.named.get(_nfc(name))


def walk(folder: Path, default_language: Language) -> tuple[tuple[Source, ...], Files, tuple[Fault, ...]]:
    """Every note and every other file; what is hidden or leads out of the folder is not there."""
    paths, faults = _paths(folder)
    notes = [path for path in paths if path.endswith(".md")]
    others = [path for path in paths if not path.endswith(".md")]
    sources, collisions = _sources(notes, default_language)
    return (
        sources,
        Files(
            slugs={_nfc(source.path): source.slug for source in sources},
            others={_nfc(path): path for path in others},
            named={_nfc(posixpath.basename(path)): path for path in reversed(others)},
        ),
        faults + collisions,
    )


def _paths(folder: Path) -> tuple[list[str], tuple[Fault, ...]]:
    """The shallowest first, then by name."""
    root = os.path.realpath(folder)
    found, faults = [], []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = os.path.join(place, name)
            inside = not os.path.islink(path) or os.path.realpath(path).startswith(root + os.sep)
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            if name.startswith(".") or not inside:
                continue
            if relative.isprintable():
                found.append(relative)
            else:
                spelled = relative.encode("unicode_escape").decode()
                faults.append(Fault(spelled, 1, "the name of this file cannot be printed; give it another one"))
    return sorted(found, key=lambda path: (path.count("/"), path)), tuple(faults)


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
    stem = _nfc(name.removesuffix(".md"))
    for language in LANGUAGES:
        if stem.endswith(f".{language}") and stem != f".{language}":
            return stem.removesuffix(f".{language}"), language
    return stem, default_language


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
