"""The same states for programs: JSON, its OpenAPI description, and a page about both."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from app import __version__
from app.experiments import EXPERIMENTS
from app.experiments.experiment import Experiment, query
from app.laboratory import data
from app.language import Language
from app.numerals import plain
from app.web import search_queries
from app.web.downloads import timing
from app.web.negotiation import preferred
from app.web.problems import NotFound
from app.web.queries import pairs
from app.web.rendering import Frame, page
from app.web.search_queries import OF_API
from app.web.site import Site
from app.web.widgets import ParameterRow, own_place, parameter_rows, ran, read
from app.web.words import Words


def routes(site: Site) -> APIRouter:
    router = APIRouter(prefix="/api")

    @router.get("/widgets", summary="Every experiment with its parameters", tags=["experiments"])
    def widgets() -> JSONResponse:
        return JSONResponse({"widgets": [described(experiment) for experiment in EXPERIMENTS.values()]})

    for experiment in EXPERIMENTS.values():
        router.add_api_route(
            f"/widgets/{experiment.name}",
            one_state(site, experiment),
            summary=experiment.summary.en,
            tags=["experiments"],
            operation_id=experiment.name,
            responses=RESPONSES,
            openapi_extra={"parameters": [openapi_parameter(experiment, name) for name in experiment.parse({})]},
        )

    @router.get("/widgets/{name}", include_in_schema=False)
    def unknown(name: str) -> Response:
        raise NotFound(name)

    @router.get("/docs", include_in_schema=False)
    def docs(request: Request) -> Response:
        language: Language = preferred(request, site.settings.default_language)
        words = Words(language)
        rows = [
            (experiment.name, experiment.summary[language], parameter_rows(experiment, language), example(experiment))
            for experiment in EXPERIMENTS.values()
        ]
        frame = Frame(language, words.api_title, words.api_lead, "/api/docs", "/api/docs")
        answer = page(site, request, "api.html", frame, {"widgets": rows, "search": search_rows(language)})
        answer.headers["Vary"] = "Cookie, Accept-Language"
        answer.headers["Cache-Control"] = "no-store"
        return answer

    return router


def one_state(site: Site, experiment: Experiment) -> Any:
    """The endpoint of one experiment, so that the description has its parameters one by one."""

    async def state(request: Request) -> JSONResponse:
        params = read(experiment, pairs(request.scope["query_string"]), own_place("en", experiment.name))
        outcome = await ran(site, request, experiment, params)
        return JSONResponse(data(experiment, params, outcome), headers=timing(outcome))

    return state


def described(experiment: Experiment) -> dict[str, Any]:
    defaults = experiment.parse({})
    return {
        "name": experiment.name,
        "title": vars(experiment.title),
        "summary": vars(experiment.summary),
        "exact": experiment.exact,
        "href": f"/api/widgets/{experiment.name}",
        "parameters": [
            {
                "name": parameter.name,
                "label": vars(parameter.label),
                "default": plain(defaults[parameter.name]),
                "schema": parameter.schema,
            }
            for parameter in experiment.parameters
        ],
        "presets": [
            {"words": vars(preset.words), "query": query(experiment.state(experiment.parse(preset.given)))}
            for preset in experiment.presets
        ],
    }


def openapi_parameter(experiment: Experiment, name: str) -> dict[str, Any]:
    parameter = next(known for known in experiment.parameters if known.name == name)
    written = experiment.written(experiment.parse({}))[name]
    described = f"{parameter.label.en}: {parameter.accepts.en}. Left out, it is {written or 'empty'}."
    return {"name": name, "in": "query", "required": False, "description": described, "schema": parameter.schema}


def search_rows(language: Language) -> tuple[ParameterRow, ...]:
    defaults = search_queries.read(OF_API, ())
    return tuple(
        ParameterRow(one.name, one.label[language], one.write(defaults[one.name]), one.accepts[language])
        for one in OF_API
    )


def example(experiment: Experiment) -> str:
    state = query(experiment.state(experiment.parse(experiment.presets[-1].given)))
    return f"/api/widgets/{experiment.name}{'?' if state else ''}{state}"


STATE = {
    "type": "object",
    "required": ["widget", "params", "result", "provenance"],
    "properties": {
        "widget": {"type": "string"},
        "params": {"type": "object"},
        "result": {"type": "object"},
        "provenance": {
            "type": "object",
            "properties": {
                "python": {"type": "string"},
                "torch": {"type": ["string", "null"]},
                "platform": {"type": "string"},
                "elapsed_ms": {"type": ["number", "null"]},
                "version": {"type": "string", "const": __version__},
            },
        },
    },
}
PROBLEMS = {
    "type": "object",
    "required": ["error", "problems", "message"],
    "properties": {
        "error": {"type": "string"},
        "message": {"type": "string"},
        "problems": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["parameter", "given", "message"],
                "properties": {name: {"type": "string"} for name in ("parameter", "given", "message")},
            },
        },
    },
}


def as_json(schema: dict[str, Any], words: str) -> dict[str, Any]:
    return {"description": words, "content": {"application/json": {"schema": schema}}}


RESPONSES: dict[int | str, dict[str, Any]] = {
    200: as_json(STATE, "The state, with every parameter as resolved"),
    422: as_json(PROBLEMS, "Parameters that cannot be computed, every problem listed"),
    414: as_json(PROBLEMS, "A query that is too long"),
    500: as_json(PROBLEMS, "The process that ran the experiment ended"),
    503: as_json(PROBLEMS, "Too many experiments are waiting; Retry-After says when to come back"),
    504: as_json(PROBLEMS, "The experiment was stopped at its time limit"),
}
