"""`%%words%%`, in a line or over many: for the author alone, and gone before anything else is read.

Code keeps what looks like one. A comment that begins a line and does not end takes the rest of the note with it.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

from app.content.front_matter import parted
from app.content.reading import reading

SIGN = re.compile(
    r"^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)]))*[ \t]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    r"|\\[^\n]|(?P<ticks>`+)|(?P<html><!--)|(?P<comment>%%)",
    re.MULTILINE,
)
PARAGRAPH = re.compile(r"\n[ \t>]*(?:\n|\Z)|\Z")
BLANK = re.compile(r"[ \t]*$", re.MULTILINE)
BREAKS = re.compile(r"\n(?:[ \t]*>)*")
"""Lines inside a quotation stay lines of it."""


def comments(md: MarkdownIt) -> None:
    md.core.ruler.before("block", "comments", _comments)


def _comments(state: StateCore) -> None:
    if "%%" in state.src:
        source = state.src
        state.src, endless = uncommented(source)
        if endless is not None:
            desk = reading(state)
            what = "this comment does not end, so the rest of the note is hidden; write %% after it"
            desk.fault(desk.line(0, source, endless), what, stops=False)


def published(file: str) -> str:
    """A note's whole file as others may read it: without what is for the author alone."""
    if "%%" not in file:
        return file
    head, body = parted(file.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    return head + uncommented(body)[0]


def uncommented(source: str) -> tuple[str, int | None]:
    """A text without its comments, every line in its place, and where one begins that does not end."""
    kept, done, position = "", 0, 0
    while match := SIGN.search(source, position):
        position = _behind(match, source)
        if not match["comment"]:
            continue
        begins = not source[source.rfind("\n", 0, match.start()) + 1 : match.start()].strip(" \t>")
        if position < 0:
            return (kept + source[done : match.start()], match.start()) if begins else (kept + source[done:], None)
        kept += source[done : match.start()]
        if not begins and (blank := BLANK.match(source, position)):  # or the space before it would break the line
            kept, position = kept.rstrip(" \t"), blank.end()
        kept += "".join(BREAKS.findall(source, match.start(), position))
        done = position
    return kept + source[done:], None


def _behind(match: re.Match[str], source: str) -> int:
    """Where that ends which a sign begins; -1 for a comment without an end."""
    start = match.end()
    if match["comment"]:
        closing = source.find("%%", start)
        return closing + 2 if closing >= 0 else -1
    if match["html"]:
        return max(start, source.find("-->", start) + 3)
    if fence := match["fence"]:
        end = re.compile(rf"^[ \t>]*{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE).search(source, start)
        return end.end() if end else start
    if ticks := match["ticks"]:
        paragraph = PARAGRAPH.search(source, start)
        last = paragraph.start() if paragraph else len(source)
        end = re.compile(rf"(?<!`){ticks}(?!`)").search(source, start, last)
        return end.end() if end else start
    return start
