"""Query strings into texts by name; nothing is dropped silently."""

import string
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, quote

from app.errors import Problem
from app.language import Text

Pairs = tuple[tuple[str, str], ...]


def pairs(raw: bytes | str) -> Pairs:
    """Names and texts in order, empty ones kept; bytes that are not UTF-8 read as U+FFFD."""
    text = written(raw) if isinstance(raw, bytes) else raw
    return tuple(parse_qsl(text, keep_blank_values=True, errors="replace", max_num_fields=None))


def written(raw: bytes) -> str:
    """A query string as it can stand in an address: what is not ASCII in it is escaped."""
    return quote(raw, safe=string.punctuation)


def texts(found: Iterable[tuple[str, str]]) -> tuple[dict[str, str], tuple[Problem, ...]]:
    """Each name with its text; a name that is given twice with different texts is a problem."""
    by_name: dict[str, str] = {}
    problems: dict[str, Problem] = {}
    for name, text in found:
        if by_name.setdefault(name, text) != text:
            problems[name] = Problem(name, text, Text("is given twice, with different values", "给了两次，而且值不同"))
    return by_name, tuple(problems.values())


def of_prefix(found: Iterable[tuple[str, str]], prefix: str) -> Pairs:
    """The pairs of one embed, without its prefix."""
    return tuple((name.removeprefix(prefix), text) for name, text in found if name.startswith(prefix))


def merged(given: Mapping[str, str], problems: Iterable[Problem]) -> dict[str, str]:
    """What can still be read when some names were given twice: the others."""
    wrong = {problem.parameter for problem in problems}
    return {name: text for name, text in given.items() if name not in wrong}
