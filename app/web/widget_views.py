"""An experiment in a state, as a page shows it: controls, presets, output, addresses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.drawing import Drawing
from app.errors import LaboratoryError, Problem
from app.experiments.experiment import Column, Experiment, Named, query
from app.experiments.parameters import Choice, Derived, Parameter, Params
from app.laboratory import Outcome
from app.language import Language, Text, alike
from app.numerals import full, short


@dataclass(frozen=True)
class Option:
    value: str
    words: str
    chosen: bool


@dataclass(frozen=True)
class Field:
    """One control: a text field, with a range beside it where the parameter has one; or a choice."""

    name: str
    """As it stands in the query: with the embed's prefix in a note."""
    parameter: str
    id: str
    label: str
    value: str
    placeholder: str
    help: str
    range: tuple[str, str, str, str] | None
    """least, greatest, step, and where the thumb stands; None without a range."""
    options: tuple[Option, ...]
    wide: bool
    """Whether it holds a list and so takes the whole line."""
    problem: str
    rare: bool
    """Whether it is folded away until it is asked for."""


@dataclass(frozen=True)
class ProblemView:
    """One thing wrong with what a reader sent, in the page's language."""

    parameter: str
    label: str
    """The words beside its control; the parameter's own name where it has none; empty where the message names all."""
    given: str
    message: str


@dataclass(frozen=True)
class PresetView:
    words: str
    href: str
    state: str
    current: bool


class Cell(NamedTuple):
    words: str
    kind: str
    """number, text or empty."""


@dataclass(frozen=True)
class TableView:
    title: str
    columns: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    marked: int | None


@dataclass(frozen=True)
class Download:
    words: str
    href: str
    file: bool


@dataclass(frozen=True)
class OutputView:
    """What a change of the controls replaces."""

    id: str
    sentence: str
    drawing: Drawing
    drawing_label: str
    table: TableView
    facts: tuple[str, ...]
    downloads: tuple[Download, ...]
    permalink: str
    living: str
    """The same where it computes: in the page of the note."""
    state: str
    """The canonical query of this state, relative to the embed's own block or the defaults, with the prefix."""
    checkpoint: str
    """The address of the checkpoint as a file, or nothing."""
    checkpoint_form: str
    code_href: str
    """Where the code that ran is shown."""


@dataclass(frozen=True)
class WidgetView:
    """A whole instrument panel; `output` is None when nothing could be computed."""

    id: str
    prefix: str
    experiment: str
    title: str
    exact: bool
    presets: tuple[PresetView, ...]
    fields: tuple[Field, ...]
    hidden: tuple[tuple[str, str], ...]
    """The states of the other embeds of the page, so that a plain form keeps them."""
    action: str
    """Where the plain form leads."""
    result: str
    """What htmx asks."""
    base: Mapping[str, str]
    """The texts of every field in the base state."""
    live: bool
    """Whether it follows a drag; a slow one waits for release."""
    output: OutputView | None
    failure: LaboratoryError | None
    """Why there is no output."""
    message: str
    """The failure in words, or nothing."""
    problems: tuple[ProblemView, ...]
    own_page: str
    embed_page: str
    level: int

    @property
    def rare_open(self) -> bool:
        """Whether a folded control holds something that differs from the base, or is wrong."""
        return any(field.rare and (field.problem or field.value != self.base[field.name]) for field in self.fields)


@dataclass(frozen=True)
class Place:
    """Where a widget stands: its page, its name there, and what its state is relative to."""

    language: Language
    page: str
    """The path of the page, without a query."""
    name: str
    """The embed's name; also the id of its element."""
    prefix: str = ""
    """`momentum.` in a note, nothing on a page of its own."""
    base: Mapping[str, str] | None = None
    """The embed's own block."""
    note: str = ""
    """The slug of the note, when there is one."""
    others: tuple[tuple[str, str], ...] = ()
    """The names and texts of the other embeds' states in the address."""
    level: int = 3
    still: bool = False
    """Whether the page has this one state only, as in a copy: the others stand on pages of the experiment."""

    def href(self, state: Mapping[str, str]) -> str:
        """The address of the page with this widget in a state and the others as they are."""
        parts = [query(dict(self.others)), query(state, self.prefix)]
        joined = "&".join(part for part in parts if part)
        return f"{self.page}{'?' if joined else ''}{joined}" + (f"#{self.name}" if self.prefix else "")


def state_address(experiment: Experiment, params: Params, place: Place) -> str:
    """Where a reader finds a state."""
    if not place.prefix or not place.still:
        return place.href(experiment.state(params, place.base))
    own = query(experiment.state(params))
    return f"/{place.language}/widgets/{experiment.name}{'?' if own else ''}{own}"


def output_view(
    experiment: Experiment, params: Params, outcome: Outcome, place: Place, facts: tuple[str, ...]
) -> OutputView:
    language = place.language
    state = experiment.state(params, place.base)
    own = query(experiment.state(params))
    tail = f"?{own}" if own else ""
    path = f"/{language}/widgets/{experiment.name}"
    drawing = experiment.drawing(params, outcome.result)
    downloads = tuple(
        Download(words, f"{path}.{ending}{tail}", True)
        for words, ending in ((_SCRIPT[language], "py"), ("JSON", "json"), ("CSV", "csv"), ("SVG", "svg"))
    )
    resumes = experiment.name == "momentum"
    return OutputView(
        id=place.name,
        sentence=experiment.sentence(params, outcome.result)[language],
        drawing=drawing,
        drawing_label=drawing.label[language],
        table=table_view(experiment, params, outcome, language),
        facts=facts,
        downloads=downloads,
        permalink=state_address(experiment, params, place),
        living=place.href(state),
        state=query(state, place.prefix),
        checkpoint=f"{path}/checkpoint{tail}" if resumes else "",
        checkpoint_form=f"{path}/checkpoint" if resumes else "",
        code_href=f"{path}{tail}#code",
    )


_SCRIPT = Text("script", "脚本")


def table_view(experiment: Experiment, params: Params, outcome: Outcome, language: Language) -> TableView:
    table = experiment.table(params, outcome.result)
    rows = tuple(
        tuple(_cell(value, column, language) for value, column in zip(row, table.columns, strict=True))
        for row in table.rows
    )
    words = tuple(any(row[at].kind == "text" for row in rows) for at in range(len(table.columns)))
    headings = tuple(
        Cell(column.words[language], "text" if wordy else "number")
        for column, wordy in zip(table.columns, words, strict=True)
    )
    return TableView(table.title[language], headings, rows, table.marked)


def _cell(value: Any, column: Column, language: Language) -> Cell:
    match value:
        case None:
            return Cell("", "empty")
        case bool():
            return Cell((_YES if value else _NO)[language], "text")
        case Text():
            return Cell(value[language], "text")
        case Named():
            return Cell(value.words[language], "text")
        case float():
            return Cell(full(value) if column.every_digit else short(value), "number")
        case int():
            return Cell(full(value), "number")
    return Cell(str(value), "text")


_YES, _NO = Text("yes", "是"), Text("no", "否")


def fields_view(
    experiment: Experiment, texts: Mapping[str, str], params: Params, place: Place, problems: tuple[Problem, ...] = ()
) -> tuple[Field, ...]:
    """The controls with what the reader typed, or the values in force."""
    wrong = {problem.parameter: problem.message[place.language] for problem in problems}
    return tuple(
        _field(parameter, texts.get(parameter.name), params, place, wrong.get(parameter.name, ""))
        for parameter in experiment.parameters
    )


def _field(parameter: Parameter, typed: str | None, params: Params, place: Place, problem: str) -> Field:
    language = place.language
    value = parameter.write(params[parameter.name]) if typed is None else typed
    placeholder = ""
    if isinstance(parameter.default, Derived):
        follows = parameter.default.value(params)
        placeholder = parameter.default.words[language] if parameter.slider is None else parameter.write(follows)
        if typed is None and params[parameter.name] == follows:
            value = ""
    slider = parameter.slider
    return Field(
        name=place.prefix + parameter.name,
        parameter=parameter.name,
        id=f"{place.name}-{parameter.name}",
        label=parameter.label[language],
        value=value,
        placeholder=placeholder,
        help=parameter.help[language] if parameter.help else "",
        range=None if slider is None else (f"{slider.low:g}", f"{slider.high:g}", f"{slider.step:g}", value),
        options=tuple(Option(name, words[language], name == value) for name, words in parameter.options)
        if isinstance(parameter, Choice)
        else (),
        wide=not isinstance(parameter, Choice) and slider is None,
        problem=problem,
        rare=parameter.rare,
    )


FIELDS: dict[str, Text] = {
    "trace": alike(""),
    "form": alike(""),
    "a": Text("run A", "运行 A"),
    "b": Text("run B", "运行 B"),
    "tolerance": Text("tolerance", "容差"),
    "rule": Text("rule", "规则"),
    "require": Text("level", "层次"),
}
"""What readers send that is no parameter of an experiment."""


def problem_views(
    problems: Iterable[Problem], language: Language, experiment: Experiment | None = None
) -> tuple[ProblemView, ...]:
    labels = {name: words[language] for name, words in FIELDS.items()}
    if experiment is not None:
        labels = {parameter.name: parameter.label[language] for parameter in experiment.parameters}
    return tuple(
        ProblemView(
            problem.parameter,
            labels.get(problem.parameter, problem.parameter),
            problem.given[:120],
            problem.message[language],
        )
        for problem in problems
    )


def presets_view(experiment: Experiment, params: Params | None, place: Place) -> tuple[PresetView, ...]:
    found = []
    for preset in experiment.presets:
        wanted = experiment.parse(preset.given)
        state = experiment.state(wanted, place.base)
        found.append(
            PresetView(
                preset.words[place.language],
                state_address(experiment, wanted, place),
                query(state, place.prefix),
                wanted == params,
            )
        )
    return tuple(found)


def base_texts(experiment: Experiment, place: Place) -> dict[str, str]:
    """The text of every field when the address says nothing."""
    params = experiment.parse({}, place.base)
    return {field.name: field.value for field in fields_view(experiment, {}, params, place)}
