"""Templates: one environment, strict about every name, and what base.html needs of each page."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from app import __version__
from app.drawing import Box, Dot, Label, Line
from app.language import LANGUAGES, Language, other
from app.web.assets import HTMX_CDN, HTMX_INTEGRITY, Asset, Assets
from app.web.site import Copy, Site
from app.web.words import Words


@dataclass(frozen=True)
class Frame:
    """What stands around every page."""

    language: Language
    title: str
    """Of the page; the garden's own title is added in the head."""
    description: str
    path: str
    """The canonical path, without a query."""
    other_href: str
    """This page in the other language."""
    room: str = ""
    """notes, widgets or concepts: the entry of the menu that is marked."""
    tail: str = ""
    """The query that the language switch keeps."""
    robots: str = ""
    alternate: bool = True
    """Whether other_href is the same page in the other language, not just the nearest that there is."""


def environment(
    folder: Path, assets: Assets, local_htmx: bool, *, live: bool = False, copy: Copy | None = None
) -> Environment:
    """`live` pages follow the edits of their notes."""
    env = Environment(
        loader=FileSystemLoader(folder),
        auto_reload=False,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["json"] = lambda value: Markup(escape(json.dumps(value, ensure_ascii=False, separators=(",", ":"))))
    env.filters["ticked"] = _ticked
    env.tests["line"] = lambda shape: isinstance(shape, Line)
    env.tests["dot"] = lambda shape: isinstance(shape, Dot)
    env.tests["box"] = lambda shape: isinstance(shape, Box)
    env.tests["label"] = lambda shape: isinstance(shape, Label)
    env.globals |= {
        "version": __version__,
        "style": assets.style,
        "script": assets.script,
        "pages": assets.pages,
        "live": live,
        "htmx": _htmx(assets.htmx, local_htmx),
        "copy": copy,
    }
    return env


def _ticked(text: str) -> Markup:
    """What stands between backquotes as code."""
    parts = (f"<code>{escape(part)}</code>" if i % 2 else escape(part) for i, part in enumerate(text.split("`")))
    return Markup("".join(parts))


@dataclass(frozen=True)
class Htmx:
    """The script element of htmx, and the address to fall back to when it does not load."""

    src: str
    integrity: str
    fallback: str


def _htmx(carried: Asset | None, local: bool) -> Htmx:
    if local and carried is not None:
        return Htmx(carried.href, "", "")
    return Htmx(HTMX_CDN, HTMX_INTEGRITY, carried.href if carried else "")


def page(
    site: Site, request: Request, template: str, frame: Frame, view: Mapping[str, Any], status: int = 200
) -> HTMLResponse:
    """A whole page."""
    context = {
        "frame": frame,
        "language": frame.language,
        "words": Words(frame.language),
        "settings": site.settings,
        "base_url": base_url(site, request),
        "languages": LANGUAGES,
        "other": other(frame.language),
        **view,
    }
    return HTMLResponse(site.templates.get_template(template).render(context), status, {"Vary": "Accept"})


def fragment(site: Site, language: Language, template: str, view: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """A piece of a page, for htmx."""
    context = {"language": language, "words": Words(language), **view}
    return HTMLResponse(site.templates.get_template(template).render(context), status)


def base_url(site: Site, request: Request) -> str:
    """The public address without a slash at the end; nothing in a copy that does not know where it will stand."""
    if site.copy is not None:
        return site.settings.base_url.rstrip("/")
    return site.settings.base_url.rstrip("/") or f"{request.url.scheme}://{request.url.netloc}"
