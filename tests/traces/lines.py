"""Reading traces in tests: every line is held against the schema."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs

from app.traces.schema import EVENTS, json_schema

Line = dict[str, Any]
WHOLE = jsonschema_rs.validator_for(json_schema())
EACH = {event.name: jsonschema_rs.validator_for(one) for event, one in zip(EVENTS, json_schema()["oneOf"], strict=True)}


def lines(path: Path | str) -> list[Line]:
    found = [json.loads(line) for line in Path(path).read_text("ascii").splitlines()]
    for line in found:
        assert [error.message for error in EACH[line["event"]].iter_errors(line)] == [], line
        assert WHOLE.is_valid(line)
    return found


def of(found: list[Line], event: str, **fields: Any) -> list[Line]:
    return [line for line in found if line["event"] == event and fields.items() <= line.items()]
