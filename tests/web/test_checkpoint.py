"""A checkpoint leaves the momentum widget as a file and comes back."""

import json
import pickle
import struct
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tests.web.visits import Page

GOOD = {"step": 2, "w": 0.28, "v": -1.8, "lr": 0.1, "beta": 0.9, "target": 1.0}
PLACE = "/en/widgets/momentum/checkpoint"
WAYS = ("file", "pasted", "json")


def without(name: str) -> str:
    return json.dumps({key: value for key, value in GOOD.items() if key != name})


def changed(**values: object) -> str:
    return json.dumps(GOOD | values)


def sent(site: TestClient, content: str | bytes, way: str = "pasted", place: str = PLACE):  # type: ignore[no-untyped-def]
    body = content if isinstance(content, bytes) else content.encode()
    if way == "file":
        return site.post(place, files={"file": ("checkpoint.json", body, "application/json")}, data={"text": ""})
    if way == "pasted":
        return site.post(place, data={"text": body.decode("utf-8", "replace")})
    return site.post(place, content=body, headers={"Content-Type": "application/json"})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "query", ["", "?lr=0.07&beta=0.95&target=-3&steps=40&save_after=17", "?save_after=0", "?steps=500&save_after=499"]
)
def test_a_checkpoint_that_comes_back_resumes_the_very_run(
    site: TestClient, way: str, language: str, query: str
) -> None:
    place = f"/{language}/widgets/momentum/checkpoint"
    file = site.get(f"{place}{query}")
    saved = file.json()
    assert list(saved) == ["step", "w", "v", "lr", "beta", "target"]
    assert file.headers["content-disposition"] == f'attachment; filename="checkpoint-step-{saved["step"]}.json"'
    answer = sent(site, file.content, way, place)
    assert answer.status_code == 303
    path, _, state = answer.headers["location"].partition("?")
    assert path == f"/{language}/widgets/momentum"
    assert site.get(answer.headers["location"]).status_code == 200
    told = site.get(f"/api/widgets/momentum?{state}").json()
    assert told["params"]["restored"] == [saved["w"], saved["v"]]
    assert told["params"]["save_after"] == saved["step"]
    assert told["result"]["first_difference"] is None
    assert told["result"]["checkpoint"] == saved
    assert told["result"]["final_gap"] == 0


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(w=st.floats(allow_nan=False, allow_infinity=False), v=st.floats(allow_nan=False, allow_infinity=False))
def test_every_bit_of_a_checkpoint_survives_the_trip(site: TestClient, w: float, v: float) -> None:
    answer = sent(site, changed(w=w, v=v), "json")
    assert answer.status_code == 303
    restored = dict(parse_qsl(urlsplit(answer.headers["location"]).query))["restored"].split(",")
    assert [struct.pack("d", float(text)) for text in restored] == [struct.pack("d", w), struct.pack("d", v)]
    told = site.get(f"/api/widgets/momentum?{urlsplit(answer.headers['location']).query}").json()
    assert [struct.pack("d", number) for number in told["params"]["restored"]] == [
        struct.pack("d", w),
        struct.pack("d", v),
    ]


def test_a_byte_order_mark_is_no_fault(site: TestClient) -> None:
    for way in WAYS:
        assert sent(site, "\ufeff" + changed(), way).status_code == 303


def test_whole_numbers_may_be_written_either_way(site: TestClient) -> None:
    assert sent(site, changed(step=2.0, w=1, target=1)).status_code == 303


@pytest.mark.parametrize(
    ("content", "field", "english", "chinese"),
    [
        ("", "file", "is empty", "是空的"),
        ("  \n", "file", "is empty", "是空的"),
        ("w = 0.28", "file", "is not JSON, line 1", "不是 JSON（第 1 行）"),
        (changed()[:-1], "file", "is not JSON, line 1", "不是 JSON"),
        ("[1, 2]", "file", "not an object with fields", "不是带字段的对象"),
        ("0.28", "file", "not an object with fields", "不是带字段的对象"),
        ("PK\x03\x04", "file", "is a zip archive, as torch.save writes", "torch.save"),
        (without("v"), "v", "is missing", "缺失"),
        (without("step"), "step", "is missing", "缺失"),
        (changed(v=None), "v", "must be a number", "必须是数"),
        (changed(v="-1.8"), "v", "must be a number", "必须是数"),
        (changed(w=True), "w", "must be a number", "必须是数"),
        (changed(w=[0.28]), "w", "must be a number", "必须是数"),
        (changed(w=float("nan")), "w", "must be finite", "必须是有限的数"),
        (changed(w=10**400), "w", "must be finite", "必须是有限的数"),
        (changed(step=2.5), "step", "needs a whole number", "需要整数"),
        (changed(step=-1), "step", "must be from 0 to 499", "必须在 0 到 499 之间"),
        (changed(lr=3), "lr", "must be above 0 and at most 2", "必须大于 0，且不大于 2"),
        (changed(beta=1), "beta", "must be at least 0 and below 1", "必须不小于 0，且小于 1"),
        (changed(scheduler={"last_epoch": 3}), "scheduler", "is not part of this run's state", "不属于这次训练的状态"),
        ('{"\\ud800": 1, ' + changed()[1:], "\ufffd", "is not part of this run's state", "不属于这次训练的状态"),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_file_that_cannot_be_resumed_from_is_explained(
    site: TestClient, content: str, field: str, english: str, chinese: str, language: str
) -> None:
    answer = sent(site, content, "json", f"/{language}/widgets/momentum/checkpoint")
    assert answer.status_code == 422
    page = Page(answer.text)
    assert page.wrong == []
    (item,) = [one for one in page.all("li") if one.text.startswith(field)]
    assert (english if language == "en" else chinese) in item.text
    assert f"/{language}/widgets/momentum" in list(page.hrefs())
    assert page.one("h1").text == ("This file cannot be resumed from" if language == "en" else "无法从这个文件恢复")


def test_a_foreign_file_is_explained_field_by_field(site: TestClient) -> None:
    answer = sent(site, json.dumps({"model": {"w": 1}, "optimizer": {}, "epoch": 3, "lr": 9}))
    told = [one.text.split()[0] for one in Page(answer.text).all("li") if "q" not in one.inside]
    assert {"model", "optimizer", "epoch", "step", "w", "v", "lr", "beta", "target"} == set(told)


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04" + bytes(range(256)),
        pickle.dumps({"w": 0.28}),
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xfe{\x00}\x00",
        b"[" * 30000,
        b'{"a":' * 9000,
    ],
    ids=["zip", "pickle", "png", "utf-16", "lists", "records"],
)
@pytest.mark.parametrize("way", ["file", "json"])
def test_bytes_of_any_kind_are_explained(site: TestClient, content: bytes, way: str) -> None:
    answer = sent(site, content, way)
    assert answer.status_code == 422
    (item,) = [one for one in Page(answer.text).all("li")]
    assert item.text.startswith("file")
    assert all(sign.isprintable() or sign == "\n" for sign in answer.text)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("language", "words"), [("en", "This file is too large"), ("zh", "文件太大")])
def test_a_file_beyond_the_limit_is_refused(site: TestClient, way: str, language: str, words: str) -> None:
    answer = sent(site, " " * (64 * 1024) + changed(), way, f"/{language}/widgets/momentum/checkpoint")
    assert answer.status_code == 413
    assert words in answer.text


def test_a_form_that_cannot_be_read_is_refused(site: TestClient) -> None:
    answer = site.post(PLACE, content=b"--x", headers={"Content-Type": "multipart/form-data"})
    assert answer.status_code == 400
    assert "This request cannot be read" in answer.text


def test_a_form_with_nothing_in_it_says_so(site: TestClient) -> None:
    answer = site.post(PLACE, files={"file": ("", b"")}, data={"text": ""})
    assert answer.status_code == 422
    assert "choose a file or paste its text" in answer.text


def test_only_momentum_has_checkpoints(site: TestClient) -> None:
    assert site.get("/en/widgets/summation/checkpoint").status_code == 404
    assert sent(site, changed(), place="/en/widgets/summation/checkpoint").status_code == 404
    assert site.get(f"{PLACE}?beta=2").status_code == 422
