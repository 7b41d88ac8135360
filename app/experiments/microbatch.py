"""Micro-batches of unequal size: the mean of their means, and the mean over their tokens.

With c_i target tokens and a mean loss l_i in batch i of B, C = Σ c_i tokens in all:

    unweighted mean = Σ l_i / B             a token of batch i weighs 1 / (B·c_i)
    token mean      = Σ c_i·l_i / C         a token weighs 1 / C
    rank mean       = mean over the ranks of each rank's own token mean; a token weighs 1 / (ranks · tokens of its rank)

Batches are dealt to ranks round robin. The unweighted mean is what gradient accumulation computes where it divides
each batch's mean loss by the number of batches (huggingface/transformers#34191, pytorch/torchtune#1875); the rank mean
what averaging the gradients over ranks does (huggingface/transformers#34373; torch's documentation of
DistributedDataParallel).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from app.drawing import Box, Dot, Drawing, Label, Line, Role, Scale, Shape, axes, clear, legend, ticks
from app.errors import Problem
from app.experiments.experiment import Column, Experiment, Preset, Result, Table
from app.experiments.parameters import Numbers, Params, Slider, Whole, Wholes
from app.language import Text, alike
from app.numerals import full, short


def token_mean(counts: list[int], losses: list[float]) -> float:
    """The losses weighted by their numbers of tokens, added from left to right."""
    total = 0.0
    for count, loss in zip(counts, losses, strict=True):
        total += count * loss
    return total / sum(counts)


def plain_mean(losses: list[float]) -> float:
    total = 0.0
    for loss in losses:
        total += loss
    return total / len(losses)


def token_weights(counts: list[int], ranks: int) -> list[list[Fraction]]:
    """For each batch what one of its tokens weighs in the unweighted mean, the token mean and the rank mean."""
    held = [sum(counts[rank::ranks]) for rank in range(ranks)]
    return [
        [Fraction(1, len(counts) * count), Fraction(1, sum(counts)), Fraction(1, ranks * held[at % ranks])]
        for at, count in enumerate(counts)
    ]


def microbatch(counts: tuple[int, ...], losses: tuple[float, ...], ranks: int) -> dict[str, Any]:
    """The three means of the same losses, and whether they are one objective: every token weighs the same in each."""
    sizes, values = list(counts), list(losses)
    unweighted, by_token = plain_mean(values), token_mean(sizes, values)
    weights = token_weights(sizes, ranks)
    return {
        "unweighted_mean": unweighted,
        "token_mean": by_token,
        "rank_mean": plain_mean([token_mean(sizes[rank::ranks], values[rank::ranks]) for rank in range(ranks)]),
        "difference": unweighted - by_token,
        "batches": [
            {"count": count, "loss": loss, "token_weight_unweighted": float(one), "token_weight": float(fair)}
            for count, loss, (one, fair, _) in zip(sizes, values, weights, strict=True)
        ],
        "same_objective": all(one == fair == ranked for one, fair, ranked in weights),
    }


def sentence(params: Params, result: Result) -> Text:
    counts, ranks = params["counts"], params["ranks"]
    unweighted, by_token = short(result["unweighted_mean"]), short(result["token_mean"])
    if result["same_objective"]:
        return Text(
            f"Every token weighs the same, so the means agree: {by_token}.",
            f"每个词元的权重相同，几种均值一致：{by_token}。",
        )
    uneven, agree = len(set(counts)) > 1, unweighted == by_token
    said = Text(
        f"The mean of means and the token mean are both {by_token}"
        if agree
        else f"The mean of means is {unweighted}, the token mean {by_token}",
        f"均值的均值和按词元平均都是 {by_token}" if agree else f"均值的均值是 {unweighted}，按词元平均是 {by_token}",
    )
    if uneven and agree:
        said += _coincidence(params["losses"]) + _batches(counts, Text(" still", "仍然"))
    elif uneven and ranks == 1:
        said += Text(". A", "。") + _batches(counts, alike(""))
    said += Text(".", "。")
    return said + _over_ranks(counts, ranks, short(result["rank_mean"])) if ranks > 1 else said


def _coincidence(losses: Sequence[float]) -> Text:
    """Why two objectives give one number."""
    if len(set(losses)) == 1:
        return Text(", equal here only because the losses are: a", "，只因各批次的损失相等：")
    return Text(", equal for these losses only: a", "，换一组损失就不等了：")


def _batches(counts: Sequence[int], still: Text) -> Text:
    times = _times(max(counts) / min(counts))
    return Text(
        f" token of the smallest batch{still.en} counts {times.en} one of the largest",
        f"最小批次里一个词元的分量{still.zh}{times.zh.format('最大批次里的')}",
    )


def _over_ranks(counts: Sequence[int], ranks: int, mean: str) -> Text:
    """What averaging over ranks makes of the tokens, which weigh by how many their rank holds."""
    held = [sum(counts[rank::ranks]) for rank in range(ranks)]
    said = Text(
        f" Averaging each rank's own token mean gives {mean}",
        f"{ranks} 个进程各自按词元平均，再取均值，得到 {mean}",
    )
    if len(set(held)) == 1:
        return said + Text("; the ranks hold equally many tokens.", "；各进程的词元数相等。")
    times = _times(max(held) / min(held))
    return said + Text(
        f"; a token on the rank with the fewest counts {times.en} one on the rank with the most.",
        f"；词元最少的进程里，一个词元的分量{times.zh.format('词元最多的进程里的')}。",
    )


def _times(ratio: float) -> Text:
    """A ratio above 1 as a comparison; the Chinese one holds the place of what is compared with."""
    digits = short(ratio, 3)
    if digits == "1":
        return Text("a little more than", "略大于{}")
    return Text(f"{digits} times as much as", f"是{{}} {digits} 倍")


def drawing(params: Params, result: Result) -> Drawing:
    """A box for each batch, as wide as its tokens and as high as one token's weight: the boxes are equally large.

    Weights are given as multiples of the fair one, which the token mean gives to every token.
    """
    counts, ranks = params["counts"], params["ranks"]
    weights = [[float(one / fair), float(ranked / fair)] for one, fair, ranked in token_weights(list(counts), ranks)]
    top = max(*(weight for pair in weights for weight in pair), 1.0) * 1.08
    x, y = Scale(0, sum(counts), 58, 546), Scale(0, top, 190, 44)
    shapes: list[Shape] = []
    edges: list[tuple[float, float]] = []
    dots: list[Shape] = []
    labels, before = [], 0
    for at, (count, (one, ranked)) in enumerate(zip(counts, weights, strict=True)):
        left, right, high = x(before), x(before + count), y(one)
        before += count
        title = Text(
            f"batch {at + 1}: {count} tokens, each weighs {short(one, 4)} times the fair weight",
            f"批次 {at + 1}：{count} 个词元，每个的分量是公平权重的 {short(one, 4)} 倍",
        )
        shapes.append(Box(left, high, max(round(right - left - 1.5, 2), 1.0), round(190 - high, 2), "soft", title))
        edges += [(left, high), (right, high)]
        if ranks > 1:
            dots.append(
                Dot((left + right) / 2, y(ranked), "mark", 4.5, Text(f"rank {at % ranks}", f"进程 {at % ranks}"))
            )
        labels.append(Label((left + right) / 2, 210, alike(full(count)), "middle"))
    keys: list[tuple[Role, Text]] = [
        ("b", Text("mean of means", "均值的均值")),
        ("a", Text("token mean", "按词元平均")),
    ]
    if ranks > 1:
        keys.append(("mark", Text("over ranks", "跨进程")))
    grid = axes(x, y, x_ticks=(), y_ticks=ticks(0, top, 4))
    lines = Line(((58, y(1)), (546, y(1))), "a"), Line(tuple(edges), "b")
    foot = Label(
        546,
        234,
        Text("tokens of each batch; height: weight of one token", "各批次的词元数；高度：每个词元的权重"),
        "end",
    )
    shapes = [*grid, *shapes, *lines, *dots, *legend(keys, 40, 14), *clear([*labels, foot], 560)]
    return Drawing(560, 240, tuple(shapes), _spoken(params, result))


def _spoken(params: Params, result: Result) -> Text:
    counts = ", ".join(map(str, params["counts"]))
    means = short(result["unweighted_mean"]), short(result["token_mean"])
    return Text(
        f"batches of {counts} tokens; mean of means {means[0]}, token mean {means[1]}",
        f"批次的词元数为 {counts.replace(', ', '、')}；均值的均值 {means[0]}，按词元平均 {means[1]}",
    )


def table(params: Params, result: Result) -> Table:
    columns = (
        Column("batch", Text("batch", "批次")),
        Column("rank", Text("rank", "进程")),
        Column("count", Text("tokens", "词元数")),
        Column("loss", Text("mean loss", "平均损失")),
        Column("token_weight_unweighted", Text("weight, means", "权重（均值）")),
        Column("token_weight", Text("weight, tokens", "权重（词元）")),
    )
    rows = tuple((at + 1, at % params["ranks"], *batch.values()) for at, batch in enumerate(result["batches"]))
    return Table(Text("Every batch", "每个批次"), columns, rows)


def check(params: Params, given: Mapping[str, str]) -> tuple[Problem, ...]:
    batches = len(params["counts"])
    problems = []
    if len(params["losses"]) != batches:
        message = Text(
            f"needs as many numbers as counts: {batches}, not {len(params['losses'])}",
            f"要和 counts 一样多：{batches} 个，而不是 {len(params['losses'])} 个",
        )
        problems.append(Problem("losses", ",".join(map(full, params["losses"])), message))
    if params["ranks"] > batches:
        message = Text(f"at most one rank a batch: {batches}", f"进程不能多于批次：最多 {batches} 个")
        problems.append(Problem("ranks", str(params["ranks"]), message))
    return tuple(problems)


EXPERIMENT = Experiment(
    name="microbatch",
    title=Text("Micro-batches and their means", "微批次与它们的均值"),
    summary=Text(
        "Batches with unequal numbers of target tokens: the mean of their means against the mean over tokens.",
        "各批次的目标词元数不等时，均值的均值与按词元平均相差多少。",
    ),
    exact=True,
    parameters=(
        Wholes(
            name="counts",
            label=Text("target tokens", "目标词元数"),
            default=(10, 30),
            least=1,
            most=16,
            low=1,
            high=10**9,
        ),
        Numbers(name="losses", label=Text("mean losses", "平均损失"), default=(0.2, 1.0), least=1, most=16, limit=1e6),
        Whole(name="ranks", label=Text("ranks", "进程数"), default=1, low=1, high=16, slider=Slider(1, 4, 1)),
    ),
    run=microbatch,
    code=(token_mean, plain_mean, token_weights),
    check=check,
    presets=(
        Preset(Text("10 and 30 tokens", "10 和 30 个词元"), {}),
        Preset(Text("equal counts", "词元数相等"), {"counts": "20,20"}),
        Preset(Text("a rank each", "各占一个进程"), {"ranks": "2"}),
        Preset(
            Text("four batches, two ranks", "四个批次，两个进程"),
            {"counts": "10,30,20,40", "losses": "0.2,1,0.4,0.8", "ranks": "2"},
        ),
        Preset(Text("a short tail batch", "很小的尾批"), {"counts": "32,32,32,2", "losses": "0.5,0.6,0.4,3"}),
    ),
    sentence=sentence,
    drawing=drawing,
    table=table,
)
