"""Markdown into HTML, case by case; the cases are text that a writer can add to."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.content.garden import read, shown

CASE = re.compile(
    r"^## (?P<title>.+)\n"
    r"~~~~ markdown\n(?P<markdown>(?:.*\n)*?)~~~~\n"
    r"~~~~ html\n(?P<html>(?:.*\n)*?)~~~~\n"
    r"(?:~~~~ faults\n(?P<faults>(?:.*\n)*?)~~~~\n)?",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Case:
    title: str
    markdown: str
    html: str
    faults: tuple[str, ...]


def cases() -> list[object]:
    found: list[object] = []
    for path in sorted((Path(__file__).parent / "cases").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        matches = list(CASE.finditer(text))
        assert len(matches) == len(re.findall(r"^~~~~ markdown$", text, re.MULTILINE)), (
            f"a case of {path} cannot be read"
        )
        for match in matches:
            case = Case(match["title"], match["markdown"], match["html"], tuple((match["faults"] or "").splitlines()))
            found.append(pytest.param(case, id=f"{path.stem}: {case.title}"))
    return found


@pytest.mark.parametrize("case", cases())
def test_a_case_becomes_what_it_says(case: Case) -> None:
    note, faults = read(case.markdown)
    assert tidy(shown(note)) == tidy(case.html)
    told = [f"{fault.line}: {fault.what}" for fault in faults]
    assert len(told) == len(case.faults), told
    for fault, expected in zip(told, case.faults, strict=True):
        line, words = expected.split(": ", 1)
        assert fault.startswith(f"{line}: ") and words in fault


def tidy(html: str) -> str:
    """Empty lines mean nothing."""
    return "\n".join(line for line in html.splitlines() if line.strip())
