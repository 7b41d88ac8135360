"""Traces that were sent into their comparison, in a worker process; nothing of them is kept."""

from pathlib import Path

from app.errors import Busy
from app.settings import Settings
from app.traces.comparison import Comparison
from app.traces.question import Question, answer_aside
from app.web.uploads import Upload
from app.workers import Workers

UNPACKED = 8
"""How many times the limit of what is sent its unpacked lines may take."""


def warm() -> None:
    """A worker needs nothing beyond what it imports to find its work."""


class Comparer:
    """One per application; its workers come up with the first comparison."""

    def __init__(self, settings: Settings) -> None:
        self.limit = settings.trace_limit << 20
        """Bytes that may be sent at once."""
        self._seconds = settings.comparison_time
        self._most = 2 * settings.comparisons
        self._under_way = 0
        self._workers = Workers(settings.comparisons, settings.memory_limit, warm)

    def close(self) -> None:
        self._workers.close()

    async def compare(self, upload: Upload, question: Question, folder: Path) -> Comparison:
        """Raises Busy, TookTooLong, WorkerLost, and TraceError with the files named as they were sent."""
        if self._under_way >= self._most:
            raise Busy(retry_after=max(1, round(self._seconds / 4)))
        self._under_way += 1
        try:
            return await self._workers.run(
                self._seconds,
                answer_aside,
                upload.files["a"],
                upload.files["b"],
                upload.files["noise"],
                question,
                self.limit * UNPACKED,
                folder,
            )
        finally:
            self._under_way -= 1
