"""A garden of one note for the cases: what it links to, and what its prose becomes."""

from dataclasses import dataclass

from app.content.files import Files, Source
from app.content.note import Note, Prose, Ran, Transclusion
from app.content.notes import note
from app.content.render import ConceptShown, LinkTo, RanShown, html
from app.errors import Fault
from app.language import Language

FILES = Files(
    slugs={"heat.md": "heat", "heat.zh.md": "heat", "cold.md": "cold"},
    others={"files/test.py": "files/test.py", "pictures/plot.png": "pictures/plot.png"},
    named={"test.py": "files/test.py", "plot.png": "pictures/plot.png"},
)


@dataclass(frozen=True)
class Shown:
    """The answers of a small garden: only `heat` and the note itself are written."""

    language: Language = "en"
    prefix: str = ""

    def link(self, target: str, section: str | None) -> LinkTo | None:
        tail = f"#{section}" if section else ""
        if target == "heat":
            return LinkTo(f"/{self.language}/heat{tail}", "Heat", "budding")
        return LinkTo(f"/{self.language}/cold{tail}", "Cold", "seedling") if not target else None

    def concept(self, id: str) -> ConceptShown:
        return ConceptShown(f"/{self.language}/concepts/{id}", "meaning")

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
