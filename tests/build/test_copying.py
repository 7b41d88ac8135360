"""Small applications made into files: what is followed, where links lead, what is reported."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.build.answers import Application, Message
from app.build.copying import Copied, Plan, build
from app.build.folder import MARK, Folder

Site = Mapping[str, tuple[str, str] | str]
"""Address: media type and text, or where it moved to."""


def application(site: Site) -> Application:
    async def app(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        if scope["type"] == "lifespan":
            for _ in range(2):
                await send({"type": f"{(await receive())['type']}.complete"})
            return
        query = scope["query_string"].decode()
        found = site.get(scope["raw_path"].decode() + (f"?{query}" if query else ""))
        status, kind, body, location = 404, "text/html", "<!doctype html>lost", ""
        if isinstance(found, str):
            status, location = 301, found
        elif found is not None:
            status, (kind, body) = 200, found
        headers = [(b"content-type", f"{kind}; charset=utf-8".encode()), (b"location", location.encode())]
        start: Message = {"type": "http.response.start", "status": status, "headers": headers}
        await send(start)
        await send({"type": "http.response.body", "body": body.encode()})

    return app


def copied(tmp_path: Path, site: Site, starts: tuple[str, ...] = ("/",), base: str = "", live: str = "") -> Copied:
    plan = Plan(
        starts=starts,
        base=base,
        live=live,
        computed=lambda address: address.startswith("/api") or "?q=" in address,
        verbatim=lambda path: path.startswith("/files/"),
        previewed="a.note",
        preview=lambda path, fragment: f"{path}/preview?section={fragment}",
        search=False,
    )
    (tmp_path / "notes").mkdir(exist_ok=True)
    with Folder(tmp_path / "out", tmp_path / "notes") as folder:
        return asyncio.run(build(application(site), plan, folder, lambda part, done, known: None))


def page(body: str) -> tuple[str, str]:
    return "text/html", f'<!doctype html>\n<html lang="en"><head><title>x</title></head><body>{body}</body></html>'


def files(tmp_path: Path) -> dict[str, str]:
    out = tmp_path / "out"
    return {
        file.relative_to(out).as_posix(): file.read_text()
        for file in out.rglob("*")
        if file.is_file() and file.name not in (MARK, ".nojekyll")
    }


def test_everything_that_is_linked_is_taken_and_leads_there(tmp_path: Path) -> None:
    site = {
        "/": page('<a href="/a">a</a> <img src="/files/x%20y.png" srcset="/files/x%20y.png 2x" alt="">'),
        "/a": page('<h2 id="s">s</h2><a href="/">up</a> <a href="/w?b=1#s">w</a> <a href="#s">s</a>'),
        "/w?b=1": page('<h2 id="s">s</h2><a href="/a?b=1">a</a>'),
        "/a?b=1": page("<p>state</p>"),
        "/files/x%20y.png": ("image/png", "png"),
    }
    told = copied(tmp_path, site)
    found = files(tmp_path)
    assert set(found) == {"index.html", "a/index.html", "w/b=1/index.html", "a/b=1/index.html", "files/x y.png"}
    assert '<a href="a/">a</a> <img src="files/x%20y.png" srcset="files/x%20y.png 2x" alt="">' in found["index.html"]
    assert '<a href="../">up</a> <a href="../w/b=1/#s">w</a> <a href="#s">s</a>' in found["a/index.html"]
    assert '<a href="../../a/b=1/">' in found["w/b=1/index.html"]
    assert (told.dead, told.pages) == ((), 4)


def test_a_link_that_leads_nowhere_is_told_and_becomes_text(tmp_path: Path) -> None:
    told = copied(tmp_path, {"/": page('<a href="/nowhere">x</a> <a href="/b#gone">b</a>'), "/b": page("b")})
    assert told.dead == ("/: /nowhere leads nowhere", "/: /b#gone leads to a place that is not on that page")
    assert "<a>x</a>" in files(tmp_path)["index.html"]


def test_a_start_that_is_not_answered_is_told(tmp_path: Path) -> None:
    assert copied(tmp_path, {"/": page("x")}, starts=("/", "/b")).dead == ("/b: is not answered",)


@pytest.mark.parametrize(
    ("live", "shown"), [("", "<a>x</a>"), ("https://l.example", 'href="https://l.example/s?q=1#r"')]
)
def test_what_only_a_server_computes_leads_to_the_living_garden(tmp_path: Path, live: str, shown: str) -> None:
    told = copied(tmp_path, {"/": page('<a href="/s?q=1#r">x</a>')}, live=live)
    assert shown in files(tmp_path)["index.html"]
    assert told.dead == ()


def test_what_moved_is_a_page_that_leads_on_and_links_to_it_lead_there_at_once(tmp_path: Path) -> None:
    site = {"/": page('<a href="/old#s">x</a>'), "/old": "/older", "/older": "/new", "/new": page('<p id="s">new</p>')}
    copied(tmp_path, site, starts=("/", "/old"), base="https://e.example/g")
    found = files(tmp_path)
    assert set(found) == {"index.html", "old/index.html", "new/index.html"}
    assert 'href="new/#s"' in found["index.html"]
    assert 'content="0; url=../new/"' in found["old/index.html"]
    assert '<link rel="canonical" href="https://e.example/g/new/">' in found["old/index.html"]


def test_absolute_addresses_are_those_of_the_files(tmp_path: Path) -> None:
    base = "https://e.example/g"
    site = {
        "/": page(f'<link rel="canonical" href="{base}/a"><p>See {base}/a and {base}/z.</p>'),
        "/map.xml": ("application/xml", f"<loc>{base}/a</loc><loc>{base}/gone</loc>"),
        "/a": page("a"),
    }
    told = copied(tmp_path, site, starts=("/", "/map.xml"), base=base)
    found = files(tmp_path)
    assert found["map.xml"] == f"<loc>{base}/a/</loc><loc>{base}/gone</loc>"
    assert f'href="{base}/a/"' in found["index.html"]
    assert f"See {base}/a/ and {base}/z." in found["index.html"]
    assert told.dead == (f"/map.xml: {base}/gone leads nowhere",)


def test_what_is_shown_beside_a_link_is_taken_where_there_is_something(tmp_path: Path) -> None:
    site = {
        "/": page('<a class="note" href="/a#s">a</a><a class="note" href="/b">b</a>'),
        "/a": page('<p id="s">a</p>'),
        "/b": page("b"),
        "/a/preview?section=s": ("text/html", '<article><a href="/b">b</a><math><mi>x</mi></math></article>'),
    }
    told = copied(tmp_path, site)
    shown = files(tmp_path)["a/preview/section=s/index.html"]
    assert shown == '<article><a href="../../../b/">b</a><math><mi>x</mi></math></article>'
    assert told.dead == ()


def test_a_file_of_an_author_is_taken_as_it_is(tmp_path: Path) -> None:
    text = '<p>no doctype, <a href="/nowhere">and a link</a>'
    told = copied(tmp_path, {"/": page('<a href="/files/a.htm">a</a>'), "/files/a.htm": ("text/html", text)})
    assert files(tmp_path)["files/a.htm"] == text
    assert told.dead == ()


def test_the_page_for_what_is_lost_has_links_from_the_root(tmp_path: Path) -> None:
    site = {"/404.html": page('<a href="/a">a</a>'), "/a": page("a")}
    copied(tmp_path, site, starts=("/404.html",), base="https://e.example/g")
    assert '<a href="/g/a/">' in files(tmp_path)["404.html"]


def test_a_drawing_and_a_formula_keep_their_letters(tmp_path: Path) -> None:
    body = '<svg viewBox="0 0 1 1"><a href="#x"><text textLength="3" id="x">&lt;x&gt; &amp; 恢复</text></a></svg>'
    copied(tmp_path, {"/": page(body)})
    assert body in files(tmp_path)["index.html"]


def test_a_crash_of_the_application_is_not_hidden(tmp_path: Path) -> None:
    async def broken(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        raise ZeroDivisionError

    (tmp_path / "notes").mkdir()
    plan = Plan(("/",), "", "", lambda _: False, lambda _: False, "", lambda path, fragment: path, False)
    with Folder(tmp_path / "out", tmp_path / "notes") as folder, pytest.raises(ZeroDivisionError):
        asyncio.run(build(broken, plan, folder, lambda part, done, known: None))
