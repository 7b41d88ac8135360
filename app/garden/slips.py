"""A term into the words that were probably meant by it.

In an alphabet one slip (a letter left out, put in, changed, or two of them exchanged) is forgiven, from eight letters
on two; in Chinese, where terms stand inside longer runs, one wrong character of three or more.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

WIDE = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HAN = re.compile(f"[{WIDE}]")
WORD = re.compile(rf"[{WIDE}]{{3,}}|[^\W\d_{WIDE}]{{4,}}")
TWO_SLIPS = 8
"""The letters of a term in which two slips are forgiven."""
LONGEST = 40


def words(folded_text: str) -> set[str]:
    """Those that are long enough to be told from one another in spite of a slip."""
    return set(WORD.findall(folded_text))


def meant(term: str, vocabulary: Iterable[str]) -> tuple[str, ...]:
    """What the term may be a slip of, in order; never the term itself."""
    if len(term) > LONGEST:
        return ()
    if HAN.search(term):
        return tuple(sorted(_meant_in_chinese(term, vocabulary)))
    if len(term) < 4:
        return ()
    slips = 2 if len(term) >= TWO_SLIPS else 1
    shortest, longest, letters = len(term) - slips, len(term) + slips, _letters(term)
    return tuple(
        word
        for word in sorted(
            word
            for word in vocabulary
            if shortest <= len(word) <= longest and (_letters(word) ^ letters).bit_count() <= 2 * slips
        )
        if word != term and _within(term, word, slips)
    )


def _meant_in_chinese(term: str, vocabulary: Iterable[str]) -> Iterator[str]:
    if len(term) < 3:
        return
    characters = frozenset(term)
    enough = len(characters) - 1
    ways = (f"{re.escape(term[:at])}.{re.escape(term[at + 1 :])}" for at in range(len(term)))
    one_wrong = re.compile("|".join(ways))
    found: set[str] = set()
    for word in vocabulary:
        if len(characters.intersection(word)) >= enough:
            found.update(one_wrong.findall(word))
    yield from found - {term}


@lru_cache(maxsize=1 << 15)
def _letters(word: str) -> int:
    """Which letters it has, a bit each (a few letters share one)."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits


def _within(one: str, two: str, slips: int) -> bool:
    """Whether so many slips lead from one to the other."""
    at = 0
    while at < len(one) and at < len(two) and one[at] == two[at]:
        at += 1
    one, two = one[at:], two[at:]
    if not one or not two or not slips:
        return len(one) + len(two) <= slips
    return (
        _within(one[1:], two[1:], slips - 1)
        or _within(one[1:], two, slips - 1)
        or _within(one, two[1:], slips - 1)
        or (one[:2] == two[1::-1] and _within(one[2:], two[2:], slips - 1))
    )
