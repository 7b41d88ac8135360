"""The garden as a copy that stands still: what is asked for to make one, and the pages that only a copy has.

Any file server shows a copy. What needs a garden that computes leads to the living one, where its address is given.
"""

import re

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from app.content.note import Note
from app.language import LANGUAGES, Language, other
from app.web.addresses import at, note_address
from app.web.citations import card_address
from app.web.rendering import Frame, page
from app.web.site import Site
from app.web.words import Words

STATE = re.compile(r"/(?:embed/)?(?:en|zh)/widgets/[^/]+(?:/checkpoint)?|/(?:en|zh)/.+/preview")
"""Paths that read a state from the query, one of those that pages name; all other queries are without number."""
COMPUTED = re.compile(r"/api/.*")
VERBATIM = re.compile(r"/(?:files|static|traces)/.*|/recorder\.py|/(?:en|zh)/[^/]+\.md")
PREVIEWED = ':is(a.note, a.term), .prose a[href^="#"]:not(.ran, .anchor, .footnote-back, .fnref a)'
"""As in static/scripts/10-previews-when.js."""


def routes(site: Site) -> APIRouter:
    """To be included before all others, where the site is a copy."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    def door() -> Response:
        return doors(site, lost=False)

    @router.get("/404.html")
    def lost() -> Response:
        return doors(site, lost=True)

    @router.get("/{language:language}/search")
    def search(request: Request, language: Language) -> Response:
        words = Words(language)
        path = f"/{language}/search"
        frame = Frame(language, words.search, words.copy_search_lead, path, f"/{other(language)}/search", "search")
        return page(site, request, "copy/search.html", frame, {})

    return router


def doors(site: Site, lost: bool) -> Response:
    """A page in both languages at once, with the way into each."""
    default = site.settings.default_language
    languages = sorted(LANGUAGES, key=lambda language: language != default)
    view = {"lost": lost, "settings": site.settings, "rooms": [(one, Words(one)) for one in languages]}
    return HTMLResponse(site.templates.get_template("copy/doors.html").render(view))


def starts(site: Site) -> tuple[str, ...]:
    """Every address that a copy begins with; the rest is what these lead to."""
    garden = site.report.garden
    found = ["/", "/404.html", "/robots.txt"]
    if site.settings.base_url:
        found += ["/sitemap.xml", "/llms.txt", *(f"/{language}/atom.xml" for language in LANGUAGES)]
    for language in LANGUAGES:
        found += [f"/{language}/{room}" for room in ("", "widgets/", "concepts", "compare", "health")]
        found += [f"/{language}/search"] if site.copy and site.copy.search else []
        found += [f"{at(language, 'concepts', id)}/preview" for id in site.report.concepts]
    for note in garden.notes():
        href = note_address(note)
        found += [href, f"{href}.md", f"{href}/preview", card_address(note), *moved(site, note)]
    return tuple(dict.fromkeys(found))


def moved(site: Site, note: Note) -> list[str]:
    """The addresses that lead to the note by its other names."""
    garden = site.report.garden
    return [
        at(language, alias)
        for language in LANGUAGES
        for alias in note.aliases
        if garden.redirect(language, alias) == note.slug
    ]


def computed(address: str) -> bool:
    """Whether only a running garden answers: programs' addresses, and queries of which no page lists all there are."""
    path, _, query = address.partition("?")
    return bool(COMPUTED.fullmatch(path) or (query and not STATE.fullmatch(path)))


def verbatim(path: str) -> bool:
    return bool(VERBATIM.fullmatch(path))


def preview(path: str, fragment: str) -> str:
    """The address of the fragment that is shown beside a link."""
    section = fragment.replace("&", "%26").replace("+", "%2B")
    return f"{path}/preview" + (f"?section={section}" if section else "")
