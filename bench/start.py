"""From the command to the first page, and what the web process then holds."""

import statistics
import urllib.request

from app.experiments import EXPERIMENTS
from bench.processes import ARTICLE, garden
from bench.results import Row

PAGES = (
    *(f"/{language}/{page}" for language in ("en", "zh") for page in ("", ARTICLE, "widgets/", "concepts")),
    "/api/openapi.json",
)


def start(runs: int = 5) -> list[Row]:
    first, up, processor = [], [], []
    for _ in range(runs):
        with garden() as server:
            first.append(server.until(f"/en/{ARTICLE}"))
            processor.append(server.processor_seconds())
            up.append(first[-1] + server.until("/readyz"))
    seconds = statistics.median(first)
    said = f"{seconds:.2f} s, of which the processor worked {statistics.median(processor):.2f} s"
    return [
        Row("start to the first page of the article", "≤ 1 s", said, seconds <= 1),
        Row("start to the worker with torch being ready, behind the first pages", "", f"{statistics.median(up):.1f} s"),
    ]


def memory() -> list[Row]:
    """After every kind of page in both languages and a measured experiment."""
    with garden() as server:
        server.until("/readyz")
        paths = (
            *PAGES,
            *(
                f"/en/widgets/{name}?seed=1" if name == "accumulation" else f"/en/widgets/{name}"
                for name in EXPERIMENTS
            ),
        )
        for path in paths:
            with urllib.request.urlopen(server.address + path) as answer:
                answer.read()
        megabytes = server.resident_bytes() / 1e6
        torch = server.holds("torch")
    return [
        Row(
            "memory of the web process after every kind of page",
            "≤ 120 MB",
            f"{megabytes:.0f} MB resident",
            megabytes <= 120,
        ),
        Row("torch in the web process", "never", "found" if torch else "not mapped", not torch),
    ]
