"""The garden as other programs read it: feeds, the map for crawlers, the list for language models, social cards; tags.

What is not dated is in no feed, since Atom wants a date of every entry and a guessed one would be worse than none.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.content.note import Concept, Note
from app.experiments import EXPERIMENTS
from app.experiments.experiment import Experiment
from app.garden.labels import lines, width
from app.garden.names import key
from app.language import LANGUAGES, Language, other
from app.web.addresses import at, note_address
from app.web.note_views import card
from app.web.problems import NotFound
from app.web.rendering import Frame, base_url, page
from app.web.site import Site
from app.web.words import Words

NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LATEST = 100
"""Entries of a feed."""
EPOCH = date(1970, 1, 1)
"""When a feed without entries was last changed."""
SIZES = (84, 72, 62, 52, 44, 38)
"""Of a card's title, the largest that holds it."""
MARGIN, WIDEST, HIGHEST, MIDDLE, LEADING = 80, 1040, 350, 318, 1.22
"""Where a card's title stands: the left edge, room across and down, its centre, the height of a line in em."""


@dataclass(frozen=True)
class Entry:
    """A note in a feed; dates as Atom writes them."""

    title: str
    href: str
    summary: str
    published: str
    updated: str
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Spot:
    """A page on the map, with the paths at which it stands in each language, its own among them."""

    path: str
    languages: tuple[tuple[Language, str], ...]
    changed: str


@dataclass(frozen=True)
class Line:
    """A line of a card's title."""

    words: str
    y: float
    long: float
    """The width to which it is held, whatever letters the reader has."""


@dataclass(frozen=True)
class Card:
    size: int
    lines: tuple[Line, ...]
    garden: Line


def routes(site: Site) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    garden = site.report.garden

    @router.get("/{language:language}/atom.xml")
    def feed(request: Request, language: Language) -> Response:
        entries = feed_entries(garden.notes(language))
        view = {"entries": entries, "updated": entries[0].updated if entries else moment(EPOCH)}
        return text(site, request, "atom.xml", "application/atom+xml", view, language)

    @router.get("/sitemap.xml")
    def sitemap(request: Request) -> Response:
        return text(site, request, "sitemap.xml", "application/xml", {"spots": spots(site)})

    @router.get("/robots.txt")
    def robots(request: Request) -> Response:
        return text(site, request, "robots.txt", "text/plain", {})

    @router.get("/llms.txt")
    def llms(request: Request) -> Response:
        shelves = [
            (words, [(plain(one.title), f"{note_address(one)}.md", plain(one.summary)) for one in notes])
            for words, notes in ((Words(language), garden.notes(language)) for language in LANGUAGES)
            if notes
        ]
        widgets = [(one.name, one.title["en"], one.summary["en"]) for one in EXPERIMENTS.values()]
        return text(site, request, "llms.txt", "text/plain", {"shelves": shelves, "widgets": widgets})

    @router.get("/cards/{language:language}/{slug}.svg")
    def social_card(request: Request, language: Language, slug: str) -> Response:
        note = garden.note(language, slug)
        if note is None:
            raise NotFound(slug)
        view = {"note": card(note, language), "card": card_of(note.title, site.settings.title)}
        return text(site, request, "card.svg", "image/svg+xml", view, language)

    @router.get("/{language:language}/tags/{tag:path}")
    def tagged(request: Request, language: Language, tag: str) -> Response:
        notes = garden.tagged(language, tag)
        if not notes:
            raise NotFound(tag)
        words = Words(language)
        here, there = spelling(notes, tag), garden.tagged(other(language), tag)
        title = words.tagged.format(here)
        elsewhere = at(other(language), "tags", spelling(there, tag)) if there else f"/{other(language)}/"
        frame = Frame(language, title, "", at(language, "tags", here), elsewhere, "notes", alternate=bool(there))
        return page(site, request, "tag.html", frame, {"cards": [card(note, language) for note in notes]})

    return router


def feed_entries(notes: tuple[Note, ...]) -> list[Entry]:
    """The latest of the dated ones, those tended last first."""
    dated = [(note.tended or note.planted, note) for note in notes]
    last = sorted(((when, note) for when, note in dated if when), key=lambda one: (-one[0].toordinal(), one[1].slug))
    return [
        Entry(
            note.title,
            note_address(note),
            note.summary,
            moment(note.planted) if note.planted else "",
            moment(when),
            note.tags,
        )
        for when, note in last[:LATEST]
    ]


def moment(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"


def spots(site: Site) -> list[Spot]:
    """Every page that is there to be found; what exists in both languages names both, from either side."""
    garden, concepts, experiments = site.report.garden, site.report.concepts, EXPERIMENTS
    found = []
    for parts in _rooms(concepts, experiments):
        both = tuple((language, at(language, *parts)) for language in LANGUAGES)
        found += [Spot(path, both, "") for _, path in both]
    for note in garden.notes():
        twins = [garden.note(language, note.slug) for language in LANGUAGES]
        both = tuple((twin.language, note_address(twin)) for twin in twins if twin)
        changed = note.tended or note.planted
        found.append(Spot(note_address(note), both if len(both) > 1 else (), changed.isoformat() if changed else ""))
    tags = {language: {key(tag): at(language, "tags", tag) for tag in garden.tags(language)} for language in LANGUAGES}
    for tag, path in chain.from_iterable(known.items() for known in tags.values()):
        both = tuple((language, known[tag]) for language, known in tags.items() if tag in known)
        found.append(Spot(path, both if len(both) > 1 else (), ""))
    return found


def _rooms(concepts: Mapping[str, Concept], experiments: Mapping[str, Experiment]) -> list[tuple[str, ...]]:
    """The paths below a language that exist in both; an empty last part is a slash at the end."""
    rooms: list[tuple[str, ...]] = [("",), ("widgets", ""), ("concepts",), ("compare",)]
    rooms += [("widgets", name) for name in experiments]
    return rooms + [("concepts", id) for id in concepts]


def spelling(notes: tuple[Note, ...], tag: str) -> str:
    """The tag as the first of its notes writes it."""
    return next(written for written in notes[0].tags if key(written) == key(tag))


def plain(said: str) -> str:
    """On one line of markdown, with nothing in it that would end the words of a link."""
    return re.sub(r"([\\\[\]])", r"\\\1", " ".join(said.split()))


def card_of(title: str, garden: str) -> Card:
    """The title in the largest letters in which no word of it is lost; what no size holds ends in an ellipsis."""
    for size in SIZES:
        broken = lines(title, size, WIDEST, int(HIGHEST / (size * LEADING)))
        if _bare("".join(broken)) == _bare(title):
            break
    top = MIDDLE - len(broken) * size * LEADING / 2 + 0.9 * size
    shown = tuple(
        Line(words, round(top + at * size * LEADING, 1), width(words, size)) for at, words in enumerate(broken)
    )
    name = lines(garden, 34, WIDEST - 64, 1)[0]
    return Card(size, shown, Line(name, 103, width(name, 34)))


def _bare(said: str) -> str:
    return "".join(said.split())


def text(
    site: Site, request: Request, template: str, kind: str, view: Mapping[str, Any], language: Language = "en"
) -> Response:
    """A template that is no page, without the characters that XML has no way to write."""
    context = {
        "language": language,
        "other": other(language),
        "words": Words(language),
        "settings": site.settings,
        "base_url": base_url(site, request),
        "languages": LANGUAGES,
        **view,
    }
    written = site.templates.get_template(template).render(context)
    return Response(NOT_IN_XML.sub("", written) + "\n", media_type=f"{kind}; charset=utf-8")
