"""Files that notes refer to, and no other; drafts, which nobody sees."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.visits import Page, garden, planted

CANARY = "quetzal"
OPEN = "# Open\n\n[the test](files/open.py) and [a page](files/page.svg), [elsewhere](/files/files/absolute.txt)\n"
DRAFT = f"""---
title: {CANARY} plan
summary: about the {CANARY}
aliases: [{CANARY}-alias, open-later]
tags: [{CANARY}-tag]
draft: true
---
# {CANARY}

The {CANARY} is a bird. [It](files/{CANARY}.txt)

## Later {{#{CANARY}-section}}

```widget momentum
as: {CANARY}embed
```
"""


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = planted(
        tmp_path_factory.mktemp("files") / "notes", open_en=OPEN, open_zh=OPEN, draft_en=DRAFT, draft_zh=DRAFT
    )
    (folder / "files").mkdir()
    for name in ("open.py", "page.svg", "absolute.txt", "private.txt", f"{CANARY}.txt"):
        (folder / "files" / name).write_text(f"this is {name}", encoding="utf-8")
    (folder.parent / "secret.txt").write_text("secret", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def files(content: Path) -> Iterator[TestClient]:
    yield garden(content)


@pytest.mark.parametrize(("name", "kind"), [("open.py", "text/x-python"), ("page.svg", "image/svg+xml")])
def test_a_file_that_a_note_refers_to_is_served(files: TestClient, name: str, kind: str) -> None:
    hrefs = list(Page(files.get("/en/open").text).hrefs())
    assert f"/files/files/{name}" in hrefs
    answer = files.get(f"/files/files/{name}")
    assert (answer.status_code, answer.text) == (200, f"this is {name}")
    assert answer.headers["content-type"].startswith(kind)
    assert "sandbox" in answer.headers["content-security-policy"]
    assert files.get(f"/files/files/{name}", headers={"If-None-Match": answer.headers["etag"]}).status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "files/private.txt",
        f"files/{CANARY}.txt",
        "open.en.md",
        "draft.en.md",
        "../secret.txt",
        "%2e%2e/secret.txt",
        "files/../../secret.txt",
        "files/..%2f..%2fsecret.txt",
        "/etc/passwd",
        "files",
        "",
        "files/open.py/",
        "measured.json",
        "concepts.yaml",
        "index.json",
        "files/OPEN.py",
    ],
)
def test_no_other_file_is_served(files: TestClient, path: str) -> None:
    answer = files.get(f"/files/{path}")
    assert answer.status_code == 404
    assert "secret" not in answer.text.replace("secret.txt", "")


def test_a_draft_leaves_no_trace(files: TestClient) -> None:
    addresses = [
        *(
            f"/{language}/{rest}"
            for language in ("en", "zh")
            for rest in (
                "",
                "open",
                "open.md",
                "draft",
                "draft.md",
                "concepts",
                "widgets/",
                "widgets/momentum",
                "draf",
                "open-later",
                "plan",
                f"{CANARY[:4]}",
                "widgets/momentum/result",
                "widgets/momentum/result?of=x&in=draft",
                "nowhere",
                "about-birds",
                "search",
                "search?q=bird",
                "search?q=quetsal",
                "search?q=quetza",
                "search?q=the&tag=x",
                "search?q=test&growth=seedling",
                "search/results?q=bird",
                "search/results?q=quetsal",
            )
        ),
        "/api/search?q=bird",
        "/api/search?q=the&limit=1000",
        "/api/widgets",
        "/api/openapi.json",
        "/api/docs",
        "/robots.txt",
        "/sitemap.xml",
        "/llms.txt",
        "/en/atom.xml",
        "/zh/atom.xml",
        "/cards/en/open.svg",
        "/cards/en/draft.svg",
        "/readyz",
        "/",
        "/embed/en/widgets/momentum",
        "/files/draft.en.md",
    ]
    for address in addresses:
        answer = files.get(address)
        assert CANARY not in answer.text.lower(), address
        assert CANARY not in str(answer.headers)
    assert [
        files.get(f"/en/{slug}").status_code for slug in ("draft", "draft.md", f"{CANARY}-alias", "open-later")
    ] == [404] * 4
    assert files.get("/readyz").json()["notes"] == 2
    assert files.get("/api/search", params={"q": CANARY}).json() == {"total": 0, "results": []}
    for language in ("en", "zh"):
        page = Page(files.get(f"/{language}/search?q={CANARY}&tag={CANARY}-tag&growth=seedling").text)
        assert [one for one in page.all("a") if "data-result" in one.attributes] == []


def test_a_draft_is_served_to_those_who_ask_for_drafts(content: Path) -> None:
    site = garden(content, drafts=True)
    assert CANARY in site.get("/en/draft").text
    assert site.get("/api/search?q=bird").json()["total"] == 2
    assert CANARY in site.get("/en/search?q=quetsal").text
    assert site.get(f"/en/{CANARY}-alias").headers["location"] == "/en/draft"
    assert site.get(f"/files/files/{CANARY}.txt").status_code == 200
