"""The screens open runs of every layout, also those without states, gates or steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.session.run_session import Column
from tests.readers import layout_summary
from tests.readers.scb_run import entry, report, session_file, write
from tests.readers.test_git_repository import three
from tests.readers.test_lone_file import PATCH, turns
from tests.states.workspaces import git
from tests.ui.screen_text import on_screen, press, run_screen

_KEYS = ("tab", "enter", "escape", "tab", "down", "enter", "escape", "tab", "enter", "escape")
"""Through every pane, into what is under its cursor and back."""


async def walk(path: Path) -> str:
    """Every stop of a run, and in the last one every pane; returns the screen of the last stop."""
    screen = run_screen(path)
    text = ""
    async with on_screen(screen) as (_, pilot):
        screen.apply(screen.session.go_to(0))
        for position in range(len(screen.session.stops)):
            text = await press(pilot, *(["}"] if position else []))
            assert screen.session.at == position
        await press(pilot, *_KEYS)
    return text


@pytest.mark.parametrize("path", layout_summary.expected())
async def test_a_recorded_run_of_every_layout_opens(cases: Path, path: str) -> None:
    assert await walk(cases / "formats" / path)


async def test_a_session_alone_opens(tmp_path: Path) -> None:
    text = await walk(write(tmp_path / "x.jsonl", turns("one", "two")))
    assert "not measured: no gate" in text


async def test_what_a_run_has_none_of_leaves_its_room_to_the_rest(tmp_path: Path) -> None:
    answers = (f"answer {number}" for number in range(30))
    log = session_file("go", *answers, session="s", at="2026-01-01T10:00:00Z")
    screen = run_screen(write(tmp_path / "x.jsonl", log))
    async with on_screen(screen, (120, 35)) as (_, pilot):
        steps, gate = screen.pane(Column.TRAJECTORY), screen.pane(Column.GATE)
        assert screen.focused is steps
        assert steps.outer_size.height > 2 * gate.outer_size.height
        await press(pilot, "tab")
        assert steps.outer_size.height < gate.outer_size.height


async def test_a_patch_alone_takes_the_room_of_the_trajectory(tmp_path: Path) -> None:
    screen = run_screen(write(tmp_path / "x.patch", PATCH))
    async with on_screen(screen, (120, 35)):
        assert screen.pane(Column.TRAJECTORY).outer_size.height == 3
        assert screen.pane(Column.DIFF).outer_size.width > 2 * 26


async def test_a_patch_alone_opens(tmp_path: Path) -> None:
    assert "x.py" in await walk(write(tmp_path / "x.patch", PATCH))


async def test_a_report_alone_opens(tmp_path: Path) -> None:
    tests = report(entry("t.py::a"), entry("t.py::b", "failed", "boom"))
    text = await walk(write(tmp_path / "r.json", tests))
    assert "tests 1/2" in text
    assert "boom" in text


async def test_a_repository_opens(tmp_path: Path) -> None:
    folder = tmp_path / "chain"
    folder.mkdir()
    git(folder, "init", "-q")
    three(folder)
    assert "x.py" in await walk(folder)
