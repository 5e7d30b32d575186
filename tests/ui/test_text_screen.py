from __future__ import annotations

from textual.content import Content

from arcview.ui.application import ArcviewApp
from arcview.ui.rows.lines import ListRows
from arcview.ui.screens.text import TextScreen
from tests.ui.screen_text import on_screen, screen_text


async def test_a_text_is_there_from_its_first_frame_on() -> None:
    screen = TextScreen(Content("title"), ListRows([Content("one"), Content("two")]))
    async with ArcviewApp(screen).run_test(size=(40, 10)):
        assert len(screen.view.source) == 2


async def test_a_text_opens_at_the_row_that_was_asked_for() -> None:
    rows = ListRows([Content(str(number)) for number in range(100)])
    async with on_screen(TextScreen(Content("title"), rows, cursor=70), (40, 10)) as (app, _):
        assert isinstance(app.screen, TextScreen)
        assert app.screen.view.cursor_text == "70"
        assert "70" in screen_text(app)


async def test_a_text_without_rows_opens_whatever_row_was_asked_for() -> None:
    async with on_screen(TextScreen(Content("title"), ListRows(), cursor=3), (40, 10)) as (app, _):
        assert "title" in screen_text(app)
