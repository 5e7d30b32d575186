"""A few whole screens as text, in `snapshots/`; ARCVIEW_UPDATE_SNAPSHOTS=1 writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.ui.screen_text import on_screen, press, run_screen

_FOLDER = Path(__file__).parent / "snapshots"
_CASES = [
    ("run-wide", (140, 36), ()),
    ("run-narrow", (80, 24), ()),
    ("failure", (100, 36), ("enter",)),
    ("help-of-the-gate", (100, 40), ("?",)),
    ("case", (100, 40), ("a", "v", "0", "m")),
]


@pytest.mark.parametrize(("name", "size", "keys"), _CASES, ids=[case[0] for case in _CASES])
async def test_screen_looks_as_before(
    demo_run: Path,
    name: str,
    size: tuple[int, int],
    keys: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ARCVIEW_ANNOTATOR", "ann")
    async with on_screen(run_screen(demo_run), size) as (_, pilot):
        text = await press(pilot, *keys) + "\n"
    file = _FOLDER / f"{name}.txt"
    if os.environ.get("ARCVIEW_UPDATE_SNAPSHOTS") == "1":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
