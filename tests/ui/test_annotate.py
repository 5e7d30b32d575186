"""Labelling by keys alone, on the sample run: noting, labelling, suggestions, evidence, undo."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Input

from arcview.annotations.log_file import StoreError
from arcview.annotations.store import AnnotationStore
from arcview.config import LabelFlags, load_settings
from arcview.model.annotation import CaseStatus, Reading
from arcview.ui.application import ArcviewApp
from arcview.ui.screens.annotate_case import CaseScreen
from arcview.ui.screens.annotate_labels import NameScreen
from arcview.ui.screens.matrix import MatrixScreen
from arcview.ui.screens.run import RunScreen
from arcview.ui.widgets.hint_bar import HintBar
from tests.annotations.test_scheme import SMALL
from tests.ui.screen_text import notice, on_screen, press, run_screen, screen_text


@pytest.fixture
def ann(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCVIEW_ANNOTATOR", "ann")


def reading(screen: RunScreen) -> Reading:
    own = screen.annotating().session.reading
    assert own is not None
    return own


async def test_who_labels_is_asked_once_and_kept(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "a")
        assert isinstance(app.screen, NameScreen)
        assert "your name" in screen_text(app)
        assert notice(app).split() == ["enter", "keep", "it", "escape", "label", "nothing"]
        text = await press(pilot, "=not a name", "enter")
        assert "up to 40 letters" in text
        await press(pilot, *["backspace"] * 10, "=ann", "enter")
        assert isinstance(app.screen, CaseScreen)
        assert reading(screen).annotator == "ann"
    assert load_settings().annotator == "ann"


@pytest.mark.usefixtures("ann")
async def test_flags_come_before_environment_and_settings(demo_run: Path, tmp_path: Path) -> None:
    scheme = tmp_path / "ours.toml"
    scheme.write_text(SMALL, encoding="utf-8")
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        app.label_flags = LabelFlags("eve", tmp_path / "side", scheme, blind=True)
        await press(pilot, "a")
        session = screen.annotating().session
        assert (session.annotator, session.blind, session.scheme.name) == ("eve", True, "ours")
    assert list((tmp_path / "side").glob("*/annotations/eve*.jsonl"))


@pytest.mark.usefixtures("ann")
async def test_a_test_begins_a_case_and_two_keys_set_each_label(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        text = await press(pilot, "a")
        assert isinstance(app.screen, CaseScreen)
        assert "Case gate:2  draft · ann" in text
        await press(pilot, "v", "0", "d", "2", "m", "0", "escape", "f", "3")
        own = reading(screen)
        assert (own.validity, own.origins[0].defect, own.confidence) == ("V0", "D2", 3)
        assert own.effects[0].mechanisms == ("M0",)
        assert own.effects[0].tests == ("gate_tests/test_search.py::test_phrase_in_quotes",)
        text = await press(pilot, "s")
        assert "final · ann" in text
        assert reading(screen).status is CaseStatus.FINAL
        await press(pilot, "escape")
        assert len(app.screen_stack) == 1
        assert "✗ ◆ test_phrase_in_quotes" in screen_text(app)


@pytest.mark.usefixtures("ann")
async def test_code_a_step_and_the_specification_extend_the_case(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "a", "escape", "shift+tab", "J", "a")
        origin = reading(screen).origins[0]
        assert (origin.stage, origin.path, origin.lines) == (2, "notes/cli.py", (7, 7))
        await press(pilot, "escape", "shift+tab", "J", "J", "a")
        origin = reading(screen).origins[0]
        assert (origin.step, origin.step_number) == ("call_2_02", 2)
        text = await press(pilot, "escape", "s", "j", "a", "escape", "escape")
        assert len(reading(screen).evidence) == 4
        text = await press(pilot, "A")
        assert "Cases of notes-cli  1 case" in text
        assert "stage 2 #2 notes/cli.py:7" in text


@pytest.mark.usefixtures("ann")
async def test_a_range_of_lines_has_two_ends(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "shift+tab", "J", "V")
        assert "the range begins here" in notice(app)
        await press(pilot, "j", "j", "j", "j", "a")
        assert reading(screen).origins[0].lines == (7, 11)


@pytest.mark.usefixtures("ann")
async def test_a_line_inside_a_step_is_a_span_of_characters(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "shift+tab", "shift+tab", "J", "J", "enter", "j", "j", "j", "a")
        (evidence,) = reading(screen).evidence
        found = screen.annotating().session.targets.find(evidence.pointer.address)
        assert "#c" in evidence.pointer.address
        assert found is not None
        assert found.quote
        assert found.quote in screen.long.steps.rows.text(screen.long.steps.cursor)  # type: ignore[union-attr]


@pytest.mark.usefixtures("ann")
async def test_what_a_failure_leads_to_is_noted_from_its_own_screen(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "enter", "a")
        origin = reading(screen).origins[0]
        assert (origin.stage, origin.path) == (2, "notes/cli.py")


@pytest.mark.usefixtures("ann")
async def test_what_was_noted_becomes_something_else_on_a_key(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "shift+tab", "shift+tab", "J", "J", "a")
        assert reading(screen).origins[0].step == "call_2_02"
        await press(pilot, "r", "r")
        own = reading(screen)
        assert own.origins == ()
        assert [(one.stage, one.step) for one in own.awareness] == [(2, "call_2_02")]
        await press(pilot, "r")
        own = reading(screen)
        assert (own.origins, own.awareness, len(own.evidence)) == ((), (), 1)


@pytest.mark.usefixtures("ann")
async def test_undo_and_redo_take_every_key_back_and_again(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "a", "v", "1")
        await press(pilot, "u")
        assert reading(screen).validity is None
        await press(pilot, "U")
        assert reading(screen).validity == "V1"
        await press(pilot, "u", "u")
        assert screen.annotating().session.reading is None
        text = await press(pilot, "u")
        assert "nothing to undo" in notice(app)
        assert "not begun" in text


@pytest.mark.usefixtures("ann")
async def test_suggestions_say_why_and_one_key_takes_one_over(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        text = await press(pilot, "a")
        assert "Suggestions of rules, not labels" in text
        assert "◇ suggested: stage 2 #3 wrote the change" in text
        form = app.screen.form  # type: ignore[attr-defined]
        form.move_to(form.source.row_of(("part", "Origin")))
        await press(pilot, "a")
        own = reading(screen)
        assert (own.origins[0].stage, own.origins[0].step_number) == (2, 3)
        assert "origin" in {by.rule for by in own.suggested.values()}


@pytest.mark.usefixtures("ann")
async def test_evidence_leads_back_to_its_place_and_can_be_taken_away(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        text = await press(pilot, "shift+tab", "J", "a", "end")
        assert "✓ ok" in text
        form = app.screen.form  # type: ignore[attr-defined]
        row = next(n for n in range(len(form.source)) if form.source.at(n).evidence is not None)
        form.move_to(row)
        await press(pilot, "w", "=the import", "enter")
        assert reading(screen).evidence[0].note == "the import"
        await press(pilot, "enter")
        assert app.screen is screen
        position = screen.long.diff.position  # type: ignore[union-attr]
        assert position is not None
        assert position.new_line == 7
        await press(pilot, "a")
        app.screen.form.move_to(row)  # type: ignore[attr-defined]
        await press(pilot, "x")
        assert reading(screen).evidence == ()


@pytest.mark.usefixtures("ann")
@pytest.mark.parametrize("size", [(160, 50), (80, 24), (40, 12)])
async def test_the_form_fits_every_terminal(demo_run: Path, size: tuple[int, int]) -> None:
    async with on_screen(run_screen(demo_run), size) as (app, pilot):
        text = await press(pilot, "a")
        assert "Validity" in text
        text = await press(pilot, "d")
        assert "D0" in text or "What is wrong in the code" in text
        assert isinstance(app, ArcviewApp)


@pytest.mark.usefixtures("ann")
async def test_all_tests_of_one_cause_are_noted_at_once(scb: Callable[[str], Path]) -> None:
    screen = run_screen(scb("code-search-refactor-pass"))
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "k", "a")
        assert "17×" in screen.content.gate.cursor_text
        (effect,) = reading(screen).effects
        assert len(effect.tests) == 17
        await press(pilot, "m")
        assert "Mechanism on gate 3" in screen_text(app)


@pytest.mark.usefixtures("ann")
async def test_a_replay_shows_nothing_that_can_be_noted(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "p", "shift+tab", "shift+tab", "shift+tab", "J", "a")
        assert app.screen.__class__ is RunScreen


@pytest.mark.usefixtures("ann")
async def test_help_and_palette_know_the_keys_of_the_form(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        text = await press(pilot, "a", "question_mark")
        assert "Take a suggestion over" in text
        await press(pilot, "escape")
        assert isinstance(app.screen, CaseScreen)
        await press(pilot, "colon", "=Retract", "enter")
        assert isinstance(app.screen, CaseScreen)
        assert "retracted" in screen_text(app)


@pytest.mark.usefixtures("ann")
async def test_a_key_that_is_no_label_changes_nothing_and_is_said(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "a", "v", "s")
        assert notice(app).startswith(" Validity has no label with the key s")
        assert reading(screen).validity is None


@pytest.mark.usefixtures("ann")
async def test_a_suggestion_that_was_taken_over_is_marked(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        text = await press(pilot, "a")
        assert "◇ stage 2 #3 wrote the change  rule origin 1, a guess" in text
        rows = [line for line in text.splitlines() if "Origin" in line]
        assert rows
        text = await press(pilot, "home", "j", "a")
        assert "✓ stage 2 #3 wrote the change  taken over" in text
        text = await press(pilot, "u")
        assert "✓ stage 2" not in text


@pytest.mark.usefixtures("ann")
async def test_a_code_that_is_a_word_is_shown_by_its_name_alone(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        text = await press(pilot, "a", "o", "p")
        assert "persists_to_chain" not in text
        assert "persists to the chain gate" in text


@pytest.mark.usefixtures("ann")
async def test_the_line_of_keys_follows_an_open_field(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "a", "v")
        app.screen.query_one(HintBar).notice("")
        assert notice(app).startswith(" 0 … 7 set a label  enter the one under the cursor")
        await press(pilot, "escape")
        assert "set a label" not in notice(app)


@pytest.mark.usefixtures("ann")
async def test_a_note_that_cannot_be_saved_stays_to_be_sent_again(
    demo_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "a")
        with monkeypatch.context() as patched:

            def full(descriptor: int) -> None:
                raise OSError(28, "No space left on device")

            patched.setattr(os, "fsync", full)
            text = await press(pilot, "w", "=why", "enter")
            assert "▲ not saved: No space left on device" in text
            assert isinstance(app.screen.focused, Input)
        text = await press(pilot, "enter")
        assert reading(screen).note == "why"
        assert "not saved" not in text


@pytest.mark.usefixtures("ann")
async def test_a_form_leaves_no_stale_notice_behind(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "a", "escape")
        assert "noting" not in notice(app)


def held(screen: RunScreen) -> int:
    """The file of the labels, locked as another program would."""
    path = next(screen.annotating().session.store.folder.glob("ann@*.jsonl"))
    descriptor = os.open(path, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def saved(screen: RunScreen) -> Reading:
    """One's reading as the disk has it."""
    store = screen.annotating().session.store
    case = AnnotationStore(store.folder, store.run_id, None).cases[0]
    own = case.reading("ann")
    assert own is not None
    return own


@pytest.mark.usefixtures("ann")
async def test_keys_go_on_while_another_program_holds_the_file(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "a")
        descriptor = held(screen)
        await pilot.press("v", "0")
        assert reading(screen).validity == "V0"
        assert "not saved yet: another program holds the file" in notice(app)
        await pilot.press("d", "2")
        assert reading(screen).origins[0].defect == "D2"
        assert "▲ 2 changes not saved yet" in screen_text(app)
        assert saved(screen).validity is None
        os.close(descriptor)
        text = await press(pilot)
        assert "not saved" not in text
        assert notice(app).strip().startswith("saved")
        assert (saved(screen).validity, saved(screen).origins[0].defect) == ("V0", "D2")


@pytest.mark.usefixtures("ann")
async def test_nobody_leaves_labels_behind_unawares(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "a")
        descriptor = held(screen)
        await pilot.press("v", "0", "escape", "q")
        assert "1 label not saved yet: another program holds the file; q again leaves" in notice(
            app
        )
        assert app.is_running
        os.close(descriptor)
        await press(pilot, "q")
    assert saved(screen).validity == "V0"


@pytest.mark.usefixtures("ann")
async def test_why_a_pending_label_cannot_be_saved_is_said(
    demo_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (_, pilot):
        await press(pilot, "a")
        store = screen.annotating().session.store
        flush, failures = store.flush, iter([StoreError("not saved: the disk is full")])

        def failing() -> None:
            for error in failures:
                raise error
            flush()

        monkeypatch.setattr(store, "flush", failing)
        monkeypatch.setattr("arcview.ui.screens.annotate_saving.PATIENCE_S", 0.0)
        said: list[str] = []
        monkeypatch.setattr(screen.annotating(), "notice", said.append)
        descriptor = held(screen)
        await pilot.press("v", "0")
        os.close(descriptor)
        await press(pilot)
        assert "not saved: the disk is full; it is tried again" in said
        assert said[-1] == "saved"
        assert saved(screen).validity == "V0"


@pytest.mark.usefixtures("ann")
async def test_evidence_in_a_cell_of_the_matrix_opens_the_matrix(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "a")
        screen.annotating().go_to("cell:3@S1")
        await press(pilot)
        assert isinstance(app.screen, MatrixScreen)
        assert screen.session.stop.gate == "3"


@pytest.mark.usefixtures("ann")
@pytest.mark.parametrize("width", [120, 160, 200])
async def test_the_run_is_laid_out_in_what_the_form_leaves(demo_run: Path, width: int) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen, (width, 40)) as (app, pilot):
        text = await press(pilot, "a")
        assert isinstance(app.screen, CaseScreen)
        left = app.screen.form.region.x
        panes = [pane for pane in screen.query(".pane") if pane.display and pane.region.width]
        assert max(pane.region.right for pane in panes) <= left
        assert screen.content.gate in panes
        assert len(panes) == (4 if left >= 120 else 2)  # one of them is a tab
        gate = next(line for line in text.splitlines() if "Gate 2  ✗" in line)
        assert "Case gate:2" in text
        assert gate[:left].rstrip()[-1] in "┓╮"
        await press(pilot, "escape")
        assert max(pane.region.right for pane in panes) == width


@pytest.mark.usefixtures("ann")
async def test_a_terminal_of_another_size_lays_run_and_form_out_again(demo_run: Path) -> None:
    screen = run_screen(demo_run)
    async with on_screen(screen, (160, 40)) as (app, pilot):
        await press(pilot, "a")
        await pilot.resize_terminal(100, 30)
        await press(pilot)
        assert isinstance(app.screen, CaseScreen)
        assert app.screen.form.region.width == 100
        await press(pilot, "escape")
        assert screen.content.gate.region.right == 100
