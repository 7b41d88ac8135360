"""The recorder as it is handed out, and the words about its lines."""

import ast
import json
import sys

import jsonschema_rs
from typer.testing import CliRunner

from app.cli import app
from app.traces.recorder import DIGEST, SCHEMA, STAGES
from app.traces.schema import EVENTS, VERSION, json_schema, prose
from app.traces.schema import STAGES as LADDER
from tests.conftest import ROOT
from tests.web.visits import garden

SOURCE = ROOT / "app/traces/recorder.py"


def test_the_command_prints_the_file() -> None:
    told = CliRunner().invoke(app, ["recorder"])
    assert (told.exit_code, told.stdout_bytes) == (0, SOURCE.read_bytes())


def test_the_garden_gives_the_file() -> None:
    answer = garden().get("/recorder.py")
    assert (answer.status_code, answer.content) == (200, SOURCE.read_bytes())
    assert answer.headers["content-type"] == "text/x-python; charset=utf-8"


def test_it_needs_only_python_and_torch() -> None:
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    plain = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {(name or "").split(".")[0] for name in plain | named} <= {"torch", *sys.stdlib_module_names}


def test_recorder_and_schema_are_of_one_version() -> None:
    head = next(event for event in EVENTS if event.name == "trace")
    kinds = {field.name: field.kind for field in head.fields}
    assert kinds["schema"] == {"const": SCHEMA} == {"const": VERSION}
    assert kinds["digest"] == {"const": DIGEST}
    assert STAGES == LADDER
    assert {event.stage for event in EVENTS} == {"", *STAGES}


def test_the_schema_is_one_and_refuses_what_is_not_of_it() -> None:
    jsonschema_rs.meta.validate(json_schema())
    line = jsonschema_rs.validator_for(json_schema())
    fine = {"event": "loss", "step": 1, "micro": 1, "loss": "0x1.8p+0", "dtype": "float32"}
    assert line.is_valid(fine)
    wrong = [{"loss": 1.5}, {"loss": "1.5"}, {"step": -1}, {"event": "losses"}, {"more": 1}]
    assert [line.is_valid(fine | change) for change in wrong] == [False] * len(wrong)


def test_the_prose_is_that_of_the_table() -> None:
    told = (ROOT / "app/traces/SCHEMA.md").read_text(encoding="utf-8")
    assert told.endswith(prose())
    assert f"(schema {VERSION})" in told.partition("\n")[0]


def test_the_example_of_the_prose_fits_the_schema() -> None:
    told = (ROOT / "app/traces/SCHEMA.md").read_text(encoding="utf-8")
    line = jsonschema_rs.validator_for(json_schema())
    shown = told.partition("```json\n")[2].partition("\n```")[0].split("\n")
    assert len(shown) == 16
    for one in shown:
        line.validate(json.loads(one))
