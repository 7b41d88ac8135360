"""The gallery, a widget alone and embedded, its fragment, its downloads, its states in addresses."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from tests.web.visits import ARTICLE, NAMES, Page, garden, planted

NOTE = """# Two of a kind

```widget momentum
restore: weights
beta: 0.8
```

Between: [0.6140000000000001]{ran=momentum resumed_target=2 beta=0.9 restore=full read=resumed.1.w}

```widget momentum
as: second
beta: 0.5
```
"""
HOST = "# Host\n\n![[two]]\n\n```widget momentum\n```\n"
WRONG = "beta=1.5&lr=x"


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """A note with two widgets of one kind, and one that shows it whole; in both languages."""
    notes = {f"{name}_{language}": text for name, text in (("two", NOTE), ("host", HOST)) for language in ("en", "zh")}
    return garden(planted(tmp_path_factory.mktemp("two"), **notes))


def asked(href: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(href).query, keep_blank_values=True))


def state(page: Page, id: str) -> str | None:
    (section,) = [one for one in page.elements if one.attributes.get("id") == f"{id}-result"]
    at = page.elements.index(section)
    return next(one for one in page.elements[at:] if one.attributes.get("class") == "headline").attributes["data-state"]


def preset(page: Page, embed: str, words: str) -> str:
    return next(
        one.attributes["href"] or ""
        for one in page.all("a")
        if one.text == words and (one.attributes["href"] or "").endswith(f"#{embed}")
    )


# Pages


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_gallery_shows_every_experiment_and_where_it_is_used(site: TestClient, language: str) -> None:
    page = Page(site.get(f"/{language}/widgets/").text)
    hrefs = list(page.hrefs())
    assert all(f"/{language}/widgets/{name}" in hrefs for name in NAMES)
    assert all(f"/{language}/{ARTICLE}#{name}" in hrefs for name in NAMES)
    assert len(page.all("svg", role="img")) == len(NAMES)


@pytest.mark.parametrize(("path", "target"), [("/en", "/en/"), ("/zh/widgets", "/zh/widgets/")])
def test_an_address_without_its_slash_leads_on(site: TestClient, path: str, target: str) -> None:
    answer = site.get(path)
    assert (answer.status_code, answer.headers["location"]) == (308, target)


@pytest.mark.parametrize("name", NAMES)
def test_a_widget_alone_shows_the_code_that_ran(site: TestClient, name: str) -> None:
    page = Page(site.get(f"/en/widgets/{name}").text)
    code = "".join(text for text, around in page.texts if "pre" in [one.tag for one in around])
    assert f"def {name}(" in code
    assert [one.text for one in page.all("h1")] == [one.text for one in page.all("h1", id=f"{name}-title")]


def test_the_address_of_a_widget_is_its_state(site: TestClient) -> None:
    page = Page(site.get("/en/widgets/momentum?restore=weights&beta=0.5&lr=0.10").text)
    assert (page.value("momentum-beta"), page.value("momentum-lr")) == ("0.5", "0.1")
    assert state(page, "momentum") == "beta=0.5&restore=weights"  # lr 0.10 is the default
    assert [one.attributes["value"] for one in page.all("option") if "selected" in one.attributes] == ["weights"]


def test_the_language_switch_keeps_the_query(site: TestClient) -> None:
    for address in ("widgets/momentum?beta=0.5&x=%26", f"{ARTICLE}?momentum.beta=0.5&moved.lr=0.2"):
        switch = Page(site.get(f"/en/{address}").text).one("a", data_language="zh")
        assert switch.attributes["href"] == f"/zh/{address}"
        assert site.get(f"/zh/{address}").status_code == 200


def test_a_tail_without_a_dot_is_ignored_on_pages(site: TestClient) -> None:
    for address in (
        "/en/widgets/momentum",
        f"/en/{ARTICLE}",
        "/embed/en/widgets/momentum",
        "/en/",
        "/en/concepts",
        "/en/widgets/",
    ):
        answer = site.get(f"{address}?utm_source=news&x")
        assert answer.status_code == 200
        assert "news" not in re.sub(r'href="[^"]*"', "", answer.text)


@pytest.mark.parametrize("name", ["momentum.beat", "nothing.beta", "momentum.", ".beta"])
def test_a_name_with_a_dot_that_means_nothing_is_a_problem_on_a_page(site: TestClient, name: str) -> None:
    answer = site.get(f"/en/{ARTICLE}?{name}=0.5")
    assert answer.status_code == 422
    assert Page(answer.text).wrong == []
    assert site.get(f"/en/widgets/momentum?{name}=0.5").status_code == 422


@pytest.mark.parametrize("name", ["nothing", "Momentum", "momentum.exe"])
@pytest.mark.parametrize(
    "form", ["/en/widgets/{}", "/zh/widgets/{}/result", "/en/widgets/{}.csv", "/embed/en/widgets/{}"]
)
def test_an_experiment_that_is_not_there_is_not_found(site: TestClient, name: str, form: str) -> None:
    assert site.get(form.format(name)).status_code == 404


@pytest.mark.parametrize(
    ("address", "field", "result"),
    [
        ("/{}/widgets/momentum?" + WRONG, "momentum-beta", "0.514"),
        ("/embed/{}/widgets/momentum?" + WRONG, "momentum-beta", "0.514"),
        (f"/{{}}/{ARTICLE}?momentum.beta=1.5&momentum.lr=x", "momentum-beta", "0.352"),
    ],
)
@pytest.mark.parametrize(
    ("language", "words"), [("en", "must be at least 0 and below 1"), ("zh", "必须不小于 0，且小于 1")]
)
def test_a_wrong_value_is_explained_on_the_whole_page_above_the_result_as_it_was(
    site: TestClient, address: str, field: str, result: str, language: str, words: str
) -> None:
    answer = site.get(address.format(language))
    assert answer.status_code == 422
    page = Page(answer.text)
    assert page.wrong == []
    assert page.value(field) == "1.5"
    assert page.value("momentum-lr") == "x"
    invalid = [one.attributes["id"] for one in page.elements if one.attributes.get("aria-invalid") == "true"]
    assert sorted(invalid) == ["momentum-beta", "momentum-lr"]
    told = page.field("momentum-problems").text
    assert words in told
    assert ("is not a number" if language == "en" else "不是数") in told
    base = site.get(address.format(language).partition("?")[0])
    assert re.findall(r'class="[ab]" d="[^"]+"', base.text) == re.findall(r'class="[ab]" d="[^"]+"', answer.text)
    assert result in page.field("momentum-rows").text


def test_what_was_typed_is_never_markup(site: TestClient) -> None:
    typed = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
    for address in (
        f"/en/widgets/momentum?beta={typed}",
        f"/en/{ARTICLE}?momentum.beta={typed}",
        f"/en/{ARTICLE}?{typed}.x=1",
        f"/en/{typed}",
        f"/en/widgets/momentum/result?beta={typed}",
        f"/en/widgets/momentum?x={typed}",
        f"/en/{ARTICLE}?moved.lr={typed}",
    ):
        assert "<script>alert" not in site.get(address).text


def test_the_widget_for_an_iframe_has_no_bar_and_leads_to_itself(site: TestClient) -> None:
    page = Page(site.get("/embed/zh/widgets/momentum?beta=0.5").text)
    assert page.all("header", **{"class": "bar"}) == []
    assert page.all("footer", **{"class": "foot"}) == []
    (form,) = [one for one in page.all("form") if one.attributes["method"] == "get"]
    assert form.attributes["action"] == "/embed/zh/widgets/momentum"
    assert page.one("meta", name="robots").attributes["content"] == "noindex"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_run_that_does_not_settle_is_drawn_and_explained(site: TestClient, language: str) -> None:
    answer = site.get(f"/{language}/widgets/momentum?lr=2&beta=0.99&steps=60")
    assert answer.status_code == 200
    assert "138" in Page(answer.text).one("p", **{"class": "headline"}).text  # steps: √0.99 a step, to one half
    assert len(re.findall(r'<path class="[ab]" d="M', answer.text)) >= 4


# States in addresses


def test_what_equals_the_block_of_the_embed_is_left_out(two: TestClient) -> None:
    page = Page(two.get("/en/two?momentum.beta=0.8&momentum.restore=weights&second.beta=0.9&second.lr=0.1").text)
    assert state(page, "momentum") == ""
    assert state(page, "second") == "second.beta=0.9"


def test_the_default_is_a_state_where_the_block_says_otherwise(two: TestClient) -> None:
    page = Page(two.get("/en/two?momentum.beta=0.9&momentum.restore=full").text)
    assert state(page, "momentum") == "momentum.beta=0.9&momentum.restore=full"


def test_two_widgets_of_one_kind_keep_their_own_states(two: TestClient) -> None:
    page = Page(two.get("/zh/two?momentum.lr=0.2&second.lr=0.3").text)
    assert (page.value("momentum-lr"), page.value("second-lr")) == ("0.2", "0.3")
    assert (page.value("momentum-beta"), page.value("second-beta")) == ("0.8", "0.5")


def test_the_plain_form_of_one_carries_the_state_of_the_other(two: TestClient) -> None:
    page = Page(two.get("/en/two?momentum.lr=0.2&second.lr=0.3").text)
    first, second = (one for one in page.all("form", method="get") if "hx-get" in one.attributes)
    assert (first.attributes["action"], second.attributes["action"]) == ("/en/two#momentum", "/en/two#second")
    hidden = [(one.attributes["name"], one.attributes["value"]) for one in page.all("input", type="hidden")]
    assert hidden == [("second.lr", "0.3"), ("momentum.lr", "0.2")]
    assert page.field("second-beta").attributes["name"] == "second.beta"


def test_a_preset_keeps_the_states_of_the_other_embeds(two: TestClient) -> None:
    page = Page(two.get("/en/two?momentum.lr=0.2&second.lr=0.3").text)
    assert asked(preset(page, "momentum", "target moved to 2")) == {
        "second.lr": "0.3",
        "momentum.beta": "0.9",
        "momentum.restore": "full",
        "momentum.resumed_target": "2",
    }
    assert asked(preset(page, "second", "momentum lost")) == {
        "momentum.lr": "0.2",
        "second.beta": "0.9",
        "second.restore": "weights",
    }


def test_a_ran_number_keeps_the_states_of_the_other_embeds(two: TestClient) -> None:
    page = Page(two.get("/en/two?momentum.lr=0.2&second.lr=0.3").text)
    href = page.one("a", **{"class": "ran"}).attributes["href"] or ""
    assert asked(href) == {
        "second.lr": "0.3",
        "momentum.beta": "0.9",
        "momentum.restore": "full",
        "momentum.resumed_target": "2",
    }
    assert href.startswith("/en/two?")
    assert href.endswith("#momentum")
    assert "0.614" in Page(two.get(href.partition("#")[0]).text).field("momentum-rows").text


def test_the_link_to_a_state_opens_it(two: TestClient) -> None:
    page = Page(two.get("/en/two?momentum.lr=0.2&second.steps=20").text)
    for one in page.all("a", data_permalink=None):  # type: ignore[arg-type]
        href = (one.attributes["href"] or "").partition("#")[0]
        assert asked(href) == {"momentum.lr": "0.2", "second.steps": "20"}


def test_a_note_shown_within_another_brings_its_widgets_with_their_blocks(two: TestClient) -> None:
    page = Page(two.get("/en/host").text)
    forms = [one.attributes["hx-get"] or "" for one in page.all("form") if "hx-get" in one.attributes]
    names = [asked(href)["of"] for href in forms]
    assert names == ["two-momentum", "second", "momentum"]
    for name, href, beta in zip(names, forms, ("0.8", "0.5", "0.9"), strict=True):
        assert page.value(f"{name}-beta") == beta
        fragment = two.get(f"{href}&{name}.lr=0.2")
        assert (fragment.status_code, state(Page(f'<div id="{name}-result">{fragment.text}</div>'), name)) == (
            200,
            f"{name}.lr=0.2",
        )
        assert f"/en/host?{name}.lr=0.2#{name}" in fragment.text
        assert f"beta={beta}" in fragment.text or beta == "0.9"


# Fragments


def test_a_fragment_is_a_fragment_and_a_page_is_a_page(site: TestClient) -> None:
    for headers in ({}, {"HX-Request": "true", "HX-Request-Type": "partial"}):
        assert "<html" not in site.get("/en/widgets/momentum/result", headers=headers).text
        for address in ("/en/", f"/en/{ARTICLE}", "/en/widgets/momentum", "/en/widgets/", "/en/nowhere", "/en/result"):
            assert "<!doctype html>" in site.get(address, headers=headers).text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_fragment_shows_what_the_page_shows(site: TestClient, name: str, language: str) -> None:
    fragment = site.get(f"/{language}/widgets/{name}/result")
    assert Page(fragment.text).wrong == []
    page = site.get(f"/{language}/widgets/{name}").text
    drawn = re.compile(r"<(?:path|rect|circle) [^>]+>")
    assert drawn.findall(fragment.text)
    assert set(drawn.findall(fragment.text)) <= set(drawn.findall(page))


def test_a_fragment_takes_plain_and_prefixed_parameters(site: TestClient) -> None:
    inside = f"of=moved&in={ARTICLE}"
    plain = site.get("/en/widgets/momentum/result?beta=0.5").text
    assert 'data-state="beta=0.5"' in plain
    assert 'data-state="moved.beta=0.5"' in site.get(f"/en/widgets/momentum/result?{inside}&moved.beta=0.5").text
    assert 'data-state=""' in site.get(f"/en/widgets/momentum/result?{inside}&moved.resumed_target=2").text
    assert 'data-state="x.beta=0.5"' in site.get("/en/widgets/momentum/result?of=x&x.beta=0.5").text


@pytest.mark.parametrize(
    "query",
    [
        "beta=1.5",
        "nothing=1",
        f"of=momentum&in={ARTICLE}&momentum.nothing=1",
        f"of=momentum&in={ARTICLE}&nothing=1",
        f"of=summation&in={ARTICLE}",
        f"of=nothing&in={ARTICLE}",
        "of=momentum&in=nothing",
        f"in={ARTICLE}",
        "moved.beta=0.5",
    ],
)
@pytest.mark.parametrize(("language", "words"), [("en", "This cannot be computed"), ("zh", "这组值无法计算")])
def test_a_wrong_fragment_explains_itself_and_says_that_the_result_is_old(
    site: TestClient, query: str, language: str, words: str
) -> None:
    answer = site.get(f"/{language}/widgets/momentum/result?{query}")
    assert answer.status_code == 422
    page = Page(answer.text)
    assert page.wrong == []
    assert page.elements[0].text.startswith(words)
    assert len([one for one in page.elements if one.attributes.get("data-problem")]) == 1
    assert answer.headers["cache-control"] == "no-store"


# Downloads


@pytest.mark.parametrize("name", NAMES)
def test_the_table_is_csv_with_one_heading_for_each_column(site: TestClient, name: str) -> None:
    answer = site.get(f"/zh/widgets/{name}.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.csv"'
    rows = list(csv.reader(io.StringIO(answer.text)))
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(rows[0])}
    assert all(re.fullmatch(r"[a-z_][a-z0-9_]*", heading) for heading in rows[0])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_file_names_what_a_page_says_in_words(site: TestClient, language: str) -> None:
    rows = list(csv.DictReader(io.StringIO(site.get(f"/{language}/widgets/accumulation.csv?n=40").text)))
    assert [row["name"] for row in rows][:3] == ["reference", "left_to_right", "reversed"]
    page = site.get(f"/{language}/widgets/accumulation?n=40").text
    assert {"en": "left to right", "zh": "从左到右"}[language] in page and "left_to_right</td>" not in page


def test_the_table_of_a_run_begins_with_the_step_and_keeps_every_digit(site: TestClient) -> None:
    rows = list(csv.DictReader(io.StringIO(site.get("/en/widgets/momentum.csv?restore=weights").text)))
    assert next(iter(rows[0])) == "step"
    assert [row["step"] for row in rows] == [str(step) for step in range(13)]
    assert (rows[2]["w"], rows[2]["v"], rows[3]["w"]) == ("0.28", "-1.8", "0.514")
    assert (rows[1]["resumed_w"], rows[2]["resumed_v"], rows[3]["resumed_w"]) == ("", "0.0", "0.35200000000000004")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_drawing_stands_alone(site: TestClient, name: str, language: str) -> None:
    answer = site.get(f"/{language}/widgets/{name}.svg")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    root = ElementTree.fromstring(answer.text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root[0].tag.endswith("}title") and root[0].text
    assert {"viewBox", "width", "height"} <= set(root.attrib)
    style = next(one.text or "" for one in root if one.tag.endswith("}style"))
    classes = {f"{one.tag.rpartition('}')[2]}.{one.get('class')}" for one in root.iter() if one.get("class")}
    assert {one for one in classes if one not in style} - {
        f"text.{role}" for role in ("grid", "soft", "axis", "note")
    } == set()
    assert "http" not in answer.text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("name", NAMES)
def test_the_script_names_the_state_it_came_from(site: TestClient, name: str) -> None:
    answer = site.get(f"/en/widgets/{name}.py")
    assert answer.headers["content-type"] == "text/x-python; charset=utf-8"
    assert f"http://testserver/en/widgets/{name}" in answer.text
    assert f"def {name}(" in answer.text
    compile(answer.text, name, "exec")
    assert re.findall(r"^(?:from|import) app", answer.text, re.MULTILINE) == []


def test_the_script_prints_the_numbers_of_the_page(site: TestClient, tmp_path: Path) -> None:
    query = "restore=weights&lr=0.07&beta=0.95"
    script = tmp_path / "momentum.py"
    script.write_text(site.get(f"/en/widgets/momentum.py?{query}").text, encoding="utf-8")
    printed = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == site.get(f"/api/widgets/momentum?{query}").json()["result"]


@pytest.mark.parametrize("ending", ["json", "csv", "svg", "py"])
@pytest.mark.parametrize("query", ["beta=1.5", "nothing=1", "momentum.beta=0.5", "of=momentum"])
def test_a_download_of_a_wrong_state_is_refused(site: TestClient, ending: str, query: str) -> None:
    answer = site.get(f"/en/widgets/momentum.{ending}?{query}")
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("application/json" if ending == "json" else "text/html")


@pytest.mark.parametrize("name", NAMES)
def test_every_download_that_a_widget_offers_is_the_state_it_shows(site: TestClient, name: str) -> None:
    page = Page(site.get(f"/zh/widgets/{name}").text)
    base = site.get(f"/api/widgets/{name}").json()["result"]
    links = [href for href in page.hrefs() if href.startswith(f"/zh/widgets/{name}.")]
    assert [urlsplit(href).path.rpartition(".")[2] for href in links] == ["py", "json", "csv", "svg"]
    assert site.get(links[1]).json()["result"] == base
