"""The test that readers download: it runs with Python alone, as they would, and it can fail."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CONTENT

COMPANION = CONTENT / "companion/test_resume.py"


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *words, "test_resume.py"], cwd=folder, capture_output=True, text=True)


@pytest.fixture
def downloaded(tmp_path: Path) -> Path:
    shutil.copy(COMPANION, tmp_path)
    return tmp_path


def test_it_passes_with_python_alone(downloaded: Path) -> None:
    ran = run(downloaded, "-I")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("passed: ") == 5


def test_it_passes_under_pytest(downloaded: Path) -> None:
    ran = run(downloaded, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert ran.returncode == 0, ran.stdout
    assert "5 passed" in ran.stdout


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"v": v})\n    return states', '"v": 0.0})\n    return states'),
        ("v = BETA * v + (w - target)", "v = w - target"),
        ("return json.dumps(state)", 'return json.dumps({**state, "w": round(state["w"], 1)})'),
        ("return json.loads(text)", 'return {**json.loads(text), "v": 0.0}'),
        ('for quantity in ("v", "w"):', "for quantity in ():"),
        ("return None\n\n\ndef uninterrupted", "return (2, 'v')\n\n\ndef uninterrupted"),
    ],
)
def test_it_fails_when_the_thing_breaks(downloaded: Path, right: str, wrong: str) -> None:
    text = (downloaded / "test_resume.py").read_text(encoding="utf-8")
    assert right in text
    (downloaded / "test_resume.py").write_text(text.replace(right, wrong), encoding="utf-8")
    assert run(downloaded, "-I").returncode != 0
