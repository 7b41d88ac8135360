"""What every request may need: settings, garden, laboratory, templates, assets."""

from collections.abc import Callable
from dataclasses import dataclass, field

from jinja2 import Environment
from markupsafe import Markup

from app.checks import Report, Shown
from app.content.note import Note, Ran
from app.experiments.experiment import Result
from app.garden.pictures import Pictures
from app.garden.search import Index
from app.laboratory import Laboratory
from app.measured import Key, key
from app.settings import Settings
from app.web.assets import Assets
from app.web.comparer import Comparer
from app.web.missed import Missed
from app.web.records import Records
from app.web.slots import Slots


@dataclass(frozen=True)
class Copy:
    """That the site is made into files, and what then stands behind them."""

    live: str
    """The address of the garden that computes, without a slash at the end; nothing when there is none."""
    search: bool
    """Whether the copy has an index to search in."""


@dataclass(frozen=True)
class Site:
    settings: Settings
    report: Report
    laboratory: Laboratory
    templates: Environment
    assets: Assets
    slots: Slots
    code: Callable[[str], Markup]
    """The code of an experiment as highlighted HTML, made when it is first asked for."""
    files: frozenset[str]
    """The files that notes refer to, relative to the content folder; no other is served."""
    records: Records
    """The past of the notes."""
    index: Callable[[], Index]
    """What search reads, made when it is first asked for: call it in a thread."""
    comparer: Comparer
    """Of the traces that readers send."""
    pictures: Pictures
    """Of the garden's network, drawn behind the scenes."""
    missed: Missed = field(default_factory=Missed)
    here: dict[Key, Result] = field(default_factory=dict)
    """What measured experiments on record gave in this very place, once they have run."""
    copy: Copy | None = None
    """None for a garden that runs."""

    @property
    def still(self) -> bool:
        """Whether it is a copy without a garden behind it: no address with a query leads anywhere."""
        return self.copy is not None and not self.copy.live

    def shown(self, note: Note, ran: Ran) -> Shown:
        """What a page says of a ran number; both values where a measured one came out otherwise here."""
        first = self.report.shown(note, ran)
        experiment = self.report.experiments[first.experiment]
        if experiment.exact:
            return first
        here = self.here.get(key((experiment, self.report.params(note, ran))))
        return first if here is None else self.report.shown(note, ran, here)

    def differs_here(self, note: Note, ran: Ran) -> str | None:
        """The value of a measured number in this very place, where it has run and is not what the text says."""
        experiment = self.report.experiments[self.report.shown(note, ran).experiment]
        if experiment.exact or key((experiment, self.report.params(note, ran))) not in self.here:
            return None
        return self.shown(note, ran).differs
