"""The laboratory: one computation for equal requests, limits, workers that die alone, a cache that is bounded."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.errors import Busy, TookTooLong, WorkerLost
from app.experiments import EXPERIMENTS
from app.laboratory import Laboratory, Outcome
from tests.conftest import ROOT
from tests.trials import FAULTY, FAULTY_HEAVY, GREEDY, MORTAL, NOTED, NOTED_CHEAP, NOTED_HEAVY, apart

EACH = pytest.mark.parametrize("noted", [NOTED, NOTED_HEAVY], ids=["worker", "thread"])


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """The lines that experiments wrote when they ran."""
    file = tmp_path / "runs"
    file.touch()
    monkeypatch.setenv("TRIALS", str(file))
    return lambda: file.read_text().splitlines()


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    """One whose worker is shared by tests that do no harm to each other."""
    os.environ["TRIALS"] = str(
        tmp_path_factory.mktemp("trials") / "unused"
    )  # a worker has the environment of its start
    opened = Laboratory(memory_limit=256)
    yield opened
    opened.close()
    del os.environ["TRIALS"]


def at(experiment: Any, **given: str) -> tuple[Any, Any]:
    return experiment, experiment.parse(given)


def visit(laboratory: Laboratory, work: Callable[[Laboratory], Coroutine[Any, Any, None]]) -> None:
    try:
        apart(work(laboratory))
    finally:
        laboratory.close()


@EACH
def test_equal_requests_are_computed_once(runs: Callable[[], list[str]], noted: Any) -> None:
    async def work(laboratory: Laboratory) -> None:
        outcomes = await asyncio.gather(*(laboratory.run(*at(noted, seconds="0.2")) for _ in range(6)))
        assert len({id(outcome) for outcome in outcomes}) == 1
        assert len(runs()) == 1
        assert (laboratory.figures.computed, laboratory.figures.joined) == (1, 5)
        assert await laboratory.run(*at(noted, seconds="0.2")) is outcomes[0]
        assert (len(runs()), laboratory.figures.cached) == (1, 1)
        await laboratory.run(*at(noted, seconds="0.1"))
        assert len(runs()) == 2

    visit(Laboratory(), work)


def test_a_cheap_experiment_runs_in_place_and_others_elsewhere(runs: Callable[[], list[str]]) -> None:
    async def work(laboratory: Laboratory) -> None:
        cheap, heavy, measured = at(NOTED_CHEAP, n="1"), at(NOTED_HEAVY, n="2"), at(NOTED, n="3")
        assert [laboratory.waits(*one) for one in (cheap, heavy, measured)] == [False, True, True]
        places = [(await laboratory.run(*one)).result["pid"] for one in (cheap, heavy, measured)]
        assert [place == os.getpid() for place in places] == [True, True, False]

    visit(Laboratory(), work)


def test_the_loop_goes_on_while_a_heavy_experiment_runs(runs: Callable[[], list[str]]) -> None:
    async def work(laboratory: Laboratory) -> None:
        slow = asyncio.ensure_future(laboratory.run(*at(NOTED_HEAVY, seconds="0.5")))
        await asyncio.sleep(0)
        await laboratory.run(*at(NOTED_CHEAP, n="5"))
        assert not slow.done()
        await slow

    visit(Laboratory(), work)


def test_a_measured_experiment_runs_in_another_process(laboratory: Laboratory) -> None:
    async def work() -> None:
        outcome = await laboratory.run(*at(GREEDY, mebibytes="2"))
        assert outcome.result == {"length": 2 << 20}
        assert outcome.elapsed_ms is not None and outcome.elapsed_ms >= 0
        assert outcome.recorded is None

    apart(work())


def test_who_takes_too_much_memory_is_told_and_the_next_one_runs(laboratory: Laboratory) -> None:
    async def work() -> None:
        assert (await laboratory.run(*at(GREEDY, mebibytes="100"))).result == {"length": 100 << 20}
        with pytest.raises(WorkerLost, match="greedy"):
            await laboratory.run(*at(GREEDY, mebibytes="4000"))
        assert (await laboratory.run(*at(GREEDY, mebibytes="101"))).result == {"length": 101 << 20}

    apart(work())


def test_a_worker_that_dies_costs_its_reader_an_answer_and_nobody_else(laboratory: Laboratory) -> None:
    async def work() -> None:
        dying = laboratory.run(*at(MORTAL))
        waiting = laboratory.run(*at(GREEDY, mebibytes="3"))
        died, went_on = await asyncio.gather(dying, waiting, return_exceptions=True)
        assert isinstance(died, WorkerLost)
        assert isinstance(went_on, Outcome)
        assert laboratory.figures.lost >= 1

    apart(work())


@pytest.mark.parametrize("faulty", [FAULTY, FAULTY_HEAVY], ids=["worker", "thread"])
def test_a_bug_stays_a_traceback_and_is_not_kept(laboratory: Laboratory, faulty: Any) -> None:
    async def work() -> None:
        for _ in range(2):
            with pytest.raises(ZeroDivisionError, match="a bug"):
                await laboratory.run(*at(faulty))
        assert laboratory.known(*at(faulty)) is None

    apart(work())


def test_an_experiment_is_stopped_at_its_time_limit(runs: Callable[[], list[str]]) -> None:
    async def work(laboratory: Laboratory) -> None:
        with pytest.raises(TookTooLong, match=r"noted was stopped after 0\.3 s"):
            await laboratory.run(*at(NOTED, seconds="50"))
        assert (await laboratory.run(*at(NOTED, n="1"))).result["n"] == 1
        assert laboratory.figures.stopped == 1

    visit(Laboratory(time_limit=0.3), work)


@EACH
def test_a_full_queue_refuses_and_recovers(runs: Callable[[], list[str]], noted: Any) -> None:
    async def work(laboratory: Laboratory) -> None:
        waiting = [asyncio.ensure_future(laboratory.run(*at(noted, seconds="0.3", n=str(n)))) for n in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Busy) as busy:
            await laboratory.run(*at(noted, n="2"))
        assert busy.value.retry_after >= 1
        joined = asyncio.ensure_future(laboratory.run(*at(noted, seconds="0.3", n="1")))  # an equal one takes no place
        cheap = await laboratory.run(*at(NOTED_CHEAP, n="3"))
        assert cheap.result["n"] == 3
        await asyncio.gather(*waiting, joined)
        assert (await laboratory.run(*at(noted, n="2"))).result["n"] == 2
        assert laboratory.figures.refused == 1

    visit(Laboratory(queue=2), work)


@EACH
def test_a_reader_who_goes_away_stops_nobody_elses_run(runs: Callable[[], list[str]], noted: Any) -> None:
    async def work(laboratory: Laboratory) -> None:
        first = asyncio.ensure_future(laboratory.run(*at(noted, seconds="0.3")))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(laboratory.run(*at(noted, seconds="0.3")))
        await asyncio.sleep(0)
        first.cancel()
        assert (await second).result["n"] == 0
        assert len(runs()) == 1

    visit(Laboratory(), work)


def test_the_cache_is_bounded_and_forgets_the_oldest(runs: Callable[[], list[str]]) -> None:
    async def work(laboratory: Laboratory) -> None:
        for n in range(10):
            await laboratory.run(*at(NOTED_CHEAP, n=str(n)))
        assert [laboratory.known(*at(NOTED_CHEAP, n=str(n))) is not None for n in range(10)] == [False] * 7 + [True] * 3
        await laboratory.run(*at(NOTED_CHEAP, n="9"))
        assert len(runs()) == 10
        await laboratory.run(*at(NOTED_CHEAP, n="0"))
        assert len(runs()) == 11

    visit(Laboratory(cache=3), work)


def test_a_laboratory_without_a_cache_computes_every_time(runs: Callable[[], list[str]]) -> None:
    async def work(laboratory: Laboratory) -> None:
        laboratory.keep(*at(NOTED_CHEAP), Outcome({}, None))
        for _ in range(3):
            await laboratory.run(*at(NOTED_CHEAP))
        assert len(runs()) == 3

    visit(Laboratory(cache=0), work)


def test_what_was_kept_is_found_and_measuring_runs_it_again(runs: Callable[[], list[str]]) -> None:
    async def work(laboratory: Laboratory) -> None:
        kept = Outcome({"n": 7}, None, {"python": "3.0"})
        laboratory.keep(*at(NOTED_HEAVY), kept)
        assert await laboratory.run(*at(NOTED_HEAVY)) is kept
        assert (await laboratory.measure(*at(NOTED_HEAVY))).result["n"] == 0
        assert laboratory.known(*at(NOTED_HEAVY)) is kept
        assert not laboratory.waits(*at(NOTED_HEAVY))

    visit(Laboratory(), work)


def test_workers_come_up_behind_the_first_pages() -> None:
    async def work(laboratory: Laboratory) -> None:
        assert await laboratory.ready()  # nothing was started, so nothing is awaited
        laboratory.start()
        assert not await laboratory.ready()
        assert (await laboratory.run(*at(EXPERIMENTS["momentum"]))).result["checkpoint"]["w"] == 0.28
        while not await laboratory.ready():
            await asyncio.sleep(0.02)

    visit(Laboratory(), work)


@pytest.mark.parametrize("seconds", [0, 0.05, 0.5])
def test_closing_lets_nobody_wait(seconds: float) -> None:
    async def work(laboratory: Laboratory) -> None:
        run = asyncio.ensure_future(laboratory.run(*at(GREEDY)))
        await asyncio.sleep(seconds)
        laboratory.close()
        with pytest.raises((WorkerLost, asyncio.CancelledError)):
            await run

    visit(Laboratory(), work)


def test_the_web_process_never_imports_torch(tmp_path: Path) -> None:
    """In a fresh process: everything that a reader can open, measured results included."""
    script = tmp_path / "visit.py"
    script.write_text(
        """
import sys
from tests.web.visits import NAMES, PAGES, garden
if __name__ == "__main__":
    with garden() as site:
        data = ("/api/widgets", *(f"/api/widgets/{name}" for name in NAMES), "/en/widgets/accumulation.py")
        for address in (*PAGES, *data):
            site.get(address)
        assert site.get("/api/widgets/accumulation?n=12").status_code == 200
        assert site.get("/readyz").status_code == 200
    print(sorted({name.split(".")[0] for name in sys.modules} & {"torch", "numpy", "playwright", "typer"}))
"""
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert told.returncode == 0, told.stderr
    assert "torch" not in told.stdout
