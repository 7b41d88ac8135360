import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidParameters, Problem
from app.experiments import EXPERIMENTS
from app.experiments.experiment import query
from app.experiments.parameters import (
    Choice,
    Derived,
    Number,
    Numbers,
    Unreadable,
    Whole,
    Wholes,
    resolve,
)
from app.language import LANGUAGES, Text, alike
from app.numerals import grouped, told_apart

NUMBER = Number(name="x", label=alike("x"), default=1.0, low=-10, high=10)
ABOVE = Number(name="x", label=alike("x"), default=1.0, low=0, above_low=True, high=1, below_high=True)
WHOLE = Whole(name="n", label=alike("n"), default=1, low=0, high=500)
CHOICE = Choice(name="c", label=alike("c"), default="full", options=(("full", alike("F")), ("weights", alike("W"))))
LIST = Numbers(name="a", label=alike("a"), default=(1.0,), least=1, most=4, limit=1e6)
SPECIAL = Numbers(name="a", label=alike("a"), default=(1.0,), least=1, most=4, allow_special=True)
WHOLES = Wholes(name="k", label=alike("k"), default=(1,), least=1, most=3, low=1, high=9)
FOLLOWS = Number(
    name="y", label=alike("y"), default=Derived(lambda values: values["x"] * 2, alike("2x")), low=-100, high=100
)
PAIR = (
    Number(name="p", label=alike("p"), default=Derived(lambda _: 1.0, alike("1")), low=0, high=9, together="q"),
    Number(name="q", label=alike("q"), default=Derived(lambda _: 2.0, alike("2")), low=0, high=9, together="p"),
)


def no_check(params, given):
    return ()


def why(parameter, text, language="en"):
    with pytest.raises(Unreadable) as unreadable:
        parameter.read(text)
    return unreadable.value.message[language]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        (" 1.5 ", 1.5),
        ("１．５", 1.5),
        ("−1.5", -1.5),
        ("－１．５", -1.5),
        ("+2", 2.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e-4", 1e-4),
        ("1E-4", 1e-4),
        ("1×10⁻⁴", 1e-4),
        ("1 × 10^-4", 1e-4),
        ("0.30000000000000004", 0.30000000000000004),
        ("0.1000000000000000055511151231257827", 0.1),
    ],
)
def test_numbers_are_read_as_people_write_them(text, value):
    assert NUMBER.read(text) == value


def test_thousands_may_be_parted_where_there_is_one_number():
    assert Number(name="x", label=alike("x"), default=1.0, low=0, high=1e6).read("10,000") == 10000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty: type a number"),
        ("abc", "is not a number"),
        ("1.2.3", "is not a number"),
        ("0x10", "is not a number"),
        ("1_0", "is not a number"),
        ("nan", "must not be NaN"),
        ("Infinity", "must be finite"),
        ("−∞", "must be finite"),
        ("1e999", "is beyond the largest float64"),
        ("11", "must be from −10 to 10"),
    ],
)
def test_each_way_of_not_being_a_number_is_explained(text, reason):
    assert why(NUMBER, text) == reason
    assert why(NUMBER, text, "zh") not in ("", reason)


def test_open_ends_are_open():
    assert ABOVE.read("0.5") == 0.5
    assert why(ABOVE, "0") == why(ABOVE, "1") == "must be above 0 and below 1"
    assert ABOVE.schema == {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}


def test_minus_zero_is_zero_where_one_number_is_asked_for():
    assert math.copysign(1, NUMBER.read("-0")) == 1


def test_whole_numbers_may_be_written_with_a_point_but_not_a_fraction():
    assert WHOLE.read("12.0") == 12
    assert WHOLE.read("1e2") == 100
    assert why(WHOLE, "1.5") == "needs a whole number"
    assert why(WHOLE, "501") == "must be from 0 to 500"


def test_a_choice_knows_what_was_meant():
    assert CHOICE.read(" Weights ") == "weights"
    assert why(CHOICE, "weigths") == "must be one of full, weights; did you mean weights?"
    assert why(CHOICE, "xyz") == "must be one of full, weights"


@pytest.mark.parametrize(
    "text", ["1,2.5,-3", "1, 2.5, -3", "1，2.5，−3", "1、2.5、-3", "1;2.5;-3", "1；2.5；-3", "1 2.5 -3", "1,2.5,-3,"]
)
def test_lists_are_parted_as_either_language_does(text):
    assert LIST.read(text) == (1.0, 2.5, -3.0)


def test_what_is_wrong_in_a_list_is_named():
    assert why(LIST, "") == "needs 1 to 4 numbers separated by commas; 0 given"
    assert why(LIST, "1,2,3,4,5") == "needs 1 to 4 numbers separated by commas; 5 given"
    assert why(LIST, "1,x") == "number 2 (x) is not a number"
    assert why(LIST, "1,2,nan") == "number 3 (nan) must not be NaN"
    assert why(LIST, "1e7") == "number 1 (1e7) must be from −1000000 to 1000000"
    assert why(WHOLES, "1,0") == "number 2 (0) must be from 1 to 9"


def test_everything_wrong_in_a_list_is_named_at_once():
    assert why(LIST, "x,2,−1e7") == "number 1 (x) is not a number; number 3 (−1e7) must be from −1000000 to 1000000"
    assert why(LIST, "x,2,−1e7", "zh") == "第 1 个数（x）不是数；第 3 个数（−1e7）必须在 −1000000 到 1000000 之间"
    assert why(WHOLES, "0,1.5,3") == "number 1 (0) must be from 1 to 9; number 2 (1.5) needs a whole number"
    assert why(WHOLES, "1,2,3,x") == "needs 1 to 3 numbers separated by commas; 4 given"
    assert why(WHOLES, "1,x,3,x") == "needs 1 to 3 numbers separated by commas; 4 given; number 2 (x) is not a number"


def test_lists_say_what_they_accept():
    assert LIST.accepts == Text("1 to 4 numbers separated by commas, |x| ≤ 10⁶", "1 到 4 个数，以逗号分隔，|x| ≤ 10⁶")
    assert SPECIAL.accepts.en == "1 to 4 numbers separated by commas; nan, inf and −inf count"
    assert EXPERIMENTS["microbatch"].parameters[0].accepts == Text(
        "1 to 16 whole numbers from 1 to 10⁹ separated by commas", "1 到 16 个 1 到 10⁹ 的整数，以逗号分隔"
    )


@pytest.mark.parametrize("parameter", [LIST, SPECIAL, WHOLES])
def test_the_schema_of_a_list_holds_what_is_written_and_no_longer_list(parameter):
    pattern = parameter.schema["pattern"]
    for text in ("1", "1,2", "3,4,5"):
        assert re.search(pattern, text) and parameter.write(parameter.read(text)) == text
    for text in ("", ",", "1,", "1,2,3,4,5", "1 2", "x"):
        assert not re.search(pattern, text)
    assert bool(re.search(pattern, "-1.5e-7,2")) is (parameter is not WHOLES)
    assert bool(re.search(pattern, "nan,-inf")) is (parameter is SPECIAL)


def test_special_numbers_are_read_where_they_are_allowed():
    assert SPECIAL.read("inf,-Infinity,∞,－∞") == (math.inf, -math.inf, math.inf, -math.inf)
    assert math.isnan(SPECIAL.read("NaN")[0])
    assert math.copysign(1, SPECIAL.read("-0")[0]) == -1


def test_all_problems_are_reported_at_once():
    with pytest.raises(InvalidParameters) as refused:
        resolve((NUMBER, WHOLE, CHOICE), {"x": "99", "n": "x", "c": "", "m": "1"}, no_check)
    assert sorted((problem.parameter, problem.given) for problem in refused.value.problems) == [
        ("c", ""), ("m", "1"), ("n", "x"), ("x", "99"),
    ]  # fmt: skip
    message = next(problem.message for problem in refused.value.problems if problem.parameter == "m")
    assert message == Text("there is no such parameter", "没有这个参数")


def test_an_unknown_name_is_compared_with_the_known_ones():
    with pytest.raises(InvalidParameters) as refused:
        EXPERIMENTS["momentum"].parse({"bta": "0.9"})
    assert refused.value.problems[0].message.en == "there is no such parameter; did you mean beta?"


def test_a_derived_default_follows_and_empty_stands_for_it():
    assert resolve((NUMBER, FOLLOWS), {"x": "3"}, no_check)["y"] == 6
    assert resolve((NUMBER, FOLLOWS), {"x": "3", "y": ""}, no_check)["y"] == 6
    assert resolve((NUMBER, FOLLOWS), {"x": "3", "y": "1"}, no_check)["y"] == 1


def test_what_is_given_wins_over_the_base_and_the_base_over_the_default():
    assert resolve((NUMBER,), {}, no_check, {"x": "2"})["x"] == 2
    assert resolve((NUMBER,), {"x": "3"}, no_check, {"x": "2"})["x"] == 3
    assert resolve((NUMBER, FOLLOWS), {"y": ""}, no_check, {"x": "2", "y": "1"})["y"] == 4


def test_parameters_that_belong_together_are_given_together():
    assert dict(resolve(PAIR, {}, no_check)) == {"p": 1.0, "q": 2.0}
    assert dict(resolve(PAIR, {"p": "3", "q": "4"}, no_check)) == {"p": 3.0, "q": 4.0}
    assert dict(resolve(PAIR, {"p": "5"}, no_check, {"p": "3", "q": "4"})) == {"p": 5.0, "q": 4.0}
    with pytest.raises(InvalidParameters) as refused:
        resolve(PAIR, {"p": "3", "q": " "}, no_check)
    assert [(problem.parameter, problem.message.en) for problem in refused.value.problems] == [
        ("p", "needs q beside it: give both or neither")
    ]


def test_one_alone_hides_neither_what_cannot_be_read_nor_what_does_not_fit():
    def never_fits(params, given):
        assert given == {"p": "3"}
        return (Problem("p", "3.0", alike("does not fit")), Problem("q", "2.0", alike("nor does q")))

    with pytest.raises(InvalidParameters) as refused:
        resolve(PAIR, {"p": "3"}, never_fits)
    assert [(problem.parameter, problem.given) for problem in refused.value.problems] == [
        ("p", "3"), ("p", "3"), ("q", "2.0"),
    ]  # fmt: skip
    with pytest.raises(InvalidParameters) as refused:
        resolve((NUMBER, *PAIR), {"p": "3", "x": "?"}, never_fits)
    assert [problem.parameter for problem in refused.value.problems] == ["x", "p"]
    with pytest.raises(InvalidParameters) as refused:
        resolve(PAIR, {"p": "3", "q": "?"}, never_fits)
    assert [problem.parameter for problem in refused.value.problems] == ["q"]


@pytest.mark.parametrize(
    ("name", "texts", "parameter"),
    [
        ("accumulation", {"n": "1e5", "shuffles": "2.1e1"}, "shuffles"),
        ("summation", {"terms": "1，－65520", "dtype": "float16"}, "terms"),
        ("microbatch", {"losses": "1e5"}, "losses"),
        ("microbatch", {"ranks": "３"}, "ranks"),
        ("agreement", {"b": "1e5,−2"}, "b"),
        ("momentum", {"save_after": "1.2e1"}, "save_after"),
    ],
)
def test_what_does_not_fit_is_told_with_the_text_that_was_given(name, texts, parameter):
    with pytest.raises(InvalidParameters) as refused:
        EXPERIMENTS[name].parse(texts)
    assert [(problem.parameter, problem.given) for problem in refused.value.problems] == [(parameter, texts[parameter])]


def test_numbers_in_sentences_have_their_thousands_separated():
    assert [grouped(n) for n in (135135, 69314702, 999, 0, -1234)] == ["135,135", "69,314,702", "999", "0", "−1,234"]
    assert [grouped(x) for x in (2.5, 1e16, math.inf)] == ["2.5", "10¹⁶", "∞"]


def test_two_numbers_are_told_apart_by_their_shortest_digits():
    assert told_apart(0.05, 0.1) == "0.05"
    assert told_apart(0.1000000000000001, 0.1) == "0.1000000000000001"
    assert told_apart(0.10000001, 0.1) == "0.10000001"
    assert told_apart(1 / 3, 0.3333334) == "0.3333333"
    assert told_apart(0.1, 0.1000000000000001) == "0.1"


def test_params_are_values():
    one, two = (EXPERIMENTS["summation"].parse({"terms": text}) for text in ("1, 2", "１，２．０"))
    assert one == two and hash(one) == hash(two)
    assert list(one) == ["terms", "dtype"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_preset_is_a_state_that_reads_back(name):
    experiment = EXPERIMENTS[name]
    for preset in experiment.presets:
        params = experiment.parse(preset.given)
        state = experiment.state(params)
        assert experiment.parse(state) == params
        assert experiment.parse(experiment.written(params)) == params
        assert set(state) <= set(preset.given)
    assert experiment.state(experiment.parse({})) == {}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_state_on_top_of_any_preset_leads_to_any_other(name):
    experiment = EXPERIMENTS[name]
    for base in experiment.presets:
        for preset in experiment.presets:
            wanted = experiment.parse(preset.given)
            assert experiment.parse(experiment.state(wanted, base.given), base.given) == wanted
        assert experiment.state(experiment.parse({}, base.given), base.given) == {}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_bit_of_a_number_survives_the_address(value):
    everything = Numbers(name="a", label=alike("a"), default=None, least=1, most=1)
    assert everything.read(everything.write((value,)))[0].hex() == value.hex()


def test_a_query_keeps_commas_and_signs_readable():
    state = EXPERIMENTS["summation"].state(EXPERIMENTS["summation"].parse({"terms": "1e16,−1,2.5"}))
    assert query(state, "sum.") == "sum.terms=1e16,-1,2.5"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_everything_a_reader_sees_has_words_in_both_languages(name):
    experiment = EXPERIMENTS[name]
    words = [experiment.title, experiment.summary]
    words += [preset.words for preset in experiment.presets]
    for parameter in experiment.parameters:
        words += [parameter.label, *([parameter.help] if parameter.help else [])]
        words += [text for _, text in parameter.options] if isinstance(parameter, Choice) else []
    assert all(text[language].strip() for text in words for language in LANGUAGES)
    assert experiment.summary.en[-1] in ".?" and experiment.summary.zh[-1] in "。？"
