"""A training run into a trace: one JSON line per event, for finding the first stage at which two runs part.

One file; Python's standard library and torch 2.2 or later are all it needs. Copy it beside a training program:

    from recorder import Recorder

    trace = Recorder("run-a.jsonl", model, optimizer, scheduler=scheduler, scaler=scaler)
    for epoch, (ids, inputs, targets) in …:
        trace.batch(ids, (inputs, targets), epoch=epoch)    # before the forward pass of a micro-batch
        loss = criterion(model(inputs), targets)
        trace.loss(loss, len(ids))                          # before backward; what the mean was taken over
        loss.backward()
        optimizer.step()

Hooks on the model and on the optimizer's step collect the rest. Also: `with trace.evaluation("valid") as found`,
`with trace.checkpoint(payload)`, `with trace.resume(payload, step=n)`, `with trace.averages("ema", ema)`. In other
loops: `Trainer(callbacks=[lightning_callback("run-a.jsonl")])` of Lightning,
`trainer.add_callback(trainer_callback("run-a.jsonl"))` of Hugging Face, and with Accelerate a Recorder of what
`prepare` gave back. `Recorder(None, …)` records nothing. Of several optimizers each has a Recorder and a file of its
own. Of a compiled model give it what `torch.compile` gave back: hooks within a graph see no outputs.

What cannot be recorded ends the trace with a warning, never the training. A path that exists is appended to, as a
resume does: a run from the start takes the place of what stands before it.

It changes nothing: it draws no random number, calls no collective, leaves no trace in autograd and reads nothing back
from a device in the middle of a backward pass. `self_check(train)` proves that for a program, and so does
`python recorder.py program.py:train`, where `train(path)` makes its recorder at this path; None is a run without.

Of the surroundings it writes versions and names of devices, never a path, an argument, a time, a host or a process.

The digest of a tensor is a sum modulo 2**64, in two lanes, of its words of up to 32 bits, each times an odd key of its
place: it sees every bit and its place, does not depend on the order of summation or on threads, and the sums over the
shards of a tensor add up to that of the whole. It is a checksum, not a cryptographic hash: its keys are public.
"""

import atexit
import collections.abc
import contextlib
import functools
import hashlib
import importlib
import importlib.util
import json
import math
import os
import platform
import random
import runpy
import struct
import sys
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

SCHEMA = 1
DIGEST = "wrapping-sum-1"
FEW = 10_000_000
"""Up to so many parameters, every stage is digested at every step unless told otherwise."""
IDS = 4096
"""So many sample ids of a micro-batch are written out."""
SAMPLED = 16_384
"""Elements of the weights that are looked at before and after a step."""
SKETCH = 256
FIRST = 3
"""So many first steps, and after a resume, are recorded parameter by parameter at level 2."""
STAGES = ("env", "batch", "rng", "forward", "loss", "grad", "control", "update", "weights", "optimizer", "side", "eval")
BETWEEN = ("eval_start", "eval_end", "resume")
"""Where generators are looked at outside a micro-batch."""

_checked: "list[Recorder] | None" = None
"""The recorders of the run that is being checked."""

Json = dict[str, Any]
Named = list[tuple[str, Tensor]]


# The digest


BLOCK = 1 << 15
ROWS = 16
"""Blocks that are summed at once: 4 MB as 64-bit words."""
SMALL = 1 << 12
"""Tensors of up to so many elements are summed together with others of their kind."""
LIMIT = (1 << 64) - 1
SEEDS = ((0x243F6A8885A308D3, 0x13198A2E03707344), (0xA4093822299F31D0, 0x082EFA98EC4E6C89))
"""Of the keys within a block and of the blocks, for each lane: the first digits of π."""
WORD = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int32}
WHOLE = WORD | {8: torch.int64}


class Sum(NamedTuple):
    """What is known of some tensors; all on their device until it is written."""

    digest: Tensor  # (2,) int64
    canon: Tensor  # (2,) int64
    norm: Tensor  # () float64


def digest(tensor: Tensor, *, offset: int = 0, shape: tuple[int, ...] | None = None) -> str:
    """32 hexadecimal digits. For a shard: where it begins in the flat whole, and the whole's shape.

    The shards' digests add up, lane by lane modulo 2**64, to that of the whole: `add_digests`.
    """
    with _quietly():
        return _hex(_sum(tensor, offset, shape).digest)


def canonical_digest(tensor: Tensor, *, offset: int = 0, shape: tuple[int, ...] | None = None) -> str:
    """The digest after −0 has become +0 and every NaN the same NaN: equal for what is equal in value."""
    with _quietly():
        return _hex(_sum(tensor, offset, shape).canon)


def add_digests(digests: Iterable[str]) -> str:
    lanes = [(int(one[:16], 16), int(one[16:], 16)) for one in digests]
    return "".join(f"{sum(lane) & LIMIT:016x}" for lane in zip(*lanes, strict=True)) if lanes else "0" * 32


def _sum(tensor: Tensor, offset: int = 0, shape: tuple[int, ...] | None = None) -> Sum:
    whole = tuple(tensor.shape) if shape is None else shape
    flat = _flat(tensor)
    at = offset * (2 if tensor.is_complex() else 1)
    lanes, canon, norm = _lanes(flat, at), None, _norm(flat)
    if _may_be_special(flat, norm):
        canon = _lanes(flat, at, canonical=True)
    if offset == 0:  # once for all the shards
        fold = _fold(f"{str(tensor.dtype).removeprefix('torch.')}{list(whole)}", flat.device)
        lanes, canon = lanes + fold, None if canon is None else canon + fold
    return Sum(lanes, lanes if canon is None else canon, norm)


def _words(dtype: torch.dtype) -> int:
    """So many words an element has; the parts of a complex one have their own."""
    parts = 2 if dtype.is_complex else 1
    return parts * max(1, dtype.itemsize // parts // 4)


def _flat(tensor: Tensor) -> Tensor:
    """Its elements in order, in one dimension; complex ones as pairs."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.resolve_neg().contiguous().reshape(-1)


def _lanes(flat: Tensor, first: int, canonical: bool = False) -> Tensor:
    """Both sums over the words of these elements, whose first is number `first` of the whole."""
    each = max(1, flat.element_size() // 4)
    start, end = first * each, (first + flat.numel()) * each
    room = torch.empty(min(end - start, ROWS * BLOCK), dtype=torch.int64, device=flat.device)
    total: Tensor | None = None
    at = start
    while at < end:
        whole = (end - at) // BLOCK
        stop = at + min(whole, ROWS) * BLOCK if at % BLOCK == 0 and whole else min(end, at - at % BLOCK + BLOCK)
        piece = flat[(at - start) // each : (stop - start) // each] if stop - at < end - start else flat
        piece = _canonical(piece) if canonical else piece
        words = room[: stop - at].copy_(piece.view(WORD[piece.element_size()]))
        total = _piece(words, at) if total is None else total + _piece(words, at)
        at = stop
    return torch.zeros(2, dtype=torch.int64, device=flat.device) if total is None else total


def _piece(words: Tensor, at: int) -> Tensor:
    """Both sums over words that lie within one block or are whole blocks."""
    inner, outer = _keys(words.device)
    if at % BLOCK or words.numel() <= BLOCK:
        place = at % BLOCK
        return _product(inner[:, place : place + words.numel()], words) * outer(at // BLOCK, 1)[:, 0]
    rows = words.view(-1, BLOCK)  # (R, B)
    sums = torch.stack([_product(rows, key) for key in inner])  # (2, R)
    return (sums * outer(at // BLOCK, rows.shape[0])).sum(1)


def _product(rows: Tensor, key: Tensor) -> Tensor:
    """`rows @ key` in wrapping 64-bit arithmetic; only the CPU has that product as one operation."""
    return torch.mv(rows, key) if rows.device.type == "cpu" else (rows * key).sum(1)


def _canonical(piece: Tensor) -> Tensor:
    return torch.where(piece.isnan(), torch.full((), math.nan, dtype=piece.dtype, device=piece.device), piece) + 0.0


def _may_be_special(flat: Tensor, norm: Tensor) -> bool:
    """Whether a −0 or a NaN may be there; on a device nobody waits for the answer."""
    if not flat.is_floating_point() or flat.element_size() == 1 or flat.numel() == 0:
        return False
    if flat.device.type != "cpu":
        return True
    lowest = flat.view(WHOLE[flat.element_size()]).amin()  # the bits of −0 are the lowest number
    return bool(lowest == torch.iinfo(lowest.dtype).min) or bool(norm.isnan())


def _norm(flat: Tensor) -> Tensor:
    """Euclidean norm in float64; of numbers that are not floating, 0."""
    if not flat.is_floating_point() or flat.element_size() == 1:
        return torch.zeros((), dtype=torch.float64, device=flat.device)
    if flat.element_size() >= 4:
        return torch.linalg.vector_norm(flat).double()
    parts = [torch.linalg.vector_norm(piece.float()).double() for piece in flat.split(1 << 18)]
    return torch.linalg.vector_norm(torch.stack(parts))


@functools.cache
def _keys(device: torch.device) -> tuple[Tensor, Callable[[int, int], Tensor]]:
    """Odd keys of the places in a block, (2, BLOCK), and of a run of blocks, (2, count)."""
    with torch.inference_mode(False):
        places = torch.arange(BLOCK, dtype=torch.int64, device=device)
        inner = torch.stack([_odd(seed, places) for seed, _ in SEEDS])

    @functools.lru_cache(4096)
    def outer(first: int, count: int) -> Tensor:
        with torch.inference_mode(False):
            blocks = torch.arange(first, first + count, dtype=torch.int64, device=device)
            return torch.stack([_odd(seed, blocks) for _, seed in SEEDS])

    return inner, outer


def _odd(seed: int, numbers: Tensor) -> Tensor:
    """SplitMix64's output of each number (Steele, Lea & Flood 2014), made odd."""
    return _mixed((numbers + 1) * _signed(0x9E3779B97F4A7C15) + _signed(seed)) | 1


def _mixed(z: Tensor) -> Tensor:
    z = (z ^ ((z >> 30) & ((1 << 34) - 1))) * _signed(0xBF58476D1CE4E5B9)
    z = (z ^ ((z >> 27) & ((1 << 37) - 1))) * _signed(0x94D049BB133111EB)
    return z ^ ((z >> 31) & ((1 << 33) - 1))


def _signed(number: int) -> int:
    return (number & LIMIT) - ((number & (1 << 63)) << 1)


def _hashed(text: str | bytes) -> tuple[int, int]:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    first, second = struct.unpack("<qq", hashlib.blake2b(data, digest_size=16).digest())
    return first, second


@functools.lru_cache(1 << 16)
def _fold(text: str, device: torch.device) -> Tensor:
    with torch.inference_mode(False):
        return torch.tensor(_hashed(text), dtype=torch.int64, device=device)


@functools.lru_cache(1 << 16)
def _key(name: str, device: torch.device) -> Tensor:
    with torch.inference_mode(False):
        return torch.tensor([lane | 1 for lane in _hashed(name)], dtype=torch.int64, device=device)


def _hex(lanes: Tensor | tuple[int, int]) -> str:
    numbers = lanes.tolist() if isinstance(lanes, Tensor) else lanes
    return "".join(f"{number & LIMIT:016x}" for number in numbers)


def _text_digest(text: str | bytes) -> str:
    return _hex(_hashed(text))


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """No autograd, and ordinary tensors: our arithmetic is the same wherever it is called."""
    with torch.inference_mode(False), torch.no_grad():
        yield


# Many tensors by name


def _sums(named: Named) -> dict[str, Sum]:
    return {name: _shard_sum(tensor) for name, tensor in named}


def _together(named: Named) -> Sum:
    """Of all of them: the sum of `key(name) · digest`, and the norm of them all."""
    kinds: dict[Any, Named] = {}
    large: Named = []
    for name, tensor in named:
        small = tensor.layout == torch.strided and tensor.numel() <= SMALL and not hasattr(tensor, "to_local")
        (kinds.setdefault((tensor.dtype, tensor.device), []) if small else large).append((name, tensor))
    parts = [_packed(some) for some in kinds.values()]
    if large:
        parts.append(_combined(_sums(large)))
    return parts[0] if len(parts) == 1 else _added(parts)


def _packed(named: Named) -> Sum:
    """Of small tensors of one dtype, by one product with the keys of all their words."""
    keys, fold = _plan(tuple((name, tensor.dtype, tensor.shape) for name, tensor in named), named[0][1].device)
    flat = torch.cat([_flat(tensor) for _, tensor in named])
    norm = _norm(flat)
    digest = canon = _product(keys, flat.view(WORD[flat.element_size()]).to(torch.int64)) + fold
    if _may_be_special(flat, norm):
        canon = _product(keys, _canonical(flat).view(WORD[flat.element_size()]).to(torch.int64)) + fold
    return Sum(digest, canon, norm)


@functools.lru_cache(64)
def _plan(kinds: tuple[tuple[str, torch.dtype, torch.Size], ...], device: torch.device) -> tuple[Tensor, Tensor]:
    """For these names, dtypes and shapes: the keys of all words, (2, words), and what the shapes add, (2,)."""
    with torch.inference_mode(False):
        inner, outer = _keys(device)
        keys, fold = [], torch.zeros(2, dtype=torch.int64, device=device)
        for name, dtype, shape in kinds:
            count = shape.numel() * _words(dtype)
            keys.append(inner[:, :count] * outer(0, 1) * _key(name, device)[:, None])
            fold = fold + _fold(f"{str(dtype).removeprefix('torch.')}{list(shape)}", device) * _key(name, device)
        return torch.cat(keys, 1), fold


def _added(parts: list[Sum]) -> Sum:
    """Of several groups of names; on the device of the first."""
    if not parts:
        none = torch.zeros(2, dtype=torch.int64)
        return Sum(none, none, torch.zeros((), dtype=torch.float64))
    device = parts[0].digest.device
    digest, canon = (torch.stack([part[lane].to(device) for part in parts]).sum(0) for lane in (0, 1))
    return Sum(digest, canon, torch.linalg.vector_norm(torch.stack([part.norm.to(device) for part in parts])))


def _combined(sums: Mapping[str, Sum]) -> Sum:
    keys = [(one, _key(name, one.digest.device)) for name, one in sums.items()]
    return _added([Sum(one.digest * key, one.canon * key, one.norm) for one, key in keys])


def _shard_sum(tensor: Tensor) -> Sum:
    """Of this rank's part, which is the whole where nothing is sharded."""
    if not hasattr(tensor, "to_local"):
        return _sum(tensor)
    local, offset, counts = _shard(tensor)
    one = _sum(local, offset, tuple(tensor.shape))
    if offset == 0 and not counts:
        none = torch.zeros_like(one.digest)
        return Sum(none, none, torch.zeros_like(one.norm))
    return one


def _shard(tensor: Any) -> tuple[Tensor, int, bool]:
    """The local part of a distributed tensor, where it begins, and whether this rank counts what begins at 0."""
    mesh, placements = tensor.device_mesh, tensor.placements
    rank = mesh.get_local_rank() if mesh.ndim == 1 else -1
    if rank >= 0 and placements[0].is_replicate():
        return tensor.to_local(), 0, rank == 0
    if rank < 0 or not placements[0].is_shard(0):
        raise NotImplementedError(
            f"a tensor placed {placements} is not recorded; only shards of the first dimension are"
        )
    rows = tensor.shape[0]
    first = min(rows, rank * -(-rows // mesh.size()))
    return tensor.to_local(), first * math.prod(tensor.shape[1:]), rank == 0


# Nests of tensors and plain values


def _leaves(nest: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf of mappings, sequences and dataclasses with its place; a thing met within itself is left out."""
    return _walk(nest, path, ())


def _walk(nest: Any, path: str, inside: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    if id(nest) in inside:
        return
    children = _children(nest)
    if children is None:
        yield path, nest
        return
    for name, child in children:
        yield from _walk(child, f"{path}.{name}" if path else str(name), (*inside, id(nest)))


def _children(nest: Any) -> Iterable[tuple[Any, Any]] | None:
    if isinstance(nest, Mapping):
        return nest.items()
    if isinstance(nest, list | tuple | set | frozenset | collections.abc.ValuesView):
        return enumerate(nest)
    if hasattr(nest, "__dataclass_fields__") and not isinstance(nest, type):
        return [(name, getattr(nest, name)) for name in nest.__dataclass_fields__]
    return None


def _tensors(nest: Any) -> Named:
    return [(path, leaf) for path, leaf in _leaves(nest) if isinstance(leaf, Tensor)]


def _plain(value: Any) -> Any:
    """A plain value as it is written; texts are left out, since they may be anything."""
    if isinstance(value, bool | None):
        return value
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, int):
        return value
    if isinstance(value, Tensor) and value.numel() == 1 and not value.is_complex():
        return _plain(value.item())
    if isinstance(value, list | tuple) and len(value) <= 8:
        found = [_plain(one) for one in value]
        return found if all(one is None or one != "" for one in found) else ""
    return ""


def _values(state: Mapping[Any, Any]) -> Json:
    found = {str(name): _plain(value) for name, value in state.items()}
    return {name: value for name, value in found.items() if value != ""}


def _word(value: Any) -> str:
    """A text of any leaf that is the same for equal ones, of whatever kind."""
    if isinstance(value, float):
        return f"float {value.hex()}"
    if isinstance(value, str | bytes | int | complex | None):
        return f"{type(value).__name__} {value!r}"
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):  # an array of numpy, or one of its numbers
        return f"{value.dtype} {getattr(value, 'shape', ())} {_text_digest(value.tobytes())}"
    return type(value).__name__


def _state_sum(nest: Any) -> Sum:
    """Of everything in a nest: tensors by place, and whatever else there is as texts."""
    tensors, words = [], []
    for path, leaf in _leaves(nest):
        if isinstance(leaf, Tensor):
            tensors.append((path, leaf))
        else:
            words.append(f"{path}\0{_word(leaf)}")
    one = _together(tensors)
    rest = _fold("\n".join(words), one.digest.device) if words else torch.zeros_like(one.digest)
    return Sum(one.digest + rest, one.canon + rest, one.norm)


# A micro-batch


def _id_word(one: Any) -> int | str:
    """Whole numbers as they are, of whatever kind, else a hash: an id may be a path."""
    if getattr(one, "ndim", None) == 0:
        one = one.item()
    if isinstance(one, bool) or not isinstance(one, int):
        return f"#{_text_digest(str(one))[:16]}"
    return one


def _id_list(ids: Any) -> list[Any]:
    if isinstance(ids, Tensor) or hasattr(ids, "tolist"):
        ids = ids.tolist()
    found = list(ids) if isinstance(ids, Iterable) and not isinstance(ids, str | bytes) else [ids]
    return [tuple(one) if isinstance(one, list) else one for one in found]


def _batch_fields(ids: Any, inputs: Any) -> Json:
    tensors = _tensors(inputs)
    others = [(path, leaf) for path, leaf in _leaves(inputs) if not isinstance(leaf, Tensor)]
    fields: Json = {}
    words = None
    if ids is not None:
        words = [_id_word(one) for one in _id_list(ids)]
        fields |= {"count": len(words)} | ({"ids": words} if len(words) <= IDS else {})
        fields["order"] = _text_digest("\n".join(map(str, words)))
        fields["members"] = _text_sum(map(str, words))
    if inputs is not None:
        fields["inputs"] = _state_sum(inputs).digest
        fields["shapes"] = {path: f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)}" for path, t in tensors}
    rows = _row_lanes(tensors) if not others else None
    if rows is not None and (words is None or len(words) == rows.shape[1]):
        fields.setdefault("count", rows.shape[1])
        fields["rows"] = _mixed(rows).sum(1)
        if words is not None:
            keys = torch.tensor([_hashed(str(word)) for word in words], dtype=torch.int64).view(-1, 2).T
            fields["pairs"] = _mixed(_mixed(rows) + keys.to(rows.device)).sum(1)
    return fields


def _text_sum(texts: Iterable[str]) -> str:
    """Order-free: the sum of the hashes, lane by lane."""
    first = second = 0
    for text in texts:
        one, other = _hashed(text)
        first, second = first + one, second + other
    return _hex((first, second))


def _row_lanes(tensors: Named) -> Tensor | None:
    """A digest of each sample, (2, samples), where all tensors have the same number of rows."""
    if not tensors or any(t.ndim == 0 or t.layout != torch.strided for _, t in tensors):
        return None
    if len({t.shape[0] for _, t in tensors}) != 1 or tensors[0][1].shape[0] == 0:
        return None
    device = tensors[0][1].device
    total = torch.zeros(2, tensors[0][1].shape[0], dtype=torch.int64, device=device)
    for name, tensor in tensors:
        fold = _fold(f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape[1:])}", tensor.device)
        lanes = _rows(tensor) + fold[:, None]
        total += (lanes * _key(name, tensor.device)[:, None]).to(device)
    return total


def _rows(tensor: Tensor) -> Tensor:
    """Both sums over the words of each row, (2, rows)."""
    count = tensor.shape[0]
    flat = _flat(tensor)
    if flat.numel() == 0:
        return torch.zeros(2, count, dtype=torch.int64, device=flat.device)
    words = flat.view(WORD[flat.element_size()]).view(count, -1)
    inner, outer = _keys(words.device)
    total = torch.zeros(2, count, dtype=torch.int64, device=words.device)
    for block, piece in enumerate(words.split(BLOCK, dim=1)):
        keys = inner[:, : piece.shape[1]]
        high = max(1, ROWS * BLOCK // piece.shape[1])
        sums = [torch.stack([_product(part.to(torch.int64), key) for key in keys]) for part in piece.split(high)]
        total += torch.cat(sums, 1) * outer(block, 1)
    return total


# Random generators


def _generators(given: Mapping[str, Any]) -> dict[str, Any]:
    """Digests of the states of all that are in use. Reading a state draws nothing."""
    found: dict[str, Any] = {"python": _python_state(random.getstate())}
    numpy = sys.modules.get("numpy")
    if numpy is not None and "numpy.random" in sys.modules:
        found["numpy"] = _text_digest(_state_text(numpy.random.get_state()))
    found["cpu"] = _sum(torch.get_rng_state()).digest
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        for place in range(torch.cuda.device_count()):
            found[f"cuda:{place}"] = _sum(torch.cuda.get_rng_state(place)).digest
    return found | {name: _generator(one) for name, one in given.items()}


def _generator(one: Any) -> Any:
    if isinstance(one, torch.Generator):
        return _sum(one.get_state()).digest
    if isinstance(one, random.Random):
        return _python_state(one.getstate())
    return _text_digest(_state_text(one.bit_generator.state if hasattr(one, "bit_generator") else one.get_state()))


def _python_state(state: Any) -> str:
    version, numbers, following = state
    return _text_digest(struct.pack(f"<{len(numbers)}Q", *numbers) + f"{version} {following!r}".encode())


def _state_text(state: Any) -> str:
    return "\n".join(f"{path}\0{_word(leaf)}" for path, leaf in _leaves(state))


# The recorder


class Recorder:
    """Writes what the model and its optimizer do from now on.

    `level` 0 keeps batches, generators, losses, control and norms; 1 digests every stage at each step, or at each
    `every`th; 2 adds lines by parameter; 3 adds sketches and sampled values. Without one, a model of up to 10 million
    parameters gets level 1 at every step, a larger one level 0; its levels 1 to 3 digest each 100th step by default.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        model: nn.Module,
        optimizer: Any,
        *,
        scheduler: Any = None,
        scaler: Any = None,
        level: int | None = None,
        every: int | None = None,
        generators: Mapping[str, Any] | None = None,
        run: str | None = None,
        rank: int | None = None,
        world: int | None = None,
    ) -> None:
        if level not in (None, 0, 1, 2, 3):
            raise ValueError(f"level is 0, 1, 2 or 3, not {level!r}")
        if every is not None and every < 1:
            raise ValueError(f"every is 1 or more, not {every!r}")
        self.model, self.optimizer = model, getattr(optimizer, "optimizer", optimizer)
        scaler = scaler if scaler is not None else getattr(optimizer, "scaler", None)
        self.scaler: Any = scaler if hasattr(scaler, "step") else None
        found = scheduler if isinstance(scheduler, list | tuple) else [scheduler]
        self.schedulers: list[Any] = [
            own for one in found if hasattr(own := getattr(one, "scheduler", one), "state_dict")
        ]
        self.generators = dict(generators or {})
        self.names = _Names(model, self.optimizer)
        self.step, self.micro = 0, 0
        self.epoch: int | None = None
        self.reads_loss = False
        """Whether a `loss` among the model's outputs is the loss, for loops that do not show it otherwise."""
        self.off = True
        self.losses: list[str] | None = None
        if _checked is not None:
            self.losses = []
            _checked.append(self)
        if path is None:
            return
        self.rank, self.world = _place(rank, world)
        few = self.names.count <= FEW
        self.level = level if level is not None else 1 if few else 0
        self.every = every if every is not None else 1 if few else 100
        self.since = 0
        self._lines: list[Json] = []
        self._averages: dict[str, Any] = {}
        self._fresh, self._queued, self._evaluating = False, False, 0
        self._seed: Tensor | None = None
        self._calls, self._asked = 0, -1
        self._before: _Before | None = None
        self._file = _opened(_ranked(Path(os.fspath(path)), self.rank))
        self._handles = self._hook()
        self._owner = os.getpid()
        self.off = False
        self._begin(run)
        atexit.register(_close_if_there, weakref.ref(self))

    # What a program calls

    def batch(self, ids: Any = None, inputs: Any = None, *, epoch: int | None = None) -> None:
        """A micro-batch, before its forward pass: the ids of its samples in order, and any nest of tensors."""
        if self.off:
            return
        with self._safely():
            self._open(epoch)
            self._write("batch", epoch=self.epoch, **_batch_fields(ids, inputs), micro=self.micro)
            self._write_generators("batch", micro=self.micro)

    def loss(self, loss: Any, count: float | None = None) -> None:
        """The loss before its backward pass, and what its mean was taken over (a sum: 1)."""
        if self.losses is not None:
            self.losses.append(float(loss.detach() if isinstance(loss, Tensor) else loss).hex())
        if self.off:
            return
        with self._safely():
            if isinstance(loss, Tensor) and loss.numel() != 1:
                raise ValueError(f"a loss is one number, not {list(loss.shape)}")
            if self.micro == 0:
                self._open(None)
            value = loss.detach().double().reshape(()) if isinstance(loss, Tensor) else float(loss)
            dtype = str(loss.dtype).removeprefix("torch.") if isinstance(loss, Tensor) else "float64"
            over = count.item() if isinstance(count, Tensor) else count
            self._write("loss", micro=self.micro, loss=value, count=over, dtype=dtype)
        if not self.off and isinstance(loss, Tensor) and loss.grad_fn is not None:
            loss.register_hook(self._on_seed)

    @contextlib.contextmanager
    def evaluation(self, name: str = "eval", count: int | None = None) -> Iterator[dict[str, Any]]:
        """Put what it finds into the dictionary that it gives."""
        found: dict[str, Any] = {}
        if self.off:
            yield found
            return
        before: Json = {}
        with self._safely():
            self._settle()
            before = self._standing()
            self._write("rng", at="eval_start", generators=before["rng"])
        self._evaluating += 1
        try:
            yield found
        finally:
            self._evaluating -= 1
        if self.off:
            return
        with self._safely():
            after = self._standing()
            self._write("rng", at="eval_end", generators=after["rng"])
            metrics = _numbers(found)
            self._write("eval", name=name, metrics=metrics, count=count, moved=_moved(before, after))
        self.flush()

    @contextlib.contextmanager
    def checkpoint(self, payload: Any) -> Iterator["_Checkpoint"]:
        """Around the writing of a checkpoint; give what was read back to its `read_back`."""
        saved = _Checkpoint()
        if self.off:
            yield saved
            return
        whole: Json = {}
        with self._safely():
            self._settle()
            one = _state_sum(payload)
            whole = _resolved({"digest": one.digest, "canon": one.canon})
            live, parts = self._against(payload, whole_only=False)
            aliases = len(_storages(payload) & self._live_storages())
        yield saved
        if self.off:
            return
        with self._safely():
            after = _hex(_state_sum(payload).digest)
            back = _hex(_state_sum(saved.back).digest) if saved.given else None
            late = after if after != whole["digest"] else None
            fields = {"after": late, "read_back": back, "live": live, "parts": parts, "aliases": aliases}
            self._write("side", what="saved", **whole, **fields)
        self.flush()

    @contextlib.contextmanager
    def resume(
        self, payload: Any = None, *, step: int | None = None, micro: int = 0, epoch: int | None = None
    ) -> Iterator[None]:
        """Around the loading of a checkpoint; `step`: how many optimizer steps it had done.

        `micro`: how many micro-batches of the step after, where their gradients were saved with it.
        """
        if self.off:
            yield
            return
        before: Json = {}
        with self._safely():
            before = self.kinds()
            whole = None if payload is None else _hex(_state_sum(payload).digest)
        yield
        if self.off:
            return
        with self._safely():
            after = self.kinds()
            counted = _counters(self.optimizer)
            source = "given" if step is not None else "optimizer" if counted else "unknown"
            self.step = int(step) if step is not None else int(max(counted)) if counted else self.step
            self.since, self.micro = self.step, int(micro)
            self.epoch = None if epoch is None else int(epoch)
            loaded, parts = (None, None) if payload is None else self._against(payload, whole_only=True)
            changed = [kind for kind in after if after[kind] != before.get(kind)]
            known = {"epoch": self.epoch, "payload": whole, "loaded": loaded, "parts": parts, "changed": changed}
            self._write("resume", **{"from": source}, micro=self.micro or None, **known)
            self._write_state(full=True, loaded=True)
            self._write_side()
            self._write_generators("resume")
        self.flush()

    def found(self, name: str, metrics: Mapping[str, Any]) -> None:
        """The numbers of an evaluation that is over; what it moved is not known then."""
        if not self.off:
            with self._safely():
                self._write("eval", name=name, metrics=_numbers(metrics))
            self.flush()

    def averages(self, name: str, source: Any) -> "_Averages":
        """Averaged weights (a module, an AveragedModel, a mapping of tensors), recorded after every step from now on.

        As a context it says that they stand in for the weights meanwhile, and writes whether these came back.
        """
        if not self.off:
            self._averages[name] = source
        return _Averages(self, name)

    def flush(self) -> None:
        """Append what is waiting. A step does so itself."""
        if self.off or not self._lines:
            return
        lines, self._lines = self._lines, []
        with self._safely():
            _append(self._file, b"".join(_line(line) for line in lines))

    def close(self) -> None:
        """Take the hooks away. A trace is whole without it."""
        if self.off:
            return
        with self._safely():
            self._settle()
        self.flush()
        self._stop()

    def _stop(self) -> None:
        self.off = True
        for handle in self._handles:
            handle.remove()
        with contextlib.suppress(OSError):
            os.close(self._file)

    @contextlib.contextmanager
    def _safely(self) -> Iterator[None]:
        """Quietly, and what goes wrong ends the trace, never the training."""
        try:
            with _quietly():
                yield
        except Exception as error:
            why = f"its file cannot be written: {error.strerror}" if isinstance(error, OSError) else repr(error)
            self._stop()
            warnings.warn(f"the trace ends here, {why}", stacklevel=4)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if self.__dict__.get("off", True):
            return
        if self._owner == os.getpid():  # another process that was forked off has the same lines waiting
            self.close()
        else:
            self._stop()

    # Hooks

    def _hook(self) -> list[Any]:
        handles = [
            self.model.register_forward_pre_hook(_Hook(self._on_call), with_kwargs=True),
            self.model.register_forward_hook(_Hook(self._on_output)),
            self.optimizer.register_step_pre_hook(torch.compiler.disable(self._on_step)),
            self.optimizer.register_step_post_hook(torch.compiler.disable(self._on_stepped)),
        ]
        if self.scaler is not None:
            handles.append(_Watch(self.scaler, self))
        return handles

    def _on_call(self, _: nn.Module, args: Any, kwargs: Any) -> None:
        """A forward pass that nobody announced is a micro-batch of its own."""
        if self._elsewhere():
            return
        if not self._fresh:
            self.batch(None, args if not kwargs else kwargs if not args else [*args, kwargs])
        self._calls += 1

    def _on_output(self, _: nn.Module, __: Any, outputs: Any) -> None:
        if self._elsewhere():
            return
        tensors = _tensors(outputs)
        with self._safely():
            one = self._measured(tensors, self._is_full())
            self._write("forward", micro=self.micro, call=self._calls, **one)
        for name, tensor in tensors if not self.off else ():
            if tensor.grad_fn is not None:
                tensor.register_hook(self._on_backward)
            if name == "loss" and self.reads_loss and tensor.numel() == 1:
                self.loss(tensor)

    def _elsewhere(self) -> bool:
        """Whether a call of the model is no training: in an evaluation, without gradients, or in a backward pass."""
        backward = torch._C._current_graph_task_id() != -1
        return self.off or self._evaluating > 0 or not torch.is_grad_enabled() or backward

    def _on_seed(self, gradient: Tensor) -> None:
        self._seed = gradient.detach()
        self._on_backward(gradient)

    def _on_backward(self, _: Tensor) -> None:
        """A backward pass has begun: come back when it has ended."""
        if self.off or self._queued:
            return
        self._queued = True
        # Whatever else waits for the end (gradients of other ranks) has its turn in between.
        engine = torch.autograd.Variable._execution_engine
        engine.queue_callback(lambda: engine.queue_callback(self._on_backward_ended))

    def _on_backward_ended(self) -> None:
        self._queued = self._fresh = False
        if self.off:
            return
        with self._safely():
            self._write_gradients("raw")
        self._seed, self._calls = None, 0

    def _on_step(self, _: Any, args: Any, kwargs: Any) -> Any:
        if self.off:
            return None
        closure, args, kwargs = self._watched(args, kwargs)
        if closure:
            return args, kwargs
        self._about_to_step()
        return None

    def _watched(self, args: Any, kwargs: Any) -> tuple[bool, Any, Any]:
        """The step's arguments; a closure, which computes the gradients, with us behind it."""

        def behind(closure: Callable[[], Any]) -> Callable[[], Any]:
            @functools.wraps(closure)
            def computed() -> Any:
                result = closure()
                self._about_to_step()
                return result

            return computed

        found = [one for one in (*args[1:], *kwargs.values()) if callable(one)]
        args = (*args[:1], *(behind(one) if callable(one) else one for one in args[1:]))
        return bool(found), args, {key: behind(one) if callable(one) else one for key, one in kwargs.items()}

    def _about_to_step(self) -> None:
        """Gradients are as the step will use them. A closure may bring us here several times in one step."""
        with self._safely():
            self._write_gradients("clipped")
            if self._before is None:
                self._before = _Before(self.names, self._control())

    def _on_stepped(self, _: Any, __: Any, ___: Any) -> None:
        if self.off:
            return
        with self._safely():
            before = self._before or _Before(self.names, self._control())
            skip = getattr(self.optimizer, "found_inf", None)  # of a kernel that leaves the step out by itself
            skipped = isinstance(skip, Tensor) and bool(skip.item())
            self._end_step(before.control | {"skipped": skipped}, before.update(self.names))

    def skipped(self) -> None:
        """The scaler left the step out."""
        with self._safely():
            self._write_gradients("clipped")
            self._end_step(self._control() | {"skipped": True}, None)

    # One step

    def _open(self, epoch: int | None) -> None:
        """Begin a micro-batch."""
        self._settle()
        self.epoch = int(epoch) if epoch is not None else self.epoch
        self.micro += 1
        self._calls, self._fresh, self._queued = 0, True, False

    def _settle(self) -> None:
        """What goes with the last step and comes after it."""
        if self._asked != self.step and self.micro == 0:
            with _quietly():
                self._write_side()

    def _end_step(self, control: Json, update: Json | None) -> None:
        number = self.step + 1
        self._write("control", micros=self.micro, **control)
        if update is not None:
            self._write("update", **update)
        full = self._is_full()
        self.step, self.micro, self._before, self._fresh = number, 0, None, False
        self._write_state(full)
        self.flush()

    def _is_full(self) -> bool:
        """Whether the step under way gets full digests."""
        return self.level >= 1 and (self.step - self.since) % self.every == 0

    def _control(self) -> Json:
        groups = [
            {key: value for key, value in group.items() if key != "params"} for group in self.optimizer.param_groups
        ]
        rates = [float(group.pop("lr", math.nan)) for group in groups]
        control: Json = {"lr": rates, "groups": [_values(group) for group in groups]}
        if self.scaler is not None and self.scaler.is_enabled():
            control["scale"] = float(self.scaler.get_scale())
        return control

    # Lines

    def _begin(self, run: str | None) -> None:
        with _quietly():
            self._write_header(run)
            self._lines.append({"event": "env", **_environment(self.model, self.world)})
            self._lines.append({"event": "model", "optimizer": type(self.optimizer).__name__, **self.names.told()})
            self._write_state(full=True)
        self.flush()

    def _write_header(self, run: str | None) -> None:
        way = "digest" if self.level and self.every == 1 else "norm"
        cheap = dict.fromkeys(("env", "batch", "rng", "loss", "control", "side", "eval"), "digest")
        recorded = {stage: cheap.get(stage, way) for stage in STAGES} | {"update": "norm"}
        why = []
        if way == "norm":
            count, when = self.names.count, f"at every {self.every}th step only" if self.level else "not at all"
            why.append(f"{count:,} parameters: outputs, gradients, weights and optimizer state are digested {when}")
        head = {"schema": SCHEMA, "digest": DIGEST, "rank": self.rank, "world": self.world, "level": self.level}
        head |= {"every": self.every, "recorded": recorded, "run": run, "why": why or None}
        self._lines.append({"event": "trace", **head})

    def _write(self, event: str, **fields: Any) -> None:
        """State belongs to the step that is done, all else to the one under way."""
        done = event in ("weights", "optimizer", "side", "eval", "resume") or fields.get("at") in BETWEEN
        self._lines.append({"event": event, "step": self.step + (0 if done else 1), **fields})

    def _write_generators(self, at: str, **fields: Any) -> None:
        self._write("rng", **fields, at=at, generators=_generators(self.generators))

    def _write_gradients(self, when: str) -> None:
        found = self.names.gradients()
        fields: Json = {"micro": max(1, self.micro), "when": when} | self._measured(found, self._is_full())
        fields["none"] = self.names.trained - len(found)
        fields["sparse"] = sum(gradient.layout != torch.strided for _, gradient in found) or None
        fields["seed"] = self._seed if when == "raw" else None
        self._write("grad", **fields)
        self._write_parameters("grad" if when == "raw" else "clipped", found)
        if when == "clipped":
            self._write_sketch("clipped", found)

    def _write_state(self, full: bool, loaded: bool = False) -> None:
        """After a step, or as it was `loaded`: then an optimizer without any state is told too.

        Within an unfinished window the buffers have moved on from the step, and wait for the next one.
        """
        weights, buffers, state = self.names.weights(), self.names.buffers(), _State(self.names, self.optimizer)
        fields = self._measured(weights, full)
        if full and buffers and self.micro == 0:
            one = _together(buffers)
            fields |= {"buffers": one.digest, "buffers_canon": one.canon}
        self._write("weights", **fields)
        if state.tensors or state.counters or loaded:
            self._write("optimizer", **state.told(full), counters=state.counters or None)
        self._write_parameters("weights", weights)
        self._write_parameters("buffers", buffers)
        self._write_parameters("optimizer", state.tensors)
        if full:
            self._write_sketch("weights", weights)

    def _measured(self, named: Named, full: bool) -> Json:
        """Digests where they are due, the norm always."""
        partial = True if any(hasattr(tensor, "to_local") for _, tensor in named) else None
        if full:
            return {**_together(named)._asdict(), "partial": partial}
        return {"norm": _norms(named), "partial": partial}

    def _write_parameters(self, of: str, named: Named) -> None:
        state = of in ("weights", "buffers", "optimizer")
        number = self.step - self.since + (0 if state else 1)
        if self.level < 2 or not named:
            return
        complete = number <= FIRST or (number - 1) % self.every == 0
        if not complete:
            share = -(-len(named) // self.every)
            turn = (number + number // self.every) * share  # the complete ones do not always take the same turn
            named = [named[(turn + place) % len(named)] for place in range(share)]
        sums = _sums(named)
        digests = {name: one.digest for name, one in sums.items()}
        norms = {name: one.norm for name, one in sums.items()}
        partial = True if any(hasattr(tensor, "to_local") for _, tensor in named) else None
        micro = max(1, self.micro) if of == "grad" else None
        fields = {
            "micro": micro,
            "of": of,
            "digests": digests,
            "norms": norms,
            "complete": complete,
            "partial": partial,
        }
        self._lines.append({"event": "parameters", "step": self.step + (0 if state else 1), **fields})

    def _write_sketch(self, of: str, named: Named) -> None:
        if self.level < 3 or (of != "weights" and not self._is_full()):
            return
        line = {"event": "sketch", "step": self.step + (0 if of == "weights" else 1), "of": of}
        self._lines.append(line | {"sketch": _sketch(named), "values": _values_at(named)})

    def _write_side(self) -> None:
        """Averages, scheduler and scaler as they stand now, once a step."""
        self._asked = self.step
        for place, scheduler in enumerate(self.schedulers):
            name = str(place) if len(self.schedulers) > 1 else None
            self._write_plain_side("scheduler", scheduler.state_dict(), name)
        if self.scaler is not None and self.scaler.is_enabled():
            self._write_plain_side("scaler", self.scaler.state_dict(), None)
        for name in self._averages:
            self._write_average(name)

    def _write_plain_side(self, what: str, state: Mapping[str, Any], name: str | None) -> None:
        self._write("side", what=what, name=name, digest=_state_sum(state).digest, values=_values(state))

    def _write_average(self, name: str, **fields: Any) -> None:
        named, rest = self.names.averaged(self._averages[name])
        one = _together(named)
        self._write(
            "side", what="average", name=name, digest=one.digest, canon=one.canon, values=_values(rest), **fields
        )

    # What stands

    def _standing(self) -> Json:
        """What an evaluation may move without meaning to."""
        state = self.kinds(self.names.count <= FEW or self.level > 0)
        return {
            "rng": state["generators"],
            "weights": state["weights"],
            "buffers": state["buffers"],
            "mode": [module.training for module in self.model.modules()],
            "grad_mode": torch.is_grad_enabled(),
        }

    def kinds(self, whole: bool = True) -> dict[str, Any]:
        """Digests of everything that a checkpoint restores; of large things their norms if not `whole`."""
        weights = self.names.weights()
        return {
            "weights": _hex(_together(weights).digest) if whole else float(_norms(weights)).hex(),
            "buffers": _hex(_together(self.names.buffers()).digest),
            "optimizer": _hex(_State(self.names, self.optimizer).whole().digest) if whole else None,
            "scheduler": [_hex(_state_sum(one.state_dict()).digest) for one in self.schedulers],
            "scaler": _hex(_state_sum(self.scaler.state_dict()).digest) if self.scaler is not None else None,
            "generators": _resolved(_generators(self.generators)),
        }

    def _against(self, payload: Any, whole_only: bool) -> tuple[dict[str, str], Json]:
        """A payload's parts against the live ones, and the digests of its weights and buffers."""
        weights = _found(payload, [name for name, _ in self.names.weights()])
        buffers = _found(payload, [name for name, _ in self.names.buffers()])
        verdicts = {"weights": _verdict(weights, self.names.weights())}
        if self.names.buffers():
            verdicts["buffers"] = _verdict(buffers, self.names.buffers())
        verdicts["optimizer"] = _verdict_of_state(_optimizer_in(payload), self.optimizer.state_dict()["state"])
        if whole_only:
            for kind, live in (("scheduler", self.schedulers[:1]), ("scaler", [self.scaler] if self.scaler else [])):
                if live:
                    verdicts[kind] = _verdict_of_state(_like(payload, live[0].state_dict()), live[0].state_dict())
        parts = {kind: _together(found).digest for kind, found in (("weights", weights), ("buffers", buffers)) if found}
        return verdicts, parts

    def _live_storages(self) -> set[int]:
        live = [tensor for _, tensor in self.names.weights() + self.names.buffers()]
        return _storages([*live, *(tensor for _, tensor in _State(self.names, self.optimizer).tensors)])


class _Checkpoint:
    def __init__(self) -> None:
        self.back: Any = None
        self.given = False

    def read_back(self, payload: Any) -> None:
        self.back, self.given = payload, True


class _Averages:
    """Averaged weights, and as a context the time in which they stand in for the live ones."""

    def __init__(self, trace: Recorder, name: str) -> None:
        self.trace, self.name = trace, name

    def __enter__(self) -> None:
        if not self.trace.off:
            with self.trace._safely():
                self.before = self.trace.names.kept_digests()

    def __exit__(self, *_: object) -> None:
        if self.trace.off:
            return
        with self.trace._safely():
            came_back = self.trace.names.kept_digests() == self.before
            self.trace._write_average(self.name, restored="bitwise" if came_back else "different")
        self.trace.flush()


# What a recorder looks at


class _Names:
    """Parameters and buffers of a model by name, and those that only the optimizer knows by group and place."""

    def __init__(self, model: nn.Module, optimizer: Any) -> None:
        inner: Any = model
        while type(inner).__name__ in ("DistributedDataParallel", "DataParallel", "OptimizedModule"):
            inner = getattr(inner, "_orig_mod", None) or inner.module
        self.model: nn.Module = inner
        known = {id(parameter): name for name, parameter in self._all()}
        self.extra: Named = []
        self.groups: list[list[str]] = []
        for number, group in enumerate(optimizer.param_groups):
            names = []
            for place, parameter in enumerate(group["params"]):
                if id(parameter) not in known:
                    known[id(parameter)] = f"group{number}.{place}"
                    self.extra.append((known[id(parameter)], parameter))
                names.append(known[id(parameter)])
            self.groups.append(names)
        self.of = known
        self.stepped = {name for group in self.groups for name in group}
        self.count = sum(parameter.numel() for _, parameter in self.weights())
        self.share = max(1, self.count // SAMPLED)
        """So many elements of the weights stand behind each that is sampled."""

    @property
    def trained(self) -> int:
        return sum(parameter.requires_grad for _, parameter in self.weights())

    def _all(self) -> Named:
        return [(_short(name), parameter) for name, parameter in self.model.named_parameters()]

    def weights(self) -> Named:
        return self._all() + self.extra

    def buffers(self) -> Named:
        return [(_short(name), buffer) for name, buffer in self.model.named_buffers()]

    def gradients(self) -> Named:
        return [(name, one.grad) for name, one in self.weights() if one.requires_grad and one.grad is not None]

    def kept_digests(self) -> list[str]:
        return [_hex(_together(named).digest) for named in (self.weights(), self.buffers())]

    def sample(self) -> Tensor:
        """Elements of the trained weights, at places that never change, in float64."""
        trained = [one for name, one in self.weights() if name in self.stepped and one.requires_grad]
        flat = [_flat(getattr(one, "to_local", lambda one=one: one)()) for one in trained]
        taken = [one[:: self.share] for one in flat]
        kinds = {(one.dtype, one.device) for one in taken}
        whole = (
            torch.cat(taken) if len(kinds) == 1 else torch.cat([torch.zeros(0), *(one.double().cpu() for one in taken)])
        )
        return whole.double()

    def averaged(self, source: Any) -> tuple[Named, Json]:
        """Averaged weights by our names, and the numbers kept beside them."""
        state = source if isinstance(source, Mapping) else source.state_dict()
        found = _found(state, [name for name, _ in self.weights()])
        return found, {path: leaf for path, leaf in _leaves(state) if not isinstance(leaf, Tensor) or leaf.ndim == 0}

    def told(self) -> Json:
        names: dict[int, list[str]] = {}
        for name, parameter in self.model.named_parameters(remove_duplicate=False):
            names.setdefault(id(parameter), []).append(_short(name))
        group = {name: number for number, members in enumerate(self.groups) for name in members}
        return {
            "parameters": [
                _described(name, one) | _known(also=names.get(id(one), [name])[1:] or None, group=group.get(name))
                for name, one in self.weights()
            ],
            "buffers": [_described(name, one) for name, one in self.buffers()],
            "groups": self.groups,
        }


WRAPPERS = ("_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.")


def _short(name: str) -> str:
    for wrapper in WRAPPERS:
        name = name.replace(wrapper, "")
    return name


def _known(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


def _described(name: str, one: Tensor) -> Json:
    dtype = str(one.dtype).removeprefix("torch.")
    return {"name": name, "shape": list(one.shape), "dtype": dtype, "trained": one.requires_grad}


class _Before:
    """What a step found."""

    def __init__(self, names: _Names, control: Json) -> None:
        self.control = control
        self.sample = names.sample()

    def update(self, names: _Names) -> Json:
        """How the sampled elements moved since then."""
        moved = names.sample() - self.sample
        norm = torch.linalg.vector_norm(moved) * math.sqrt(names.share)
        return {"sampled": moved.numel(), "unmoved": int((moved == 0).sum()), "norm": norm}


class _State:
    """An optimizer's state by parameter name; its step counters apart."""

    def __init__(self, names: _Names, optimizer: Any) -> None:
        self.tensors: Named = []
        self.words: list[str] = []
        counters = set()
        for parameter, state in optimizer.state.items():
            name = names.of.get(id(parameter), "")
            for path, leaf in _leaves(state):
                if path == "step":
                    counters.add(float(leaf))
                elif isinstance(leaf, Tensor):
                    self.tensors.append((f"{name}/{path}", leaf))
                else:
                    self.words.append(f"{name}/{path}\0{_word(leaf)}")
        self.counters = sorted(counters)

    def whole(self) -> Sum:
        return self._with_words(_together(self.tensors))

    def _with_words(self, one: Sum) -> Sum:
        rest = _fold("\n".join(self.words), one.digest.device)
        return Sum(one.digest + rest, one.canon + rest, one.norm) if self.words else one

    def told(self, full: bool) -> Json:
        kinds: dict[str, Named] = {}
        for name, tensor in self.tensors:
            kinds.setdefault(name.rpartition("/")[2].partition(".")[0], []).append((name, tensor))
        partial = True if any(hasattr(tensor, "to_local") for _, tensor in self.tensors) else None
        if not full:
            norms = {kind: _norms(named) for kind, named in kinds.items()}
            return {"norm": _norms(self.tensors), "norms": norms or None, "partial": partial}
        by = {kind: _together(named) for kind, named in kinds.items()}
        return {
            **self._with_words(_added(list(by.values())))._asdict(),
            "by": {kind: one.digest for kind, one in by.items()} or None,
            "norms": {kind: one.norm for kind, one in by.items()} or None,
            "partial": partial,
        }


def _counters(optimizer: Any) -> list[float]:
    return [float(state["step"]) for state in optimizer.state.values() if "step" in state]


def _norms(named: Named) -> Tensor:
    parts = [_norm(_flat(getattr(tensor, "to_local", lambda tensor=tensor: tensor)())) for _, tensor in named]
    if not parts:
        return torch.zeros((), dtype=torch.float64)
    return torch.linalg.vector_norm(torch.stack([part.to(parts[0].device) for part in parts]))


def _sketch(named: Named) -> list[Tensor]:
    """Sums of the elements under signs that depend on name and place, by place modulo their number."""
    total = torch.zeros(SKETCH, dtype=torch.float64)
    for name, tensor in named:
        flat = _flat(getattr(tensor, "to_local", lambda tensor=tensor: tensor)())
        inner, outer = _keys(flat.device)
        keys = inner[0] * _key(name, flat.device)[0]
        for block, piece in enumerate(flat.split(BLOCK)):
            signs = keys[: piece.numel()] * outer(block, 1)[0] < 0
            signed = torch.where(signs, -piece.double(), piece.double())
            padded = nn.functional.pad(signed, (0, -piece.numel() % SKETCH))
            total += padded.view(-1, SKETCH).sum(0).to(total.device)
    return list(total)


def _values_at(named: Named, count: int = 8) -> dict[str, list[float]]:
    found = {}
    for name, tensor in named:
        flat = _flat(getattr(tensor, "to_local", lambda tensor=tensor: tensor)())
        found[name] = [float(one) for one in flat[:: max(1, flat.numel() // count)][:count].tolist()]
    return found


# What a payload holds


def _mappings(nest: Any, depth: int = 4) -> Iterator[Mapping[Any, Any]]:
    if isinstance(nest, Mapping):
        yield nest
    if depth:
        for _, child in _children(nest) or ():
            yield from _mappings(child, depth - 1)


def _found(payload: Any, names: list[str]) -> Named:
    """The tensors that go by these names in the mapping that has most of them, whatever stands before the names."""
    best: Named = []
    for mapping in _mappings(payload):
        tensors = {_short(str(key)): value for key, value in mapping.items() if isinstance(value, Tensor)}
        for prefix in {key.removesuffix(names[0]) for key in tensors if key.endswith(names[0])} if names else ():
            found = [(name, tensors[prefix + name]) for name in names if prefix + name in tensors]
            best = found if len(found) > len(best) else best
    return best


def _optimizer_in(payload: Any) -> Any:
    return next((one["state"] for one in _mappings(payload) if {"state", "param_groups"} <= set(one)), None)


def _like(payload: Any, state: Mapping[str, Any]) -> Any:
    return next((one for one in _mappings(payload) if set(one) == set(state)), None)


def _verdict(found: Named, live: Named) -> str:
    if not found and live:
        return "absent"
    if [name for name, _ in found] != [name for name, _ in live]:
        return "different"
    return _agreement(_together(found), _together(live))


def _verdict_of_state(found: Any, live: Any) -> str:
    return "absent" if found is None else _agreement(_state_sum(found), _state_sum(live))


def _agreement(one: Sum, other: Sum) -> str:
    if _hex(one.digest) == _hex(other.digest):
        return "bitwise"
    return "equal" if _hex(one.canon) == _hex(other.canon) else "different"


def _storages(nest: Any) -> set[int]:
    tensors = [getattr(one, "to_local", lambda one=one: one)() for _, one in _tensors(nest)]
    return {one.untyped_storage().data_ptr() for one in tensors if one.layout == torch.strided and one.numel()}


def _numbers(found: Mapping[str, Any]) -> dict[str, float]:
    """Those metrics that are one number; what a Trainer adds of time taken is left out."""
    timed = ("_runtime", "_per_second")
    return {
        str(name): float(value)
        for name, value in found.items()
        if not str(name).endswith(timed) and (isinstance(value, int | float) or getattr(value, "ndim", None) == 0)
    }


def _moved(before: Json, after: Json) -> list[str]:
    generators = [f"rng:{name}" for name, state in after["rng"].items() if before["rng"].get(name) != state]
    return generators + [name for name in after if name != "rng" and before[name] != after[name]]


# Where it is written


PLAIN = ("values", "groups")
"""Fields in which None is a value and not an absence."""


def _resolved(value: Any, name: str = "") -> Any:
    """As it is written: tensors as digests or floats, floats as hexadecimal texts, and nothing that is None."""
    if isinstance(value, Tensor):
        return _hex(value) if value.dtype == torch.int64 and value.ndim == 1 else float(value).hex()
    if isinstance(value, float):
        return value.hex() if name != "count" else value if math.isfinite(value) else None
    if isinstance(value, dict):
        found = {key: _resolved(one, key) for key, one in value.items() if one is not None or name in PLAIN}
        for whole in [key for key in found if key.endswith("canon")]:
            if found[whole] == found.get(whole.removesuffix("_canon") if "_" in whole else "digest"):
                del found[whole]
        return found
    if isinstance(value, list | tuple):
        return [_resolved(one, name) for one in value]
    return _resolved(value.item(), name) if hasattr(value, "item") else value  # a number of numpy


def _line(line: Json) -> bytes:
    return json.dumps(_resolved(line), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _ranked(path: Path, rank: int) -> Path:
    return path.with_name(f"{path.stem}.r{rank}{path.suffix}") if rank else path


def _opened(path: Path) -> int:
    """For appending, unbuffered; a last line that was torn is ended first."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    if os.lseek(file, 0, os.SEEK_END):
        os.lseek(file, -1, os.SEEK_END)
        if os.read(file, 1) != b"\n":
            _append(file, b"\n")
    return file


def _append(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _place(rank: int | None, world: int | None) -> tuple[int, int]:
    """Rank and number of ranks, asked of nobody else."""
    both = torch.distributed if torch.distributed.is_available() and torch.distributed.is_initialized() else None
    here = both.get_rank() if both else int(os.environ.get("RANK", 0))
    count = both.get_world_size() if both else int(os.environ.get("WORLD_SIZE", 1))
    return (here if rank is None else rank), (count if world is None else world)


def _environment(model: nn.Module, world: int) -> Json:
    devices = sorted({str(one.device) for one in model.parameters()})
    cudnn = torch.backends.cudnn
    numpy = sys.modules.get("numpy")
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "devices": [_device(one) for one in devices],
        "dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "threads": torch.get_num_threads(),
        "interop_threads": torch.get_num_interop_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "matmul_precision": torch.get_float32_matmul_precision(),
        "cudnn_benchmark": cudnn.benchmark,
        "cudnn_deterministic": cudnn.deterministic,
        "world": world,
        "cuda": torch.version.cuda,
        "cudnn": str(cudnn.version()) if torch.version.cuda and cudnn.is_available() else None,
        "numpy": str(numpy.__version__) if numpy is not None else None,
    }


def _device(name: str) -> str:
    if name.startswith("cuda"):
        return f"{name} {torch.cuda.get_device_name(name)}"
    capability = torch.backends.cpu.get_cpu_capability() if name == "cpu" else ""
    return f"{name} {capability}".strip()


def _close_if_there(reference: "weakref.ref[Recorder]") -> None:
    trace = reference()
    if trace is not None:
        trace.close()


class _Hook:
    """A hook that neither a copy nor a pickle of its module takes along: there it becomes one that does nothing."""

    def __init__(self, act: Callable[..., Any]) -> None:
        self.act = act

    def __call__(self, *given: Any) -> Any:
        # What is being compiled or exported stays as it is; the wrapper that torch.compile gives back has hooks too.
        graph = torch.compiler.is_compiling() or torch.jit.is_tracing()  # type: ignore[attr-defined]
        return None if graph else self.act(*given)

    def __reduce__(self) -> Any:
        return getattr, (contextlib.nullcontext(), "__exit__")


class _Watch:
    """In the place of a scaler's `step`, which alone knows that it left a step out. Copies of the scaler go without."""

    def __init__(self, scaler: Any, trace: Recorder) -> None:
        self.scaler, self.trace, self.inner = scaler, trace, scaler.step
        scaler.step = self

    def __call__(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        done = self.trace.step
        result = self.inner(optimizer, *args, **kwargs)
        ours = getattr(optimizer, "optimizer", optimizer) is self.trace.optimizer
        if ours and not self.trace.off and self.trace.step == done:
            self.trace.skipped()
        return result

    def remove(self) -> None:
        if self.scaler.__dict__.get("step") is self:
            del self.scaler.step
            if isinstance(self.inner, _Watch):
                self.scaler.step = self.inner

    def __reduce__(self) -> Any:
        return getattr, (self.scaler, "step")


# Other people's loops


def trainer_callback(path: str | os.PathLike[str] | None, **options: Any) -> Any:
    """For a Trainer of Hugging Face: `trainer.add_callback(trainer_callback("run-a.jsonl"))`."""
    base = importlib.import_module("transformers").TrainerCallback

    class Trace(base):  # type: ignore[misc, valid-type]
        trace: Recorder | None = None

        def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **parts: Any) -> None:
            given = {"scheduler": parts.get("lr_scheduler"), **options}
            self.trace = Recorder(path, model, parts["optimizer"], **given)
            self.trace.reads_loss = True
            if state.global_step:
                with self.trace.resume(step=state.global_step, epoch=int(state.epoch or 0)):
                    pass

        def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if self.trace is not None:
                self.trace.epoch = int(state.epoch or 0)

        def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **_: Any) -> None:
            if self.trace is not None:
                self.trace.found("eval", metrics or {})

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if self.trace is not None:
                self.trace.close()

    return Trace()


def lightning_callback(path: str | os.PathLike[str] | None, **options: Any) -> Any:
    """For a Trainer of Lightning with one optimizer: `Trainer(callbacks=[lightning_callback("run-a.jsonl")])`."""
    name = "lightning.pytorch" if importlib.util.find_spec("lightning") else "pytorch_lightning"
    base = importlib.import_module(name).Callback

    class Trace(base):  # type: ignore[misc, valid-type]
        trace: Recorder | None = None
        under: contextlib.ExitStack | None = None

        def on_train_start(self, trainer: Any, module: Any) -> None:
            schedulers = [one.scheduler for one in trainer.lr_scheduler_configs]
            scaler = getattr(trainer.precision_plugin, "scaler", None)
            given = {"scheduler": schedulers, "scaler": scaler, **options}
            self.trace = Recorder(path, module, trainer.optimizers[0], **given)
            if trainer.global_step:
                with self.trace.resume(step=trainer.global_step, epoch=trainer.current_epoch):
                    pass

        def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, batch_idx: int) -> None:
            if self.trace is not None:
                self.trace.batch(None, batch, epoch=trainer.current_epoch)

        def on_before_backward(self, trainer: Any, module: Any, loss: Any) -> None:
            if self.trace is not None:
                self.trace.loss(loss)

        def on_validation_start(self, trainer: Any, module: Any) -> None:
            if self.trace is not None:
                self.under = contextlib.ExitStack()
                self.metrics = self.under.enter_context(self.trace.evaluation("validation"))

        def on_validation_end(self, trainer: Any, module: Any) -> None:
            if self.under is not None:
                self.metrics.update(trainer.callback_metrics)
                self.under.close()
                self.under = None

        def on_save_checkpoint(self, trainer: Any, module: Any, checkpoint: Any) -> None:
            if self.trace is not None:
                with self.trace.checkpoint(checkpoint):
                    pass

        def on_train_end(self, trainer: Any, module: Any) -> None:
            if self.trace is not None:
                self.trace.close()

    return Trace()


# The proof that it changes nothing


def self_check(train: Callable[[str | None], Any], show: Callable[[str], Any] = print) -> Json:
    """Run `train(path)` without, with and again without recording; compare what they end in, bit by bit.

    Compared are all losses, weights, buffers, the state of optimizer, scheduler and scaler, and the generators, which
    are put back before every run. What else a run starts from is up to `train`.
    """
    start = _generator_states()
    ends, times = [], []
    for recording in (False, True, False):
        _restore(start)
        with tempfile.TemporaryDirectory() as folder:
            end, taken = _one_run(train, str(Path(folder) / "trace.jsonl") if recording else None)
        ends.append(end)
        times.append(taken)
    _restore(start)
    without = min(times[0], times[2])
    result = {
        "same": ends[0] == ends[1],
        "repeats": ends[0] == ends[2],
        "different": [kind for kind in ends[0] if ends[0][kind] != ends[1][kind]],
        "overhead": times[1] / without - 1,
        "seconds": without,
    }
    show(_told(result))
    return result


def _one_run(train: Callable[[str | None], Any], path: str | None) -> tuple[Json, float]:
    global _checked
    made: list[Recorder] = []
    _checked = made
    try:
        began = time.perf_counter()
        train(path)
        taken = time.perf_counter() - began
    finally:
        _checked = None
    if not made:
        raise ValueError("train(path) made no Recorder(path, …)")
    with _quietly():
        ends = [{"loss": one.losses} | one.kinds() for one in made]
    for one in made:
        one.close()
    return {kind: [end[kind] for end in ends] for kind in ends[0]}, taken


def _told(result: Json) -> str:
    if not result["repeats"]:
        return "this training does not repeat itself even without recording; nothing can be said"
    verdict = "the same bits with and without recording" if result["same"] else f"NOT the same: {result['different']}"
    return f"{verdict}; {result['seconds']:.3f} s without, {result['overhead']:+.1%} with recording"


def _generator_states() -> list[Any]:
    numpy = sys.modules.get("numpy")
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    return [random.getstate(), torch.get_rng_state(), cuda, numpy.random.get_state() if numpy is not None else None]


def _restore(states: list[Any]) -> None:
    random.setstate(states[0])
    torch.set_rng_state(states[1])
    if states[2]:
        torch.cuda.set_rng_state_all(states[2])
    if states[3] is not None:
        sys.modules["numpy"].random.set_state(states[3])


def _main() -> int:
    if len(sys.argv) != 2 or ":" not in sys.argv[1]:
        print("python recorder.py program.py:train runs train(path) with and without recording", file=sys.stderr)
        return 2
    sys.modules["recorder"] = sys.modules["__main__"]
    program, _, name = sys.argv[1].rpartition(":")
    result = self_check(runpy.run_path(program)[name])
    return 0 if result["same"] and result["repeats"] else 1


if __name__ == "__main__":
    sys.exit(_main())
