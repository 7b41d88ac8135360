"""Traces of real small trainings, for whoever wants to see a report before recording a run.

`python -m tests.traces.examples` makes them anew.
"""

from dataclasses import dataclass
from pathlib import Path

from app.language import Text

WHOLE = "uninterrupted"
"""The run that all others are compared with: twelve steps of two micro-batches."""


@dataclass(frozen=True)
class Example:
    """A run that goes on from step 6 of the whole one with one thing lost, or none; the last goes on from nothing."""

    title: Text
    lead: Text


EXAMPLES: dict[str, Example] = {
    "clean-resume": Example(
        Text("Everything restored", "全部恢复"),
        Text(
            "Weights, optimizer, scheduler, generator and position in the data come back.",
            "权重、优化器、调度器、随机数发生器和数据位置都恢复了。",
        ),
    ),
    "lost-optimizer": Example(
        Text("Optimizer state lost", "优化器状态丢失"),
        Text("AdamW starts with empty moments.", "AdamW 的矩从零开始。"),
    ),
    "rate-one-step": Example(
        Text("Scheduler built too late", "调度器构造得太晚"),
        Text(
            "It was made after the optimizer was loaded, and wrote its first rate into it.",
            "它在优化器载入之后才构造，把自己的初始学习率写了进去。",
        ),
    ),
    "lost-generator": Example(
        Text("Generator not restored", "随机数发生器没有恢复"),
        Text("Dropout draws from its beginning again.", "随机失活又从头抽取。"),
    ),
    "lost-position": Example(
        Text("Position in the data lost", "数据位置丢失"),
        Text("The epoch begins again.", "这一轮又从头开始。"),
    ),
    "not-divided": Example(
        Text("Loss not divided by the window", "损失没有除以累积次数"),
        Text(
            "A run from the beginning that adds up the gradients of two micro-batches instead of averaging them.",
            "从头开始的一次运行：两个微批次的梯度相加，却没有取平均。",
        ),
    ),
}
TRACES = (WHOLE, *EXAMPLES)


def path(name: str) -> Path:
    return Path(__file__).with_name(f"{name}.jsonl")
