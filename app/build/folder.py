"""The folder that a site is written into: only what changed is touched, and only what was made before is removed."""

import contextlib
from pathlib import Path, PurePosixPath
from types import TracebackType

MARK = ".perennial-build"
"""Lists every file that was made; what it does not list is not ours."""
HEAD = "Made by perennial build, which updates or removes the files below, and touches nothing else here."


class Refused(Exception):
    """The folder cannot be written into; says why."""


class Folder:
    """Entered for one build. Names are relative, their parts divided by slashes."""

    def __init__(self, path: Path, content: Path) -> None:
        """Raises Refused."""
        self.path = path
        self.written = 0
        """Files that are new or changed."""
        self.removed = 0
        here, notes = path.resolve(), content.resolve()
        if here == notes or notes in here.parents:
            raise Refused(f"{path} is the folder of the notes, or in it; name another one")
        if here in notes.parents:
            raise Refused(f"{path} holds the folder of the notes; name another one")
        if path.exists() and not path.is_dir():
            raise Refused(f"{path} is no folder")
        self._mark = path / MARK
        self._before = self._listed()
        self.made: set[str] = set()
        """Every file that belongs to the site."""

    def __enter__(self) -> "Folder":
        self.path.mkdir(parents=True, exist_ok=True)
        if not self._mark.exists():
            self._mark.write_text(f"{HEAD}\n", encoding="utf-8")
        self._journal = self._mark.open("a", encoding="utf-8")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """What is no longer made goes, unless the build was broken off."""
        self._journal.close()
        if kind is not None:
            return
        for name in sorted(self._before - self.made):
            self._remove(name)
        text = "".join(f"{line}\n" for line in (HEAD, *sorted(self.made)))
        if self._mark.read_text(encoding="utf-8") != text:
            self._mark.write_text(text, encoding="utf-8")

    def write(self, name: str, body: bytes) -> None:
        """Raises Refused where something stands that was not made here."""
        path = self.path / name
        self.made.add(name)
        if name in self._before and path.is_file() and not path.is_symlink() and path.read_bytes() == body:
            return
        self._make_room(path)
        if name not in self._before:
            self._journal.write(f"{name}\n")
            self._journal.flush()
        path.write_bytes(body)
        self.written += 1

    def _make_room(self, path: Path) -> None:
        """A page may have become a file, or the other way round."""
        name = path.relative_to(self.path).as_posix()
        inside = [known for known in self._before if known.startswith(f"{name}/")] if path.is_dir() else []
        for known in (*inside, *(str(parent) for parent in PurePosixPath(name).parents)):
            if known in self._before:
                self._remove(known)
        if path.is_symlink() or path.is_dir() or (path.exists() and name not in self._before):
            raise Refused(f"{path} was not made by perennial build; move it away, or name another folder")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise Refused(f"{path.parent} is no folder; move it away, or name another folder") from None
        if not self._holds(path):
            raise Refused(f"{path.parent} leads out of {self.path}; move it away, or name another folder")

    def _remove(self, name: str) -> None:
        path = self.path / name
        if not path.is_file() or path.is_symlink() or not self._holds(path):
            return
        path.unlink()
        self.removed += 1
        for parent in path.parents:
            if parent == self.path:
                break
            with contextlib.suppress(OSError):  # not empty: something else lives there
                parent.rmdir()

    def _holds(self, path: Path) -> bool:
        return path.parent.resolve().is_relative_to(self.path.resolve())

    def _listed(self) -> frozenset[str]:
        if not self.path.is_dir():
            return frozenset()
        if not self._mark.is_file():
            if any(self.path.iterdir()):
                raise Refused(f"{self.path} is not empty, and was not made by perennial build; name another folder")
            return frozenset()
        lines = self._mark.read_text(encoding="utf-8").splitlines()
        if lines[:1] != [HEAD]:
            raise Refused(f"{self._mark} is not what perennial build writes; name another folder")
        return frozenset(name for name in lines[1:] if name and _inside(name))


def _inside(name: str) -> bool:
    parts = PurePosixPath(name)
    return not parts.is_absolute() and ".." not in parts.parts
