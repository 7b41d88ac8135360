"""A comparison into a few lines of text that fit a terminal."""

import textwrap

from app.traces.advice import advice
from app.traces.comparison import Comparison
from app.traces.stages import number_of
from app.traces.witness import Parameters

WIDTH = 88
LONGEST = 24
"""Characters of a value."""


def report(found: Comparison) -> str:
    """In English, as all that the command says."""
    parts = (_verdict, _ladder, _concluded, _remarks, _hinted, _next)
    lines = [line for part in parts for line in part(found)]
    return "\n".join(map(_filled, lines))


def steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def _verdict(found: Comparison) -> list[str]:
    first = found.first_difference
    if first is None:
        said = (
            "nothing to compare was recorded"
            if found.level == "not_recorded"
            else "bitwise equal in all that both recorded"
        )
        return [f"{said}; {steps(found.steps)} in common"]
    lines = [f"level: {found.level}", f"first difference: {first.words.en}"]
    if found.first_unequal is not None:
        a, b = found.first_unequal.a, found.first_unequal.b
        plain = sorted(name for name in a.keys() | b.keys() if not isinstance(a.get(name, b.get(name)), dict))
        unlike = [name for name in plain if a.get(name) != b.get(name)]
        lines += [f"  {name}: {_short(a.get(name))} in A, {_short(b.get(name))} in B" for name in unlike]
    if found.last_equal is not None:
        lines.append(f"last that is equal: {found.last_equal.place.words.en}")
    return lines


def _short(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, list):
        value = f"[{', '.join(map(_short, value))}]"
    number = number_of({"": value}, "") if isinstance(value, str) and "0x" in value else None
    text = str(value) if number is None else repr(number)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _ladder(found: Comparison) -> list[str]:
    rows = [
        f"{one.stage:<10} {one.level:<13}{'' if one.first_step is None else f'from step {one.first_step}'}".rstrip()
        for one in found.stages
        if one.level != "not_recorded"
    ]
    missing = ", ".join(found.not_recorded)
    return ["", *rows, *([f"not recorded, so nothing is said of it: {missing}"] if missing else [])]


def _concluded(found: Comparison) -> list[str]:
    made = found.conclusion
    if made is None:
        return []
    said = [f"rule: {made.rule}", f"verdict: {made.verdict.replace('_', ' ')}"]
    said.append(f"{made.metric}: {len(made.a)} seeds of A, {len(made.b)} of B, {made.repeated} left out as repeated")
    if made.difference is not None and made.superiority is not None and made.interval is not None:
        low, high = made.interval
        said.append(
            f"difference of means {made.difference:.6g}; P(A > B) {made.superiority:.3f} [{low:.3f}, {high:.3f}]"
        )
    return ["", *said]


def _remarks(found: Comparison) -> list[str]:
    said = [f"steps compared: {found.steps}; only in A: {found.only_a}; only in B: {found.only_b}"]
    if found.seen_twice or found.never_seen:
        said.append(f"samples that B saw more often than A: {found.seen_twice}; less often: {found.never_seen}")
    if found.first_difference is not None:
        horizon = found.first_difference.optimizer_step
        said.append(f"past step {horizon} closeness says little: from there the runs go their own ways")
    if any(one.level == "close" for one in found.stages):
        said.append("close is judged by values and norms, which do not see a permutation; sketches (level 3) do")
    if found.noise is not None:
        parted = found.noise.first_difference
        said.append(f"noise floor: {found.noise.level}" + ("" if parted is None else f", parting at {parted.words.en}"))
    said += [
        f"from step {one.first_step} on only {one.side.upper()} recorded {one.stage} at some steps; not compared there"
        for one in found.one_sided
    ]
    said += [f"{tensors.of} by name, step {tensors.optimizer_step}: {_apart(tensors)}" for tensors in found.parameters]
    said += [
        f"environment: {name} is {ours!r} in A, {theirs!r} in B" for name, (ours, theirs) in found.environment.items()
    ]
    said += [f"torn line: {where}" for where in found.torn]
    said += [f"begins anew at {where}: the run that stands before it is left out" for where in found.anew]
    return ["", *said]


def _filled(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _next(found: Comparison) -> list[str]:
    sentences = [f"- {one.en}" for one in advice(found)]
    return ["", "to record next:", *sentences] if sentences else []


def _apart(tensors: Parameters) -> str:
    names = [one.name for one in tensors.each if not one.same]
    return f"{len(names)} of {len(tensors.each)} differ: {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"


def _hinted(found: Comparison) -> list[str]:
    if not found.hints:
        return []
    texts = [(f"- {hint.text.en}", f"  next: {hint.next.en}") for hint in found.hints]
    return ["", "hints:", *(text for both in texts for text in both)]
