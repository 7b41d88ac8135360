"""The garden's home, its notes, and the files that notes refer to."""

import asyncio
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import FileResponse, RedirectResponse, Response

from app.content.note import GROWTHS, Embed, Note, Prose
from app.content.pieces import Footnotes
from app.content.rules.comments import published
from app.garden.names import key
from app.language import Language, other
from app.web.addresses import at, note_address
from app.web.citations import citation
from app.web.negotiation import preferred, wants_markdown
from app.web.network_views import NetworkView, network_view
from app.web.note_views import (
    BacklinkView,
    Block,
    NoteCard,
    backlink_views,
    card,
    listed,
    parted,
    prose_html,
    stale_views,
)
from app.web.problems import NotFound
from app.web.queries import Pairs, of_prefix, pairs, written
from app.web.rendering import Frame, page
from app.web.site import Site
from app.web.widget_views import Place, ProblemView, WidgetView
from app.web.widgets import kept_if_whole, status_of, widget_view
from app.web.words import Words

LISTED = 100
"""Notes of a stage, and of the dates, that the home lists; each stage has an address that lists all."""


def routes(site: Site) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    garden = site.report.garden

    @router.get("/")
    def root(request: Request) -> Response:
        language = preferred(request, site.settings.default_language)
        return RedirectResponse(f"/{language}/", 307, {"Vary": "Cookie, Accept-Language", "Cache-Control": "no-store"})

    @router.get("/{language:language}")
    def without_slash(language: Language) -> Response:
        return RedirectResponse(f"/{language}/", 308)

    @router.get("/{language:language}/")
    def home(request: Request, language: Language) -> Response:
        words = Words(language)
        cards = [card(note, language) for note in listed(site, language)]
        asked = dict(pairs(written(request.scope["query_string"]))).get("growth")
        stages = [asked] if asked in GROWTHS else list(reversed(GROWTHS))
        most = None if asked in GROWTHS or site.copy else LISTED
        by_growth = [shelf(language, growth, cards, most) for growth in stages]
        by_date = sorted(cards, key=lambda one: (one.tended or "", one.title), reverse=True)[:most]
        frame = Frame(
            language, words.home_title, words.home_lead, f"/{language}/", f"/{other(language)}/", room="notes"
        )
        view = {
            "by_growth": [one for one in by_growth if one.cards],
            "by_date": by_date if len(stages) > 1 else [],
            "empty": not cards,
        }
        return page(site, request, "home.html", frame, view)

    @router.get("/{language:language}/{slug}.md")
    def source(language: Language, slug: str) -> Response:
        return markdown(found(language, slug))

    @router.get("/{language:language}/{slug}")
    async def note(request: Request, language: Language, slug: str) -> Response:
        if (moved := garden.redirect(language, slug)) is not None:
            raw = written(request.scope["query_string"])
            return RedirectResponse(f"{at(language, moved)}{'?' if raw else ''}{raw}", 301)
        one = found(language, slug)
        if wants_markdown(request.headers.get("accept", "")):
            return markdown(one)
        raw = written(request.scope["query_string"])
        view = await note_page(site, request, one, pairs(raw))
        twin = garden.translation(one)
        frame = Frame(
            language,
            one.title,
            one.summary,
            note_address(one),
            note_address(twin) if twin else f"/{other(language)}/",
            room="notes",
            tail=f"?{raw}" if raw and twin else "",
            alternate=twin is not None,
        )
        context = {"note": view, "citation": citation(site, request, one)}
        status = 422 if view.problems else status_of(*view.widgets)
        return kept_if_whole(page(site, request, "note.html", frame, context, status), *view.widgets)

    @router.get("/{language:language}/{slug}/")
    def without_the_last_slash(request: Request, language: Language, slug: str) -> Response:
        query = request.url.query
        return RedirectResponse(f"{note_address(found(language, slug))}{'?' if query else ''}{query}", 308)

    @router.get("/files/{path:path}")
    def file(path: str) -> Response:
        if path not in site.files:
            raise NotFound(path)
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        headers = {
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox"
        }
        return FileResponse(site.settings.content / path, media_type=kind, headers=headers)

    def found(language: Language, slug: str) -> Note:
        one = garden.note(language, slug)
        if one is None:
            raise NotFound(slug)
        return one

    return router


@dataclass(frozen=True)
class GrowthView:
    """The notes of one stage, as the home lists them."""

    stage: str
    cards: tuple[NoteCard, ...]
    more: int
    """Notes that are not listed."""
    href: str
    """The address that lists all of them."""


def shelf(language: Language, stage: str, cards: Sequence[NoteCard], most: int | None) -> GrowthView:
    its = tuple(one for one in cards if one.growth == stage)
    return GrowthView(stage, its[:most], len(its) - len(its[:most]), f"/{language}/?growth={stage}")


def markdown(note: Note) -> Response:
    return Response(published(note.source), media_type="text/markdown; charset=utf-8", headers={"Vary": "Accept"})


@dataclass(frozen=True)
class NotePage:
    """A note as note.html shows it."""

    href: str
    language: Language
    title: str
    summary: str
    growth: str
    planted: str
    tended: str
    minutes: int
    tags: tuple[tuple[str, str], ...]
    """Name and address of each, every one once."""
    contents: tuple[tuple[str, str], ...]
    """Id and title of each section of level 2."""
    blocks: tuple[Block, ...]
    network: NetworkView | None
    network_titled: bool
    """Whether a section of the note, its last one, is about the network, so that the picture needs no heading."""
    footnotes: Markup
    backlinks: tuple[BacklinkView, ...]
    correct: str
    """The address for “correct this page”, or nothing."""
    problems: tuple[ProblemView, ...]
    """What is wrong in the address and belongs to no widget of the note."""

    @property
    def widgets(self) -> tuple[WidgetView, ...]:
        return tuple(block.widget for block in self.blocks if block.widget is not None)


async def note_page(site: Site, request: Request, note: Note, found: Pairs) -> NotePage:
    """The note with its embeds in the states that the address names."""
    placed = site.report.garden.placed(note)
    embeds = [piece.block for piece in placed if isinstance(piece.block, Embed)]
    names = {embed.name for embed in embeds}
    stray = [name for name, _ in found if "." in name and name.split(".")[0] not in names]
    path = note_address(note)
    behind = await asyncio.to_thread(stale_views, site, note) if note.translates else {}
    shown, footnotes = [], Markup("")
    for piece in placed:
        if isinstance(piece.block, Embed):
            place = replace(embed_place(note, piece.block, path, found), still=site.copy is not None)
            states = of_prefix(found, place.prefix)
            experiment = site.report.experiments[piece.block.experiment]
            shown.append(Block(Markup(""), await widget_view(site, request, experiment, place, states)))
        elif isinstance(piece.block, Prose) and any(isinstance(token, Footnotes) for token in piece.block.tokens):
            footnotes += prose_html(site, note, piece.block, piece.note, found)
        elif isinstance(piece.block, Prose):
            for part, id in parted(piece.block, behind if piece.note is note else ()):
                shown.append(Block(prose_html(site, note, part, piece.note, found), None))
                shown += [Block(Markup(""), None, behind.pop(id))] if id else []
    titles = {section.id: section.title for section in note.sections}
    above = [Block(Markup(""), None, replace(stale, title=titles.get(id, ""))) for id, stale in behind.items()]
    words = Words(note.language)
    return NotePage(
        href=path,
        language=note.language,
        title=note.title,
        summary=note.summary,
        growth=note.growth,
        planted=note.planted.isoformat() if note.planted else "",
        tended=note.tended.isoformat() if note.tended else "",
        minutes=note.minutes,
        tags=tag_links(note),
        contents=tuple((section.id, section.title) for section in note.sections if section.level == 2),
        blocks=(*above, *shown),
        network=network_view(site, note),
        network_titled=bool(note.sections) and note.sections[-1].id == "network",
        footnotes=footnotes,
        backlinks=backlink_views(site, note),
        correct=f"{site.settings.repository.rstrip('/')}/{quote(note.file)}" if site.settings.repository else "",
        problems=tuple(ProblemView(name, name, "", words.no_such_embed) for name in stray),
    )


def tag_links(note: Note) -> tuple[tuple[str, str], ...]:
    """Spellings of one tag count once."""
    spellings: dict[str, str] = {}
    for tag in note.tags:
        spellings.setdefault(key(tag), tag)
    return tuple((tag, at(note.language, "tags", tag)) for tag in spellings.values())


def embed_place(note: Note, embed: Embed, path: str, found: Pairs) -> Place:
    prefix = f"{embed.name}."
    others = tuple(pair for pair in found if "." in pair[0] and not pair[0].startswith(prefix))
    return Place(note.language, path, embed.name, prefix, embed.given, note.slug, others)
