"""What the rules of one note share while it is read: where they are, what files there are, what is wrong."""

from dataclasses import InitVar, dataclass, field
from typing import Any

from app.content.answers import Asking
from app.content.files import Files
from app.errors import Fault
from app.language import Language


@dataclass
class Reading:
    """The only thing that changes while a note is read; it is thrown away afterwards."""

    file: str
    language: Language
    files: InitVar[Files]
    ask: Asking = field(init=False)
    """What the folder holds; the note depends on every answer."""
    first_line: int = 0
    """Lines of front matter above the text."""
    block_line: int = 0
    """The line of the block whose inline text is being read, counted from 0 below the front matter."""
    faults: list[Fault] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    """Met in the text, in reading order."""

    def __post_init__(self, files: Files) -> None:
        self.ask = Asking(files, self.file)

    def line(self, block_line: int, text: str = "", position: int = 0) -> int:
        """The line in the file of a position in the text of a block."""
        return self.first_line + block_line + text.count("\n", 0, position) + 1

    def fault(self, line: int, what: str, stops: bool = True) -> None:
        self.faults.append(Fault(self.file, line, what, stops))


def reading(state: Any) -> Reading:
    """The reading that a parser's state belongs to."""
    found: Reading = state.env["reading"]
    return found


def here(state: Any) -> int:
    """The line in the file where an inline rule stands."""
    desk = reading(state)
    return desk.line(desk.block_line, state.src, state.pos)
