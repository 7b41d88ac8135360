"""Which language and which form a reader gets."""

import pytest
from starlette.testclient import TestClient

from app.web.negotiation import accepted, wants_markdown
from tests.web.visits import ARTICLE, garden


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("zh", "zh"),
        ("zh-Hant-TW", "zh"),
        ("ZH-cn", "zh"),
        ("en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("en;q=0.3, zh;q=0.7", "zh"),
        ("en;q=0.3, zh ; Q=0.2", "en"),
        ("fr,de;q=0.9", "en"),
        ("fr, zh;q=0.1", "zh"),
        ("zh;q=0", "en"),
        ("zh;q=", "en"),
        ("zh;q=much", "en"),
        ("zh;q=nan", "en"),
        ("zh;q=-1", "en"),
        ("*", "en"),
        (",;,;q=1,,zh", "zh"),
        ("zhuang", "en"),
        ("\u00ff\u00fe", "en"),
    ],
)
def test_the_root_leads_to_the_language_that_weighs_most(site: TestClient, header: str, language: str) -> None:
    answer = site.get("/", headers={"Accept-Language": header.encode("latin-1")})  # type: ignore[dict-item]
    assert (answer.status_code, answer.headers["location"]) == (307, f"/{language}/")
    assert answer.headers["vary"].startswith("Cookie, Accept-Language")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(("cookie", "language"), [("zh", "zh"), ("en", "en"), ("fr", "zh"), ("", "zh")])
def test_the_cookie_of_the_language_switch_comes_first(site: TestClient, cookie: str, language: str) -> None:
    answer = site.get("/", headers={"Accept-Language": "zh", "Cookie": f"language={cookie}"})
    assert answer.headers["location"] == f"/{language}/"


def test_the_garden_says_what_it_falls_back_to() -> None:
    assert garden(default_language="zh").get("/", headers={"Accept-Language": "fr"}).headers["location"] == "/zh/"
    assert accepted("fr", "zh") == "zh"


@pytest.mark.parametrize(
    ("accept", "markdown"),
    [
        ("text/markdown", True),
        ("text/markdown, text/html, */*", True),
        ("text/html;q=0.8, text/markdown", True),
        ("text/html, text/markdown;q=0.5", False),
        ("text/markdown;q=0", False),
        ("text/html", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_markdown_is_for_those_who_prefer_it(site: TestClient, accept: str, markdown: bool) -> None:
    assert wants_markdown(accept) is markdown
    answer = site.get(f"/en/{ARTICLE}", headers={"Accept": accept})
    assert answer.headers["content-type"].startswith("text/markdown" if markdown else "text/html")
    assert "Accept" in answer.headers["vary"].split(", ")


def test_the_page_and_its_source_do_not_take_each_others_place(site: TestClient) -> None:
    kinds = [
        site.get(f"/zh/{ARTICLE}", headers={"Accept": kind}).headers["content-type"]
        for kind in ("text/html", "text/markdown") * 2
    ]
    assert [kind.partition(";")[0] for kind in kinds] == ["text/html", "text/markdown"] * 2
