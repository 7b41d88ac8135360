"""Names as people type them into keys, and a key into the names nearest to it.

A slug, a title and an alias are names; case, width, composition, white space and hyphens make no difference.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise

from app.content.files import folded

GAP = re.compile(r"[\s\-\u2010]+")
LONGEST = 100
"""Characters of a wanted name that are looked at."""
COMMON = 400
"""A pair of characters in more names than this tells nothing apart."""
TELLING = 3
"""Bytes in UTF-8 from which a part of a name tells it from others: three Latin letters, or one Han character."""
ALIKE, LIKELY = 0.5, 0.65
"""The least likeness (difflib's ratio) of a name that is offered, and of one that was probably meant."""


@lru_cache(maxsize=1 << 18)
def key(name: str) -> str:
    return GAP.sub("-", folded(name)).strip("-")


@dataclass(frozen=True, eq=False)
class Names:
    """The keys of one language, each with the slug that it leads to."""

    slugs: Mapping[str, str]
    _likely: dict[str, str | None] = field(default_factory=dict)
    """Answers already found: many links lead to the same note that is not written."""

    def slug(self, name: str) -> str | None:
        """Folders before a name and `.md` after it do no harm, as other gardens write links so."""
        wanted = key(name)
        return self.slugs.get(wanted) or self.slugs.get(wanted.rpartition("/")[2].removesuffix(".md"))

    def nearest(self, name: str, least: float = ALIKE) -> dict[str, float]:
        """Slugs with their likeness; a name that contains the wanted one comes before all that merely resemble it."""
        wanted = key(name[:LONGEST])
        likeness: dict[str, float] = {}
        for found, score in self._scores(wanted, least):
            if score >= least:
                slug = self.slugs[found]
                likeness[slug] = max(score, likeness.get(slug, 0.0))
        return likeness

    def likely(self, name: str) -> str | None:
        """The slug that was probably meant, if any."""
        wanted = key(name[:LONGEST])
        if wanted not in self._likely:
            near = self.nearest(wanted, LIKELY)
            self._likely[wanted] = min(near, key=lambda slug: (-near[slug], slug), default=None)
        return self._likely[wanted]

    def _scores(self, wanted: str, least: float) -> Iterator[tuple[str, float]]:
        if not wanted:
            return
        matcher = difflib.SequenceMatcher(autojunk=False)
        matcher.set_seq2(wanted)
        for found in self._candidates(wanted):
            matcher.set_seq1(found[:LONGEST])
            if matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least:
                yield found, matcher.ratio()
        for found in self.slugs if len(wanted.encode()) >= TELLING else ():
            if wanted in found:
                yield found, 1 + len(wanted) / len(found)

    def _candidates(self, wanted: str, most: int = 40) -> Iterator[str]:
        """The names that share the most pairs of characters, so that only a few need to be compared in full."""
        shared: Counter[str] = Counter()
        for pair in _pairs(wanted):
            shared.update(self._holders.get(pair, ()))
        return (found for found, _ in sorted(shared.items(), key=lambda item: (-item[1], item[0]))[:most])

    @cached_property
    def _holders(self) -> dict[str, list[str]]:
        holders: dict[str, list[str]] = {}
        for name in self.slugs:
            for pair in _pairs(name):
                holders.setdefault(pair, []).append(name)
        return {pair: names for pair, names in holders.items() if len(names) <= COMMON}


def _pairs(name: str) -> set[str]:
    """Pairs of neighbouring characters, the ends marked, and single Han characters, since two make a word."""
    ended = f"\0{name}\0"
    return {a + b for a, b in pairwise(ended)} | {c for c in name if c >= "\u2e80"}
