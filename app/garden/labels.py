"""Words into lines that fit a width: Han 1 em, Latin about 0.56 em, broken where a reader would break them."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

HAN = "\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
OPENING = "（《〈「『【〔“‘(\\["
CLOSING = "，。、；：！？）》〉」』】〕”’…—·,.;:!?)\\]%"
EDGES = (OPENING + CLOSING).replace("\\", "")
LATIN_EM = 0.56
"""A letter in the middle of a sans serif; those of other widths follow."""
NARROW = {**dict.fromkeys("ijl.,:;'|! ’‘", 0.27), **dict.fromkeys('ftr()[]{}-/\\"“”', 0.37)}
BROAD = {**dict.fromkeys("ABCDEFGHKNOPQRSTUVXYZ&", 0.66), **dict.fromkeys("mwMW%@", 0.88), "—": 1.0, "…": 0.9}
EM = NARROW | BROAD
BREAKS = {"space": 0.0, "mark": 0.0, "script": 0.3, "particle": 0.6, "han": 5.0, "inside": 8.0}
"""What it costs to break a line there, in em of raggedness."""
AFTER, BEFORE = "的之", "与和及或在为从到"
"""Particles that a Chinese line may end with, or begin with."""


def width(text: str, size: float) -> float:
    """Of one line, in drawing units."""
    chinese = re.search(f"[{HAN}]", text) is not None
    return round(size * sum(_em(character, chinese) for character in text), 2)


@lru_cache(maxsize=8192)
def lines(text: str, size: float, widest: float, most: int, whole: tuple[str, ...] = ()) -> tuple[str, ...]:
    """As few lines as hold the text, evenly filled; terms in `whole` are torn apart only when they must.

    What does not fit into `most` lines ends in an ellipsis. No line is wider than `widest`.
    """
    room = widest / size
    plain = " ".join(text.split())
    for atoms in (_atoms(plain, room, whole), _atoms(plain, room, ())):
        for count in range(1, most + 1):
            if broken := _best(atoms, room, count):
                return broken
    return _cut(atoms, room, most)


def _em(character: str, chinese: bool) -> float:
    if unicodedata.combining(character):
        return 0.0
    kind = unicodedata.east_asian_width(character)
    wide = kind in "WF" or (kind == "A" and chinese and not character.isalnum())
    return 1.0 if wide else EM.get(character, LATIN_EM)


def _atoms(text: str, room: float, whole: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    """Pieces that are not broken, each with the cost of a break after it; closing marks stay with what they close."""
    fitting = [term for term in whole if re.search(f"[{HAN}]", term) and 1 < width(term, 1) <= room]
    terms = "".join(re.escape(term) + "|" for term in sorted(fitting, key=lambda term: (-len(term), term)))
    piece = f"[{OPENING}]*(?:{terms}[{HAN}]|[^\\s{HAN}{OPENING}{CLOSING}-]+-?|.)[{CLOSING}]*"
    found = re.findall(rf"({piece})(\s*)", text)
    atoms: list[tuple[str, float]] = []
    for at, (words, gap) in enumerate(found):
        following = found[at + 1][0] if at + 1 < len(found) else ""
        for part in _short_enough(words, room):
            atoms.append((part, BREAKS["inside"]))
        atoms[-1] = (atoms[-1][0] + (" " if gap else ""), _cost(words, gap, following))
    return tuple(atoms)


def _short_enough(words: str, room: float) -> Iterable[str]:
    """A word longer than a line is broken wherever the line ends."""
    if width(words, 1) <= room:
        return (words,)
    step = max(int(room), 1)
    return (words[at : at + step] for at in range(0, len(words), step))


def _cost(words: str, gap: str, following: str) -> float:
    if gap:
        return BREAKS["space"]
    if re.search(f"[{CLOSING}]$", words) or re.match(f"[{OPENING}]", following):
        return BREAKS["mark"]
    if not re.search(f"[{HAN}]$", words) or not re.match(f"[{HAN}]", following):
        return BREAKS["script"]
    term = len(words.strip(EDGES)) > 1 or len(following.strip(EDGES)) > 1
    good = words[-1] in AFTER or following[0] in BEFORE or term
    return BREAKS["particle"] if good else BREAKS["han"]


def _best(atoms: tuple[tuple[str, float], ...], room: float, count: int) -> tuple[str, ...] | None:
    """The cheapest way into exactly `count` lines, or None when there is none."""
    if count == 1:
        line = "".join(words for words, _ in atoms).rstrip()
        return (line,) if width(line, 1) <= room else None
    aim = width("".join(words for words, _ in atoms), 1) / count
    best: dict[int, tuple[float, tuple[str, ...]]] = {0: (0.0, ())}
    for taken in range(count):
        reached: dict[int, tuple[float, tuple[str, ...]]] = {}
        for start, (cost, before) in best.items():
            for end in range(start + 1, len(atoms) + 1):
                line = "".join(words for words, _ in atoms[start:end]).rstrip()
                wide = width(line, 1)
                if wide > room:
                    break
                last = end == len(atoms)
                if last != (taken == count - 1):
                    continue
                total = cost + abs(wide - aim) + (0.0 if last else atoms[end - 1][1])
                if end not in reached or total < reached[end][0]:
                    reached[end] = (total, (*before, line))
        best = reached
    return best[len(atoms)][1] if len(atoms) in best else None


def _cut(atoms: tuple[tuple[str, float], ...], room: float, most: int) -> tuple[str, ...]:
    found: list[str] = []
    line = ""
    for words, _ in atoms:
        if width((line + words).rstrip() + "…", 1) <= room or not line:
            line += words
        elif len(found) == most - 1:
            break
        else:
            found.append(line.rstrip())
            line = words
    line = line.rstrip()
    while line and width(line + "…", 1) > room:
        line = line[:-1].rstrip()
    return (*found, line + "…")
