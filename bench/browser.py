"""The garden in a real browser: what a first visit loads, whether anything shifts, how long a change takes to show."""

import gzip
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, Request, sync_playwright

from app.web.assets import HTMX_CDN
from bench.processes import ARTICLE, Server, bare, garden
from bench.results import Row
from tests.conftest import FLAGS, Reader, browser_path, published_htmx

SIZES = ((1440, 900), (390, 844))

WATCH_SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""

CHANGE = """async ([field, result, values]) => {
  const input = document.querySelector(field), shown = document.querySelector(result), times = [];
  for (const value of values) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    const swapped = new Promise((resolve, reject) => {
      const observer = new MutationObserver(() => { observer.disconnect(); resolve(performance.now()); });
      observer.observe(shown, { childList: true });
      setTimeout(() => reject(new Error(`no result for ${value}`)), 5000);
    });
    input.value = value;
    const pressed = performance.now();
    input.dispatchEvent(new Event("change", { bubbles: true }));
    times.push(await swapped - pressed);
  }
  return times;
}"""
"""Commits each value in turn and takes the time until the result has been swapped in."""


@contextmanager
def browsing() -> Iterator[tuple[Browser, Path | None]]:
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        yield browser, published_htmx(Path(folder))
        browser.close()


def visits(
    browser: Browser,
    htmx: Path | None,
    languages: tuple[str, ...] = ("en", "zh"),
    sizes: tuple[tuple[int, int], ...] = SIZES,
) -> list[Row]:
    """A first visit with nothing kept, then a walk down the whole page, in both languages and both widths."""
    kilobytes, requests, shifted = [], [], []
    with garden() as server:
        server.settle()
        for language in languages:
            for width, height in sizes:
                one = Reader(browser, htmx, viewport={"width": width, "height": height})
                seen: list[Request] = []
                one.page.on("requestfinished", keeper(seen))
                one.page.add_init_script(WATCH_SHIFTS)
                page = one.open(f"{server.address}/{language}/{ARTICLE}")
                loaded = [request for request in seen if not request.url.startswith("data:")]
                kilobytes.append(sum(transferred(request, htmx) for request in loaded) / 1000)
                requests.append(len(loaded))
                walk(page)
                shifted.append(page.evaluate("window.shifted"))
                one.context.close()
    size, most, shift = max(kilobytes), max(requests), max(shifted)
    return [
        Row(
            "first visit of the article, all files compressed",
            "≤ 60 kB",
            f"{size:.1f} kB, heads included, htmx as gzip",
            size <= 60,
        ),
        Row("first visit of the article, requests", "≤ 6", f"{most}, one of them for htmx", most <= 6),
        Row(
            "layout shift, first visit and a walk down the page, 1440 and 390 px",
            "0",
            f"{shift:.4f}".rstrip("0").rstrip("."),
            shift == 0,
        ),
    ]


def keeper(seen: list[Request]) -> Callable[[Request], None]:
    return lambda request: seen.append(request)


def transferred(request: Request, htmx: Path | None) -> int:
    """Bytes of an answer as they crossed the network; htmx, which comes from a file here, counts as gzip packs it."""
    if request.url == HTMX_CDN and htmx is not None:
        return len(gzip.compress(htmx.read_bytes()))
    sizes = request.sizes()
    return sizes["responseBodySize"] + sizes["responseHeadersSize"]


def walk(page: Page) -> None:
    """To the end of the page, a screen at a time."""
    page.evaluate("""async () => {
      for (let at = 0; at < document.body.scrollHeight; at += innerHeight) {
        scrollTo({ top: at, behavior: "instant" });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }""")


def changes(browser: Browser, htmx: Path | None, blocks: int = 6, each: int = 20) -> list[Row]:
    """The momentum widget of the article and the bare one by turns; no value is asked for twice."""
    if htmx is None:
        return []
    ours: list[float] = []
    least: list[float] = []
    processor = 0.0
    with garden() as server, bare("widget", htmx) as other:
        other.until("/")
        server.settle()
        idle = idle_share(server)
        article = Reader(browser, htmx).open(f"{server.address}/en/{ARTICLE}")
        plain = Reader(browser, htmx).open(other.address)
        for at in range(blocks + 1):
            values = [f"{0.1 + (at * each + step) / 1000:.3f}" for step in range(each)]
            article.bring_to_front()
            before, began = server.processor_seconds(), time.perf_counter()
            times = article.evaluate(CHANGE, ["#momentum-beta", "#momentum-result", values])
            used = server.processor_seconds() - before - idle * (time.perf_counter() - began)
            plain.bring_to_front()
            others = plain.evaluate(CHANGE, ["#beta", "#result", values])
            if at:  # the first block warms both up
                ours, least, processor = ours + times, least + others, processor + used
        assert f"momentum.beta={values[-1]}" in article.url
        article.context.close()
        plain.context.close()
    one, another, each_used = statistics.median(ours), statistics.median(least), processor / len(ours) * 1000
    ratio = one / another
    return [
        Row(
            "one change of a widget in the article to its result in the page",
            "≤ 12 ms",
            f"{one:.1f} ms, median of {len(ours)}",
            one <= 12,
        ),
        Row(
            "the same, as a multiple of a bare FastAPI route that draws one line",
            "≤ 2",
            f"{ratio:.2f} (the bare one {another:.1f} ms)",
            ratio <= 2,
        ),
        Row("processor time of the server for one change", "≤ 2 ms", f"{each_used:.2f} ms", each_used <= 2),
    ]


def idle_share(server: Server, seconds: float = 2.0) -> float:
    """Of one core, while nobody asks anything."""
    before = server.processor_seconds()
    time.sleep(seconds)
    return (server.processor_seconds() - before) / seconds
