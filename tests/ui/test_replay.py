from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arcview.session.run_session import Column
from arcview.ui.screens.file import FileScreen
from tests.ui.screen_text import notice, on_screen, press, run_screen

Scb = Callable[[str], Path]


async def test_the_diff_follows_the_trajectory_step_by_step(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        text = await press(pilot, "p")
        assert screen.session.column is Column.TRAJECTORY
        assert "Nothing changed since S1" in text
        text = await press(pilot, "j", "j")
        assert "Replay S1→step 2  1 file +19" in text
        assert "as recorded after the step" in text
        text = await press(pilot, "j")
        assert "Replay S1→step 3  2 files +39" in text
        assert screen.long is not None
        position = screen.long.diff.position
        assert position is not None
        assert (position.change.path, position.new_line) == ("notes/cli.py", 7)
        text = await press(pilot, "k", "k")
        assert "Nothing changed since S1" in text


async def test_in_a_narrow_terminal_a_replay_brings_the_diff_to_the_front(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run), (80, 24)) as (_, pilot):
        text = await press(pilot, "p", "j", "j")
        assert "Replay S1→step 2" in text
        assert "Trajectory stage 2 · step 2/6" in text


async def test_leaving_a_replay_shows_the_whole_change_again(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "p", "j", "j", "p")
        assert "Diff S1→S2  3 files" in text
        assert "as recorded" not in text


async def test_another_stage_is_replayed_from_its_own_start(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "p", "3", "G")
        assert "Replay S2.refactor→step 7" in text


async def test_a_replay_without_recorded_steps_says_that_it_is_reconstructed(scb: Scb) -> None:
    async with on_screen(run_screen(scb("circuit-eval"))) as (_, pilot):
        text = await press(pilot, "p", "w")
        assert "Replay S2.refactor→step 9  1 file +640 −88" in text
        assert " reconstructed from 1 edit " in text
        text = await press(pilot, "w")
        assert "reconstructed from 2 edits · 16 shell commands" in text


async def test_playing_goes_on_to_the_last_step_and_stops(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "greater_than_sign")
        assert "playing" in notice(app)
        assert screen.long is not None
        await press(pilot, "space")
        assert "paused" in notice(app)
        for _ in range(12):
            screen.long.replay.tick()
            await press(pilot)
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 6


async def test_a_file_opens_as_it_stood_then(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        text = await press(pilot, "p", "j", "j", "shift+tab", "shift+tab", "shift+tab", "v")
        assert isinstance(app.screen, FileScreen)
        assert "notes/search.py in S1 after step 2" in text


async def test_enter_on_a_line_leads_to_the_step_that_wrote_it(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "p", "j", "j", "j", "j", "shift+tab", "shift+tab", "shift+tab")
        assert screen.long is not None
        screen.long.diff.go_to("notes/cli.py", 7)
        await press(pilot, "enter")
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 3
        assert "written by stage 2 · step 3 (exact)" in notice(app)


async def test_a_line_of_a_file_as_it_stood_then_leads_to_its_step(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "p", "j", "j", "shift+tab", "shift+tab", "shift+tab", "v", "enter")
        assert app.screen is screen
        assert screen.long is not None
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 2
        assert "written by stage 2 · step 2 (exact)" in notice(app)


async def test_the_tree_of_files_is_named_after_the_step_too(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "F", "p")
        assert "Files S1→" in text
        assert "0 changed" in text
        text = await press(pilot, "j", "j", "j")
        assert "Files S1→step 3  2 changed" in text
        text = await press(pilot, "p")
        assert "Files S1→S2  3 changed" in text
