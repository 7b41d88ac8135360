"""Small real trainings, each recorded at the path that it is given."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from app.traces.recorder import Recorder

Train = Callable[[str | Path | None], Any]
COUNT = 24


class Transformer(nn.Module):
    """One block over 11 tokens, with dropout; the head is tied to the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(11, 16)
        self.block = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
        self.head = nn.Linear(16, 11, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.block(self.tokens(tokens)))  # (B, T, 11)


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))


def convolution() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)
    )


def data(kind: str) -> tuple[Tensor, Tensor]:
    made = torch.Generator().manual_seed(5)
    if kind == "transformer":
        tokens = torch.randint(0, 11, (COUNT, 6), generator=made)
        return tokens[:, :-1], tokens[:, 1:]
    shape = (COUNT, 6) if kind == "perceptron" else (COUNT, 2, 5, 5)
    return torch.randn(shape, generator=made), torch.randint(0, 3, (COUNT,), generator=made)


MODELS: dict[str, Callable[[], nn.Module]] = {
    "perceptron": perceptron,
    "convolution": convolution,
    "transformer": Transformer,
}


def batches(size: int, count: int) -> Iterator[list[int]]:
    """Ids of an epoch after the other, each shuffled by a generator of its own."""
    epoch = 0
    while True:
        order = torch.randperm(COUNT, generator=torch.Generator().manual_seed(epoch)).tolist()
        for first in range(0, COUNT, size):
            yield order[first : first + size]
            count -= 1
            if count == 0:
                return
        epoch += 1


def training(
    kind: str = "perceptron",
    optimizer: str = "AdamW",
    *,
    steps: int = 5,
    accumulate: int = 1,
    half: bool = False,
    clip: float | None = 0.5,
    **options: Any,
) -> Train:
    def train(path: str | Path | None) -> Any:
        torch.manual_seed(0)
        model = MODELS[kind]()
        made = getattr(torch.optim, optimizer)(
            model.parameters(), lr=0.05, **({"momentum": 0.9} if optimizer == "SGD" else {})
        )
        scheduler = torch.optim.lr_scheduler.StepLR(made, 2, 0.5)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40, enabled=half)
        inputs, targets = data(kind)
        trace = Recorder(path, model, made, scheduler=scheduler, scaler=scaler, **options)
        for number, ids in enumerate(batches(4, steps * accumulate), 1):
            trace.batch(ids, (inputs[ids], targets[ids]), epoch=(number - 1) * 4 // COUNT)
            with torch.autocast("cpu", dtype=torch.float16, enabled=half):
                outputs = model(inputs[ids])
                loss = nn.functional.cross_entropy(outputs.flatten(0, -2), targets[ids].flatten())
            trace.loss(loss, targets[ids].numel())
            scaler.scale(loss / accumulate).backward()
            if number % accumulate == 0:
                scaler.unscale_(made)
                if clip is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), clip)
                scaler.step(made)
                scale = scaler.get_scale()
                scaler.update()
                made.zero_grad()
                if scaler.get_scale() >= scale:
                    scheduler.step()
        trace.close()
        return model, made, scaler

    return train
