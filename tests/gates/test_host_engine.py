"""The whole way of a rerun, each reason for its verdict, with commands that really run."""

from __future__ import annotations

import errno
import os
import select
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arcview.errors import ArcviewError
from arcview.gates.definition import Limits
from arcview.gates.host_engine import HostEngine
from arcview.gates.owner import Owner
from arcview.gates.results import RerunResult
from arcview.model.results import Outcome, Verdict
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunOptions
from tests.gates.small_run import FAILED, PASSED, SmallRun, report_of, says


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where copies of workspaces are made; nothing of them is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.glob("arcview-gate-*"))


def rerun(tmp_path: Path, small: SmallRun, **options: Any) -> RerunResult:
    opened = OpenRun.open(small.write(tmp_path))
    reruns = Reruns(opened, sidecar=tmp_path / "side", options=RerunOptions(engine="host"))
    (result,) = reruns.run("1", reruns.target("S1"), **options)
    return result


def script(text: str, **more: Any) -> SmallRun:
    return SmallRun(files={"run.sh": text}, **more)


@pytest.mark.usefixtures("temporary")
class TestVerdicts:
    def test_every_expected_test_passed(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, script(says(PASSED)))
        assert (result.verdict, result.reason, result.exit_codes) == (Verdict.PASSED, None, (0,))
        assert result.graded_on_host
        assert "ran on the host" in result.notes[0]

    def test_a_report_that_is_larger_than_results_may_be(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, script("truncate -s 20G report.json"))
        said = "no usable report: report.json is larger than 512 MB (exit 0)"
        assert (result.verdict, result.reason) == (Verdict.UNMEASURED, said)
        assert {path.name for path in result.logs} == {"log.txt"}

    def test_one_failed(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, script(says(FAILED, 1)))
        assert (result.verdict, result.reason) == (Verdict.FAILED, None)

    def test_a_report_of_failures_and_exit_code_0_contradict(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, script(says(FAILED, 0)))
        assert result.verdict is Verdict.UNMEASURED
        assert result.reason == "contradictory: a reported test failed (exit 0)"

    def test_a_report_without_failures_and_another_exit_code_contradict(
        self, tmp_path: Path
    ) -> None:
        result = rerun(tmp_path, script(says(PASSED, 1)))
        assert result.verdict is Verdict.UNMEASURED
        assert result.reason == "contradictory: every reported test is ok (exit 1)"

    def test_a_failure_of_a_test_that_nobody_expects_explains_the_exit_code(
        self, tmp_path: Path
    ) -> None:
        tests = {"t.py::test_a": "passed", "t.py::test_b": "passed", "t.py::other": "failed"}
        result = rerun(tmp_path, script(says(report_of(tests), 1)))
        assert (result.verdict, result.reason) == (Verdict.PASSED, None)

    def test_an_expected_test_that_is_missing_did_not_pass(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, script(says(report_of({"t.py::test_a": "passed"}))))
        assert result.verdict is Verdict.FAILED
        assert [t.outcome for t in result.tests] == [Outcome.PASSED, Outcome.MISSING]

    def test_no_report(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, script("echo nothing; exit 3"))
        assert result.verdict is Verdict.UNMEASURED
        assert result.reason == "no report: report.json was not written (exit 3)"

    def test_a_report_that_is_cut(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, script(says(PASSED[: len(PASSED) // 2])))
        assert result.verdict is Verdict.UNMEASURED
        assert (result.reason or "").startswith("no usable report: report.json")

    def test_a_report_that_the_workspace_brought_along_does_not_count(self, tmp_path: Path) -> None:
        small = SmallRun(files={"run.sh": "true", "report.json": PASSED})
        result = rerun(tmp_path, small)
        assert (result.verdict, result.reason) == (
            Verdict.UNMEASURED,
            "no report: report.json was not written (exit 0)",
        )

    def test_zero_tests_without_a_broken_build(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, script(says(report_of({}), 5)))
        assert result.verdict is Verdict.UNMEASURED
        assert "zero tests reported of 2 expected" in (result.reason or "")

    def test_zero_tests_and_a_build_that_broke(self, tmp_path: Path) -> None:
        steps = [
            {"name": "compile", "command": ["sh", "-c", "echo broken; exit 101"], "build": True},
            {"name": "tests", "command": ["sh", "run.sh"]},
        ]
        result = rerun(tmp_path, script(says(PASSED), steps=steps))
        assert (result.verdict, result.reason) == (
            Verdict.FAILED,
            "build failed (compile, exit 101)",
        )
        assert {t.outcome for t in result.tests} == {Outcome.NOT_RUN}

    def test_zero_tests_and_an_output_that_shows_a_broken_build(self, tmp_path: Path) -> None:
        said = (
            "   Compiling demo v0.1.0 (/repo)\n"
            "error[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:2:5\n\n"
            "error: could not compile `demo` (lib) due to 1 previous error\n"
        )
        result = rerun(tmp_path, script(f"cat <<'END'\n{said}END\nexit 101\n"))
        assert result.verdict is Verdict.FAILED
        assert (result.reason or "").startswith("nothing ran: ")

    def test_a_command_that_is_not_there(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, SmallRun(command=("no-such-program",)))
        assert result.verdict is Verdict.UNMEASURED
        assert result.reason == "command not found (tests, exit 127)"

    def test_a_command_that_cannot_be_executed(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, SmallRun(command=("./run.sh",), files={"run.sh": "true"}))
        assert result.verdict is Verdict.UNMEASURED
        assert result.reason == "command not executable (tests, exit 126)"

    def test_a_time_out_without_a_report_is_a_failure_and_no_escape(self, tmp_path: Path) -> None:
        small = script("echo begun; trap '' TERM; sleep 60", timeout_s=0.5)
        result = rerun(tmp_path, small)
        assert (result.verdict, result.reason) == (Verdict.FAILED, "timed out after 0.5 s")
        assert result.timed_out
        assert result.logs[0].read_bytes() == b"begun\n"

    def test_a_time_out_after_every_expected_test_passed_is_unmeasured(
        self, tmp_path: Path
    ) -> None:
        text = f"cat >report.json <<'END'\n{PASSED}\nEND\nsleep 60"
        result = rerun(tmp_path, script(text, timeout_s=1))
        assert result.verdict is Verdict.UNMEASURED
        assert result.reason == "timed out after 1 s, though no expected test failed"

    def test_a_crash_without_a_report_is_a_failure(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, script("kill -SEGV $$"))
        assert result.verdict is Verdict.FAILED
        assert result.reason == "crashed (SIGSEGV, exit 139)"

    def test_a_kill_by_nobody_knows_whom_is_unmeasured(self, tmp_path: Path) -> None:
        result = rerun(tmp_path, script("kill -KILL $$"))
        assert result.verdict is Verdict.UNMEASURED
        assert result.reason == "killed (SIGKILL, exit 137), cause not recorded"

    def test_a_full_disk(self, tmp_path: Path) -> None:
        text = "echo 'OSError: [Errno 28] No space left on device'; exit 1"
        result = rerun(tmp_path, script(text))
        assert result.verdict is Verdict.UNMEASURED
        assert result.reason == "disk full: no space left on device (exit 1)"

    def test_too_much_output(self, tmp_path: Path) -> None:
        small = script("while :; do echo 0123456789012345678901234567890123456789; done")
        opened = OpenRun.open(small.write(tmp_path))
        reruns = Reruns(opened, sidecar=tmp_path / "side", options=RerunOptions(engine="host"))
        definition = reruns.definition("1")
        limited = Limits(output_bytes=1 << 20)
        reruns._definitions["1"] = replace(definition, limits=limited)
        (result,) = reruns.run("1", reruns.target("S1"))
        assert (result.verdict, result.reason) == (
            Verdict.FAILED,
            "wrote more than 1 MB of output",
        )
        assert result.logs[0].stat().st_size == 1 << 20

    def test_the_output_is_the_report_where_none_is_declared(self, tmp_path: Path) -> None:
        said = "ok 1 - test_a\nok 2 - test_b\n1..2\n"
        small = script(f"cat <<'END'\nTAP version 13\n{said}END\n", report=None)
        small.f2p = ("test_a", "test_b")
        result = rerun(tmp_path, small)
        assert (result.verdict, result.reason) == (Verdict.PASSED, None)

    def test_steps_go_on_after_a_test_that_failed(self, tmp_path: Path) -> None:
        steps = [
            {"name": "lint", "command": ["sh", "-c", "exit 2"], "env": {"A": "x y"}},
            {"name": "tests", "command": ["sh", "run.sh"], "env": {"A": "it's $HOME"}},
        ]
        text = f'[ "$A" = "it\'s \\$HOME" ] || exit 9\n{says(FAILED, 1)}'
        result = rerun(tmp_path, script(text, steps=steps))
        assert (result.verdict, result.exit_codes) == (Verdict.FAILED, (2, 1))

    def test_the_step_that_took_too_long_is_named(self, tmp_path: Path) -> None:
        steps = [
            {"name": "first", "command": ["sh", "-c", "true"], "timeout_s": 30},
            {"name": "second", "command": ["sleep", "60"], "timeout_s": 1},
        ]
        result = rerun(tmp_path, SmallRun(steps=steps))
        assert (result.verdict, result.reason) == (
            Verdict.FAILED,
            "timed out: second took more than 1 s",
        )


@pytest.mark.usefixtures("temporary")
class TestWorkspace:
    def test_hidden_files_win_over_links_of_the_state(self, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        small = script(f"[ -f tests/t.sh ] && . tests/t.sh\n{says(PASSED)}")
        small.overlay = {"tests/t.sh": "echo hidden\n"}
        run = small.write(tmp_path)
        (run / "stages" / "1" / "workspace" / "tests").symlink_to(outside)
        reruns = Reruns(
            OpenRun.open(run), sidecar=tmp_path / "side", options=RerunOptions(engine="host")
        )
        (result,) = reruns.run("1", reruns.target("S1"))
        assert result.logs[0].read_bytes() == b"hidden\n"
        assert not list(outside.iterdir())

    def test_a_file_of_this_machine_is_no_report(self, tmp_path: Path) -> None:
        mine = tmp_path / "mine.json"
        mine.write_text(PASSED)
        result = rerun(tmp_path, script("true", report=str(mine)))
        assert result.verdict is Verdict.UNMEASURED
        assert mine.read_text() == PASSED
        assert any("outside of the workspace" in note for note in result.notes)

    def test_a_report_that_is_a_link_is_not_followed(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret.json"
        secret.write_text(PASSED)
        small = script(f"ln -s {secret} report.json; true")
        result = rerun(tmp_path, small)
        assert not [path for path in result.logs if path.name.startswith("report")]

    def test_the_run_folder_stays_as_it_is(self, tmp_path: Path) -> None:
        small = script(says(PASSED))
        opened = OpenRun.open(small.write(tmp_path))
        before = _content(tmp_path / "run")
        reruns = Reruns(opened, sidecar=tmp_path / "side", options=RerunOptions(engine="host"))
        reruns.run("1", reruns.target("S1"))
        assert _content(tmp_path / "run") == before

    def test_a_cancelled_run_ends_all_that_it_started(self, tmp_path: Path) -> None:
        mark = tmp_path / "pid"
        small = script(f"sleep 300 & echo $! >{mark}; trap '' TERM; wait")
        result = rerun(
            tmp_path, small, cancelled=lambda: mark.exists() and mark.read_text().strip() != ""
        )
        assert (result.verdict, result.reason) == (Verdict.UNMEASURED, "cancelled")
        assert _is_gone(int(mark.read_text()))

    def test_output_that_cannot_be_kept_is_no_failure_of_the_gate(self, tmp_path: Path) -> None:
        def full(_data: bytes) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with pytest.raises(ArcviewError, match="prints cannot be kept: No space left on device"):
            rerun(tmp_path, script("head -c 1000000 /dev/zero", timeout_s=5), on_output=full)
        assert not list((tmp_path / "side").rglob("result.json"))


def _is_gone(pid: int) -> bool:
    """Whether a process has ended, or does so soon."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], 10)[0])
    finally:
        os.close(process)


def _content(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_copies_of_a_process_that_is_gone_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name, owner in (
        ("arcview-gate-own", Owner.current()),
        ("arcview-gate-old", Owner(Owner.current().host, 2**22 + 1, "1")),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "owner").write_text(owner.text)
    assert HostEngine().reap() == 1
    assert [path.name for path in tmp_path.iterdir()] == ["arcview-gate-own"]
