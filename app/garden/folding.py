"""Text into the form in which it is searched, and every character of that form back into the text it came from."""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from app.content.files import folded

Fold = Callable[[str], str]

PLAIN = (
    r"\t\n -~"
    r"\u00b7\u00c0-\u00de\u00e0-\u00ff\u0391-\u03a1\u03a3-\u03a9\u03b1-\u03c9\u0410-\u042f\u0430-\u044f"
    r"\u2013\u2014\u2018\u2019\u201c\u201d\u2190-\u2193\u2212\u3001\u3002\u3008-\u3011"
    r"\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uff01-\uff5e"
)
"""Characters that fold into one character each and never join the one before them; most of any text."""
RUN = re.compile(f"[{PLAIN}]+(?=[{PLAIN}]|\\Z)")
ACCENTS = re.compile("[\u0300-\u036f]")


def unaccented(text: str) -> str:
    """Folded, and without the accents of alphabets: `Gödel` becomes `godel`."""
    return without_accents(folded(text))


def without_accents(folded_text: str) -> str:
    """Of a text that is folded already."""
    if folded_text.isascii():
        return folded_text
    apart = unicodedata.normalize("NFD", folded_text)
    return unicodedata.normalize("NFC", ACCENTS.sub("", apart))


def origins(text: str, fold: Fold = folded) -> tuple[list[int], list[int]]:
    """For each character of the folded text, where in the text that begins and ends which it came from.

    What folds together (a letter and its accents, the `fi` in one sign) has one origin, and is never taken apart.
    """
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(text):
        if run := RUN.match(text, at):
            starts.extend(range(at, run.end()))
            ends.extend(range(at + 1, run.end() + 1))
            at = run.end()
            continue
        end = at + 1
        while end < len(text) and joins(text[end]):
            end += 1
        width = len(fold(text[at:end]))
        starts.extend([at] * width)
        ends.extend([end] * width)
        at = end
    return starts, ends


@lru_cache(maxsize=4096)
def joins(character: str) -> bool:
    """Whether it may fold together with the character before it: marks, and what a Hangul syllable goes on with."""
    first = unicodedata.normalize("NFKD", character)[:1]
    return unicodedata.category(first).startswith("M") or "\u1160" <= first <= "\u11ff"
