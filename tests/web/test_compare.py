"""Two traces compared over HTTP: the page, its report, the examples, and the same for programs."""

import asyncio
import gzip
import http.client
import json
import multiprocessing
import os
import resource
import signal
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import httpx
import jsonschema_rs
import pytest
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import Message

from app.language import LANGUAGES
from app.traces import examples
from app.traces.hints import CONCEPTS, NOISY, TABLE
from app.traces.question import READ, answer
from app.web.uploads import Stalled, received
from tests.conftest import served
from tests.traces.written import Record, changed, environment, model, run, step, trace
from tests.trials import apart
from tests.web.visits import ARTICLE, Page, garden

Parts = list[tuple[str, tuple[str, bytes]]]
WHOLE = examples.path(examples.WHOLE).read_bytes()
LOST = examples.path("lost-optimizer").read_bytes()
PLACES = {
    "clean-resume": (None, None, set()),
    "lost-optimizer": ("optimizer", 6, {"optimizer-fresh"}),
    "rate-one-step": ("control", 7, {"rate-for-one-step"}),
    "lost-generator": ("rng", 7, {"generator-first"}),
    "lost-position": ("batch", 7, {"batches-repeat"}),
    "not-divided": ("grad", 1, {"gradient-by-the-accumulation-count", "gradient-by-a-power-of-two"}),
}
"""What was done to each example decides where it parts."""


def packed(records: list[Record]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in records).encode()


def parts(a: bytes = WHOLE, b: bytes = LOST, names: tuple[str, str] = ("a.jsonl", "b.jsonl")) -> Parts:
    return [("a", (names[0], a)), ("b", (names[1], b))]


@pytest.fixture(scope="module")
def small() -> Iterator[TestClient]:
    """A garden that takes traces of 1 MB, and eight times as much unpacked."""
    with garden(trace_limit=1, fails=False) as client:
        yield client


# The answer


@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_each_example_parts_where_something_was_done_to_it(site: TestClient, name: str) -> None:
    told = site.post("/api/compare", files=parts(b=examples.path(name).read_bytes()))
    assert told.status_code == 200
    found, (stage, number, hints) = told.json(), PLACES[name]
    first = found["first_difference"] or {}
    assert (first.get("stage"), first.get("optimizer_step")) == (stage, number)
    assert {hint["hint"] for hint in found["hints"]} == hints
    assert (found["level"], found["holds"]) == (("bitwise", True) if stage is None else ("different", False))


def test_programs_and_the_command_get_the_same_json(site: TestClient) -> None:
    told = site.post(
        "/api/compare", files=parts(), data={"tolerance": ["loss=0.1,0", "grad=0.5,0"], "require": "close"}
    )
    found = answer([examples.path(examples.WHOLE)], [examples.path("lost-optimizer")])
    assert {**found.json(), "tolerances": 0, "require": 0} | {
        "stages": told.json()["stages"], "level": told.json()["level"]
    } == {**told.json(), "tolerances": 0, "require": 0}  # fmt: skip
    assert told.json()["tolerances"] == {"loss": [0.1, 0.0], "grad": [0.5, 0.0]}
    spaced = site.post("/api/compare", files=parts(), data={"tolerance": " loss = 0.1， 0  grad=0.5 ,0 "})
    assert spaced.json()["tolerances"] == told.json()["tolerances"]
    described = site.get("/api/openapi.json").json()
    schema = described["paths"]["/api/compare"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema_rs.validate(schema, told.json())


def test_files_of_a_resumed_run_are_spliced_and_noise_is_heard(site: TestClient) -> None:
    first = packed([trace(), environment(), model(), *[one for n in (1, 2, 3) for one in step(n)]])
    rest = packed([trace(), {"event": "resume", "step": 3, "from": "given"}, *[one for n in (4, 5) for one in step(n)]])
    other = packed(changed(run(5), "forward", 2, digest="0" * 32))
    sent: Parts = [("a", ("a.jsonl", packed(run(5)))), ("b", ("1.jsonl", first)), ("b", ("2.jsonl", rest))]
    found = site.post("/api/compare", files=sent).json()
    assert (found["level"], found["steps"]) == ("bitwise", 5)
    sent = [sent[0], *reversed(sent[1:])]  # as a browser sends `run-resumed.jsonl` and `run.jsonl`
    assert site.post("/api/compare", files=sent).json()["steps"] == 5
    noisy = site.post("/api/compare", files=[*parts(packed(run(5)), other), ("noise", ("c.jsonl", other))]).json()
    assert noisy["noise"]["explains"] is True
    assert [hint["hint"] for hint in noisy["hints"]] == ["noise"]


def test_a_rule_is_decided_over_all_files_of_a_side(site: TestClient) -> None:
    def lasting(value: float) -> bytes:
        return packed([one | ({"metrics": {"loss": value.hex()}} if one["event"] == "eval" else
                              {"loss": value.hex()} if one["event"] == "loss" else {}) for one in run(2)])  # fmt: skip

    sent: Parts = [
        (side, (f"{side}{i}.jsonl", lasting(base + i))) for side, base in (("a", 4.0), ("b", 1.0)) for i in range(2)
    ]
    asked = {"rule": "valid/loss: A − B > 2 over ≥ 2 seeds", "require": "conclusion"}
    found = site.post("/api/compare", files=sent, data=asked).json()
    assert (found["holds"], found["conclusion"]["verdict"], found["conclusion"]["a"]) == (True, "holds", [4.0, 5.0])
    page = Page(site.post("/zh/compare", files=sent, data=asked).text)
    assert page.one("p", **{"class": "verdict conclusion"}).text == (
        "≈规则成立。两次运行在第 1 步分开，最先不同的是 loss。达到了所要求的“结论成立”"
    )


def test_names_of_files_lead_nowhere(site: TestClient, tmp_path: Path) -> None:
    for name in ("../../../etc/passwd", "/etc/passwd", "..", "a/b\\c.jsonl", "轨迹 一.jsonl", "x" * 400, "read"):
        told = site.post("/api/compare", files=[("a", (name, WHOLE)), ("a", (name, b"no trace")), ("b", ("b", LOST))])
        assert told.status_code == 400, name
        (problem,) = told.json()["problems"]
        assert problem["message"].startswith("a/2-" if name != "read" else "a/2-read"), problem


def test_nothing_of_what_was_sent_is_kept(site: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for sent in (parts(), parts(b=b"no trace"), parts(b=LOST[:40]), parts()[:1]):
        site.post("/api/compare", files=sent)
    assert list(tmp_path.iterdir()) == []


# What is wrong with it

UNREADABLE = {
    "empty": b"",
    "not JSON": b"step,loss\n1,0.5\n",
    "binary": bytes(range(256)) * 40,
    "another schema": WHOLE.replace(b'"schema":1', b'"schema":2', 1),
    "torn in the middle": WHOLE[:2000] + b"\n" + WHOLE[3000:],
    "shuffled": b"".join([*WHOLE.splitlines(True)[:3], *reversed(WHOLE.splitlines(True)[3:])]),
    "an array": b"[1, 2]\n",
    "deep": b"[" * 100_000,
    "other text": WHOLE.decode().encode("utf-16"),
}


def test_places_in_the_files_do_not_name_the_folder_of_the_server(site: TestClient) -> None:
    """The last line is torn, and the run stands twice in the file."""
    lines = WHOLE.count(b"\n")
    told = site.post("/api/compare", files=parts(WHOLE, WHOLE + WHOLE[:-9])).json()
    assert (told["anew"], told["torn"]) == ([f"b/b.jsonl:{lines + 1}"], [f"b/b.jsonl:{2 * lines}"])


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("side", ["a", "b", "noise"])
def test_what_is_no_trace_is_named(site: TestClient, name: str, side: str) -> None:
    sent = [*parts(), ("noise", ("noise.jsonl", WHOLE))]
    sent = [(field, ("bad.jsonl", UNREADABLE[name]) if field == side else file) for field, file in sent]
    told = site.post("/api/compare", files=sent)
    assert (told.status_code, told.json()["error"]) == (400, "unreadable")
    (problem,) = told.json()["problems"]
    assert problem["message"].startswith(f"{side}/bad.jsonl"), problem


def test_runs_that_have_nothing_in_common_are_refused(site: TestClient) -> None:
    other = packed([trace(), environment(), model("other"), *step(1)])
    assert site.post("/api/compare", files=parts(b=other)).status_code == 409
    apart = packed([trace(), environment(), model(), *step(9)])
    told = site.post("/api/compare", files=parts(packed(run(3)), apart), headers={"Accept-Language": "zh"})
    assert (told.status_code, told.json()["error"]) == (409, "incomparable")
    assert told.json()["message"] == "这两次运行无法比较"


@pytest.mark.parametrize(
    ("files", "data", "parameters"),
    [
        ([], {}, ["a", "b"]),
        (parts()[:1], {}, ["b"]),
        (parts(), {"require": "nearly"}, ["require"]),
        (parts(), {"require": "close"}, ["tolerance"]),
        (parts(), {"tolerance": "rng=1,1"}, ["tolerance"]),
        (parts(), {"rule": "A wins", "colour": "red"}, ["colour", "rule"]),
        (
            parts()[:1],
            {"tolerance": "x=1,1 loss=1,1 loss=2,2 grad=inf,0", "rule": "A wins", "require": "nearly"},
            ["b", "require", "tolerance", "tolerance", "tolerance", "rule"],
        ),
    ],
)
def test_every_field_that_cannot_be_used_is_listed(
    site: TestClient, files: Parts, data: dict[str, str], parameters: list[str]
) -> None:
    sent = files or [("", ("", b""))]
    told = site.post("/api/compare", files=sent if files else [("nothing", (None, b""))], data=data)
    assert told.status_code == 422
    found = [problem["parameter"] for problem in told.json()["problems"]]
    assert [name for name in found if name != "nothing"] == parameters


@pytest.mark.parametrize("content", ["application/json", "multipart/form-data", "multipart/form-data; boundary=x"])
def test_a_body_that_is_no_form_says_so(site: TestClient, content: str) -> None:
    told = site.post("/api/compare", content=b'{"a": 1}', headers={"Content-Type": content})
    assert (told.status_code, told.json()["error"]) == (400, "no_form")


def test_a_form_without_end_or_with_parts_without_number_is_refused(site: TestClient) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="c"\r\n\r\n1\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    assert site.post("/api/compare", content=head, headers=kind).status_code == 400
    assert site.post("/api/compare", content=head * 400 + b"--x--\r\n", headers=kind).status_code == 400
    long = head.replace(b"1\r\n", b"1" * 10_000 + b"\r\n") + b"--x--\r\n"
    assert site.post("/api/compare", content=long, headers=kind).status_code == 400


def test_what_is_wrong_with_a_form_is_said_in_the_language_that_was_asked_for(site: TestClient) -> None:
    kind = {"Content-Type": "multipart/form-data; boundary=x", "Accept-Language": "zh"}
    told = site.post("/api/compare", content=b"--x\r\nName: c\r\n\r\n1\r\n--x--\r\n", headers=kind)
    assert told.json()["problems"] == [{"parameter": "form", "given": "", "message": "有一个部分没有名字"}]
    told = site.post("/api/compare", content=b"something else", headers=kind)
    assert told.json()["problems"][0]["message"].startswith("无法读懂其中的各部分：")


@pytest.mark.parametrize("address", ["/api/compare", "/en/compare"])
def test_a_disk_without_room_is_said(
    site: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """A folder that is not there is refused as a full one is."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    told = site.post(address, files=parts(), headers={"Accept-Language": "zh"})
    assert told.status_code == 503
    assert ("服务器此刻放不下这些文件" if "api" in address else "There is no room here for these files") in told.text


def test_a_disk_that_fills_while_files_arrive_is_said(site: TestClient) -> None:
    """The system refuses a process files beyond its limit as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, before[1]))
    try:
        told = site.post("/api/compare", files=parts())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (told.status_code, told.json()["error"]) == (503, "no_room")
    assert site.post("/api/compare", files=parts()).status_code == 200


async def stalls(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
    await asyncio.sleep(60)


def test_a_sender_that_stops_in_the_middle_gives_its_place_back(tmp_path: Path) -> None:
    body = stalls(b'--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n', b"one", b"two")

    async def receive() -> Message:
        return {"type": "http.request", "body": await anext(body), "more_body": True}

    headers = [(b"content-type", b"multipart/form-data; boundary=x")]
    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)

    async def sending() -> None:
        with pytest.raises(Stalled):
            await received(request, tmp_path, ["a"], patience=0.05)

    apart(sending())


def test_more_than_the_limit_is_refused_packed_or_not(small: TestClient) -> None:
    assert small.post("/api/compare", files=parts()).status_code == 200
    assert small.post("/api/compare", files=parts(a=WHOLE + b"\n" * (1 << 20))).status_code == 413
    page = small.post("/en/compare", files=parts(a=WHOLE + b"\n" * (1 << 20)))
    assert page.status_code == 413
    last = WHOLE.splitlines(True)[-1]
    bomb = gzip.compress(WHOLE + last * ((9 << 20) // len(last)))
    assert len(bomb) < 1 << 20
    told = small.post("/api/compare", files=parts(a=bomb, names=("a.jsonl.gz", "b.jsonl")))
    assert (told.status_code, told.json()["error"]) == (413, "too_large")
    assert small.post("/api/compare", files=parts()).status_code == 200


@pytest.fixture(scope="module")
def long() -> dict[str, tuple[str, bytes]]:
    """Traces that take a second or two, packed so that they are sent in less."""
    records = run(24_000)
    sides = {"a": records, "b": changed(records, "loss", 2, loss="nan")}
    return {side: (f"{side}.jsonl.gz", gzip.compress(packed(one), compresslevel=1)) for side, one in sides.items()}


QUICK = {"a": ("a.jsonl", packed(run(2))), "b": ("b.jsonl", packed(run(2)))}


def test_more_at_once_than_there_is_room_for_are_told_to_come_back(long: dict[str, tuple[str, bytes]]) -> None:
    """And the garden answers all the while; what is stopped at its time limit harms nobody."""
    with served(comparisons=1, comparison_time=0.5, client_slots=9) as address, httpx.Client(timeout=60) as client:
        told: list[httpx.Response] = []

        def send() -> None:
            told.append(client.post(f"{address}/api/compare", files=long))

        senders = [threading.Thread(target=send) for _ in range(4)]
        for sender in senders:
            sender.start()
        assert client.get(f"{address}/en/compare").status_code == 200
        for sender in senders:
            sender.join()
        assert {answered.status_code for answered in told} <= {503, 504}
        assert all(answered.headers["retry-after"] for answered in told if answered.status_code == 503)
        assert client.post(f"{address}/api/compare", files=QUICK).status_code == 200


@dataclass
class AtWork:
    """A comparison under way, and whom it is for."""

    worker: BaseProcess
    reader: http.client.HTTPConnection

    def alive(self) -> bool:
        """Asked of the system: the pool waits for its workers itself, so that others cannot."""
        try:
            os.kill(self.worker.pid or 0, 0)
        except ProcessLookupError:
            return False
        return True


@pytest.fixture
def at_work(long: dict[str, tuple[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AtWork]:
    """The long traces are being compared; afterwards others are still served."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with served(comparisons=1) as address, httpx.Client(timeout=60) as client:
        while client.get(f"{address}/readyz").status_code != 200:
            time.sleep(0.05)  # till the workers of experiments are up
        before = multiprocessing.active_children()
        place = f"{address}/api/compare"
        assert client.post(place, files=QUICK).status_code == 200
        (worker,) = (child for child in multiprocessing.active_children() if child not in before)
        sent = httpx.Request("POST", place, files=long)
        reader = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
        reader.request("POST", "/api/compare", sent.read(), dict(sent.headers))
        within(60, lambda: any(tmp_path.glob(f"perennial-*/{READ}")))
        yield AtWork(worker, reader)
        reader.close()
        assert client.post(place, files=QUICK).status_code == 200


def within(seconds: float, comes: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not comes():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_worker_that_is_killed_costs_its_reader_a_clear_answer(at_work: AtWork) -> None:
    at_work.worker.kill()
    with at_work.reader.getresponse() as answered:
        assert answered.status == 500


def test_a_comparison_that_nobody_waits_for_is_stopped(at_work: AtWork) -> None:
    os.kill(at_work.worker.pid or 0, signal.SIGSTOP)  # it does not come to an end by itself, after which it would stay
    at_work.reader.close()
    within(60, lambda: not at_work.alive())


# The page


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_form_answers_with_the_report_without_scripts(site: TestClient, language: str) -> None:
    empty: Parts = [("noise", ("", b""))]  # a browser sends a field in which no file was chosen
    told = site.post(
        f"/{language}/compare", files=[*parts(), *empty], data={"tolerance": "", "rule": "", "require": "bitwise"}
    )
    assert told.status_code == 200
    page = Page(told.text)
    first = page.one("li", **{"aria-current": "step"})
    assert "update" in [code.text for code in page.all("code")]
    assert ("they part here" if language == "en" else "从这里分开") in first.text
    assert len(page.all("svg", role="img")) == 2
    loaded = {
        "en": "6 · weights: bitwise equal; optimizer: different; ",
        "zh": "6 · weights：逐位相同；optimizer：不同；",
    }
    assert any(dd.text.startswith(loaded[language]) for dd in page.all("dd"))
    assert {"0.weight", "0.bias", "3.weight", "3.bias"} <= {code.text for code in page.all("code")}
    links = [href for href in page.hrefs() if "why-training-results-change#" in href]
    assert links and all(site.get(link.split("#")[0]).status_code == 200 for link in links)
    assert told.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(("loss", "hinted"), [(2.0, True), (0.7, False)])
def test_hints_are_spoken_of_where_there_are_some(site: TestClient, loss: float, hinted: bool) -> None:
    """Four times the loss is a known sign, 1.4 times is none."""
    other = packed(changed(run(3), "loss", 2, loss=loss.hex()))
    page = Page(site.post("/zh/compare", files=parts(packed(run(3)), other)).text)
    assert (len(page.all("ul", **{"class": "hints"})), "并不断定原因" in page.one("article").text) == (hinted, hinted)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_wrong_stands_above_the_form(site: TestClient, language: str) -> None:
    told = site.post(f"/{language}/compare", files=parts(b=b"no trace"))
    assert told.status_code == 400
    page = Page(told.text)
    assert "b/b.jsonl" in page.one("div", id="compare-status").text
    assert "`" not in page.one("div", id="compare-status").text
    assert "trace" in [code.text for code in page.all("code")]
    assert page.one("form", enctype="multipart/form-data").attributes["action"] == f"/{language}/compare"


def test_a_page_with_scripts_follows_the_comparison(site: TestClient) -> None:
    follows = {"Accept": "application/x-ndjson"}
    told = site.post("/zh/compare", files=parts(), headers=follows)
    *progress, last = [json.loads(line) for line in told.text.splitlines()]
    assert last["status"] == 200 and 'data-level="different"' in last["html"]
    assert all(line["read"] <= line["of"] == len(WHOLE) + len(LOST) for line in progress)
    wrong = site.post("/zh/compare", files=parts(b=b"no trace"), headers=follows)
    *_, line = [json.loads(line) for line in wrong.text.splitlines()]
    assert line["status"] == 400 and "b/b.jsonl" in line["html"]
    early = site.post("/zh/compare", files=parts()[:1], headers=follows)
    assert early.status_code == 422 and "<html" not in early.text and "运行 B" in early.text


def test_hostile_values_come_out_harmless(site: TestClient) -> None:
    evil = "<script>alert(1)</script>\"'>`x`"
    records = [trace(), environment(), model(), *step(1), *step(2)]
    other = [trace(), environment(torch=evil), model(), *changed([*step(1), *step(2)], "batch", 2, ids=[evil])]
    told = site.post("/en/compare", files=parts(packed(records), packed(other), ("a", f"{evil}.jsonl")))
    assert told.status_code == 200
    assert "<script>alert" not in told.text
    assert "&lt;script&gt;alert" in told.text


def test_traces_schema_and_recorder_are_published(site: TestClient) -> None:
    schema = site.get("/traces/schema.json")
    assert schema.headers["content-type"].startswith("application/schema+json")
    valid = jsonschema_rs.validator_for(schema.json())
    for name in examples.TRACES:
        told = site.get(f"/traces/{name}.jsonl")
        assert all(valid.is_valid(json.loads(line)) for line in told.text.splitlines())
    assert site.get("/traces/nothing.jsonl").status_code == 404
    assert site.get("/en/compare/nothing").status_code == 404


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_hint_leads_to_a_concept_that_the_article_explains(site: TestClient, language: str) -> None:
    assert CONCEPTS.keys() == {hint.name for hint in (*TABLE, NOISY)}
    for concept in set(CONCEPTS.values()):
        page = Page(site.get(f"/{language}/concepts/{concept}").text)
        assert any(href.startswith(f"/{language}/{ARTICLE}#") for href in page.hrefs()), concept
