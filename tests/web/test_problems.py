"""What went wrong, in the form that was asked for and in the reader's language."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from app.errors import Busy, LaboratoryError, PerennialError, ReaderError, TraceError
from app.main import create_app
from app.settings import Settings
from app.web.problems import TABLE
from tests.trials import apart
from tests.web.visits import ARTICLE, NAMES, Page, garden, planted

SLOW = "/api/widgets/accumulation?n=100000&seed="


@pytest.mark.parametrize(
    "address",
    [
        "/nowhere",
        "/fr/",
        "/en/nowhere",
        "/zh/nowhere",
        "/en/widgets/nothing",
        "/zh/concepts/nothing",
        "/static/nothing.css",
        "/files/nothing.txt",
        "/en/nowhere.md",
        "/embed/fr/widgets/momentum",
    ],
)
def test_what_is_not_there_is_a_page_with_a_way_on(site: TestClient, address: str) -> None:
    answer = site.get(address)
    assert answer.status_code == 404
    assert answer.headers["cache-control"] == "no-store"
    page = Page(answer.text)
    assert page.wrong == []
    language = "zh" if address.startswith("/zh") else "en"
    assert page.one("h1").text == ("这里还什么都没长出来" if language == "zh" else "Nothing grows at this address")
    assert page.one("meta", name="robots").attributes["content"] == "noindex"
    assert f"/{language}/" in list(page.hrefs())


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "slug", ["why-training-result-change", "WHY-training-results", f"{ARTICLE}/", "training results change"]
)
def test_a_misspelt_address_offers_the_nearest_notes(site: TestClient, language: str, slug: str) -> None:
    answer = site.get(f"/{language}/{slug}")
    if answer.status_code in (301, 308):
        answer = site.get(answer.headers["location"])
        assert answer.status_code == 200
        return
    assert answer.status_code == 404
    near = [one.attributes["href"] for one in Page(answer.text).all("a") if "li" in one.inside]
    assert near == [f"/{language}/{ARTICLE}"]


def test_the_language_of_a_page_without_one_is_that_of_its_reader(site: TestClient) -> None:
    assert "这里还什么都没长出来" in site.get("/nowhere", headers={"Accept-Language": "zh"}).text
    assert "这里还什么都没长出来" in site.get("/nowhere", headers={"Cookie": "language=zh"}).text
    assert "Nothing grows" in site.get("/en/nowhere", headers={"Accept-Language": "zh"}).text


def test_a_program_is_answered_by_its_header_alone(site: TestClient) -> None:
    answer = site.get("/api/nowhere", headers={"Cookie": "language=zh", "Accept-Language": "en"})
    assert answer.json()["message"] == "Nothing grows at this address"


@pytest.mark.parametrize(
    ("address", "form"),
    [
        ("/en/widgets/nothing/result", "fragment"),
        ("/en/widgets/nothing.json", "json"),
        ("/api/widgets/nothing", "json"),
        ("/en/widgets/nothing", "page"),
        ("/en/result", "page"),
        ("/en/widgets/nothing.csv", "page"),
    ],
)
def test_an_error_answers_in_the_form_that_was_asked_for(site: TestClient, address: str, form: str) -> None:
    answer = site.get(address)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("application/json" if form == "json" else "text/html")
    assert ("<html" in answer.text) is (form == "page")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("address", ["/en/", f"/en/{ARTICLE}", "/api/widgets/momentum", "/en/widgets/momentum/result"])
def test_a_method_that_an_address_does_not_take_is_refused(site: TestClient, method: str, address: str) -> None:
    answer = site.request(method, address)
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]


@pytest.mark.parametrize(
    ("method", "address", "taken"),
    [
        ("GET", "/api/compare", "POST"),
        ("HEAD", "/api/compare", "POST"),
        ("PUT", "/api/compare", "POST"),
        ("PUT", "/zh/compare", "GET, POST"),
        ("POST", "/en/compare/lost-optimizer", "GET"),
    ],
)
def test_a_refusal_names_every_method_that_an_address_takes(
    site: TestClient, method: str, address: str, taken: str
) -> None:
    answer = site.request(method, address)
    assert (answer.status_code, answer.headers["allow"]) == (405, taken)


def test_every_error_that_a_reader_can_meet_has_its_status() -> None:
    leaves = {kind for parent in (ReaderError, TraceError, LaboratoryError) for kind in parent.__subclasses__()}
    assert leaves <= set(TABLE)
    assert {kind.__name__: row.status for kind, row in TABLE.items()} == {
        "InvalidParameters": 422,
        "InvalidCheckpoint": 422,
        "InvalidSearch": 422,
        "InvalidQuestion": 422,
        "NoForm": 400,
        "Stalled": 408,
        "Unreadable": 400,
        "Incomparable": 409,
        "NotFound": 404,
        "BodyTooLarge": 413,
        "TooLarge": 413,
        "Busy": 503,
        "NoRoom": 503,
        "TookTooLong": 504,
        "WorkerLost": 500,
    }
    assert issubclass(Busy, PerennialError)


@contextlib.asynccontextmanager
async def alive(**options: object) -> AsyncIterator[httpx.AsyncClient]:
    """A garden without notes whose requests can overlap, its workers coming up behind it."""
    app = create_app(Settings(**options))  # type: ignore[arg-type]
    said: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    heard: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    lifespan = asyncio.ensure_future(
        app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, said.get, heard.put)
    )  # type: ignore[arg-type]
    await said.put({"type": "lifespan.startup"})
    assert (await heard.get())["type"] == "lifespan.startup.complete"
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://garden") as reader:
            yield reader
    finally:
        await said.put({"type": "lifespan.shutdown"})
        await lifespan


def test_a_reader_with_all_slots_taken_is_told_when_to_come_back(tmp_path: Path) -> None:
    async def visit() -> None:
        async with alive(content=planted(tmp_path / "notes"), client_slots=2) as reader:
            waiting = [asyncio.ensure_future(reader.get(f"{SLOW}{seed}")) for seed in range(2)]
            await asyncio.sleep(0.05)
            third = await reader.get(f"{SLOW}9", headers={"Accept-Language": "zh"})
            assert third.status_code == 503
            assert int(third.headers["retry-after"]) >= 1
            assert third.json() == {"error": "busy", "problems": [], "message": "排队的请求太多，请稍后再试"}
            fragment = await reader.get("/en/widgets/accumulation/result?n=100000&seed=9")
            assert (fragment.status_code, "<html" in fragment.text) == (503, False)
            assert int(fragment.headers["retry-after"]) >= 1
            page = await reader.get("/en/widgets/accumulation?seed=9")
            assert (page.status_code, page.headers["cache-control"]) == (503, "no-store")
            assert int(page.headers["retry-after"]) >= 1
            assert Page(page.text).wrong == []
            cheap = [
                await reader.get(address)
                for address in ("/en/", "/api/widgets/momentum", "/en/widgets/momentum?beta=0.5")
            ]
            assert [answer.status_code for answer in cheap] == [200, 200, 200]
            assert [answer.status_code for answer in await asyncio.gather(*waiting)] == [200, 200]
            assert (await reader.get(f"{SLOW}1")).status_code == 200

    apart(visit())


def test_a_full_queue_refuses_whoever_comes(tmp_path: Path) -> None:
    async def visit() -> None:
        async with alive(content=planted(tmp_path / "notes"), queue=1, client_slots=9) as reader:
            first = asyncio.ensure_future(reader.get(f"{SLOW}1"))
            await asyncio.sleep(0.05)
            same = asyncio.ensure_future(reader.get(f"{SLOW}1"))
            other = await reader.get(f"{SLOW}2")
            assert other.status_code == 503
            assert int(other.headers["retry-after"]) >= 1
            assert [(await one).status_code for one in (first, same)] == [200, 200]

    apart(visit())


def test_an_experiment_at_its_time_limit_is_explained_and_the_next_one_runs(tmp_path: Path) -> None:
    with garden(planted(tmp_path / "notes"), time_limit=0.05) as site:
        answer = site.get(f"{SLOW}1")
        assert answer.status_code == 504
        assert answer.json()["error"] == "took_too_long"
        fragment = site.get("/zh/widgets/accumulation/result?n=100000&seed=2")
        assert (fragment.status_code, "已经停止" in fragment.text) == (504, True)
        assert site.get("/api/widgets/accumulation?n=2&shuffles=0").status_code == 200
        assert [site.get(f"/api/widgets/{name}").status_code for name in NAMES if name != "accumulation"] == [200] * 4


@pytest.mark.parametrize("path", [f"/en/{ARTICLE}", "/zh/widgets/momentum"])
def test_a_slash_too_many_is_taken_away(site: TestClient, path: str) -> None:
    answer = site.get(f"{path}/?momentum.beta=0.5")
    assert answer.status_code == 308
    assert answer.headers["location"] == f"{path}?momentum.beta=0.5"
