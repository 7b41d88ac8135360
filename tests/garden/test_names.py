"""Names: how people type them makes no difference, and what is nearest to one."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.garden.names import Names, key


@pytest.mark.parametrize(
    "typed", ["Note Two", "note two", "note-two", "NOTE  TWO", " Note\u00a0Two ", "Ｎｏｔｅ　Ｔｗｏ", "note\u2010two"]
)
def test_a_name_is_found_however_it_is_typed(typed: str) -> None:
    assert key(typed) == "note-two"


def test_letters_are_composed() -> None:
    assert key(unicodedata.normalize("NFD", "Résumé")) == key("résumé")


@given(st.text())
def test_a_key_is_its_own_key(name: str) -> None:
    assert key(key(name)) == key(name)


@given(st.lists(st.text(min_size=1), max_size=8), st.text())
def test_only_names_that_are_there_are_found(names: list[str], typed: str) -> None:
    known = Names({key(name): name for name in names if key(name)})
    found = known.slug(typed)
    assert found is None or key(found) == key(typed) or key(found) == key(typed).rpartition("/")[2].removesuffix(".md")


def test_a_folder_before_a_name_and_an_ending_after_it_do_no_harm() -> None:
    names = Names({"heat": "heat", "a/b": "a-b"})
    assert names.slug("notes/Heat.md") == "heat"
    assert names.slug("a/b") == "a-b"


def test_the_nearest_name_is_one_with_few_slips() -> None:
    names = Names({"momentum": "momentum", "moments": "moments", "tolerance": "tolerance"})
    likeness = names.nearest("momentun")
    assert max(likeness, key=lambda slug: likeness[slug]) == "momentum"
    assert "tolerance" not in likeness


def test_a_title_that_contains_the_wanted_words_comes_first() -> None:
    names = Names({"why-training-results-change": "why", "training-result": "other"})
    likeness = names.nearest("training results")
    assert likeness["why"] > likeness["other"]


def test_a_single_han_character_is_enough() -> None:
    assert "heat" in Names({"热噪声": "heat", "动量": "momentum"}).nearest("热")


@given(st.text(max_size=300))
def test_anything_may_be_asked_for(name: str) -> None:
    assert Names({}).nearest(name) == {}
    assert set(Names({"momentum": "momentum"}).nearest(name)) <= {"momentum"}


def test_a_letter_or_two_inside_a_name_do_not_mean_it() -> None:
    names = Names({"note-search": "note-search", "动量": "动量"})
    assert names.likely("c") is None and names.likely("se") is None
    assert names.likely("search") == "note-search"
    assert names.likely("动") == "动量"
