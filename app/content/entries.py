"""YAML text into the entries of one mapping, each with its line; a key that stands there twice is unreadable too."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

try:
    from yaml import CSafeLoader as Loader
except ImportError:  # a PyYAML without its C part
    from yaml import SafeLoader as Loader  # type: ignore[assignment]

ODD_BREAKS = dict.fromkeys((0x85, 0x2028, 0x2029), " ")
"""What only YAML takes for the end of a line; the lines of a file are counted without them."""


class Unreadable(Exception):
    """What is wrong, and in which line of the text, counted from 1."""

    def __init__(self, line: int, what: str) -> None:
        self.line = line
        super().__init__(what)


@dataclass(frozen=True)
class Entry:
    key: str
    node: Node
    line: int
    """Of its key, counted from 1."""


def entries(text: str) -> tuple[Entry, ...]:
    """The entries of a mapping in their order; an empty text has none. Raises Unreadable."""
    try:
        return tuple(_entries(yaml.compose(text.translate(ODD_BREAKS), Loader=Loader)))
    except yaml.YAMLError as error:
        last = text.rstrip("\n").count("\n") + 1
        raise Unreadable(min(_line(error), last), _what(error)) from None
    except RecursionError:
        raise Unreadable(1, "it is nested too deeply; write it flat") from None


def value(node: Node) -> Any:
    """What YAML makes of a value. Raises Unreadable."""
    loader = Loader("")
    try:
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        raise Unreadable(_line(error), _what(error)) from None
    except (ValueError, TypeError, RecursionError) as error:
        raise Unreadable(node.start_mark.line + 1, f"{error}; mend the value, or put it in quotes") from None
    finally:
        loader.dispose()


def written(node: Node) -> str:
    """A value as it was written, a list joined by commas. Raises Unreadable."""
    if isinstance(node, ScalarNode):
        return str(node.value)
    if isinstance(node, SequenceNode) and all(isinstance(item, ScalarNode) for item in node.value):
        return ",".join(str(item.value) for item in node.value)
    raise Unreadable(node.start_mark.line + 1, "a value must be a word, a number or a list of them")


def absent(node: Node) -> bool:
    """Whether a value was left empty."""
    return isinstance(node, ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _entries(node: Node | None) -> Iterator[Entry]:
    if node is None or absent(node):
        return
    if not isinstance(node, MappingNode):
        raise Unreadable(node.start_mark.line + 1, "these are no lines of the form 'key: value'")
    seen: dict[str, int] = {}
    for key, item in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode):
            raise Unreadable(line, "a key must be a word; put a value that begins with a brace or a bracket in quotes")
        if key.value in seen:
            raise Unreadable(line, f"'{key.value}' is already in line {seen[key.value]} of it; keep one of the two")
        seen[key.value] = line
        yield Entry(key.value, item, line)


def _line(error: yaml.YAMLError) -> int:
    """Where it is wrong; of what does not end, where it begins."""
    problem, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    mark = context if context and "end of stream" in str(error) else problem or context
    return mark.line + 1 if mark else 1


def _what(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"{problem}; put a value with a colon, a brace or a sign in quotes"
