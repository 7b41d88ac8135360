"""The two languages, and a piece of text that exists in both."""

from dataclasses import dataclass
from typing import Literal, get_args

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True)
class Text:
    """The same words in both languages; leaving one out is a type error, not a fallback."""

    en: str
    zh: str

    def __getitem__(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en

    def __add__(self, other: "Text") -> "Text":
        return Text(self.en + other.en, self.zh + other.zh)


BADGE = Text("EN", "中")
"""Of a language, beside a title that the other one lacks."""


def alike(words: str) -> Text:
    """Text that reads the same in both languages: a symbol, a number, a name in code."""
    return Text(words, words)


def other(language: Language) -> Language:
    return "en" if language == "zh" else "zh"
