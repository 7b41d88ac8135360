"""Plain text into sentences, in both languages."""

import re
from functools import lru_cache

SHORT = "e.g i.e cf etc vs resp approx al fig figs eq eqs sec ch no nos vol pp dr mr mrs ms prof st jr sr inc ltd"
ABBREVIATIONS = frozenset(SHORT.split())
"""Written with a full stop that ends no sentence."""
STOP = re.compile(r"(?P<stop>[。！？…]+|[.!?]+)(?P<closing>[”’」』）】》\"')\]]*)(?P<space>\s*)")


def sentences(text: str) -> tuple[str, ...]:
    """The sentences in their order, without the space between them."""
    return tuple(text[start:end].strip() for start, end in _spans(text))


def sentence_at(text: str, position: int) -> str:
    """The sentence around a position."""
    for start, end in _spans(text):
        if position < end:
            return text[start:end].strip()
    return text.strip()


def opening(text: str, enough: int = 160, most: int = 240) -> str:
    """The first sentence, and those after it that fit in `enough` characters; never more than `most`."""
    taken = ""
    for sentence in sentences(text):
        space = " " if taken and taken[-1].isascii() else ""
        if taken and len(taken) + len(space) + len(sentence) > enough:
            break
        taken += space + sentence
    if len(taken) <= most:
        return taken
    cut = taken[: most - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut).rstrip(" ,，、") + "…"


@lru_cache(maxsize=64)
def _spans(text: str) -> tuple[tuple[int, int], ...]:
    spans, start = [], 0
    for match in STOP.finditer(text):
        if match.end() < len(text) and _ends(text, match):
            spans.append((start, match.end()))
            start = match.end()
    return (*spans, (start, len(text))) if text[start:].strip() else tuple(spans)


def _ends(text: str, match: re.Match[str]) -> bool:
    """Whether a full stop, or what looks like one, ends a sentence and does not stand inside it."""
    following = text[match.end()]
    if match["stop"][0] in "。！？":
        return True
    if match["stop"][0] == "…":
        return not following.islower()
    if not match["space"]:
        return False
    before = text[: match.start()].rsplit(None, 1)[-1:]
    word = before[0].lstrip("(（“\"'").lower() if before else ""
    initial = len(word) == 1 and word.isalpha() and word.isascii() and word != "i"
    abbreviated = match["stop"] == "." and (word in ABBREVIATIONS or initial)
    return not abbreviated and not following.islower()
