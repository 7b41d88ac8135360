"""Notes, sections and concepts into the small fragments that a page shows beside its links."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import quote

from fastapi import APIRouter
from markupsafe import Markup, escape
from starlette.responses import RedirectResponse, Response

from app.content.excerpts import excerpt
from app.content.note import Concept, Note, Prose
from app.content.pieces import Footnotes, Heading
from app.language import Language
from app.web.addresses import at, note_address
from app.web.note_views import concept_view, prose_html
from app.web.problems import TABLE, NotFound
from app.web.rendering import fragment
from app.web.site import Site

LONGEST = 900
"""Characters of text in a preview."""
ENOUGH = 300
"""Fewer than these are not left to stand alone: the block behind them is shown in part."""
PLACES = 3
"""Of a concept, the first ones in the order of the notes."""

BLOCKS = frozenset(
    {"p", "li", "tr", "pre", "blockquote", "ul", "ol", "table", "div", "details", "section", "dd", "math"}
)
VOID = frozenset({"br", "hr", "img", "input", "wbr", "col"})
LEFT_OUT = frozenset({"fnref", "anchor", "footnote-back"})
"""What belongs to a page: a preview has no footnotes, and its headings need no addresses."""


def routes(site: Site) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    garden = site.report.garden

    @router.get("/{language:language}/concepts/{id}/preview")
    def concept(language: Language, id: str) -> Response:
        found = site.report.concepts.get(id)
        return answer(site, language, concept_preview(site, found, language) if found else None)

    @router.get("/{language:language}/{slug}/preview")
    def note(language: Language, slug: str, section: str = "") -> Response:
        if (moved := garden.redirect(language, slug)) is not None:
            tail = f"?section={quote(section)}" if section else ""
            return RedirectResponse(f"{at(language, moved)}/preview{tail}", 301)
        found = garden.note(language, slug)
        return answer(site, language, note_preview(site, found, section) if found else None)

    return router


@dataclass(frozen=True)
class Preview:
    """What preview.html shows."""

    title: str
    href: str
    lead: str = ""
    """The summary of a note, the meaning of a concept."""
    within: str = ""
    """The title of the note, where it is a section that is shown."""
    growth: str = ""
    body: str = ""
    """Finished HTML."""
    places: tuple[tuple[str, str, str], ...] = ()
    """Of a concept: sentence, title of its section and address."""


def answer(site: Site, language: Language, preview: Preview | None) -> Response:
    """Searched by no engine; what is not there is said in a fragment too."""
    if preview is None:
        row = TABLE[NotFound]
        view = {"title": row.title[language], "shown": "", "problems": ()}
        response = fragment(site, language, "widget/problems.html", view, row.status)
        response.headers["Cache-Control"] = "no-store"
    else:
        response = fragment(site, language, "preview.html", {"preview": preview})
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def concept_preview(site: Site, concept: Concept, language: Language) -> Preview:
    view = concept_view(site, concept, language)
    places = [(one.sentence, one.section, one.href) for _, _, occurrences in view.notes for one in occurrences]
    return Preview(view.label, at(language, "concepts", concept.id), view.meaning, places=tuple(places[:PLACES]))


def note_preview(site: Site, note: Note, section: str) -> Preview | None:
    """The note by its summary, a section by how it begins; None where the note has no such section.

    The place of a mark is shown by the section that it stands in.
    """
    marks = {mark.anchor: mark.section or "" for mark in note.marks}
    section = marks.get(section, section)
    href = note_address(note)
    if section in ("", "main"):
        body = "" if note.summary else opening(site, note, None)
        return Preview(note.title, href, note.summary, growth=note.growth, body=body)
    titles = {part.id: part.title for part in (*note.anchors, *note.sections)}
    if section not in titles:
        return None
    title = titles[section] or note.title
    within = note.title if titles[section] else ""
    body = opening(site, note, section)
    return Preview(title, f"{href}#{quote(section)}", within=within, growth=note.growth, body=body)


def opening(site: Site, note: Note, section: str | None) -> Markup:
    """How a section begins, without its heading; widgets and footnotes are left out."""
    cut = Cut(note_address(note))
    for block in excerpt(note, section):
        if not isinstance(block, Prose) or any(isinstance(token, Footnotes) for token in block.tokens):
            continue
        tokens = tuple(t for t in block.tokens if not (isinstance(t, Heading) and section in (t.id, t.block)))
        cut.feed(prose_html(site, note, Prose(tokens, block.line), note, ()))
        if cut.full:
            break
    cut.close()
    return Markup("".join(cut.parts))


@dataclass
class Cut(HTMLParser):
    """Finished HTML up to LONGEST characters of text, cut where a block ends.

    No id is left, so none can repeat one of the page; what led to one leads to the page of the note.
    """

    page: str
    parts: list[str] = field(default_factory=list)
    full: bool = False
    _count: int = 0
    _open: list[str] = field(default_factory=list)
    _skipped: int = 0
    """How deep the parser is in an element that is left out."""
    _boundary: tuple[int, tuple[str, ...]] | None = None
    """Where the last block ended: the number of parts, and the elements that were open there."""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.full:
            return
        if self._skipped or LEFT_OUT & set((dict(attrs).get("class") or "").split()):
            self._skipped += tag not in VOID
            return
        kept = "".join(f' {name}="{escape(self._led(name, value or ""))}"' for name, value in attrs if name != "id")
        self.parts.append(f"<{tag}{kept}>")
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.full or tag in VOID:
            return
        if self._skipped:
            self._skipped -= 1
            return
        self._open.pop()
        self.parts.append(f"</{tag}>")
        if tag in BLOCKS and "math" not in self._open and self._count >= ENOUGH:
            self._boundary = len(self.parts), tuple(self._open)

    def handle_data(self, data: str) -> None:
        if self.full or self._skipped:
            return
        room = LONGEST - self._count
        if len(data) <= room or "math" in self._open:
            self.parts.append(str(escape(data)))
            self._count += len(data.strip())
        elif data.strip():
            self._end(data[: max(room, 0)])

    def _led(self, name: str, value: str) -> str:
        return f"{self.page}{value}" if name == "href" and value.startswith("#") else value

    def _end(self, last: str) -> None:
        """Back to where the last block ended; in the middle of one that alone is too long."""
        if self._boundary:
            length, open = self._boundary
            del self.parts[length:]
        else:
            open = tuple(self._open)
            words = last.rsplit(" ", 1)[0] if " " in last[len(last) // 2 :] else last
            self.parts.append(f"{escape(words)}…")
        self.parts += [f"</{tag}>" for tag in reversed(open)]
        self.full = True
