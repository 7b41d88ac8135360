"""Search over HTTP: for programs, as a page without scripts, as the fragment that follows the typing."""

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast
from unicodedata import normalize
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.garden.search import Index
from app.main import checked
from app.settings import Settings
from app.web.search import made_once
from tests.web.visits import Page, garden, planted

CONCEPTS = """resume:
  label: { en: resume, zh: 恢复 }
  meaning: { en: to go on, zh: 继续 }
  also: { en: [restart] }
momentum:
  label: { en: momentum, zh: 动量 }
  meaning: { en: what is carried over, zh: 保留的量 }
"""
HEAT = """---
growth: evergreen
tags: [Warm Days, kept]
---
# Heat ﬁrst

A **rest**art in İzmir, $v^2$.

| a | ß |
|---|---|
"""
HEAT_ZH = (
    "---\ngrowth: budding\ntags: [热, kept]\n---\n# 热与１０\n\n任务*恢复*后：动量（momentum）丢了。\n\n<p>半ｶﾞ</p>\n"
)
COLD = "# Cold\n\n```python\nw = 恢复()\n```\n\nNaïve.[^1]\n\n[^1]: Below: $$x$$ > y\n"
ZH = "# 只有“中文”\n\n求和 10 × 3。\n"
READ = {
    "en heat": "Heat ﬁrst\nresume\nA restart in İzmir, v².\na\nß",
    "zh heat": "热与１０\n恢复 动量\n任务恢复后：动量（momentum）丢了。\n半ｶﾞ",
    "en cold": "Cold\nw = 恢复()\nNaïve.\nBelow: x > y",
    "zh only": "只有“中文”\n求和 10 × 3。",
}
"""Written down by hand: what a reader sees of each note, and the labels of its concepts."""


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = planted(
        tmp_path_factory.mktemp("searched") / "notes", heat_en=HEAT, heat_zh=HEAT_ZH, cold_en=COLD, only_zh=ZH
    )
    (folder / "concepts.yaml").write_text(CONCEPTS, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def small(notes: Path) -> Iterator[TestClient]:
    yield garden(notes)


def plain_fold(text: str) -> str:
    return normalize("NFKC", normalize("NFKC", text).casefold())


FOLDED = {name: plain_fold(text) for name, text in READ.items()}


def naive(query: str) -> set[str]:
    terms = plain_fold(query).split()
    return {name for name, text in FOLDED.items() if terms and all(term in text for term in terms)}


def asked(client: TestClient, query: str, **more: object) -> Any:
    answer = client.get("/api/search", params={"q": query, **{name: str(value) for name, value in more.items()}})
    assert answer.status_code == 200
    return answer.json()


def found(client: TestClient, query: str, **more: object) -> set[str]:
    return {f"{one['lang']} {one['slug']}" for one in asked(client, query, **more)["results"]}


def pieces_of_corpus() -> list[str]:
    """Hits, and non-hits that run from the end of one line into the next."""
    texts = [text for read in READ.values() for text in (read, read.replace("\n", ""))]
    return sorted({text[at : at + size] for text in texts for at, size in product(range(len(text)), range(1, 7))})


# For programs


def test_the_address_equals_a_naive_scan_for_every_piece_of_the_corpus(small: TestClient) -> None:
    wrong = []
    for query in pieces_of_corpus():
        answer = asked(small, query)
        if found(small, query) != naive(query) or answer["total"] != len(naive(query)):
            wrong.append(query)
    assert wrong == []


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(pieces_of_corpus()),
            st.text(st.sampled_from("恢复动量restamoＭßşﬁ% +&#=/?İi̇é\u0301\x00\ud7ff"), min_size=1, max_size=6),
        ),
        min_size=1,
        max_size=2,
    ),
    st.sampled_from([" ", "\u3000", "\n"]),
    st.sampled_from(["", "en", "zh"]),
)
def test_the_address_equals_a_naive_scan_for_one_term_and_for_two(
    small: TestClient, terms: list[str], space: str, lang: str
) -> None:
    query = space.join(terms)
    wanted = {name for name in naive(query) if name.startswith(lang)}
    assert found(small, query, lang=lang) == wanted
    assert asked(small, query, lang=lang, limit=1)["total"] == len(wanted)


def test_a_program_gets_these_fields_and_no_others(small: TestClient) -> None:
    assert asked(small, "restart") == {
        "total": 1,
        "results": [{"lang": "en", "slug": "heat", "title": "Heat ﬁrst", "snippet": "A restart in İzmir, v². · a · ß"}],
    }


def test_exact_hits_alone_are_told_to_programs(small: TestClient) -> None:
    """The page offers the English note near 恢复 by its concept's label; the programs' answer leaves it out."""
    assert found(small, "续训") == set()
    assert found(small, "恢复") == {"zh heat", "en cold"}
    assert 'href="/en/heat"' in small.get("/zh/search?q=恢复").text


@pytest.mark.parametrize("query", ["", "q=", "q=%20%E3%80%80", "limit=5&lang=zh"])
def test_an_empty_query_finds_nothing(small: TestClient, query: str) -> None:
    answer = small.get(f"/api/search?{query}")
    assert (answer.status_code, answer.json()) == (200, {"total": 0, "results": []})


def test_a_limit_cuts_the_list_and_never_the_total(tmp_path: Path) -> None:
    many = garden(planted(tmp_path / "many", **{f"n{at}_en": f"# Note {at}\n\nseed\n" for at in range(25)}))
    assert len(asked(many, "seed")["results"]) == 20
    for limit, length in ((1, 1), (24, 24), (25, 25), (1000, 25), (" ７ ", 7)):
        answer = asked(many, "seed", limit=limit)
        assert (answer["total"], len(answer["results"])) == (25, length)


@pytest.mark.parametrize(
    ("query", "problems"),
    [
        ("q=a&limit=0", [("limit", "0", "must be from 1 to 1000")]),
        ("q=a&limit=1001", [("limit", "1001", "must be from 1 to 1000")]),
        ("q=a&limit=", [("limit", "", "is empty: type a number")]),
        ("q=a&limit=2.5", [("limit", "2.5", "needs a whole number")]),
        ("q=a&limit=many", [("limit", "many", "is not a number")]),
        ("q=a&lang=fr", [("lang", "fr", "must be one of en, zh")]),
        ("q=a&growth=budding", [("growth", "budding", "there is no such parameter")]),
        ("q=a&q=b", [("q", "b", "is given twice, with different values")]),
        (
            "qq=a&limit=x",
            [("qq", "a", "there is no such parameter; did you mean q?"), ("limit", "x", "is not a number")],
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_to_programs_all_at_once(
    small: TestClient, query: str, problems: list[tuple[str, str, str]]
) -> None:
    answer = small.get(f"/api/search?{query}")
    told = answer.json()
    assert answer.status_code == 422
    assert (told["error"], told["message"]) == ("invalid_parameters", "This search cannot be read")
    assert [(one["parameter"], one["given"], one["message"]) for one in told["problems"]] == problems
    assert answer.headers["cache-control"] == "no-store"


def test_problems_are_told_in_the_language_of_the_program(small: TestClient) -> None:
    told = small.get("/api/search?limit=0", headers={"Accept-Language": "zh-CN,en;q=0.5"}).json()
    assert (told["message"], told["problems"][0]["message"]) == ("无法读懂这次搜索", "必须在 1 到 1000 之间")


def test_a_query_that_is_too_long_is_refused_in_every_form(small: TestClient) -> None:
    for address in ("/api/search", "/en/search", "/en/search/results"):
        answer = small.get(f"{address}?q={'a' * 9000}")
        assert answer.status_code == 414
        assert answer.headers["content-type"].startswith("application/json" if "api" in address else "text/html")
    assert found(small, "a" * 8000) == set()


@pytest.mark.parametrize(
    "address", ["/api/search?q=a", "/en/search?q=a", "/en/search/results?q=a", "/zh/search?limit=0"]
)
def test_head_says_what_get_says(small: TestClient, address: str) -> None:
    get, head = small.get(address), small.head(address)
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert dict(head.headers) == dict(get.headers)


@pytest.mark.parametrize("address", ["/api/search?q=a", "/en/search?q=a", "/zh/search/results?q=a"])
def test_a_search_never_stands_on_the_shelf(small: TestClient, address: str) -> None:
    """It would push pages off it, as there is no end of queries."""
    answer = small.get(address)
    assert answer.headers["cache-control"] == "private, no-cache"
    assert "etag" not in answer.headers
    assert "etag" in small.get("/en/heat").headers


def test_the_description_has_the_search_with_its_limits(small: TestClient) -> None:
    told = small.get("/api/openapi.json").json()["paths"]["/api/search"]["get"]
    assert [(one["name"], one["schema"]) for one in told["parameters"]] == [
        ("q", {"type": "string"}),
        ("lang", {"type": "string", "enum": ["en", "zh"]}),
        ("limit", {"type": "integer", "minimum": 1, "maximum": 1000}),
    ]
    schema = told["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema["required"] == ["total", "results"]
    assert sorted(schema["properties"]["results"]["items"]["properties"]) == ["lang", "slug", "snippet", "title"]
    page = Page(small.get("/api/docs").text)
    example = next(href for href in page.hrefs() if href.startswith("/api/search"))
    assert small.get(example).status_code == 200
    for name in ("q", "lang", "limit"):
        assert any(one.text == name for one in page.all("code"))


# The page


@dataclass(frozen=True)
class Shown:
    """What a page of results says."""

    page: Page
    status: str
    groups: list[str]
    hits: list[str]
    """Addresses of the exact ones, in order."""
    near: list[str]


def shown(client: TestClient, address: str, status: int = 200) -> Shown:
    answer = client.get(address)
    assert answer.status_code == status
    page = Page(answer.text)
    assert page.wrong == []
    results = [one for one in page.all("a") if "data-result" in one.attributes]
    cut = next(
        (at for at, one in enumerate(page.elements) if one.attributes.get("class") == "near"), len(page.elements)
    )
    hrefs = [(page.elements.index(one) < cut, one.attributes["href"] or "") for one in results]
    heads = [one.text for one in page.all("h2") if page.elements.index(one) < cut]
    said = [one.text.strip() for one in page.elements if one.attributes.get("role") == "status"]
    return Shown(
        page, said[0] if said else "", heads, [href for exact, href in hrefs if exact],
        [href for exact, href in hrefs if not exact],
    )  # fmt: skip


def link(one: Shown, words: str, kind: str = "a") -> str:
    """The address of a filter."""
    return next(a.attributes["href"] or "" for a in one.page.all(kind) if a.text == words and "nav" in a.inside)


def test_the_page_has_its_own_language_first_and_the_other_beside_it(small: TestClient) -> None:
    english, chinese = shown(small, "/en/search?q=momentum+"), shown(small, "/zh/search?q=恢复")
    assert (english.groups, english.hits) == (["中文 1"], ["/zh/heat"])
    assert (chinese.groups, chinese.hits) == (["中文 1", "English 1"], ["/zh/heat", "/en/cold"])
    assert chinese.near == ["/en/heat"]
    assert chinese.status == "找到 2 篇笔记。另有相近的笔记。"
    assert shown(small, "/en/search?q=恢复").hits == ["/en/cold", "/zh/heat"]


def test_what_is_near_is_never_counted(small: TestClient) -> None:
    none = shown(small, "/en/search?q=naive")
    assert (none.status, none.groups, none.hits) == ("No note contains all of this. Others are near.", [], [])
    assert none.near == ["/en/cold"]


def test_every_hit_is_marked_where_it_stands(small: TestClient) -> None:
    page = shown(small, "/en/search?q=RESTART+fi").page
    assert [one.text for one in page.all("mark")] == ["ﬁ", "restart"]
    assert "A restart in İzmir" in next(one.text for one in page.all("li", **{"class": "entry"}))


def test_what_is_typed_comes_back_as_text_and_never_as_markup(small: TestClient) -> None:
    typed = '"><script>alert(1)</script> ß & 恢复'
    page = shown(small, f"/en/search?q={quote(typed)}").page
    assert page.value("search-box") == typed
    assert all(one.attributes.get("src") for one in page.all("script"))


def test_an_empty_search_is_a_page_with_a_box_and_nothing_to_announce(small: TestClient) -> None:
    for address in ("/en/search", "/zh/search?q=", "/en/search?q=%20&growth=budding"):
        empty = shown(small, address)
        assert (empty.status, empty.groups, empty.hits, empty.near) == ("", [], [], [])
        assert "autofocus" in empty.page.field("search-box").attributes
    assert "autofocus" not in shown(small, "/en/search?q=a").page.field("search-box").attributes


def test_filters_are_links_that_keep_the_words_and_one_another(small: TestClient) -> None:
    every = shown(small, "/en/search?q=a")
    assert every.hits == ["/en/heat", "/en/cold"]
    grown = shown(small, link(every, "Evergreen"))
    assert grown.hits == ["/en/heat"]
    assert grown.status == "Notes found: 1."
    tagged = shown(small, link(grown, "Warm Days"))
    asked = parse_qs(urlsplit(link(grown, "Warm Days")).query)
    assert asked == {"q": ["a"], "growth": ["evergreen"], "tag": ["Warm Days"]}
    assert tagged.hits == ["/en/heat"]
    current = [one.text for one in tagged.page.all("a", **{"aria-current": "true"}) if "main" in one.inside]
    assert current == ["all", "Evergreen", "Warm Days"]
    hidden = [(one.attributes["name"], one.attributes["value"]) for one in tagged.page.all("input", type="hidden")]
    assert hidden == [("growth", "evergreen"), ("tag", "Warm Days")]
    alls = [one.attributes["href"] or "" for one in tagged.page.all("a") if one.text == "all"]
    assert [sorted(parse_qs(urlsplit(href).query)) for href in alls] == [
        ["growth", "q", "tag"],
        ["q", "tag"],
        ["growth", "q"],
    ]


def test_a_filter_holds_for_what_is_near_and_a_tag_is_read_as_everywhere(small: TestClient) -> None:
    assert shown(small, "/zh/search?q=恢复&growth=evergreen").near == ["/en/heat"]
    assert shown(small, "/zh/search?q=恢复&growth=budding").near == []
    assert shown(small, "/en/search?q=a&tag=WARM-days").hits == ["/en/heat"]
    assert shown(small, "/en/search?q=a&tag=nothing").hits == []
    assert shown(small, "/en/search?q=恢复&lang=zh").hits == ["/zh/heat"]


def test_more_can_be_shown_without_scripts(tmp_path: Path) -> None:
    many = garden(planted(tmp_path / "many", **{f"n{at}_en": f"# Note {at}\n\nseed\n" for at in range(25)}))
    first = shown(many, "/en/search?q=seed")
    assert (len(first.hits), first.groups) == (20, ["English 25"])
    more = shown(many, next(a.attributes["href"] or "" for a in first.page.all("a") if a.text == "Show more"))
    assert len(more.hits) == 25
    assert more.hits[:20] == first.hits
    assert [a for a in more.page.all("a") if a.text == "Show more"] == []


def test_the_language_switch_keeps_the_words_and_the_filters(small: TestClient) -> None:
    page = shown(small, "/en/search?q=%E6%81%A2+a&growth=budding&utm_source=x").page
    switch = next(one for one in page.all("a") if "data-language" in one.attributes)
    assert switch.attributes["href"] == "/zh/search?q=%E6%81%A2+a&growth=budding&utm_source=x"
    assert page.one("meta", name="robots").attributes["content"] == "noindex"
    assert (page.one("link", rel="canonical").attributes["href"] or "").endswith("/en/search")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("q=a&growth=old", "growth old must be one of seedling, budding, evergreen, speculative"),
        ("q=a&limit=0", "limit 0 must be from 1 to 1000"),
        ("q=a&lang=de", "lang de must be one of en, zh"),
        ("q=a&momentum.beta=1", "momentum.beta 1 there is no such parameter"),
        ("q=a&growth=budding&growth=evergreen", "growth evergreen is given twice, with different values"),
    ],
)
def test_a_wrong_value_is_explained_beside_what_can_still_be_found(small: TestClient, query: str, told: str) -> None:
    wrong = shown(small, f"/en/search?{query}", 422)
    [item] = [one for one in wrong.page.all("li") if "data-problem" in one.attributes]
    assert " ".join(item.text.split()) == told
    assert wrong.hits == shown(small, "/en/search?q=a").hits


def test_names_that_links_gain_on_their_way_are_no_problem_of_a_page(small: TestClient) -> None:
    assert shown(small, "/en/search?q=a&utm_source=x&fbclid=y").hits == shown(small, "/en/search?q=a").hits


@pytest.mark.parametrize(
    "address", ["/en/", "/zh/heat", "/en/concepts", "/zh/widgets/momentum", "/en/nowhere", "/en/health"]
)
def test_every_page_has_a_box_to_search_from(small: TestClient, address: str) -> None:
    page, language = Page(small.get(address).text), address[1:3]
    form = page.one("form", role="search")
    assert (form.attributes["action"], form.attributes["method"]) == (f"/{language}/search", "get")
    boxes = [one for one in page.all("input", type="search") if "data-find" in one.attributes]
    assert [one.attributes["name"] for one in boxes] == ["q"]


def test_the_page_of_results_has_one_box_and_an_embed_none(small: TestClient) -> None:
    assert len(Page(small.get("/en/search?q=a").text).all("input", type="search")) == 1
    assert Page(small.get("/embed/en/widgets/momentum").text).all("form", role="search") == []


# What follows the typing


def test_the_fragment_says_what_the_page_says(small: TestClient) -> None:
    whole, part = (
        small.get("/zh/search?q=恢复&growth=budding").text,
        small.get("/zh/search/results?q=恢复&growth=budding").text,
    )
    page = Page(part)
    assert page.wrong == []
    results = part[: part.index("<hx-partial")].strip()
    assert results and results in whole
    [status] = page.all("hx-partial")
    assert status.attributes["hx-target"] == "#search-status"
    assert status.text.strip() == "找到 1 篇笔记。"


def test_a_fragment_that_cannot_be_made_says_why_in_a_line(small: TestClient) -> None:
    answer = small.get("/en/search/results?q=a&limit=0")
    assert answer.status_code == 422
    assert "<html" not in answer.text and "must be from 1 to 1000" in answer.text
    assert "The result shown" not in answer.text


# An address without a page


def test_an_address_without_a_page_offers_the_notes_that_hold_its_words(small: TestClient) -> None:
    answer = small.get("/en/deep/below-na%C3%AFve.html-x")
    page = Page(answer.text)
    assert (answer.status_code, page.wrong) == (404, [])
    assert mentioned(page) == []
    page = Page(small.get("/en/deep/below-na%C3%AFve-%3E-x").text)
    assert "Notes with these words in them" in [one.text for one in page.all("h2")]
    assert mentioned(page) == ["/en/cold"]
    assert mentioned(Page(small.get("/en/%E4%B8%A2").text)) == ["/zh/heat"]
    assert mentioned(Page(small.get("/en/xy").text)) == mentioned(Page(small.get("/en/").text)) == []


def mentioned(page: Page) -> list[str | None]:
    return [one.attributes["href"] for one in page.all("a") if "data-result" in one.attributes]


def test_a_note_that_is_offered_by_its_name_is_not_offered_again(small: TestClient) -> None:
    page = Page(small.get("/en/hea").text)
    assert [a.attributes["href"] for a in page.all("a") if "li" in a.inside] == ["/en/heat"]
    assert mentioned(page) == []


# The index


@pytest.fixture
def makings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where each index was made; the making takes long enough to be met by others."""
    made: list[str] = []
    real = Index.of.__func__  # type: ignore[attr-defined]

    def of(kind: type[Index], *given: Any) -> Index:
        try:
            asyncio.get_running_loop()
            made.append("in the loop")
        except RuntimeError:
            made.append("in a thread")
        time.sleep(0.1)
        return cast(Index, real(kind, *given))

    monkeypatch.setattr(Index, "of", classmethod(of))
    return made


def test_two_who_search_first_make_one_index(notes: Path, makings: list[str]) -> None:
    index = made_once(checked(Settings(content=notes)))
    both = threading.Barrier(2)
    got: list[Index] = []

    def ask() -> None:
        both.wait(10)
        got.append(index())

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(makings) == 1
    assert len(got) == 2 and got[0] is got[1]


@pytest.mark.parametrize("address", ["/api/search?q=a", "/en/search?q=a", "/en/search/results?q=a", "/en/no-such-note"])
def test_an_index_is_not_made_where_it_would_hold_up_other_readers(
    notes: Path, makings: list[str], address: str
) -> None:
    garden(notes).get(address)
    assert makings == ["in a thread"]


def test_an_index_is_made_before_anyone_searches(notes: Path, makings: list[str]) -> None:
    with garden(notes) as client:
        assert client.get("/api/search?q=heat").json()["total"] == 1
    with garden(notes):
        deadline = time.monotonic() + 10
        while len(makings) < 2:
            assert time.monotonic() < deadline, "nothing was made behind the first pages"
            time.sleep(0.02)
    assert makings == ["in a thread"] * 2
