from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcview import __version__, cli
from tests.readers.native_run import full_run, result_line

COMMANDS = ("show", "list", "check", "contract", "compare", "find", "export", "schema", "cache")
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e[bold]x[/bold]\r\n"

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def runs(tmp_path: Path, demo_run: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with one whole run and one broken run below runs/."""
    shutil.copytree(demo_run, tmp_path / "runs" / "demo" / "notes-cli")
    shutil.copytree(demo_run.parents[2] / "chains", tmp_path / "chains")
    broken = tmp_path / "runs" / "broken"
    broken.mkdir()
    (broken / "run.json").write_text('{"schema": "arcview/run/1", "run_id": ')
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def run_program(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "arcview", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def only_line(text: str) -> str:
    assert text.count("\n") == 1
    assert "Traceback" not in text
    return text.rstrip("\n")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_help_has_examples_and_exits_0(command: str, capsys: Capture) -> None:
    assert cli.main([*([command] if command else []), "--help"]) == 0
    out = capsys.readouterr().out
    assert "examples:" in out
    assert out.startswith(f"usage: arcview {command}".rstrip())


def test_version(capsys: Capture) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"arcview {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give a run folder, or start where ./runs is"),
        (["nowhere"], "nowhere: no such file or folder"),
        (["show"], "arcview show: the following arguments are required: PATH"),
        (["show", "nowhere"], "nowhere: no such file or folder"),
        (["show", "."], ".: "),
        (["show", ".", "--stage", "x"], "argument --stage: invalid int value: 'x'"),
        (["show", ".", "--colour"], "unrecognized arguments: --colour"),
        (["check", "nowhere"], "nowhere: no such file or folder"),
        (["list", "nowhere"], "nowhere: no such folder"),
        (["schema", "runn"], "runn: no such format; known: run, chain"),
        (["cache", "burn"], "argument action: invalid choice: 'burn'"),
        (["show", ".", "--as", "x"], "x: no such reader; known: native"),
    ],
)
def test_bad_use_is_one_line_and_exits_2(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    line = only_line(captured.err)
    assert line.startswith("arcview")
    assert said in line


def test_the_screens_need_a_terminal(runs: Path, capsys: Capture) -> None:
    assert cli.main(["runs/demo/notes-cli"]) == 2
    assert "arcview show runs/demo/notes-cli" in only_line(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ("runs", None, None)),
        (["runs/demo/notes-cli"], ("runs/demo/notes-cli", None, None)),
        (["runs", "--at", "gate:3", "--as", "native"], ("runs", "native", "gate:3")),
    ],
)
def test_on_a_terminal_the_screens_open(
    arguments: list[str],
    expected: tuple[str, str | None, str | None],
    runs: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, str | None, str | None]] = []

    def run_app(path: Path, *, layout: str | None, at: str | None, **_: object) -> int:
        asked.append((str(path), layout, at))
        return 5

    monkeypatch.setattr("arcview.ui.app.run_app", run_app)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert cli.main(arguments) == 5
    assert asked == [expected]


def test_a_path_that_is_called_like_a_command_can_be_given(
    tmp_path: Path, demo_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    shutil.copytree(demo_run, tmp_path / "list")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["show", "list"]) == 0
    assert cli.main(["./list"]) == 2
    assert "terminal" in capsys.readouterr().err


def test_show_prints_the_run_as_text(runs: Path, capsys: Capture) -> None:
    assert cli.main(["show", "runs/demo/notes-cli"]) == 0
    out = capsys.readouterr().out
    assert "first bad stage: 2 (S2) · failing gate: 2" in out
    assert "✗  ◇ S2.refactor" in out
    assert "Stage 2: 3 failing tests" in out
    assert "test_phrase_in_quotes  [f2p, failed, first]" in out
    assert "Self-tests of stage 1: 1 test, 2 probes (" in out
    assert "Self-tests of stage 3: 2 tests, 1 probe (" in out


def test_show_can_be_limited_to_a_stage(runs: Path, capsys: Capture) -> None:
    assert cli.main(["show", "runs/demo/notes-cli", "--stage", "1"]) == 0
    out = capsys.readouterr().out
    assert "Self-tests of stage 1" in out
    assert "Stage 2" not in out
    assert cli.main(["show", "runs/demo/notes-cli", "--stage", "9"]) == 2
    assert "the run has stages 1, 2, 3, 4" in capsys.readouterr().err


def test_show_json_is_the_twin(runs: Path, capsys: Capture) -> None:
    assert cli.main(["show", "runs/demo/notes-cli", "--json"]) == 0
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out)["schema"] == "arcview/show/1"


def test_list_prints_a_table_and_what_is_wrong_with_a_broken_run(
    runs: Path, capsys: Capture
) -> None:
    assert cli.main(["list", "runs"]) == 0
    head, demo, broken = capsys.readouterr().out.splitlines()
    assert head.split()[:6] == ["run", "agent", "task", "stages", "bad", "chain"]
    assert demo.split()[:5] == ["demo/notes-cli", "scripted-demo", "notes-cli", "✓✗✗✗", "2"]
    assert broken.startswith("broken: ")
    assert "run.json" in broken


def test_list_json_is_one_object_a_line(runs: Path, capsys: Capture) -> None:
    assert cli.main(["list", "runs", "--json"]) == 0
    broken, demo = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert demo["first_bad_stage"] == 2
    assert broken["run_id"] is None
    assert "run.json" in broken["problems"][0]["what"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["shwo", "x"], "no command and no path is called shwo; did you mean show?"),
        (["lst"], "no command and no path is called lst; did you mean list?"),
        (["import-all", "x"], "unrecognized arguments: x"),
        (["frobnicate", "x"], "no command and no path is called frobnicate (see arcview --help)"),
        (["runs"], "runs: no such file or folder"),
        (["frobnicate"], "frobnicate: no such file or folder"),
    ],
)
def test_a_mistyped_command_is_said(arguments: list[str], said: str, capsys: Capture) -> None:
    assert cli.main(arguments) == 2
    assert said in only_line(capsys.readouterr().err)


def test_a_path_that_resembles_a_command_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shwo").mkdir()
    assert cli.main(["shwo"]) == 2
    assert "need a terminal" in only_line(capsys.readouterr().err)


def test_an_empty_list_says_so(tmp_path: Path, capsys: Capture) -> None:
    assert cli.main(["list", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no runs below" in only_line(captured.err)


@pytest.mark.parametrize("command", ["list", "stats"])
def test_a_list_of_reports_alone_says_how_to_open_one(
    tmp_path: Path, capsys: Capture, command: str
) -> None:
    report = tmp_path / "ci" / "junit.xml"
    report.parent.mkdir()
    report.write_text('<testsuite><testcase name="t" classname="c"/></testsuite>')
    assert cli.main([command, str(tmp_path)]) == 0
    told = only_line(capsys.readouterr().err)
    assert told.endswith(f", but 1 test report: open it by its path: {report}")


def test_schema_prints_one_format_or_all(capsys: Capture) -> None:
    assert cli.main(["schema", "run"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert cli.main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["run"] == one


def test_check_exits_0_when_there_is_no_fault(runs: Path, capsys: Capture) -> None:
    assert cli.main(["check", "runs/demo/notes-cli"]) == 0
    assert "no faults" in capsys.readouterr().out.splitlines()[-1]


def test_check_lists_every_fault_and_exits_1(runs: Path, capsys: Capture) -> None:
    file = runs / "demo" / "notes-cli" / "run.json"
    data = json.loads(file.read_text())
    data["stages"][0]["status"] = data["stages"][1]["status"] = f"odd{HOSTILE}"
    file.write_text(json.dumps(data))
    assert cli.main(["check", "runs/demo/notes-cli"]) == 1
    out = capsys.readouterr().out
    assert "fault: run.json: stages[0].status" in out
    assert "fault: run.json: stages[1].status" in out
    assert "\x1b" not in out
    assert cli.main(["check", "runs/demo/notes-cli", "--json"]) == 1
    out = capsys.readouterr().out
    assert out.isascii()
    assert len(json.loads(out)["faults"]) >= 2


def test_check_says_what_a_missing_part_switches_off(runs: Path, capsys: Capture) -> None:
    shutil.rmtree(runs / "demo" / "notes-cli" / "stages" / "2" / "gate")
    cli.main(["check", "runs/demo/notes-cli"])
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("off:") and "2" in line for line in lines)


def test_the_cache_can_be_shown_and_cleared(runs: Path, capsys: Capture) -> None:
    assert cli.main(["show", "runs/demo/notes-cli"]) == 0
    capsys.readouterr()
    assert cli.main(["cache"]) == 0
    assert str(runs / "demo" / "notes-cli") in capsys.readouterr().out
    assert cli.main(["cache", "clear"]) == 0
    assert cli.main(["cache", "show"]) == 0
    assert "notes-cli" not in capsys.readouterr().out.splitlines()[-2:][0]


def test_opening_leaves_the_run_as_it_was(runs: Path) -> None:
    def snapshot() -> dict[str, tuple[int, int, bytes]]:
        return {
            str(path): (path.stat().st_mtime_ns, path.stat().st_mode, path.read_bytes())
            if path.is_file()
            else (path.stat().st_mtime_ns, path.stat().st_mode, b"")
            for path in sorted(runs.rglob("*"))
        }

    before = snapshot()
    assert cli.main(["show", "runs/demo/notes-cli"]) == 0
    assert snapshot() == before


def test_a_fault_of_our_own_is_one_line_and_a_log(
    runs: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def fall_over(*_: object, **__: object) -> None:
        raise ZeroDivisionError(f"odd{HOSTILE}")

    monkeypatch.setattr("arcview.session.opened.OpenRun.open", fall_over)
    assert cli.main(["show", "runs/demo/notes-cli"]) == 70
    line = only_line(capsys.readouterr().err)
    assert "internal error: ZeroDivisionError: odd" in line
    assert "\x1b" not in line
    log = own_cache / "last-error.log"
    assert str(log) in line
    assert "Traceback" in log.read_text()


def test_ctrl_c_is_one_line(runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("arcview.session.opened.OpenRun.open", interrupt)
    assert cli.main(["show", "runs/demo/notes-cli"]) == 130
    assert only_line(capsys.readouterr().err) == "arcview: interrupted"


def test_a_wrong_settings_file_is_one_line(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "config" / "arcview" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("theme = 3")
    assert cli.main(["show", "runs/demo/notes-cli"]) == 2
    assert f"{file}: theme: expected" in only_line(capsys.readouterr().err)


@pytest.fixture
def hostile_run(tmp_path: Path, demo_run: Path) -> Path:
    """A run whose names, messages and titles try to take over the terminal."""
    run = tmp_path / "run"
    shutil.copytree(demo_run, run)
    data = json.loads((run / "run.json").read_text())
    data |= {"agent": {"name": HOSTILE, "version": HOSTILE}, "model": HOSTILE}
    data["status_detail"] = HOSTILE
    (run / "run.json").write_text(json.dumps(data))
    for file in run.glob("stages/*/gate/tests.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            line["message"] = line["traceback"] = f"{HOSTILE}{line.get('message')}\x9b31m\x00"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run


@pytest.mark.parametrize("arguments", [["show"], ["show", "--json"], ["list"], ["list", "--json"]])
def test_nothing_of_a_run_reaches_the_terminal_unclean(
    arguments: list[str], hostile_run: Path, capsys: Capture
) -> None:
    assert cli.main([*arguments, str(hostile_run)]) == 0
    out = capsys.readouterr().out
    assert "owned" in out
    assert not {char for char in out if not char.isprintable()} - {"\n"}


def test_a_hostile_path_in_an_error_is_cleaned(capsys: Capture) -> None:
    assert cli.main(["show", f"no{HOSTILE}\udcff"]) == 2
    assert "\x1b" not in only_line(capsys.readouterr().err)


def test_a_terminal_without_unicode_gets_plain_letters(runs: Path) -> None:
    done = run_program(
        "show", "runs/demo/notes-cli", env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "x  > S2.refactor" in done.stdout


def test_a_reader_that_leaves_early_is_no_error(runs: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "arcview", "show", "runs/demo/notes-cli", "--json"],
            stdout=closed, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (141, "")


def test_real_runs_print(scb: Callable[[str], Path], capsys: Capture) -> None:
    assert cli.main(["show", str(scb("code-search-collapse"))]) == 0
    out = capsys.readouterr().out
    assert "Stage 4: 66 failing tests, 3 causes" in out
    assert "unchanged" in out
    assert cli.main(["show", str(scb("file-backup-infra"))]) == 0
    out = capsys.readouterr().out
    assert "infrastructure failure" in out
    assert "✗" not in out.partition("Self-tests")[0]


def test_what_looks_like_a_secret_is_masked_on_the_terminal(
    tmp_path: Path, capsys: Capture
) -> None:
    key = "sk-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    made = full_run(tmp_path / "run")
    made.write_gate(1, {"t::a": "failed"})
    made.write_tests("stages/1/gate", [result_line("t::a", "f2p", "failed", message=f"no {key}")])

    assert cli.main(["show", str(made.write())]) == 0
    out = capsys.readouterr().out
    assert "no sk-a[masked]" in out
    assert key not in out
