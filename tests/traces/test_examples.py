"""The traces that come with the program are those of trainings that can be run again, and say the same."""

from pathlib import Path

import pytest

from app.traces import examples
from app.traces.comparison import compare
from tests.traces.examples import make
from tests.traces.lines import lines


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    make(folder)
    return folder


@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_run_again_they_part_at_the_same_place(again: Path, name: str) -> None:
    """The bits of another processor or version may be others; where the runs part may not."""
    shipped = compare(examples.path(examples.WHOLE), examples.path(name))
    here = compare(again / f"{examples.WHOLE}.jsonl", again / f"{name}.jsonl")
    assert here.first_difference == shipped.first_difference
    assert [one.name for one in here.hints] == [one.name for one in shipped.hints]
    assert (here.steps, here.not_recorded) == (12 if name == "not-divided" else 6, ())


@pytest.mark.parametrize("name", examples.TRACES)
def test_they_are_valid_traces_without_a_path_or_a_host(name: str) -> None:
    assert len(lines(examples.path(name))) > 100  # each held against the schema
    assert "/" not in "".join(str(one) for one in lines(examples.path(name))[:2])
