"""A trace file into the lines at which its course turns: segments, resumes, first batches, torn lines, its end."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.errors import Incomparable, Unreadable
from app.traces.lines import Budget, blocks, lines
from app.traces.record import Record, counts, parsed
from app.traces.schema import VERSION

DIGEST = "wrapping-sum-1"

PLAIN = rb'\{"event": ?"(?!trace|resum|model|env")'
"""How a line begins at which nothing turns."""
FIRST = re.compile(PLAIN)
BREAK = re.compile(rb"\n(?:(?<!\}\n)(?<!\}\r\n)|(?!" + PLAIN + rb"))")
"""An end of line where the line before may be torn, or the one after may turn the course."""
MOST = 100_000
"""Turns of a file; each is kept."""


@dataclass(frozen=True)
class Turn:
    path: Path
    line: int
    rank: int
    event: str
    """That of the record, `torn` or `end`."""
    record: Record


def turns(path: Path, budget: Budget) -> Iterator[Turn]:
    """Raises Unreadable for what is no trace."""
    course, before = _Course(path), 0
    for block in blocks(path, budget=budget):
        if course.settled and _plain(block):
            before += block.count(b"\n")
            continue
        for line in lines(block):
            before += 1
            yield from course.look(before, line)
    if not before:
        raise Unreadable(f"{path}: is empty", f"{path}：是空文件")
    yield from course.end(before + 1)


def _plain(block: bytes) -> bool:
    """Whether nothing turns at any of its lines, as it is with nearly all blocks."""
    return bool(block.endswith(b"}\n") and FIRST.match(block) and not BREAK.search(block, 0, len(block) - 1))


@dataclass
class _Course:
    path: Path
    rank: int = -1
    begun: bool = False
    """Whether this segment has a batch already."""
    torn: int = 0
    """Number of the line before, if that ends in the middle."""
    found: int = 0

    @property
    def settled(self) -> bool:
        return self.begun and not self.torn

    def look(self, number: int, line: bytes) -> Iterator[Turn]:
        if self.settled and line[-1:] == b"}" and FIRST.match(line):
            return
        record = parsed(line)
        if self.rank < 0:
            _check_head(self.path, record)
        if self.torn and (record is None or record["event"] != "trace"):
            raise self._unreadable(self.torn, "not a line of JSON with an event", "不是带有 event 的 JSON 行")
        if record is None:
            self.torn = number
            return
        yield from self._mend()
        event = record["event"]
        if event == "trace":
            _check_head(self.path, record)
            self.rank, self.begun = record["rank"], False
        if event == "resume" and not counts(record.get("step")):
            raise self._unreadable(number, "a resume line without its step", "resume 行没有步号")
        if event in ("trace", "resume", "env", "model") or (event == "batch" and not self.begun):
            self.begun = self.begun or event == "batch"
            self.found += 1
            if self.found > MOST:
                raise self._unreadable(number, f"more than {MOST:,} segments", f"超过 {MOST:,} 段")
            yield Turn(self.path, number, self.rank, event, record)

    def end(self, number: int) -> Iterator[Turn]:
        yield from self._mend()
        yield Turn(self.path, number, self.rank, "end", {})

    def _mend(self) -> Iterator[Turn]:
        if self.torn:
            yield Turn(self.path, self.torn, self.rank, "torn", {})
            self.torn = 0

    def _unreadable(self, line: int, en: str, zh: str) -> Unreadable:
        return Unreadable(f"{self.path}:{line}: {en}", f"{self.path}:{line}：{zh}")


def _check_head(path: Path, record: Record | None) -> None:
    if record is None or record["event"] != "trace":
        raise Unreadable(
            f"{path}: is no trace; its first line is not the `trace` line of a recorder",
            f"{path}：不是轨迹；第一行不是记录器写的 `trace` 行",
        )
    if record.get("schema") != VERSION:
        given = _short(record.get("schema"))
        raise Unreadable(
            f"{path}: is a trace of schema {given}; this reads schema {VERSION}",
            f"{path}：轨迹的格式版本是 {given}，这里读版本 {VERSION}",
        )
    if record.get("digest") != DIGEST:
        given = _short(record.get("digest"))
        raise Incomparable(
            f"{path}: has digests of kind {given}, which equal none of {DIGEST}",
            f"{path}：摘要的种类是 {given}，与 {DIGEST} 无法比较",
        )
    if not counts(record.get("rank")) or not counts(record.get("world")):
        raise Unreadable(f"{path}: its first line lacks the rank or the world", f"{path}：第一行缺少进程序号或进程总数")


def _short(value: object) -> str:
    return f"{value!s:.40}"
