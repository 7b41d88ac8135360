"""Where notes and concepts are found: percent-encoded, since slugs may hold spaces, and letters of any script."""

from urllib.parse import quote

from app.content.note import Note
from app.language import Language


def note_address(note: Note) -> str:
    return at(note.language, note.slug)


def at(language: Language, *parts: str) -> str:
    """The path of a page: `/en/why`, `/zh/concepts/momentum`."""
    return f"/{language}/" + "/".join(quote(part, safe="") for part in parts)
