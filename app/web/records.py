"""What is known of the past of notes: from the index beside them, as in an image, else from git; read once."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from threading import Lock

from app.content.note import Note
from app.content.rules.comments import published
from app.garden.dates import INDEX, indexed
from app.garden.differences import Paragraph, Unchanged, paragraph_differences
from app.garden.digests import TOP, old_section, read_old_sections, section_texts, stale
from app.garden.history import History, history, read_histories

Difference = tuple[Paragraph | Unchanged, ...]


class Records:
    """Git takes its time, and blocks: ask from a thread."""

    def __init__(self, content: Path, drafts: bool) -> None:
        self.content = content
        self.drafts = drafts
        self._stale: dict[str, dict[str, Difference | None]] = {}
        self._asking = Lock()

    def history(self, note: Note) -> History:
        if self._histories is None:
            return history(self.content, note.file, drafts=self.drafts)
        return self._histories.get(note.file) or History(self._repository.repository)

    def stale(self, note: Note, twin: Note | None) -> Mapping[str, Difference | None]:
        """What changed in the other text of each section since then; None where the text of then is not known."""
        if twin is None or not note.translates:
            return {}
        with self._asking:
            if note.file not in self._stale:
                self._stale[note.file] = self._differences(note, twin)
            return self._stale[note.file]

    def _differences(self, note: Note, twin: Note) -> dict[str, Difference | None]:
        now = section_texts(twin)
        found: dict[str, Difference | None] = {}
        for one in stale(note, twin):
            old = self._old(twin.file, one.section, one.recorded)
            new = published(now[one.section]).strip()
            found[one.section] = None if old is None else paragraph_differences(published(old).strip(), new)
        return found

    def _old(self, file: str, section: str, recorded: str) -> str | None:
        if self._old_sections is None:
            return old_section(self.content, file, section or TOP, recorded)
        return self._old_sections.get(file, {}).get(recorded)

    @cached_property
    def _histories(self) -> Mapping[str, History] | None:
        return read_histories(self.content / INDEX)

    @cached_property
    def _repository(self) -> History:
        """What the index says of a note that it does not list."""
        return History(indexed(self.content / INDEX)["history"]["repository"])

    @cached_property
    def _old_sections(self) -> Mapping[str, Mapping[str, str]] | None:
        return read_old_sections(self.content / INDEX)
