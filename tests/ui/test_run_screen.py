from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.worker import WorkerFailed

from arcview.model.patch import FileChange, FilePatch
from arcview.session.run_session import Column
from arcview.ui.application import ArcviewApp
from arcview.ui.screens import run_follow_edits
from arcview.ui.screens.run import RunScreen
from arcview.ui.screens.text import TextScreen
from tests.ui.screen_text import notice, on_screen, press, run_screen, screen_text

Scb = Callable[[str], Path]


async def test_three_panes_stand_side_by_side_above_the_trajectory(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, _):
        lines = screen_text(app).splitlines()
        assert lines[0].startswith(" scripted-demo · notes-cli · 4 stages · L4")
        titles = next(line for line in lines if "Diff S1→S2" in line)
        assert "Gate 2  ✗ F2P 8/11  P2P 15/15" in titles
        assert "Self-tests  2 runs" in titles
        assert any("Trajectory stage 2" in line for line in lines)


async def test_opens_at_the_first_failing_gate_with_its_first_failing_test(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, _):
        assert screen.session.stop.stage == 2
        assert app.focused is screen.content.gate
        assert "test_phrase_in_quotes" in screen.content.gate.cursor_text


async def test_one_key_shows_message_and_suspect_change_of_a_failure(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "enter")
        assert "expected  [1]" in text
        assert "It began to fail with the change of S2:" in text


async def test_a_suspect_file_leads_into_the_diff_and_backspace_returns(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "enter", "/", "=search.py  +", "enter", "enter")
        assert app.screen is screen
        assert screen.session.column is Column.DIFF
        assert screen.long is not None
        assert screen.long.diff.position is not None
        assert screen.long.diff.position.change.path == "notes/search.py"
        await press(pilot, "backspace")
        assert app.focused is screen.content.gate


async def test_a_failure_names_the_step_that_wrote_the_code_and_leads_to_it(scb: Scb) -> None:
    screen = run_screen(scb("circuit-eval"))
    async with on_screen(screen) as (app, pilot):
        text = await press(pilot, "enter")
        assert "← the pass to S1.refactor · step 7 (exact)" in text
        await press(pilot, "/", "=step 7", "enter", "enter")
        assert app.screen is screen
        assert screen.session.stop.state == "S1.refactor"
        assert screen.long is not None
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 7
        await press(pilot, "backspace")
        assert (screen.session.stop.stage, screen.session.column) == (3, Column.GATE)


async def test_a_candidate_line_outside_the_diff_opens_the_file_at_that_line(scb: Scb) -> None:
    async with on_screen(run_screen(scb("circuit-eval"))) as (app, pilot):
        await press(pilot, "enter", "/", "=circopt.py:1131", "enter", "enter")
        assert isinstance(app.screen, TextScreen)
        assert "circopt.py in S3" in screen_text(app)
        assert app.screen.view.cursor_text.strip() == "--json     Output in JSON format"


async def test_a_line_of_the_diff_leads_to_the_step_that_wrote_it(scb: Scb) -> None:
    screen = run_screen(scb("circuit-eval"))
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "shift+tab", "J", "j", "enter")
        assert screen.session.column is Column.TRAJECTORY
        assert "written by stage 3 · step" in notice(app)


async def test_the_steps_that_edited_a_file_are_gone_through_one_by_one(scb: Scb) -> None:
    screen = run_screen(scb("circuit-eval"))
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "shift+tab", "i")
        assert "circopt.py: edit " in notice(app)
        assert screen.long is not None
        assert screen.long.steps.call is not None
        assert screen.long.steps.call.path == "/workspace/circopt.py"


async def test_what_a_shell_wrote_is_an_edit_for_the_keys_of_steps_and_files(
    demo_run: Path,
) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "3", "shift+tab")
        assert screen.long is not None
        screen.long.diff.go_to("tests/test_export.py")
        await press(pilot, "i")
        assert "tests/test_export.py: edit 1 of 1 (i: the next one)" in notice(app)
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 5
        await press(pilot, "w")
        assert screen.long.steps.step.number == 6


async def test_a_file_that_no_call_names_leads_to_the_steps_known_to_have_written_it(
    demo_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_follow_edits, "steps_editing", lambda *_: ())
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "3", "shift+tab")
        assert screen.long is not None
        screen.long.diff.go_to("tests/test_export.py")
        await press(pilot, "i")
        assert (
            "tests/test_export.py: no call names it; by the states recorded after each step: "
            "1 of 1 (i: the next one)"
        ) in notice(app)
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 5


async def test_stage_keys_load_every_pane(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "3")
        assert "Gate 3  ✗ F2P 5/6" in text
        assert "Diff S2.reformat→S3" in text or "Diff S2" in text
        assert "Trajectory stage 3" in text


async def test_a_between_state_shows_its_own_gate_diff_and_steps(scb: Scb) -> None:
    async with on_screen(run_screen(scb("circuit-eval"))) as (_, pilot):
        text = await press(pilot, "4", "}")
        assert "Gate 4 on S4.refactor" in text
        assert "Diff S4→S4.refactor" in text
        assert "Trajectory S4.refactor" in text
        assert "broken again" in text or "new" in text


async def test_the_chain_gate_is_a_place_of_the_rail(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "0")
        assert "Gate chain  ✗ F2P 29/38  P2P 4/6" in text
        assert "Diff S0→S4" in text


async def test_zoom_leaves_one_pane_and_returns(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        zoomed = await press(pilot, "z")
        assert "Gate 2" in zoomed
        assert "Trajectory" not in zoomed
        assert "Trajectory" in await press(pilot, "z")


async def test_tab_goes_round_the_panes(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        seen = []
        for _ in range(4):
            await press(pilot, "tab")
            assert app.focused is not None
            seen.append(app.focused.id)
        assert seen == ["self-tests", "trajectory", "diff", "gate"]


async def test_failing_only_is_said_in_the_border(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "f")
        assert "failing only" in text
        assert "F2P passed" not in text


async def test_a_self_test_leads_to_its_step(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        text = await press(pilot, "tab", "enter")
        assert "step 4/" in text
        assert screen.session.column is Column.TRAJECTORY


async def test_the_file_tree_stands_in_for_the_diff_and_leads_back_into_it(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "F")
        assert app.focused is not None
        assert app.focused.id == "tree"
        await press(pilot, "G", "enter")
        assert app.focused is not None
        assert app.focused.id == "diff"
        assert screen.long is not None
        assert screen.long.diff.position is not None
        assert screen.long.diff.position.change.path == "tests/test_search.py"


async def test_in_a_zoomed_diff_the_tree_stands_beside_it(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "shift+tab", "z")
        line = next(line for line in text.splitlines() if "Diff S1→S2" in line)
        assert "Files S1→S2  3 changed" in line


async def test_ctrl_c_without_a_selection_quits(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app.return_code == 0


async def test_the_diff_changes_between_one_column_and_two(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        assert "side by side" in await press(pilot, "u")
        assert "side by side" not in await press(pilot, "u")


async def test_any_two_states_can_be_compared(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        assert "the older state" in await press(pilot, "M")
        assert "the newer state" in await press(pilot, "enter")
        text = await press(pilot, "G", "enter")
        assert "Diff S0→S4 two states" in text


async def test_the_reference_is_shown_only_when_it_is_asked_for(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        seen = [await press(pilot, "m") for _ in range(5)]
        assert not any("reference" in text for text in seen)
        await pilot.app.screen.run_action("reveal_reference")
        assert "Diff R2→S2 against the reference" in await press(pilot)


async def test_a_run_without_a_reference_says_so(scb: Scb) -> None:
    async with on_screen(run_screen(scb("circuit-eval"))) as (app, pilot):
        await pilot.app.screen.run_action("reveal_reference")
        await press(pilot)
        assert "this run has no reference for this state" in notice(app)


async def test_spec_and_log_are_one_key_away(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        assert "Specification of stage 2" in await press(pilot, "s")
        await press(pilot, "backspace")
        assert "stages/2/gate/log.txt" in await press(pilot, "L")
        await press(pilot, "escape")
        assert isinstance(app.screen, RunScreen)


async def test_help_lists_the_keys_of_the_pane_and_the_signs(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run), (120, 90)) as (_, pilot):
        text = await press(pilot, "?")
        assert "First failing gate" in text
        assert "Next stage" in text


@pytest.mark.parametrize("size", [(100, 40), (80, 24), (40, 12)])
async def test_help_loses_no_word_in_a_narrow_terminal(
    demo_run: Path, size: tuple[int, int]
) -> None:
    async with on_screen(run_screen(demo_run), size) as (_, pilot):
        text = await press(pilot, "?")
        assert "›" not in text
        assert "The stage before this one." in text


async def test_a_notice_takes_the_room_of_the_keys_where_it_needs_it(demo_run: Path) -> None:
    long = "a sentence of more than fifty letters, with some more of them"
    async with on_screen(run_screen(demo_run), (80, 24)) as (app, pilot):
        await press(pilot)
        screen = app.screen
        assert isinstance(screen, RunScreen)
        screen.notice(long)
        assert notice(app).strip() == long
        screen.notice("short")
        assert "q quit" in notice(app)
        screen.notice(f"{long} {long}")
        assert len(notice(app)) == 80
        assert notice(app).endswith("…")


async def test_the_palette_begins_with_what_the_screen_does(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run), (80, 24)) as (_, pilot):
        text = await press(pilot, ":")
        assert "Previous stage" in text
        assert "One row down" not in text
        await press(pilot, "escape")


async def test_the_palette_finds_and_runs_a_command(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        await press(pilot, ":", "=Zoom the pane")
        text = await press(pilot, "enter")
        assert "Trajectory" not in text


async def test_jumps_move_in_the_trajectory_from_any_pane(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "x")
        assert screen.session.column is Column.TRAJECTORY
        assert screen.long is not None
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 4
        await press(pilot, "x", "x")
        assert "no self-test further on" in notice(app)


async def test_search_looks_through_closed_steps(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "shift+tab", "shift+tab", "/", "=PhraseNowhere", "enter")
        assert "not found: PhraseNowhere" in notice(app)


async def test_copy_says_what_was_copied(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "y")
        assert app.clipboard.endswith("test_phrase_in_quotes")
        assert "copied" in notice(app)


async def test_a_click_on_a_card_selects_the_stage(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        await pilot.click("#rail", offset=(3, 1))
        await press(pilot)
        assert screen.session.stop.stage == 1


async def test_a_click_into_a_pane_gives_it_the_keys(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        await pilot.click("#trajectory", offset=(5, 3))
        await press(pilot)
        assert screen.session.column is Column.TRAJECTORY


@pytest.mark.parametrize("width", [40, 80])
async def test_in_a_narrow_terminal_the_panes_are_tabs(demo_run: Path, width: int) -> None:
    async with on_screen(run_screen(demo_run), (width, 24)) as (app, pilot):
        first = screen_text(app)
        assert " Diff ▌Gate  Self-tests" in first
        assert "Gate 2" in first
        assert "Self-tests  2 runs" not in first
        assert "Self-tests  2 runs" in await press(pilot, "tab")


async def test_a_click_on_a_tab_brings_its_pane_up(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen, (80, 24)) as (app, pilot):
        for column, x in ((Column.SELF_TESTS, 14), (Column.DIFF, 2), (Column.GATE, 8)):
            await pilot.click("#tabs", offset=(x, 0))
            await press(pilot)
            assert screen.session.column is column
            assert app.focused is screen.pane(column)


async def test_a_short_trajectory_gives_its_lines_to_the_panes_above(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        assert screen.long is not None
        assert screen.long.steps.size.height < 10
        before = screen.content.gate.size.height
        await press(pilot, "tab", "tab", "plus")
        assert screen.content.gate.size.height < before


async def test_a_very_low_terminal_shows_one_pane_at_a_time(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run), (80, 14)) as (app, pilot):
        assert "Trajectory" not in screen_text(app)
        assert "Trajectory stage 2" in await press(pilot, "tab", "tab")


@pytest.mark.parametrize("size", [(1, 1), (12, 4), (20, 10)])
async def test_a_tiny_terminal_does_not_end_the_program(
    demo_run: Path, size: tuple[int, int]
) -> None:
    async with on_screen(run_screen(demo_run), size) as (app, pilot):
        await press(pilot, "tab", "z", "]")
        assert isinstance(app.screen, RunScreen)


async def test_growing_from_narrow_to_wide_brings_the_panes_side_by_side(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run), (80, 24)) as (_, pilot):
        await pilot.resize_terminal(160, 50)
        text = await press(pilot)
        assert "Diff S1→S2" in text
        assert "▌Gate" not in text


async def test_a_stage_without_a_gate_or_steps_says_what_is_not_there(scb: Scb) -> None:
    async with on_screen(run_screen(scb("recli-nothing-built"))) as (_, pilot):
        text = await press(pilot, "2")
        assert "not measured" in text
        assert "✗" not in text.split("Gate 2")[1].splitlines()[0]


async def test_reading_again_keeps_the_place(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "3", "shift+tab")
        await press(pilot, "ctrl+r")
        assert app.screen is screen
        assert (screen.session.stop.stage, screen.session.column) == (3, Column.DIFF)
        assert "Gate 3  ✗ F2P 5/6" in screen_text(app)


async def test_a_change_on_the_disk_is_offered_and_never_taken_silently(
    demo_run: Path, tmp_path: Path
) -> None:
    fixtures = demo_run.parents[2]
    shutil.copytree(fixtures, tmp_path / "fixtures")
    run = tmp_path / "fixtures" / demo_run.relative_to(fixtures)
    screen = run_screen(run)
    async with on_screen(screen) as (app, pilot):
        result = run / "stages" / "1" / "gate" / "result.json"
        result.write_text(result.read_text() + "\n")
        screen.loader.look_for_changes()
        text = await press(pilot)
        assert "changed on disk (ctrl+r)" in text
        assert "ctrl+r reads it again" in notice(app)


async def test_where_there_is_nothing_to_go_back_to_that_is_said(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "backspace")
        assert "nothing to go back to" in notice(app)


async def test_a_step_opens_whole(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "tab", "tab", "j", "enter", "j", "O")
        assert isinstance(app.screen, TextScreen)


async def test_a_fault_while_a_file_is_loaded_is_said(demo_run: Path) -> None:
    def fail(change: FileChange) -> FilePatch:
        raise RuntimeError(f"boom {change.path}")

    screen = run_screen(demo_run)
    app = ArcviewApp(screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot)
        assert screen.long is not None
        assert screen.long.changes is not None
        screen.long.diff.show(screen.long.changes, fail)
        with pytest.raises(WorkerFailed):
            await app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.pause()
        assert "load diff failed: RuntimeError: boom" in notice(app)


async def test_a_group_in_which_no_test_is_expected_is_not_counted(
    scb: Callable[[str], Path],
) -> None:
    async with on_screen(run_screen(scb("recli-nothing-built"))) as (app, _):
        text = screen_text(app)
        assert "Gate 1  ✗ F2P 9/34" in text
        assert "0/0" not in text
