"""A title into the file of a new note, with a slug that nothing else in the garden is called by."""

import json
import re
import unicodedata
from dataclasses import dataclass

from app.content.files import RESERVED
from app.errors import PerennialError
from app.garden.garden import Garden
from app.language import Language

LONGEST = 80
"""Characters of a slug; a file's name may have 255 bytes, of which a Han character takes three."""


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
    if not named.isprintable() or not named:
        raise Unplantable("a title has at least one letter, and only characters that can be printed")
    wanted = slug_from(slug if slug is not None else named)
    if not wanted:
        raise Unplantable(f"'{slug or named}' has no letter or figure for an address; give one with --slug")
    if wanted in RESERVED:
        raise Unplantable(f"'{wanted}' is an address of the garden itself; give another with --slug")
    for name in (wanted, named):
        known = garden.find(name, language)
        if known is not None and known.language == language:
            raise Unplantable(f"'{name}' is what {known.file} is called; give another title, or another --slug")
    ending = ".md" if language == default_language else f".{language}.md"
    return Seed(wanted + ending, f"---\ntitle: {json.dumps(named, ensure_ascii=False)}\ngrowth: seedling\n---\n\n")


def slug_from(title: str) -> str:
    """Letters and figures of any script in small letters, with hyphens between them."""
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", title).lower())
    return words[:LONGEST].strip("-")
