from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.model.results import Verdict
from arcview.ui.rows.figures import VERDICT_GLYPH, fraction
from tests.ui.screen_text import on_screen, press, run_screen

_RUNS = [
    "circuit-eval",
    "code-search-collapse",
    "code-search-refactor-pass",
    "database-migration-rising",
    "file-backup-infra",
    "mocked-http-no-evaluation",
    "mvvault-interrupted",
    "recli-nothing-built",
]


@pytest.mark.parametrize("name", _RUNS)
async def test_every_stop_of_a_real_run_shows_its_gate_as_it_was_counted(
    scb: Callable[[str], Path], name: str
) -> None:
    screen = run_screen(scb(name))
    async with on_screen(screen, (160, 40)) as (_, pilot):
        screen.apply(screen.session.go_to(0))
        for position, stop in enumerate(screen.session.stops):
            text = await press(pilot, *(["}"] if position else []))
            assert screen.session.at == position
            cell = screen.opened.gate_view(stop.gate, stop.state).cell
            title = next(line for line in text.splitlines() if "Gate " in line)
            assert VERDICT_GLYPH[cell.judgement.verdict] in title
            if cell.judgement.verdict is Verdict.UNMEASURED:
                assert "✗" not in title
            else:
                assert f"F2P {fraction(cell.f2p)}" in title
