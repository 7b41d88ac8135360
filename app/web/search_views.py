"""What a search found, as its page shows it: by language, with what is near, and the links that filter."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain

from app.content.note import Growth, Note
from app.experiments.experiment import query
from app.experiments.parameters import Params
from app.garden.names import key
from app.garden.search import Found, Hit
from app.garden.slips import HAN
from app.garden.snippets import Pieces
from app.language import LANGUAGES, Language, other
from app.web.addresses import note_address
from app.web.filters import MOST_TAGS, Filter, Filters, Option, filter_links, languages, stages
from app.web.note_views import NAMES, TAGS
from app.web.search_queries import MOST
from app.web.site import Site
from app.web.words import Words

MORE = 5
"""Times as many are listed when a reader asks for more."""
MENTIONS = 3
LONGEST = 100
"""Characters of an address without a page that are looked at."""
WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class ResultView:
    """A note that was found; its title, labels and snippet in pieces, the hits told apart."""

    href: str
    lang: str
    badge: str
    """The name of its language where neither the page nor its group says it."""
    growth: Growth
    title: Pieces
    labels: tuple[Pieces, ...]
    snippet: Pieces
    instead: tuple[str, ...]
    """What a near note has in place of the query."""


@dataclass(frozen=True)
class Group:
    """What was found in one language."""

    name: str
    lang: str
    total: int
    results: tuple[ResultView, ...]


@dataclass(frozen=True)
class SearchView:
    """What a query found, as search.html and its fragment show it."""

    asked: str
    """The query as it was typed."""
    kept: tuple[tuple[str, str], ...]
    """The filters in force, which the form sends along."""
    total: int
    groups: tuple[Group, ...]
    """Those that have hits; the page's language first."""
    near: tuple[ResultView, ...]
    filters: Filters
    more: str
    """The address that lists more, or nothing."""

    @property
    def empty(self) -> bool:
        return not self.asked.strip()


def search_view(site: Site, language: Language, asked: Params) -> SearchView:
    tongues: tuple[Language, ...] = (asked["lang"],) if asked["lang"] else (language, other(language))
    found = {
        known: site.index().search(asked["q"], known, asked["limit"], growth=asked["growth"], tag=asked["tag"])
        for known in tongues
    }
    groups = tuple(
        Group(NAMES[known], TAGS[known], one.total, result_views(one.hits, known))
        for known, one in found.items()
        if one.total
    )
    limit = min(asked["limit"] * MORE, MOST)
    cut = any(one.total > len(one.hits) for one in found.values()) and limit > asked["limit"]
    return SearchView(
        asked=asked["q"],
        kept=tuple((name, asked[name]) for name in ("growth", "tag", "lang") if asked[name]),
        total=sum(one.total for one in found.values()),
        groups=groups,
        near=tuple(view for one in found.values() for view in result_views(one.near, language)),
        filters=filters(site, language, asked, found.values()),
        more=address(language, asked, limit=str(limit)) if cut else "",
    )


def mentions(site: Site, language: Language, address: str, but: Collection[Note]) -> tuple[ResultView, ...]:
    """A few notes that have every word of an address where nothing is, each in one language; none of `but`."""
    last = address[:LONGEST].rstrip("/").rpartition("/")[2]
    words = " ".join(word for word in WORD.findall(last) if len(word) > 2 or HAN.search(word))
    found = (site.index().search(words, known, MENTIONS, nearby=False).hits for known in (language, other(language)))
    offered, hits = {note.slug for note in but}, dict[str, Hit]()
    for hit in chain.from_iterable(found):
        if hit.note.slug not in offered:
            hits.setdefault(hit.note.slug, hit)
    return result_views(list(hits.values())[:MENTIONS], language)


def result_views(hits: Iterable[Hit], around: Language) -> tuple[ResultView, ...]:
    return tuple(
        ResultView(
            href=note_address(hit.note),
            lang=TAGS[hit.note.language],
            badge=NAMES[hit.note.language] if hit.note.language != around else "",
            growth=hit.note.growth,
            title=hit.title,
            labels=hit.labels,
            snippet=hit.snippet,
            instead=hit.instead,
        )
        for hit in hits
    )


def filters(site: Site, language: Language, asked: Params, found: Iterable[Found]) -> Filters:
    """The languages, the stages that the garden has, and the tags of what is listed, the frequent ones first."""
    words, grown = Words(language), {note.growth for note in site.report.garden.notes()}
    chosen = [key(asked["tag"])] if asked["tag"] else []
    spellings: dict[str, tuple[str, Language]] = dict.fromkeys(chosen, (asked["tag"], language))
    count: Counter[str] = Counter()
    for note in (hit.note for one in found for hit in (*one.hits, *one.near)):
        for tag in note.tags:
            count[key(tag)] += 1
            spellings.setdefault(key(tag), (tag, note.language))
    frequent = dict.fromkeys([*chosen, *(tag for tag, _ in count.most_common(MOST_TAGS))])
    tags = [Option(spellings[tag][0], *spellings[tag]) for tag in frequent]
    kinds = (
        languages(language, LANGUAGES),
        stages(language, (*grown, asked["growth"])),
        Filter(words.by_tag, "tag", tags),
    )
    return filter_links(language, asked, kinds, partial(address, language, asked))


def address(language: Language, asked: Params, **changed: str | None) -> str:
    """Of the page with the query and the filters as they are, but for what is changed."""
    state = {name: asked[name] for name in ("q", "growth", "tag", "lang")} | changed
    return f"/{language}/search?{query({name: text for name, text in state.items() if text})}"
