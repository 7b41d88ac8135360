"""What was worked out from a content folder, kept in one SQLite file: the next start need not do it again.

Nothing in it is needed: deleting it costs time only. Several processes may share it. What other code has made is not
seen, and what cannot be read is thrown away and made anew. The values are pickles, which could run anything when they
are loaded: the file is opened only where it belongs to who runs the garden and nobody else may write to it.
"""

import contextlib
import hashlib
import logging
import os
import random
import sqlite3
import sys
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
FILE = "index.sqlite"
PATIENCE = 5.0
"""Seconds that another process may hold the file."""
AT_ONCE = 500
"""Rows that are read in one go."""
SLACK = 2
"""Rows of a kind are removed when there are so many times as many as are used: two states of a folder fit in."""
WEEK = 7
"""Days after which the rows of code that nobody has run since go."""
TABLES = """
    CREATE TABLE IF NOT EXISTS code (code TEXT PRIMARY KEY, day INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS kept (
        code TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, sum INTEGER NOT NULL,
        PRIMARY KEY (code, kind, key));
"""
PARSERS = ("markdown-it-py", "mdit-py-plugins", "mdit-py-cjk-friendly", "latex2mathml", "pygments", "nh3", "pyyaml")
"""Packages on whose version it depends what is worked out."""
log = logging.getLogger(__name__)


class Store:
    """Bytes by kind and key, of this version of the code."""

    def __init__(self, folder: Path, day: int) -> None:
        """`day` is today's, counted from anywhere; the folder is made where it is missing."""
        self.path = folder / FILE
        self._day = day
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None
        self._given_up = False

    def all(self, kind: str) -> Iterator[tuple[str, bytes]]:
        """Every key with its value, a few at a time."""
        where = "SELECT key, value, sum FROM kept WHERE code = ? AND kind = ? AND key > ? ORDER BY key LIMIT ?"
        last: str | None = ""
        while last is not None:

            def read(file: sqlite3.Connection, behind: str = last) -> list[tuple[str, bytes]]:
                rows = file.execute(where, (code(), kind, behind, AT_ONCE))
                return [(key, _whole(value, check)) for key, value, check in rows]

            some = self._do(read) or []
            yield from some
            last = some[-1][0] if len(some) == AT_ONCE else None

    def get(self, kind: str, key: str) -> bytes | None:
        def read(file: sqlite3.Connection) -> bytes | None:
            where = "SELECT value, sum FROM kept WHERE code = ? AND kind = ? AND key = ?"
            row = file.execute(where, (code(), kind, key)).fetchone()
            return _whole(*row) if row else None

        return self._do(read)

    def put(self, kind: str, entries: Mapping[str, bytes]) -> None:
        def write(file: sqlite3.Connection) -> None:
            rows = ((code(), kind, key, value, zlib.crc32(value)) for key, value in entries.items())
            file.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?, ?)", rows)

        if entries:
            self._do(write)

    def prune(self, kind: str, used: Collection[str]) -> None:
        """Removes what is not used, once that is more than half of it."""

        def remove(file: sqlite3.Connection) -> None:
            rows = file.execute("SELECT key FROM kept WHERE code = ? AND kind = ?", (code(), kind)).fetchall()
            if len(rows) > SLACK * len(used):
                gone = {key for (key,) in rows}.difference(used)
                where = "DELETE FROM kept WHERE code = ? AND kind = ? AND key = ?"
                file.executemany(where, ((code(), kind, key) for key in gone))

        self._do(remove)

    def close(self) -> None:
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """In one transaction. A file that cannot be read is begun anew; one that cannot be used is done without."""
        with self._lock:
            for anew in (False, True):
                if self._given_up:
                    break
                try:
                    if self._open is None:
                        self._open = self._opened()
                    with self._open:
                        return work(self._open)
                except (sqlite3.Error, OSError) as error:
                    self._failed(error, anew)
                    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                        break
            return None

    def _opened(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _belongs_to_us(self.path.parent)
        with contextlib.suppress(FileExistsError):  # opened and closed by hand only once: that would end SQLite's locks
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        _belongs_to_us(self.path)
        file = sqlite3.connect(self.path, timeout=PATIENCE, check_same_thread=False)
        try:
            _share(file)
            file.execute("PRAGMA synchronous = NORMAL")
            file.executescript(TABLES)
            with file:
                file.execute("INSERT OR REPLACE INTO code VALUES (?, ?)", (code(), self._day))
                old = "(SELECT code FROM code WHERE day < ?)"
                file.execute(f"DELETE FROM kept WHERE code IN {old}", (self._day - WEEK,))
                file.execute("DELETE FROM code WHERE day < ?", (self._day - WEEK,))
        except BaseException:
            file.close()
            raise
        weakref.finalize(self, file.close)
        return file

    def _failed(self, error: Exception, anew: bool) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
        busy = isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
        broken = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        if busy:
            log.warning("%s is held by another process; going on without it for now", self.path)
        elif broken and not anew:
            log.warning("%s cannot be read (%s), so it is made anew", self.path, error)
            for ending in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        else:
            log.warning("%s cannot be used (%s); nothing is kept for the next start", self.path, error)
            self._given_up = True


def _share(file: sqlite3.Connection) -> None:
    """SQLite itself does not wait here where others open a new file at the same moment."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            file.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(random.uniform(0.001, 0.01))


@cache
def code() -> str:
    """The version of all that decides what is kept: our own sources, Python and the packages named above."""
    ours = Path(__file__).parents[1]
    files = sorted(path for room in ("content", "garden") for path in (ours / room).rglob("*.py"))
    digest = hashlib.sha256(sys.version.encode())
    for path in (*files, ours / "errors.py", ours / "language.py", ours / "numerals.py"):
        digest.update(path.read_bytes())
    for package in PARSERS:
        digest.update(f"{package} {_version(package)}\n".encode())
    return digest.hexdigest()[:16]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _whole(value: bytes, check: int) -> bytes:
    if zlib.crc32(value) != check:
        raise sqlite3.DatabaseError("a value is not what was written")
    return value


def _belongs_to_us(path: Path) -> None:
    """Raises PermissionError where somebody else may have written what lies there."""
    if not hasattr(os, "getuid"):
        return
    found = path.stat()
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError("others may write to it")
