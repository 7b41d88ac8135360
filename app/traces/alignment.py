"""A run whose resumes do not know how many steps were done, counted as another one counts them.

An optimizer without step counters, such as SGD, cannot say where a resume goes on; unless the program does, its
`resume` line is `"from": "unknown"`. Then the first batch after it is looked for in the other run: by its sample ids in
their order, its place in the window, and its epoch where both have one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from app.traces.record import Record, parsed
from app.traces.run import Run, Span, cut_back

Batch = tuple[int, str]
"""Its place in the window, and the digest of its ids in order, or of its contents."""


@dataclass(frozen=True)
class Place:
    step: int
    epoch: int | None


def aligned(a: Run, b: Run) -> Run:
    """B with those steps counted as in A; as it counts itself where A has no such batch."""
    if not any(map(_lost, b.resumes)):
        return b
    known = _places(a)
    return replace(b, ranks={rank: tuple(_shifted(spans, known)) for rank, spans in b.ranks.items()})


def _lost(resume: Record) -> bool:
    return resume.get("from") == "unknown"


def _places(run: Run) -> dict[Batch, list[Place]]:
    """Where each batch occurs, ascending; those of all ranks, which have no samples in common."""
    found: dict[Batch, list[Place]] = {}
    for step in run.steps():
        for part in step.parts.values():
            for record in filter(None, map(parsed, part.of("batch"))):
                if (batch := _batch(record)) is not None:
                    found.setdefault(batch, []).append(Place(step.number, record.get("epoch")))
    return found


def _batch(record: Record) -> Batch | None:
    name, micro = record.get("order", record.get("inputs")), record.get("micro")
    return (micro, name) if isinstance(name, str) and isinstance(micro, int) else None


def _shifted(spans: tuple[Span, ...], known: Mapping[Batch, list[Place]]) -> Iterator[Span]:
    reached, found = 0, list[Span]()
    for span in spans:
        if span.resume is not None and _lost(span.resume):
            first = _first_batch(span)
            if first is None:
                continue  # nobody can say of which step it is the state
            span = _moved(span, first, reached, known)
        reached = max(reached, span.resumed or 0)
        found.append(span)
    yield from cut_back(found)


def _moved(span: Span, first: Record, reached: int, known: Mapping[Batch, list[Place]]) -> Span:
    """To the first such batch past the step that the span before goes on from."""
    batch, epoch = _batch(first), first.get("epoch")
    for place in known.get(batch, ()) if batch is not None else ():
        if place.step > reached and (epoch is None or place.epoch is None or place.epoch == epoch):
            shift = place.step - int(first["step"])
            return replace(span, shift=shift, resumed=(span.resumed or 0) + shift)
    return span


def _first_batch(span: Span) -> Record | None:
    alone = Run({0: (replace(span, cut=None),)}, (), {}, {}, (), ())
    for step in alone.steps():
        for record in filter(None, map(parsed, step.parts[0].of("batch"))):
            return record
    return None
