"""The one door to a widget: nothing from a run is parsed, nothing unclean gets through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.content import Content

from arcview.text import decode
from arcview.ui.safe import PlainStatic, notify_plain, one_line, pieces, plain, plain_text
from tests.ui.pane_app import PaneApp, screen_text

MARKUP = "[red]x[/red] [/nothing] [@click='app.quit']q[/] \x1b[31m"
SHOWN = "[red]x[/red] [/nothing] [@click='app.quit']q[/] ␛[31m"


def test_plain_is_literal_and_clean() -> None:
    assert plain(MARKUP).plain == SHOWN
    assert plain(MARKUP).spans == []


def test_plain_clips_long_text_and_says_so() -> None:
    assert plain("x" * 20, limit=8).plain == "xxxxxxxx … 12 more characters"


def test_pieces_join_outside_text_and_content() -> None:
    joined = pieces("\x1b", ("[b]", "$muted"), Content("ours"))
    assert joined.plain == "␛[b]ours"
    assert [(span.start, span.end, span.style) for span in joined.spans] == [(1, 4, "$muted")]


def test_text_for_stock_widgets_is_literal() -> None:
    assert plain_text(MARKUP).plain == SHOWN


def test_one_line_draws_line_breaks() -> None:
    assert one_line("a\nb\r\n") == "a␊b␍␊"


async def test_a_static_shows_markup_as_it_is() -> None:
    static = PlainStatic(MARKUP)
    app = PaneApp(static)
    async with app.run_test(size=(80, 4)) as pilot:
        assert SHOWN in screen_text(app)
        static.show("[/x]\x07")
        await pilot.pause()
        assert "[/x]␇" in screen_text(app)
        assert static.text == "[/x]␇"


async def test_a_toast_is_literal_and_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    app = PaneApp(PlainStatic(""))
    said: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(app, "notify", lambda message, **more: said.append((message, more)))
    async with app.run_test(size=(80, 10)):
        notify_plain(app, MARKUP, title="\x1b]0;t\x07")
        ((message, more),) = said
        assert message == SHOWN
        assert (more["title"], more["markup"]) == ("␛]0;t␇", False)


def test_every_hostile_text_goes_through_the_door(cases: Path) -> None:
    for path in sorted((cases / "hostile" / "term").iterdir()):
        shown = plain(decode(path.read_bytes()).text).plain
        assert all(char == "\n" or char.isprintable() or char == "\u3000" for char in shown), path
