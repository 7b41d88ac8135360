"""How the garden is tended: the history of each note, and the page of the garden's health."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.convertors import StringConvertor
from starlette.responses import RedirectResponse, Response

from app.content.files import MARKDOWN, RESERVED, walk
from app.content.note import GROWTHS, Growth, Note
from app.content.notes import read
from app.errors import Fault
from app.garden.differences import paragraph_differences
from app.garden.history import Change, History
from app.garden.names import key
from app.garden.repository import Repository
from app.language import Language, Text, other
from app.web.addresses import note_address
from app.web.problems import NotFound
from app.web.records import Difference
from app.web.rendering import Frame, page
from app.web.site import Site
from app.web.words import Words


class SlugConvertor(StringConvertor):
    """A note's slug before a slash: none of the garden's own words, so that a concept may be called `history`."""

    regex = rf"(?!(?:{'|'.join(map(re.escape, sorted(RESERVED)))})/)[^/]+"


def routes(site: Site) -> APIRouter:
    """To be included before the notes."""
    router = APIRouter(include_in_schema=False)
    garden = site.report.garden
    doctor = Doctor(site)

    @router.get("/{language:language}/health")
    def health(request: Request, language: Language) -> Response:
        words = Words(language)
        path = f"/{language}/health"
        frame = Frame(language, words.health, words.health_lead, path, f"/{other(language)}/health", robots="noindex")
        answer = page(site, request, "health.html", frame, {"health": doctor.page(language)})
        answer.headers["Cache-Control"] = "no-store"
        return answer

    @router.get("/{language:language}/{slug:slug}/history")
    def history(request: Request, language: Language, slug: str) -> Response:
        if (moved := garden.redirect(language, slug)) is not None:
            return RedirectResponse(f"/{language}/{quote(moved, safe='')}/history", 301)
        note = garden.note(language, slug)
        if note is None:
            raise NotFound(slug)
        words = Words(language)
        view = history_page(note, site.records.history(note))
        twin = garden.translation(note)
        frame = Frame(
            language,
            words.history_of.format(note.title),
            words.history_lead,
            f"{view.note}/history",
            f"{note_address(twin)}/history" if twin else f"/{other(language)}/",
            room="notes",
            robots="noindex",
            alternate=twin is not None,
        )
        return page(site, request, "history.html", frame, {"history": view})

    return router


@dataclass(frozen=True)
class ChangeView:
    day: str
    subject: str
    commit: str
    kind: str
    difference: Difference
    """Nothing for the beginning of a note."""
    kept: bool
    """Whether the texts before and after are known."""


@dataclass(frozen=True)
class HistoryPage:
    """What changed when in a note."""

    title: str
    note: str
    """Its address."""
    repository: Repository
    changes: tuple[ChangeView, ...]
    more: int


def history_page(note: Note, known: History) -> HistoryPage:
    changes = tuple(map(_change_view, known.changes))
    return HistoryPage(note.title, note_address(note), known.repository, changes, known.more)


def _change_view(change: Change) -> ChangeView:
    known = change.before is not None and change.after is not None
    return ChangeView(
        change.day.isoformat(),
        change.subject,
        change.commit,
        change.kind.replace(" ", "_"),
        paragraph_differences(change.before or "", change.after or "") if known else (),
        known or change.kind == "planted",
    )


@dataclass(frozen=True)
class Ailment:
    """A kind of warning: how it is told apart, and how it reads in Chinese."""

    kind: str
    pattern: re.Pattern[str]
    chinese: str


LIKELY = r"(?:; did you mean '(?P<likely>.*)'\?)?"
OTHER = "odd"
AILMENTS = tuple(
    Ailment(kind, re.compile(pattern, re.DOTALL), chinese)
    for kind, pattern, chinese in (
        ("unwritten", rf"no note is called '(?P<name>.*?)' yet{LIKELY}", "还没有叫“{name}”的笔记"),
        (
            "unwritten",
            r"(?P<file>.+) has no (?:block '\^(?P<block>.*)'|section '(?P<name>.*?)'; .*)",
            "{file} 里没有“{name}{block}”这一节",
        ),
        ("collision", r"the (?:slug|title|alias) '(?P<name>.*)' also names (?P<file>.+), .*", "“{name}”也指 {file}"),
        (
            "collision",
            r"'(?P<name>.*)' is .*; this note is served as '(?P<slug>.*)' until .*",
            "“{name}”已被占用，暂用“{slug}”",
        ),
        ("orphan", r"nothing links here; .*", "没有笔记链接到它"),
        ("untranslated", r"has no translation; write (?P<file>.+)", "还没有译文；可写在 {file}"),
        (
            "outdated",
            r"(?:the section '(?P<name>.*?)'|the text.*?) was translated from an older text of (?P<file>.+?); .*",
            "译自 {file} 较早的文本：{name}",
        ),
        ("outdated", r"the growth is .* in (?P<file>.+); write .*", "成熟度与 {file} 不同"),
        ("number", r"(?P<name>.+) was not measured yet; .*", "{name} 尚未实测"),
        ("number", r"(?P<name>.+) was measured by older code; .*", "{name} 是旧代码测得的"),
        (
            "number",
            r"the text says (?P<name>.+?), the measurement on record gave (?P<value>.+?) \(.*",
            "文中写的是 {name}，记录中的实测值是 {value}",
        ),
        ("unreadable", r"byte .* is not UTF-8, .*", "文件不是 UTF-8 编码，因此没有收入"),
        ("unreadable", r"cannot be read \(.*", "无法读取"),
        ("unreadable", r"this LaTeX cannot be read: .*", "有一处 LaTeX 公式无法读取，按代码显示"),
        ("unreadable", r"this comment does not end, .*", "有一处注释没有结束，其后的内容都没有显示"),
        ("unreadable", r"there is no file '(?P<name>.*)' (?:in|beside) .*", "找不到文件“{name}”"),
        ("unreadable", r"cannot be opened \(.*", "无法打开，因此没有收入"),
        (
            "unreadable",
            r"'(?P<name>.*)' is shown by Obsidian only; .*",
            "“{name}”只有 Obsidian 能显示；请在旁边放一张它的图，命名为“{name}.svg”",
        ),
        (
            OTHER,
            r"'!\[\[(?P<name>.*)\]\]' is shown as a link here; .*",
            "“![[{name}]]”在这里只显示为链接；要引入正文，请让它独占一行，不放在列表或引文里",
        ),
        (
            OTHER,
            r"the link '\[\[(?P<name>.*)\]\]' stands inside another link, .*",
            "“[[{name}]]”写在另一个链接里，因此只显示文字；请去掉其中一个链接",
        ),
        (OTHER, r"this block names no experiment, .*", "这个代码块没有写明实验，因此按代码显示"),
        (
            OTHER,
            r"the block '\^(?P<name>.*)' is already in line (?P<line>\d+); .*",
            "块“^{name}”在第 {line} 行已经用过；请给这一块换个名字",
        ),
        (OTHER, r"the name of this file cannot be printed, .*", "文件名里有无法显示的字符，因此没有收入；请换个名字"),
    )
)
KINDS = (*dict.fromkeys(ailment.kind for ailment in AILMENTS if ailment.kind != OTHER), OTHER)
DIFFERS_HERE = Text("the text says {}; here it comes out as {}", "文中写的是 {}；此处得到 {}")


@dataclass(frozen=True)
class Symptom:
    """One warning."""

    file: str
    line: int
    title: str
    """Of the note; the file's name where it belongs to none."""
    href: str
    language: str
    """The note's, where it is not the page's."""
    what: str
    foreign: bool
    """Whether it can be said in English only."""


@dataclass(frozen=True)
class MissedView:
    """An address that was asked for and not found, the note that was probably meant, and the alias that leads there.

    No alias does where that note is in the other language only: it leads to the note in its own.
    """

    path: str
    times: int
    alias: str
    title: str
    href: str
    file: str
    language: str
    """The note's, where it is not the page's."""


@dataclass(frozen=True)
class HealthPage:
    """What an author should mend, and what readers looked for."""

    growths: tuple[tuple[Growth, int, int], ...]
    """Each stage with its notes in the page's language and in the other one."""
    drafts: int | None
    """None where drafts are not served."""
    groups: tuple[tuple[str, tuple[Symptom, ...]], ...]
    missed: tuple[MissedView, ...]


class Doctor:
    """Looks at the whole garden; what does not change is looked at once."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.garden = site.report.garden
        self.near = lru_cache(maxsize=512)(lambda language, name: self.garden.nearest(language, name, 1))

    def page(self, language: Language) -> HealthPage:
        counts = Counter((note.growth, note.language) for note in self.garden.notes())
        found: dict[str, list[Symptom]] = {kind: [] for kind in KINDS}
        for fault in self._warnings:
            kind, symptom = self._symptom(fault, language)
            found[kind].append(symptom)
        found["number"] += self._differing(language)
        return HealthPage(
            tuple((growth, counts[growth, language], counts[growth, other(language)]) for growth in reversed(GROWTHS)),
            sum(note.draft for note in self.garden.notes()) if self.site.settings.drafts else None,
            tuple((kind, tuple(symptoms)) for kind, symptoms in found.items() if symptoms),
            tuple(self._missed(language)),
        )

    @cached_property
    def _notes(self) -> dict[str, Note]:
        return {note.file: note for note in self.garden.notes()}

    @cached_property
    def _warnings(self) -> tuple[Fault, ...]:
        """Those of notes that may be seen, and of files that are no notes: a draft has none."""
        folder = f"{self.site.report.content.resolve().name}/"
        own = [
            Fault(fault.file.removeprefix(folder), fault.line, fault.what, fault.stops)
            for fault in self.site.report.warnings
        ]
        return tuple(fault for fault in own if fault.file in self._notes or not MARKDOWN.search(fault.file))

    @cached_property
    def _hidden(self) -> frozenset[str]:
        """Every name of the notes that may not be seen."""
        listing = walk(self.site.report.content, self.site.settings.default_language)
        names: set[str] = set()
        for source in listing.sources:
            if source.path not in self._notes:
                note = read((self.site.report.content / source.path).read_bytes(), source, listing.files).note
                names |= {source.stem, source.slug, *((note.title, *note.aliases) if note else ())}
        return frozenset(map(key, names)) - {""}

    def _symptom(self, fault: Fault, language: Language) -> tuple[str, Symptom]:
        for ailment in AILMENTS:
            if (match := ailment.pattern.fullmatch(fault.what)) is not None:
                given = {name: text or "" for name, text in match.groupdict().items()}
                chinese = ailment.chinese.format_map(given).removesuffix("：")
                chinese += f"；是不是“{given['likely']}”？" if given.get("likely") else ""
                return ailment.kind, self._at(fault.file, fault.line, language, Text(fault.what, chinese)[language])
        return OTHER, self._at(fault.file, fault.line, language, fault.what, foreign=language != "en")

    def _at(self, file: str, line: int, language: Language, what: str, foreign: bool = False) -> Symptom:
        note = self._notes.get(file)
        if note is None:
            return Symptom(file, line, file, "", "", what, foreign)
        named = note.language if note.language != language else ""
        return Symptom(file, line, note.title, note_address(note), named, what, foreign)

    def _differing(self, language: Language) -> Iterator[Symptom]:
        """Measured numbers that came out otherwise in this very place."""
        for note in self.garden.notes():
            for ran in note.rans:
                here = self.site.differs_here(note, ran)
                if here is not None:
                    yield self._at(note.file, ran.line, language, DIFFERS_HERE[language].format(ran.written, here))

    def _missed(self, language: Language) -> Iterator[MissedView]:
        for path, times in self.site.missed.most_asked():
            _, asked, rest = path.split("/", 2)
            parts = [key(MARKDOWN.sub("", part)) for part in (*rest.split("/"), rest)]
            if not self._hidden.isdisjoint(parts):
                continue
            near = self.near(asked, rest)
            if near:
                note = near[0]
                named = note.language if note.language != language else ""
                alias = MARKDOWN.sub("", rest.strip("/")) if note.language == asked else ""
                yield MissedView(path, times, alias, note.title, note_address(note), note.file, named)
            else:
                yield MissedView(path, times, "", "", "", "", "")
