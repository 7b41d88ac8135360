"""Settings, a checked garden and a laboratory into the ASGI application."""

import asyncio
import contextlib
import functools
import gc
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from fastapi import FastAPI, Request
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp
from starlette_compress import CompressMiddleware

from app import __version__
from app.checks import Report, needed
from app.errors import LaboratoryError
from app.experiments import EXPERIMENTS
from app.garden.atlas import View
from app.garden.pictures import Pictures
from app.laboratory import Laboratory, Outcome
from app.language import LANGUAGES
from app.measured import key
from app.settings import Settings, shipped
from app.traces import recorder_source
from app.web import (
    api,
    compare,
    concepts,
    copies,
    downloads,
    feeds,
    notes,
    previews,
    problems,
    search,
    tending,
    widgets,
)
from app.web.assets import read_assets
from app.web.comparer import Comparer
from app.web.guards import CDN_ORIGIN, Bodies, Head, Headers, Queries
from app.web.missed import Watch
from app.web.problems import NotFound
from app.web.records import Records
from app.web.rendering import environment
from app.web.shelf import Kept, Shelf
from app.web.site import Copy, Site
from app.web.slots import Slots

WARM_UP = 0.3
"""Seconds after the start in which readers of the first pages have the processor for themselves."""
FOR_EVER = "public, max-age=31536000, immutable"


class LanguageConvertor(StringConvertor):
    regex = "|".join(LANGUAGES)


class EndingConvertor(StringConvertor):
    regex = "|".join(downloads.ENDINGS)


def create(settings: Settings, report: Report, laboratory: Laboratory) -> ASGIApp:
    """The whole site; the garden is fixed for the life of the application."""
    return wired(open_site(settings, report, laboratory), Kept(settings.page_cache * (1 << 20)))


def wired(site: Site, kept: Kept) -> ASGIApp:
    """A site into the application that answers for it, with room for finished pages."""
    settings = site.settings
    register_url_convertor("language", LanguageConvertor())
    register_url_convertor("ending", EndingConvertor())
    register_url_convertor("slug", tending.SlugConvertor())
    app = FastAPI(
        title=settings.title,
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lambda _: running(site, kept),
    )
    problems.install(app, site)
    if site.copy is not None:
        app.include_router(copies.routes(site))
    add_plain_routes(app, site)
    for room in (api, compare, search, widgets, feeds, concepts, tending, notes, previews):
        app.include_router(room.routes(site))
    app.add_api_route("/{path:path}", nothing_here, include_in_schema=False)
    inner: ASGIApp = Bodies(Watch(app, site.missed), settings.upload_limit * 1024, settings.trace_limit << 20)
    inner = Queries(inner, lambda request: problems.too_long(site, request))
    hosts = [host.strip() for host in settings.trusted_hosts.split(",") if host.strip()]
    if hosts != ["*"]:
        inner = TrustedHostMiddleware(inner, [*hosts, "127.0.0.1", "localhost"])
    local = settings.htmx == "local" and site.assets.htmx is not None
    # As dense as costs a page less than 3 ms once; a fragment pays 0.1 ms.
    compressed = CompressMiddleware(inner, minimum_size=500, brotli_quality=5, gzip_level=6, zstd_level=9)
    inner = Headers(compressed, hsts=settings.hsts, scripts="" if local else CDN_ORIGIN)
    return Head(Shelf(inner, kept))


def open_site(
    settings: Settings,
    report: Report,
    laboratory: Laboratory,
    *,
    before: Site | None = None,
    live: bool = False,
    copy: Copy | None = None,
) -> Site:
    """Also puts the results on record where the laboratory finds them first.

    What does not depend on the garden is taken over from the site `before` an edit.
    """
    for experiment, params in needed(report):
        record = report.measured.record(experiment, params)
        if record is not None and record.digest == experiment.digest:
            where = {"platform": record.processor, **record.versions, "processor": record.processor}
            laboratory.keep(experiment, params, Outcome(record.result, None, where))
    index = search.made_once(report, before.index if before else None)
    of_this_garden: dict[str, Any] = {
        "report": report,
        "files": frozenset(file for note in report.garden.notes() for file in note.files),
        "records": Records(settings.content, settings.drafts),
        "index": index,
        "pictures": Pictures(report.garden, report.concepts, lambda: index().naming(), report.kept),
    }
    if before is not None:
        return replace(before, **of_this_garden)
    assets = read_assets(shipped("static"), copy is not None)
    formatter: HtmlFormatter[str] = HtmlFormatter(nowrap=False, cssclass="highlight", wrapcode=True)
    return Site(
        settings=settings,
        laboratory=laboratory,
        templates=environment(shipped("templates"), assets, settings.htmx == "local", live=live, copy=copy),
        assets=assets,
        slots=Slots(settings.client_slots),
        comparer=Comparer(settings),
        code=functools.cache(lambda name: Markup(highlight(EXPERIMENTS[name].source, PythonLexer(), formatter))),
        copy=copy,
        **of_this_garden,
    )


@contextlib.asynccontextmanager
async def running(site: Site, kept: Kept) -> AsyncIterator[None]:
    """Workers come up behind the first pages, and then run again what is on record, to see whether it differs here.

    For a copy they come up only when they are needed: it shows what is on record.
    """
    if site.copy is not None:
        yield
        site.laboratory.close()
        return
    gc.freeze()  # what stands for good is never searched for garbage, which would hold up a reader for some 60 ms
    gc.enable()
    site.laboratory.start()
    again = asyncio.ensure_future(measure_again(site, kept))
    warm = asyncio.ensure_future(warm_up(site))
    try:
        yield
    finally:
        again.cancel()
        warm.cancel()
        site.laboratory.close()
        site.comparer.close()


async def warm_up(site: Site) -> None:
    """Behind the first page, and before the first search, which would wait for it."""
    await asyncio.sleep(WARM_UP)
    await asyncio.to_thread(site.index)
    for language in LANGUAGES:
        site.pictures.drawing(language, View())


async def measure_again(site: Site, kept: Kept) -> None:
    for state in needed(site.report):
        if key(state) in site.here:
            continue
        with contextlib.suppress(LaboratoryError):
            site.here[key(state)] = (await site.laboratory.measure(*state)).result
    kept.clear()


def add_plain_routes(app: FastAPI, site: Site) -> None:
    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        asset = site.assets.named(name)
        if asset is None:
            raise NotFound(name)
        return Response(asset.body, media_type=asset.media_type, headers={"Cache-Control": FOR_EVER})

    @app.get("/recorder.py", include_in_schema=False)
    def recorder() -> Response:
        return Response(recorder_source(), media_type="text/x-python")

    @app.get("/healthz", include_in_schema=False)
    def alive() -> Response:
        return JSONResponse({"status": "alive"}, headers={"Cache-Control": "no-store"})

    @app.get("/readyz", include_in_schema=False)
    async def ready() -> Response:
        up = await site.laboratory.ready()
        status = {"status": "ready" if up else "starting", "notes": len(site.report.garden.notes())}
        return JSONResponse(status, 200 if up else 503, headers={"Cache-Control": "no-store"})

    if site.settings.metrics:

        @app.get("/metrics", include_in_schema=False)
        def metrics() -> Response:
            figures = vars(site.laboratory.figures)
            lines = [
                f"# TYPE perennial_experiments_{name} counter\nperennial_experiments_{name}_total {n}"
                for name, n in figures.items()
            ]
            return PlainTextResponse("\n".join(lines) + "\n", headers={"Cache-Control": "no-store"})


def nothing_here(request: Request, path: str) -> Response:
    """The last route: it lets 404 pass through the table of errors like any other, and 405 where others send."""
    if problems.methods(request):
        raise HTTPException(405)
    raise NotFound(re.sub(r"^(en|zh)/", "", path))
