"""What the first frame of the run screen needs: the gate and the self-tests in their panes.

Imports neither diff nor trajectory: those panes follow (`run_long`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcview.analysis.self_tests import SelfTest
from arcview.model.patch import FileChange
from arcview.session.opened import OpenRun
from arcview.session.run_session import RunSession
from arcview.session.run_session_stops import Stop
from arcview.ui import theme
from arcview.ui.rows.gate import GateRows
from arcview.ui.rows.notes import NoteRows
from arcview.ui.rows.self_tests import SelfTestRows
from arcview.ui.safe import plain
from arcview.ui.screens import run_titles
from arcview.ui.screens.run_loader import RunLoader, between
from arcview.ui.screens.run_messages import (
    DepthLoaded,
    GateLoaded,
    SelfTestsLoaded,
)
from arcview.ui.screens.run_titles import set_remark, set_title
from arcview.ui.widgets.panes import GatePane, SelfTestPane
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.ui.rows.rerun_note import RerunNote

_NO_TRAJECTORY = "No trajectory is recorded: what the agent tested is unknown."


class RunContent:
    """The short panes of one run screen and what they show."""

    def __init__(self, loader: RunLoader, opened: OpenRun, session: RunSession) -> None:
        self._loader = loader
        self._opened = opened
        self._session = session
        self.gate = GatePane(id="gate", classes="pane")
        self.self_tests = SelfTestPane(id="self-tests", classes="pane")
        self.tests: tuple[SelfTest, ...] = ()
        """What the agent tested at the stop, as far as it is known."""
        self._files: tuple[FileChange, ...] | None = None
        self._with_details = False
        self._in_cases: frozenset[str] = frozenset()

    def show(self) -> None:
        """Shows the gate of the stop at once, and the self-tests where the cache has them."""
        stop = self._session.stop
        self.put_gate(self._loader.gate_now(stop))
        self.tests, self._files = (), None
        if self._loader.knows_self_tests(stop):
            self.put_self_tests(self._loader.self_tests_now(stop))
        else:
            say(self.self_tests, "… reading the trajectory")
            set_title(self.self_tests, run_titles.self_tests_title(None, known=False))

    def show_beginning(self, place: RowView) -> None:
        """Shows the first steps of what takes long to read where the steps will stand."""
        stop = self._session.stop
        found = self._opened.kept_beginning(stop.stage, between(stop))
        if found is not None:
            from arcview.ui.rows.steps import StepRows  # 10 ms that only something long pays

            rows = StepRows(found)
            place.set_source(rows, cursor=rows.first_row)
            at = rows.step_index(rows.first_row)
            set_title(place, run_titles.steps_title(stop, at, found.heads, goes_on=True))

    def put_gate(self, loaded: GateLoaded) -> None:
        """Shows a gate."""
        set_title(self.gate, run_titles.gate_title(loaded.place, loaded.value))
        if loaded.value is None:
            say(self.gate, loaded.error or "nothing recorded")
            return
        rows = GateRows(
            loaded.value,
            failing_only=self._session.failing_only,
            with_details=self._with_details,
        )
        rows.in_cases = self._in_cases
        self.gate.set_source(rows, cursor=rows.first_failing())

    def mark_tests(self, ids: frozenset[str]) -> None:
        """Marks the tests of the gate that belong to cases."""
        self._in_cases = ids
        source = self.gate.source
        if isinstance(source, GateRows) and source.in_cases != ids:
            source.in_cases = ids
            self.gate.redraw_rows()

    def put_rerun(self, place: Stop, note: RerunNote) -> None:
        """Shows what the gate said when it was run again."""
        source = self.gate.source
        if place == self._session.stop and isinstance(source, GateRows):
            with self.gate.keeping_place():
                source.set_rerun(note)

    def show_details(self) -> None:
        """Adds what each failing test says below its name; 10 ms that can wait for a frame."""
        self._with_details = True
        source = self.gate.source
        if isinstance(source, GateRows):
            with self.gate.keeping_place():
                source.show_details()

    def put_self_tests(self, loaded: SelfTestsLoaded) -> None:
        """Shows what the agent tested."""
        if loaded.place != self._session.stop:
            return
        self.tests = loaded.value or ()
        set_title(self.self_tests, run_titles.self_tests_title(loaded.value, known=True))
        if loaded.error is not None:
            say(self.self_tests, loaded.error)
            return
        nothing = "The agent ran no test here." if loaded.value is not None else _NO_TRAJECTORY
        self.self_tests.set_source(SelfTestRows(self.tests, self._files, nothing=nothing))

    def put_test_files(self, files: tuple[FileChange, ...]) -> None:
        """Shows which test files changed, once the states are compared."""
        self._files = files
        source = self.self_tests.source
        if isinstance(source, SelfTestRows):
            with self.self_tests.keeping_place():
                source.set_files(files)

    def put_depth(self, loaded: DepthLoaded) -> None:
        """Shows what the agent's tests were worth."""
        tests, gate = self.self_tests.source, self.gate.source
        if (
            loaded.place != self._session.stop
            or loaded.value is None
            or not isinstance(tests, SelfTestRows)
        ):
            return
        failing = gate.failing if isinstance(gate, GateRows) else ()
        with self.self_tests.keeping_place():
            tests.set_depth(loaded.value, failing)

    def filter_gate(self) -> None:
        """Follows the failing-only switch."""
        source = self.gate.source
        only = self._session.failing_only
        if isinstance(source, GateRows):
            with self.gate.keeping_place():
                source.show_failing_only(only)
        set_remark(self.gate, plain("failing only" if only else "", theme.MUTED))

    def go_to_test(self, test_id: str) -> bool:
        """Moves the gate's cursor to a test; false where it has none such."""
        source = self.gate.source
        if not isinstance(source, GateRows):
            return False
        with self.gate.keeping_place():
            row = source.row_of_test(test_id)
        if row is not None:
            self.gate.move_to(row, "top")
        return row is not None

    def go_to_self_test(self, step_key: str) -> bool:
        """Moves the self-tests' cursor to the first run in a step; false where there is none."""
        source = self.self_tests.source
        row = source.row_of_step(step_key) if isinstance(source, SelfTestRows) else None
        if row is not None:
            self.self_tests.move_to(row, "top")
        return row is not None


def say(pane: RowView, text: str) -> None:
    """One line in the place of the rows."""
    pane.set_source(NoteRows(text))
