"""Addresses as names of files, and the ways between them."""

from urllib.parse import urljoin

import pytest

from app.build.places import folder, place, way

HTML = "text/html"


@pytest.mark.parametrize(
    ("address", "kind", "name"),
    [
        ("/", HTML, "index.html"),
        ("/en/", HTML, "en/index.html"),
        ("/en/why", HTML, "en/why/index.html"),
        ("/404.html", HTML, "404.html"),
        ("/zh/%E7%AC%94%E8%AE%B0", HTML, "zh/笔记/index.html"),
        ("/en/v1.2", HTML, "en/v1.2/index.html"),
        ("/en/why.md", "text/markdown", "en/why.md"),
        ("/en/widgets/momentum?beta=0.5&lr=1", HTML, "en/widgets/momentum/beta=0.5&lr=1/index.html"),
        ("/en/widgets/momentum.csv", "text/csv", "en/widgets/momentum.csv"),
        ("/en/widgets/momentum.csv?beta=0.5", "text/csv", "en/widgets/momentum/beta=0.5/momentum.csv"),
        (
            "/en/widgets/momentum/checkpoint?beta=0.5",
            "application/json",
            "en/widgets/momentum/checkpoint/beta=0.5/checkpoint.json",
        ),
        ("/en/tags/a%2Fb", HTML, "en/tags/a/b/index.html"),
        ("/en/why/preview?section=%E6%81%A2%E5%A4%8D", HTML, "en/why/preview/section=恢复/index.html"),
        ("/en/../../etc", HTML, None),
        ("/en/%2e%2e/x", HTML, None),
    ],
)
def test_an_address_has_a_file(address: str, kind: str, name: str | None) -> None:
    assert place(address, kind) == name


def test_a_state_that_no_file_system_would_hold_is_a_digest() -> None:
    for awkward in ("a=1/2", "a=" + "1," * 200, "a=b:c", "a=x%00", "a=1."):
        assert folder(awkward).isalnum() and len(folder(awkward)) == 16
    assert folder("a=1%2F2") != folder("a=1%2F3")


@pytest.mark.parametrize("root", ["https://example.org/", "https://example.org/some/garden/"])
def test_a_way_leads_there_from_wherever_it_starts(root: str) -> None:
    names = ["index.html", "en/index.html", "en/a/index.html", "en/a.md", "en/a/b=1&c=%/x.csv", "zh/笔 记?/index.html"]
    for origin in names:
        for target in names:
            base = urljoin(root, way("index.html", origin))
            assert urljoin(base, way(origin, target)) == urljoin(root, way("index.html", target))
    assert way("en/a/index.html", "en/index.html") == "../"
    assert way("en/a/index.html", "en/a/index.html") == "./"
    assert way("index.html", "zh/笔 记?/index.html") == "zh/%E7%AC%94%20%E8%AE%B0%3F/"
