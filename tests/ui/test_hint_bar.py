from __future__ import annotations

from pathlib import Path

import pytest

from arcview.ui.screens.annotate_case import CaseScreen
from arcview.ui.screens.run import RunScreen
from tests.ui.screen_text import notice, on_screen, press, run_screen


async def test_a_notice_goes_with_the_next_key_that_does_something(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot)
        assert isinstance(app.screen, RunScreen)
        app.screen.notice("no edit further on")
        await press(pilot, "f12")
        assert "no edit further on" in notice(app)
        await press(pilot, "j")
        assert "no edit further on" not in notice(app)
        assert "enter open" in notice(app)


async def test_a_key_may_say_something_in_the_place_of_a_notice(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "E")
        assert "no error before" in notice(app)
        await press(pilot, "9")
        assert "this run has no stage 9" in notice(app)


async def test_a_notice_is_gone_when_one_returns_to_its_screen(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "9", "s", "escape")
        assert isinstance(app.screen, RunScreen)
        assert "this run has no stage 9" not in notice(app)


async def test_a_field_that_opens_shows_its_keys(
    demo_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCVIEW_ANNOTATOR", "ann")
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "a", "v", "0")
        assert isinstance(app.screen, CaseScreen)
        assert "Validity: V0 valid" in notice(app)
        await press(pilot, "m")
        assert "set a label" in notice(app)
