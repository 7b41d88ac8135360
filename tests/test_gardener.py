"""After any edits the garden that was tended all along equals one that is grown afresh, byte for byte."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.checks import Report
from app.laboratory import Laboratory
from app.main import Gardener
from app.settings import Settings
from app.web.application import create

NAMES = ("heat", "Order", "shelf/heat", "shelf/顺序", "README")
ENDINGS = (".md", ".en.md", ".zh.md")
LINES = (
    "Warm words, and words of order.",
    "热与顺序。**真，**是的。",
    "[[heat]] and [[Order#part|there]] and [[顺序]].",
    "[[nobody]] knows [[heat#none of it]].",
    "![[heat]]",
    "![[Order#part]]",
    "![[顺序]]",
    "![[picture.png]] ![x](picture.png) [file](data/table.csv)",
    "[to](Order.md) [and](heat)",
    "[momentum]{concept=momentum} keeps it.",
    "Plain momentum, 动量。",
    "[0.352]{ran=momentum restore=weights read=resumed.1.w}",
    "```widget momentum\nas: second\n```",
    "#tag and %%hidden%% and $x^2$.",
    "Text[^1].\n\n[^1]: Note.",
)
HEADS = (
    *("",) * 8,
    "",
    "---\ntitle: Warmth\ngrowth: budding\nplanted: 2025-01-02\ntags: [heat, 热]\n---\n",
    "---\naliases: [heat, old]\ntended: 2026-03-04\n---\n",
    "---\ntitle: Order\ndraft: true\n---\n",
    "---\ntitle: [broken\n---\n[0.5]{ran=momentum read=}",
    "---\ntranslates: {top: 00000000}\n---\n",
)
CONCEPTS = (
    "momentum:\n  label: {en: Momentum, zh: 动量}\n  meaning: {en: What is kept., zh: 留下的。}\n",
    "momentum:\n  label: {en: Velocity, zh: 速度}\n  meaning: {en: Kept., zh: 留下的。}\n"
    "  also: {en: [momentum], zh: [动量]}\n",
    "momentum: [broken\n",
)

bodies = st.lists(st.sampled_from(LINES), max_size=4).map("\n\n".join)
texts = st.builds("{}{}\n\n## Part {{#part}}\n\n{}\n".format, st.sampled_from(HEADS), bodies, bodies)
files = st.builds("{}{}".format, st.sampled_from(NAMES), st.sampled_from(ENDINGS))
edits = st.one_of(
    st.tuples(st.just("write"), files, texts),
    st.tuples(st.just("write"), st.just("concepts.yaml"), st.sampled_from(CONCEPTS)),
    st.tuples(st.just("write"), st.sampled_from(("picture.png", "data/table.csv")), st.just("x")),
    st.tuples(st.just("rename"), files, files),
    st.tuples(st.just("remove"), st.one_of(files, st.sampled_from(("picture.png", "concepts.yaml"))), st.just("")),
)
ADDRESSES = (
    *(f"/{language}/{room}" for language in ("en", "zh") for room in ("", "concepts", "concepts/momentum", "health")),
    *(f"/{language}/{page}" for language in ("en", "zh") for page in ("atom.xml", "tags/heat", "tags/tag", "old")),
    *(f"/api/search?q={query}" for query in ("words", "热", "momentum")),
    "/sitemap.xml",
    "/llms.txt",
    "/files/picture.png",
)


def apply(folder: Path, kind: str, name: str, other: str) -> None:
    path = folder / name
    if kind == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(other, encoding="utf-8")
    elif path.exists() and kind == "remove":
        path.unlink()
    elif path.exists():
        (folder / other).parent.mkdir(parents=True, exist_ok=True)
        path.rename(folder / other)


def answers(settings: Settings, report: Report) -> Iterator[tuple[str, int, bytes]]:
    """Of every page there may be; nothing of the start, so that no worker is needed."""
    laboratory = Laboratory(workers=1, time_limit=1, memory_limit=64, queue=1, cache=16)
    client = TestClient(create(settings, report, laboratory), follow_redirects=False)
    pages = [f"/{note.language}/{note.slug}" for note in report.garden.notes()]
    for address in (*ADDRESSES, *(f"{page}{end}" for page in pages for end in ("", "/preview", ".md"))):
        answer = client.get(address)
        yield address, answer.status_code, answer.content


@settings(max_examples=40, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.lists(st.lists(edits, min_size=1, max_size=4), min_size=2, max_size=5))
def test_a_garden_that_was_edited_equals_one_grown_afresh(rounds: list[list[tuple[str, str, str]]]) -> None:
    root = Path(tempfile.mkdtemp(prefix="perennial-tests-"))
    content = root / "content"
    content.mkdir()
    try:
        tended = Gardener(Settings(content=content, cache_folder=root / "kept"))
        for edit in rounds:
            for one in edit:
                apply(content, *one)
            report = tended.report()
            for place in ("kept", "none"):  # once from what was kept, once from the bare files
                afresh = Settings(content=content, cache_folder=root / place)
                grown = Gardener(afresh).report()
                assert (report.faults, report.warnings) == (grown.faults, grown.warnings)
                assert report.outcomes == grown.outcomes
                if not report.faults:
                    assert list(answers(afresh, report)) == list(answers(afresh, grown))
                shutil.rmtree(root / "none", ignore_errors=True)
    finally:
        shutil.rmtree(root)


def test_an_edit_runs_no_experiment_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "content").mkdir()
    note = tmp_path / "content" / "one.md"
    number = "[0.352]{ran=momentum restore=weights read=resumed.1.w}"
    note.write_text(f"# One\n\n{number}\n")
    gardener = Gardener(Settings(content=tmp_path / "content", cache_folder=tmp_path / "kept"))
    before = gardener.report()
    note.write_text(f"# One\n\nAgain {number}\n")
    after = gardener.report()
    assert (len(before.outcomes), gardener.reader.parsed) == (1, ("one.md",))
    assert all(after.outcomes[key] is result for key, result in before.outcomes.items())


def test_two_gardens_keep_apart_what_they_keep(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.md").write_text("# One")
    kept = tmp_path / "kept"
    stores = [Gardener(Settings(content=tmp_path / name, cache_folder=kept)) for name in ("a", "b")]
    assert [one.report().faults for one in stores] == [(), ()]
    assert len(list(kept.iterdir())) == 2
