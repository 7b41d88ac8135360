import json
import math
from decimal import Decimal, localcontext

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import InvalidParameters
from app.experiments.momentum import EXPERIMENT, _lost, first_difference, momentum

finite = st.floats(-1e6, 1e6)


@st.composite
def given_texts(draw, steps=500):
    """Any valid parameters of a run and of where it is saved, as texts."""
    count = draw(st.integers(1, steps))
    texts = {
        "lr": repr(draw(st.floats(0, 2, exclude_min=True))),
        "beta": repr(draw(st.floats(0, 1, exclude_max=True))),
        "target": repr(draw(finite)),
        "w0": repr(draw(finite)),
        "v0": repr(draw(finite)),
        "steps": str(count),
        "save_after": str(draw(st.integers(0, count - 1))),
    }
    return texts


def run(**texts):
    return EXPERIMENT.run(**EXPERIMENT.parse(texts))


def bits(states):
    return [(state["step"], state["w"].hex(), state["v"].hex()) for state in states]


def in_torch(params):
    """The recurrence with one torch operation for each of ours, in float64."""
    w, v, target = (torch.tensor(params[name], dtype=torch.float64) for name in ("w0", "v0", "target"))
    states = [(0, w.item().hex(), v.item().hex())]
    for step in range(1, params["steps"] + 1):
        v = torch.add(torch.mul(v, params["beta"]), torch.sub(w, target))
        w = torch.sub(w, torch.mul(v, params["lr"]))
        states.append((step, w.item().hex(), v.item().hex()))
    return states


def by_sgd(steps):
    """The weights after each step of torch.optim.SGD at the defaults of the experiment, in float64."""
    weight = torch.nn.Parameter(torch.tensor([0.0], dtype=torch.float64))
    optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        ((weight - 1.0) ** 2 / 2).sum().backward()
        optimizer.step()
        found.append(weight.item())
    return found


def test_two_steps_and_a_third_come_out_as_by_hand():
    """v: −1, then 0.9·(−1) + (0.1 − 1) = −1.8, then 0.9·(−1.8) + (0.28 − 1) = −2.34; w: 0.1, 0.28, 0.514."""
    states = run()["uninterrupted"]
    assert [(state["w"], state["v"]) for state in states[:2]] == [(0.0, 0.0), (0.1, -1.0)]
    assert (states[2]["w"], states[2]["v"]) == (0.28, -1.8)
    assert states[3]["w"] == 0.514
    assert states[3]["v"] == pytest.approx(-2.34, rel=1e-15)


def test_the_third_step_tells_what_was_restored():
    assert run()["resumed"][1]["w"] == 0.514
    assert run(restore="weights")["resumed"][1]["w"] == 0.35200000000000004  # 0.28 + 0.1·0.72
    assert run(resumed_target="2")["resumed"][1]["w"] == 0.6140000000000001  # 0.28 + 0.1·(1.62 + 1.72)
    assert run(restore="nothing")["resumed"][1]["w"] == 0.1  # the first step once more
    assert run(resumed_lr="0.2")["resumed"][1]["w"] == pytest.approx(0.28 + 0.2 * 2.34, rel=1e-15)


def test_runs_are_as_long_as_asked_for():
    result = run(steps="7", save_after="4")
    assert [state["step"] for state in result["uninterrupted"]] == list(range(8))
    assert [state["step"] for state in result["resumed"]] == [4, 5, 6, 7]
    assert result["checkpoint"]["step"] == 4
    assert result["final_gap"] == 0


@settings(max_examples=40, deadline=None)
@given(given_texts(steps=60))
def test_torch_gives_the_same_bits_operation_by_operation(texts):
    params = EXPERIMENT.parse(texts)
    assert bits(EXPERIMENT.run(**params)["uninterrupted"]) == in_torch(params)


def test_sgd_gives_the_same_bits_for_the_first_23_steps():
    ours = [state["w"] for state in run(steps="23")["uninterrupted"]][1:]
    assert [w.hex() for w in ours] == [w.hex() for w in by_sgd(23)]


def test_sgd_stays_within_a_few_ulps_after_that():
    """Where the processor fuses w − lr·v into one rounding it parts at step 24; where it does not, never."""
    ours = [state["w"] for state in run(steps="200")["uninterrupted"]][1:]
    for w, sgd in zip(ours, by_sgd(200), strict=True):
        assert abs(w - sgd) <= 8 * math.ulp(1.0)


@settings(deadline=None)
@given(given_texts())
def test_a_full_restoration_changes_no_bit(texts):
    result = run(**texts)
    assert result["first_difference"] is None
    assert result["final_gap"] == 0
    assert bits(result["resumed"]) == bits(result["uninterrupted"])[int(texts["save_after"]) :]


@settings(deadline=None)
@given(given_texts())
def test_the_trip_through_json_keeps_every_bit(texts):
    params = EXPERIMENT.parse(texts)
    result = EXPERIMENT.run(**params)
    saved = result["uninterrupted"][params["save_after"]]
    checkpoint = json.loads(json.dumps(result["checkpoint"]))
    assert checkpoint == result["checkpoint"]
    assert [checkpoint[name].hex() for name in ("w", "v")] == [saved[name].hex() for name in ("w", "v")]
    assert [checkpoint[name].hex() for name in ("lr", "beta", "target")] == [
        params[name].hex() for name in ("lr", "beta", "target")
    ]


@settings(deadline=None)
@given(given_texts(steps=50), st.sampled_from(["full", "weights", "nothing"]), finite)
def test_the_first_difference_is_the_first_state_with_other_bits(texts, restore, resumed_target):
    result = run(**texts, restore=restore, resumed_target=repr(resumed_target))
    before = {step: (w, v) for step, w, v in bits(result["uninterrupted"])}
    parted = [
        (step, "v" if v != before[step][1] else "w") for step, w, v in bits(result["resumed"]) if (w, v) != before[step]
    ]
    found = result["first_difference"]
    assert (found and (found["step"], found["quantity"])) == (parted[0] if parted else None)


@pytest.mark.parametrize(
    ("texts", "step", "quantity"),
    [
        ({"restore": "weights"}, 2, "v"),
        ({"restore": "nothing"}, 2, "v"),
        ({"resumed_target": "2"}, 3, "v"),
        ({"resumed_lr": "0.2"}, 3, "w"),
        ({"restored": "0.28,-1.8"}, None, None),
        ({"restored": "0.3,-1.8"}, 2, "w"),
        ({"restored": "0.28,-1.7"}, 2, "v"),
        ({"restore": "weights", "save_after": "0"}, None, None),
        ({"restore": "weights", "beta": "0"}, 2, "v"),
        ({"save_after": "0", "restored": "0,-0"}, 0, "v"),  # equal in value, not in bits
    ],
)
def test_where_runs_part_first(texts, step, quantity):
    expected = None if step is None else {"step": step, "quantity": quantity}
    assert run(**texts)["first_difference"] == expected


def test_a_difference_in_the_last_state_counts():
    before = [{"step": 0, "w": 0.0, "v": 0.0}, {"step": 1, "w": 1.0, "v": 1.0}]
    assert first_difference(before, [{"step": 1, "w": math.nextafter(1.0, 2.0), "v": 1.0}]) == {
        "step": 1,
        "quantity": "w",
    }


def test_without_momentum_lost_momentum_changes_only_what_was_restored():
    result = run(restore="weights", beta="0")
    assert result["first_difference"] == {"step": 2, "quantity": "v"}
    assert bits(result["resumed"])[1:] == bits(result["uninterrupted"])[3:]
    assert result["final_gap"] == 0


def test_a_given_checkpoint_wins_over_what_was_saved():
    result = run(restore="nothing", restored="0.5,-1")
    assert (result["resumed"][0]["w"], result["resumed"][0]["v"]) == (0.5, -1.0)


def test_derived_parameters_follow():
    params = EXPERIMENT.parse({"target": "3", "lr": "0.5", "steps": "2"})
    assert (params["resumed_target"], params["resumed_lr"], params["save_after"]) == (3.0, 0.5, 1)
    assert EXPERIMENT.state(params) == {"target": "3", "lr": "0.5", "steps": "2"}


@pytest.mark.parametrize(
    "texts",
    [
        {"lr": "0"},
        {"lr": "2.0001"},
        {"lr": "-0.1"},
        {"beta": "1"},
        {"beta": "-0.1"},
        {"target": "1000001"},
        {"w0": "nan"},
        {"v0": "inf"},
        {"steps": "0"},
        {"steps": "501"},
        {"steps": "2.5"},
        {"save_after": "12"},
        {"save_after": "-1"},
        {"restore": "momentum"},
        {"resumed_lr": "0"},
        {"restored": "1"},
        {"restored": "1,2,3"},
        {"restored": "1,nan"},
        {"learning_rate": "1"},
    ],
)
def test_what_cannot_be_run_is_refused(texts):
    with pytest.raises(InvalidParameters) as refused:
        EXPERIMENT.parse(texts)
    assert [(problem.parameter, problem.given) for problem in refused.value.problems] == list(texts.items())


def said(**texts):
    params = EXPERIMENT.parse(texts)
    sentence = EXPERIMENT.sentence(params, EXPERIMENT.run(**params))
    return sentence.en.replace("\u00a0", "~"), sentence.zh.replace("\u00a0", "~")


@pytest.mark.parametrize(
    ("texts", "english", "chinese"),
    [
        (
            {"restore": "weights"},
            "Without momentum, step 3 lands at w~=~0.352, not 0.514",
            "丢失动量后，第 3 步的 w~=~0.352，而不是 0.514",
        ),
        ({"restore": "nothing"}, "Starting again from scratch, step 3", "从头开始后，第 3 步"),
        (
            {"resumed_target": "2"},
            "With the target moved to 2, step 3 lands at w~=~0.614",
            "目标变为 2 后，第 3 步的 w~=~0.614",
        ),
        (
            {"restored": "0.28,-1.7"},
            "From the state of the given checkpoint, step 3",
            "从所给检查点的状态出发，第 3 步",
        ),
        (
            {"restored": "0.28,-1.8", "resumed_target": "2"},
            "From the state of the given checkpoint and with the target moved to 2, step 3",
            "从所给检查点的状态出发，目标变为 2 后，第 3 步",
        ),
        (
            {"restore": "weights", "resumed_target": "2", "resumed_lr": "0.05"},
            "Without momentum, with the target moved to 2 and with the learning rate at 0.05, step 3",
            "丢失动量、目标变为 2、学习率变为 0.05 之后，第 3 步",
        ),
        (
            {"resumed_lr": "0.1000000000000001"},
            "With the learning rate at 0.1000000000000001, the runs part at step 3, first in w;",
            "学习率变为 0.1000000000000001 后，两次运行在第 3 步分开，最先不同的是 w；",
        ),
    ],
)
def test_the_sentence_says_what_the_restart_changed(texts, english, chinese):
    found = said(**texts)
    assert found[0].startswith(english) and found[1].startswith(chinese)


@pytest.mark.parametrize(
    ("texts", "english", "chinese"),
    [
        ({"restore": "weights", "steps": "3"}, "; there the runs end, 0.16 apart.", "；运行到此为止，相差 0.16。"),
        (
            {"restore": "weights", "steps": "500"},
            "; at step 500 the runs are 2.3×10⁻¹⁴ apart.",
            "；到第 500 步，两次运行相差 2.3×10⁻¹⁴。",
        ),
        (
            {"resumed_target": "2", "steps": "4"},
            "; at step 4 the runs are 0.28 apart.",
            "；到第 4 步，两次运行相差 0.28。",
        ),
        (
            {"restore": "weights", "beta": "0.5", "steps": "500"},
            "; by step 500 the runs have met again in every digit of w.",
            "；到第 500 步，两次运行的 w 又相同了，一位不差。",
        ),
        ({"restore": "weights", "beta": "0"}, "; w stays the same in every digit.", "；w 始终相同，一位不差。"),
        ({}, "in every bit, to the last step.", "逐位一致，直到最后一步。"),
    ],
)
def test_the_sentence_says_how_far_apart_the_runs_end(texts, english, chinese):
    """After the restart at target 2 the runs part by lr·1 = 0.1, then by another 0.1·(0.9 − 0.1 + 1) = 0.18."""
    found = said(**texts)
    assert found[0].endswith(english) and found[1].endswith(chinese)


@pytest.mark.parametrize(
    ("texts", "english", "chinese"),
    [
        (
            {"lr": "1e-9"},
            "keeps nearly all of the distance: halving it takes 69,314,712 steps.",
            "留下几乎全部的距离：减半要 69,314,712 步。",
        ),
        ({"lr": "1e-300"}, "takes 6.93147×10²⁹⁸ steps.", "减半要 6.93147×10²⁹⁸ 步。"),
        (
            {"lr": "2", "beta": "0.99"},
            "swings past the target, and a step keeps 99.5% of",
            "在目标两侧来回摆动，每一步留下 99.5% 的",
        ),
        ({"lr": "2", "beta": "0"}, "It never settles: every step throws w", "它永远停不下来"),
    ],
)
def test_a_run_that_hardly_comes_nearer_says_so(texts, english, chinese):
    found = said(**texts)
    assert english in found[0] and chinese in found[1]


@given(st.floats(0, 2, exclude_min=True), st.floats(0, 1, exclude_max=True))
def test_what_a_step_loses_has_all_its_digits(lr, beta):
    """Held against the roots of λ² − (1 + β − lr)λ + β in 800 digits."""
    lost, swings = _lost(lr, beta)
    with localcontext(prec=800):
        half = (1 + Decimal(beta) - Decimal(lr)) / 2
        inner = half * half - Decimal(beta)
        kept = Decimal(beta).sqrt() if inner < 0 else abs(half) + inner.sqrt()
        on_the_edge = min(abs(inner), abs(half)) < Decimal("1e-15")  # where a float64 cannot tell the sides apart
        assert swings is bool(inner < 0 or half < 0) or on_the_edge
        assert abs(Decimal(lost) - (1 - kept)) <= (1 - kept) * Decimal("1e-7") + Decimal("1e-320")


def test_an_empty_field_stands_for_the_derived_default():
    params = EXPERIMENT.parse({"save_after": "", "resumed_target": " ", "resumed_lr": "", "restored": ""})
    assert params == EXPERIMENT.parse({})
    assert EXPERIMENT.parse({"steps": "2", "save_after": ""})["save_after"] == 1
    assert EXPERIMENT.state(params) == EXPERIMENT.state(EXPERIMENT.parse({"save_after": "2"})) == {}
    embedded = {"steps": "30", "save_after": "9"}
    assert EXPERIMENT.parse({"save_after": ""}, embedded)["save_after"] == 2
    assert EXPERIMENT.state(EXPERIMENT.parse({"save_after": ""}, embedded), embedded) == {"save_after": "2"}


def test_wild_but_valid_parameters_stay_finite():
    result = momentum(2.0, math.nextafter(1.0, 0.0), -1e6, 1e6, 1e6, 500, 0, "weights", 1e6, 2.0, None)
    assert all(math.isfinite(state["w"]) and math.isfinite(state["v"]) for state in result["resumed"])
