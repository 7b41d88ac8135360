"""Whatever somebody writes: it is read, and what comes out runs nothing."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from app.content.excerpts import excerpt
from app.content.note import Prose
from app.content.reader import read_notes
from app.content.render import SANITISER, html
from tests.content.garden import Shown, read

PIECES = [
    "---\n", "title: ", "tags: [", "growth: x\n", "# ", "## a {#b}\n", "{#", "\n", "\n\n", "    ", "> ",
    "> [!note]- ", "- ", "1. ", "| a | b |\n|---|:-:|\n", "|", "```widget momentum\n", "```python\n", "```\n",
    "as: x\n", "[", "]", "(", ")", "{", "}", "[a]{concept=", "[1]{ran=a read=b}", "=", "\"", "[[", "]]", "![[", "#",
    "^[", "[^1]", "[^1]: ", "$", "$$", "\\frac{", "\\", "*", "**", "_", "~~", "`", "<", ">", "<script>", "</script>",
    "<b onclick=alert(1)>", "<img src=x onerror=alert(1)>", "<a href='javascript:alert(1)'>",
    "[x](javascript:alert(1))", "<svg onload=alert(1)>", "<math><mtext>", "</math>", "<style>", "<!--", "-->",
    "<![CDATA[", "&#106;avascript:", "javascript:", " onload=", " style=", "data-hx-on:click=", "files/test.py",
    "heat.md", "plot.png", "word", "动量", "，", "。", "“", " ", "\t", "\r", "\x00", "\u2028", "é", "😀", "&", "&lt;",
    "%00", "%%", "==", " ^a1\n", "\n^b\n", "- [ ] ", "- [x] ", "#tag", "#a/b", "|300]]", "|300](plot.png)",
    "[[film.webm", "![[Rec 1.mp3]]", "![[heat]]\n", "[[#^a1", "<video src=", "<audio autoplay ", "<input ", "-1",
]  # fmt: skip
PLAIN = re.compile(r"[`~%\\-]+|<!")
"""What may make code, another comment or front matter of that which follows."""
FRAGMENTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(st.one_of(st.text(), FRAGMENTS))
def test_any_text_becomes_a_note(text: str) -> None:
    note, faults = read(text)
    assert note.title
    lines = text.count("\n") + text.count("\r") + 1
    assert all(1 <= fault.line <= lines for fault in faults)
    assert all(1 <= passage.line <= lines for passage in note.passages)
    assert all(1 <= anchor.line <= lines for anchor in note.anchors)
    assert all(excerpt(note, place.id) for place in (*note.sections, *note.anchors))


@given(st.lists(st.binary(max_size=60), max_size=3))
def test_any_bytes_are_read_or_told(tmp_path_factory: object, contents: list[bytes]) -> None:
    folder = Path(tmp_path_factory.mktemp("any"))  # type: ignore[attr-defined]
    for number, content in enumerate(contents):
        (folder / f"{number}.md").write_bytes(content)
    notes, faults = read_notes(folder, "en")
    assert len(notes) + len({fault.file for fault in faults if "UTF-8" in fault.what}) == len(contents)


@given(st.one_of(st.text(), FRAGMENTS))
def test_nothing_that_runs_comes_out(text: str) -> None:
    seen = Attributes(prose(text))
    assert not seen.tags & {"script", "style", "iframe", "object", "embed", "form", "svg", "link", "meta", "base"}
    for name, value in seen.attributes:
        assert not name.startswith(("on", "style", "hx-", "data-hx-", "src-doc"))
        if name in ("href", "src"):
            scheme = re.match(r"[a-z][a-z0-9+.-]*:", re.sub(r"[\x00-\x20]", "", value))  # as browsers look for it
            assert scheme is None or scheme[0] in ("http:", "https:", "mailto:", "tel:"), value
        assert name not in ("autoplay", "poster", "srcset", "formaction")


@given(FRAGMENTS, st.sampled_from(["%%{}%%", "%%\n{}\n%%", "%% {}"]))
def test_a_comment_leaves_no_trace(text: str, comment: str) -> None:
    secret = comment.format("canary `canary\n\n```\n# canary")
    note, _ = read(f"{PLAIN.sub(' ', text)}\n\n{secret}")
    assert "canary" not in repr(replace(note, source=""))


@given(FRAGMENTS)
def test_sanitising_twice_changes_nothing(text: str) -> None:
    once = SANITISER.clean(prose(text))
    assert SANITISER.clean(once) == once


def prose(text: str) -> str:
    return "\n".join(html(block, Shown()) for block in read(text)[0].body if isinstance(block, Prose))


class Attributes(HTMLParser):
    """The elements and attributes of some HTML, as an independent parser sees them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, (value or "").strip().lower()) for name, value in attrs]
