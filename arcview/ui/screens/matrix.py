"""The matrix: every gate on every state, the tests of one gate over the states, what is missing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.timer import Timer
from textual.types import CSSPathType

from arcview.analysis.matrix_plan import MatrixPlan
from arcview.errors import ArcviewError
from arcview.model.states import StateKind
from arcview.session.commands import Context
from arcview.session.matrix import MatrixView
from arcview.session.matrix_session import MatrixSession
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunPlan, Target
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.figures import duration, plural
from arcview.ui.rows.matrix import MatrixRows, MatrixTestRows
from arcview.ui.rows.matrix_cells import legend
from arcview.ui.rows.matrix_plan import plan_sections
from arcview.ui.rows.rerun_output import progress_bar
from arcview.ui.rows.sections import SectionRows
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.matrix_job import MatrixJob
from arcview.ui.screens.run_content import say
from arcview.ui.screens.run_titles import set_remark, set_title
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.matrix_grid import MatrixGrid
from arcview.ui.widgets.panes import ListPane
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.ui.screens.matrix_sitting import MatrixSitting

_TICK_S = 0.5


class MatrixScreen(BaseScreen):
    """Gates by states; the tests below follow the cursor."""

    CSS_PATH: ClassVar[CSSPathType | None] = "matrix.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.MATRIX)

    def __init__(self, sitting: MatrixSitting, session: MatrixSession) -> None:
        """Makes the screen.

        Args:
            sitting: The reruns of the run.
            session: The cell to begin at.
        """
        super().__init__()
        self._sitting = sitting
        self._session = session
        self._rows = MatrixRows(session, sitting.stage_titles())
        self._tests = MatrixTestRows(session)
        self._plan: tuple[MatrixPlan, RerunPlan | None] | None = None
        self._seen_done = 0
        self._is_reading = self._is_stale = False
        self._clock: Timer | None = None
        self.grid = MatrixGrid(id="cells")
        self.tests = ListPane(id="tests")

    def compose(self) -> ComposeResult:
        """The cells above, the tests below."""
        yield self.grid
        yield self.tests
        yield HintBar()

    def on_mount(self) -> None:
        """Reads what is known."""
        self._clock = self.set_interval(_TICK_S, self._tick, pause=True)
        self._sitting.moved = self._moved
        set_title(self.grid, pieces(("Gates by states", "bold")))
        say(self.grid, "… putting recorded results and reruns together")
        self.grid.focus()
        self.show_hints()
        self._read()
        job = self._sitting.job
        if job is not None and job.is_running:
            self._moved(job)

    def on_unmount(self) -> None:
        """What runs goes on without being looked at."""
        if self._sitting.moved == self._moved:
            self._sitting.moved = None

    def on_screen_resume(self) -> None:
        """A cell may have been run meanwhile."""
        if self._session.view is not None:
            self._read()

    @property
    def context(self) -> Context:
        """The matrix."""
        return Context.MATRIX

    # What is known

    def _read(self) -> None:
        """Reads the matrix again; while it is being read, once more afterwards."""
        if self._is_reading:
            self._is_stale = True
            return
        self._is_reading, self._is_stale = True, False

        def get(reruns: Reruns) -> Callable[[], None]:
            del reruns
            try:
                return partial(self._put, self._sitting.matrix().view())
            except ArcviewError as error:
                return partial(self._put, None, str(error))

        self._sitting.base.read(get, "reading the matrix", exclusive=False)

    def _put(self, view: MatrixView | None, error: str = "") -> None:
        self._is_reading = False
        if not self.is_attached:
            return
        if self._is_stale:
            self._read()
        if view is None:
            self.notice(error)
            return
        is_first, wanted = self._session.view is None, self._session.state
        self._session.take(view)
        if is_first and wanted is None:
            self._session.state = own_state(self._session) or self._session.state
        elif is_first and wanted != self._session.state:
            self.notice(f"this run has no state {wanted}")
        if is_first:
            self.grid.set_source(self._rows, cursor=self._rows.row_of(self._session.gate))
            self.tests.set_source(self._tests)
        self._redraw()

    def _redraw(self) -> None:
        """Draws both panes again; the tests follow the cell."""
        if self._session.view is None:
            return
        # The grid takes the lines that it has rows; the tests have the rest.
        self.grid.styles.max_height = len(self._rows) + 2
        self.grid.redraw_rows()
        if self._plan is None:
            if self.tests.source is not self._tests:
                self.tests.set_source(self._tests)
            with self.tests.keeping_place():
                self._tests.refresh()
        self._titles()

    def _titles(self) -> None:
        session, view = self._session, self._session.view
        if view is None:
            return
        cells = (view.table.cell(g.gate, s.id) for g in view.table.gates for s in session.states)
        set_remark(self.grid, pieces((legend(cells, self.app.size.width - 6), theme.MUTED)))
        self._tick()
        cell = session.cell
        if self._plan is not None or cell is None:
            set_title(self.tests, pieces(("What is missing", "bold")))
            set_remark(self.tests, Content(""))
            return
        name = "Chain gate" if cell.gate == "chain" else f"Gate {cell.gate}"
        said = f"  {cell.verdict.value}" if cell.verdict is not None else "  not known"
        title = pieces((f"{name} on {one_line(cell.state)}", "bold"), (said, theme.MUTED))
        set_title(self.tests, title)
        remark = "telling tests only" if session.telling_only else ""
        host = f"{plural(view.host, 'result')} without a container left out" if view.host else ""
        set_remark(self.tests, pieces((" · ".join(filter(None, (remark, host))), theme.MUTED)))

    def _tick(self) -> None:
        """What stands above the cells: how far measuring is."""
        parts: list[tuple[str, str]] = [("Gates by states", "bold")]
        job = self._sitting.job
        if job is not None and job.is_running:
            total = len(job.plan.cells)
            parts.append((f"  {job.done}/{total} · {job.said}  ", theme.WARN))
            parts.append((duration(job.elapsed_s(monotonic())), theme.WARN))
            expected = job.plan.estimate(job.jobs)
            if expected:
                parts.append((f" of about {duration(expected)}", theme.MUTED))
            parts += [("  ", ""), *progress_bar(job.done / max(1, total))]
        set_title(self.grid, pieces(*parts))

    # The cursor

    @on(RowView.CursorMoved, "#cells")
    def _row_moved(self, message: RowView.CursorMoved) -> None:
        gate = self._rows.gate_at(message.index)
        if self.grid.source is self._rows and gate != self._session.gate:
            self._session.gate = gate
            self._redraw()
            self.tests.move_to(0)

    @on(MatrixGrid.ColumnWanted)
    def _column_wanted(self, message: MatrixGrid.ColumnWanted) -> None:
        self._session.step_column(message.by)
        self._redraw()

    @on(RowView.Picked, "#cells")
    def _cell_picked(self, message: RowView.Picked) -> None:
        """Opens the cell: the cursor goes to its tests."""
        message.stop()
        if self._plan is not None:
            self._drop_plan()
        self.tests.focus()
        self.tests.move_to(self._tests.first_test)

    @on(RowView.Picked, "#tests")
    def _test_picked(self, message: RowView.Picked) -> None:
        message.stop()
        cell = self._session.cell
        test = self._tests.test_at(message.index) if self._plan is None else None
        if cell is not None and test is not None:
            self._sitting.open_test(cell, test)

    # Measuring

    def action_run_missing(self) -> None:
        """Says what is missing; once more measures it."""
        job = self._sitting.job
        if job is not None and job.is_running:
            self.notice("what is missing is being measured; escape stops it")
        elif self._plan is None:
            self.notice("… looking what is missing")
            self._sitting.base.read(self._planning, "planning")
        else:
            self._begin(*self._plan)

    def _planning(self, reruns: Reruns) -> Callable[[], None]:
        plan = self._sitting.matrix().plan()
        first = plan.cells[0] if plan.cells else None
        asked = reruns.plan(first.gate, Target(first.state, first.tree)) if first else None
        return partial(self._put_plan, plan, asked)

    def _put_plan(self, plan: MatrixPlan, first: RerunPlan | None) -> None:
        self.notice("")
        self._plan = plan, first
        self._show_plan()

    def _show_plan(self) -> None:
        if self._plan is None:
            return
        plan, first = self._plan
        asks = not self._sitting.base.is_asked
        sections = plan_sections(plan, self._session.jobs, first, asks=asks)
        self.tests.set_source(SectionRows(sections))
        self._titles()

    def _drop_plan(self) -> None:
        self._plan = None
        self._redraw()

    def _begin(self, plan: MatrixPlan, first: RerunPlan | None) -> None:
        if first is None:
            self.notice("nothing is missing that could be measured")
        elif first.unavailable is not None:
            self.notice(first.unavailable)
        else:
            self._sitting.base.confirm()
            self._seen_done = 0
            self._plan = None
            self._sitting.begin(plan, self._session.jobs)
            self._redraw()

    def _moved(self, job: MatrixJob) -> None:
        """A cell began or is settled."""
        self._rows.running, self._rows.queued = job.running, job.queued
        if self._clock is not None:
            (self._clock.resume if job.is_running else self._clock.pause)()
        if job.done != self._seen_done or not job.is_running:
            self._seen_done = job.done
            self._read()
        self._redraw()
        if not job.is_running:
            self.notice(_ended(job))

    # Keys

    def action_rerun_cell(self) -> None:
        """The gate of the row on the state of the column."""
        cell = self._session.cell
        if cell is not None:
            self._sitting.base.open(cell.gate, cell.state)

    def action_what_if(self) -> None:
        """Whether the failure of the gate is inherited or local."""
        if self._session.gate is not None:
            self._sitting.base.open_what_if(self._session.gate)

    def action_reveal_reference(self) -> None:
        """The reference's columns, and away again."""
        self.notice(self._session.toggle_reference())
        self._redraw()

    def action_more_jobs(self) -> None:
        """One more at once."""
        self._change_jobs(1)

    def action_fewer_jobs(self) -> None:
        """One less at once."""
        self._change_jobs(-1)

    def _change_jobs(self, by: int) -> None:
        self._session.change_jobs(by)
        if self._plan is not None:
            self._show_plan()
        else:
            self.notice(f"{self._session.jobs} at once when x runs what is missing")

    def action_telling_only(self) -> None:
        """Without tests that do what they should, and back."""
        self._session.telling_only = not self._session.telling_only
        self._redraw()

    def action_next_pane(self) -> None:
        """Cells and tests by turns."""
        (self.grid if self.focused is self.tests else self.tests).focus()

    def action_stop_or_close(self) -> None:
        """Stops what runs, leaves the plan; else back."""
        job = self._sitting.job
        if job is not None and job.is_running:
            job.stop()
            self._tick()
        elif self._plan is not None:
            self._drop_plan()
        else:
            self.action_close()

    def action_close(self) -> None:
        """Back; what runs goes on."""
        self.dismiss()


def own_state(session: MatrixSession) -> str | None:
    """The state that the stage of the gate under the cursor ended in."""
    gate = session.row
    ends = (state for state in session.states if state.kind is StateKind.STAGE_END)
    return next((end.id for end in ends if gate is not None and end.stage == gate.stage), None)


def _ended(job: MatrixJob) -> str:
    if job.error is not None:
        return job.error
    outcome = job.outcome
    if outcome is None:
        return "it ended on a fault of arcview"
    said = f"{outcome.done} of {plural(outcome.total, 'cell')} measured"
    if outcome.unmeasured:
        said += f", {outcome.unmeasured} of them unmeasured"
    if outcome.failed_controls:
        said += f"; the control fails for {', '.join(f'gate {g}' for g in outcome.failed_controls)}"
    return f"stopped: {said}; x goes on" if outcome.is_cancelled else said
