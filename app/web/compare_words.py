"""A comparison into sentences, each in both languages."""

from app.language import Text
from app.traces.comparison import Comparison

STAGES: dict[str, Text] = {
    "batch": Text("samples: ids, order, contents", "样本：编号、顺序、内容"),
    "rng": Text("random generators", "随机数发生器"),
    "forward": Text("outputs of the model", "模型输出"),
    "loss": Text("loss and what it was divided by", "损失及其分母"),
    "grad": Text("gradients, raw and as used", "梯度：原始的与实际使用的"),
    "control": Text("learning rate, loss scale, skips", "学习率、损失缩放、是否跳过"),
    "update": Text("the update itself", "更新本身"),
    "weights": Text("weights and buffers", "权重与缓冲区"),
    "optimizer": Text("what the optimizer remembers", "优化器状态"),
    "side": Text("averages, scheduler, scaler, checkpoint", "滑动平均、调度器、缩放器、检查点"),
    "eval": Text("evaluation", "评估"),
}
LEVELS: dict[str, Text] = {
    "bitwise": Text("bitwise equal", "逐位相同"),
    "equal": Text("equal in value, not in bits", "值相等，比特不同"),
    "close": Text("close under the tolerance", "在容差之内"),
    "conclusion": Text("the conclusion holds", "结论成立"),
    "different": Text("different", "不同"),
    "not_recorded": Text("not recorded", "没有记录"),
    "absent": Text("not in the checkpoint", "检查点里没有"),
}
SIGNS = {"bitwise": "=", "equal": "≈", "close": "≈", "conclusion": "≈", "different": "≠", "not_recorded": "·"}
VERDICTS: dict[str, Text] = {
    "holds": Text("The rule holds.", "规则成立。"),
    "fails": Text("The rule does not hold.", "规则不成立。"),
    "not_enough_seeds": Text("Not enough seeds for this rule.", "种子数不够，无法按这条规则下结论。"),
}


def verdict(found: Comparison) -> Text:
    first = found.first_difference
    if found.conclusion is not None and first is not None:
        decided, name, step = VERDICTS[found.conclusion.verdict], first.stage, first.optimizer_step
        return Text(
            f"{decided.en} The runs part at step {step}, first in {name}.",
            f"{decided.zh}两次运行在第 {step} 步分开，最先不同的是 {name}。",
        )
    if found.level == "not_recorded":
        return Text(
            f"The {found.steps} steps that both have hold nothing that could be compared.",
            f"两次运行共有 {found.steps} 步，但没有记录任何可以比较的内容。",
        )
    if first is None:
        return Text(
            f"Bitwise equal in all that both recorded, over {found.steps} steps.",
            f"在共有的 {found.steps} 步里，两边记录的内容逐位相同。",
        )
    name, step = first.stage, first.optimizer_step
    return Text(
        f"The runs part at step {step}, first in {name} ({STAGES[name].en}).",
        f"两次运行在第 {step} 步分开，最先不同的是 {name}（{STAGES[name].zh}）。",
    )


def unclaimed(found: Comparison) -> list[Text]:
    """What the report does not say, and what a reader might take it to say."""
    said = []
    if found.not_recorded:
        names = Text(", ".join(found.not_recorded), "、".join(found.not_recorded))
        said.append(
            Text(
                f"Not recorded on both sides, so nothing is said of it: {names.en}.",
                f"没有在两边都记录，因此不作任何断言：{names.zh}。",
            )
        )
    for one in found.one_sided:
        side = one.side.upper()
        said.append(
            Text(
                f"From step {one.first_step} on {side} has records of {one.stage} that the other lacks; they are "
                "compared with nothing.",
                f"从第 {one.first_step} 步起，{side} 有 {one.stage} 的记录而另一边没有；这些记录没有参与比较。",
            )
        )
    if any(stage.level == "close" for stage in found.stages):
        said.append(
            Text(
                "Close is judged by recorded values and norms, which do not see a permutation; sketches (level 3) do.",
                "“在容差之内”依据记录的数值与范数判断，它们看不出元素互换位置；级别 3 的草图看得出。",
            )
        )
    if found.hints:
        said.append(
            Text(
                "Hints say which known faults look like this. They are not the cause.",
                "提示只说明哪些已知的错误看起来是这样，并不断定原因。",
            )
        )
    return said
