"""Feeds, the map, robots, the list for language models, tags, metadata, citations and cards, with values by hand."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from app.web.feeds import card_of
from tests.conftest import Reader
from tests.web.visits import ARTICLE, Page, garden, planted

ATOM = "{http://www.w3.org/2005/Atom}"
MAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
LINK = "{http://www.w3.org/1999/xhtml}link"
HOME = "https://garden.example"
CANARY = "quetzal"
HEAT = "\n".join(
    (
        "---",
        'title: "Heat & <light>]"',
        "summary: What “warm” means.",
        "growth: budding",
        "planted: 2025-02-03",
        "tended: 2026-04-05",
        "tags: [Heat Flow, heat-flow, a/b]",
        "---",
        "",
        "Text.",
    )
)
MACHINES = (
    "/en/atom.xml",
    "/zh/atom.xml",
    "/sitemap.xml",
    "/robots.txt",
    "/llms.txt",
    "/cards/en/heat.svg",
    "/cards/zh/heat.svg",
    "/en/tags/heat-flow",
    "/en/heat",
    "/zh/heat",
)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    notes = {
        "heat_en": HEAT,
        "heat_zh": "---\ntitle: 热\nplanted: 2025-03-01\ntags: [热, heat flow]\n---\n\n正文。",
        "later_en": "---\ntitle: Later\nplanted: 2026-05-06\ntags: [热学]\n---\n\nText.",
        "undated_en": "---\ntitle: Undated\n---\n\nText.",
        "hidden_en": f"---\ntitle: {CANARY}\ndraft: true\ntended: 2026-09-09\ntags: [{CANARY}]\n---\n\n{CANARY}",
    }
    folder = planted(tmp_path_factory.mktemp("feeds"), **notes)
    (folder / "冷 水.zh.md").write_text("---\ntitle: 冷水\n---\n\n正文。", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def feeds(content: Path) -> Iterator[TestClient]:
    with garden(content, base_url=f"{HOME}/", author="Ada {L}") as client:
        yield client


def tree(client: TestClient, address: str) -> ElementTree.Element:
    return ElementTree.fromstring(client.get(address).text)


# Atom


def test_a_feed_has_all_that_atom_requires(feeds: TestClient) -> None:
    assert feeds.get("/en/atom.xml").headers["content-type"] == "application/atom+xml; charset=utf-8"
    feed = tree(feeds, "/en/atom.xml")
    assert feed.tag == f"{ATOM}feed"
    assert feed.findtext(f"{ATOM}id") == f"{HOME}/en/atom.xml"
    assert feed.findtext(f"{ATOM}title") == "Perennial"
    assert feed.findtext(f"{ATOM}updated") == "2026-05-06T00:00:00Z"
    assert feed.findtext(f"{ATOM}author/{ATOM}name") == "Ada {L}"
    links = [(link.get("rel"), link.get("href")) for link in feed.findall(f"{ATOM}link")]
    assert links[:2] == [("self", f"{HOME}/en/atom.xml"), ("alternate", f"{HOME}/en/")]
    later, heat = feed.findall(f"{ATOM}entry")
    assert [later.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated", "summary")] == [
        f"{HOME}/en/later", "Later", "2026-05-06T00:00:00Z", "Text.",
    ]  # fmt: skip
    assert [heat.findtext(f"{ATOM}{name}") for name in ("title", "published", "updated", "summary")] == [
        "Heat & <light>]", "2025-02-03T00:00:00Z", "2026-04-05T00:00:00Z", "What “warm” means.",
    ]  # fmt: skip
    link = heat.find(f"{ATOM}link[@rel='alternate'][@type='text/html']")
    assert link is not None and link.get("href") == f"{HOME}/en/heat"


def test_each_language_has_a_feed_of_its_own(feeds: TestClient) -> None:
    feed = tree(feeds, "/zh/atom.xml")
    assert feed.get("{http://www.w3.org/XML/1998/namespace}lang") == "zh-Hans"
    assert [one.text for one in feed.findall(f"{ATOM}entry/{ATOM}title")] == ["热"]


def test_a_feed_without_a_dated_note_is_still_a_feed(tmp_path: Path) -> None:
    feed = tree(garden(planted(tmp_path / "c", one_en="# One\n\nText.")), "/en/atom.xml")
    assert feed.findall(f"{ATOM}entry") == []
    assert feed.findtext(f"{ATOM}updated") == "1970-01-01T00:00:00Z"


def test_a_feed_ends_after_a_hundred_notes(tmp_path: Path) -> None:
    notes = {f"n{at:03}_en": f"---\nplanted: {2000 + at // 12}-{at % 12 + 1:02}-01\n---\n\nText." for at in range(103)}
    feed = tree(garden(planted(tmp_path / "c", **notes)), "/en/atom.xml")
    ids = [one.text for one in feed.findall(f"{ATOM}entry/{ATOM}id")]
    assert (len(ids), ids[0], ids[-1]) == (100, "http://testserver/en/n102", "http://testserver/en/n003")


def test_characters_that_xml_cannot_write_are_left_out(tmp_path: Path) -> None:
    site = garden(planted(tmp_path / "c", one_en="---\nplanted: 2025-01-01\n---\n# One\x0c\x1b[31m two\n\nText."))
    for address in ("/en/atom.xml", "/cards/en/one.svg", "/sitemap.xml"):
        tree(site, address)


# Sitemap, robots, llms.txt


def test_the_map_holds_every_page_and_languages_point_at_each_other(feeds: TestClient) -> None:
    found = {url.findtext(f"{MAP}loc"): url for url in tree(feeds, "/sitemap.xml")}
    wanted = {"heat", "later", "undated", "", "widgets/", "concepts", "widgets/momentum", "widgets/agreement"}
    assert {f"{HOME}/en/{rest}" for rest in wanted} <= set(found)
    assert f"{HOME}/zh/%E5%86%B7%20%E6%B0%B4" in found
    tag = found[f"{HOME}/en/tags/Heat%20Flow"]
    assert {link.get("href") for link in tag.findall(LINK)} == {
        f"{HOME}/en/tags/Heat%20Flow",
        f"{HOME}/zh/tags/heat%20flow",
    }
    assert not found[f"{HOME}/zh/tags/%E7%83%AD"].findall(LINK)
    twins = {loc: {(one.get("hreflang"), one.get("href")) for one in url.iter(LINK)} for loc, url in found.items()}
    assert twins[f"{HOME}/en/heat"] == {("en", f"{HOME}/en/heat"), ("zh", f"{HOME}/zh/heat")}
    assert twins[f"{HOME}/en/later"] == set()
    assert all(twins[href] == links for links in twins.values() for _, href in links if href)
    days = {loc: url.findtext(f"{MAP}lastmod") for loc, url in found.items()}
    assert days[f"{HOME}/en/heat"] == "2026-04-05"
    assert days[f"{HOME}/en/undated"] is None


def test_every_address_on_the_map_is_there_and_calls_itself_so(site: TestClient) -> None:
    for url in tree(site, "/sitemap.xml"):
        loc = url.findtext(f"{MAP}loc") or ""
        page = Page(site.get(loc).text)
        assert page.one("link", rel="canonical").attributes["href"] == loc
        named = {(one.attributes["hreflang"], one.attributes["href"]) for one in page.all("link", rel="alternate")
                 if "hreflang" in one.attributes}  # fmt: skip
        assert named == {(one.get("hreflang"), one.get("href")) for one in url.iter(LINK)}


def test_crawlers_are_kept_from_what_is_for_programs(feeds: TestClient) -> None:
    lines = feeds.get("/robots.txt").text.splitlines()
    assert lines[:4] == ["User-agent: *", "Disallow: /api/", "Disallow: /embed/", "Allow: /"]
    assert lines[-1] == f"Sitemap: {HOME}/sitemap.xml"


def test_a_language_model_is_told_where_the_sources_are(feeds: TestClient) -> None:
    text = feeds.get("/llms.txt").text
    assert text.startswith("# Perennial\n\n> A garden about")
    assert f"- [Heat & <light>\\]]({HOME}/en/heat.md): What “warm” means.\n" in text
    assert f"- [冷水]({HOME}/zh/%E5%86%B7%20%E6%B0%B4.md): 正文。\n" in text
    assert f"({HOME}/api/widgets/momentum)" in text
    assert feeds.get("/zh/%E5%86%B7%20%E6%B0%B4.md").status_code == 200


# Tags


def test_a_tag_leads_to_its_notes_in_any_spelling(feeds: TestClient) -> None:
    for spelled in ("Heat%20Flow", "heat-flow", "HEAT%20FLOW"):
        page = Page(feeds.get(f"/en/tags/{spelled}").text)
        assert page.one("h1").text == "Tagged: Heat Flow"
        assert [one.text for one in page.all("h3")] == ["Heat & <light>]"]
        assert page.one("link", rel="canonical").attributes["href"] == f"{HOME}/en/tags/Heat%20Flow"
        assert page.one("link", hreflang="zh").attributes["href"] == f"{HOME}/zh/tags/heat%20flow"
    assert feeds.get("/zh/tags/%E7%83%AD").status_code == 200
    assert feeds.get("/en/tags/a%2Fb").status_code == 200


def test_a_tag_that_no_note_has_is_not_there(feeds: TestClient) -> None:
    for address in ("/en/tags/cold", "/en/tags/", "/en/tags", "/en/tags/%E7%83%AD", f"/en/tags/{CANARY}"):
        assert feeds.get(address).status_code == 404
    page = Page(feeds.get("/en/tags/a%2Fb").text)
    assert [one for one in page.all("link", rel="alternate") if "hreflang" in one.attributes] == []
    assert page.one("a", data_language="zh").attributes["href"] == "/zh/"


def test_a_note_names_each_of_its_tags_once(feeds: TestClient) -> None:
    links = Page(feeds.get("/en/heat").text).all("a", rel="tag")
    assert [(one.text, one.attributes["href"]) for one in links] == [
        ("#Heat Flow", "/en/tags/Heat%20Flow"),
        ("#a/b", "/en/tags/a%2Fb"),
    ]


# Metadata and citations


def meta(page: Page) -> dict[str, str]:
    named = [one.attributes for one in page.all("meta")]
    return {name: one["content"] or "" for one in named if (name := one.get("property") or one.get("name"))}


def test_a_note_says_what_it_is_to_those_who_share_and_cite_it(feeds: TestClient) -> None:
    page = Page(feeds.get("/en/heat?x=1").text)
    said = {name: text for name, text in meta(page).items() if name.startswith(("og:", "citation_", "article:"))}
    assert said == {
        "og:title": "Heat & <light>]",
        "og:description": "What “warm” means.",
        "og:type": "article",
        "og:url": f"{HOME}/en/heat",
        "og:site_name": "Perennial",
        "og:locale": "en_US",
        "og:locale:alternate": "zh_CN",
        "og:image": f"{HOME}/cards/en/heat.svg",
        "og:image:type": "image/svg+xml",
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": "Heat & <light>]",
        "article:published_time": "2025-02-03",
        "article:modified_time": "2026-04-05",
        "citation_title": "Heat & <light>]",
        "citation_author": "Ada {L}",
        "citation_publication_date": "2025/02/03",
        "citation_language": "en",
        "citation_public_url": f"{HOME}/en/heat",
    }
    assert page.one("link", type="application/atom+xml").attributes["href"] == "/en/atom.xml"
    data = json.loads(page.one("script", type="application/ld+json").text)
    assert (data["@type"], data["headline"], data["inLanguage"]) == ("Article", "Heat & <light>]", "en")
    assert (data["datePublished"], data["dateModified"]) == ("2025-02-03", "2026-04-05")
    assert data["author"] == {"@type": "Person", "name": "Ada {L}"}
    assert data["workTranslation"] == {"@id": f"{HOME}/zh/heat"}


def test_what_is_not_known_is_left_out(content: Path) -> None:
    page = Page(garden(content).get("/en/undated").text)
    absent = {"citation_author", "citation_publication_date", "article:published_time", "article:modified_time"}
    assert not (absent | {"og:locale:alternate"}) & set(meta(page))
    data = json.loads(page.one("script", type="application/ld+json").text)
    assert not {"author", "datePublished", "dateModified", "workTranslation"} & set(data)
    assert page.one("pre").text == (
        "@misc{undated-en,\n  title = {{Undated}},\n  howpublished = {Perennial},\n"
        "  url = {http://testserver/en/undated},\n  language = {english}\n}"
    )


def test_a_page_that_is_no_note_is_a_part_of_the_site(site: TestClient) -> None:
    said = meta(Page(site.get("/zh/").text))
    assert (said["og:type"], said["og:locale"], said["og:locale:alternate"]) == ("website", "zh_CN", "en_US")
    assert [name for name in meta(Page(site.get("/en/nowhere").text)) if name.startswith("og:")] == []


def test_a_title_cannot_end_the_data_in_the_head(tmp_path: Path) -> None:
    title = "A</script><script>alert(1)</script><!--"
    page = Page(garden(planted(tmp_path / "c", one_en=f"---\ntitle: '{title}'\n---\n\nText.")).get("/en/one").text)
    assert json.loads(page.one("script", type="application/ld+json").text)["headline"] == title
    assert len(page.all("script")) == 3


def test_a_note_can_be_cited_in_both_languages(feeds: TestClient) -> None:
    english, chinese = Page(feeds.get("/en/heat").text), Page(feeds.get("/zh/heat").text)
    line = f"Ada {{L}}. “Heat & <light>].” Perennial, 2025-02-03. {HOME}/en/heat"
    assert [one.text for one in english.all("p") if "details" in one.inside and "footer" in one.inside] == [line]
    line = f"Ada {{L}}：《热》，Perennial，2025-03-01。{HOME}/zh/heat"
    assert [one.text for one in chinese.all("p") if "details" in one.inside and "footer" in one.inside] == [line]
    assert english.one("pre").text == (
        "@misc{heat-en,\n  title = {{Heat \\& <light>]}},\n  author = {{Ada \\{L\\}}},\n  howpublished = {Perennial},\n"
        f"  year = {{2025}},\n  month = {{2}},\n  url = {{{HOME}/en/heat}},\n  language = {{english}}\n}}"
    )


def test_a_browser_takes_the_data_in_the_head(article: str, reader: Callable[..., Reader]) -> None:
    one = reader()
    page = one.open(f"{article}/zh/{ARTICLE}")
    read = "JSON.parse(document.querySelector('script[type=\"application/ld+json\"]').textContent).headline"
    assert page.evaluate(read) == "训练结果为何会变：精度、数据顺序与恢复语义"
    assert [line for line in one.said if "Content Security" in line or "Content-Security" in line] == []


# Cards


def test_a_card_is_a_drawing_with_the_title(feeds: TestClient) -> None:
    svg = tree(feeds, "/cards/en/heat.svg")
    assert (svg.get("width"), svg.get("height")) == ("1200", "630")
    said = [one.text for one in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert said == ["Perennial", "Budding", "tended 2026-04-05", "Heat & <light>]"]
    assert feeds.get("/cards/en/nothing.svg").status_code == 404
    assert feeds.get("/cards/zh/%E5%86%B7%20%E6%B0%B4.svg").status_code == 200


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("热", ["热"]),
        ("训练结果为何会变：精度、数据顺序与恢复语义", ["训练结果为何会变：", "精度、数据顺序与恢复语义"]),
        ("One two three " * 60, None),
        ("没有记录每一个随机种子、分片与内核，" * 20, None),
        ("W" * 400, None),
    ],
)
def test_a_title_of_any_length_stays_on_its_card(title: str, lines: list[str] | None) -> None:
    card = card_of(title, "Garden " * 60)
    assert [line.words for line in card.lines] == lines or lines is None
    assert all(line.long <= 1040 for line in card.lines)
    assert card.garden.long <= 976
    assert card.lines[0].y - card.size > 120
    assert card.lines[-1].y + 0.3 * card.size < 520
    assert card.lines[-1].words.endswith("…") == (lines is None)


def test_a_title_of_many_words_is_written_smaller_before_any_is_lost() -> None:
    title = "Why the same program with the same seed on the same machine gives two results " * 2
    card = card_of(title, "Perennial")
    assert " ".join(line.words for line in card.lines) == title.strip()
    assert card.size < card_of("Why", "Perennial").size == 84


# All of them


@pytest.mark.parametrize("address", MACHINES)
def test_no_draft_is_told_of(feeds: TestClient, address: str) -> None:
    assert feeds.get(address).status_code == 200
    assert CANARY not in feeds.get(address).text


def test_a_draft_has_no_card(feeds: TestClient) -> None:
    assert feeds.get("/cards/en/hidden.svg").status_code == 404


@pytest.mark.parametrize("address", MACHINES)
def test_what_machines_read_is_kept_by_host_and_answers_head(feeds: TestClient, address: str) -> None:
    shown, told = feeds.get(address), feeds.head(address)
    assert (told.status_code, told.content, dict(told.headers)) == (200, b"", dict(shown.headers))
    assert feeds.get(address, headers={"If-None-Match": shown.headers["etag"]}).status_code == 304


def test_without_a_base_address_each_host_reads_its_own(content: Path) -> None:
    site = garden(content)
    for host in ("one.example", "two.example", "one.example"):
        for address in ("/en/atom.xml", "/sitemap.xml", "/robots.txt", "/llms.txt"):
            assert f"http://{host}/" in site.get(address, headers={"Host": host}).text
