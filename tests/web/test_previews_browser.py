"""Previews in a real browser: by mouse, by keyboard, by touch."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.conftest import Reader, served
from tests.web.visits import planted

HOST = """---
summary: About the house.
---
# House

The [wall]{concept=paint} stands beside [[guest|the guest]], near [[guest#bed|the bed]] and
[0.514]{ran=momentum read=uninterrupted.3.w}.

```widget momentum
```
"""
GUEST = """---
summary: One who stays.
growth: evergreen
---
# Guest

## Bed {#bed}

Sleep well, then see [[house]].
"""
CONCEPTS = "paint:\n  label: {en: paint, zh: 油漆}\n  meaning: {en: what covers a wall, zh: 涂料}\n"
OPENED = ".preview:popover-open"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = planted(tmp_path_factory.mktemp("house") / "notes", house_en=HOST, guest_en=GUEST)
    (folder / "concepts.yaml").write_text(CONCEPTS, encoding="utf-8")
    with served(folder) as address:
        yield address


def asked(page: Page) -> list[str]:
    """The previews that the browser asks for from now on."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url) if "/preview" in request.url else None)
    return found


def boxes(*parts: Locator) -> list[tuple[float, float, float, float]]:
    found = [part.bounding_box() for part in parts]
    return [(box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]) for box in found if box]


def test_a_pointer_that_only_passes_asks_for_nothing(house: str, reader: Callable[..., Reader]) -> None:
    one = reader()
    requests = asked(one.page)
    one.page.clock.install()
    page = one.open(f"{house}/en/house")
    link = page.get_by_role("link", name="the guest")
    link.hover()
    page.clock.run_for(200)
    page.mouse.move(2, 2)
    page.clock.run_for(2000)
    assert requests == []
    link.hover()
    page.clock.run_for(300)
    expect(page.locator(OPENED)).to_contain_text("One who stays.")


def test_a_pointer_that_rests_opens_a_preview_and_one_that_leaves_closes_it(
    house: str, reader: Callable[..., Reader]
) -> None:
    one = reader()
    requests = asked(one.page)
    page = one.open(f"{house}/en/house")
    assert requests == []
    link, preview = page.get_by_role("link", name="the guest"), page.locator(OPENED)
    link.hover()
    expect(preview).to_contain_text("One who stays.")
    expect(link).to_have_attribute("aria-expanded", "true")
    assert page.evaluate("document.activeElement === document.body")
    preview.hover()
    page.wait_for_timeout(600)
    expect(preview).to_be_visible()
    page.mouse.move(2, 2)
    expect(preview).to_have_count(0)
    expect(link).to_have_attribute("title", "Guest")
    expect(link).not_to_have_attribute("aria-expanded", "true")
    link.hover()
    expect(preview).to_be_visible()
    page.mouse.move(2, 2)
    expect(preview).to_have_count(0)
    assert requests == [f"{house}/en/guest/preview"]


@pytest.mark.parametrize("size", [(1280, 800), (360, 640), (900, 420)])
@pytest.mark.parametrize("name", ["wall", "the bed"])
def test_a_preview_stands_in_the_viewport_and_never_over_its_link(
    house: str, reader: Callable[..., Reader], size: tuple[int, int], name: str
) -> None:
    page = reader(viewport={"width": size[0], "height": size[1]}).open(f"{house}/en/house")
    link, preview = page.get_by_role("link", name=name, exact=True), page.locator(OPENED)
    link.hover()
    expect(preview).to_be_visible()
    (left, top, right, bottom), (_, upper, _, lower) = boxes(preview, link)
    assert left >= 0 and top >= 0 and right <= size[0] and bottom <= size[1]
    assert top >= lower or bottom <= upper


def test_a_concept_and_a_section_are_shown_and_a_number_is_not(house: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{house}/en/house")
    preview = page.locator(OPENED)
    page.get_by_role("link", name="wall", exact=True).hover()
    expect(preview).to_contain_text("what covers a wall")
    page.get_by_role("link", name="the bed").hover()
    expect(preview).to_contain_text("Sleep well")
    expect(preview).to_have_count(1)
    page.mouse.move(2, 2)
    expect(preview).to_have_count(0)
    page.locator("a.ran").first.hover()
    page.wait_for_timeout(700)
    expect(preview).to_have_count(0)


def test_the_keyboard_opens_a_preview_walks_into_it_and_closes_it(house: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{house}/en/house")
    link, preview = page.get_by_role("link", name="the guest"), page.locator(OPENED)
    page.get_by_role("link", name="wall", exact=True).focus()
    page.keyboard.press("Tab")
    expect(link).to_be_focused()
    expect(preview).to_contain_text("One who stays.")
    expect(link).to_be_focused()
    expect(link).to_have_accessible_description("One who stays.")
    page.keyboard.press("Tab")
    expect(preview.locator(".title a")).to_be_focused()
    page.wait_for_timeout(500)
    expect(preview).to_be_visible()
    page.keyboard.press("Escape")
    expect(preview).to_have_count(0)
    expect(link).to_be_focused()
    page.wait_for_timeout(500)
    expect(preview).to_have_count(0)
    page.keyboard.press("Enter")
    page.wait_for_url("**/en/guest")


def test_the_first_tap_opens_the_preview_and_the_second_follows(house: str, reader: Callable[..., Reader]) -> None:
    page = reader(has_touch=True, viewport={"width": 390, "height": 800}).open(f"{house}/en/house")
    link, preview = page.get_by_role("link", name="the guest"), page.locator(OPENED)
    link.tap()
    expect(preview).to_contain_text("One who stays.")
    assert page.url.endswith("/en/house")
    page.locator("h1").tap()
    expect(preview).to_have_count(0)
    link.tap()
    expect(preview).to_be_visible()
    link.tap()
    page.wait_for_url("**/en/guest")
    page.go_back()
    page.get_by_role("link", name="the bed").tap()
    preview.get_by_role("link", name="Open").tap()
    page.wait_for_url("**/en/guest#bed")


def test_a_tap_follows_the_link_when_there_is_no_preview(house: str, reader: Callable[..., Reader]) -> None:
    one = reader(has_touch=True)
    one.page.route("**/preview", lambda route: route.fulfill(status=404, body=""))
    page = one.open(f"{house}/en/house")
    page.get_by_role("link", name="the guest").tap()
    page.wait_for_url("**/en/guest")


def test_a_pinned_preview_stays_and_others_open_beside_it(house: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{house}/en/house")
    preview = page.locator(OPENED)
    page.get_by_role("link", name="wall", exact=True).hover()
    pin = preview.get_by_role("button", name="Keep open")
    pin.click()
    expect(pin).to_have_attribute("aria-pressed", "true")
    before = boxes(preview)
    page.mouse.move(2, 2)
    page.wait_for_timeout(600)
    page.mouse.wheel(0, 200)
    page.wait_for_timeout(200)
    assert boxes(preview) == before
    page.mouse.wheel(0, -200)
    page.locator("h1").click()
    page.get_by_role("link", name="the guest").focus()
    page.keyboard.press("Tab")
    expect(preview).to_have_count(2)
    preview.last.get_by_role("button", name="Keep open").press("Enter")
    page.keyboard.press("Escape")
    expect(preview).to_have_count(1)
    preview.get_by_role("button", name="Close").click()
    expect(preview).to_have_count(0)


def test_a_preview_opens_another_and_they_close_together(house: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{house}/en/house")
    preview = page.locator(OPENED)
    page.get_by_role("link", name="the bed").hover()
    preview.get_by_role("link", name="House").hover()
    expect(preview).to_have_count(2)
    expect(preview.last).to_contain_text("About the house.")
    preview.last.hover()
    page.wait_for_timeout(600)
    expect(preview).to_have_count(2)
    page.keyboard.press("Escape")
    expect(preview).to_have_count(1)
    page.mouse.move(2, 2)
    expect(preview).to_have_count(0)


def test_a_link_in_a_preview_leads_on_and_keeps_no_preview_behind(house: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{house}/en/house")
    page.get_by_role("link", name="the bed").hover()
    page.locator(OPENED).get_by_role("link", name="Open").click()
    page.wait_for_url("**/en/guest#bed")


def test_there_is_no_preview_without_scripts(house: str, reader: Callable[..., Reader]) -> None:
    one = reader(java_script_enabled=False)
    requests = asked(one.page)
    page = one.open(f"{house}/en/house")
    link = page.get_by_role("link", name="the guest")
    link.hover()
    page.wait_for_timeout(500)
    assert requests == []
    link.click()
    assert page.url.endswith("/en/guest")


def test_nothing_moves_where_motion_is_reduced(house: str, reader: Callable[..., Reader]) -> None:
    page = reader(reduced_motion="reduce").open(f"{house}/en/house")
    page.get_by_role("link", name="the guest").hover()
    expect(page.locator(OPENED)).to_have_css("transition-duration", "0s")
