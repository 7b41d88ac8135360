"""The links of a page: found, and made to lead elsewhere. Lexbor reads the page and writes it again, as HTML5 says."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

ATTRIBUTES = ("href", "src", "action", "poster", "srcset", "data-at")
"""Whose values are addresses; `data-at` is what scripts ask for."""
SELECTOR = ",".join(f"[{name}]" for name in ATTRIBUTES)


@dataclass(frozen=True)
class Link:
    value: str
    follows: bool
    """Whether a reader follows it; otherwise the page needs what is there."""
    previewed: bool
    """Whether it matches the selector of links whose targets are shown beside them."""


class Page:
    """A page, or the fragment of one, taken apart."""

    def __init__(self, text: str) -> None:
        self.whole = text.lstrip()[:9].lower() == "<!doctype"
        self._tree = LexborHTMLParser(text, is_fragment=not self.whole)

    def ids(self) -> frozenset[str]:
        """The places of a page that links lead to; nobody is led into a fragment."""
        if not self.whole:
            return frozenset()
        return frozenset(sys.intern(node.attributes["id"] or "") for node in self._tree.css("[id]"))

    def links(self, previewed: str = "") -> Iterator[Link]:
        shown = {node.mem_id for node in self._tree.css(previewed)} if previewed else set()
        for node in self._tree.css(SELECTOR):
            for name, value in _addresses(node):
                for one in _each(name, value):
                    yield Link(one, node.tag == "a" or name == "action", node.mem_id in shown)

    def led(self, lead: Callable[[str], str | None]) -> None:
        """Every address becomes what `lead` makes of it; a link that leads nowhere is text."""
        for node in self._tree.css(SELECTOR):
            for name, value in _addresses(node):
                found = [(one, lead(one)) for one in _each(name, value)]
                if node.tag == "a" and found[0][1] is None:
                    del node.attrs[name]
                else:
                    node.attrs[name] = _joined(name, value, found)

    def written(self) -> str:
        html = self._tree.html or ""
        return html + "\n" if self.whole else html


def _addresses(node: LexborNode) -> Iterator[tuple[str, str]]:
    given = node.attributes
    for name in ATTRIBUTES:
        value = given.get(name)
        if value is not None:
            yield name, value


def _each(name: str, value: str) -> list[str]:
    """One address; of `srcset` each that it lists."""
    return [part.split()[0] for part in value.split(",") if part.strip()] if name == "srcset" else [value.strip()]


def _joined(name: str, value: str, found: list[tuple[str, str | None]]) -> str:
    if name != "srcset":
        return found[0][1] or found[0][0]
    sizes = [part.split()[1:] for part in value.split(",") if part.strip()]
    return ", ".join(" ".join((to or one, *size)) for (one, to), size in zip(found, sizes, strict=True))
