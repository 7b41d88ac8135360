"""Search in a real browser: by keyboard, as it is typed, under an input method, and without scripts."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from app.web.assets import HTMX_CDN
from tests.conftest import Reader, served
from tests.web.visits import planted

SEED = "---\ngrowth: evergreen\n---\n# Seed\n\nA seed, and what grows from it. ([[soil]])\n"
SOIL = "# Soil\n\nThe seed lies in it.\n"
SEED_ZH = "# 种子\n\n种子（seed）落进土里，土很肥。\n"


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = planted(tmp_path_factory.mktemp("field") / "notes", seed_en=SEED, soil_en=SOIL, seed_zh=SEED_ZH)
    with served(folder) as address:
        yield address


def asked(page: Page) -> list[str]:
    """What the browser asks search for from now on."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url) if "/search/results" in request.url else None)
    return found


def box(page: Page) -> Locator:
    return page.locator("main input[type=search]")


def results(page: Page) -> Locator:
    return page.locator("[data-result]")


def status(page: Page) -> Locator:
    return page.get_by_role("status")


def test_results_follow_the_typing_and_are_announced(field: str, reader: Callable[..., Reader]) -> None:
    one = reader()
    page = one.open(f"{field}/en/search")
    expect(box(page)).to_be_focused()
    expect(status(page)).to_have_text("")
    page.keyboard.type("lie")
    expect(results(page)).to_have_text(["Soil"])
    expect(status(page)).to_have_text("Notes found: 1.")
    expect(box(page)).to_be_focused()
    expect(page.locator("mark")).to_have_text(["lie"])
    page.keyboard.type("z")
    expect(status(page)).to_have_text("No note contains all of this.")
    expect(results(page)).to_have_count(0)
    assert page.url == f"{field}/en/search"
    page.keyboard.press("Backspace")
    expect(results(page)).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/en/search?q=lie")
    page.reload()
    expect(results(page)).to_have_text(["Soil"])


def test_typing_fast_asks_once_for_the_last_words(field: str, reader: Callable[..., Reader]) -> None:
    one = reader()
    page = one.open(f"{field}/en/search")
    requests = asked(page)
    page.keyboard.type("seed")
    expect(results(page)).to_have_count(3)
    page.wait_for_timeout(300)
    assert requests[-1] == f"{field}/en/search/results?q=seed"
    assert len(requests) <= 2
    requests.clear()
    page.keyboard.type(" falls")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert requests == [f"{field}/en/search/results?q=seed+falls"]


def test_an_older_answer_never_takes_the_place_of_a_newer_one(field: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{field}/en/search")
    late: list[Route] = []
    page.route("**/results?q=li", lambda route: late.append(route))
    page.keyboard.type("li")
    page.wait_for_timeout(300)
    page.keyboard.type("ez")
    expect(status(page)).to_have_text("No note contains all of this.")
    assert len(late) == 1
    late[0].continue_()
    page.wait_for_timeout(300)
    expect(results(page)).to_have_count(0)


def test_nothing_is_asked_while_an_input_method_composes(field: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{field}/zh/search")
    requests = asked(page)
    keys = page.context.new_cdp_session(page)
    for so_far in ("t", "tu", "tu'li"):
        at = len(so_far)
        keys.send("Input.imeSetComposition", {"text": so_far, "selectionStart": at, "selectionEnd": at})
        expect(box(page)).to_have_value(so_far)
        page.wait_for_timeout(250)
    assert requests == []
    keys.send("Input.insertText", {"text": "土里"})
    expect(results(page)).to_have_text(["种子"])
    expect(status(page)).to_have_text("找到 1 篇笔记。")
    assert requests == [f"{field}/zh/search/results?q=%E5%9C%9F%E9%87%8C"]


def test_a_composition_that_begins_takes_back_what_was_about_to_be_asked(
    field: str, reader: Callable[..., Reader]
) -> None:
    page = reader().open(f"{field}/zh/search")
    requests = asked(page)
    page.evaluate("""() => {
        const box = document.querySelector("main [data-find]"), say = (kind, more) => box.dispatchEvent(
            new (kind === "input" ? InputEvent : CompositionEvent)(kind, { bubbles: true, ...more }));
        box.value = "s"; say("input", { isComposing: false });
        say("compositionstart"); box.value = "sz"; say("input", { isComposing: true });
    }""")
    page.wait_for_timeout(300)
    assert requests == []
    page.evaluate("""() => {
        const box = document.querySelector("main [data-find]");
        box.value = "肥"; box.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true }));
    }""")
    expect(results(page)).to_have_text(["种子"])
    assert requests == [f"{field}/zh/search/results?q=%E8%82%A5"]


def test_arrows_under_a_composition_belong_to_the_input_method(field: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{field}/zh/search?q=seed")
    box(page).focus()
    page.evaluate("""() => document.querySelector("main [data-find]").dispatchEvent(
        new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, isComposing: true }))""")
    expect(box(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(results(page).first).to_be_focused()


@pytest.mark.parametrize("path", ["/en/seed", "/zh/", "/en/widgets/momentum", "/en/nowhere"])
def test_a_slash_leads_to_the_box_from_any_page(field: str, reader: Callable[..., Reader], path: str) -> None:
    page = reader().open(field + path)
    page.keyboard.press("/")
    found = page.get_by_role("searchbox", name="Search the notes" if path[1] == "e" else "搜索笔记")
    expect(found).to_be_focused()
    expect(found).to_have_value("")
    page.keyboard.type("seed/")
    expect(found).to_have_value("seed/")
    page.keyboard.press("Escape")
    expect(found).to_have_value("")
    expect(found).to_be_focused()
    page.keyboard.press("Escape")
    expect(found).not_to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("lies")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{path[:3]}/search?q=lies")
    expect(results(page)).to_have_text(["Soil"])


def test_a_slash_keeps_the_place_of_the_page(article: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{article}/en/why-training-results-change")
    page.evaluate("scrollTo({ top: 3000, behavior: 'instant' })")
    before = page.evaluate("scrollY")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search the notes")).to_be_focused()
    page.keyboard.type("a")
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") == before > 2000


def test_a_slash_in_a_field_is_a_slash_and_a_shortcut_with_a_modifier_is_not_ours(
    field: str, reader: Callable[..., Reader]
) -> None:
    page = reader().open(f"{field}/en/widgets/momentum")
    number = page.locator("input[data-parameter]").first
    number.focus()
    number.press("/")
    expect(number).to_be_focused()
    page.locator("h1").click()
    page.keyboard.press("Control+/")
    assert page.evaluate("document.activeElement.type") != "search"


def test_on_a_narrow_screen_the_slash_and_the_button_lead_to_the_page(
    field: str, reader: Callable[..., Reader]
) -> None:
    page = reader(viewport={"width": 390, "height": 800}).open(f"{field}/en/seed")
    expect(page.locator(".bar input")).not_to_be_visible()
    bar = page.locator(".bar").bounding_box()
    assert bar is not None and bar["height"] < 60
    page.locator(".bar").get_by_role("button", name="Search").click()
    page.wait_for_url("**/en/search?q=")
    expect(box(page)).to_be_focused()
    page.go_back()
    page.keyboard.press("/")
    page.wait_for_url("**/en/search?q=")


def test_arrows_walk_through_the_results_and_back_to_the_box(field: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{field}/en/search?q=seed")
    expect(results(page)).to_have_text(["Seed", "Soil", "种子"])
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    assert page.evaluate("getSelection().toString()") == "seed"
    page.keyboard.press("ArrowUp")
    expect(box(page)).to_be_focused()
    for at in (0, 1, 2, 2):
        page.keyboard.press("ArrowDown")
        expect(results(page).nth(at)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(results(page).nth(1)).to_be_focused()
    page.keyboard.press("Escape")
    expect(box(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    expect(box(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/en/seed")


def test_going_to_a_result_and_back_finds_the_same_results(field: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{field}/en/search")
    page.keyboard.type("lies")
    expect(results(page)).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/en/soil")
    page.go_back()
    page.wait_for_url("**/en/search?q=lies")
    expect(box(page)).to_have_value("lies")
    expect(results(page)).to_have_text(["Soil"])


def test_who_walks_into_results_that_are_replaced_stays_in_the_box(field: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{field}/en/search?q=seed")
    late: list[Route] = []
    page.route("**/results?q=seeds", lambda route: late.append(route))
    page.keyboard.press("/")
    page.keyboard.press("End")
    page.keyboard.type("s")
    page.wait_for_timeout(300)
    page.keyboard.press("ArrowDown")
    expect(results(page).first).to_be_focused()
    late[0].continue_()
    expect(status(page)).to_contain_text("No note")
    expect(box(page)).to_be_focused()


def test_what_is_typed_keeps_the_filters_and_goes_along_into_the_other_language(
    field: str, reader: Callable[..., Reader]
) -> None:
    page = reader().open(f"{field}/en/search?q=xyz&growth=evergreen")
    requests = asked(page)
    box(page).fill("seed")
    expect(results(page)).to_have_text(["Seed"])
    assert requests == [f"{field}/en/search/results?q=seed&growth=evergreen"]
    page.locator("[data-language]").click()
    page.wait_for_url("**/zh/search?q=seed&growth=evergreen")
    expect(box(page)).to_have_value("seed")


def test_a_server_that_does_not_answer_is_told_and_the_results_stay(field: str, reader: Callable[..., Reader]) -> None:
    one = reader()
    page = one.open(f"{field}/en/search?q=seed")
    page.route("**/search/results?**", lambda route: route.abort())
    box(page).fill("soil")
    expect(status(page)).to_have_text("The server did not answer; what is shown was found before.")
    expect(results(page)).to_have_count(3)
    page.unroute("**/search/results?**")
    box(page).fill("lies")
    expect(status(page)).to_have_text("Notes found: 1.")
    one.said = [line for line in one.said if "Failed to load" not in line and "fetch" not in line.lower()]


@pytest.mark.parametrize("scripts", [True, False])
def test_search_works_where_htmx_or_all_scripts_are_missing(
    field: str, reader: Callable[..., Reader], scripts: bool
) -> None:
    one = reader(java_script_enabled=scripts)
    one.page.unroute(HTMX_CDN)
    one.page.route(HTMX_CDN, lambda route: route.abort())
    page = one.open(f"{field}/en/seed")
    search = page.locator(".bar input[type=search]")
    search.fill("seed")
    search.press("Enter")
    page.wait_for_url("**/en/search?q=seed")
    expect(results(page)).to_have_text(["Seed", "Soil", "种子"])
    page.get_by_role("link", name="Evergreen", exact=True).click()
    expect(results(page)).to_have_text(["Seed"])
    box(page).fill("soil")
    box(page).press("Enter")
    page.wait_for_url("**/en/search?q=soil&growth=evergreen")
    expect(results(page)).to_have_text(["Seed"])
    one.said = [line for line in one.said if "Failed to load" not in line]


def test_a_rest_on_a_result_opens_no_preview_over_the_others(field: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{field}/en/search?q=seed")
    results(page).first.hover()
    page.wait_for_timeout(600)
    expect(page.locator(".preview:popover-open")).to_have_count(0)
