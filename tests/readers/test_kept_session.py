"""A session that is cut into stages is read once for them, in every layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from arcview.model.trajectory import Trajectory
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.readers.protocols import Given
from arcview.readers.registry import open_run
from arcview.readers.runs.kept_session import KeptSession
from arcview.readers.trajectories.claude_code import ClaudeCodeReader
from tests.readers.native_run import minimal_run, stage
from tests.readers.scb_run import write, write_run
from tests.readers.test_lone_file import turns
from tests.readers.test_parts import SESSION, keys

REF = TrajectoryRef("session.jsonl")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of each session that is read."""
    seen: list[str] = []
    read = ClaudeCodeReader.read

    def counted(self: ClaudeCodeReader, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        seen.append(path.name)
        return read(self, path, companions)

    monkeypatch.setattr(ClaudeCodeReader, "read", counted)
    return seen


def cut(turn: int, **more: str) -> dict[str, object]:
    return {"path": "session.jsonl", "format": "claude_code", "turns": [turn, turn], **more}


def test_a_native_run_reads_a_session_once_for_all_of_its_turns(
    tmp_path: Path, reads: list[str]
) -> None:
    run = minimal_run(tmp_path / "run")
    run.run["stages"] = [stage(turn, trajectories=[cut(turn)]) for turn in (1, 2, 3)]
    run.write_text("session.jsonl", turns("one", "two", "three"))
    opened = open_run(run.write())
    parts = [opened.trajectory(each.trajectories) for each in opened.run.stages]
    assert [part.steps[0].text for part in parts] == ["one", "two", "three"]
    assert [[each.number for each in part.steps if each.number] for part in parts] == [[1]] * 3
    assert reads == ["session.jsonl"]


def test_a_given_session_is_read_once_for_all_stages(tmp_path: Path, reads: list[str]) -> None:
    run = write_run(tmp_path / "demo", stages=2)
    session = write(tmp_path / "given.jsonl", turns("one", "two"))
    opened = open_run(run, given=Given(trajectory=session))
    reads.clear()
    added = [opened.trajectory(each.trajectories[-1:]) for each in opened.run.stages]
    assert [part.steps[0].text for part in added] == ["one", "two"]
    assert reads == ["given.jsonl"]


def test_a_session_that_grew_is_read_again(tmp_path: Path, reads: list[str]) -> None:
    run = minimal_run(tmp_path / "run")
    run.run["stages"] = [stage(turn, trajectories=[cut(turn)]) for turn in (1, 2)]
    run.write_text("session.jsonl", turns("one"))
    opened = open_run(run.write())
    first, second = (each.trajectories for each in opened.run.stages)
    assert opened.trajectory(second).steps == ()
    run.write_text("session.jsonl", turns("one", "two"))
    assert opened.trajectory(second).steps[0].text == "two"
    assert opened.trajectory(first).steps[0].text == "one"
    assert len(reads) == 2


# -- what is kept


def part(kept: KeptSession, ref: TrajectoryRef, read: list[str], file: Path) -> list[str]:
    def whole() -> Trajectory:
        read.append(ref.path)
        return SESSION

    return keys(kept.part((ref,), (file,), whole))


def of(ref: TrajectoryRef, **cut: object) -> TrajectoryRef:
    return TrajectoryRef(ref.path, **cut)  # type: ignore[arg-type]


def test_parts_by_turn_and_by_time_come_from_one_reading(tmp_path: Path) -> None:
    kept, read = KeptSession(), list[str]()
    assert part(kept, of(REF, turns=(2, 2)), read, tmp_path) == ["u2", "a3"]
    assert part(kept, of(REF, turns=(1, 2)), read, tmp_path) == keys(SESSION)
    assert part(kept, of(REF, since="2026-01-01T10:04:00Z"), read, tmp_path) == ["a3"]
    assert part(kept, of(REF, turns=(9, 9)), read, tmp_path) == []
    assert read == ["session.jsonl"]


def test_only_the_last_session_is_kept(tmp_path: Path) -> None:
    kept, read = KeptSession(), list[str]()
    for name in ("a", "a", "b", "b", "a"):
        part(kept, TrajectoryRef(name, turns=(1, 1)), read, tmp_path)
    assert read == ["a", "b", "a"]


def test_a_whole_session_is_not_kept(tmp_path: Path) -> None:
    kept, read = KeptSession(), list[str]()
    assert part(kept, REF, read, tmp_path) == keys(SESSION)
    assert part(kept, REF, read, tmp_path) == keys(SESSION)
    assert read == ["session.jsonl"] * 2


def test_what_the_run_says_of_a_session_is_part_of_what_is_kept(tmp_path: Path) -> None:
    kept, read = KeptSession(), list[str]()
    part(kept, of(REF, turns=(1, 1), session="s"), read, tmp_path)
    part(kept, of(REF, turns=(2, 2), session="other"), read, tmp_path)
    assert len(read) == 2
