"""A title into the file of a new note, with a slug that nothing else in the garden is called by."""

import json
import re
import unicodedata
from dataclasses import dataclass

from app.content.files import MARKDOWN, RESERVED, UNPRINTABLE
from app.content.note import Note
from app.errors import PerennialError
from app.garden.garden import Garden
from app.garden.names import key
from app.language import Language, other

LONGEST = 80
"""Characters of a slug."""
WIDEST = 240
"""Bytes of a slug; a file's name may have 255, its endings among them."""


class Unplantable(PerennialError):
    """A note that cannot be begun; says why, and what to do."""


@dataclass(frozen=True)
class Seed:
    """A note that is not written yet."""

    file: str
    """Relative to the content folder."""
    text: str


def seed(garden: Garden, title: str, language: Language, default_language: Language, slug: str | None = None) -> Seed:
    """Its slug may be that of a note in the other language, which it then translates. Raises Unplantable."""
    named = " ".join(unicodedata.normalize("NFC", title).split())
    if not named or not UNPRINTABLE.isdisjoint(map(unicodedata.category, named)):
        raise Unplantable("a title has at least one letter, and only characters that can be printed")
    ending = ".md" if language == default_language else f".{language}.md"
    text = f"---\ntitle: {json.dumps(named, ensure_ascii=False)}\ngrowth: seedling\n---\n\n"
    original = _called(garden, slug, other(language)) if slug else None
    if original and garden.translation(original) is None:
        _refuse_taken(garden, language, named)
        return Seed(MARKDOWN.sub("", original.file).removesuffix(f".{original.language}") + ending, text)
    wanted = slug_from(slug if slug is not None else named)
    if not wanted:
        raise Unplantable(
            f"'{named if slug is None else slug}' has no letter or figure for an address; give one with --slug"
        )
    if wanted.casefold() in RESERVED:
        raise Unplantable(f"'{wanted}' is an address of the garden itself; give another with --slug")
    _refuse_taken(garden, language, wanted, named)
    return Seed(wanted + ending, text)


def _refuse_taken(garden: Garden, language: Language, *names: str) -> None:
    for name in names:
        if known := _called(garden, name, language):
            raise Unplantable(f"'{name}' is what {known.file} is called; give another title, or another --slug")


def _called(garden: Garden, name: str, language: Language) -> Note | None:
    """The note of the language of which this is the slug, the title or an alias as a whole, not the end of a path."""
    known = garden.find(name, language)
    names = (known.slug, known.title, *known.aliases) if known and known.language == language else ()
    return known if key(name) in map(key, names) else None


def slug_from(title: str) -> str:
    """Letters and figures of any script in small letters, with hyphens between them."""
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", title).lower())
    return words[:LONGEST].encode()[:WIDEST].decode(errors="ignore").strip("-")
