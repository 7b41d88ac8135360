"""Dates from a repository: planted, tended, and what is said when it does not know."""

from datetime import date
from pathlib import Path

import pytest
from handmade import note
from repositories import AUTUMN, LONG, SPRING, SUMMER, WINTER, Repository

from app.garden.dates import Calendar, Dates, dates, read_index, write_index


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "garden")


def test_a_note_is_planted_with_its_first_commit_and_tended_with_its_last(repository: Repository) -> None:
    repository.commit(SPRING, heat="one\n")
    repository.commit(SUMMER, heat="two\n", order="one\n")
    calendar = dates(repository.content)
    assert calendar == Calendar("whole", {"heat.md": Dates(SPRING, SUMMER), "order.md": Dates(SUMMER, SUMMER)})


def test_a_change_of_the_front_matter_alone_tends_nothing(repository: Repository) -> None:
    repository.commit(SPRING, heat="---\ngrowth: seedling\n---\ntext\n")
    repository.commit(SUMMER, heat="---\ngrowth: budding\n---\ntext\n")
    repository.commit(AUTUMN, heat="text\n")
    assert dates(repository.content)["heat.md"] == Dates(SPRING, SPRING)
    repository.commit(WINTER, heat="text, more\n")
    assert dates(repository.content)["heat.md"] == Dates(SPRING, WINTER)


def test_a_rename_is_followed_and_tends_nothing(repository: Repository) -> None:
    repository.commit(SPRING, old=LONG)
    repository.commit(SUMMER, old=None, middle=LONG)
    repository.commit(AUTUMN, middle=None, heat=LONG + "and one more\n")
    assert dates(repository.content).files == {"heat.md": Dates(SPRING, AUTUMN)}
    repository.git("mv", "content/heat.md", "content/热 噪声.md")
    repository.commit(WINTER)
    assert dates(repository.content).files == {"热 噪声.md": Dates(SPRING, AUTUMN)}


def test_a_note_that_took_a_freed_name_is_not_the_one_before(repository: Repository) -> None:
    repository.commit(SPRING, heat=LONG)
    repository.commit(SUMMER, heat=None, noise=LONG)
    repository.commit(AUTUMN, heat="something else\n")
    assert dates(repository.content).files == {"noise.md": Dates(SPRING, SPRING), "heat.md": Dates(AUTUMN, AUTUMN)}


def test_two_notes_that_change_names_keep_their_dates(repository: Repository) -> None:
    other = LONG.replace("heat", "order")
    repository.commit(SPRING, a=LONG)
    repository.commit(SUMMER, b=other)
    repository.commit(AUTUMN, a=None, b=None, c=LONG, d=other)
    repository.commit(WINTER, c=None, d=None, a=other, b=LONG)
    assert dates(repository.content).files == {"b.md": Dates(SPRING, SPRING), "a.md": Dates(SUMMER, SUMMER)}


def test_a_note_that_came_from_another_folder_keeps_its_dates(repository: Repository) -> None:
    repository.commit(SPRING, **{"../drafts/heat": LONG})
    (repository.folder / "drafts/heat.md").unlink()
    repository.commit(SUMMER, **{"deep/heat": LONG})
    assert dates(repository.content).files == {"deep/heat.md": Dates(SPRING, SPRING)}


def test_a_note_that_is_gone_or_not_committed_has_no_dates(repository: Repository) -> None:
    repository.commit(SPRING, heat="one\n", order="two\n")
    repository.commit(SUMMER, order=None)
    (repository.content / "new.md").write_text("three\n")
    calendar = dates(repository.content)
    assert list(calendar.files) == ["heat.md"]
    assert calendar["order.md"] == calendar["new.md"] == Dates(None, None)


def test_a_note_that_came_back_is_planted_where_it_came_back(repository: Repository) -> None:
    repository.commit(SPRING, heat="one\n")
    repository.commit(SUMMER, heat=None)
    repository.commit(AUTUMN, heat="two\n")
    assert dates(repository.content)["heat.md"] == Dates(AUTUMN, AUTUMN)


def test_a_shallow_clone_says_what_it_knows_and_guesses_nothing(repository: Repository, tmp_path: Path) -> None:
    repository.commit(SPRING, heat="one\n", order="one\n")
    repository.commit(SUMMER, order="two\n")
    repository.commit(AUTUMN, order="three\n", late="one\n")
    repository.git("clone", "-q", "--depth", "2", f"file://{repository.folder}", str(tmp_path / "shallow"))
    assert dates(tmp_path / "shallow/content") == Calendar(
        "shallow",
        {"heat.md": Dates(None, None), "late.md": Dates(AUTUMN, AUTUMN), "order.md": Dates(None, AUTUMN)},
    )


def test_a_folder_without_repository_is_said_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "heat.md").write_text("one\n")
    assert dates(tmp_path) == Calendar("missing", {})


def test_without_git_the_repository_is_missing(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit(SPRING, heat="one\n")
    monkeypatch.setenv("PATH", str(repository.content))
    assert dates(repository.content) == Calendar("missing", {})


def test_a_repository_without_a_commit_knows_nothing(repository: Repository) -> None:
    assert dates(repository.content) == Calendar("whole", {})


def test_a_content_folder_may_be_a_repository_itself(repository: Repository) -> None:
    repository.commit(SPRING, heat="one\n")
    assert dates(repository.folder).files == {"content/heat.md": Dates(SPRING, SPRING)}


def test_the_front_matter_has_the_last_word() -> None:
    calendar = Calendar("whole", {"heat.en.md": Dates(SPRING, AUTUMN)})
    (one, two) = map(calendar.dated, (note("heat", planted=date(2020, 1, 1)), note("order")))
    assert (one.planted, one.tended) == (date(2020, 1, 1), AUTUMN)
    assert (two.planted, two.tended) == (None, None)


def test_an_index_reads_back_and_keeps_what_else_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    assert read_index(path) is None
    path.write_text('{"history": [1]}')
    assert read_index(path) is None
    calendar = Calendar("shallow", {"热.md": Dates(None, AUTUMN), "heat.md": Dates(SPRING, SUMMER)})
    write_index(calendar, path)
    assert read_index(path) == calendar
    assert '"history"' in path.read_text()
    first = path.read_bytes()
    write_index(calendar, path)
    assert path.read_bytes() == first
