"""Gardens behind a test client, and pages taken apart."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from starlette.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.conftest import CONTENT

ARTICLE = "why-training-results-change"
NAMES = ("momentum", "summation", "accumulation", "microbatch", "agreement")

PAGES = [
    f"/{language}/{rest}"
    for language in ("en", "zh")
    for rest in (
        "",
        ARTICLE,
        f"{ARTICLE}?momentum.beta=0.5&moved.lr=0.2",
        f"{ARTICLE}?momentum.beta=9&nothing.here=1",
        f"{ARTICLE}/history",
        "health",
        "search",
        "search?q=resume",
        "search?q=恢复&growth=budding",
        "search?q=%22x%22&limit=0&a.b=1",
        "concepts",
        "concepts/momentum",
        "tags/resume",
        "tags/复现",
        "widgets/",
        "widgets/momentum?lr=0.2",
        "widgets/momentum?beta=9",
        "widgets/summation",
        "widgets/accumulation?dtype=float32",
        "widgets/microbatch",
        "widgets/agreement",
        "compare",
        "compare/lost-optimizer",
        "compare/clean-resume",
        "nowhere",
    )
] + ["/embed/en/widgets/momentum", "/embed/zh/widgets/summation", "/api/docs"]
"""A page of each kind, in both languages, right and wrong."""


def garden(content: Path = CONTENT, *, fails: bool = True, **options: object) -> TestClient:
    """Enter it to start the workers; `fails` lets a traceback through."""
    app = create_app(Settings(content=content, **options))  # type: ignore[arg-type]
    return TestClient(app, follow_redirects=False, raise_server_exceptions=fails)


def planted(folder: Path, **notes: str) -> Path:
    """A content folder; `two_en` becomes two.en.md."""
    folder.mkdir(exist_ok=True)
    for name, text in notes.items():
        stem, _, language = name.rpartition("_")
        (folder / f"{stem}.{language}.md").write_text(text, encoding="utf-8")
    return folder


VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
ENDS_P = [
    "address",
    "article",
    "aside",
    "blockquote",
    "details",
    "dialog",
    "div",
    "dl",
    "fieldset",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
]
LABELLED = {"input", "select", "textarea"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    inside: tuple[str, ...]
    """The tags around it, outermost first."""
    text: str = ""


@dataclass
class Page(HTMLParser):
    """The elements of a document or a fragment, and what is wrong with how they nest."""

    source: str
    elements: list[Element] = field(default_factory=list)
    texts: list[tuple[str, tuple[Element, ...]]] = field(default_factory=list)
    """Each run of text with the elements around it."""
    wrong: list[str] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.source)
        self.close()
        self.wrong += [f"<{element.tag}> is never closed" for element in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]], alone: bool = False) -> None:
        line = self.getpos()[0]
        tags = tuple(element.tag for element in self._open)
        names = [name for name, _ in attrs]
        self.wrong += [f"line {line}: {name} twice in <{tag}>" for name in set(names) if names.count(name) > 1]
        if "p" in tags and tag in ENDS_P and not {"svg", "math"} & {*tags}:
            self.wrong.append(f"line {line}: <{tag}> in <p>")
        if tag in tags and tag in ("a", "button", "form", "label"):
            self.wrong.append(f"line {line}: <{tag}> in <{tag}>")
        element = Element(tag, dict(attrs), tags)
        self.elements.append(element)
        if tag not in VOID and not alone:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID and not {"svg", "math"} & {*(element.tag for element in self._open)}:
            self.wrong.append(f"line {self.getpos()[0]}: <{tag}/> outside of a drawing")
        self.handle_starttag(tag, attrs, alone=True)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1].tag != tag:
            opened = self._open[-1].tag if self._open else "nothing"
            self.wrong.append(f"line {self.getpos()[0]}: </{tag}> closes <{opened}>")
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.texts.append((data, tuple(self._open)))
        for element in self._open:
            element.text += data

    def all(self, tag: str, **attributes: str) -> list[Element]:
        wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
        return [one for one in self.elements if one.tag == tag and wanted.items() <= one.attributes.items()]

    def one(self, tag: str, **attributes: str) -> Element:
        (found,) = self.all(tag, **attributes)
        return found

    def field(self, id: str) -> Element:
        (found,) = [one for one in self.elements if one.attributes.get("id") == id]
        return found

    def value(self, id: str) -> str:
        return self.field(id).attributes["value"] or ""

    def hrefs(self) -> Iterator[str]:
        return (element.attributes["href"] or "" for element in self.elements if "href" in element.attributes)

    def unlabelled(self) -> list[Element]:
        """Controls that a screen reader has no name for."""
        named = {label.attributes.get("for") for label in self.all("label")}
        return [
            one
            for one in self.elements
            if one.tag in LABELLED
            and one.attributes.get("type") != "hidden"
            and not one.attributes.get("aria-label")
            and "label" not in one.inside
            and one.attributes.get("id") not in named
        ]

    def dangling(self) -> list[str]:
        """References to ids that the page does not have."""
        ids = {element.attributes.get("id") for element in self.elements}
        found = []
        for element in self.elements:
            for name in ("aria-labelledby", "aria-describedby", "aria-controls", "for", "data-for"):
                found += [f"{name}={id}" for id in (element.attributes.get(name) or "").split() if id not in ids]
            href = element.attributes.get("href") or ""
            found += [href] if element.tag == "a" and href.startswith("#") and href[1:] not in ids else []
        return found
