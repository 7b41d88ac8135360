import json
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import InvalidParameters
from app.experiments.momentum import EXPERIMENT, first_difference, momentum

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


def test_wild_but_valid_parameters_stay_finite():
    result = momentum(2.0, math.nextafter(1.0, 0.0), -1e6, 1e6, 1e6, 500, 0, "weights", 1e6, 2.0, None)
    assert all(math.isfinite(state["w"]) and math.isfinite(state["v"]) for state in result["resumed"])
