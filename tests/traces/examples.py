"""The trainings behind the examples of `app/traces/examples/`: python -m tests.traces.examples"""

import copy
import random
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import nn

from app.traces import examples
from app.traces.recorder import Recorder

STEPS, WINDOW, SIZE, SAVED = 12, 2, 3, 6
State = dict[str, Any]


def train(path: Path, lost: str | None = None, checkpoint: State | None = None) -> State:
    """Twelve steps, or those after the checkpoint. Returns what was saved after step 6."""
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), 0.02, foreach=False)
    late = lost == "rate-one-step"
    if late and checkpoint is not None:
        optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: 1.0 if done < 4 else 0.5)
    inputs = torch.randn(96, 6, generator=torch.Generator().manual_seed(1))
    targets = inputs.sum(1, keepdim=True).tanh()
    order = torch.randperm(96, generator=torch.Generator().manual_seed(2)).tolist()
    trace = Recorder(path, model, optimizer, scheduler=scheduler, level=2, every=1)
    first, position, saved = 0, 0, {}
    if checkpoint is not None:
        first, position = SAVED, SAVED * WINDOW * SIZE
        with trace.resume(checkpoint, step=SAVED, epoch=0):
            model.load_state_dict(checkpoint["model"])
            if lost == "lost-optimizer":
                optimizer.load_state_dict(checkpoint["optimizer"] | {"state": {}})
            elif not late:
                optimizer.load_state_dict(checkpoint["optimizer"])
            scheduler.load_state_dict(checkpoint["scheduler"])
            if lost != "lost-generator":
                torch.set_rng_state(checkpoint["generator"])
        if lost == "lost-position":
            position = 0
    for step in range(first, STEPS):
        for _ in range(WINDOW):
            ids = order[position : position + SIZE]
            position += SIZE
            trace.batch(ids, (inputs[ids], targets[ids]), epoch=0)
            loss = (model(inputs[ids]) - targets[ids]).square().mean()
            trace.loss(loss, SIZE)
            (loss if lost == "not-divided" else loss / WINDOW).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
        if step + 1 in (SAVED, STEPS):
            with trace.evaluation("valid", count=len(inputs)) as found, torch.no_grad():
                model.eval()
                found["loss"] = (model(inputs) - targets).square().mean()
                model.train()
        if step + 1 == SAVED and checkpoint is None:
            live = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
            saved = copy.deepcopy({name: one.state_dict() for name, one in live.items()})
            saved["generator"] = torch.get_rng_state()
    trace.close()
    return saved


def make(folder: Path) -> None:
    checkpoint = train(folder / f"{examples.WHOLE}.jsonl")
    for name in examples.EXAMPLES:
        lost = None if name == "clean-resume" else name
        loaded = None if name == "not-divided" else copy.deepcopy(checkpoint)  # an optimizer goes on in what it loads
        train(folder / f"{name}.jsonl", lost, loaded)


if __name__ == "__main__":
    for name in examples.TRACES:
        examples.path(name).unlink(missing_ok=True)
    make(examples.path(examples.WHOLE).parent)
