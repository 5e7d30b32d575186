from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from textual.content import Content
from textual.worker import WorkerFailed

from arcview.errors import ArcviewError, BadInputError, UnknownLayoutError
from arcview.session.run_session import Column
from arcview.ui import app as app_module
from arcview.ui.ahead import ReadAhead
from arcview.ui.application import ArcviewApp
from arcview.ui.rows.sections import SectionRows
from arcview.ui.screens.library import LibraryScreen
from arcview.ui.screens.opening import OpeningScreen
from arcview.ui.screens.run import RunScreen
from arcview.ui.screens.text import TextScreen
from tests.readers.scb_run import write_run
from tests.ui.screen_text import (
    notice,
    on_screen,
    open_run,
    press,
    run_screen,
    screen_text,
    settle,
)


def _first(path: Path, at: str | None = None) -> object:
    return app_module.first_screen(path, open_run, at, may_be_folder=True)


def test_a_run_opens_the_run_screen_and_a_folder_of_runs_the_list(demo_run: Path) -> None:
    assert isinstance(_first(demo_run), RunScreen)
    assert isinstance(_first(demo_run.parent), LibraryScreen)


def test_a_folder_without_runs_is_an_error_and_no_screen(tmp_path: Path) -> None:
    with pytest.raises(UnknownLayoutError):
        _first(tmp_path)


def test_an_address_in_a_folder_of_runs_is_refused(demo_run: Path) -> None:
    with pytest.raises(ArcviewError, match="is a folder of runs"):
        _first(demo_run.parent, "gate:1")


def test_an_address_of_a_stage_that_does_not_exist_is_refused(demo_run: Path) -> None:
    with pytest.raises(BadInputError, match="no '9'"):
        _first(demo_run, "gate:9")


async def test_an_address_opens_at_its_test(demo_run: Path) -> None:
    screen = _first(demo_run, "gate:3/f2p/gate_tests%2Ftest_export.py%3A%3Atest_export_csv")
    assert isinstance(screen, RunScreen)
    async with on_screen(screen):
        assert screen.session.stop.stage == 3
        assert screen.session.column is Column.GATE


async def test_an_address_opens_a_line_of_a_file_outside_the_diff(demo_run: Path) -> None:
    screen = _first(demo_run, "file:S4/notes/search.py#L3")
    assert isinstance(screen, RunScreen)
    async with on_screen(screen) as (app, _):
        assert "notes/search.py in S4" in screen_text(app) or "search.py" in screen_text(app)


async def test_an_address_opens_the_specification(demo_run: Path) -> None:
    screen = _first(demo_run, "spec:3")
    assert isinstance(screen, RunScreen)
    async with on_screen(screen) as (app, _):
        assert "Specification of stage 3" in screen_text(app)


async def test_an_unexpected_fault_of_a_worker_is_one_line(demo_run: Path) -> None:
    def fail() -> None:
        raise RuntimeError("boom")

    app = ArcviewApp(run_screen(demo_run))
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot)
        app.screen.run_worker(fail, thread=True, exit_on_error=False, description="testing")
        with pytest.raises(WorkerFailed):
            await app.workers.wait_for_complete()
        await pilot.pause()
        assert "testing failed: RuntimeError: boom" in notice(app)


async def test_a_fault_of_the_screen_is_kept_for_the_command_line(demo_run: Path) -> None:
    def fail() -> None:
        raise RuntimeError("boom")

    app = ArcviewApp(run_screen(demo_run))

    async def use() -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            await press(pilot)
            app.screen.call_next(fail)
            await pilot.pause()

    with pytest.raises(RuntimeError, match="boom"):
        await use()
    assert isinstance(app.failure, RuntimeError)
    assert app.return_code == 1


async def test_the_theme_changes_and_stays_readable(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        assert app.current_theme.dark
        await press(pilot, "t")
        assert not app.current_theme.dark


async def test_hostile_names_in_a_run_reach_the_screen_clean(
    demo_run: Path, tmp_path: Path
) -> None:
    fixtures = demo_run.parents[2]
    shutil.copytree(fixtures, tmp_path / "fixtures")
    run = tmp_path / "fixtures" / demo_run.relative_to(fixtures)
    text = (run / "run.json").read_text()
    (run / "run.json").write_text(
        text.replace('"scripted-demo"', '"\\u001b]0;owned\\u0007[/bold][@click=app.quit]x"', 1)
    )
    async with on_screen(run_screen(run)) as (app, _):
        text = screen_text(app)
        assert "␛]0;owned␇[/bold][@click=app.quit]x" in text
        assert "\x1b" not in text


class _Slow(ReadAhead):
    """A second process that ends when the test says so."""

    def __init__(self) -> None:
        super().__init__(None)
        self.may_end = threading.Event()

    def wait(self, limit_s: float | None = None) -> bool:
        return self.may_end.wait(limit_s)

    def stop(self) -> None:
        self.may_end.set()


async def test_while_a_large_run_is_read_the_screen_says_so_and_then_gives_way(
    demo_run: Path,
) -> None:
    ahead = _Slow()
    app = ArcviewApp(OpeningScreen("runs/big", ahead, lambda: run_screen(demo_run)))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert "reading runs/big for the first time" in screen_text(app)
        ahead.may_end.set()
        text = await press(pilot)
        assert "Gate 2" in text
        await press(pilot, "backspace")
        assert "nothing to go back to" in notice(app)


async def test_a_run_that_turns_out_unreadable_ends_the_app_with_one_line() -> None:
    def fail() -> RunScreen:
        raise BadInputError("run.json", "not JSON")

    ahead = _Slow()
    app = ArcviewApp(OpeningScreen("runs/bad", ahead, fail))
    async with app.run_test(size=(120, 40)) as pilot:
        ahead.may_end.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
    assert str(app.failure) == "run.json: not JSON"
    assert app.return_code == 2


async def test_what_is_said_while_a_screen_comes_up_is_shown_on_it(tmp_path: Path) -> None:
    async with on_screen(run_screen(write_run(tmp_path / "run"))) as (app, pilot):
        coming = TextScreen(Content("a text"), SectionRows(()))
        app.push_screen(coming)
        coming.notice("the labels cannot be read")
        await settle(pilot)
        assert app.screen is coming
        assert notice(app).strip().startswith("the labels cannot be read")
