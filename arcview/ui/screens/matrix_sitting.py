"""The matrix of one run screen: what is known of it, what is being measured, opening its cells."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from arcview.analysis.matrix import Cell, Source
from arcview.errors import ArcviewError
from arcview.model.results import GateTest
from arcview.session.matrix import Matrix
from arcview.session.matrix_session import MatrixSession
from arcview.session.reruns import Reruns
from arcview.ui import theme
from arcview.ui.rows.failure import failure_sections
from arcview.ui.rows.sections import SectionRows
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.base import say_on_top
from arcview.ui.screens.matrix_job import MatrixJob, MatrixMoved
from arcview.ui.screens.text import TextScreen

if TYPE_CHECKING:
    from arcview.analysis.matrix_plan import MatrixPlan
    from arcview.ui.screens.rerun_sitting import RerunSitting
    from arcview.ui.screens.run_links import RunLinks


class MatrixSitting:
    """The matrix of one run screen.

    Attributes:
        base: Its reruns.
        job: What is being measured, or was last.
        moved: Told when something of the job is new.
    """

    def __init__(self, base: RerunSitting, screen: RunLinks) -> None:
        self.base = base
        self._screen = screen
        self._matrix: Matrix | None = None
        self._lock = Lock()
        self.job: MatrixJob | None = None
        self.moved: Callable[[MatrixJob], None] | None = None

    def matrix(self) -> Matrix:
        """The matrix; made when first asked for, in a thread."""
        with self._lock:
            if self._matrix is None:
                self._matrix = Matrix(self._screen.opened, self.base.reruns())
            return self._matrix

    def forget(self) -> None:
        """The run was read again."""
        with self._lock:
            self._matrix = None

    def close(self) -> bool:
        """Stops what is being measured; says whether anything was."""
        if self.job is None or not self.job.is_running:
            return False
        self.job.stop()
        return True

    def open(self, gate: str | None, state: str | None) -> None:
        """The screen, at a cell."""
        from arcview.ui.screens.matrix import MatrixScreen

        self.base.app.push_screen(MatrixScreen(self, MatrixSession(gate, state)))

    def stage_titles(self) -> dict[str, str]:
        """Gate → what its stage is called."""
        run = self._screen.opened.run
        titles = {str(stage.index): stage.title or "" for stage in run.stages}
        return titles | {"chain": ""}

    # Measuring

    def begin(self, plan: MatrixPlan, jobs: int) -> None:
        """Measures the cells of a plan."""
        job = self.job = MatrixJob(plan, jobs, self._tell)
        self.base.start(partial(self._run, job), "measuring cells")
        self._tell(job)

    def _run(self, job: MatrixJob) -> None:
        try:
            outcome = self.matrix().run(
                job.plan, jobs=job.jobs, on_event=job.take, cancelled=lambda: job.is_cancelled
            )
        except ArcviewError as error:
            job.end(None, str(error))
        else:
            job.end(outcome)
        finally:
            if job.is_running:
                job.end(None)

    def _tell(self, job: MatrixJob) -> None:
        self._screen.post_message(MatrixMoved(job))

    def arrived(self, job: MatrixJob) -> None:
        """Something of a job is new: whoever shows it looks."""
        if self.moved is not None:
            self.moved(job)

    # Cells

    def open_test(self, cell: Cell, test_id: str) -> None:
        """What a test said in a cell."""

        def get(reruns: Reruns) -> Callable[[], None]:
            found = self._test(reruns, cell, test_id)
            if found is None:
                why = f"nothing is known of this test on {cell.state}"
                return partial(say_on_top, self._screen.app, why)
            return partial(self._push_test, cell, found)

        self.base.read(get, "reading a test")

    def _test(self, reruns: Reruns, cell: Cell, test_id: str) -> GateTest | None:
        """The recorded test, that of the last rerun, or the one of the gate that shows it."""
        known = cell.tests.get(test_id)
        gate = known.via if known is not None and known.via is not None else cell.gate
        if known is None:
            return None
        opened = reruns.opened
        shown = Cell(gate, cell.state)
        if opened.run.gate(gate, cell.state) is not None and known.source is not Source.RERUN:
            tests = opened.reader().gate_tests(gate, cell.state)
        else:
            results = self.matrix().results(shown)
            tests = results[-1].tests if results else ()
        return next((test for test in tests if test.id == test_id), None)

    def _push_test(self, cell: Cell, test: GateTest) -> None:
        rows = SectionRows(failure_sections(test, None))
        where = f"  on {one_line(cell.state)}"
        title = pieces((one_line(test.id), "bold"), (where, theme.MUTED))
        self.base.app.push_screen(TextScreen(title, rows))
