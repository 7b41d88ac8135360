"""Runs in several files, segments and ranks are the run that their description says, word by word."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import Incomparable, Unreadable
from app.traces.comparison import compare
from app.traces.run import Run, read_run
from tests.traces.written import Record, digest, ids_of, resumed, run, state, step, trace, written

Steps = dict[int, dict[int, tuple[list[Record], list[Record]]]]
"""By number and rank: the records, and those after a resume from this step."""


def spliced(segments: Iterable[Sequence[Record]]) -> Iterator[tuple[int, bool, Record]]:
    """The run of one rank, naively: (step that it is read with, whether it follows a resume from there, record).

    A segment without a resume before its first batch is a new start, and the last start counts; a resume takes back
    all steps after the one that it goes on from; a record may come one step late.
    """
    kept: list[tuple[int, bool, Record]] = []
    for segment in segments:
        turning = [one["event"] for one in segment if one["event"] in ("resume", "batch")]
        begun = turning[:1] != ["resume"]
        kept, origin = ([], None) if begun else (kept, None)
        for one in segment:
            if one["event"] == "resume":
                origin, begun = one["step"], True
                kept = [old for old in kept if old[2]["step"] <= origin]
            elif begun and "step" in one:
                kept.append((one["step"], one["step"] == origin, one))
    reached = -1
    for number, after, one in kept:
        reached = max(reached, number)
        yield reached, after, one


def lost_count(records: list[Record], done: int) -> list[Record]:
    """A segment of an optimizer that cannot say how many steps were done: it counts from none again."""

    def counted(one: Record) -> Record:
        if one["event"] == "resume":
            return one | {"step": 0, "from": "unknown"}
        return one | ({"step": one["step"] - done} if one.get("step", 0) >= done else {})

    return [*map(counted, records)]


@given(st.integers(1, 5), st.integers(1, 2), st.booleans())
def test_a_resume_that_cannot_count_is_aligned_by_its_samples(done: int, micros: int, twice: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [run(done + 1, micros), lost_count(resumed(done, 6 - done, micros), done)]
        if twice:
            files.append(lost_count(resumed(done + 1, 5 - done, micros), done + 1))
        paths = [written(folder / f"{i}.jsonl", one) for i, one in enumerate(files)]
        found = compare(written(folder / "a.jsonl", run(6, micros)), paths)
        assert (found.level, found.steps, found.only_a, found.seen_twice, found.never_seen) == ("bitwise", 6, 0, 0, 0)
        goes_on = 1 + (twice and done < 5)  # a segment without a batch cannot be placed, and is left out
        assert [one["step"] for one in found.resumes] == [done, done + 1][:goes_on]
        alone = compare(written(folder / "a.jsonl", run(6, micros)), paths[1])
        assert (alone.level, alone.steps) == ("bitwise", 6 - done)


def test_a_batch_that_comes_again_is_found_in_its_epoch(tmp_path: Path) -> None:
    def epochs(records: list[Record]) -> list[Record]:
        """Steps 1 to 3 and 4 to 6 have the same samples."""
        return [
            one | {"epoch": (n - 1) // 3, "ids": ids_of((n - 1) % 3 + 1, 1, 1), "order": digest(("e", (n - 1) % 3))}
            if one["event"] == "batch" and (n := one["step"])
            else one
            for one in records
        ]

    a = written(tmp_path / "a.jsonl", epochs(run(6)))
    b = written(tmp_path / "b.jsonl", lost_count(epochs(resumed(4, 2)), 4))
    assert (compare(a, b).level, compare(a, b).steps) == ("bitwise", 2)


def test_samples_that_the_other_run_never_had_align_nothing(tmp_path: Path) -> None:
    other = [one | ({"order": digest("?"), "ids": [99]} if one["event"] == "batch" else {}) for one in resumed(4, 2)]
    a, b = written(tmp_path / "a.jsonl", run(6)), written(tmp_path / "b.jsonl", lost_count(other, 4))
    found = compare(a, b)
    assert found.resumes[0]["step"] == 0
    assert found.level == "different"


def twin(ranks: dict[int, list[list[Record]]]) -> Steps:
    found: Steps = {}
    for rank, segments in ranks.items():
        for number, after, one in spliced(segments):
            found.setdefault(number, {}).setdefault(rank, ([], []))[after].append(one)
    return found


def read(found: Run) -> Steps:
    steps: Steps = {}
    for one in found.steps():
        assert one.number not in steps
        parts = {rank: (part.lines, part.after) for rank, part in one.parts.items()}
        steps[one.number] = {rank: tuple([*map(json.loads, each)] for each in both) for rank, both in parts.items()}  # type: ignore[misc]
    assert list(steps) == sorted(steps)
    return steps


@dataclass
class Course:
    """What happened to one rank: segments, each marked with whether a file begins with it and how it ends."""

    segments: list[list[Record]] = field(default_factory=list)
    new_file: list[bool] = field(default_factory=list)
    torn: list[int] = field(default_factory=list)
    """Bytes of a last line that was not finished; 0: none."""


@st.composite
def courses(draw: st.DrawFn, rank: int = 0, world: int = 1) -> Course:
    course = Course()
    last = 0
    for number in range(draw(st.integers(1, 6))):
        micros, length = draw(st.integers(1, 2)), draw(st.integers(0 if number else 1, 4))
        kind = draw(st.sampled_from(["resume", "resume", "start", "go on"])) if number else "start"
        origin = 0 if kind == "start" else draw(st.integers(0, last))
        if kind == "start":
            own = run(length, micros)
        elif kind == "resume":
            own = resumed(origin, length, micros)
        else:  # a resume in the middle of a segment
            own = [{"event": "resume", "step": origin, "from": "given"}, *state(origin)]
            own += [one for n in range(origin + 1, origin + length + 1) for one in step(n, micros)]
        own = [one | {"norm": float(number).hex()} if "norm" in one else one for one in late(draw, own)]
        if kind == "go on":
            course.segments[-1] += own
        else:
            own[0] = trace(rank, world)
            course.segments.append(own)
            course.new_file.append(draw(st.booleans()))
            course.torn.append(draw(st.integers(0, 30)))
        last = origin + length
    return course


def late(draw: st.DrawFn, records: list[Record]) -> list[Record]:
    """With evaluations that came to their end a step later."""
    found: list[Record] = []
    for one in records:
        found.append(one)
        before = any(two["event"] == "control" and two["step"] == one["step"] - 1 for two in records if "step" in one)
        if one["event"] == "rng" and before and draw(st.integers(0, 5)) == 0:
            found.append({"event": "eval", "step": one["step"] - 1, "name": "late", "metrics": {}})
    return found


def files(folder: Path, name: str, course: Course) -> list[Path]:
    """The torn line of a segment stands before the next `trace` line, or at the end of its file."""
    paths: list[Path] = []
    torn = b'{"event":"grad","step":9,"micro":1,"when":"raw"'
    for segment, new_file, cut in zip(course.segments, course.new_file, course.torn, strict=True):
        if new_file or not paths:
            paths.append(folder / f"{name}{len(paths)}.jsonl")
            paths[-1].unlink(missing_ok=True)
        data = b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in segment)
        with paths[-1].open("ab") as file:
            file.write((b"\n" if file.tell() and whole_end(paths[-1]) is False else b"") + data + torn[:cut])
    return paths


def whole_end(path: Path) -> bool:
    return path.read_bytes().endswith(b"\n")


@given(courses())
def test_a_run_is_what_its_segments_say(tmp_path_factory: pytest.TempPathFactory, course: Course) -> None:
    found = read_run(files(tmp_path_factory.mktemp("one"), "a", course))
    assert read(found) == twin({0: course.segments})
    assert len(found.torn) == sum(cut > 0 for cut in course.torn)


@given(st.data())
def test_ranks_stand_side_by_side_in_whatever_order_their_files_come(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("ranks")
    ranks = {rank: data.draw(courses(rank, 3)) for rank in range(3)}
    own = {rank: files(folder, f"r{rank}-", course) for rank, course in ranks.items()}
    every = [rank for rank, paths in own.items() for _ in paths]
    expected = twin({rank: course.segments for rank, course in ranks.items()})
    for order in (every, data.draw(st.permutations(every))):
        left = {rank: iter(paths) for rank, paths in own.items()}
        assert read(read_run([next(left[rank]) for rank in order])) == expected


@given(st.integers(2, 8), st.integers(1, 2), st.data())
def test_a_run_that_was_cut_anywhere_and_any_number_of_times_is_the_whole_run(
    tmp_path_factory: pytest.TempPathFactory, steps: int, micros: int, data: st.DataObject
) -> None:
    """What was done after a checkpoint and taken back has other digests, and is not seen."""
    folder = tmp_path_factory.mktemp("cut")
    course = Course()
    origin = 0
    while origin < steps:
        saved = data.draw(st.integers(origin + 1, steps), label="the checkpoint that is gone on from")
        lost = data.draw(st.integers(0, 3), label="steps after it that are lost") if saved < steps else 0
        own = resumed(origin, saved + lost - origin, micros) if origin else run(saved + lost, micros)
        other = {"digest": digest("lost")}
        own = [one | other if one.get("step", 0) > saved and "digest" in one else one for one in own]
        course.segments.append(own)
        course.new_file.append(data.draw(st.booleans()))
        course.torn.append(data.draw(st.integers(0, 30)))
        origin = saved
    found = compare(written(folder / "whole.jsonl", run(steps, micros)), read_run(files(folder, "b", course)))
    assert (found.level, found.steps, found.only_a, found.only_b) == ("bitwise", steps, 0, 0)
    assert (found.seen_twice, found.never_seen, found.one_sided) == (0, 0, ())


@given(st.permutations([one for number in range(1, 6) for one in step(number)]))
def test_shuffled_lines_are_told(tmp_path_factory: pytest.TempPathFactory, shuffled: list[Record]) -> None:
    numbers = [one["step"] for one in shuffled]
    back = max(max(numbers[:i], default=0) - number for i, number in enumerate(numbers))
    found = read_run([written(tmp_path_factory.mktemp("shuffled") / "a.jsonl", [*run(0), *shuffled])])
    if back > 1:
        with pytest.raises(Unreadable, match="lines are shuffled"):
            list(found.steps())
    else:
        assert sum(len(part.lines) for one in found.steps() for part in one.parts.values()) == len(shuffled) + 2


@given(st.sets(st.integers(1, 9), min_size=1), st.sets(st.integers(1, 9), min_size=1))
def test_only_steps_that_both_have_are_compared(
    tmp_path_factory: pytest.TempPathFactory, ours: set[int], theirs: set[int]
) -> None:
    folder = tmp_path_factory.mktemp("common")
    a, b = (
        read_run([written(folder / f"{name}.jsonl", [trace(), *(one for n in sorted(own) for one in step(n))])])
        for name, own in (("a", ours), ("b", theirs))
    )
    if not ours & theirs:
        with pytest.raises(Incomparable, match="no step in common"):
            compare(a, b)
        return
    found = compare(a, b)
    assert (found.level, found.steps) == ("bitwise", len(ours & theirs))
    assert (found.only_a, found.only_b) == (len(ours - theirs), len(theirs - ours))


SHAPES = st.dictionaries(st.sampled_from("uvwxyz"), st.lists(st.integers(0, 9), max_size=3), min_size=1)


@given(SHAPES, SHAPES)
def test_models_of_other_shapes_cannot_be_compared(
    tmp_path_factory: pytest.TempPathFactory, ours: dict[str, list[int]], theirs: dict[str, list[int]]
) -> None:
    folder = tmp_path_factory.mktemp("models")
    a, b = (read_run([written(folder / f"{name}.jsonl", shaped(own))]) for name, own in (("a", ours), ("b", theirs)))
    unlike = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    if unlike:
        with pytest.raises(Incomparable, match=f"models differ in {len(unlike)} parameters: {', '.join(unlike[:3])}"):
            compare(a, b)
    else:
        assert compare(a, b).level == "bitwise"


def shaped(shapes: dict[str, list[int]]) -> list[Record]:
    parameters = [{"name": name, "shape": shape, "dtype": "float32", "trained": True} for name, shape in shapes.items()]
    return [one | {"parameters": parameters} if one["event"] == "model" else one for one in run(2)]
