"""The garden as a static site: built by the command, then served by nothing but a file server."""

import contextlib
import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote, urljoin

import pytest
from playwright.sync_api import Page as Tab
from playwright.sync_api import expect

from app.experiments import EXPERIMENTS
from tests.conftest import CONTENT, ROOT, Reader
from tests.web.visits import ARTICLE, Page, planted

BASE, LIVE = "https://e.example/some/garden", "https://l.example/g"
CANARY = "kingfisher"
MOVED = (
    "---\nplanted: 2026-01-02\naliases: [older name, 旧名]\ntags: [a/b]\n---\n"
    "# Moved here\n\nA zebra <b>sleeps</b> &lt;em&gt;. [[hidden]]\n"
)
HIDDEN = f"---\ndraft: true\ntitle: {CANARY}\n---\n# {CANARY}\n\nThe {CANARY} dives. [[moved]]\n"


def built(out: Path, content: Path, *words: str, first: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"{first}\nfrom app.cli import main\nmain()"]
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PERENNIAL_")}
    return subprocess.run(
        [*command, "build", str(out), "--content", str(content), *words],
        capture_output=True, text=True, cwd=ROOT, env=environment,
    )  # fmt: skip


def texts(out: Path) -> dict[str, bytes]:
    return {file.relative_to(out).as_posix(): file.read_bytes() for file in out.rglob("*") if file.is_file()}


def times(out: Path) -> dict[str, int]:
    return {file.relative_to(out).as_posix(): file.stat().st_mtime_ns for file in out.rglob("*") if file.is_file()}


FLOW = "flow:\n  label: {en: flow, zh: 流动}\n  meaning: {en: What flows., zh: 流动之物。}\n"


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy") / "notes"
    shutil.copytree(CONTENT, folder)
    return planted(folder, moved_en=MOVED, hidden_en=HIDDEN)


@pytest.fixture(scope="module")
def copy(content: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("copy") / "some" / "garden"
    told = built(out, content, "--base-url", f"{BASE}/", "--live", f"{LIVE}/")
    assert told.returncode == 0, told.stderr
    assert "0 dead links" in told.stderr
    assert told.stdout == ""
    return out


@contextlib.contextmanager
def shown(folder: Path) -> Iterator[str]:
    """The address of a plain file server."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *words: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


@pytest.fixture(scope="module", params=["", "/some/garden"], ids=["at the root", "below a path"])
def address(copy: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The copy at the root of a host, and as GitHub shows the pages of a project."""
    with shown(copy.parent.parent if request.param else copy) as host:
        yield f"{host}{request.param}"


@pytest.fixture
def tab(address: str, reader: Callable[..., Reader]) -> Iterator[Tab]:
    """A reader who asks nobody but the file server, in English, and is answered everything."""
    page = reader(locale="en-GB").page
    elsewhere: list[str] = []
    page.on("request", lambda asked: None if asked.url.startswith((address, "data:")) else elsewhere.append(asked.url))
    page.on("response", lambda answer: elsewhere.append(answer.url) if answer.status >= 400 else None)
    yield page
    assert elsewhere == []


# in a browser


def test_the_first_page_leads_to_the_language_of_the_browser(tab: Tab, address: str) -> None:
    tab.goto(f"{address}/")
    expect(tab).to_have_url(f"{address}/en/")
    tab.get_by_role("link", name="中文").click()
    expect(tab).to_have_url(f"{address}/zh/")
    tab.goto(f"{address}/")
    expect(tab).to_have_url(f"{address}/zh/")


def test_the_article_reads_and_its_links_lead_on(tab: Tab, address: str) -> None:
    tab.goto(f"{address}/en/{ARTICLE}/", wait_until="networkidle")
    expect(tab.locator("h1")).to_contain_text("Why Training Results Change")
    assert tab.evaluate("getComputedStyle(document.querySelector('.widget')).borderTopWidth") == "1px"
    tab.locator("[data-language]").click()
    expect(tab).to_have_url(re.compile(rf"{re.escape(address)}/zh/{ARTICLE}/"))
    tab.locator(".prose a.term").first.click()
    expect(tab).to_have_url(re.compile(rf"{re.escape(address)}/zh/concepts/[\w-]+/$"))


def test_a_preset_is_shown_in_place_and_has_a_page(tab: Tab, address: str) -> None:
    tab.goto(f"{address}/en/{ARTICLE}/", wait_until="networkidle")
    widget = tab.locator("#momentum")
    preset = widget.locator("[data-preset]").nth(1)
    expect(widget.locator("form")).to_have_count(0)
    page = preset.evaluate("link => link.href")
    preset.click()
    expect(preset).to_have_attribute("aria-current", "true")
    expect(tab).to_have_url(f"{address}/en/{ARTICLE}/")
    headline, rows = widget.locator(".headline").inner_text(), widget.locator("tbody").inner_html()
    data = widget.get_by_role("link", name="CSV").evaluate("link => link.href")
    tab.goto(page, wait_until="networkidle")
    expect(tab.locator(".widget .headline")).to_have_text(headline)
    assert tab.locator(".widget tbody").inner_html() == rows
    assert tab.get_by_role("link", name="CSV").evaluate("link => link.href") == data
    assert tab.request.get(data).text().startswith("step,")


def test_a_number_leads_to_the_state_that_gave_it(tab: Tab, address: str) -> None:
    tab.goto(f"{address}/zh/{ARTICLE}/", wait_until="networkidle")
    number = tab.locator("a.ran", has_text=re.compile(r"^0\.352$")).first
    number.click()
    expect(tab).to_have_url(f"{address}/zh/widgets/momentum/restore=weights/")
    assert "0.352" in tab.locator("tbody td").all_inner_texts()


@pytest.mark.parametrize(
    ("language", "words", "title", "marked"),
    [
        ("en", "zebra", "Moved here", "zebra"),
        ("zh", "动量", "训练结果为何会变", "动量"),
        ("zh", "恢复训练", "训练结果为何会变", "训练"),
    ],
)
def test_a_word_is_found(tab: Tab, address: str, language: str, words: str, title: str, marked: str) -> None:
    tab.goto(f"{address}/{language}/search/", wait_until="networkidle")
    tab.locator("#still-box").fill(words)
    found = tab.locator("#still-results li").first
    expect(found).to_contain_text(title)
    expect(found.locator("mark").first).to_have_text(marked)
    expect(tab).to_have_url(re.compile(r"\?q="))
    expect(tab.locator("#still-living")).to_have_attribute("href", re.compile(rf"{LIVE}/{language}/search\?q=."))
    found.locator("a").click()
    expect(tab.locator("h1")).to_contain_text(title)


def test_the_box_of_every_page_leads_to_the_search(tab: Tab, address: str) -> None:
    tab.goto(f"{address}/en/{ARTICLE}/", wait_until="networkidle")
    tab.keyboard.press("/")
    tab.keyboard.type("zebra")
    tab.keyboard.press("Enter")
    expect(tab).to_have_url(f"{address}/en/search/?q=zebra")
    expect(tab.locator("#still-results li")).to_have_count(1)


def test_markup_in_a_note_is_text_in_what_was_found(tab: Tab, address: str) -> None:
    tab.goto(f"{address}/en/search/?q=zebra", wait_until="networkidle")
    expect(tab.locator("#still-results p")).to_contain_text("sleeps <em>")
    assert tab.locator("#still-results em, #still-results b").count() == 0


def test_what_is_not_there_is_said(tab: Tab, address: str) -> None:
    tab.goto(f"{address}/en/search/?q=xylophone", wait_until="networkidle")
    expect(tab.locator("#still-status")).to_have_text("No note contains all of this.")
    tab.goto(f"{address}/en/search/?q={CANARY}", wait_until="networkidle")
    expect(tab.locator("#still-status")).to_have_text("No note contains all of this.")


def test_a_preview_opens_and_its_links_lead_on(tab: Tab, address: str) -> None:
    tab.goto(f"{address}/en/{ARTICLE}/", wait_until="networkidle")
    tab.locator(".prose a.term").first.hover()
    preview = tab.locator(".preview:popover-open")
    expect(preview).to_be_visible()
    preview.locator("a.open").click()
    expect(tab).to_have_url(re.compile(rf"{re.escape(address)}/en/concepts/[\w-]+/$"))


def test_another_name_of_a_note_leads_to_it(tab: Tab, address: str) -> None:
    for name in ("older%20name", "%E6%97%A7%E5%90%8D"):
        tab.goto(f"{address}/en/{name}/")
        expect(tab).to_have_url(f"{address}/en/moved/")


def test_a_copy_reads_with_scripts_off(address: str, reader: Callable[..., Reader]) -> None:
    page = reader(java_script_enabled=False).open(f"{address}/")
    page.get_by_role("link", name="In English").click()
    page.get_by_role("link", name="Experiments").click()
    page.locator(".card a").first.click()
    page.locator("[data-preset]").nth(1).click()
    expect(page.locator("[data-preset]").nth(1)).to_have_attribute("aria-current", "true")


# as files


def test_every_link_of_every_page_leads_to_a_file(copy: Path) -> None:
    """A twin of the check of the build, by another parser and by the addresses as a browser reads them."""
    root, dead, count = "https://e.example/some/garden/", [], 0
    for name, text in texts(copy).items():
        if not name.endswith(".html") or name == "404.html":
            continue
        for element in Page(text.decode()).elements:
            for value in filter(None, (element.attributes.get(at) for at in ("href", "src", "action"))):
                whole = urljoin(root + name, value).partition("#")[0].partition("?")[0]
                if not whole.startswith("https://e.example/"):
                    continue
                count += 1
                below = unquote(whole.removeprefix(root)) if whole.startswith(root) else ".."
                file = copy / below
                dead += [] if (file / "index.html" if whole.endswith("/") else file).is_file() else [(name, value)]
    assert dead == []
    assert count > 5000


def test_every_state_of_a_preset_or_a_number_has_its_files(copy: Path) -> None:
    for experiment in EXPERIMENTS.values():
        for preset in experiment.presets:
            state = "&".join(
                f"{name}={text}" for name, text in experiment.state(experiment.parse(preset.given)).items()
            )
            for language in ("en", "zh"):
                folder = copy / language / "widgets" / experiment.name / state
                names = folder if state else folder.parent
                assert (folder / "index.html").is_file()
                assert all((names / f"{experiment.name}.{ending}").is_file() for ending in ("json", "csv", "svg", "py"))


def test_views_of_the_network_are_those_of_the_garden_that_computes(copy: Path) -> None:
    network = Page((copy / "en/concepts/index.html").read_text())
    assert network.all("svg", **{"class": "network"}) and not network.all("meta", **{"http-equiv": "refresh"})
    assert network.all("a", href=f"{LIVE}/en/concepts?kind=concept#network")
    article = Page((copy / f"zh/{ARTICLE}/index.html").read_text())
    assert article.all("a", href=f"{LIVE}/zh/concepts?around=note%3A{ARTICLE}#network")


def test_a_copy_without_a_garden_behind_it_offers_no_other_view(tmp_path: Path) -> None:
    text = "---\ngrowth: budding\n---\n# Heat\n\nIt [flows]{concept=flow}.\n"
    notes = planted(tmp_path / "notes", heat_en=text, cold_en="# Cold\n\nFlow.\n")
    (notes / "concepts.yaml").write_text(FLOW, encoding="utf-8")
    assert built(tmp_path / "copy", notes).returncode == 0
    for name in ("en/concepts", "en/concepts/flow", "en/heat"):
        page = Page((tmp_path / "copy" / name / "index.html").read_text())
        assert not page.all("nav", **{"class": "filters"})
        assert not [one.text for one in page.all("a") if "around" in (one.attributes.get("href") or "around")], name
    assert Page((tmp_path / "copy/en/concepts/index.html").read_text()).all("svg", **{"class": "network"})


def test_nothing_of_a_draft_is_in_the_copy(copy: Path) -> None:
    assert [name for name, text in texts(copy).items() if CANARY.encode() in text.lower() or CANARY in name] == []


def test_feeds_and_the_map_name_the_pages_of_the_copy(copy: Path) -> None:
    feed, spots = (copy / "en/atom.xml").read_text(), (copy / "sitemap.xml").read_text()
    assert f"<id>{BASE}/en/moved/</id>" in feed
    assert f'href="{BASE}/en/moved.md"' in feed
    assert f"<loc>{BASE}/zh/{ARTICLE}/</loc>" in spots
    article = Page((copy / "en" / ARTICLE / "index.html").read_text())
    assert article.one("link", rel="canonical").attributes["href"] == f"{BASE}/en/{ARTICLE}/"
    assert (copy / f"en/{ARTICLE}.md").read_bytes() == (CONTENT / f"{ARTICLE}.en.md").read_bytes()
    lost = Page((copy / "404.html").read_text())
    assert [a.attributes["href"] for a in lost.all("a")] == ["/some/garden/en/", "/some/garden/zh/"]


def test_what_needs_a_server_leads_to_the_living_garden(copy: Path) -> None:
    article = Page((copy / "en" / ARTICLE / "index.html").read_text())
    living = [a.attributes["href"] for a in article.elements if "data-living" in a.attributes]
    assert f"{LIVE}/en/{ARTICLE}#momentum" in living
    state = Page((copy / "en/widgets/momentum/restore=weights/index.html").read_text())
    assert f"{LIVE}/en/widgets/momentum?restore=weights" in [a.attributes["href"] for a in state.all("a")]
    assert f"{LIVE}/api/docs" in list(article.hrefs())
    script = (copy / "en/widgets/momentum/restore=weights/momentum.py").read_text()
    assert f"{BASE}/en/widgets/momentum/restore=weights/" in script


def test_nothing_asks_for_htmx(copy: Path) -> None:
    for name in ("en/widgets/momentum/index.html", f"zh/{ARTICLE}/index.html", "embed/en/widgets/summation/index.html"):
        page = Page((copy / name).read_text())
        assert [one for one in page.elements if any(at.startswith("hx-") for at in one.attributes)] == []
        assert [
            src for one in page.all("script") if (src := one.attributes.get("src")) and "static/garden." not in src
        ] == []


# built again


def test_a_garden_that_did_not_change_is_built_the_same_and_nothing_is_touched(
    content: Path, copy: Path, tmp_path: Path
) -> None:
    before = times(copy)
    told = built(copy, content, "--base-url", BASE, "--live", LIVE)
    assert {name for name, when in times(copy).items() if before.get(name) != when} == set()
    assert "(0 new or changed, 0 removed)" in told.stderr.replace("\n", " ")
    built(tmp_path / "other", content, "--base-url", BASE, "--live", LIVE)
    assert texts(tmp_path / "other") == texts(copy)


def test_a_note_that_is_gone_takes_its_pages_with_it(tmp_path: Path) -> None:
    notes = planted(tmp_path / "notes", one_en="# One\n\n[[two]]\n", two_en="# Two\n\n[[one]]\n")
    assert built(tmp_path / "out", notes).returncode == 0
    (tmp_path / "out/CNAME").write_text("e.example")
    before = times(tmp_path / "out")
    (notes / "two.en.md").unlink()
    assert built(tmp_path / "out", notes).returncode == 0
    after = times(tmp_path / "out")
    assert {name for name in before if name not in after} >= {"en/two/index.html", "en/two.md", "cards/en/two.svg"}
    assert not (tmp_path / "out/en/two").exists()
    assert (tmp_path / "out/CNAME").read_text() == "e.example"
    same = [name for name in after if name.startswith("en/widgets/")]
    assert same and all(after[name] == before[name] for name in same)


def test_without_an_address_nothing_is_absolute_and_that_is_said(tmp_path: Path) -> None:
    notes = planted(tmp_path / "notes", one_en=MOVED)
    told = built(tmp_path / "out", notes)
    assert told.returncode == 0, told.stderr
    assert "for want of --base-url: feeds, sitemap, llms.txt, canonical links" in told.stderr.replace("\n", " ")
    found = texts(tmp_path / "out")
    assert not {"sitemap.xml", "llms.txt", "en/atom.xml"} & set(found)
    page = Page(found["en/one/index.html"].decode())
    assert [href for href in page.hrefs() if href.startswith(("/", "http"))] == [
        "https://creativecommons.org/licenses/by/4.0/"
    ]
    assert page.all("link", rel="canonical") == page.all("meta", property="og:url") == []
    assert b"localhost" not in b"".join(found[name] for name in found if not name.startswith("pagefind/"))


def test_drafts_are_taken_in_when_they_are_asked_for(tmp_path: Path) -> None:
    notes = planted(tmp_path / "notes", hidden_en=HIDDEN, moved_en=MOVED)
    assert built(tmp_path / "out", notes, "--drafts").returncode == 0
    assert CANARY in (tmp_path / "out/en/hidden/index.html").read_text()


def test_without_pagefind_there_is_no_search_and_that_is_said(tmp_path: Path) -> None:
    notes = planted(tmp_path / "notes", one_en=MOVED)
    told = built(tmp_path / "out", notes, first="import sys; sys.modules['pagefind'] = None")
    assert told.returncode == 0, told.stderr
    assert "for want of pagefind: search; pip install 'perennial-garden[static]'" in told.stderr
    page = Page((tmp_path / "out/en/one/index.html").read_text())
    assert page.all("form") == []
    assert not (tmp_path / "out/en/search").exists()
    assert not (tmp_path / "out/pagefind").exists()


# what it cannot do


def test_faults_stop_the_build_before_anything_is_written(tmp_path: Path) -> None:
    notes = planted(tmp_path / "notes", wrong_en="# Wrong\n\n[0.6]{ran=momentum read=resumed.1.w}\n")
    told = built(tmp_path / "out", notes)
    assert told.returncode == 1
    assert "notes/wrong.en.md:3: " in told.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_of_the_notes_or_of_others_is_refused(tmp_path: Path) -> None:
    notes = planted(tmp_path / "notes", one_en=MOVED)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("x")
    for out in (notes, notes / "site", tmp_path, tmp_path / "full"):
        told = built(out, notes)
        assert told.returncode == 2, told.stderr
        assert "name another" in told.stderr.replace("\n", " ")
    assert sorted(texts(tmp_path)) == ["full/file", "notes/one.en.md"]


def test_a_link_that_leads_nowhere_ends_in_status_1(tmp_path: Path) -> None:
    notes = planted(tmp_path / "notes", one_en="# One\n\n[here](/en/nowhere) and [there](#nothing)\n")
    told = built(tmp_path / "out", notes)
    assert told.returncode == 1
    assert "dead link /en/one: /en/nowhere leads nowhere" in told.stderr
    assert "dead link /en/one: #nothing leads to a place that is not on that page" in told.stderr


@pytest.mark.parametrize("words", [("--live", "l.example"), ("--base-url", "ftp://e.example"), ("--live", "https://[")])
def test_an_address_that_is_none_is_refused(tmp_path: Path, words: tuple[str, str]) -> None:
    told = built(tmp_path / "out", planted(tmp_path / "notes", one_en=MOVED), *words)
    assert told.returncode == 2
    assert words[1] in told.stderr
    assert not (tmp_path / "out").exists()
