"""The concepts and the network of a garden, asked for by address."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.visits import Page, garden, planted

CONCEPTS = "".join(
    f"{id}:\n  label: {{en: {id}, zh: {zh}}}\n  meaning: {{en: About {id}., zh: 关于{zh}。}}\n"
    for id, zh in (("flow", "流动"), ("rest", "静止"))
)
NOTES = {
    "heat_en": "---\ngrowth: budding\ntags: [Warm]\n---\n# Heat\n\nIt [flows]{concept=flow}. See [[cold]].\n",
    "heat_zh": "# 热\n\n它流动。\n",
    "cold_en": "# Cold\n\nAll is at rest.\n",
    "only_zh": "# 独有\n\n[静止]{concept=rest}。\n",
    "hidden_en": "---\ndraft: true\ntags: [quetzal]\n---\n# Quetzal\n\n[flows]{concept=flow} [[heat]]\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    folder = planted(tmp_path_factory.mktemp("concepts"), **NOTES)
    (folder / "concepts.yaml").write_text(CONCEPTS, encoding="utf-8")
    return garden(folder)


def drawn(site: TestClient, address: str, status: int = 200) -> Page:
    for _ in range(50):
        answer = site.get(address)
        assert answer.status_code == status
        if "http-equiv" not in answer.text:
            page = Page(answer.text)
            assert page.wrong == []
            return page
        assert answer.headers["cache-control"] == "no-store"
    raise AssertionError("the picture never came")


def nodes(page: Page) -> set[str]:
    return {one.attributes["data-node"] or "" for one in page.all("a") if "data-node" in one.attributes}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "note:heat note:cold note:only concept:flow concept:rest"),
        ("?kind=note", "note:heat note:cold note:only"),
        ("?growth=budding", "note:heat concept:flow"),
        ("?tag=WARM", "note:heat concept:flow"),
        ("?lang=zh&kind=note", "note:heat note:only"),
        ("?around=note:cold", "note:cold note:heat concept:rest"),
        ("?around=concept:rest", "concept:rest note:cold note:only"),
        ("?utm_source=x", "note:heat note:cold note:only concept:flow concept:rest"),
    ],
)
def test_the_network_shows_what_the_address_asks_for(site: TestClient, query: str, expected: str) -> None:
    page = drawn(site, f"/en/concepts{query}")
    assert nodes(page) == set(expected.split())
    listed = {one.attributes["data-entry"] for one in page.all("div") if "data-entry" in one.attributes}
    assert listed == nodes(page)


def test_filters_are_links_that_keep_what_was_chosen(site: TestClient) -> None:
    page = drawn(site, "/en/concepts?growth=budding&kind=note")
    (filters,) = page.all("nav", **{"class": "filters"})
    assert "Kind: all notes concepts" in " ".join(filters.text.split())
    assert page.all("a", href="/en/concepts?growth=budding#network")
    assert page.all("a", href="/en/concepts?kind=note&growth=budding&lang=zh#network")
    current = [one.text for one in page.all("a") if one.attributes.get("aria-current") == "true"]
    assert {"notes", "Budding"} <= set(current)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("?kind=tree", "kind"),
        ("?growth=old", "growth"),
        ("?around=note:nothing", "around"),
        ("?around=hidden", "around"),
    ],
)
def test_what_cannot_be_asked_is_explained_on_the_whole_page(site: TestClient, query: str, named: str) -> None:
    page = drawn(site, f"/en/concepts{query}", 422)
    assert named in page.one("div", **{"class": "problems"}).text
    assert nodes(page)


def test_nothing_like_what_was_asked_is_said(site: TestClient) -> None:
    assert "Nothing in the garden is like this." in drawn(site, "/en/concepts?growth=evergreen").source
    assert "花园里没有这样的笔记或概念。" in drawn(site, "/zh/concepts?tag=nothing").source


def test_a_note_that_is_only_in_the_other_language_says_so(site: TestClient) -> None:
    page = drawn(site, "/en/concepts")
    (only,) = [one for one in page.all("a") if one.attributes.get("data-node") == "note:only"]
    assert (only.attributes["lang"], only.attributes["aria-label"]) == ("zh-Hans", "独有 · 中文")
    assert only.text.strip() == "独有 · 中"
    (entry,) = [one for one in page.all("div") if one.attributes.get("data-entry") == "note:only"]
    assert entry.text.split() == ["独有", "中文rest"]
    (own,) = [one for one in drawn(site, "/zh/concepts").all("a") if one.attributes.get("data-node") == "note:only"]
    assert own.text.strip() == "独有"


def test_the_legend_says_what_is_drawn_and_nothing_else(site: TestClient) -> None:
    def legend(address: str) -> str:
        return " ".join(drawn(site, address).one("ul", **{"class": "legend"}).text.split())

    whole = "the note marks the concept the note only names it one note links to the other"
    assert legend("/en/concepts") == f"Seedling Budding concepts {whole}"
    assert legend("/en/concepts?kind=note") == "Seedling Budding one note links to the other"
    assert legend("/zh/concepts?tag=warm") == "幼苗 概念 笔记标记了这个概念"  # of the Chinese text
    assert not drawn(site, "/en/concepts?kind=concept").all("ul", **{"class": "legend"})  # no note speaks of both
    switches = [one.attributes["value"] for one in drawn(site, "/en/concepts?kind=note").all("input", type="checkbox")]
    assert switches == ["note", "links"]


def test_a_concept_leads_to_the_network_around_it_and_counts_its_notes(site: TestClient) -> None:
    assert drawn(site, "/en/concepts/rest").all("a", href="/en/concepts?around=concept%3Arest#network")
    glossary = " ".join(drawn(site, "/zh/concepts").one("dl", **{"class": "glossary"}).text.split())
    assert "流动 关于流动。 · 1 篇笔记" in glossary


def test_a_concept_of_many_notes_shows_the_sentences_of_some(tmp_path: Path) -> None:
    folder = planted(tmp_path / "notes", **{f"n{n:03}_en": f"# Note {n}\n\nA flow of {n}.\n" for n in range(70)})
    (folder / "concepts.yaml").write_text(CONCEPTS, encoding="utf-8")
    page = drawn(garden(folder), "/en/concepts/flow")
    assert len(page.all("q")) == 60
    assert all(page.all("a", href=f"/en/n{n:03}") for n in range(60, 70))


def test_a_draft_leaves_no_trace(site: TestClient) -> None:
    """It has a title and a tag of its own, a concept, and a link to a note that everybody sees."""
    for address in ("/en/concepts", "/en/concepts?around=note:heat", "/en/concepts?kind=note", "/en/concepts/flow"):
        assert "uetzal" not in drawn(site, address).source
    assert nodes(drawn(site, "/en/concepts?tag=quetzal")) == set()
    drawn(site, "/en/concepts?around=note:hidden", 422)
