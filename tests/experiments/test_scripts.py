"""The script of a state runs with Python alone and prints the same numbers as the garden."""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from app.experiments import EXPERIMENTS
from app.numerals import plain

STATES = [(name, at) for name, experiment in EXPERIMENTS.items() for at in range(len(experiment.presets))]
FURTHER = [
    ("momentum", {"restored": "0.28,-1.8", "resumed_lr": "1e-300"}),
    ("summation", {"terms": "1.7e308,1.7e308,-1.7e308,-1.7e308"}),
    ("summation", {"terms": "-0,-0"}),
    ("agreement", {"a": "nan,inf,-inf,-0", "b": "nan,inf,inf,0", "dtype": "bfloat16"}),
    ("accumulation", {"n": "2000", "distribution": "lognormal", "dtype": "float16", "shuffles": "3"}),
    ("accumulation", {"n": "2", "shuffles": "0"}),
    ("microbatch", {"counts": "1", "losses": "-0"}),
]


def printed(experiment, params, folder):
    file = folder / f"{experiment.name}.py"
    file.write_text(experiment.script(params, "https://garden.example/en/widgets/x?a=1&b=ü"), encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", file.name], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize(("name", "at"), STATES)
def test_the_script_of_a_preset_prints_the_result(name, at, tmp_path):
    experiment = EXPERIMENTS[name]
    params = experiment.parse(experiment.presets[at].given)
    assert printed(experiment, params, tmp_path) == plain(experiment.run(**params))


@pytest.mark.parametrize(("name", "given"), FURTHER)
def test_the_script_of_an_odd_state_prints_the_result(name, given, tmp_path):
    experiment = EXPERIMENTS[name]
    params = experiment.parse(given)
    assert printed(experiment, params, tmp_path) == plain(experiment.run(**params))


@pytest.mark.parametrize("name", [name for name, experiment in EXPERIMENTS.items() if experiment.torch])
def test_without_torch_a_script_says_what_to_install(name, tmp_path):
    experiment = EXPERIMENTS[name]
    script = "import sys\nsys.modules['torch'] = None\n" + experiment.script(experiment.parse({}))
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    (pin,) = project["project"]["optional-dependencies"]["torch"]
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"This script needs PyTorch: pip install {pin}\n"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_script_has_a_function_and_imports_nothing_of_ours(name):
    experiment = EXPERIMENTS[name]
    tree = ast.parse(experiment.script(experiment.parse({})))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {each.split(".")[0] for each in imported} <= sys.stdlib_module_names | (
        {"torch"} if experiment.torch else set()
    )
    assert experiment.run.__name__ in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
