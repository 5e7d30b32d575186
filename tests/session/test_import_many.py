"""A folder of runs as run folders of ours: each for itself, whole or not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arcview import cli
from arcview.session import import_run
from arcview.session.import_states import write_bundle
from tests.readers.scb_run import write, write_run
from tests.readers.test_lone_file import turns
from tests.readers.test_unlisted import JUNIT
from tests.test_cli import Capture, only_line


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs, one of them further down, and a session."""
    write_run(tmp_path / "runs" / "a")
    write_run(tmp_path / "runs" / "deep" / "b")
    write(tmp_path / "runs" / "session.jsonl", turns("one", "two"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def everything(folder: Path) -> list[str]:
    """What lies in a folder, hidden or not, two levels deep."""
    found = [*folder.glob("*"), *folder.glob("*/*")] if folder.exists() else []
    return sorted(path.relative_to(folder).as_posix() for path in found)


def imported(folder: Path) -> list[str]:
    found = folder.rglob("run.json")
    return sorted(path.parent.relative_to(folder).as_posix() for path in found)


def test_each_run_keeps_its_path(runs: Path, capsys: Capture) -> None:
    assert cli.main(["import", "runs", "out"]) == 0
    assert imported(Path("out")) == ["a", "deep/b", "session.jsonl"]
    shown = capsys.readouterr()
    assert shown.out == "out: 3 of 3 runs imported\n"
    lines = [line.rpartition(": ")[0] for line in shown.err.splitlines()]
    assert lines == [
        "arcview: 1/3 a",
        "arcview: 2/3 deep/b",
        "arcview: 3/3 session.jsonl",
    ]
    for name in imported(Path("out")):
        assert cli.main(["check", f"out/{name}"]) == 0


def test_a_run_that_fails_is_named_and_ends_no_other(runs: Path, capsys: Capture) -> None:
    write(runs / "a" / "problem.yaml", "[")
    assert cli.main(["import", "runs", "out"]) == 1
    assert imported(Path("out")) == ["deep/b", "session.jsonl"]
    failed, summary = capsys.readouterr().out.splitlines()
    assert failed.startswith("not imported: a: problem.yaml: ")
    assert summary == "out: 2 of 3 runs imported"
    assert everything(Path("out"))[0] == "deep"


def test_a_reader_that_breaks_ends_no_other(
    runs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise LookupError("nobody\nexpected this")

    monkeypatch.setattr(import_run, "write_bundle", broken)
    assert cli.main(["import", "runs", "out"]) == 1
    assert imported(Path("out")) == ["session.jsonl"]
    assert "not imported: a: LookupError: nobody\n" in capsys.readouterr().out


def test_what_is_there_already_stays_and_the_rest_is_imported(runs: Path, capsys: Capture) -> None:
    write(Path("out") / "a" / "mine.txt", "mine")
    assert cli.main(["import", "runs", "out"]) == 1
    assert (Path("out") / "a" / "mine.txt").read_text("utf-8") == "mine"
    assert imported(Path("out")) == ["deep/b", "session.jsonl"]
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "not imported: a: is there already; an import never overwrites"


def test_the_same_command_goes_on(runs: Path, capsys: Capture) -> None:
    assert cli.main(["import", "runs/deep", "out/deep/b"]) == 0
    capsys.readouterr()
    assert cli.main(["import", "runs", "out"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "out: 2 of 3 runs imported, 1 there already\n"
    assert "arcview: 2/3 deep/b: there already" in shown.err.splitlines()
    assert cli.main(["import", "runs", "out"]) == 0
    assert capsys.readouterr().out == "out: 0 of 3 runs imported, 3 there already\n"


def test_another_run_in_its_place_is_said(runs: Path, capsys: Capture) -> None:
    assert cli.main(["import", "runs/session.jsonl", "out/a"]) == 0
    capsys.readouterr()
    assert cli.main(["import", "runs", "out"]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "not imported: a: is there already; an import never overwrites"


def test_what_is_no_run_of_the_folder_is_named(runs: Path, capsys: Capture) -> None:
    write(runs / "ci" / "junit.xml", JUNIT)
    assert cli.main(["import", "runs", "out"]) == 0
    told, summary = capsys.readouterr().out.splitlines()
    by_itself = "a test report by itself; give its own path to import it"
    assert told == f"not imported: ci/junit.xml: {by_itself}"
    assert summary == "out: 3 of 3 runs imported"


def test_of_many_reports_the_first_are_named(runs: Path, capsys: Capture) -> None:
    for number in range(23):
        write(runs / "ci" / f"{number:02}.xml", JUNIT)
    assert cli.main(["import", "runs", "out"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:-1] == ["not imported: 3 more reports and patches by themselves"]
    assert len(lines) == 20 + 2


def test_an_interrupt_leaves_whole_runs_only(
    runs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = iter(range(9))

    def write_or_stop(*args: object) -> object:
        if next(calls) > 0:
            raise KeyboardInterrupt
        return write_bundle(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(import_run, "write_bundle", write_or_stop)
    assert cli.main(["import", "runs", "out"]) == 130
    shown = capsys.readouterr()
    assert shown.out == "out: 1 of 3 runs imported\n"
    assert shown.err.splitlines()[1:] == [
        "arcview: 2/3 deep/b: interrupted",
        "arcview: interrupted",
    ]
    assert imported(Path("out")) == ["a"]
    assert [name for name in everything(Path("out")) if not name.startswith("a")] == []


def test_a_signal_while_a_run_is_written_leaves_whole_runs_only(runs: Path) -> None:
    """As a terminal sends it: to a program of its own, in the middle of a run."""
    code = (
        "import os, signal, sys\n"
        "from arcview import cli\n"
        "from arcview.session import import_run\n"
        "def stopped(*_):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "import_run.copy_logs = stopped\n"
        # Who is started in the background is deaf to it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.exit(cli.main(['import', 'runs', 'out']))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, env=dict(os.environ)
    )
    assert ended.returncode == 128 + signal.SIGINT
    assert not Path("out").exists()


def test_runs_are_not_written_among_themselves(runs: Path, capsys: Capture) -> None:
    assert cli.main(["import", "runs", "runs/out"]) == 2
    assert "inside the folder that is imported" in only_line(capsys.readouterr().err)
    assert not (runs / "out").exists()


@pytest.mark.parametrize("option", ["--trajectory", "--base"])
def test_what_is_about_one_run_is_refused_for_several(
    runs: Path, capsys: Capture, option: str
) -> None:
    assert cli.main(["import", "runs", "out", option, "runs/session.jsonl"]) == 2
    assert "are about one run; runs holds 3" in only_line(capsys.readouterr().err)
    assert not Path("out").exists()


def test_the_only_run_below_a_folder_is_the_new_folder(runs: Path) -> None:
    assert cli.main(["import", "runs/deep", "out"]) == 0
    assert (Path("out") / "run.json").is_file()


def test_sessions_inside_a_run_are_no_runs_of_their_own(runs: Path, capsys: Capture) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        write(runs / "a" / "checkpoint_1" / "agent" / "logs" / name, turns("x"))
    assert cli.main(["import", "runs/a/checkpoint_1", "out"]) == 2
    assert "a folder inside a run; open the run itself" in only_line(capsys.readouterr().err)
    assert not Path("out").exists()


def test_a_folder_without_runs_is_one_line(runs: Path, capsys: Capture) -> None:
    write(Path("none") / "x.txt", "x")
    assert cli.main(["import", "none", "out"]) == 2
    assert "not a run that arcview can read" in only_line(capsys.readouterr().err)
