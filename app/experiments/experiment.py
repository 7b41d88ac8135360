"""What every experiment declares, and what follows from that: states in addresses, scripts, tables."""

import functools
import hashlib
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from app.drawing import Drawing
from app.errors import Problem
from app.experiments.parameters import Derived, Parameter, Params, Value, resolve
from app.language import Text
from app.numerals import plain

NAMES = {"Callable": "collections.abc", "Iterable": "collections.abc", "Fraction": "fractions", "Any": "typing"}
"""The names that the code of experiments may use without their modules, which a script then imports."""

NEEDS_TORCH = """\
    try:
        import torch
    except ImportError:
        raise SystemExit("This script needs PyTorch: pip install torch==2.13.0") from None
"""
"""How a script begins whose numbers come from torch; the version is the one in pyproject.toml."""

Result = Mapping[str, Any]
"""Numbers, strings, booleans, None, lists and dicts with string keys; the same shape as the JSON of the API."""


@dataclass(frozen=True)
class Preset:
    """A state worth a press: a few words, and the parameters that differ from the defaults (as texts)."""

    words: Text
    given: Mapping[str, str]


@dataclass(frozen=True)
class Column:
    name: str
    """The heading in CSV; ASCII."""
    words: Text
    """The heading in a page."""
    every_digit: bool = False
    """Whether a page shows all digits, as it must where the last bit is the point."""


@dataclass(frozen=True)
class Named:
    """A cell that pages show in words, and that files hold under the name it has in the result."""

    name: str
    words: Text


@dataclass(frozen=True)
class Table:
    title: Text
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    """Numbers, strings, Text, Named, None (an empty cell) or bool, one for each column."""
    marked: int | None = None
    """The row of the first difference, counted from 0."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A pure computation from parameters to a result, and how a page shows it."""

    name: str
    title: Text
    summary: Text
    """One sentence for the gallery."""
    exact: bool
    """IEEE arithmetic written out, the same bits everywhere; otherwise measured."""
    parameters: tuple[Parameter, ...]
    run: Callable[..., dict[str, Any]]
    """Called with the parameters as keywords; needs nothing but what `code` and `imports` hold."""
    code: tuple[Callable[..., Any], ...]
    """The functions that `run` calls, in the order a reader wants them; `run` itself comes last."""
    imports: tuple[str, ...] = ()
    """Standard library modules (and torch) that the code needs."""
    check: Callable[[Params, Mapping[str, str]], tuple[Problem, ...]] = lambda params, given: ()
    """What no parameter sees alone; the texts of those that were given come with it."""
    presets: tuple[Preset, ...]
    sentence: Callable[[Params, Result], Text]
    drawing: Callable[[Params, Result], Drawing]
    table: Callable[[Params, Result], Table]
    heavy: Callable[[Params], bool] = lambda params: False
    """Whether these parameters take more than a few milliseconds: then the event loop is left."""
    torch: bool = False
    """Whether the computation imports torch: then it runs in a worker process."""

    def parse(self, given: Mapping[str, str], base: Mapping[str, str] | None = None) -> Params:
        """Raises InvalidParameters with every problem."""
        return resolve(self.parameters, given, self.check, base)

    def written(self, params: Params) -> dict[str, str]:
        """Every parameter as the text that reads back to it."""
        return {parameter.name: parameter.write(params[parameter.name]) for parameter in self.parameters}

    def state(self, params: Params, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """The texts that, on top of the base, lead to these parameters; the fewest of them."""
        written = self.written(params)
        needed = {name for name, text in written.items() if text != self._fallback(name, params, base)}
        needed |= {p.together for p in self.parameters if p.together and p.name in needed}
        return {name: text for name, text in written.items() if name in needed}

    def _fallback(self, name: str, params: Params, base: Mapping[str, str] | None) -> str:
        """What the parameter would be if the address did not say."""
        parameter = next(p for p in self.parameters if p.name == name)
        if base and base.get(name, "").strip():
            return parameter.write(parameter.read(base[name]))
        default: Value | Derived = parameter.default
        value = default.value(params) if isinstance(default, Derived) else default
        return parameter.write(value)

    @functools.cached_property
    def source(self) -> str:
        """The code that runs, as a reader sees it."""
        return "\n\n".join(inspect.getsource(part).rstrip() + "\n" for part in (*self.code, self.run))

    @functools.cached_property
    def digest(self) -> str:
        """Changes when the code that runs changes."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]

    def script(self, params: Params, address: str = "") -> str:
        """A file that runs with Python alone (and torch where the experiment is about it) and prints the result."""
        call = ",\n    ".join(f"{name}={value!r}" for name, value in params.items())
        wanted = dict.fromkeys(("json", "math", *self.imports))
        about = textwrap.fill(f"{self.title.en}. {self.summary.en}", 100)
        place = f"\n\n{address}" if address else ""
        words = set(re.findall(r"\w+", self.source))
        body = f"result = {self.run.__name__}(\n    {call},\n)"
        return (
            f'"""{about}{place}\n"""\n\n'
            + "".join(f"import {name}\n" for name in sorted(wanted))
            + "".join(f"from {home} import {name}\n" for name, home in NAMES.items() if name in words)
            + f"\n\n{self.source}\n\n{inspect.getsource(plain)}\n\n"
            + f'if __name__ == "__main__":\n{NEEDS_TORCH if self.torch else ""}'
            + f"    nan, inf = math.nan, math.inf\n{textwrap.indent(body, '    ')}\n"
            + "    print(json.dumps(plain(result), indent=1, ensure_ascii=False))\n"
        )


def query(state: Mapping[str, str], prefix: str = "") -> str:
    """A state as a query string without the question mark; commas and signs stay readable."""
    return "&".join(f"{quote(prefix + name)}={quote(text, safe=',-.')}" for name, text in state.items())
