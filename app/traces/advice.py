"""A comparison into what to record next, so that it can say more."""

from collections.abc import Iterator

from app.language import Text
from app.traces.comparison import Comparison

BY_NAME = ("grad", "update", "weights", "optimizer")
"""Stages whose tensors level 2 tells apart by name."""
CALLS: dict[str, Text] = {
    "batch": Text("`trace.batch(ids, inputs)` before each forward pass", "每次前向之前调用 `trace.batch(ids, inputs)`"),
    "loss": Text("`trace.loss(loss, count)` before each backward pass", "每次反向之前调用 `trace.loss(loss, count)`"),
    "side": Text(
        "`scheduler=` and `scaler=` of the recorder, and its checkpoints and averages",
        "记录器的 `scheduler=`、`scaler=`，以及检查点和滑动平均",
    ),
    "eval": Text(
        "`with trace.evaluation(name)` around each evaluation", "用 `with trace.evaluation(name)` 包住每次评估"
    ),
}
"""What records a stage that does not record itself."""
DIGESTED = ("forward", "grad", "weights", "optimizer")
"""Stages of which a cheap recording has norms alone."""


def advice(found: Comparison) -> tuple[Text, ...]:
    return tuple(_advice(found))


def _advice(found: Comparison) -> Iterator[Text]:
    first = found.first_difference
    if first is not None and first.stage in BY_NAME and not found.parameters:
        step = first.optimizer_step
        yield Text(
            f"Record both runs at level 2 up to step {step}: then the tensors that differ are named.",
            f"两次运行都用级别 2 记录到第 {step} 步，就能看到是哪些张量不同。",
        )
    if first is not None and first.stage in ("forward", "grad", "update") and found.noise is None:
        yield Text(
            "Record A once more, unchanged, and give it as the noise floor: if it parts from itself as early, nothing "
            "is to be blamed on B.",
            "不作任何改动再记录一次 A，作为噪声底：如果它同样早就与自身分开，差异就不能归到 B 身上。",
        )
    missing = [CALLS[stage] for stage in found.not_recorded if stage in CALLS]
    if missing:
        yield Text(
            f"What was not recorded on both sides comes with: {'; '.join(one.en for one in missing)}.",
            f"两边没有都记录的内容，可以这样补上：{'；'.join(one.zh for one in missing)}。",
        )
    norms = [stage for stage in found.not_recorded if stage in DIGESTED]
    if norms:
        yield Text(
            f"Of {', '.join(norms)} there are norms at most: level 1 with `every=1` has digests at each step.",
            f"{'、'.join(norms)} 至多只有范数：用级别 1 和 `every=1` 记录，每一步都会有摘要。",
        )
