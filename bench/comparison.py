"""The comparison of two traces of 1,000,000 records each: equal ones, and ones that part early; a tenth of it beside.

The traces are synthetic, with the fields that the recorder writes at level 1; each comparison has a process of its own,
and its speed is that of the one core that it takes: seconds are processor time, system calls included.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from bench.results import ROOT, Row

STEPS = 100_000
RECORDS = 10
"""Of a step."""
PARTING = 10
"""Step at which runs that part do so."""
SAMPLES, BATCH = 50_000, 8
SPEED, MEMORY, GROWTH = 150_000, 150, 1.25
"""Goals: records a second and side, resident MB, and what a record of the long trace may cost over one of the short."""

NOTHING: frozenset[str] = frozenset()
DATA = frozenset({"batch", "rng", "control"})
STATE = frozenset({"forward", "loss", "grad", "update", "weights", "optimizer"})
KINDS = (
    ("equal throughout", NOTHING),
    (f"parting at step {PARTING}", STATE),
    (f"parting at step {PARTING} in every stage", DATA | STATE),
)


def comparison(steps: int = STEPS) -> list[Row]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        ours = {count: write_trace(Path(folder) / f"a{count}.jsonl", count) for count in (steps // 10, steps)}
        for kind, parting in KINDS:
            theirs = Path(folder) / "b.jsonl"
            short, long = (_measured(ours[count], write_trace(theirs, count, parting)) for count in sorted(ours))
            rows += _rows(kind, short, long)
    return rows


def _measured(a: Path, b: Path) -> dict[str, float]:
    told = subprocess.run(
        [sys.executable, "-m", "bench.comparison", a, b], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(told.stdout)
    return found


def _rows(kind: str, short: dict[str, float], long: dict[str, float]) -> Iterator[Row]:
    rates = [one["records"] / one["seconds"] for one in (short, long)]
    what = f"comparison of {long['records']:,.0f} records a side, {kind}"
    goal = f"≥ {SPEED:,} records/s a side"
    told = f"{rates[1]:,.0f} (of {short['records']:,.0f}: {rates[0]:,.0f})"
    yield Row(what, goal, told, min(rates) >= SPEED and rates[0] / rates[1] < GROWTH)
    memory = [one["peak"] / 1e6 for one in (short, long)]
    yield Row(f"{what}: peak resident", f"≤ {MEMORY} MB", f"{memory[1]:.0f} MB ({memory[0]:.0f})", memory[1] <= MEMORY)


def write_trace(path: Path, steps: int, parting: frozenset[str] = NOTHING) -> Path:
    """A trace whose stages of these names are another run's from the step of the parting on."""
    order = random.Random(0)
    with path.open("w", encoding="ascii") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in HEAD)
        for step in range(1, steps + 1):
            others = parting if step >= PARTING else NOTHING
            ids = [order.randrange(SAMPLES) for _ in range(BATCH)]
            file.write(_step(step, ids, ["b" if event in others else "a" for event in EVENTS]))
    return path


def _step(step: int, ids: list[int], sides: list[str]) -> str:
    """The lines of a step as side a or b would have written each."""
    values = {side: _values(step, ids, side) for side in set(sides)}
    return "".join(template % values[side] for template, side in zip(LINES, sides, strict=True))


def _values(step: int, ids: list[int], side: str) -> dict[str, Any]:
    digits = "".join(blake2b(f"{side}{step}{i}".encode()).hexdigest() for i in range(5))
    digests = {f"d{i}": digits[32 * i : 32 * i + 32] for i in range(18)}
    floats = {f"f{i}": f"0x1.{digits[-13 - i : -i]}p-{i}" for i in range(1, 8)}
    rate = (1e-3 * (1.0 if side == "a" else 0.5) / (1 + step)).hex()
    shuffled = ids if side == "a" else [(7 * one + 1) % SAMPLES for one in ids]
    return {**digests, **floats, "step": step, "ids": ",".join(map(str, shuffled)), "rate": rate}


HEAD: tuple[dict[str, Any], ...] = (
    {"event": "trace", "schema": 1, "digest": "wrapping-sum-1", "rank": 0, "world": 1, "level": 1, "every": 1},
    {"event": "env", "python": "3.13.1", "torch": "2.13.0", "system": "Linux x86_64", "threads": 8, "world": 1},
    {"event": "model", "optimizer": "AdamW", "parameters": [], "buffers": [], "groups": []},
)
LINES = tuple(
    '{"event":' + line + "}\n"
    for line in (
        '"batch","step":%(step)d,"epoch":0,"count":8,"ids":[%(ids)s],"order":"%(d0)s","members":"%(d1)s",'
        '"inputs":"%(d2)s","shapes":{"0":"float32[8, 3, 32, 32]","1":"int64[8]"},"rows":"%(d3)s","pairs":"%(d4)s",'
        '"micro":1',
        '"rng","step":%(step)d,"micro":1,"at":"batch","generators":{"python":"%(d5)s","numpy":"%(d6)s","cpu":"%(d7)s"}',
        '"forward","step":%(step)d,"micro":1,"call":1,"digest":"%(d8)s","norm":"%(f1)s"',
        '"loss","step":%(step)d,"micro":1,"loss":"%(f2)s","count":8,"dtype":"float32"',
        '"grad","step":%(step)d,"micro":1,"when":"raw","digest":"%(d9)s","norm":"%(f3)s","none":0,'
        '"seed":"0x1.0000000000000p+0"',
        '"grad","step":%(step)d,"micro":1,"when":"clipped","digest":"%(d10)s","norm":"%(f4)s","none":0',
        '"control","step":%(step)d,"micros":1,"lr":["%(rate)s"],"groups":[{"betas":["0x1.ccccccccccccdp-1",'
        '"0x1.ff7ced916872bp-1"],"eps":"0x1.5798ee2308c3ap-27","weight_decay":"0x1.47ae147ae147bp-7","amsgrad":false,'
        '"maximize":false,"foreach":false,"capturable":false,"differentiable":false,"fused":null,'
        '"decoupled_weight_decay":true,"initial_lr":"0x1.47ae147ae147bp-6"}],"skipped":false',
        '"update","step":%(step)d,"sampled":4096,"unmoved":12,"norm":"%(f5)s"',
        '"weights","step":%(step)d,"digest":"%(d11)s","norm":"%(f6)s","buffers":"%(d12)s"',
        '"optimizer","step":%(step)d,"digest":"%(d13)s","norm":"%(f7)s","by":{"exp_avg":"%(d14)s",'
        '"exp_avg_sq":"%(d15)s"},"norms":{"exp_avg":"%(f5)s","exp_avg_sq":"%(f6)s"},"counters":["0x1.8000000000000p+3"]',
    )
)
EVENTS = tuple(line.split('"')[3] for line in LINES)


def measure(a: Path, b: Path) -> dict[str, float]:
    from app.traces.comparison import compare

    began = time.process_time()
    found = compare(a, b)
    seconds = time.process_time() - began
    status = Path(f"/proc/{os.getpid()}/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) * 1024
    return {"seconds": seconds, "records": found.records, "peak": peak}


if __name__ == "__main__":
    print(json.dumps(measure(*map(Path, sys.argv[1:]))))
