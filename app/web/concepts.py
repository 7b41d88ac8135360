"""The concepts of the garden, and its network: what is asked of it stands in the address."""

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import TimeoutError as StillDrawing
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.errors import Problem
from app.experiments.experiment import query
from app.experiments.parameters import Choice, Params
from app.garden.atlas import View
from app.garden.names import key
from app.garden.pictures import Drawn
from app.language import LANGUAGES, Language, Text, other
from app.web.addresses import at
from app.web.filters import MOST_TAGS, Filter, Filters, Option, filter_links, languages, stages
from app.web.network_views import garden_network_view
from app.web.note_views import concept_view
from app.web.problems import NotFound
from app.web.queries import pairs, written
from app.web.rendering import Frame, page
from app.web.search_queries import GROWTH, LANG, TAG, Plain, readable
from app.web.site import Site
from app.web.widget_views import problem_views
from app.web.words import Words

PATIENCE = 0.2
"""Seconds that a page waits for a picture that is being drawn behind it."""
KIND = Choice(
    name="kind",
    label=Text("Kind of node", "节点的种类"),
    default=None,
    options=(("note", Text("notes", "笔记")), ("concept", Text("concepts", "概念"))),
)
AROUND = Plain(name="around", label=Text("Node in the middle", "居中的节点"), default=None)
OF_NETWORK = (KIND, GROWTH, TAG, LANG, AROUND)
NO_NODE = Text(
    "names no note or concept; write note:SLUG or concept:ID", "不是任何笔记或概念；请写 note:SLUG 或 concept:ID"
)


def routes(site: Site) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/{language:language}/concepts")
    def concepts(request: Request, language: Language) -> Response:
        words = Words(language)
        raw = written(request.scope["query_string"])
        asked, problems = readable(OF_NETWORK, pairs(raw))
        if asked["around"] and not site.pictures.knows(asked["around"]):
            problems = (*problems, Problem("around", asked["around"], NO_NODE))
            asked = Params(tuple({**asked, "around": None}.items()))
        drawn, drawing = drawn_by_now(site, language, asked)
        network, centre = None, ""
        if drawn is not None and drawn.graph:
            network = garden_network_view(site, language, drawn, lambda node: around(site, language, node))
            centre = drawn.graph.nodes[asked["around"]]["labels"][language] if asked["around"] else ""
        frame = Frame(
            language, words.concepts, words.concepts_lead, f"/{language}/concepts", f"/{other(language)}/concepts",
            "concepts", tail=f"?{raw}" if raw else "", robots="noindex" if raw else "",
        )  # fmt: skip
        view = {
            "concepts": glossary(site, language),
            "network": network,
            "drawing": drawing,
            "centre": centre,
            "filters": () if site.still else filters(site, language, asked),
            "problems": problem_views(problems, language),
        }
        answer = page(site, request, "concepts.html", frame, view, 422 if problems else 200)
        if drawing:
            answer.headers["Cache-Control"] = "no-store"
        elif raw:
            answer.headers["Cache-Control"] = "private, no-cache"
        return answer

    @router.get("/{language:language}/concepts/{id}")
    def concept(request: Request, language: Language, id: str) -> Response:
        if id not in site.report.concepts:
            raise NotFound(id)
        view = concept_view(site, site.report.concepts[id], language)
        path = f"/concepts/{id}"
        frame = Frame(language, view.label, view.meaning, f"/{language}{path}", f"/{other(language)}{path}", "concepts")
        beside = {"concept": view, "around": around(site, language, f"concept:{id}")}
        return page(site, request, "concept.html", frame, beside)

    return router


def drawn_by_now(site: Site, language: Language, asked: Mapping[str, Any]) -> tuple[Drawn | None, bool]:
    """The picture, or that it is being drawn."""
    view = View(
        asked["kind"], asked["growth"], key(asked["tag"]) if asked["tag"] else None, asked["lang"], asked["around"]
    )
    try:
        return site.pictures.drawing(language, view).result(None if site.copy else PATIENCE), False
    except StillDrawing:
        return None, True


def glossary(site: Site, language: Language) -> list[tuple[str, str, str, int]]:
    """Id, label, meaning, and how many notes of the language speak of it."""
    counts = Counter(id for (known, _), ids in site.index().naming().items() if known == language for id in ids)
    return [
        (concept.id, concept.label[language], concept.meaning[language], counts[concept.id])
        for concept in site.report.concepts.values()
    ]


def filters(site: Site, language: Language, asked: Mapping[str, Any]) -> Filters:
    """Kinds, the stages and languages that the garden has, its most frequent tags; one of a kind filters nothing."""
    words, garden = Words(language), site.report.garden
    tags = {name: len(notes) for name, notes in garden.tags(language).items()}
    frequent = sorted(tags, key=lambda name: (-tags[name], name))[:MOST_TAGS]
    chosen = [asked["tag"]] if asked["tag"] and key(asked["tag"]) not in map(key, frequent) else []
    kinds = (
        Filter(words.by_kind, "kind", [Option(text, said[language], language) for text, said in KIND.options]),
        stages(language, {note.growth for note in garden.notes()}),
        languages(language, [one for one in LANGUAGES if garden.notes(one)]),
        Filter(words.by_tag, "tag", [Option(name, name, language) for name in (*chosen, *frequent)]),
    )
    return filter_links(language, asked, kinds, lambda **changed: address(language, {**asked, **changed}))


def around(site: Site, language: Language, node: str) -> str:
    return "" if site.still else address(language, {"around": node})


def address(language: Language, asked: Mapping[str, Any]) -> str:
    state = query({name: str(text) for name, text in asked.items() if text})
    return f"{at(language, 'concepts')}{'?' if state else ''}{state}#network"
