"""The choices that hold a list or a picture down into links: each kind with its own, what is chosen told apart."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.content.note import GROWTHS
from app.garden.names import key
from app.language import Language, other
from app.web.note_views import NAMES, TAGS
from app.web.words import Words

MOST_TAGS = 12


@dataclass(frozen=True)
class FilterLink:
    words: str
    href: str
    current: bool
    lang: str = ""
    """Where its words are not in the page's language."""


@dataclass(frozen=True)
class Option:
    """One value that a filter may have."""

    text: str
    said: str
    language: Language
    """Of its words."""


@dataclass(frozen=True)
class Filter:
    said: str
    name: str
    """Of its parameter."""
    options: Sequence[Option]


Filters = tuple[tuple[str, tuple[FilterLink, ...]], ...]
"""Each kind with its links, the first of which is without it."""


def filter_links(
    language: Language, asked: Mapping[str, Any], filters: Iterable[Filter], address: Callable[..., str]
) -> Filters:
    """`address` gives the address with one parameter changed; a filter with one option is left out unless it is set."""
    words = Words(language)

    def links(one: Filter) -> Iterator[FilterLink]:
        chosen = key(asked[one.name] or "")
        yield FilterLink(words.all, address(**{one.name: None}), chosen == "")
        for option in one.options:
            lang = TAGS[option.language] if option.language != language else ""
            yield FilterLink(option.said, address(**{one.name: option.text}), key(option.text) == chosen, lang)

    return tuple((one.said, tuple(links(one))) for one in filters if len(one.options) > 1 or asked[one.name])


def stages(language: Language, shown: Iterable[str | None]) -> Filter:
    """Those stages of growth that are to be shown, in their order."""
    words, wanted = Words(language), set(shown)
    options = [Option(one, words[f"growth_{one}"], language) for one in GROWTHS if one in wanted]
    return Filter(words.by_stage, "growth", options)


def languages(language: Language, shown: Iterable[Language]) -> Filter:
    """The page's own first."""
    words, wanted = Words(language), set(shown)
    options = [Option(one, NAMES[one], one) for one in (language, other(language)) if one in wanted]
    return Filter(words.by_language, "lang", options)
