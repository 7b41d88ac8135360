"""What `POST /api/compare` takes and answers, for the description of the API."""

from typing import Any

from app.errors import Busy, Incomparable, InvalidQuestion, TookTooLong, Unreadable, WorkerLost
from app.traces.comparison import STRONGEST
from app.traces.schema import STAGES
from app.web.api import PROBLEMS, as_json
from app.web.guards import BodyTooLarge
from app.web.problems import TABLE
from app.web.uploads import Stalled

FILE = {"type": "string", "format": "binary"}
SEVERAL = {"type": "array", "items": FILE, "minItems": 1}
BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["a", "b"],
                "properties": {
                    "a": SEVERAL | {"description": "The run to compare with; its ranks; for a rule, further runs."},
                    "b": SEVERAL | {"description": "The other run; the files of its resumes in their order."},
                    "noise": SEVERAL | {"description": "A run once more: the noise floor."},
                    "require": {"type": "string", "enum": [*STRONGEST[:-1]], "default": "bitwise"},
                    "tolerance": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "stage=relative,absolute, such as grad=1e-5,1e-7",
                    },
                    "rule": {"type": "string", "description": "A - B > 0.2 over >= 5 seeds"},
                },
            }
        }
    },
}
FOUND = {
    "type": "object",
    "required": ["level", "first_difference", "stages", "hints", "not_recorded", "seen_twice", "never_seen", "noise"],
    "properties": {
        "level": {"type": "string", "enum": [*STRONGEST, "not_recorded"]},
        "first_difference": {
            "type": ["object", "null"],
            "required": ["stage", "optimizer_step", "micro_step", "rank"],
            "properties": {
                "stage": {"type": "string", "enum": list(STAGES[1:])},
                "optimizer_step": {"type": "integer"},
                "micro_step": {"type": ["integer", "null"]},
                "rank": {"type": "integer"},
            },
        },
        "stages": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["stage", "level", "first_step"],
                "properties": {"first_step": {"type": ["integer", "null"]}},
            },
        },
        "hints": {"type": "array", "items": {"type": "object"}},
        "not_recorded": {"type": "array", "items": {"type": "string"}},
        "seen_twice": {"type": ["integer", "null"]},
        "never_seen": {"type": ["integer", "null"]},
        "noise": {"type": ["object", "null"]},
    },
}
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: as_json(FOUND, "The level of each stage, and the first difference in causal order"),
    **{
        TABLE[kind].status: as_json(PROBLEMS, TABLE[kind].title.en)
        for kind in (Unreadable, Stalled, Incomparable, BodyTooLarge, InvalidQuestion, WorkerLost, Busy, TookTooLong)
    },
}
