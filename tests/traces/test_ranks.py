"""Two real processes that train together: replicated weights, and weights of which each holds a part."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from app.traces.recorder import Recorder, add_digests
from tests.conftest import ROOT
from tests.traces.lines import Line, lines, of

PROGRAM = """
import os, sys, torch
from torch import nn
from recorder import Recorder
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank = int(sys.argv[1])
torch.distributed.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=2)
inputs = torch.randn(24, 5, generator=torch.Generator().manual_seed(1))


def train(name, wrap):
    torch.manual_seed(0)
    model = wrap(nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, foreach=False)
    with Recorder(name, model, optimizer) as trace:
        for step in range(3):
            ids = list(range(8 * step + rank, 8 * step + 8, 2))
            trace.batch(ids, inputs[ids])
            loss = model(inputs[ids]).square().mean()
            trace.loss(loss, 4)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


train("copies.jsonl", nn.parallel.DistributedDataParallel)
mesh = init_device_mesh("cpu", (2,))
train("shards.jsonl", lambda model: fully_shard(model, mesh=mesh))
torch.distributed.barrier()
os._exit(0)  # the traces are written; gloo's threads now and then abort a process that is taken down in order
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The traces of two ranks, and of one rank that accumulates over two micro-batches."""
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "recorder.py").write_bytes((ROOT / "app/traces/recorder.py").read_bytes())
    (folder / "program.py").write_text(PROGRAM)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "program.py"]
    both = [
        subprocess.Popen([*command, str(rank), str(folder / "meet")], cwd=folder, env=kept, stderr=subprocess.PIPE)
        for rank in (0, 1)
    ]
    told = [one.communicate(timeout=120)[1].decode() for one in both]
    assert [one.returncode for one in both] == [0, 0], told
    alone(folder / "alone.jsonl")
    return folder


def alone(path: Path) -> None:
    inputs = torch.randn(24, 5, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, foreach=False)
    with Recorder(path, model, optimizer) as trace:
        for step in range(3):
            for half in (0, 1):
                ids = list(range(8 * step + half, 8 * step + 8, 2))
                trace.batch(ids, inputs[ids])
                loss = model(inputs[ids]).square().mean()
                trace.loss(loss, 4)
                (loss / 2).backward()
            optimizer.step()
            optimizer.zero_grad()


def ranks(folder: Path, name: str) -> tuple[list[Line], list[Line]]:
    return lines(folder / f"{name}.jsonl"), lines(folder / f"{name}.r1.jsonl")


def test_ranks_and_names_are_those_of_the_inner_model(folder: Path) -> None:
    for rank, found in enumerate(ranks(folder, "copies")):
        assert (found[0]["rank"], found[0]["world"]) == (rank, 2)
        assert of(found, "model")[0]["parameters"][0]["name"] == "0.weight"


def test_two_ranks_agree_with_one_that_accumulates(folder: Path) -> None:
    """Halving is exact, so even the gradients are the same bits, once the ranks have exchanged them."""
    one, other = ranks(folder, "copies")
    single = lines(folder / "alone.jsonl")
    for field in ("members", "rows", "pairs"):
        for step in (1, 2, 3):
            parts = [line[field] for found in (one, other) for line in of(found, "batch", step=step)]
            whole = [line[field] for line in of(single, "batch", step=step)]
            assert len(parts) == len(whole) == 2
            assert add_digests(parts) == add_digests(whole)
    for event in ("weights", "optimizer"):
        assert [line["digest"] for line in of(one, event)] == [line["digest"] for line in of(other, event)]
        assert [line["digest"] for line in of(one, event)] == [line["digest"] for line in of(single, event)]
    whole = [line["digest"] for line in of(single, "grad", when="clipped")]
    for found in (one, other):
        assert [line["digest"] for line in of(found, "grad", when="clipped")] == whole
        assert [line["digest"] for line in of(found, "grad", when="raw")] == whole  # not before the exchange
    losses = [[line["loss"] for line in of(found, "loss")] for found in (one, other)]
    assert losses == [[line["loss"] for line in of(single, "loss", micro=micro)] for micro in (1, 2)]


def test_the_digests_of_shards_add_up_to_those_of_the_whole(folder: Path) -> None:
    one, other = ranks(folder, "shards")
    single = lines(folder / "alone.jsonl")
    for event, fields in (("weights", {}), ("optimizer", {}), ("grad", {"when": "clipped"})):
        pairs = list(zip(of(one, event, **fields), of(other, event, **fields), strict=True))
        whole = of(single, event, **fields)
        assert len(pairs) == len(whole) >= 3
        for (a, b), line in zip(pairs, whole, strict=True):
            assert (a["partial"], b["partial"]) == (True, True)
            assert add_digests([a["digest"], b["digest"]]) == line["digest"]
