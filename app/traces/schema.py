"""The lines of a trace, as one table, into JSON Schema and into prose.

A line is a JSON object with a key `event`. What was not recorded is absent, never null. Floats are hexadecimal
strings, so that no bit is lost on the way.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from app.traces.examples import TRACES, path

VERSION = 1
"""Raised when a reader of the old lines would misread the new ones. New optional fields do not raise it."""

STAGES = (
    "env",
    "batch",
    "rng",
    "forward",
    "loss",
    "grad",
    "control",
    "update",
    "weights",
    "optimizer",
    "side",
    "eval",
)
"""The causal ladder: what differs on one rung can only come from the rungs above it, or from an earlier step."""

Json = dict[str, Any]

STRING: Json = {"type": "string"}
TRUTH: Json = {"type": "boolean"}
COUNT: Json = {"type": "integer", "minimum": 0}
NUMBER: Json = {"type": "number"}
FLOAT: Json = {"type": "string", "pattern": r"^(-?0x[01]\.[0-9a-f]+p[+-][0-9]+|nan|-?inf)$"}
DIGEST: Json = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
NAMES: Json = {"type": "array", "items": STRING}
DIGESTS: Json = {"type": "object", "additionalProperties": DIGEST}
FLOATS: Json = {"type": "object", "additionalProperties": FLOAT}
VALUE: Json = {"anyOf": [STRING, NUMBER, TRUTH, {"type": "null"}, {"type": "array"}]}
VALUES: Json = {"type": "object", "additionalProperties": VALUE}
WAY: Json = {"enum": ["digest", "norm", "none"]}
VERDICT: Json = {"enum": ["bitwise", "equal", "different", "absent"]}
VERDICTS: Json = {"type": "object", "additionalProperties": VERDICT}
PARAMETER: Json = {
    "type": "object",
    "required": ["name", "shape", "dtype", "trained"],
    "properties": {
        "name": STRING,
        "shape": {"type": "array", "items": COUNT},
        "dtype": STRING,
        "trained": TRUTH,
        "also": NAMES,
        "group": COUNT,
    },
}


@dataclass(frozen=True)
class Field:
    name: str
    kind: Json
    meaning: str
    needed: bool = True


@dataclass(frozen=True)
class Event:
    name: str
    stage: str
    """The rung of the ladder that it belongs to; empty for lines that only say where and how the rest was recorded."""
    when: str
    meaning: str
    fields: tuple[Field, ...]


def maybe(name: str, kind: Json, meaning: str) -> Field:
    """A field that is absent where it was not recorded."""
    return Field(name, kind, meaning, needed=False)


STEP = Field(
    "step", COUNT, "Number of the optimizer step under way, from 1, skipped ones too. State: the step it is after."
)
MICRO = Field("micro", COUNT, "Number of the micro-batch within that step, from 1.")
DIGESTED = maybe("digest", DIGEST, "Digest of all the tensors by name.")
CANON = maybe("canon", DIGEST, "The same with −0 as +0 and every NaN alike; absent where it equals `digest`.")
PARTIAL = maybe("partial", TRUTH, "True: of this rank's shards; the digests of all ranks add up.")
NORM = maybe("norm", FLOAT, "Euclidean norm of all of them; its last digits depend on the number of threads.")

EVENTS = (
    Event(
        "trace",
        "",
        "first line of every segment",
        "What was recorded and how. A program that opens an existing file adds a segment. A segment with a `resume` "
        "line goes on from an earlier one; a segment without is a new start, and the last start counts.",
        (
            Field("schema", {"const": VERSION}, "Version of this schema."),
            Field("digest", {"const": "wrapping-sum-1"}, "Name and version of the digest; others cannot be compared."),
            Field("rank", COUNT, "Rank of this process."),
            Field("world", {"type": "integer", "minimum": 1}, "Number of ranks."),
            Field("level", {"enum": [0, 1, 2, 3]}, "Level of recording."),
            Field(
                "every",
                {"type": "integer", "minimum": 1},
                "Full digests are taken at the first step and every so many after it.",
            ),
            Field(
                "recorded",
                {"type": "object", "additionalProperties": WAY},
                "For each stage `digest`, `norm` (norms or plain values at every step; digests at the beginning, after "
                "a resume and, from level 1 on, at the steps of `every`) or `none`.",
            ),
            maybe("run", STRING, "Name of the run, when one was given."),
            maybe("why", NAMES, "Sentences: what is not recorded, and why."),
        ),
    ),
    Event(
        "env",
        "env",
        "once a segment",
        "What the run stood on. Listed when it differs, never the first difference.",
        (
            Field("python", STRING, "Version of Python."),
            Field("torch", STRING, "Version of torch."),
            Field("system", STRING, "Operating system and architecture, such as `Linux x86_64`."),
            Field("devices", NAMES, "Names of the devices that hold the model, a CPU by its vector instructions."),
            Field("dtype", STRING, "Default dtype."),
            Field("threads", COUNT, "Threads within an operation."),
            Field("interop_threads", COUNT, "Threads between operations."),
            Field("deterministic", TRUTH, "use_deterministic_algorithms."),
            Field("matmul_precision", STRING, "float32_matmul_precision."),
            Field("cudnn_benchmark", TRUTH, "torch.backends.cudnn.benchmark."),
            Field("cudnn_deterministic", TRUTH, "torch.backends.cudnn.deterministic."),
            Field("world", COUNT, "Number of ranks."),
            maybe("cuda", STRING, "Version of CUDA of the build."),
            maybe("cudnn", STRING, "Version of cuDNN."),
            maybe("numpy", STRING, "Version of numpy, where the program uses it."),
        ),
    ),
    Event(
        "model",
        "",
        "once a segment",
        "The names that the digests go by.",
        (
            Field(
                "parameters",
                {"type": "array", "items": PARAMETER},
                "In the model's order. A tied weight stands once, its other names under `also`. `group` is the "
                "optimizer's parameter group.",
            ),
            Field("buffers", {"type": "array", "items": PARAMETER}, "The same for buffers."),
            Field("optimizer", STRING, "Class of the optimizer."),
            Field("groups", {"type": "array", "items": NAMES}, "Names per parameter group, in the optimizer's order."),
        ),
    ),
    Event(
        "batch",
        "batch",
        "`trace.batch(ids, inputs)`",
        "A micro-batch, before its forward pass.",
        (
            STEP,
            MICRO,
            maybe("epoch", COUNT, "When it was given."),
            maybe("count", COUNT, "Number of samples."),
            maybe(
                "ids",
                {"type": "array", "items": {"type": ["integer", "string"]}},
                "The sample ids in order, up to 4096: whole numbers as they are, all else as `#` and 16 digits of a "
                "hash (an id may be a path).",
            ),
            maybe("order", DIGEST, "Digest of the ids in order."),
            maybe("members", DIGEST, "Order-free digest of the ids. Adds up over micro-batches and ranks."),
            maybe("inputs", DIGEST, "Digest of the contents of all input tensors, in order."),
            maybe("rows", DIGEST, "Order-free digest of the samples' contents. Adds up."),
            maybe("pairs", DIGEST, "Order-free digest of (id, contents). Adds up."),
            maybe("shapes", {"type": "object", "additionalProperties": STRING}, "dtype and shape by place in the nest"),
        ),
    ),
    Event(
        "rng",
        "rng",
        "with every `batch`, after it; at the start and end of an evaluation; after a resume",
        "States of the random generators. Nothing is drawn from them.",
        (
            STEP,
            maybe("micro", COUNT, "Absent outside a micro-batch; `step` is then the one that is done."),
            Field("at", {"enum": ["batch", "eval_start", "eval_end", "resume"]}, "Where."),
            Field(
                "generators",
                DIGESTS,
                "By name: `python`, `numpy` (where the program uses it), `cpu`, `cuda:0` …, and those that were given.",
            ),
        ),
    ),
    Event(
        "forward",
        "forward",
        "every call of the model that makes gradients",
        "The outputs of the model.",
        (
            STEP,
            MICRO,
            Field("call", COUNT, "Number of the call within the micro-batch, from 1."),
            maybe("digest", DIGEST, "Digest of the outputs by place in the nest."),
            CANON,
            NORM,
        ),
    ),
    Event(
        "loss",
        "loss",
        "`trace.loss(loss, count)`",
        "The loss before its backward pass, unscaled.",
        (
            STEP,
            MICRO,
            Field("loss", FLOAT, "The value."),
            maybe("count", {"anyOf": [NUMBER]}, "What the mean was taken over."),
            Field("dtype", STRING, "Its dtype."),
        ),
    ),
    Event(
        "grad",
        "grad",
        "`raw`: when a backward pass has ended; `clipped`: when the optimizer steps, before it does",
        "Gradients as accumulated so far (`raw`: with the loss scale on them) and as the step uses them (`clipped`).",
        (
            STEP,
            MICRO,
            Field("when", {"enum": ["raw", "clipped"]}, "Which."),
            DIGESTED,
            CANON,
            Field("norm", FLOAT, "Euclidean norm."),
            PARTIAL,
            Field("none", COUNT, "Number of trained parameters that have no gradient."),
            maybe(
                "seed",
                FLOAT,
                "`raw` only: derivative of what went backward with respect to the loss given to `trace.loss`: the "
                "loss scale, divided by the accumulation count where the program does so.",
            ),
            maybe("sparse", COUNT, "Number of sparse gradients; they are digested as the dense ones that they mean."),
        ),
    ),
    Event(
        "control",
        "control",
        "when the optimizer steps, or is skipped",
        "What drives the step, at the step that used it.",
        (
            STEP,
            Field("micros", COUNT, "Number of micro-batches since the step before."),
            Field("skipped", TRUTH, "The loss scaler left the step out. Weights and optimizer are then recorded too."),
            Field("lr", {"type": "array", "items": FLOAT}, "Learning rate of each group."),
            Field(
                "groups",
                {"type": "array", "items": VALUES},
                "The other options of each group; floats as hexadecimal strings.",
            ),
            maybe("scale", FLOAT, "Loss scale in force."),
        ),
    ),
    Event(
        "update",
        "update",
        "after the step",
        "What moved. That the update itself parts follows from equal weights before, equal gradient and control, and "
        "unequal weights after.",
        (
            STEP,
            Field("sampled", COUNT, "Number of trained elements that were looked at, at places that never change."),
            Field("unmoved", COUNT, "How many of them the step left as they were, to the bit."),
            Field("norm", FLOAT, "Norm of the update, estimated from them."),
        ),
    ),
    Event(
        "weights",
        "weights",
        "after the step; once at the beginning and after a resume",
        "Parameters and buffers.",
        (
            STEP,
            DIGESTED,
            CANON,
            NORM,
            PARTIAL,
            maybe(
                "buffers",
                DIGEST,
                "Digest of the buffers by name; not after a resume within a window, where they are further.",
            ),
            maybe("buffers_canon", DIGEST, "Their canonical digest, where it differs."),
        ),
    ),
    Event(
        "optimizer",
        "optimizer",
        "after the step; once at the beginning when there is state; after a resume",
        "The optimizer's state by parameter name, without its step counters.",
        (
            STEP,
            DIGESTED,
            CANON,
            NORM,
            PARTIAL,
            maybe("by", DIGESTS, "Digest of each kind of state: `exp_avg`, `momentum_buffer` …"),
            maybe("norms", FLOATS, "Norm of each kind."),
            maybe("counters", {"type": "array", "items": FLOAT}, "The step counters that occur, ascending."),
        ),
    ),
    Event(
        "side",
        "side",
        "scheduler, scaler, averages: at the first call after the step; saved: when a checkpoint is written",
        "State beside the model.",
        (
            STEP,
            Field("what", {"enum": ["scheduler", "scaler", "average", "saved"]}, "Of what."),
            maybe("name", STRING, "Name of the averages; place of the scheduler when there are several."),
            maybe("digest", DIGEST, "Digest of the whole state."),
            CANON,
            maybe("values", VALUES, "Its plain values; floats as hexadecimal strings."),
            maybe("after", DIGEST, "`saved`: digest of the same payload when the context ended, if it differs."),
            maybe("read_back", DIGEST, "`saved`: digest of what was read back, if it was."),
            maybe("live", VERDICTS, "`saved`: `weights`, `buffers`, `optimizer` of the payload against the live ones."),
            maybe("parts", DIGESTS, "`saved`: digests of its `weights` and `buffers`, to be met again in other lines."),
            maybe("restored", VERDICT, "`average` as a context: whether the live weights came back after it."),
            maybe("aliases", COUNT, "`saved`: tensors of the payload that share memory with live ones."),
        ),
    ),
    Event(
        "resume",
        "",
        "`trace.resume(…)`",
        "The run goes on from a checkpoint. Every later step counts from `step`.",
        (
            Field("step", COUNT, "Optimizer steps done."),
            Field(
                "from",
                {"enum": ["given", "optimizer", "unknown"]},
                "Where that number comes from. `unknown`: counting goes on, and only ids can align the runs.",
            ),
            maybe("micro", COUNT, "Micro-batches of the step after that were done, with their gradients."),
            maybe("epoch", COUNT, "When given."),
            maybe("payload", DIGEST, "Digest of the checkpoint: equals `digest` of a `saved` line of the earlier run."),
            maybe(
                "loaded",
                VERDICTS,
                "`weights`, `buffers`, `optimizer`, `scheduler`, `scaler`: live state afterwards against the payload; "
                "`absent`: the payload has none.",
            ),
            maybe("parts", DIGESTS, "Digests of the checkpoint's `weights` and `buffers`."),
            maybe("changed", NAMES, "Which of these and of the `generators` the resume changed at all."),
        ),
    ),
    Event(
        "eval",
        "eval",
        "end of `with trace.evaluation(name)`",
        "An evaluation, and what it changed of the training.",
        (
            STEP,
            Field("name", STRING, "Its name."),
            Field("metrics", FLOATS, "What it found."),
            maybe("count", COUNT, "Samples it was taken over."),
            maybe("moved", NAMES, "What is not as it was: `rng:cpu` …, `weights`, `buffers`, `mode`, `grad_mode`."),
        ),
    ),
    Event(
        "parameters",
        "",
        "level 2: first steps, first steps after a resume, every K steps; at the others a few in turn",
        "One stage by parameter.",
        (
            STEP,
            maybe("micro", COUNT, "For `grad`."),
            Field("of", {"enum": ["grad", "clipped", "weights", "buffers", "optimizer"]}, "Of what."),
            Field("digests", DIGESTS, "By name; state of the optimizer as `name/exp_avg`."),
            Field("norms", FLOATS, "By name."),
            PARTIAL,
            Field("complete", TRUTH, "All of them, or those whose turn it is."),
        ),
    ),
    Event(
        "sketch",
        "",
        "level 3, at the steps with full digests",
        "Numbers from which two traces estimate the norm of their difference: the norm of the difference of two "
        "sketches estimates the norm of the difference of the vectors, within about √(2/length).",
        (
            STEP,
            Field("of", {"enum": ["clipped", "weights"]}, "Of what."),
            Field("sketch", {"type": "array", "items": FLOAT}, "Signed sums of the elements, 256 of them."),
            Field(
                "values",
                {"type": "object", "additionalProperties": {"type": "array", "items": FLOAT}},
                "Up to 8 elements of each parameter, at places that never change.",
            ),
        ),
    ),
)


def json_schema() -> Json:
    """JSON Schema (2020-12) of one line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:perennial:trace:{VERSION}",
        "title": "A line of a trace",
        "version": VERSION,
        "type": "object",
        "required": ["event"],
        "oneOf": [_line(event) for event in EVENTS],
    }


def prose() -> str:
    """Every event and field in Markdown."""
    return "\n".join(part for event in EVENTS for part in _section(event))


def _line(event: Event) -> Json:
    example = _examples().get(event.name)
    return {
        "title": event.name,
        "description": event.meaning,
        **({"examples": [example]} if example is not None else {}),
        "properties": {
            "event": {"const": event.name},
            **{field.name: field.kind | {"description": field.meaning} for field in event.fields},
        },
        "required": ["event", *(field.name for field in event.fields if field.needed)],
        "additionalProperties": False,
    }


@cache
def _examples() -> dict[str, Json]:
    """The first line of each event in the traces that come with the program."""
    found: dict[str, Json] = {}
    for name in TRACES:
        for line in path(name).read_text(encoding="ascii").splitlines():
            record = json.loads(line)
            found.setdefault(record["event"], record)
    return found


def _section(event: Event) -> list[str]:
    stage = f"stage `{event.stage}`" if event.stage else "no stage of its own"
    rows = [
        f"| `{field.name}` | {_kind(field.kind)} | {'yes' if field.needed else ''} | {field.meaning} |"
        for field in event.fields
    ]
    head = [f"## `{event.name}`", "", f"{event.meaning} Written: {event.when}; {stage}.", ""]
    return [*head, "| field | kind | always | meaning |", "|---|---|---|---|", *rows, ""]


KINDS = (
    (STRING, "text"),
    (TRUTH, "true or false"),
    (COUNT, "whole number"),
    (NUMBER, "number"),
    (FLOAT, "float"),
    (DIGEST, "digest"),
    (NAMES, "texts"),
    (DIGESTS, "digests by name"),
    (FLOATS, "floats by name"),
    (VALUES, "values by name"),
    (VERDICTS, "verdicts by name"),
)


def _kind(kind: Json) -> str:
    named = next((word for one, word in KINDS if one == kind), None)
    if named is not None:
        return named
    if "enum" in kind:
        return " ".join(f"`{one}`" for one in kind["enum"])
    if "const" in kind:
        return f"`{kind['const']}`"
    if "items" in kind:
        return "list"
    return "object" if kind.get("type") == "object" else "whole number" if kind.get("minimum") else "number"
