"""Batches, evaluations, checkpoints, resumes, averages, levels and files: what is written, and what never is."""

import copy
import getpass
import itertools
import json
import math
import os
import random
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor, nn

from app.traces import recorder
from app.traces.recorder import Recorder, add_digests
from tests.conftest import ROOT
from tests.traces import twin
from tests.traces.lines import Line, lines, of
from tests.traces.trainings import perceptron, training

SOURCE = ROOT / "app/traces/recorder.py"


class Run:
    """A model that trains, and its trace."""

    def __init__(self, path: Path | None, **options: Any) -> None:
        torch.manual_seed(0)
        self.model = perceptron()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.05)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2, 0.5)
        self.path = path
        self.trace = Recorder(path, self.model, self.optimizer, scheduler=self.scheduler, **options)

    def step(self, count: int = 1, inputs: Tensor | None = None, ids: Any = None) -> None:
        for _ in range(count):
            given = torch.randn(4, 6) if inputs is None else inputs
            self.trace.batch(ids, given)
            loss = self.model(given).square().mean()
            self.trace.loss(loss, 4)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.scheduler.step()

    def state(self) -> dict[str, Any]:
        """As a program would save it: copies."""
        parts = {"model": self.model, "optimizer": self.optimizer, "scheduler": self.scheduler}
        return {name: copy.deepcopy(part.state_dict()) for name, part in parts.items()}

    def lines(self) -> list[Line]:
        assert self.path is not None
        return lines(self.path)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "run.jsonl")


# Batches


def batch_of(tmp_path: Path, name: str, ids: Any, inputs: Any) -> Line:
    run = Run(tmp_path / f"{name}.jsonl")
    run.trace.batch(ids, inputs)
    run.trace.close()
    return of(run.lines(), "batch")[0]


def test_order_and_members_of_ids(tmp_path: Path) -> None:
    given = [[1, 2, 3], [3, 1, 2], [1, 2, 4], torch.tensor([1, 2, 3]), numpy.array([1, 2, 3]), ("1", "2", "3")]
    a, turned, other, tensor, array, texts = (batch_of(tmp_path, str(k), ids, None) for k, ids in enumerate(given))
    assert a["order"] != turned["order"] and a["members"] == turned["members"] != other["members"]
    assert a["ids"] == tensor["ids"] == array["ids"] == [1, 2, 3]
    assert a["order"] == tensor["order"] == array["order"] != texts["order"]


def test_an_id_that_is_a_path_is_written_as_a_hash(tmp_path: Path) -> None:
    line = batch_of(tmp_path, "a", ["/home/someone/photo.png", ("dog", 3)], None)
    assert [one[0] for one in line["ids"]] == ["#", "#"] and [len(one) for one in line["ids"]] == [17, 17]
    assert "photo" not in json.dumps(line)


def test_many_ids_are_digested_but_not_listed(tmp_path: Path) -> None:
    line = batch_of(tmp_path, "a", range(4097), None)
    assert (line["count"], "ids" in line, len(line["order"])) == (4097, False, 32)


def test_order_free_digests_add_up_however_the_batch_is_cut(tmp_path: Path) -> None:
    inputs, targets = torch.randn(12, 5), torch.randint(0, 9, (12,))
    ids = list(range(100, 112))
    whole = batch_of(tmp_path, "whole", ids, {"x": inputs, "y": targets})
    order = [7, 2, 11, 0, 1, 5, 3, 9, 8, 10, 4, 6]
    cuts = [order[:5], order[5:6], order[6:]]
    parts = [
        batch_of(tmp_path, f"part{k}", [ids[i] for i in cut], {"x": inputs[cut], "y": targets[cut]})
        for k, cut in enumerate(cuts)
    ]
    for field in ("members", "rows", "pairs"):
        assert add_digests(part[field] for part in parts) == whole[field]


def test_contents_are_told_from_order_and_from_pairing(tmp_path: Path) -> None:
    x = torch.arange(12.0).view(4, 3)
    columns = x.clone()
    columns[[0, 1], 1] = x[[1, 0], 1]  # two samples exchange one of their values
    a = batch_of(tmp_path, "a", [1, 2, 3, 4], x)
    turned = batch_of(tmp_path, "turned", [2, 1, 3, 4], x[[1, 0, 2, 3]])
    other = batch_of(tmp_path, "other", [1, 2, 3, 4], x[[1, 0, 2, 3]])
    mixed = batch_of(tmp_path, "mixed", [1, 2, 3, 4], columns)
    assert (turned["inputs"], turned["rows"], turned["pairs"]) != (a["inputs"], a["rows"], a["pairs"])
    assert turned["rows"] == a["rows"] and turned["pairs"] == a["pairs"] and turned["inputs"] != a["inputs"]
    assert other["rows"] == a["rows"] and other["pairs"] != a["pairs"]
    assert mixed["rows"] != a["rows"]


def test_inputs_are_any_nest(tmp_path: Path) -> None:
    nest = {"ids": torch.ones(2, 3, dtype=torch.long), "more": [torch.zeros(2), (None, "text", 4)]}
    line = batch_of(tmp_path, "a", None, nest)
    assert line["shapes"] == {"ids": "int64[2, 3]", "more.0": "float32[2]"}
    nest["more"] = [torch.zeros(2), (None, "texts", 4)]
    other = batch_of(tmp_path, "b", None, nest)
    assert other["inputs"] != line["inputs"]
    assert "text" not in json.dumps({**line, "event": ""})
    assert "ids" not in line and "order" not in line


# Generators


def test_a_draw_from_any_generator_is_seen_and_none_is_made(tmp_path: Path) -> None:
    own, numpys = torch.Generator().manual_seed(1), numpy.random.default_rng(2)
    more, plain = random.Random(3), numpy.random.RandomState(4)
    run = Run(tmp_path / "a.jsonl", generators={"own": own, "numpys": numpys, "more": more, "plain": plain})
    draws = [
        lambda: None,
        lambda: torch.rand(1),
        random.random,
        numpy.random.rand,
        lambda: torch.rand(1, generator=own),
        numpys.random,
        more.random,
        plain.rand,
    ]
    for draw in draws:
        run.trace.batch()
        draw()
    run.trace.batch()
    run.trace.flush()
    seen = [line["generators"] for line in of(run.lines(), "rng")]
    moved = [{name for name in a if a[name] != b[name]} for a, b in itertools.pairwise(seen)]
    assert moved == [set(), {"cpu"}, {"python"}, {"numpy"}, {"own"}, {"numpys"}, {"more"}, {"plain"}]


# Evaluations


def test_an_evaluation_that_draws_is_told(run: Run) -> None:
    run.step()
    loader = torch.utils.data.DataLoader(torch.arange(4))
    with run.trace.evaluation("valid", count=4) as found, torch.no_grad():
        list(loader)
        found["loss"] = torch.tensor(0.5)
        found["accuracy"] = 0.25
    with run.trace.evaluation("quiet") as found, torch.no_grad():
        run.model.eval()(torch.ones(1, 6))
        run.model.train()
    (drawing, quiet) = of(run.lines(), "eval")
    assert drawing["moved"] == ["rng:cpu"]
    assert (drawing["name"], drawing["count"], drawing["step"]) == ("valid", 4, 1)
    assert {name: float.fromhex(value) for name, value in drawing["metrics"].items()} == {"loss": 0.5, "accuracy": 0.25}
    assert (quiet["moved"], quiet["metrics"]) == ([], {})
    assert len(of(run.lines(), "forward")) == 1


def test_an_evaluation_that_leaves_things_changed_is_told(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    trace = Recorder(tmp_path / "a.jsonl", model, torch.optim.SGD(model.parameters(), lr=0.1))
    with trace.evaluation(), torch.no_grad():
        model(torch.ones(3, 2))
    with trace.evaluation():
        model.eval()
        model[0].weight.data.add_(1)
    first, second = of(lines(tmp_path / "a.jsonl"), "eval")
    assert first["moved"] == ["buffers"]
    assert second["moved"] == ["weights", "mode"]


# Checkpoints


def test_a_checkpoint_and_what_was_read_back(run: Run, tmp_path: Path) -> None:
    run.step(2)
    payload = run.state()
    with run.trace.checkpoint(payload) as saved:
        torch.save(payload, tmp_path / "c.pt")
        saved.read_back(torch.load(tmp_path / "c.pt"))
    (line,) = of(run.lines(), "side", what="saved")
    assert line["read_back"] == line["digest"] and "after" not in line
    assert line["live"] == {"weights": "bitwise", "optimizer": "bitwise"}
    assert (line["aliases"], line["step"]) == (0, 2)
    assert line["parts"]["weights"] == of(run.lines(), "weights")[-1]["digest"]


def test_live_tensors_in_a_checkpoint_are_found(run: Run) -> None:
    """`state_dict()` gives references: a step while it is being written goes into it."""
    run.step()
    payload = {"model": run.model.state_dict()}
    with run.trace.checkpoint(payload):
        run.step()
    (line,) = of(run.lines(), "side", what="saved")
    assert line["aliases"] == 4
    assert line["after"] != line["digest"]
    assert line["live"] == {"weights": "bitwise", "optimizer": "absent"}


def test_averages_saved_as_weights_are_found(run: Run) -> None:
    averaged = torch.optim.swa_utils.AveragedModel(run.model)
    run.trace.averages("ema", averaged)
    for _ in range(3):
        run.step()
        averaged.update_parameters(run.model)
    with run.trace.checkpoint({"model": averaged.module.state_dict()}):
        pass
    found = run.lines()
    saved, average = of(found, "side", what="saved")[0], of(found, "side", what="average", name="ema")[-1]
    assert saved["live"]["weights"] == "different"
    assert saved["parts"]["weights"] == average["digest"] != of(found, "weights")[-1]["digest"]
    assert average["values"] == {"n_averaged": 3}


def test_a_minus_zero_in_a_checkpoint_is_equal_but_not_bitwise(run: Run) -> None:
    with torch.no_grad():
        run.model[0].bias.zero_()
    payload = {"model": {name: value.clone() for name, value in run.model.state_dict().items()}}
    payload["model"]["0.bias"].neg_()
    with run.trace.checkpoint(payload):
        pass
    assert of(run.lines(), "side", what="saved")[0]["live"]["weights"] == "equal"


# Resumes


def resumed(path: Path, payload: dict[str, Any], *, leave: str = "", **options: Any) -> Run:
    run = Run(path)
    with run.trace.resume(payload, **options):
        for name in ("model", "optimizer", "scheduler"):
            if name != leave:
                getattr(run, name).load_state_dict(payload[name])
    return run


def test_a_resume_meets_its_checkpoint(run: Run, tmp_path: Path) -> None:
    run.step(3)
    payload = run.state()
    with run.trace.checkpoint(payload):
        pass
    again = resumed(tmp_path / "again.jsonl", payload, step=3, epoch=1)
    again.step()
    found = again.lines()
    (line,) = of(found, "resume")
    assert (line["step"], line["from"], line["epoch"]) == (3, "given", 1)
    assert line["loaded"] == {"weights": "bitwise", "optimizer": "bitwise", "scheduler": "bitwise"}
    assert line["payload"] == of(run.lines(), "side", what="saved")[0]["digest"]
    assert line["changed"] == ["weights", "optimizer", "scheduler"]
    after = found[found.index(line) :]
    assert of(after, "weights")[0] == {**of(run.lines(), "weights")[-1]}
    assert of(after, "optimizer")[0] == of(run.lines(), "optimizer")[-1]
    assert [one["step"] for one in of(after, "control")] == [4]


@pytest.mark.parametrize("left", ["model", "optimizer", "scheduler"])
def test_what_a_resume_leaves_out_is_told(run: Run, tmp_path: Path, left: str) -> None:
    run.step(3)
    found = resumed(tmp_path / "again.jsonl", run.state(), leave=left, step=3).lines()
    verdicts = of(found, "resume")[0]["loaded"]
    kind = {"model": "weights"}.get(left, left)
    assert {name for name, verdict in verdicts.items() if verdict != "bitwise"} == {kind}
    assert kind not in of(found, "resume")[0]["changed"]


def test_the_step_comes_from_the_optimizer_when_it_is_not_given(run: Run, tmp_path: Path) -> None:
    run.step(3)
    payload = run.state()
    told = of(resumed(tmp_path / "a.jsonl", payload).lines(), "resume")[0]
    unknown = of(resumed(tmp_path / "b.jsonl", payload, leave="optimizer").lines(), "resume")[0]
    assert (told["step"], told["from"]) == (3, "optimizer")
    assert (unknown["step"], unknown["from"]) == (0, "unknown")


def test_a_run_that_resumes_well_ends_in_the_lines_of_the_whole_run(tmp_path: Path) -> None:
    whole = Run(tmp_path / "whole.jsonl")
    whole.step(2)
    payload, state = whole.state(), torch.get_rng_state()
    whole.step(2)
    again = resumed(tmp_path / "again.jsonl", payload, step=2)
    torch.set_rng_state(state)
    again.step(2)
    ends = [
        [line for line in one.lines() if line.get("step", 0) >= 3 and line.get("at") != "resume"]
        for one in (whole, again)
    ]
    assert len(ends[0]) > 15 and ends[0] == ends[1]


# Averages


def test_weights_that_do_not_come_back_after_averages_are_told(run: Run) -> None:
    average = {name: value.clone() for name, value in run.model.state_dict().items()}
    for comes_back in (True, False):
        kept = {name: value.clone() for name, value in run.model.state_dict().items()}
        with run.trace.averages("ema", average):
            run.model.load_state_dict({name: value * 2 for name, value in average.items()})
            if comes_back:
                run.model.load_state_dict(kept)
    restored = [line["restored"] for line in of(run.lines(), "side", what="average")]
    assert restored == ["bitwise", "different"]


# Levels


def test_a_small_model_is_digested_at_every_step_and_a_large_one_is_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "FEW", 100)
    large = Run(tmp_path / "large.jsonl")
    for one in (run, large):
        torch.manual_seed(1)
        one.step(2)
    small_head, large_head = run.lines()[0], large.lines()[0]
    assert (small_head["level"], small_head["every"], "why" in small_head) == (1, 1, False)
    assert large_head["level"] == 0
    assert large_head["why"] == [
        "163 parameters: outputs, gradients, weights and optimizer state are digested not at all"
    ]
    assert {k for k, way in large_head["recorded"].items() if way == "norm"} == {
        *("forward", "grad", "update", "weights", "optimizer")
    }
    stages = ("forward", "grad", "weights", "optimizer")
    digested = [["digest" in line for line in of(large.lines(), stage)] for stage in stages]
    assert digested == [[False] * 2, [False] * 4, [True, False, False], [False] * 2]
    for event in ("batch", "rng", "loss", "control"):
        assert of(large.lines(), event) == of(run.lines(), event)
    for one, other in zip(of(large.lines(), "grad"), of(run.lines(), "grad"), strict=True):
        assert math.isclose(float.fromhex(one["norm"]), float.fromhex(other["norm"]), rel_tol=1e-5)


def test_level_1_digests_every_so_many_steps(tmp_path: Path) -> None:
    run = Run(tmp_path / "a.jsonl", level=1, every=3)
    run.step(7)
    digested = [line["step"] for line in of(run.lines(), "weights") if "digest" in line]
    assert digested == [0, 1, 4, 7]
    assert [line["step"] for line in of(run.lines(), "grad", when="raw") if "digest" in line] == [1, 4, 7]


def test_level_2_has_lines_by_parameter_in_turn(tmp_path: Path) -> None:
    run = Run(tmp_path / "a.jsonl", level=2, every=4)
    run.step(8)
    found = of(run.lines(), "parameters", of="weights")
    assert [line["complete"] for line in found] == [True] * 4 + [False, True, False, False, False]
    in_turn = [name for line in found if not line["complete"] for name in line["digests"]]
    assert set(in_turn) == {"0.weight", "0.bias", "3.weight", "3.bias"}
    whole = of(run.lines(), "weights", step=5)[0]
    assert together_of(found[5]["digests"]) == whole["digest"]
    kinds = {line["of"] for line in of(run.lines(), "parameters")}
    assert kinds == {"grad", "clipped", "weights", "optimizer"}


def together_of(digests: dict[str, str]) -> str:
    lanes = [0, 0]
    for name, one in digests.items():
        for lane in (0, 1):
            lanes[lane] += int(one[16 * lane : 16 * lane + 16], 16) * (twin.hashed(name)[lane] | 1)
    return "".join(f"{lane % twin.LIMIT:016x}" for lane in lanes)


@pytest.mark.parametrize("shift", ["noise", "constant"])
def test_two_sketches_estimate_how_far_apart_the_weights_are(tmp_path: Path, shift: str) -> None:
    ends = []
    for name, moved in (("a", 0.0), ("b", 1.0)):
        torch.manual_seed(0)
        model = nn.Linear(300, 400)
        with torch.no_grad():
            noise = torch.randn(400, 300, generator=torch.Generator().manual_seed(9)) if shift == "noise" else 1.0
            model.weight.add_(noise, alpha=moved * 0.01)
        Recorder(tmp_path / f"{name}.jsonl", model, torch.optim.SGD(model.parameters(), lr=0.1), level=3)
        (line,) = of(lines(tmp_path / f"{name}.jsonl"), "sketch")
        ends.append((torch.tensor([float.fromhex(one) for one in line["sketch"]]), model.weight.detach()))
        assert len(line["values"]["weight"]) == 8
    (one, a), (other, b) = ends
    assert math.isclose(float((one - other).norm()), float((a - b).norm()), rel_tol=0.25)


# Files


def test_a_path_is_kept_and_ranks_have_files_of_their_own(tmp_path: Path) -> None:
    for rank in (0, 2):
        Run(tmp_path / "run.a.jsonl", rank=rank, world=4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.a.jsonl", "run.a.r2.jsonl"]
    head = lines(tmp_path / "run.a.r2.jsonl")[0]
    assert (head["rank"], head["world"]) == (2, 4)


def test_a_second_program_adds_a_segment_after_a_torn_line(run: Run) -> None:
    run.step()
    whole = run.path.read_bytes()
    run.path.write_bytes(whole[:-40])
    again = Run(run.path)
    again.step()
    found, torn = [], 0
    for line in run.path.read_text().splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            torn += 1
    assert torn == 1
    assert [line["event"] for line in found].count("trace") == 2


KILLED = """
import os, torch
from recorder import Recorder
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
trace = Recorder("killed.jsonl", model, optimizer)
for step in range(3):
    trace.batch([step], torch.ones(1, 2))
    loss = model(torch.ones(1, 2)).mean()
    trace.loss(loss, 1)
    loss.backward()
    if step == 2:
        os._exit(9)
    optimizer.step()
"""


def copied_beside(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program that has recorder.py beside it and knows nothing of this project."""
    (folder / "recorder.py").write_bytes(SOURCE.read_bytes())
    (folder / "program.py").write_text(program)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-W", "error", *(words or ("program.py",))]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=kept)


def test_a_killed_program_leaves_all_its_finished_steps(tmp_path: Path) -> None:
    told = copied_beside(tmp_path, KILLED)
    assert told.returncode == 9, told.stderr
    assert [line["step"] for line in of(lines(tmp_path / "killed.jsonl"), "weights")] == [0, 1, 2]


def test_a_program_that_ends_without_closing_loses_nothing(tmp_path: Path) -> None:
    told = copied_beside(tmp_path, KILLED.replace("step == 2", "False"))
    assert (told.returncode, told.stderr) == (0, "")
    assert lines(tmp_path / "killed.jsonl")[-1]["event"] == "weights"


CHECKED = """
import torch
from recorder import Recorder
def train(path):
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trace = Recorder(path, model, optimizer)
    for step in range(3):
        trace.batch([step], torch.ones(1, 2))
        loss = model(torch.ones(1, 2)).mean()
        trace.loss(loss, 1)
        loss.backward()
        optimizer.step()
"""


def test_the_file_checks_a_program_by_itself(tmp_path: Path) -> None:
    told = copied_beside(tmp_path, CHECKED, "recorder.py", "program.py:train")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("the same bits with and without recording; ")


def test_a_disk_that_is_full_ends_the_trace_and_not_the_training() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    torch.manual_seed(0)
    model = perceptron()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.warns(UserWarning, match="the trace ends here, its file cannot be written: No space left"):
        trace = Recorder("/dev/full", model, optimizer)
    trace.batch([1], torch.ones(1, 6))
    model(torch.ones(1, 6)).sum().backward()
    optimizer.step()


def test_a_recorder_without_a_path_records_nothing(tmp_path: Path) -> None:
    run = Run(None)
    run.step(2)
    with run.trace.evaluation() as found:
        found["x"] = 1
    with run.trace.checkpoint({}) as saved:
        saved.read_back({})
    with run.trace.resume({}), run.trace.averages("ema", {}):
        pass
    run.trace.close()
    assert run.model._forward_hooks == {} and run.trace.step == 0
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_the_place_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "a-secret-place"
    folder.mkdir()
    training(level=3)(folder / "a.jsonl")
    text = (folder / "a.jsonl").read_text()
    for secret in ("secret", str(ROOT), socket.gethostname(), f'"{getpass.getuser()}"', str(os.getpid()), sys.argv[0]):
        assert secret not in text
    env = of(lines(folder / "a.jsonl"), "env")[0]
    assert set(env) <= {field for field in ENV}


ENV = (
    *("event", "python", "torch", "system", "devices", "dtype", "threads", "interop_threads", "deterministic"),
    *("matmul_precision", "cudnn_benchmark", "cudnn_deterministic", "world", "cuda", "cudnn", "numpy"),
)


@pytest.mark.parametrize("wrong", [{"level": 4}, {"every": 0}])
def test_wrong_options_are_told_at_once(wrong: dict[str, int], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is 0, 1, 2 or 3, not 4|is 1 or more, not 0"):
        Run(tmp_path / "a.jsonl", **wrong)
