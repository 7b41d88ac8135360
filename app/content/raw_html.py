"""HTML as an author wrote it into the lines of text that a reader sees of it."""

from html.parser import HTMLParser

from app.content.render import MATHML, SANITISER

PHRASES = """
    a abbr acronym b bdi bdo cite code data del dfn em i img input ins kbd label mark q rp rt ruby s samp small span
    strike strong sub sup time tt u var wbr
"""
WITHIN_A_LINE = MATHML.union(PHRASES.split())


def lines(html: str) -> tuple[str, ...]:
    """Of the sanitised HTML: nothing of scripts, styles and comments; the words that stand for a picture count."""
    seen = _Seen()
    seen.feed(SANITISER.clean(html))
    seen.close()
    found = (" ".join(line.split()) for line in "".join(seen.parts).split("\n"))
    return tuple(line for line in found if line)


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.parts.append(dict(attrs).get("alt") or "")
        else:
            self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        self._break(tag)

    def handle_data(self, data: str) -> None:
        self.parts.append(data.replace("\n", " "))

    def _break(self, tag: str) -> None:
        if tag not in WITHIN_A_LINE:
            self.parts.append(" " if tag == "br" else "\n")
