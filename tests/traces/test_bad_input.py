"""Whatever a file holds, the answer is a comparison or an error of the tree, in one line; never a traceback."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import TraceError
from app.traces.comparison import compare
from app.traces.report import report
from tests.traces.test_every_line import with_parameters
from tests.traces.written import Record, changed, resumed, run, trace, written

DEEP: Any = 0
for _ in range(150):
    DEEP = {"a": [DEEP]}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0, -1, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**400, 1e308, -0.0, float("nan"), float("inf")])
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
