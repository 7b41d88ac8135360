"""What a note asked of the other files of its folder while it was read: when an answer changes, it is read again."""

from collections.abc import Mapping
from typing import Literal

from app.content.files import Files

Question = Literal["find", "slug", "twin", "other", "is_note"]
Answers = Mapping[tuple[Question, str], str | None]
"""By the question and the name that was asked for."""


class Asking:
    """The files of a folder, for one note; remembers what was asked."""

    def __init__(self, files: Files, note: str) -> None:
        self.files = files
        self.note = note
        self.answers: dict[tuple[Question, str], str | None] = {}

    def __call__(self, question: Question, name: str) -> str | None:
        """The answer of the method of Files that is called like the question."""
        if (question, name) not in self.answers:
            self.answers[question, name] = answer(self.files, self.note, question, name)
        return self.answers[question, name]


def answer(files: Files, note: str, question: Question, name: str) -> str | None:
    found: str | None = getattr(files, question)(note, name)
    return found


def hold(files: Files, note: str, answers: Answers) -> bool:
    """Whether these files would answer the same."""
    return all(answer(files, note, question, name) == said for (question, name), said in answers.items())
