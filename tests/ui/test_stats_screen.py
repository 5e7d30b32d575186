"""The statistics screen: figures with n, policy and groups by key, stopping, what is left out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arcview.analysis.intervals import Interval
from arcview.analysis.lifetimes import FailureSpan
from arcview.analysis.statistics import Excluded, Figure, StatsPolicy, compute
from arcview.analysis.statistics_facts import GateCauses, GateFacts, RunFacts, StageFacts
from arcview.model.results import Verdict
from arcview.model.run import Status
from arcview.session.stats import collect
from arcview.ui.rows.stats import StatsRows
from arcview.ui.screens.library import LibraryScreen
from arcview.ui.screens.stats import StatsScreen
from tests.session.boolean_runs import write_run
from tests.ui.screen_text import notice, on_screen, open_run, press, screen_text

Scb = Callable[[str], Path]


async def test_figures_of_the_sample_runs_stand_as_k_of_n_under_a_named_policy(
    demo_run: Path,
) -> None:
    async with on_screen(LibraryScreen(demo_run.parent, open_run)) as (app, pilot):
        text = await press(pilot, "percent_sign")
        assert isinstance(app.screen, StatsScreen)
        assert "2 runs of 1 task" in text
        assert "Policy clean: leaves out stages" in text
        line = next(line for line in text.splitlines() if "first stage passes" in line)
        assert "2/2" in line
        assert "%" not in line
        assert "task difficulty alone can produce this gap" in text
        text = await press(pilot, "p")
        assert "Policy as-recorded: takes every verdict" in text
        text = await press(pilot, "escape")
        assert isinstance(app.screen, LibraryScreen)


async def test_three_layers_of_propagation_stand_apart_with_their_captions(
    demo_run: Path,
) -> None:
    async with on_screen(StatsScreen(demo_run.parent)) as (_, pilot):
        text = await press(pilot, "J", "J")
        assert "Propagation, crude" in text
        assert "Propagation, matched" in text
        assert "same task and stage across runs" in text
        assert "Propagation, executed" in text
        assert "no gate was run again on another state" in text


async def test_groups_and_outcomes_are_switched_by_key(demo_run: Path) -> None:
    async with on_screen(StatsScreen(demo_run.parent)) as (_, pilot):
        text = await press(pilot, "b")
        assert "by agent" in text
        assert "    scripted-demo" in text
        text = await press(pilot, "4", "5")
        assert "missing ok" in text
        assert "Test files count as shared files" in text


async def test_what_is_left_out_has_reasons_and_what_a_figure_counts_is_said(
    demo_run: Path,
) -> None:
    async with on_screen(StatsScreen(demo_run.parent)) as (app, pilot):
        text = await press(pilot, "x")
        assert "Left out" in text
        assert "notes-cli-2, stage 4: status not_started" in text
        view = app.screen.view  # type: ignore[attr-defined]
        row = next(
            n for n in range(len(view.source)) if "chain gate passes" in view.source.at(n).title
        )
        view.move_to(row)
        text = await press(pilot, "enter")
        assert "chain gates that passed, of those with a verdict" in notice(app)
        assert "chain gates that passed, of those with a verdict" in str(view.border_subtitle)


async def test_the_filter_of_the_list_of_runs_holds(demo_run: Path) -> None:
    async with on_screen(LibraryScreen(demo_run.parent, open_run)) as (_, pilot):
        text = await press(pilot, "F", "=notes-cli-2", "enter", "percent_sign")
        assert "1 run of 1 task" in text
        assert "those shown in the list" in text


async def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    async with on_screen(StatsScreen(tmp_path)) as (app, _):
        assert "can be counted" in screen_text(app)


async def test_reading_is_stopped_by_escape(demo_run: Path) -> None:
    screen = StatsScreen(demo_run.parent)
    async with on_screen(screen) as (app, pilot):
        screen._found = screen._corpus = None
        screen._count()
        screen.action_stop_or_close()
        assert screen.is_current
        await pilot.pause()
        assert "Stopped before all runs were read" in screen_text(app)


async def test_real_runs_are_counted_as_on_the_command_line(scb: Scb, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    for name in ("circuit-eval", "code-search-refactor-pass"):
        shutil.copytree(scb(name), folder / name)
    found = collect(folder).statistics(StatsPolicy()).all.figures["f2p_after_fail"]
    async with on_screen(StatsScreen(folder)) as (_, pilot):
        text = await press(pilot)
        line = next(line for line in text.splitlines() if "works after a failed stage" in line)
        assert f"{found.k}/{found.n}" in line


def _rows(figure: Figure) -> StatsRows:
    statistics = compute((), StatsPolicy())
    statistics.all.figures["first_stage_pass"] = figure  # type: ignore[index]
    return StatsRows(statistics)


def _line(rows: StatsRows, title: str, width: int) -> str:
    index = next(n for n in range(len(rows)) if title in rows.at(n).title)
    return "".join(cell.content.plain for cell in rows.cells(index, width))


def test_under_ten_there_is_neither_a_percentage_nor_a_chart() -> None:
    rows = _rows(Figure(9, 9, Interval(0.7, 1.0)))
    line = _line(rows, "first stage passes", 160)
    assert "9/9" in line
    assert "%" not in line
    assert "●" not in line


@pytest.mark.parametrize(
    ("interval", "chart"),
    [
        (Interval(0.0, 1.0), "──────────────●─────────────"),
        (Interval(0.25, 0.75), "·······───────●───────······"),
    ],
)
def test_the_chart_is_the_interval_with_the_share_on_it(interval: Interval, chart: str) -> None:
    assert chart in _line(_rows(Figure(50, 100, interval)), "first stage passes", 160)


@pytest.mark.parametrize("width", [20, 40, 79, 80, 100, 120, 160, 220])
def test_rows_fit_every_width(width: int) -> None:
    rows = _rows(Figure(50, 100, Interval(0.4, 0.6), Interval(0.3, 0.7), left_out=3))
    rows.fit(width)
    for index in range(len(rows)):
        cells = rows.cells(index, width)
        assert sum(cell.width or 0 for cell in cells) <= max(width, 50)


def test_names_of_runs_are_cleaned(tmp_path: Path) -> None:
    evil = "evil\x1b[2J[/red]\n\x07"
    write_run(tmp_path / "a", [False, True], task=evil, agent=evil)
    corpus = collect(tmp_path)
    corpus = replace(corpus, broken=(Excluded(evil, None, evil),))
    rows = StatsRows(corpus.statistics(StatsPolicy(), "agent"))
    text = "".join(rows.row(n).plain for n in range(len(rows)))
    assert "evil␛[2J[/red]" in text
    assert text.isprintable()


def rows_of(*runs: RunFacts, width: int = 160) -> list[str]:
    rows = StatsRows(compute(runs, StatsPolicy(resamples=10)))
    rows.fit(width)
    return ["".join(cell.content.plain for cell in rows.cells(n, width)) for n in range(len(rows))]


def failing_run(name: str) -> RunFacts:
    failed = GateFacts(Verdict.FAILED, f2p_ok=False, lasts=FailureSpan(2, False))
    unmeasured = GateFacts(Verdict.UNMEASURED, "no report")
    stages = (
        StageFacts(1, Status.COMPLETED, failed),
        StageFacts(2, Status.COMPLETED, unmeasured),
    )
    causes = (GateCauses("1", (("OSError: No space left on device", 2),)),)
    return RunFacts(name, name, name, None, "t", (), stages, None, causes)


def test_failures_that_stay_and_causes_that_are_shared_are_shown() -> None:
    rows = rows_of(*map(failing_run, ("a", "b", "c")))
    half_life = next(row for row in rows if "half-life" in row)
    assert half_life.split() == ["half-life", "of", "failures,", "in", "stages", ">", "2", "n", "=",
                                 "3"]  # fmt: skip
    at = next(n for n, row in enumerate(rows) if row.startswith(" Causes that many runs share"))
    assert "suspects: look first whether the behaviour is specified" in rows[at + 1]
    assert "6 failures in 3 gates (disk full): OSError: No space left on device" in rows[at + 2]
    assert "3 agents have it: a, b, c" in rows[at + 3]


@pytest.mark.parametrize("width", [78, 118])
def test_what_is_unknown_is_seen_on_a_narrow_screen_too(width: int) -> None:
    rows = rows_of(failing_run("a"), width=width)
    assert next(row for row in rows if "  stage 2 passes" in row).rstrip().endswith("1 unknown")
