"""Notes and concepts as pages show them, and the context in which their prose becomes HTML."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from markupsafe import Markup

from app.content.note import Concept, Growth, Note, Prose, Ran
from app.content.pieces import Heading
from app.content.render import ConceptShown, LinkTo, RanShown, html
from app.experiments.experiment import query
from app.garden.names import key
from app.garden.network import Place as Occurrence
from app.garden.network import places
from app.language import BADGE, Language, other
from app.web.addresses import at, note_address
from app.web.queries import Pairs
from app.web.records import Difference
from app.web.site import Site
from app.web.widget_views import Place as WidgetPlace
from app.web.widget_views import WidgetView


@dataclass(frozen=True)
class Block:
    """A piece of a note's page: prose as finished HTML, or a widget."""

    html: Markup
    widget: WidgetView | None
    stale: "StaleView | None" = None
    """In the place of both: the section is behind the other language's."""


@dataclass(frozen=True)
class StaleView:
    """That the other text of a section changed since it was translated."""

    href: str
    """The section in the other language."""
    difference: Difference | None
    """None where the text that was translated is not known."""
    title: str = ""
    """The section's, where the notice does not stand below its heading."""


SENTENCES = 10
"""Of one note that are shown below another; an index may link to a note a thousand times."""


@dataclass(frozen=True)
class BacklinkView:
    """A note that links to the page's, in the page's language or the other one."""

    title: str
    href: str
    growth: Growth
    lang: str
    badge: str
    """The short name of its language where that is not the page's."""
    sentences: tuple[str, ...]
    """The first that link; an empty one stands for showing the text itself."""
    more: int
    """Sentences that link and are not among them."""


@dataclass(frozen=True)
class NoteCard:
    """A note in a list."""

    title: str
    href: str
    summary: str
    growth: Growth
    tended: str
    minutes: int
    badge: str
    """The name of its language where that is not the page's."""


@dataclass(frozen=True)
class OccurrenceView:
    sentence: str
    href: str
    section: str
    marked: bool


@dataclass(frozen=True)
class ConceptView:
    """A concept with the places where the garden speaks of it."""

    id: str
    label: str
    meaning: str
    also: tuple[str, ...]
    other_label: str
    notes: tuple[tuple[str, str, tuple[OccurrenceView, ...]], ...]
    """Title, address and occurrences, note by note."""
    more: tuple[tuple[str, str], ...]
    """Title and address of the notes whose sentences are not shown here."""


NAMES = {"en": "English", "zh": "中文"}
TAGS = {"en": "en", "zh": "zh-Hans"}
MOST_NOTES = 60
"""Notes whose sentences the page of a concept shows."""


def card(note: Note, language: Language) -> NoteCard:
    return NoteCard(
        title=note.title,
        href=note_address(note),
        summary=note.summary,
        growth=note.growth,
        tended=note.tended.isoformat() if note.tended else "",
        minutes=note.minutes,
        badge=NAMES[note.language] if note.language != language else "",
    )


def listed(site: Site, language: Language) -> tuple[Note, ...]:
    """The notes of a language, and those that exist only in the other."""
    garden = site.report.garden
    only_other = (note for note in garden.notes() if note.language != language and garden.translation(note) is None)
    return (*garden.notes(language), *only_other)


def concept_view(site: Site, concept: Concept, language: Language) -> ConceptView:
    """Reads the index: to be called in a thread."""
    speaking = site.index().speaking_of(concept.id, language)
    notes = []
    for note in speaking[:MOST_NOTES]:
        href = note_address(note)
        found = places(note, site.report.concepts).get(concept.id, ())
        notes.append((note.title, href, occurrence_views(note, found, href)))
    return ConceptView(
        concept.id,
        concept.label[language],
        concept.meaning[language],
        tuple(concept.also.get(language, ())),
        concept.label["en" if language == "zh" else "zh"],
        tuple(notes),
        tuple((note.title, note_address(note)) for note in speaking[MOST_NOTES:]),
    )


def occurrence_views(note: Note, found: Iterable[Occurrence], href: str = "") -> tuple[OccurrenceView, ...]:
    """One for each sentence; of several occurrences in a sentence the marked one."""
    by_sentence: dict[tuple[str | None, str], Occurrence] = {}
    for place in found:
        known = by_sentence.setdefault((place.section, place.sentence), place)
        if place.marked and not known.marked:
            by_sentence[(place.section, place.sentence)] = place
    return tuple(_occurrence_view(note, place, href) for place in by_sentence.values())


def _occurrence_view(note: Note, place: Occurrence, href: str) -> OccurrenceView:
    titles = {section.id: section.title for section in note.sections}
    return OccurrenceView(
        place.sentence, f"{href}#{place.anchor or 'main'}", titles.get(place.section or "", note.title), place.marked
    )


@dataclass(frozen=True)
class PageContext:
    """What prose asks for while it becomes HTML: where links, concepts and numbers of a page lead."""

    site: Site
    page: Note
    """The note whose page it is."""
    home: Note
    """The note in which the prose was written."""
    found: Pairs
    """The states in the address: a number keeps those of the other embeds."""

    @property
    def language(self) -> Language:
        return self.page.language

    @property
    def prefix(self) -> str:
        return "" if self.home is self.page else f"{'-'.join(self.home.slug.split())}-"  # no id may hold a space

    def link(self, target: str, section: str | None) -> LinkTo | None:
        garden = self.site.report.garden
        aim = garden.resolve(target, section, self.home.language, self.home)
        if aim is None:
            return None
        note = garden.note(aim.language, aim.slug)
        same = note is self.page
        tail = f"#{aim.section}" if aim.section else ""
        href = tail if same and tail else f"{at(aim.language, aim.slug)}{tail}"
        named = section or key(target) == key(aim.slug)
        return LinkTo(href, aim.title, note.growth if note else None, aim.title if named else "")

    def concept(self, id: str) -> ConceptShown:
        concept = self.site.report.concepts[id]
        return ConceptShown(at(self.language, "concepts", id), concept.meaning[self.language])

    def tag(self, name: str) -> str:
        return at(self.language, "tags", name)

    def ran(self, ran: Ran) -> RanShown:
        """Leads to the embed that shows the experiment in the note of the number, else to the experiment's own page."""
        shown = self.site.shown(self.home, ran)
        if shown.embed is None or self.site.copy is not None:
            experiment = self.site.report.experiments[shown.experiment]
            state = query(experiment.state(self.site.report.params(self.home, ran)))
            return RanShown(f"/{self.language}/widgets/{shown.experiment}{'?' if state else ''}{state}", shown.differs)
        prefix = f"{shown.embed}."
        here = self.found if self.home is self.page else ()
        others = tuple(pair for pair in here if "." in pair[0] and not pair[0].startswith(prefix))
        place = WidgetPlace(self.home.language, note_address(self.home), shown.embed, prefix, others=others)
        return RanShown(place.href(shown.state), shown.differs)


def prose_html(site: Site, page: Note, prose: Prose, home: Note, found: Pairs) -> Markup:
    return Markup(html(prose, PageContext(site, page, home, found)))


def backlink_views(site: Site, note: Note) -> tuple[BacklinkView, ...]:
    """Who links to the note or its translation: the page's language first; of translations that both do, its own."""
    garden = site.report.garden
    twin = garden.translation(note)
    found: dict[str, tuple[Note, list[str]]] = {}
    for link in (*garden.backlinks(note), *(garden.backlinks(twin) if twin else ())):
        found.setdefault(link.note.file, (link.note, []))[1].append(link.sentence)
    own = {citing.slug for citing, _ in found.values() if citing.language == note.language}
    shown = [one for one in found.values() if one[0].language == note.language or one[0].slug not in own]
    shown.sort(key=lambda one: (one[0].language != note.language, one[0].slug))
    return tuple(
        BacklinkView(
            citing.title,
            note_address(citing),
            citing.growth,
            TAGS[citing.language],
            BADGE[citing.language] if citing.language != note.language else "",
            sentences[:SENTENCES],
            len(sentences[SENTENCES:]),
        )
        for citing, sentences in ((citing, tuple(dict.fromkeys(found))) for citing, found in shown)
    )


def stale_views(site: Site, note: Note) -> dict[str, StaleView]:
    """By the section of the note; it may ask git."""
    behind = site.records.stale(note, site.report.garden.translation(note))
    there = at(other(note.language), note.slug)
    ids = {section.id for section in note.sections}
    return {id: StaleView(f"{there}{f'#{id}' if id in ids else ''}", found) for id, found in behind.items()}


def parted(prose: Prose, sections: Iterable[str]) -> Iterator[tuple[Prose, str]]:
    """The prose cut below the headings of these sections, each part with the section whose heading ends it, or none."""
    wanted, start = set(sections), 0
    for end, token in enumerate(prose.tokens, 1):
        if isinstance(token, Heading) and token.id in wanted:
            yield replace(prose, tokens=prose.tokens[start:end]), token.id
            start = end
    if start < len(prose.tokens):
        yield replace(prose, tokens=prose.tokens[start:]), ""
