"""The concept network of a note, or of the garden: the picture, a panel for each node, and the same as a list."""

from collections.abc import Callable
from dataclasses import dataclass

from app.content.note import GROWTHS, Note
from app.experiments.experiment import query
from app.garden.layout import Picture, place
from app.garden.network import network
from app.garden.pictures import Drawn
from app.language import Language, other
from app.web.addresses import at, note_address
from app.web.note_views import NAMES, TAGS, OccurrenceView, occurrence_views
from app.web.site import Site
from app.web.words import Words

LINES = ("marks", "names", "links", "shared")
SWITCHED = ("note", "concept", "names", "links", "shared")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What pressing a node shows."""

    node: str
    """As in the graph: `note`, `section:ID`, `concept:ID`; in the garden's network `note:SLUG`."""
    kind: str
    id: str
    """Of its element."""
    label: str
    meaning: str
    page: str
    """The address of a page of its own, or nothing."""
    search: str
    """What the filter looks in: its label and other spellings."""
    anchor: str = ""
    """Where it stands in the note, or nothing."""
    occurrences: tuple[OccurrenceView, ...] = ()
    growth: str = ""
    lang: str = ""
    """Of the label, where that is not the page's."""
    badge: str = ""
    """The name of that language."""
    beside: tuple[tuple[str, str], ...] = ()
    """Label and panel of each node that it is joined to."""
    around: str = ""
    """The address of the network around it."""


@dataclass(frozen=True)
class NetworkView:
    picture: Picture
    panels: dict[str, Panel]
    total: int
    """Nodes that there are, in the picture or not."""
    kinds: tuple[str, ...]
    """Of nodes and lines: what can be switched off."""
    caption: str
    listed: tuple[tuple[str, tuple[str, ...]], ...]
    """The same as a list: a node, and what it is joined to."""
    around: str = ""
    """The address of the garden's network around the note."""
    grown: tuple[str, ...] = ()
    """Stages of its notes, for the legend of a garden's network."""
    lines: tuple[str, ...] = ()
    """Kinds of lines, for the legend."""


def network_view(site: Site, note: Note) -> NetworkView | None:
    """None for a note that speaks of no concept."""
    graph = network(note, site.report.concepts)
    if all(data["kind"] != "concept" for _, data in graph.nodes(data=True)):
        return None
    panels = {}
    for name, data in graph.nodes(data=True):
        concept = site.report.concepts.get(data["id"]) if data["kind"] == "concept" else None
        spellings = (*concept.also.get(note.language, ()), concept.label.en, concept.label.zh) if concept else ()
        panels[name] = Panel(
            node=name,
            kind=data["kind"],
            id=f"node-{data['kind']}-{data['id']}" if data["kind"] != "note" else "node-note",
            label=data["label"],
            meaning=concept.meaning[note.language] if concept else note.summary if data["kind"] == "note" else "",
            page=at(note.language, "concepts", data["id"]) if concept else "",
            anchor={"section": f"#{data['id']}", "note": "#main"}.get(data["kind"], ""),
            occurrences=occurrence_views(note, data.get("places", ())),
            search=" ".join((data["label"], *spellings)),
        )
    concepts = (panel for panel in panels.values() if panel.kind == "concept")
    listed = tuple((one.node, tuple(dict.fromkeys(place.section for place in one.occurrences))) for one in concepts)
    kinds = ("section", "concept", "repeats")
    words = Words(note.language)
    around = "" if site.still else f"{at(note.language, 'concepts')}?{query({'around': f'note:{note.slug}'})}#network"
    return NetworkView(place(graph), panels, len(panels), kinds, words.network_caption, listed, around)


def garden_network_view(site: Site, language: Language, drawn: Drawn, around: Callable[[str], str]) -> NetworkView:
    """The garden's network; `around` gives the address of what surrounds a node."""
    shown = {node: _garden_panel(site, language, drawn, node, around(node)) for node in drawn.graph}
    panels = dict(sorted(shown.items(), key=lambda item: (item[1].kind, item[1].label)))
    listed = tuple((node, tuple(label for label, _ in panel.beside)) for node, panel in panels.items())
    words, graph = Words(language), drawn.graph
    drawn_kinds = {panel.kind for panel in panels.values()} | {data["kind"] for _, _, data in graph.edges(data=True)}
    stages = {panel.growth for panel in panels.values()}
    return NetworkView(
        drawn.picture,
        panels,
        drawn.total,
        tuple(kind for kind in SWITCHED if kind in drawn_kinds),
        words.garden_caption + (words.best_joined if len(graph) < drawn.total else ""),
        listed,
        grown=tuple(growth for growth in GROWTHS if growth in stages),
        lines=tuple(line for line in LINES if line in drawn_kinds),
    )


def _garden_panel(site: Site, language: Language, drawn: Drawn, node: str, around: str) -> Panel:
    data = drawn.graph.nodes[node]
    beside = sorted((drawn.graph.nodes[near]["label"], f"#{_panel_id(near)}") for near in drawn.graph[node])
    if data["what"] == "concept":
        concept = site.report.concepts[data["id"]]
        spellings = (*concept.also.get(language, ()), concept.label.en, concept.label.zh)
        meaning, page, growth, lang = concept.meaning[language], at(language, "concepts", concept.id), "", ""
    else:
        garden = site.report.garden
        note = garden.note(language, data["id"]) or garden.note(other(language), data["id"])
        assert note is not None
        spellings = (note.title, note.slug, *note.aliases)
        meaning, page, growth = note.summary, note_address(note), note.growth
        lang = TAGS[note.language] if note.language != language else ""
    return Panel(
        node=node,
        kind=data["what"],
        id=_panel_id(node),
        label=data["labels"][language],
        meaning=meaning,
        page=page,
        search=" ".join(spellings),
        growth=growth,
        lang=lang,
        badge=NAMES[other(language)] if lang else "",
        beside=tuple(beside),
        around=around,
    )


def _panel_id(node: str) -> str:
    return f"node-{node.replace(':', '-', 1)}"
