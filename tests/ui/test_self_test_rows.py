from __future__ import annotations

import pytest

from arcview.analysis.self_tests import SelfTest, SelfTestKind
from arcview.model.patch import ChangeKind, FileChange
from arcview.ui.rows.self_tests import SelfTestRowKind, SelfTestRows, summary


def _run(step: int, command: str, **more: object) -> SelfTest:
    values: dict[str, object] = {
        "step_number": step, "step_key": f"s{step}", "call_key": f"c{step}", "ordinal": 0,
        "command": command, "runner": "pytest", "kind": SelfTestKind.SUITE, "outcome": "passed",
    }  # fmt: skip
    return SelfTest(**(values | more))  # type: ignore[arg-type]


def _lines(rows: SelfTestRows, width: int = 50) -> list[str]:
    return [
        "".join(cell.content.plain for cell in rows.cells(index, width)).rstrip()
        for index in range(len(rows))
    ]


def test_counts_stand_at_the_right() -> None:
    run = _run(77, "pytest -q", outcome="failed", passed=3, failed=1)
    assert _lines(SelfTestRows((run,), None)) == ["#77   pytest -q       3 ✓ 1 ✗"]


def test_without_counts_the_exit_code_stands_there() -> None:
    run = _run(1, "make check", exit_code=2, outcome="failed")
    assert "exit 2 ✗" in _lines(SelfTestRows((run,), None))[0]


def test_the_framework_is_named_where_the_command_does_not() -> None:
    tests = (_run(1, "make check", runner="pytest"), _run(2, "pytest -q", runner="pytest"))
    lines = _lines(SelfTestRows(tests, None))
    assert "pytest: make check" in lines[0]
    assert "pytest: " not in lines[1]


def test_a_masked_exit_code_is_said_and_never_shown_as_a_result() -> None:
    run = _run(1, "pytest | tail", masked="pipe into tail", exit_code=0, outcome="unknown")
    lines = _lines(SelfTestRows((run,), None))
    assert "? unknown" in lines[0]
    assert "exit 0" not in lines[0]
    assert lines[1].strip() == "exit code masked: pipe into tail"


def test_probes_are_folded_apart_and_not_counted_as_runs() -> None:
    probe = _run(2, "python -c 'print(1)'", kind=SelfTestKind.PROBE, outcome="none")
    tests = (_run(1, "pytest", passed=2), probe)
    rows = SelfTestRows(tests, ())
    assert summary(tests) == "1 run, 1 probe"
    assert _lines(rows)[-1] == "▸ Probes: they print, they do not assert  1"
    rows.toggle(len(rows) - 1)
    assert "prints" in _lines(rows)[-1]


def test_no_run_and_an_unknown_trajectory_are_two_things() -> None:
    assert _lines(SelfTestRows((), None)) == ["The agent ran no test in this stage."]
    assert _lines(SelfTestRows((), None, nothing="unknown")) == ["unknown"]


def test_test_files_are_listed_once_they_are_known() -> None:
    rows = SelfTestRows((), None)
    assert len(rows) == 1
    rows.set_files((FileChange("tests/test_a.py", ChangeKind.ADDED, added=12, removed=0),))
    assert _lines(rows)[1] == "▾ Test files changed  1"
    assert _lines(rows)[2].startswith("A tests/test_a.py")
    assert rows.at(2).kind is SelfTestRowKind.FILE


def test_an_inline_program_shows_its_first_line() -> None:
    run = _run(
        1, "python", runner="python", program="\n  from notes import search\nassert search\n"
    )
    assert "python  from notes import search" in _lines(SelfTestRows((run,), None), 60)[0]


def test_the_row_of_a_step_is_found() -> None:
    rows = SelfTestRows((_run(1, "a"), _run(2, "b")), None)
    assert rows.row_of_step("s2") == 1
    assert rows.row_of_step("s9") is None


def _fitted(rows: SelfTestRows, width: int) -> list[str]:
    rows.fit(width)
    lines = _lines(rows, width)
    assert max(map(len, lines)) <= width
    return lines


@pytest.mark.parametrize("width", [24, 30, 35])
def test_in_a_narrow_pane_sentences_are_wrapped(width: int) -> None:
    said = "No trajectory is recorded: what the agent tested is unknown."
    rows = SelfTestRows((), None, nothing=said)
    assert " ".join(_fitted(rows, width)) == said
    assert rows.text(1) == said
    assert rows.locate(rows.anchor(1)) == 0


@pytest.mark.parametrize("width", [24, 30, 35])
def test_in_a_narrow_pane_a_heading_keeps_its_count_and_a_path_its_name(width: int) -> None:
    probe = _run(2, "python -c 'print(1)'", kind=SelfTestKind.PROBE, outcome="none")
    path = "tests/very/deep/test_a.py"
    change = FileChange(path, ChangeKind.ADDED, added=12, removed=0)
    lines = _fitted(SelfTestRows((probe,), (change,)), width)
    assert lines[-1].startswith("▸ Probes: ")
    assert lines[-1].endswith("…  1")
    file = next(line for line in lines if line.startswith("A "))
    assert file.split()[1].endswith("/test_a.py")
    assert file.endswith("+12 −0")


def test_in_a_narrow_pane_a_long_sentence_ends_with_a_sign() -> None:
    lines = _fitted(SelfTestRows((), None, nothing="word " * 60), 24)
    assert len(lines) == 4
    assert lines[-1].endswith("…")
