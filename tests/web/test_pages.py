"""The home, the article and the concepts as a reader finds them."""

import json
import re
import shutil
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app import __version__
from app.checks import check, update
from tests.conftest import CONTENT
from tests.web.visits import ARTICLE, NAMES, Page, garden, planted

EMBEDS = ["agreement", "summation", "accumulation", "microbatch", "momentum", "moved"]


@pytest.mark.parametrize(("language", "html"), [("en", "en"), ("zh", "zh-Hans")])
@pytest.mark.parametrize("rest", ["", ARTICLE, "concepts", "widgets/", "widgets/momentum", "nowhere"])
def test_a_page_says_its_language_and_leads_to_the_other(site: TestClient, language: str, html: str, rest: str) -> None:
    page = Page(site.get(f"/{language}/{rest}").text)
    other = "zh" if language == "en" else "en"
    assert page.one("html").attributes["lang"] == html
    switch = page.one("a", data_language=other)
    assert switch.text == ("中文" if language == "en" else "English")
    assert switch.attributes["hreflang"] == other
    assert switch.attributes["href"] == (f"/{other}/{rest}" if rest != "nowhere" else f"/{other}/")


@pytest.mark.parametrize("rest", ["", ARTICLE, "concepts", "concepts/momentum", "widgets/", "widgets/momentum"])
def test_a_page_names_its_address_and_its_translation(site: TestClient, rest: str) -> None:
    page = Page(site.get(f"/en/{rest}?utm=1").text)
    assert page.one("link", rel="canonical").attributes["href"] == f"http://testserver/en/{rest}"
    links = [one.attributes for one in page.all("link", rel="alternate") if "type" not in one.attributes]
    alternates = {link["hreflang"]: link["href"] for link in links}
    assert alternates == {language: f"http://testserver/{language}/{rest}" for language in ("en", "zh")}


def test_the_public_address_can_be_set() -> None:
    page = Page(garden(base_url="https://garden.example/").get("/zh/").text)
    assert page.one("link", rel="canonical").attributes["href"] == "https://garden.example/zh/"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_home_lists_the_article_with_its_growth(site: TestClient, language: str) -> None:
    page = Page(site.get(f"/{language}/").text)
    entry = next(one for one in page.all("li") if one.attributes.get("class") == "entry")
    assert ("Budding" if language == "en" else "含苞") in entry.text
    assert f"/{language}/{ARTICLE}" in list(page.hrefs())


@pytest.mark.parametrize("rest", ["", ARTICLE])
def test_a_disclosure_explains_gardens_and_the_four_stages(site: TestClient, rest: str) -> None:
    about = Page(site.get(f"/en/{rest}").text).one("details", **{"class": "about"}).text
    for words in (
        "tended over time",
        "Andy Matuschak",
        "Maggie Appleton",
        "raw thoughts, reading notes, open questions",
        "a structured thesis with preliminary mathematics or code, being revised",
        "settled, a lasting reference",
        "hypotheses with instruments to test them",
        "Seedling",
        "Budding",
        "Evergreen",
        "Speculative",
    ):
        assert words in about


def test_a_garden_without_notes_says_so(tmp_path: Path) -> None:
    site = garden(planted(tmp_path / "notes"))
    assert "No note has been planted yet." in site.get("/en/").text
    assert "还没有种下任何笔记" in site.get("/zh/").text
    assert site.get("/en/nowhere").status_code == 404
    assert Page(site.get("/en/concepts").text).wrong == []


def test_notes_are_listed_by_growth_and_by_date(tmp_path: Path) -> None:
    notes = {
        "old_en": "---\ngrowth: evergreen\ntended: 2020-01-01\n---\n# Old\n",
        "new_en": "---\ntended: 2026-01-01\n---\n# New\n",
        "only_zh": "---\ntended: 2023-01-01\n---\n# 只有中文\n",
    }
    page = Page(garden(planted(tmp_path / "notes", **notes)).get("/en/").text)
    assert [one.text for one in page.all("h2")] == ["Evergreen", "Seedling", "By date"]
    by_date = [one.text.split() for one in page.all("li") if "ol" in one.inside]
    assert by_date == [["2026-01-01", "New"], ["2023-01-01", "只有中文"], ["2020-01-01", "Old"]]
    other = next(one for one in page.all("a", href="/zh/only"))
    assert other.attributes["hreflang"] == "zh"


def test_a_note_that_has_no_translation_leads_to_the_other_home(tmp_path: Path) -> None:
    page = Page(garden(planted(tmp_path / "notes", only_zh="# 只有中文\n")).get("/zh/only?x=1").text)
    assert page.one("a", data_language="en").attributes["href"] == "/en/"
    assert [one for one in page.all("link", rel="alternate") if "type" not in one.attributes] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_article_shows_every_widget_with_its_first_result(site: TestClient, language: str) -> None:
    page = Page(site.get(f"/{language}/{ARTICLE}").text)
    assert [one.attributes["id"] for one in page.all("section") if "data-widget" in one.attributes] == EMBEDS
    assert {one.attributes["data-widget"] for one in page.all("section") if "data-widget" in one.attributes} == set(
        NAMES
    )
    for name in EMBEDS:
        assert page.field(f"{name}-result").text.strip()
        assert len(page.field(f"{name}-rows").text.strip().splitlines()) > 2
        assert "Python 3." in page.field(f"{name}-provenance").text


def test_both_articles_have_the_same_sections_numbers_and_widgets(site: TestClient) -> None:
    english, chinese = (Page(site.get(f"/{language}/{ARTICLE}").text) for language in ("en", "zh"))
    for tag, name in (("h2", "id"), ("section", "data-widget"), ("a", "data-ran")):
        both = [
            sorted(one.attributes[name] or "" for one in page.all(tag) if name in one.attributes)
            for page in (english, chinese)
        ]
        assert both[0] == both[1]
        assert len(both[0]) >= 5
    marked = [
        {one.attributes["data-concept"] for one in page.all("a") if "data-concept" in one.attributes}
        for page in (english, chinese)
    ]
    assert marked[0] == marked[1]


def test_every_number_of_the_article_opens_the_state_that_gave_it(site: TestClient) -> None:
    page = Page(site.get(f"/en/{ARTICLE}").text)
    numbers = [one for one in page.all("a") if "data-ran" in one.attributes]
    assert len(numbers) > 20
    for one in numbers:
        href = one.attributes["href"] or ""
        assert site.get(href).status_code == 200, href
        assert href.partition("#")[2] in EMBEDS or "/widgets/" in href


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_network_is_a_picture_with_links_and_a_list(site: TestClient, language: str) -> None:
    page = Page(site.get(f"/{language}/{ARTICLE}").text)
    nodes = [one for one in page.all("a") if "data-node" in one.attributes]
    panels = [one.attributes["id"] for one in page.all("section", **{"class": "node"})]
    assert len(nodes) == len(panels) > 20
    assert sorted((one.attributes["href"] or "")[1:] for one in nodes) == sorted(panels)
    entries = {one.attributes["data-entry"] for one in page.elements if "data-entry" in one.attributes}
    assert entries == {one.attributes["data-node"] for one in nodes if one.attributes["data-kind"] == "concept"}
    kinds = {one.attributes["data-kind"] for one in page.all("path") if "data-from" in one.attributes}
    assert kinds == {"contains", "marks", "repeats"}
    caption = "repetition, not cause" if language == "en" else "不是因果"
    assert caption in site.get(f"/{language}/{ARTICLE}").text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_concept_shows_where_the_garden_speaks_of_it(site: TestClient, language: str) -> None:
    page = Page(site.get(f"/{language}/concepts/momentum").text)
    hrefs = [href for href in page.hrefs() if href.startswith(f"/{language}/{ARTICLE}#")]
    assert hrefs
    ids = {one.attributes.get("id") for one in Page(site.get(f"/{language}/{ARTICLE}").text).elements}
    assert {href.partition("#")[2] for href in hrefs} <= ids
    assert site.get(f"/{language}/concepts/nothing").status_code == 404


def test_the_source_of_a_note_is_its_file(site: TestClient) -> None:
    for language in ("en", "zh"):
        answer = site.get(f"/{language}/{ARTICLE}.md")
        assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
        assert answer.text == (CONTENT / f"{ARTICLE}.{language}.md").read_text(encoding="utf-8")
        assert site.get(f"/{language}/{ARTICLE}", headers={"Accept": "text/markdown"}).text == answer.text
        assert f"/{language}/{ARTICLE}.md" in list(Page(site.get(f"/{language}/{ARTICLE}").text).hrefs())
    assert site.get("/en/nowhere.md").status_code == 404


def test_an_alias_and_another_spelling_lead_to_the_note_with_their_query(tmp_path: Path) -> None:
    note = "---\naliases: [before]\n---\n# Now\n\n```widget momentum\n```\n"
    site = garden(planted(tmp_path / "notes", now_en=note))
    for name in ("before", "NOW"):
        answer = site.get(f"/en/{name}?momentum.beta=0.5")
        assert (answer.status_code, answer.headers["location"]) == (301, "/en/now?momentum.beta=0.5")
    assert site.get("/en/before").headers["location"] == "/en/now"


def test_the_foot_names_licence_author_and_where_to_correct(tmp_path: Path) -> None:
    notes = planted(tmp_path / "notes", one_en="# One\n")
    page = Page(garden(notes, author="Ada", repository="https://example.org/edit/").get("/en/one").text)
    foot = page.one("footer", **{"class": "foot"})
    assert "Text: CC BY 4.0 · by Ada" in foot.text
    assert page.one("a", rel="license").attributes["href"] == "https://creativecommons.org/licenses/by/4.0/"
    assert "https://example.org/edit/one.en.md" in list(page.hrefs())
    plain = Page(garden(notes, licence="All mine", licence_url="").get("/en/one").text)
    assert plain.all("a", rel="license") == []
    assert "Text: All mine" in plain.one("footer", **{"class": "foot"}).text
    assert [one for one in plain.all("a") if one.text == "Correct this page"] == []


def test_the_title_of_the_garden_is_in_every_title() -> None:
    site = garden(title="My <garden>")
    assert Page(site.get("/en/").text).one("title").text == "Notes that run what they say · My <garden>"
    assert "<garden>" not in site.get("/en/").text


def test_htmx_comes_from_its_cdn_with_its_hash_or_from_here(site: TestClient) -> None:
    scripts = [one.attributes for one in Page(site.get("/en/").text).all("script")]
    assert scripts[0]["src"] == "https://cdn.jsdelivr.net/npm/htmx.org@4.0.1/dist/htmx.min.js"
    assert (scripts[0]["integrity"] or "").startswith("sha384-")
    assert scripts[0]["crossorigin"] == "anonymous"
    assert all("defer" in one for one in scripts)


def test_a_page_is_a_function_of_content_code_and_parameters(site: TestClient) -> None:
    """No time of day, no time taken."""
    text = site.get(f"/en/{ARTICLE}").text
    assert "elapsed" not in text
    assert re.findall(r"\b\d+(?:\.\d+)? ms\b", re.sub(r"<code>.*?</code>", "", text)) == []
    assert "server-timing" not in site.get(f"/en/{ARTICLE}").headers


# What was measured elsewhere


@pytest.fixture
def doctored(tmp_path: Path) -> Path:
    """The shipped garden, whose record of the float32 sum was changed by a host that counts otherwise."""
    content = tmp_path / "content"
    shutil.copytree(CONTENT, content)
    told = json.loads((content / "measured.json").read_text(encoding="utf-8"))
    for record in told["records"]:
        if record["params"]["dtype"] == "float32":
            record["processor"] = "Abacus 9"
            record["versions"] = {"python": "3.0.0", "torch": "0.0.1"}  # as an older record, without its platform
            record["result"]["algorithms"][0]["ulps_off"] = -28.0
            record["result"]["algorithms"][6]["value"] = 1234.5
    (content / "measured.json").write_text(json.dumps(told), encoding="utf-8")
    return content


def test_what_is_on_record_is_shown_first_with_where_it_was_measured(doctored: Path) -> None:
    site = garden(doctored)  # no workers: nothing else could be shown
    page = Page(site.get(f"/en/{ARTICLE}").text)
    told = page.field("accumulation-provenance").text
    assert "Abacus 9" in told
    assert "torch 0.0.1" in told
    assert "1234.5" in page.field("accumulation-rows").text.replace(",", "")
    told = site.get("/api/widgets/accumulation?dtype=float32").json()
    assert told["result"]["algorithms"][6]["value"] == 1234.5
    assert told["provenance"] == {
        "python": "3.0.0",
        "torch": "0.0.1",
        "platform": "Abacus 9",
        "elapsed_ms": None,
        "version": __version__,
    }


def test_a_number_on_record_that_differs_from_the_text_shows_both(doctored: Path) -> None:
    page = Page(garden(doctored).get(f"/en/{ARTICLE}").text)
    (number,) = [one for one in page.all("a") if one.attributes.get("class") == "ran differs"]
    assert number.text.startswith("−27")
    assert "−28 here" in number.text


def test_a_number_that_comes_out_otherwise_here_shows_both(tmp_path: Path) -> None:
    """The text says what the record says; the workers find out that this machine disagrees."""
    content = tmp_path / "content"
    note = "# Sum\n\nIt is [12]{ran=accumulation n=10 shuffles=0 read=algorithms.0.value} there.\n"
    planted(content, sum_en=note)
    elsewhere = {
        "reference": 12.0,
        "algorithms": [{"name": "left_to_right", "value": 12.0, "ulps_off": 0.0}],
        "orders": None,
    }
    update(check(content, "en"), lambda experiment, params: elsewhere)
    with garden(content) as site:
        first = Page(site.get("/en/sum").text).one("a", data_ran="accumulation")
        deadline = time.monotonic() + 60
        while (second := Page(site.get("/en/sum").text).one("a", data_ran="accumulation")).attributes["class"] == "ran":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert first.text.startswith("12")
        assert second.attributes["class"] == "ran differs"
        assert second.text.startswith("12")
        assert "here" in second.text


def test_the_home_of_a_large_garden_lists_some_of_each_stage_and_leads_to_all(tmp_path: Path) -> None:
    client = garden(planted(tmp_path / "notes", **{f"n{n:03}_en": f"# Note {n}\n\nText.\n" for n in range(103)}))
    page = Page(client.get("/en/").text)
    assert len(page.all("li", **{"class": "entry"})) == 100
    assert [one.text for one in page.all("a", href="/en/?growth=seedling")] == ["and 3 more"]
    every = Page(client.get("/en/?growth=seedling").text)
    assert len(every.all("li", **{"class": "entry"})) == 103
    assert every.all("a", href="/en/?growth=seedling") == []
    assert len(Page(client.get("/en/?growth=x").text).all("li", **{"class": "entry"})) == 100
