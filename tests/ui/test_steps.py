"""The trajectory pane: opening in place, jumps, search through what is closed."""

from __future__ import annotations

from dataclasses import replace

from arcview.ui.rows.lines import ListRows
from arcview.ui.rows.steps_lines import Badge
from arcview.ui.safe import plain
from arcview.ui.widgets.steps import StepsView
from tests.ui.pane_app import PaneApp, screen_lines, settle
from tests.ui.trajectories import NOISY, SAMPLE, said, trajectory

KEYS = {
    "space": "toggle_step",
    "J": "jump('step', 1)",
    "K": "jump('step', -1)",
    "e": "jump('error', 1)",
    "W": "jump('edit', -1)",
    "T": "jump('test', -1)",
    "m": "jump('message', 1)",
    "plus": "open_all",
    "minus": "close_all",
}


async def test_enter_opens_a_step_and_space_closes_it() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(SAMPLE)
        await pilot.press("j", "enter")
        assert "     $   ls -la" in screen_lines(app)
        await pilot.press("j", "j", "space")
        assert len(view.rows) == len(SAMPLE.steps)
        assert view.step is not None
        assert view.step.key == "m1"


async def test_enter_on_folded_lines_opens_them_and_stays_there() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 30)) as pilot:
        view.show(SAMPLE)
        await pilot.pause()
        view.go_to("c3")
        fold = next(i for i in range(len(view.rows)) if "more lines" in view.rows.text(i))
        view.move_to(fold)
        await pilot.press("enter")
        assert view.cursor_text == "output line 13"


async def test_enter_on_a_line_of_a_step_picks_it() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(SAMPLE)
        await pilot.press("j", "enter", "j", "j", "enter")
        await pilot.pause()
        assert app.picked == [3]
        assert view.detail == "What is here?"


async def test_keys_jump_by_kind() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(SAMPLE, badges={"c1": Badge("✓ 1")})
        for key, step in (("e", "m3"), ("W", "m2"), ("T", "m1"), ("m", "m4"), ("K", "c1")):
            await pilot.press(key)
            assert view.step is not None
            assert view.step.key == step


async def test_a_search_finds_what_is_folded_in_a_closed_step() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(SAMPLE)
        await pilot.pause()
        view.search("output line 77")
        await settle(app, pilot)
        assert view.cursor_text == "output line 77"
        assert any("output line 77" in line for line in screen_lines(app))
        await pilot.press("n")
        await settle(app, pilot)
        assert app.searched[-1][2] is True


async def test_the_name_of_a_tool_is_found_and_marked() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(SAMPLE)
        await pilot.pause()
        view.search("edit")
        await settle(app, pilot)
        assert view.cursor == 2
        assert len(view.rows) == len(SAMPLE.steps)
        marked = [segment for segment in view.render_row(2) if segment.text == "Edit"]
        assert len(marked) == 1


async def test_it_begins_with_the_first_message_below_the_folded_notes() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 3)) as pilot:
        view.show(SAMPLE)
        await pilot.press("G")
        view.show(NOISY)
        await pilot.pause()
        assert view.cursor_text == "Hello."
        assert screen_lines(app)[0].startswith("▸      · 4 notes")


async def test_enter_shows_the_single_notes_and_closing_all_folds_them_again() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(NOISY)
        await pilot.press("k", "enter")
        assert len(view.rows) == len(NOISY.steps)
        assert view.cursor == 0
        await pilot.press("j", "minus")
        assert (len(view.rows), view.cursor) == (5, 0)
        await pilot.press("space", "minus", "plus")
        assert not view.rows.is_folded(0)


async def test_an_address_leads_into_folded_notes() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(NOISY)
        await pilot.pause()
        assert view.go_to("n2", is_open=False)
        assert view.step is not None
        assert view.step.key == "n2"
        assert len(view.rows) == len(NOISY.steps)


async def test_what_goes_on_keeps_notes_open_that_were_opened() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(trajectory(*NOISY.steps[:5]))
        await pilot.press("k", "enter")
        view.show(NOISY, goes_on=True)
        assert len(view.rows) == len(NOISY.steps)


async def test_a_step_is_gone_to_by_its_key_or_that_of_its_call() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(SAMPLE)
        await pilot.pause()
        assert view.go_to("c2")
        assert view.call is not None
        assert view.call.key == "c2"
        assert "     │ − y = 2" in screen_lines(app)
        assert not view.go_to("nothing")


async def test_all_steps_open_and_close() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(SAMPLE)
        await pilot.press("G", "plus")
        assert view.step is not None
        assert view.step.key == "m4"
        assert len(view.rows) > 40
        await pilot.press("minus")
        assert len(view.rows) == len(SAMPLE.steps)


async def test_opened_text_wraps_anew_for_another_width() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(120, 20)) as pilot:
        view.show(trajectory(said(1, "word " * 60)))
        await pilot.press("enter")
        before = len(view.rows)
        await pilot.resize_terminal(50, 20)
        await pilot.pause()
        assert len(view.rows) > before
        assert not any("›" in line for line in screen_lines(app)[2:])


async def test_ten_thousand_steps_draw_only_the_visible_ones() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    steps = [replace(said(i, f"step {i}"), key=f"k{i}") for i in range(10_000)]
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(trajectory(*steps))
        await pilot.press("G")
        assert "step 9999" in screen_lines(app)[-1]
        assert view.rows_drawn < 100


async def test_a_message_takes_the_place_of_a_trajectory() -> None:
    view = StepsView()
    app = PaneApp(view, KEYS)
    async with app.run_test(size=(80, 20)) as pilot:
        view.show(SAMPLE)
        await pilot.press("G")
        view.set_source(ListRows([plain("… reading")]))
        await pilot.press("enter", "space", "J", "e", "plus", "n")
        assert screen_lines(app)[0] == "… reading"
        assert view.step is None
        assert view.rows.steps == ()
