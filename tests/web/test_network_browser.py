"""The concept network in a real browser: measured, filtered, pressed; and what carries htmx."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.web.assets import HTMX_CDN, HTMX_INTEGRITY
from bench.vault import write_vault
from tests.conftest import ROOT, Reader, served, sha384

BOXES = """() => [...document.querySelectorAll('svg.network text, svg.network circle')].map((shape) => {
    const box = shape.getBBox();
    return { kind: shape.tagName, name: shape.textContent || shape.parentNode.getAttribute('aria-label'),
             owner: shape.parentNode.dataset.node,
             left: box.x, top: box.y, right: box.x + box.width, bottom: box.y + box.height };
})"""


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(write_vault(tmp_path_factory.mktemp("vault"), 300)) as address:
        yield address


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("network", ["of a note", "of the garden", "around a note", "of concepts"])
def test_no_label_of_the_network_overlaps_another_or_a_node(
    article: str, vault: str, reader: Callable[..., Reader], language: str, width: int, network: str
) -> None:
    address, least = {
        "of a note": (f"{article}/{language}/why-training-results-change", 40),
        "of the garden": (f"{vault}/{language}/concepts", 100),
        "around a note": (f"{vault}/{language}/concepts?around=note:note-00003", 8),
        "of concepts": (f"{vault}/{language}/concepts?kind=concept", 40),
    }[network]
    page = reader(viewport={"width": width, "height": 900}).open(address)
    expect(page.locator("svg.network")).to_be_attached(timeout=20_000)
    boxes = page.evaluate(BOXES)
    labels = [box for box in boxes if box["kind"] == "text"]
    assert len(labels) >= least
    overlaps = [
        (one["name"], two["name"])
        for at, one in enumerate(labels)
        for two in [*labels[at + 1 :], *(box for box in boxes if box["kind"] == "circle")]
        if not (one["owner"] == two["owner"] and two["kind"] == "text")
        and min(one["right"], two["right"]) - max(one["left"], two["left"]) > 0.5
        and min(one["bottom"], two["bottom"]) - max(one["top"], two["top"]) > 0.5
    ]
    assert overlaps == []


def test_typing_filters_and_the_counter_says_what_is_left(article: str, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{article}/en/why-training-results-change")
    total = page.locator("svg.network [data-node]").count()
    counter = page.locator("[data-shown]")
    expect(counter).to_have_text(f"{total} / {total}")
    page.locator("[data-filter]").fill("momentum")
    named = page.locator("svg.network [data-node]:not([data-off])")
    expect(named).to_have_count(1)
    expect(named).to_have_attribute("data-node", "concept:momentum")
    expect(counter).to_have_text(f"1 / {total}")
    page.locator("[data-filter]").fill("")
    page.locator('[data-kind-switch][value="section"]').uncheck()
    sections = page.locator('svg.network [data-kind="section"][data-node]').count()
    expect(counter).to_have_text(f"{total - sections} / {total}")


@pytest.mark.parametrize("scripts", [True, False])
def test_pressing_a_node_shows_its_panel_with_every_place(
    article: str, reader: Callable[..., Reader], scripts: bool
) -> None:
    page = reader(java_script_enabled=scripts).open(f"{article}/en/why-training-results-change")
    panel = page.locator('[id="node-concept-momentum"]')
    expect(panel).to_be_hidden()
    page.locator('svg.network [data-node="concept:momentum"]').click()
    expect(panel).to_be_visible()
    expect(panel.locator("li").first).to_contain_text("momentum")
    panel.locator("li[data-marked]").get_by_role("link", name="read in context").click()
    assert page.url.endswith("#at-momentum-1")
    expect(page.locator("#at-momentum-1")).to_be_in_viewport()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_list_says_the_same_as_the_picture(article: str, reader: Callable[..., Reader], language: str) -> None:
    page = reader(java_script_enabled=False).open(f"{article}/{language}/why-training-results-change")
    drawn = page.locator('svg.network [data-kind="concept"][data-node]')
    names = {drawn.nth(at).get_attribute("aria-label") for at in range(drawn.count())}
    page.locator(".network-list summary").click()
    assert set(page.locator(".network-list dt").all_inner_texts()) == names


@pytest.mark.parametrize("scripts", [True, False])
def test_the_network_of_the_garden_is_walked_through_by_its_links(
    vault: str, reader: Callable[..., Reader], scripts: bool
) -> None:
    page = reader(java_script_enabled=scripts).open(f"{vault}/en/concepts")
    expect(page.locator("svg.network")).to_be_attached(timeout=20_000)
    shown = page.locator("svg.network [data-node]").count()
    expect(page.locator("[data-shown]")).to_have_text(f"{shown} / 190")
    page.locator('svg.network [data-node^="note:"]').first.focus()
    page.keyboard.press("Enter")
    panel = page.locator(".node:target")
    expect(panel).to_be_visible()
    title = panel.locator("h3").inner_text()
    panel.get_by_role("link", name="the network around it").click()
    expect(page.locator("p", has_text=f"The network around {title}.")).to_be_visible()
    expect(page.locator('svg.network a[aria-label="' + title + '"]')).to_be_attached()
    page.get_by_role("link", name="Budding", exact=True).click()
    assert "growth=budding" in page.url and "around=note" in page.url


@pytest.mark.parametrize("way", ["pointer", "keyboard"])
def test_the_lines_of_a_node_stand_out(vault: str, reader: Callable[..., Reader], way: str) -> None:
    page = reader().open(f"{vault}/en/concepts")
    node = page.locator('svg.network [data-kind="concept"][data-node]').nth(3)
    name = node.get_attribute("data-node")
    lines = page.locator(f'svg.network path:is([data-from="{name}"], [data-to="{name}"])')
    expect(lines).not_to_have_count(0)
    node.focus() if way == "keyboard" else node.locator("circle").hover()
    expect(page.locator("svg.network path[data-lit]")).to_have_count(lines.count())
    expect(lines.first).to_have_css("opacity", "1")
    expect(page.locator("svg.network path:not([data-lit])").first).to_have_css("opacity", "0.12")


def test_the_published_htmx_has_the_hash_that_pages_declare(
    article: str, htmx_file: Path | None, reader: Callable[..., Reader], tmp_path: Path
) -> None:
    published = htmx_file
    if published is None:
        published = tmp_path / "htmx.min.js"
        urllib.request.urlretrieve(HTMX_CDN, published)
    page = reader().open(f"{article}/en/")
    script = page.locator(f'script[src="{HTMX_CDN}"]')
    assert script.get_attribute("integrity") == sha384(published) == HTMX_INTEGRITY


@pytest.fixture(scope="module")
def carrying(tmp_path_factory: pytest.TempPathFactory, htmx_file: Path | None) -> Path:
    """A copy of the program whose static folder carries htmx, as the container's does."""
    copy = tmp_path_factory.mktemp("carrying")
    for name in ("app", "templates", "static", "content"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    if htmx_file is None:
        urllib.request.urlretrieve(HTMX_CDN, copy / "static/htmx.min.js")
    else:
        shutil.copy(htmx_file, copy / "static/htmx.min.js")
    return copy


@pytest.fixture(params=["cdn", "local"])
def carried(carrying: Path, request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """How the copy was told to serve htmx, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = os.environ | {"PYTHONPATH": str(carrying), "PERENNIAL_HTMX": request.param}
    command = [sys.executable, "-c", "from app.cli import main; main()", "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=env, cwd=carrying, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"{address}/healthz").read()
                break
            except OSError:
                time.sleep(0.1)
        yield request.param, address
    finally:
        process.terminate()
        process.wait(20)


def test_a_site_that_carries_htmx_works_where_the_cdn_cannot_be_reached(
    carried: tuple[str, str], reader: Callable[..., Reader]
) -> None:
    source, address = carried
    one = reader()
    one.page.unroute(HTMX_CDN)
    asked: list[str] = []
    one.page.route(HTMX_CDN, lambda route: (asked.append(route.request.url), route.abort()))
    page = one.open(f"{address}/en/why-training-results-change")
    assert len(asked) == (1 if source == "cdn" else 0)
    one.said.clear()  # the browser reports the file that it could not load
    slider = page.locator('[data-for="momentum-beta"]')
    expect(slider).to_be_visible()
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**momentum.beta=0.89**")
