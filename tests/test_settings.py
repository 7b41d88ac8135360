"""Every setting is an environment variable that the README documents."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.settings import Settings
from tests.conftest import CONTENT, ROOT

FIELDS = Settings.model_fields


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment of the tests sets does not count."""
    for name in FIELDS:
        monkeypatch.delenv(f"PERENNIAL_{name.upper()}", raising=False)


def documented() -> dict[str, str]:
    """Variable and default of each row of the README's table of settings."""
    rows = re.findall(
        r"^\| *`(PERENNIAL_[A-Z_]+)` *\| *(.*?) *\| *.+ *\|$",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(rows) == len({name for name, _ in rows}), "a setting has two rows"
    return {name: default.strip("`") for name, default in rows}


def test_the_readme_lists_every_setting_and_no_other() -> None:
    assert set(documented()) == {f"PERENNIAL_{name.upper()}" for name in FIELDS}


@pytest.mark.parametrize("name", [name for name in FIELDS if name not in ("content", "cache_folder")])
def test_the_readme_names_the_default(name: str) -> None:
    default = getattr(Settings(), name)
    written = {True: "true", False: "false"}[default] if isinstance(default, bool) else str(default)
    told = documented()[f"PERENNIAL_{name.upper()}"]
    assert told == written or (isinstance(default, float) and float(told) == default)


@pytest.mark.parametrize("name", FIELDS)
def test_every_setting_says_what_it_is_for(name: str) -> None:
    assert FIELDS[name].description


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("title", "My garden", "My garden"),
        ("author", "Ada 艾达", "Ada 艾达"),
        ("default_language", "zh", "zh"),
        ("content", "/srv/notes", Path("/srv/notes")),
        ("drafts", "true", True),
        ("drafts", "0", False),
        ("port", "9000", 9000),
        ("time_limit", "2.5", 2.5),
        ("htmx", "local", "local"),
        ("log_format", "json", "json"),
    ],
)
def test_the_environment_sets_it(monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: object) -> None:
    monkeypatch.setenv(f"PERENNIAL_{name.upper()}", text)
    assert getattr(Settings(), name) == value


def test_an_option_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERENNIAL_PORT", "9000")
    assert Settings(port=9001).port == 9001


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("port", "many"),
        ("port", "65536"),
        ("port", "-1"),
        ("workers", "0"),
        ("workers", "65"),
        ("time_limit", "0"),
        ("memory_limit", "1"),
        ("queue", "0"),
        ("client_slots", "0"),
        ("cache", "-1"),
        ("page_cache", "-1"),
        ("upload_limit", "0"),
        ("htmx", "nearby"),
        ("default_language", "fr"),
        ("log_level", "loud"),
        ("log_format", "yaml"),
        ("drafts", "perhaps"),
        ("hsts", ""),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    monkeypatch.setenv(f"PERENNIAL_{name.upper()}", text)
    with pytest.raises(ValidationError, match=name):
        Settings()


def test_settings_do_not_change_once_they_are_read() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().port = 1  # type: ignore[misc]
    with pytest.raises(ValidationError, match="Extra inputs"):
        Settings(colour="green")  # type: ignore[call-arg]


def test_the_garden_that_is_shipped_is_the_default() -> None:
    assert Settings().content == CONTENT
