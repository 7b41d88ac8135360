"""A note into what others need to cite it: the names that scholarly indexes read, JSON-LD, a line and BibTeX.

What is not known, an author or a date, is left out.
"""

import re
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from app.content.note import Note
from app.language import Text
from app.web.addresses import at, note_address
from app.web.rendering import base_url
from app.web.site import Site

SPECIAL = re.compile(r"[&%$#_{}]")
NOT_IN_KEY = re.compile(r"[^\w.:+/-]+")
LANG = {"en": "en", "zh": "zh-Hans"}


@dataclass(frozen=True)
class Citation:
    title: str
    author: str
    published: str
    """2026/11/30, as Google Scholar wants it."""
    address: str
    card: str
    """The address of the social card."""
    data: dict[str, Any]
    """JSON-LD."""
    plain: str
    bibtex: str


def citation(site: Site, request: Request, note: Note) -> Citation:
    base, settings = base_url(site, request), site.settings
    address = base + note_address(note) if base else ""
    return Citation(
        title=note.title,
        author=settings.author,
        published=f"{note.planted:%Y/%m/%d}" if note.planted else "",
        address=address,
        card=f"{base}{card_address(note)}",
        data=_data(site, note, base),
        plain=_plain(note, settings.author, settings.title, address),
        bibtex=_bibtex(note, settings.author, settings.title, address),
    )


def card_address(note: Note) -> str:
    return f"/cards{at(note.language, note.slug)}.svg"


def _data(site: Site, note: Note, base: str) -> dict[str, Any]:
    settings, twin = site.settings, site.report.garden.translation(note)
    address = base + note_address(note)
    known = {
        "@context": "https://schema.org",
        "@type": "Article",
        "@id": address,
        "url": address,
        "headline": note.title,
        "description": note.summary,
        "inLanguage": LANG[note.language],
        "keywords": list(note.tags),
        "datePublished": note.planted.isoformat() if note.planted else "",
        "dateModified": note.tended.isoformat() if note.tended else "",
        "author": {"@type": "Person", "name": settings.author} if settings.author else "",
        "license": settings.licence_url,
        "image": f"{base}{card_address(note)}",
        "isPartOf": {"@type": "WebSite", "name": settings.title, "url": f"{base}/{note.language}/"},
        "workTranslation": {"@id": base + note_address(twin)} if twin else "",
    }
    return {name: value for name, value in known.items() if value}


def _plain(note: Note, author: str, garden: str, address: str) -> str:
    day = note.planted.isoformat() if note.planted else ""
    by = Text(f"{author}. ", f"{author}：") if author else Text("", "")
    on = Text(f", {day}", f"，{day}") if day else Text("", "")
    stop = "" if note.title.endswith(("?", "!", ".", "…")) else "."
    line = by + Text(f"“{note.title}{stop}” {garden}", f"《{note.title}》，{garden}") + on + Text(". ", "。")
    return (line[note.language] + address).rstrip()


def _bibtex(note: Note, author: str, garden: str, address: str) -> str:
    fields = {
        "title": f"{{{_tex(note.title)}}}",
        "author": f"{{{_tex(author)}}}" if author else "",
        "howpublished": _tex(garden),
        "year": str(note.planted.year) if note.planted else "",
        "month": str(note.planted.month) if note.planted else "",
        "url": address,
        "language": {"en": "english", "zh": "chinese"}[note.language],
    }
    rows = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    name = NOT_IN_KEY.sub("-", f"{note.slug}-{note.language}")
    return f"@misc{{{name},\n" + ",\n".join(rows) + "\n}"


def _tex(said: str) -> str:
    return SPECIAL.sub(lambda found: "\\" + found[0], said.replace("\\", ""))
