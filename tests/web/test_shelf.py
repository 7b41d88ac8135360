"""Finished answers: validators, compression, what is kept and what is not."""

import gzip
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Message

from app.web.shelf import Kept, Shelf
from tests.web.visits import ARTICLE, garden, planted


def test_a_page_that_the_reader_has_is_not_sent_again(site: TestClient) -> None:
    first = site.get(f"/en/{ARTICLE}")
    assert first.headers["cache-control"] == "no-cache"
    etag = first.headers["etag"]
    for known in (etag, f"W/{etag}", f'"other", {etag}'):
        again = site.get(f"/en/{ARTICLE}", headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
        assert "content-length" not in again.headers
    assert site.get(f"/en/{ARTICLE}", headers={"If-None-Match": '"other"'}).status_code == 200


def test_another_state_has_another_validator(site: TestClient) -> None:
    tags = {site.get(f"/en/widgets/momentum?beta={beta}").headers["etag"] for beta in ("0.1", "0.2", "0.1")}
    assert len(tags) == 2


@pytest.mark.parametrize("coding", ["br", "gzip", "zstd"])
@pytest.mark.parametrize("address", [f"/zh/{ARTICLE}", "/api/widgets/momentum", "/en/widgets/momentum.svg"])
def test_bodies_are_compressed_as_the_reader_accepts_it(site: TestClient, address: str, coding: str) -> None:
    plain = site.get(address, headers={"Accept-Encoding": "identity"})
    small = site.get(address, headers={"Accept-Encoding": coding})
    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == coding
    assert int(small.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    for answer in (plain, small):
        assert "Accept-Encoding" in answer.headers["vary"]


def test_a_compressed_body_is_the_page(site: TestClient) -> None:
    with site.stream("GET", "/en/", headers={"Accept-Encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert raw[4:8] == bytes(4), "the time of making it is no part of a page"
    assert gzip.decompress(raw).decode() == site.get("/en/", headers={"Accept-Encoding": "identity"}).text


def test_styles_and_scripts_are_kept_for_ever(site: TestClient) -> None:
    text = site.get("/en/").text
    hrefs = [part.split('"')[0] for part in text.split('"/static/')[1:]]
    assert len(hrefs) == 2
    for href in hrefs:
        answer = site.get(f"/static/{href}")
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"].startswith(("text/css", "text/javascript"))


class Counted:
    """An application that says which time this is."""

    def __init__(self, status: int = 200, headers: tuple[tuple[bytes, bytes], ...] = (), body: bytes = b"") -> None:
        self.status, self.headers, self.body = status, headers, body
        self.times = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.times += 1
        start: Message = {"type": "http.response.start", "status": self.status, "headers": list(self.headers)}
        await send(start)
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        await send({"type": "http.response.body", "body": b"%d" % self.times})


def test_what_is_kept_is_answered_without_entering_the_application() -> None:
    app = Counted()
    reader = TestClient(Shelf(app, Kept(1 << 20)))
    assert [reader.get("/a").text, reader.get("/a").text, reader.get("/b").text] == ["1", "1", "2"]


@pytest.mark.parametrize(
    "app",
    [
        Counted(404),
        Counted(503),
        Counted(headers=((b"Cache-Control", b"private, no-store"),)),
        Counted(headers=((b"Set-Cookie", b"a=b"),)),
        Counted(headers=((b"Server-Timing", b"run;dur=1"),)),
    ],
    ids=["missing", "busy", "private", "cookie", "timed"],
)
def test_an_answer_that_belongs_to_one_request_is_not_kept(app: Counted) -> None:
    reader = TestClient(Shelf(app, Kept(1 << 20)))
    answers = [reader.get("/a") for _ in range(2)]
    assert [answer.text for answer in answers] == ["1", "2"]
    assert all("etag" not in answer.headers for answer in answers)


def test_a_post_is_never_answered_from_the_shelf() -> None:
    reader = TestClient(Shelf(Counted(), Kept(1 << 20)))
    assert [reader.get("/a").text, reader.post("/a").text, reader.get("/a").text] == ["1", "2", "1"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"Host": "a"}, {"Host": "b"}),
        ({"Accept-Encoding": "gzip"}, {"Accept-Encoding": "br"}),
        ({"Accept": "text/html"}, {"Accept": "text/markdown"}),
    ],
)
def test_readers_who_get_different_bytes_do_not_share_them(one: dict[str, str], other: dict[str, str]) -> None:
    reader = TestClient(Shelf(Counted(), Kept(1 << 20)))
    assert [reader.get("/", headers=asked).text for asked in (one, other, one, other)] == ["1", "2", "1", "2"]


def test_http_and_https_do_not_share_their_absolute_links() -> None:
    app = Shelf(Counted(), Kept(1 << 20))
    texts = [TestClient(app, base_url=f"{scheme}://garden").get("/").text for scheme in ("http", "https", "http")]
    assert texts == ["1", "2", "1"]


def test_the_shelf_is_bounded_with_its_keys() -> None:
    kept = Kept(100_000)
    app = Counted(body=b"x" * 2000)
    reader = TestClient(Shelf(app, kept))
    for n in range(200):
        reader.get(f"/{n}?{'q' * 3000}")
    assert kept.currsize <= 100_000
    assert 10 < len(kept) < 20  # (2,000 + 3,000 + 1,024 and a little) bytes each
    assert reader.get(f"/199?{'q' * 3000}").text.endswith("200")
    assert reader.get(f"/0?{'q' * 3000}").text.endswith("201")


def test_what_is_larger_than_the_shelf_is_answered_all_the_same() -> None:
    kept = Kept(1500)
    reader = TestClient(Shelf(Counted(body=b"x" * 2000), kept))
    assert reader.get("/").text.endswith("x1")
    assert len(kept) == 0


def test_a_garden_without_a_shelf_answers() -> None:
    assert garden(page_cache=0).get("/en/").status_code == 200


def test_the_same_page_has_the_same_bytes_whenever_it_is_made() -> None:
    bodies = {garden().get(f"/en/{ARTICLE}?momentum.beta=0.5").content for _ in range(2)}
    assert len(bodies) == 1


def test_a_page_on_which_something_could_not_be_run_is_not_kept(tmp_path: Any) -> None:
    note = "# Long sum\n\n```widget accumulation\nn: 100000\n```\n"
    with garden(planted(tmp_path / "notes", long_en=note, long_zh=note), time_limit=0.01) as site:
        answer = site.get("/en/long")
        assert answer.status_code == 200
        assert "stopped at its time limit" in answer.text
        assert answer.headers["cache-control"] == "no-store"
        alone = site.get("/zh/widgets/accumulation?n=100000")
        assert (alone.status_code, alone.headers["cache-control"]) == (504, "no-store")
        assert "已经停止" in alone.text
