"""Traces written by hand, one record at a time."""

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def digest(what: object) -> str:
    """Some 32 digits that stand for a value; equal for equal ones."""
    lanes = [sum((i + lane) * 1_000_003 ** (i % 7) * ord(c) for i, c in enumerate(repr(what), 1)) for lane in (1, 2)]
    return "".join(f"{lane % (1 << 64):016x}" for lane in lanes)


def trace(rank: int = 0, world: int = 1, **more: Any) -> Record:
    return {"event": "trace", "schema": 1, "digest": "wrapping-sum-1", "rank": rank, "world": world, **more}


def environment(**more: Any) -> Record:
    return {"event": "env", "python": "3.11.7", "torch": "2.13.0", "threads": 2, **more}


def model(*names: str) -> Record:
    parameters = [{"name": name, "shape": [2], "dtype": "float32", "trained": True} for name in names or ("w", "b")]
    return {"event": "model", "optimizer": "AdamW", "parameters": parameters, "buffers": [], "groups": []}


def ids_of(step: int, micro: int, micros: int, size: int = 4) -> list[int]:
    at = ((step - 1) * micros + micro - 1) * size
    return list(range(at, at + size))


def state(step: int) -> list[Record]:
    return [
        {"event": "weights", "step": step, "digest": digest(("w", step)), "norm": (1.0 + step).hex()},
        {
            "event": "optimizer",
            "step": step,
            "digest": digest(("o", step)),
            "norm": (0.5 + step).hex(),
            "by": {"exp_avg": digest(("m", step)), "exp_avg_sq": digest(("v", step))},
            "counters": [float(step).hex()],
        },
    ]


def step(number: int, micros: int = 1) -> list[Record]:
    """All that is recorded of one step."""
    records: list[Record] = []
    for micro in range(1, micros + 1):
        at: Record = {"step": number, "micro": micro}
        ids = ids_of(number, micro, micros)
        records += [
            {
                "event": "batch",
                **at,
                "count": len(ids),
                "ids": ids,
                "order": digest(ids),
                "members": digest(sum(ids)),
                "inputs": digest(("x", ids)),
                "rows": digest(("x", sum(ids))),
            },
            {"event": "rng", **at, "at": "batch", "generators": {"cpu": digest(("g", number, micro))}},
            {"event": "forward", **at, "call": 1, "digest": digest(("y", number, micro)), "norm": (3.0).hex()},
            {"event": "loss", **at, "loss": (1 / number).hex(), "count": 4, "dtype": "float32"},
            {
                "event": "grad",
                **at,
                "when": "raw",
                "digest": digest(("r", number, micro)),
                "norm": (2.0).hex(),
                "none": 0,
                "seed": (1.0).hex(),
            },
        ]
    last: Record = {"step": number, "micro": micros}
    return [
        *records,
        {"event": "grad", **last, "when": "clipped", "digest": digest(("c", number)), "norm": (1.0).hex(), "none": 0},
        {
            "event": "control",
            "step": number,
            "micros": micros,
            "skipped": False,
            "lr": [(0.1 / number).hex()],
            "groups": [{"weight_decay": (0.01).hex()}],
            "scale": (1024.0).hex(),
        },
        {"event": "update", "step": number, "sampled": 4, "unmoved": 0, "norm": (0.25).hex()},
        *state(number),
        {
            "event": "side",
            "step": number,
            "what": "scheduler",
            "digest": digest(("s", number)),
            "values": {"n": number},
        },
        {"event": "eval", "step": number, "name": "valid", "metrics": {"loss": (2 / number).hex()}, "moved": []},
    ]


def run(steps: int, micros: int = 1, first: int = 1) -> list[Record]:
    begun = state(0) if first == 1 else []
    every = [record for number in range(first, first + steps) for record in step(number, micros)]
    return [trace(), environment(), model(), *begun, *every]


def resumed(after: int, steps: int, micros: int = 1, **more: Any) -> list[Record]:
    """A segment that goes on from a checkpoint."""
    resume = {"event": "resume", "step": after, "from": "given", **more}
    return [*run(0, first=2), *state(0), resume, *state(after), *run(steps, micros, after + 1)[3:]]


def changed(records: list[Record], event: str, number: int, micro: int | None = None, **new: Any) -> list[Record]:
    """The same with other values in the records of one event of one step; of one kind where `when` … is given."""
    which = {name: new.pop(name) for name in ("when", "what", "at") if name in new}

    def meant(one: Record) -> bool:
        if one["event"] != event or one.get("step") != number or (micro is not None and one.get("micro") != micro):
            return False
        return all(one.get(name) == value for name, value in which.items())

    assert any(map(meant, records))
    return [one | new if meant(one) else one for one in records]


def parted(records: list[Record], stage: str, number: int, micro: int | None = None, **which: Any) -> list[Record]:
    return changed(records, stage, number, micro, digest=digest("parted"), **which)


def written(path: Path, records: list[Record]) -> Path:
    text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in records)
    path.write_text(text, encoding="utf-8")
    return path
