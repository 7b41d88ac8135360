"""Previews as fragments: what they say, where they end, what they leave to the page."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.web.visits import ARTICLE, Page, garden, planted

HOST = """---
title: Host
summary: One line about the host.
growth: evergreen
aliases: [landlord]
---
Opening words.

## Rooms {#rooms}

The first room is [painted]{concept=paint}.[^1] See [[guest]] and [the rooms](#rooms).

```widget momentum
```

### The attic {#attic}

Dust.

## Long {#long}

AAAA

BBBB

CCCC

## Wall {#wall}

WWWW

## Code {#code}

A named block. ^named

<p id="mine">Raw</p>

[^1]: Lime.
"""
ROOMS = ["The", "first", "room", "is", "painted.", "See", "Guest", "and", "the", "rooms.", "The", "attic", "Dust."]
LONG = HOST.replace("AAAA", "a " * 200).replace("BBBB", "b " * 200).replace("CCCC", "c " * 200)
LONG = LONG.replace("WWWW", "wall " * 400)
CONCEPTS = """paint:
  label: {en: paint, zh: 油漆}
  meaning: {en: what covers a wall, zh: 涂在墙上的东西}
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    notes = {
        "host_en": LONG,
        "guest_en": "# Guest\n\nPaint dries. Paint peels.\n\nPaint again.",
        "客_zh": "# 客人\n\n油漆未干。",
    }
    folder = planted(tmp_path_factory.mktemp("house") / "notes", **notes)
    (folder / "secret.en.md").write_text("---\ndraft: true\n---\n# Canary\n\nCanary [x]{concept=paint}.\n", "utf-8")
    (folder / "concepts.yaml").write_text(CONCEPTS, encoding="utf-8")
    with garden(folder) as client:
        yield client


def test_a_note_is_shown_by_its_title_growth_and_summary(house: TestClient) -> None:
    answer = house.get("/en/host/preview")
    page = Page(answer.text)
    assert answer.status_code == 200
    assert page.wrong == []
    assert page.elements[0].tag == "article"
    assert page.one("p", **{"class": "title"}).text == "Host"
    assert page.one("p", **{"class": "lead"}).text == "One line about the host."
    assert "Evergreen" in page.one("footer").text
    assert "Opening words" not in answer.text
    assert page.all("a")[0].attributes["href"] == "/en/host"


def test_a_section_is_shown_by_how_it_begins(house: TestClient) -> None:
    page = Page(house.get("/en/host/preview?section=rooms").text)
    assert page.wrong == []
    assert page.one("p", **{"class": "within"}).text == "Host"
    assert page.one("p", **{"class": "title"}).text == "Rooms"
    excerpt = page.one("div", **{"class": "excerpt"})
    assert excerpt.text.split() == ROOMS


def test_nothing_in_a_preview_has_an_id_and_its_links_lead_to_the_page(house: TestClient) -> None:
    for section in ("rooms", "code", "long"):
        page = Page(house.get(f"/en/host/preview?section={section}").text)
        assert [one for one in page.elements if "id" in one.attributes] == []
    hrefs = list(Page(house.get("/en/host/preview?section=rooms").text).hrefs())
    assert hrefs == ["/en/host#rooms", "/en/concepts/paint", "/en/guest", "/en/host#rooms", "/en/host#rooms"]


def test_a_section_ends_where_a_block_ends_before_nine_hundred_characters(house: TestClient) -> None:
    page = Page(house.get("/en/host/preview?section=long").text)
    words = page.one("div", **{"class": "excerpt"}).text.split()
    assert words == ["a"] * 200 + ["b"] * 200
    assert page.wrong == []


def test_a_block_that_alone_is_too_long_is_cut_between_words(house: TestClient) -> None:
    page = Page(house.get("/en/host/preview?section=wall").text)
    text = page.one("div", **{"class": "excerpt"}).text.strip()
    assert text.split() == ["wall"] * 179 + ["wall…"]
    assert page.wrong == []


def test_a_named_block_and_the_place_of_a_mark_have_previews(house: TestClient) -> None:
    block = Page(house.get("/en/host/preview?section=block-named").text)
    assert block.one("div", **{"class": "excerpt"}).text.strip() == "A named block."
    mark = Page(house.get("/en/host/preview?section=at-paint-1").text)
    assert mark.one("p", **{"class": "title"}).text == "Rooms"


def test_a_concept_is_shown_by_its_meaning_and_its_first_places(house: TestClient) -> None:
    page = Page(house.get("/en/concepts/paint/preview").text)
    assert page.wrong == []
    assert page.one("p", **{"class": "title"}).text == "paint"
    assert page.one("p", **{"class": "lead"}).text == "what covers a wall"
    assert [one.text for one in page.all("q")] == ["Paint dries.", "Paint peels.", "Paint again."]
    assert {one.attributes["href"] for one in page.all("a", **{"class": "note"})} == {"/en/guest#main"}


def test_a_preview_is_in_the_language_of_its_note(house: TestClient) -> None:
    page = Page(house.get("/zh/客/preview").text)
    assert page.elements[0].attributes["lang"] == "zh-Hans"
    assert "幼苗" in page.one("footer").text
    assert "涂在墙上的东西" in house.get("/zh/concepts/paint/preview").text


@pytest.mark.parametrize("rest", ["nothing", "secret", "concepts/nothing", "Secret", "Canary"])
def test_what_is_not_there_and_a_draft_are_answered_in_a_fragment(house: TestClient, rest: str) -> None:
    answer = house.get(f"/en/{rest}/preview")
    assert answer.status_code == 404
    assert answer.text.strip() == "<p>Nothing grows at this address.</p>"
    assert answer.headers["x-robots-tag"] == "noindex"
    assert answer.headers["cache-control"] == "no-store"


def test_a_section_that_is_not_there_is_not_found(house: TestClient) -> None:
    assert house.get("/en/host/preview?section=cellar").status_code == 404


def test_no_preview_speaks_of_a_draft(house: TestClient) -> None:
    assert "Canary" not in house.get("/en/concepts/paint/preview").text


def test_an_alias_leads_to_the_preview_of_its_note(house: TestClient) -> None:
    answer = house.get("/en/landlord/preview?section=rooms")
    assert answer.status_code == 301
    assert answer.headers["location"] == "/en/host/preview?section=rooms"


def test_a_preview_is_kept_and_searched_by_no_engine(house: TestClient) -> None:
    first = house.get("/en/host/preview")
    again = house.get("/en/host/preview", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    assert first.headers["x-robots-tag"] == again.headers["x-robots-tag"] == "noindex"


def test_a_page_address_answers_no_fragment(house: TestClient) -> None:
    for header in ({}, {"HX-Request": "true"}):
        for address in ("/en/host", "/en/concepts/paint"):
            assert house.get(address, headers=header).text.startswith("<!doctype html>")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_link_and_section_of_the_article_has_a_sound_preview(site: TestClient, language: str) -> None:
    page = Page(site.get(f"/{language}/{ARTICLE}").text)
    terms = {one.attributes["href"] for one in page.all("a", **{"class": "term"})}
    sections = [one.attributes["id"] for one in page.all("h2") if "id" in one.attributes]
    addresses = [f"{href}/preview" for href in terms]
    addresses += [f"/{language}/{ARTICLE}/preview?section={id}" for id in sections if id != "network-title"]
    assert len(terms) > 10
    assert len(sections) > 4
    for address in addresses:
        answer = site.get(address)
        assert answer.status_code == 200, address
        shown = Page(answer.text)
        assert shown.wrong == []
        assert 0 < len(shown.one("div", **{"class": "excerpt"}).text.strip()) < 1200
