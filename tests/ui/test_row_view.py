"""The base of every pane: drawing, cursor, search, selection, sideways scrolling."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual.content import Content
from textual.geometry import Offset
from textual.selection import Selection

from arcview.ui import theme
from arcview.ui.rows.lines import Cell, ListRows, Needle, RowSource
from arcview.ui.safe import plain
from arcview.ui.widgets.row_view import RowView
from arcview.ui.widgets.row_view_draw import RowPainter, lane_of, selected_part
from arcview.ui.widgets.styles import StyleResolver
from tests.ui.pane_app import PaneApp, screen_lines, screen_text, settle


class Numbers(RowSource):
    """`row 0`, `row 1` … with a wide tail, and a count of the rows that were asked for."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.asked = 0

    def __len__(self) -> int:
        return self.length

    def row(self, index: int) -> Content:
        self.asked += 1
        return plain(f"row {index}")


async def test_a_million_rows_draw_only_the_visible_ones() -> None:
    source = Numbers(1_000_000)
    app = PaneApp(RowView(source))
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        assert screen_lines(app)[:2] == ["row 0", "row 1"]
        assert source.asked <= 2 * 20
        await pilot.press("G")
        assert screen_lines(app)[-1] == "row 999999"
        assert source.asked <= 4 * 20


@pytest.mark.parametrize(
    ("keys", "row"),
    [
        ("j j j k", 2),
        ("down down up", 1),
        ("G", 99),
        ("G g", 0),
        ("end home", 0),
        ("ctrl+d", 5),
        ("ctrl+d ctrl+u", 0),
        ("pagedown", 9),
        ("pagedown pagedown pageup", 9),
        ("k", 0),
        ("G j", 99),
    ],
)
async def test_keys_move_the_cursor(keys: str, row: int) -> None:
    view = RowView(Numbers(100))
    app = PaneApp(view)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press(*keys.split())
        assert view.cursor == row
        assert view.cursor_text == f"row {row}"
        assert f"row {row}" in screen_lines(app)


async def test_moving_the_cursor_draws_two_rows() -> None:
    view = RowView(Numbers(100))
    app = PaneApp(view)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("j")
        drawn = view.rows_drawn
        await pilot.press("j")
        assert view.rows_drawn - drawn <= 2


async def test_scrolling_away_takes_the_cursor_along() -> None:
    view = RowView(Numbers(100))
    app = PaneApp(view)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        view.scroll_to(y=50, animate=False)
        await pilot.pause()
        assert view.cursor == 50


async def test_enter_picks_the_row() -> None:
    app = PaneApp(RowView(Numbers(5)))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("j", "enter")
        await pilot.pause()
        assert app.picked == [1]


async def test_a_click_moves_the_cursor_and_a_second_one_picks() -> None:
    view = RowView(Numbers(5))
    app = PaneApp(view)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.click(RowView, offset=(2, 3))
        assert (view.cursor, app.picked) == (3, [])
        await pilot.click(RowView, offset=(2, 3))
        await pilot.pause()
        assert app.picked == [3]


async def test_a_click_below_the_rows_does_nothing() -> None:
    view = RowView(Numbers(2))
    app = PaneApp(view)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.click(RowView, offset=(2, 8))
        assert view.cursor == 0


async def test_an_empty_view_takes_every_key() -> None:
    view = RowView()
    app = PaneApp(view)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("j", "k", "G", "g", "n", "N", "enter", "ctrl+d", "l")
        assert (view.cursor, view.cursor_text, app.picked) == (0, "", [])


async def test_rows_too_wide_are_marked_and_scroll_sideways() -> None:
    app = PaneApp(RowView(ListRows([plain("0123456789" * 3)])))
    async with app.run_test(size=(21, 4)) as pilot:
        await pilot.pause()
        assert screen_lines(app)[0] == "0123456789012345678›"
        await pilot.press("l")
        assert screen_lines(app)[0] == "‹901234567890123456›"
        await pilot.press("h")
        assert screen_lines(app)[0] == "0123456789012345678›"


class Guttered(RowSource):
    """A gutter that stays and two texts side by side."""

    def __len__(self) -> int:
        return 2

    def row(self, index: int) -> Content:
        return Content(f"left {index}")

    def text(self, index: int, lane: int = 0) -> str:
        return f"{('left', 'right')[lane]} {index}"

    def cells(self, index: int, width: int) -> list[Cell]:
        return [
            Cell(Content("> "), 2),
            Cell(Content(self.text(index)), 8, scrolls=True),
            Cell(Content("|"), 1),
            Cell(Content(self.text(index, 1)), None, scrolls=True, lane=1),
        ]


async def test_gutters_stay_while_the_text_scrolls() -> None:
    app = PaneApp(RowView(Guttered()))
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.pause()
        assert screen_lines(app)[0] == "> left 0  |right 0"


def selection(start: tuple[int, int], end: tuple[int, int]) -> Selection:
    return Selection(Offset(*start), Offset(*end))


async def test_a_selection_takes_text_without_gutters() -> None:
    view = RowView(Guttered())
    app = PaneApp(view)
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.mouse_down(RowView, offset=(4, 0))
        await pilot.hover(RowView, offset=(5, 1))
        await pilot.mouse_up(RowView, offset=(5, 1))
        assert app.screen.get_selected_text() == "ft 0\nleft"


async def test_a_selection_that_begins_in_a_gutter_begins_with_the_text() -> None:
    app = PaneApp(RowView(Guttered()))
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.mouse_down(RowView, offset=(0, 0))
        await pilot.hover(RowView, offset=(5, 0))
        await pilot.mouse_up(RowView, offset=(5, 0))
        assert app.screen.get_selected_text() == "left"


async def test_a_selection_stays_in_the_column_it_began_in() -> None:
    app = PaneApp(RowView(Guttered()))
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.mouse_down(RowView, offset=(12, 0))
        await pilot.hover(RowView, offset=(15, 1))
        await pilot.mouse_up(RowView, offset=(15, 1))
        assert app.screen.get_selected_text() == "ight 0\nright"


def test_a_selected_part_is_cut_to_the_text() -> None:
    assert selected_part(selection((2, 0), (90, 0)), 0, 0, 5) == (2, 5)
    assert selected_part(selection((2, 0), (3, 4)), 2, 0, 5) == (0, 5)
    assert selected_part(selection((2, 0), (3, 4)), 5, 0, 5) is None
    assert lane_of(selection((-2, 0), (3, 4))) == 0


async def test_everything_can_be_selected() -> None:
    view = RowView(Numbers(3))
    app = PaneApp(view)
    async with app.run_test(size=(30, 4)):
        assert view.get_selection(Selection(None, None)) == ("row 0\nrow 1\nrow 2", "\n")


# search


async def test_a_search_goes_to_the_hits_and_round() -> None:
    view = RowView(Numbers(100))
    app = PaneApp(view)
    async with app.run_test(size=(40, 10)) as pilot:
        view.search("Row 7".lower())
        await settle(app, pilot)
        assert view.cursor == 7
        await pilot.press("n")
        await settle(app, pilot)
        assert view.cursor == 70
        await pilot.press("N")
        await settle(app, pilot)
        assert view.cursor == 7
        await pilot.press("N")
        await settle(app, pilot)
        assert view.cursor == 79
        assert app.searched[-1] == ("row 7", 79, True)


async def test_a_search_without_a_hit_says_so_and_stays() -> None:
    view = RowView(Numbers(100))
    app = PaneApp(view)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("j")
        view.search("nowhere")
        await settle(app, pilot)
        assert (view.cursor, app.searched) == (1, [("nowhere", None, False)])


async def test_a_search_can_be_cancelled() -> None:
    class Endless(Numbers):
        def find(self, needle: Needle, start: int, step: int) -> Iterator[int | None]:
            while True:
                yield None

    view = RowView(Endless(10))
    app = PaneApp(view)
    async with app.run_test(size=(40, 10)) as pilot:
        view.search("x")
        await pilot.press("j")
        view.cancel_search()
        await settle(app, pilot)
        assert (view.cursor, app.searched) == (1, [])


def test_a_search_in_lower_case_is_blind_to_case() -> None:
    assert Needle("abc").spans("xABCabc") == [(1, 4), (4, 7)]
    assert Needle("Abc").spans("xABCAbc") == [(4, 7)]
    assert Needle("[a").within("x[a]")


async def test_hits_are_marked() -> None:
    view = RowView(Numbers(3))
    app = PaneApp(view)
    async with app.run_test(size=(40, 10)) as pilot:
        view.search("row")
        await settle(app, pilot)
        match = StyleResolver()(app, theme.MATCH).background
        assert match is not None
        first = next(iter(view.render_row(1)))
        assert (first.text, first.style and first.style.bgcolor) == ("row", match.rich_color)


# a source that changes


class Growing(RowSource):
    """Rows named by letters; new ones can come before them."""

    def __init__(self) -> None:
        self.names = [f"name {i}" for i in range(50)]

    def __len__(self) -> int:
        return len(self.names)

    def row(self, index: int) -> Content:
        return Content(self.names[index])

    def anchor(self, index: int) -> object:
        return self.names[index]

    def locate(self, anchor: object) -> int:
        return self.names.index(str(anchor))


async def test_the_cursor_stays_on_its_row_when_rows_come_before_it() -> None:
    source = Growing()
    view = RowView(source)
    app = PaneApp(view)
    async with app.run_test(size=(40, 10)) as pilot:
        view.move_to(30, "top")
        await pilot.pause()
        before = screen_lines(app).index("name 30")
        with view.keeping_place():
            source.names[:0] = [f"new {i}" for i in range(20)]
        await pilot.pause()
        assert (view.cursor, view.cursor_text) == (50, "name 30")
        assert screen_lines(app).index("name 30") == before


async def test_an_own_theme_is_not_needed_for_the_styles() -> None:
    app = PaneApp(RowView(ListRows([plain("x", theme.ADDED)])))
    async with app.run_test(size=(20, 4)) as pilot:
        app.theme = "nord"
        await pilot.pause()
        assert screen_text(app).startswith("x")


def test_a_painted_row_is_as_wide_as_the_view() -> None:
    from textual.style import Style

    for width in (1, 2, 5, 40):
        painter = RowPainter(
            index=0,
            base=Style(),
            overlay=Style(),
            style=lambda text: Style(),
            sideways=3,
            needle=None,
            selection=None,
        )
        cells = [Cell(Content("> "), 2), Cell(Content("日本語 text"), scrolls=True)]
        assert painter.draw(cells, width).cell_length == width
