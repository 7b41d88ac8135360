"""Experiments over HTTP, at the defaults and at the limits, each time with a state that nobody asked for before."""

import http.client
import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

from bench.processes import Server, garden
from bench.results import Row

State = dict[str, object]


def tenths(count: int, seed: int) -> str:
    """So many numbers, others for every seed."""
    return ",".join(f"{math.sin(seed * 1000 + at):.6f}" for at in range(count))


DEFAULTS: dict[str, Callable[[int], State]] = {
    "momentum": lambda seed: {"w0": seed / 1e6},
    "summation": lambda seed: {"terms": f"1e16,-1e16,{1 + seed / 1e6}"},
    "microbatch": lambda seed: {"losses": f"0.2,{1 + seed / 1e6}"},
    "agreement": lambda seed: {"atol": 1e-9 * (seed + 1), "rtol": 1e-6},
}
"""The defaults but for one number, so that no answer is kept from before."""

LIMITS: dict[str, Callable[[int], State]] = {
    "momentum": lambda seed: {"w0": seed / 1e6, "steps": 500, "save_after": 250, "restore": "weights"},
    "summation": lambda seed: {"terms": tenths(8, seed)},
    "microbatch": lambda seed: {
        "counts": ",".join(map(str, range(1000, 1016))),
        "losses": tenths(16, seed),
        "ranks": 16,
    },
    "agreement": lambda seed: {"a": tenths(64, seed), "b": tenths(64, seed + 1)},
}


def exact(requests: int = 100) -> list[Row]:
    with garden() as server:
        server.settle()
        rows = [percentile(server, name, "defaults", 3, DEFAULTS[name], requests) for name in DEFAULTS]
        return rows + [percentile(server, name, "limits", 20, LIMITS[name], requests // 2) for name in LIMITS]


def percentile(server: Server, name: str, where: str, goal: float, state: Callable[[int], State], requests: int) -> Row:
    list(answers(server, name, map(state, range(5))))
    times = sorted(answers(server, name, map(state, range(5, requests + 5))))
    p95 = times[math.ceil(0.95 * len(times)) - 1]
    said = f"p95 {p95:.1f} ms, median {statistics.median(times):.1f} ms"
    return Row(f"{name} at the {where}, request to fragment", f"p95 ≤ {goal:g} ms", said, p95 <= goal)


def accumulation(requests: int = 10) -> list[Row]:
    """The measured experiment, in the worker that holds torch."""
    with garden() as server:
        server.settle()
        rows = []
        for where, state in (("defaults", {}), ("limits", {"n": 100_000, "shuffles": 20, "distribution": "lognormal"})):
            states = [
                state | {"seed": seed}
                for seed in range(100, 100 + (requests if where == "defaults" else requests // 3))
            ]
            first = statistics.median(answers(server, "accumulation", iter(states)))
            again = statistics.median(answers(server, "accumulation", itertools.chain(states, states), ".json"))
            rows += [
                Row(f"accumulation at the {where}, first time", "≤ 1 s", f"{first:.0f} ms", first <= 1000),
                Row(f"accumulation at the {where}, result from the cache", "≤ 3 ms", f"{again:.1f} ms", again <= 3),
            ]
        return rows


def answers(server: Server, name: str, states: Iterator[State], kind: str = "/result") -> Iterator[float]:
    """Milliseconds from each request to the end of its answer, over one kept connection."""
    client = http.client.HTTPConnection("127.0.0.1", server.port)
    for state in states:
        started = time.perf_counter()
        client.request("GET", f"/en/widgets/{name}{kind}?{urlencode(state)}")
        answer = client.getresponse()
        body = answer.read()
        yield (time.perf_counter() - started) * 1000
        if answer.status != 200:
            raise ValueError(f"{name} {state}: {answer.status} {body[:200]!r}")
    client.close()
