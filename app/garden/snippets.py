"""The lines of a text and the terms that were looked for into the few words around them, the hits told apart."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.content.files import folded
from app.garden.folding import Fold, joins, origins

Pieces = tuple[tuple[str, bool], ...]
"""A text in pieces, each with whether it is a hit; no two of a kind stand together."""

PLACES = 3
"""The most places that one snippet shows."""
NEXT, LEFT_OUT, CUT = " · ", " … ", "…"
WORD = 14
"""Characters by which a cut may give way to a space."""


@dataclass
class Window:
    """A stretch of one line, in characters."""

    line: int
    start: int
    end: int


def marked(text: str, terms: Sequence[str], fold: Fold = folded) -> Pieces:
    """The whole text, every occurrence of every term told apart; the terms are folded already."""
    return _joined(_pieces(text, hits(text, terms, fold), 0, len(text)))


def hits(text: str, terms: Sequence[str], fold: Fold = folded) -> list[tuple[int, int]]:
    """Where the terms stand in the text, in order, what overlaps or touches made one."""
    flat = fold(text)
    spans = [(at, at + len(term)) for term in terms if term and term in flat for at in _all(flat, term)]
    if not spans:
        return []
    starts, ends = origins(text, fold)
    found: list[tuple[int, int]] = []
    for start, end in sorted((starts[a], ends[b - 1]) for a, b in spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def snippet(lines: Sequence[str], terms: Sequence[str], room: int, fold: Fold = folded) -> Pieces:
    """About `room` characters around the first occurrence of each term; the opening where none occurs.

    It grows with hits that are longer. What is left out shows as an ellipsis.
    """
    places = _firsts(lines, terms, fold)
    share = room // max(len(places), 1)
    windows: list[Window] = []
    for line, start, end in places or [(0, 0, 0)] * bool(lines):
        window = _around(lines[line], line, start, end, share)
        if windows and windows[-1].line == line and window.start <= windows[-1].end:
            windows[-1].end = max(windows[-1].end, window.end)
        else:
            windows.append(window)
    _fill(windows, lines, room)
    return _joined(_shown(windows, lines, terms, fold))


def _firsts(lines: Sequence[str], terms: Sequence[str], fold: Fold) -> list[tuple[int, int, int]]:
    """Line, start and end of the first occurrence of each term, in reading order."""
    flat = fold("\n".join(lines))
    found = []
    for term in terms:
        at = flat.find(term) if term else -1
        if at >= 0:
            line, begins = flat.count("\n", 0, at), flat.rfind("\n", 0, at) + 1
            starts, ends = origins(lines[line], fold)
            found.append((line, starts[at - begins], ends[at - begins + len(term) - 1]))
    return sorted(found)[:PLACES]


def _around(text: str, line: int, start: int, end: int, room: int) -> Window:
    """A third of what is left over goes before the hit, unless the line ends too soon behind it."""
    spare = max(room - (end - start), 0)
    last = min(max(start - spare // 3, 0) + max(room, end - start), len(text))
    first = max(min(start - spare // 3, last - room), 0)
    return Window(line, min(_cut_before(text, first), start), max(_cut_behind(text, last), end))


def _cut_before(text: str, at: int) -> int:
    if at == 0 or text[at - 1].isspace():
        return at
    space = text.find(" ", at, at + WORD)
    return space + 1 if space >= 0 else _whole(text, at)


def _cut_behind(text: str, at: int) -> int:
    if at == len(text) or text[at].isspace():
        return at
    space = text.rfind(" ", max(at - WORD, 0), at)
    return space if space >= 0 else _whole(text, at)


def _whole(text: str, at: int) -> int:
    """The nearest place at or before this one where no character as readers see it is torn apart."""
    while 0 < at < len(text) and _torn(text, at):
        at -= 1
    return at


def _torn(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if joins(after) or after in "\u200d\u200c" or before == "\u200d" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if _flag(after) and _flag(before):  # a flag is two letters
        run = at
        while run and _flag(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 1
    return "\U000e0020" <= after <= "\U000e007f"


def _flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _fill(windows: list[Window], lines: Sequence[str], room: int) -> None:
    """A short line, a heading say, is followed by what stands below it."""
    while windows:
        last = windows[-1]
        left = room - sum(window.end - window.start for window in windows)
        if last.end < len(lines[last.line]) or last.line + 1 == len(lines) or left < room // 3:
            return
        following = lines[last.line + 1]
        windows.append(_around(following, last.line + 1, 0, 0, min(left, len(following))))


def _shown(windows: list[Window], lines: Sequence[str], terms: Sequence[str], fold: Fold) -> Iterator[tuple[str, bool]]:
    before: Window | None = None
    for window in windows:
        text = lines[window.line]
        cut = before.end < len(lines[before.line]) if before else window.start > 0
        if before and not cut and window.start == 0 and before.line + 1 == window.line:
            yield NEXT, False
        elif before:
            yield LEFT_OUT, False
        elif cut:
            yield CUT, False
        yield from _pieces(text, hits(text, terms, fold), window.start, window.end)
        before = window
    if before and before.end < len(lines[before.line]):
        yield CUT, False


def _pieces(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[str, bool]]:
    at = start
    for a, b in spans:
        a, b = max(a, start), min(b, end)
        if a < b:
            yield text[at:a], False
            yield text[a:b], True
            at = b
    yield text[at:end], False


def _joined(pieces: Iterator[tuple[str, bool]]) -> Pieces:
    joined: list[tuple[str, bool]] = []
    for text, hit in pieces:
        if text and joined and joined[-1][1] == hit:
            joined[-1] = joined[-1][0] + text, hit
        elif text:
            joined.append((text, hit))
    return tuple(joined)


def _all(flat: str, term: str) -> Iterator[int]:
    at = flat.find(term)
    while at >= 0:
        yield at
        at = flat.find(term, at + 1)
