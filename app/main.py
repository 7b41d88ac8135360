"""Settings into the application: read the content, check it, wire the rooms together."""

import contextlib
import gc
import hashlib
import os
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from app.checks import Report, check
from app.content.reader import Reader, Watch, unwatched
from app.errors import AuthorError
from app.garden.dates import INDEX, Calendar, dates, read_index
from app.garden.store import Store
from app.laboratory import Laboratory
from app.settings import Settings
from app.web import copies
from app.web.application import create, open_site, wired
from app.web.shelf import Kept
from app.web.site import Copy

if TYPE_CHECKING:
    from app.build.copying import Plan
    from app.web.reload import Live


def create_app(settings: Settings | None = None, report: Report | None = None) -> ASGIApp:
    """The application, as `uvicorn --factory app.main:create_app` wants it. Raises AuthorError with every fault."""
    settings = settings or Settings()
    report = report or checked(settings)
    if report.faults:
        raise AuthorError(report.faults)
    return create(settings, report, laboratory(settings))


def create_copy(settings: Settings, report: Report, copy: Copy) -> tuple[ASGIApp, "Plan"]:
    """The application that a copy is made of, and what to ask it for."""
    from app.build.copying import Plan  # whoever only serves needs nobody who builds

    alone = settings.model_copy(update={"trusted_hosts": "*"})
    site = open_site(alone, report, laboratory(settings), copy=copy)
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
    return wired(site, Kept(0)), plan  # nothing is kept: each page is asked for once


def create_live(settings: Settings, tell: Callable[[Report], None], watch: Watch = unwatched) -> "Live":
    """An application that follows the edits of the content; `tell` shows what came of each, the first time too.

    `watch` may show how many notes are read at first.
    """
    from app.web.reload import Live  # whoever only serves needs nobody who watches

    gardener = Gardener(settings)
    return Live(settings, laboratory(settings), gardener.report(watch), gardener.report, tell)


def laboratory(settings: Settings) -> Laboratory:
    return Laboratory(
        workers=settings.workers,
        time_limit=settings.time_limit,
        memory_limit=settings.memory_limit,
        queue=settings.queue,
        cache=settings.cache,
    )


class Gardener:
    """The content folder of some settings into reports, as often as asked.

    What an edit did not touch is not worked out again, and a garden that was kept is there at once.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = store(settings)
        dated = calendar(settings.content).dated
        self.reader = Reader(settings.content, settings.default_language, self.store, dated)
        self._last: Report | None = None

    def report(self, watch: Watch = unwatched) -> Report:
        """`watch` may show how many notes are read."""
        settings = self.settings
        with paused_collection():
            read = self.reader.read(watch)
            found = check(
                settings.content,
                settings.default_language,
                settings.drafts,
                read=read,
                before=self._last,
                kept=self.store,
            )
        self._last = found
        return found


def checked(settings: Settings) -> Report:
    """The garden of these settings with its faults and warnings."""
    return Gardener(settings).report()


def store(settings: Settings) -> Store:
    """A file of its own for each content folder."""
    folder = settings.content.resolve()
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return Store(settings.cache_folder / name, date.today().toordinal())


def calendar(content: Path) -> Calendar:
    """What the index beside the notes says, as in an image; else what git says."""
    return read_index(content / INDEX) or dates(content)


@contextlib.contextmanager
def paused_collection() -> Iterator[None]:
    """Thousands of notes are made and none is garbage: to look for some would take a quarter of the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
