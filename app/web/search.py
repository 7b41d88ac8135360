"""Search: the page of what was found, the fragment that follows the typing, and the JSON for programs."""

import threading
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from app.checks import Report
from app.errors import InvalidSearch
from app.experiments.parameters import Parameter
from app.garden.search import Hit, Index
from app.language import LANGUAGES, Language, other
from app.web.api import PROBLEMS, as_json
from app.web.problems import TABLE
from app.web.queries import pairs, written
from app.web.rendering import Frame, fragment, page
from app.web.search_queries import OF_API, OF_PAGE, read, readable
from app.web.search_views import search_view
from app.web.site import Site
from app.web.widget_views import problem_views
from app.web.words import Words


def made_once(report: Report, before: Callable[[], Index] | None = None) -> Callable[[], Index]:
    """The index of a garden: whoever asks first makes it, from what was made `before`; the others wait for it."""
    lock, made = threading.Lock(), list[Index]()
    earlier = [before] if before else []

    def index() -> Index:
        with lock:
            if not made:
                last = earlier.pop()() if earlier else None
                made.append(Index.of(report.garden.notes(), report.concepts, last, report.kept))
            return made[0]

    return index


def routes(site: Site) -> APIRouter:
    router = APIRouter()

    @router.get(
        "/api/search",
        summary="The notes that contain every word of a query",
        tags=["search"],
        operation_id="search",
        responses=RESPONSES,
        openapi_extra={"parameters": [openapi_parameter(parameter) for parameter in OF_API]},
    )
    def api(request: Request) -> Response:
        asked = read(OF_API, pairs(request.scope["query_string"]))
        found = site.index().search(asked["q"], asked["lang"], asked["limit"], nearby=False)
        results = [described(hit) for hit in found.hits]
        return of_its_reader(JSONResponse({"total": found.total, "results": results}))

    @router.get("/{language:language}/search", include_in_schema=False)
    def search(request: Request, language: Language) -> Response:
        raw = written(request.scope["query_string"])
        asked, problems = readable(OF_PAGE, pairs(raw))
        address = f"/{other(language)}/search"
        frame = Frame(
            language, Words(language).search, "", f"/{language}/search", address,
            tail=f"?{raw}" if raw else "", robots="noindex", alternate=False,
        )  # fmt: skip
        view = {"found": search_view(site, language, asked), "problems": problem_views(problems, language)}
        return of_its_reader(page(site, request, "search.html", frame, view, 422 if problems else 200))

    @router.get("/{language:language}/search/results", include_in_schema=False)
    def results(request: Request, language: Language) -> Response:
        asked = read(OF_PAGE, pairs(request.scope["query_string"]))
        view = {"found": search_view(site, language, asked), "problems": ()}
        return of_its_reader(fragment(site, language, "search/fragment.html", view))

    return router


def of_its_reader(answer: Response) -> Response:
    """Searches are without number: those of some must not push the pages that all read off the shelf."""
    answer.headers["Cache-Control"] = "private, no-cache"
    return answer


def described(hit: Hit) -> dict[str, str]:
    snippet = "".join(text for text, _ in hit.snippet)
    return {"lang": hit.note.language, "slug": hit.note.slug, "title": hit.note.title, "snippet": snippet}


def openapi_parameter(parameter: Parameter) -> dict[str, Any]:
    written = parameter.write(read(OF_API, ())[parameter.name])
    words = f"{parameter.label.en}: {parameter.accepts.en}." + (f" Left out, it is {written}." if written else "")
    return {"name": parameter.name, "in": "query", "required": False, "description": words, "schema": parameter.schema}


RESULTS = {
    "type": "object",
    "required": ["total", "results"],
    "properties": {
        "total": {"type": "integer", "minimum": 0},
        "results": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["lang", "slug", "title", "snippet"],
                "properties": {
                    "lang": {"type": "string", "enum": list(LANGUAGES)},
                    **{name: {"type": "string"} for name in ("slug", "title", "snippet")},
                },
            },
        },
    },
}


RESPONSES: dict[int | str, dict[str, Any]] = {
    200: as_json(RESULTS, "How many notes have every word, listed or not, and the first of them, the best first"),
    422: as_json(PROBLEMS, TABLE[InvalidSearch].title.en),
    414: as_json(PROBLEMS, "A query that is too long"),
}
