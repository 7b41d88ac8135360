"""What recording costs a model of GPT-2's size and a small one, and the speed of the digest beside others."""

import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.results import ROOT, Row

STEPS = 5


def recording() -> list[Row]:
    """In a process of its own, since the benchmarks themselves do without torch."""
    told = subprocess.run(
        [sys.executable, "-m", "bench.recorder"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = json.loads(told.stdout)
    large, small = steps("GPT-2's size", found["large"], 0.1), steps("a small perceptron", found["small"], None)
    return [*large, *small, speed(found)]


def steps(model: str, found: dict[str, float], goal: float | None) -> list[Row]:
    plain = found["off"]
    rows = []
    for name, what in (("level 0", "level 0"), ("digests", "full digests at every step")):
        more = found[name] - plain
        told = f"{more * 1000:.3g} ms a step, {more / plain:+.1%} of {plain * 1000:.3g} ms"
        aimed = goal if name == "level 0" else None
        met = None if aimed is None else more / plain < aimed
        rows.append(Row(f"recorder on {model}, {what}", "" if aimed is None else f"< {aimed:.0%}", told, met))
    return rows


def speed(found: dict[str, Any]) -> Row:
    ours, *others = (f"{name} {rate:.1f}" for name, rate in found["speed"].items())
    return Row("digest of float32 on one core, GB/s", "", f"{ours} ({', '.join(others)})")


def measure() -> dict[str, Any]:
    """Run where torch may be imported."""
    import torch

    from app.traces.recorder import digest

    large = [turns(gpt, kind, STEPS) for kind in KINDS]
    small = [turns(perceptron, kind, 200) for kind in KINDS]
    found = {"large": interleaved(large, STEPS), "small": interleaved(small, 200)}
    torch.set_num_threads(1)
    tensor = torch.randn(1 << 25)
    rates = {"ours": digest, "sha256": lambda one: hashlib.sha256(one.numpy().data).digest()}
    if hasattr(torch, "hash_tensor"):
        rates["torch.hash_tensor, blind to order"] = torch.hash_tensor
    return found | {"speed": {name: 4 * tensor.numel() / best(act, tensor) / 1e9 for name, act in rates.items()}}


KINDS: dict[str, dict[str, int] | None] = {"off": None, "level 0": {"level": 0}, "digests": {"level": 1, "every": 1}}


def interleaved(runs: list[Iterator[float]], count: int) -> dict[str, float]:
    """Medians of steps that the runs take in turn; the first of each warms it up."""
    for run in runs:
        next(run)
    rounds = [[next(run) for run in runs] for _ in range(count)]
    return {kind: statistics.median(times) for kind, times in zip(KINDS, zip(*rounds, strict=True), strict=True)}


def turns(make: Callable[[], Any], kind: str, count: int) -> Iterator[float]:
    """Seconds of one training step after the other."""
    import torch

    from app.traces.recorder import Recorder

    torch.manual_seed(0)
    model, batch, loss_of = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    options = KINDS[kind]
    with tempfile.TemporaryDirectory() as folder:
        path = None if options is None else Path(folder) / "trace.jsonl"
        with Recorder(path, model, optimizer, **(options or {})) as trace:
            for step in range(count + 1):
                began = time.perf_counter()
                trace.batch([step], batch)
                loss = loss_of(model, batch)
                trace.loss(loss, 1)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                yield time.perf_counter() - began


def gpt() -> Any:
    """12 blocks of width 768 with 12 heads, 50257 tokens, head and embedding tied; 256 tokens a step."""
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(50257, 768), nn.Embedding(1024, 768)
            layer = nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True, norm_first=True)
            self.blocks = nn.TransformerEncoder(layer, 12, nn.LayerNorm(768), enable_nested_tensor=False)
            self.head = nn.Linear(768, 50257, bias=False)
            self.head.weight = self.tokens.weight

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            count = tokens.shape[1]
            mask = nn.Transformer.generate_square_subsequent_mask(count)
            found = self.blocks(self.tokens(tokens) + self.places.weight[:count], mask, is_causal=True)
            return self.head(found)  # (B, T, 50257)

    def loss_of(model: nn.Module, tokens: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())

    return Model(), torch.randint(0, 50257, (1, 257)), loss_of


def perceptron() -> Any:
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    targets = torch.randint(0, 10, (32,))
    return model, torch.randn(32, 32), lambda model, batch: nn.functional.cross_entropy(model(batch), targets)


def best(act: Callable[[Any], Any], tensor: Any) -> float:
    act(tensor)
    times = []
    for _ in range(3):
        began = time.perf_counter()
        act(tensor)
        times.append(time.perf_counter() - began)
    return min(times)


if __name__ == "__main__":
    print(json.dumps(measure()))
