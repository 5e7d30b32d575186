"""At most four keys from opening a run to the step that wrote the code behind a failure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arcview.session.run_session import Column
from arcview.ui.screens.file import FileScreen
from arcview.ui.screens.text import TextScreen
from tests.readers.native_run import full_run, result_line
from tests.ui.screen_text import notice, on_screen, press, run_screen

Scb = Callable[[str], Path]


async def test_three_keys_lead_from_the_start_to_the_step_on_the_sample(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        opened = await press(pilot, "enter")
        assert "gate_tests/test_search.py::test_phrase_in_quotes" in opened
        assert "Traceback  15 lines" in opened
        await press(pilot, "enter")
        assert screen.session.column == Column.DIFF.value
        assert screen.long is not None
        position = screen.long.diff.position
        assert position is not None
        assert position.new_line is not None
        await press(pilot, "enter")
        assert screen.session.column == Column.TRAJECTORY.value
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 3
        assert "written by stage 2 · step 3" in notice(app)


async def test_three_keys_lead_from_the_literal_x_failure_to_its_stages_rewrite(scb: Scb) -> None:
    screen = run_screen(scb("circuit-eval"))
    async with on_screen(screen) as (app, pilot):
        assert "literal_x" in screen.content.gate.cursor_text
        opened = await press(pilot, "enter")
        assert "Message  2 lines" in opened
        assert "It began to fail with the change of S3:" in opened
        assert "← step 9 wrote 566 lines of it" in opened
        assert "prints the message 'Undefined signal: X'" in opened
        assert "The agent had it on its screen" in opened
        await press(pilot, "enter")
        assert screen.session.column is Column.DIFF
        assert screen.long is not None
        await press(pilot, "enter")
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 9
        assert "written by stage 3 · step 9 (exact)" in notice(app)


async def test_three_keys_lead_from_the_start_to_the_output_that_had_shown_the_message(
    scb: Scb,
) -> None:
    screen = run_screen(scb("circuit-eval"))
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "enter", "J", "enter")
        assert screen.session.column is Column.TRAJECTORY
        assert screen.long is not None
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 47


async def test_what_an_earlier_stage_had_shown_leads_to_that_stage(scb: Scb) -> None:
    screen = run_screen(scb("circuit-eval"))
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "enter")
        shown = app.screen
        assert isinstance(shown, TextScreen)
        rows = shown.view.source
        seen = next(n for n in range(len(rows)) if rows.text(n).startswith("1p#11"))
        shown.view.move_to(seen)
        await press(pilot, "enter")
        assert screen.session.stop.state == "S1.refactor"
        assert screen.long is not None
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 11


async def test_the_step_that_wrote_most_of_a_suspect_change_is_a_link(scb: Scb) -> None:
    screen = run_screen(scb("circuit-eval"))
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "enter", "j", "enter")
        assert screen.long is not None
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 9


async def test_where_all_failures_are_folded_the_first_cause_is_opened(scb: Scb) -> None:
    screen = run_screen(scb("code-search-collapse"))
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "4")
        source = screen.content.gate.source
        assert "::test_" in source.text(screen.content.gate.cursor)


async def test_the_gutter_says_who_wrote_each_line_of_the_diff(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "B")
        line = next(line for line in text.splitlines() if "+ import sys" in line)
        assert "2#3 " in line
        assert "step known exactly for" in text
        assert "2#3 " not in await press(pilot, "B")


async def test_a_file_view_says_who_wrote_each_line_and_leads_to_the_step(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "shift+tab", "J", "v")
        file = app.screen
        assert isinstance(file, FileScreen)
        assert file.view.cursor_text == "import sys"
        text = await press(pilot, "B")
        line = next(line for line in text.splitlines() if "import sys" in line)
        assert line.startswith("│ 2#3 ")
        await press(pilot, "enter")
        assert app.screen is screen
        assert screen.long is not None
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 3


async def test_lines_of_a_pass_are_marked_as_such(scb: Scb) -> None:
    async with on_screen(run_screen(scb("circuit-eval"))) as (_, pilot):
        text = await press(pilot, "shift+tab", "z", "B")
        assert "1p#7" in text
        assert "3#9" in text


async def test_a_frame_in_a_file_of_the_gate_s_own_leads_to_that_file(tmp_path: Path) -> None:
    made = full_run(tmp_path / "run")
    made.write_text("stages/1/workspace/tests/test_a.py", "# the agent's\n" * 9)
    made.write_text("chain/gates/1/overlay/tests/test_a.py", "# the gate's\n" * 9)
    made.chain["gates"][0]["overlay"] = [{"path": "tests/test_a.py"}]
    made.write_gate(1, {"t::a": "failed"})
    traceback = "tests/test_a.py:7: in test_a\n    assert paint()\nE   AssertionError\n"
    made.write_tests("stages/1/gate", [result_line("t::a", "f2p", "failed", traceback=traceback)])
    screen = run_screen(made.write())
    async with on_screen(screen) as (app, pilot):
        screen.apply(screen.session.focus(Column.GATE))
        assert screen.content.go_to_test("t::a")
        await press(pilot, "enter")
        shown = app.screen
        assert isinstance(shown, TextScreen)
        rows = shown.view.source
        frame = next(n for n in range(len(rows)) if "test_a.py:7" in rows.text(n))
        shown.view.move_to(frame)
        text = await press(pilot, "enter")
        assert "tests/test_a.py: gate 1's own file" in text
        assert "# the gate's" in text
        assert "# the agent's" not in text
