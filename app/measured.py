"""What measured experiments gave somewhere, once: `content/measured.json` into records and back.

Pages show these results first; a record counts only while the code that made it is the code that would run.
"""

import json
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.experiments.experiment import Experiment, Result
from app.experiments.parameters import Params

State = tuple[Experiment, Params]
"""What is computed once."""
Key = tuple[str, str]
"""A state as text: unlike Params, it tells −0 from 0 and finds NaN again."""
MEASURED = "measured.json"


@dataclass(frozen=True)
class Record:
    """What a measured experiment gave somewhere, once."""

    experiment: str
    digest: str
    """Of the code that ran."""
    params: Mapping[str, str]
    result: Result
    versions: Mapping[str, str]
    processor: str


@dataclass(frozen=True)
class Measured:
    """`content/measured.json`."""

    records: Mapping[Key, Record] = field(default_factory=dict)
    unreadable: str | None = None
    """Why the file could not be read; it then counts as empty."""

    @staticmethod
    def read(path: Path) -> "Measured":
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))["records"]
            records = [Record(**entry) for entry in entries]
            return Measured({(record.experiment, _text(record.params)): record for record in records})
        except FileNotFoundError:
            return Measured()
        except (OSError, ValueError, KeyError, TypeError) as error:
            return Measured(unreadable=f"{type(error).__name__}: {error}")

    def record(self, experiment: Experiment, params: Params) -> Record | None:
        """Whatever code it was made with; compare its digest."""
        return self.records.get(key((experiment, params)))

    def write(self, path: Path) -> None:
        """The same records always make the same file."""
        entries = [vars(record) for _, record in sorted(self.records.items(), key=lambda item: item[0])]
        text = json.dumps({"records": entries}, ensure_ascii=False, indent=1, sort_keys=True)
        part = path.with_name(path.name + ".part")
        part.write_text(text + "\n", encoding="utf-8")
        os.replace(part, path)


def key(state: State) -> Key:
    experiment, params = state
    return experiment.name, _text(experiment.written(params))


def processor() -> str:
    """The name that the processor gives itself."""
    info = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    return named[1] if named else platform.processor() or platform.machine()


def _text(params: Mapping[str, str]) -> str:
    return json.dumps(params, ensure_ascii=False, sort_keys=True)
