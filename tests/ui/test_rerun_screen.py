"""Running a gate again from the screen, with an engine that plays what a test says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from textual.pilot import Pilot

from arcview.gates.engine import EngineInfo, Image, OnPull
from arcview.gates.errors import EngineUnavailableError, ImageRefusedError
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from arcview.ui.screens.rerun import RerunScreen
from arcview.ui.screens.rerun_sitting import RerunSitting
from arcview.ui.screens.run import RunScreen
from tests.gates.fake_engine import FakeEngine, HeldEngine, LackingEngine, Play, Script
from tests.ui.screen_text import notice, on_screen, open_run, press, run_screen, screen_text

INFO = EngineInfo(
    "docker", "docker", "20.10.24", "unix:///run/docker.sock", ("cpus", "memory"), ("pids",)
)


def as_recorded(run: OpenRun, gate: str, state: str) -> dict[str, str]:
    """The recorded outcomes of a gate, as a runner would write them."""
    tests = run.reader().gate_tests(gate, state)
    return {test.id: "passed" if test.outcome.value == "passed" else "failed" for test in tests}


def rerun_screen(path: Path, engine: FakeEngine) -> RunScreen:
    screen = run_screen(path)
    screen.sitting = RerunSitting(screen, lambda opened: Reruns(opened, engine=engine))
    return screen


def faithful(path: Path) -> Script:
    """Says of gate 2 on S2 what was recorded."""

    def script(gate: str, label: str, tree: str) -> Play:
        del label, tree
        ends = {"1": "S1", "2": "S2", "3": "S3", "4": "S4", "chain": "S4"}
        outcomes = as_recorded(open_run(path), gate, ends[gate])
        return Play(outcomes, output="\n".join(f"ran {name}" for name in outcomes).encode())

    return script


class NoEngine(FakeEngine):
    """None answers."""

    def __init__(self) -> None:
        super().__init__(lambda *_: {})

    def info(self) -> EngineInfo:
        raise EngineUnavailableError("no container engine answers: start Docker or set DOCKER_HOST")


async def printed_something(engine: HeldEngine, pilot: Pilot[None]) -> None:
    assert await asyncio.to_thread(engine.has_printed.wait, 30)
    await pilot.pause()
    await pilot.pause()


async def test_the_first_rerun_asks_and_shows_what_would_run(demo_run: Path) -> None:
    engine = FakeEngine(faithful(demo_run), INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (app, pilot):
        text = await press(pilot, "2", "r")
        assert isinstance(app.screen, RerunScreen)
        assert "enter or r runs this command" in text
        assert "python -m pytest -vv" in text
        assert "no network, 2 cpus, 4,096 MB of memory" in text
        assert "this engine does not enforce: pids" in text
        assert "docker 20.10.24 at unix:///run/docker.sock" in text
        assert "took 0.2s" in text
        assert engine.jobs == []


async def test_what_a_killed_arcview_left_is_removed_when_the_screen_opens_and_that_is_said(
    demo_run: Path,
) -> None:
    engine = FakeEngine(faithful(demo_run), INFO)
    engine.left_behind = 2
    async with on_screen(rerun_screen(demo_run, engine)) as (app, pilot):
        await press(pilot, "2")
        assert engine.reaped == 0
        await press(pilot, "r")
        assert "removed 2 containers that a killed arcview left behind" in notice(app)
        await press(pilot, "]", "r")
        assert engine.reaped == 1


async def test_nothing_is_said_where_nothing_was_left(demo_run: Path) -> None:
    engine = FakeEngine(faithful(demo_run), INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (app, pilot):
        await press(pilot, "2", "r")
        assert engine.reaped == 1
        assert "left behind" not in screen_text(app)


async def test_the_rerun_stands_beside_the_recorded_result(demo_run: Path) -> None:
    async with on_screen(rerun_screen(demo_run, FakeEngine(faithful(demo_run), INFO))) as (
        app,
        pilot,
    ):
        text = await press(pilot, "2", "r", "enter")
        assert "= reproduces the recorded verdict" in text
        verdicts = next(line for line in text.splitlines() if "│ verdict " in line)
        assert verdicts.count("✗ failed") == 2
        assert "same as recorded  26" in text
        assert "ran gate_tests/test_search.py" in text
        text = await press(pilot, "backspace")
        assert isinstance(app.screen, RunScreen)
        assert "↻ rerun: = reproduces" in text
        assert "Gate 2  ✗ F2P 8/11  P2P 15/15" in text


async def test_after_that_one_key_runs_another_gate(demo_run: Path) -> None:
    engine = FakeEngine(faithful(demo_run), INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (_, pilot):
        await press(pilot, "2", "r", "r", "backspace", "3", "r")
        assert [(job.gate, job.label) for job in engine.jobs] == [("2", "S2"), ("3", "S3")]


async def test_what_is_stored_is_shown_and_not_run_again_unasked(demo_run: Path) -> None:
    engine = FakeEngine(faithful(demo_run), INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (_, pilot):
        await press(pilot, "2", "r", "r", "backspace", "r")
        assert len(engine.jobs) == 1
        await press(pilot, "r")
        assert len(engine.jobs) == 2


async def test_tests_that_moved_are_named_with_both_outcomes(demo_run: Path) -> None:
    def script(gate: str, label: str, tree: str) -> Mapping[str, str]:
        del label, tree
        found = as_recorded(open_run(demo_run), gate, "S2")
        found["gate_tests/test_search.py::test_newest_first"] = "passed"
        found["gate_tests/test_search.py::test_word_in_body"] = "failed"
        del found["gate_tests/test_search.py::test_tag_term"]
        found["gate_tests/test_search.py::test_brand_new"] = "passed"
        return found

    async with on_screen(rerun_screen(demo_run, FakeEngine(script, INFO))) as (_, pilot):
        text = await press(pilot, "2", "r", "r")
        assert "≈ the recorded verdict, but not test for test" in text
        assert "not ok as recorded, ok now  1" in text
        assert "failed → passed" in text
        assert "ok as recorded, not ok now  1" in text
        assert "recorded, missing now  1" in text
        assert "new: not recorded  1" in text
        text = await press(pilot, "backspace")
        assert "rerun ✓" in text
        assert "Gate 2  ✗ F2P 8/11" in text


async def test_several_attempts_count_what_is_flaky(demo_run: Path) -> None:
    runs: list[str] = []

    def script(gate: str, label: str, tree: str) -> Mapping[str, str]:
        del tree
        runs.append(label)
        found = as_recorded(open_run(demo_run), gate, "S2")
        if len(runs) == 2:
            found["gate_tests/test_search.py::test_word_in_body"] = "failed"
        return found

    async with on_screen(rerun_screen(demo_run, FakeEngine(script, INFO))) as (_, pilot):
        text = await press(pilot, "2", "r", "+", "+", "r")
        assert len(runs) == 3
        assert "flaky: ok in some of 3 attempts  1" in text
        assert "ok in 2 of 3" in text
        assert "Attempts  3" in text


async def test_an_attempt_is_chosen_with_its_log(demo_run: Path) -> None:
    runs: list[str] = []

    def script(gate: str, label: str, tree: str) -> Play:
        del tree
        runs.append(label)
        found = as_recorded(open_run(demo_run), gate, "S2")
        return Play(found, output=f"this is number {len(runs)}\n".encode())

    async with on_screen(rerun_screen(demo_run, FakeEngine(script, INFO))) as (_, pilot):
        text = await press(pilot, "2", "r", "+", "r")
        assert "this is number 2" in text
        text = await press(pilot, "G", "k", "k", "k", "enter")
        assert "Rerun 1" in text
        assert "this is number 1" in text


async def test_a_log_that_was_changed_says_so_where_it_is_shown(
    demo_run: Path, tmp_path: Path
) -> None:
    async with on_screen(rerun_screen(demo_run, FakeEngine(faithful(demo_run), INFO))) as (
        _,
        pilot,
    ):
        text = await press(pilot, "2", "r", "r")
        assert "was changed" not in text
        (log,) = tmp_path.rglob("reruns/*/1/log.txt")
        log.chmod(0o600)
        log.write_text("said otherwise\n")
        text = await press(pilot, "backspace", "r")
        assert "said otherwise" in text
        assert "log.txt was changed since it was stored" in text


async def test_tests_that_did_not_move_are_left_out_on_demand(demo_run: Path) -> None:
    async with on_screen(rerun_screen(demo_run, FakeEngine(faithful(demo_run), INFO))) as (
        _,
        pilot,
    ):
        assert "same as recorded" in await press(pilot, "2", "r", "r")
        assert "same as recorded" not in await press(pilot, "f")
        assert "same as recorded" in await press(pilot, "f")


@pytest.mark.parametrize("size", [(120, 35), (80, 24), (40, 12)])
async def test_it_fits_where_there_is_little_room(demo_run: Path, size: tuple[int, int]) -> None:
    async with on_screen(rerun_screen(demo_run, FakeEngine(faithful(demo_run), INFO)), size) as (
        _,
        pilot,
    ):
        text = await press(pilot, "2", "r", "r", "tab", "tab")
        assert "= reproduces the recorded" in text
        assert all(len(line) <= size[0] for line in text.splitlines())


async def test_steady_tests_are_not_called_stable(demo_run: Path) -> None:
    async with on_screen(rerun_screen(demo_run, FakeEngine(faithful(demo_run), INFO))) as (
        _,
        pilot,
    ):
        text = await press(pilot, "2", "r", "+", "r")
        assert "no test changed in 2 attempts, which does not make it stable" in text


async def test_an_unmeasured_rerun_says_why(demo_run: Path) -> None:
    def script(gate: str, label: str, tree: str) -> Play:
        del gate, label, tree
        return Play({}, exit_code=127, report=b"")

    async with on_screen(rerun_screen(demo_run, FakeEngine(script, INFO))) as (_, pilot):
        text = await press(pilot, "2", "r", "r")
        assert "? not measured: " in text
        assert "? unmeasured" in text


async def test_without_an_engine_the_key_says_what_is_missing_and_shows_the_command(
    demo_run: Path,
) -> None:
    async with on_screen(rerun_screen(demo_run, NoEngine())) as (app, pilot):
        text = await press(pilot, "2", "r")
        assert "cannot be run here: no container engine answers" in text
        assert "docker run --rm -i --network none" in " ".join(text.replace("│", " ").split())
        await press(pilot, "r")
        assert "no container engine answers" in notice(app)


async def test_stored_results_need_no_engine(demo_run: Path) -> None:
    async with on_screen(rerun_screen(demo_run, FakeEngine(faithful(demo_run), INFO))) as (
        _,
        pilot,
    ):
        await press(pilot, "2", "r", "r")
    async with on_screen(rerun_screen(demo_run, NoEngine())) as (_, pilot):
        text = await press(pilot, "2", "r")
        assert "= reproduces the recorded verdict" in text
        assert "ran gate_tests/test_search.py" in text


async def test_the_gate_pane_says_at_the_start_what_is_stored(demo_run: Path) -> None:
    async with on_screen(rerun_screen(demo_run, FakeEngine(faithful(demo_run), INFO))) as (
        _,
        pilot,
    ):
        await press(pilot, "2", "r", "r")
    async with on_screen(run_screen(demo_run)) as (app, _):
        assert "↻ rerun: = reproduces" in screen_text(app)


async def test_another_state_is_chosen_and_the_reference_only_when_revealed(
    demo_run: Path,
) -> None:
    engine = FakeEngine(faithful(demo_run), INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (app, pilot):
        text = await press(pilot, "2", "r", "[")
        assert "[S1]" in text
        assert "R2" not in text
        text = await press(pilot, "r")
        assert "no result of this gate on this state is recorded" in text
        assert engine.jobs[-1].label == "S1"
        await press(pilot, "]", "]", "]", "]", "]")
        assert "R adds those of the reference" in notice(app)
        assert "[R0]" in await press(pilot, "R", "]")


async def test_output_is_there_while_it_runs_and_escape_stops_it(demo_run: Path) -> None:
    engine = HeldEngine(b"\x1b]0;title\x07\x1b[31mfirst line\x1b[0m\nlast \xe2\x80\xaeline\n", INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (app, pilot):
        await press(pilot, "2", "r")
        await pilot.press("r")
        await printed_something(engine, pilot)
        text = screen_text(app)
        assert "first line" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "running" in text
        await pilot.press("tab", "k", "escape")
        await press(pilot)
        assert engine.was_cancelled
        assert "stopped after" in notice(app)
        assert "? not measured" in screen_text(app)


async def test_what_runs_goes_on_when_one_leaves_and_is_found_again(demo_run: Path) -> None:
    engine = HeldEngine(b"still at it\n", INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (app, pilot):
        await press(pilot, "2", "r")
        await pilot.press("r")
        await printed_something(engine, pilot)
        await pilot.press("backspace", "3", "r")
        await pilot.pause()
        assert "Gate 3" in screen_text(app)
        await pilot.press("backspace", "2", "r")
        await pilot.pause()
        await pilot.pause()
        assert "still at it" in screen_text(app)
        engine.goes_on.set()
        await press(pilot)
        assert not engine.was_cancelled


async def test_leaving_the_program_stops_what_runs(demo_run: Path) -> None:
    engine = HeldEngine(b"x\n", INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (_, pilot):
        await press(pilot, "2", "r")
        await pilot.press("r")
        await printed_something(engine, pilot)
    assert await asyncio.to_thread(engine.has_ended.wait, 30)
    assert engine.was_cancelled


async def test_a_test_of_the_rerun_opens_to_what_it_said(demo_run: Path) -> None:
    def script(gate: str, label: str, tree: str) -> Mapping[str, str]:
        del label, tree
        found = as_recorded(open_run(demo_run), gate, "S2")
        found["gate_tests/test_search.py::test_word_in_body"] = "failed"
        return found

    async with on_screen(rerun_screen(demo_run, FakeEngine(script, INFO))) as (_, pilot):
        text = await press(pilot, "2", "r", "r", "/", "=word_in_body", "enter", "enter")
        assert "gate_tests/test_search.py::test_word_in_body  rerun" in text


async def test_a_run_that_records_no_commands_says_so(scb: Callable[[str], Path]) -> None:
    async with on_screen(run_screen(scb("circuit-eval"))) as (_, pilot):
        text = await press(pilot, "r")
        assert "do not record its commands" in " ".join(text.replace("│", " ").split())
        assert "[containers]" not in text
        assert "(+ runs it more often)" not in text


HOST = EngineInfo("host", "host", "Linux", "this machine", ("time",), ("memory", "network"))


@pytest.fixture
def host(demo_run: Path, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """What runs gates where nothing but this machine may."""
    engine = FakeEngine(faithful(demo_run), HOST)

    def open_engine(asked: str) -> FakeEngine:
        assert asked == "host"
        return engine

    monkeypatch.setattr("arcview.gates.engines.open_engine", open_engine)
    return engine


async def test_on_this_machine_every_run_is_asked_for_with_its_risk(
    demo_run: Path, host: FakeEngine
) -> None:
    async with on_screen(rerun_screen(demo_run, NoEngine())) as (_, pilot):
        text = await press(pilot, "2", "r")
        assert "[containers]  this machine" in text
        assert "cannot be run here" in text
        text = await press(pilot, "e")
        assert "containers  [this machine]" in text
        assert "runs this command on this machine; asked every time" in text
        assert "a temporary copy on this machine, as you" in text
        for runs in (0, 1):
            text = await press(pilot, "r")
            assert "▲ without a container it may read and change" in text
            assert len(host.jobs) == runs
            await press(pilot, "r")
            assert len(host.jobs) == runs + 1


async def test_escape_answers_that_it_is_not_to_run_on_this_machine(
    demo_run: Path, host: FakeEngine
) -> None:
    async with on_screen(rerun_screen(demo_run, NoEngine())) as (app, pilot):
        text = await press(pilot, "2", "r", "e", "r", "escape")
        assert isinstance(app.screen, RerunScreen)
        assert "change your files" not in text
        await press(pilot, "r")
        assert host.jobs == []


async def test_this_machine_is_chosen_for_one_gate_and_not_kept(
    demo_run: Path, host: FakeEngine
) -> None:
    engine = FakeEngine(faithful(demo_run), INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (_, pilot):
        await press(pilot, "2", "r", "e", "r", "r", "backspace")
        text = await press(pilot, "3", "r")
        assert "[containers]  this machine" in text
        assert (len(host.jobs), len(engine.jobs)) == (1, 0)


async def test_a_missing_image_is_fetched_when_that_is_chosen(demo_run: Path) -> None:
    engine = LackingEngine(faithful(demo_run), INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (_, pilot):
        text = await press(pilot, "2", "r")
        assert "(p fetches it)" in " ".join(text.replace("│", " ").split())
        text = await press(pilot, "p")
        assert "never  [where it is missing]" in text
        assert "fetched first" in text
        assert not engine.has_image
        text = await press(pilot, "r")
        assert engine.has_image
        assert "= reproduces the recorded verdict" in text


async def test_another_image_is_run_in_when_that_is_chosen(demo_run: Path) -> None:
    engine = _OtherImage(faithful(demo_run), INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (_, pilot):
        text = await press(pilot, "2", "r")
        assert "(i runs in it)" in " ".join(text.replace("│", " ").split())
        text = await press(pilot, "i", "r")
        assert "as recorded  [any of its name]" in text
        assert len(engine.jobs) == 1


async def test_another_state_is_chosen_from_the_last_row(demo_run: Path) -> None:
    engine = FakeEngine(faithful(demo_run), INFO)
    async with on_screen(rerun_screen(demo_run, engine)) as (_, pilot):
        text = await press(pilot, "2", "r", "r", "G", "]")
        assert "[S2.refactor]" in text


async def test_enter_on_a_choice_takes_the_other_one(demo_run: Path, host: FakeEngine) -> None:
    async with on_screen(rerun_screen(demo_run, FakeEngine(faithful(demo_run), INFO))) as (
        _,
        pilot,
    ):
        text = await press(pilot, "2", "r", "g", "j", "j", "enter")
        assert "containers  [this machine]" in text
        assert "fetch" not in text
        text = await press(pilot, "enter", "j", "enter", "j", "enter")
        assert "as recorded  [any of its name]" in text
        assert "never  [where it is missing]" in text
    assert host.jobs == []


async def test_a_rerun_without_any_result_says_nothing_of_single_tests(demo_run: Path) -> None:
    def script(gate: str, label: str, tree: str) -> Play:
        del gate, label, tree
        return Play({}, exit_code=4, report=b"")

    async with on_screen(rerun_screen(demo_run, FakeEngine(script, INFO))) as (_, pilot):
        text = await press(pilot, "2", "r", "r")
        assert "no test has a result: nothing to compare" in text
        assert "missing now" not in text
        text = await press(pilot, "backspace")
        assert "↻ rerun: ? not measured" in text
        assert "0/11" not in text
        assert "rerun ∅" not in text


async def test_the_choices_are_in_sight_after_one_of_them_was_changed(
    demo_run: Path, host: FakeEngine
) -> None:
    engine = FakeEngine(faithful(demo_run), INFO)
    async with on_screen(rerun_screen(demo_run, engine), (80, 24)) as (_, pilot):
        text = await press(pilot, "2", "r", "G", "e")
        assert "[S2]" in text
        assert "containers  [this machine]" in text
    assert host.jobs == []


class _OtherImage(FakeEngine):
    def image(
        self, ref: str | None, digest: str | None, *, allow_other: bool, on_pull: OnPull | None
    ) -> Image:
        if not allow_other:
            raise ImageRefusedError(f"{ref}: another image (--allow-other-image runs in it)")
        return super().image(ref, digest, allow_other=allow_other, on_pull=on_pull)


class _Flood(FakeEngine):
    def image(
        self, ref: str | None, digest: str | None, *, allow_other: bool, on_pull: OnPull | None
    ) -> Image:
        return Image("flood", "sha256:" + "2" * 64, "sha256:" + "2" * 64)


async def test_a_flood_of_output_shows_its_end_and_says_how_much(demo_run: Path) -> None:
    def script(gate: str, label: str, tree: str) -> Play:
        del gate, label, tree
        return Play({}, output=b"0123456789" * 100_000 + b"\nthe end\n", exit_code=1, report=b"")

    async with on_screen(rerun_screen(demo_run, _Flood(script, INFO))) as (_, pilot):
        text = await press(pilot, "2", "r", "r")
        assert "the end" in text
        assert "1.0 MB" in text
