"""A garden: what names lead to, who links to whom, and what an author should mend."""

import pytest
from handmade import embed, heading, include, note, prose, ran, section

from app.content.note import Link, Note
from app.errors import Fault
from app.garden.garden import Destination, Garden, grow
from app.language import Language


def link(target: str, section: str | None = None, sentence: str = "", line: int = 1) -> Link:
    return Link(target, section, None, sentence, line)


def garden(*notes: Note, drafts: bool = False) -> Garden:
    return grow(notes, {}, drafts=drafts)


def told(faults: tuple[Fault, ...]) -> list[str]:
    return [str(fault) for fault in faults]


HEAT = note("heat", title="Heat and Noise", aliases=("warmth",), sections=(section("loss", title="What is lost"),))
HEAT_ZH = note("heat", "zh", title="热与噪声", aliases=("暖",), sections=(section("loss", title="丢失了什么"),))


# Names


@pytest.mark.parametrize("target", ["heat", "Heat and Noise", "heat-and-noise", "HEAT AND NOISE", "Ｈｅａｔ", "Warmth"])
def test_a_link_names_a_slug_a_title_or_an_alias(target: str) -> None:
    assert garden(HEAT).resolve(target, None, "en") == Destination("en", "heat", None, "Heat and Noise")


@pytest.mark.parametrize(("language", "title"), [("en", "Heat and Noise"), ("zh", "热与噪声")])
def test_a_link_leads_to_the_language_of_the_page(language: Language, title: str) -> None:
    grown = garden(HEAT, HEAT_ZH)
    assert grown.resolve("heat", None, language) == Destination(language, "heat", None, title)
    assert grown.resolve("Heat and Noise", None, language) == Destination(language, "heat", None, title)


def test_a_note_that_exists_in_one_language_is_found_from_the_other() -> None:
    assert garden(HEAT).resolve("heat", None, "zh") == Destination("en", "heat", None, "Heat and Noise")


@pytest.mark.parametrize("named", ["loss", "Loss", "What is lost", "what-is-lost"])
def test_a_section_is_named_by_its_id_or_its_title(named: str) -> None:
    assert garden(HEAT).resolve("heat", named, "en") == Destination("en", "heat", "loss", "What is lost")


def test_an_empty_target_is_the_note_itself() -> None:
    assert garden(HEAT).resolve("", "loss", "en", HEAT) == Destination("en", "heat", "loss", "What is lost")
    assert garden(HEAT).resolve("", "loss", "en") is None


def test_what_is_not_written_leads_nowhere() -> None:
    assert garden(HEAT).resolve("cold", None, "en") is None


def test_an_alias_redirects_and_so_does_another_spelling() -> None:
    grown = garden(HEAT, HEAT_ZH)
    assert grown.redirect("en", "warmth") == "heat"
    assert grown.redirect("en", "HEAT") == "heat"
    assert grown.redirect("en", "heat") is None
    assert grown.redirect("en", "暖") is None
    assert grown.redirect("zh", "暖") == "heat"


def test_a_slug_is_never_redirected_to_a_note_with_that_alias() -> None:
    grown = garden(note("heat"), note("cold", aliases=("heat",)))
    assert grown.redirect("en", "heat") is None


def test_the_nearest_notes_come_best_first_and_in_the_language_of_the_page() -> None:
    grown = garden(HEAT, HEAT_ZH, note("heath"), note("sampler"), note("wheat", "zh"))
    assert [(found.language, found.slug) for found in grown.nearest("en", "heat-loss")] == [
        ("en", "heat"),
        ("en", "heath"),
        ("zh", "wheat"),
    ]
    assert [found.slug for found in grown.nearest("en", "heat", count=1)] == ["heat"]
    assert grown.nearest("en", "热与")[0] is HEAT


def test_tags_gather_their_notes_whatever_their_case() -> None:
    grown = garden(
        note("heat", tags=("Resume", "noise")), note("order", tags=("resume",)), note("热", "zh", tags=("恢复",))
    )
    assert {tag: [found.slug for found in notes] for tag, notes in grown.tags("en").items()} == {
        "noise": ["heat"],
        "Resume": ["heat", "order"],
    }
    assert [found.slug for found in grown.tagged("en", "RESUME")] == ["heat", "order"]
    assert grown.tagged("zh", "resume") == ()


# Links


def test_a_backlink_carries_the_sentence_that_links() -> None:
    order = note("order", links=(link("Heat", "loss", "It warms, see Heat.", 7),))
    (backlink,) = garden(HEAT, order).backlinks(HEAT)
    assert (backlink.note, backlink.sentence, backlink.section, backlink.line) == (
        order,
        "It warms, see Heat.",
        "loss",
        7,
    )


def test_a_transclusion_is_a_backlink_and_a_link_to_oneself_is_none() -> None:
    whole = note("whole", body=(include("heat", line=3),), links=(link("whole"),))
    grown = garden(HEAT, whole)
    assert [found.note.slug for found in grown.backlinks(HEAT)] == ["whole"]
    assert grown.backlinks(whole) == ()


def test_a_backlink_belongs_to_the_language_that_the_link_leads_to() -> None:
    grown = garden(HEAT, HEAT_ZH, note("order", "zh", links=(link("Heat and Noise"),)))
    assert [found.note.slug for found in grown.backlinks(HEAT_ZH)] == ["order"]
    assert grown.backlinks(HEAT) == ()


def test_a_link_to_a_note_not_yet_written_is_a_warning_with_the_nearest() -> None:
    grown = garden(HEAT, note("order", links=(link("heta", line=4), link("heat"), link("sampling", line=5))))
    assert grown.faults == ()
    assert "order.en.md:4: no note is called 'heta' yet; did you mean 'heat'?" in told(grown.warnings)
    assert "order.en.md:5: no note is called 'sampling' yet" in told(grown.warnings)


def test_a_link_to_a_section_that_is_not_there_is_an_error() -> None:
    grown = garden(HEAT, note("order", links=(link("heat", "los", line=4), link("heat", "entropy", line=5))))
    assert told(grown.faults) == [
        "order.en.md:4: heat.en.md has no section 'los'; did you mean 'loss'?",
        "order.en.md:5: heat.en.md has no section 'entropy'; its sections: loss",
    ]


def test_notes_that_share_a_name_are_reported_and_slugs_win() -> None:
    grown = garden(note("heat"), note("noise", title="Heat"), note("order", aliases=("noise",)))
    assert grown.resolve("heat", None, "en") == Destination("en", "heat", None, "Heat")
    assert [fault for fault in told(grown.warnings) if "rename" in fault] == [
        "noise.en.md:1: the title 'Heat' also names heat.en.md, where links to it lead; rename one of them",
        "order.en.md:1: the alias 'noise' also names noise.en.md, where links to it lead; rename one of them",
    ]


def test_a_note_named_in_both_languages_does_not_collide_with_itself() -> None:
    assert garden(note("heat", title="Heat", aliases=("HEAT",)), note("heat", "zh", title="Heat")).warnings == ()


def test_a_note_that_nothing_links_to_is_a_warning() -> None:
    grown = garden(HEAT, note("order", links=(link("heat"),)))
    assert [fault.file for fault in grown.warnings if "nothing links here" in fault.what] == ["order.en.md"]


def test_a_garden_of_one_note_and_its_translation_has_no_orphans() -> None:
    assert garden(HEAT, HEAT_ZH).warnings == ()


# Languages


def test_a_note_without_translation_is_a_warning_where_both_languages_are_used() -> None:
    grown = garden(HEAT, HEAT_ZH, note("order", links=(link("heat"),)))
    assert "order.en.md:1: has no translation; write order.zh.md" in told(grown.warnings)
    assert not [fault for fault in garden(HEAT, note("order")).warnings if "translation" in fault.what]


def test_where_both_translations_exist_sections_must_be_the_same() -> None:
    one = note("heat", sections=(section("loss", 4), section("gain", 9), section("auto", 12, explicit=False)))
    two = note("heat", "zh", sections=(section("gain", 5), section("losses", 8)))
    assert told(garden(one, two).faults) == [
        "heat.en.md:4: section 'loss' is not in heat.zh.md (is it 'losses' there?); give its heading there {#loss},"
        " or take the id away here",
        "heat.zh.md:8: section 'losses' is not in heat.en.md (is it 'loss' there?); give its heading there {#losses},"
        " or take the id away here",
    ]


def test_where_both_translations_exist_sections_must_stand_in_one_order() -> None:
    one = note("heat", sections=(section("loss", 4), section("gain", 9)))
    two = note("heat", "zh", sections=(section("gain", 5), section("loss", 8)))
    assert told(garden(one, two).faults) == [
        "heat.en.md:4: section 'loss' stands where heat.zh.md has 'gain'; put them in the same order"
    ]


def test_where_both_translations_exist_embeds_must_be_the_same() -> None:
    one = note("heat", body=(embed("momentum", line=3, beta="0.9"), embed("second", "momentum", line=8)))
    two = note("heat", "zh", body=(embed("momentum", line=4, beta="0.8"),))
    assert told(garden(one, two).faults) == [
        "heat.en.md:3: embed 'momentum' is not that of heat.zh.md:4: beta is 0.9 here, 0.8 there",
        "heat.en.md:8: embed 'second' (momentum) is not in heat.zh.md; place it there too",
    ]


def test_full_width_digits_are_the_same_parameter() -> None:
    one = note("heat", body=(embed("momentum", beta="0.9"),))
    two = note("heat", "zh", body=(embed("momentum", beta="０．９"),))
    assert garden(one, two).faults == ()


def test_where_both_translations_exist_ran_numbers_must_be_the_same_in_any_order() -> None:
    one = note("heat", rans=(ran("0.5", line=3), ran("1", line=4, restore="weights"), ran("2", line=5, read="a.b")))
    two = note("heat", "zh", rans=(ran("1.0", line=7, restore="weights"), ran("０．５", line=8)))
    assert told(garden(one, two).faults) == [
        "heat.en.md:5: the ran number 2 (momentum read=a.b) is not in heat.zh.md; write it there too"
    ]


def test_a_ran_number_told_twice_is_missed_when_it_is_told_once() -> None:
    one = note("heat", rans=(ran("0.5", line=3), ran("0.5", line=4)))
    two = note("heat", "zh", rans=(ran("0.5", line=7),))
    assert [(fault.file, fault.line) for fault in garden(one, two).faults] == [("heat.en.md", 4)]


def test_ran_numbers_must_say_the_same() -> None:
    one, two = note("heat", rans=(ran("0.5", line=3),)), note("heat", "zh", rans=(ran("0.6", line=7),))
    assert told(garden(one, two).faults) == [
        "heat.en.md:3: the ran number (momentum read=final_gap) says 0.5 here and 0.6 in heat.zh.md:7;"
        " write the same in both"
    ]


def test_a_growth_that_differs_is_a_warning() -> None:
    grown = garden(note("heat", growth="budding"), note("heat", "zh"))
    assert grown.faults == ()
    assert told(grown.warnings) == [
        "heat.en.md:1: the growth is budding here and seedling in heat.zh.md; write the same in both"
    ]


# Drafts


def test_a_draft_is_as_if_it_did_not_exist() -> None:
    draft = note("canary", title="Canary", draft=True, tags=("canary",), links=(link("heat"),), aliases=("yellow",))
    order = note(
        "order", links=(link("canary", line=4), link("canry", line=5), link("heat")), body=(include("canary"),)
    )
    grown = garden(HEAT, order, draft)
    assert grown.note("en", "canary") is None
    assert grown.resolve("canary", None, "en") is None
    assert grown.redirect("en", "yellow") is None
    assert grown.nearest("en", "canary") == ()
    assert grown.tags("en") == {}
    assert [found.note.slug for found in grown.backlinks(HEAT)] == ["order"]
    assert "order.en.md:4: no note is called 'canary' yet" in told(grown.warnings)
    assert "order.en.md:5: no note is called 'canry' yet" in told(grown.warnings)
    assert grown.blocks(order) == ()


def test_a_draft_that_was_asked_for_is_a_note() -> None:
    draft = note("canary", draft=True)
    assert garden(draft, drafts=True).notes("en") == (draft,)


def test_a_draft_of_a_translation_is_no_translation() -> None:
    draft = note("heat", "zh", draft=True, sections=(section("other"),))
    grown = garden(HEAT, draft)
    assert grown.translation(HEAT) is None
    assert grown.faults == ()


# Pages


def test_a_transclusion_becomes_the_blocks_of_its_section() -> None:
    widget = embed("momentum", line=9)
    heat = note(
        "heat",
        sections=(section("loss"), section("inner", level=3), section("gain")),
        body=(prose("before", heading("loss"), "a", heading("inner", 3)), widget, prose("b", heading("gain"), "c")),
    )
    whole = note("whole", body=(prose("start"), include("Heat", "loss", 5), prose("end")))
    grown = garden(heat, whole)
    assert grown.blocks(whole) == (
        prose("start"),
        prose(heading("loss"), "a", heading("inner", 3)),
        widget,
        prose("b"),
        prose("end"),
    )
    assert [piece.note.slug for piece in grown.placed(whole)] == ["whole", "heat", "heat", "heat", "whole"]


def test_a_transclusion_of_what_is_not_there_is_told() -> None:
    whole = note("whole", body=(include("cold", line=5), include("heat", "gain", line=6)))
    grown = garden(HEAT, whole)
    assert "whole.en.md:5: no note is called 'cold' yet" in told(grown.warnings)
    assert told(grown.faults) == ["whole.en.md:6: heat.en.md has no section 'gain'; its sections: loss"]
    assert grown.blocks(whole) == ()
    assert [piece.block for piece in grown.placed(whole)] == list(whole.body)


def test_transclusions_in_a_circle_are_an_error_that_names_them() -> None:
    one = note("one", body=(prose("1"), include("two", line=5)))
    two = note("two", body=(include("one", line=7),))
    assert told(garden(one, two).faults) == [
        "one.en.md:5: transclusion in a circle: two.en.md → one.en.md → two.en.md; take one of them out",
        "two.en.md:7: transclusion in a circle: one.en.md → two.en.md → one.en.md; take one of them out",
    ]


def test_two_sections_of_two_notes_may_show_each_other() -> None:
    one = note(
        "one",
        sections=(section("a"), section("b")),
        body=(prose(heading("a"), "1"), include("two", "c"), prose(heading("b"), "2")),
    )
    two = note(
        "two", sections=(section("c"), section("d")), body=(prose(heading("c"), "3", heading("d")), include("one", "b"))
    )
    grown = garden(one, two)
    assert grown.faults == ()
    assert grown.blocks(one) == (prose(heading("a"), "1"), prose(heading("c"), "3"), prose(heading("b"), "2"))


def test_transclusions_end_at_a_depth() -> None:
    chain = [note(f"n{n}", body=(include(f"n{n + 1}"),)) for n in range(12)]
    grown = garden(*chain, note("n12", body=(prose("end"),)))
    assert "n8.en.md:1: transclusions are nested deeper than 8; link instead" in told(grown.faults)


def test_notes_that_show_the_next_twice_each_do_not_grow_without_end() -> None:
    tower = [note(f"n{n}", body=(include(f"n{n + 1}"),) * 50) for n in range(6)]
    grown = garden(*tower, note("n6", body=(prose("end"),)))
    assert any("more than 1000 blocks" in fault.what for fault in grown.faults)
    assert len(grown.blocks(tower[0])) <= 1000


def test_an_embed_shown_in_another_note_keeps_its_name_only_where_it_is_free() -> None:
    heat = note("heat", body=(embed("momentum"), embed("second", "momentum")))
    whole = note("whole", body=(include("heat"), embed("momentum"), include("heat")))
    names = [block.name for block in garden(heat, whole).blocks(whole) if hasattr(block, "name")]
    assert names == ["heat-momentum", "second", "momentum", "heat-momentum-2", "heat-second"]


def test_an_empty_garden_answers() -> None:
    grown = garden()
    assert (grown.notes(), grown.tags("en"), grown.faults, grown.warnings) == ((), {}, (), ())
    assert grown.nearest("en", "x") == ()
