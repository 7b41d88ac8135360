"""Pictures that are drawn behind the scenes: what is kept of them, and how many may wait."""

import pickle
from pathlib import Path
from threading import Event

from app.content.note import Link
from app.garden.atlas import View
from app.garden.garden import Address, grow
from app.garden.layout import Picture
from app.garden.pictures import PICTURE, WAITING, Pictures
from app.garden.store import Store
from tests.garden.handmade import concept, concepts, mark, note

KNOWN = concepts(concept("flow", "flow", "流动"))
DAY = 20_000


def pictures(store: Store | None, *slugs: str) -> Pictures:
    links = tuple(Link(slug, None, None, "", 1) for slug in slugs)
    notes = [note(slug, marks=(mark("flow", "flow", "It flows."),), links=links) for slug in slugs]
    return Pictures(grow(notes, KNOWN), KNOWN, dict, store)


def test_the_picture_of_the_garden_is_there_in_the_next_start(tmp_path: Path) -> None:
    drawn = pictures(Store(tmp_path, DAY), "a", "b").drawing("en", View()).result()
    ((key, row),) = Store(tmp_path, DAY).all(PICTURE)
    assert pickle.loads(row) == drawn.picture
    other = Picture(1, 2, (), ())
    Store(tmp_path, DAY).put(PICTURE, {key: pickle.dumps(other)})
    assert pictures(Store(tmp_path, DAY), "b", "a").drawing("en", View()).result().picture == other
    assert pictures(Store(tmp_path, DAY), "a", "c").drawing("en", View()).result().picture != other


def test_pictures_of_former_gardens_and_of_views_are_not_kept(tmp_path: Path) -> None:
    for count in range(2, 10):
        garden = pictures(Store(tmp_path, DAY), *"abcdefghij"[:count])
        for view in (View(), View(kind="note"), View(around="note:a")):
            garden.drawing("en", view).result()
    assert len(list(Store(tmp_path, DAY).all(PICTURE))) <= 2


def test_who_asks_for_all_views_at_once_asks_again() -> None:
    """So many that the hand which draws them would be busy for minutes; nobody else should wait for that."""
    begun, garden = Event(), pictures(None, "a", "b")

    def slowly() -> dict[Address, tuple[str, ...]]:
        begun.wait(20)
        return {}

    garden.named = slowly
    views = [View(tag=f"tag {n}") for n in range(WAITING + 5)]
    asked = [garden.drawing("en", view) for view in views]
    begun.set()
    assert [len(drawing.result().graph) for drawing in asked[:WAITING]] == [0] * WAITING
    assert not any(drawing.done() for drawing in asked[WAITING:])
    assert len(garden.drawing("en", views[-1]).result().graph) == 0
