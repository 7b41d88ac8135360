"""Small real trainings in which one fault can be planted; without one, every run of a training is the same bits.

The program is the one that a careful engineer would write: it accumulates, clips, scales, averages its weights,
evaluates, saves twice (between two steps, and within an unfinished window while training goes on) and can go on from
either in a new process. Where `self.wrong("…")` stands, it can be made to err.
"""

import contextlib
import copy
import functools
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from app.traces.recorder import Recorder

SAMPLES, BATCH, TOKENS = 28, 4, 5
EPOCH = SAMPLES // BATCH
"""Micro-batches: seven, so that the last window of an epoch is a short one."""
END = 2 * EPOCH + 2
AT = 3
"""The optimizer step at which a fault begins that needs no resume."""
CLOSED, OPEN = "closed", "open"
SAVES = {4: CLOSED, EPOCH + 3: OPEN}
"""After so many micro-batches a checkpoint is made; two to a step, these are step 2 and the midst of step 6."""


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(11, 8)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.head = nn.Linear(8, 11)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.block(self.tokens(tokens)))  # (B, T, 11)


def perceptron() -> nn.Module:
    """Its first two layers have the same shapes, so that one can be taken for the other."""
    return nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Dropout(0.2), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 3))


def convolution() -> nn.Module:
    whole = nn.AdaptiveAvgPool2d(1)
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), whole, nn.Flatten(), nn.Linear(4, 3))


MODELS = {"perceptron": perceptron, "convolution": convolution, "transformer": Transformer}
OPTIMIZERS: dict[str, dict[str, Any]] = {"SGD": {"lr": 0.1, "momentum": 0.9}, "AdamW": {"lr": 0.02}}


def data(model: str) -> tuple[Tensor, Tensor]:
    made = torch.Generator().manual_seed(5)
    if model != "transformer":
        shape = (SAMPLES, 6) if model == "perceptron" else (SAMPLES, 2, 5, 5)
        return torch.randn(shape, generator=made), torch.randint(0, 3, (SAMPLES,), generator=made)
    tokens = torch.randint(1, 11, (SAMPLES, TOKENS + 1), generator=made)
    targets = tokens[:, 1:].clone()
    lengths = torch.arange(SAMPLES) % TOKENS + 1
    targets[torch.arange(TOKENS) >= lengths[:, None]] = -100
    return tokens[:, :-1], targets


def batch(epoch: int, place: int) -> list[int]:
    """Its ids, over all ranks; each epoch is shuffled by a generator of its own."""
    order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(epoch)).tolist()
    return order[place * BATCH :][:BATCH]


@dataclass(frozen=True)
class Training:
    model: str
    optimizer: str
    accumulate: int = 2
    half: bool = False
    """float16 with a scaler, whose first scale is too large: step 1 overflows."""
    clip: float | None = None
    ranks: int = 1

    def run(self, path: Path | None, fault: str = "", resume: str = "") -> list[Path]:
        """Train; with `resume`, in two processes, of which the second goes on from that checkpoint. The files."""
        made = Program(self, path, fault)
        made.train(until=resume)
        if not resume:
            return made.close()
        again = None if path is None else path.with_name(f"{path.stem}-again.jsonl")
        other = Program(self, again, fault, made.written[resume])
        other.train()
        return made.close() + other.close()

    def window(self, number: int) -> range:
        """The micro-batches of the same optimizer step, counted from the first of the training."""
        place = number % EPOCH
        first = place - place % self.accumulate
        start = number - place
        return range(start + first, start + min(first + self.accumulate, EPOCH))


class Program:
    """One process per rank, in turn."""

    def __init__(self, training: Training, path: Path | None, fault: str, saved: list[bytes] | None = None) -> None:
        self.training, self.path = training, path
        payloads: list[Any] = [torch.load(io.BytesIO(one)) for one in saved] if saved else [None] * training.ranks
        if saved and fault == "generator of rank 0":
            for one in payloads:
                one["generators"]["global"] = payloads[0]["generators"]["global"]
        self.ranks = [Rank(training, path, fault, rank, payload) for rank, payload in enumerate(payloads)]
        self.written: dict[str, list[bytes]] = {}

    def train(self, until: str = "") -> None:
        while self.ranks[0].number < END and until not in self.written:
            for rank in self.ranks:
                with rank.turn():
                    rank.micro_batch()
            if self.ranks[0].micro == 0:
                self.step()
            self.save()

    def step(self) -> None:
        if len(self.ranks) > 1:
            self.reduce()
        for rank in self.ranks:
            with rank.turn():
                rank.update()
                if rank.step % 3 == 0:
                    rank.evaluate()
        if self.ranks[0].writing is not None:
            self.written[OPEN] = [rank.end_write() for rank in self.ranks]

    def reduce(self) -> None:
        """The mean of the ranks' gradients into each of them."""
        one = self.ranks[0]
        for parts in zip(*(rank.model.parameters() for rank in self.ranks), strict=True):
            grads = [part.grad for part in parts]
            total = functools.reduce(torch.add, reversed(grads) if one.wrong("reduction order") else grads)
            for part in parts:
                part.grad = total.clone() if one.wrong("world size") else total / len(parts)

    def save(self) -> None:
        """Between two steps at once, within a window in the background: that one is written after the next step."""
        name = SAVES.get(self.ranks[0].number)
        if name is None:
            return
        for rank in self.ranks:
            rank.begin_write()
        if name == CLOSED:
            self.written[CLOSED] = [rank.end_write() for rank in self.ranks]

    def close(self) -> list[Path]:
        for rank in self.ranks:
            rank.trace.close()
        if self.path is None:
            return []
        others = [self.path.with_name(f"{self.path.stem}.r{rank}.jsonl") for rank in range(1, len(self.ranks))]
        return [self.path, *others]


class Rank:
    """What one process holds: all that its training depends on, and its trace."""

    def __init__(self, training: Training, path: Path | None, fault: str, rank: int, saved: Any) -> None:
        self.training, self.fault, self.rank = training, fault, rank
        self.inputs, self.targets = data(training.model)
        torch.manual_seed(0)
        self.model = MODELS[training.model]()
        self.average = torch.optim.swa_utils.AveragedModel(
            self.model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)
        )
        self.optimizer = getattr(torch.optim, training.optimizer)(self.groups(saved), **OPTIMIZERS[training.optimizer])
        if self.fault == "scheduler built late" and saved:
            self.optimizer.load_state_dict(saved["optimizer"])
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: 0.9**step)
        self.scaler = torch.amp.GradScaler(
            "cpu", init_scale=2.0**40, backoff_factor=2.0**-28, growth_interval=2, enabled=training.half
        )
        own = 0 if self.fault == "rank seed" else rank
        self.augmentation = torch.Generator().manual_seed(50 + rank)
        self.stream = torch.Generator().manual_seed(100 + own).get_state()
        self.number, self.cursor, self.step = 0, 0, 0
        """Micro-batches done, the next batch to fetch, optimizer steps done."""
        self.writing: contextlib.ExitStack | None = None
        self.trace = Recorder(
            path,
            self.model,
            self.optimizer,
            scheduler=self.scheduler,
            scaler=self.scaler,
            generators={"augmentation": self.augmentation},
            rank=rank,
            world=training.ranks,
        )
        self.trace.averages("ema", self.average)
        if saved:
            self.load(saved)

    def wrong(self, fault: str, since: int = AT) -> bool:
        return self.fault == fault and self.step + 1 >= since

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """With the global generator as this process has it."""
        torch.set_rng_state(self.stream)
        yield
        self.stream = torch.get_rng_state()

    def groups(self, saved: Any) -> list[dict[str, Any]]:
        if self.training.model != "perceptron":
            return [{"params": list(self.model.parameters())}]
        first, second, head = (list(self.model[place].parameters()) for place in (0, 3, 5))
        if saved and self.fault == "groups reordered":
            first, second = second, first
        decay = 0.5 if self.fault == "weight decay" else 0.1
        return [
            {"params": first, "weight_decay": 0.0},
            {"params": second, "weight_decay": decay},
            {"params": head, "weight_decay": 0.01},
        ]

    # A micro-batch

    def ids(self) -> list[int]:
        at = self.cursor
        if self.wrong("batches exchanged") and self.step + 1 == AT:
            at = {2 * AT - 2: at + 1, 2 * AT - 1: at - 1}[at]
        epoch = 0 if self.fault == "repeated epoch" else at // EPOCH
        ids = batch(epoch, at % EPOCH)
        if self.wrong("order"):
            ids.reverse()
        if self.wrong("duplicates"):
            ids[-1] = ids[0]
        return ids[self.rank :: self.training.ranks]

    def augmented(self, inputs: Tensor) -> Tensor:
        if self.wrong("augmented unnamed"):
            inputs = inputs + 1
        if inputs.is_floating_point():
            return inputs + 0.1 * torch.randn(inputs.shape, generator=self.augmentation)
        return torch.where(torch.rand(inputs.shape, generator=self.augmentation) < 0.1, 0, inputs)

    def denominator(self, count: int) -> float:
        """Per rank and micro-batch such that their sum divides by all targets of the optimizer step."""
        window, ranks = self.training.window(self.number), self.training.ranks
        ids = [batch(*divmod(number, EPOCH)) for number in window]
        counts = [[int((self.targets[one[rank::ranks]] >= 0).sum()) for one in ids] for rank in range(ranks)]
        if self.wrong("micro-batch mean"):
            return count
        if self.wrong("rank mean"):
            return sum(counts[self.rank]) / len(window)
        return sum(map(sum, counts)) / len(window) / ranks

    def micro_batch(self) -> None:
        ids = self.ids()
        window = self.training.window(self.number)
        self.flip_a_bit()
        inputs, targets = self.augmented(self.inputs[ids]), self.targets[ids]
        given = inputs.double() if self.wrong("inputs cast") else inputs
        self.trace.batch(None if self.wrong("augmented unnamed") else ids, (given, targets), epoch=self.cursor // EPOCH)
        with torch.autocast("cpu", dtype=torch.float16, enabled=self.training.half):
            outputs = self.model(inputs)
            total = nn.functional.cross_entropy(outputs.flatten(0, -2), targets.flatten(), reduction="sum")
        count = self.denominator(int((targets >= 0).sum()))
        loss = total / count / (len(window) if self.wrong("divided twice") else 1)
        self.trace.loss(loss, count)
        parts = self.training.accumulate if self.wrong("short window") else len(window)
        parts = 1 if self.wrong("accumulation") else parts
        self.scaler.scale(loss / parts).backward()
        self.number, self.cursor = self.number + 1, self.cursor + 1
        if self.wrong("scheduler per micro-batch") and self.number in window:
            self.scheduler.step()
        if self.wrong("scale in the window") and self.number in window:
            self.scaler.update(self.scaler.get_scale() / 2)

    def flip_a_bit(self) -> None:
        bit = {"bit": 12, "low bit": 4}.get(self.fault)
        if bit is not None and self.step + 1 == AT and self.number == self.training.window(self.number)[0]:
            with torch.no_grad():
                self.model[-1].bias.view(torch.int32)[0] ^= 1 << bit

    # A step

    def update(self) -> None:
        """After the gradients of the window."""
        early = self.wrong("scheduler early") and self.step + 1 == AT
        late = self.wrong("scheduler late") and self.step + 1 == AT
        if early:
            self.scheduler.step()
        if self.wrong("clip before unscale"):
            self.clip()
        self.scaler.unscale_(self.optimizer)
        if not (self.wrong("clip before unscale") or self.wrong("no clip")):
            self.clip()
        scale = self.scaler.get_scale()
        if self.wrong("overflow taken", 1):
            self.optimizer.step()
        else:
            self.scaler.step(self.optimizer)
        self.scaler.update()
        self.step += 1
        taken = self.scaler.get_scale() >= scale
        if not (self.wrong("gradients kept") and self.step == AT - 1):
            self.optimizer.zero_grad()
        self.average.update_parameters(self.model)
        if (taken or self.fault == "scheduler counts skips") and not early and not late:
            with warnings.catch_warnings(action="ignore" if not taken else "default"):  # torch sees this fault too
                self.scheduler.step()
        if self.fault == "draw after the step" and self.step == AT:
            torch.rand(1)

    def clip(self) -> None:
        if self.training.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.training.clip)

    def evaluate(self) -> None:
        own = None if self.fault == "evaluation draws" else torch.Generator().manual_seed(1)
        with self.trace.evaluation("valid", count=8) as found, torch.no_grad():
            chosen = torch.randperm(SAMPLES, generator=own)[:8]
            self.model.train(self.fault == "evaluation in training mode")
            found["mean"] = self.model(self.inputs[chosen]).mean()
            self.model.train(self.fault != "left in evaluation mode")

    # Checkpoints

    def state(self) -> dict[str, Any]:
        parts = {
            "model": self.model,
            "average": self.average,
            "optimizer": self.optimizer,
            "scheduler": self.scheduler,
            "scaler": self.scaler,
        }
        found = {name: part.state_dict() for name, part in parts.items()}
        if self.fault == "averages saved":
            found["model"] = self.average.module.state_dict()
        found["generators"] = {"global": self.stream, "augmentation": self.augmentation.get_state()}
        found["counted"] = {"number": self.number, "cursor": self.cursor, "step": self.step}
        found["gradients"] = {
            name: one.grad for name, one in self.model.named_parameters() if self.micro and one.grad is not None
        }
        return found if self.fault == "live tensors saved" else copy.deepcopy(found)

    @property
    def micro(self) -> int:
        """Micro-batches of the unfinished step."""
        return self.number - self.training.window(self.number)[0]

    def begin_write(self) -> None:
        self.payload = self.state()
        self.writing = contextlib.ExitStack()
        self.saved = self.writing.enter_context(self.trace.checkpoint(self.payload))

    def end_write(self) -> bytes:
        file = io.BytesIO()
        torch.save(self.payload, file)
        self.saved.read_back(torch.load(io.BytesIO(file.getvalue())))
        self.writing.close()
        self.writing = None
        return file.getvalue()

    def load(self, saved: Any) -> None:
        left = self.fault.removesuffix(" not restored")
        counted = saved["counted"]
        self.number, self.cursor, self.step = counted["number"], counted["cursor"], counted["step"]
        self.cursor += {"position one short": -1, "prefetched counted": 2}.get(self.fault, 0)
        with self.trace.resume(saved, step=self.step, micro=self.micro, epoch=self.cursor // EPOCH):
            self.load_model(saved["model"], left)
            if left != "average":
                self.average.load_state_dict(saved["average"])
            if left not in ("optimizer", "scheduler built late"):
                self.optimizer.load_state_dict(self.optimizer_state(saved["optimizer"]))
            if left != "scheduler":
                self.scheduler.load_state_dict(saved["scheduler"])
            if left != "scaler":
                self.scaler.load_state_dict(saved["scaler"])
            if left != "generator":
                self.stream = saved["generators"]["global"]
            if left != "augmentation":
                self.augmentation.set_state(saved["generators"]["augmentation"])
            torch.set_rng_state(self.stream)
        for name, one in self.model.named_parameters():
            one.grad = saved["gradients"].get(name) if left != "gradients" else None

    def load_model(self, saved: dict[str, Tensor], left: str) -> None:
        names = {name for name, _ in self.model.named_parameters()}
        kept = {name: one for name, one in saved.items() if left != ("weights" if name in names else "buffers")}
        if self.fault == "weights through bfloat16":
            kept = {
                name: one.bfloat16().to(one.dtype) if one.is_floating_point() else one for name, one in kept.items()
            }
        self.model.load_state_dict(kept, strict=False)

    def optimizer_state(self, saved: Any) -> Any:
        for state in saved["state"].values():
            if self.fault == "step counts not restored":
                state["step"] = torch.zeros_like(state["step"])
            if self.fault == "moments through bfloat16":
                state |= {name: one.bfloat16().to(one.dtype) for name, one in state.items() if name != "step"}
        return saved
