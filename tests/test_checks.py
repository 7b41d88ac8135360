"""A content folder checked: what an author is told, and what a page may show."""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.checks import Report, Run, Unread, check, needed, read, update
from app.drawing import Drawing
from app.errors import Fault
from app.experiments import EXPERIMENTS
from app.experiments.experiment import Experiment, Result, Table
from app.experiments.parameters import Number, Params
from app.language import alike
from app.measured import Measured, key

CONCEPTS = """\
momentum:
  label: {en: momentum, zh: 动量}
  meaning: {en: a running sum of gradients, zh: 梯度的累积}
"""


FIELDS = "step, w, v, lr, beta, target"
GO_ON = "go on to one of its values"
PARTED = "fields and indices parted by dots, as in resumed.1.w"


def noise(scale: float) -> dict[str, Any]:
    return {"level": scale * 2, "runs": [{"loss": scale, "name": "a"}, {"loss": math.nan, "name": "b"}]}


def noisy(run: Callable[..., dict[str, Any]] = noise) -> Experiment:
    """A measured experiment of one parameter."""
    return Experiment(
        name="noise",
        title=alike("Noise"),
        summary=alike("Noise."),
        exact=False,
        parameters=(Number(name="scale", label=alike("scale"), default=1.0, low=0, high=10),),
        run=run,
        code=(),
        presets=(),
        sentence=lambda params, result: alike(""),
        drawing=lambda params, result: Drawing(1, 1, (), alike("")),
        table=lambda params, result: Table(alike(""), (), ()),
    )


def in_place(experiment: Experiment, params: Params) -> Result:
    return experiment.run(**params)


class Vault:
    """A content folder that is written and checked."""

    def __init__(self, folder: Path) -> None:
        self.content = folder / "content"
        self.content.mkdir()
        self.experiments: Mapping[str, Experiment] = {**EXPERIMENTS, "noise": noisy()}
        self.write("concepts.yaml", CONCEPTS)

    def write(self, file: str, text: str) -> None:
        (self.content / file).write_text(text, encoding="utf-8")

    def check(self, run: Run | None = None, drafts: bool = False) -> Report:
        return check(self.content, "en", drafts, run, experiments=self.experiments)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path)


def told(faults: tuple[Fault, ...]) -> list[str]:
    return [str(fault) for fault in faults]


# Exact numbers


def test_a_number_that_the_computation_gives_is_no_fault(vault: Vault) -> None:
    vault.write(
        "heat.md",
        "# Heat\n\nIt reaches [0.514]{ran=momentum read=uninterrupted.3.w}, [−1.8]{ran=momentum read=checkpoint.v}.\n",
    )
    report = vault.check()
    assert (report.faults, report.warnings) == ((), ())


def test_a_number_that_disagrees_is_told_with_both_values(vault: Vault) -> None:
    vault.write("heat.md", "# Heat\n\nWhole again, w is\n[0.352]{ran=momentum read=resumed.1.w}.\n")
    assert told(vault.check().faults) == [
        "content/heat.md:4: the text says 0.352, the computation gives 0.514 (momentum, resumed.1.w);"
        " mend the number or its parameters"
    ]


def test_the_goldens_of_the_article_hold(vault: Vault) -> None:
    """w 0.28 and v −1.8 after two steps, then 0.514 in full, 0.352 without momentum, 0.614 with the target moved."""
    vault.write(
        "heat.md",
        "[0.28]{ran=momentum read=checkpoint.w} [-1.8]{ran=momentum read=checkpoint.v}"
        " [0.514]{ran=momentum read=resumed.1.w} [0.352]{ran=momentum restore=weights read=resumed.1.w}"
        " [0.614]{ran=momentum resumed_target=2 read=resumed.1.w} [13]{ran=momentum read=uninterrupted.length}"
        " [null]{ran=momentum read=first_difference} [12]{ran=momentum read=uninterrupted.-1.step}\n",
    )
    assert vault.check().faults == ()


def test_every_state_is_computed_once(vault: Vault) -> None:
    asked: list[Params] = []

    def run(experiment: Experiment, params: Params) -> Result:
        asked.append(params)
        return in_place(experiment, params)

    number = "[0.352]{ran=momentum restore=weights read=resumed.1.w}"
    vault.write("heat.md", f"{number} and {number} and [0.28]{{ran=momentum restore=WEIGHTS read=checkpoint.w}}\n")
    vault.write("heat.zh.md", f"{number}、{number}、[0.28]{{ran=momentum restore=WEIGHTS read=checkpoint.w}}\n")
    assert vault.check(run).faults == ()
    assert [params["restore"] for params in asked] == ["weights"]


def test_a_number_named_by_an_embed_starts_from_its_block(vault: Vault) -> None:
    vault.write(
        "heat.md",
        "```widget momentum\nas: second\nrestore: weights\n```\n\n"
        "[0.352]{ran=second read=resumed.1.w} [0.514]{ran=second restore=full read=resumed.1.w}\n",
    )
    assert vault.check().faults == ()


def test_a_number_named_by_an_experiment_starts_from_its_defaults(vault: Vault) -> None:
    vault.write("heat.md", "```widget momentum\nrestore: weights\n```\n\n[0.514]{ran=momentum read=resumed.1.w}\n")
    assert vault.check().faults == ()


# What an author mistyped


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[1]{ran=momentun read=a}", "1: no experiment is called 'momentun'; did you mean 'momentum'?"),
        ("```widget momentun\n```", "1: no experiment is called 'momentun'; did you mean 'momentum'?"),
        ("[v]{concept=momentun}", "1: no concept is called 'momentun'; did you mean 'momentum'?"),
        ("[1]{ran=momentum beta=1.5 read=final_gap}", "1: momentum: beta = '1.5' must be at least 0 and below 1"),
        ("[1]{ran=momentum beat=1 read=w}", "1: momentum: beat = '1' there is no such parameter; did you mean beta?"),
        ("```widget momentum\nbeta: 1.5\n```", "1: momentum: beta = '1.5' must be at least 0 and below 1"),
        ("[1]{ran=momentum read=resumd.1.w}", "1: momentum: the result has no 'resumd'; did you mean 'resumed'?"),
        ("[1]{ran=momentum read=resumed.11.w}", "1: momentum: resumed has no item 11; it has 11, counted from 0"),
        ("[1]{ran=momentum read=resumed.1.x}", "1: momentum: resumed.1 has no 'x'; it has step, w, v"),
        ("[1]{ran=momentum read=resumed.w}", "1: momentum: resumed is a list of 11 and has no 'w'"),
        ("[1]{ran=momentum read=final_gap.w}", "1: momentum: final_gap is the value 0 and has no 'w'"),
        ("[1]{ran=momentum read=resumed}", f"1: momentum: resumed leads to a list of 11; {GO_ON}"),
        ("[1]{ran=momentum read=checkpoint}", f"1: momentum: checkpoint leads to a record of {FIELDS}; {GO_ON}"),
        ("[1]{ran=momentum read=resumed.1-2}", f"1: momentum: 'resumed.1-2' is no path: {PARTED}"),
    ],
)  # fmt: skip
def test_a_slip_is_told_with_its_line_and_the_likely_mend(vault: Vault, text: str, fault: str) -> None:
    vault.write("heat.md", text + "\n")
    assert told(vault.check().faults) == [f"content/heat.md:{fault}"]


def test_all_faults_are_told_at_once_and_in_order(vault: Vault) -> None:
    vault.write(
        "b.md", "---\ngrowth: huge\n---\n[1]{ran=momentum beta=2 lr=0 read=final_gap}\n\n[x]{concept=nothing}\n"
    )
    vault.write("a.md", "[[b#nowhere]]\n\n[1]{ran=momentun read=final_gap}\n")
    faults = vault.check().faults
    assert [(fault.file, fault.line) for fault in faults] == [
        ("content/a.md", 1),
        ("content/a.md", 3),
        ("content/b.md", 2),
        ("content/b.md", 4),
        ("content/b.md", 4),
        ("content/b.md", 6),
    ]
    assert all(fault.stops for fault in faults)


def test_a_block_with_a_fault_is_told_once_and_not_for_every_number(vault: Vault) -> None:
    vault.write("heat.md", "```widget momentum\nas: second\nbeta: 2\n```\n\n[1]{ran=second read=final_gap}\n")
    assert [fault.line for fault in vault.check().faults] == [1]


def test_a_draft_is_not_checked_unless_it_was_asked_for(vault: Vault) -> None:
    vault.write("heat.md", "---\ndraft: true\n---\n[1]{ran=momentum read=final_gap}\n")
    assert vault.check().faults == ()
    assert len(vault.check(drafts=True).faults) == 1


# Paths


def test_a_path_walks_fields_and_indices() -> None:
    result = {"runs": [{"w": 1.5}, {"w": 2.5}], "name": "heat", "none": None}
    assert read(result, "runs.0.w") == 1.5
    assert read(result, "runs.-1.w") == 2.5
    assert read(result, "runs.length") == 2
    assert read(result, "name.length") == 4
    assert read(result, "none") is None


def test_length_is_a_field_where_a_record_has_one() -> None:
    assert read({"rope": {"length": 3}}, "rope.length") == 3


@given(st.text(max_size=20))
def test_a_path_leads_to_a_value_or_says_why_not(path: str) -> None:
    try:
        assert read({"a": [1, {"b": 2}]}, path) in (1, 2)
    except Unread as unread:
        assert str(unread)


# Measured numbers


def test_what_was_never_measured_is_a_warning(vault: Vault) -> None:
    vault.write("heat.md", "```widget noise\nscale: 2\n```\n\n[2]{ran=noise read=level}\n")
    report = vault.check()
    assert report.faults == ()
    assert told(report.warnings) == [
        "content/heat.md:1: noise scale=2 was not measured yet; run perennial check --update",
        "content/heat.md:5: noise was not measured yet; run perennial check --update",
    ]


def test_an_update_measures_what_pages_show_first_and_what_numbers_read(vault: Vault) -> None:
    vault.write(
        "heat.md", "```widget noise\nscale: 2\n```\n\n[2]{ran=noise read=level} [4]{ran=noise scale=2 read=level}\n"
    )
    report = vault.check()
    assert [
        (experiment.name, params["scale"]) for experiment, params in needed(report) if experiment.name == "noise"
    ] == [
        ("noise", 1.0),
        ("noise", 2.0),
    ]
    update(report, in_place)
    again = vault.check()
    assert (again.faults, again.warnings) == ((), ())
    result = again.outcome(again.experiments["noise"], again.experiments["noise"].parse({"scale": "2"}))
    assert result is not None
    assert result["level"] == 4
    assert math.isnan(result["runs"][1]["loss"])


def test_the_file_of_measurements_says_what_ran_where(vault: Vault) -> None:
    vault.write("heat.md", "[2]{ran=noise read=level}\n")
    report = vault.check()
    update(report, in_place)
    first = (vault.content / "measured.json").read_bytes()
    (record,) = (one for one in json.loads(first)["records"] if one["experiment"] == "noise")
    assert record["experiment"] == "noise"
    assert record["digest"] == report.experiments["noise"].digest
    assert record["params"] == {"scale": "1"}
    assert set(record["versions"]) >= {"python"}
    assert record["processor"]
    update(report, in_place)
    assert (vault.content / "measured.json").read_bytes() == first


def test_a_record_that_nothing_needs_any_more_goes_and_that_of_the_experiments_own_page_stays(vault: Vault) -> None:
    vault.write("heat.md", "[4]{ran=noise scale=2 read=level}\n")
    update(vault.check(), in_place)
    vault.write("heat.md", "Nothing.\n")
    update(vault.check(), in_place)
    left = Measured.read(vault.content / "measured.json").records.values()
    assert [record.params for record in left if record.experiment == "noise"] == [{"scale": "1"}]


def test_a_measured_number_that_disagrees_with_the_record_is_a_warning(vault: Vault) -> None:
    vault.write("heat.md", "[3]{ran=noise read=level}\n")
    update(vault.check(), in_place)
    report = vault.check()
    assert report.faults == ()
    assert told(report.warnings) == [
        "content/heat.md:1: the text says 3, the measurement on record gave 2 (noise, level);"
        " mend the number or its parameters"
    ]


def test_a_record_of_older_code_is_stale_and_not_shown(vault: Vault) -> None:
    vault.write("heat.md", "[2]{ran=noise read=level}\n")
    update(vault.check(), in_place)
    vault.experiments = {"noise": noisy(lambda scale: {"level": scale})}
    report = vault.check()
    assert told(report.warnings) == [
        "content/heat.md:1: noise was measured by older code; run perennial check --update"
    ]
    assert report.outcomes == {}


def test_a_measured_number_is_not_run_by_a_check(vault: Vault) -> None:
    def never(experiment: Experiment, params: Params) -> Result:
        raise AssertionError(experiment.name)

    vault.write("heat.md", "[2]{ran=noise read=level}\n")
    vault.check(never)


def test_a_file_of_measurements_that_cannot_be_read_counts_as_none(vault: Vault) -> None:
    vault.write("heat.md", "[2]{ran=noise read=level}\n")
    unnamed = '{"records": [{"experiment": [], "digest": 1, "params": 1, "result": 1, "versions": 1, "processor": 1}]}'
    for text in ("<<<<<<< ours", '{"records": [{}]}', "[]", '{"records": 3}', unnamed):
        vault.write("measured.json", text)
        report = vault.check()
        assert report.faults == ()
        assert "run perennial check --update" in str(report.warnings[0])
        assert report.warnings[1].file == "content/measured.json"


# What pages show


def test_a_number_leads_to_the_embed_that_shows_its_experiment(vault: Vault) -> None:
    vault.write(
        "heat.md",
        "```widget momentum\nrestore: weights\n```\n\n[0.514]{ran=momentum read=resumed.1.w}"
        " [0.28]{ran=momentum restore=weights read=checkpoint.w}\n",
    )
    report = vault.check()
    (note,) = report.garden.notes()
    full, weights = (report.shown(note, ran) for ran in note.rans)
    assert (full.experiment, full.embed, full.state, full.value) == ("momentum", "momentum", {"restore": "full"}, 0.514)
    assert (weights.state, weights.differs) == ({}, None)


def test_a_number_without_an_embed_leads_to_the_page_of_its_experiment(vault: Vault) -> None:
    vault.write("heat.md", "[0.352]{ran=momentum restore=weights read=resumed.1.w}\n")
    report = vault.check()
    (note,) = report.garden.notes()
    shown = report.shown(note, note.rans[0])
    assert (shown.embed, shown.state) == (None, {"restore": "weights"})


def test_a_number_of_a_second_embed_leads_to_that_one(vault: Vault) -> None:
    vault.write(
        "heat.md",
        "```widget momentum\n```\n\n"
        "```widget momentum\nas: second\nrestore: weights\n```\n\n[0.352]{ran=second read=resumed.1.w}\n",
    )
    report = vault.check()
    (note,) = report.garden.notes()
    shown = report.shown(note, note.rans[0])
    assert (shown.embed, shown.state, shown.differs) == ("second", {}, None)


def test_a_measured_number_that_comes_out_otherwise_here_shows_both(vault: Vault) -> None:
    vault.write("heat.md", "[2]{ran=noise read=level}\n")
    update(vault.check(), in_place)
    report = vault.check()
    (note,) = report.garden.notes()
    assert report.shown(note, note.rans[0]).differs is None
    here = report.shown(note, note.rans[0], {"level": 2.0000001})
    assert (here.value, here.differs) == (2.0000001, None)
    assert report.shown(note, note.rans[0], {"level": 2.6}).differs == "2.6"


def test_a_measured_number_without_a_record_shows_what_is_written(vault: Vault) -> None:
    vault.write("heat.md", "[2]{ran=noise read=level}\n")
    report = vault.check()
    (note,) = report.garden.notes()
    shown = report.shown(note, note.rans[0])
    assert (shown.value, shown.differs) == (None, None)


def test_minus_zero_is_another_state_than_zero(vault: Vault) -> None:
    experiment = EXPERIMENTS["summation"]
    states = [experiment.parse({"terms": f"1,{zero}"}) for zero in ("0", "-0")]
    assert len({key((experiment, params)) for params in states}) == 2


def test_a_number_of_an_unknown_widget_is_told_with_all_other_faults(vault: Vault) -> None:
    vault.write("heat.md", "```widget momentun\n```\n\n[1]{ran=momentun read=final_gap} [2]{ran=noice read=level}\n")
    assert told(vault.check().faults) == [
        "content/heat.md:1: no experiment is called 'momentun'; did you mean 'momentum'?",
        "content/heat.md:4: no experiment is called 'momentun'; did you mean 'momentum'?",
        "content/heat.md:4: no experiment is called 'noice'; did you mean 'noise'?",
    ]
