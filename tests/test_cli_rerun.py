from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from arcview.cli import main
from arcview.cli.reruns import LiveText
from tests.gates.small_run import FAILED, PASSED, SmallRun, says

HOST = ("--engine", "host", "--yes")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    small = SmallRun(
        files={"run.sh": says(FAILED, 1, before="echo said; printf '\\033[31mred\\033[0m\\n'")},
        recorded={"t.py::test_a": "passed", "t.py::test_b": "failed"},
        image={"ref": "some-image:1"},
    )
    return small.write(tmp_path)


def rerun(run: Path, *more: str) -> int:
    sidecar = run.parent / "sidecar"
    return main(["rerun", str(run), "--gate", "1", "--sidecar", str(sidecar), *more])


def test_it_prints_what_the_gate_prints_the_verdict_and_how_it_compares(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rerun(run, *HOST) == 1
    out = capsys.readouterr().out
    assert out.startswith("said\n")
    assert "\x1b" not in out
    assert "gate 1 on S1: failed" in out
    assert "graded on the host" in out
    assert "t.py::test_b" in out
    assert "reproduces the recorded verdict (failed)" in out


def test_json_is_one_object_and_the_output_goes_elsewhere(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rerun(run, *HOST, "--json", "--times", "2") == 1
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert (found["schema"], found["verdict"]) == ("arcview/rerun/1", "failed")
    assert found["reproduces"] is True
    assert [each["attempt"] for each in found["results"]] == [1, 2]
    assert found["results"][0]["graded_on_host"] is True
    assert captured.err.startswith("said\n")


def test_what_is_kept_is_not_run_again_unless_asked(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rerun(run, *HOST)
    capsys.readouterr()
    assert rerun(run, *HOST) == 1
    out = capsys.readouterr().out
    assert "said" not in out
    assert "attempt 1" in out
    assert rerun(run, *HOST, "--again") == 1
    assert "attempt 2" in capsys.readouterr().out


def test_another_state_is_run_on_when_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rerun(run, *HOST, "--state", "S0") == 3
    assert "gate 1 on S0: unmeasured (no report" in capsys.readouterr().out


def test_a_first_run_shows_what_it_would_do_and_needs_a_yes(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert rerun(run, "--engine", "host") == 2
    err = capsys.readouterr().err
    assert "command  sh run.sh" in err
    assert "without any isolation" in err
    assert "recorded 1.5 s" in err
    assert "add --yes" in err
    assert not (run.parent / "sidecar").exists()


@pytest.mark.parametrize(("answer", "code"), [("y\n", 1), ("yes\n", 1), ("n\n", 2), ("", 2)])
def test_on_a_terminal_it_asks(
    run: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    stdin = io.StringIO(answer)
    stdin.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", stdin)
    assert rerun(run, "--engine", "host") == code


def test_without_an_engine_it_says_why_and_prints_the_command(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rerun(run, "--engine", f"unix://{tmp_path}/none.sock") == 3
    captured = capsys.readouterr()
    assert "no container engine answers at unix://" in captured.err
    assert "docker run --rm -i --network none" in captured.out
    assert "without arcview, this does the same:" in captured.err
    assert "Traceback" not in captured.err


def test_a_command_for_an_image_that_nobody_names_says_so(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in run.parent.rglob("chain.json"):
        chain = json.loads(file.read_text("utf-8"))
        del chain["image"]
        file.write_text(json.dumps(chain), "utf-8")
    assert rerun(run, "--engine", f"unix://{tmp_path}/none.sock") == 3
    captured = capsys.readouterr()
    assert " IMAGE " in captured.out
    assert "once IMAGE is replaced: the run names no image" in captured.err


def test_without_an_engine_json_leaves_standard_output_empty(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rerun(run, "--engine", f"unix://{tmp_path}/none.sock", "--json") == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "docker run --rm -i --network none" in captured.err


def test_an_address_in_the_environment_that_is_none_says_where_it_comes_from(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "nonsense")
    assert rerun(run) == 3
    err = capsys.readouterr().err
    assert "no container engine answers at nonsense (not a URL such as unix://…)" in err
    assert "DOCKER_HOST" in err


def test_where_nothing_was_measured_the_reason_is_not_buried_under_all_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = {f"t.py::test_{number}": "passed" for number in range(40)}
    run = SmallRun(files={"run.sh": "exit 4"}, recorded=recorded).write(tmp_path)
    assert rerun(run, *HOST) == 3
    out = capsys.readouterr().out
    assert "no report" in out
    assert "no expected test has a result (2 missing)" in out
    assert "cannot be held to the recorded verdict" in out
    assert "F2P 0 of" not in out
    assert "t.py::test_" not in out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--gate", "7"), "--gate 7: the run has 1"),
        (("--gate", "nonsense"), "--gate nonsense: the run has 1"),
        (("--state", "S9"), "--state S9: the run has S0, S1"),
        (("--state", ""), "--state : the run has S0, S1"),
        (("--state", "S1@9"), "S1@9: the run has no such state"),
        (("--times", "0"), "--times 0: expected 1 to 1000"),
        (("--engine", "podmann"), "--engine podmann: expected auto, host, or a URL"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(
    run: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], said: str
) -> None:
    assert rerun(run, *HOST, *more) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert captured.out == ""


def test_a_run_that_does_not_record_commands_cannot_be_rerun(
    scb: object, capsys: pytest.CaptureFixture[str]
) -> None:
    path = scb("file-backup-infra")  # type: ignore[operator]
    assert main(["rerun", str(path), "--gate", "1", *HOST]) == 2
    assert "do not record its commands" in capsys.readouterr().err


def written(*pieces: bytes) -> str:
    stream = io.StringIO()
    live = LiveText(stream)
    for piece in pieces:
        live.feed(piece)
    live.finish()
    return stream.getvalue()


def test_output_is_shown_as_it_comes_and_never_acts_on_the_terminal() -> None:
    stream = io.StringIO()
    live = LiveText(stream)
    live.feed(b"dots...")
    assert stream.getvalue() == "dots..."
    live.feed("\nprice €".encode()[:-1])
    assert stream.getvalue() == "dots...\nprice "
    live.feed("€".encode()[-1:] + b"\n")
    assert stream.getvalue() == "dots...\nprice €\n"
    assert "\x1b" not in written(b"a\x1b[3", b"1mb\n", b"\x1b]0;title\x07c")


def test_a_reader_that_leaves_does_not_stop_the_gate() -> None:
    tries: list[str] = []

    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            tries.append(text)
            raise BrokenPipeError

    live = LiveText(Closed())
    live.feed(b"a\n")
    live.feed(b"b\n")
    live.finish()
    assert tries == ["a\n"]


def test_a_report_of_passes_ends_with_0(tmp_path: Path) -> None:
    run = SmallRun(files={"run.sh": says(PASSED)}).write(tmp_path)
    assert rerun(run, *HOST) == 0
