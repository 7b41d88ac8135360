"""A multipart body into files of a folder and texts, as it arrives: memory holds one piece of it.

(Starlette's own form would hold small files in memory and write large ones where a worker process cannot open them.)
"""

import asyncio
import contextlib
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import structlog
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from app.errors import NoRoom
from app.language import Text

log = structlog.get_logger()

MOST_PARTS = 256
LONGEST_TEXT = 8192
"""Bytes of a text field."""
LONGEST_NAME = 100
PATIENCE = 60.0
"""Seconds in which something more must arrive."""
UNSAFE = re.compile(r"[^\w.+-]")


class NoForm(Exception):
    """A body that is no multipart form, or one beyond what a form may be; says why in both languages."""

    def __init__(self, en: str, zh: str) -> None:
        self.message = Text(en, zh)
        super().__init__(en)


class Stalled(Exception):
    """A body of which nothing more arrives, though it has not ended."""


@dataclass
class Upload:
    files: Mapping[str, list[Path]]
    """By name of the field, in the order in which they came."""
    texts: dict[str, list[str]] = field(default_factory=dict)


@contextlib.contextmanager
def passing_folder() -> Iterator[Path]:
    """A folder that is gone when the context ends. Raises NoRoom."""
    try:
        made = tempfile.TemporaryDirectory(prefix="perennial-")
    except OSError as wrong:
        raise _no_room(wrong) from None
    with made as name:
        yield Path(name)


async def received(request: Request, folder: Path, names: Collection[str], patience: float = PATIENCE) -> Upload:
    """Fields of these names are files, each in `folder/name/` under its own name; all others are texts.

    Raises NoForm, NoRoom, Stalled, and what the reading of the body raises.
    """
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise NoForm("the body is not multipart/form-data", "请求体不是 multipart/form-data")
    form = _Form(folder, names)
    try:
        parser = MultipartParser(options[b"boundary"], form.callbacks)  # type: ignore[arg-type]
        async with asyncio.timeout(patience) as limit:
            async for chunk in request.stream():
                await asyncio.to_thread(parser.write, chunk)
                limit.reschedule(asyncio.get_running_loop().time() + patience)
        parser.finalize()
        if not form.ended:
            raise NoForm("the form ends in the middle", "表单没有传完")
    except FormParserError as wrong:
        raise NoForm(f"its parts cannot be read: {wrong}", f"无法读懂其中的各部分：{wrong}") from None
    except TimeoutError:
        raise Stalled(f"nothing more arrived for {patience:g} s") from None
    except OSError as wrong:
        raise _no_room(wrong) from None
    finally:
        with contextlib.suppress(OSError):  # of a part that came whole it was raised above
            form.close()
    return Upload(form.files, form.texts)


def _no_room(wrong: OSError) -> NoRoom:
    """The reader cannot mend it: whoever keeps the garden is told."""
    log.error("what was sent cannot be written", reason=str(wrong))
    return NoRoom(str(wrong))


class _Form:
    """What the parser tells, one event after another, each with a piece of the body."""

    def __init__(self, folder: Path, names: Collection[str]) -> None:
        self.folder = folder
        self.files: dict[str, list[Path]] = {name: [] for name in names}
        self.texts: dict[str, list[str]] = {}
        self.ended = False
        self.parts = 0
        self.callbacks = {
            "on_part_begin": self.begin,
            "on_header_field": self.header_name,
            "on_header_value": self.header_value,
            "on_header_end": self.header,
            "on_headers_finished": self.open,
            "on_part_data": self.data,
            "on_part_end": self.end_part,
            "on_end": self.end,
        }
        self._name = ""
        self._file: BinaryIO | None = None
        self._text = b""
        self._header = [b"", b""]
        self._headers: dict[bytes, bytes] = {}

    def begin(self) -> None:
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise NoForm(f"the form has more than {MOST_PARTS} parts", f"表单超过 {MOST_PARTS} 个部分")
        self._headers = {}
        self._text = b""

    def header_name(self, data: bytes, start: int, end: int) -> None:
        self._header[0] += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._header[1] += data[start:end]

    def header(self) -> None:
        self._headers[self._header[0].lower()] = self._header[1]
        self._header = [b"", b""]

    def open(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        if b"name" not in options:
            raise NoForm("a part has no name", "有一个部分没有名字")
        self._name = options[b"name"].decode("utf-8", "replace")
        if self._name in self.files:
            given = options.get(b"filename", b"").decode("utf-8", "replace")
            path = self._free(self.folder / self._name, given)
            self.files[self._name].append(path)
            self._file = path.open("xb")

    def data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])
            return
        self._text += data[start:end]
        if len(self._text) > LONGEST_TEXT:
            name = self._name[:40]
            raise NoForm(
                f"the field {name!r} is longer than {LONGEST_TEXT} bytes", f"字段 {name!r} 超过 {LONGEST_TEXT} 字节"
            )

    def end_part(self) -> None:
        if self._file is not None:
            self.close()
            path = self.files[self._name][-1]
            if not path.stat().st_size and path.name == "unnamed":
                self.files[self._name].pop()  # a browser sends so a field in which no file was chosen
        else:
            self.texts.setdefault(self._name, []).append(self._text.decode("utf-8", "replace"))

    def end(self) -> None:
        self.ended = True

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _free(self, folder: Path, given: str) -> Path:
        """A name within the folder that says what the file was called, and that none has yet."""
        folder.mkdir(exist_ok=True)
        plain = UNSAFE.sub("_", PurePosixPath(given.replace("\\", "/")).name).strip(".")[-LONGEST_NAME:] or "unnamed"
        path, number = folder / plain, 1
        while path.exists():
            number += 1
            path = folder / f"{number}-{plain}"
        return path
