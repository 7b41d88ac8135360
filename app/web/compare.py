"""Two traces compared: the page with its form, the report, the examples, and the same for programs."""

import asyncio
import contextlib
import functools
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from app.errors import Busy, InvalidQuestion, PerennialError, Problem
from app.language import Language, Text, other
from app.traces import examples
from app.traces.comparison import STRONGEST, Comparison
from app.traces.question import Question, answer, bytes_read, read_question
from app.traces.schema import json_schema
from app.web.compare_contract import BODY, RESPONSES
from app.web.compare_views import CompareView, compare_view
from app.web.compare_words import LEVELS
from app.web.guards import BodyTooLarge
from app.web.note_views import concept_view
from app.web.problems import LINES, TABLE, NotFound, problems_of
from app.web.rendering import Frame, fragment, page
from app.web.site import Site
from app.web.uploads import NoForm, Stalled, Upload, passing_folder, received
from app.web.widget_views import problem_views
from app.web.words import Words

FILES = ("a", "b", "noise")
TEXTS = ("require", "tolerance", "rule")
BETWEEN = re.compile(r"(?<![,，=])\s+(?![,，=])")
"""Between two tolerances; a space may also stand within one."""
TICK = 0.2
"""Seconds between two lines that say how far a comparison is."""
MISSING = Text("choose the trace of this run", "请选择这次运行的轨迹文件")
UNKNOWN = Text(
    "is no field of this form; they are a, b, noise, require, tolerance, rule",
    "不是这个表单的字段；可用的有 a、b、noise、require、tolerance、rule",
)


def routes(site: Site) -> APIRouter:
    router = APIRouter()

    @router.post(
        "/api/compare",
        summary="Where two training runs part",
        description="Traces as `recorder.py` writes them. Nothing of them is kept.",
        tags=["traces"],
        operation_id="compare",
        responses=RESPONSES,
        openapi_extra={"requestBody": BODY},
    )
    async def api(request: Request) -> Response:
        async with sent(site, request) as (task, _):
            found = await waited(request, task, nothing)
        return JSONResponse(found.json(), headers={"Cache-Control": "no-store"})

    @router.get("/{language:language}/compare", include_in_schema=False)
    def form(request: Request, language: Language) -> Response:
        return page(site, request, "compare.html", framed(language), shown(site, language))

    @router.post("/{language:language}/compare", include_in_schema=False)
    async def report(request: Request, language: Language) -> Response:
        if request.headers.get("accept", "").startswith(LINES):
            return Followed(site, request, language)
        view, status, headers = shown(site, language), 200, {"Cache-Control": "no-store"}
        try:
            async with sent(site, request) as (task, _):
                found = await waited(request, task, nothing)
            view["report"] = await asyncio.to_thread(viewed, site, found, language)
        except (PerennialError, NoForm, Stalled, BodyTooLarge) as wrong:
            row = TABLE[type(wrong)]
            view |= {"title": row.title[language], "problems": problem_views(problems_of(wrong), language)}
            status = row.status
            if isinstance(wrong, Busy):
                headers["Retry-After"] = str(wrong.retry_after)
        answered = page(site, request, "compare.html", framed(language), view, status)
        answered.headers.update(headers)
        return answered

    @router.get("/{language:language}/compare/{name}", include_in_schema=False)
    def example(request: Request, language: Language, name: str) -> Response:
        if name not in examples.EXAMPLES:
            raise NotFound(f"compare/{name}")
        view = viewed(site, compared_example(name), language)
        title = examples.EXAMPLES[name].title[language]
        frame = framed(language, f"/{name}", f"{Words(language).compare}{Words(language).colon}{title}")
        return page(site, request, "compare.html", frame, shown(site, language, view, name))

    @router.get("/traces/schema.json", include_in_schema=False)
    def schema() -> Response:
        return Response(json.dumps(json_schema(), indent=1), media_type="application/schema+json")

    @router.get("/traces/{name}.jsonl", include_in_schema=False)
    def trace(name: str) -> Response:
        if name not in examples.TRACES:
            raise NotFound(f"traces/{name}.jsonl")
        return Response(examples.path(name).read_bytes(), media_type="application/jsonl")

    return router


def framed(language: Language, tail: str = "", title: str = "") -> Frame:
    words = Words(language)
    here, there = (f"/{one}/compare{tail}" for one in (language, other(language)))
    return Frame(language, title or words.compare, words.compare_lead, here, there, "compare")


def shown(site: Site, language: Language, view: CompareView | None = None, name: str = "") -> dict[str, Any]:
    """What the page needs; `name` is that of the example whose page it is."""
    offered = [
        (f"/{language}/compare/{one}", example.title[language], example.lead[language], one == name)
        for one, example in examples.EXAMPLES.items()
    ]
    example = examples.EXAMPLES.get(name)
    files = (f"/traces/{examples.WHOLE}.jsonl", f"/traces/{name}.jsonl")
    return {
        "report": view,
        "example": example and (example.title[language], example.lead[language], *files),
        "offered": offered,
        "levels": [(level, LEVELS[level][language]) for level in STRONGEST[:-1]],
        "limit": site.comparer.limit,
        "title": "",
        "problems": (),
    }


def viewed(site: Site, found: Comparison, language: Language) -> CompareView:
    """Reads the index: to be called in a thread."""
    return compare_view(found, language, functools.partial(explanation, site, language))


def explanation(site: Site, language: Language, concept: str) -> tuple[str, str]:
    """Where a concept is marked, or first named: the address of its sentence, and the concept's label."""
    known = site.report.concepts.get(concept)
    if known is None:
        return "", ""
    places = [place for _, _, found in concept_view(site, known, language).notes for place in found]
    best = next((place for place in places if place.marked), places[0] if places else None)
    return (best.href if best else f"/{language}/concepts/{concept}"), known.label[language]


@functools.cache
def compared_example(name: str) -> Comparison:
    return answer([examples.path(examples.WHOLE)], [examples.path(name)])


@contextlib.asynccontextmanager
async def sent(site: Site, request: Request) -> AsyncIterator[tuple[asyncio.Task[Comparison], Path]]:
    """The comparison of what was sent, under way, and its folder, which is gone when the context ends."""
    with passing_folder() as folder, site.slots.held(request.client.host if request.client else ""):
        upload = await received(request, folder, FILES)
        task = asyncio.ensure_future(site.comparer.compare(upload, asked(upload), folder))
        try:
            yield task, folder
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, PerennialError):
                await task


async def waited(request: Request, task: asyncio.Task[Comparison], tick: Callable[[], Awaitable[None]]) -> Comparison:
    """Raises ClientDisconnect when nobody waits any more, and what the comparison raises."""
    while not task.done():
        await asyncio.wait([task], timeout=TICK)
        if not task.done():
            if await request.is_disconnected():
                raise ClientDisconnect
            await tick()
    return task.result()


async def nothing() -> None:
    """What is done at every tick where nobody watches."""


def asked(upload: Upload) -> Question:
    """Raises InvalidQuestion with every problem."""
    problems = [Problem(name, "", UNKNOWN) for name in upload.texts if name not in TEXTS]
    problems += [Problem(name, "", MISSING) for name in ("a", "b") if not upload.files[name]]
    texts = {name: [text for text in upload.texts.get(name, []) if text.strip()] for name in TEXTS}
    tolerances = [one for text in texts["tolerance"] for one in BETWEEN.split(text.strip())]
    require, rule = (texts[name][-1].strip() if texts[name] else "" for name in ("require", "rule"))
    try:
        question = read_question(require or "bitwise", tolerances, rule)
    except InvalidQuestion as wrong:
        problems += wrong.problems
    if problems:
        raise InvalidQuestion(problems)
    return question


class Followed(Response):
    """Lines of JSON: how many bytes of how many were read so far, and at the end the report, or what is wrong.

    What goes wrong before the first line is answered as anywhere else.
    """

    def __init__(self, site: Site, request: Request, language: Language) -> None:
        super().__init__(media_type=LINES, headers={"Cache-Control": "no-store"})
        self.site, self.request, self.language = site, request, language

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def line(**told: Any) -> None:
            await send({"type": "http.response.body", "body": f"{json.dumps(told)}\n".encode(), "more_body": True})

        del self.headers["content-length"]
        async with sent(self.site, self.request) as (task, folder):
            total = sum(file.stat().st_size for file in folder.glob("*/*"))
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await line(read=0, of=total)
            try:
                found = await waited(self.request, task, lambda: line(read=bytes_read(folder), of=total))
                view = await asyncio.to_thread(viewed, self.site, found, self.language)
                html = fragment(self.site, self.language, "compare/report.html", {"report": view})
                await line(status=200, html=bytes(html.body).decode())
            except PerennialError as wrong:
                await line(**await asyncio.to_thread(told, wrong, self.site, self.language))
            except ClientDisconnect:
                return
            await send({"type": "http.response.body", "body": b""})


def told(wrong: PerennialError, site: Site, language: Language) -> dict[str, Any]:
    """An error as the last line."""
    row = TABLE[type(wrong)]
    view = {"title": row.title[language], "shown": "", "problems": problem_views(problems_of(wrong), language)}
    html = fragment(site, language, "widget/problems.html", view)
    return {"status": row.status, "html": bytes(html.body).decode()}
