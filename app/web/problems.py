"""What went wrong into an answer in the form that was asked for: a page, a fragment or JSON.

One table says which status each error has; whatever stands in no row is a bug and stays a traceback.
"""

import re
from dataclasses import dataclass

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from app.errors import (
    Busy,
    Incomparable,
    InvalidCheckpoint,
    InvalidParameters,
    InvalidQuestion,
    InvalidSearch,
    NoRoom,
    Problem,
    ReaderError,
    TookTooLong,
    TooLarge,
    TraceError,
    Unreadable,
    WorkerLost,
)
from app.experiments import EXPERIMENTS
from app.experiments.experiment import Experiment
from app.language import Language, Text
from app.web.addresses import note_address
from app.web.guards import LONGEST_QUERY, BodyTooLarge
from app.web.negotiation import accepted, preferred
from app.web.rendering import Frame, fragment, page
from app.web.search_views import mentions
from app.web.site import Site
from app.web.uploads import NoForm, Stalled
from app.web.widget_views import problem_views
from app.web.words import Words

IN_PATH = re.compile(r"^/(?:embed/)?(en|zh)(?:/(?P<rest>.*))?$")

FRAGMENT = re.compile(r"^/(en|zh)/(?:widgets/[^/]+/result|search/results)$")
CHECKPOINT = "/checkpoint"
LINES = "application/x-ndjson"
"""What a page asks for that follows an answer while it is made."""
NOBODY = 499
"""Status of an answer for which nobody waits any more, as nginx logs it."""


ABOUT = re.compile(r"/widgets/(\w+)")


class NotFound(Exception):
    """No page at this address; `what` names what was looked for."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)


@dataclass(frozen=True)
class Row:
    status: int
    code: str
    title: Text


TABLE: dict[type[Exception], Row] = {
    InvalidParameters: Row(422, "invalid_parameters", Text("This cannot be computed", "这组值无法计算")),
    InvalidCheckpoint: Row(422, "invalid_checkpoint", Text("This file cannot be resumed from", "无法从这个文件恢复")),
    InvalidSearch: Row(422, "invalid_parameters", Text("This search cannot be read", "无法读懂这次搜索")),
    InvalidQuestion: Row(422, "invalid_parameters", Text("This comparison cannot be made", "无法按这样的要求比较")),
    NoForm: Row(400, "no_form", Text("This form cannot be read", "无法读懂这个表单")),
    Unreadable: Row(400, "unreadable", Text("A file is no trace that can be read", "有文件不是可读的轨迹")),
    Incomparable: Row(409, "incomparable", Text("These runs cannot be compared", "这两次运行无法比较")),
    TooLarge: Row(413, "too_large", Text("These traces are too large", "轨迹太大")),
    NotFound: Row(404, "not_found", Text("Nothing grows at this address", "这里还什么都没长出来")),
    BodyTooLarge: Row(413, "too_large", Text("This file is too large", "文件太大")),
    Stalled: Row(408, "stalled", Text("Nothing more arrived of what was being sent", "传到一半就没有后续了")),
    Busy: Row(503, "busy", Text("Too many are waiting; try again in a moment", "排队的请求太多，请稍后再试")),
    NoRoom: Row(503, "no_room", Text("There is no room here for these files just now", "服务器此刻放不下这些文件")),
    TookTooLong: Row(504, "took_too_long", Text("This was stopped at its time limit", "计算到了时间上限，已经停止")),
    WorkerLost: Row(
        500, "worker_lost", Text("The process that worked on this ended; try again", "处理它的进程中断了，请重试")
    ),
}
TOO_LONG = Row(
    414, "query_too_long", Text(f"The address is longer than {LONGEST_QUERY} bytes", f"地址超过 {LONGEST_QUERY} 字节")
)
OTHER = {
    400: Row(400, "bad_request", Text("This request cannot be read", "无法读懂这个请求")),
    404: TABLE[NotFound],
    405: Row(405, "method_not_allowed", Text("This address does not take that method", "这个地址不支持该方法")),
    413: TABLE[BodyTooLarge],
}


def too_long(site: Site, request: Request) -> Response:
    """The answer to a query string beyond LONGEST_QUERY."""
    return explained(site, request, TOO_LONG, QueryTooLong())


class QueryTooLong(Exception):
    """A query string beyond LONGEST_QUERY."""


def install(app: FastAPI, site: Site) -> None:
    """Give every error of the table its answer."""

    async def answer(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            taken = methods(request) if error.status_code == 405 else []
            row = OTHER.get(error.status_code, OTHER[400])
            response = await run_in_threadpool(explained, site, request, row, error)
            response.headers.update(error.headers or {})
            if taken:
                response.headers["Allow"] = ", ".join(taken)
            return response
        return await run_in_threadpool(explained, site, request, TABLE[type(error)], error)

    for kind in TABLE:
        app.add_exception_handler(kind, answer)
    app.add_exception_handler(HTTPException, answer)
    app.add_exception_handler(ClientDisconnect, lambda *_: Response(status_code=NOBODY))


def explained(site: Site, request: Request, row: Row, error: Exception) -> Response:
    """The answer to an error, with every problem listed."""
    problems = problems_of(error)
    form = form_of(request)
    language = language_of(site, request)
    words = Words(language)
    if form == "json":
        response: Response = JSONResponse(
            {
                "error": row.code,
                "problems": [_as_json(problem, language) for problem in problems],
                "message": row.title[language],
            },
            row.status,
        )
    elif form == "fragment":
        view = {
            "title": row.title[language],
            "shown": words.stale if ABOUT.search(request.url.path) else "",
            "problems": problem_views(problems, language, _experiment(request, error)),
        }
        response = fragment(site, language, "widget/problems.html", view, row.status)
    else:
        response = _page(site, request, language, row, error)
    if isinstance(error, Busy):
        response.headers["Retry-After"] = str(error.retry_after)
    response.headers["Cache-Control"] = "no-store"
    return response


def methods(request: Request) -> list[str]:
    """What the routes take at this address, but for the last, which takes all that no other knows."""
    *routes, _ = request.app.router.routes
    scopes = ((method, {**request.scope, "method": method}) for method in ("GET", "POST"))
    return [method for method, scope in scopes if any(route.matches(scope)[0] is Match.FULL for route in routes)]


def problems_of(error: Exception) -> tuple[Problem, ...]:
    """Each thing that is wrong with what was sent."""
    if isinstance(error, ReaderError):
        return error.problems
    if isinstance(error, TraceError):
        return (Problem("trace", "", error.message),)
    return (Problem("form", "", error.message),) if isinstance(error, NoForm) else ()


def form_of(request: Request) -> str:
    """What this address answers in: json, fragment or page."""
    path = request.url.path
    if path.startswith("/api/") or path.endswith(".json"):
        return "json"
    follows = request.headers.get("accept", "").startswith(LINES)
    return "fragment" if follows or FRAGMENT.match(path) else "page"


def language_of(site: Site, request: Request) -> Language:
    """The path's language; else, for programs, Accept-Language alone."""
    fallback = site.settings.default_language
    match = IN_PATH.match(request.url.path)
    if match:
        return "zh" if match[1] == "zh" else "en"
    if form_of(request) == "json":
        return accepted(request.headers.get("accept-language", ""), fallback)
    return preferred(request, fallback)


def _page(site: Site, request: Request, language: Language, row: Row, error: Exception) -> Response:
    problems = problems_of(error)
    path = request.url.path
    match = IN_PATH.match(path)
    rest = (match["rest"] or "") if match else path.strip("/")
    near = site.report.garden.nearest(language, rest) if row.status == 404 else ()
    frame = Frame(
        language,
        row.title[language],
        "",
        f"/{language}/",
        f"/{'en' if language == 'zh' else 'zh'}/",
        robots="noindex",
        alternate=False,
    )
    view = {
        "title": row.title[language],
        "problems": problem_views(problems, language, _experiment(request, error)),
        "near": [(note.title, note_address(note), note.summary) for note in near],
        "mentions": mentions(site, language, rest, near) if row.status == 404 else (),
        "back": path.removesuffix(CHECKPOINT) if path.endswith(CHECKPOINT) and row.status != 404 else "",
    }
    return page(site, request, "error.html", frame, view, row.status)


def _experiment(request: Request, error: Exception) -> Experiment | None:
    """The experiment whose labels name what is wrong; what is wrong in a file is named as it stands there."""
    if isinstance(error, InvalidCheckpoint):
        return None
    match = ABOUT.search(request.url.path)
    return EXPERIMENTS.get(match[1]) if match else None


def _as_json(problem: Problem, language: Language) -> dict[str, str]:
    return {"parameter": problem.parameter, "given": problem.given, "message": problem.message[language]}
