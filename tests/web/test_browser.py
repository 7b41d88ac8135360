"""The garden in a real browser, as a reader uses it."""

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.assets import HTMX_CDN
from tests.conftest import Reader, served

NOTE = """---
growth: budding
---
# Two of a kind

Before the first.

```widget momentum
restore: weights
```

Between: [0.614]{ran=momentum resumed_target=2 read=resumed.1.w}

## Later {#later}

```widget momentum
as: second
beta: 0.5
```
"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A content folder with a note that shows two widgets of one kind, in both languages."""
    folder = tmp_path_factory.mktemp("two")
    for language in ("en", "zh"):
        (folder / f"two.{language}.md").write_text(NOTE, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def garden(two: Path) -> Iterator[str]:
    with served(two) as address:
        yield address


class Slow:
    """Every fragment takes so long; counts how many are under way at once, and how many there were."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app, self.seconds = app, seconds
        self.now = self.most = self.all = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].endswith("/result"):
            await self.app(scope, receive, send)
            return
        self.now, self.all = self.now + 1, self.all + 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self.seconds)
        try:
            await self.app(scope, receive, send)
        finally:
            self.now -= 1


def drag(page: Page, slider: str, end: float) -> None:
    """Press the thumb, move it in 45 steps over 1.5 s to a share of the range, release."""
    handle = page.locator(slider)
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.9, y)
    page.mouse.down()
    for step in range(45):
        share = 0.9 + (end - 0.9) * (step + 1) / 45
        page.mouse.move(box["x"] + box["width"] * share, y)
        page.wait_for_timeout(33)
    page.mouse.up()


@pytest.mark.parametrize("milliseconds", [5, 150])
def test_a_drag_shows_live_frames_one_request_at_a_time_and_ends_on_its_last_value(
    two: Path, reader: Callable[..., Reader], milliseconds: int
) -> None:
    slow: list[Slow] = []

    def around(app: ASGIApp) -> ASGIApp:
        slow.append(Slow(app, milliseconds / 1000))
        return slow[0]

    with served(two, around) as address:
        page = reader().open(f"{address}/en/two")
        page.evaluate("""() => {
            window.frames_shown = new Set();
            const result = document.getElementById("momentum-result");
            new MutationObserver(() => window.frames_shown.add(result.innerHTML))
              .observe(result, { childList: true });
        }""")
        drag(page, '[data-for="momentum-beta"]', 0.2)
        expect(page.locator("#momentum")).not_to_have_attribute("data-stale", re.compile(".*"))
        page.wait_for_timeout(milliseconds + 100)
        assert page.evaluate("window.frames_shown.size") >= 4
        assert slow[0].most == 1
        beta = page.locator("#momentum-beta").input_value()
        assert f"momentum.beta={beta}" in page.url
        shown = page.locator("#momentum-result").inner_html()
        fresh = page.request.get(f"{address}/en/widgets/momentum/result?of=momentum&in=two&momentum.beta={beta}").text()
        drawn = re.compile(r'class="[ab]" d="([^"]+)"')
        assert drawn.findall(shown) == drawn.findall(fresh)
        assert len(drawn.findall(shown)) >= 4  # two runs, and their strokes in the legend


def test_focus_stays_on_the_slider_while_results_come_in(garden: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{garden}/en/two")
    slider = page.locator('[data-for="momentum-beta"]')
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(page.locator("#momentum-beta")).to_have_value("0.85")
    page.wait_for_url("**momentum.beta=0.85**")
    expect(slider).to_be_focused()


def test_back_reload_and_a_copied_address_show_the_same_state(garden: str, reader: Callable[..., Reader]) -> None:
    one = reader()
    page = one.open(f"{garden}/en/two")
    page.get_by_role("link", name="target moved to 2").first.click()
    page.wait_for_url("**momentum.resumed_target=2**")
    headline = page.locator("#momentum .headline")
    expect(headline).to_contain_text("0.614")
    address = page.url
    page.reload()
    expect(headline).to_contain_text("0.614")
    expect(page.locator("#momentum-resumed_target")).to_have_value("2")
    page.goto(f"{garden}/en/")
    page.go_back()
    expect(headline).to_contain_text("0.614")
    expect(page.locator("#momentum-resumed_target")).to_have_value("2")
    other = reader().open(address)
    expect(other.locator("#momentum .headline")).to_contain_text("0.614")


def test_two_widgets_of_one_kind_do_not_disturb_each_other(garden: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{garden}/en/two")
    second = page.locator("#second-result").inner_html()
    page.locator("#momentum-lr").fill("0.2")
    page.locator("#momentum-lr").press("Enter")
    page.wait_for_url("**momentum.lr=0.2**")
    assert page.locator("#second-result").inner_html() == second
    page.locator("#second #second-lr").fill("0.3")
    page.locator("#second #second-lr").press("Enter")
    page.wait_for_url("**second.lr=0.3**")
    assert "momentum.lr=0.2" in page.url
    expect(page.locator("#momentum-lr")).to_have_value("0.2")


def test_a_ran_number_opens_its_state_in_the_page(garden: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{garden}/en/two")
    page.locator("a.ran").click()
    expect(page.locator("#momentum .headline")).to_contain_text("0.614")
    assert "momentum.resumed_target=2" in page.url


def test_a_wrong_value_is_explained_and_the_old_result_stays_marked_stale(
    garden: str, reader: Callable[..., Reader]
) -> None:
    page = reader().open(f"{garden}/en/two")
    before = page.locator("#momentum .headline").inner_text()
    page.locator("#momentum-beta").fill("1.5")
    expect(page.locator("#momentum-problems")).to_contain_text("must be at least 0 and below 1")
    expect(page.locator("#momentum")).to_have_attribute("data-stale", "")
    expect(page.locator("#momentum-beta")).to_have_attribute("aria-invalid", "true")
    assert page.locator("#momentum .headline").inner_text() == before
    page.locator("#momentum-beta").fill("０．５")
    expect(page.locator("#momentum-problems")).to_be_empty()
    expect(page.locator("#momentum")).not_to_have_attribute("data-stale", "")
    expect(page.locator("#momentum-beta")).not_to_have_attribute("aria-invalid", "true")


def test_everything_works_with_scripts_off(garden: str, reader: Callable[..., Reader]) -> None:
    page = reader(java_script_enabled=False).open(f"{garden}/en/two?second.lr=0.4")
    expect(page.locator('[data-for="momentum-beta"]')).to_be_hidden()
    page.locator("#momentum-beta").fill("0.5")
    page.locator("#momentum form button").first.click()
    assert "momentum.beta=0.5" in page.url
    assert "second.lr=0.4" in page.url
    expect(page.locator("#second-lr")).to_have_value("0.4")
    page.get_by_role("link", name="full state").first.click()
    expect(page.locator("#momentum .headline")).to_contain_text("in every bit")
    expect(page.locator("#second-lr")).to_have_value("0.4")
    page.locator("a.ran").click()
    expect(page.locator("#momentum .headline")).to_contain_text("0.614")


def test_the_language_switch_keeps_the_states_and_the_section(garden: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{garden}/en/two")
    page.locator("#momentum-beta").fill("0.5")
    page.locator("#momentum-beta").press("Enter")
    page.wait_for_url("**momentum.beta=0.5**")
    page.evaluate("document.getElementById('later').scrollIntoView({ behavior: 'instant' })")
    page.get_by_role("link", name="中文").click()
    assert page.url.endswith("/zh/two?momentum.beta=0.5#later")
    expect(page.locator("#momentum-beta")).to_have_value("0.5")


def test_without_the_cdn_the_plain_forms_work(garden: str, reader: Callable[..., Reader]) -> None:
    one = reader()
    one.page.unroute(HTMX_CDN)
    one.page.route(HTMX_CDN, lambda route: route.abort())
    page = one.open(f"{garden}/en/two")
    one.said.clear()  # the browser reports the file that it could not load
    page.locator("#momentum-beta").fill("0.5")
    page.locator("#momentum form button").first.click()
    page.wait_for_url("**momentum.beta=0.5**")
    expect(page.locator("#momentum-beta")).to_have_value("0.5")
    one.said.clear()


def test_the_theme_is_kept(garden: str, reader: Callable[..., Reader]) -> None:
    page = reader(color_scheme="light").open(f"{garden}/en/two")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("[data-theme-switch]").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_back_leads_from_a_ran_number_to_its_sentence_again(garden: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{garden}/en/two")
    number = page.locator("a.ran")
    number.click()
    expect(page.locator("#momentum .headline")).to_contain_text("0.614")
    expect(page.locator("#momentum")).to_be_focused()
    expect(page.locator("#momentum td[data-sought]")).to_have_text("0.614")
    page.go_back()
    assert page.url.startswith(f"{garden}/en/two")
    expect(number).to_be_in_viewport()


class Full:
    """The first two fragments are refused as by a full laboratory: a choice from a list fires `input` and `change`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.asked = app, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].endswith("/result"):
            self.asked += 1
            if self.asked <= 2:
                headers = [(b"retry-after", b"1"), (b"content-type", b"text/html")]
                await send({"type": "http.response.start", "status": 503, "headers": headers})
                await send({"type": "http.response.body", "body": b"<p>Full.</p>"})
                return
        await self.app(scope, receive, send)


def test_a_full_laboratory_is_asked_again_for_the_last_value(two: Path, reader: Callable[..., Reader]) -> None:
    with served(two, Full) as address:
        page = reader().open(f"{address}/en/two")
        page.locator("#momentum-restore").select_option("full")
        expect(page.locator("#momentum-problems")).to_contain_text("Full.")
        expect(page.locator("#momentum")).to_have_attribute("data-stale", "")
        expect(page.locator("#momentum .headline")).to_contain_text("in every bit")
        expect(page.locator("#momentum")).not_to_have_attribute("data-stale", "")
        expect(page.locator("#momentum-problems")).to_be_empty()


def test_a_wrong_value_right_after_a_good_one_leaves_the_result_stale(
    garden: str, reader: Callable[..., Reader]
) -> None:
    page = reader().open(f"{garden}/en/two")
    page.evaluate("""() => {
        const field = document.getElementById("momentum-beta");
        const type = (text) => { field.value = text; field.dispatchEvent(new Event("input", { bubbles: true })); };
        type("0.3");
        setTimeout(() => type("x"), 10);
    }""")
    expect(page.locator("#momentum-problems")).to_contain_text("is not a number")
    page.wait_for_timeout(200)
    expect(page.locator("#momentum")).to_have_attribute("data-stale", "")


def test_fewer_steps_than_the_untouched_checkpoint_are_no_mistake(garden: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{garden}/en/two")
    page.locator("#momentum-steps").fill("1")
    page.locator("#momentum-steps").press("Enter")
    page.wait_for_url("**momentum.steps=1**")
    expect(page.locator("#momentum-problems")).to_be_empty()
    expect(page.locator("#momentum-rows tbody tr")).to_have_count(2)


def test_the_panel_of_a_node_closes_by_escape(article: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{article}/en/why-training-results-change")
    page.locator('svg.network [data-node="concept:momentum"]').click()
    panel = page.locator('[id="node-concept-momentum"]')
    expect(panel).to_be_visible()
    panel.locator("a").last.focus()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
