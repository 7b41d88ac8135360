"""A trace file as its lines, one block after another: memory holds one block and one line."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from app.errors import Unreadable

BLOCK = 1 << 20
LONGEST = 1 << 24
"""Bytes of the longest line: per-parameter lines of a large model have a few million."""

Watch = Callable[[int], object]
"""Is told how many bytes of the file as it lies on disk were read since the last call."""


def lines(path: Path, watch: Watch | None = None) -> Iterator[bytes]:
    """The lines without their ends. A `.gz` is unpacked on the way."""
    try:
        with path.open("rb") as stored:
            yield from _split(path, stored, watch)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Unreadable(f"{path}: cannot be unpacked: {error}") from None
    except OSError as error:
        raise Unreadable(f"{path}: cannot be read: {error.strerror}") from None


def _split(path: Path, stored: BinaryIO, watch: Watch | None) -> Iterator[bytes]:
    file = _unpacked(path, stored)
    before, tail = 0, b""
    while block := file.read(BLOCK):
        if watch is not None:
            watch(stored.tell() - before)
            before = stored.tell()
        *whole, tail = (tail + block).split(b"\n")
        yield from whole
        if len(tail) > LONGEST:
            raise Unreadable(f"{path}: a line is longer than {LONGEST >> 20} MB; this is no trace")
    if tail:
        yield tail


def _unpacked(path: Path, stored: BinaryIO) -> BinaryIO:
    if path.suffix == ".zst":
        raise Unreadable(f"{path}: .zst is not read; unpack it, or pack it as .gz")
    return cast(BinaryIO, gzip.open(stored)) if path.suffix == ".gz" else stored
