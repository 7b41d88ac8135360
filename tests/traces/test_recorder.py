"""The recorder on small real trainings: what it writes, and that it changes nothing."""

import copy
import math
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from app.traces import recorder
from app.traces.recorder import Recorder, digest, self_check
from tests.conftest import ROOT
from tests.traces import twin
from tests.traces.lines import Line, lines, of
from tests.traces.trainings import perceptron, training

SOURCE = ROOT / "app/traces/recorder.py"


def together(named: dict[str, Tensor], by: Callable[[Tensor], str] = digest) -> str:
    """The digest over names, from those of the tensors and the twin's keys."""
    lanes = [0, 0]
    for name, tensor in named.items():
        for lane in (0, 1):
            part = by(tensor)[16 * lane : 16 * lane + 16]
            lanes[lane] += int(part, 16) * (twin.hashed(name)[lane] | 1)
    return "".join(f"{lane % twin.LIMIT:016x}" for lane in lanes)


def parameters(model: nn.Module) -> dict[str, Tensor]:
    return dict(model.named_parameters())


# It changes nothing


PLAIN: dict[str, Any] = {
    "perceptron, SGD": training("perceptron", "SGD"),
    "perceptron, AdamW, accumulated": training("perceptron", "AdamW", accumulate=3),
    "convolution with batch norm, SGD": training("convolution", "SGD"),
    "convolution with batch norm, AdamW": training("convolution", "AdamW", accumulate=2),
    "transformer, AdamW": training("transformer", "AdamW"),
    "transformer, float16 with overflows": training("transformer", "AdamW", half=True, accumulate=2, steps=6),
    "perceptron, float16, SGD": training("perceptron", "SGD", half=True),
    "at level 3": training("transformer", "AdamW", level=3, every=2),
    "at level 0": training("convolution", "AdamW", level=0),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_training_ends_in_the_same_bits_recorded_or_not(name: str) -> None:
    said: list[str] = []
    found = self_check(PLAIN[name], said.append)
    assert (found["same"], found["repeats"], found["different"]) == (True, True, [])
    assert "the same bits with and without recording" in said[0]
    assert said[0].endswith("% with recording")


def test_the_check_finds_a_recorder_that_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = recorder._generators

    def drawing(given: Any) -> Any:
        torch.rand(1)
        return honest(given)

    monkeypatch.setattr(recorder, "_generators", drawing)
    found = self_check(training("perceptron"), lambda _: None)
    assert not found["same"]
    assert {"loss", "weights", "generators"} <= set(found["different"])


def test_the_check_says_when_a_training_does_not_repeat_itself() -> None:
    moves = random.Random(0)

    def train(path: Any) -> None:
        model = nn.Linear(2, 1)
        trace = Recorder(path, model, torch.optim.SGD(model.parameters(), lr=moves.random()))
        trace.batch([0], torch.ones(1, 2))
        model(torch.ones(1, 2)).sum().backward()
        trace.optimizer.step()

    said: list[str] = []
    assert not self_check(train, said.append)["repeats"]
    assert "nothing can be said" in said[0]


def test_the_check_wants_a_recorder() -> None:
    with pytest.raises(ValueError, match=r"made no Recorder"):
        self_check(lambda _: None)


def test_the_generators_are_where_they_were_after_the_check() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    self_check(training("perceptron"), lambda _: None)
    assert torch.equal(torch.get_rng_state(), before)


# One step


def test_a_step_has_its_lines_in_causal_order(tmp_path: Path) -> None:
    training(accumulate=2, steps=2)(tmp_path / "a.jsonl")
    found = lines(tmp_path / "a.jsonl")
    assert [line["event"] for line in found[:5]] == ["trace", "env", "model", "weights", "side"]
    step = [(line["event"], line.get("micro"), line.get("when")) for line in found if line.get("step") == 1]
    micro = [[("batch", m, None), ("rng", m, None), ("forward", m, None), ("loss", m, None)] for m in (1, 2)]
    assert step == [
        *micro[0],
        ("grad", 1, "raw"),
        *micro[1],
        ("grad", 2, "raw"),
        ("grad", 2, "clipped"),
        *((event, None, None) for event in ("control", "update", "weights", "optimizer", "side")),
    ]


def test_every_line_of_every_training_fits_the_schema(tmp_path: Path) -> None:
    for place, train in enumerate(PLAIN.values()):
        train(tmp_path / f"{place}.jsonl")
        assert len(lines(tmp_path / f"{place}.jsonl")) > 30


def test_the_values_of_a_step_are_those_of_the_run_by_hand(tmp_path: Path) -> None:
    """w = (1, −2), x = (1, 2): loss (w·x)² = 9, gradient 2(w·x)x = (−6, −12), halved, clipped to norm 1."""
    model = nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, -2.0]]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25, momentum=0.5)
    trace = Recorder(tmp_path / "a.jsonl", model, optimizer)
    inputs = torch.tensor([[1.0, 2.0]])
    trace.batch([7], inputs, epoch=3)
    loss = model(inputs).square().mean()
    trace.loss(loss, 1)
    (loss / 2).backward()
    gradient = model.weight.grad.clone()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    clipped = model.weight.grad.clone()
    optimizer.step()
    found = lines(tmp_path / "a.jsonl")
    (batch,), (forward,), (lost,) = of(found, "batch"), of(found, "forward"), of(found, "loss")
    (raw,), (used,) = of(found, "grad", when="raw"), of(found, "grad", when="clipped")
    (control,), (update,), (start, end) = of(found, "control"), of(found, "update"), of(found, "weights")
    assert (batch["ids"], batch["count"], batch["epoch"], batch["shapes"]) == ([7], 1, 3, {"": "float32[1, 2]"})
    assert batch["inputs"] == together({"": inputs})
    assert forward["digest"] == together({"": torch.tensor([[-3.0]])})
    assert float.fromhex(forward["norm"]) == 3
    assert (float.fromhex(lost["loss"]), lost["count"], lost["dtype"]) == (9.0, 1, "float32")
    assert gradient.tolist() == [[-3.0, -6.0]]
    assert (raw["digest"], float.fromhex(raw["seed"])) == (together({"weight": gradient}), 0.5)
    assert math.isclose(float.fromhex(raw["norm"]), math.sqrt(45), rel_tol=1e-6)
    assert used["digest"] == together({"weight": clipped})
    assert math.isclose(float.fromhex(used["norm"]), 1, rel_tol=1e-5)
    assert (control["lr"], control["micros"], control["skipped"]) == ([(0.25).hex()], 1, False)
    assert control["groups"][0]["momentum"] == (0.5).hex()
    assert (update["sampled"], update["unmoved"]) == (2, 0)
    assert math.isclose(float.fromhex(update["norm"]), 0.25, rel_tol=1e-5)
    assert start["digest"] == together({"weight": torch.tensor([[1.0, -2.0]])})
    assert end["digest"] == together({"weight": model.weight})
    (state,) = of(found, "optimizer")
    assert state["by"]["momentum_buffer"] == state["digest"] == together({"weight/momentum_buffer": clipped})


def test_a_rate_is_the_one_that_the_step_used(tmp_path: Path) -> None:
    """StepLR halves it after every second step."""
    training("perceptron", "SGD")(tmp_path / "a.jsonl")
    controls = of(lines(tmp_path / "a.jsonl"), "control")
    assert [float.fromhex(line["lr"][0]) for line in controls] == [0.05, 0.05, 0.025, 0.025, 0.0125]


def test_what_does_not_move_is_counted(tmp_path: Path) -> None:
    """In bfloat16, 1 + 2⁻⁹ is 1: three of these four weights stay where they are."""
    weight = nn.Parameter(torch.tensor([1.0, 1.0, 1.0, 2.0**-6], dtype=torch.bfloat16))
    model = nn.ParameterList([weight])
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    Recorder(tmp_path / "a.jsonl", model, optimizer)
    weight.grad = torch.full_like(weight, -(2.0**-9))
    optimizer.step()
    (update,) = of(lines(tmp_path / "a.jsonl"), "update")
    assert (update["sampled"], update["unmoved"]) == (4, 3)
    assert float.fromhex(update["norm"]) == 2.0**-9


def test_equal_in_value_is_told_from_equal_in_bits(tmp_path: Path) -> None:
    for name, zero in (("plus", 0.0), ("minus", -0.0)):
        model = nn.Linear(2, 1)
        with torch.no_grad():
            model.weight.fill_(zero)
            model.bias.fill_(1.0)
        Recorder(tmp_path / f"{name}.jsonl", model, torch.optim.SGD(model.parameters(), lr=0.1))
    (plus,), (minus,) = (of(lines(tmp_path / f"{name}.jsonl"), "weights") for name in ("plus", "minus"))
    assert plus["digest"] != minus["digest"]
    assert "canon" not in plus
    assert minus["canon"] == plus["digest"]


# The loss scaler


def test_a_real_overflow_is_a_skipped_step(tmp_path: Path) -> None:
    """2⁴⁰ is too large for float16: the first steps are left out, each halving the scale, until the gradients fit."""
    _, optimizer, scaler = training("transformer", half=True, steps=40)(tmp_path / "a.jsonl")
    found = lines(tmp_path / "a.jsonl")
    controls = of(found, "control")
    skipped = [line["skipped"] for line in controls]
    count = skipped.index(False)
    assert 5 < count < 40 and skipped == [True] * count + [False] * (40 - count)
    assert [float.fromhex(line["scale"]) for line in controls] == [2.0 ** (40 - min(k, count)) for k in range(40)]
    assert [line["step"] for line in controls] == list(range(1, 41))
    assert [line["step"] for line in of(found, "update")] == list(range(count + 1, 41))
    norms = [float.fromhex(line["norm"]) for line in of(found, "grad", when="clipped")]
    assert [math.isfinite(norm) for norm in norms] == [not one for one in skipped]
    weights = [line["digest"] for line in of(found, "weights")]
    assert len(set(weights[: count + 1])) == 1 and len(set(weights)) == 41 - count
    assert of(found, "optimizer")[-1]["counters"] == [float(40 - count).hex()]
    assert float.fromhex(of(found, "side", what="scaler")[-1]["values"]["scale"]) == scaler.get_scale()
    assert {float(state["step"]) for state in optimizer.state.values()} == {40.0 - count}


def test_a_scaler_is_pickled_and_copied_as_it_is_without_a_recorder(tmp_path: Path) -> None:
    model = perceptron()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    state = scaler.state_dict()
    with Recorder(tmp_path / "a.jsonl", model, optimizer, scaler=scaler):
        assert scaler.state_dict() == state
        for other in (copy.deepcopy(scaler), pickle.loads(pickle.dumps(scaler))):
            assert "step" not in vars(other) or not isinstance(vars(other)["step"], recorder._Watch)
            assert other.state_dict() == state
    assert "step" not in vars(scaler)


def test_a_model_is_copied_and_pickled_without_its_recorder(tmp_path: Path) -> None:
    """AveragedModel copies the model that it averages."""
    model = perceptron()
    Recorder(tmp_path / "a.jsonl", model, torch.optim.SGD(model.parameters(), lr=0.1))
    averaged = torch.optim.swa_utils.AveragedModel(model)
    again = pickle.loads(pickle.dumps(model))
    for other in (averaged, again, copy.deepcopy(model)):
        other(torch.ones(1, 6)).sum().backward()
    assert b"recorder" not in pickle.dumps(model)
    assert [line["event"] for line in lines(tmp_path / "a.jsonl")] == ["trace", "env", "model", "weights"]


# Parameters of every kind


def step_of(tmp_path: Path, model: nn.Module, optimizer: Any, inputs: Tensor, **options: Any) -> list[Line]:
    trace = Recorder(tmp_path / "a.jsonl", model, optimizer, **options)
    trace.batch(None, inputs)
    loss = model(inputs).square().mean()
    trace.loss(loss)
    loss.backward()
    optimizer.step()
    trace.close()
    return lines(tmp_path / "a.jsonl")


def test_a_tied_weight_stands_once_with_both_names(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    found = step_of(tmp_path, model, torch.optim.SGD(model.parameters(), lr=0.1), torch.ones(2, 3))
    (told,) = of(found, "model")
    assert [(one["name"], one.get("also")) for one in told["parameters"]] == [
        ("0.weight", ["1.weight"]),
        ("0.bias", None),
        ("1.bias", None),
    ]
    names = ("0.weight", "0.bias", "1.bias")
    named = dict(model.named_parameters(remove_duplicate=False))
    assert of(found, "weights")[-1]["digest"] == together({name: named[name] for name in names})


def test_frozen_and_untouched_parameters_are_told_apart(tmp_path: Path) -> None:
    model = nn.ModuleDict({name: nn.Linear(2, 2) for name in ("used", "frozen", "unused")})
    model["frozen"].requires_grad_(False)
    model.forward = lambda inputs: model["used"](model["frozen"](inputs))  # type: ignore[method-assign]
    optimizer = torch.optim.SGD([one for one in model.parameters() if one.requires_grad], lr=0.1)
    found = step_of(tmp_path, model, optimizer, torch.ones(3, 2))
    trained = {one["name"]: one["trained"] for one in of(found, "model")[0]["parameters"]}
    assert [name for name, is_trained in trained.items() if not is_trained] == ["frozen.weight", "frozen.bias"]
    (raw,) = of(found, "grad", when="raw")
    assert raw["none"] == 2  # of `unused`
    gradients = {f"used.{name}": one.grad for name, one in model["used"].named_parameters()}
    assert raw["digest"] == together(gradients)


def test_groups_have_their_rates_and_names(tmp_path: Path) -> None:
    model, outside = perceptron(), nn.Parameter(torch.ones(3))
    groups = [
        {"params": [model[3].weight, model[3].bias], "lr": 0.5},
        {"params": [model[0].weight, outside], "weight_decay": 0.125},
    ]
    found = step_of(tmp_path, model, torch.optim.SGD(groups, lr=0.25), torch.ones(2, 6))
    (told,), (control,) = of(found, "model"), of(found, "control")
    assert told["groups"] == [["3.weight", "3.bias"], ["0.weight", "group1.1"]]
    assert {one["name"]: one.get("group") for one in told["parameters"]}["0.bias"] is None
    assert control["lr"] == [(0.5).hex(), (0.25).hex()]
    assert [one["weight_decay"] for one in control["groups"]] == [0, (0.125).hex()]
    assert of(found, "weights")[-1]["digest"] == together({**parameters(model), "group1.1": outside})


def test_sparse_gradients_count_as_the_dense_ones_that_they_mean(tmp_path: Path) -> None:
    ends = []
    for sparse in (True, False):
        torch.manual_seed(0)
        model = nn.Embedding(10, 3, sparse=sparse)
        folder = tmp_path / str(sparse)
        folder.mkdir()
        found = step_of(folder, model, torch.optim.SGD(model.parameters(), lr=0.1), torch.tensor([1, 4, 4]))
        (raw,) = of(found, "grad", when="raw")
        ends.append((raw.get("sparse", 0), raw["digest"]))
    assert [count for count, _ in ends] == [1, 0]
    assert ends[0][1] == ends[1][1]


def test_a_closure_is_followed_through_all_its_evaluations(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=3, max_eval=3)
    inputs, targets = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([[1.0], [2.0]])
    trace = Recorder(tmp_path / "a.jsonl", model, optimizer)
    gradients = []

    def closure() -> Tensor:
        optimizer.zero_grad()
        trace.batch([0, 1], inputs)
        loss = (model(inputs) - targets).square().mean()
        trace.loss(loss, 2)
        loss.backward()
        gradients.append(together({name: one.grad for name, one in model.named_parameters()}))
        return loss

    for _ in range(2):
        optimizer.step(closure)
    trace.close()
    found = lines(tmp_path / "a.jsonl")
    assert len(gradients) == 6
    assert [line["digest"] for line in of(found, "grad", when="raw")] == gradients
    assert [line["digest"] for line in of(found, "grad", when="clipped")] == gradients
    assert [(line["step"], line["micros"]) for line in of(found, "control")] == [(1, 3), (2, 3)]
    assert [line["step"] for line in of(found, "weights")] == [0, 1, 2]
    assert of(found, "weights")[-1]["digest"] == together(parameters(model))


class Recomputing(nn.Module):
    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.inner, self.reentrant = perceptron(), reentrant

    def forward(self, inputs: Tensor) -> Tensor:
        return torch.utils.checkpoint.checkpoint(self.inner, inputs, use_reentrant=self.reentrant)  # type: ignore[no-any-return]


@pytest.mark.parametrize("way", ["plain", "reentrant", "compiled"])
def test_a_model_that_recomputes_or_is_compiled_is_followed_too(way: str, tmp_path: Path) -> None:
    def train(path: Any) -> None:
        torch.manual_seed(0)
        model = torch.compile(perceptron(), backend="eager") if way == "compiled" else Recomputing(way == "reentrant")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        trace = Recorder(path, model, optimizer)
        for step in range(2):
            inputs = torch.randn(4, 6).requires_grad_()
            trace.batch([step], inputs)
            loss = model(inputs).square().mean()
            trace.loss(loss, 4)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

    assert self_check(train, lambda _: None)["same"]
    train(tmp_path / "a.jsonl")
    found = lines(tmp_path / "a.jsonl")
    names = {one["name"].removeprefix("inner.") for one in of(found, "model")[0]["parameters"]}
    assert names == {"0.weight", "0.bias", "3.weight", "3.bias"}
    assert [len(of(found, event)) for event in ("forward", "loss", "control", "weights")] == [2, 2, 2, 3]
    assert [line["none"] for line in of(found, "grad")] == [0, 0, 0, 0]


def test_an_output_that_is_a_parameter_gathers_no_hooks(tmp_path: Path) -> None:
    model = nn.Module()
    model.weight = nn.Parameter(torch.ones(2))
    model.forward = lambda: model.weight  # type: ignore[method-assign]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    Recorder(tmp_path / "a.jsonl", model, optimizer)
    for _ in range(3):
        model().sum().backward()
        optimizer.step()
    assert not model.weight._backward_hooks
    assert len(of(lines(tmp_path / "a.jsonl"), "control")) == 3


@pytest.mark.parametrize("optimizer", ["Adam", "SGD"])
def test_a_closure_of_a_plain_optimizer_is_read_after_it_ran(tmp_path: Path, optimizer: str) -> None:
    """As Lightning calls it."""
    torch.manual_seed(1)
    model = nn.Linear(2, 1)
    made = getattr(torch.optim, optimizer)(model.parameters(), lr=0.1)
    Recorder(tmp_path / "a.jsonl", model, made)
    kept = {}

    def closure() -> Tensor:
        made.zero_grad()
        loss = model(torch.ones(1, 2)).square().mean()
        loss.backward()
        kept.update({name: one.grad.clone() for name, one in model.named_parameters()})
        return loss

    made.step(closure)
    (used,) = of(lines(tmp_path / "a.jsonl"), "grad", when="clipped")
    assert used["digest"] == together(kept)
