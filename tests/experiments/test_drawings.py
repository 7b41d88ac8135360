"""The pictures of all experiments: inside their frame, and no label over another, even in a phone's large letters."""

import math

import pytest

from app.drawing import LARGEST, Box, Dashes, Dot, Label, Line, strokes
from app.experiments import EXPERIMENTS
from app.language import LANGUAGES

ODD = [
    ("momentum", {"lr": "2", "steps": "500"}),
    ("momentum", {"lr": "2", "steps": "500", "beta": "0", "restore": "nothing", "save_after": "499"}),
    ("momentum", {"lr": "2", "steps": "500", "beta": "0.99", "restore": "weights", "save_after": "31"}),
    ("momentum", {"steps": "1"}),
    ("momentum", {"target": "0"}),
    ("momentum", {"restored": "1e6,1e6", "resumed_target": "-1e6"}),
    ("summation", {"terms": "1,2"}),
    ("summation", {"terms": "0,0"}),
    ("summation", {"terms": "1.7e308,1.7e308,-1.7e308,-1.7e308"}),
    ("summation", {"terms": "1.7e308,1.7e308,1"}),
    ("summation", {"terms": "5e-324,-5e-324,5e-324"}),
    ("summation", {"terms": "65504,65504,-65504", "dtype": "float16"}),
    ("summation", {"terms": "-107.6,-26.06,-33238.6,31558.5,1852.02,-514.35,463.005,53.8"}),
    ("accumulation", {"n": "2", "shuffles": "1"}),
    ("accumulation", {"shuffles": "0"}),
    ("accumulation", {"distribution": "lognormal", "dtype": "float16", "shuffles": "200"}),
    ("accumulation", {"distribution": "normal", "dtype": "bfloat16", "shuffles": "200"}),
    ("microbatch", {"counts": "5", "losses": "1"}),
    ("microbatch", {"counts": "1,1000000000,3", "losses": "1,2,3", "ranks": "3"}),
    ("microbatch", {"counts": ",".join(map(str, range(1, 17))), "losses": ",".join("1" * 16), "ranks": "5"}),
    ("agreement", {"a": "1", "b": "2"}),
    ("agreement", {"a": "nan", "b": "1"}),
    ("agreement", {"a": "inf,-inf,1e308,0", "b": "inf,inf,-1e308,5e-324"}),
    ("agreement", {"a": "1,2", "b": "1,3", "rtol": "0", "atol": "0"}),
    ("agreement", {"a": ",".join(map(str, range(64))), "b": ",".join(map(str, range(1, 65)))}),
]
STATES = [(name, preset.given) for name, experiment in EXPERIMENTS.items() for preset in experiment.presets] + ODD


def drawn(name, given):
    experiment = EXPERIMENTS[name]
    params = experiment.parse(given)
    return experiment.drawing(params, experiment.run(**params))


def extent(label, language):
    wide = sum(LARGEST if ord(sign) > 0x2E7F else 0.55 * LARGEST for sign in label.words[language])
    left = label.x - {"start": 0, "middle": wide / 2, "end": wide}[label.anchor]
    return left, left + wide


@pytest.mark.parametrize(("name", "given"), STATES)
def test_everything_is_drawn_inside_the_frame(name, given):
    drawing = drawn(name, given)
    for shape in drawing.shapes:
        match shape:
            case Line(points=points):
                places = list(points)
            case Dot(x=x, y=y):
                places = [(x, y)]
            case Box(x=x, y=y, width=width, height=height):
                assert width >= 0 and height >= 0
                places = [(x, y), (x + width, y + height)]
            case Label(x=x, y=y):
                places = [(x, y)]
        assert all(math.isfinite(x) and -1 <= x <= drawing.width + 1 for x, _ in places)
        assert all(math.isfinite(y) and -1 <= y <= drawing.height + 1 for _, y in places)
    assert all(drawing.label[language] for language in LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "given"), STATES)
def test_no_label_covers_another_or_leaves_the_frame(name, given, language):
    drawing = drawn(name, given)
    labels = [shape for shape in drawing.shapes if isinstance(shape, Label)]
    for at, one in enumerate(labels):
        left, right = extent(one, language)
        assert left >= -16 and right <= drawing.width + 8, one
        for two in labels[:at]:
            start, end = extent(two, language)
            assert abs(one.y - two.y) >= LARGEST - 1 or right <= start or end <= left, (one, two)


def lines(**given):
    """What is drawn of the uninterrupted run and of the resumed one; the legend stands above."""
    found = [shape for shape in drawn("momentum", given).shapes if isinstance(shape, Line) and shape.points[0][1] > 40]
    return [shape for shape in found if shape.role == "a"], [shape for shape in found if shape.role == "b"]


def test_a_run_that_equals_the_other_lets_it_be_seen():
    (solid,), (over,) = lines()
    assert isinstance(over, Dashes) and over.points == solid.points[2:]
    _, (apart,) = lines(resumed_target="2")
    assert not isinstance(apart, Dashes)


def test_where_runs_meet_again_the_dashes_draw_apart():
    _, (parted, met) = lines(resumed_lr="0.2", beta="0", lr="0.5", steps="80")
    assert (isinstance(parted, Dashes), isinstance(met, Dashes)) == (False, True)
    assert parted.points[-1] == met.points[0]


def test_many_swings_are_drawn_as_their_ends():
    """Without momentum at lr 2 the weight is at 0 and at 2 in turn, for ever."""
    (upper, lower), _ = lines(lr="2", beta="0", steps="500")
    assert len({y for _, y in upper.points}) == len({y for _, y in lower.points}) == 1
    assert upper.points[0][1] < lower.points[0][1]
    assert len(upper.points) == 60
    ((every,), _) = lines(lr="2", beta="0", steps="100")
    assert len(every.points) == 101
    ((slow,), _) = lines(steps="500")
    assert len(slow.points) == 501


def test_strokes_lie_on_their_line_and_bend_with_it():
    assert strokes(((0, 0), (18, 0)), long=6, apart=12) == (((6, 0), (12, 0)),)
    assert strokes(((0, 0), (9, 0), (9, 9)), long=6, apart=12) == (((6, 0), (9, 0), (9, 3)),)
    assert len(strokes(((0, 0), (18000, 0)), most=60)) == 60
    assert strokes(((0, 0), (4, 0))) == strokes(((1, 1), (1, 1))) == ()


@pytest.mark.parametrize(("name", "given"), STATES)
def test_sentences_and_tables_are_there_in_both_languages(name, given):
    experiment = EXPERIMENTS[name]
    params = experiment.parse(given)
    result = experiment.run(**params)
    said = experiment.sentence(params, result)
    assert said.en.endswith(".") and said.zh.endswith("。") and said.en != said.zh
    table = experiment.table(params, result)
    assert table.rows and all(len(row) == len(table.columns) for row in table.rows)
    assert all(column.name.isascii() for column in table.columns)
