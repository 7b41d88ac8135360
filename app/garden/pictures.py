"""Views of the garden's network into pictures, drawn behind the scenes: whoever asks gets what is there by then.

A picture follows from its graph alone. Those of the whole garden are kept for the next start by a digest of it; views
are without number, and none takes longer to draw.
"""

import hashlib
import pickle
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock

import networkx as nx
from cachetools import LRUCache

from app.content.note import Concept
from app.content.reader import Kept
from app.garden.atlas import View, asked, pictured, whole
from app.garden.garden import Address, Garden
from app.garden.layout import Picture, place
from app.language import Language

PICTURE = "picture"
AT_ONCE = 64
"""Pictures that are kept in memory, each some 300 to 500 kB where a garden is large."""
WAITING = 32
"""Pictures that may wait for being drawn: there are more views than anybody looks at, and some ask for all of them."""


@dataclass(frozen=True)
class Drawn:
    """A view of the network, and its picture."""

    graph: "nx.Graph[str]"
    """What the picture shows."""
    total: int
    """Nodes that the view asks for, shown or not."""
    picture: Picture


class Pictures:
    """Of one garden; `named` says which concepts each note marks or names, and may take its time."""

    def __init__(
        self,
        garden: Garden,
        concepts: Mapping[str, Concept],
        named: Callable[[], Mapping[Address, Iterable[str]]],
        kept: Kept | None,
    ) -> None:
        self.garden, self.concepts, self.named, self.kept = garden, concepts, named, kept
        self._whole: nx.Graph[str] | None = None
        self._drawn: LRUCache[tuple[Language, View], Future[Drawn]] = LRUCache(AT_ONCE)
        self._used: set[str] = set()
        self._lock = Lock()
        self._hand = ThreadPoolExecutor(1, "pictures")

    def drawing(self, language: Language, view: View) -> Future[Drawn]:
        """The picture once it is there; it is begun where nobody has asked for it yet, unless too many wait."""
        with self._lock:
            if (language, view) not in self._drawn:
                if sum(not drawing.done() for drawing in self._drawn.values()) >= WAITING:
                    return Future()
                self._drawn[language, view] = self._hand.submit(self._draw, language, view)
            return self._drawn[language, view]

    def knows(self, node: str) -> bool:
        """Whether there is such a node; asks no graph."""
        what, _, id = node.partition(":")
        if what == "concept":
            return id in self.concepts
        return what == "note" and any(self.garden.note(language, id) for language in ("en", "zh"))

    def _draw(self, language: Language, view: View) -> Drawn:
        if self._whole is None and view.around is None:
            self._whole = whole(self.garden, self.concepts, self.named())
        near = self._whole or whole(self.garden, self.concepts, self.named(), view.around)
        wanted = asked(near, view)
        shown = pictured(wanted, view, language)
        return Drawn(shown, len(wanted), self._kept(shown) if view == View() else place(shown))

    def _kept(self, graph: "nx.Graph[str]") -> Picture:
        if self.kept is None:
            return place(graph)
        key = digest(graph)
        self._used.add(key)
        row = self.kept.get(PICTURE, key)
        if row is not None:
            found: Picture = pickle.loads(row)
            return found
        picture = place(graph)
        self.kept.put(PICTURE, {key: pickle.dumps(picture)})
        self.kept.prune(PICTURE, self._used)
        return picture


def digest(graph: "nx.Graph[str]") -> str:
    """Of all that a picture follows from, in whatever order it was put together."""
    decides = ("kind", "label", "order", "home")
    nodes = sorted((id, *(str(data.get(name, "")) for name in decides)) for id, data in graph.nodes(data=True))
    edges = sorted((*sorted((one, two)), data["kind"]) for one, two, data in graph.edges(data=True))
    return hashlib.sha256(repr((nodes, edges)).encode()).hexdigest()
