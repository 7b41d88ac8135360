"""Rows of what was measured into bench/RESULTS.md; rows that the README quotes are renewed there too."""

import os
import platform
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "bench/RESULTS.md"
README = ROOT / "README.md"
BY_HAND = "## Container"
"""From here on RESULTS.md is written by hand, since make bench builds no image."""


@dataclass(frozen=True)
class Row:
    what: str
    goal: str
    """Empty where a figure is only for comparison."""
    measured: str
    met: bool | None = None

    @property
    def line(self) -> str:
        verdict = "" if self.met is None else "met" if self.met else "**missed**"
        return f"| {self.what} | {self.goal} | {self.measured} | {verdict} |"


def machine() -> str:
    """The processor and what ran on it; nothing that names the computer."""
    info = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    processor = named[1].strip() if named else platform.machine()
    return f"{processor}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def written(rows: list[Row], browser: str, seconds: float) -> str:
    goals = [row for row in rows if row.met is not None]
    missed = [row.what for row in goals if not row.met]
    verdict = f"**Missed: {'; '.join(missed)}.**" if missed else f"All {len(goals)} goals were met."
    head = f"""# Results

{date.today().isoformat()}, {machine()}, {browser}.
Written by `make bench` in {seconds:.0f} s. The servers, the load generator and the browser share these cores.
Ratios compare two servers that were asked in turns within this one run; figures are medians unless they say otherwise.

{verdict}

| what | goal | measured | |
|---|---|---|---|
"""
    return head + "".join(row.line + "\n" for row in rows)


def write(rows: list[Row], browser: str, seconds: float) -> None:
    before = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    at = before.find(BY_HAND)
    RESULTS.write_text(written(rows, browser, seconds) + ("\n" + before[at:] if at >= 0 else ""), encoding="utf-8")
    README.write_text(renewed(README.read_text(encoding="utf-8"), rows), encoding="utf-8")


def renewed(text: str, rows: list[Row]) -> str:
    """Every table row of the README that says what one of these says becomes that one."""
    lines = {row.what: row.line for row in rows}
    return re.sub(r"^\| (.+?) \|.*$", lambda row: lines.get(row[1], row[0]), text, flags=re.MULTILINE)
