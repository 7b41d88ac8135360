"""The cached page of the article, against a constant response of the same size; whole, compressed, and 304."""

import statistics
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from bench.processes import ARTICLE, Generator, Server, bare, garden, generator
from bench.results import Row

PAGE = f"/en/{ARTICLE}"
PACKED = {"Accept-Encoding": "gzip, deflate, br"}


def pages(rounds: int = 9, seconds: float = 0.5, connections: int = 8) -> list[Row]:
    with garden() as ours, generator() as client:
        ours.settle()
        page, etag = body(ours, {})
        packed, _ = body(ours, PACKED)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "page").write_bytes(page)
            (Path(folder) / "packed").write_bytes(packed)
            with bare("constant", Path(folder)) as least:
                least.until("/page")
                pairs: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
                    "whole": (order(ours, PAGE), order(least, "/page")),
                    "compressed": (order(ours, PAGE, PACKED), order(least, "/packed", PACKED)),
                    "304": (order(ours, PAGE, {"If-None-Match": etag}), order(least, "/same")),
                }
                rates = interleaved(client, pairs, rounds, seconds, connections)
    said = {"whole": f"{len(page):,} bytes", "compressed": f"{len(packed):,} bytes, Brotli", "304": "not modified"}
    rows = []
    for name, measured in rates.items():
        ratio = statistics.median(one / other for one, other in measured)
        one, other = (statistics.median(side) for side in zip(*measured, strict=True))
        figures = f"{ratio:.2f} ({one:,.0f} against {other:,.0f} requests/s; {said[name]})"
        rows.append(
            Row(f"page of the article, cached, {name}: share of a bare Starlette route", "≥ 0.7", figures, ratio >= 0.7)
        )
    return rows


def body(server: Server, headers: dict[str, str]) -> tuple[bytes, str]:
    """As it is sent, compressed or not, and its ETag."""
    request = urllib.request.Request(server.address + PAGE, headers=headers)
    with urllib.request.urlopen(request) as answer:
        return answer.read(), answer.headers["ETag"]


def order(server: Server, path: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    return {"port": server.port, "path": path, "headers": headers or {}}


def interleaved(
    client: Generator,
    pairs: dict[str, tuple[dict[str, Any], dict[str, Any]]],
    rounds: int,
    seconds: float,
    connections: int,
) -> dict[str, list[tuple[float, float]]]:
    """For each pair the two rates of every round; which side begins alternates."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in pairs}
    for at in range(rounds):
        for name, pair in pairs.items():
            rates = {}
            for side in (0, 1) if at % 2 else (1, 0):
                rates[side] = client.load(seconds=seconds, connections=connections, **pair[side])["rate"]
            found[name].append((rates[0], rates[1]))
    return found
