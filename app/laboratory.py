"""A request to run an experiment into its result: cache, one computation for equal requests, workers, limits.

Exact experiments run in this process; those that need torch run in worker processes, which can be stopped and
whose death costs its reader a clear answer and nobody else anything. This process never imports torch.
"""

import asyncio
import functools
import os
import platform
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import structlog
from cachetools import LRUCache

from app import __version__
from app.errors import Busy, TookTooLong, WorkerLost
from app.experiments import EXPERIMENTS
from app.experiments.experiment import Experiment, Result
from app.experiments.parameters import Params
from app.numerals import plain
from app.workers import Workers

Key = tuple[str, str]
"""An experiment and its parameters as text: unlike Params, that tells −0 from 0 and finds NaN again."""
THREADS = 2
log = structlog.get_logger("perennial.laboratory")


@dataclass(frozen=True)
class Outcome:
    """A result, and how long it took when it was computed."""

    result: Result
    elapsed_ms: float | None
    """Milliseconds; None when it was read from a record."""
    recorded: Mapping[str, Any] | None = None
    """The versions and the processor of a recorded result; None when it was computed here."""


@dataclass
class Figures:
    """What has happened so far, for /metrics."""

    computed: int = 0
    cached: int = 0
    joined: int = 0
    refused: int = 0
    stopped: int = 0
    lost: int = 0


class Laboratory:
    """Runs experiments; one per application, started and closed with it."""

    def __init__(
        self,
        *,
        workers: int = 1,
        time_limit: float = 10.0,
        memory_limit: int = 1024,
        queue: int = 32,
        cache: int = 2048,
    ) -> None:
        self._time_limit = time_limit
        self._workers = workers
        self._pool = Workers(workers, memory_limit, _warm)
        self._queue = queue
        self._kept: LRUCache[Key, Outcome] = LRUCache(max(cache, 1))
        self._keeps = cache > 0
        self._running: dict[Key, asyncio.Task[Outcome]] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="experiment")
        self.figures = Figures()

    def start(self) -> None:
        """Let the workers come up behind the first pages; returns at once."""
        if any(experiment.torch for experiment in EXPERIMENTS.values()):
            self._pool.start()

    def close(self) -> None:
        """Who still waits for a run is cancelled: a pool that is stopped while it comes up answers nobody."""
        for task in self._running.values():
            task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._pool.close()

    def known(self, experiment: Experiment, params: Params) -> Outcome | None:
        """The kept outcome, if there is one."""
        return self._kept.get(_key(experiment, params))

    def keep(self, experiment: Experiment, params: Params, outcome: Outcome) -> None:
        """Remember an outcome that was computed elsewhere, as those of measured.json were."""
        if self._keeps:
            self._kept[_key(experiment, params)] = outcome

    def waits(self, experiment: Experiment, params: Params) -> bool:
        """Whether the outcome takes a place in the queue: it is neither kept, nor cheap, nor on its way already."""
        key = _key(experiment, params)
        return key not in self._kept and key not in self._running and (experiment.torch or experiment.heavy(params))

    async def run(self, experiment: Experiment, params: Params) -> Outcome:
        """The outcome for these parameters.

        Raises Busy when too many wait, TookTooLong at the time limit, WorkerLost when a worker died.
        """
        key = _key(experiment, params)
        if (kept := self._kept.get(key)) is not None:
            self.figures.cached += 1
            return kept
        if (running := self._running.get(key)) is not None:
            self.figures.joined += 1
            return await asyncio.shield(running)
        if not experiment.torch and not experiment.heavy(params):
            return self._remember(key, _timed(experiment.run, dict(params)))
        if len(self._running) >= self._queue:
            self.figures.refused += 1
            raise Busy(retry_after=max(1, round(len(self._running) * self._time_limit / (4 * self._workers))))
        task = asyncio.ensure_future(self._computed(key, experiment, params))
        self._running[key] = task
        task.add_done_callback(lambda done: self._done(key, done))
        return await asyncio.shield(task)

    async def measure(self, experiment: Experiment, params: Params) -> Outcome:
        """As run, but computed here whatever is kept, and not kept itself."""
        return await self._off_the_loop(experiment, params)

    async def ready(self) -> bool:
        """Whether every worker has come up, or none is needed."""
        return self._pool.ready()

    def _done(self, key: Key, task: "asyncio.Task[Outcome]") -> None:
        """Also looks at the exception, since every reader of the task may have gone away."""
        self._running.pop(key, None)
        if not task.cancelled():
            task.exception()

    async def _computed(self, key: Key, experiment: Experiment, params: Params) -> Outcome:
        return self._remember(key, await self._off_the_loop(experiment, params))

    async def _off_the_loop(self, experiment: Experiment, params: Params) -> Outcome:
        if not experiment.torch:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, _timed, experiment.run, dict(params))
        try:
            return await self._pool.run(self._time_limit, _timed, experiment.run, dict(params))
        except TookTooLong:
            self.figures.stopped += 1
            log.warning(
                "stopped at the time limit", experiment=experiment.name, seconds=self._time_limit, params=dict(params)
            )
            raise TookTooLong(f"{experiment.name} was stopped after {self._time_limit:g} s") from None
        except WorkerLost as lost:
            self.figures.lost += 1
            log.warning("a worker was lost", experiment=experiment.name, reason=str(lost), params=dict(params))
            raise WorkerLost(f"{experiment.name}: {lost}") from None

    def _remember(self, key: Key, outcome: Outcome) -> Outcome:
        self.figures.computed += 1
        if self._keeps:
            self._kept[key] = outcome
        return outcome


@functools.cache
def versions() -> Mapping[str, Any]:
    """Where results come from: the versions that can change them."""
    try:
        torch: str | None = metadata.version("torch")
    except metadata.PackageNotFoundError:
        torch = None
    return {"python": platform.python_version(), "torch": torch, "platform": platform.platform(terse=True)}


def data(experiment: Experiment, params: Params, outcome: Outcome) -> dict[str, Any]:
    """A state as JSON carries it: parameters as resolved, the result, and where it comes from."""
    used = outcome.recorded or versions()
    return {
        "widget": experiment.name,
        "params": plain(dict(params)),
        "result": plain(outcome.result),
        "provenance": {
            "python": used["python"],
            "torch": used.get("torch") if experiment.torch else None,
            "platform": used.get("platform", used.get("processor")),
            "elapsed_ms": outcome.elapsed_ms,
            "version": __version__,
        },
    }


def timed(experiment: Experiment, params: Params) -> Outcome:
    """The outcome, computed in this very process."""
    return _timed(experiment.run, dict(params))


def _key(experiment: Experiment, params: Params) -> Key:
    return experiment.name, repr(params.entries)


def _timed(run: Callable[..., Result], params: dict[str, Any]) -> Outcome:
    """Runs in this process or in a worker."""
    started = time.perf_counter()
    try:
        result = run(**params)
    except RuntimeError as failed:
        if "can't allocate memory" in str(failed):  # as torch says it
            raise MemoryError(str(failed)) from None
        raise
    return Outcome(result, round((time.perf_counter() - started) * 1000, 3))


def _warm() -> None:
    """Make the first experiment as quick as the later ones."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for experiment in EXPERIMENTS.values():
        if experiment.torch:
            experiment.run(**dict(experiment.parse({})))
            break
