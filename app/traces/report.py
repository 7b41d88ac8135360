"""A comparison into a few lines of text that fit a terminal."""

import textwrap

from app.traces.comparison import Comparison
from app.traces.witness import Parameters

WIDTH = 88


def report(found: Comparison) -> str:
    """In English, as all that the command says."""
    return "\n".join([*_verdict(found), "", *_ladder(found), *_concluded(found), *_remarks(found), *_hinted(found)])


def _verdict(found: Comparison) -> list[str]:
    if found.first_difference is None:
        said = "nothing to compare was recorded" if found.level == "not_recorded" else "the runs are bitwise equal"
        return [f"{said} in the {found.steps} steps that both have"]
    return [f"level: {found.level}", f"first difference: {found.first_difference.words.en}"]


def _ladder(found: Comparison) -> list[str]:
    rows = [
        f"{one.stage:<10} {one.level:<13}{'' if one.first_step is None else f'from step {one.first_step}'}".rstrip()
        for one in found.stages
        if one.level != "not_recorded"
    ]
    missing = ", ".join(found.not_recorded)
    return [*rows, *([_filled(f"not recorded, so nothing is said of it: {missing}")] if missing else [])]


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
        said.append("close is judged by recorded values and norms; norms do not see a permutation")
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
    return ["", *map(_filled, said)]


def _filled(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _apart(tensors: Parameters) -> str:
    names = [one.name for one in tensors.each if not one.same]
    return f"{len(names)} of {len(tensors.each)} differ: {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"


def _hinted(found: Comparison) -> list[str]:
    if not found.hints:
        return []
    texts = [(f"- {hint.text.en}", f"  next: {hint.next.en}") for hint in found.hints]
    return ["", "hints:", *(_filled(text) for both in texts for text in both)]
