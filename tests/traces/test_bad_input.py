"""Whatever a file holds, the answer is a comparison or an error of the tree, in one line; never a traceback."""

import codecs
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from app.cli import app
from app.errors import Incomparable, TraceError, Unreadable
from app.traces.comparison import compare
from app.traces.report import report
from tests.traces.test_every_line import with_parameters
from tests.traces.written import changed, resumed, run, trace, written

DEEP: Any = 0
for _ in range(150):
    DEEP = {"a": [DEEP]}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(
        [0, -1, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**400, 1e308, -0.0, float("nan"), float("inf")]
    )
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["nan", "inf", "-inf", "0x1.8p+0", "0x1p+99999", "1e999", "0x", "\ud800", "‮", "\x1b[31m", "\n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
) | st.just(DEEP)

WHOLE = [
    *with_parameters(run(2, 2)),
    {"event": "sketch", "step": 2, "of": "weights", "sketch": [(1.0).hex()] * 4, "values": {"w": [(1.0).hex()]}},
    {"event": "side", "step": 2, "what": "saved", "live": {"weights": "bitwise"}, "parts": {}, "aliases": 1},
    *resumed(2, 2, 2, loaded={"optimizer": "different"}, changed=["weights"]),
]
OTHER = changed(WHOLE, "loss", 1, loss="nan")


@given(st.data())
def test_any_value_in_any_field_gives_an_answer(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("any")
    records = json.loads(json.dumps(data.draw(st.sampled_from([WHOLE, OTHER]))))
    for _ in range(data.draw(st.integers(1, 3))):
        line = data.draw(st.sampled_from(records))
        place = line
        name = data.draw(st.sampled_from(sorted(line)))
        while isinstance(place[name], dict | list) and place[name] and data.draw(st.booleans()):
            place = place[name]
            name = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if data.draw(st.integers(0, 9)) and not isinstance(place, list):
            place[name] = json.loads(json.dumps(data.draw(JSON)))
        else:
            del place[name]
        if not line:
            line["event"] = "loss"
    a, b = written(folder / "a.jsonl", WHOLE), written(folder / "b.jsonl", records)
    for one, two in ((a, b), (b, a), (b, b)):
        answered(one, two)


def answered(a: Path, b: Path) -> str:
    """The report or what is said instead of it, both as they can be written."""
    try:
        found = compare(a, b, {"loss": (1e-3, 0.0), "grad": (1e-3, 0.0)}, noise=a)
    except TraceError as wrong:
        assert wrong.message.en and wrong.message.zh
        wrong.message.zh.encode()
        return str(wrong)
    text = json.dumps(found.json(), ensure_ascii=False, allow_nan=False) + report(found)
    text.encode()
    return text


def lines_of(records: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in records]


RUN = lines_of(run(9))
GRAD = next(i for i, line in enumerate(RUN) if line.startswith(b'{"event":"grad","step":4'))


def instead(line: bytes, at: int = GRAD) -> bytes:
    """The run with another line."""
    return b"".join([*RUN[:at], line, *RUN[at + 1 :]])


def stepping(step: str) -> bytes:
    return instead(b'{"event":"grad","step":' + step.encode() + b',"micro":1,"when":"raw","none":0}\n')


NO_TRACE, NO_LINE = "bad.jsonl: is no trace", f"bad.jsonl:{GRAD + 1}: not a line of JSON with an event"
NO_STEP = rf"bad.jsonl:{GRAD + 1}: a step that is no whole number below 2\^63"
HEAD = trace()
BAD: dict[str, tuple[bytes, type[TraceError], str]] = {
    "empty": (b"", Unreadable, "bad.jsonl: is empty"),
    "one empty line": (b"\n", Unreadable, NO_TRACE),
    "csv": (b"step,loss\n1,2\n", Unreadable, NO_TRACE),
    "json of another kind": (b'{"loss": 1}\n', Unreadable, NO_TRACE),
    "an array": (b"[1, 2]\n", Unreadable, NO_TRACE),
    "a number": (b"1\n", Unreadable, NO_TRACE),
    "binary": (random.Random(0).randbytes(100_000), Unreadable, NO_TRACE),
    "zeros": (bytes(100_000), Unreadable, NO_TRACE),
    "a byte order mark": (codecs.BOM_UTF8 + b"".join(RUN), Unreadable, NO_TRACE),
    "utf-16": (b"".join(RUN).decode().encode("utf-16"), Unreadable, NO_TRACE),
    "deep": (b"[" * 1_000_000, Unreadable, NO_TRACE),
    "deep in the head": (b'{"event":"trace","x":' + b"[" * 5_000 + b"]" * 5_000 + b"}\n", Unreadable, NO_TRACE),
    "another schema": (b"".join(lines_of([HEAD | {"schema": 2}])), Unreadable, "schema 2; this reads schema 1"),
    "no schema": (b'{"event":"trace"}\n', Unreadable, "schema None; this reads schema 1"),
    "a schema that would colour the terminal": (
        b"".join(lines_of([HEAD | {"schema": "\x1b[31m\n" + "x" * 999}])),
        Unreadable,
        "schema \ufffd\\[31m\ufffdx{1,40}; this reads schema 1",
    ),
    "another digest": (b"".join(lines_of([HEAD | {"digest": "xor"}])), Incomparable, "digests of kind xor"),
    "a rank that is none": (b"".join(lines_of([HEAD | {"rank": -1}])), Unreadable, "lacks the rank or the world"),
    "a world that is none": (b"".join(lines_of([HEAD | {"world": True}])), Unreadable, "lacks the rank or the world"),
    "a rank beyond all": (b"".join(lines_of([HEAD | {"rank": 10**400}])), Unreadable, "lacks the rank or the world"),
    "cut in the middle": (instead(RUN[GRAD][:40] + b"\n"), Unreadable, NO_LINE),
    "two lines in one": (instead(RUN[GRAD][:-1] + RUN[GRAD]), Unreadable, "a line of rank 0 is no JSON"),
    "a hole": (instead(b"\n"), Unreadable, NO_LINE),
    "lines of zeros": (instead(bytes(5_000) + b"\n"), Unreadable, NO_LINE),
    "not in utf-8": (instead(b'{"event":"grad","step":4,"when":"\xff"}\n'), Unreadable, "a line of rank 0 is no JSON"),
    "half a character": (instead(b'{"event":"grad","step":4,"when":"\\ud800"}\n'), Unreadable, "of rank 0 is no JSON"),
    "deep in a line": (
        instead(b'{"event":"grad","step":4,"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}\n"),
        Unreadable,
        "a line of rank 0 is no JSON",
    ),
    "backwards": (b"".join([*RUN[:5], *reversed(RUN[5:])]), Unreadable, "lines are shuffled"),
    "a step below none": (stepping("-1"), Unreadable, NO_STEP),
    "step 2^63": (stepping(str(2**63)), Unreadable, NO_STEP),
    "a step of 400 digits": (stepping("1" * 400), Unreadable, NO_STEP),
    "a step of 5000 digits": (stepping("1" * 5000), Unreadable, NO_LINE),
    "half a step": (stepping("4.5"), Unreadable, NO_STEP),
    "a step in words": (stepping('"four"'), Unreadable, NO_STEP),
    "no step at all": (stepping("null"), Unreadable, NO_STEP),
    "a true step": (stepping("true"), Unreadable, NO_STEP),
    "a resume from nowhere": (
        b"".join(RUN) + b"".join(lines_of([HEAD, {"event": "resume", "step": -4}])),
        Unreadable,
        f"bad.jsonl:{len(RUN) + 2}: a resume line without its step",
    ),
    "nothing but its head": (RUN[0], Incomparable, "no step in common"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_compared_is_told_in_a_line(tmp_path: Path, name: str) -> None:
    data, kind, message = BAD[name]
    good, bad = written(tmp_path / "good.jsonl", run(9)), tmp_path / "bad.jsonl"
    bad.write_bytes(data)
    for sides in ((good, bad), (bad, good)):
        with pytest.raises(kind, match=message) as caught:
            compare(*sides)
        assert len(str(caught.value)) < 400
        told = CliRunner().invoke(app, ["compare", *map(str, sides)])
        assert (told.exit_code, told.stdout) == (2, "")
        assert told.stderr.splitlines() == [str(caught.value)]


@pytest.mark.parametrize("name", ["a folder", "nothing"])
def test_what_is_no_file_is_told_in_a_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "a folder").mkdir()
    told = CliRunner().invoke(app, ["compare", str(written(tmp_path / "a.jsonl", run(2))), str(tmp_path / name)])
    assert (told.exit_code, told.stdout, len(told.stderr.splitlines())) == (2, "", 1)
    assert f"{name}: cannot be read: " in told.stderr


ODD: dict[str, tuple[bytes, str]] = {
    "ends of lines of Windows": (b"".join(RUN).replace(b"\n", b"\r\n"), "bitwise"),
    "spaces": (b"".join(json.dumps(json.loads(line)).encode() + b"\n" for line in RUN), "bitwise"),
    "other order of keys": (
        b"".join(json.dumps(dict(reversed(json.loads(line).items()))).encode() + b"\n" for line in RUN),
        "bitwise",
    ),
    "no end of the last line": (b"".join(RUN)[:-1], "bitwise"),
    "a key twice": (instead(RUN[GRAD].replace(b'"none":0', b'"none":9,"none":0')), "bitwise"),
    "a number instead of a float": (instead(RUN[GRAD].replace(b'"none":0', b'"none":1e999')), "different"),
    "an event of the future": (instead(RUN[GRAD] + b'{"event":"aura","step":4}\n'), "bitwise"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_only_written_otherwise_is_compared(tmp_path: Path, name: str) -> None:
    data, level = ODD[name]
    good, odd = written(tmp_path / "good.jsonl", run(9)), tmp_path / "odd.jsonl"
    odd.write_bytes(data)
    assert [compare(good, odd).level, compare(odd, good).level] == [level, level]


def test_losses_that_are_no_numbers_are_compared(tmp_path: Path) -> None:
    """As the bits that they were recorded as; a bare NaN, which is no JSON, is read too."""
    whole = written(tmp_path / "a.jsonl", run(9))
    lost = written(tmp_path / "b.jsonl", changed(run(9), "loss", 4, loss="nan"))
    bare = written(tmp_path / "c.jsonl", changed(run(9), "loss", 4, loss=float("nan")))
    told = [compare(whole, lost), compare(lost, lost), compare(lost, bare)]
    assert [one.level for one in told] == ["different", "bitwise", "equal"]
    assert CliRunner().invoke(app, ["compare", str(whole), str(lost)]).exit_code == 1
