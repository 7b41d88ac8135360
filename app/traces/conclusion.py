"""Runs over several seeds into a conclusion, by a rule that was written before them.

    A - B > 0.2 over >= 5 seeds
    valid/accuracy: A - B > 0.02 over >= 10 seeds

The difference is that of the means over seeds. Beside the verdict stands P(A > B), the probability that a run of A
beats one of B, ties counted half, with its 95 % interval (Newcombe 2006, Statistics in Medicine 25:559–573, method 5:
the variance of Hanley and McNeil solved for the true value, which does not collapse where every A beats every B).
"""

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from app.errors import Incomparable, InvalidQuestion, Problem
from app.language import Text
from app.traces.record import event_of, parsed
from app.traces.run import Run
from app.traces.stages import mapping, number_of

Verdict = Literal["holds", "fails", "not_enough_seeds"]
FEWEST = 2
"""Seeds below which no rule may go: one run on a side shows nothing of the spread."""
Z = 1.959963984540054
"""97.5 % quantile of the normal distribution."""
RULE = re.compile(
    r"(?:(?P<metric>[^:]+):)?\s*(?P<first>[AB])\s*-\s*(?P<second>[AB])\s*(?P<relation>>=|>|<=|<)\s*"
    r"(?P<margin>[+-]?[0-9.]+(?:e[+-]?[0-9]+)?)\s+over\s+>=\s*(?P<seeds>[0-9]{1,6})\s+seeds\s*",
    re.IGNORECASE,
)
RELATIONS: dict[str, Callable[[float, float], bool]] = {
    ">": lambda one, two: one > two,
    ">=": lambda one, two: one >= two,
    "<": lambda one, two: one < two,
    "<=": lambda one, two: one <= two,
}
FORM = Text(
    "a rule is written like this: accuracy: A - B > 0.2 over >= 5 seeds",
    "规则的写法：accuracy: A - B > 0.2 over >= 5 seeds",
)
LOSS = "loss"
"""What is compared where no evaluation was recorded: the loss of the last step."""


@dataclass(frozen=True)
class Rule:
    text: str
    metric: str | None
    """`name/metric` of an evaluation, or `metric` alone; None: the only one that there is."""
    first: str
    """The side that the other is subtracted from: `A` or `B`."""
    relation: str
    margin: float
    seeds: int
    """Of each side, at least."""


@dataclass(frozen=True)
class Conclusion:
    rule: str
    metric: str
    verdict: Verdict
    a: tuple[float, ...]
    """The metric at the end of each run; runs that repeat another to the bit are left out."""
    b: tuple[float, ...]
    difference: float | None
    """Of the means, in the direction of the rule; None without a run on each side."""
    superiority: float | None
    """P(A > B), ties half."""
    interval: tuple[float, float] | None
    repeated: int
    """Runs left out because they show nothing new."""


def read_rule(text: str) -> Rule:
    """Raises InvalidQuestion that says how a rule is written."""
    plain = unicodedata.normalize("NFKC", text).replace("−", "-").replace("≥", ">=").replace("≤", "<=")
    found = RULE.fullmatch(plain.strip())
    if found is None:
        raise _no_rule(text, FORM)
    try:
        margin = float(found["margin"])
    except ValueError:
        margin = math.nan
    if not math.isfinite(margin):
        raise _no_rule(text, Text(f"{found['margin']} is no number", f"{found['margin']} 不是数字"))
    first, second = found["first"].upper(), found["second"].upper()
    if first == second:
        raise _no_rule(text, Text("it compares a side with itself", "它把同一边与自己相比"))
    seeds = int(found["seeds"])
    if seeds < FEWEST:
        few = Text(f"{FEWEST} seeds are the fewest to conclude anything from", f"至少要 {FEWEST} 个种子才能下结论")
        raise _no_rule(text, few)
    metric = (found["metric"] or "").strip() or None
    return Rule(text.strip(), metric, first, found["relation"], margin, seeds)


def _no_rule(text: str, why: Text) -> InvalidQuestion:
    return InvalidQuestion([Problem("rule", text, why)])


def conclude(rule: Rule, a: Sequence[Run], b: Sequence[Run]) -> Conclusion:
    """Raises Incomparable where the runs have no such metric, or more than one and the rule names none."""
    ends = [[_end(run) for run in side] for side in (a, b)]
    metric = _metric(rule, [end for side in ends for end in side])
    ours, theirs = (_values(side, metric) for side in ends)
    repeated = sum(map(len, ends)) - len(ours) - len(theirs)
    if not ours or not theirs:
        return Conclusion(rule.text, metric, "not_enough_seeds", ours, theirs, None, None, None, repeated)
    means = {"A": math.fsum(ours) / len(ours), "B": math.fsum(theirs) / len(theirs)}
    difference = means[rule.first] - means["B" if rule.first == "A" else "A"]
    chance = superiority(ours, theirs)
    verdict: Verdict = "holds" if RELATIONS[rule.relation](difference, rule.margin) else "fails"
    if min(len(ours), len(theirs)) < rule.seeds:
        verdict = "not_enough_seeds"
    bounds = interval(chance, len(ours), len(theirs))
    return Conclusion(rule.text, metric, verdict, ours, theirs, difference, chance, bounds, repeated)


def superiority(a: Sequence[float], b: Sequence[float]) -> float:
    """P(A > B) + P(A = B)/2 over all pairs (Mann and Whitney's U over its greatest value)."""
    return sum((one > two) + (one == two) / 2 for one in a for two in b) / (len(a) * len(b))


def interval(chance: float, m: int, n: int) -> tuple[float, float]:
    """Of 95 %, around `chance` found in m runs of A and n of B."""
    return _bound(chance, m, n, 0.0), _bound(chance, m, n, 1.0)


def _bound(chance: float, m: int, n: int, edge: float) -> float:
    """The value between `chance` and the edge from which `chance` is just Z standard errors away, by bisection."""
    inner, outer = chance, edge
    for _ in range(64):
        middle = (inner + outer) / 2
        if abs(middle - chance) <= Z * _error(middle, m, n):
            inner = middle
        else:
            outer = middle
    return inner


def _error(theta: float, m: int, n: int) -> float:
    pairs = (m + n) / 2 - 1
    spread = 1 + pairs * ((1 - theta) / (2 - theta) + theta / (1 + theta))
    return math.sqrt(max(theta * (1 - theta) * spread / (m * n), 0.0))


@dataclass(frozen=True)
class _End:
    metrics: dict[str, float]
    print: bytes
    """Fingerprint of all its losses and metrics: two runs that have the same are one."""


def _end(run: Run) -> _End:
    metrics: dict[str, float] = {}
    seen = blake2b(digest_size=16)
    for step in run.steps():
        for part in step.parts.values():
            for line in part.lines:
                event = event_of(line)
                if event not in ("loss", "eval") or (record := parsed(line)) is None:
                    continue
                seen.update(line)
                found = {LOSS: record.get(LOSS)} if event == "loss" else mapping(record, "metrics")
                before = "" if event == "loss" else f"{record.get('name')}/"
                for name in found:
                    value = number_of(found, name)
                    if value is not None and math.isfinite(value):
                        metrics[before + name] = value
                    else:
                        metrics.pop(before + name, None)
    return _End(metrics, seen.digest())


def _metric(rule: Rule, ends: Sequence[_End]) -> str:
    common = set.intersection(*(set(end.metrics) for end in ends)) if ends else set()
    evaluated = sorted(common - {LOSS})
    if rule.metric is None:
        found = evaluated or sorted(common)
    elif rule.metric in common:
        found = [rule.metric]
    else:
        found = [name for name in evaluated if name.rsplit("/", 1)[-1] == rule.metric]
    if len(found) == 1:
        return found[0]
    have = ", ".join(sorted(common)) or "—"
    named = Text("the rule names no metric", "规则没有指明指标")
    if rule.metric is not None:
        named = Text(f"no single metric is called {rule.metric!r}", f"没有唯一名为 {rule.metric!r} 的指标")
    raise Incomparable(
        f"{named.en}; those at the end of every run are: {have}", f"{named.zh}；每次运行结尾都有的指标：{have}"
    )


def _values(side: Sequence[_End], metric: str) -> tuple[float, ...]:
    kept = {end.print: end.metrics[metric] for end in side}
    return tuple(kept.values())
