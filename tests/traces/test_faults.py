"""One fault at a time planted in a real training: the comparison names its stage and its optimizer step.

Where it must show follows from the words beside each row and from the program (tests/traces/faults.py): checkpoints are
made after step 2 ("closed") and after the first of the two micro-batches of step 6 ("open"); what is planted without a
resume begins at step 3.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.traces.comparison import Comparison, Place, compare
from app.traces.hints import TABLE
from app.traces.recorder import self_check
from app.traces.run import read_run
from tests.traces.faults import CLOSED, OPEN, Training
from tests.traces.lines import lines, of

References = dict[str, list[Path]]

TRAININGS = {
    "perceptron": Training("perceptron", "SGD"),
    "perceptron AdamW": Training("perceptron", "AdamW", clip=0.1),
    "perceptron float16": Training("perceptron", "AdamW", half=True, clip=0.1),
    "convolution": Training("convolution", "AdamW"),
    "convolution float16": Training("convolution", "SGD", half=True, clip=0.1),
    "transformer": Training("transformer", "AdamW", clip=0.5),
    "transformer SGD": Training("transformer", "SGD", accumulate=1),
    "windows of three": Training("perceptron", "SGD", accumulate=3),
    "windows of four": Training("convolution", "SGD", accumulate=4),
    "three ranks": Training("perceptron", "AdamW", accumulate=1, ranks=3),
    "two ranks": Training("transformer", "SGD", accumulate=1, ranks=2),
}


@dataclass(frozen=True)
class Planted:
    fault: str
    training: str
    stage: str
    step: int
    micro: int | None
    """None for what comes once a step."""
    hints: tuple[str, ...]
    """All that fit."""
    why: str
    resume: str = ""
    rank: int = 0

    def __str__(self) -> str:
        return " ".join(filter(None, (self.fault, self.training, self.resume)))


RESUMED = (
    # What a resume loads is recorded at once, as the state after the last whole step: 2, or 5 in the open window.
    Planted("weights not restored", "perceptron", "weights", 2, None, ("weights-on-resume",), "fresh weights", CLOSED),
    Planted("weights not restored", "transformer", "weights", 5, None, ("weights-on-resume",), "fresh weights", OPEN),
    Planted("buffers not restored", "convolution", "weights", 2, None, ("buffers",), "loaded with the weights", CLOSED),
    Planted(
        *("buffers not restored", "convolution", "weights", 6, None, ("buffers",)),
        "in an open window they are past step 5 already; no output of the training depends on them: step 6 shows it",
        OPEN,
    ),
    Planted("optimizer not restored", "perceptron", "optimizer", 2, None, ("optimizer-fresh",), "no momentum", CLOSED),
    Planted("optimizer not restored", "transformer", "optimizer", 5, None, ("optimizer-fresh",), "no moments", OPEN),
    Planted("scheduler not restored", "perceptron", "side", 2, None, ("scheduler-state",), "counts from 0", CLOSED),
    Planted("scheduler not restored", "convolution", "side", 5, None, ("scheduler-state",), "counts from 0", OPEN),
    Planted("scaler not restored", "perceptron float16", "side", 2, None, ("scaler-state",), "its first scale", CLOSED),
    Planted("scaler not restored", "convolution float16", "side", 5, None, ("scaler-state",), "its first scale", OPEN),
    Planted("average not restored", "perceptron", "side", 2, None, ("average",), "begins anew", CLOSED),
    Planted("average not restored", "transformer", "side", 5, None, ("average",), "begins anew", OPEN),
    Planted("generator not restored", "transformer", "rng", 3, 1, ("generator-first",), "dropout alone draws", CLOSED),
    Planted("generator not restored", "perceptron", "rng", 6, 2, ("generator-first",), "dropout alone draws", OPEN),
    Planted(
        *("augmentation not restored", "perceptron", "batch", 3, 1, ("same-ids-other-contents",)),
        "the same ids with other noise, which comes before any generator is looked at",
        CLOSED,
    ),
    Planted(
        *("augmentation not restored", "transformer", "batch", 6, 2, ("same-ids-other-contents",)),
        "other tokens are hidden in the same samples",
        OPEN,
    ),
    Planted(
        *("position one short", "perceptron", "batch", 3, 1, ("batches-repeat",)), "the last batch of step 2", CLOSED
    ),
    Planted(
        *("position one short", "convolution", "batch", 6, 2, ("batches-repeat",)), "the first batch of step 6", OPEN
    ),
    Planted(
        *("prefetched counted", "convolution", "batch", 3, 1, ("batches-skipped",)),
        "two batches ahead of step 3",
        CLOSED,
    ),
    Planted(
        *("prefetched counted", "perceptron", "batch", 6, 2, ("batches-skipped",)), "two batches ahead in step 6", OPEN
    ),
    Planted(
        *("gradients not restored", "perceptron", "grad", 6, 2, ("open-window-lost",)),
        "the sum of both micro-batches lacks the first; batch, output and loss of the second do not",
        OPEN,
    ),
    Planted(
        *("gradients not restored", "convolution float16", "grad", 6, 2, ("open-window-lost",)),
        "the same with a loss scale, which is equal on both sides",
        OPEN,
    ),
    Planted(
        *("weights through bfloat16", "transformer", "weights", 2, None, ("weights-on-resume",)),
        "16 of their 32 bits are gone as they are loaded",
        CLOSED,
    ),
    Planted("weights through bfloat16", "perceptron", "weights", 5, None, ("weights-on-resume",), "the same", OPEN),
    Planted(
        *("moments through bfloat16", "transformer", "optimizer", 2, None, ("optimizer-state",)),
        "the weights are whole, the moments are not",
        CLOSED,
    ),
    Planted(
        *("step counts not restored", "perceptron AdamW", "optimizer", 5, None, ("optimizer-fresh",)),
        "the moments are whole, the counter that corrects their bias is 0",
        OPEN,
    ),
    Planted(
        *("groups reordered", "perceptron", "optimizer", 2, None, ("optimizer-state",)),
        "state goes by position to the other layer, whose shapes fit",
        CLOSED,
    ),
    Planted(
        *("scheduler built late", "perceptron", "control", 3, None, ("rate-for-one-step",)),
        "its making writes the first rate over the loaded one; the scheduler's own state is then loaded",
        CLOSED,
    ),
    Planted(
        *("averages saved", "perceptron", "side", 2, None, ("payload",)),
        "training has not noticed yet: what differs is the checkpoint that is written",
        CLOSED,
    ),
    Planted(
        *("generator of rank 0", "two ranks", "rng", 5, 1, ("generator-first",)),
        "one micro-batch is a step there, so 4 are done; rank 1 goes on with the dropout of rank 0",
        *(CLOSED, 1),
    ),
    Planted(
        *("live tensors saved", "perceptron", "weights", 5, None, ("weights-on-resume",)),
        "the checkpoint of step 5 was written while step 6 changed it",
        OPEN,
    ),
)

LIVE = (
    Planted(
        *("live tensors saved", "transformer", "side", 6, None, ("payload",)),
        "step 6 changes what is being written meanwhile, and nothing else goes wrong without a resume",
    ),
    Planted("order", "perceptron", "batch", 3, 1, ("same-ids-other-order",), "each batch is turned around"),
    Planted(
        "duplicates", "convolution", "batch", 3, 1, ("ids-within-a-batch-repeat",), "the first sample for the last"
    ),
    Planted(
        "batches exchanged", "transformer", "batch", 3, 1, ("batches-skipped",), "the second of the window is first"
    ),
    Planted(
        "repeated epoch", "perceptron", "batch", 5, 1, ("epoch-repeats",), "7 batches are 4 steps: epoch 1 is step 5"
    ),
    Planted(
        *("micro-batch mean", "transformer", "loss", 3, 1, ("loss-denominator",)),
        "samples have unequal numbers of targets; outputs are equal, what their loss is divided by is not",
    ),
    Planted(
        *("divided twice", "convolution", "loss", 3, 1, ("loss-by-a-factor",)),
        "by the 2 micro-batches of its window, already before the backward pass divides by them",
    ),
    Planted("rank mean", "two ranks", "loss", 3, 1, ("loss-denominator",), "each rank divides by its own targets"),
    Planted(
        *(
            "world size",
            "two ranks",
            "grad",
            3,
            None,
            ("gradient-by-a-power-of-two", "gradient-by-the-number-of-ranks", "clipping"),
        ),
        "each rank's own gradient is right; their sum is not divided by 2",
    ),
    Planted(
        *("world size", "three ranks", "grad", 3, None, ("gradient-by-the-number-of-ranks", "clipping")),
        "the same with three, which is no power of two",
    ),
    Planted(
        *("reduction order", "three ranks", "grad", 3, None, ("clipping", "same-norm")),
        "three gradients added from the last to the first round otherwise",
    ),
    Planted("rank seed", "two ranks", "rng", 1, 1, ("generator-first",), "rank 1 draws what rank 0 draws", rank=1),
    Planted(
        *("accumulation", "windows of three", "grad", 4, 1, ("gradient-by-the-accumulation-count",)),
        "step 3 is the short window of one, which is divided by 1 anyway",
    ),
    Planted(
        *("short window", "windows of four", "grad", 4, 1, ("gradient-by-three-quarters",)),
        "7 batches are windows of 4 and of 3: step 4 is the second that is divided by 4",
    ),
    Planted(
        *("clip before unscale", "perceptron float16", "grad", 3, None, ("gradient-by-the-scale", "clipping")),
        "the bound is met by gradients 2**12 times too large, which are then divided by it",
    ),
    Planted("no clip", "transformer", "grad", 3, None, ("clipping",), "only the gradient that the step uses is larger"),
    Planted(
        *("gradients kept", "convolution", "grad", 3, 1, ("gradients-kept",)),
        "step 2 leaves its gradients, to which the first micro-batch of step 3 adds",
    ),
    Planted("scheduler per micro-batch", "perceptron", "control", 3, None, ("rate",), "once more before step 3"),
    Planted("scheduler early", "transformer", "control", 3, None, ("rate-for-one-step",), "called before step 3, once"),
    Planted("scheduler late", "perceptron", "side", 3, None, ("scheduler-state",), "not called after step 3"),
    Planted(
        *("scheduler counts skips", "perceptron float16", "side", 1, None, ("scheduler-state",)),
        "step 1 overflows, the scheduler is called all the same",
    ),
    Planted("overflow taken", "convolution float16", "control", 1, None, ("skip",), "step 1 overflows and is taken"),
    Planted(
        *("scale in the window", "perceptron float16", "control", 3, None, ("scale",)),
        "halved between the micro-batches of step 3: their gradients carry different scales",
    ),
    Planted("weight decay", "perceptron", "control", 1, None, ("options",), "in the second group, from the beginning"),
    Planted(
        *("augmented unnamed", "perceptron", "batch", 3, 1, ("contents-without-ids",)),
        "from step 3 on 1 is added to the inputs, and no ids are given",
    ),
    Planted(
        *("inputs cast", "perceptron", "batch", 3, 1, ("same-ids-other-contents", "batch-shapes")),
        "from step 3 on the recorder is given them in float64",
    ),
    Planted(
        *("evaluation draws", "perceptron", "eval", 3, None, ("evaluation-draws", "evaluation")),
        "the first evaluation is after step 3: its samples are chosen by the global generator",
    ),
    Planted(
        *("draw after the step", "transformer", "rng", 3, None, ("generator-first",)),
        "something draws after step 3, untold; the evaluation after it is the next that looks at generators",
    ),
    Planted(
        *("evaluation in training mode", "convolution", "eval", 3, None, ("evaluation-moves", "evaluation")),
        "it moves the running statistics",
    ),
    Planted(
        *("left in evaluation mode", "transformer", "eval", 3, None, ("evaluation-moves",)),
        "the mode is another after the evaluation",
    ),
    Planted(
        *("bit", "perceptron", "forward", 3, 1, ("forward-first",)),
        "in the last bias, before step 3 and after the weights of step 2 were recorded: every output sees it",
    ),
    Planted(
        *("low bit", "perceptron float16", "update", 3, None, ("update-alone",)),
        "float16 does not have this bit, so outputs and gradients are equal; the weights after are not",
    ),
)
FAULTS = RESUMED + LIVE


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> References:
    folder = tmp_path_factory.mktemp("references")
    return {name: one.run(folder / f"{name}.jsonl") for name, one in TRAININGS.items()}


def compared(reference: list[Path], other: list[Path]) -> Comparison:
    return compare(read_run(reference), read_run(other), {})


def test_every_hint_has_a_fault_that_it_fits() -> None:
    assert {hint for one in FAULTS for hint in one.hints} == {hint.name for hint in TABLE}
    assert len({one.fault for one in FAULTS}) > 40


@pytest.mark.parametrize("name", [name for name, one in TRAININGS.items() if one.half])
def test_in_float16_the_first_step_overflows_and_later_ones_do_not(name: str, references: References) -> None:
    controls = of(lines(references[name][0]), "control")
    assert [one["skipped"] for one in controls] == [True] + [False] * 8
    assert [float.fromhex(one["scale"]) for one in controls[:4]] == [2.0**40, 2.0**12, 2.0**12, 2.0**13]


@pytest.mark.parametrize("planted", FAULTS, ids=str)
def test_a_planted_fault_is_named(planted: Planted, references: References, tmp_path: Path) -> None:
    files = TRAININGS[planted.training].run(tmp_path / "b.jsonl", planted.fault, planted.resume)
    found = compared(references[planted.training], files)
    assert found.first_difference == Place(planted.stage, planted.step, planted.micro, planted.rank)
    assert tuple(hint.name for hint in found.hints) == planted.hints


@pytest.mark.parametrize("resume", ["", CLOSED, OPEN], ids=["whole", CLOSED, OPEN])
@pytest.mark.parametrize("name", TRAININGS)
def test_without_a_fault_all_is_bitwise_equal(name: str, resume: str, references: References, tmp_path: Path) -> None:
    found = compared(references[name], TRAININGS[name].run(tmp_path / "b.jsonl", resume=resume))
    assert (found.level, found.first_difference, found.hints) == ("bitwise", None, ())
    assert {one.level for one in found.stages} == {"bitwise"}
    assert (found.only_a, found.only_b, found.seen_twice, found.never_seen) == (0, 0, 0, 0)
    assert {one.stage for one in found.one_sided} <= {"side"}  # a checkpoint whose writing a resume took back


COUNTED = [
    one for one in FAULTS if one.stage == "batch" and one.resume != OPEN and one.hints != ("contents-without-ids",)
]


@pytest.mark.parametrize("planted", COUNTED, ids=str)
def test_samples_are_counted_over_a_real_resume(planted: Planted, references: References, tmp_path: Path) -> None:
    """Against a count of all ids that are in the files, less those of steps that a resume took back."""
    first, *again = TRAININGS[planted.training].run(tmp_path / "b.jsonl", planted.fault, planted.resume)
    a = of(lines(references[planted.training][0]), "batch")
    b = [one for one in of(lines(first), "batch") if not again or one["step"] <= 2]
    b += [one for file in again for one in of(lines(file), "batch")]
    ours, theirs = (Counter(sample for one in side for sample in one["ids"]) for side in (a, b))
    found = compared(references[planted.training], [first, *again])
    assert (found.seen_twice, found.never_seen) == ((theirs - ours).total(), (ours - theirs).total())


def test_a_run_that_was_killed_within_a_window_is_equal_as_far_as_it_went(
    references: References, tmp_path: Path
) -> None:
    whole = references["perceptron"][0].read_bytes().splitlines(keepends=True)
    end = next(
        at for at, line in enumerate(whole) if line.startswith(b'{"event":"batch","step":6') and b'"micro":2' in line
    )
    (tmp_path / "killed.jsonl").write_bytes(b"".join(whole[:end]))
    found = compared(references["perceptron"], [tmp_path / "killed.jsonl"])
    assert (found.level, found.steps, found.seen_twice, found.never_seen) == ("bitwise", 6, 0, 0)


@pytest.mark.parametrize("resume", ["", OPEN], ids=["whole", OPEN])
@pytest.mark.parametrize("name", TRAININGS)
def test_recording_changes_no_bit_of_any_of_them(name: str, resume: str) -> None:
    def train(path: str | None) -> None:
        TRAININGS[name].run(None if path is None else Path(path), resume=resume)

    told: list[str] = []
    result = self_check(train, told.append)
    assert (result["same"], result["repeats"]) == (True, True), told
