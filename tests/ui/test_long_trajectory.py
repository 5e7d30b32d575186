"""Something long: its first steps are there at once, the rest follows without moving anything."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot

from arcview.model.trajectory import LongSteps, Trajectory
from arcview.readers.runs import lone_file
from arcview.readers.trajectories import long_files
from arcview.readers.trajectories.claude_code import ClaudeCodeReader
from arcview.session import long_trajectory, run_steps
from arcview.session.opened import OpenRun
from arcview.ui.ahead import read_ahead
from arcview.ui.application import ArcviewApp
from arcview.ui.screens.run import RunScreen
from arcview.ui.widgets import steps as steps_view
from tests.ui.screen_text import notice, on_screen, press, screen_text, settle

LONG_TEXT = "first line\n" + "more of it\n" * 400 + "last line"


def record(number: int, kind: str, content: object) -> str:
    message = {"id": f"m{number}", "role": kind, "content": content}
    return json.dumps({"type": kind, "sessionId": "s", "uuid": f"u{number}", "message": message})


def session(path: Path, steps: int) -> Path:
    lines = [record(0, "user", "Please do it.")]
    for number in range(1, steps + 1):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash"}
        command = "pytest -q" if number == steps else f"echo {number}"
        lines.append(record(number, "assistant", [{**call, "input": {"command": command}}]))
        text = f"{number} passed in 0.1s" if number == steps else LONG_TEXT
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        lines.append(record(1000 + number, "user", [result]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def long_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session that counts as long, and of which only the beginning is known at once."""
    monkeypatch.setattr(long_files, "LONG_BYTES", 1000)
    monkeypatch.setattr(long_trajectory, "_BEGINNING_BYTES", 60_000)
    (tmp_path / "logs").mkdir()
    return session(tmp_path / "logs" / "s.jsonl", 60)


def opening(path: Path, tmp_path: Path) -> Callable[..., OpenRun]:
    return partial(OpenRun.open, path, cache_root=tmp_path / "cache")


def hold_reading(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Lets nobody read all steps before the event is set."""
    go_on = Event()
    read = run_steps.RunSteps.trajectory

    def wait(self: run_steps.RunSteps, stage: int, state: str | None) -> Trajectory:
        assert go_on.wait(30)
        return read(self, stage, state)

    monkeypatch.setattr(run_steps.RunSteps, "trajectory", wait)
    return go_on


async def until(pilot: Pilot[None], text: str) -> str:
    """Waits until a text is on the screen while workers go on."""
    for _ in range(500):
        await pilot.pause(0.01)
        shown = screen_text(pilot.app)  # type: ignore[arg-type]
        if text in shown:
            return shown
    raise AssertionError(f"{text!r} is not in\n{shown}")


async def test_the_first_steps_are_there_before_the_rest_is_read(
    long_session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_run = opening(long_session, tmp_path)
    go_on = hold_reading(monkeypatch)
    screen = RunScreen(open_run(), open_run)
    app = ArcviewApp(screen)
    async with app.run_test(size=(160, 50)) as pilot:
        shown = await until(pilot, "echo 3")
        assert "reading the rest" in shown
        assert "no result" not in shown
        assert screen.long is not None
        steps = screen.long.steps
        assert 3 < len(steps.rows.heads) < 61
        steps.focus()
        await pilot.press("j", "j", "enter", "j")
        opened = await until(pilot, "first line")
        line = steps.cursor_text
        assert line in opened
        go_on.set()
        await settle(pilot)
        shown = screen_text(app)
        assert "reading the rest" not in shown
        assert "first line" in shown
        assert steps.cursor_text == line
        assert len(steps.rows.heads) == 61
        assert isinstance(steps.rows.steps, LongSteps)
        assert "Self-tests  1 run" in shown
        shown = await press(pilot, "G")
        (row,) = (line for line in shown.splitlines() if "pytest -q" in line and "▸" in line)
        assert "60 ✓" in row


@pytest.fixture
def long_conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session that counts as long, in which the user spoke three times."""
    monkeypatch.setattr(long_files, "LONG_BYTES", 1000)
    monkeypatch.setattr(lone_file, "WHOLE_BYTES", 1000)
    lines = []
    for number in range(3):
        lines.append(record(10 * number, "user", f"Please do part {number}. {LONG_TEXT}"))
        lines.append(record(10 * number + 1, "assistant", [{"type": "text", "text": LONG_TEXT}]))
    (tmp_path / "logs").mkdir()
    path = tmp_path / "logs" / "s.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


async def test_the_turns_of_a_long_session_become_stages_once_all_of_it_is_read(
    long_conversation: Path, tmp_path: Path
) -> None:
    open_run = partial(opening(long_conversation, tmp_path), may_glance=True)
    opened = open_run()
    assert (opened.run.is_glanced, len(opened.run.stages)) == (True, 1)
    screen = RunScreen(opened, open_run)
    async with on_screen(screen) as (app, pilot):
        assert "the user spoke 3 times in this session" in notice(app)
        assert len(screen.session.stops) == 3
        shown = await press(pilot, "]", "]")
        assert "Please do part 2" in shown
        assert "Trajectory stage 3 · 1 step" in shown
    again = open_run()
    assert again.from_cache
    assert (again.run.is_glanced, len(again.run.stages)) == (False, 3)


def test_a_command_knows_the_stages_of_a_long_session_and_reads_it_once(
    long_conversation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, times = ClaudeCodeReader.read, []

    def counted(self: ClaudeCodeReader, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        times.append(path)
        return read(self, path, companions)

    monkeypatch.setattr(ClaudeCodeReader, "read", counted)
    open_run = opening(long_conversation, tmp_path)
    assert open_run(may_glance=True).run.is_glanced
    opened = open_run()
    assert [stage.index for stage in opened.run.stages] == [1, 2, 3]
    assert [opened.trajectory(stage).step_count for stage in (1, 2, 3)] == [1, 1, 1]
    assert len(times) == 1


def test_a_long_session_says_the_same_when_it_comes_from_the_cache(
    long_conversation: Path, tmp_path: Path
) -> None:
    open_run = opening(long_conversation, tmp_path)
    first, again = open_run(), open_run()
    assert (first.from_cache, again.from_cache) == (False, True)
    for opened in (first, again):
        steps = [[step.text for step in opened.trajectory(stage).steps] for stage in (1, 2, 3)]
        assert [texts[0].split(".")[0] for texts in steps] == [
            f"Please do part {number}" for number in range(3)
        ]
        assert [len(texts) for texts in steps] == [2, 2, 2]
        assert (opened.spec(2) or "").startswith("Please do part 1")


async def test_a_kept_beginning_stands_in_the_first_frame(
    long_session: Path, tmp_path: Path
) -> None:
    open_run = opening(long_session, tmp_path)
    assert read_ahead(open_run).wait()
    opened = open_run()
    assert opened.from_cache
    kept = opened.kept_beginning(1)
    assert kept is not None
    assert len(kept.steps) > 3
    assert not opened.knows_self_tests(1)
    async with on_screen(RunScreen(opened, open_run)) as (app, _):
        assert "echo 3" in screen_text(app)
        assert "step" in screen_text(app)
    again = open_run()
    assert again.knows_self_tests(1)
    assert again.overview.complete
    assert again.load_view("steps-1", Trajectory) is None


async def test_texts_that_are_not_held_are_opened_found_and_copied(
    long_session: Path, tmp_path: Path
) -> None:
    open_run = opening(long_session, tmp_path)
    screen = RunScreen(open_run(), open_run)
    async with on_screen(screen) as (_, pilot):
        assert screen.long is not None
        screen.long.steps.focus()
        shown = await press(pilot, "/", "=last line", "enter")
        assert "last line" in shown
        assert "last line" in screen.long.steps.detail


def test_a_document_shows_its_first_steps_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_files, "LONG_BYTES", 1000)
    monkeypatch.setattr(long_trajectory, "_BEGINNING_BYTES", 4_000)
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    for number in range(200):
        text = f"THOUGHT: {number}\n\n```bash\nls {number}\n```"
        messages.append({"role": "assistant", "content": text})
        messages.append(
            {"role": "user", "content": "<returncode>0</returncode>\n<output>\n</output>"}
        )
    document = {"info": {"exit_status": "Submitted"}, "messages": messages}
    path = tmp_path / "mini.traj.json"
    path.write_text(json.dumps({**document, "trajectory_format": "mini-swe-agent-1"}))
    opened = opening(path, tmp_path)()
    found = long_trajectory.beginning(opened, 1)
    assert found is not None
    assert 5 < len(found.steps) < 100
    assert found.steps == tuple(opened.trajectory(1).steps[: len(found.steps)])
    assert found.problems == ()
    assert found.exit_status is None


async def test_not_more_steps_are_opened_than_can_be_fetched_at_once(
    long_session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps_view, "_MOST_OPENED", 10)
    open_run = opening(long_session, tmp_path)
    screen = RunScreen(open_run(), open_run)
    async with on_screen(screen) as (app, pilot):
        assert screen.long is not None
        steps = screen.long.steps
        steps.focus()
        await press(pilot, "G", "plus")
        assert "10 steps are open, those around the cursor" in notice(app)
        assert [steps.rows.is_open(at) for at in (0, 50, 51, 60)] == [False, False, True, True]


async def test_what_is_left_or_read_again_lets_go_of_the_steps(
    long_session: Path, tmp_path: Path
) -> None:
    open_run = opening(long_session, tmp_path)
    screen = RunScreen(open_run(), open_run)
    async with on_screen(screen) as (app, pilot):
        assert screen.long is not None
        old = weakref.ref(screen.long.steps.rows.steps)
        text = await press(pilot, "ctrl+r")
        assert "echo 3" in text
        assert old() is None
        assert "Self-tests  1 run" in screen_text(app)
