"""What the README says is so: its commands, paths, settings, examples and figures."""

import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import typer.main
from pydantic.fields import FieldInfo

from app.checks import check
from app.cli import app as command
from app.experiments import EXPERIMENTS
from app.numerals import agrees
from app.settings import Settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
NOTE = README.partition("````markdown\n")[2].partition("````")[0]
MODULE = README.partition("```python\n")[2].partition("```")[0]


# Commands and places


def test_every_target_of_make_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)\b(?=`|\s+#|\n)", README))
    assert {"serve", "test", "image", "bench"} <= named <= targets


def test_every_subcommand_and_option_exists() -> None:
    known = typer.main.get_command(command).commands  # type: ignore[attr-defined]
    named = re.findall(r"\bperennial ([a-z]+)((?: --[a-z-]+)*)(?=[`\s])", README)
    for name, options in named:
        if name not in known:
            assert name == "perennial", f"perennial {name}"
        taken = {option for parameter in known[name].params for option in parameter.opts} | {"--help"}
        assert set(options.split()) <= taken, f"perennial {name}{options}"
    assert {name for name, _ in named} == set(known)


def test_every_path_exists() -> None:
    inside = re.findall(r"`((?:app|content|templates|static|tests|bench|setup|\.venv)/[\w./-]*|LICENSE)`", README)
    inside += re.findall(r"\]\(([\w./-]+)\)", README)
    missing = {path for path in inside if not (ROOT / path).exists()}
    assert len(inside) > 20
    assert missing <= {"app/experiments/halving.py", ".venv/bin/perennial"}


def test_every_room_has_its_place() -> None:
    table = README.partition("| place | what |")[2].partition("\n\n")[0]
    rooms = {
        f"app/{room.name}" for room in (ROOT / "app").iterdir() if room.name[0] not in "_." and room.name != "shipped"
    }
    named = {path.rstrip("/") for path in re.findall(r"`(app/[\w./]+)`", table)}
    assert named == rooms


def test_the_versions_that_are_named_are_the_ones_in_force() -> None:
    low, high = re.findall(r"\(3, (\d+)\)", (ROOT / "Makefile").read_text())[:2]
    assert f"Python 3.{low} to 3.{int(high) - 1}" in README
    (torch,) = re.findall(r"^version=(.+)", (ROOT / "setup/torch.sh").read_text(), re.MULTILINE)
    (user,) = re.findall(r"--uid (\d+)", (ROOT / "Dockerfile").read_text())
    assert f"torch {torch}." in README
    assert f"user {user};" in README


def test_the_picture_is_small() -> None:
    assert (ROOT / "setup/picture.png").stat().st_size < 250_000


# Settings


def test_the_table_of_settings_is_what_can_be_set() -> None:
    told = README.partition("| variable | default | what |\n|---|---|---|\n")[2].partition("\n\n")[0].split("\n")
    fields = Settings.model_fields.items()
    assert told == [
        f"| `PERENNIAL_{name.upper()}` | {default(name, field)} | {field.description} |" for name, field in fields
    ]


MADE = {"content": "the notes that come with it", "cache_folder": "the user's cache folder"}
"""Defaults that depend on the machine, in words."""


def default(name: str, field: FieldInfo) -> str:
    if field.default_factory is not None:
        return MADE[name]
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    written = f"{field.default:g}" if isinstance(field.default, float) else str(field.default)
    return f"`{written}`" if written else ""


def test_the_licences_are_those_in_force() -> None:
    assert (ROOT / "LICENSE").read_text().startswith("MIT License")
    assert f"under {Settings.model_fields['licence'].default}." in README


# Examples


def test_the_example_of_a_note_passes_the_check(tmp_path: Path) -> None:
    content = tmp_path / "content"
    shutil.copytree(ROOT / "content", content)
    (content / "warm-restarts.md").write_text(NOTE, encoding="utf-8")
    report = check(content, "en")
    assert report.faults == ()
    assert [str(warning) for warning in report.warnings if "not yet written" in str(warning)] == []
    note = report.garden.note("en", "warm-restarts")
    assert note is not None
    assert (len(note.rans), len(note.embeds), len(note.marks)) == (2, 1, 1)


def test_a_wrong_number_in_the_example_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "concepts.yaml").write_text((ROOT / "content/concepts.yaml").read_text())
    (tmp_path / "warm-restarts.md").write_text(NOTE.replace("0.352", "0.353"), encoding="utf-8")
    assert ["0.353" in str(fault) for fault in check(tmp_path, "en").faults] == [True]


def test_marks_in_the_table_are_those_of_the_note() -> None:
    table = README.partition("| write | get |")[2].partition("\n\n")[0]
    for written, given, read in re.findall(r"\[([^]]+)\]\{ran=momentum ([^}]*?) ?read=([\w.]+)\}", table):
        result = EXPERIMENTS["momentum"].run(**EXPERIMENTS["momentum"].parse(dict([given.split("=")])))
        value = result
        for step in read.split("."):
            value = value[int(step)] if step.isdigit() else value[step]  # type: ignore[index]
        assert agrees(written, value)


@pytest.mark.parametrize("example", re.findall(r"```console\n(.*?)```", README, re.DOTALL))
def test_a_command_that_is_shown_prints_what_is_shown(example: str) -> None:
    line, _, shown = example.partition("\n")
    words = line.removeprefix("$ ").split()
    assert words[0] == "perennial"
    program = Path(sys.executable).parent / "perennial"
    told = subprocess.run([program, *words[1:]], capture_output=True, text=True, check=True)
    assert shown in told.stdout


def test_the_words_about_the_picture_are_computed() -> None:
    experiment = EXPERIMENTS["momentum"]
    params = experiment.parse({"restore": "weights"})
    result = experiment.run(**params)
    sentence = re.findall(r"!\[.*lands at w = ([\d.]+) in step (\d+), not at ([\d.]+)\]", README)
    ((lost, step, kept),) = sentence
    assert agrees(lost, result["resumed"][int(step) - 2]["w"])
    assert agrees(kept, result["uninterrupted"][int(step)]["w"])


@pytest.fixture
def halving(tmp_path: Path) -> ModuleType:
    """The experiment of the README as a module of its own."""
    path = tmp_path / "halving.py"
    path.write_text(MODULE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("halving", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_of_a_widget_is_whole(halving: ModuleType, tmp_path: Path) -> None:
    experiment = halving.EXPERIMENT
    params = experiment.parse({})
    result = experiment.run(**params)
    count, last = re.findall(r"halving ends after (\d+) steps, and the last number is (\S+), or", README)[0]
    assert result == {"halvings": int(count), "last": float(last)}
    assert (result["halvings"], result["last"]) == (1075, 2.0**-1074)  # IEEE 754: the least subnormal of binary64
    for part in (experiment.sentence, experiment.drawing, experiment.table):
        assert part(params, result)
    script = tmp_path / "script.py"
    script.write_text(experiment.script(params), encoding="utf-8")
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout) == result


def test_the_example_of_a_widget_stands_in_a_note(halving: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "zero.md").write_text("```widget halving\n```\n\n[1075]{ran=halving read=halvings}\n", encoding="utf-8")
    report = check(tmp_path, "en", experiments={**EXPERIMENTS, "halving": halving.EXPERIMENT})
    assert report.faults == ()
    assert inspect.getsource(halving.halving) in halving.EXPERIMENT.source


# Figures


def test_the_figures_are_those_of_the_last_benchmark() -> None:
    told = README.partition("## What is measured")[2].partition("\n## ")[0]
    rows = [line for line in told.split("\n") if line.startswith("| ")][1:]
    results = (ROOT / "bench/RESULTS.md").read_text(encoding="utf-8").split("\n")
    assert len(rows) >= 4
    assert [row for row in rows if row not in results] == []
