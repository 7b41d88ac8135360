"""Comparing in a real browser, with real files: progress, the report, what goes wrong, and without scripts."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.traces import examples
from tests.conftest import Reader, served
from tests.traces.written import changed, digest, run, written

WHOLE = examples.path(examples.WHOLE)


def choose(page: Page, a: Path, *b: Path) -> None:
    page.set_input_files("#compare-a", a)
    page.set_input_files("#compare-b", b)


def verdict(page: Page) -> str:
    return page.locator(".verdict strong").inner_text()


@pytest.mark.parametrize("scripts", [True, False])
def test_two_files_are_compared(article: str, reader: Callable[..., Reader], scripts: bool) -> None:
    page = reader(java_script_enabled=scripts).open(f"{article}/en/compare")
    choose(page, WHOLE, examples.path("lost-optimizer"))
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("li[aria-current=step] code")).to_have_text("optimizer")
    assert verdict(page) == "The runs part at step 6, first in optimizer (what the optimizer remembers)."
    assert page.locator(".curves svg").count() == 2
    listed = page.get_by_role("region", name="weights, step 7: 4 of 4 tensors differ")
    expect(listed.get_by_role("row")).to_have_count(5)
    if scripts:
        assert page.url.endswith("/en/compare")
        expect(page.locator("#compare-report")).to_be_focused()
        expect(page.locator("#compare-status")).to_be_empty()
        expect(page.locator("progress")).to_be_hidden()


def test_long_traces_show_how_far_they_are(article: str, reader: Callable[..., Reader], tmp_path: Path) -> None:
    records = run(20_000)
    a = written(tmp_path / "a.jsonl", records)
    b = written(tmp_path / "b.jsonl", changed(records, "loss", 2, loss="nan"))
    page = reader().open(f"{article}/zh/compare")
    page.evaluate(
        """() => { window.said = []; new MutationObserver(() => window.said.push(
            document.getElementById("compare-status").textContent)).observe(
            document.getElementById("compare-status"), { childList: true, subtree: true, characterData: true }) }"""
    )
    choose(page, a, b)
    page.get_by_role("button", name="比较", exact=True).click()
    expect(page.locator("li[aria-current=step] code")).to_have_text("loss", timeout=60_000)
    said = page.evaluate("() => window.said")
    assert any(one.startswith("正在发送轨迹：") for one in said)
    shares = [int(found[1]) for one in said if (found := re.match(r"正在比较：(\d+) %", one))]
    assert shares and shares == sorted(shares) and shares[-1] <= 100


def test_what_is_wrong_is_said_and_another_try_is_free(
    article: str, reader: Callable[..., Reader], tmp_path: Path
) -> None:
    bad = tmp_path / "notes.txt"
    bad.write_text("not a trace\n")
    page = reader().open(f"{article}/en/compare")
    choose(page, WHOLE, bad)
    button = page.get_by_role("button", name="Compare", exact=True)
    button.click()
    expect(page.get_by_role("status")).to_contain_text("b/notes.txt")
    expect(button).to_be_enabled()
    choose(page, WHOLE, examples.path("clean-resume"))
    button.click()
    expect(page.locator(".verdict strong")).to_contain_text("Bitwise equal")
    expect(page.get_by_role("status")).to_be_empty()


def test_files_beyond_the_limit_are_not_even_sent(reader: Callable[..., Reader], tmp_path: Path) -> None:
    large = tmp_path / "large.jsonl"
    with large.open("wb") as file:
        file.truncate((1 << 20) + 1)
    with served(trace_limit=1) as address:
        page = reader().open(f"{address}/en/compare")
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.method))
        choose(page, large, WHOLE)
        page.get_by_role("button", name="Compare", exact=True).click()
        expect(page.get_by_role("status")).to_have_text("Together these files are larger than 1 MB.")
        assert "POST" not in sent


def test_words_in_a_drawing_are_filled_and_not_outlined(article: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{article}/en/compare/not-divided")
    expect(page.locator(".curves text.mark")).to_have_text(["they part", "they part"])
    strokes = "(all) => [...new Set(all.map((one) => getComputedStyle(one).stroke))]"
    assert page.locator(".chart text").evaluate_all(strokes) == ["none"]


def test_a_long_list_of_tensors_is_whole_on_paper(article: str, reader: Callable[..., Reader], tmp_path: Path) -> None:
    names = [f"layers.{number}.weight" for number in range(100)]

    def listing(what: str) -> dict[str, object]:
        each = {name: digest((name, what)) for name in names}
        norms = {name: (1.0).hex() for name in names}
        return {"event": "parameters", "step": 2, "of": "weights", "complete": True, "digests": each, "norms": norms}

    records = [*run(2), listing("a")]
    other = [*changed(run(2), "forward", 2, digest="0" * 32), listing("b")]
    page = reader().open(f"{article}/en/compare")
    choose(page, written(tmp_path / "a.jsonl", records), written(tmp_path / "b.jsonl", other))
    page.get_by_role("button", name="Compare", exact=True).click()
    listed = page.get_by_role("region", name="weights, step 2: 100 of 100 tensors differ")
    expect(listed.get_by_role("row")).to_have_count(101)
    heights = "(one) => [one.clientHeight, one.scrollHeight]"
    shown, whole = listed.evaluate(heights)
    assert shown < whole / 3
    page.emulate_media(media="print")
    shown, whole = listed.evaluate(heights)
    assert shown == whole
    expect(page.locator("form.bring")).to_be_hidden()


def test_nothing_is_too_wide_and_everything_has_a_name(article: str, reader: Callable[..., Reader]) -> None:
    for language in ("en", "zh"):
        for width in (390, 1440):
            page = reader(viewport={"width": width, "height": 800}).open(f"{article}/{language}/compare/not-divided")
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            page.goto(f"{article}/{language}/compare")
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            unnamed = page.evaluate(
                "() => [...document.querySelectorAll('input:not([type=hidden]), select')]"
                ".filter((one) => !one.labels?.length && !one.ariaLabel).map((one) => one.name)"
            )
            assert unnamed == []
