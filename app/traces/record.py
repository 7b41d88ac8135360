"""A line of a trace into its record, and what can be told of it without reading it whole."""

import re
from typing import Any

from pydantic_core import from_json

from app.traces.schema import EVENTS

Record = dict[str, Any]

HEAD = re.compile(rb'\{"event": ?"(\w+)", ?"step": ?(\d{1,18})(?=[,}])')
"""How nearly every line begins; what it matches need not be parsed to know its step."""
NAMES = {f'{{"event":{space}"{event.name}"'.encode(): event.name for event in EVENTS for space in ("", " ")}
"""What stands before the first comma of nearly every line, and the event that it tells of."""


def parsed(line: bytes) -> Record | None:
    """The record of a line; None where the line is torn."""
    try:
        record = from_json(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("event"), str) else None


def event_of(line: bytes) -> str:
    name = NAMES.get(line.split(b",", 1)[0])
    if name is not None:
        return name
    record = parsed(line)
    return "" if record is None else str(record["event"])


def counts(value: object) -> bool:
    """Whether it is a whole number as counters are; JSON also knows others, and calls neither true nor false one."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63
