"""One key each takes an address, the id of a test, its message or a change out of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.model.patch import ChangeKind, DiffLine, FileChange, Hunk, LineKind
from arcview.session.address import Address, parse_address
from arcview.session.copied import hunk_text, part_of_tests
from arcview.session.run_session import Column
from arcview.session.run_session_address import destination
from arcview.session.run_session_stops import stops_of
from arcview.ui.rows.gate import GateRows
from arcview.ui.rows.text_view import TextRows
from arcview.ui.screens.file import FileScreen
from arcview.ui.screens.run import RunScreen
from arcview.ui.screens.text import TextScreen
from tests.ui.screen_text import notice, on_screen, open_run, press, run_screen

Scb = Callable[[str], Path]


async def test_the_test_under_the_cursor_gives_its_id_its_address_and_its_message(
    demo_run: Path,
) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        screen.apply(screen.session.focus(Column.GATE))
        test = screen.opened.gate_view("2").failing[0].test
        assert screen.content.go_to_test(test.id)
        await press(pilot, "T")
        assert app.clipboard == test.id
        await press(pilot, "Y")
        assert parse_address(app.clipboard) == Address("gate", "2", (test.group.value, test.id))
        await press(pilot, "S")
        assert app.clipboard == test.message
        await press(pilot, "enter", "T")
        assert isinstance(app.screen, TextScreen)
        assert app.clipboard == test.id


async def test_a_cause_gives_every_test_of_it(scb: Scb) -> None:
    screen = run_screen(scb("code-search-collapse"))
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "4")
        screen.apply(screen.session.focus(Column.GATE))
        rows = screen.content.gate.source
        assert isinstance(rows, GateRows)
        cause = next(n for n in range(len(rows)) if len(rows.members(n)) > 1)
        screen.content.gate.move_to(cause)
        await press(pilot, "T")
        assert app.clipboard.split("\n") == [test.id for test in rows.members(cause)]


async def test_the_diff_gives_a_change_as_a_patch(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        screen.apply(screen.session.focus(Column.DIFF))
        assert screen.long is not None
        screen.long.diff.go_to("notes/cli.py", 7)
        await press(pilot, "D")
        lines = app.clipboard.split("\n")
        assert lines[:2] == ["--- a/notes/cli.py", "+++ b/notes/cli.py"]
        assert sum(line.startswith("@@ ") for line in lines) == 1
        await press(pilot, "Y")
        assert parse_address(app.clipboard).path == "notes/cli.py"


async def test_a_step_gives_what_it_says_and_where_it_is(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        screen.apply(screen.session.focus(Column.TRAJECTORY))
        await press(pilot, "J", "J")
        assert screen.long is not None
        step = screen.long.steps.step
        assert step is not None
        await press(pilot, "S")
        assert app.clipboard == step.text
        await press(pilot, "Y")
        assert parse_address(app.clipboard).parts[0] == step.key


async def test_the_editor_opens_at_the_line_that_a_failure_leads_to(
    demo_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []

    def note(app: object, folder: Path, path: str, data: bytes, line: int) -> str:
        del app, folder, data
        asked.append((path, line))
        return "edited"

    monkeypatch.setattr("arcview.ui.screens.run_open.open_in_editor", note)
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "enter", "o")
        assert "edited" in notice(app)
        await press(pilot, "g", "o")
        assert "leads to no file" in notice(app)
        await press(pilot, "backspace")
        screen.apply(screen.session.focus(Column.DIFF))
        await press(pilot, "v", "j", "j", "o")
        assert isinstance(app.screen, FileScreen)
    assert [path for path, _ in asked] == ["notes/cli.py", "notes/cli.py"]
    assert asked[0][1] > 1


@pytest.mark.parametrize("column", [Column.DIFF, Column.TRAJECTORY, Column.GATE])
async def test_a_copied_address_leads_back_to_its_row(demo_run: Path, column: Column) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        screen.apply(screen.session.focus(column))
        await press(pilot, "plus")
        view, compared = screen.pane(column), 0
        for row in range(0, len(view.source), 5):
            view.move_to(row)
            await press(pilot, "Y")
            place = destination(parse_address(app.clipboard), screen.session.stops)
            if place.log or (place.target.part and "#" not in app.clipboard):
                continue  # a blank line has no characters to name
            copied = app.clipboard
            view.move_to(0)
            screen.apply(screen.session.follow(place.target, None, place.stop))
            await press(pilot, "Y")
            assert app.clipboard == copied
            compared += 1
        assert compared > 1


async def test_a_log_opens_at_the_line_of_its_address(demo_run: Path) -> None:
    at = destination(
        parse_address("gate:2/log/stages/2/gate/log.txt#L5"), stops_of(open_run(demo_run).run)
    )
    run = open_run(demo_run)
    screen = RunScreen(run, lambda: open_run(demo_run), at=at)
    async with on_screen(screen) as (app, pilot):
        await press(pilot)
        shown = app.screen
        assert isinstance(shown, TextScreen)
        assert isinstance(shown.view.source, TextRows)
        assert shown.view.source.line_at(shown.view.cursor) == 5


async def test_where_there_is_none_that_is_said(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        screen.apply(screen.session.focus(Column.TRAJECTORY))
        await press(pilot, "T")
        assert "no test is under the cursor" in notice(app)
        await press(pilot, "s", "T")
        assert "no test is under the cursor" in notice(app)
        await press(pilot, "Y")
        assert parse_address(app.clipboard).pane == "spec"


def test_a_patch_names_what_came_and_what_went() -> None:
    line = DiffLine(LineKind.ADDED, "x", None, 1, no_newline=True)
    hunk = Hunk(0, 0, 1, 1, "", (line,))
    added = FileChange("a.py", ChangeKind.ADDED)
    renamed = FileChange("b.py", ChangeKind.RENAMED, old_path="a.py")

    assert hunk_text(added, [hunk]) == (
        "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n"
    )
    assert hunk_text(renamed, [hunk]).startswith("--- a/a.py\n+++ b/b.py\n")
    assert hunk_text(FileChange("a.py", ChangeKind.DELETED), []).endswith("+++ /dev/null\n")


def test_equal_messages_are_copied_once() -> None:
    assert part_of_tests([], "message") == ""
