from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from arcview.ui.screens.coverage import CoverageScreen
from arcview.ui.screens.file import FileScreen
from tests.ui.screen_text import notice, on_screen, press, run_screen

Scb = Callable[[str], Path]


async def test_every_item_has_a_mark_for_every_state_and_the_code_stands_beside(
    demo_run: Path,
) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "C")
        assert "Contract of stage 2  3 of 3 present in S2" in text
        assert "as contract.json lists them" in text
        row = next(line for line in text.splitlines() if "search(notes: list[Note]" in line)
        assert row.count("✗") == 2
        assert row.count("✓") == 4
        assert "notes/search.py in S2  present" in text
        assert "def search(notes: list[Note], query: str)" in text


async def test_the_contract_itself_is_shown_by_the_kinds_of_its_items(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "c")
        lines = [line.strip("│┃ ") for line in text.splitlines()]
        assert "Contract of stage 2" in text
        assert lines.index("Signatures") < lines.index("As it is written")


async def test_a_contract_without_items_is_said_to_have_none(
    demo_run: Path, tmp_path: Path
) -> None:
    run = tmp_path / "runs" / demo_run.parent.name / demo_run.name
    shutil.copytree(demo_run, run)
    shutil.copytree(demo_run.parents[2] / "chains", tmp_path / "chains")
    contract = tmp_path / "chains" / "notes-cli" / "stages" / "2" / "contract.json"
    contract.write_text('{"title": "search"}', encoding="utf-8")
    async with on_screen(run_screen(run)) as (_, pilot):
        text = await press(pilot, "C")
        assert "Contract of stage 2  no items" in text
        assert "contract.json lists no items; c shows it as it is written" in text
        assert "There is no item to look up in the code." in text
        assert "not recorded" not in text


async def test_the_code_follows_the_item_and_the_state(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        text = await press(pilot, "C", "j", "j")
        assert "notes/cli.py in S2  present" in text
        screen = app.screen
        assert isinstance(screen, CoverageScreen)
        assert "no notes match" in screen.code.cursor_text
        text = await press(pilot, "[")
        assert "0 of 3 present in S1" in text
        assert "missing in S1" in text


async def test_an_item_leads_to_the_step_that_wrote_it(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "C", "enter")
        assert isinstance(app.screen, FileScreen)
        await press(pilot, "enter")
        assert screen.long is not None
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 2


async def test_spec_and_contract_stand_in_the_place_of_the_items(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "C", "s")
        assert "Specification of stage 2" in text
        assert "notes/search.py in S2" in text
        text = await press(pilot, "s", "c")
        assert "Contract as written of stage 2" in text
        text = await press(pilot, "c", "backspace")
        assert "Gate 2" in text


async def test_items_taken_from_prose_are_said_to_be(scb: Scb) -> None:
    async with on_screen(run_screen(scb("circuit-eval")), (80, 24)) as (app, pilot):
        text = await press(pilot, "C")
        assert "taken from the specification by their looks" in text
        await press(pilot, "c")
        assert "none is recorded" in notice(app)
