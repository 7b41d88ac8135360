"""The house that the garden stands in: rules of import, locks, the wheel, the torch script, CI."""

import importlib.metadata
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grimp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCKS = ["requirements.lock", "requirements-test.lock"]

LAYERS = "Each room imports only the rooms below it"
FRAMEWORKS = "FastAPI, Starlette and Jinja only in app.web and app.main"

# Imports that each break one contract: the contract, where it is planted, what is imported.
PLANTS = [
    (LAYERS, "app.garden.planted", "app.web"),
    (LAYERS, "app.experiments.planted", "app.laboratory"),
    ("markdown-it only in app.content", "app.web.planted", "markdown_it"),
    ("networkx and sqlite3 only in app.garden", "app.web.planted", "networkx"),
    ("networkx and sqlite3 only in app.garden", "app.content.planted", "sqlite3"),
    ("torch only in app.experiments", "app.web.planted", "torch"),
    ("torch only in app.experiments", "app.content.planted", "torch"),
    ("pebble only in app.workers", "app.experiments.planted", "pebble"),
    (FRAMEWORKS, "app.content.planted", "jinja2"),
    (FRAMEWORKS, "app.experiments.planted", "fastapi"),
    (FRAMEWORKS, "app.garden.planted", "starlette"),
    (FRAMEWORKS, "app.garden.planted", "starlette_compress"),
    ("selectolax and pagefind only in app.build", "app.web.planted", "selectolax"),
    ("selectolax and pagefind only in app.build", "app.web.planted", "pagefind"),
    ("Typer only in app.cli", "app.web.planted", "typer"),
    ("The recorder imports nothing of ours", "app.traces.recorder", "app.errors"),
    ("Nothing imports the recorder", "app.web.planted", "app.traces.recorder"),
]


# Rules of import


def test_every_room_imports_only_what_it_may() -> None:
    told = lint_imports(ROOT)
    assert told.returncode == 0, told.stdout


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """What import-linter says of a copy of app/ in which every contract is broken, inside functions."""
    copy = copy_of_app(tmp_path_factory.mktemp("planted"))
    for _, place, imported in PLANTS:
        with (copy / place.replace(".", "/")).with_suffix(".py").open("a") as file:
            file.write(f"def import_{imported.replace('.', '_')}():\n    import {imported}\n\n\n")
    return lint_imports(copy)


@pytest.mark.parametrize(("contract", "place", "imported"), PLANTS)
def test_a_planted_import_breaks_its_contract(
    planted: subprocess.CompletedProcess[str], contract: str, place: str, imported: str
) -> None:
    assert planted.returncode == 1
    assert f"{contract} BROKEN" in planted.stdout
    assert f"{place} -> {imported} (l." in planted.stdout


def test_a_room_that_is_on_no_floor_is_found(tmp_path: Path) -> None:
    copy = copy_of_app(tmp_path)
    (copy / "app/attic.py").touch()
    told = lint_imports(copy)
    assert told.returncode == 1
    assert "attic" in told.stdout


def test_every_contract_was_seen_to_fail() -> None:
    contracts = project()["tool"]["importlinter"]["contracts"]
    assert {contract for contract, _, _ in PLANTS} == {contract["name"] for contract in contracts}
    forbidden = {module for contract in contracts for module in contract.get("forbidden_modules", [])}
    outside = {module for module in forbidden if not module.startswith("app.")}
    assert {imported for _, _, imported in PLANTS if not imported.startswith("app.")} == outside


def test_the_app_imports_only_what_it_declares() -> None:
    modules = grimp.build_graph("app", include_external_packages=True, cache_dir=None).modules
    known = {"app", "compression", *sys.stdlib_module_names}  # compression: of the library from Python 3.14 on
    imported = {module for module in modules if module.split(".")[0] not in known}
    distributions = importlib.metadata.packages_distributions()
    wanted = project()["project"]
    extras = wanted["optional-dependencies"]["torch"] + wanted["optional-dependencies"]["static"]
    declared = map(Requirement, wanted["dependencies"] + extras)
    assert {canonicalize_name(distributions[name][0]) for name in imported} <= {
        canonicalize_name(requirement.name) for requirement in declared
    }


def copy_of_app(folder: Path) -> Path:
    shutil.copytree(ROOT / "app", folder / "app", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"})


# Locks


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_its_hashes(lock: str) -> None:
    for pin in re.split(r"\n(?=\S)", (ROOT / "setup" / lock).read_text()):
        if not pin.startswith("#"):
            assert re.match(r"[a-z0-9-]+==\S+( ; .+)? \\\n", pin), pin
            assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", pin), pin


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_and_no_torch(lock: str) -> None:
    assert "://" not in (ROOT / "setup" / lock).read_text()
    assert "torch" not in pins(lock)


def test_the_test_lock_holds_the_runtime_lock() -> None:
    assert pins("requirements.lock").items() <= pins("requirements-test.lock").items()


def test_every_dependency_is_pinned_at_a_version_that_it_admits() -> None:
    wanted = project()["project"]
    assert unmet(wanted["dependencies"], "requirements.lock") == []
    assert unmet(wanted["optional-dependencies"]["test"], "requirements-test.lock") == []


def test_what_torch_needs_is_pinned_since_it_comes_without_its_needs() -> None:
    assert unmet(importlib.metadata.requires("torch") or [], "requirements.lock") == []


def test_the_torch_of_the_extra_is_the_one_that_is_installed() -> None:
    (torch,) = map(Requirement, project()["project"]["optional-dependencies"]["torch"])
    assert torch.specifier.contains(importlib.metadata.version("torch"))
    assert f"\nversion={next(iter(torch.specifier)).version}\n" in (ROOT / "setup/torch.sh").read_text()


def unmet(requirements: list[str], lock: str) -> list[str]:
    """Those requirements, extras aside, that the lock does not meet."""
    pinned = pins(lock)
    wanted = [needed for needed in map(Requirement, requirements) if not needed.marker or needed.marker.evaluate()]
    return [str(needed) for needed in wanted if pinned.get(canonicalize_name(needed.name), "0") not in needed.specifier]


def pins(lock: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "setup" / lock).read_text(), re.MULTILINE))


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


# The wheel


def test_the_wheel_carries_templates_static_files_and_notes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    carried = set(zipfile.ZipFile(wheel).namelist())
    files = [file for folder in ("templates", "static", "content") for file in (ROOT / folder).rglob("*")]
    assert {f"app/shipped/{file.relative_to(ROOT)}" for file in files if file.is_file()} <= carried
    assert "app/cli.py" in carried


# The torch script, tried on an environment of its own


class Workshop:
    """An environment without torch, a folder of wheels for it, and an index of CPU builds that does not answer."""

    def __init__(self, folder: Path) -> None:
        self.python = folder / "venv/bin/python"
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        venv.create(folder / "venv", symlinks=True, with_pip=True)

    def offer(self, version: str, cuda: str | None) -> None:
        """Put a wheel of a torch into the folder that says it was built for this CUDA."""
        info = f"torch-{version}.dist-info"
        with zipfile.ZipFile(self.wheels / f"torch-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("torch/__init__.py", f"from . import version\n__version__ = {version!r}\n")
            wheel.writestr("torch/version.py", f"cuda = {cuda!r}\nhip = None\n")
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", f"torch/__init__.py,,\ntorch/version.py,,\n{info}/RECORD,,\n")

    def run(self) -> subprocess.CompletedProcess[str]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            closed = f"http://127.0.0.1:{server.getsockname()[1]}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        ours = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": str(self.wheels), "TORCH_CPU_INDEX": closed}
        command = [str(ROOT / "setup/torch.sh"), str(self.python)]
        return subprocess.run(command, capture_output=True, text=True, env=kept | ours)

    def torch(self) -> str | None:
        """The version that is installed."""
        command = [str(self.python), "-c", "import torch; print(torch.__version__)"]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip() or None


@pytest.fixture(scope="module")
def shared_workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("workshop"))


@pytest.fixture
def workshop(shared_workshop: Workshop) -> Iterator[Workshop]:
    yield shared_workshop
    for wheel in shared_workshop.wheels.iterdir():
        wheel.unlink()
    uninstall = [str(shared_workshop.python), "-m", "pip", "uninstall", "--quiet", "--yes", "torch"]
    subprocess.run(uninstall, check=True, capture_output=True)


def test_without_a_cpu_build_the_torch_script_says_what_to_do(workshop: Workshop) -> None:
    told = workshop.run()
    assert told.returncode == 1
    assert "found no CPU build of torch 2.13.0" in told.stderr
    assert "Download the wheel of the CPU build" in told.stderr
    assert "set PIP_FIND_LINKS to the folder that holds it" in told.stderr
    assert workshop.torch() is None


def test_a_cuda_build_is_never_taken(workshop: Workshop) -> None:
    workshop.offer("2.13.0", cuda="13.0")
    assert workshop.run().returncode == 1
    assert workshop.torch() is None


def test_a_cuda_build_under_the_name_of_a_cpu_build_is_removed_again(workshop: Workshop) -> None:
    workshop.offer("2.13.0+cpu", cuda="13.0")
    told = workshop.run()
    assert told.returncode == 1
    assert "found torch ('2.13.0+cpu', '13.0', None)" in told.stderr
    assert "so it was removed again" in told.stderr
    assert workshop.torch() is None


def test_another_version_is_not_taken(workshop: Workshop) -> None:
    workshop.offer("2.14.0+cpu", cuda=None)
    assert workshop.run().returncode == 1
    assert workshop.torch() is None


def test_a_cpu_build_is_taken_once(workshop: Workshop) -> None:
    workshop.offer("2.13.0+cpu", cuda=None)
    first, second = workshop.run(), workshop.run()
    assert (first.returncode, workshop.torch()) == (0, "2.13.0+cpu"), first.stderr
    assert (second.returncode, second.stderr) == (0, "")


# CI


def test_ci_runs_make_test_and_nothing_else(tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text('#!/bin/sh\necho "make $* in $(pwd)"\n')
    make.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    told = subprocess.run(
        [ROOT / ".ci/run"], cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert (told.returncode, told.stdout, told.stderr) == (0, f"make test in {ROOT.resolve()}\n", "")
