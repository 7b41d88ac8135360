"""A comparison into what its report shows, in one language: as a page and as a file that stands alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.drawing import Drawing
from app.language import Language, Text
from app.traces.advice import advice
from app.traces.comparison import Comparison
from app.traces.conclusion import Conclusion
from app.traces.hints import Hint
from app.traces.record import Record
from app.traces.stages import mapping, number_of
from app.traces.witness import Pair, Parameters
from app.web.compare_drawings import drawings
from app.web.compare_words import LEVELS, SIGNS, STAGES, VERDICTS, unclaimed, verdict
from app.web.words import Words

MOST_ROWS = 200
"""Tensors that are listed by name; those that differ come first."""
LONGEST_VALUE = 160
"""Characters of a value in a record that is shown."""
HEAD = ("event", "step", "micro")
"""What places a record and stands above it."""


@dataclass(frozen=True)
class StageView:
    name: str
    meaning: str
    level: str
    words: str
    sign: str
    first_step: int | None
    first: bool
    """Whether the runs part here."""


@dataclass(frozen=True)
class RowView:
    name: str
    a: str
    b: str
    same: bool


@dataclass(frozen=True)
class RecordView:
    place: str
    rows: tuple[RowView, ...]


@dataclass(frozen=True)
class HintView:
    name: str
    text: str
    next: str
    href: str
    """Where it is explained; empty where nothing explains it."""
    title: str


@dataclass(frozen=True)
class TensorsView:
    caption: str
    rows: tuple[RowView, ...]
    more: int
    """Rows that are not listed."""


@dataclass(frozen=True)
class ConclusionView:
    verdict: str
    rule: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CompareView:
    verdict: str
    level: str
    sign: str
    level_words: str
    required: str
    holds: bool
    stages: tuple[StageView, ...]
    hints: tuple[HintView, ...]
    advice: tuple[str, ...]
    """What to record next."""
    last_equal: RecordView | None
    first_unequal: RecordView | None
    tensors: tuple[TensorsView, ...]
    drawings: tuple[tuple[Drawing, str], ...]
    """Each with its caption."""
    conclusion: ConclusionView | None
    facts: tuple[tuple[str, str], ...]
    environment: tuple[RowView, ...]
    unclaimed: tuple[str, ...]
    """Sentences about what was not recorded, and is not claimed."""


Explained = Callable[[str], tuple[str, str]]
"""The address and the title of what explains a concept; both empty where nothing does."""


def nowhere(concept: str) -> tuple[str, str]:
    return "", ""


def compare_view(found: Comparison, language: Language, explained: Explained = nowhere) -> CompareView:
    first = found.first_difference
    return CompareView(
        verdict=verdict(found)[language],
        level=found.level,
        sign=SIGNS[found.level],
        level_words=LEVELS[found.level][language],
        required=LEVELS[found.require][language],
        holds=found.holds,
        stages=tuple(
            StageView(
                one.stage,
                STAGES[one.stage][language],
                one.level,
                LEVELS[one.level][language],
                SIGNS[one.level],
                one.first_step,
                first is not None and one.stage == first.stage,
            )
            for one in found.stages
        ),
        hints=tuple(_hint(hint, language, explained) for hint in found.hints),
        advice=tuple(one[language] for one in advice(found)),
        last_equal=_record(found.last_equal, language),
        first_unequal=_record(found.first_unequal, language),
        tensors=tuple(_tensors(one, language) for one in found.parameters),
        drawings=tuple((drawing, drawing.label[language]) for drawing in drawings(found)),
        conclusion=_conclusion(found.conclusion, language) if found.conclusion else None,
        facts=tuple(_facts(found, language)),
        environment=tuple(
            RowView(name, _value(ours), _value(theirs), False) for name, (ours, theirs) in found.environment.items()
        ),
        unclaimed=tuple(sentence[language] for sentence in unclaimed(found)),
    )


def _hint(hint: Hint, language: Language, explained: Explained) -> HintView:
    href, title = explained(hint.concept)
    return HintView(hint.name, hint.text[language], hint.next[language], href, title)


def _record(pair: Pair | None, language: Language) -> RecordView | None:
    if pair is None:
        return None
    names = [name for name in dict.fromkeys((*pair.a, *pair.b)) if name not in HEAD]
    rows = [row for name in names for row in _fields(name, pair.a, pair.b)]
    return RecordView(pair.place.words[language], tuple(rows))


def _fields(name: str, a: Record, b: Record) -> list[RowView]:
    ours, theirs = a.get(name), b.get(name)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [row for key in dict.fromkeys((*ours, *theirs)) for row in _flat(f"{name} {key}", ours, theirs, key)]
    return _flat(name, a, b, name)


def _flat(words: str, a: Record, b: Record, name: str) -> list[RowView]:
    return [RowView(words, _value(a.get(name)), _value(b.get(name)), a.get(name) == b.get(name))]


def _value(value: object) -> str:
    if value is None:
        return "—"
    if isinstance(value, dict):
        text = "; ".join(f"{name} {_value(one)}" for name, one in value.items())
    elif isinstance(value, list):
        text = ", ".join(_value(one) for one in value)
    elif isinstance(value, str) and ("0x" in value or value in ("nan", "inf", "-inf")):
        number = number_of({"": value}, "")
        text = value if number is None else repr(number)
    else:
        text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _tensors(found: Parameters, language: Language) -> TensorsView:
    apart = [one for one in found.each if not one.same]
    every = [*apart, *(one for one in found.each if one.same)]
    rows = [RowView(one.name, _norm(one.norm_a), _norm(one.norm_b), one.same) for one in every[:MOST_ROWS]]
    caption = Text(
        f"{found.of}, step {found.optimizer_step}: {len(apart)} of {len(every)} tensors differ"
        + ("" if found.complete else " (of those whose turn it was)"),
        f"{found.of}，第 {found.optimizer_step} 步：{len(every)} 个张量中有 {len(apart)} 个不同"
        + ("" if found.complete else "（只含这一步轮到记录的）"),
    )
    return TensorsView(caption[language], tuple(rows), max(len(every) - MOST_ROWS, 0))


def _norm(value: float | None) -> str:
    return "—" if value is None else f"{value:.9g}"


def _conclusion(found: Conclusion, language: Language) -> ConclusionView:
    def listed(values: Sequence[float]) -> str:
        return f"{len(values)} · " + ", ".join(f"{value:.4g}" for value in values[:20])

    words = Words(language)
    facts = [
        (words.compare_metric, found.metric),
        (words.compare_seeds_a, listed(found.a)),
        (words.compare_seeds_b, listed(found.b)),
    ]
    if found.difference is not None and found.superiority is not None and found.interval is not None:
        low, high = found.interval
        facts.append((words.compare_difference, f"{found.difference:.6g}"))
        facts.append((words.compare_chance, f"{found.superiority:.3f} [{low:.3f}, {high:.3f}]"))
    if found.repeated:
        facts.append((words.compare_repeated, str(found.repeated)))
    return ConclusionView(VERDICTS[found.verdict][language], found.rule, tuple(facts))


def _facts(found: Comparison, language: Language) -> list[tuple[str, str]]:
    words = Words(language)
    facts = [
        (words.compare_steps, f"{found.steps}"),
        (words.compare_only, f"{found.only_a} / {found.only_b}"),
    ]
    if found.seen_twice is not None:
        facts.append((words.compare_seen_twice, f"{found.seen_twice}"))
        facts.append((words.compare_never_seen, f"{found.never_seen}"))
    if found.horizon is not None:
        facts.append((words.compare_horizon, f"{found.horizon}"))
    for stage, (relative, absolute) in found.tolerances.items():
        facts.append((words.compare_tolerance, f"{stage} = {relative:g}, {absolute:g}"))
    if found.noise is not None:
        parted = found.noise.first_difference
        said = LEVELS[found.noise.level] if parted is None else parted.words
        facts.append((words.compare_noise_floor, said[language]))
    for resume in found.resumes:
        loaded = words.semicolon.join(
            f"{name}{words.colon}{LEVELS[said][language] if said in LEVELS else _value(said)}"
            for name, said in mapping(resume, "loaded").items()
        )
        facts.append((words.compare_resumed, f"{resume.get('step')}" + (f" · {loaded}" if loaded else "")))
    facts += [(words.compare_anew, where) for where in found.anew]
    return facts + [(words.compare_torn, where) for where in found.torn]
