"""The concept network of a note: the picture, a panel for each node, and the same as a list."""

from dataclasses import dataclass

from app.content.note import Note
from app.garden.layout import Picture, place
from app.garden.network import network
from app.web.addresses import at
from app.web.note_views import OccurrenceView, occurrence_views
from app.web.site import Site


@dataclass(frozen=True)
class Panel:
    """What pressing a node shows."""

    node: str
    """As in the graph: `note`, `section:ID`, `concept:ID`."""
    kind: str
    id: str
    """Of its element."""
    label: str
    meaning: str
    page: str
    """The address of a page of its own, or nothing."""
    anchor: str
    """Where it stands in the note, or nothing."""
    occurrences: tuple[OccurrenceView, ...]
    search: str
    """What the filter looks in: its label and other spellings."""


@dataclass(frozen=True)
class NetworkView:
    picture: Picture
    panels: dict[str, Panel]


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
    return NetworkView(place(graph), panels)
