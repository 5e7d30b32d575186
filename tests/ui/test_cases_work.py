"""The work list and settling by keys alone: next, skip, done, blind, side by side."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from arcview.session.annotate import AnnotateSession
from arcview.ui.screens.annotate_case import CaseScreen
from arcview.ui.screens.cases_sides import SidesScreen
from arcview.ui.screens.cases_work import WorkScreen
from arcview.ui.screens.library import LibraryScreen
from arcview.ui.screens.run import RunScreen
from tests.ui.screen_text import notice, on_screen, open_run, press, run_screen, screen_text


@pytest.fixture
def ann(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCVIEW_ANNOTATOR", "ann")


def label_as(who: str, run: Path, defect: str) -> AnnotateSession:
    """Another person has labelled gate 2."""
    session = AnnotateSession.open(open_run(run), annotator=who)
    session.choose_unit("gate:2")
    session.mark("diff:2/notes/cli.py#L7")
    session.label("validity", "V0")
    session.label("defect", defect)
    session.finish()
    return session


@pytest.mark.usefixtures("ann")
async def test_the_loop_is_done_next_and_skip(demo_run: Path) -> None:
    library = LibraryScreen(demo_run.parent, open_run)
    async with on_screen(library) as (app, pilot):
        text = await press(pilot, "a")
        assert isinstance(app.screen, WorkScreen)
        assert "To be labelled  0/4 done" in text
        text = await press(pilot, "enter")
        assert isinstance(app.screen, CaseScreen)
        assert "Case gate:2  not begun · ann" in text
        await press(pilot, "v", "0", "s", "J")
        text = screen_text(app)
        assert "Case gate:3  not begun" in text
        assert "1/4 done" in text
        await press(pilot, "z")
        assert "Case gate:4" in screen_text(app)
        text = await press(pilot, "escape", "backspace")
        assert isinstance(app.screen, WorkScreen)
        assert "1/4 done · 1 skipped" in text
        assert "● done" in text
        assert "– skipped" in text


@pytest.mark.usefixtures("ann")
async def test_next_goes_on_in_another_run(demo_run: Path, tmp_path: Path) -> None:
    fixtures = demo_run.parents[2]
    shutil.copytree(fixtures / "chains", tmp_path / "chains")
    for name in ("one", "two"):
        folder = tmp_path / "runs" / "demo" / name
        shutil.copytree(demo_run, folder)
        file = folder / "run.json"
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace('"run_id": "', f'"run_id": "{name}-'), encoding="utf-8")
    library = LibraryScreen(tmp_path / "runs", open_run)
    async with on_screen(library) as (app, pilot):
        text = await press(pilot, "a", "f")
        assert "first failing gate of each run" in text
        text = await press(pilot, "enter", "z")
        assert [type(each).__name__ for each in app.screen_stack] == [
            "LibraryScreen", "WorkScreen", "RunScreen", "CaseScreen",
        ]  # fmt: skip
        run = app.screen_stack[2]
        assert isinstance(run, RunScreen)
        assert Path(run.opened.run.path).name == "two"


@pytest.mark.usefixtures("ann")
async def test_a_filter_of_the_list_of_runs_and_a_sample_hold_for_the_work_list(
    demo_run: Path,
) -> None:
    library = LibraryScreen(demo_run.parent, open_run)
    async with on_screen(library) as (_, pilot):
        text = await press(pilot, "F", "=stage1:failed", "enter", "a")
        assert "No failing gate is to be labelled" in text
        text = await press(pilot, "backspace", "F", "escape", "a", "S")
        assert "10 drawn" in text


@pytest.mark.usefixtures("ann")
async def test_a_gate_is_skipped_from_the_list(demo_run: Path) -> None:
    async with on_screen(LibraryScreen(demo_run.parent, open_run)) as (_, pilot):
        text = await press(pilot, "a", "z")
        assert "0/4 done · 1 skipped" in text


@pytest.mark.usefixtures("ann")
async def test_blind_hides_others_and_suggestions_until_ones_own_is_final(demo_run: Path) -> None:
    label_as("bob", demo_run, "D3")
    async with on_screen(LibraryScreen(demo_run.parent, open_run)) as (app, pilot):
        text = await press(pilot, "a")
        assert "1 other" in text
        text = await press(pilot, "B")
        assert "1 other" not in text
        text = await press(pilot, "enter")
        assert "Blind: others' labels and suggestions are hidden" in text
        assert "bob" not in text
        assert "◇ suggested" not in text
        await press(pilot, "equals_sign")
        assert "make your own reading final first" in notice(app)
        text = await press(pilot, "v", "0", "s")
        assert "also bob" in text
        assert "Suggestions of rules" in text


@pytest.mark.usefixtures("ann")
async def test_a_case_is_settled_side_by_side(demo_run: Path) -> None:
    label_as("bob", demo_run, "D3")
    label_as("ann", demo_run, "D2")
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        text = await press(pilot, "A", "equals_sign")
        assert isinstance(app.screen, SidesScreen)
        assert "1 ann" in text
        assert "2 bob" in text
        assert "≠ origin: defect" in text
        await press(pilot, "2")
        own = screen.annotating().session.reading
        assert own is not None
        assert own.origins[0].defect == "D3"
        text = await press(pilot, "s")
        assert "settled by ann" in text
        text = await press(pilot, "backspace")
        assert "◆ settled" in text


@pytest.mark.usefixtures("ann")
async def test_with_one_other_everything_is_taken_over_on_a_key(demo_run: Path) -> None:
    label_as("bob", demo_run, "D3")
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "A", "equals_sign", "a")
        own = screen.annotating().session.reading
        assert own is not None
        assert (own.validity, own.origins[0].defect) == ("V0", "D3")


@pytest.mark.usefixtures("ann")
async def test_tests_of_earlier_cases_are_marked_when_a_run_opens(demo_run: Path) -> None:
    session = AnnotateSession.open(open_run(demo_run), annotator="bob")
    session.mark("gate:2/f2p/gate_tests%2Ftest_search.py%3A%3Atest_newest_first")
    async with on_screen(run_screen(demo_run)) as (app, _):
        assert "✗ ◆ test_newest_first" in screen_text(app)
