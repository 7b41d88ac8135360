"""Prose into HTML, once the garden has said where its links lead and what its numbers came out as.

Nothing is trusted: whatever an author wrote goes through the sanitiser last, with MathML kept and scripts,
handlers, styles and foreign addresses left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape
from typing import Any, Protocol
from urllib.parse import quote

import nh3

from app.content.note import Growth, Prose, Ran
from app.content.pieces import Anchored, Back, Code, Footnotes, Heading, Linked, Marked, Number, Reference, Tag
from app.content.rules.code import coloured
from app.language import Language, Text

LINK_TO = Text("Link to: ", "链接到：")
BACK = Text("Back to reference", "回到引用处")
FOOTNOTES = Text("Footnotes", "脚注")
UNWRITTEN = Text("Not written yet", "尚未写成")
HERE = Text(" ({} here)", "（此处为 {}）")

UNBROKEN = re.compile(
    r'(<math [^>]*display="inline">(?:(?!</math>).)*</math>)([,.;:!?，。；：！？、）)」』”’]+)', re.DOTALL
)
"""A formula and the punctuation behind it; browsers would begin a line with the latter."""

MATHML_ELEMENTS = """
    math mi mn mo ms mtext mspace mrow mfrac msqrt mroot mstyle mpadded mphantom menclose mover munder munderover
    msub msup msubsup mmultiscripts mprescripts mtable mtr mtd
"""
MATHML_ATTRIBUTES = """
    accent accentunder align columnalign columnlines columnspacing columnspan depth display displaystyle fence form
    frame height largeop linebreak linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize
    movablelimits notation rowalign rowlines rowspacing rowspan rspace scriptlevel separator stretchy symmetric
    voffset width xmlns
"""
MATHML = frozenset(MATHML_ELEMENTS.split())
ATTRIBUTES = {
    "*": {"id", "class", "title", "lang", "dir", "role", "aria-label", "aria-hidden"},
    "a": {"href", "hreflang", "data-concept", "data-ran", "data-growth"},
    "audio": {"src", "preload"},
    "details": {"open"},
    "img": {"src", "alt", "width", "height", "loading"},
    "input": {"type", "disabled", "checked"},
    "li": {"value"},
    "ol": {"start", "reversed"},
    "td": {"colspan", "rowspan", "headers"},
    "th": {"colspan", "rowspan", "headers", "scope"},
    "time": {"datetime"},
    "video": {"src", "preload", "width", "height"},
    **{name: set(MATHML_ATTRIBUTES.split()) for name in MATHML},
}
"""Data attributes by name, never by their beginning: htmx would run what `data-hx-on` says."""

SANITISER = nh3.Cleaner(
    tags=set(nh3.ALLOWED_TAGS - {"map", "area", "center"}) | {"section", "audio", "video", "label", "input"} | MATHML,
    attributes=ATTRIBUTES,
    set_tag_attribute_values={  # whoever writes one gets a box, and sound that waits to be played; one each: no order
        "input": {"type": "checkbox"},
        "audio": {"controls": ""},
        "video": {"controls": ""},
    },
    url_schemes={"http", "https", "mailto", "tel"},
    link_rel=None,
)


@dataclass(frozen=True)
class LinkTo:
    """Where a link to a note leads."""

    href: str
    title: str
    growth: Growth | None = None
    words: str = ""
    """What to show where the author gave no words; nothing here: the target as written."""


@dataclass(frozen=True)
class ConceptShown:
    href: str
    title: str
    """Its meaning in one line."""


@dataclass(frozen=True)
class RanShown:
    """What became of a ran number."""

    href: str
    differs: str | None = None
    """The value as it came out here, where it is not what the note says."""


class Context(Protocol):
    """What prose has to ask for."""

    @property
    def language(self) -> Language: ...

    @property
    def prefix(self) -> str:
        """Put before every id, so that a note shown inside another repeats none; empty for the note itself."""
        ...

    def link(self, target: str, section: str | None) -> LinkTo | None:
        """None for a note that is not written yet. An empty target is the note itself."""
        ...

    def concept(self, id: str) -> ConceptShown: ...

    def tag(self, name: str) -> str:
        """The address of its page."""
        ...

    def ran(self, ran: Ran) -> RanShown: ...


def html(prose: Prose, context: Context) -> str:
    """The prose as a piece of a page, every element in it closed."""
    whole = "".join(_finished(prose.tokens, context))
    return SANITISER.clean(UNBROKEN.sub(r'<span class="unbroken">\1\2</span>', whole) if "<math" in whole else whole)


def _finished(tokens: tuple[Any, ...], context: Context) -> Iterator[str]:
    for token in tokens:
        match token:
            case str():
                yield token
            case Heading():
                yield from _heading(token, context)
            case Marked():
                yield _marked(token, context)
            case Number():
                yield _number(token, context)
            case Linked():
                yield _linked(token, context)
            case Anchored():
                yield from _anchored(token, context)
            case Tag():
                yield f'<a class="tag" href="{escape(context.tag(token.name))}">{token.html}</a>'
            case Code():
                language = f' class="language-{escape(token.language)}"' if token.language else ""
                yield f'<pre class="highlight"><code{language}>{coloured(token.language, token.text)}</code></pre>\n'
            case Reference():
                yield _reference(token, context)
            case Back():
                label = f"{BACK[context.language]} {token.number}"
                href = f"#{context.prefix}{_reference_id(token)}"
                yield f' <a class="footnote-back" href="{href}" aria-label="{label}">↩</a>'
            case Footnotes():
                yield from _footnotes(token, context)


def _heading(heading: Heading, context: Context) -> Iterator[str]:
    """The way to a heading stands beside it, not in it: so its name stays its own where pages are read aloud."""
    tag, id = f"h{heading.level}", escape(f"{context.prefix}{heading.id}")
    yield f'<div class="heading"><{tag} id="{id}">'
    if heading.block:
        yield f'<span id="{escape(context.prefix + heading.block)}"></span>'
    yield from _finished(heading.tokens, context)
    label = escape(f"{LINK_TO[context.language]}{heading.title}")
    yield f'</{tag}><a class="anchor" href="#{quote(unescape(id))}" aria-label="{label}">#</a></div>\n'


def _anchored(anchored: Anchored, context: Context) -> Iterator[str]:
    start, _, rest = str(anchored.tokens[0]).partition(">")
    yield f'{start} id="{escape(context.prefix + anchored.id)}">{rest}'
    yield from _finished(anchored.tokens[1:], context)


def _marked(marked: Marked, context: Context) -> str:
    shown = context.concept(marked.concept)
    return (
        f'<a class="term" href="{escape(shown.href)}" id="{escape(context.prefix + marked.anchor)}"'
        f' data-concept="{escape(marked.concept)}" title="{escape(shown.title)}">{marked.html}</a>'
    )


def _number(number: Number, context: Context) -> str:
    shown = context.ran(number.ran)
    here, kind = "", "ran"
    if shown.differs is not None:
        here, kind = f'<span class="here">{escape(HERE[context.language].format(shown.differs))}</span>', "ran differs"
    start = f'<a class="{kind}" href="{escape(shown.href)}" data-ran="{escape(number.ran.name)}">'
    return f"{start}{number.html}{here}</a>"


def _linked(linked: Linked, context: Context) -> str:
    to = context.link(linked.target, linked.section)
    words = linked.html or escape((to.words if to else "") or linked.target or linked.section or "", quote=False)
    if to is None:
        return f'<span class="unwritten" title="{UNWRITTEN[context.language]}">{words}</span>'
    growth = f' data-growth="{to.growth}"' if to.growth else ""
    return f'<a class="note" href="{escape(to.href)}" title="{escape(to.title)}"{growth}>{words}</a>'


def _reference(reference: Reference, context: Context) -> str:
    id, href = f"{context.prefix}{_reference_id(reference)}", f"#{context.prefix}fn-{reference.number}"
    return f'<sup class="fnref"><a href="{escape(href)}" id="{escape(id)}">{reference.number}</a></sup>'


def _reference_id(place: Reference | Back) -> str:
    return f"fnref-{place.number}" + f"-{place.time}" * (place.time > 1)


def _footnotes(footnotes: Footnotes, context: Context) -> Iterator[str]:
    yield f'<section class="footnotes" aria-label="{FOOTNOTES[context.language]}">\n<ol>\n'
    for footnote in footnotes.items:
        yield f'<li id="{escape(context.prefix)}fn-{footnote.number}" value="{footnote.number}">'
        yield from _finished(footnote.tokens, context)
        yield "</li>\n"
    yield "</ol>\n</section>\n"
