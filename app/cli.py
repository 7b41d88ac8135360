"""The command `perennial`: messages on standard error, data on standard output.

Exit status 0: fine; 1: a fault or a difference was found; 2: cannot be done.
"""

import asyncio
import contextlib
import gc
import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn
from urllib.parse import urlsplit

import structlog
import typer
import uvicorn
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, TaskID, track

from app import __version__
from app.checks import Report, needed, update
from app.content.reader import Reader
from app.errors import Fault, InvalidParameters, InvalidQuestion, TraceError
from app.experiments import EXPERIMENTS
from app.garden.dates import INDEX, dates, write_index
from app.garden.digests import digests, write_old_sections
from app.garden.garden import Garden, grow
from app.garden.history import write_histories
from app.garden.planting import Unplantable, seed
from app.garden.recording import Unrecordable, record
from app.laboratory import data, timed
from app.language import Language, other
from app.main import Gardener, create_app, create_copy, create_live, store
from app.settings import Settings
from app.traces import recorder_source
from app.traces.question import answer, read_question
from app.traces.report import report
from app.traces.run import with_ranks
from app.web.queries import texts
from app.web.site import Copy
from app.web.standing import standing_report

app = typer.Typer(no_args_is_help=True, add_completion=False, help="A digital garden whose numbers are executed.")
note = Console(stderr=True, highlight=False, soft_wrap=True)

EXTRA = "pip install 'perennial-garden[static]'"

Content = Annotated[Path | None, typer.Option(help="Folder of the notes.", show_default=False)]


def main() -> None:
    app()


@app.command()
def serve(
    content: Content = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default=False)] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.", show_default=False)] = None,
    workers: Annotated[int | None, typer.Option(help="Worker processes for torch.", show_default=False)] = None,
    drafts: Annotated[bool | None, typer.Option(help="Serve drafts too.", show_default=False)] = None,
    reload: Annotated[
        bool, typer.Option("--reload", help="Follow edits of the notes, in open browsers too; not of the program.")
    ] = False,
) -> None:
    """Serve the garden."""
    settings = read_settings(content=content, host=host, port=port, workers=workers, drafts=drafts)
    log_as(settings)
    gc.disable()  # until the garden stands: of all that is made till then nothing is garbage
    if reload:
        live = create_live(settings, Following(), reading)
        server = uvicorn.Server(listening(settings, live))
        live.stops = lambda: server.should_exit
        notes = "a garden that follows its edits"
    else:
        report = Gardener(settings).report(reading)
        say_report(report)
        if report.faults:
            raise typer.Exit(1)
        server = uvicorn.Server(listening(settings, create_app(settings, report)))
        notes = f"{len(report.garden.notes())} notes"
    note.print(f"[green]Perennial[/] {__version__}: {notes} at [bold]http://{settings.host}:{settings.port}/[/]")
    with contextlib.suppress(KeyboardInterrupt, SystemExit):  # where it cannot start, it has said why
        server.run()
    if not server.started:
        raise typer.Exit(2)


def listening(settings: Settings, application: Callable[..., Any]) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=settings.log_level == "debug",
        proxy_headers=True,
        forwarded_allow_ips=settings.trusted_proxies,
        server_header=False,
    )


@app.command("check")
def check_content(
    content: Content = None,
    strict: Annotated[bool, typer.Option(help="Warnings count as faults.")] = False,
    update_measured: Annotated[
        bool, typer.Option("--update", help="Run the measured experiments and write measured.json.")
    ] = False,
    format: Annotated[Literal["text", "json"], typer.Option(help="How the findings are written.")] = "text",
) -> None:
    """List everything that an author should mend; exit 1 when something stops the garden."""
    settings = read_settings(content=content)
    gardener = Gardener(settings)
    report = gardener.report(reading)
    if update_measured:
        states = needed(report)
        shown = track(states, "measuring", console=note, disable=len(states) < 2 or format == "json")
        update(report, lambda experiment, params: experiment.run(**params), shown)
        report = gardener.report()
    if format == "json":
        typer.echo(
            json.dumps([asdict(fault) for fault in (*report.faults, *report.warnings)], ensure_ascii=False, indent=1)
        )
    else:
        say_faults(report.faults)
        say_warnings(report)
        note.print(f"{len(report.garden.notes())} notes, {len(report.faults)} faults, {len(report.warnings)} warnings")
    raise typer.Exit(1 if report.faults or (strict and report.warnings) else 0)


@app.command()
def build(
    out: Annotated[Path, typer.Argument(help="Folder of the site; new, empty, or made by an earlier build.")],
    content: Content = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            help="Address at which the site will stand: feeds and canonical links need it.", show_default=False
        ),
    ] = None,
    live: Annotated[
        str, typer.Option(help="Address of a garden that computes; the copy leads there.", show_default=False)
    ] = "",
    drafts: Annotated[bool | None, typer.Option(help="Take in drafts too.", show_default=False)] = None,
) -> None:
    """Write the garden as a static site, which any file server shows; exit 1 when a link in it leads nowhere."""
    from app.build import copying, finding, folder  # which a start that only serves would wait for

    settings = read_settings(content=content, base_url=base_url, drafts=drafts)
    live = whole("--live", live)
    if not whole("--base-url", settings.base_url):
        note.print("[yellow]left out[/] for want of --base-url: feeds, sitemap, llms.txt, canonical links")
    if not (search := finding.can_index()):
        note.print(f"[yellow]left out[/] for want of pagefind: search; {escape(EXTRA)}")
    report = Gardener(settings).report(reading)
    say_report(report)
    if report.faults:
        raise typer.Exit(1)
    application, plan = create_copy(settings, report, Copy(live, search))
    try:
        with folder.Folder(out, settings.content) as site, Progress(console=note, transient=True) as progress:
            copied = asyncio.run(copying.build(application, plan, site, Telling(progress)))
    except folder.Refused as refused:
        cannot(str(refused))
    for link in copied.dead:
        note.print(f"[red]dead link[/] {escape(link)}")
    note.print(
        f"{escape(str(out))}: {copied.pages} pages, {copied.files} files ({copied.written} new or changed, "
        f"{copied.removed} removed), {len(copied.dead)} dead links"
    )
    raise typer.Exit(1 if copied.dead else 0)


class Telling:
    """How far a build is, a bar for each of its parts."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, part: str, done: int, known: int) -> None:
        if part not in self._tasks:
            self._tasks[part] = self._progress.add_task(part)
        self._progress.update(self._tasks[part], completed=done, total=known)


def whole(option: str, address: str) -> str:
    """An address that may be left out, without a slash at the end. Exits 2 when it is none."""
    try:
        found = urlsplit(address)
        fine = found.scheme in ("http", "https") and bool(found.hostname) and not (found.query or found.fragment)
    except ValueError:
        fine = False
    if address and not fine:
        cannot(f"{option} = {address!r}: an address such as https://example.org/garden is wanted")
    return address.rstrip("/")


@app.command()
def index(content: Content = None) -> None:
    """Write what git knows of the notes beside them, for an image that carries no repository: dates and changes."""
    settings = read_settings(content=content)
    path = settings.content / INDEX
    with note.status("asking git"):
        calendar = dates(settings.content)
        write_index(calendar, path)
        changes = write_histories(settings.content, path)
    old = write_old_sections(grown(settings), settings.content, path)
    note.print(
        f"{escape(str(path))}: {len(calendar.files)} files dated, {changes} changes, {old} sections as they were "
        f"translated; the repository is {calendar.repository}"
    )


@app.command()
def new(
    title: Annotated[str, typer.Argument(help="The note's title.")],
    content: Content = None,
    language: Annotated[
        Language | None, typer.Option(help="Language of the note; the default language.", show_default=False)
    ] = None,
    slug: Annotated[
        str | None,
        typer.Option(help="Its address; that of a note in the other language, to translate it.", show_default=False),
    ] = None,
) -> None:
    """Begin a note, and print the path of its file."""
    settings = read_settings(content=content)
    garden = grown(settings, drafts=True)
    try:
        begun = seed(garden, title, language or settings.default_language, settings.default_language, slug)
        path = settings.content / begun.file
        with path.open("x", encoding="utf-8") as file:
            file.write(begun.text)
    except Unplantable as wrong:
        cannot(str(wrong))
    except FileExistsError:
        cannot(f"{path} is there already; give another title, or another --slug")
    except OSError as error:
        cannot(f"{path} cannot be written: {error.strerror}")
    typer.echo(path)
    note.print("It is served as soon as it is written: perennial serve --reload")


@app.command()
def translated(
    slug: Annotated[str, typer.Argument(help="The note's slug, title or alias.")],
    content: Content = None,
    source: Annotated[
        Language | None,
        typer.Option("--from", help="Language it is translated from; the default language.", show_default=False),
    ] = None,
) -> None:
    """Write down that a note's translation is of its text as it is now."""
    settings = read_settings(content=content)
    garden = grown(settings, drafts=True)
    language = source or settings.default_language
    found = garden.find(slug, language)
    if found is None:
        near = garden.nearest(language, slug, 1)
        hint = f"; did you mean '{near[0].slug}'?" if near else ""
        cannot(f"no note is called '{slug}'{hint}")
    original, translation = (garden.note(one, found.slug) for one in (language, other(language)))
    if original is None or translation is None:
        cannot(f"{found.file} has no translation: there is no note '{found.slug}' in '{other(found.language)}'")
    now = digests(original)
    try:
        changed = record(settings.content / translation.file, now)
    except Unrecordable as wrong:
        cannot(f"{translation.file}: {wrong}")
    count = f"{len(now)} part{'s' * (len(now) > 1)} of {original.file}"
    note.print(escape(f"{translation.file}: {count} {'written down' if changed else 'stand there already'}"))


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(help=f"One of {', '.join(EXPERIMENTS)}.")],
    parameters: Annotated[list[str] | None, typer.Argument(help="name=value …", show_default=False)] = None,
) -> None:
    """Run one experiment and print its result as JSON."""
    if experiment not in EXPERIMENTS:
        note.print(f"no experiment is called {escape(repr(experiment))}; there are {', '.join(EXPERIMENTS)}")
        raise typer.Exit(2)
    given, twice = texts((name, text) for name, _, text in (word.partition("=") for word in parameters or []))
    try:
        if twice:
            raise InvalidParameters(twice)
        params = EXPERIMENTS[experiment].parse(given)
    except InvalidParameters as wrong:
        for problem in wrong.problems:
            note.print(escape(f"{problem.parameter} = {problem.given!r} {problem.message.en}"))
        raise typer.Exit(2) from None
    chosen = EXPERIMENTS[experiment]
    typer.echo(json.dumps(data(chosen, params, timed(chosen, params)), ensure_ascii=False, indent=1))


@app.command("compare")
def compare_runs(
    a: Annotated[Path, typer.Argument(help="Trace of the run to compare with.")],
    b: Annotated[list[Path], typer.Argument(help="Trace of the other run; several files where it was resumed.")],
    require: Annotated[
        Literal["bitwise", "equal", "close", "conclusion"], typer.Option(help="Level that must hold for exit 0.")
    ] = "bitwise",
    tolerance: Annotated[
        list[str] | None,
        typer.Option(help="stage=relative,absolute, such as grad=1e-5,1e-7; repeatable.", show_default=False),
    ] = None,
    noise: Annotated[
        Path | None, typer.Option(help="Trace of A run once more: the noise floor.", show_default=False)
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(help="A conclusion, such as 'accuracy: A - B > 0.2 over >= 5 seeds'.", show_default=False),
    ] = None,
    also_a: Annotated[
        list[Path] | None,
        typer.Option(help="Another run of A, for a rule; other runs of B stand behind B.", show_default=False),
    ] = None,
    format: Annotated[Literal["text", "json"], typer.Option(help="How the result is written.")] = "text",
    html: Annotated[
        Path | None, typer.Option(help="Also write the report as one HTML file.", show_default=False)
    ] = None,
    language: Annotated[Language, typer.Option(help="Language of the HTML file.")] = "en",
) -> None:
    """Find the first stage and step at which two training runs part."""
    try:
        question = read_question(require, tolerance or [], rule)
        ours, theirs = ([rank for path in side for rank in with_ranks(path)] for side in ([a, *(also_a or [])], b))
        again = [] if noise is None else with_ranks(noise)
        with reading_traces([*ours, *theirs, *(again and [*ours, *again])], format == "text") as watch:
            found = answer(ours, theirs, again, question, watch)
        if html is not None:
            html.write_text(standing_report(found, language), encoding="utf-8")
    except InvalidQuestion as wrong:
        cannot("; ".join(f"--{one.parameter} {one.given}: {one.message.en}" for one in wrong.problems))
    except (TraceError, OSError) as wrong:
        cannot(str(wrong))
    typer.echo(json.dumps(found.json(), ensure_ascii=False, indent=1) if format == "json" else report(found))
    decided = found.conclusion.verdict if found.conclusion else "not_enough_seeds"
    if require == "conclusion" and not found.holds and decided == "not_enough_seeds":
        cannot("not enough seeds: a conclusion needs a rule, and as many runs of each side as it names")
    raise typer.Exit(0 if found.holds else 1)


@contextlib.contextmanager
def reading_traces(paths: list[Path], shown: bool) -> Iterator[Callable[[int], object]]:
    """Shows how far the files are read where that takes more than a second."""
    size = sum(path.stat().st_size for path in paths if path.is_file())
    with Progress(console=note, transient=True, disable=not (shown and note.is_terminal) or size < 5e7) as bar:
        task = bar.add_task("comparing", total=size)
        yield lambda read: bar.advance(task, read)


@app.command()
def recorder() -> None:
    """Print recorder.py, which records a training run: perennial recorder > recorder.py"""
    sys.stdout.buffer.write(recorder_source())


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def read_settings(**options: Any) -> Settings:
    """The environment's settings, with the options that were given on top. Exits 2 when one cannot be used."""
    try:
        settings = Settings(**{name: value for name, value in options.items() if value is not None})
    except ValidationError as wrong:
        for error in wrong.errors():
            name = "_".join(("PERENNIAL", *map(str, error["loc"]))).upper()
            note.print(escape(f"{name} = {error['input']!r}: {error['msg'].lower()}"))
        raise typer.Exit(2) from None
    if not settings.content.is_dir():
        note.print(f"{escape(str(settings.content))} is no folder; name the folder of the notes with --content")
        raise typer.Exit(2)
    return settings


def grown(settings: Settings, drafts: bool = False) -> Garden:
    """The garden's notes alone: no experiment is run."""
    reader = Reader(settings.content, settings.default_language, store(settings))
    return grow(reader.read(reading)[0], {}, drafts=drafts)


def cannot(why: str) -> NoReturn:
    note.print(escape(why))
    raise typer.Exit(2)


def reading(notes: Iterable[Any], count: int) -> Iterable[Any]:
    """Shows how far it is where that takes more than a moment."""
    quick = count < 500 or not note.is_terminal
    return track(notes, "reading", total=count, console=note, transient=True, disable=quick)


def say_report(report: Report) -> None:
    """What is wrong, else where the garden stands."""
    say_faults(report.faults)
    say_warnings(report)


class Following:
    """Says what an edit came to: all that stops the garden, of warnings those that were not said yet."""

    def __init__(self) -> None:
        self._said: frozenset[tuple[str, str]] = frozenset()
        self._stopped = False

    def __call__(self, report: Report) -> None:
        say_faults(report.faults)
        if self._stopped and not report.faults:
            note.print("[green]mended[/]")
        found = [((fault.file, fault.what), fault) for fault in report.warnings]
        for named, fault in found:
            if named not in self._said:  # it may have moved to another line
                note.print(f"[yellow]warning[/] {escape(str(fault))}")
        self._said, self._stopped = frozenset(named for named, _ in found), bool(report.faults)


def say_faults(faults: tuple[Fault, ...]) -> None:
    for fault in faults:
        note.print(f"[red]error[/] {escape(str(fault))}")


def say_warnings(report: Report) -> None:
    for fault in report.warnings:
        note.print(f"[yellow]warning[/] {escape(str(fault))}")


def log_as(settings: Settings) -> None:
    """Uvicorn's and our own lines in one form, on standard error."""
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                renderer,
            ],
        )
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler], force=True)
    for name in ("asyncio", "watchfiles"):
        logging.getLogger(name).setLevel("WARNING")
