"""HEAD, headers that guard readers, over-long queries and bodies, hosts."""

import pytest
from starlette.testclient import TestClient

from tests.web.visits import ARTICLE, NAMES, garden

FILE = "/files/companion/test_resume.py"
ADDRESSES = [
    "/",
    "/en",
    "/en/",
    "/zh/",
    f"/en/{ARTICLE}",
    f"/zh/{ARTICLE}",
    f"/en/{ARTICLE}?momentum.beta=0.97",
    f"/zh/{ARTICLE}.md",
    "/en/concepts",
    "/zh/concepts/momentum",
    "/en/widgets",
    "/en/widgets/",
    "/zh/widgets/momentum",
    "/en/widgets/momentum?beta=9",
    "/en/widgets/momentum/result?beta=0.5",
    f"/en/widgets/momentum/result?of=momentum&in={ARTICLE}&momentum.beta=0.5",
    "/en/widgets/momentum/checkpoint",
    "/embed/en/widgets/momentum",
    "/embed/zh/widgets/agreement",
    "/api/widgets",
    *(f"/api/widgets/{name}" for name in NAMES),
    *(f"/zh/widgets/{name}.json" for name in NAMES),
    *(f"/en/widgets/{name}.csv" for name in NAMES),
    *(f"/zh/widgets/{name}.svg" for name in NAMES),
    *(f"/en/widgets/{name}.py" for name in NAMES),
    "/api/openapi.json",
    "/api/docs",
    "/robots.txt",
    "/sitemap.xml",
    "/llms.txt",
    "/zh/atom.xml",
    f"/cards/en/{ARTICLE}.svg",
    "/en/tags/resume",
    "/en/tags/nothing",
    "/healthz",
    "/readyz",
    FILE,
    "/nowhere",
    "/en/nowhere",
    "/api/nowhere",
    "/api/widgets/momentum?beta=9",
    "/en/widgets/nothing/result",
    "/zh/?" + "a" * 9000,
]
"""Every kind of address, with answers of every kind."""


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address[:60])
def test_head_answers_with_the_same_headers_and_no_body(site: TestClient, address: str) -> None:
    shown, told = site.get(address), site.head(address)
    assert told.status_code == shown.status_code
    assert dict(told.headers) == dict(shown.headers)
    assert told.content == b""


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address[:60])
def test_every_answer_guards_its_reader(site: TestClient, address: str) -> None:
    answer = site.get(address)
    policy = dict(part.partition(" ")[::2] for part in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "strict-origin-when-cross-origin"
    assert "strict-transport-security" not in answer.headers
    assert policy["frame-ancestors"] == ("*" if address.startswith("/embed/") else "'self'")
    if address != FILE:
        assert policy["script-src"] == "'self' https://cdn.jsdelivr.net"
        assert policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
        assert policy["media-src"] == "'self'"
        assert policy["base-uri"] == "'none'"
        assert "unsafe" not in answer.headers["content-security-policy"]


def test_an_answer_of_nothing_new_guards_its_reader_too(site: TestClient) -> None:
    known = site.get("/en/").headers["etag"]
    answer = site.get("/en/", headers={"If-None-Match": known})
    assert answer.status_code == 304
    assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]


def test_a_file_of_a_note_runs_nothing(site: TestClient) -> None:
    assert "sandbox" in site.get(FILE).headers["content-security-policy"].split("; ")


def test_a_host_behind_https_can_ask_for_https() -> None:
    answer = garden(hsts=True).get("/en/")
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


@pytest.mark.parametrize(
    ("address", "kind", "words"),
    [
        ("/en/", "text/html", "The address is longer than 8192 bytes"),
        (f"/zh/{ARTICLE}", "text/html", "地址超过 8192 字节"),
        ("/zh/widgets/momentum/result", "text/html", "地址超过 8192 字节"),
        ("/en/widgets/momentum.json", "application/json", "longer than 8192"),
        ("/api/widgets/momentum", "application/json", "longer than 8192"),
    ],
)
def test_a_query_that_is_too_long_answers_in_the_form_that_was_asked_for(
    site: TestClient, address: str, kind: str, words: str
) -> None:
    answer = site.get(f"{address}?{'a' * 8193}")
    assert answer.status_code == 414
    assert answer.headers["content-type"].startswith(kind)
    assert words in answer.text
    assert ("<html" in answer.text) is (kind == "text/html" and not address.endswith("/result"))
    if kind == "application/json":
        assert answer.json()["error"] == "query_too_long"


def test_a_query_of_just_that_length_is_read(site: TestClient) -> None:
    assert site.get(f"/en/?{'a' * 8192}").status_code == 200


def test_only_hosts_that_are_trusted_are_answered() -> None:
    site = garden(trusted_hosts="garden.example, *.garden.example")
    for host in ("garden.example", "www.garden.example", "localhost", "127.0.0.1"):
        assert site.get("/en/", headers={"Host": host}).status_code == 200
    refused = site.get("/en/", headers={"Host": "elsewhere.example"})
    assert refused.status_code == 400
    assert "content-security-policy" in refused.headers
    assert garden().get("/en/", headers={"Host": "elsewhere.example"}).status_code == 200


def test_what_is_asked_of_a_crawler(site: TestClient) -> None:
    rules = "User-agent: *\nDisallow: /api/\nDisallow: /embed/\nAllow: /\n"
    assert site.get("/robots.txt").text == f"{rules}\nSitemap: http://testserver/sitemap.xml\n"


def test_alive_and_ready_are_not_kept(site: TestClient) -> None:
    assert site.get("/healthz").json() == {"status": "alive"}
    assert site.get("/readyz").json()["notes"] == 2
    assert {site.get(path).headers["cache-control"] for path in ("/healthz", "/readyz")} == {"no-store"}


def test_figures_are_shown_only_where_they_are_enabled() -> None:
    assert garden().get("/metrics").status_code == 404
    site = garden(metrics=True)
    for _ in range(2):
        site.get("/api/widgets/momentum")
    answer = site.get("/metrics")
    assert "perennial_experiments_computed_total 1" in answer.text
    assert "perennial_experiments_cached_total 1" in answer.text
    assert answer.headers["cache-control"] == "no-store"
