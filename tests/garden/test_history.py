"""The history of a note: what changed when, from a real repository, and from the index of an image."""

import json
import os
from pathlib import Path

import pytest
from repositories import AUTUMN, LONG, SPRING, SUMMER, WINTER, Repository

from app.garden.dates import dates, write_index
from app.garden.history import Change, History, history, read_histories, versions, write_histories


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "garden")


def told(history: History) -> list[tuple[object, ...]]:
    return [(one.day, one.subject, one.kind, one.before, one.after) for one in history.changes]


def kept(repository: Repository, **bounds: int) -> dict[str, History]:
    """What an image without the repository knows."""
    path = repository.folder / "index.json"
    write_histories(repository.content, path, **bounds)
    found = read_histories(path)
    assert found is not None
    return dict(found)


def test_the_changes_of_a_note_are_told_newest_first(repository: Repository) -> None:
    repository.commit(SPRING, "Plant", heat="one\n")
    repository.commit(SUMMER, "Say more: 热", heat="two\n", order="other\n")
    repository.commit(AUTUMN, "Mend order", order="another\n")
    found = history(repository.content, "heat.md")
    assert (found.repository, found.more) == ("whole", 0)
    assert told(found) == [
        (SUMMER, "Say more: 热", "text", "one\n", "two\n"),
        (SPRING, "Plant", "planted", None, "one\n"),
    ]
    assert all(len(change.commit) == 10 and int(change.commit, 16) for change in found.changes)


def test_a_change_of_the_front_matter_alone_is_told_as_such(repository: Repository) -> None:
    repository.commit(SPRING, heat="text\n")
    repository.commit(SUMMER, heat="---\ngrowth: budding\n---\ntext\n")
    repository.commit(AUTUMN, heat="---\ngrowth: evergreen\n---\ntext, more\n")
    kinds = [change.kind for change in history(repository.content, "heat.md").changes]
    assert kinds == ["text", "front matter", "planted"]
    assert dates(repository.content)["heat.md"].tended == AUTUMN


def test_a_rename_is_followed_and_is_no_change(repository: Repository) -> None:
    repository.commit(SPRING, "Plant", **{"../drafts/old name [1]*": LONG})
    (repository.folder / "drafts/old name [1]*.md").unlink()
    repository.commit(SUMMER, "Move", **{"deep/middle": LONG})
    repository.commit(AUTUMN, "Rename and write", **{"deep/middle": None, "热 噪声": LONG + "more\n"})
    assert told(history(repository.content, "热 噪声.md")) == [
        (AUTUMN, "Rename and write", "text", LONG, LONG + "more\n"),
        (SPRING, "Plant", "planted", None, LONG),
    ]
    assert kept(repository)["热 噪声.md"].changes[0].before == LONG


def test_a_copy_does_not_take_over_the_history_of_its_original(repository: Repository) -> None:
    repository.commit(SPRING, "Plant", **{"heat.en": LONG})
    repository.commit(SUMMER, "Begin to translate", **{"heat.zh": LONG})
    assert told(history(repository.content, "heat.zh.md")) == [(SUMMER, "Begin to translate", "planted", None, LONG)]


def test_a_name_that_was_freed_begins_anew(repository: Repository) -> None:
    repository.commit(SPRING, heat=LONG)
    repository.commit(SUMMER, heat=None, noise=LONG)
    repository.commit(AUTUMN, heat="something else\n")
    assert [change.day for change in history(repository.content, "heat.md").changes] == [AUTUMN]
    assert [change.day for change in history(repository.content, "noise.md").changes] == [SPRING]


def test_the_oldest_changes_are_counted(repository: Repository) -> None:
    for number in range(5):
        repository.commit(SPRING, str(number), heat=f"{number}\n")
    found = history(repository.content, "heat.md", most=2)
    assert ([change.subject for change in found.changes], found.more) == (["4", "3"], 3)


def test_a_shallow_clone_tells_what_it_knows(repository: Repository, tmp_path: Path) -> None:
    for day, text in ((SPRING, "one\n"), (SUMMER, "two\n"), (AUTUMN, "three\n")):
        repository.commit(day, heat=text)
    repository.git("clone", "-q", "--depth", "2", f"file://{repository.folder}", str(tmp_path / "shallow"))
    found = history(tmp_path / "shallow/content", "heat.md")
    assert found.repository == "shallow"
    assert told(found) == [(AUTUMN, "x", "text", "two\n", "three\n")]


def test_without_repository_nothing_is_known(tmp_path: Path) -> None:
    assert history(tmp_path, "heat.md") == History("missing")
    assert list(versions(tmp_path, "heat.md")) == []
    assert write_histories(tmp_path, tmp_path / "index.json") == 0
    assert read_histories(tmp_path / "index.json") == {}


def test_without_git_nothing_is_known(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit(SPRING, heat="one\n")
    monkeypatch.setenv("PATH", str(repository.content))
    assert history(repository.content, "heat.md") == History("missing")
    assert list(versions(repository.content, "heat.md")) == []
    assert write_histories(repository.content, repository.folder / "index.json") == 0


def test_a_note_that_is_not_committed_has_no_history(repository: Repository) -> None:
    assert history(repository.content, "heat.md") == History("whole")
    repository.commit(SPRING, order="one\n", gone="one\n")
    repository.commit(SUMMER, gone=None)
    (repository.content / "heat.md").write_text("new\n")
    assert history(repository.content, "heat.md") == history(repository.content, "gone.md") == History("whole")


@pytest.mark.parametrize("hidden", ["draft: true", "'draft': yes", "{draft: on}", "publish: false"])
def test_what_was_a_draft_is_not_read_later(repository: Repository, hidden: str) -> None:
    repository.commit(SPRING, "Begin", heat=f"---\n{hidden}\n---\nsecret\n")
    repository.commit(SUMMER, "Publish", heat="public\n")
    repository.commit(AUTUMN, "Hide", heat=f"---\n{hidden}\n---\nsecret again\n")
    repository.commit(WINTER, "Show", heat="public again\n")
    found = history(repository.content, "heat.md")
    assert told(found) == [
        (WINTER, "Show", "planted", None, "public again\n"),
        (SUMMER, "Publish", "planted", None, "public\n"),
    ]
    assert list(versions(repository.content, "heat.md")) == ["public again\n", "public\n"]
    assert [change.subject for change in kept(repository)["heat.md"].changes] == ["Show", "Publish"]
    assert "secret" not in (repository.folder / "index.json").read_text()
    assert len(history(repository.content, "heat.md", drafts=True).changes) == 4


def test_every_text_of_a_file_is_found(repository: Repository) -> None:
    for text in ("one\n", "two\n", "one\n", "three\n"):
        repository.commit(SPRING, heat=text)
    assert list(versions(repository.content, "heat.md")) == ["three\n", "one\n", "two\n"]


# The index


def test_an_image_without_repository_tells_the_same(repository: Repository) -> None:
    repository.commit(SPRING, "Plant", heat=LONG, order="")
    repository.commit(SUMMER, "Rename", heat=None, noise=LONG + "more\n")
    repository.commit(AUTUMN, "Mend", noise="---\ntags: [a]\n---\n" + LONG + "more\n", order="one\n")
    found = kept(repository)
    assert set(found) == {"noise.md", "order.md"}
    for file, known in found.items():
        asked = history(repository.content, file)
        planted = asked.changes[-1]
        short = Change(planted.commit, planted.day, planted.subject, "planted", None, None)
        assert known == History("whole", (*asked.changes[:-1], short))


def test_the_index_keeps_what_else_it_holds(repository: Repository) -> None:
    repository.commit(SPRING, heat="one\n")
    path = repository.folder / "index.json"
    assert read_histories(path) is None
    write_index(dates(repository.content), path)
    assert read_histories(path) is None
    before = json.loads(path.read_text())
    assert write_histories(repository.content, path) == 1
    after = json.loads(path.read_text())
    assert {key: after[key] for key in before} == before
    assert set(after) - set(before) == {"history"}
    assert os.listdir(repository.folder).count("index.json") == 1


def test_an_index_is_bounded_and_the_newest_stays(repository: Repository) -> None:
    for number in range(4):
        repository.commit(SPRING, str(number), heat=f"heat {number}\n", order=f"order {number}\n")
    few = kept(repository, most=3)
    listed = {file: ([one.subject for one in known.changes], known.more) for file, known in few.items()}
    assert listed == {"heat.md": (["3", "2"], 2), "order.md": (["3"], 3)}
    small = kept(repository, most_text=len("heat 3\nheat 2\n"))
    assert (small["heat.md"].changes[0].before, small["heat.md"].changes[0].after) == ("heat 2\n", "heat 3\n")
    others = [*small["heat.md"].changes[1:], *small["order.md"].changes]
    assert {(one.before, one.after) for one in others} == {(None, None)}
    assert [one.kind for one in small["order.md"].changes] == ["text", "text", "text", "planted"]
