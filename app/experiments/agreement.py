"""Three levels of agreement between two lists of numbers: the same bits, close, and in the same order.

    bitwise       every number has the same bits
    close         |a − b| ≤ atol + rtol·|b| everywhere, b being the expected number
    same order    every pair of a is ordered as the same pair of b: a stand-in for a conclusion drawn from the numbers

(documentation of torch.testing.assert_close, whose default tolerances these are: NaN is not close to anything,
infinities have to be equal; IEEE 754-2019, section 3.4 for the order of representations that ulps are counted in.)
Both lists are rounded to the format first; then all is computed in float64.
"""

import math
from collections.abc import Mapping
from typing import Any

from app.drawing import Box, Dot, Drawing, Label, Line, Role, Scale, Shape, clear, legend, tick_words, ticks
from app.errors import Problem
from app.experiments.experiment import Column, Experiment, Preset, Result, Table
from app.experiments.floating import DTYPE, layout, ordinal, rounding, shortest
from app.experiments.parameters import Derived, Number, Numbers, Params
from app.language import Text, alike
from app.numerals import full, short


def tolerances(dtype: str) -> tuple[float, float]:
    """(rtol, atol) that torch.testing.assert_close takes for a format."""
    defaults = {
        "float64": (1e-7, 1e-7),
        "float32": (1.3e-6, 1e-5),
        "float16": (1e-3, 1e-5),
        "bfloat16": (1.6e-2, 1e-5),
    }
    return defaults[dtype]


def same_bits(a: float, b: float) -> bool:
    """Whether two numbers have the same bits; there is one NaN here."""
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def is_close(a: float, b: float, rtol: float, atol: float) -> bool:
    distance = abs(a - b)
    return a == b or (math.isfinite(distance) and distance <= atol + rtol * abs(b))


def absolute(a: float, b: float) -> float:
    return 0.0 if a == b else abs(a - b)


def relative(a: float, b: float) -> float:
    """|a − b| / |b|; infinite where b is 0 or a distance is infinite."""
    distance = absolute(a, b)
    if distance == 0 or math.isnan(distance):
        return distance
    return distance / abs(b) if b and math.isfinite(distance) else math.inf


def steps(a: float, b: float, dtype: str) -> float:
    """How many numbers of the format further b is than a; 0.0 and −0.0 are one place."""
    return math.nan if math.isnan(a) or math.isnan(b) else abs(ordinal(a, dtype) - ordinal(b, dtype))


def largest(distances: list[float]) -> float:
    """The largest, or NaN where one is."""
    return math.nan if any(math.isnan(distance) for distance in distances) else max(distances)


def same_order(a: list[float], b: list[float]) -> bool:
    """Whether every two numbers of a are to each other (<, =, >) as those of b; NaN is in no order."""
    if any(math.isnan(value) for value in a + b):
        return False
    places = range(len(a))
    return all((a[i] > a[j]) - (a[i] < a[j]) == (b[i] > b[j]) - (b[i] < b[j]) for i in places for j in places)


def agreement(a: tuple[float, ...], b: tuple[float, ...], dtype: str, rtol: float, atol: float) -> dict[str, Any]:
    """Round both lists to the format and compare them number by number."""
    rounded = rounding(dtype)
    pairs = [(rounded(x), rounded(y)) for x, y in zip(a, b, strict=True)]
    unequal = [{"index": at, "a": x, "b": y} for at, (x, y) in enumerate(pairs) if x != y]
    notes = {
        "nan": any(math.isnan(x) or math.isnan(y) for x, y in pairs),
        "equal_in_value_not_in_bits": any(x == y and not same_bits(x, y) for x, y in pairs),
        "equal_after_rounding": any(
            x != y and stored[0] == stored[1] for x, y, stored in zip(a, b, pairs, strict=True)
        ),
    }
    return {
        "bitwise": all(same_bits(x, y) for x, y in pairs),
        "close": all(is_close(x, y, rtol, atol) for x, y in pairs),
        "same_order": same_order([x for x, _ in pairs], [y for _, y in pairs]),
        "max_abs": largest([absolute(x, y) for x, y in pairs]),
        "max_rel": largest([relative(x, y) for x, y in pairs]),
        "max_ulps": largest([steps(x, y, dtype) for x, y in pairs]),
        "mismatches": len(unequal),
        "first_mismatch": unequal[0] if unequal else None,
        "notes": [note for note, holds in notes.items() if holds],
    }


NOTES = {
    "nan": Text(" NaN equals nothing, not even itself.", "NaN 与任何数都不相等，包括它自己。"),
    "equal_in_value_not_in_bits": Text(
        " 0 and −0 are equal in value, not in bits.", "0 与 −0 数值相等，存储的位却不同。"
    ),
    "equal_after_rounding": Text(
        " Some numbers that differ as typed are one in this format.", "有的数写法不同，存成这种格式后却是同一个数。"
    ),
}


def sentence(params: Params, result: Result) -> Text:
    told = alike("")
    for note in result["notes"]:
        told += NOTES[note]
    if result["bitwise"]:
        return Text("The two lists have the same bits everywhere.", "两组数逐位一致。") + told
    count, wrong = len(params["a"]), result["mismatches"]
    if wrong == 0:
        if count == 1:
            return Text("The one pair is equal in value.", "这一对数的数值相等。") + told
        return Text(f"All {count} pairs are equal in value.", f"{count} 对数的数值都相等。") + told
    if count == 1:
        said = Text("The one pair differs", "这一对数不同")
    else:
        said = Text(f"{wrong} of {count} pairs differ" + ("s" if wrong == 1 else ""), f"{count} 对里有 {wrong} 对不同")
    said += _distance(result) + _within(wrong, result["close"])
    return said + (_order(result) if count > 1 else Text(".", "。")) + told


def _distance(result: Result) -> Text:
    """By how much, where that is a number: the largest distance, and the largest in ulps unless these are many."""
    far, ulps = result["max_abs"], result["max_ulps"]
    if not math.isfinite(far):
        return alike("")
    most = Text("up to ", "最多") if result["mismatches"] > 1 else alike("")
    said = Text(f" by {most.en}{short(far, 2)}", f"，{most.zh}相差 {short(far, 2)}")
    if ulps >= 1000:
        return said
    return said + Text(
        f" ({most.en}{ulps} ulp{'s' if ulps > 1 else ''})", f"（{most.zh}{' ' if most.zh else ''}{ulps} 个末位单位）"
    )


def _within(wrong: int, close: bool) -> Text:
    if wrong == 1:
        return (
            Text(", within the tolerance", "，在容差之内")
            if close
            else Text(", not within the tolerance", "，超出容差")
        )
    if close:
        return Text(", all within the tolerance", "，都在容差之内")
    return Text(", not all within the tolerance", "，有的超出容差")


def _order(result: Result) -> Text:
    if "nan" in result["notes"]:
        return Text("; there is no order, since NaN has none.", "；排不出先后，因为 NaN 没有大小。")
    if result["same_order"]:
        return Text("; the order is the same.", "；排序不变。")
    return Text("; the order changes.", "；排序变了。")


def drawing(params: Params, result: Result) -> Drawing:
    """For each place how many tolerances the two numbers are apart, on a log scale over the lane of equal ones."""
    rounded, count = rounding(params["dtype"]), len(params["a"])
    shares = [_share(rounded(a), rounded(b), params) for a, b in zip(params["a"], params["b"], strict=True)]
    logs = [math.log10(share) for share in shares if 0 < share < math.inf]
    low = max(min([math.floor(at) for at in logs], default=-1), -20) if logs else -1
    y = Scale(min(low, -1), min(max([math.ceil(at) for at in logs] + [1]), 20), 150, 62)
    x = Scale(-0.5, count - 0.5, 122, 548)
    bits = params["a"], params["b"]
    shapes: list[Shape] = [Box(122, y(0), 426, 176 - y(0), "soft"), Line(((122, y(0)), (548, y(0))), "grid")]
    first = result["first_mismatch"]
    for at, share in enumerate(shares):
        close = share <= 1
        role: Role = "a" if close else "b"
        if share == 0:
            high = 176.0
        elif math.isfinite(share):
            high = y(math.log10(share))
            shapes.append(Line(((x(at), 176), (x(at), high)), role))
        else:
            high = 42.0
        stored = [full(shortest(rounded(side[at]), params["dtype"])) for side in bits]
        title = alike(f"[{at}]  {stored[0]}  /  {stored[1]}")
        marked: Role = "mark" if first and first["index"] == at else role
        shapes.append(Dot(x(at), high, marked, 4.5 if count <= 24 else 2.5, title))
    labels = [
        Label(112, y(0) + 4, Text("tolerance", "容差"), "end"),
        Label(112, 180, Text("equal", "相等"), "end"),
    ]
    if any(math.isnan(share) or share == math.inf for share in shares):
        labels.append(Label(112, 46, alike("NaN, ∞"), "end"))
    labels += [
        Label(112, y(tick) + 4, tick_words(10.0**tick), "end") for tick in ticks(y.low, y.high, 4) if tick == int(tick)
    ]
    labels += [Label(x(at), 202, alike(str(int(at))), "middle") for at in ticks(0, count - 1, 6) if at == int(at)]
    labels.append(Label(548, 226, Text("index; height: distance in tolerances", "序号；高度：距离是容差的几倍"), "end"))
    keys: tuple[tuple[Role, Text], ...] = (
        ("a", Text("close", "接近")), ("b", Text("too far", "太远")), ("mark", Text("first mismatch", "首个差异")),
    )  # fmt: skip
    shapes += [*legend(keys, 40, 14), *clear(labels, 560)]
    return Drawing(560, 232, tuple(shapes), _spoken(result, count))


def _share(a: float, b: float, params: Params) -> float:
    """The distance in tolerances: at most 1 is close."""
    distance, allowed = absolute(a, b), params["atol"] + params["rtol"] * abs(b)
    if distance == 0 or not math.isfinite(distance):
        return distance
    return max(distance / allowed, 1e-300) if allowed else math.inf


def _spoken(result: Result, count: int) -> Text:
    yes = {True: Text("yes", "是"), False: Text("no", "否")}
    bits, close, order = (yes[result[level]] for level in ("bitwise", "close", "same_order"))
    return Text(
        f"{count} pairs; same bits: {bits.en}, close: {close.en}, same order: {order.en}",
        f"{count} 对数；逐位一致：{bits.zh}，数值接近：{close.zh}，排序一致：{order.zh}",
    )


def table(params: Params, result: Result) -> Table:
    """Number by number; what is stored is written in as few digits as the format needs to read it back."""
    dtype, rtol, atol = params["dtype"], params["rtol"], params["atol"]
    rounded = rounding(dtype)
    pairs = [(rounded(a), rounded(b)) for a, b in zip(params["a"], params["b"], strict=True)]
    columns = (
        Column("index", Text("index", "序号")),
        Column("a", Text("actual", "实际"), every_digit=True),
        Column("b", Text("expected", "预期"), every_digit=True),
        Column("distance", Text("distance", "距离")),
        Column("ulps", Text("ulps", "末位单位")),
        Column("bitwise", Text("bits", "逐位一致")),
        Column("close", Text("close", "接近")),
    )
    rows = tuple(
        (
            at, shortest(a, dtype), shortest(b, dtype), absolute(a, b), steps(a, b, dtype),
            same_bits(a, b), is_close(a, b, rtol, atol),
        )
        for at, (a, b) in enumerate(pairs)
    )  # fmt: skip
    first = result["first_mismatch"]
    return Table(Text("Number by number", "逐个对比"), columns, rows, marked=first and first["index"])


def check(params: Params, given: Mapping[str, str]) -> tuple[Problem, ...]:
    wanted, found = len(params["a"]), len(params["b"])
    if wanted == found:
        return ()
    message = Text(
        f"needs as many numbers as a: {wanted}, not {found}", f"要和 a 一样多：{wanted} 个，而不是 {found} 个"
    )
    return (Problem("b", ", ".join(map(full, params["b"])), message),)


def _default(at: int) -> Derived:
    return Derived(lambda values: tolerances(values["dtype"])[at], Text("as assert_close", "同 assert_close"))


EXPERIMENT = Experiment(
    name="agreement",
    title=Text("Three levels of agreement", "一致的三个层次"),
    summary=Text(
        "Two lists of numbers: the same in every bit, close within a tolerance, or only in the same order?",
        "两组数：逐位一致，在容差内接近，还是只有排序一致？",
    ),
    exact=True,
    parameters=(
        Numbers(
            name="a",
            label=Text("actual", "实际值"),
            default=(0.1 + 0.2, 1.0, 2.0),
            least=1,
            most=64,
            allow_special=True,
        ),
        Numbers(
            name="b", label=Text("expected", "预期值"), default=(0.3, 1.0, 2.0), least=1, most=64, allow_special=True
        ),
        DTYPE,
        Number(
            name="rtol",
            label=Text("relative tolerance", "相对容差"),
            default=_default(0),
            low=0,
            high=1e300,
            together="atol",
        ),
        Number(
            name="atol",
            label=Text("absolute tolerance", "绝对容差"),
            default=_default(1),
            low=0,
            high=1e300,
            together="rtol",
        ),
    ),
    run=agreement,
    code=(layout, rounding, ordinal, same_bits, is_close, absolute, relative, steps, largest, same_order),
    check=check,
    presets=(
        Preset(alike("0.1 + 0.2, 0.3"), {}),
        Preset(
            Text("one ulp apart", "差一个末位单位"),
            {"a": "2.301,2.288,2.32", "b": "2.3010003,2.288,2.32", "dtype": "float32"},
        ),
        Preset(
            Text("close, another order", "接近，排序却变了"),
            {"a": "0.7312,0.73121", "b": "0.73121,0.7312", "dtype": "float32"},
        ),
        Preset(Text("not close, same order", "不接近，排序不变"), {"a": "0.912,0.887,0.934", "b": "0.905,0.871,0.941"}),
        Preset(Text("tiny gradients", "极小的梯度"), {"a": "9e-6", "b": "1e-6", "dtype": "float32"}),
        Preset(alike("0, −0, NaN"), {"a": "0,1,nan", "b": "-0,1,nan"}),
    ),
    sentence=sentence,
    drawing=drawing,
    table=table,
)
