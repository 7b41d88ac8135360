import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidParameters
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
        ("nan", "NaN is not a number to start from"),
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
    assert why(LIST, "") == "needs 1 to 4 numbers parted by commas; 0 given"
    assert why(LIST, "1,2,3,4,5") == "needs 1 to 4 numbers parted by commas; 5 given"
    assert why(LIST, "1,x") == "number 2 (x) is not a number"
    assert why(LIST, "1,2,nan") == "number 3 (nan) NaN is not a number to start from"
    assert why(LIST, "1e7") == "number 1 (1e7) must be from −1000000 to 1000000"
    assert why(WHOLES, "1,0") == "number 2 (0) must be from 1 to 9"


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
