"""Experiments for the tests of the laboratory: they write down that they ran, take time or memory, or die."""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from app.drawing import Drawing
from app.experiments.experiment import Experiment, Table
from app.experiments.parameters import Choice, Number, Whole
from app.language import alike


def noted(place: str, seconds: float, n: int) -> dict[str, Any]:
    """Adds a line to a file, then waits."""
    with Path(os.environ["TRIALS"]).open("a") as file:
        file.write(f"{place} {n} {os.getpid()}\n")
    time.sleep(seconds)
    return {"n": n, "pid": os.getpid()}


def greedy(mebibytes: int) -> dict[str, Any]:
    """Takes memory and gives it back."""
    return {"length": len(bytearray(mebibytes << 20))}


def mortal(n: int) -> dict[str, Any]:
    """Ends its process, as the kernel does with one that is out of memory."""
    os._exit(9)


def faulty(n: int) -> dict[str, Any]:
    """Has a bug."""
    raise ZeroDivisionError("a bug")


def trial(run: Callable[..., dict[str, Any]], *parameters: Any, torch: bool = True, heavy: bool = False) -> Experiment:
    words = alike(run.__name__)
    return Experiment(
        name=run.__name__,
        title=words,
        summary=words,
        exact=False,
        torch=torch,
        parameters=parameters,
        run=run,
        code=(),
        presets=(),
        heavy=lambda params: heavy,
        sentence=lambda params, result: words,
        drawing=lambda params, result: Drawing(1, 1, (), words),
        table=lambda params, result: Table(words, (), ()),
    )


N = Whole(name="n", label=alike("n"), default=0, low=0, high=10**9)
PLACE = Choice(name="place", label=alike("place"), default="a", options=(("a", alike("a")), ("b", alike("b"))))
SECONDS = Number(name="seconds", label=alike("s"), default=0.0, low=0, high=60)

NOTED = trial(noted, PLACE, SECONDS, N)
NOTED_HEAVY = trial(noted, PLACE, SECONDS, N, torch=False, heavy=True)
NOTED_CHEAP = trial(noted, PLACE, SECONDS, N, torch=False)
GREEDY = trial(greedy, Whole(name="mebibytes", label=alike("MiB"), default=1, low=0, high=10**6))
MORTAL = trial(mortal, N)
FAULTY = trial(faulty, N)
FAULTY_HEAVY = trial(faulty, N, torch=False, heavy=True)


def apart(work: Coroutine[Any, Any, None]) -> None:
    """Runs to its end in a thread of its own: Playwright keeps a loop running in the thread of the tests."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()
