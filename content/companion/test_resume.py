"""Does a resumed run equal the uninterrupted one? A test small enough to read, and one that can fail.

The training is one weight w with momentum v on the loss (w - target)²/2:

    v' = beta·v + (w - target)
    w' = w - lr·v'

It is saved as JSON text, restored from that text alone, and compared bit by bit with the run that never stopped.

What it proves: for this recurrence the text carries the whole state, and the comparison notices
a lost momentum, changed data and a changed learning rate, each at the first step where it can.
What it does not prove: anything about the checkpoint of a framework. For that, put your own update in `train`
and your own state in `save` and `load`.

Run it with `python test_resume.py`, or with pytest. It needs nothing but Python.
"""

import json

LR, BETA, TARGET = 0.1, 0.9, 1.0
STEPS, SAVED = 12, 2


def train(state, last, target=TARGET, lr=LR):
    """The states from `state` to the step `last`, the first being `state` itself."""
    step, w, v = state["step"], state["w"], state["v"]
    states = [{"step": step, "w": w, "v": v}]
    while step < last:
        v = BETA * v + (w - target)
        w = w - lr * v
        step += 1
        states.append({"step": step, "w": w, "v": v})
    return states


def save(state):
    """A checkpoint as text, so that nothing comes back from memory by accident."""
    return json.dumps(state)


def load(text):
    return json.loads(text)


def first_difference(before, after):
    """The first (step, quantity) of `after` whose bits differ from the same step of `before`; None if none does."""
    expected = {state["step"]: state for state in before}
    for state in after:
        for quantity in ("v", "w"):
            if state[quantity].hex() != expected[state["step"]][quantity].hex():
                return state["step"], quantity
    return None


def uninterrupted():
    return train({"step": 0, "w": 0.0, "v": 0.0}, STEPS)


def checkpoint():
    """The text that a run writes when it is stopped after the step `SAVED`."""
    return save(train({"step": 0, "w": 0.0, "v": 0.0}, SAVED)[-1])


def test_the_recurrence_gives_the_numbers_worked_out_by_hand():
    run = uninterrupted()
    assert [round(run[2]["w"], 12), round(run[2]["v"], 12), round(run[3]["w"], 12)] == [0.28, -1.8, 0.514]


def test_full_restoration_equals_the_uninterrupted_run():
    resumed = train(load(checkpoint()), STEPS)
    assert [state["step"] for state in resumed] == list(range(SAVED, STEPS + 1))
    assert first_difference(uninterrupted(), resumed) is None


def test_missing_momentum_shows_in_the_restored_state():
    resumed = train({**load(checkpoint()), "v": 0.0}, STEPS)
    assert first_difference(uninterrupted(), resumed) == (SAVED, "v")
    assert round(resumed[1]["w"], 12) == 0.352


def test_changed_data_shows_in_the_first_step_after_the_restart():
    resumed = train(load(checkpoint()), STEPS, target=2.0)
    assert first_difference(uninterrupted(), resumed) == (SAVED + 1, "v")
    assert round(resumed[1]["w"], 12) == 0.614


def test_a_changed_learning_rate_shows_first_in_the_weight():
    resumed = train(load(checkpoint()), STEPS, lr=0.05)
    assert first_difference(uninterrupted(), resumed) == (SAVED + 1, "w")


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("passed:", name.removeprefix("test_").replace("_", " "))
