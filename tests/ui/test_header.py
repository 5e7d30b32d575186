from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arcview.analysis.overview import Overview, Total
from arcview.model.run import Status
from arcview.session.opened import OpenRun
from arcview.ui.rows.figures import cost, duration, fit
from arcview.ui.rows.header import header_line


@pytest.fixture(scope="module")
def overview(tmp_path_factory: pytest.TempPathFactory) -> Overview:
    demo = Path(__file__).parents[2] / "fixtures" / "runs" / "scripted-demo" / "notes-cli"
    return OpenRun.open(demo, cache_root=tmp_path_factory.mktemp("cache")).overview


def test_says_who_did_what_and_how_the_chain_ended(overview: Overview) -> None:
    line = header_line(overview, 140).plain
    assert line.startswith(" scripted-demo · notes-cli · 4 stages · L4")
    assert "chain ✗ F2P 29/38  P2P 4/6" in line


@pytest.mark.parametrize("width", [1, 20, 40, 80, 120, 200])
def test_fits_every_width_and_keeps_the_verdict(overview: Overview, width: int) -> None:
    line = header_line(overview, width)
    if width >= 40:
        assert line.cell_length == width
        assert "chain ✗" in line.plain


def test_a_total_with_unknown_parts_is_marked(overview: Overview) -> None:
    totals = replace(overview.totals, cost_usd=Total(4.0, ("3",)))
    assert "$4.00+?" in header_line(replace(overview, totals=totals), 160).plain


def test_an_unknown_total_is_not_written_as_zero(overview: Overview) -> None:
    totals = replace(overview.totals, cost_usd=Total(None, ("1",)))
    assert "$" not in header_line(replace(overview, totals=totals), 160).plain


def test_problems_and_a_changed_disk_are_badges(overview: Overview) -> None:
    line = header_line(overview, 160, problems=2, stale=True).plain
    assert "▲ 2 problems (P)" in line
    assert "changed on disk (ctrl+r)" in line


def test_a_run_that_did_not_complete_says_so(overview: Overview) -> None:
    assert "interrupted" in header_line(replace(overview, status=Status.INTERRUPTED), 160).plain


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.31, "0.3s"), (42.2, "42s"), (192, "3m12s"), (4020, "1h07m")],
)
def test_durations(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("usd", "text"), [(None, ""), (0.412, "$0.41"), (1234.5, "$1,234")])
def test_costs(usd: float | None, text: str) -> None:
    assert cost(usd) == text


def test_cutting_marks_the_cut_and_counts_wide_characters_twice() -> None:
    assert fit("abcdef", 4) == "abc…"
    assert fit("日本語", 4, pad=True) == "日… "
    assert fit("ab", 4, pad=True) == "ab  "
    assert fit("ab", 0) == ""
