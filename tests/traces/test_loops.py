"""Two lines in other people's loops, with the packages themselves where they are installed (the extra `loops`)."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from app.traces.recorder import Recorder, lightning_callback, trainer_callback
from tests.traces.lines import Line, lines, of

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs


def rungs(found: list[Line], step: int) -> list[tuple[str, Any]]:
    named = ("batch", "forward", "loss", "grad", "control", "update", "weights", "optimizer")
    return [(line["event"], line.get("when")) for line in found if line.get("step") == step and line["event"] in named]


def accumulated(*micro: str) -> list[tuple[str, Any]]:
    """A step of two micro-batches."""
    once = [*((event, None) for event in micro), ("grad", "raw")]
    return [
        *once,
        *once,
        ("grad", "clipped"),
        *((event, None) for event in ("control", "update", "weights", "optimizer")),
    ]


def test_a_loop_of_accelerate(tmp_path: Path) -> None:
    accelerate = pytest.importorskip("accelerate")
    torch.manual_seed(0)
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
    model: nn.Module = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    made = torch.optim.AdamW(model.parameters(), lr=0.05)
    data = torch.utils.data.TensorDataset(torch.randn(16, 6))
    model, optimizer, loader, scheduler = accelerator.prepare(
        model, made, torch.utils.data.DataLoader(data, batch_size=4), torch.optim.lr_scheduler.StepLR(made, 1, 0.5)
    )
    with Recorder(tmp_path / "a.jsonl", model, optimizer, scheduler=scheduler) as trace:
        for (inputs,) in loader:
            with accelerator.accumulate(model):
                loss = model(inputs).square().mean()
                trace.loss(loss, 4)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 0.125)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
    found = lines(tmp_path / "a.jsonl")
    for step in (1, 2):
        assert rungs(found, step) == accumulated("batch", "forward", "loss")
    assert [float.fromhex(line["lr"][0]) for line in of(found, "control")] == [0.05, 0.025]
    assert {float.fromhex(line["seed"]) for line in of(found, "grad", when="raw")} == {0.5}
    norms = [float.fromhex(line["norm"]) for line in of(found, "grad", when="clipped")]
    assert norms == pytest.approx([0.125, 0.125], rel=1e-4)


def test_a_trainer_of_hugging_face(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    shape = transformers.GPT2Config(vocab_size=20, n_positions=8, n_embd=16, n_layer=1, n_head=2)
    tokens = torch.randint(0, 20, (16, 8), generator=torch.Generator().manual_seed(0))
    data = [{"input_ids": one, "labels": one} for one in tokens]

    def train(name: str, checkpoint: str | None) -> list[Line]:
        torch.manual_seed(0)
        args = transformers.TrainingArguments(
            output_dir=str(tmp_path / "out"),
            max_steps=4,
            per_device_train_batch_size=2,
            gradient_accumulation_steps=2,
            save_steps=2,
            eval_strategy="steps",
            eval_steps=2,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        )
        model = transformers.GPT2LMHeadModel(shape)
        trainer = transformers.Trainer(model=model, args=args, train_dataset=data, eval_dataset=data[:4])
        trainer.add_callback(trainer_callback(tmp_path / name))
        trainer.train(resume_from_checkpoint=checkpoint)
        return lines(tmp_path / name)

    whole = train("whole.jsonl", None)
    again = train("again.jsonl", str(tmp_path / "out/checkpoint-2"))
    for step in (1, 2, 3, 4):
        assert rungs(whole, step) == accumulated("batch", "forward", "loss")
    assert [line["step"] for line in of(whole, "eval")] == [2, 4]
    assert "eval_loss" in of(whole, "eval")[0]["metrics"]
    assert of(again, "resume")[0]["step"] == 2
    ends = [[line["digest"] for line in of(found, "weights") if line["step"] > 2] for found in (whole, again)]
    assert len(ends[0]) == 2 and ends[0] == ends[1]


def test_a_trainer_of_lightning(tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning")

    class Module(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.1), nn.Linear(8, 1))

        def training_step(self, batch: Any, _: int) -> Any:
            return self.net(batch[0]).square().mean()

        def validation_step(self, batch: Any, _: int) -> None:
            self.log("valid", self.net(batch[0]).mean())

        def configure_optimizers(self) -> Any:
            made = torch.optim.AdamW(self.parameters(), lr=0.05)
            return {"optimizer": made, "lr_scheduler": torch.optim.lr_scheduler.StepLR(made, 1, 0.5)}

    torch.manual_seed(0)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(16, 6)), batch_size=4)
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        accumulate_grad_batches=2,
        gradient_clip_val=0.125,
        callbacks=[lightning_callback(tmp_path / "a.jsonl")],
        default_root_dir=tmp_path,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Module(), loader, loader)
    found = lines(tmp_path / "a.jsonl")
    for step in (1, 2, 3, 4):  # its step calls a method of the module, so there is no forward pass to hook
        assert rungs(found, step) == accumulated("batch", "loss")
    assert [float.fromhex(line["lr"][0]) for line in of(found, "control")] == [0.05, 0.05, 0.025, 0.025]
    norms = [float.fromhex(line["norm"]) for line in of(found, "grad", when="clipped")]
    assert norms == pytest.approx([0.125] * 4, rel=1e-4)
    assert [(line["step"], line["moved"], list(line["metrics"])) for line in of(found, "eval")] == [
        (2, [], ["valid"]),
        (4, [], ["valid"]),
    ]
    saved = of(found, "side", what="saved")
    assert saved[0]["live"] == {"weights": "bitwise", "optimizer": "bitwise"}
