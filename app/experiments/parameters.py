"""What a reader typed into the parameters of an experiment: `?beta=0.9 → Params`.

A parameter knows how to read its text and how to write its value back into an address.
Reading never stops at the first problem: all of them are reported at once, in both languages.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from app.errors import InvalidParameters, Problem
from app.language import Text, alike
from app.numerals import brief, folded, full, numeral

Item = TypeVar("Item")
NUMBERS = Text("numbers", "数")
SEPARATOR = re.compile(r"[\s,;、，；､﹐﹑﹔︐︑︔\u037e]+")
Value = float | int | str | tuple[float, ...] | tuple[int, ...] | None


class Unreadable(Exception):
    """A text that is no value of its parameter; carries the explanation."""

    def __init__(self, message: Text) -> None:
        self.message = message


@dataclass(frozen=True)
class Params(Mapping[str, Any]):
    """Every parameter of an experiment with its resolved value, in declared order; hashable."""

    entries: tuple[tuple[str, Value], ...]

    def __getitem__(self, name: str) -> Any:
        for key, value in self.entries:
            if key == name:
                return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self.entries)

    def __len__(self) -> int:
        return len(self.entries)


@dataclass(frozen=True)
class Derived:
    """A default that follows the other parameters."""

    value: Callable[[Mapping[str, Any]], Value]
    words: Text
    """What an empty field says: "as the target"."""


@dataclass(frozen=True)
class Slider:
    """The range beside a field: a convenient part of what the field accepts."""

    low: float
    high: float
    step: float


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One named input; the kinds below say how its text is read."""

    name: str
    label: Text
    default: Value | Derived
    help: Text | None = None
    slider: Slider | None = None
    rare: bool = False
    """Whether the control is folded away until it is asked for."""
    together: str | None = None
    """Another parameter that must be given whenever this one is."""

    def read(self, text: str) -> Value:
        """Raises Unreadable with the reason."""
        raise NotImplementedError(type(self).__name__)

    def write(self, value: Value) -> str:
        return "" if value is None else _plain(value)

    @property
    def accepts(self) -> Text:
        """What can be typed, in words."""
        raise NotImplementedError(type(self).__name__)

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the text as it stands in a query."""
        return {"type": "string"}


@dataclass(frozen=True, kw_only=True)
class Number(Parameter):
    """A finite float64 in [low, high]; the ends can be left out."""

    low: float
    high: float
    above_low: bool = False
    below_high: bool = False

    def read(self, text: str) -> float:
        value = finite(text)
        low_ok = self.low < value if self.above_low else self.low <= value
        high_ok = value < self.high if self.below_high else value <= self.high
        if not (low_ok and high_ok):
            raise Unreadable(between(self.low, self.high, self.above_low, self.below_high))
        return value + 0.0

    @property
    def accepts(self) -> Text:
        a, b = full(self.low), full(self.high)
        return alike(f"{a} {'<' if self.above_low else '≤'} x {'<' if self.below_high else '≤'} {b}")

    @property
    def schema(self) -> dict[str, Any]:
        low = "exclusiveMinimum" if self.above_low else "minimum"
        high = "exclusiveMaximum" if self.below_high else "maximum"
        return {"type": "number", low: self.low, high: self.high}


@dataclass(frozen=True, kw_only=True)
class Whole(Parameter):
    """A whole number in [low, high]."""

    low: int
    high: int

    def read(self, text: str) -> int:
        value = finite(text)
        if value != int(value):
            raise Unreadable(Text("needs a whole number", "需要整数"))
        if not self.low <= value <= self.high:
            raise Unreadable(between(self.low, self.high))
        return int(value)

    @property
    def accepts(self) -> Text:
        return Text(f"whole numbers from {self.low} to {self.high}", f"{self.low} 到 {self.high} 的整数")

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, kw_only=True)
class Choice(Parameter):
    """One of a few names, each with its words."""

    options: tuple[tuple[str, Text], ...]

    def read(self, text: str) -> str:
        wanted = folded(text).lower()
        names = [name for name, _ in self.options]
        if wanted in names:
            return wanted
        near = difflib.get_close_matches(wanted, names, n=1)
        listed = ", ".join(names)
        raise Unreadable(
            Text(
                f"must be one of {listed}" + (f"; did you mean {near[0]}?" if near else ""),
                f"只能是 {listed.replace(', ', '、')} 之一" + (f"；是不是 {near[0]}？" if near else ""),
            )
        )

    @property
    def accepts(self) -> Text:
        return alike(" | ".join(name for name, _ in self.options))

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": [name for name, _ in self.options]}


@dataclass(frozen=True, kw_only=True)
class Numbers(Parameter):
    """A comma-separated list of `least` to `most` numbers, each with |x| ≤ limit."""

    least: int
    most: int
    limit: float = math.inf
    allow_special: bool = False
    """Whether nan and the infinities are numbers here."""

    def read(self, text: str) -> tuple[float, ...]:
        return each(text, self.least, self.most, self._one)

    @property
    def accepts(self) -> Text:
        limit = alike("" if math.isinf(self.limit) else f", |x| ≤ {brief(self.limit)}")
        named = Text("; nan, inf and −inf count", "；nan、inf 和 −inf 也算") if self.allow_special else alike("")
        return counted(self.least, self.most) + Text(limit.en, limit.zh.replace(", ", "，")) + named

    @property
    def schema(self) -> dict[str, Any]:
        number = r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]{1,3})?"
        return _of_items(self, f"({number}|nan|-?inf)" if self.allow_special else number)

    def _one(self, item: str) -> float:
        value = special(item) if self.allow_special else None
        value = finite(item) if value is None else value
        if abs(value) > self.limit:
            raise Unreadable(between(-self.limit, self.limit))
        return value


@dataclass(frozen=True, kw_only=True)
class Wholes(Parameter):
    """A comma-separated list of `least` to `most` whole numbers in [low, high]."""

    least: int
    most: int
    low: int
    high: int

    def read(self, text: str) -> tuple[int, ...]:
        one = Whole(name=self.name, label=self.label, default=None, low=self.low, high=self.high)
        return each(text, self.least, self.most, one.read)

    @property
    def accepts(self) -> Text:
        return counted(self.least, self.most, Text(
            f"whole numbers from {brief(self.low)} to {brief(self.high)}",
            f" {brief(self.low)} 到 {brief(self.high)} 的整数"))  # fmt: skip

    @property
    def schema(self) -> dict[str, Any]:
        return _of_items(self, "[0-9]+")


def _of_items(parameter: Numbers | Wholes, item: str) -> dict[str, Any]:
    """The schema of a list as `write` writes it; more is read."""
    further = f"{{{parameter.least - 1},{parameter.most - 1}}}"
    return {"type": "string", "pattern": f"^{item}(,{item}){further}$", "description": parameter.accepts.en}


def resolve(
    parameters: tuple[Parameter, ...],
    given: Mapping[str, str],
    check: Callable[[Params, Mapping[str, str]], tuple[Problem, ...]],
    base: Mapping[str, str] | None = None,
) -> Params:
    """Texts into values: what was given, else what the base (an embed's own block) gives, else the defaults.

    An empty text stands for the default where that follows other parameters. Raises InvalidParameters with every
    problem, each with the text that was given. `check` finds what single parameters cannot see; it is asked only when
    each reads alone, and gets the texts of those that were given.
    """
    known = {parameter.name: parameter for parameter in parameters}
    problems = [unknown(name, text, known) for name, text in given.items() if name not in known]
    texts = {**(base or {}), **{name: text for name, text in given.items() if name in known}}
    values: dict[str, Value] = {}
    for name, text in texts.items():
        parameter = known[name]
        if not text.strip() and (isinstance(parameter.default, Derived) or parameter.default is None):
            continue
        try:
            values[name] = parameter.read(text)
        except Unreadable as wrong:
            problems.append(Problem(name, text, wrong.message))
    alone = [p for p in parameters if p.name in values and p.together and not texts.get(p.together, "").strip()]
    lonely = [Problem(p.name, texts[p.name], _needs(p.together)) for p in alone]
    if problems:
        raise InvalidParameters([*problems, *lonely])
    explicit = {name: text for name, text in texts.items() if name in values}
    for parameter in parameters:
        if parameter.name not in values and not isinstance(parameter.default, Derived):
            values[parameter.name] = parameter.default
    for parameter in parameters:
        if parameter.name not in values and isinstance(parameter.default, Derived):
            values[parameter.name] = parameter.default.value(values)
    params = Params(tuple((parameter.name, values[parameter.name]) for parameter in parameters))
    found = [
        replace(problem, given=explicit.get(problem.parameter, problem.given)) for problem in check(params, explicit)
    ]
    if lonely or found:
        raise InvalidParameters([*lonely, *found])
    return params


def _needs(other: str | None) -> Text:
    return Text(f"needs {other} beside it: give both or neither", f"需要同时给出 {other}：两个都填，或都不填")


def unknown(name: str, text: str, known: Mapping[str, Parameter]) -> Problem:
    near = difflib.get_close_matches(name, known, n=1)
    return Problem(
        name,
        text,
        Text(
            "there is no such parameter" + (f"; did you mean {near[0]}?" if near else ""),
            "没有这个参数" + (f"；是不是 {near[0]}？" if near else ""),
        ),
    )


def each(text: str, least: int, most: int, read: Callable[[str], Item]) -> tuple[Item, ...]:
    """The items of a list, each read alone. Raises Unreadable with all that is wrong: how many there are, and every one
    of those that could stand in the list."""
    found, values, wrong = items(text), [], []
    if not least <= len(found) <= most:
        wanted = counted(least, most)
        wrong.append(Text(f"needs {wanted.en}; {len(found)} given", f"需要 {wanted.zh}；给了 {len(found)} 个"))
    for at, item in enumerate(found[:most], start=1):
        try:
            values.append(read(item))
        except Unreadable as unreadable:
            wrong.append(numbered(at, item, unreadable.message))
    if wrong:
        raise Unreadable(listed(wrong))
    return tuple(values)


def items(text: str) -> list[str]:
    """The items of a list as they were typed; commas of either language, semicolons and white space part them."""
    return [item for item in SEPARATOR.split(text) if item]


def counted(least: int, most: int, what: Text = NUMBERS) -> Text:
    count = str(least) if least == most else f"{least} to {most}"
    return Text(f"{count} {what.en} separated by commas", f"{count.replace(' to ', ' 到 ')} 个{what.zh}，以逗号分隔")


def listed(messages: Iterable[Text]) -> Text:
    """All that is wrong with one value, in one message."""
    return Text("; ".join(one.en for one in messages), "；".join(one.zh for one in messages))


def finite(text: str) -> float:
    """A float64; every way of not being one has its own explanation."""
    if not text.strip():
        raise Unreadable(Text("is empty: type a number", "是空的：请填一个数"))
    if (named := special(text)) is not None:
        raise Unreadable(
            Text("must not be NaN", "不能是 NaN") if math.isnan(named) else Text("must be finite", "必须是有限的数")
        )
    exact = numeral(text)
    if exact is None:
        raise Unreadable(Text("is not a number", "不是数"))
    value = float(exact)
    if math.isinf(value):
        raise Unreadable(Text("is beyond the largest float64", "超出 float64 的最大值"))
    return value


def special(text: str) -> float | None:
    """nan or an infinity, when that is what the text names."""
    name = folded(text).lower().lstrip("+")
    table = {"nan": math.nan, "-nan": math.nan, "∞": math.inf, "-∞": -math.inf}
    table |= {"inf": math.inf, "-inf": -math.inf, "infinity": math.inf, "-infinity": -math.inf}
    return table.get(name)


def between(low: float, high: float, above_low: bool = False, below_high: bool = False) -> Text:
    """As in: must be from 1 to 500; must be above 0 and at most 2."""
    a, b = full(float(low)), full(float(high))
    if not above_low and not below_high:
        return Text(f"must be from {a} to {b}", f"必须在 {a} 到 {b} 之间")
    return Text(
        f"must be {'above' if above_low else 'at least'} {a} and {'below' if below_high else 'at most'} {b}",
        f"必须{'大于' if above_low else '不小于'} {a}，且{'小于' if below_high else '不大于'} {b}",
    )


def numbered(at: int, item: str, message: Text) -> Text:
    return Text(f"number {at} ({item[:40]}) {message.en}", f"第 {at} 个数（{item[:40]}）{message.zh}")


def _plain(value: Value) -> str:
    if isinstance(value, tuple):
        return ",".join(_plain(item) for item in value)
    if isinstance(value, float):
        return repr(value).removesuffix(".0").replace("e+", "e")
    return str(value)
