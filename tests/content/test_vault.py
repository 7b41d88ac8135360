"""A vault that is not ours: whatever Obsidian's authors call fine is read, linked and stops nothing."""

import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from app.content.excerpts import excerpt
from app.content.note import Note, Prose
from app.content.reader import read_notes
from app.content.render import html
from app.garden.garden import Garden, grow
from tests.content.garden import Shown, read, shown
from tests.content.test_notes import by_file, folder

VAULT: dict[str, str | bytes] = {
    ".obsidian/app.json": "{}",
    ".trash/old.md": "[x]{concept=}",
    "node_modules/package/README.md": "[x]{concept=}",
    "README.md": (
        "# A vault\n\nSee [[Projects/README]], [[Projects/Alpha#Open questions: a/b|questions]] and [[Alpha#^done]].\n"
    ),
    "Projects/README.md": "---\ntags: [project]\ncreated: 2026-11-30\n---\n[[Alpha]] #area/one\n![[Alpha#^done]]\n",
    "Projects/Alpha.md": (
        "---\naliases: A, The first\ncssclasses: wide\n---\n# Alpha\n\n- [ ] open\n- [x] done ^done\n\n"
        "## Open `questions`: a/b\n\n"
        "It cost $5,000, then \\[5\\], then $\\unknowncommand{x}$. ==So== it is.%% canary %%\n\n"
        "![[Alpha#^gone]]\n\n"
        "[[Beta#A heading that was renamed]] [[Alpha#Alpha|top]] [[README|home]] [[projects/readme]]\n"
    ),
    "Projects/Beta.md": "## Only heading\n\n![[Drawing.excalidraw]] ![[Pasted image 1.png|300]] ![[gone.png]]\n",
    "Projects/Drawing.excalidraw.md": "---\nexcalidraw-plugin: parsed\n---\ncanary\n",
    "Projects/old drawing.md": "---\nexcalidraw-plugin: raw\n---\ncanary\n",
    "Projects/board.canvas": '{"nodes": ["canary"]}',
    "Templates/Daily.md": "---\ntitle: {{title}}\ncreated: {{date}}\n---\n<% tp.file.title %> [[{{yesterday}}]]\n",
    "Templates/Other.md": "---\n<% tp.frontmatter %>\na: b\n---\n",
    "private.md": "---\npublish: false\n---\ncanary\n",
    "attachments/pasted image 1.PNG": b"\x89PNG",
    "日记/2026-11-30.MD": "今天读 [[Projects/Alpha|甲]]。#日记\r\n\r\n> [!quote]- 说\r\n> 嵌入：\r\n> ![[Alpha]]\r\n",
    "日记/动量　速度 👩‍🔬.md": "\ufeff```widget\n```\n\n```dataview\nlist\n```\n\n[mot]{lang=fr}\t[[😀]]\n",
    "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/README.md": "deep\n",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Garden:
    notes, faults = read_notes(folder(tmp_path_factory.mktemp("vault"), VAULT), "en")
    garden = grow(notes, {})
    return replace(garden, faults=tuple(fault for fault in (*faults, *garden.faults) if fault.stops))


def one(garden: Garden, slug: str) -> Note:
    found = garden.note("en", slug)
    assert found is not None
    return found


def test_nothing_in_it_stops_the_start(vault: Garden) -> None:
    assert vault.faults == ()


def test_its_notes_are_served_and_nothing_that_is_none(vault: Garden) -> None:
    assert {note.slug for note in vault.notes()} == {
        "README", "Projects-README", "p-README", "Alpha", "Beta", "Daily", "Other", "2026-11-30", "动量　速度 👩‍🔬",
    }  # fmt: skip


def test_what_its_author_keeps_to_himself_is_in_none_of_its_notes(vault: Garden) -> None:
    assert "canary" not in repr([replace(note, source="") for note in vault.notes()])


def test_its_links_lead_where_obsidian_leads(vault: Garden) -> None:
    alpha = one(vault, "Alpha")
    home = one(vault, "README")
    aims = [vault.resolve(link.target, link.section, "en", home) for link in home.links]
    assert [(aim.slug, aim.section, aim.title) for aim in aims if aim] == [
        ("Projects-README", None, "README"),
        ("Alpha", "open-questions-a-b", "Open questions: a/b"),
        ("Alpha", "block-done", "Alpha"),
    ]
    own = [vault.resolve(link.target, link.section, "en", alpha) for link in alpha.links]
    assert [(aim.slug, aim.section) for aim in own if aim] == [
        ("Beta", None),
        ("Alpha", None),
        ("Projects-README", None),
        ("Projects-README", None),
    ]


def test_a_named_block_is_shown_elsewhere(vault: Garden) -> None:
    parts = [shown(replace(piece.note, body=(piece.block,))) for piece in vault.placed(one(vault, "Projects-README"))]
    assert '<ul>\n<li class="task" id="block-done">' in "".join(parts)


def test_tags_of_the_text_stand_beside_those_of_the_front_matter(vault: Garden) -> None:
    assert one(vault, "Projects-README").tags == ("project", "area/one")
    assert [note.slug for note in vault.tagged("en", "日记")] == ["2026-11-30"]


def test_its_pictures_are_found_in_any_spelling(vault: Garden) -> None:
    assert one(vault, "Beta").files == ("attachments/pasted image 1.PNG",)


def test_its_faults_are_warnings(vault: Garden, tmp_path: Path) -> None:
    _, faults = read_notes(folder(tmp_path, VAULT), "en")
    told = {(fault.file, fault.what.split(";")[0]) for fault in (*faults, *vault.warnings)}
    assert {
        ("Projects/Alpha.md", "Projects/Alpha.md has no block '^gone'"),
        ("Projects/Beta.md", "there is no file 'gone.png' in the content folder"),
        ("Projects/README.md", "'README' is the slug of another note"),
        ("Templates/Daily.md", "no note is called '{{yesterday}}' yet"),
        ("日记/2026-11-30.MD", "'![[Alpha]]' is shown as a link here"),
        ("日记/动量　速度 👩‍🔬.md", "this block names no experiment, so it is shown as code"),
    } <= told
    assert any("this LaTeX cannot be read: '\\\\unknowncommand{x}'" in what for _, what in told)
    assert any("Projects/Beta.md has no section 'A heading that was renamed'" in what for _, what in told)


def test_a_missing_section_stops_the_start_but_for_the_words_of_a_heading_in_a_note_without_ids(tmp_path: Path) -> None:
    texts = {"a.md": "[[b#Once here]] [[b#gone]] [[c#Once here]]", "b.md": "## Here\n", "c.md": "## Here {#here}\n"}
    notes, _ = read_notes(folder(tmp_path, texts), "en")
    assert [fault.what.split(";")[0] for fault in grow(notes, {}).faults] == [
        "b.md has no section 'gone'",
        "c.md has no section 'Once here'",
    ]


def test_one_spelling_is_found_by_another(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "Café Ideen")
    texts: dict[str, str | bytes] = {
        f"{decomposed}.md": "## Straße\n",
        "a.md": "[[CAFÉ　IDEEN#STRASSE]] ![[Bild É.PNG]]",
    }
    texts[unicodedata.normalize("NFD", "x/bild é.png")] = b""
    notes, faults = read_notes(folder(tmp_path, texts), "en")
    garden = grow(notes, {})
    (link,) = one(garden, "a").links
    aim = garden.resolve(link.target, link.section, "en")
    assert aim and (aim.slug, aim.section) == ("Café Ideen", "straße")
    assert not [*faults, *garden.faults]


def test_of_notes_of_one_stem_the_one_beside_is_meant(tmp_path: Path) -> None:
    texts = {"README.md": "", "a/README.md": "", "a/x.md": "[[readme]] [x](README.md)", "b/y.md": "[[README]]"}
    notes, _ = by_file(folder(tmp_path, texts))
    assert [link.target for link in notes["a/x.md"].links] == ["a-README", "a-README"]
    assert [link.target for link in notes["b/y.md"].links] == ["README"]


def test_a_name_that_no_address_can_hold_is_left_out_with_a_warning(tmp_path: Path) -> None:
    notes, faults = by_file(folder(tmp_path, {"a\nb.md": "", "c.md": ""}))
    assert list(notes) == ["c.md"]
    assert [(fault.file, fault.stops) for fault in faults] == [("a\\nb.md", False)]


def test_a_tag_counts_once_whatever_its_case() -> None:
    note, _ = read("---\ntags: [Resume, x]\n---\n# Of #title\n\n#resume and #y and #Y\n\n- #y `#z`\n")
    assert note.tags == ("Resume", "x", "title", "y")
    assert note.title == "Of #title"


def test_a_passage_reads_as_a_reader_sees_it() -> None:
    text = "- [x] ==a== %%secret%% b #c ^id\n\n![d|300](pictures/plot.png) ![[gone.png|e]] f::g\n"
    note, _ = read(text)
    assert [passage.text for passage in note.passages] == ["a b #c", "d e f::g"]
    assert "secret" not in note.summary


def test_a_block_alone_comes_with_its_footnotes() -> None:
    note, _ = read(
        "one[^1] ^one\n\n## Two ^two\n\ntwo[^2]\n\n```\ncode\n```\n\n^three\n\n[^1]: first\n[^2]: second ^four\n"
    )
    assert [anchor.id for anchor in note.anchors] == ["block-one", "block-two", "block-three", "block-four"]
    alone = {anchor.id: shown(replace(note, body=excerpt(note, anchor.id))) for anchor in note.anchors}
    assert "first" in alone["block-one"] and "second" not in alone["block-one"] and "two" not in alone["block-one"]
    assert "second" in alone["block-two"] and "code" in alone["block-two"] and "first" not in alone["block-two"]
    assert alone["block-three"] == '<div id="block-three"><pre class="highlight"><code>code\n</code></pre>\n</div>'
    assert alone["block-four"].startswith('<p id="block-four">second')


def test_a_block_inside_another_note_repeats_no_id() -> None:
    note, _ = read("- a ^x\n")
    (prose,) = note.body
    assert isinstance(prose, Prose)
    assert 'id="heat-block-x"' in html(prose, Shown(prefix="heat-"))
