"""The least that could answer, for comparison: a constant response from Starlette, a widget from FastAPI.

python -m bench.bare constant PORT FOLDER
    /page answers the bytes of FOLDER/page, /packed those of FOLDER/packed as Brotli, /same a 304
python -m bench.bare widget PORT HTMX
    / is a form that the file HTMX makes live, /result draws the recurrence that the form asks for
"""

import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>bare</title><script src="/htmx.js" defer></script></head><body>
<div id="result"></div>
<form autocomplete="off" novalidate hx-get="/result" hx-target="#result" hx-swap="innerHTML"
 hx-trigger="input throttle:40ms, change, submit" hx-sync="this:queue last">
<input id="beta" name="beta" value="0.9">
</form>
</body></html>"""


def constant(folder: Path) -> ASGIApp:
    page, packed = (folder / "page").read_bytes(), (folder / "packed").read_bytes()

    async def whole(request: Request) -> Response:
        return HTMLResponse(page)

    async def compressed(request: Request) -> Response:
        return HTMLResponse(packed, headers={"content-encoding": "br"})

    async def same(request: Request) -> Response:
        return Response(status_code=304)

    return Starlette(routes=[Route("/page", whole), Route("/packed", compressed), Route("/same", same)])


def widget(htmx: Path) -> ASGIApp:
    app = FastAPI()

    @app.get("/")
    async def page() -> Response:
        return HTMLResponse(PAGE)

    @app.get("/htmx.js")
    async def script() -> Response:
        return FileResponse(htmx, media_type="text/javascript")

    @app.get("/result")
    async def result(beta: float) -> Response:
        return HTMLResponse(drawn(beta))

    return app


def drawn(beta: float, steps: int = 12) -> str:
    """Twelve steps of the recurrence that the momentum widget starts with, as one line."""
    w, v, points = 0.0, 0.0, []
    for step in range(steps):
        points.append(f"{step * 40},{200 - w * 100:.1f}")
        v = beta * v + w - 1
        w -= 0.1 * v
    line = f'<path fill="none" stroke="currentColor" d="M{" ".join(points)}"/>'
    return f'<p>w = {w}</p><svg viewBox="0 0 480 240">{line}</svg>'


if __name__ == "__main__":
    kind, port, place = sys.argv[1:]
    uvicorn.run(
        {"constant": constant, "widget": widget}[kind](Path(place)), port=int(port), log_config=None, access_log=False
    )
