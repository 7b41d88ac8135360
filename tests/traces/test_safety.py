"""What cannot be recorded ends the trace, or is left alone; the training goes on to the same bits."""

import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor, nn

from app.traces.recorder import Recorder
from tests.traces.lines import lines, of
from tests.traces.trainings import perceptron

INPUTS = torch.linspace(-1, 1, 24).view(4, 6)

Part = Callable[[Recorder], Any]


def trained(path: Path | None, before: Part = lambda trace: None, scheduler: Any = None) -> list[Tensor]:
    """Weights after two steps; `before` each step something is asked of the recorder."""
    torch.manual_seed(0)
    model = perceptron()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    trace = Recorder(path, model, optimizer, scheduler=scheduler)
    for _ in range(2):
        before(trace)
        trace.batch(range(4), INPUTS)
        loss = model(INPUTS).square().mean()
        trace.loss(loss, 4)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    trace.close()
    return [one.detach() for one in model.parameters()]


def same(one: list[Tensor], other: list[Tensor]) -> bool:
    return all(map(torch.equal, one, other))


def evaluated(trace: Recorder) -> None:
    with trace.evaluation() as found:
        found["loss"] = torch.tensor(1j)


def saved(trace: Recorder) -> None:
    with trace.checkpoint({"model": torch.empty(2, device="meta")}) as one:
        one.read_back(None)


def resumed(trace: Recorder) -> None:
    with trace.resume({"model": torch.empty(2, device="meta")}, step=1):
        pass


WRONG: dict[str, Part] = {
    r"a loss is one number, not \[2\]": lambda trace: trace.loss(torch.ones(2)),
    "to_dense does not support layout Jagged": lambda trace: trace.batch(
        None, torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    ),
    "has no attribute 'state_dict'": lambda trace: trace.averages("ema", object()),
    "cannot be converted to type double": evaluated,
    "out of meta tensor": saved,
    "no data!": resumed,
    "invalid literal for int": lambda trace: trace.batch(None, INPUTS, epoch="the first"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_recorded_ends_the_trace_and_not_the_training(message: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=f"the trace ends here, .*{message}"):
        weights = trained(tmp_path / "a.jsonl", WRONG[message])
    assert same(weights, trained(None))
    assert of(lines(tmp_path / "a.jsonl"), "weights", step=0)


def test_an_error_of_the_training_itself_is_not_swallowed(tmp_path: Path) -> None:
    model = perceptron()
    trace = Recorder(tmp_path / "a.jsonl", model, torch.optim.SGD(model.parameters(), lr=0.1))
    contexts = (trace.evaluation(), trace.checkpoint({}), trace.resume({}), trace.averages("ema", model))
    for context in contexts:
        with pytest.raises(KeyError, match="model"), context:
            raise KeyError("model")
    trace.close()


@pytest.mark.parametrize(
    "ids",
    [[numpy.int64(one) for one in range(4)], [torch.tensor(one) for one in range(4)], numpy.arange(4), torch.arange(4)],
)
def test_the_same_ids_are_the_same_of_whatever_kind(ids: Any, tmp_path: Path) -> None:
    model = perceptron()
    with Recorder(tmp_path / "a.jsonl", model, torch.optim.SGD(model.parameters(), lr=0.1)) as trace:
        trace.batch([0, 1, 2, 3], INPUTS)
        trace.batch(ids, INPUTS)
    one, other = of(lines(tmp_path / "a.jsonl"), "batch")
    assert other["ids"] == [0, 1, 2, 3]
    assert [one[name] == other[name] for name in ("order", "members", "pairs")] == [True] * 3


def test_numbers_of_numpy_and_of_torch_are_written_as_numbers(tmp_path: Path) -> None:
    model = perceptron()
    with Recorder(tmp_path / "a.jsonl", model, torch.optim.SGD(model.parameters(), lr=0.1)) as trace:
        for epoch, count in ((numpy.int64(3), numpy.int64(5)), (torch.tensor(3), torch.tensor([5])), (3, 5)):
            trace.batch(None, INPUTS, epoch=epoch)  # type: ignore[arg-type]
            trace.loss(1.0, count)  # type: ignore[arg-type]
        with trace.resume({}, step=numpy.int64(7), micro=torch.tensor(1), epoch=numpy.int64(2)):  # type: ignore[arg-type]
            pass
    found = lines(tmp_path / "a.jsonl")
    assert [one["epoch"] for one in of(found, "batch")] == [3, 3, 3]
    assert [one["count"] for one in of(found, "loss")] == [5, 5, 5]
    assert [(one["step"], one["micro"], one["epoch"]) for one in of(found, "resume")] == [(7, 1, 2)]


def test_a_scheduler_without_a_state_is_no_obstacle(tmp_path: Path) -> None:
    assert same(trained(tmp_path / "a.jsonl", scheduler=lambda step: 1.0), trained(None))
    assert of(lines(tmp_path / "a.jsonl"), "side", what="scheduler") == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("outside", [True, False])
def test_a_compiled_model_stays_one_graph(outside: bool, tmp_path: Path) -> None:
    """With `fullgraph` a break is an error. Hooks of the wrapper see the outputs, those in the graph see nothing."""
    torch.manual_seed(0)
    compiled: Any = perceptron()
    if outside:
        compiled = torch.compile(compiled, backend="eager", fullgraph=True)
    else:
        compiled.compile(backend="eager", fullgraph=True)
    optimizer = torch.optim.SGD(compiled.parameters(), lr=0.1)
    with Recorder(tmp_path / "a.jsonl", compiled, optimizer) as trace:
        trace.batch(range(4), INPUTS)
        loss = compiled(INPUTS).mean()
        trace.loss(loss, 4)
        loss.backward()
        optimizer.step()
    found = lines(tmp_path / "a.jsonl")
    assert len(of(found, "forward")) == outside
    assert [len(of(found, event)) for event in ("grad", "control", "update")] == [2, 1, 1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_compiled_step_is_recorded_as_any_other(tmp_path: Path) -> None:
    digests = []
    for name, compiled in (("a", False), ("b", True)):
        torch.manual_seed(0)
        model = perceptron()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        step = torch.compile(optimizer.step, backend="eager") if compiled else optimizer.step
        with Recorder(tmp_path / f"{name}.jsonl", model, optimizer):
            for _ in range(2):
                model(INPUTS).mean().backward()
                step()
        digests.append([one["digest"] for one in of(lines(tmp_path / f"{name}.jsonl"), "weights")])
    assert len(digests[0]) == 3 and digests[0] == digests[1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_model_is_traced_and_exported_under_a_recorder(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(6, 2), nn.ReLU())
    with Recorder(tmp_path / "a.jsonl", model, torch.optim.SGD(model.parameters(), lr=0.1)):
        graph = torch.jit.trace(model, INPUTS)
        assert torch.equal(graph(INPUTS), model(INPUTS))
        assert torch.equal(torch.export.export(model, (INPUTS,)).module()(INPUTS), model(INPUTS))


def test_a_recorder_that_is_forgotten_writes_what_was_waiting(tmp_path: Path) -> None:
    """The scheduler's state after the last step, which nothing came after."""

    def train() -> None:
        model = perceptron()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        Recorder(tmp_path / "a.jsonl", model, optimizer, scheduler=scheduler)
        model(INPUTS).mean().backward()
        optimizer.step()
        scheduler.step()

    train()
    gc.collect()
    (last,) = of(lines(tmp_path / "a.jsonl"), "side", what="scheduler", step=1)
    assert last["values"]["last_epoch"] == 1


def test_a_copy_of_the_process_writes_nothing(tmp_path: Path) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    model = perceptron()
    trace = Recorder(tmp_path / "a.jsonl", model, torch.optim.SGD(model.parameters(), lr=0.1))
    trace.batch(range(4), INPUTS)
    before = (tmp_path / "a.jsonl").read_bytes()
    trace._owner += 1  # as it is in a process that was forked off
    trace.__del__()
    assert (tmp_path / "a.jsonl").read_bytes() == before
