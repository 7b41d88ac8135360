"""Search finds exactly the notes that contain the query; what is only near is told apart."""

from collections.abc import Iterable
from itertools import product
from typing import Any
from unicodedata import normalize

import pytest
from handmade import concept, concepts, mark, note, passage, prose, section
from hypothesis import given
from hypothesis import strategies as st

from app.content.files import Files, Source
from app.content.note import Note
from app.content.notes import note as read_note
from app.content.pieces import Code, Footnote, Footnotes
from app.garden.garden import grow
from app.garden.search import Found, Hit, Index
from app.garden.sheets import having, sheet, sieve
from app.garden.slips import meant
from app.language import Language

KNOWN = concepts(
    concept("resume", "resume", "恢复", en=("restart",), zh=("续训",)),
    concept("momentum", "momentum", "动量", en=("velocity",)),
    concept("accumulation", "gradient accumulation", "梯度累积"),
    concept("goedel", "Gödel number", "哥德尔数"),
)
RESTARTS = "A job restarts in İstanbul; its velocity v = 3㎏ is lost."
HEAT = note(
    "heat",
    title="Heat and ﬁrst steps",
    passages=(passage(RESTARTS, "a", 3), passage("Naïve 半ｶﾞ", None, 1)),
    sections=(section("a", 2, title="Straße １０"),),
    marks=(mark("resume", "restarts", RESTARTS, "a", 3),),
    body=(prose("<p>hidden</p>", Code("python", "w -= lr * v\nprint(w)")),),
)
HEAT_ZH = note(
    "heat",
    "zh",
    title="热与最初几步",
    passages=(passage("任务从检查点恢复，动量（momentum）丢了。𠀋…", None, 2),),
    tags=("优化", "Resume Tag"),
)
COLD = note("cold", title="Cold start", passages=(passage("Nothing is carried over: e\u0301tat, ŉ ΣΟΦΟΣ.", None, 2),))
SUMS = note("sums", title="Gradient accumulation", growth="evergreen", tags=("resume tag",))
ZH = note(
    "zh-only", "zh", title="梯度累积与求和", passages=(passage("求和求和：10 × 3。", None, 2), passage("“数”", None, 4))
)
NOTES = (HEAT, HEAT_ZH, COLD, SUMS, ZH)
LABELS = {"heat.en.md": "resume momentum", "heat.zh.md": "恢复 动量", "sums.en.md": "", "cold.en.md": ""}
"""Written down by hand: the labels of the concepts that each note marks or names in its text."""
INDEX = Index.of(NOTES, KNOWN)


def plain_fold(text: str) -> str:
    return normalize("NFKC", normalize("NFKC", text).casefold())


def read(one: Note) -> str:
    """All that search reads of a note, by the rule and not by the code."""
    code = "w -= lr * v\nprint(w)" if one is HEAT else ""
    headings = [section.title for section in one.sections]
    return "\n".join([one.title, *headings, *(part.text for part in one.passages), code, LABELS.get(one.file, "")])


FOLDED = {one.file: plain_fold(read(one)) for one in NOTES}


def naive(query: str) -> set[str]:
    terms = plain_fold(query).split()
    return {file for file, text in FOLDED.items() if terms and all(term in text for term in terms)}


def files(hits: Iterable[Hit]) -> list[str]:
    return [hit.note.file for hit in hits]


def near(query: str, language: Language | None = None, **filters: Any) -> list[str]:
    return files(INDEX.search(query, language, 10, **filters).near)


def pieces_of_corpus() -> set[str]:
    """Hits, and non-hits that run from the end of one line into the next."""
    texts = [text for one in NOTES for text in (read(one), read(one).replace("\n", ""))]
    return {text[at : at + size] for text in texts for at, size in product(range(len(text)), range(1, 7))}


# The rule


def test_search_equals_a_naive_scan_for_every_piece_of_the_corpus() -> None:
    wrong = []
    for query in sorted(pieces_of_corpus()):
        found = INDEX.search(query, None, 0)
        everywhere = sum(INDEX.search(query, language, 0).total for language in ("en", "zh"))  # type: ignore[arg-type]
        if not found.total == everywhere == len(naive(query)):
            wrong.append(query)
    assert wrong == []


queries = st.one_of(
    st.sampled_from(sorted(pieces_of_corpus())),
    st.text(st.sampled_from("恢复动量梯度momentuＭｏßşﬁ㎏ kgİi̇ ½…é\u0301"), min_size=1, max_size=6),
    st.text(max_size=4),
)


@given(st.lists(queries, min_size=1, max_size=3), st.sampled_from([" ", "  ", "\u3000", "\t"]))
def test_search_equals_a_naive_scan_for_one_term_and_for_several(terms: list[str], space: str) -> None:
    query = space.join(terms)
    found = INDEX.search(query, None, 1000)
    assert set(files(found.hits)) == naive(query)
    assert found.total == len(found.hits) == len(set(files(found.hits)))
    assert not set(files(found.near)) & naive(query)
    for language in ("en", "zh"):
        assert INDEX.search(query, language, 0).total == sum(f".{language}." in file for file in naive(query))


@given(st.lists(queries, min_size=1, max_size=2))
def test_every_hit_shows_where_it_is_one(terms: list[str]) -> None:
    query = " ".join(terms)
    for hit in INDEX.search(query, None, 1000).hits:
        shown = [*hit.title, *(piece for label in hit.labels for piece in label), *hit.snippet]
        stressed = plain_fold("\n".join(text for text, stress in shown if stress))
        wanted = set(plain_fold(query).split())
        assert len(wanted) > 3 or all(term in stressed for term in wanted)


@pytest.mark.parametrize("query", ["", " ", "\u3000\n", "\u00a0"])
def test_an_empty_query_finds_nothing(query: str) -> None:
    assert INDEX.search(query, None, 20) == Found(0)


def test_markup_tags_and_summaries_are_no_text() -> None:
    written = note("x", summary="only here", tags=("tagged",), body=(prose("<p class='hidden'>"),), source="raw")
    index = Index.of([written], KNOWN)
    assert [index.search(query, None, 9).total for query in ("only", "tagged", "hidden", "raw", "X")] == [0, 0, 0, 0, 1]


def test_what_a_reader_sees_of_a_note_is_its_text_and_nothing_else() -> None:
    parts = (
        "Falls as $v^2$.",
        "| a | cell |\n|---|---|\n| b | c |",
        "```python\nx = 恢复()\n```",
        "$$\nw = \\frac{a}{b}\n$$",
        '<div title="unseen"><b>sh</b>own<!-- nobody --><script>evil()</script></div>',
        "> [!tip] Told aside\n> and below",
        "> [!warning]\n> careful",
        "![a drawn tree](https://example.org/tree.png)",
        "![[other]]",
        "End.[^1]",
        "[^1]: Below,\n\n        deep = 1",
    )
    text = "\n\n".join(parts)
    written, faults = read_note(text, Source("x.md", "x", "x", "en"), Files())
    assert [fault for fault in faults if fault.stops] == []
    index = Index.of([written], {})
    told = ("v²", "cell", "恢复()", "below", "deep", "falls as v².", "w = a/b", "shown", "told aside", "a drawn tree")
    for query in told:
        assert index.search(query, "en", 1).total == 1, query
    for query in ("frac", "unseen", "nobody", "evil", "warning", "example", "other", "mrow", "tip"):
        assert index.search(query, "en", 1).total == 0, query
    nested = note("y", body=(prose(Footnotes((Footnote(1, (Code("", "inner"),)),))),))
    assert Index.of([nested], {}).search("inner", None, 1).total == 1


def test_a_draft_is_found_only_where_drafts_are_shown() -> None:
    draft = note("canary", draft=True, passages=(passage("canarywort"),))
    for shown, count in ((False, 0), (True, 1)):
        garden = grow([HEAT, draft], KNOWN, drafts=shown)
        found = Index.of(garden.notes(), garden.concepts).search("canarywort", None, 9)
        assert (found.total, len(found.hits), len(found.near)) == (count, count, 0)


@given(st.text(max_size=60), st.integers(0, 59), st.integers(1, 12))
def test_no_sieve_holds_back_what_stands_in_the_text(text: str, start: int, length: int) -> None:
    assert sieve(text[start : start + length]) & ~sieve(text) == 0


def test_a_sieve_holds_back_most_of_what_does_not() -> None:
    assert sieve("momentum of a heavy ball") & sieve("xyz") != sieve("xyz")
    assert having("momentum", [sheet(HEAT, KNOWN), sheet(COLD, KNOWN)]) == [sheet(HEAT, KNOWN)]


# Order, limit, filters


def test_titles_come_before_labels_and_labels_before_texts() -> None:
    notes = (
        note("a", title="Zero", passages=(passage("Recovery: resume resume."),)),
        note("b", title="Restarting", passages=(passage("A restart."),)),
        note("c", title="Then we resume"),
        note("d", title="Resume"),
        note("e", title="Yes", passages=(passage("presumed"),)),
        note("f", title="Resume"),
    )
    known = concepts(concept("resume", "resume", "恢复", en=("restart",)))
    found = Index.of(notes, known).search("resume", "en", 10)
    assert [(hit.note.slug, hit.where) for hit in found.hits] == [
        ("d", "title"), ("f", "title"), ("c", "title"), ("a", "concept"), ("b", "concept"), ("e", "text"),
    ]  # fmt: skip
    assert found.hits[4].labels == ((("resume", True),),)


def test_of_texts_the_one_that_says_it_more_often_comes_first_and_then_earlier() -> None:
    texts = {"a": "long before: seed", "b": "seed", "c": "once a seed, then a seed"}
    notes = [
        note(slug, title="T" * (1 + 40 * (slug == "b")), passages=(passage(text),)) for slug, text in texts.items()
    ]
    assert files(Index.of(notes, {}).search("seed", None, 9).hits) == ["c.en.md", "b.en.md", "a.en.md"]


def test_more_hits_than_are_worth_counting_come_in_the_same_order_every_time() -> None:
    notes = [note(f"n{at:03}", title="T", passages=(passage("x" * (at % 7) + "恢"),)) for at in range(520)]
    found = Index.of(notes, {}).search("恢", None, 3)
    assert (found.total, files(found.hits)) == (520, ["n000.en.md", "n007.en.md", "n014.en.md"])
    assert found == Index.of(reversed(notes), {}).search("恢", None, 3)


@pytest.mark.parametrize("limit", [1, 5, 19, 20, 21, 45, 600])
def test_of_many_hits_those_with_the_terms_in_better_places_come_first(limit: int) -> None:
    """20 have both words in the title, 20 one in the title and one as a label, the others in the text, ever later."""
    known = concepts(concept("resume", "resume", "恢复"))
    notes = [
        note(
            f"n{at:03}",
            title="Resume seed" if at % 30 == 7 else "Seed" if at % 30 == 8 else "T",
            passages=(passage("y" * (600 - at) + " seed" + " presume" * (at % 30 != 8) + " resume" * (at % 30 == 8)),),
        )
        for at in range(600)
    ]
    found = Index.of(notes, known).search("seed resume", None, limit)
    first, second = ([at for at in range(600) if at % 30 == place] for place in (7, 8))
    last = [at for at in reversed(range(600)) if at % 30 not in (7, 8)]
    assert found.total == 600
    assert [int(hit.note.slug[1:]) for hit in found.hits] == [*first, *second, *last][:limit]


@pytest.mark.parametrize("limit", [-1, 0, 1, 2, 1000])
def test_a_limit_cuts_the_list_and_never_the_total(limit: int) -> None:
    found, whole = INDEX.search("a", None, limit), INDEX.search("a", None, 1000)
    assert found.total == whole.total == 3
    assert found.hits == whole.hits[: max(limit, 0)]


def test_filters_hold_for_hits_their_number_and_what_is_near() -> None:
    assert files(INDEX.search("gradient", None, 9, growth="evergreen").hits) == ["sums.en.md"]
    assert INDEX.search("gradient", None, 9, growth="budding") == Found(0)
    assert files(INDEX.search("恢复", None, 9, tag="resume-tag").hits) == ["heat.zh.md"]
    assert near("续训", tag="优化") == ["heat.zh.md"]
    assert near("恢复", growth="evergreen") == []


# Near


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("恢复", ["heat.en.md"]),  # the other language's label
        ("resume", ["heat.zh.md"]),
        ("velocity", ["heat.zh.md"]),  # another spelling
        ("续训", ["heat.en.md", "heat.zh.md"]),
        ("动量 恢复", ["heat.en.md"]),
        ("resume 动量", ["heat.en.md", "heat.zh.md"]),
        ("resume 任务", ["heat.zh.md"]),
        ("momentun", ["heat.en.md", "heat.zh.md"]),  # a slip in a label
        ("acumulation", ["sums.en.md"]),  # and in a title
        ("梯度累计", ["zh-only.zh.md"]),
        ("naive", ["heat.en.md"]),  # accents
        ("etat", ["cold.en.md"]),
        ("cóld", ["cold.en.md"]),
        ("istanbul", ["heat.en.md"]),
        ("xyzzy", []),
        ("的", []),
        ("um", []),
        ("momentum xyzzy", []),
        ("a b c d e f g 恢复", []),
    ],
)
def test_what_is_near_a_query(query: str, found: list[str]) -> None:
    assert sorted(near(query)) == found
    assert near(query, "en") == [file for file in found if ".en." in file]


def test_a_near_note_says_what_it_has_instead_and_marks_it() -> None:
    [hit] = INDEX.search("恢复", "en", 9).near
    assert hit.instead == ("resume",)
    assert hit.labels == ((("resume", True),),)
    assert ("restart", True) in hit.snippet
    [slipped] = INDEX.search("acumulation", "en", 9).near
    assert (slipped.instead, slipped.where) == (("accumulation",), "title")
    [bare] = INDEX.search("naive", "en", 9).near
    assert (bare.instead, bare.where) == (("naive",), "text")
    assert ("Naïve", True) in bare.snippet


def test_what_is_near_can_be_left_out() -> None:
    found, exact = INDEX.search("resume", None, 9), INDEX.search("resume", None, 9, nearby=False)
    assert (exact.total, exact.hits, exact.near) == (found.total, found.hits, ())
    assert found.near


def test_a_long_query_is_answered_exactly() -> None:
    assert files(INDEX.search("a job restarts in its velocity is lost", None, 9).hits) == ["heat.en.md"]
    assert INDEX.search("a job restarts in its velocity is gone", None, 9) == Found(0)


def test_near_notes_are_few() -> None:
    notes = [note(f"n{at}", "zh", passages=(passage("恢复。"),)) for at in range(30)]
    found = Index.of(notes, KNOWN).search("resume", None, 1000)
    assert (found.total, len(found.near)) == (0, 10)


@pytest.mark.parametrize(
    ("term", "words", "slips"),
    [
        ("resmue", {"resume", "reset"}, ("resume",)),
        ("resum", {"resume", "resumes"}, ("resume",)),
        ("reesume", {"resume"}, ("resume",)),
        ("rezumed", {"resume"}, ()),
        ("chekcpiont", {"checkpoint"}, ("checkpoint",)),
        ("sum", {"sums", "gum"}, ()),
        ("resume", {"resume"}, ()),
        ("梯度类积", {"论梯度累积法", "梯度下降"}, ("梯度累积",)),
        ("动力", {"动量"}, ()),
    ],
)
def test_which_words_a_term_may_be_a_slip_of(term: str, words: set[str], slips: tuple[str, ...]) -> None:
    assert meant(term, words) == slips


# Edits

slugs = st.sampled_from(["a", "b", "c", "zz"])
written_notes = st.builds(
    lambda slug, language, title, text: note(slug, language, title=title, passages=(passage(text),)),
    slugs,
    st.sampled_from(["en", "zh"]),
    st.sampled_from(["Momentum", "Cold start", "恢复训练任务", "Cold momentum"]),
    st.sampled_from(["", "a restart", "恢复", "velocity café"]),
)


@given(st.lists(written_notes, max_size=4), st.lists(st.tuples(st.booleans(), written_notes), max_size=8))
def test_an_edited_index_equals_one_made_afresh(start: list[Note], edits: list[tuple[bool, Note]]) -> None:
    notes = {(one.language, one.slug): one for one in start}
    index = first = Index.of(notes.values(), KNOWN)
    before = Index.of(notes.values(), KNOWN)
    for written, one in edits:
        if written:
            notes[one.language, one.slug] = one
        else:
            notes.pop((one.language, one.slug), None)
        index = Index.of(notes.values(), KNOWN, index)
        fresh = Index.of(notes.values(), KNOWN)
        assert index == fresh
        for query in ("momentum", "恢复", "momentun", "cafe", "cold"):
            assert index.search(query, None, 9) == fresh.search(query, None, 9)
    assert first == before
