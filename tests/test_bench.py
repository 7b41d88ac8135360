"""The benchmarks run, at a tiny size; what they measure is asserted nowhere."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from bench import browser as browsers
from bench.comparison import comparison
from bench.experiments import DEFAULTS, LIMITS, percentile
from bench.load import load
from bench.pages import pages
from bench.processes import garden
from bench.results import Row, renewed, written
from bench.start import memory, start
from bench.vaults import vaults

ROWS = [Row("bread", "≤ 1 day", "2 days", False), Row("water", "", "0.5 l")]


def test_pages_are_loaded_in_turns() -> None:
    assert len(pages(rounds=1, seconds=0.05, connections=2)) == 3


def test_the_load_generator_sees_an_answer_of_another_length(tmp_path: Path) -> None:
    with garden() as server:
        server.until("/healthz")
        assert load(server.port, "/healthz", {}, 0.05, 2)["status"] == 200
        with pytest.raises(OSError):
            load(1, "/healthz", {}, 0.05, 2)


def test_every_state_that_is_timed_is_answered() -> None:
    with garden() as server:
        server.until("/healthz")
        for states in (DEFAULTS, LIMITS):
            for name, state in states.items():
                assert "p95" in percentile(server, name, "limits", 20, state, requests=2).measured


def test_the_start_and_the_memory_are_measured() -> None:
    assert len(start(runs=1)) == 2
    assert "MB" in memory()[0].measured


def test_a_small_vault_is_measured_from_start_to_build() -> None:
    rows = vaults((12,), runs=1, edits=1, queries=4)
    assert len(rows) == 16 and all(row.measured.startswith("12: ") for row in rows)


def test_a_visit_and_a_few_changes_are_measured(browser: Browser, htmx_file: Path | None) -> None:
    assert len(browsers.visits(browser, htmx_file, ("en",), browsers.SIZES[:1])) == 3
    assert len(browsers.changes(browser, htmx_file, blocks=1, each=2)) == (3 if htmx_file else 0)


def test_a_missed_goal_is_said_first() -> None:
    said = written(ROWS, "a browser", 3)
    assert "**Missed: bread.**" in said
    assert "| bread | ≤ 1 day | 2 days | **missed** |\n| water |  | 0.5 l |  |\n" in said


def test_lines_of_the_readme_that_say_the_same_are_renewed() -> None:
    before = "a\n| bread | ≤ 1 day | 1 day | met |\n| wine |  | 1 l |  |\n"
    assert renewed(before, ROWS) == "a\n| bread | ≤ 1 day | 2 days | **missed** |\n| wine |  | 1 l |  |\n"


def test_a_short_comparison_is_measured() -> None:
    rows = comparison(steps=200)
    assert [row.what.split(" records a side, ")[0] for row in rows] == ["comparison of 2,000"] * 6
    assert {row.goal for row in rows} == {"≥ 150,000 records/s a side", "≤ 150 MB"}
