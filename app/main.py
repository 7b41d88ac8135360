"""Settings into the application: read the content, check it, wire the rooms together."""

from pathlib import Path

from starlette.types import ASGIApp

from app.build.copying import Plan
from app.checks import Report, check
from app.errors import AuthorError
from app.garden.dates import Calendar, dates, read_index
from app.laboratory import Laboratory
from app.settings import Settings
from app.web import copies
from app.web.application import application, create, open_site
from app.web.site import Copy

INDEX = "index.json"


def create_app(settings: Settings | None = None, report: Report | None = None) -> ASGIApp:
    """The application, as `uvicorn --factory app.main:create_app` wants it. Raises AuthorError with every fault."""
    settings = settings or Settings()
    report = report or checked(settings)
    if report.faults:
        raise AuthorError(report.faults)
    return create(settings, report, laboratory(settings))


def create_copy(settings: Settings, report: Report, copy: Copy) -> tuple[ASGIApp, Plan]:
    """The application that a copy is made of, and what to ask it for."""
    alone = settings.model_copy(update={"page_cache": 0, "trusted_hosts": "*"})  # each page is asked for once
    site = open_site(alone, report, laboratory(settings), copy)
    plan = Plan(
        starts=copies.starts(site),
        base=settings.base_url.rstrip("/"),
        live=copy.live,
        computed=copies.computed,
        verbatim=copies.verbatim,
        previewed=copies.PREVIEWED,
        preview=copies.preview,
        search=copy.search,
    )
    return application(site), plan


def laboratory(settings: Settings) -> Laboratory:
    return Laboratory(
        workers=settings.workers,
        time_limit=settings.time_limit,
        memory_limit=settings.memory_limit,
        queue=settings.queue,
        cache=settings.cache,
    )


def checked(settings: Settings) -> Report:
    """The garden of these settings with its faults and warnings."""
    return check(settings.content, settings.default_language, settings.drafts, calendar=calendar(settings.content))


def calendar(content: Path) -> Calendar:
    """What the index beside the notes says, as in an image; else what git says."""
    return read_index(content / INDEX) or dates(content)
