from __future__ import annotations

from pathlib import Path

from arcview.model.run import Stage, Status
from arcview.ui.screens.run import RunScreen
from arcview.ui.stage_entries import find_stages, stage_entry
from tests.ui.screen_text import on_screen, press, run_screen

MANY = tuple(
    stage_entry(Stage(index, f"turn {index * 7} of the talk", Status.COMPLETED))
    for index in range(1, 1501)
)


def found(query: str) -> list[int]:
    return [e.number for e, _ in sorted(find_stages(MANY, query), key=lambda hit: -hit[1])]


def test_the_stage_of_a_typed_number_comes_first() -> None:
    assert found("120")[0] == 120
    assert found("stage 7")[0] == 7
    assert found("1500") == [1500]


def test_words_of_a_title_find_a_stage_in_any_order() -> None:
    assert found("talk 10493 turn") == [1499]
    assert not found("nothing like it")


def test_a_list_is_no_longer_than_one_can_read() -> None:
    assert found("stage") == list(range(1, 51))


def test_a_title_is_cleaned_and_cut() -> None:
    entry = stage_entry(Stage(1, "[/x] \x1b[2J" + "long " * 400, Status.COMPLETED))
    assert "\x1b" not in entry.text
    assert len(entry.text) <= 64
    assert stage_entry(Stage(3, None, Status.COMPLETED)).text == "Stage 3"


async def test_the_palette_goes_to_a_stage_by_number_and_by_title(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        text = await press(pilot, ":", "=4")
        assert "Stage 4: import" in text
        await press(pilot, "enter")
        assert app.screen is screen
        assert screen.session.stop.stage == 4
        await press(pilot, ":", "=stage export", "enter")
        assert screen.session.stop.stage == 3


async def test_a_screen_without_stages_has_none_in_the_palette(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        text = await press(pilot, "s", ":", "=stage 4")
        assert "Stage 4" not in text
        assert not isinstance(app.screen, RunScreen)
        await press(pilot, "escape")


async def test_an_explanation_of_the_palette_is_never_cut(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run), (120, 35)) as (_, pilot):
        text = await press(pilot, ":", "=stage")
        words = " ".join(text.split())
        assert "and back to the whole change." in words
        await press(pilot, "escape")
