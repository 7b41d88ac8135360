"""Folders under git whose commits are made on chosen days."""

import os
import subprocess
from datetime import date
from pathlib import Path

SPRING, SUMMER, AUTUMN, WINTER = date(2026, 3, 1), date(2026, 6, 1), date(2026, 9, 1), date(2026, 12, 1)
PLAIN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
GARDENER = {f"GIT_{who}_{what}": "gardener" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
LONG = "".join(f"A line about heat and noise, the {n}th.\n" for n in range(20))


class Repository:
    """A repository with the folder `content`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.content = folder / "content"
        self.content.mkdir(parents=True)
        self.git("init", "-q")

    def git(self, *words: str, **environment: str) -> None:
        told = PLAIN | GARDENER | environment
        subprocess.run(["git", "-C", str(self.folder), *words], check=True, env=os.environ | told, capture_output=True)

    def commit(self, day: date, subject: str = "x", **files: str | None) -> None:
        """`heat="text"` writes content/heat.md, None removes it."""
        for name, text in files.items():
            path = self.content / f"{name}.md"
            path.parent.mkdir(exist_ok=True, parents=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text, encoding="utf-8")
        self.git("add", "-A")
        when = {"GIT_AUTHOR_DATE": f"{day.isoformat()}T12:00:00+0800", "GIT_COMMITTER_DATE": "2027-01-01T00:00:00Z"}
        self.git("commit", "-q", "--allow-empty", "-m", subject, **when)
