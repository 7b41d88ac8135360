"""What was found around the first difference into the known signatures that fit it: hints, never the cause."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.language import Text
from app.traces.record import Record
from app.traces.stages import Found, Records, mapping, number_of


@dataclass
class Evidence:
    """The records at the first difference, and the few things of later steps that tell signatures apart."""

    first: Found | None = None
    a: Records | None = None
    b: Records | None = None
    past: Sequence[Record] = ()
    """Batches that A had shortly before."""
    resumes: Sequence[Record] = ()
    steps: int = 0
    """From the first difference on."""
    rates: int = 0
    """Of these, how many used another learning rate."""
    later: list[Record] = field(default_factory=list)
    """Batches that A had in the steps after."""

    def begin(self, first: Found, a: Records, b: Records, past: Sequence[Record], resumes: Sequence[Record]) -> None:
        self.first, self.a, self.b, self.past, self.resumes = first, a, b, past, resumes

    def go_on(self, number: int, batches: Iterable[Record], rates: bool) -> None:
        """A step from the first difference on: A's batches, and whether the learning rates differ."""
        self.steps += 1
        self.rates += rates
        if self.first is not None and number > self.first.step:
            self.later += batches

    def near(self) -> tuple[set[int | str], set[int | str]]:
        """Ids that A had shortly before and has after the first difference, in its epoch."""
        if self.first is None or self.a is None:
            return set(), set()
        own = [(one.get("micro", 1), one) for one in self.a.of("batch")]
        before = [*self.past, *(one for micro, one in own if micro < self.first.micro)]
        after = [one for micro, one in own if micro > self.first.micro]
        return self._in_epoch(before), self._in_epoch([*after, *self.later])

    def _in_epoch(self, batches: Iterable[Record]) -> set[int | str]:
        epoch = self.pair()[0].get("epoch")
        return {one for batch in batches if batch.get("epoch") == epoch for one in _ids(batch)}

    def at(self, stage: str) -> bool:
        return self.first is not None and self.first.stage == stage

    def pair(self) -> tuple[Record, Record]:
        return (self.first.a, self.first.b) if self.first is not None else ({}, {})

    def ratio(self) -> float:
        """Norm of B's gradient over A's; NaN where it is not known."""
        one, two = (number_of(record, "norm") for record in self.pair())
        return two / one if one and two else math.nan

    def seed_ratio(self) -> float:
        """Factor between the seeds of the backward passes: loss scales, and divisions by the accumulation count."""
        if self.a is None or self.b is None:
            return math.nan
        one, two = (
            [number_of(grad, "seed") for grad in side.of("grad") if "seed" in grad] for side in (self.a, self.b)
        )
        return two[0] / one[0] if one and two and one[0] and two[0] else math.nan

    def just_resumed(self) -> bool:
        return self.first is not None and any(
            self.first.step - 1 <= one["step"] <= self.first.step for one in self.resumes
        )


@dataclass(frozen=True)
class Hint:
    name: str
    fits: Callable[[Evidence], bool]
    text: Text
    next: Text
    """What to record or try next."""

    def __reduce__(self) -> tuple[Callable[[str], "Hint"], tuple[str]]:
        """Between processes by its name: what decides whether it fits cannot be sent."""
        return named, (self.name,)

    @property
    def concept(self) -> str:
        """The id of the concept that explains it."""
        return CONCEPTS[self.name]

    def json(self) -> dict[str, str]:
        return {
            "hint": self.name,
            "concept": self.concept,
            "en": self.text.en,
            "zh": self.text.zh,
            "next_en": self.next.en,
            "next_zh": self.next.zh,
        }


def hints(evidence: Evidence, noise: bool = False) -> tuple[Hint, ...]:
    """The rows that fit; where two runs of the same thing part as early, nothing is blamed on B."""
    return (NOISY,) if noise else tuple(row for row in TABLE if row.fits(evidence))


def named(name: str) -> Hint:
    return next(row for row in (*TABLE, NOISY) if row.name == name)


def _order(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    if not evidence.at("batch"):
        return False
    if "members" in a and "members" in b:
        return bool(a["members"] == b["members"] and a.get("order") != b.get("order"))
    return bool(_ids(a)) and _ids(a) != _ids(b) and sorted(map(str, _ids(a))) == sorted(map(str, _ids(b)))


def _contents(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    names = ("order", "members", "ids")
    same = [a[name] == b[name] for name in names if name in a and name in b]
    other = any(a[name] != b[name] for name in ("inputs", "rows") if name in a and name in b)
    return evidence.at("batch") and bool(same) and all(same) and other


def _unnamed(evidence: Evidence) -> bool:
    """Whether contents differ that the ids of both do not name."""
    a, b = evidence.pair()
    other = any(a[name] != b[name] for name in ("inputs", "rows") if name in a and name in b)
    return evidence.at("batch") and other and not ("order" in a and "order" in b)


def _shapes(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    return evidence.at("batch") and "shapes" in a and "shapes" in b and a["shapes"] != b["shapes"]


def _repeated(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    past, _ = evidence.near()
    return evidence.at("batch") and bool(set(_ids(b)) & past) and not set(_ids(a)) & past


def _epoch(evidence: Evidence) -> bool:
    """Whether B has a batch, in its order, that A had in an earlier epoch."""
    a, b = evidence.pair()
    return evidence.at("batch") and any(
        "order" in one and one["order"] == b.get("order") and one.get("epoch") != a.get("epoch")
        for one in evidence.past
    )


def _skipped(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    _, later = evidence.near()
    if not evidence.at("batch") or _epoch(evidence):
        return False
    return bool(_ids(b)) and not set(_ids(a)) & set(_ids(b)) and set(_ids(b)) <= later


def _padded(evidence: Evidence) -> bool:
    _, b = evidence.pair()
    return evidence.at("batch") and len(set(_ids(b))) < len(_ids(b))


def _denominator(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    return evidence.at("loss") and "count" in a and "count" in b and a["count"] != b["count"]


def _by_denominator(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    one, two = number_of(a, "loss"), number_of(b, "loss")
    if not evidence.at("loss") or _denominator(evidence) or not one or not two:
        return False
    return _factor(two / one, (2, 3, 4, 8, 16))


def _scaled(evidence: Evidence) -> bool:
    ratio = evidence.ratio()
    if not evidence.at("grad") or not math.isfinite(ratio) or _unscaled(evidence):
        return False
    power = round(math.log2(ratio))
    return power != 0 and _close(ratio, 2.0**power)


def _ranks(evidence: Evidence) -> bool:
    if not evidence.at("grad") or evidence.a is None or evidence.b is None:
        return False
    counts = {len({key[3] for key in side.by}) for side in (evidence.a, evidence.b)}
    return _factor(evidence.ratio(), tuple(counts - {1}))


def _accumulation(evidence: Evidence) -> bool:
    if not evidence.at("grad") or evidence.a is None or evidence.b is None:
        return False
    counts = [one.get("micros") for side in (evidence.a, evidence.b) for one in side.of("control")]
    ratios = (evidence.ratio(), evidence.seed_ratio())
    return any(isinstance(n, int) and n > 1 and _factor(ratio, (n,)) for n in counts for ratio in ratios)


def _unscaled(evidence: Evidence) -> bool:
    """By one of the scales, or by the factor between the two."""
    ratio = evidence.ratio()
    if not evidence.at("grad") or evidence.a is None or evidence.b is None or _close(ratio, 1):
        return False
    controls = [one for side in (evidence.a, evidence.b) for one in side.of("control")]
    scales = [scale for one in controls if (scale := number_of(one, "scale"))]
    return bool(scales) and (_close(evidence.seed_ratio(), ratio) or _factor(ratio, scales))


def _kept(evidence: Evidence) -> bool:
    first = evidence.first
    seeds = evidence.seed_ratio()
    return first is not None and evidence.at("grad") and (first.part, first.micro) == (0, 1) and _close(seeds, 1)


def _window(evidence: Evidence) -> bool:
    if not evidence.at("grad") or not evidence.just_resumed() or evidence.a is None:
        return False
    return any(one.get("micros") not in (None, 1) for one in evidence.a.of("control"))


def _clip(evidence: Evidence) -> bool:
    """Raw gradients that carry other factors were not compared, and say nothing."""
    first, seeds = evidence.first, evidence.seed_ratio()
    return first is not None and evidence.at("grad") and first.part == 1 and (math.isnan(seeds) or _close(seeds, 1))


def _same_norm(evidence: Evidence) -> bool:
    return evidence.at("grad") and _close(evidence.ratio(), 1)


def _rate(evidence: Evidence) -> bool:
    return evidence.at("control") and _rates_of(evidence.pair()[0]) != _rates_of(evidence.pair()[1])


def _scale(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    return evidence.at("control") and a.get("scale") != b.get("scale")


def _skip(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    return evidence.at("control") and a.get("skipped") != b.get("skipped")


def _options_part(evidence: Evidence) -> bool:
    return evidence.at("control") and not (_rate(evidence) or _scale(evidence) or _skip(evidence))


def _fresh(evidence: Evidence) -> bool:
    if not (evidence.at("update") or evidence.at("optimizer")) or not evidence.resumes:
        return False
    told = any(mapping(one, "loaded").get("optimizer") in ("absent", "different") for one in evidence.resumes)
    a, b = (_counters(one) for one in evidence.pair())
    return told or (bool(a) and bool(b) and b[-1] < a[-1])


def _moments(evidence: Evidence) -> bool:
    a, b = (mapping(one, "by") for one in evidence.pair())
    return evidence.at("optimizer") and any(a[name] != b[name] for name in a.keys() & b.keys())


def _buffers(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    return evidence.at("weights") and a.get("digest") == b.get("digest") and a.get("buffers") != b.get("buffers")


def _loaded(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    resumed = evidence.first is not None and evidence.first.phase == 2
    return evidence.at("weights") and resumed and a.get("digest") != b.get("digest")


def _side(what: str) -> Callable[[Evidence], bool]:
    return lambda evidence: evidence.at("side") and evidence.pair()[1].get("what") == what


def _draws(evidence: Evidence) -> bool:
    return any(name.startswith(GENERATOR) for name in _moved(evidence))


def _moves(evidence: Evidence) -> bool:
    return any(not name.startswith(GENERATOR) for name in _moved(evidence))


def _moved(evidence: Evidence) -> list[str]:
    """What the evaluations of the step left other than it was, on either side."""
    if not (evidence.at("rng") or evidence.at("eval")):
        return []
    evaluations = [one for side in (evidence.a, evidence.b) if side is not None for one in side.of("eval")]
    return [str(name) for one in evaluations if isinstance(one.get("moved"), list) for name in one["moved"]]


def _metrics(evidence: Evidence) -> bool:
    a, b = evidence.pair()
    return evidence.at("eval") and any(a.get(name) != b.get(name) for name in ("metrics", "count"))


GENERATOR = "rng:"
"""How what an evaluation moved is named where it is a generator."""

TABLE = (
    Hint(
        "same-ids-other-order",
        _order,
        Text(
            "The same samples came in another order: fits a shuffle whose generator, epoch or worker order differs.",
            "样本相同，顺序不同：符合打乱所用的发生器、轮次或工作进程顺序不一致的情形。",
        ),
        Text(
            "Record the sampler's seed and epoch; compare the generator that shuffles.",
            "记录采样器的种子与轮次，比较负责打乱的发生器。",
        ),
    ),
    Hint(
        "same-ids-other-contents",
        _contents,
        Text(
            "The ids are equal and the contents differ: fits augmentation or preprocessing that draws other numbers.",
            "样本编号相同，内容不同：符合增强或预处理抽到不同随机数的情形。",
        ),
        Text(
            "Digest the samples before augmentation too, and give the augmentation's generator to the recorder.",
            "在增强之前也取一次摘要，并把增强所用的发生器交给记录器。",
        ),
    ),
    Hint(
        "contents-without-ids",
        _unnamed,
        Text(
            "The contents of the batch differ, and no ids say whether its samples do: fits other samples, another "
            "order, or augmentation.",
            "批次的内容不同，又没有编号说明样本是否相同：符合样本、顺序或增强不同的情形。",
        ),
        Text("Give the ids of the samples to `trace.batch`.", "把样本编号传给 `trace.batch`。"),
    ),
    Hint(
        "batch-shapes",
        _shapes,
        Text(
            "The tensors of the batch have other shapes, types or places: fits another batch size, padding or cast, or "
            "another nest given to `trace.batch`.",
            "批次里张量的形状、类型或位置不同：符合批次大小、填充或转换不同，或传给 `trace.batch` 的内容不同的情形。",
        ),
        Text("Compare `shapes` of the two `batch` lines.", "比较两个 `batch` 行的 `shapes`。"),
    ),
    Hint(
        "batches-repeat",
        _repeated,
        Text(
            "B has samples again that A had just before: fits a position in the data that was set back on resume.",
            "B 又用到 A 刚刚用过的样本：符合恢复时数据位置被退回的情形。",
        ),
        Text(
            "Save how many batches were consumed, over all resumes of the epoch, and skip as many.",
            "保存本轮已消费的批次数（多次恢复要累计），恢复时跳过同样多。",
        ),
    ),
    Hint(
        "epoch-repeats",
        _epoch,
        Text(
            "B has a batch that A had in an earlier epoch, sample for sample: fits a shuffle that was not told the "
            "new epoch.",
            "B 的批次与 A 前面某一轮的批次逐个样本相同：符合没有把新的轮次告诉打乱函数的情形。",
        ),
        Text("Call `set_epoch` before each epoch.", "每轮开始前调用 `set_epoch`。"),
    ),
    Hint(
        "batches-skipped",
        _skipped,
        Text(
            "B has samples already that A has later: fits prefetched batches that were counted as consumed.",
            "B 提前用到 A 后面才用的样本：符合把预取的批次算作已消费的情形。",
        ),
        Text(
            "Compare the loader's saved position with the number of completed updates.",
            "把加载器保存的位置与已完成的更新次数对照。",
        ),
    ),
    Hint(
        "ids-within-a-batch-repeat",
        _padded,
        Text(
            "A batch of B has a sample twice: fits padding by repetition, or a sampler with replacement.",
            "B 的一个批次里有样本出现两次：符合重复填充或有放回采样的情形。",
        ),
        Text("Look at the last batch of the epoch and at `drop_last`.", "查看该轮的尾批以及 `drop_last`。"),
    ),
    Hint(
        "generator-first",
        lambda evidence: evidence.at("rng"),
        Text(
            "A random generator stands elsewhere although the data are equal: fits a generator that was not restored, "
            "or something that drew from it.",
            "数据相同，随机数发生器的状态却不同：符合发生器没有恢复，或有别的代码从中抽取的情形。",
        ),
        Text(
            "See which generator it is; record its state right after the resume and around every evaluation.",
            "看是哪一个发生器；在恢复之后、每次评估前后都记录它的状态。",
        ),
    ),
    Hint(
        "evaluation-draws",
        _draws,
        Text(
            "An evaluation left a generator other than it was: it draws from those of the training.",
            "一次评估改动了随机数发生器：它从训练的发生器中抽取。",
        ),
        Text("Give the evaluation generators of its own.", "让评估使用自己的发生器。"),
    ),
    Hint(
        "evaluation-moves",
        _moves,
        Text(
            "An evaluation left the model other than it was: fits running statistics that it moved, or a mode that was "
            "not set back.",
            "一次评估改动了模型：符合评估改动了运行统计量，或之后没有把模式切回来的情形。",
        ),
        Text(
            "Evaluate in `eval` mode, call `train` after it, and see `moved` of the `eval` lines.",
            "在 `eval` 模式下评估，之后调用 `train`，并查看 `eval` 行的 `moved`。",
        ),
    ),
    Hint(
        "forward-first",
        lambda evidence: evidence.at("forward"),
        Text(
            "Data and generators are equal and the outputs differ: fits another kernel, precision, thread count or "
            "mode (`train`, `eval`), or weights that changed between two steps.",
            "数据与发生器都相同，输出不同：符合内核、精度、线程数或模式（`train`、`eval`）不同，或权重在两步之间被改动的情形。",
        ),
        Text(
            "Compare the environment lines; record at level 2 to see whether the weights were equal.",
            "比较环境信息；用级别 2 记录，看权重是否相同。",
        ),
    ),
    Hint(
        "loss-denominator",
        _denominator,
        Text(
            "The loss was averaged over another count: fits a mean of means in place of a token mean.",
            "损失除以的数目不同：符合以均值的均值代替按词元平均的情形。",
        ),
        Text("Record the number of target tokens of each micro-batch.", "记录每个微批次的目标词元数。"),
    ),
    Hint(
        "loss-by-a-factor",
        _by_denominator,
        Text(
            "The losses differ by a whole factor: fits a division by the accumulation count or the number of ranks.",
            "两个损失相差整数倍：符合除以累积次数或进程数的情形。",
        ),
        Text("Pass `count` to `trace.loss`.", "给 `trace.loss` 传入 `count`。"),
    ),
    Hint(
        "gradient-by-a-power-of-two",
        _scaled,
        Text(
            "The gradient norms differ by a power of two: fits a loss scale or a count that was not divided out.",
            "梯度范数相差 2 的幂：符合损失缩放或某个数目没有除掉的情形。",
        ),
        Text(
            "Compare `scale` and `seed`, and what the gradients are divided by.",
            "比较 `scale`、`seed` 以及梯度的除数。",
        ),
    ),
    Hint(
        "gradient-by-the-number-of-ranks",
        _ranks,
        Text(
            "The gradient norms differ by the number of ranks: fits a sum over them in place of a mean, or a mean of "
            "what was divided already.",
            "梯度范数之比等于进程数：符合各进程的梯度只求和、没有取平均，或重复取平均的情形。",
        ),
        Text(
            "Compare the gradients before and after they are reduced.",
            "比较归约前后的梯度。",
        ),
    ),
    Hint(
        "gradient-by-the-accumulation-count",
        _accumulation,
        Text(
            "The gradient norms differ by the number of micro-batches: fits a division by it, missing or double.",
            "梯度范数之比等于微批次数：符合漏除或重复除以累积次数的情形。",
        ),
        Text("Compare `seed` of the raw gradients.", "比较原始梯度的 `seed`。"),
    ),
    Hint(
        "gradient-by-three-quarters",
        lambda evidence: evidence.at("grad") and _factor(evidence.ratio(), (4 / 3,)),
        Text(
            "The gradient norms stand as 3 to 4: fits a mean over a tail batch, or a window with one micro-batch lost.",
            "梯度范数之比为 3 比 4：符合尾批的平均，或窗口里丢了一个微批次的情形。",
        ),
        Text("Compare the counts of the micro-batches in this window.", "比较这个窗口里各微批次的样本数。"),
    ),
    Hint(
        "gradient-by-the-scale",
        _unscaled,
        Text(
            "The gradients differ by a loss scale, or by the factor between two: fits clipping before unscaling.",
            "梯度之比等于损失缩放值，或两个缩放值之比：符合先裁剪、后除去缩放的情形。",
        ),
        Text("Unscale before clipping, and record both gradients.", "先除去缩放再裁剪，并记录前后两个梯度。"),
    ),
    Hint(
        "open-window-lost",
        _window,
        Text(
            "The gradient differs right after a resume, with several micro-batches a step: fits an unfinished "
            "accumulation that was not saved.",
            "恢复之后梯度立刻不同，而每步有多个微批次：符合未完成的累积没有保存的情形。",
        ),
        Text("Save at update boundaries, or save the gradients too.", "在更新边界保存，或把梯度也保存下来。"),
    ),
    Hint(
        "gradients-kept",
        _kept,
        Text(
            "Outputs and loss are equal and the first gradient of the step differs: fits gradients left over from the "
            "step before, or another kernel in the backward pass.",
            "输出与损失相同，而这一步的第一个梯度就不同：符合上一步的梯度没有清零，或反向传播用了不同内核的情形。",
        ),
        Text("Look at where the gradients are set to zero.", "查看梯度在哪里清零。"),
    ),
    Hint(
        "clipping",
        _clip,
        Text(
            "The raw gradients do not part, those of the step do: fits another clipping, unscaling or averaging.",
            "原始梯度没有分开，用于更新的梯度却不同：符合裁剪、除去缩放或平均方式不同的情形。",
        ),
        Text("Compare the norms before and after clipping.", "比较裁剪前后的范数。"),
    ),
    Hint(
        "same-norm",
        _same_norm,
        Text(
            "The gradients have the same norm and other bits: fits another order of addition, or rows that changed "
            "places.",
            "梯度的范数相同，比特不同：符合加法顺序不同，或行的位置互换的情形。",
        ),
        Text("Record at level 3: sketches tell rounding from permutation.", "用级别 3 记录：草图能区分舍入与换位。"),
    ),
    Hint(
        "rate-for-one-step",
        lambda evidence: _rate(evidence) and evidence.rates == 1 < evidence.steps,
        Text(
            "The learning rate differs in one step alone: fits a scheduler built after the optimizer was loaded.",
            "只有一步的学习率不同：符合先载入优化器、后构造调度器的情形。",
        ),
        Text("Build the scheduler first, then load both states.", "先构造调度器，再载入两者的状态。"),
    ),
    Hint(
        "rate",
        lambda evidence: _rate(evidence) and not (evidence.rates == 1 < evidence.steps),
        Text(
            "The learning rate differs from here on: fits a scheduler not restored, stepped too early, too late, or "
            "at every micro-batch.",
            "从这里起学习率不同：符合调度器没有恢复、调用过早或过晚，或每个微批次都调用的情形。",
        ),
        Text(
            "Record the scheduler, and count its calls against the optimizer steps that were not skipped.",
            "记录调度器，把它的调用次数与没有跳过的更新次数对照。",
        ),
    ),
    Hint(
        "scale",
        _scale,
        Text(
            "The loss scale differs at the step that uses it: fits a scaler that was not restored.",
            "用到损失缩放的那一步，缩放值不同：符合缩放器没有恢复的情形。",
        ),
        Text("Save the scaler's state; record it with `scaler=`.", "保存缩放器的状态，用 `scaler=` 记录它。"),
    ),
    Hint(
        "skip",
        _skip,
        Text(
            "One run leaves out a step that the other takes: fits an overflow at another scale.",
            "一次运行跳过了这一步，另一次没有：符合不同缩放下发生溢出的情形。",
        ),
        Text("Compare the scales of the steps before.", "比较此前各步的缩放值。"),
    ),
    Hint(
        "options",
        _options_part,
        Text(
            "Options of the optimizer or the number of micro-batches differ: fits parameter groups in another order, "
            "or options taken from the checkpoint.",
            "优化器的选项或微批次数不同：符合参数组顺序不同，或选项取自检查点的情形。",
        ),
        Text(
            "Compare the `control` lines and the groups of the `model` lines.",
            "比较 `control` 行以及 `model` 行的参数组。",
        ),
    ),
    Hint(
        "update-alone",
        lambda evidence: evidence.at("update"),
        Text(
            "Weights before, gradient and rate are equal and the update differs: fits optimizer state that was lost, "
            "or matched to other parameters.",
            "更新前的权重、梯度与学习率都相同，更新不同：符合优化器状态丢失，或对错了参数的情形。",
        ),
        Text(
            "Record the optimizer's state from the first step on, and right after a resume.",
            "从第一步起就记录优化器状态，恢复之后也立刻记录。",
        ),
    ),
    Hint(
        "optimizer-fresh",
        _fresh,
        Text(
            "After the resume the optimizer's state is fresh or was not loaded.",
            "恢复之后，优化器状态是全新的，或没有载入。",
        ),
        Text("Compare `loaded` of the `resume` line.", "查看 `resume` 行的 `loaded`。"),
    ),
    Hint(
        "optimizer-state",
        _moments,
        Text(
            "What the optimizer remembers differs by kind of state: fits a cast, or state matched by position.",
            "优化器记住的某类状态不同：符合类型转换，或按位置匹配出错的情形。",
        ),
        Text(
            "Record at level 2: by parameter it shows which changed places.",
            "用级别 2 记录：逐个参数能看出谁换了位置。",
        ),
    ),
    Hint(
        "buffers",
        _buffers,
        Text(
            "The parameters are equal and the buffers differ: fits running statistics that were not restored.",
            "参数相同，缓冲区不同：符合运行统计量没有恢复的情形。",
        ),
        Text("Save the whole `state_dict`, buffers included.", "保存完整的 `state_dict`，缓冲区也在内。"),
    ),
    Hint(
        "weights-on-resume",
        _loaded,
        Text(
            "The weights differ as soon as they are loaded: fits averaged or rounded weights in the checkpoint, or a "
            "checkpoint of another step.",
            "权重一载入就不同：符合检查点里是滑动平均或舍入过的权重，或来自另一步的情形。",
        ),
        Text("Record the checkpoint when it is written.", "在写检查点时记录它。"),
    ),
    Hint(
        "average",
        _side("average"),
        Text(
            "The averaged weights differ first: fits averages that began anew.",
            "滑动平均权重最先不同：符合平均重新开始的情形。",
        ),
        Text("Save and load the averages with their counter.", "保存并载入滑动平均及其计数。"),
    ),
    Hint(
        "scheduler-state",
        _side("scheduler"),
        Text("The scheduler's state differs before it shows in a rate.", "调度器的状态已经不同，学习率还没有显出来。"),
        Text("Compare its values on both sides.", "比较两边的取值。"),
    ),
    Hint(
        "scaler-state",
        _side("scaler"),
        Text("The scaler's state differs before it shows in a step.", "缩放器的状态已经不同，还没有影响更新。"),
        Text("Compare its scale and growth tracker.", "比较它的缩放值与增长计数。"),
    ),
    Hint(
        "payload",
        _side("saved"),
        Text(
            "The saved checkpoints differ while the live state is equal: fits live tensors saved by reference, or "
            "averages saved as the weights.",
            "训练中的状态相同，保存的检查点不同：符合按引用保存了仍在变化的张量，或把滑动平均当作权重保存的情形。",
        ),
        Text(
            "Clone the tensors before saving; see `live` and `after` of the two `saved` lines.",
            "保存前先克隆张量，查看两个 `saved` 行的 `live` 与 `after`。",
        ),
    ),
    Hint(
        "evaluation",
        _metrics,
        Text(
            "The training is equal and the evaluation differs: fits other evaluation data, mode or padding.",
            "训练相同，评估不同：符合评估数据、模式或填充不同的情形。",
        ),
        Text("Record the evaluation's ids and count.", "记录评估的样本编号与数目。"),
    ),
)

CONCEPTS: dict[str, str] = {
    "same-ids-other-order": "data-order",
    "same-ids-other-contents": "random-state",
    "contents-without-ids": "data-order",
    "batch-shapes": "tail-batch",
    "batches-repeat": "consumed",
    "epoch-repeats": "data-order",
    "batches-skipped": "prefetched",
    "ids-within-a-batch-repeat": "tail-batch",
    "generator-first": "random-state",
    "evaluation-draws": "random-state",
    "evaluation-moves": "checkpoint",
    "forward-first": "precision",
    "loss-denominator": "token-mean",
    "loss-by-a-factor": "mean-of-means",
    "gradient-by-a-power-of-two": "loss-scaling",
    "gradient-by-the-number-of-ranks": "mean-of-means",
    "gradient-by-the-accumulation-count": "microbatch",
    "gradient-by-three-quarters": "tail-batch",
    "gradient-by-the-scale": "loss-scaling",
    "open-window-lost": "open-window",
    "gradients-kept": "update-boundary",
    "clipping": "gradient-norm",
    "same-norm": "addition-order",
    "rate-for-one-step": "scheduler",
    "rate": "scheduler",
    "scale": "loss-scaling",
    "skip": "overflow-skip",
    "options": "optimizer-state",
    "update-alone": "optimizer-state",
    "optimizer-fresh": "momentum",
    "optimizer-state": "optimizer-state",
    "buffers": "checkpoint",
    "weights-on-resume": "averaged-weights",
    "average": "averaged-weights",
    "scheduler-state": "scheduler",
    "scaler-state": "loss-scaling",
    "payload": "checkpoint",
    "evaluation": "staged-search",
    "noise": "noise-floor",
}
"""The concept that explains a hint; a garden that has it leads to where it is written."""

NOISY = Hint(
    "noise",
    lambda _: True,
    Text(
        "Two runs of the same thing part no later than these: nothing here is to be blamed on B.",
        "同样的运行两次，分开得并不更晚：这里的差异不能归到 B 身上。",
    ),
    Text(
        "Make the run repeat itself first: deterministic algorithms, threads, seeds.",
        "先让运行能重复自身：确定性算法、线程数、种子。",
    ),
)


def _ids(batch: Record) -> list[int | str]:
    ids = batch.get("ids")
    return [one for one in ids if isinstance(one, int | str)] if isinstance(ids, list) else []


def rates(records: Records) -> list[Any]:
    return [_rates_of(one) for one in records.of("control")]


def _rates_of(record: Record) -> Any:
    return record.get("lr")


def _counters(record: Record) -> list[float]:
    counters = record.get("counters")
    each = counters if isinstance(counters, list) else []
    return [value for one in each if (value := number_of({"count": one}, "count")) is not None]


def _close(one: float, two: float) -> bool:
    return math.isfinite(one) and math.isfinite(two) and math.isclose(one, two, rel_tol=1e-4)


def _factor(ratio: float, factors: Sequence[float]) -> bool:
    return any(_close(ratio, factor) or _close(ratio * factor, 1) for factor in factors)
