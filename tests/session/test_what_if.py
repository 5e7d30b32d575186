from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from arcview.analysis.what_if import WhatIfLabel
from arcview.errors import ArcviewError, CancelledError
from arcview.gates.engine import End, EngineInfo
from arcview.gates.errors import CannotRerunError
from arcview.model.results import Outcome, Verdict
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunOptions
from arcview.session.what_if import NothingToExplainError, WhatIfEvent, WhatIfPhase, WhatIfs
from tests.gates.fake_engine import FakeEngine, Play

Outcomes = Mapping[str, str]
Answer = Callable[[str], Play | Outcomes | None]


@pytest.fixture
def opened(demo_run: Path) -> OpenRun:
    return OpenRun.open(demo_run)


def recorded(opened: OpenRun, gate: str, state: str) -> dict[str, str]:
    tests = opened.reader().gate_tests(gate, state)
    return {t.id: t.outcome.value for t in tests if t.outcome is not Outcome.MISSING}


def what_ifs(
    opened: OpenRun, sidecar: Path, answer: Answer, info: EngineInfo | None = None
) -> tuple[WhatIfs, FakeEngine]:
    """Recorded states say what is recorded, the rest passes unless `answer` has it otherwise."""

    def script(gate: str, label: str, tree: str) -> Play | Outcomes:
        own = answer(label)
        if own is not None:
            return own
        if opened.run.gate(gate, label) is not None:
            return recorded(opened, gate, label)
        return dict.fromkeys(reruns.definition(gate).expected_ids, "passed")

    engine = FakeEngine(script, info)
    reruns = Reruns(opened, sidecar=sidecar, engine=engine)
    return WhatIfs(opened, reruns), engine


def failing(opened: OpenRun, *labels: str) -> Answer:
    """Trees that fail as the run does."""
    return lambda label: recorded(opened, "2", "S2") if label in labels else None


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("Y2",), WhatIfLabel.BASE),
        (("X2",), WhatIfLabel.CHANGE),
        ((), WhatIfLabel.INTERACTION),
        (("X2", "Y2"), WhatIfLabel.BOTH),
    ],
)
def test_a_failing_gate_is_labelled_from_two_merged_trees(
    opened: OpenRun, tmp_path: Path, labels: tuple[str, ...], expected: WhatIfLabel
) -> None:
    asked, _ = what_ifs(opened, tmp_path, failing(opened, *labels))
    answer = asked.ask("2")
    assert (answer.label, answer.is_steady, answer.is_final) == (expected, True, True)
    states = (answer.base, answer.end, answer.reference_base, answer.reference)
    assert states == ("S1", "S2", "R1", "R2")
    assert answer.x is not None
    assert len(answer.x.verdicts) == len(answer.x.results) == 3
    assert set(answer.tests.values()) == {expected}
    bad = {test for test, word in recorded(opened, "2", "S2").items() if word != "passed"}
    assert answer.tests.keys() == bad


def test_an_answer_is_stored_and_found_again_without_an_engine(
    opened: OpenRun, tmp_path: Path
) -> None:
    asked, engine = what_ifs(opened, tmp_path, failing(opened, "X2"))
    answer = asked.ask("2")
    count = len(engine.jobs)
    assert asked.ask("2") == answer
    later = WhatIfs(opened, Reruns(opened, sidecar=tmp_path))
    assert later.known("2") == answer
    assert later.ask("2") == answer
    assert len(engine.jobs) == count
    assert asked.ask("2", times=4).times == 4
    assert asked.ask("2").times == 4
    (folder,) = (tmp_path / opened.run.run_id / "what-if").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["1.json", "2.json"]
    assert not (folder / "1.json").stat().st_mode & 0o222


def test_an_answer_that_was_changed_by_hand_is_not_used(opened: OpenRun, tmp_path: Path) -> None:
    asked, _ = what_ifs(opened, tmp_path, failing(opened, "X2"))
    asked.ask("2")
    (path,) = tmp_path.rglob("what-if/*/1.json")
    for change in ({"label": "base"}, {"schema": "other"}):
        path.chmod(0o600)
        before = path.read_text()
        path.write_text(json.dumps(json.loads(before) | change))
        assert asked.known("2") is None
        assert "checksum" in asked.store.problems[-1].what
        path.write_text(before)
    path.write_bytes(b"{")
    assert asked.known("2") is None


def test_an_answer_copied_from_another_question_is_reported_and_not_used(
    opened: OpenRun, tmp_path: Path
) -> None:
    asked, _ = what_ifs(opened, tmp_path, failing(opened, "X2"))
    asked.ask("2")
    (path,) = tmp_path.rglob("what-if/*/1.json")
    other = path.parent.with_name(f"2-{'0' * 16}")
    other.mkdir()
    (other / "1.json").write_bytes(path.read_bytes())
    assert asked.store.find(path.parent.name) is not None
    assert not asked.store.problems
    assert asked.store.find(other.name) is None
    (problem,) = asked.store.problems
    assert problem.where == f"what-if/{other.name}/1.json"
    assert problem.what == "copied or moved from another question; not used"


def test_a_place_that_cannot_keep_answers_is_said_in_one_line(
    opened: OpenRun, tmp_path: Path
) -> None:
    asked, _ = what_ifs(opened, tmp_path, failing(opened, "X2"))
    asked.store.folder.parent.mkdir(parents=True)
    asked.store.folder.write_text("a file, not a folder")
    assert asked.known("2") is None
    with pytest.raises(ArcviewError, match="the answer cannot be stored"):
        asked.ask("2")


def test_a_flaky_tree_is_undetermined_and_looked_at_no_longer_than_needed(
    opened: OpenRun, tmp_path: Path
) -> None:
    turns = iter([True, False, True])

    def answer(label: str) -> Outcomes | None:
        return recorded(opened, "2", "S2") if label == "X2" and next(turns) else None

    asked, engine = what_ifs(opened, tmp_path, answer)
    found = asked.ask("2")
    assert (found.label, found.is_steady) == (WhatIfLabel.UNDETERMINED, False)
    assert "X is flaky" in found.reason
    assert sum(job.label == "X2" for job in engine.jobs) == 2


def test_what_earlier_runs_of_a_tree_said_counts_too(opened: OpenRun, tmp_path: Path) -> None:
    asked, engine = what_ifs(opened, tmp_path, failing(opened, "X2"))
    plain = engine.script
    engine.script = lambda *_: dict.fromkeys(recorded(opened, "2", "S2"), "passed")
    reruns = asked.reruns
    reruns.run("2", reruns.target("S2"))
    engine.script = plain
    reruns.run("2", reruns.target("S2"), again=True)
    found = asked.ask("2", times=1)
    assert found.label is WhatIfLabel.UNDETERMINED
    assert "flaky" in found.reason


def test_an_unmeasured_tree_is_undetermined_and_asked_again(
    opened: OpenRun, tmp_path: Path
) -> None:
    broken = {"on": True}

    def answer(label: str) -> Play | None:
        lost = Play(end=End.LOST, detail="the engine went away", report=b"")
        return lost if label == "Y2" and broken["on"] else None

    asked, _ = what_ifs(opened, tmp_path, answer)
    found = asked.ask("2")
    assert (found.label, found.is_final) == (WhatIfLabel.UNDETERMINED, False)
    assert "Y is unmeasured" in found.reason
    broken["on"] = False
    assert asked.ask("2").label is WhatIfLabel.INTERACTION


def test_a_failing_control_is_the_answer(opened: OpenRun, tmp_path: Path) -> None:
    def answer(label: str) -> Outcomes | None:
        return recorded(opened, "2", "S2") if label == "R2" else None

    asked, engine = what_ifs(opened, tmp_path, answer)
    found = asked.ask("2")
    assert (found.label, found.is_final) == (WhatIfLabel.UNDETERMINED, False)
    assert "does not pass on the reference state R2" in found.reason
    assert {job.label for job in engine.jobs} == {"R2"}


def test_what_does_not_merge_is_undetermined_and_runs_nothing(
    opened: OpenRun, tmp_path: Path
) -> None:
    asked, engine = what_ifs(opened, tmp_path, lambda _: None)
    found = asked.ask("4")
    assert (found.label, found.is_final, engine.jobs) == (WhatIfLabel.UNDETERMINED, True, [])
    assert "notes/cli.py does not merge: build_parser" in found.reason
    assert found.x_made is not None
    assert "notes/cli.py" in found.x_made.conflicts


def test_the_base_of_a_stage_is_the_last_state_before_it(opened: OpenRun, tmp_path: Path) -> None:
    asked, _ = what_ifs(opened, tmp_path, lambda _: None)
    assert asked.ask("3").base == "S2.refactor"


def test_only_a_failed_stage_gate_is_explained(opened: OpenRun, tmp_path: Path) -> None:
    asked, _ = what_ifs(opened, tmp_path, lambda _: None)
    for gate, why in (("1", "gate 1 passed"), ("chain", "one stage"), ("9", "one stage")):
        with pytest.raises(NothingToExplainError, match=why):
            asked.ask(gate)
    assert asked.known("1") is None


def test_a_run_that_does_not_record_its_commands_says_so(
    scb: Callable[[str], Path], cases: Path, tmp_path: Path
) -> None:
    names = sorted(path.name.removesuffix(".tar.xz") for path in (cases / "scb").glob("*.tar.xz"))
    run = OpenRun.open(scb(names[0]))
    failed = [
        str(s.index) for s in run.overview.stages if s.gate.judgement.verdict is Verdict.FAILED
    ]
    asked = WhatIfs(run, Reruns(run, sidecar=tmp_path))
    with pytest.raises(CannotRerunError, match="do not record its commands"):
        asked.ask(failed[0])


def test_it_can_be_cancelled_and_tells_where_it_stands(opened: OpenRun, tmp_path: Path) -> None:
    asked, _ = what_ifs(opened, tmp_path, lambda _: None)
    stop, events = threading.Event(), list[WhatIfEvent]()

    def on_event(event: WhatIfEvent) -> None:
        events.append(event)
        if event.phase is WhatIfPhase.RUNNING and event.label == "X2":
            stop.set()

    with pytest.raises(CancelledError):
        asked.ask("2", on_event=on_event, cancelled=stop.is_set)
    assert [event.phase for event in events[:2]] == [WhatIfPhase.MERGING, WhatIfPhase.CONTROL]
    assert asked.known("2") is None
    assert asked.ask("2").label is WhatIfLabel.INTERACTION


def test_without_containers_the_answer_is_stamped(opened: OpenRun, tmp_path: Path) -> None:
    info = EngineInfo("host", "host", "1", "host")
    asked, _ = what_ifs(opened, tmp_path, lambda _: None, info)
    assert asked.ask("2").graded_on_host


def test_an_answer_from_the_host_does_not_stand_in_for_one_from_containers(
    opened: OpenRun, tmp_path: Path
) -> None:
    host = EngineInfo("host", "host", "1", "host")
    asked, _ = what_ifs(opened, tmp_path, lambda _: None, host)
    asked.reruns.options = RerunOptions(engine="host")
    assert asked.ask("2").graded_on_host
    assert WhatIfs(opened, Reruns(opened, sidecar=tmp_path)).known("2") is None
