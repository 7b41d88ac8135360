"""The bytes of a file into a note, with everything that is wrong in it."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

from markdown_it.token import Token

from app.content.answers import Answers
from app.content.blocks import Blocks
from app.content.files import Files, Source
from app.content.front_matter import FrontMatter, parted, read_front_matter, unclosed
from app.content.markdown import tokens
from app.content.note import Embed, Note, Transclusion
from app.content.reading import Reading
from app.content.rules.headings import words
from app.content.sentences import opening
from app.errors import Fault

HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
DRAWING = "excalidraw-plugin"
LATIN = re.compile(r"[^\W\d_\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff][\w'’-]*")


@dataclass(frozen=True)
class Read:
    """What was made of a file, and the answers that this depends on."""

    note: Note | None
    faults: tuple[Fault, ...]
    answers: Answers


def read(data: bytes, source: Source, files: Files) -> Read:
    """No note where the bytes are no text, and for a drawing of Obsidian's Excalidraw."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        what = f"byte {data[error.start]:#04x} is not UTF-8, so this note is left out; save the file in UTF-8"
        return Read(None, (Fault(source.path, data.count(b"\n", 0, error.start) + 1, what, stops=False),), {})
    made, reading = _read(text, source, files)
    if DRAWING in made.extra:
        return Read(None, (), {})
    return Read(made, tuple(sorted(reading.faults)), reading.ask.answers)


def note(text: str, source: Source, files: Files) -> tuple[Note, tuple[Fault, ...]]:
    """The note that a text is."""
    made, reading = _read(text, source, files)
    return made, tuple(sorted(reading.faults))


def _read(text: str, source: Source, files: Files) -> tuple[Note, Reading]:
    head, body = parted(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    reading = Reading(source.path, source.language, files, first_line=head.count("\n"))
    if not head and unclosed(body):
        reading.fault(1, "the front matter does not end; write a line '---' below it")
    matter = read_front_matter(head, reading)
    stream = tokens(body, reading)
    title = _title(stream, matter, source, reading)
    blocks = Blocks(reading)
    blocks.walk(stream)
    return _note(text, source, matter, title, blocks), reading


def _title(stream: list[Token], matter: FrontMatter, source: Source, reading: Reading) -> str:
    """Takes the heading away that says what the title says."""
    start = next((i for i, token in enumerate(stream) if token.type == "heading_open" and not token.level), None)
    if start is None or stream[start].tag != "h1":
        return matter.title or source.stem
    inline = stream[start + 1]
    heading = words(inline.children or [])
    if not heading or (matter.title and matter.title != heading):
        return matter.title or source.stem
    for child in inline.children or ():
        if child.type in ("mark", "ran"):
            reading.fault(
                child.meta["line"], "a title holds no marks; mark the words where they first stand in the text"
            )
    del stream[start : start + 3]
    return heading


def _note(text: str, source: Source, matter: FrontMatter, title: str, blocks: Blocks) -> Note:
    first = blocks.first_paragraph or (blocks.passages[0].text if blocks.passages else "")
    return Note(
        file=source.path,
        slug=source.slug,
        language=source.language,
        title=unicodedata.normalize("NFC", title),
        summary=matter.summary or opening(first),
        growth=matter.growth,
        planted=matter.planted,
        tended=matter.tended,
        tags=_tags(matter.tags, blocks.reading.tags),
        aliases=matter.aliases,
        translates=matter.translates,
        draft=matter.draft,
        extra=matter.extra,
        source=text,
        body=tuple(blocks.body),
        sections=tuple(blocks.sections),
        passages=tuple(blocks.passages),
        marks=tuple(blocks.marks),
        rans=tuple(blocks.rans),
        links=tuple(blocks.links),
        files=tuple(dict.fromkeys(blocks.files)),
        minutes=_minutes(" ".join(passage.text for passage in blocks.passages)),
        embeds=tuple(block for block in blocks.body if isinstance(block, Embed)),
        transclusions=tuple(block for block in blocks.body if isinstance(block, Transclusion)),
        anchors=tuple(replace(anchor, title=anchor.title or title) for anchor in blocks.anchors),
    )


def _tags(*lists: Iterable[str]) -> tuple[str, ...]:
    """Each once, in the spelling that is met first."""
    found: dict[str, str] = {}
    for tag in chain(*lists):
        found.setdefault(tag.casefold(), tag)
    return tuple(found.values())


def _minutes(text: str) -> int:
    return max(1, round(len(LATIN.findall(text)) / 220 + len(HAN.findall(text)) / 400))
