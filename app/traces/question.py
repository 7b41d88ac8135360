"""What is asked of traces, out of its texts; and the answer, out of their files."""

import contextlib
import math
import os
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.errors import Incomparable, InvalidQuestion, Problem, TraceError
from app.language import Text
from app.traces.comparison import STRONGEST, Comparison, Whole, compare
from app.traces.conclusion import Rule, read_rule
from app.traces.lines import Watch
from app.traces.run import Run, read_runs
from app.traces.schema import STAGES
from app.traces.stages import Tolerances


@dataclass(frozen=True)
class Question:
    require: Whole = "bitwise"
    tolerances: Tolerances = field(default_factory=dict)
    rule: Rule | None = None


def read_question(require: str, tolerances: Iterable[str], rule: str | None) -> Question:
    """Raises InvalidQuestion that names everything that cannot be used."""
    problems: list[Problem] = []
    declared: Tolerances = {}
    decided = None
    required = next((level for level in STRONGEST[:-1] if level == require), None)
    if required is None:
        levels = ", ".join(STRONGEST[:-1])
        problems.append(Problem("require", require, Text(f"one of {levels}", f"可用的值：{levels}")))
    try:
        declared = read_tolerances(tolerances)
        if required == "close" and not declared:
            form = "loss=1e-5,1e-7"
            problems.append(_wrong("", Text(f"close needs one, such as {form}", f"close 需要声明容差，例如 {form}")))
    except InvalidQuestion as wrong:
        problems += wrong.problems
    try:
        decided = read_rule(rule) if rule else None
    except InvalidQuestion as wrong:
        problems += wrong.problems
    if required is None or problems:
        raise InvalidQuestion(problems)
    return Question(required, declared, decided)


def read_tolerances(texts: Iterable[str]) -> Tolerances:
    """`stage=relative,absolute`, once a stage. Raises InvalidQuestion that names all that cannot be used."""
    tolerances: dict[str, tuple[float, float]] = {}
    problems = []
    for text in texts:
        stage, _, numbers = unicodedata.normalize("NFKC", text).replace(" ", "").partition("=")
        found = _tolerance(text, stage, numbers)
        if isinstance(found, Problem):
            problems.append(found)
        elif stage in tolerances:
            problems.append(_wrong(text, Text(f"{stage} has a tolerance already", f"{stage} 已经声明过容差")))
        else:
            tolerances[stage] = found
    if problems:
        raise InvalidQuestion(problems)
    return tolerances


def _tolerance(text: str, stage: str, numbers: str) -> tuple[float, float] | Problem:
    if stage not in STAGES or stage in ("env", "batch", "rng"):
        return _wrong(text, Text("names no stage that has numbers", "没有指明带数值的阶段"))
    try:
        relative, absolute = map(float, numbers.split(","))
    except ValueError:
        form = f"{stage}=1e-5,1e-7"
        return _wrong(text, Text(f"is not of the form {form}", f"写法应为 {form}"))
    if not (math.isfinite(relative) and math.isfinite(absolute) and relative >= 0 and absolute >= 0):
        return _wrong(text, Text("a tolerance is finite and not negative", "容差应是有限的非负数"))
    return relative, absolute


def _wrong(tolerance: str, message: Text) -> Problem:
    return Problem("tolerance", tolerance, message)


def answer(
    a: Sequence[Path],
    b: Sequence[Path],
    noise: Sequence[Path] = (),
    question: Question | None = None,
    watch: Watch | None = None,
    limit: int | None = None,
) -> Comparison:
    """The files of each side: ranks, resumes that go on from the file before, and, for a rule, further runs.

    `limit` is of the unpacked bytes of each run. Raises Unreadable for what is no trace, TooLarge for what goes beyond
    it, Incomparable where nothing can be compared.
    """
    asked = question or Question()
    ours, theirs = read_runs(a, limit), read_runs(b, limit)
    if asked.rule is None:
        _check_alone("A", ours)
        _check_alone("B", theirs)
    again = read_runs(noise, limit)[-1] if noise else None
    return compare(
        ours[0],
        theirs[0],
        asked.tolerances,
        asked.require,
        noise=again,
        rule=asked.rule,
        seeds=(ours[1:], theirs[1:]),
        watch=watch,
    )


READ = "read"
"""File in the folder of a comparison that says how many bytes of the traces were read so far."""


def answer_aside(
    a: Sequence[Path], b: Sequence[Path], noise: Sequence[Path], question: Question, limit: int, folder: Path
) -> Comparison:
    """As answer, in a process of its own; `limit` is of the unpacked bytes of each run.

    It names the files as they stand in the folder.
    """
    read = 0
    with (folder / READ).open("wb", buffering=0) as told:

        def watch(more: int) -> None:
            nonlocal read
            read += more
            with contextlib.suppress(OSError):  # a full disk costs this news, not the comparison
                os.pwrite(told.fileno(), f"{read:20d}".encode(), 0)

        try:
            found = answer(a, b, noise, question, watch, limit)
        except TraceError as wrong:
            raise wrong.within(folder) from None
    torn, anew = ([one.removeprefix(f"{folder}{os.sep}") for one in places] for places in (found.torn, found.anew))
    return replace(found, torn=tuple(torn), anew=tuple(anew))


def bytes_read(folder: Path) -> int:
    """Of a comparison under way."""
    try:
        return int((folder / READ).read_bytes() or b"0")
    except (OSError, ValueError):
        return 0


def _check_alone(side: str, runs: Sequence[Run]) -> None:
    if len(runs) > 1:
        example = "A - B > 0.2 over >= 5 seeds"
        raise Incomparable(
            f"the files of {side} are {len(runs)} runs, as each begins anew; comparing several takes a rule: {example}",
            f"{side} 的文件是 {len(runs)} 次运行，因为每个都重新开始；比较多次运行需要一条规则：{example}",
        )
