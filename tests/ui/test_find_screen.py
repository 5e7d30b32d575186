from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.session.run_session import Column
from arcview.ui.screens.find import FindScreen
from arcview.ui.screens.text import TextScreen
from tests.ui.screen_text import notice, on_screen, press, run_screen, screen_text

Scb = Callable[[str], Path]


async def test_one_box_finds_in_every_kind_of_place_and_counts_by_kind(scb: Scb) -> None:
    async with on_screen(run_screen(scb("circuit-eval"))) as (_, pilot):
        text = await press(pilot, "ctrl+f", "=Undefined signal: X", "enter")
        assert "45 lines: gate 14, logs 28, steps 3  literal" in text
        assert "stage 3 #47 · result of Bash" in text


async def test_before_a_search_the_pane_says_what_the_keys_do(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "ctrl+f")
        assert "enter searches every stage; ctrl+r takes the text as a regular expression" in text
        text = await press(pilot, "=cmd_search", "enter")
        assert "enter searches" not in text


async def test_what_was_not_searched_is_said(scb: Scb) -> None:
    screen = run_screen(scb("circuit-eval"))
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "ctrl+f", "=import", "enter")
        rows = screen.finding().rows
        assert sum(rows.counts.values()) == len(rows.hits)
        remarks = [rows.text(n) for n in range(len(rows.hits), len(rows))]
        assert all(remark.startswith("▲ not searched: ") for remark in remarks)


async def test_a_step_hit_leads_to_its_line_in_the_trajectory(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "ctrl+f", "=All search tests pass", "enter", "enter")
        assert app.screen is screen
        assert screen.session.column is Column.TRAJECTORY
        assert screen.long is not None
        assert "All search tests pass" in screen.long.steps.cursor_text


async def test_n_goes_from_hit_to_hit_through_panes_and_stages(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "ctrl+f", "=cmd_search", "enter", "enter")
        kinds, stages = set(), set()
        count = len(screen.finding().rows.hits)
        for number in range(count):
            hit = screen.finding().rows.hits[screen.finding().at]
            kinds.add(hit.place.kind)
            stages.add(screen.session.stop.stage)
            await press(pilot, "n")
            assert f"hit {(number + 1) % count + 1} of {count}: cmd_search" in notice(app)
        assert kinds == {"gate", "step", "diff", "log"}
        assert len(stages) > 1
        await press(pilot, "N")
        assert f"hit {count} of {count}" in notice(app)


async def test_a_hit_in_a_message_opens_the_test_at_that_line(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "ctrl+f", "=Right contains one more", "enter", "enter")
        assert isinstance(app.screen, TextScreen)
        assert "Right contains one more" in app.screen.view.cursor_text
        text = await press(pilot, "backspace", "ctrl+f")
        assert "Find Right contains one more" in text


async def test_a_hit_in_a_log_opens_it_at_that_line(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "ctrl+f", "=short test summary", "enter")
        rows = screen.finding().rows
        first = next(n for n, hit in enumerate(rows.hits) if hit.place.kind == "log")
        screen.finding().go_to(first)
        await press(pilot)
        assert isinstance(app.screen, TextScreen)
        assert "short test summary" in app.screen.view.cursor_text


@pytest.mark.parametrize(("regex", "found"), [(False, "0 lines"), (True, "lines: ")])
async def test_the_text_can_be_a_regular_expression(
    demo_run: Path, regex: bool, found: str
) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "ctrl+f", *(["ctrl+r"] if regex else []), "=phr.se", "enter")
        assert found in text


async def test_a_faulty_expression_is_said(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "ctrl+f", "ctrl+r", "=(", "enter")
        assert "not a regular expression" in notice(app)


async def test_escape_goes_back_to_where_one_was(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "ctrl+f")
        assert app.screen is not screen
        await press(pilot, "escape")
        assert app.screen is screen
        assert app.focused is screen.content.gate


async def test_a_search_that_is_stopped_keeps_what_it_found(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "ctrl+f")
        screen.finding().is_running = True
        await press(pilot, "escape")
        assert isinstance(app.screen, FindScreen)
        assert "stopped" in notice(app)
        assert "Find" in screen_text(app)


async def test_n_without_any_search_says_so(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "n")
        assert "nothing is searched for" in notice(app)
