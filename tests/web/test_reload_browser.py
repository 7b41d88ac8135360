"""`serve --reload` in a real browser: what an author writes appears, and nothing else moves."""

import gc
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.main import create_live
from app.settings import Settings
from tests.conftest import CONTENT, Reader, served
from tests.web.visits import ARTICLE, planted

PERENNIAL = Path(sys.executable).with_name("perennial")
LONG = "\n\n".join(f"Paragraph {number} of a long note." for number in range(60))
NOTE = f"# Heat\n\nFirst words.\n\n{LONG}\n\n## Flow {{#flow}}\n\nIt flows. [[order]]\n\n{LONG}\n"
WRONG = "[0.9]{ran=momentum read=uninterrupted.3.w}"


@dataclass
class Author:
    """A folder, and a server that follows what is written in it."""

    content: Path
    address: str
    server: subprocess.Popen[str]

    def write(self, name: str, text: str) -> None:
        (self.content / name).write_text(text, encoding="utf-8")

    def until(self, path: str, words: str) -> None:
        deadline = time.monotonic() + 20
        while words not in self.get(path):
            assert time.monotonic() < deadline and self.server.poll() is None, f"{words} never came"
            time.sleep(0.02)

    def get(self, path: str) -> str:
        try:
            with urllib.request.urlopen(self.address + path) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as refused:
            return str(refused.read().decode()) if refused.code == 503 else ""
        except OSError:
            return ""


@pytest.fixture
def author(tmp_path: Path) -> Iterator[Author]:
    content = planted(tmp_path / "notes", heat_en=NOTE, order_en="# Order\n\nNothing links onwards.\n")
    yield from follow(content)


def follow(content: Path, **environment: str) -> Iterator[Author]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [str(PERENNIAL), "serve", "--reload", "--content", str(content), "--port", str(port)]
    with subprocess.Popen(
        words, stderr=subprocess.PIPE, text=True, env=os.environ | environment | {"COLUMNS": "400"}
    ) as server:
        one = Author(content, f"http://127.0.0.1:{port}", server)
        try:
            one.until("/healthz" if "broken" not in content.name else "/en/", "a")
            yield one
        finally:
            server.send_signal(signal.SIGINT)
            began = time.monotonic()
            server.communicate(timeout=20)
            assert time.monotonic() - began < 15, "open streams held the server up"


def test_an_edit_appears_and_the_page_keeps_its_place(author: Author, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{author.address}/en/heat")
    flow = page.locator("#flow")
    flow.evaluate("one => scrollTo({ top: one.getBoundingClientRect().top + scrollY - 120, behavior: 'instant' })")
    before = flow.evaluate("one => one.getBoundingClientRect().top")
    author.write("heat.en.md", NOTE.replace("First words.", "First words.\n\n" + "More above. " * 400))
    expect(page.locator("main")).to_contain_text("More above.")
    deadline = time.monotonic() + 10
    while abs(flow.evaluate("one => one.getBoundingClientRect().top") - before) > 2:
        assert time.monotonic() < deadline, "the page lost its place"


def test_only_pages_whose_bytes_changed_are_loaded_again(author: Author, reader: Callable[..., Reader]) -> None:
    heat, order = reader().open(f"{author.address}/en/heat"), reader().open(f"{author.address}/en/order")
    for page in (heat, order):
        page.evaluate("window.mine = true")
    author.write("heat.en.md", NOTE.replace("First words.", "Other words."))
    expect(heat.locator("main")).to_contain_text("Other words.")
    with order.expect_response(lambda answer: answer.request.method == "HEAD"):
        author.write("heat.en.md", NOTE.replace("First words.", "Third words."))
    assert order.evaluate("window.mine") is True
    author.write("heat.en.md", NOTE.replace("It flows.", "It runs down."))
    expect(order.locator(".backlinks")).to_contain_text("It runs down.")


def test_faults_stand_in_the_page_until_they_are_mended(author: Author, reader: Callable[..., Reader]) -> None:
    page = reader().open(f"{author.address}/en/order")
    author.write("heat.en.md", NOTE + WRONG)
    banner = page.get_by_role("alert")
    expect(banner).to_contain_text("the computation gives 0.514")
    assert "First words." in author.get("/en/heat") and WRONG not in author.get("/en/heat")
    author.write("heat.en.md", NOTE.replace("First", "Mended"))
    expect(banner).to_have_count(0)
    author.until("/en/heat", "Mended words.")


def test_notes_come_move_and_go(author: Author) -> None:
    author.write("cold.en.md", "# Cold\n\n[[order]] of things.\n")
    author.until("/en/cold", "of things")
    author.until("/en/order", "of things")
    assert json.loads(author.get("/api/search?q=things"))["total"] == 1
    (author.content / "cold.en.md").rename(author.content / "colder.en.md")
    author.until("/en/colder", "of things")
    author.until("/en/order", 'href="/en/colder"')
    assert 'href="/en/cold"' not in author.get("/en/order")
    (author.content / "colder.en.md").unlink()
    author.until("/api/search?q=things", '"total":0')


def test_many_saves_in_a_row_end_on_the_last(author: Author) -> None:
    for number in range(30):
        author.write("heat.en.md", f"# Heat\n\nSave {number}.\n")
        time.sleep(0.01)
    author.until("/en/heat", "Save 29.")


def test_an_editor_may_save_by_way_of_another_file(author: Author) -> None:
    author.write(".heat.swp", "# Heat\n\nBy way of another.\n")
    (author.content / ".heat.swp").replace(author.content / "heat.en.md")
    author.until("/en/heat", "By way of another.")


def test_a_garden_that_cannot_be_grown_yet_says_why_and_follows(tmp_path: Path, reader: Callable[..., Reader]) -> None:
    content = planted(tmp_path / "broken", heat_en=f"# Heat\n\n{WRONG}\n")
    following = follow(content)
    author = next(following)
    page = reader().page
    page.goto(f"{author.address}/en/heat")
    expect(page.locator("li")).to_contain_text("heat.en.md:3: the text says 0.9")
    author.write("heat.en.md", "# Heat\n\nWarm.\n")
    expect(page.locator("main")).to_contain_text("Warm.")
    following.close()


def test_no_page_follows_anything_where_it_was_not_asked_for(tmp_path: Path) -> None:
    with served(planted(tmp_path / "notes", one_en="# One")) as address:
        one = Author(tmp_path, address, subprocess.Popen(["true"]))
        one.server.wait()
        assert "reload.js" not in one.get("/en/one")
        for path in ("/api/reload", "/api/reload.js"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(address + path)


def test_a_paragraph_on_the_screen_stays_there(author: Author, reader: Callable[..., Reader]) -> None:
    """Also where the words above it are of the same section, and what was unfolded stays so."""
    folded = "> [!note]- Folded\n> Inside.\n\n"
    author.write("heat.en.md", folded + NOTE.replace("First words.", "First again."))
    author.until("/en/heat", "First again.")
    page = reader().open(f"{author.address}/en/heat")
    page.get_by_text("Folded").click()
    one = page.get_by_text("Paragraph 40 of").first
    one.evaluate("one => scrollTo({ top: one.getBoundingClientRect().top + scrollY - 200, behavior: 'instant' })")
    before = one.evaluate("one => one.getBoundingClientRect().top")
    author.write("heat.en.md", folded + NOTE.replace("Paragraph 30 of", "Much more. " * 400 + "\n\nParagraph 30 of", 1))
    expect(page.locator("main")).to_contain_text("Much more.")
    expect(page.get_by_text("Inside.")).to_be_visible()
    deadline = time.monotonic() + 10
    while abs(one.evaluate("one => one.getBoundingClientRect().top") - before) > 2:
        assert time.monotonic() < deadline, "the page lost its place"


def test_the_article_keeps_its_place_beside_its_contents(tmp_path: Path, reader: Callable[..., Reader]) -> None:
    content = tmp_path / "garden"
    shutil.copytree(CONTENT, content)
    article = content / f"{ARTICLE}.en.md"
    written = article.read_text(encoding="utf-8")
    following = follow(content)
    page = reader(viewport={"width": 1440, "height": 900}).open(f"{next(following).address}/en/{ARTICLE}#levels")
    expect(page.locator(".toc")).to_be_visible()
    page.evaluate("scrollTo({ top: 5000, behavior: 'instant' })")
    article.write_text(f"{written}\n\nBelow it all.\n", encoding="utf-8")
    expect(page.locator("main")).to_contain_text("Below it all.")
    page.wait_for_timeout(500)  # also when all is loaded
    assert page.evaluate("scrollY") == 5000
    following.close()


def test_a_note_that_was_away_for_a_while_comes_back_in_its_place(
    author: Author, reader: Callable[..., Reader]
) -> None:
    page = reader().open(f"{author.address}/en/heat")
    page.locator("#flow").evaluate("one => one.scrollIntoView({ behavior: 'instant' })")
    before = page.evaluate("scrollY")
    (author.content / "heat.en.md").rename(author.content / ".away")
    expect(page).to_have_title("Nothing grows at this address · Perennial")
    (author.content / ".away").rename(author.content / "heat.en.md")
    expect(page.locator("#flow")).to_have_count(1)
    deadline = time.monotonic() + 10
    while abs(page.evaluate("scrollY") - before) > 2:
        assert before > 500 and time.monotonic() < deadline, "the page lost its place"


def test_hidden_pages_let_the_others_load(author: Author, reader: Callable[..., Reader]) -> None:
    """A browser opens six connections to a site; a page that follows holds one of them."""
    context = reader().context
    context.add_init_script("Object.defineProperty(document, 'hidden', { get: () => !window.looked, set() {} })")
    pages = [context.new_page() for _ in range(8)]
    for page in pages:
        page.goto(f"{author.address}/en/heat")
    author.write("heat.en.md", "# Heat\n\nNews.\n")
    author.until("/en/heat", "News.")
    expect(pages[0].locator("main")).not_to_contain_text("News.")
    pages[0].evaluate("window.looked = true; document.dispatchEvent(new Event('visibilitychange'))")
    expect(pages[0].locator("main")).to_contain_text("News.")


def test_no_name_and_no_move_of_the_folder_ends_the_watch(author: Author) -> None:
    Path(os.fsdecode(os.fsencode(author.content) + b"/\xff.md")).write_text("# No text", encoding="utf-8")
    (author.content / "concepts.yaml").mkdir()
    time.sleep(0.5)
    (author.content / "concepts.yaml").rmdir()
    author.write("heat.en.md", "# Heat\n\nAfter the name.\n")
    author.until("/en/heat", "After the name.")
    away = author.content.rename(author.content.with_name("away"))
    (away / "heat.en.md").write_text("# Heat\n\nWritten meanwhile.\n", encoding="utf-8")
    time.sleep(1.5)
    assert "After the name." in author.get("/en/heat")
    away.rename(author.content)
    author.until("/en/heat", "Written meanwhile.")
    author.write("heat.en.md", "# Heat\n\nAfter the move.\n")
    author.until("/en/heat", "After the move.")


def test_a_folder_that_tells_nobody_of_edits_is_looked_through(tmp_path: Path) -> None:
    content = planted(tmp_path / "notes", heat_en="# Heat\n\nWarm.\n")
    following = follow(content, WATCHFILES_FORCE_POLLING="true")
    author = next(following)
    for words in ("Once.", "Twice."):
        time.sleep(1.1)  # whole seconds are compared there
        author.write("heat.en.md", f"# Heat\n\n{words}\n")
        author.until("/en/heat", words)
    Path(os.fsdecode(os.fsencode(content) + b"/\xff.md")).write_text("# No text", encoding="utf-8")
    time.sleep(1.1)
    author.write("heat.en.md", "# Heat\n\nThrice.\n")
    author.until("/en/heat", "Thrice.")
    following.close()


def test_gardens_before_an_edit_are_given_up(tmp_path: Path) -> None:
    content = planted(tmp_path / "notes", heat_en="# Heat\n\nWarm.\n")
    live = create_live(Settings(content=content), lambda report: None)
    assert live.site is not None
    first = weakref.ref(live.site)
    live.take(live.regrow())
    gc.collect()
    assert first() is None
