"""The gallery, a widget on a page of its own or in an iframe, its fragment, its downloads, and checkpoint files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from app.content.note import Embed
from app.errors import Busy, InvalidParameters, LaboratoryError, Problem
from app.experiments import EXPERIMENTS
from app.experiments.checkpoint import read_checkpoint
from app.experiments.experiment import Experiment, query
from app.experiments.parameters import Params
from app.laboratory import Outcome, versions
from app.language import Language, Text, other
from app.web.addresses import at, note_address
from app.web.downloads import FORMS, attachment
from app.web.problems import TABLE, NotFound
from app.web.queries import Pairs, merged, of_prefix, pairs, texts, written
from app.web.rendering import Frame, base_url, fragment, page
from app.web.site import Site
from app.web.widget_views import (
    Place,
    WidgetView,
    base_texts,
    fields_view,
    output_view,
    presets_view,
    problem_views,
)

CONTROL = ("of", "in")
"""Names in the query of a fragment that are no parameters: the embed asked for, and the note it stands in."""


@dataclass(frozen=True)
class Card:
    """A widget in the gallery."""

    widget: WidgetView
    summary: str
    uses: tuple[tuple[str, str], ...]


def routes(site: Site) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/{language:language}/widgets")
    def without_slash(language: Language) -> Response:
        return RedirectResponse(f"/{language}/widgets/", 308)

    @router.get("/{language:language}/widgets/")
    async def gallery(request: Request, language: Language) -> Response:
        cards = []
        for experiment in EXPERIMENTS.values():
            view = await widget_view(site, request, experiment, own_place(language, experiment.name, 2), ())
            cards.append(Card(view, experiment.summary[language], uses(site, experiment.name, language)))
        frame = Frame(
            language, _GALLERY[language], _GALLERY_ABOUT[language], f"/{language}/widgets/",
            f"/{other(language)}/widgets/", room="widgets",
        )  # fmt: skip
        return kept_if_whole(
            page(site, request, "gallery.html", frame, {"cards": cards}), *(card.widget for card in cards)
        )

    @router.get("/{language:language}/widgets/{name}/result")
    async def result(request: Request, language: Language, name: str) -> Response:
        experiment = wanted(name)
        found = pairs(request.scope["query_string"])
        place = result_place(site, language, experiment, dict(pair for pair in found if pair[0] in CONTROL))
        found = tuple(pair for pair in found if pair[0] not in CONTROL)
        if place.prefix:
            found = of_prefix(found, place.prefix) + tuple(pair for pair in found if "." not in pair[0])
        params = read(experiment, found, place)
        outcome = await ran(site, request, experiment, params)
        view = output_view(experiment, params, outcome, place, facts(experiment, outcome))
        return fragment(site, language, "widget/result.html", {"output": view})

    @router.get("/{language:language}/widgets/{name}/checkpoint")
    async def checkpoint(request: Request, language: Language, name: str) -> Response:
        experiment = resumable(name)
        params = read(experiment, pairs(request.scope["query_string"]), own_place(language, name))
        saved = (await ran(site, request, experiment, params)).result["checkpoint"]
        return attachment(json.dumps(saved, indent=1), "application/json", f"checkpoint-step-{saved['step']}.json")

    @router.post("/{language:language}/widgets/{name}/checkpoint")
    async def resume(request: Request, language: Language, name: str) -> Response:
        experiment = resumable(name)
        params = experiment.parse(read_checkpoint(await uploaded(request)))
        return RedirectResponse(f"/{language}/widgets/{name}?{query(experiment.state(params))}", 303)

    @router.get("/{language:language}/widgets/{name}.{ending:ending}")
    async def download(request: Request, language: Language, name: str, ending: str) -> Response:
        experiment = wanted(name)
        params = read(experiment, pairs(request.scope["query_string"]), own_place(language, name))
        if ending == "py":
            state = query(experiment.state(params))
            base = base_url(site, request)
            address = f"{base}/{language}/widgets/{name}{'?' if state else ''}{state}" if base else ""
            return attachment(experiment.script(params, address), "text/x-python; charset=utf-8", f"{name}.py")
        return FORMS[ending](site, experiment, params, await ran(site, request, experiment, params), language)

    @router.get("/{language:language}/widgets/{name}")
    async def alone(request: Request, language: Language, name: str) -> Response:
        experiment, raw = wanted(name), written(request.scope["query_string"])
        view = await widget_view(site, request, experiment, own_place(language, name, 1), pairs(raw))
        frame = Frame(
            language, experiment.title[language], experiment.summary[language], f"/{language}/widgets/{name}",
            f"/{other(language)}/widgets/{name}", room="widgets", tail=f"?{raw}" if raw else "",
        )  # fmt: skip
        context = {
            "widget": view,
            "summary": experiment.summary[language],
            "uses": uses(site, name, language),
            "code": site.code(name),
            "parameters": parameter_rows(experiment, language),
        }
        return kept_if_whole(page(site, request, "widget.html", frame, context, status_alone(view)), view)

    @router.get("/{language:language}/widgets/{name}/")
    def without_the_last_slash(request: Request, language: Language, name: str) -> Response:
        query = request.url.query
        return RedirectResponse(f"{at(language, 'widgets', wanted(name).name)}{'?' if query else ''}{query}", 308)

    @router.get("/embed/{language:language}/widgets/{name}")
    async def embedded(request: Request, language: Language, name: str) -> Response:
        experiment = wanted(name)
        place = Place(language, f"/embed/{language}/widgets/{name}", name, level=1)
        view = await widget_view(site, request, experiment, place, pairs(request.scope["query_string"]))
        frame = Frame(
            language, experiment.title[language], experiment.summary[language], f"/{language}/widgets/{name}",
            f"/embed/{other(language)}/widgets/{name}", robots="noindex",
        )  # fmt: skip
        return kept_if_whole(page(site, request, "embed.html", frame, {"widget": view}, status_alone(view)), view)

    return router


_NO_EMBED = Text("there is no such experiment in that note", "那篇笔记里没有这个实验")
_GALLERY = Text("Experiments", "实验")
_GALLERY_ABOUT = Text(
    "Experiments that run on the server, each state with an address of its own",
    "在服务器上运行的实验，每个状态都有自己的地址",
)


def wanted(name: str) -> Experiment:
    """Raises NotFound."""
    if name not in EXPERIMENTS:
        raise NotFound(name)
    return EXPERIMENTS[name]


def resumable(name: str) -> Experiment:
    """The experiment that has checkpoints. Raises NotFound."""
    if name != "momentum":
        raise NotFound(f"{name}/checkpoint")
    return EXPERIMENTS[name]


def own_place(language: Language, name: str, level: int = 3) -> Place:
    return Place(language, f"/{language}/widgets/{name}", name, level=level)


def result_place(site: Site, language: Language, experiment: Experiment, control: Mapping[str, str]) -> Place:
    """The embed that a fragment is asked for: with the note's name its block is the base, else the defaults are.

    Raises InvalidParameters when the note does not show this experiment under that name.
    """
    name, slug = control.get("of", ""), control.get("in", "")
    if not name and not slug:
        return own_place(language, experiment.name)
    if not slug:
        return Place(language, f"/{language}/widgets/{experiment.name}", name, f"{name}.")
    note = site.report.garden.note(language, slug)
    placed = site.report.garden.blocks(note) if note else ()
    embeds = [block for block in placed if isinstance(block, Embed) and block.experiment == experiment.name]
    block = next((embed for embed in embeds if embed.name == name), None)
    if block is None:
        raise InvalidParameters([Problem("of", name, _NO_EMBED)])
    return Place(language, at(language, slug), name, f"{name}.", block.given, slug)


def read(experiment: Experiment, found: Pairs, place: Place) -> Params:
    """The parameters of a query; raises InvalidParameters with every problem."""
    given, twice = texts(found)
    if not twice:
        return experiment.parse(given, place.base)
    try:
        experiment.parse(merged(given, twice), place.base)
    except InvalidParameters as wrong:
        twice = (*twice, *wrong.problems)
    raise InvalidParameters(twice)


async def ran(site: Site, request: Request, experiment: Experiment, params: Params) -> Outcome:
    """The outcome, within the slots of this client where it has to be waited for. Raises LaboratoryError.

    A copy says nothing of how long it took, so that it is the same whenever it is made.
    """
    if site.copy is not None:
        return replace(await site.laboratory.run(experiment, params), elapsed_ms=None)
    if not site.laboratory.waits(experiment, params):
        return await site.laboratory.run(experiment, params)
    client = request.client.host if request.client else ""
    with site.slots.held(client):
        return await site.laboratory.run(experiment, params)


async def widget_view(site: Site, request: Request, experiment: Experiment, place: Place, found: Pairs) -> WidgetView:
    """The panel in the state of a query; what cannot be read or run is explained in it, above the base state."""
    known = {parameter.name for parameter in experiment.parameters}
    found = tuple(pair for pair in found if place.prefix or pair[0] in known or "." in pair[0])
    given = texts(found)[0]
    problems: tuple[Problem, ...] = ()
    failure: LaboratoryError | None = None
    try:
        params = read(experiment, found, place)
    except InvalidParameters as wrong:
        problems, params = wrong.problems, experiment.parse({}, place.base)
    output = None
    try:
        outcome = await ran(site, request, experiment, params)
        output = output_view(experiment, params, outcome, place, facts(experiment, outcome))
    except LaboratoryError as failed:
        if site.copy is not None:  # which would say for good what went wrong just now
            raise
        failure = failed
    language, name = place.language, experiment.name
    control = [("of", place.name), ("in", place.note)] if place.prefix else []
    tail = query(dict(control))
    return WidgetView(
        id=place.name,
        prefix=place.prefix,
        experiment=name,
        title=experiment.title[language],
        exact=experiment.exact,
        presets=presets_view(experiment, None if problems else params, place),
        fields=fields_view(experiment, given if problems else {}, params, place, problems),
        hidden=place.others,
        action=place.page + (f"#{place.name}" if place.prefix else ""),
        result=f"/{language}/widgets/{name}/result{'?' if tail else ''}{tail}",
        base=base_texts(experiment, place),
        live=not experiment.torch,
        output=output,
        failure=failure,
        message=TABLE[type(failure)].title[place.language] if failure else "",
        problems=problem_views(problems, language, experiment),
        own_page=f"/{language}/widgets/{name}",
        embed_page=f"/embed/{language}/widgets/{name}",
        level=place.level,
    )


def status_of(*views: WidgetView) -> int:
    """422 when a value in the address is wrong."""
    return 422 if any(view.problems for view in views) else 200


def status_alone(view: WidgetView) -> int:
    """Of a page that shows nothing else: that of the failure, when there is one."""
    return TABLE[type(view.failure)].status if view.failure else status_of(view)


def kept_if_whole(answer: Response, *views: WidgetView) -> Response:
    """A page on which an experiment could not be run just now belongs to this moment only."""
    failures = [view.failure for view in views if view.failure is not None]
    if failures:
        answer.headers["Cache-Control"] = "no-store"
    if any(isinstance(failure, Busy) for failure in failures):
        answer.headers["Retry-After"] = "1"
    return answer


def facts(experiment: Experiment, outcome: Outcome) -> tuple[str, ...]:
    """What could change the result: the versions it was computed with."""
    used = outcome.recorded or versions()
    found = [f"Python {used['python']}"]
    if experiment.torch:
        found.append(f"torch {used['torch']}")
    if outcome.recorded and outcome.recorded.get("processor"):
        found.append(str(outcome.recorded["processor"]))
    return tuple(found)


def uses(site: Site, name: str, language: Language) -> tuple[tuple[str, str], ...]:
    """Title and address of each note that embeds the experiment, at the first place where it does."""
    found = []
    for note in site.report.garden.notes(language):
        first = next((embed for embed in note.embeds if embed.experiment == name), None)
        if first is not None:
            found.append((note.title, f"{note_address(note)}#{first.name}"))
    return tuple(found)


@dataclass(frozen=True)
class ParameterRow:
    name: str
    label: str
    default: str
    accepts: str


def parameter_rows(experiment: Experiment, language: Language) -> tuple[ParameterRow, ...]:
    written = experiment.written(experiment.parse({}))
    return tuple(
        ParameterRow(parameter.name, parameter.label[language], written[parameter.name], parameter.accepts[language])
        for parameter in experiment.parameters
    )


async def uploaded(request: Request) -> str:
    """The text of a checkpoint: the body itself as JSON, else the form's file, else its text field."""
    if "form" not in request.headers.get("content-type", ""):
        return _decoded(await request.body())
    async with request.form() as form:
        file, text = form.get("file"), form.get("text")
        if isinstance(file, UploadFile) and file.size:
            return _decoded(await file.read())
    return text.removeprefix("\ufeff") if isinstance(text, str) else ""


def _decoded(body: bytes) -> str:
    return body.decode("utf-8", errors="replace").removeprefix("\ufeff")
