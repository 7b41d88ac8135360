"""A trace file as blocks of whole lines, unpacked on the way: memory holds one block and at most one line more."""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from app.errors import TooLarge, Unreadable

BLOCK = 1 << 18
LONGEST = 1 << 24
"""Bytes of the longest line: per-parameter lines of a large model have a few million."""
WINDOW = 23
"""Binary logarithm of the largest window of a `.zst`: what its levels up to 19 use; the decoder holds one in memory."""
PACKED = (".gz", ".zst")

Watch = Callable[[int], object]
"""Is told how many bytes of the file as it lies on disk were read since the last call."""


@dataclass
class Budget:
    """Unpacked bytes that the files of one run may have together; None: as many as they like."""

    limit: int | None = None
    spent: int = 0

    def spend(self, path: Path, size: int) -> None:
        self.spent += size
        if self.limit is not None and self.spent > self.limit:
            most = f"{self.limit / (1 << 20):,.0f} MB"
            raise TooLarge(
                f"{path}: the lines of this run take more than {most} unpacked, which is the limit",
                f"{path}：这次运行的各行解包后超过上限 {most}",
            )


def blocks(path: Path, watch: Watch | None = None, budget: Budget | None = None) -> Iterator[bytes]:
    """Pieces of the file that end where a line ends, but for the last of a file that does not."""
    try:
        with path.open("rb") as stored, _unpacked(path, stored) as file:
            yield from _whole(path, stored, file, watch, budget or Budget())
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _broken(path, error) from None
    except OSError as error:
        said = error.strerror or str(error)
        raise Unreadable(f"{path}: cannot be read: {said}", f"{path}：无法读取：{said}") from None


def lines(block: bytes) -> list[bytes]:
    """Without their ends."""
    every = block.split(b"\n")
    if not every[-1]:
        every.pop()
    return every


def _whole(path: Path, stored: BinaryIO, file: BinaryIO, watch: Watch | None, budget: Budget) -> Iterator[bytes]:
    before, tail = 0, b""
    while block := _read(path, file):
        budget.spend(path, len(block))
        if watch is not None:
            watch(stored.tell() - before)
            before = stored.tell()
        end = block.rfind(b"\n") + 1
        if end:
            yield tail + block[:end]
            tail = block[end:]
        else:
            tail += block
        if len(tail) > LONGEST:
            most = f"{LONGEST >> 20} MB"
            raise Unreadable(
                f"{path}: a line is longer than {most}; this is no trace", f"{path}：有一行超过 {most}，这不是轨迹"
            )
    if tail:
        yield tail


def _read(path: Path, file: BinaryIO) -> bytes:
    try:
        return file.read(BLOCK)
    except Exception as error:
        if type(error).__name__ == "ZstdError":  # of a module that is loaded only where it is needed
            raise _broken(path, error) from None
        raise


def _broken(path: Path, error: Exception) -> Unreadable:
    return Unreadable(f"{path}: cannot be unpacked: {error}", f"{path}：无法解包：{error}")


def _unpacked(path: Path, stored: BinaryIO) -> BinaryIO:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return cast(BinaryIO, gzip.open(stored))
    return _zstd(stored) if suffix == ".zst" else stored


def _zstd(stored: BinaryIO) -> BinaryIO:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return cast(BinaryIO, zstd.open(stored, options={zstd.DecompressionParameter.window_log_max: WINDOW}))
