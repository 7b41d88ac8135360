"""A garden of one note for the cases: what it links to, and what its prose becomes."""

from dataclasses import dataclass
from urllib.parse import quote

from app.content.files import Files, Source
from app.content.note import Note, Prose, Ran, Transclusion
from app.content.notes import note
from app.content.render import ConceptShown, LinkTo, RanShown, html
from app.errors import Fault
from app.language import Language

FILES = Files(
    slugs={
        "heat.md": "heat",
        "heat.zh.md": "heat",
        "cold.md": "cold",
        "README.md": "README",
        "deep/README.md": "deep-README",
        "deep/Some Note.md": "Some Note",
        "deep/Node.js.md": "Node.js",
        "想法/动量 与 速度.md": "动量 与 速度",
    },
    others={
        path: path
        for path in (
            "files/test.py",
            "pictures/plot.png",
            "media/Rec 1.mp3",
            "media/film.webm",
            "papers/Some Paper.pdf",
            "drawings/map.excalidraw.svg",
        )
    },
)


@dataclass(frozen=True)
class Shown:
    """The answers of a small garden: its notes are those of FILES."""

    language: Language = "en"
    prefix: str = ""

    def link(self, target: str, section: str | None) -> LinkTo | None:
        tail = f"#{section}" if section else ""
        if target == "heat":
            return LinkTo(f"/{self.language}/heat{tail}", "Heat", "budding")
        if target in FILES.slugs.values():
            return LinkTo(f"/{self.language}/{quote(target)}{tail}", target, "seedling")
        return LinkTo(f"/{self.language}/cold{tail}", "Cold", "seedling") if not target else None

    def concept(self, id: str) -> ConceptShown:
        return ConceptShown(f"/{self.language}/concepts/{id}", "meaning")

    def tag(self, name: str) -> str:
        return f"/{self.language}/tags/{name}"

    def ran(self, ran: Ran) -> RanShown:
        query = "&".join(f"{key}={value}" for key, value in {**ran.given, "read": ran.read}.items())
        return RanShown(f"/{self.language}/widgets/{ran.name}?{query}", "0.44" if ran.name == "resume" else None)


def read(text: str, language: Language = "en", stem: str = "cold") -> tuple[Note, tuple[Fault, ...]]:
    return note(text, Source(f"{stem}.md", stem, stem, language), FILES)


def shown(note: Note, context: Shown | None = None) -> str:
    """Prose as HTML; what is no prose as a line in brackets."""
    lines = []
    for block in note.body:
        if isinstance(block, Prose):
            lines.append(html(block, context or Shown(note.language)).strip())
        elif isinstance(block, Transclusion):
            lines.append(f"(transclusion {block.target} {block.section}, line {block.line})")
        else:
            lines.append(f"(widget {block.experiment} as {block.name} {dict(block.given)}, line {block.line})")
    return "\n".join(line for line in lines if line)
