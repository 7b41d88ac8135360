"""The query of a search into its values: the words, and what holds the list down."""

from dataclasses import dataclass

from app.content.note import GROWTHS
from app.errors import InvalidParameters, InvalidSearch, Problem
from app.experiments.parameters import Choice, Parameter, Params, Whole, resolve
from app.language import LANGUAGES, Text, alike
from app.web.note_views import NAMES
from app.web.queries import Pairs, merged, texts

LIMIT, MOST = 20, 1000
"""Hits that are listed where the query does not say, and at most; the page lists so many of each language."""


@dataclass(frozen=True, kw_only=True)
class Plain(Parameter):
    """Any text."""

    def read(self, text: str) -> str:
        return text

    @property
    def accepts(self) -> Text:
        return Text("words", "词语")


Q = Plain(name="q", label=Text("What to find; every word must occur", "要找的词，须全部出现"), default="")
LANG = Choice(
    name="lang",
    label=Text("One language only; left out, both", "只找一种语言；不填则两种都找"),
    default=None,
    options=tuple((language, alike(NAMES[language])) for language in LANGUAGES),
)
LIST = Whole(name="limit", label=Text("Hits that are listed", "列出的条数"), default=LIMIT, low=1, high=MOST)
GROWTH = Choice(
    name="growth",
    label=Text("How far grown", "成熟度"),
    default=None,
    options=tuple((growth, alike(growth)) for growth in GROWTHS),
)
TAG = Plain(name="tag", label=Text("Tag", "标签"), default=None)
OF_API = (Q, LANG, LIST)
OF_PAGE = (Q, GROWTH, TAG, LANG, LIST)


def read(parameters: tuple[Parameter, ...], found: Pairs) -> Params:
    """Raises InvalidSearch with every problem."""
    given, problems = texts(found)
    try:
        params = resolve(parameters, merged(given, problems), lambda params, explicit: ())
    except InvalidParameters as wrong:
        problems = (*problems, *wrong.problems)
    if problems:
        raise InvalidSearch(problems)
    return params


def readable(parameters: tuple[Parameter, ...], found: Pairs) -> tuple[Params, tuple[Problem, ...]]:
    """What can be read of the address of a page, and what cannot; shared links gain tails, which are no problem."""
    known = {parameter.name for parameter in parameters}
    own = tuple(pair for pair in found if pair[0] in known or "." in pair[0])
    try:
        return read(parameters, own), ()
    except InvalidSearch as wrong:
        names = {problem.parameter for problem in wrong.problems}
        return read(parameters, tuple(pair for pair in own if pair[0] not in names)), wrong.problems
