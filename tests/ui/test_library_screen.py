from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from arcview.session.commands import Context, find
from arcview.session.library import LibraryRow, summarise
from arcview.session.plain_text import list_lines
from arcview.session.plain_text_parts import Glyphs
from arcview.ui.rows.figures import VERDICT_GLYPH
from arcview.ui.rows.library import LibraryRows
from arcview.ui.screens.library import LibraryScreen
from arcview.ui.screens.run import RunScreen
from tests.readers.scb_run import write
from tests.readers.test_lone_file import turns
from tests.ui.screen_text import notice, on_screen, open_run, press, screen_text


@pytest.fixture
def runs(demo_run: Path, tmp_path: Path) -> Path:
    """Two good runs and one that cannot be read."""
    fixtures = demo_run.parents[2]
    shutil.copytree(fixtures / "chains", tmp_path / "chains")
    folder = tmp_path / "runs"
    for name in ("notes-cli", "second"):
        shutil.copytree(demo_run, folder / "scripted-demo" / name)
    broken = folder / "other" / "broken"
    broken.mkdir(parents=True)
    (broken / "run.json").write_text('{"schema": "arcview/run/1"}')
    return folder


def _screen(runs: Path) -> LibraryScreen:
    return LibraryScreen(runs, open_run)


async def test_lists_every_run_with_its_verdicts_and_what_is_wrong_with_a_broken_one(
    runs: Path,
) -> None:
    async with on_screen(_screen(runs)) as (app, _):
        text = screen_text(app)
        assert "3 runs" in text
        assert "scripted-demo/notes-cli" in text
        assert "✓✗✗✗" in text
        assert "bad at 2" in text
        broken = next(line for line in text.splitlines() if "other/broken" in line)
        assert "run.json" in broken


async def test_enter_opens_a_run_and_backspace_returns_to_its_row(runs: Path) -> None:
    screen = _screen(runs)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "j", "j", "enter")
        assert [type(each) for each in app.screen_stack] == [LibraryScreen, RunScreen]
        await press(pilot, "backspace")
        assert [type(each) for each in app.screen_stack] == [LibraryScreen]
        assert "second" in screen.view.cursor_text


async def test_a_broken_run_says_what_is_wrong_instead_of_opening(runs: Path) -> None:
    screen = _screen(runs)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "g", "enter")
        assert app.screen is screen
        assert "run.json" in notice(app)


async def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    async with on_screen(_screen(tmp_path)) as (app, _):
        assert "no run below" in notice(app)


async def test_looking_again_finds_a_new_run(runs: Path) -> None:
    async with on_screen(_screen(runs)) as (_, pilot):
        shutil.copytree(runs / "scripted-demo" / "notes-cli", runs / "scripted-demo" / "third")
        assert "4 runs" in await press(pilot, "ctrl+r")


async def test_a_filter_follows_what_is_typed_and_escape_drops_it(runs: Path) -> None:
    screen = _screen(runs)
    async with on_screen(screen) as (app, pilot):
        text = await press(pilot, "F", "=stage2:failed second", "enter")
        assert "3 runs · 1 shown · filter stage2:failed second" in text
        assert "scripted-demo/notes-cli" not in text
        assert app.focused is screen.view
        text = await press(pilot, "F", "escape")
        assert "· filter" not in text.splitlines()[0]
        assert "scripted-demo/notes-cli" in text


async def test_a_filter_that_means_nothing_says_why_and_filters_nothing(runs: Path) -> None:
    async with on_screen(_screen(runs)) as (app, pilot):
        await press(pilot, "F", "=colour:red")
        assert "no field 'colour'" in notice(app)
        assert "scripted-demo/second" in screen_text(app)


async def test_order_and_groups_are_said_and_the_cursor_stays_on_its_run(runs: Path) -> None:
    screen = _screen(runs)
    async with on_screen(screen) as (_, pilot):
        text = await press(pilot, "G", "s", "S", "b")
        assert "by first bad stage ↓ · grouped by task" in text
        assert "notes-cli  2 runs  chain ✗ 2" in text
        assert "second" in screen.view.cursor_text
        text = await press(pilot, "ctrl+r")
        assert "grouped by task" in text


async def test_back_from_a_run_the_filter_and_the_row_are_as_before(runs: Path) -> None:
    screen = _screen(runs)
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "F", "=scripted", "enter", "G", "enter")
        text = await press(pilot, "backspace")
        assert "filter scripted" in text
        assert "second" in screen.view.cursor_text


def test_failing_only_keeps_runs_that_cannot_be_read(demo_run: Path) -> None:
    rows = LibraryRows()
    good = summarise(demo_run, demo_run.parent)
    rows.add([good, LibraryRow(Path("x"), "x", None, "x: no run.json")])
    rows.show_failing_only(True)
    assert len(rows) == 2


def test_failing_only_leaves_out_what_was_not_measured_and_says_so(demo_run: Path) -> None:
    rows = LibraryRows()
    paths = (demo_run, demo_run.with_name("notes-cli-2"))
    rows.add([summarise(path, demo_run.parent) for path in paths])
    rows.show_failing_only(True)
    assert rows.shown_names == {"notes-cli"}
    command = find("failed_runs_only", Context.LIBRARY)
    assert command.help.startswith("Keeps the runs with a failed gate")


@pytest.mark.parametrize("width", [30, 60, 80, 100, 120, 160])
def test_rows_fit_every_width(demo_run: Path, width: int) -> None:
    rows = LibraryRows()
    rows.add([summarise(demo_run, demo_run.parent)])
    cells = rows.cells(0, width)
    assert sum(cell.width or 0 for cell in cells) < width


def test_a_hostile_name_is_one_clean_row() -> None:
    rows = LibraryRows()
    rows.add([LibraryRow(Path("x"), "evil\x1b[2J[/red]\nx", None, "[bold]bad\x07")])
    line = rows.row(0).plain
    assert "evil␛[2J[/red]␊x" in line
    assert line.isprintable()


def test_a_stage_that_was_not_started_has_the_dash_of_the_printed_list(demo_run: Path) -> None:
    row = summarise(demo_run.with_name("notes-cli-2"), demo_run.parent)
    rows = LibraryRows()
    rows.add([row])

    assert "✓??–" in rows.row(0).plain
    assert "✓??–" in "\n".join(list_lines([row], Glyphs()))


# How many stages


def _long(row: LibraryRow, verdicts: str) -> LibraryRow:
    """The row with a stage for each sign."""
    assert row.overview is not None
    by_sign = {VERDICT_GLYPH[each.judgement.verdict]: each for each in row.overview.stages}
    stages = tuple(
        replace(by_sign[sign], index=place) for place, sign in enumerate(verdicts, start=1)
    )
    return replace(row, overview=replace(row.overview, stages=stages))


@pytest.mark.parametrize(
    ("verdicts", "shown"),
    [
        ("✓" * 180, "✓×180 "),
        ("✗" + "✓" * 20 + "✗", "✗✓×20✗ "),
        ("✓" * 19, "✓" * 19 + " "),
        ("✓✗" * 30, "✓✗" * 11 + "✓… "),
    ],
)
def test_many_equal_stages_are_counted(demo_run: Path, verdicts: str, shown: str) -> None:
    rows = LibraryRows()
    rows.add([_long(summarise(demo_run, demo_run.parent), verdicts)])
    assert f" {shown}" in rows.row(0).plain


def test_the_stages_of_a_session_that_was_not_read_are_not_known(tmp_path: Path) -> None:
    told = ("go", "on " * 60_000)
    session = write(tmp_path / "long.jsonl", turns(*told))
    short = write(tmp_path / "short.jsonl", turns("go", "on"))
    rows = LibraryRows()
    rows.add([summarise(path, tmp_path) for path in (session, short)])
    long, whole = (rows.row(place).plain for place in range(2))
    assert "…" in long
    assert "?" not in long
    assert " ?? " in whole
