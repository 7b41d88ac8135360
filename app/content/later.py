"""A tuple that is not loaded before somebody looks into it: of thousands of notes few are read in full."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

T = TypeVar("T", covariant=True)


class Later(Sequence[T]):
    """Equal to the tuple that `load` returns; `load` is asked each time, and remembers what is in use."""

    __slots__ = ("load",)

    def __init__(self, load: Callable[[], tuple[T, ...]]) -> None:
        self.load = load

    @overload
    def __getitem__(self, at: int) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[T, ...]: ...

    def __getitem__(self, at: int | slice) -> T | tuple[T, ...]:
        return self.load()[at]

    def __len__(self) -> int:
        return len(self.load())

    def __iter__(self) -> Iterator[T]:
        return iter(self.load())

    def __eq__(self, other: object) -> bool:
        return self.load() == (other.load() if isinstance(other, Later) else other)

    def __hash__(self) -> int:
        return hash(self.load())

    def __repr__(self) -> str:
        return repr(self.load())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it stands for."""
        return tuple, (self.load(),)
