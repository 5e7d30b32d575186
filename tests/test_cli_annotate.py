"""`arcview annotate …` as a user calls it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from arcview.cli import main
from arcview.session.address import Address
from arcview.session.annotate import AnnotateSession
from arcview.session.opened import OpenRun

DEMO = Path(__file__).parents[1] / "fixtures" / "runs" / "scripted-demo" / "notes-cli"
TEST = str(Address("gate", "2", ("f2p", "gate_tests/test_search.py::test_newest_first")))


@pytest.fixture
def side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "side"
    monkeypatch.setenv("ARCVIEW_SIDECAR", str(folder))
    monkeypatch.setenv("ARCVIEW_ANNOTATOR", "ann")
    session = AnnotateSession.open(OpenRun.open(DEMO), annotator="ann")
    session.mark(TEST)
    session.label("validity", "V0")
    session.finish()
    return folder


def test_cases_are_listed(side: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "list", str(DEMO)]) == 0
    assert "V0 valid" in capsys.readouterr().out


def test_cases_of_many_runs_are_listed_for_programs(
    side: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["annotate", "list", str(DEMO.parent), "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["annotators"]["ann"]["validity"] == "V0"


def test_the_work_list_counts(side: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "worklist", str(DEMO)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1/4 done, 0 skipped, 0 drafts"


@pytest.mark.parametrize(
    ("format_", "expected"),
    [
        ("jsonl", '"schema": "arcview/case/1"'),
        ("csv", "run_id,task_id,agent"),
        ("markdown", "# Cases of notes-cli"),
        ("mast", '"failure_modes"'),
    ],
)
def test_every_format_is_exported(
    side: Path, capsys: pytest.CaptureFixture[str], format_: str, expected: str
) -> None:
    assert main(["annotate", "export", str(DEMO), "--format", format_]) == 0
    assert expected in capsys.readouterr().out


def test_an_export_comes_back_in_another_sidecar(
    side: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, other = tmp_path / "cases.jsonl", str(tmp_path / "other")
    assert main(["annotate", "export", str(DEMO), "-o", str(file)]) == 0
    again = ["annotate", "import", str(file), str(DEMO), "--sidecar", other]
    assert main(again) == 0
    assert capsys.readouterr().out.startswith("1 reading added")
    assert main(again) == 0
    assert capsys.readouterr().out.startswith("0 readings added")


def test_a_fault_is_an_exit_code(side: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "check", str(DEMO)]) == 0
    (file,) = side.rglob("*.jsonl")
    with file.open("a") as log:
        log.write('{"torn": \n')
    assert main(["annotate", "check", str(DEMO)]) == 1
    assert "not a whole line" in capsys.readouterr().out


def test_the_scheme_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "scheme"]) == 0
    assert "[0]  V0  valid" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "COMMAND"),
        (["bogus"], "bogus"),
        (["list", "nowhere"], "nowhere"),
        (["import", "nowhere.json", str(DEMO)], "nowhere.json"),
        (["worklist", str(DEMO), "--sample", "0"], "--sample"),
        (["scheme", "--scheme", "nowhere.toml"], "nowhere.toml"),
        (["list", str(DEMO), "--sidecar", str(DEMO / "x")], "inside the run"),
    ],
)
def test_wrong_use_is_one_line(
    side: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["annotate", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_nobody_imports_namelessly(
    side: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ARCVIEW_ANNOTATOR")
    (tmp_path / "a.json").write_text('[{"case": "c", "by": "x", "validity": "V0"}]')
    assert main(["annotate", "import", str(tmp_path / "a.json"), str(DEMO)]) == 2
    assert "say who labels" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--annotator", "ann@example.org"], "up to 40 letters"),
        (["--scheme", "no/such.toml"], "no/such.toml: cannot be read: No such file or directory"),
    ],
)
def test_flags_of_labelling_are_checked_before_the_screens_open(
    capsys: pytest.CaptureFixture[str], flags: list[str], expected: str
) -> None:
    assert main([str(DEMO), *flags]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line


@pytest.mark.parametrize(
    "arguments",
    [
        ["agreement", "x.jsonl"],
        ["annotate", "import", "x.jsonl", str(DEMO), "--annotator", "ann"],
        ["annotate", "scheme", "--scheme", "x.jsonl"],
        [str(DEMO), "--scheme", "x.jsonl"],
    ],
)
@pytest.mark.parametrize("what", ["pipe", "bytes", "folder"])
def test_what_is_no_text_file_is_refused_in_words(
    arguments: list[str],
    what: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if what == "pipe":
        os.mkfifo("x.jsonl")
    elif what == "folder":
        Path("x.jsonl").mkdir()
    else:
        Path("x.jsonl").write_bytes(b"\xff\xfe")
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "x.jsonl: " in line
    assert "Errno" not in line


HOSTILE = "=cmd()\x1b[31mred\x07\u202eevil\nmore \ud800"


def hostile_record() -> dict[str, object]:
    run_id = OpenRun.open(DEMO).run.run_id
    reading = {
        "status": "final",
        "note": HOSTILE,
        "origins": [{"id": "o/1", "stage": 2, "defect": "D2"}],
        "evidence": [{"id": "e/1", "address": TEST, "supports": "o/1"}],
    }
    return {
        "schema": "arcview/case/1", "case": "c1", "run_id": run_id, "unit": "gate:2",
        "annotators": {"eve": reading},
    }  # fmt: skip


@pytest.mark.parametrize("format_", ["jsonl", "csv", "markdown", "who-when", "mast"])
def test_no_export_writes_a_control_character(
    format_: str, tmp_path: Path, side: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hostile.jsonl"
    file.write_text(json.dumps(hostile_record()) + "\n", encoding="utf-8")
    assert main(["annotate", "import", str(file), str(DEMO)]) == 0
    assert main(["annotate", "export", str(DEMO), "--format", format_]) == 0
    out = capsys.readouterr().out
    assert not {"\x1b", "\x07", "\u202e", "\ud800", "\r"} & set(out)


def test_a_slash_in_the_id_of_a_part_loses_no_label(
    tmp_path: Path, side: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hostile.jsonl"
    file.write_text(json.dumps(hostile_record()) + "\n", encoding="utf-8")
    main(["annotate", "import", str(file), str(DEMO)])
    capsys.readouterr()
    main(["annotate", "export", str(DEMO)])
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (eve,) = (r["annotators"]["eve"] for r in records if "eve" in r["annotators"])
    (origin,) = eve["origins"]
    assert (origin["id"], origin["defect"]) == ("o-1", "D2")
    assert eve["evidence"][0]["supports"] == "o-1"
