"""Pages into what a browser searches in: the index of pagefind, which is asked for nothing else."""

import importlib.util
import json
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

BUNDLE = "pagefind"
SCRIPT = f"{BUNDLE}/pagefind.js"
PAGES = "*/*/index.html"
"""Where notes stand; of these, pagefind reads those that say what of them is to be found."""
UNUSED = ("pagefind-ui", "pagefind-modular-ui", "pagefind-component-ui", "pagefind-highlight")
"""The interfaces that come with it: the search page is our own."""


def can_index() -> bool:
    """Whether pagefind is installed."""
    return importlib.util.find_spec("pagefind") is not None


async def indexed(site: Path) -> AsyncIterator[tuple[str, bytes]]:
    """Name and content of every file of the index, in order."""
    from pagefind.index import PagefindIndex

    with TemporaryDirectory() as made:
        async with PagefindIndex(config={"output_path": made}) as index:
            await index.add_directory(str(site), glob=PAGES)
        for path in sorted(Path(made).rglob("*")):
            if path.is_file() and not path.name.startswith(UNUSED):
                body = path.read_bytes()
                yield (
                    f"{BUNDLE}/{path.relative_to(made).as_posix()}",
                    _ordered(body) if path.suffix == ".json" else body,
                )


def _ordered(body: bytes) -> bytes:
    """Pagefind writes the languages in an order that chance decides."""
    return json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
