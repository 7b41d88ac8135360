"""Functions into worker processes that can be stopped, and whose death costs its caller a clear error and nobody else.

A time limit for each call, a memory limit above what the process itself takes.
"""

import asyncio
import multiprocessing
import platform
import resource
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError
from concurrent.futures import TimeoutError as StoppedAtLimit
from typing import Any, ParamSpec, TypeVar

from pebble import ProcessExpired, ProcessPool

from app.errors import TookTooLong, WorkerLost

MIB = 1 << 20
P = ParamSpec("P")
T = TypeVar("T")


class Workers:
    """A pool that comes up when it is first needed, or at `start`."""

    def __init__(self, count: int, memory_limit: int, warm: Callable[[], None]) -> None:
        """`memory_limit` is in MiB above what the process takes after `warm`, which imports what costs."""
        self._count = count
        self._memory_limit = memory_limit
        self._warm = warm
        self._pool: ProcessPool | None = None
        self._coming: list[Any] = []

    def start(self) -> None:
        """Returns at once."""
        pool = self._up()
        self._coming = [pool.schedule(self._warm) for _ in range(self._count)]

    def ready(self) -> bool:
        """Whether every worker has come up that was started."""
        return all(future.done() for future in self._coming)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool.join()
            self._pool = None

    async def run(self, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function returns or raises. Raises TookTooLong and WorkerLost.

        Its worker is stopped when the caller is cancelled.
        """
        name = function.__name__
        future = self._up().schedule(function, args=args, kwargs=kwargs, timeout=seconds)
        try:
            result: T = await asyncio.wrap_future(future)
        except StoppedAtLimit:
            raise TookTooLong(f"{name} was stopped after {seconds:g} s") from None
        except (ProcessExpired, BrokenExecutor, MemoryError, CancelledError) as lost:
            raise WorkerLost(f"the worker that ran {name} ended: {lost}") from None
        return result

    def _up(self) -> ProcessPool:
        if self._pool is None or not self._pool.active:
            self._pool = ProcessPool(
                self._count,
                initializer=_prepare,
                initargs=(self._memory_limit, self._warm),
                context=multiprocessing.get_context("spawn"),
            )
        return self._pool


def _prepare(memory_limit: int, warm: Callable[[], None]) -> None:
    """In a new worker: import what costs, and only then set the memory limit above what that took."""
    warm()
    if platform.system() == "Linux":
        with open("/proc/self/statm", encoding="ascii") as figures:
            base = int(figures.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (base + memory_limit * MIB, resource.RLIM_INFINITY))
