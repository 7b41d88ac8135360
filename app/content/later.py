"""A tuple that is not loaded before somebody looks into it: of thousands of notes few are read in full."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

T = TypeVar("T", covariant=True)


class Later(Sequence[T]):
    """Equal to the tuple that `load` returns, which is called once at most for each thread that is first."""

    __slots__ = ("_load", "_whole")

    def __init__(self, load: Callable[[], tuple[T, ...]]) -> None:
        self._load: Callable[[], tuple[T, ...]] | None = load
        self._whole: tuple[T, ...] = ()

    @property
    def whole(self) -> tuple[T, ...]:
        if (load := self._load) is not None:
            self._whole = load()
            self._load = None  # only now: whoever asks meanwhile loads too
        return self._whole

    @overload
    def __getitem__(self, at: int) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[T, ...]: ...

    def __getitem__(self, at: int | slice) -> T | tuple[T, ...]:
        return self.whole[at]

    def __len__(self) -> int:
        return len(self.whole)

    def __iter__(self) -> Iterator[T]:
        return iter(self.whole)

    def __eq__(self, other: object) -> bool:
        return self.whole == (other.whole if isinstance(other, Later) else other)

    def __hash__(self) -> int:
        return hash(self.whole)

    def __repr__(self) -> str:
        return repr(self.whole)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it stands for."""
        return tuple, (self.whole,)
