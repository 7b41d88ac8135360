"""Settings into the application: read the content, check it, wire the rooms together."""

import contextlib
import gc
import hashlib
import os
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

from starlette.types import ASGIApp

from app.checks import Report, check
from app.content.reader import Reader, Watch, unwatched
from app.errors import AuthorError
from app.experiments.experiment import Result
from app.garden.dates import Calendar, dates, read_index
from app.garden.store import Store
from app.laboratory import Laboratory
from app.measured import Key
from app.settings import Settings
from app.web.application import create

INDEX = "index.json"


def create_app(settings: Settings | None = None, report: Report | None = None) -> ASGIApp:
    """The application, as `uvicorn --factory app.main:create_app` wants it. Raises AuthorError with every fault."""
    settings = settings or Settings()
    report = report or checked(settings)
    if report.faults:
        raise AuthorError(report.faults)
    laboratory = Laboratory(
        workers=settings.workers,
        time_limit=settings.time_limit,
        memory_limit=settings.memory_limit,
        queue=settings.queue,
        cache=settings.cache,
    )
    return create(settings, report, laboratory)


class Gardener:
    """The content folder of some settings into reports, as often as asked.

    What an edit did not touch is not worked out again, and a garden that was kept is there at once.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = store(settings)
        dated = calendar(settings.content).dated
        self.reader = Reader(settings.content, settings.default_language, self.store, dated)
        self._outcomes: Mapping[Key, Result] = {}

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
                known=self._outcomes,
            )
        self._outcomes = found.outcomes
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
