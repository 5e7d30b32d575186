"""`detect`, `formats`, `import`, and the options that say what detection cannot know."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import pytest

from arcview import cli
from arcview.cli import ticker
from arcview.session import import_run
from arcview.session.import_states import write_bundle
from tests.readers.scb_run import stream, write, write_run
from tests.readers.test_lone_file import PATCH, mini, turns
from tests.test_cli import HOSTILE, Capture, only_line


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder with two runs, a session, a patch and a base."""
    write_run(tmp_path / "runs" / "a")
    write_run(tmp_path / "runs" / "b")
    write(tmp_path / "session.jsonl", turns("one", "two"))
    write(tmp_path / "x.patch", PATCH)
    write(tmp_path / "base" / "x.py", "a\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


@pytest.mark.parametrize("command", ["detect", "formats", "import"])
def test_every_help_has_examples(command: str, capsys: Capture) -> None:
    assert cli.main([command, "--help"]) == 0
    assert "examples:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (
            "runs/a",
            "runs/a: slop_code_bench (SlopCodeBench output folder): "
            "problem.yaml beside checkpoint_1/checkpoint.yaml",
        ),
        ("runs", "runs: a folder of 2 runs: 2 slop_code_bench"),
        (
            "x.patch",
            "x.patch: lone_file (single trajectory, patch, test report or test log): "
            "a unified diff",
        ),
    ],
)
def test_detect_says_what_a_path_is_and_why(
    runs: Path, capsys: Capture, path: str, line: str
) -> None:
    assert cli.main(["detect", path]) == 0
    assert capsys.readouterr().out.splitlines()[0] == line


def test_detect_names_the_format_in_a_file(runs: Path, capsys: Capture) -> None:
    assert cli.main(["detect", "session.jsonl"]) == 0
    assert "  content:  claude_code (" in capsys.readouterr().out


def test_detect_says_what_is_missing_and_exits_1(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path / "problem.yaml", "name: x\n")
    assert cli.main(["detect", str(tmp_path)]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert "not a run that arcview can read" in first
    assert second.startswith("  rejected: slop_code_bench: problem.yaml is there")


def test_detect_json_is_one_document(runs: Path, capsys: Capture) -> None:
    assert cli.main(["detect", "runs/a", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["schema"] == "arcview/detect/1"
    assert (shown["recognised"], shown["taken"]["id"]) == (True, "slop_code_bench")


def test_detect_of_nothing_is_one_line_and_exits_2(capsys: Capture) -> None:
    assert cli.main(["detect", "nowhere"]) == 2
    assert only_line(capsys.readouterr().err).endswith("nowhere: no such file or folder")


def test_detect_cleans_what_it_names(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path / HOSTILE.replace("/", "") / "x", "hello")
    assert cli.main(["detect", str(tmp_path / HOSTILE.replace("/", ""))]) == 1
    out = capsys.readouterr().out
    assert not re.search("[\x1b\x07\u202e\r]", out)


def test_formats_lists_each_reader_with_its_module(capsys: Capture) -> None:
    assert cli.main(["formats"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^\w.*$", out, re.MULTILINE) == ["run layouts", "trajectories", "reports"]
    for known in ("harbor", "claude_code", "junit"):
        assert re.search(rf"^  {known} ", out, re.MULTILINE)
    assert "arcview.readers.runs.harbor" in out
    assert "no recorded trial was at hand" in out


def test_formats_json_is_one_document(capsys: Capture) -> None:
    assert cli.main(["formats", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["schema"] == "arcview/formats/1"
    assert {"group", "id", "title", "module", "sample"} == set(shown["formats"][0])


def test_import_writes_a_run_that_check_holds_for_right(runs: Path, capsys: Capture) -> None:
    assert cli.main(["import", "runs/a", "out"]) == 0
    assert re.fullmatch(r"out: \d+ files\n", capsys.readouterr().out)
    assert cli.main(["check", "out"]) == 0


def test_import_tells_what_it_does_while_it_takes_long(
    runs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    is_told = threading.Event()

    def say(line: str) -> None:
        told.append(line)
        is_told.set()

    def written(*parts: object) -> object:
        assert is_told.wait(60)
        return write_bundle(*parts)  # type: ignore[arg-type]

    monkeypatch.setattr(ticker, "INTERVAL_S", 0.001)
    monkeypatch.setattr(ticker, "say", say)
    monkeypatch.setattr(import_run, "write_bundle", written)
    assert cli.main(["import", "runs/a", "out"]) == 0
    assert set(told) & {"reading runs/a …", "writing the states …"}
    assert len(told) == len(set(told))
    assert re.fullmatch(r"out: \d+ files\n", capsys.readouterr().out)


def test_import_tells_nothing_while_it_is_quick(
    runs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticker, "INTERVAL_S", 3_600)
    assert cli.main(["import", "runs/a", "out"]) == 0
    assert capsys.readouterr().err == ""


def test_import_never_overwrites_and_exits_2(runs: Path, capsys: Capture) -> None:
    assert cli.main(["import", "runs/a", "base"]) == 2
    assert "never overwrites" in only_line(capsys.readouterr().err)


def test_import_of_no_run_is_one_line_and_leaves_nothing(runs: Path, capsys: Capture) -> None:
    assert cli.main(["import", "base", "out"]) == 2
    only_line(capsys.readouterr().err)
    assert not (runs.parent / "out").exists()


def test_a_run_is_imported_from_inside_of_it(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(runs / "a")
    assert cli.main(["import", ".", "../../out"]) == 0
    assert cli.main(["import", ".", "out"]) == 2
    assert "inside the run that is imported" in only_line(capsys.readouterr().err)


@pytest.mark.parametrize("command", ["detect", "show", "check"])
def test_a_run_is_found_from_a_folder_in_it(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Some layouts are told by what the folder is called."""
    write(tmp_path / "o__r-1" / "o__r-1.traj.json", mini(exit_status="Submitted"))
    (tmp_path / "o__r-1" / "logs").mkdir()
    monkeypatch.chdir(tmp_path / "o__r-1" / "logs")
    assert cli.main([command, ".."]) == 0
    assert "o__r-1" in capsys.readouterr().out


def test_import_takes_a_base_and_a_session(runs: Path, capsys: Capture) -> None:
    options = ["--base", "base", "--trajectory", "session.jsonl"]
    assert cli.main(["import", "x.patch", "out", *options]) == 0
    capsys.readouterr()
    assert cli.main(["show", "out", "--json"]) == 0
    (stage,) = json.loads(capsys.readouterr().out)["stages"]
    assert (stage["steps"], stage["change"]["files"]) == (2, 1)


def test_a_layout_can_be_asked_for(runs: Path, capsys: Capture) -> None:
    assert cli.main(["show", "session.jsonl", "--as", "single_stage", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["stages"]) == 1
    assert cli.main(["show", "session.jsonl", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["stages"]) == 2


def test_a_layout_that_nobody_knows_is_one_line(runs: Path, capsys: Capture) -> None:
    assert cli.main(["show", "runs/a", "--as", "nonsense"]) == 2
    assert "nonsense: no such reader; known: native, " in only_line(capsys.readouterr().err)


def test_a_base_that_is_not_there_is_one_line(runs: Path, capsys: Capture) -> None:
    assert cli.main(["show", "x.patch", "--base", "nowhere"]) == 2
    assert "--base nowhere: no such folder" in only_line(capsys.readouterr().err)


def test_the_only_run_below_a_folder_is_shown(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path / "one" / "deep" / "session.jsonl", stream("x"))
    assert cli.main(["show", "one", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task_id"] == "session"


def test_the_only_run_below_a_folder_is_checked(
    runs: Path, tmp_path: Path, capsys: Capture
) -> None:
    write(tmp_path / "one" / "deep" / "session.jsonl", stream("x"))
    assert cli.main(["check", "one"]) == 0
    assert capsys.readouterr().out.endswith("one: no faults\n")


def test_of_several_runs_below_a_folder_none_is_shown(runs: Path, capsys: Capture) -> None:
    assert cli.main(["show", "runs"]) == 2
    assert "holds runs but is none" in only_line(capsys.readouterr().err)
