from __future__ import annotations

from pathlib import Path

from tests.ui.screen_text import notice, on_screen, press, run_screen


async def test_enter_on_a_folder_folds_it_and_opens_it_again(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        text = await press(pilot, "F")
        assert "▾ notes/" in text
        text = await press(pilot, "g", "enter")
        assert "▸ notes/" in text
        assert "cli.py" not in text.partition("Trajectory")[0]
        assert app.focused is not None
        assert app.focused.id == "tree"
        text = await press(pilot, "enter")
        assert "▾ notes/" in text


async def test_who_wrote_says_where_it_is_seen_while_the_tree_is_up(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "F", "B")
        assert screen.session.who_wrote
        assert "stand now left of the lines of the diff: F shows it" in notice(app)
        await press(pilot, "F", "B")
        assert "F shows it" not in notice(app)


async def test_the_steps_of_a_folder_are_asked_for_in_vain(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "F", "g", "i")
        assert notice(app).strip().startswith("no file is under the cursor")
