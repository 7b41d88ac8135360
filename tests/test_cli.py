"""The command: what it prints where, and with which status it ends."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app import __version__
from app.cli import Following, app
from app.experiments import EXPERIMENTS
from app.main import checked
from app.settings import Settings
from tests.conftest import ROOT
from tests.traces.written import parted, resumed, written
from tests.traces.written import run as run_of
from tests.web.visits import garden, planted

PERENNIAL = Path(sys.executable).with_name("perennial")
FINE = "# Fine\n\nIt is [0.352]{ran=momentum restore=weights read=resumed.1.w}.\n"
BOTH = {"fine_en": FINE, "fine_zh": FINE, "start_en": "# Start\n\n[[fine]]\n", "start_zh": "# Start\n\n[[fine]]\n"}
WRONG = "# Wrong\n\n[0.6]{ran=momentum read=resumed.1.w} and [x]{concept=nothing}\n\n```widget momentun\n```\n"
MEASURED = "# Sum\n\n[[fine]]\n\n```widget accumulation\nn: 20\nshuffles: 3\n```\n"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PERENNIAL_") and name != "PERENNIAL_CACHE_FOLDER"]:
        monkeypatch.delenv(name)


def command(*words: object) -> Result:
    """In this process; torch may not be imported here, so nothing measured."""
    return CliRunner().invoke(app, [str(word) for word in words])


def process(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PERENNIAL, *map(str, words)], capture_output=True, text=True, cwd=ROOT)


# check


def test_a_garden_without_faults_is_fine(tmp_path: Path) -> None:
    told = command("check", "--content", planted(tmp_path / "notes", **BOTH))
    assert (told.exit_code, told.stdout) == (0, "")
    assert "4 notes, 0 faults" in told.stderr


def test_the_shipped_garden_is_fine() -> None:
    told = command("check")
    assert told.exit_code == 0, told.stderr
    assert "0 faults" in told.stderr


def test_every_fault_is_told_with_its_place(tmp_path: Path) -> None:
    told = command("check", "--content", planted(tmp_path / "notes", wrong_en=WRONG))
    assert told.exit_code == 1
    assert told.stdout == ""
    assert "notes/wrong.en.md:3: " in told.stderr
    assert "the text says 0.6, the computation gives 0.514" in told.stderr
    assert "no concept is called 'nothing'" in told.stderr
    assert "notes/wrong.en.md:5: no experiment is called 'momentun'; did you mean 'momentum'?" in told.stderr


def test_a_warning_is_a_fault_only_when_strict(tmp_path: Path) -> None:
    content = planted(tmp_path / "notes", lonely_en="# Lonely\n\n[[not written]]\n")
    assert command("check", "--content", content).exit_code == 0
    told = command("check", "--content", content, "--strict")
    assert told.exit_code == 1
    assert "notes/lonely.en.md:3: " in told.stderr


def test_findings_can_be_read_by_programs(tmp_path: Path) -> None:
    told = command("check", "--content", planted(tmp_path / "notes", wrong_en=WRONG), "--format", "json")
    assert told.exit_code == 1
    findings = json.loads(told.stdout)
    assert all(set(one) == {"file", "line", "what", "stops"} for one in findings)
    assert [(one["file"], one["line"]) for one in findings if one["stops"]] == [("notes/wrong.en.md", 3)] * 2 + [
        ("notes/wrong.en.md", 5)
    ]


def test_brackets_in_a_message_stay_as_they_are(tmp_path: Path) -> None:
    told = command(
        "check", "--content", planted(tmp_path / "notes", a_en="# A\n\n[1]{ran=momentum read=final_gap lr=[red]}\n")
    )
    assert "lr = '[red]' is not a number" in told.stderr


@pytest.mark.parametrize(
    "words", [["--content", "/nowhere"], ["--content", __file__], ["--format", "yaml"], ["--nothing"]]
)
def test_a_check_that_cannot_be_done_ends_with_two(words: list[str]) -> None:
    told = command("check", *words)
    assert told.exit_code == 2
    assert told.stdout == ""
    assert told.stderr


def test_a_setting_that_cannot_be_used_ends_with_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERENNIAL_PORT", "many")
    told = command("check")
    assert told.exit_code == 2
    assert told.stderr.startswith("PERENNIAL_PORT = 'many': ")


def test_what_is_measured_is_written_down(tmp_path: Path) -> None:
    content = planted(tmp_path / "notes", **BOTH, sum_en=MEASURED, sum_zh=MEASURED)
    before = command("check", "--content", content)
    assert "accumulation n=20 shuffles=3 was not measured yet" in before.stderr
    told = process("check", "--content", content, "--update")
    assert told.returncode == 0, told.stderr
    records = json.loads((content / "measured.json").read_text(encoding="utf-8"))["records"]
    (record,) = [one for one in records if one["params"]["n"] == "20"]
    assert record["experiment"] == "accumulation"
    assert record["digest"] == EXPERIMENTS["accumulation"].digest
    assert record["versions"]["torch"].startswith("2.13.0")
    assert "was not measured yet" not in command("check", "--content", content).stderr


# run


def test_a_run_prints_its_result_and_nothing_else() -> None:
    told = command("run", "momentum", "restore=weights")
    assert (told.exit_code, told.stderr) == (0, "")
    result = json.loads(told.stdout)
    assert result["result"]["resumed"][1]["w"] == 0.35200000000000004
    assert result["params"]["restore"] == "weights"
    assert result["params"]["resumed_target"] == 1.0


def test_a_run_prints_what_is_not_finite_as_a_string() -> None:
    told = command("run", "agreement", "a=inf", "b=1")
    assert json.loads(told.stdout, parse_constant=pytest.fail)["result"]["max_abs"] == "Infinity"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "no experiment is called 'nothing'; there are momentum, summation"),
        (["momentum", "beta=1.5", "lr=x"], "beta = '1.5' must be at least 0 and below 1"),
        (["momentum", "beta=1.5", "lr=x"], "lr = 'x' is not a number"),
        (["momentum", "beta"], "beta = '' is empty"),
        (["momentum", "nothing=1"], "nothing = '1' there is no such parameter"),
        (["momentum", "beta=[red]"], "beta = '[red]' is not a number"),
        (["momentum", "beta=0.1", "beta=0.2"], "beta = '0.2' is given twice, with different values"),
        ([], "Missing argument 'experiment'"),
    ],
)
def test_a_run_that_cannot_be_done_ends_with_two(words: list[str], message: str) -> None:
    told = command("run", *words)
    assert (told.exit_code, told.stdout) == (2, "")
    assert message in " ".join(told.stderr.split())


def test_a_measured_run_prints_its_result_too() -> None:
    told = process("run", "accumulation", "n=20", "shuffles=0")
    assert (told.returncode, told.stderr) == (0, "")
    assert len(json.loads(told.stdout)["result"]["algorithms"]) == 7


# compare


def traces(folder: Path) -> list[Path]:
    b = parted(run_of(6), "forward", 4)
    return [
        written(folder / "a.jsonl", run_of(6)),
        written(folder / "same.jsonl", run_of(6)),
        written(folder / "b.jsonl", b),
    ]


def test_runs_that_are_equal_end_with_zero_and_others_with_one(tmp_path: Path) -> None:
    a, same, b = traces(tmp_path)
    told = command("compare", a, same)
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout.startswith("bitwise equal in all that both recorded; 6 steps in common\n")
    told = command("compare", a, b, "--noise", same)
    assert (told.exit_code, told.stderr) == (1, "")
    assert "first difference: forward, step 4, micro-batch 1, rank 0\n" in told.stdout
    assert "noise floor: bitwise\n" in told.stdout


def test_a_resumed_run_is_given_as_several_files(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{i}.jsonl", one) for i, one in enumerate((run_of(6), run_of(4), resumed(3, 3)))]
    assert command("compare", *files).exit_code == 0


def test_programs_read_the_comparison_as_json(tmp_path: Path) -> None:
    a, _, b = traces(tmp_path)
    told = command("compare", a, b, "--format", "json")
    assert told.exit_code == 1
    assert json.loads(told.stdout)["first_difference"] == {
        "stage": "forward",
        "optimizer_step": 4,
        "micro_step": 1,
        "rank": 0,
    }


def test_a_tolerance_lets_close_runs_pass(tmp_path: Path) -> None:
    a, _, b = traces(tmp_path)  # the norms are equal
    assert command("compare", a, b, "--require", "close", "--tolerance", "loss=1e-5,0").exit_code == 1
    assert command("compare", a, b, "--require", "close", "--tolerance", "forward=1e-5,0").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["README.md"], "README.md: is no trace; its first line is not the `trace` line of a recorder"),
        (["nothing.jsonl"], "nothing.jsonl: cannot be read: No such file or directory"),
        ([".", "--require", "close"], "--tolerance : close needs one"),
        ([".", "--rule", "A wins"], "--rule A wins: a rule is written like this"),
        ([".", "--tolerance", "rng=1,1"], "--tolerance rng=1,1: names no stage that has numbers"),
        ([], "Missing argument 'b'"),
    ],
)
def test_a_comparison_that_cannot_be_done_ends_with_two(tmp_path: Path, words: list[str], message: str) -> None:
    told = command("compare", traces(tmp_path)[0], *words)
    assert (told.exit_code, told.stdout) == (2, "")
    assert message in " ".join(told.stderr.split())


def test_a_conclusion_takes_seeds(tmp_path: Path) -> None:
    a, same, b = traces(tmp_path)
    assert command("compare", a, same, "--require", "conclusion").exit_code == 0  # bitwise is more
    told = command("compare", a, b, "--require", "conclusion")
    assert told.exit_code == 2 and "not enough seeds" in told.stderr
    rule = ["--require", "conclusion", "--rule", "valid/loss: A - B < 1 over >= 2 seeds"]
    told = command("compare", a, b, *rule)
    assert told.exit_code == 2 and "verdict: not enough seeds" in told.stdout
    seeds = []
    for i in range(2):
        records = [one | ({"loss": (0.5 + i).hex()} if one["event"] == "loss" else {}) for one in run_of(4)]
        seeds.append([written(tmp_path / f"{side}{i}.jsonl", records) for side in "cd"])
    told = command("compare", seeds[0][0], seeds[0][1], seeds[1][1], "--also-a", seeds[1][0], *rule)
    assert told.exit_code == 0 and "verdict: holds" in told.stdout


@pytest.mark.parametrize(("language", "words"), [("en", "they part here"), ("zh", "从这里分开")])
def test_a_report_is_one_file_that_stands_alone(tmp_path: Path, language: str, words: str) -> None:
    a, _, b = traces(tmp_path)
    told = command("compare", a, b, "--html", tmp_path / "report.html", "--language", language)
    assert told.exit_code == 1
    text = (tmp_path / "report.html").read_text("utf-8")
    assert words in text and "<svg" in text
    assert not re.search(r"<(?:script|link|img|iframe)|url\(|https?://(?!www\.w3\.org)|(?:src|href)=", text)
    told = command("compare", a, b, "--html", tmp_path / "no folder/report.html")
    assert (told.exit_code, told.stdout) == (2, "")


# index


def test_the_index_holds_what_git_knows_and_pages_show_it(tmp_path: Path) -> None:
    content = planted(tmp_path / "notes", **BOTH)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b", "-C", str(content)]
    dated = {**os.environ, "GIT_COMMITTER_DATE": "2024-02-03T12:00:00", "GIT_AUTHOR_DATE": "2024-02-03T12:00:00"}
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "Plant"]):
        subprocess.run([*git, *words], check=True, env=dated)
    told = command("index", "--content", content)
    assert (told.exit_code, told.stdout) == (0, "")
    assert "4 files dated" in told.stderr
    shutil.rmtree(content / ".git")
    assert "2024-02-03" in (content / "index.json").read_text(encoding="utf-8")
    assert '<time datetime="2024-02-03">' in garden(content).get("/en/fine").text


def test_an_index_of_no_repository_is_empty(tmp_path: Path) -> None:
    told = command("index", "--content", planted(tmp_path / "notes", **BOTH))
    assert told.exit_code == 0
    assert "0 files dated" in told.stderr


# serve


def test_a_garden_with_faults_is_not_served(tmp_path: Path) -> None:
    told = command("serve", "--content", planted(tmp_path / "notes", wrong_en=WRONG), "--port", 0)
    assert (told.exit_code, told.stdout) == (1, "")
    for fault in ("the computation gives 0.514", "'nothing'", "'momentun'"):
        assert fault in told.stderr


def test_a_port_that_is_taken_ends_with_two(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        told = process("serve", "--content", planted(tmp_path / "notes", **BOTH), "--port", taken.getsockname()[1])
    assert told.returncode == 2
    assert told.stdout == ""
    assert "address already in use" in told.stderr


def test_a_garden_is_served_until_it_is_stopped(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [str(PERENNIAL), "serve", "--content", str(planted(tmp_path / "notes", **BOTH)), "--port", str(port)]
    environment = {**os.environ, "PERENNIAL_LOG_FORMAT": "json", "PERENNIAL_TITLE": "Served"}
    with subprocess.Popen(
        words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            text = opened(f"http://127.0.0.1:{port}/en/fine", server)
        finally:
            server.send_signal(signal.SIGTERM)
            printed, said = server.communicate(timeout=30)
    assert "<title>Fine · Served</title>" in text
    assert printed == ""
    assert f"Perennial {__version__}: 4 notes at http://127.0.0.1:{port}/" in said
    assert "\x1b" not in said
    lines = [line for line in said.splitlines() if line.startswith("{")]
    assert lines and all({"event", "level", "timestamp"} <= set(json.loads(line)) for line in lines)
    assert server.returncode in (0, -signal.SIGTERM)


def opened(address: str, server: subprocess.Popen[str]) -> str:
    deadline = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(address) as answer:
                return str(answer.read().decode())
        except OSError:
            assert server.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)


# serve --reload


def test_an_edit_says_what_is_new_and_what_still_stops_the_garden(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(text: str) -> list[str]:
        (content / "fine.en.md").write_text(text, encoding="utf-8")
        tell(checked(Settings(content=content)))
        return capsys.readouterr().err.splitlines()

    content, tell = planted(tmp_path / "notes"), Following()
    assert said("# Fine\n\n[[one]]\n") == ["warning notes/fine.en.md:3: no note is called 'one' yet"]
    assert said("# Fine\n\nText.\n\n[[one]]\n") == []
    assert said("# Fine\n\n[[one]] [[two]]\n") == ["warning notes/fine.en.md:3: no note is called 'two' yet"]
    wrong = "error notes/fine.en.md:3: no experiment is called 'x'"
    for _ in range(2):
        (line,) = said("# Fine\n\n[1]{ran=x read=y}\n")
        assert line.startswith(wrong)
    assert said("# Fine\n") == ["mended"]


# new


@pytest.mark.parametrize(
    ("words", "file", "title"),
    [
        (["Heat  and order"], "heat-and-order.md", "Heat and order"),
        (["热与顺序：其一"], "热与顺序-其一.md", "热与顺序：其一"),
        (["热", "--language", "zh"], "热.zh.md", "热"),
        (["热", "--language", "zh", "--slug", "fine"], "fine.zh.md", "热"),
        (['../../etc/"quoted": # \\ yes'], "etc-quoted-yes.md", '../../etc/"quoted": # \\ yes'),
        (["C++ 🌱 v2.0"], "c-v2-0.md", "C++ 🌱 v2.0"),
        (["热", "--language", "zh", "--slug", "Old Ways"], "shelf/Old Ways.zh.md", "热"),
        (["Fine/other things/Fine"], "fine-other-things-fine.md", "Fine/other things/Fine"),
        (["👩‍💻 at work"], "at-work.md", "👩‍💻 at work"),
        (["𠀀" * 90], "𠀀" * 60 + ".md", "𠀀" * 90),
        (["word " * 60], "-".join(["word"] * 16) + ".md", " ".join(["word"] * 60)),
    ],
)
def test_a_note_is_begun_under_the_address_of_its_title(
    tmp_path: Path, words: list[str], file: str, title: str
) -> None:
    content = planted(tmp_path / "notes", fine_en="# Fine\n\n[[other]]", other_en="[[fine]]")
    planted(content / "shelf", **{"Old Ways_en": "# Ways\n\n[[fine]]"})
    told = command("new", *words, "--content", content)
    assert (told.exit_code, told.stdout) == (0, f"{content / file}\n")
    report = checked(Settings(content=content))
    (begun,) = [one for one in report.garden.notes() if one.file == file]
    assert (begun.title, begun.growth, report.faults) == (title, "seedling", ())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["Fine"], "'fine' is what fine.en.md is called"),
        (["Anders", "--slug", "FINE"], "'fine' is what fine.en.md is called"),
        (["Widgets"], "'widgets' is an address of the garden itself"),
        (["ſearch"], "'ſearch' is an address of the garden itself"),
        (["Anders", "--slug", ""], "'' has no letter or figure"),
        (["Fine", "--slug", "热 量"], "'Fine' is what fine.en.md is called"),
        (["?!"], "'?!' has no letter or figure"),
        (["  "], "a title has at least one letter"),
        (["a\x00b"], "only characters that can be printed"),
        (["There"], "there.md is there already"),
    ],
)
def test_a_note_is_not_begun_where_something_stands_against_it(tmp_path: Path, words: list[str], why: str) -> None:
    content = planted(tmp_path / "notes", fine_en="# Fine\n\nText.", **{"热 量_zh": "Text."})
    (content / "there.md").write_bytes(b"\xff")
    before = sorted(path.name for path in content.iterdir())
    told = command("new", *words, "--content", content)
    assert (told.exit_code, told.stdout) == (2, "")
    assert why in told.stderr
    assert sorted(path.name for path in content.iterdir()) == before


# Words


def test_the_version_is_printed() -> None:
    assert command("version").stdout == f"{__version__}\n"


@pytest.mark.parametrize("name", ["serve", "check", "index", "new", "translated", "run", "compare", "version"])
def test_every_command_says_what_it_does(name: str) -> None:
    assert name in command("--help").stdout
    assert command(name, "--help").exit_code == 0


def test_the_command_is_there_as_a_module_and_searches_for_garbage_afterwards() -> None:
    said = subprocess.run([sys.executable, "-m", "app", "version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"{__version__}\n"
    script = "import gc, app.cli; app.cli.main = lambda: print(gc.isenabled())\nimport app.__main__ as one; one.main()"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout == "True\n"
