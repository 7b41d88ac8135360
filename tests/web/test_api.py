"""The contract of the JSON: names, values, provenance, problems."""

import json
import math
import platform
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.web.queries import pairs
from tests.conftest import CONTENT
from tests.web.visits import NAMES

PARAMETERS = {
    "momentum": "lr beta target w0 v0 steps save_after restore resumed_target resumed_lr restored",
    "summation": "terms dtype",
    "accumulation": "n distribution seed dtype shuffles",
    "microbatch": "counts losses ranks",
    "agreement": "a b dtype rtol atol",
}
RESULTS = {
    "momentum": "uninterrupted resumed checkpoint first_difference final_gap",
    "summation": "left_to_right right_to_left ways sums exact nearest",
    "accumulation": "reference algorithms orders",
    "microbatch": "unweighted_mean token_mean rank_mean difference batches same_objective",
    "agreement": "bitwise close same_order max_abs max_rel max_ulps mismatches first_mismatch notes",
}


def state(site: TestClient, address: str) -> Any:
    answer = site.get(f"/api/widgets/{address}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def problems(site: TestClient, address: str, language: str = "en") -> list[dict[str, str]]:
    answer = site.get(f"/api/widgets/{address}", headers={"Accept-Language": language})
    assert answer.status_code == 422
    told = answer.json()
    assert told["error"] == "invalid_parameters"
    assert all(set(problem) == {"parameter", "given", "message"} for problem in told["problems"])
    found: list[dict[str, str]] = told["problems"]
    return found


# Fields


@pytest.mark.parametrize("name", NAMES)
def test_a_state_has_the_fields_of_the_contract(site: TestClient, name: str) -> None:
    told = state(site, name)
    assert list(told) == ["widget", "params", "result", "provenance"]
    assert told["widget"] == name
    assert sorted(told["params"]) == sorted(PARAMETERS[name].split())
    assert sorted(told["result"]) == sorted(RESULTS[name].split())


def test_the_defaults_are_those_of_the_design(site: TestClient) -> None:
    assert state(site, "momentum")["params"] == {
        "lr": 0.1,
        "beta": 0.9,
        "target": 1.0,
        "w0": 0.0,
        "v0": 0.0,
        "steps": 12,
        "save_after": 2,
        "restore": "full",
        "resumed_target": 1.0,
        "resumed_lr": 0.1,
        "restored": None,
    }
    params = state(site, "accumulation?shuffles=20")["params"]
    assert (params["n"], params["distribution"], params["seed"], params["shuffles"]) == (10000, "uniform", 0, 20)
    params = state(site, "microbatch")["params"]
    assert (params["counts"], params["losses"], params["ranks"]) == ([10, 30], [0.2, 1.0], 1)


def test_what_follows_another_parameter_is_shown_resolved(site: TestClient) -> None:
    params = state(site, "momentum?target=3&lr=0.2")["params"]
    assert (params["resumed_target"], params["resumed_lr"]) == (3.0, 0.2)
    assert state(site, "momentum?target=3&resumed_target=2")["params"]["resumed_target"] == 2.0
    tolerances = state(site, "agreement?a=1&b=1&dtype=float32")["params"]
    assert (tolerances["rtol"], tolerances["atol"]) == (1.3e-6, 1e-5)  # the documentation of assert_close


def test_momentum_gives_the_numbers_of_the_article(site: TestClient) -> None:
    result = state(site, "momentum?restore=weights")["result"]
    assert [one["step"] for one in result["uninterrupted"]] == list(range(13))
    assert [one["step"] for one in result["resumed"]] == list(range(2, 13))
    assert result["uninterrupted"][2] == {"step": 2, "w": 0.28, "v": -1.8}
    assert result["uninterrupted"][3]["w"] == 0.514
    assert result["resumed"][0] == {"step": 2, "w": 0.28, "v": 0.0}
    assert result["resumed"][1]["w"] == 0.35200000000000004
    assert result["checkpoint"] == {"step": 2, "w": 0.28, "v": -1.8, "lr": 0.1, "beta": 0.9, "target": 1.0}
    assert result["first_difference"] == {"step": 2, "quantity": "v"}
    assert result["final_gap"] == result["resumed"][-1]["w"] - result["uninterrupted"][-1]["w"]
    assert state(site, "momentum?resumed_target=2")["result"]["resumed"][1]["w"] == 0.6140000000000001
    assert state(site, "momentum")["result"]["first_difference"] is None


def test_summation_tells_both_sums_of_the_article(site: TestClient) -> None:
    result = state(site, "summation?terms=1e16,-1e16,1")["result"]
    assert (result["left_to_right"], result["ways"], result["exact"], result["nearest"]) == (1.0, 3, "1", 1.0)
    assert [(one["value"], one["ways"]) for one in result["sums"]] == [(0.0, 2), (1.0, 1)]
    assert all(list(one) == ["value", "ways", "ulps_off", "example"] for one in result["sums"])
    assert [one["ulps_off"] for one in result["sums"]] == [-(2.0**52), 0.0]  # ulps of 1 are 2⁻⁵²
    assert all(eval(one["example"]) == one["value"] for one in result["sums"])


def test_microbatch_tells_both_means_of_the_article(site: TestClient) -> None:
    result = state(site, "microbatch")["result"]
    assert (result["unweighted_mean"], result["token_mean"], result["same_objective"]) == (0.6, 0.8, False)
    assert result["difference"] == result["unweighted_mean"] - result["token_mean"]
    assert [set(one) for one in result["batches"]] == [{"count", "loss", "token_weight_unweighted", "token_weight"}] * 2
    assert [one["token_weight_unweighted"] for one in result["batches"]] == [0.05, 0.5 / 30]
    assert [one["token_weight"] for one in result["batches"]] == [0.025, 0.025]


def test_agreement_tells_three_levels_apart(site: TestClient) -> None:
    result = state(site, "agreement?a=1,2,3&b=1,2,3")["result"]
    assert (result["bitwise"], result["close"], result["same_order"], result["mismatches"]) == (True, True, True, 0)
    assert (result["first_mismatch"], result["notes"]) == (None, [])
    result = state(site, "agreement?a=1,5&b=1,2&rtol=0&atol=1")["result"]
    assert (result["bitwise"], result["close"], result["max_abs"], result["max_rel"]) == (False, False, 3.0, 1.5)
    assert result["first_mismatch"] == {"index": 1, "a": 5.0, "b": 2.0}


def test_accumulation_names_its_algorithms_and_its_orders(site: TestClient) -> None:
    result = state(site, "accumulation?n=50&shuffles=5&dtype=float32")["result"]
    names = ["left_to_right", "reversed", "ascending", "pairwise", "kahan", "neumaier", "torch"]
    assert [one["name"] for one in result["algorithms"]] == names
    assert all(set(one) == {"name", "value", "ulps_off"} for one in result["algorithms"])
    assert set(result["orders"]) == {"distinct", "min", "max", "spread_ulps", "histogram"}
    assert state(site, "accumulation?n=50&shuffles=0")["result"]["orders"] is None


def test_numbers_that_are_not_finite_are_strings(site: TestClient) -> None:
    text = site.get("/api/widgets/agreement?a=3,inf,-inf&b=nan,1,1").text
    told = json.loads(text, parse_constant=lambda name: pytest.fail(f"a bare {name}"))
    assert (told["params"]["a"], told["params"]["b"]) == ([3.0, "Infinity", "-Infinity"], ["NaN", 1.0, 1.0])
    assert told["result"]["first_mismatch"] == {"index": 0, "a": 3.0, "b": "NaN"}
    assert state(site, "agreement?a=inf&b=1")["result"]["max_abs"] == "Infinity"


@pytest.mark.parametrize("written", ["0.1", "0.30000000000000004", "5e-324", "2e-07", "1.9999999999999998"])
def test_a_number_keeps_every_bit_and_no_digit_more(site: TestClient, written: str) -> None:
    text = site.get(f"/api/widgets/momentum?lr={written}").text
    assert f'"lr":{written},' in text


def test_provenance_says_where_a_result_comes_from(site: TestClient) -> None:
    own = state(site, "momentum")["provenance"]
    assert list(own) == ["python", "torch", "platform", "elapsed_ms", "version"]
    assert (own["python"], own["torch"], own["version"]) == (platform.python_version(), None, "0.1.0")
    assert own["elapsed_ms"] >= 0
    assert isinstance(own["platform"], str) and own["platform"]
    assert state(site, "accumulation?n=40")["provenance"]["torch"].startswith("2.13.0")


def test_a_result_on_record_says_so_in_its_provenance(site: TestClient) -> None:
    answer = site.get("/api/widgets/accumulation?dtype=float32")
    record = next(
        one
        for one in json.loads((CONTENT / "measured.json").read_text())["records"]
        if one["experiment"] == "accumulation"
    )
    provenance = answer.json()["provenance"]
    assert provenance["elapsed_ms"] is None
    assert provenance["platform"] == record["versions"].get("platform", record["processor"])
    assert (provenance["python"], provenance["torch"]) == (record["versions"]["python"], record["versions"]["torch"])
    assert "server-timing" not in answer.headers


def test_the_time_taken_is_in_a_header_too(site: TestClient) -> None:
    answer = site.get("/api/widgets/momentum?lr=0.123")
    assert answer.headers["server-timing"] == f"run;dur={answer.json()['provenance']['elapsed_ms']}"


def test_the_data_address_of_a_page_tells_the_same(site: TestClient) -> None:
    query = "momentum?restore=weights&beta=0.5"
    for language in ("en", "zh"):
        assert site.get(f"/{language}/widgets/{query.replace('?', '.json?')}").json() == state(site, query)


# Wrong input


@pytest.mark.parametrize(
    ("query", "parameter", "english", "chinese"),
    [
        ("momentum?beta=1.5", "beta", "must be at least 0 and below 1", "必须不小于 0，且小于 1"),
        ("momentum?lr=0", "lr", "must be above 0 and at most 2", "必须大于 0，且不大于 2"),
        ("momentum?steps=501", "steps", "must be from 1 to 500", "必须在 1 到 500 之间"),
        ("momentum?steps=2.5", "steps", "needs a whole number", "需要整数"),
        ("momentum?lr=fast", "lr", "is not a number", "不是数"),
        ("momentum?lr=", "lr", "is empty: type a number", "是空的：请填一个数"),
        ("momentum?lr=nan", "lr", "must not be NaN", "不能是 NaN"),
        ("momentum?target=-inf", "target", "must be finite", "必须是有限的数"),
        ("momentum?target=1e999", "target", "is beyond the largest float64", "超出 float64 的最大值"),
        ("momentum?steps=4&save_after=4", "save_after", "must be from 0 to 3", "必须在 0 到 3 之间"),
        ("momentum?restore=weight", "restore", "did you mean weights?", "是不是 weights？"),
        ("momentum?btea=0.5", "btea", "there is no such parameter; did you mean beta?", "没有这个参数；是不是 beta？"),
        ("momentum?lr=0.1&lr=0.2", "lr", "is given twice, with different values", "给了两次，而且值不同"),
        (
            "momentum?restored=1",
            "restored",
            "needs 2 numbers separated by commas; 1 given",
            "需要 2 个数，以逗号分隔；给了 1 个",
        ),
        ("summation?terms=1,2,3,4,5,6,7,8,9", "terms", "9 given", "给了 9 个"),
        ("summation?terms=1", "terms", "1 given", "给了 1 个"),
        ("summation?terms=1,x", "terms", "number 2 (x) is not a number", "第 2 个数（x）不是数"),
        ("summation?terms=1,70000&dtype=float16", "terms", "float16", "float16"),
        ("accumulation?n=100000&shuffles=21", "shuffles", "", ""),
        ("accumulation?n=1", "n", "must be from 2 to 100000", "必须在 2 到 100000 之间"),
        ("microbatch?counts=1,2,3", "losses", "", ""),
        ("microbatch?counts=0,2", "counts", "number 1 (0)", "第 1 个数（0）"),
        ("microbatch?ranks=3", "ranks", "", ""),
        ("agreement?a=1,2&b=1", "b", "", ""),
        ("agreement?rtol=0.1", "rtol", "needs atol beside it", "需要同时给出 atol"),
    ],
)
def test_a_wrong_value_is_explained_in_the_language_of_the_reader(
    site: TestClient, query: str, parameter: str, english: str, chinese: str
) -> None:
    (told,), (said,) = problems(site, query), problems(site, query, "zh-CN, en;q=0.5")
    assert told["parameter"] == said["parameter"] == parameter
    assert english in told["message"]
    assert chinese in said["message"]
    assert told["message"] != said["message"]
    assert told["given"] == said["given"]


def test_every_problem_is_listed_at_once(site: TestClient) -> None:
    told = problems(site, "momentum?beta=1.5&lr=x&steps=0&nothing=1&restore=all")
    assert {one["parameter"]: one["given"] for one in told} == {
        "beta": "1.5",
        "lr": "x",
        "steps": "0",
        "nothing": "1",
        "restore": "all",
    }


@pytest.mark.parametrize("written", ["%EF%BC%90%EF%BC%8E%EF%BC%95", "０．５", "+0.5", ".5", "5e-1", " 0.5 "])
def test_full_width_digits_and_other_spellings_are_simply_read(site: TestClient, written: str) -> None:
    assert state(site, f"momentum?beta={written}")["params"]["beta"] == 0.5
    assert state(site, "momentum?target=−２")["params"]["target"] == -2.0
    assert state(site, "summation?terms=１，２、３；４")["params"]["terms"] == [1, 2, 3, 4]


def test_bytes_that_are_not_percent_encoded_are_read_too() -> None:
    assert pairs("β=０．５&x=%ff".encode()) == (("β", "０．５"), ("x", "\ufffd"))


@pytest.mark.parametrize("path", ["widgets/nothing", "nothing", "widgets/momentum/nothing"])
def test_what_is_not_there_answers_in_json(site: TestClient, path: str) -> None:
    answer = site.get(f"/api/{path}")
    assert answer.status_code == 404
    assert answer.json() == {"error": "not_found", "problems": [], "message": "Nothing grows at this address"}


def test_a_method_that_is_not_taken_says_which_is(site: TestClient) -> None:
    answer = site.post("/api/widgets/momentum")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert answer.json()["error"] == "method_not_allowed"


# The description


def test_the_list_of_experiments_names_parameters_and_presets(site: TestClient) -> None:
    told = site.get("/api/widgets").json()["widgets"]
    assert [one["name"] for one in told] == list(NAMES)
    for one in told:
        assert [parameter["name"] for parameter in one["parameters"]] == PARAMETERS[one["name"]].split()
        assert set(one["title"]) == set(one["summary"]) == {"en", "zh"}
        assert one["exact"] is (one["name"] != "accumulation")
        for preset in one["presets"]:
            assert site.get(f"{one['href']}?{preset['query']}").status_code == 200


def test_the_description_lists_every_parameter_with_its_limits(site: TestClient) -> None:
    told = site.get("/api/openapi.json").json()
    assert sorted(told["paths"]) == sorted(
        ["/api/compare", "/api/search", "/api/widgets", *(f"/api/widgets/{name}" for name in NAMES)]
    )
    for name in NAMES:
        operation = told["paths"][f"/api/widgets/{name}"]["get"]
        assert [one["name"] for one in operation["parameters"]] == PARAMETERS[name].split()
        assert {"200", "414", "422", "500", "503", "504"} == set(operation["responses"])
    by_name = {one["name"]: one["schema"] for one in told["paths"]["/api/widgets/momentum"]["get"]["parameters"]}
    assert by_name["lr"] == {"type": "number", "exclusiveMinimum": 0, "maximum": 2}
    assert by_name["steps"] == {"type": "integer", "minimum": 1, "maximum": 500}


def test_the_page_about_the_api_speaks_the_language_of_its_reader(site: TestClient) -> None:
    assert "For programs" in site.get("/api/docs", headers={"Accept-Language": "en"}).text
    answer = site.get("/api/docs", headers={"Accept-Language": "zh"})
    assert "程序接口" in answer.text
    assert answer.headers["vary"].startswith("Cookie, Accept-Language")


@pytest.mark.parametrize("mode", schemathesis.GenerationMode)
@pytest.mark.parametrize("name", NAMES)
def test_no_request_right_or_wrong_breaks_the_description(
    site: TestClient, name: str, mode: schemathesis.GenerationMode
) -> None:
    """Schemathesis makes the requests, always the same ones."""
    described = schemathesis.openapi.from_dict(site.get("/api/openapi.json").json())
    operation = described[f"/api/widgets/{name}"]["GET"]
    documented = {int(status) for status in operation.definition.raw["responses"]}
    met: set[int] = set()

    @seed(2)
    @settings(
        max_examples=8 if name == "accumulation" else 60,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def answers(case: schemathesis.Case) -> None:
        answer = site.get(f"/api/widgets/{name}", params=case.query or {})
        met.add(answer.status_code)
        json.loads(answer.text, parse_constant=lambda bare: pytest.fail(f"a bare {bare}"))

    answers()
    assert met <= documented - {500}
    assert (200 if mode == schemathesis.GenerationMode.POSITIVE else 422) in met


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.floats(-1e6, 1e6))
def test_a_number_survives_the_address_and_the_json_with_every_bit(site: TestClient, value: float) -> None:
    told = state(site, f"momentum?w0={value!r}&steps=1&save_after=0")
    assert math.copysign(1, told["params"]["w0"]) == math.copysign(1, value + 0.0)
    assert told["params"]["w0"] == value
