"""Gates by states, and what-if, on the screen; an engine plays what a test says."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from arcview.analysis.matrix import Cell, CellTest, Source, Standing
from arcview.analysis.matrix_patterns import Pattern
from arcview.errors import BadInputError
from arcview.gates.engine import EngineInfo
from arcview.gates.errors import EngineUnavailableError
from arcview.model.results import Group, Outcome, Verdict
from arcview.session.matrix_session import words_of
from arcview.session.reruns import Reruns
from arcview.session.run_session_address import destination, parse_address
from arcview.session.run_session_stops import stops_of
from arcview.ui.rows.matrix_cells import cell_text, legend
from arcview.ui.screens.matrix import MatrixScreen
from arcview.ui.screens.rerun import RerunScreen
from arcview.ui.screens.rerun_sitting import RerunSitting
from arcview.ui.screens.run import RunScreen
from arcview.ui.screens.text import TextScreen
from tests.gates.fake_engine import FakeEngine, HeldEngine
from tests.readers.test_lone_file import turns
from tests.ui.screen_text import notice, on_screen, open_run, press, run_screen, screen_text

INFO = EngineInfo("docker", "docker", "20.10.24", "unix:///run/docker.sock", ("cpus",), ("pids",))
_ENDS = {"1": "S1", "2": "S2", "3": "S3", "4": "S4", "chain": "S4"}


def player(path: Path) -> FakeEngine:
    """The agent's states say what was recorded; the reference passes once its stage is there."""

    def script(gate: str, label: str, tree: str) -> dict[str, str]:
        del tree
        run = open_run(path)
        tests = run.reader().gate_tests(gate, _ENDS[gate])
        stage = 4 if gate == "chain" else int(gate)
        if label[0] == "X" or (label[0] == "R" and int(label[1:]) >= stage):
            return {test.id: "passed" for test in tests}
        if label in ("S0", "R0"):
            return {t.id: "failed" if t.group is Group.F2P else "passed" for t in tests}
        return {t.id: "passed" if t.outcome is Outcome.PASSED else "failed" for t in tests}

    return FakeEngine(script, INFO)


class NoEngine(FakeEngine):
    def info(self) -> EngineInfo:
        raise EngineUnavailableError("no container engine answers: start Docker or set DOCKER_HOST")


def screen_with(path: Path, engine: FakeEngine) -> RunScreen:
    screen = run_screen(path)
    screen.sitting = RerunSitting(screen, lambda opened: Reruns(opened, engine=engine))
    return screen


def copy_of(run: Path, root: Path) -> Path:
    """The sample run with its chain, to be changed."""
    fixtures = run.parents[2]
    shutil.copytree(fixtures, root / "fixtures")
    return root / "fixtures" / run.relative_to(fixtures)


def row_of(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(f"│ {start}"))


async def test_recorded_and_derived_cells_are_there_without_an_engine(demo_run: Path) -> None:
    async with on_screen(screen_with(demo_run, NoEngine(lambda *_: {}))) as (app, pilot):
        text = await press(pilot, "3", "#")
        assert isinstance(app.screen, MatrixScreen)
        assert "✓ 15/15" in row_of(text, "1 tags")
        assert "✗ 12/15 ≈" in row_of(text, "1 tags")
        assert "[✗ 24/32]" in row_of(text, "3 export")
        assert "15/26 %" in row_of(text, "2 search")
        assert "R1" not in text


async def test_the_cursor_moves_by_cells_and_the_tests_follow(demo_run: Path) -> None:
    async with on_screen(screen_with(demo_run, player(demo_run))) as (_, pilot):
        text = await press(pilot, "3", "#", "l", "k")
        assert "Gate 2 on S4" in text
        assert "[✗ 20/26 ≈]" in row_of(text, "2 search")
        assert "test_phrase_in_quotes" in text
        text = await press(pilot, "h", "h", "h", "h", "h", "h")
        assert "Gate 2 on S0" in text
        assert "nothing is known of this gate on this state" in text


async def test_a_cell_opens_to_its_tests_and_a_test_to_what_it_said(demo_run: Path) -> None:
    async with on_screen(screen_with(demo_run, player(demo_run))) as (app, pilot):
        await press(pilot, "2", "#", "enter")
        assert isinstance(app.screen, MatrixScreen)
        assert app.focused is app.screen.tests
        text = await press(pilot, "/", "=phrase_in_quotes", "enter", "enter")
        assert isinstance(app.screen, TextScreen)
        assert "on S2" in text
        assert "expected  [1]" in text


async def test_what_is_missing_is_planned_before_it_is_run(demo_run: Path) -> None:
    engine = player(demo_run)
    async with on_screen(screen_with(demo_run, engine)) as (_, pilot):
        text = await press(pilot, "3", "#", "x")
        assert "Run what is missing  37 cells after 5 controls" in text
        assert "with 2 at once" in text
        assert "no network, 2 cpus" in text
        assert engine.jobs == []
        assert "with 3 at once" in await press(pilot, "+")
        assert "Run what is missing" not in await press(pilot, "escape")


async def test_missing_cells_are_run_and_say_so(demo_run: Path) -> None:
    engine = player(demo_run)
    async with on_screen(screen_with(demo_run, engine)) as (app, pilot):
        text = await press(pilot, "3", "#", "x", "x")
        assert "37 of 37 cells measured" in notice(app)
        # As they are played, gates disagree on a test that they share.
        assert "~ 23/32 r" in row_of(text, "3 export")
        text = await press(pilot, "R")
        assert "✓ 32/32 r" in row_of(text, "3 export")
        assert "Nothing is missing" in await press(pilot, "x")


async def test_measuring_is_stopped_and_goes_on_later(demo_run: Path) -> None:
    engine = HeldEngine(info=INFO)
    async with on_screen(screen_with(demo_run, engine)) as (app, pilot):
        await press(pilot, "3", "#", "x")
        await pilot.press("x")
        assert await asyncio.to_thread(engine.has_printed.wait, 30)
        await pilot.pause()
        await pilot.pause()
        text = screen_text(app)
        assert "0/37 · control of gate" in text
        assert "…" in row_of(text, "4 import")
        await pilot.press("escape")
        await press(pilot)
        assert "stopped: 0 of 37 cells measured; x goes on" in notice(app)
        assert "Run what is missing  37 cells" in await press(pilot, "x")


async def test_leaving_the_program_stops_measuring(demo_run: Path) -> None:
    engine = HeldEngine(info=INFO)
    screen = screen_with(demo_run, engine)
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "3", "#", "x")
        await pilot.press("x")
        assert await asyncio.to_thread(engine.has_printed.wait, 30)
    assert screen.sitting is not None
    job = screen.sitting.matrix().job
    assert job is not None
    assert job.is_cancelled


async def test_the_row_of_a_test_names_its_pattern(demo_run: Path) -> None:
    async with on_screen(screen_with(demo_run, player(demo_run))) as (_, pilot):
        text = await press(pilot, "3", "#", "x", "x", "f")
        assert "never passes" in text
        assert "premature in S1" in text
        assert "telling tests only" in text


async def test_without_an_engine_the_plan_says_what_is_missing(demo_run: Path) -> None:
    async with on_screen(screen_with(demo_run, NoEngine(lambda *_: {}))) as (app, pilot):
        text = await press(pilot, "3", "#", "x")
        assert "cannot be run here: no container engine answers" in text
        await press(pilot, "x")
        assert "no container engine answers" in notice(app)


async def test_a_cell_is_run_on_its_own(demo_run: Path) -> None:
    engine = player(demo_run)
    async with on_screen(screen_with(demo_run, engine)) as (app, pilot):
        await press(pilot, "3", "#", "h", "r")
        assert isinstance(app.screen, RerunScreen)
        await press(pilot, "r")
        assert (engine.jobs[-1].gate, engine.jobs[-1].label) == ("3", "S2.refactor")
        text = await press(pilot, "backspace")
        assert "r]" in row_of(text, "3 export")


@pytest.mark.parametrize("size", [(120, 35), (80, 24), (40, 12)])
async def test_the_matrix_fits_where_there_is_little_room(
    demo_run: Path, size: tuple[int, int]
) -> None:
    async with on_screen(screen_with(demo_run, player(demo_run)), size) as (_, pilot):
        text = await press(pilot, "3", "#", "R", "x")
        assert "[✗" in text
        assert all(len(line) <= size[0] for line in text.splitlines())


def test_what_happened_to_a_test_is_told_in_its_order() -> None:
    line = (None, False, True, False)
    late = Pattern(
        "2", "t", Group.F2P, 2, line, "S3", True, late=True, healed=("S3",), broken_again=("S4",)
    )
    assert words_of(late) == ("late", "healed in S3", "broken again in S4")
    assert words_of(replace(late, late=False)) == ("broken again in S4", "healed in S3")


async def test_what_if_says_whether_a_failure_is_inherited(demo_run: Path) -> None:
    async with on_screen(screen_with(demo_run, player(demo_run))) as (app, pilot):
        text = await press(pilot, "3", "H")
        assert "Inherited or local?" in text
        assert "r runs the gate 3×" in text
        text = await press(pilot, "r")
        assert "base: inherited, from the state that the stage began with" in text
        assert "X: R2 with the agent's change S2.refactor→S3" in text
        assert "✓ passed 3/3" in text
        assert "✗ failed 3/3" in text
        text = await press(pilot, "escape")
        assert isinstance(app.screen, RunScreen)
        assert "⇄ what if: base: inherited" in text


async def test_what_if_of_a_gate_that_passed_says_why_there_is_nothing_to_ask(
    demo_run: Path,
) -> None:
    async with on_screen(screen_with(demo_run, player(demo_run))) as (app, pilot):
        await press(pilot, "1", "H", "r")
        assert "what-if explains a gate that failed" in notice(app)


async def test_what_if_of_a_run_that_records_no_commands_says_so_and_stays_that_way(
    demo_run: Path, tmp_path: Path
) -> None:
    run = copy_of(demo_run, tmp_path)
    chain = run / "../../../chains/notes-cli/chain.json"
    written = json.loads(chain.read_text(encoding="utf-8"))
    for gate in written["gates"]:
        gate["steps"] = []
    chain.write_text(json.dumps(written), encoding="utf-8")
    async with on_screen(screen_with(run, player(run))) as (app, pilot):
        text = await press(pilot, "3", "H")
        assert "looking whether" not in text
        assert "✗ gate 3 cannot be rerun" in text
        await press(pilot, "r")
        assert "gate 3 cannot be rerun" in notice(app)


async def test_what_if_without_a_reference_says_that_nothing_can_be_told(
    demo_run: Path, tmp_path: Path
) -> None:
    run = copy_of(demo_run, tmp_path)
    (run / "../../../chains/notes-cli/reference.bundle").unlink()
    engine = player(run)
    async with on_screen(screen_with(run, engine)) as (_, pilot):
        text = await press(pilot, "3", "H")
        assert "undetermined: " in text
        assert "R2: " in text
        text = await press(pilot, "r")
        assert "undetermined: " in text
        assert engine.jobs == []


async def test_an_address_of_a_cell_opens_the_matrix_there(demo_run: Path) -> None:
    stops = stops_of(open_run(demo_run).run)
    recorded = destination(parse_address("cell:3@S3"), stops)
    assert recorded.cell is None
    at = destination(parse_address("cell:1@R2"), stops)
    assert at.cell == ("1", "R2")
    screen = RunScreen(open_run(demo_run), lambda: open_run(demo_run), at=at)
    screen.sitting = RerunSitting(screen, lambda opened: Reruns(opened, engine=player(demo_run)))
    async with on_screen(screen) as (app, pilot):
        text = await press(pilot)
        assert isinstance(app.screen, MatrixScreen)
        assert "Gate 1 on R2" in text


def test_an_address_of_a_gate_that_the_run_does_not_have_is_refused(demo_run: Path) -> None:
    stops = stops_of(open_run(demo_run).run)
    with pytest.raises(BadInputError, match="the run has no '9@S3'"):
        destination(parse_address("cell:9@S3"), stops)


def test_cells_of_every_kind_differ_without_colour() -> None:
    test = CellTest(Group.F2P, Outcome.PASSED, True, Source.RECORDED)
    bad = CellTest(Group.F2P, Outcome.FAILED, False, Source.RECORDED)
    flaky = CellTest(Group.F2P, Outcome.FAILED, None, Source.RERUN, 1, 2)
    kinds = {
        "recorded pass": Cell("1", "S1", Verdict.PASSED, None, Source.RECORDED, {"a": test}, 1),
        "recorded failure": Cell("1", "S1", Verdict.FAILED, None, Source.RECORDED, {"a": bad}, 1),
        "rerun": Cell("1", "S1", Verdict.PASSED, None, Source.RERUN, {"a": test}, 1, runs=1),
        "derived": Cell("1", "S1", Verdict.PASSED, None, Source.REPEATED, {"a": test}, 1),
        "same files": Cell("1", "S1", Verdict.PASSED, None, Source.SAME_TREE, {"a": test}, 1),
        "partly": Cell("1", "S1", None, None, Source.REPEATED, {"a": test}, 2),
        "flaky": Cell("1", "S1", Verdict.FAILED, None, Source.RERUN, {"a": flaky}, 1, runs=2),
        "unmeasured": Cell("1", "S1", Verdict.UNMEASURED, "no report", Source.RERUN),
        "unknown": Cell("1", "S1"),
        "not applicable": Cell(
            "1", "S1", Verdict.FAILED, None, Source.RECORDED, {"a": bad}, 1,
            Standing.NOT_APPLICABLE,
        ),
        "not due": Cell(
            "1", "S1", Verdict.FAILED, None, Source.RECORDED, {"a": bad}, 1, Standing.BEFORE
        ),
        "early": Cell(
            "1", "S1", Verdict.PASSED, None, Source.RECORDED, {"a": test}, 1, Standing.BEFORE
        ),
    }  # fmt: skip
    for width in (4, 20):
        texts = {kind: cell_text(cell).fit(width) for kind, cell in kinds.items()}
        assert len(set(texts.values())) == len(texts), texts


def test_the_legend_explains_the_marks_that_are_there_as_far_as_it_fits() -> None:
    test = CellTest(Group.F2P, Outcome.PASSED, True, Source.RECORDED)
    cells = [
        Cell("1", "S1"),
        Cell("1", "S1", Verdict.PASSED, None, Source.REPEATED, {"a": test}, 1),
        Cell("1", "S1", None, None, Source.RECORDED, {"a": test}, 2),
    ]
    assert legend(cells, 74) == "≈ derived  % in part  · unknown"
    assert legend(cells, 24) == "≈ derived  % in part"
    assert legend(cells, 3) == ""


async def test_a_session_begins_at_the_state_of_the_stage_and_offers_no_run(
    tmp_path: Path,
) -> None:
    log = tmp_path / "x.jsonl"
    log.write_text(turns("one", "two", "three"), encoding="utf-8")
    async with on_screen(run_screen(log)) as (_, pilot):
        text = await press(pilot, "2", "#")
        assert "Gate 2 on S2" in text
        text = await press(pilot, "l")
        assert "nothing is known of this gate on this state: how it is run is not" in text
        assert "r runs it" not in text
        text = await press(pilot, "H")
        assert "What if: gate 2" in text
        assert "why gate 2 failed" not in text


async def test_a_gate_that_can_be_run_on_an_unknown_state_says_how(demo_run: Path) -> None:
    async with on_screen(screen_with(demo_run, player(demo_run))) as (_, pilot):
        text = await press(pilot, "4", "#", *["h"] * 6)
        assert "nothing is known of this gate on this state: r runs it" in text


async def test_a_state_between_stages_has_its_own_sign_where_its_name_has_no_room(
    demo_run: Path,
) -> None:
    async with on_screen(run_screen(demo_run), (56, 24)) as (_, pilot):
        text = await press(pilot, "3", "#")
        heads = row_of(text, "test")
        assert "◇" in heads
        assert "·" not in heads
