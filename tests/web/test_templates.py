"""Pages as documents: they nest, name their controls, keep their languages apart; templates and words agree."""

import re
from pathlib import Path

import pytest
from jinja2 import StrictUndefined
from starlette.testclient import TestClient

from app.experiments import EXPERIMENTS
from app.experiments.parameters import Choice
from app.language import Text
from app.settings import shipped
from app.web.assets import read_assets
from app.web.rendering import environment
from app.web.words import WORDS
from tests.conftest import ROOT
from tests.web.visits import PAGES, Element, Page

TEMPLATES = sorted(ROOT.glob("templates/**/*.*"))
HAN = re.compile(r"[\u3400-\u9fff]")


@pytest.mark.parametrize("address", PAGES)
def test_a_page_is_a_sound_document(site: TestClient, address: str) -> None:
    answer = site.get(address)
    assert answer.text.startswith("<!doctype html>\n<html lang=")
    page = Page(answer.text)
    assert page.wrong == []
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert sorted(ids, key=str) == sorted(set(ids), key=str)
    assert page.unlabelled() == []
    assert page.dangling() == []
    assert "" not in list(page.hrefs())
    assert len(page.all("h1")) == 1
    assert len(page.all("main", id="main")) == 1


@pytest.mark.parametrize("address", PAGES)
def test_nothing_in_a_page_needs_an_exception_to_the_policy(site: TestClient, address: str) -> None:
    page = Page(site.get(address).text)
    assert page.all("style") == []
    scripts = [one for one in page.all("script") if one.attributes.get("type") != "application/ld+json"]
    assert [one for one in scripts if not one.attributes.get("src") or one.text.strip()] == []
    inline = [name for one in page.elements for name in one.attributes if name == "style" or name.startswith("on")]
    assert inline == []
    assert [href for href in page.hrefs() if href.lower().startswith(("javascript:", "vbscript:"))] == []


def test_every_link_within_the_garden_leads_somewhere(site: TestClient) -> None:
    english = [address for address in PAGES if "/zh/" not in address and "9" not in address]
    hrefs = {href.partition("#")[0] for address in english for href in Page(site.get(address).text).hrefs()}
    dead = [href for href in sorted(hrefs) if href.startswith("/") and site.get(href).status_code not in (200, 422)]
    assert dead == []
    assert len(hrefs) > 100


@pytest.mark.parametrize("address", [page for page in PAGES if "/en/" in page])
def test_an_english_page_holds_no_chinese(site: TestClient, address: str) -> None:
    page = Page(site.get(address).text)
    assert [text.strip() for text, around in page.texts if HAN.search(text) and not foreign(around, "zh")] == []
    assert [text for text in spoken(page) if HAN.search(text)] == []


@pytest.mark.parametrize("address", [page for page in PAGES if "/zh/" in page])
def test_a_chinese_page_holds_no_words_of_the_english_one(site: TestClient, address: str) -> None:
    page = Page(site.get(address).text)
    english = {text.en.strip(" .:,") for text in words()} - {""}
    assert [text for text, around in page.texts if text.strip(" .:,\n") in english and not foreign(around, "en")] == []
    assert [text for text in spoken(page) if text.strip(" .:,") in english] == []


def foreign(around: tuple[Element, ...], language: str) -> bool:
    """Whether text is code, or is said to be in the other language."""
    langs = [one.attributes.get("lang") or "" for one in around if one.tag != "html"]
    return any(one.tag in ("code", "pre") for one in around) or any(lang.startswith(language) for lang in langs)


def spoken(page: Page) -> list[str]:
    """What is read aloud, or shown on hovering and in empty fields."""
    names = ("title", "aria-label", "placeholder", "alt", "content", "data-unreachable")
    return [value for one in page.elements for name, value in one.attributes.items() if name in names and value]


def words() -> list[Text]:
    """Everything that the interface and the experiments say, where Chinese differs from English."""
    said = [text for name, text in WORDS.items() if name != "other_language"]
    for experiment in EXPERIMENTS.values():
        said += [experiment.title, experiment.summary, *(preset.words for preset in experiment.presets)]
        for parameter in experiment.parameters:
            said += [parameter.label, parameter.accepts, *([parameter.help] if parameter.help else [])]
            said += [text for _, text in parameter.options] if isinstance(parameter, Choice) else []
    return [text for text in said if text.en != text.zh and HAN.search(text.zh)]


def test_templates_are_strict_about_every_name() -> None:
    env = environment(shipped("templates"), read_assets(shipped("static")), False)
    assert env.undefined is StrictUndefined
    assert env.autoescape is True


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_the_first_line_of_a_template_says_what_it_shows(path: Path) -> None:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    assert re.fullmatch(r"\{# .+ #\}", first)
    for module in re.findall(r"app/[a-z_/]+\.py", first):
        named = re.findall(rf"(\w+)(?:, [a-z]\w+)* of {module}", first)
        assert (ROOT / module).is_file()
        assert all(
            re.search(rf"^class {name.removesuffix('s')}", (ROOT / module).read_text(encoding="utf-8"), re.MULTILINE)
            for name in named
        )


def test_every_template_is_shown_by_some_page() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in (*TEMPLATES, *ROOT.glob("app/web/*.py")))
    shown = [str(path.relative_to(ROOT / "templates")) for path in TEMPLATES]
    assert [name for name in shown if f'"{name}"' not in texts] == []


def test_every_word_of_the_interface_is_used_and_every_word_used_exists() -> None:
    sources = [
        path.read_text(encoding="utf-8")
        for path in (*TEMPLATES, *ROOT.glob("app/web/[!w]*.py"), ROOT / "app/web/widgets.py")
    ]
    used = {name for source in sources for name in re.findall(r"\bwords\.([a-z]\w+)", source)}
    used |= {name for source in sources for name in re.findall(r"""\bwords\[["']([a-z_]+)["']\]""", source)}
    stems = {stem for source in sources for stem in re.findall(r"""\bwords\[["']([a-z_]+_)["'] ~""", source)}
    made = {name for name in WORDS if any(name.startswith(stem) for stem in stems)}
    assert used - set(WORDS) == set()
    assert set(WORDS) - used - made == set()
    assert stems == {"growth_", "about_", "kind_", "line_", "change_", "ailment_"}


@pytest.mark.parametrize("name", WORDS)
def test_the_words_of_the_interface_take_the_same_places_in_both_languages(name: str) -> None:
    assert WORDS[name].en.count("{}") == WORDS[name].zh.count("{}")
    assert not HAN.search(WORDS[name].en) or name == "other_language"
