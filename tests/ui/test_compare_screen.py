from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from arcview.session.compare import RunComparison, compare_runs
from arcview.session.compare_report import comparison_lines
from arcview.session.compare_states import StatesBeside
from arcview.session.plain_text_parts import Glyphs
from arcview.ui.application import ArcviewApp
from arcview.ui.rows.compare import CompareRows
from arcview.ui.screens.compare import CompareScreen
from arcview.ui.screens.library import LibraryScreen
from arcview.ui.screens.run import RunScreen
from arcview.ui.screens.text import TextScreen
from tests.ui.screen_text import notice, on_screen, open_run, press, screen_text

Scb = Callable[[str], Path]


def _compare(a: Path, b: Path) -> CompareScreen:
    return CompareScreen(partial(open_run, a), partial(open_run, b))


@pytest.fixture
def two(scb: Scb) -> CompareScreen:
    """Two real runs of one task: the second stage of the first did nothing."""
    return _compare(scb("code-search-collapse"), scb("code-search-refactor-pass"))


async def test_stages_stand_beside_each_other_and_the_parting_is_marked(
    two: CompareScreen,
) -> None:
    async with on_screen(two) as (app, _):
        lines = screen_text(app).splitlines()
        parting = next(line for line in lines if "◆ verdicts part here" in line)
        assert "✗ 2/12 13/13" in parting
        assert "✓ 12/12 13/13" in parting
        assert parting.rstrip(" │").endswith("10 ok in B only")
        assert "0/0" not in screen_text(app)
        assert two.table.cursor_text.strip().startswith("2")
        third = next(line for line in lines if "12 ok in A only" in line)
        assert "1 ok in B only" in third
        assert any("not measured in both" in line for line in lines)


async def test_the_tests_that_end_otherwise_are_listed_and_open_in_both_runs(
    two: CompareScreen,
) -> None:
    async with on_screen(two) as (app, pilot):
        assert "Ok in B only  10" in screen_text(app)
        await press(pilot, "tab", "j", "enter")
        assert isinstance(app.screen, TextScreen)
        text = screen_text(app)
        assert "Run A" in text
        assert "F2P · failed" in text
        text = await press(pilot, "G")
        assert "F2P · passed" in text


async def test_code_stands_against_code_and_steps_beside_steps(two: CompareScreen) -> None:
    async with on_screen(two) as (_, pilot):
        text = await press(pilot)
        assert "Code: A's S2 → B's S2  22 files" in text
        assert "code_search.py" in text
        assert "Trajectory A stage 2  1 step" in text
        assert "Trajectory B stage 2  27 steps" in text


async def test_the_steps_of_the_other_run_move_along_to_the_same_number(
    two: CompareScreen,
) -> None:
    async with on_screen(two) as (_, pilot):
        a, b = two.steps
        await press(pilot, "1", "tab", "tab", "tab", *["J"] * 5)
        assert two.focused is a
        assert a.step is not None
        assert b.step is not None
        assert a.step.number == b.step.number == 4
        assert a.cursor - a.scroll_offset.y == b.cursor - b.scroll_offset.y
        await press(pilot, "enter", "tab", "j")
        assert two.focused is b
        assert a.step.number == b.step.number == 5
        await press(pilot, "g")
        assert a.cursor == 0


async def test_a_run_without_such_a_step_stays_and_says_so(two: CompareScreen) -> None:
    async with on_screen(two) as (_, pilot):
        a, b = two.steps
        text = await press(pilot, "tab", "tab", "tab", "tab", "G")
        assert two.focused is b
        assert a.cursor == a.rows.first_row
        assert "A has no step 27" in text
        text = await press(pilot, "g")
        assert "has no step" not in text


async def test_another_stage_changes_every_pane(two: CompareScreen) -> None:
    async with on_screen(two) as (app, pilot):
        text = await press(pilot, "3")
        assert "Tests of gate 3  13 differences" in text
        assert "Code: A's S3 → B's S3" in text
        text = await press(pilot, "]")
        assert "This gate was not measured in both runs" in text
        await press(pilot, "9")
        assert "neither run has a stage 9" in notice(app)


async def test_code_and_steps_stay_while_another_stage_is_loaded(
    two: CompareScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_screen(two) as (_, pilot):
        monkeypatch.setattr("arcview.ui.screens.compare._PATIENCE_S", 60.0)
        monkeypatch.setattr(two, "_load_sides", lambda row, runs: None)
        text = await press(pilot, "3")
        assert "Tests of gate 3" in text
        assert "Code: A's S2 → B's S2" in text
        assert "code_search.py" in text


async def test_a_stage_that_takes_long_to_load_is_said_to_be_loading(
    two: CompareScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_screen(two) as (app, pilot):
        monkeypatch.setattr("arcview.ui.screens.compare._PATIENCE_S", 0.001)
        monkeypatch.setattr(two, "_load_sides", lambda row, runs: None)
        await press(pilot, "3")
        while "… loading" not in screen_text(app):
            await pilot.pause()


async def test_a_run_opens_at_the_stage_and_leads_back(two: CompareScreen) -> None:
    async with on_screen(two) as (app, pilot):
        await press(pilot, "3", "B")
        screen = app.screen
        assert isinstance(screen, RunScreen)
        assert screen.session.stop.stage == 3
        assert "Gate 3  ✗ F2P 4/22" in screen_text(app)
        await press(pilot, "backspace")
        assert "╭─ Compare" in screen_text(app)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_in_a_small_terminal_one_pane_stands_below_the_table(
    two: CompareScreen, size: tuple[int, int]
) -> None:
    async with on_screen(two, size) as (app, pilot):
        assert "Tests of gate 2" in screen_text(app)
        text = await press(pilot, "tab", "tab")
        assert "Code: A's S2" in text
        assert "Tests of gate 2" not in text
        assert "Trajectory A" in await press(pilot, "tab")


async def test_two_marked_rows_of_the_list_are_compared(demo_run: Path, tmp_path: Path) -> None:
    shutil.copytree(demo_run.parents[2] / "chains", tmp_path / "chains")
    for name in ("one", "two"):
        shutil.copytree(demo_run, tmp_path / "runs" / "demo" / name)
    library = LibraryScreen(tmp_path / "runs", open_run)
    async with on_screen(library) as (app, pilot):
        text = await press(pilot, "space")
        assert "●demo/one" in text
        await press(pilot, "j", "equals_sign")
        assert isinstance(app.screen, CompareScreen)
        assert "same tests ok" in screen_text(app)
        text = await press(pilot, "backspace")
        assert text.startswith("╭─ Runs below")


async def test_one_run_alone_is_marked_first(demo_run: Path) -> None:
    library = LibraryScreen(demo_run, open_run)
    async with on_screen(library) as (app, pilot):
        await press(pilot, "equals_sign")
        assert app.screen is library
        assert "marked; = on another run compares the two" in notice(app)


async def test_a_run_that_cannot_be_opened_is_said(demo_run: Path, tmp_path: Path) -> None:
    async with on_screen(_compare(demo_run, tmp_path / "nothing")) as (app, _):
        assert "nothing" in screen_text(app)
        assert isinstance(app, ArcviewApp)


def test_equal_files_of_two_runs_are_no_change(demo_run: Path, tmp_path: Path) -> None:
    shutil.copytree(demo_run.parents[2], tmp_path / "fixtures")
    copy = tmp_path / "fixtures" / "runs" / "scripted-demo" / "notes-cli"
    a, b = open_run(demo_run), open_run(copy)
    assert StatesBeside(a, "S2", b, "S2").changes() == ()
    found = {c.path: c.kind.value for c in StatesBeside(a, "S1", b, "S2").changes()}
    assert found == {
        "notes/cli.py": "modified",
        "notes/search.py": "added",
        "tests/test_search.py": "added",
    }


def test_lines_of_two_runs_are_counted_as_git_counts_them(demo_run: Path) -> None:
    run = open_run(demo_run)
    beside = {c.path: (c.added, c.removed) for c in StatesBeside(run, "S1", run, "S2").changes()}
    assert beside == {c.path: (c.added, c.removed) for c in run.store.changes("S1", "S2")}


async def test_the_code_at_the_chain_gate_names_the_last_states(demo_run: Path) -> None:
    async with on_screen(_compare(demo_run, demo_run)) as (_, pilot):
        assert "Code: A's S4 → B's S4" in await press(pilot, "0")


def _unmeasured(found: RunComparison) -> RunComparison:
    """The same two runs, had nobody run a gate."""
    stages = tuple(
        replace(stage, gates=replace(stage.gates, gate=replace(stage.gates.gate, compared=False)))
        for stage in found.stages
    )
    return replace(found, stages=stages, chain=None)


def test_runs_without_a_measured_gate_do_not_part_nowhere(demo_run: Path) -> None:
    found = _unmeasured(compare_runs(open_run(demo_run), open_run(demo_run)))
    rows = CompareRows(found)
    said = "\n".join(rows.row(index).plain for index in range(len(rows)))
    assert "no gate was measured in both runs" in said
    assert "nowhere" not in said
    text = "\n".join(comparison_lines(found, Glyphs()))
    assert "no gate was measured in both runs" in text
    assert "nowhere" not in text


def test_a_title_that_is_cut_says_so(demo_run: Path) -> None:
    found = compare_runs(open_run(demo_run), open_run(demo_run))
    stage = found.stages[0]
    assert stage.gates.a is not None
    long = replace(stage.gates.a, title="Can you add the format that nobody needs")
    stages = (replace(stage, gates=replace(stage.gates, a=long)), *found.stages[1:])
    rows = CompareRows(replace(found, stages=stages))
    first = rows.cells(rows.row_of_stage(1) or 0, 118)[0]
    assert first.content.plain.endswith("…")
    assert first.content.cell_length < (first.width or 0)


async def test_who_is_who_stays_above_a_long_table(demo_run: Path) -> None:
    async with on_screen(_compare(demo_run, demo_run), (80, 24)) as (_, pilot):
        text = await press(pilot, "G")
        for name, line in zip("AB", text.splitlines(), strict=False):
            assert line.startswith(f" {name}  notes-cli · scripted-demo · ")
            assert line.endswith("/notes-cli")


async def test_in_a_narrow_terminal_the_panes_are_tabs(demo_run: Path) -> None:
    screen = _compare(demo_run, demo_run)
    async with on_screen(screen, (80, 24)) as (app, pilot):
        assert "▌Tests  Code  Steps of A  Steps of B" in screen_text(app)
        assert " Tests ▌Code  Steps of A" in await press(pilot, "tab", "tab")
        line = next(n for n, row in enumerate(screen_text(app).splitlines()) if "▌Code" in row)
        await pilot.click(offset=(30, line))
        await press(pilot)
        assert app.focused is screen.steps[1]
    async with on_screen(_compare(demo_run, demo_run), (120, 35)) as (app, _):
        assert "Steps of A" not in screen_text(app)
