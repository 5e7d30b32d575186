"""The pane for long texts and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.ui.widgets import log
from arcview.ui.widgets.log import TextPane
from tests.ui.pane_app import PaneApp, screen_lines, settle

KEYS = {"w": "toggle_wrap", "number_sign": "toggle_numbers"}


async def test_a_text_is_shown_at_a_line() -> None:
    pane = TextPane()
    app = PaneApp(pane, KEYS)
    async with app.run_test(size=(40, 10)) as pilot:
        pane.show_text("\n".join(f"line {i}" for i in range(1, 101)), numbered=True, line=50)
        await pilot.pause()
        assert pane.line == 50
        assert " 50  line 50" in screen_lines(app)


async def test_keys_switch_wrapping_and_numbers() -> None:
    pane = TextPane("word " * 30)
    app = PaneApp(pane, KEYS)
    async with app.run_test(size=(41, 10)) as pilot:
        await pilot.pause()
        assert screen_lines(app)[1].startswith(" word")
        await pilot.press("w")
        assert screen_lines(app)[1] == ""
        await pilot.press("number_sign")
        assert screen_lines(app)[0].startswith("1  word")


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (b"caf\xe9", "▲ not valid UTF-8: damaged bytes are shown as �"),
        (b"a\0b", "▲ binary file: shown as text, byte by byte"),
        ("x".encode("utf-16"), "▲ encoding UTF-16-LE"),
    ],
)
async def test_bytes_that_are_no_plain_text_are_said_to_be(data: bytes, note: str) -> None:
    pane = TextPane()
    app = PaneApp(pane, KEYS)
    async with app.run_test(size=(60, 10)) as pilot:
        pane.show_bytes(data)
        await pilot.pause()
        assert screen_lines(app)[0].strip() == note


async def test_a_large_file_is_shown_by_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "IN_MEMORY_BYTES", 1_000)
    path = tmp_path / "a.log"
    path.write_text("".join(f"entry {i}\n" for i in range(30_000)))
    pane = TextPane()
    app = PaneApp(pane, KEYS)
    async with app.run_test(size=(40, 10)) as pilot:
        pane.show_file(path)
        await settle(app, pilot)
        assert not pane.is_indexing
        await pilot.press("G")
        assert screen_lines(app)[-1] == "30000  entry 29999"
        pane.search("entry 12345")
        await settle(app, pilot)
        assert pane.cursor == 12_345


async def test_another_text_lets_go_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "IN_MEMORY_BYTES", 10)
    path = tmp_path / "a.log"
    path.write_text("entry\n" * 100)
    pane = TextPane()
    app = PaneApp(pane, KEYS)
    async with app.run_test(size=(40, 10)) as pilot:
        pane.show_file(path)
        await pilot.pause()
        pane.show_text("other")
        await settle(app, pilot)
        assert screen_lines(app)[0].strip() == "other"


async def test_a_problem_is_shown_in_the_place_of_a_text() -> None:
    pane = TextPane()
    app = PaneApp(pane, KEYS)
    async with app.run_test(size=(40, 10)) as pilot:
        pane.show_problem("no log recorded")
        await pilot.press("w", "number_sign")
        assert screen_lines(app)[0] == "no log recorded"
