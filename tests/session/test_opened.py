from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from arcview.analysis.history import History
from arcview.analysis.verdicts import Policy
from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest, Group, GroupCounts, Outcome, Verdict
from arcview.model.run import Chain, Pass, Run, Stage, Status
from arcview.model.states import Provenance, State, StateKind
from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.session.change_summary import change_of
from arcview.session.opened import OpenRun

RESULTS = {
    ("1", "S1"): (("a", Outcome.PASSED), ("b", Outcome.FAILED)),
    ("1", "S1.tidy"): (("a", Outcome.FAILED), ("b", Outcome.FAILED)),
    ("2", "S2"): (("a", Outcome.FAILED), ("b", Outcome.PASSED), ("s", Outcome.SKIPPED)),
}


@dataclass
class FakeReader:
    """An opened run that counts how often it was asked for what costs time."""

    folder: Path
    asked: list[str] = field(default_factory=list)

    @property
    def run(self) -> Run:
        states = (
            State("S0", 0, StateKind.START, Provenance.INFERRED),
            State("S1", 1, StateKind.STAGE_END, Provenance.RECORDED),
            State("S1.tidy", 1, StateKind.BETWEEN, Provenance.RECORDED),
            State("S2", 2, StateKind.STAGE_END, Provenance.RECORDED, unchanged=True),
        )
        tidy = Pass("S1.tidy", "tidy", (TrajectoryRef("tidy.jsonl"),))
        stages = (
            Stage(1, "one", Status.COMPLETED, None, "S0", "S1", passes=(tidy,),
                  trajectories=(TrajectoryRef("1.jsonl"),), spec_path="1.md"),
            Stage(2, "two", Status.COMPLETED, None, "S1.tidy", "S2",
                  trajectories=(TrajectoryRef("2.jsonl"),)),
            Stage(3, None, Status.NOT_STARTED),
        )  # fmt: skip
        gates = tuple(
            GateRecord(gate, state, GroupCounts.of(self._tests(gate, state)), GroupCounts())
            for gate, state in RESULTS
        )
        return Run("id", "fake", str(self.folder), Chain("task"), states=states, stages=stages,
                   gates=gates)  # fmt: skip

    def gate_outcomes(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        self.asked.append("outcomes")
        return self._tests(gate, state)

    def gate_tests(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        self.asked.append("tests")
        return self._tests(gate, state)

    def _tests(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        return tuple(
            GateTest(name, Group.F2P, outcome, message=f"{name} says 1")
            for name, outcome in RESULTS[gate, str(state)]
        )

    def trajectory(self, refs: Sequence[TrajectoryRef]) -> Trajectory:
        self.asked.append("steps")
        calls = (
            ToolCall("c1", "Bash", ToolKind.SHELL, command="ls"),
            ToolCall("c2", "X", ToolKind.OTHER),
        )
        steps = (
            Step("k0", None, Role.USER, StepKind.MESSAGE),
            Step("k1", 1, Role.ASSISTANT, StepKind.MESSAGE, text=refs[0].path, calls=calls),
        )
        return Trajectory("fake", steps)

    def text(self, path: str) -> str:
        return f"text of {path}"

    def inputs(self) -> tuple[Path, ...]:
        return (self.folder / "run.txt", self.folder / "sub" / "results.txt")

    def problems(self) -> tuple[Problem, ...]:
        return (Problem("run.txt", "a word is missing"),)


Opener = Callable[[], OpenRun]


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeReader:
    folder = tmp_path / "run"
    (folder / "sub").mkdir(parents=True)
    for name in ("run.txt", "sub/results.txt"):
        (folder / name).write_text("1")
    fake = FakeReader(folder)

    def open_run(path: Path, *_asked: object) -> FakeReader:
        fake.asked.append("open")
        return fake

    monkeypatch.setattr("arcview.readers.registry.open_run", open_run)
    return fake


def test_the_overview_is_there_before_any_trajectory_is_read(reader: FakeReader) -> None:
    run = OpenRun.open(reader.folder)
    assert [row.judgement.verdict for row in run.overview.stages] == [
        Verdict.FAILED,
        Verdict.FAILED,
        Verdict.UNMEASURED,
    ]
    assert [row.debt for row in run.overview.stages] == [0, 2, None]
    assert [row.steps for row in run.overview.stages] == [None, None, None]
    assert "steps" not in reader.asked


def test_steps_are_counted_on_demand(reader: FakeReader) -> None:
    overview = OpenRun.open(reader.folder).complete_overview()
    assert [(row.steps, row.tool_calls) for row in overview.stages] == [
        (1, 2),
        (1, 2),
        (None, None),
    ]


def test_a_second_open_asks_the_reader_for_nothing(reader: FakeReader) -> None:
    first = OpenRun.open(reader.folder)
    views = [first.gate_view(gate, state) for gate, state in RESULTS]
    first.complete_overview()
    first.self_tests(1)
    reader.asked.clear()
    second = OpenRun.open(reader.folder)
    assert second.from_cache
    assert [second.gate_view(gate, state) for gate, state in RESULTS] == views
    assert second.complete_overview() == first.overview
    assert second.trajectory(1) == first.trajectory(1)
    assert second.self_tests(1) == first.self_tests(1)
    assert second.run == first.run
    assert second.problems == first.problems
    assert reader.asked == []


def _touch(path: Path) -> None:
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: _touch(folder / "run.txt"),
        lambda folder: (folder / "run.txt").write_text("longer"),
        lambda folder: (folder / "run.txt").unlink(),
        lambda folder: (folder / "sub" / "new.txt").write_text("a new result"),
        lambda folder: (folder / "stage4").mkdir(),
    ],
    ids=["time", "size", "gone", "new file beside an input", "new folder in the run"],
)
def test_a_run_that_changed_is_read_again(
    reader: FakeReader, change: Callable[[Path], object]
) -> None:
    run = OpenRun.open(reader.folder)
    assert not run.changed_on_disk()
    change(reader.folder)
    assert run.changed_on_disk()
    assert not OpenRun.open(reader.folder).from_cache


def test_views_of_the_run_as_it_was_are_not_served_after_a_change(reader: FakeReader) -> None:
    OpenRun.open(reader.folder).gate_view("1")
    _touch(reader.folder / "run.txt")
    reader.asked.clear()
    OpenRun.open(reader.folder).gate_view("1")
    assert "tests" in reader.asked


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff" * 20])
def test_a_damaged_cache_is_built_again(reader: FakeReader, own_cache: Path, damage: bytes) -> None:
    first = OpenRun.open(reader.folder)
    view = first.gate_view("2")
    files = list(own_cache.glob("runs/*/views/*.json"))
    assert files
    for file in files:
        file.write_bytes(damage)
    second = OpenRun.open(reader.folder)
    assert not second.from_cache
    assert second.gate_view("2") == view
    assert OpenRun.open(reader.folder).from_cache


def test_another_policy_or_layout_is_no_cached_run(reader: FakeReader) -> None:
    OpenRun.open(reader.folder)
    lenient = OpenRun.open(reader.folder, policy=Policy(skip_ok=True))
    assert not lenient.from_cache
    assert len(lenient.gate_view("2").failing) == 1
    assert not OpenRun.open(reader.folder, layout="fake").from_cache


def test_a_cache_that_cannot_be_written_does_not_stop_an_open(
    reader: FakeReader, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    run = OpenRun.open(reader.folder, cache_root=tmp_path / "file" / "cache")
    assert len(run.gate_view("1").failing) == 1


def test_a_gate_view_says_what_is_inherited_new_and_healed(reader: FakeReader) -> None:
    run = OpenRun.open(reader.folder)
    between, last = run.gate_view("1", "S1.tidy"), run.gate_view("2")
    assert [(f.test.id, f.history) for f in between.failing] == [
        ("a", History.NEW),
        ("b", History.INHERITED),
    ]
    assert [(f.test.id, f.history) for f in last.failing] == [
        ("a", History.INHERITED),
        ("s", History.FIRST),
    ]
    assert [test.id for test in last.healed] == ["b"]
    assert [[test.id for test in group.tests] for group in last.groups] == [["a"], ["s"]]


def test_a_stage_that_never_began_has_an_unmeasured_view(reader: FakeReader) -> None:
    view = OpenRun.open(reader.folder).gate_view("3")
    assert view.cell.judgement.verdict is Verdict.UNMEASURED
    assert view.cell.judgement.reason == "the stage was not started"
    assert view.failing == ()


def test_a_pass_has_its_own_steps(reader: FakeReader) -> None:
    run = OpenRun.open(reader.folder)
    assert [step.text for step in run.trajectory(1).steps] == ["", "1.jsonl"]
    assert [step.text for step in run.trajectory(1, "S1.tidy").steps] == ["", "tidy.jsonl"]
    assert run.trajectory(3).steps == ()


def test_texts_are_read_by_the_reader(reader: FakeReader) -> None:
    run = OpenRun.open(reader.folder)
    assert run.spec(1) == "text of 1.md"
    assert run.spec(2) is None
    assert run.contract(1) is None


def test_errors_name_the_file_as_it_was_given(
    reader: FakeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_run(path: Path, *_asked: object) -> FakeReader:
        raise BadInputError(str(path / "run.txt"), "expected a number", "stages[0]")

    monkeypatch.setattr("arcview.readers.registry.open_run", open_run)
    monkeypatch.chdir(reader.folder.parent)
    with pytest.raises(BadInputError, match=r"^run/run.txt: stages\[0\]: expected a number$"):
        OpenRun.open(Path("run"))


def test_the_overview_calls_the_run_as_it_was_called_this_time(
    reader: FakeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    OpenRun.open(reader.folder)
    monkeypatch.chdir(reader.folder.parent)
    run = OpenRun.open(Path("run"))
    assert run.from_cache
    assert run.overview.path == "run"
    assert Path(run.run.path) == reader.folder.resolve()


def test_a_change_that_cannot_be_computed_says_why(reader: FakeReader) -> None:
    run = OpenRun.open(reader.folder)
    assert change_of(run, 3).missing == "the stage was not started"
    missing = change_of(run, 2)
    assert (missing.files, missing.unchanged) == (None, True)
    assert missing.missing is not None
