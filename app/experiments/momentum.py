"""Momentum, saved and resumed: a scalar training run, its checkpoint, and a second run that starts from it.

    v' = β·v + (w − target)
    w' = w − lr·v'

the update of SGD with momentum for the loss (w − target)²/2, whose gradient is w − target
(B. T. Polyak, "Some methods of speeding up the convergence of iteration methods", 1964, in the form
that the documentation of torch.optim.SGD gives, without dampening or weight decay).
"""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise
from typing import Any

from app.drawing import (
    Dashes,
    Dot,
    Drawing,
    Label,
    Line,
    Scale,
    Shape,
    axes,
    breadth,
    legend,
    span,
    tick_words,
    ticks,
)
from app.errors import Problem
from app.experiments.experiment import Column, Experiment, Preset, Result, Table
from app.experiments.parameters import Choice, Derived, Number, Numbers, Params, Slider, Whole, between
from app.language import Text, alike
from app.numerals import grouped, short, told_apart


def descend(w: float, v: float, target: float, lr: float, beta: float, first: int, last: int) -> list[dict[str, Any]]:
    """The states {step, w, v} from step `first`, which holds w and v as given, to step `last`."""
    states = [{"step": first, "w": w, "v": v}]
    for step in range(first + 1, last + 1):
        v = beta * v + (w - target)
        w = w - lr * v
        states.append({"step": step, "w": w, "v": v})
    return states


def first_difference(uninterrupted: list[dict[str, Any]], resumed: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The earliest step at which two runs differ in any bit, v looked at before w; the restored state counts."""
    before = {state["step"]: state for state in uninterrupted}
    for state in resumed:
        for quantity in ("v", "w"):
            if state[quantity].hex() != before[state["step"]][quantity].hex():
                return {"step": state["step"], "quantity": quantity}
    return None


def momentum(
    lr: float, beta: float, target: float, w0: float, v0: float, steps: int, save_after: int,
    restore: str, resumed_target: float, resumed_lr: float, restored: tuple[float, float] | None,
) -> dict[str, Any]:  # fmt: skip
    """Train without a break; save after a step; restore what was asked for; train on to the same last step."""
    uninterrupted = descend(w0, v0, target, lr, beta, 0, steps)
    saved = uninterrupted[save_after]
    text = json.dumps({"step": save_after, "w": saved["w"], "v": saved["v"], "lr": lr, "beta": beta, "target": target})
    checkpoint = json.loads(text)
    w, v = {
        "full": (checkpoint["w"], checkpoint["v"]),
        "weights": (checkpoint["w"], 0.0),
        "nothing": (w0, v0),
    }[restore]
    if restored is not None:
        w, v = restored
    resumed = descend(w, v, resumed_target, resumed_lr, checkpoint["beta"], save_after, steps)
    return {
        "uninterrupted": uninterrupted,
        "resumed": resumed,
        "checkpoint": checkpoint,
        "first_difference": first_difference(uninterrupted, resumed),
        "final_gap": resumed[-1]["w"] - uninterrupted[-1]["w"],
    }


def sentence(params: Params, result: Result) -> Text:
    part = result["first_difference"]
    if part is None:
        said = Text(
            "The resumed run equals the uninterrupted one in every bit, to the last step.",
            "恢复后的运行与不中断的运行逐位一致，直到最后一步。",
        )
    else:
        before, after = result["uninterrupted"][params["save_after"] + 1], result["resumed"][1]
        said = _next_step(params, before, after, part) + _end(params, result)
    return said + _motion(params, result)


def _next_step(params: Params, before: dict[str, Any], after: dict[str, Any], part: dict[str, Any]) -> Text:
    """What the first step after the restart shows, or where the runs part when that step shows nothing yet."""
    why = _reason(params)
    w, expected, step = short(after["w"]), short(before["w"]), after["step"]
    if w == expected:
        return why + Text(
            f", the runs part at step {part['step']}, first in {part['quantity']}",
            f"，两次运行在第 {part['step']} 步分开，最先不同的是 {part['quantity']}",
        )
    return why + Text(
        f", step {step} lands at w\u00a0=\u00a0{w}, not {expected}",
        f"，第 {step} 步的 w\u00a0=\u00a0{w}，而不是 {expected}",
    )


def _end(params: Params, result: Result) -> Text:
    """How far apart the runs are at the last step."""
    gap, last = short(abs(result["final_gap"]), 2), params["steps"]
    if result["final_gap"] == 0:
        if _first_visible(result) is None:
            return Text("; w stays the same in every digit.", "；w 始终相同，一位不差。")
        return Text(
            f"; by step {last} the runs have met again in every digit of w.",
            f"；到第 {last} 步，两次运行的 w 又相同了，一位不差。",
        )
    if last == params["save_after"] + 1:
        return Text(f"; there the runs end, {gap} apart.", f"；运行到此为止，相差 {gap}。")
    return Text(f"; at step {last} the runs are {gap} apart.", f"；到第 {last} 步，两次运行相差 {gap}。")


def _reason(params: Params) -> Text:
    """What the restart changed, to begin a sentence with."""
    start, changed = [], []
    if params["restored"] is not None:
        start.append(Text("from the state of the given checkpoint", "从所给检查点的状态出发"))
    elif params["restore"] == "weights":
        changed.append(Text("without momentum", "丢失动量"))
    elif params["restore"] == "nothing":
        changed.append(Text("starting again from scratch", "从头开始"))
    if params["resumed_target"] != params["target"]:
        target = told_apart(params["resumed_target"], params["target"])
        changed.append(Text(f"with the target moved to {target}", f"目标变为 {target}"))
    if params["resumed_lr"] != params["lr"]:
        lr = told_apart(params["resumed_lr"], params["lr"])
        changed.append(Text(f"with the learning rate at {lr}", f"学习率变为 {lr}"))
    *former, last = [one.en for one in (*start, *changed)] or ["with everything restored"]
    english = f"{', '.join(former)} and {last}" if former else last
    after = "、".join(one.zh for one in changed)
    after += (" " if after[-1:].isascii() else "") + ("后" if len(changed) == 1 else "之后")
    chinese = "，".join([one.zh for one in start] + ([after] if changed else [])) or "全部恢复后"
    return Text(english[0].upper() + english[1:], chinese)


def _motion(params: Params, result: Result) -> Text:
    """A second sentence where the run hardly comes nearer to its target: what a step keeps of the distance, and why."""
    lost, swings = _lost(params["lr"], params["beta"])
    if lost > 0.02 or all(state["w"] == params["target"] for state in result["uninterrupted"]):
        return alike("")
    if lost == 0:
        return Text(
            " It never settles: every step throws w as far past the target as it stood before it.",
            "它永远停不下来：每一步都把 w 甩到目标的另一侧，甩得同样远。",
        )
    share = short(100 * (1 - lost), 4)
    kept = Text("nearly all", "几乎全部") if share == "100" else Text(f"{share}%", f" {share}% ")
    halving = grouped(math.ceil(min(math.log(0.5) / math.log1p(-lost), 1e308)))
    return Text(
        f" It {'swings past' if swings else 'creeps towards'} the target, and a step keeps {kept.en} of the distance:"
        f" halving it takes {halving} steps.",
        f"它{'在目标两侧来回摆动' if swings else '缓慢靠近目标'}，每一步留下{kept.zh}的距离：减半要 {halving} 步。",
    )


def _lost(lr: float, beta: float) -> tuple[float, bool]:
    """The share of the distance that a step takes away in the long run, and whether w changes sides on the way.

    What it keeps is the larger |root| of λ² − (1 + β − lr)λ + β, the characteristic polynomial of the recurrence.
    Its values at 1 and −1, divided by the distance from there to the other root, keep the digits of what is lost
    even where that root itself would round to 1.
    """
    near = (1 - beta) / (1 + math.sqrt(beta))  # 1 − √β
    inner = (lr - near * near) * (lr - (2 - near) ** 2) / 4
    if inner < 0:
        return near, True
    at_one, at_minus_one = lr, 2 * beta + (2 - lr)
    if lr <= 1 + beta:
        return at_one / ((1 - beta + at_one) / 2 + math.sqrt(inner)), False
    return at_minus_one / ((1 - beta + at_minus_one) / 2 + math.sqrt(inner)), True


def drawing(params: Params, result: Result) -> Drawing:
    runs = result["uninterrupted"], result["resumed"]
    low, high = span((state["w"] for run in runs for state in run), pad=0.04)
    values = ticks(low, high)
    x = Scale(0, params["steps"], max(52, max(breadth(tick_words(value)) for value in values) - 6), 546)
    y = Scale(low, high, 210, 46)
    steps = [t for t in ticks(0, params["steps"], 6) if t == int(t)]
    shapes: list[Shape] = [*axes(x, y, x_ticks=steps, y_ticks=values, x_title=None)]
    saved = x(params["save_after"])
    shapes.append(Line(((saved, 40), (saved, 210)), "soft"))
    shapes.append(_beside(saved, 36, Text("checkpoint", "检查点")))
    shapes += legend((("a", Text("uninterrupted", "不中断")), ("b", Text("resumed", "恢复后"))), 52, 14)
    dense = any(_dense(run, y) for run in runs)
    before, after = (_ends(run, x, y) if dense else [_curve(run, x, y)] for run in runs)
    shapes += [Line(tuple(curve.values()), "a") for curve in before]
    shapes += [line for under, over in zip(before, after, strict=True) for line in _along(under, over)]
    if dense:
        shapes.append(Label(546, 248, Text("upper and lower ends of the swings", "摆动的上端和下端"), "end"))
    if part := _first_visible(result):
        shapes.append(Dot(x(part["step"]), y(part["w"]), "mark", title=alike(f"w = {short(part['w'])}")))
    return Drawing(560, 256 if dense else 240, tuple(shapes), _spoken(params, result))


def _dense(run: list[dict[str, Any]], y: Scale) -> bool:
    """Whether the run turns back so often, a step after it turned, that its line would fill an area."""
    moves = [y(two["w"]) - y(one["w"]) for one, two in pairwise(run)]
    turns = sum(one * two < 0 and min(abs(one), abs(two)) > 2 for one, two in pairwise(moves))
    return len(run) > 150 and turns > 20


Curve = dict[int, tuple[float, float]]
"""Points of a drawing by step, or by what they have in common with those of another curve."""


def _curve(run: list[dict[str, Any]], x: Scale, y: Scale) -> Curve:
    return {state["step"]: (x(state["step"]), y(state["w"])) for state in run}


def _ends(run: list[dict[str, Any]], x: Scale, y: Scale) -> list[Curve]:
    """Two curves in place of one that swings: the greatest and the least w of every few steps."""
    upper, lower = {}, {}
    for window, states in groupby(run, lambda state: int(state["step"] * 60 / (x.high + 1))):
        several = list(states)
        middle = x((several[0]["step"] + several[-1]["step"]) / 2)
        found = [y(state["w"]) for state in several]
        upper[window], lower[window] = (middle, min(found)), (middle, max(found))
    return [upper, lower]


def _along(under: Curve, over: Curve) -> Iterator[Line]:
    """The resumed run; where it covers the other one, only dashes that are far apart."""
    covers = {at: abs(under[at][1] - place[1]) < 2 for at, place in over.items()}
    for hidden, stretch in groupby(pairwise(over), lambda ends: all(covers[at] for at in ends)):
        ends = list(stretch)
        points = tuple(over[at] for at in (ends[0][0], *(end for _, end in ends)))
        yield Dashes(points, "b") if hidden else Line(points, "b")


def _first_visible(result: Result) -> dict[str, Any] | None:
    """The first state of the resumed run whose w differs from the uninterrupted one's at the same step."""
    before = {state["step"]: state["w"] for state in result["uninterrupted"]}
    return next((state for state in result["resumed"] if state["w"] != before[state["step"]]), None)


def _beside(x: float, y: float, words: Text) -> Label:
    return Label(x + 6, y, words, "start") if x < 440 else Label(x - 6, y, words, "end")


def _spoken(params: Params, result: Result) -> Text:
    a, b = short(result["uninterrupted"][-1]["w"]), short(result["resumed"][-1]["w"])
    return Text(
        f"w over {params['steps']} steps; the uninterrupted run ends at {a}, the one resumed after step"
        f" {params['save_after']} at {b}",
        f"{params['steps']} 步中的 w：不中断的运行止于 {a}，第 {params['save_after']} 步后恢复的运行止于 {b}",
    )


def table(params: Params, result: Result) -> Table:
    resumed = {state["step"]: state for state in result["resumed"]}
    empty = {"w": None, "v": None}
    rows = tuple(
        (
            state["step"],
            state["w"],
            state["v"],
            resumed.get(state["step"], empty)["w"],
            resumed.get(state["step"], empty)["v"],
        )
        for state in result["uninterrupted"]
    )
    part = result["first_difference"]
    columns = (
        Column("step", Text("step", "步")),
        Column("w", alike("w")),
        Column("v", alike("v")),
        Column("resumed_w", Text("w resumed", "恢复后 w")),
        Column("resumed_v", Text("v resumed", "恢复后 v")),
    )
    return Table(Text("Every step", "逐步数值"), columns, rows, marked=part and part["step"])


def check(params: Params, given: Mapping[str, str]) -> tuple[Problem, ...]:
    last = params["steps"] - 1
    if params["save_after"] <= last:
        return ()
    return (Problem("save_after", str(params["save_after"]), between(0, last)),)


LIMIT = 1e6
PLACE = Slider(-2, 4, 0.1)

EXPERIMENT = Experiment(
    name="momentum",
    title=Text("Momentum, saved and resumed", "动量：保存与恢复"),
    summary=Text(
        "A scalar run with momentum is saved, restored whole or in part, and compared with one that never stopped.",
        "保存一次带动量的标量训练，全部或部分恢复，再与从未中断的运行对比。",
    ),
    exact=True,
    parameters=(
        Number(
            name="lr",
            label=Text("learning rate η", "学习率 η"),
            default=0.1,
            low=0,
            above_low=True,
            high=2,
            slider=Slider(0.01, 2, 0.01),
        ),
        Number(
            name="beta",
            label=Text("momentum β", "动量系数 β"),
            default=0.9,
            low=0,
            high=1,
            below_high=True,
            slider=Slider(0, 0.99, 0.01),
        ),
        Number(name="target", label=Text("target", "目标"), default=1.0, low=-LIMIT, high=LIMIT, slider=PLACE),
        Number(name="w0", label=Text("first w", "w 初值"), default=0.0, low=-LIMIT, high=LIMIT, rare=True),
        Number(name="v0", label=Text("first v", "v 初值"), default=0.0, low=-LIMIT, high=LIMIT, rare=True),
        Whole(
            name="steps", label=Text("steps in all", "总步数"), default=12, low=1, high=500, slider=Slider(1, 100, 1)
        ),
        Whole(
            name="save_after",
            label=Text("saved after step", "在第几步之后保存"),
            default=Derived(lambda values: min(2, values["steps"] - 1), Text("2", "2")),
            low=0,
            high=499,
            slider=Slider(0, 20, 1),
        ),
        Choice(
            name="restore",
            label=Text("restore", "恢复内容"),
            default="full",
            options=(
                ("full", Text("w and v", "w 和 v")),
                ("weights", Text("weights only", "只恢复权重")),
                ("nothing", Text("nothing", "什么都不恢复")),
            ),
        ),
        Number(
            name="resumed_target",
            label=Text("target after the restart", "恢复后的目标"),
            default=Derived(lambda values: values["target"], Text("as before", "不变")),
            low=-LIMIT,
            high=LIMIT,
        ),
        Number(
            name="resumed_lr",
            label=Text("learning rate after the restart", "恢复后的学习率"),
            default=Derived(lambda values: values["lr"], Text("as before", "不变")),
            low=0,
            above_low=True,
            high=2,
            rare=True,
        ),
        Numbers(
            name="restored",
            label=Text("w, v from a checkpoint", "检查点中的 w, v"),
            default=None,
            least=2,
            most=2,
            rare=True,
            help=Text("Leave empty to restore what was saved above.", "留空则恢复上面保存的状态。"),
        ),
    ),
    run=momentum,
    code=(descend, first_difference),
    check=check,
    presets=(
        Preset(Text("full state", "完整恢复"), {}),
        Preset(Text("momentum lost", "丢失动量"), {"restore": "weights"}),
        Preset(Text("lost, 500 steps", "丢失动量，500 步"), {"restore": "weights", "steps": "500"}),
        Preset(Text("target moved to 2", "目标变为 2"), {"resumed_target": "2"}),
        Preset(Text("learning rate changed", "学习率变了"), {"resumed_lr": "0.05"}),
        Preset(Text("wide swings", "大幅摆动"), {"lr": "2", "beta": "0.99", "steps": "60", "restore": "weights"}),
    ),
    sentence=sentence,
    drawing=drawing,
    table=table,
)
