"""Two runs of one task beside each other: verdicts, tests, code against code, steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import DescendantFocus, Resize
from textual.message import Message
from textual.types import CSSPathType
from textual.worker import get_current_worker

from arcview.errors import ArcviewError, CancelledError
from arcview.model.patch import FileChange
from arcview.model.trajectory import Trajectory
from arcview.session.commands import Context
from arcview.session.compare import RunComparison, compare_runs
from arcview.session.compare_states import StatesBeside
from arcview.session.compare_steps import Side, StepPairs
from arcview.session.opened import OpenRun
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.compare import ComparedRow, CompareRows, DifferenceRows
from arcview.ui.rows.figures import plural
from arcview.ui.safe import PlainStatic, one_line, pieces
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_content import say
from arcview.ui.screens.run_titles import set_remark, set_title
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.long_panes import DiffPane, StepsPane
from arcview.ui.widgets.panes import ListPane
from arcview.ui.widgets.row_view import RowView
from arcview.ui.widgets.tabs import TabLine

T = TypeVar("T")
_TABS = ("Tests", "Code", "Steps of A", "Steps of B")
_PATIENCE_S = 0.3
"""How long panes may show the stage before while another one is loaded."""
_ROOM_ACROSS, _ROOM_DOWN = 110, 32
"""Columns and lines from which on everything is on the screen at once."""


class Compared(Message):
    """The comparison as a whole, or why there is none."""

    def __init__(self, found: RunComparison | None, error: str | None) -> None:
        super().__init__()
        self.found = found
        self.error = error


class SidesLoaded(Message):
    """Code against code and the steps of one stage."""

    def __init__(
        self,
        stage: int | None,
        beside: StatesBeside | None,
        changes: tuple[FileChange, ...],
        error: str | None,
        steps: tuple[Trajectory | None, Trajectory | None],
    ) -> None:
        super().__init__()
        self.pairs = StepPairs(*steps)
        self.stage = stage
        self.beside = beside
        self.changes = changes
        self.error = error
        self.steps = steps


class CompareScreen(BaseScreen):
    """Run A beside run B; the cursor of the table chooses the stage."""

    CSS_PATH: ClassVar[CSSPathType | None] = "compare.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.COMPARE)

    def __init__(
        self, a: Callable[[], OpenRun], b: Callable[[], OpenRun], *, returns: bool = True
    ) -> None:
        """Makes the screen.

        Args:
            a: Opens the first run; called in a thread.
            b: Opens the second run.
            returns: There is a screen below to go back to.
        """
        super().__init__()
        self._open = (a, b)
        self._runs: tuple[OpenRun, OpenRun] | None = None
        self._returns = returns
        self._rows: CompareRows | None = None
        self._shown: ComparedRow | None = None
        self._loaded: ComparedRow | None = None
        """The one whose code and steps are on the screen."""
        self._pairs = StepPairs(None, None)
        self._split = False
        self.table = ListPane(id="compared")
        self.tests = ListPane(id="compare-tests", classes="pane")
        self.diff = DiffPane(id="compare-diff", classes="pane", mode="unified")
        self.steps = (
            StepsPane(id="steps-a", classes="pane"),
            StepsPane(id="steps-b", classes="pane"),
        )
        for pane in self.steps:
            pane.takes_all = True
        self._panes: tuple[RowView, ...] = (self.table, self.tests, self.diff, *self.steps)

    def compose(self) -> ComposeResult:
        """The table, tests and code, the steps of both."""
        yield PlainStatic(id="who")
        yield self.table
        yield TabLine(_TABS)
        with Container(id="middle"):
            yield self.tests
            yield self.diff
        with Container(id="below"):
            yield from self.steps
        yield HintBar()

    def on_mount(self) -> None:
        """Begins to compare."""
        set_title(self.table, pieces(("Compare", "bold")))
        say(self.table, "… comparing two runs")
        for pane, name in ((self.tests, "Tests"), (self.diff, "Code of A against B")):
            set_title(pane, pieces((name, "bold")))
        self.table.focus()
        self._lay_out()
        self.show_hints()
        self._start("compare", self._compare)

    @property
    def context(self) -> Context:
        """Comparing."""
        return Context.COMPARE

    # Threads

    def _start(self, group: str, work: Callable[[], None]) -> None:
        self.run_worker(
            work,
            thread=True,
            exclusive=True,
            exit_on_error=False,
            group=group,
            description=f"loading {group}",
        )

    def _compare(self) -> None:
        try:
            self._runs = self._open[0](), self._open[1]()
            found, error = compare_runs(*self._runs), None
        except CancelledError:
            return
        except ArcviewError as failed:
            found, error = None, str(failed)
        if not get_current_worker().is_cancelled:
            self.post_message(Compared(found, error))

    def _load_sides(self, row: ComparedRow, runs: tuple[OpenRun, OpenRun]) -> None:
        a, b = runs
        old, new = row.states
        beside, error = None, None
        changes: tuple[FileChange, ...] = ()
        if old is None or new is None:
            error = "the state is not recorded in both runs"
        else:
            beside = StatesBeside(a, old, b, new)
            got, error = _try(beside.changes)
            changes = got or ()
        stage = row.stage
        steps = [
            _try(partial(run.trajectory, stage))[0]
            if stage is not None and run.trajectory_refs(stage)
            else None
            for run in runs
        ]
        if not get_current_worker().is_cancelled:
            self.post_message(SidesLoaded(stage, beside, changes, error, (steps[0], steps[1])))

    # What arrives

    @on(Compared)
    def _compared(self, message: Compared) -> None:
        if message.found is None:
            say(self.table, message.error or "the runs cannot be compared")
            return
        self._rows = CompareRows(message.found)
        self._lay_out()
        self.table.styles.height = len(self._rows) + 2
        self.table.set_source(self._rows, cursor=self._rows.first)
        self._show_stage()

    @on(RowView.CursorMoved, "#compared")
    def _stage_moved(self) -> None:
        self._show_stage()

    def _show_stage(self) -> None:
        row = self._rows.at(self.table.cursor) if self._rows is not None else None
        if row is None or row is self._shown or self._runs is None:
            return
        self._shown = row
        name = f"gate {row.stage}" if row.stage is not None else "chain gate"
        counted = plural(len(row.gate.differences), "difference")
        set_title(self.tests, pieces((f"Tests of {name}", "bold"), (f"  {counted}", theme.MUTED)))
        self.tests.set_source(DifferenceRows(row.gate))
        # What is shown and named stays until then: an empty pane between two full ones flickers.
        self.set_timer(_PATIENCE_S, partial(self._still_loading, row))
        self._start("sides", partial(self._load_sides, row, self._runs))

    def _still_loading(self, row: ComparedRow) -> None:
        if row is self._shown and row is not self._loaded:
            for pane in (self.diff, *self.steps):
                say(pane, "… loading")

    @on(SidesLoaded)
    def _sides_loaded(self, message: SidesLoaded) -> None:
        row = self._shown
        if row is None or row.stage != message.stage:
            return
        self._loaded = row
        self._title_diff(row, message.changes)
        if message.error is not None or message.beside is None:
            say(self.diff, message.error or "not known")
        else:
            beside = message.beside
            self.diff.show(
                message.changes,
                beside.patch,
                lambda change: beside.file(change.path),
                empty="Both runs have the same files here.",
            )
        self._pairs = message.pairs
        for name, pane, steps in zip("AB", self.steps, message.steps, strict=True):
            stage = f"stage {message.stage}" if message.stage is not None else "chain gate"
            count = f"  {plural(steps.step_count, 'step')}" if steps is not None else ""
            set_title(pane, pieces((f"Trajectory {name}", "bold"), f" {stage}{count}"))
            set_remark(pane, pieces(""))
            none = Trajectory(format="")
            pane.show(steps or none, empty="No trajectory is recorded.")

    def _title_diff(self, row: ComparedRow, changes: Sequence[FileChange]) -> None:
        a, b = (one_line(state or "?") for state in row.states)
        parts = (f"Code: A's {a} → B's {b}", "bold")
        set_title(self.diff, pieces(parts, (f"  {plural(len(changes), 'file')}", theme.MUTED)))

    @on(RowView.CursorMoved, "StepsPane")
    def _step_moved(self, message: RowView.CursorMoved) -> None:
        """Takes the steps of the other run along to the same number."""
        # The other pane says that it moved, too: only the one that has the keys leads.
        if not message.view.has_focus:
            return
        leads: Side = 0 if message.view is self.steps[0] else 1
        follows: Side = 1 if leads == 0 else 0
        leader, follower = self.steps[leads], self.steps[follows]
        number = self._pairs.number(leads, leader.rows.step_index(leader.cursor) or 0)
        beside = self._pairs.place(follows, number)
        if beside is not None:
            follower.go_beside(beside, leader)
        lacks = f" {'AB'[follows]} has no step {number} " if beside is None else ""
        set_remark(follower, pieces((lacks, theme.WARN)))
        set_remark(leader, pieces(""))

    def on_diff_pane_failed(self, message: DiffPane.Failed) -> None:
        """A file could not be loaded for a reason that nobody foresaw."""
        error = message.worker.error
        if error is not None:
            self.worker_failed(message.worker.description, error)

    # Room

    def on_resize(self, event: Resize) -> None:
        """Another size may have room for other panes."""
        del event
        self._lay_out()

    @on(DescendantFocus)
    def _pane_focused(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        """Everything where there is room, else the table and what the keys are in."""
        size = self.app.size
        if self._rows is not None:
            self.query_one("#who", PlainStatic).show(self._rows.who(size.width))
        roomy = size.width >= _ROOM_ACROSS and size.height >= _ROOM_DOWN
        wanted = self.focused if self.focused in self._panes[1:] else self.tests
        for pane in self._panes[1:]:
            pane.display = roomy or pane is wanted
        tabs = self.query_one(TabLine)
        tabs.display = not roomy
        tabs.select(_TABS[self._panes.index(wanted) - 1])
        self.query_one("#middle").display = roomy or wanted in (self.tests, self.diff)
        self.query_one("#below").display = roomy or wanted in self.steps

    # Keys

    @on(TabLine.TabPicked)
    def _tab_picked(self, message: TabLine.TabPicked) -> None:
        self._go_to_pane(_TABS.index(message.name) + 1)

    @on(RowView.Picked)
    def _picked(self, message: RowView.Picked) -> None:
        message.stop()
        if message.view is self.tests:
            self._open_test(message.index)
        elif message.view is self.table:
            self.tests.focus()

    def _open_test(self, index: int) -> None:
        source, row, runs = self.tests.source, self._shown, self._runs
        if not isinstance(source, DifferenceRows) or row is None or runs is None:
            return
        test = source.at(index).test
        if test is not None:
            from arcview.ui.screens.compare_test import both_failures

            cells = row.gate.a, row.gate.b
            self.app.push_screen(both_failures(runs, row.gate.gate, cells, test.group, test.id))

    def action_next_pane(self) -> None:
        """To the next pane."""
        self._step_pane(1)

    def action_previous_pane(self) -> None:
        """To the pane before."""
        self._step_pane(-1)

    def _step_pane(self, by: int) -> None:
        at = next((n for n, pane in enumerate(self._panes) if pane is self.focused), 0)
        self._go_to_pane((at + by) % len(self._panes))

    def _go_to_pane(self, at: int) -> None:
        pane = self._panes[at]
        pane.display = True
        for container in self.query(Container):
            container.display = True
        pane.focus()

    def action_previous_stage(self) -> None:
        """To the stage before."""
        self.table.action_cursor_up()

    def action_next_stage(self) -> None:
        """To the stage after."""
        self.table.action_cursor_down()

    def action_go_to_stage(self, index: int) -> None:
        """To a stage by its number; 0 is the chain gate."""
        row = self._rows.row_of_stage(index or None) if self._rows is not None else None
        if row is None:
            self.notice(f"neither run has a stage {index}" if index else "there is no chain gate")
        else:
            self.table.move_to(row)

    def action_unified_or_split(self) -> None:
        """The code in one column or in two."""
        self._split = not self._split
        self.diff.set_mode("split" if self._split else "unified")

    def action_open_a(self) -> None:
        """Run A at this stage."""
        self._open_run(0)

    def action_open_b(self) -> None:
        """Run B at this stage."""
        self._open_run(1)

    def _open_run(self, side: int) -> None:
        if self._runs is None:
            return
        from arcview.ui.screens.run import RunScreen

        screen = RunScreen(self._runs[side], self._open[side], returns=True)
        stage = self._shown.stage if self._shown is not None else None
        screen.session.go_to_stage(stage or 0)
        self.app.push_screen(screen)

    def action_close(self) -> None:
        """Back to where one came from."""
        if self._returns:
            self.dismiss()
        else:
            self.notice("there is nothing to go back to; q quits")


def _try(get: Callable[[], T]) -> tuple[T | None, str | None]:
    try:
        return get(), None
    except CancelledError:
        return None, "cancelled"
    except ArcviewError as error:
        return None, str(error)
