"""A checkpoint file of the momentum run into the state that resumes from it, or why not, field by field."""

import json
import math
from typing import Any

from app.errors import InvalidCheckpoint, Problem
from app.experiments.momentum import EXPERIMENT
from app.experiments.parameters import Params, Unreadable
from app.language import Text
from app.numerals import full

FIELDS = {"step": "save_after", "w": None, "v": None, "lr": "lr", "beta": "beta", "target": "target"}
"""Each field of the file, and the parameter whose limits it must keep; w and v need only be finite."""
MORE_STEPS = 10


def read_checkpoint(text: str) -> dict[str, str]:
    """The parameters, as texts, of a run that goes on from the file. Raises InvalidCheckpoint with every problem."""
    data = _parsed(text)
    problems = [
        Problem(_shown(name), _written(data[name]), Text(
            "is not part of this run's state; resuming would lose it", "不属于这次训练的状态；从这里恢复会丢掉它"))
        for name in data if name not in FIELDS
    ]  # fmt: skip
    values: dict[str, float] = {}
    for name, parameter in FIELDS.items():
        try:
            values[name] = _number(data, name, parameter)
        except Unreadable as wrong:
            problems.append(Problem(name, _written(data[name]) if name in data else "", wrong.message))
    if problems:
        raise InvalidCheckpoint(problems)
    written = {
        name: full(value).replace("−", "-") if isinstance(value, int) else repr(value) for name, value in values.items()
    }
    return {
        "lr": written["lr"],
        "beta": written["beta"],
        "target": written["target"],
        "steps": str(min(max(12, int(values["step"]) + MORE_STEPS), 500)),
        "save_after": written["step"],
        "restored": f"{written['w']},{written['v']}",
    }


def _parsed(text: str) -> dict[str, Any]:
    if not text.strip():
        raise _unusable("", Text("is empty: choose a file or paste its text", "是空的：请选择文件或粘贴内容"))
    if text.startswith("PK"):
        raise _unusable("PK…", Text(
            "is a zip archive, as torch.save writes; this run needs the JSON that it saved itself",
            "是 torch.save 写出的那种 zip 文件；这里需要本实验自己保存的 JSON"))  # fmt: skip
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        where = f", line {wrong.lineno}" if isinstance(wrong, json.JSONDecodeError) else ""
        wo = f"（第 {wrong.lineno} 行）" if isinstance(wrong, json.JSONDecodeError) else ""
        raise _unusable(text[:40], Text(f"is not JSON{where}", f"不是 JSON{wo}")) from None
    if not isinstance(data, dict):
        raise _unusable(text[:40], Text("is JSON, but not an object with fields", "是 JSON，但不是带字段的对象"))
    return data


def _unusable(given: str, message: Text) -> InvalidCheckpoint:
    return InvalidCheckpoint([Problem("file", _shown(given), message)])


def _written(value: Any) -> str:
    """A value of the file as it stands there, cut short."""
    try:
        return _shown(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return "[…]"


def _shown(text: str) -> str:
    """At most 80 characters, each of which can stand in a page."""
    return "".join(sign if sign.isprintable() else " " if sign.isspace() else "\ufffd" for sign in text[:80])


def _number(data: dict[str, Any], name: str, parameter: str | None) -> float:
    """The value of a field; raises Unreadable."""
    if name not in data:
        raise Unreadable(Text("is missing", "缺失"))
    value = data[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable(Text("must be a number", "必须是数"))
    if not _finite(value):
        raise Unreadable(Text("must be finite", "必须是有限的数"))
    if parameter is None:
        return float(value)
    kind = next(known for known in EXPERIMENT.parameters if known.name == parameter)
    read: float = kind.read(repr(value))  # type: ignore[assignment]
    return read


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def resumed(text: str) -> Params:
    """The checked parameters that a checkpoint file leads to."""
    return EXPERIMENT.parse(read_checkpoint(text))
