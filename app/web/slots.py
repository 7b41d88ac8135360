"""How many experiments one client may have waiting or running at once."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from app.errors import Busy


class Slots:
    """Counts by client address; behind a proxy the server puts the reader's own address there."""

    def __init__(self, each: int) -> None:
        self._each = each
        self._held: Counter[str] = Counter()

    @contextmanager
    def held(self, client: str) -> Iterator[None]:
        """Raises Busy when this client holds all of its slots."""
        if self._held[client] >= self._each:
            raise Busy(retry_after=1)
        self._held[client] += 1
        try:
            yield
        finally:
            self._held[client] -= 1
            if not self._held[client]:
                del self._held[client]
