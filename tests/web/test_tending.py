"""Backlinks, histories, stale translations and the health of gardens in real repositories."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.content.note import Note
from app.garden.dates import dates, write_index
from app.garden.digests import section_digest, write_old_sections
from app.garden.history import write_histories
from app.main import checked
from app.settings import Settings
from app.web.missed import LONGEST, MOST, Missed
from tests.conftest import Reader, served
from tests.garden.repositories import AUTUMN, SPRING, SUMMER, Repository
from tests.web.visits import Page, garden, planted

HEAT = "# Heat\n\n## Flow {#flow}\n\n"
WARMTH = "# 热\n\n## 流动 {#flow}\n\n热在流动。\n"
OLD, NEW = "Heat flows down.\n", "Heat flows up.\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "garden")


def tended(repository: Repository) -> Repository:
    """A Chinese translation of the first English text, which changed in summer."""
    repository.commit(SPRING, "Plant heat", **{"heat.en": HEAT + OLD})
    digest = section_digest(note(repository.content, "en"), "flow")
    front = f"---\ntranslates: {{flow: {digest}}}\n---\n"
    repository.commit(SPRING, "Translate", **{"heat.zh": front + WARMTH})
    repository.commit(SUMMER, "Turn <it> round", **{"heat.en": HEAT + NEW})
    return repository


def note(content: Path, language: str) -> Note:
    (found,) = [one for one in checked(Settings(content=content)).garden.notes() if one.language == language]
    return found


def indexed(repository: Repository, folder: Path) -> Path:
    """The content as an image carries it: an index, no repository."""
    report = checked(Settings(content=repository.content))
    path = repository.content / "index.json"
    write_index(dates(repository.content), path)
    write_histories(repository.content, path)
    write_old_sections(report.garden, repository.content, path)
    return repository.content.rename(folder)


def read(client: TestClient, address: str, status: int = 200) -> Page:
    answer = client.get(address)
    assert answer.status_code == status
    page = Page(answer.text)
    assert page.wrong == []
    return page


def texts(page: Page, tag: str) -> list[str]:
    return [" ".join(one.text.split()) for one in page.all(tag)]


def backlinks(page: Page) -> str:
    return " ".join(page.one("section", **{"class": "backlinks"}).text.split())


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[TestClient]:
    content = planted(
        tmp_path / "content",
        heat_en="# Heat\n\nNothing. [[heat]]\n",
        heat_zh="# 热\n\n没有。\n",
        noise_en="---\ngrowth: budding\n---\n# Noise\n\nBefore. All noise is [[heat]] & more. After.\n\n![[heat]]\n",
        order_zh="# 秩序\n\n先说一句。秩序消耗[[热]]。\n",
        both_en="# Both\n\nIt meets [[heat]] too.\n",
        both_zh="# 两者\n\n它也遇到[[heat]]。\n",
        secret_en="---\ndraft: true\n---\n# Canary\n\nA canary in the [[heat]].\n",
    )
    yield garden(content)


def test_a_note_shows_the_sentences_that_link_to_it_and_how_far_their_notes_have_grown(linked: TestClient) -> None:
    page = read(linked, "/en/heat")
    quoted = {one.text: one.attributes["lang"] for one in page.all("blockquote")}
    assert quoted == {"It meets heat too.": "en", "All noise is heat & more.": "en", "秩序消耗热。": "zh-Hans"}
    said = backlinks(page)
    assert re.search(r"Noise Budding .*shows this text", said)
    assert said.count("Both") == 1
    assert [one.text for one in page.all("span", lang="zh-Hans")] == ["中"]


def test_a_link_in_the_english_text_shows_on_the_chinese_page(linked: TestClient) -> None:
    page = read(linked, "/zh/heat")
    assert [one.text for one in page.all("span", lang="en")] == ["EN"]
    assert "它也遇到" in backlinks(page) and "It meets" not in backlinks(page)


def test_a_note_that_nothing_links_to_shows_no_backlinks(linked: TestClient) -> None:
    assert read(linked, "/en/noise").all("section", **{"class": "backlinks"}) == []


@pytest.mark.parametrize("image", [False, True], ids=["repository", "image"])
def test_a_history_says_what_changed_when_word_by_word(repository: Repository, tmp_path: Path, image: bool) -> None:
    tended(repository)
    client = garden(indexed(repository, tmp_path / "image") if image else repository.content)
    assert read(client, "/en/heat").all("a", href="/en/heat/history")
    page = read(client, "/en/heat/history")
    assert texts(page, "h2") == ["2026-06-01: Turn <it> round", "2026-03-01: Plant heat"]
    assert (texts(page, "del"), texts(page, "ins")) == (["down"], ["up"])
    assert [one.text for one in page.all("span", **{"class": "kind"})] == ["text changed", "planted"]
    assert page.one("meta", name="robots").attributes["content"] == "noindex"
    assert page.all("a", hreflang="zh", href="/zh/heat/history")
    assert texts(read(client, "/zh/heat/history"), "h2") == ["2026-03-01：Translate"]


def test_long_stretches_that_did_not_change_are_counted(repository: Repository) -> None:
    before = "".join(f"Paragraph {number}.\n\n" for number in range(9))
    repository.commit(SPRING, heat=before + "End.\n")
    repository.commit(SUMMER, heat=before + "Close.\n")
    page = read(garden(repository.content), "/en/heat/history")
    assert texts(page, "p")[1:4] == ["text changed " + texts(page, "code")[0], "8 paragraphs unchanged", "Paragraph 8."]


def test_what_was_a_draft_is_not_in_the_history(repository: Repository) -> None:
    repository.commit(SPRING, "Sketch", heat="---\ndraft: true\n---\nA canary.\n")
    repository.commit(SUMMER, "Publish", heat="Heat.\n", other="---\ndraft: true\n---\nHidden.\n")
    client = garden(repository.content)
    page = read(client, "/en/heat/history")
    assert texts(page, "h2") == ["2026-06-01: Publish"]
    assert "canary" not in page.source and "Sketch" not in page.source
    assert client.get("/en/other/history").status_code == client.get("/en/nothing/history").status_code == 404
    shown = read(garden(repository.content, drafts=True), "/en/heat/history")
    assert texts(shown, "h2") == ["2026-06-01: Publish", "2026-03-01: Sketch"]


def test_what_an_author_wrote_for_themselves_is_in_no_source_and_no_history(repository: Repository) -> None:
    repository.commit(SPRING, "Plant", **{"heat.en": f"---\ntitle: Heat\n---\n\n{OLD}\n%%quetzal one%%\n"})
    repository.commit(SUMMER, "Tend", **{"heat.en": f"---\ntitle: Heat\n---\n\n{NEW}%%quetzal two%%\n"})
    client = garden(repository.content)
    page = read(client, "/en/heat/history")
    assert (texts(page, "del"), texts(page, "ins")) == (["down."], ["up."])
    assert "quetzal" not in page.source
    assert client.get("/en/heat.md").text == f"---\ntitle: Heat\n---\n\n{NEW}\n"


def test_an_alias_leads_to_the_history_of_its_note(repository: Repository) -> None:
    repository.commit(SPRING, **{"heat up": "---\naliases: [warmth]\n---\nHeat.\n"})
    answer = garden(repository.content).get("/en/warmth/history")
    assert (answer.status_code, answer.headers["location"]) == (301, "/en/heat%20up/history")


def test_a_concept_may_be_called_history(tmp_path: Path) -> None:
    content = planted(tmp_path / "content", heat_en="Heat.\n")
    text = "history:\n  label: {en: History, zh: 历史}\n  meaning: {en: what was, zh: 过去}\n"
    (content / "concepts.yaml").write_text(text, encoding="utf-8")
    assert texts(read(garden(content), "/en/concepts/history"), "h1") == ["History"]


def test_a_missing_repository_is_said(tmp_path: Path) -> None:
    page = read(garden(planted(tmp_path / "content", heat_en="Heat.\n")), "/en/heat/history")
    assert "without a repository" in page.one("main").text


def test_a_shallow_repository_is_said(repository: Repository, tmp_path: Path) -> None:
    tended(repository)
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.folder}", str(tmp_path / "shallow"))
    page = read(garden(tmp_path / "shallow/content"), "/en/heat/history")
    assert "shallow clone" in page.one("main").text


@pytest.mark.parametrize("image", [False, True], ids=["repository", "image"])
def test_a_stale_section_shows_what_changed_in_the_other_text(
    repository: Repository, tmp_path: Path, image: bool
) -> None:
    tended(repository)
    client = garden(indexed(repository, tmp_path / "image") if image else repository.content)
    page = read(client, "/zh/heat")
    notice = page.one("div", **{"class": "outdated"})
    assert "译出之后，原文又有改动。" in notice.text
    assert (texts(page, "del"), texts(page, "ins")) == (["down"], ["up"])
    assert page.source.index('id="flow"') < page.source.index("outdated") < page.source.rindex("热在流动")
    assert read(client, "/en/heat").all("div", **{"class": "outdated"}) == []


def test_where_the_translated_text_is_not_known_it_is_said(tmp_path: Path) -> None:
    content = planted(
        tmp_path / "content",
        heat_en=HEAT + NEW,
        heat_zh="---\ntranslates: {flow: 01234567, top: 76543210}\n---\n" + WARMTH,
    )
    page = read(garden(content), "/zh/heat")
    notices = page.all("div", **{"class": "outdated"})
    assert len(notices) == 2
    assert all("找不到当时所译的文本" in notice.text for notice in notices)


def test_the_health_page_groups_the_warnings_and_counts_the_notes(tmp_path: Path) -> None:
    content = planted(
        tmp_path / "content",
        heat_en="# Heat\n\nSee [[noize]] and [[unheard of]].\n",
        heat_zh="---\ntranslates: {top: 01234567}\n---\n# 热\n",
        noise_en="# Noise\n\n[[heat]]\n",
        hum_en="---\naliases: [noise]\ngrowth: evergreen\n---\n# Hum\n\n[[noise]]\n",
        secret_en="---\ndraft: true\n---\n# Canary\n\n[[canary nowhere]] %% no end\n",
    )
    client = garden(content)
    answer = client.get("/en/health")
    assert answer.headers["cache-control"] == "no-store"
    page = read(client, "/en/health")
    groups = {one.attributes["aria-label"]: " ".join(one.text.split()) for one in page.all("section")}
    assert "no note is called 'noize' yet; did you mean 'noise'?" in groups["Links to what is not written yet"]
    assert "content" not in groups["Links to what is not written yet"]
    assert "also names noise.en.md" in groups["Names that collide"]
    assert "hum.en.md:1" in groups["Notes that nothing links to"]
    assert groups["Missing translations"].startswith("Missing translations 2 ")
    assert "heat.zh.md" in groups["Translations that are behind"]
    assert "accumulation" not in page.source
    assert "Other warnings" not in groups
    assert "anary" not in page.source and "secret" not in page.source
    rows = [" ".join(one.text.split()) for one in page.all("tr")]
    assert rows[1:] == ["Speculative00", "Evergreen10", "Budding00", "Seedling21"]
    assert "Drafts" not in page.source
    chinese = read(client, "/zh/health")
    assert "还没有叫“noize”的笔记；是不是“noise”？" in chinese.one("main").text
    assert "did you mean" not in chinese.source
    drafts = read(garden(content, drafts=True), "/en/health").one("main").text
    assert "asked for: 1" in drafts and "canary nowhere" in drafts


def test_the_shipped_garden_knows_every_kind_of_its_warnings(site: TestClient) -> None:
    assert "其他提醒" not in read(site, "/zh/health").source
    assert 'href="/en/health"' in site.get("/en/").text


def test_what_a_vault_writes_its_own_way_is_said_in_chinese_too(tmp_path: Path) -> None:
    content = planted(
        tmp_path / "content",
        **{"a b_en": "Words ^x\n\nMore words ^x\n", "far_en": "# Far\n"},
        odd_en='See ![[far]], <a href="https://example.org/">a [[far]]</a>, ![[plan.canvas]]\n\n```widget\n```\n',
    )
    page = read(garden(content), "/zh/health")
    groups = {one.attributes["aria-label"]: one.text for one in page.all("section")}
    assert "“![[far]]”在这里只显示为链接" in groups["其他提醒"]
    assert "“[[far]]”写在另一个链接里" in groups["其他提醒"]
    assert "这个代码块没有写明实验" in groups["其他提醒"]
    assert "块“^x”在第 1 行已经用过" in groups["其他提醒"]
    assert "“plan.canvas”只有 Obsidian 能显示" in groups["无法读取的内容"]


def test_an_alias_is_proposed_only_where_it_would_lead(tmp_path: Path) -> None:
    client = garden(planted(tmp_path / "content", readme_en="# Read me\n", **{"温度_zh": "# 温度\n"}))
    assert client.get("/zh/readme").status_code == 404
    main = read(client, "/zh/health").one("main").text
    assert re.search(r"/zh/readme 1 次\s*可能是指：Read me", main)
    assert "aliases" not in main


def test_a_note_that_links_very_often_is_quoted_ten_times(tmp_path: Path) -> None:
    often = "\n\n".join(f"Sentence {number} leads to [[heat]]." for number in range(12))
    client = garden(planted(tmp_path / "content", heat_en="# Heat\n", often_en=often))
    section = read(client, "/en/heat").one("section", **{"class": "backlinks"})
    assert "Sentence 9 leads" in section.text and "Sentence 10 leads" not in section.text
    assert "More sentences there that link here: 2" in section.text


def test_no_id_of_a_text_shown_in_another_holds_a_space(tmp_path: Path) -> None:
    client = garden(planted(tmp_path / "content", heat_en="![[two words]]\n", **{"two words_en": "Some text. ^x\n"}))
    assert 'id="two-words-block-x"' in client.get("/en/heat").text


def test_what_was_asked_for_and_not_found_is_told_with_the_alias_that_mends_it(tmp_path: Path) -> None:
    content = planted(
        tmp_path / "content",
        momentum_en="# Momentum\n",
        secret_en="---\ndraft: true\naliases: [hush]\n---\n# Canary\n",
    )
    client = garden(content)
    for address in ("/en/momentun?reader=me", "/en/momentun", "/en/secret", "/en/hush", "/en/Canary", "/nowhere"):
        assert client.get(address, headers={"referer": "https://elsewhere.example/"}).status_code == 404
    assert client.get("/api/widgets/nowhere").status_code == 404
    client.head("/zh/qqqq")
    main = read(client, "/en/health").one("main").text
    assert re.search(r"/en/momentun × 2\s*Perhaps this was meant: Momentum", main)
    assert 'momentum.en.md: aliases: ["momentun"]' in " ".join(main.split())
    assert "/zh/qqqq × 1" in main
    for hidden in ("secret", "hush", "Canary", "reader", "elsewhere", "/nowhere"):
        assert hidden not in main


def test_only_so_many_missed_addresses_are_kept_and_those_asked_for_most() -> None:
    missed = Missed()
    for _ in range(2):
        missed.add("/en/often")
    for number in range(3 * MOST):
        missed.add(f"/en/{number}")
    missed.add("/en/" + "x" * LONGEST)
    missed.add("/fr/page")
    kept = missed.most_asked()
    assert len(kept) == MOST
    assert kept[0] == ("/en/often", 2)
    assert (f"/en/{3 * MOST - 1}", 1) in kept and ("/en/0", 1) not in kept


def test_lists_carry_what_the_script_needs_to_mark_what_is_new(repository: Repository) -> None:
    repository.commit(AUTUMN, heat="Heat.\n", noise="Noise.\n")
    client = garden(repository.content)
    home = read(client, "/en/")
    lines = [one for one in home.elements if "data-since" in one.attributes]
    assert [one.attributes["data-since"] for one in lines] == ["new since your last visit"] * 4
    assert [one.attributes["datetime"] for one in home.all("time")] == ["2026-09-01"] * 4
    (seen,) = [one for one in read(client, "/en/heat").all("time") if "data-tended" in one.attributes]
    assert seen.attributes["datetime"] == "2026-09-01"


def test_a_note_that_was_tended_since_the_last_visit_is_marked(
    repository: Repository, reader: Callable[..., Reader]
) -> None:
    repository.commit(SPRING, heat="Heat.\n", noise="Noise.\n")
    with served(repository.content) as address:
        visitor = reader()
        page = visitor.open(f"{address}/en/heat")
        visitor.open(f"{address}/en/")
        assert page.locator(".since").count() == 0
        page.evaluate("localStorage.setItem('tended', JSON.stringify({'/en/heat': '2026-02-28'}))")
        page.reload()
        assert page.locator(".since").all_inner_texts() == [" · new since your last visit"] * 2
        assert page.locator("li:has(.since) a").all_inner_texts() == ["heat", "heat"]
        visitor.open(f"{address}/en/heat")
        visitor.open(f"{address}/en/")
        assert page.locator(".since").count() == 0
