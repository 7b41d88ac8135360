"""Notes into a garden: what each name leads to, what links where, and what an author should mend."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from app.content.note import Concept, Embed, Note, Prose, Section, Transclusion
from app.content.rules.anchors import PREFIX
from app.content.rules.headings import id_from
from app.errors import Fault
from app.garden.names import Names, key
from app.garden.transclusion import Placed, expand
from app.garden.translations import differences
from app.language import LANGUAGES, Language, other

ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""What the id of a section looks like, and the words of a heading seldom."""

Address = tuple[Language, str]
"""A language and a slug."""


@dataclass(frozen=True)
class Destination:
    """Where a wikilink leads."""

    language: Language
    slug: str
    section: str | None
    """The id of the section's heading."""
    title: str
    """The section's title where there is one, else the note's."""


@dataclass(frozen=True, eq=False)
class Backlink:
    """One place that links to a note."""

    note: Note
    """The note that links."""
    sentence: str
    """The sentence around the link; empty for a transclusion."""
    section: str | None
    """The section that is linked to."""
    line: int


@dataclass(frozen=True, eq=False)
class Trail:
    """Where the links of one note lead."""

    note: Note
    links: tuple[tuple[Note, Backlink], ...]
    """Those to other notes."""
    aims: tuple[Note, ...]
    """Every note that is linked to, itself perhaps."""
    faults: tuple[Fault, ...]


@dataclass(frozen=True, eq=False)
class Pair:
    """A note in both languages, and what parts them."""

    note: Note
    twin: Note
    faults: tuple[Fault, ...]


@dataclass(frozen=True, eq=False)
class Garden:
    """Every note that may be seen; drafts are among them only where they were asked for."""

    concepts: Mapping[str, Concept]
    faults: tuple[Fault, ...] = ()
    """What stops the start."""
    warnings: tuple[Fault, ...] = ()
    _notes: Mapping[Address, Note] = field(default_factory=dict)
    _names: Mapping[Language, Names] = field(default_factory=dict)
    _redirects: Mapping[Language, Mapping[str, str]] = field(default_factory=dict)
    _placed: Mapping[Address, tuple[Placed, ...]] = field(default_factory=dict)
    _backlinks: Mapping[Address, list[Backlink]] = field(default_factory=dict)
    _trails: Mapping[Address, Trail] = field(default_factory=dict)
    _pairs: Mapping[str, Pair] = field(default_factory=dict)

    def note(self, language: Language, slug: str) -> Note | None:
        return self._notes.get((language, slug))

    def notes(self, language: Language | None = None) -> tuple[Note, ...]:
        """In order of their slugs; of both languages when none is named."""
        return tuple(note for note in self._notes.values() if language in (None, note.language))

    def translation(self, note: Note) -> Note | None:
        return self._notes.get((other(note.language), note.slug))

    def find(self, name: str, language: Language) -> Note | None:
        """The note of this slug, title or alias: the language's own names first, then the other's.

        A name of the other language leads to the translation where there is one.
        """
        slug = self._names[language].slug(name) or self._names[other(language)].slug(name)
        return (self.note(language, slug) or self.note(other(language), slug)) if slug else None

    def resolve(
        self, target: str, section: str | None, language: Language, here: Note | None = None
    ) -> Destination | None:
        """None when the note is not written; an empty target is the note `here`.

        A section is named by its id or its title; one that is not there leads to the note itself.
        """
        note = self.find(target, language) if target.strip() else here
        if note is None:
            return None
        found = section_of(note, section)
        title = found.title if found else note.title
        return Destination(note.language, note.slug, found.id if found else None, title)

    def redirect(self, language: Language, slug: str) -> str | None:
        """The slug that an alias, or a slug in another spelling, stands for; None for a slug as it is."""
        found = self._redirects[language].get(key(slug))
        return found if found != slug else None

    def placed(self, note: Note) -> tuple[Placed, ...]:
        """The blocks of the note's page, transclusions resolved, each with the note that it was written in."""
        found = self._placed.get((note.language, note.slug))
        return found if found is not None else tuple(Placed(block, note) for block in note.body)

    def blocks(self, note: Note) -> tuple[Prose | Embed, ...]:
        """The blocks of the note's page without where they come from; what is not written is left out."""
        return tuple(piece.block for piece in self.placed(note) if not isinstance(piece.block, Transclusion))

    def backlinks(self, note: Note) -> tuple[Backlink, ...]:
        """Every link and transclusion in other notes that leads to this one, by their slugs and lines."""
        found = self._backlinks.get((note.language, note.slug), ())
        return tuple(sorted(found, key=lambda link: (link.note.slug, link.line)))

    def links(self) -> Iterator[tuple[Note, Note]]:
        """Every note that links to another one, and that one; as often as it does."""
        for trail in self._trails.values():
            yield from ((trail.note, aim) for aim, _ in trail.links)

    def nearest(self, language: Language, slug: str, count: int = 5) -> tuple[Note, ...]:
        """The notes whose slug, title or alias is most like this, best first; those of the language before others."""
        likeness = self._names[other(language)].nearest(slug)
        for found, score in self._names[language].nearest(slug).items():
            likeness[found] = max(score, likeness.get(found, 0.0))
        best = sorted(likeness, key=lambda found: (-likeness[found], (language, found) not in self._notes, found))
        notes = (self.note(language, slug) or self.note(other(language), slug) for slug in best[:count])
        return tuple(note for note in notes if note)

    def tags(self, language: Language) -> dict[str, tuple[Note, ...]]:
        """Each tag in the spelling that is met first, with its notes; tags in order."""
        found: dict[str, tuple[str, list[Note]]] = {}
        for note in self.notes(language):
            for tag in dict.fromkeys(map(key, note.tags)):
                spelling = next(written for written in note.tags if key(written) == tag)
                found.setdefault(tag, (spelling, []))[1].append(note)
        return {spelling: tuple(notes) for _, (spelling, notes) in sorted(found.items())}

    def tagged(self, language: Language, tag: str) -> tuple[Note, ...]:
        wanted = key(tag)
        return tuple(note for note in self.notes(language) if wanted in map(key, note.tags))


def grow(
    notes: Iterable[Note],
    concepts: Mapping[str, Concept],
    *,
    drafts: bool = False,
    before: Garden | None = None,
) -> Garden:
    """Without `drafts` a draft is as if it did not exist: nothing here knows its name.

    What an edit did not touch is taken over from the garden `before` it.
    """
    seen = [note for note in notes if drafts or not note.draft]
    ordered = sorted(seen, key=lambda note: (note.slug, note.language, note.file))
    by_address = {(note.language, note.slug): note for note in ordered}
    faults: list[Fault] = []
    names, redirects = {}, {}
    for language in LANGUAGES:
        own = [note for note in ordered if note.language == language]
        names[language] = Names(_gather(own, faults))
        redirects[language] = {key(alias): note.slug for note in own for alias in reversed(note.aliases)}
        redirects[language] |= {key(note.slug): note.slug for note in own}
    garden = Garden(concepts, (), (), by_address, names, redirects)
    placed = {address: _expand(garden, note, faults) for address, note in by_address.items() if note.transclusions}
    trails = dict(_trails(garden, before))
    faults += (fault for trail in trails.values() for fault in trail.faults)
    backlinks = _linking(trails.values())
    pairs = dict(_pairs(garden, before))
    faults += (fault for pair in pairs.values() for fault in pair.faults)
    faults += _untranslated(garden)
    faults += _lonely(garden, backlinks)
    stops = tuple(sorted({fault for fault in faults if fault.stops}))
    warns = tuple(sorted({fault for fault in faults if not fault.stops}))
    return replace(
        garden, faults=stops, warnings=warns, _placed=placed, _backlinks=backlinks, _trails=trails, _pairs=pairs
    )


def section_of(note: Note, name: str | None) -> Section | None:
    """By its id, else by an id or a title in another spelling, else by the words of its title; or a named block."""
    if not name:
        return None
    for section in (*note.sections, *note.anchors):
        if section.id == name:
            return section
    wanted = key(name)
    alike = (section for section in note.sections if wanted in (key(section.id), key(section.title)))
    blocks = (block for block in note.anchors if wanted == key(block.id))
    worded = (section for section in note.sections if id_from(section.title) == id_from(name))
    return next(alike, None) or next(blocks, None) or next(worded, None)


def _lacks(note: Note, section: str | None) -> bool:
    """Whether a section is named that is not there; the title is a heading too, of the whole note."""
    return bool(section) and section_of(note, section) is None and key(section or "") != key(note.title)


def _gather(notes: list[Note], faults: list[Fault]) -> dict[str, str]:
    """Every key of one language; a slug comes before a title, a title before an alias, then the first file wins."""
    found: dict[str, Note] = {}
    named = [("slug", note, note.slug) for note in notes]
    named += [("title", note, note.title) for note in notes]
    named += [("alias", note, alias) for note in notes for alias in note.aliases]
    for kind, note, name in named:
        first = found.setdefault(key(name), note)
        if first is not note and key(name):
            what = f"the {kind} '{name}' also names {first.file}, where links to it lead; rename one of them"
            faults.append(Fault(note.file, 1, what, stops=False))
    return {wanted: note.slug for wanted, note in found.items() if wanted}


def _expand(garden: Garden, note: Note, faults: list[Fault]) -> tuple[Placed, ...]:
    def lookup(block: Transclusion, where: Note) -> tuple[Note, str | None] | Fault:
        found = garden.find(block.target, where.language) if block.target.strip() else where
        if found is None:
            return _unwritten(garden, where, block.target, block.line)
        if _lacks(found, block.section):
            return _no_section(where, block.line, found, block.section or "")
        section = section_of(found, block.section)
        return found, section.id if section else None

    placed, met = expand(note, lookup)
    faults += met
    return placed


def _trails(garden: Garden, before: Garden | None) -> Iterator[tuple[Address, Trail]]:
    """Those of the garden before hold while every name leads where it led and the notes at their ends are the same."""
    old = before._trails if before and _lead_alike(garden._names, before._names) else {}
    for address, note in garden._notes.items():
        known = old.get(address)
        if known and known.note is note and all(garden.note(aim.language, aim.slug) is aim for aim in known.aims):
            yield address, known
        else:
            yield address, _trail(garden, note)


def _lead_alike(these: Mapping[Language, Names], those: Mapping[Language, Names]) -> bool:
    return all(these[language].slugs == those[language].slugs for language in LANGUAGES)


def _trail(garden: Garden, note: Note) -> Trail:
    """Links that lead nowhere become faults on the way."""
    links: list[tuple[Note, Backlink]] = []
    aims: dict[str, Note] = {}
    faults: list[Fault] = []
    for target, section, line, sentence in (
        *((link.target, link.section, link.line, link.sentence) for link in note.links),
        *((block.target, block.section, block.line, "") for block in note.transclusions),
    ):
        aim = garden.find(target, note.language) if target.strip() else note
        if aim is None:
            faults.append(_unwritten(garden, note, target, line))
            continue
        aims[aim.file] = aim
        known = section_of(aim, section)
        if section and known is None and _lacks(aim, section):
            faults.append(_no_section(note, line, aim, section))
        elif aim.slug != note.slug:
            links.append((aim, Backlink(note, sentence, known.id if known else None, line)))
    return Trail(note, tuple(links), tuple(aims.values()), tuple(faults))


def _linking(trails: Iterable[Trail]) -> dict[Address, list[Backlink]]:
    """Who is linked to by whom."""
    found: dict[Address, list[Backlink]] = {}
    for trail in trails:
        for aim, link in trail.links:
            found.setdefault((aim.language, aim.slug), []).append(link)
    return found


def _unwritten(garden: Garden, note: Note, target: str, line: int) -> Fault:
    best = garden._names[note.language].likely(target)
    mend = f"; did you mean '{best}'?" if best else ""
    return Fault(note.file, line, f"no note is called '{target}' yet{mend}", stops=False)


def _no_section(note: Note, line: int, aim: Note, section: str) -> Fault:
    """It stops the start; only the words of a heading, in a note without ids, are a warning: vaults rename them."""
    if section.startswith(PREFIX):
        return Fault(note.file, line, f"{aim.file} has no block '^{section.removeprefix(PREFIX)}'", stops=False)
    best = Names({key(part.id): part.id for part in aim.sections}).likely(section)
    known = ", ".join(part.id for part in aim.sections) or "none"
    mend = f"did you mean '{best}'?" if best else f"its sections: {known}"
    stops = bool(ID.fullmatch(section)) or any(part.explicit for part in aim.sections)
    return Fault(note.file, line, f"{aim.file} has no section '{section}'; {mend}", stops)


def _pairs(garden: Garden, before: Garden | None) -> Iterator[tuple[str, Pair]]:
    """By their slugs; two that are the very same as before are not compared again."""
    old = before._pairs if before else {}
    for note in garden.notes(LANGUAGES[0]):
        twin = garden.translation(note)
        known = old.get(note.slug)
        if known and twin and known.note is note and known.twin is twin:
            yield note.slug, known
        elif twin:
            yield note.slug, Pair(note, twin, tuple(differences(note, twin)))


def _untranslated(garden: Garden) -> Iterator[Fault]:
    """A note without a translation is worth a warning only in a garden of both languages."""
    if all(garden.notes(language) for language in LANGUAGES):
        for note in garden.notes():
            if garden.translation(note) is None:
                yield Fault(note.file, 1, f"has no translation; write {_twin_file(note)}", stops=False)


def _twin_file(note: Note) -> str:
    stem = note.file.removesuffix(".md").removesuffix(f".{note.language}")
    return f"{stem}.{other(note.language)}.md"


def _lonely(garden: Garden, backlinks: Iterable[Address]) -> Iterator[Fault]:
    """Notes that no other note links to, in either language; a garden of one note and its translation has none."""
    linked = {slug for _, slug in backlinks}
    if len({note.slug for note in garden.notes()}) > 1:
        for note in garden.notes():
            if note.slug not in linked:
                yield Fault(note.file, 1, "nothing links here; link to it from a note that it belongs to", stops=False)
