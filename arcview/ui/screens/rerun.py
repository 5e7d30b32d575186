"""One gate run again: choices, output while it comes, the result beside the recorded one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.content import Content

from arcview.files import is_file
from arcview.session.commands import Context
from arcview.session.rerun_session import RerunSession
from arcview.session.rerun_view import RerunView
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.diff_lines import size
from arcview.ui.rows.failure import failure_sections
from arcview.ui.rows.figures import VERDICT_GLYPH, VERDICT_STYLE, duration, plural
from arcview.ui.rows.rerun import RerunRowKind, RerunRows
from arcview.ui.rows.rerun_choices import with_keys
from arcview.ui.rows.sections import SectionRows
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.job_panes import JobPanes
from arcview.ui.screens.rerun_job import RerunJob
from arcview.ui.screens.run_titles import set_remark, set_title
from arcview.ui.screens.text import TextScreen
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from pathlib import Path

    from arcview.session.reruns import Reruns
    from arcview.ui.screens.rerun_sitting import RerunSitting


class RerunScreen(JobPanes):
    """A gate on a state; the state and how often are chosen here."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.RERUN)

    def __init__(self, sitting: RerunSitting, session: RerunSession, *, starts: bool) -> None:
        """Makes the screen.

        Args:
            sitting: The reruns of the run.
            session: The gate and the state to begin at.
            starts: Runs it at once where nothing is stored and the person was asked before.
        """
        super().__init__(sitting)
        self._session = session
        self._starts = starts
        self._view: RerunView | None = None
        self._rows = RerunRows(session)

    def on_mount(self) -> None:
        """Looks up what is stored, and shows what runs already."""
        self.result.set_source(self._rows)
        self.result.focus()
        self._sitting.moved = self._moved
        job = self._sitting.job
        if job is not None and job.is_running and job.gate == self._session.gate:
            self._session.state = job.state
        self._lay_out()
        self._look_up()
        self.show_hints()
        if job is not None and job.is_running:
            self._moved(job)

    @property
    def context(self) -> Context:
        """Rerunning."""
        return Context.RERUN

    @property
    def _job(self) -> RerunJob | None:
        """The job of this gate on this state, running or over."""
        job, session = self._sitting.job, self._session
        is_ours = job is not None and (job.gate, job.state) == (session.gate, session.state)
        return job if is_ours else None

    # What is known

    def _look_up(self) -> None:
        session = self._session
        if session.state is None:
            self.notice("no state of this run is recorded: nothing to run the gate on")
            return
        self._title()
        on_host = session.on_host
        self._sitting.look_up(
            session.gate, session.state, partial(self._put, on_host), on_host=on_host
        )

    def _put(self, on_host: bool, view: RerunView) -> None:
        session = self._session
        if (view.state, on_host) != (session.state, session.on_host) or not self.is_attached:
            return
        self._view = view
        asks = on_host or (not self._sitting.is_asked and not view.results)
        is_first = self.result.cursor == 0
        with self.result.keeping_place():
            self._rows.show(view, asks=asks)
        if is_first:
            self.result.move_to(self._rows.first)
        self._title()
        self._show_log()
        if view.plan is not None and self._starts:
            self._starts = False
            wanted = self._sitting.is_asked and not on_host
            if wanted and not view.results and view.plan.unavailable is None:
                self._begin()

    def _title(self) -> None:
        session, view = self._session, self._view
        name = "Chain gate" if session.gate == "chain" else f"Gate {session.gate}"
        parts = [(f"{name} on {one_line(session.state or '?')}", "bold")]
        if view is not None and view.recorded is not None:
            verdict = view.recorded.judgement.verdict
            parts += [
                ("  recorded ", theme.MUTED),
                (f"{VERDICT_GLYPH[verdict]} {verdict.value}", VERDICT_STYLE[verdict]),
            ]
        set_title(self.result, pieces(*parts))
        count = len(view.results) if view is not None else 0
        said = f"{plural(count, 'attempt')} stored" if count else "never run again"
        set_remark(self.result, pieces((said if view is not None else "", theme.MUTED)))

    # The output

    def _show_log(self) -> None:
        """The log of the attempt that is shown, unless something is running."""
        if self._is_running:
            return
        result = self._rows.result
        log = result.logs[0] if result is not None and result.logs else None
        self.set_class(log is None and self._job is None, "-quiet")
        if result is None or log is None:
            return
        number = self._view.results.index(result) + 1 if self._view is not None else 0
        size_bytes = log.stat().st_size if is_file(log) else 0
        title = pieces(
            ("Output", "bold"), (f" of attempt {number}  {size(size_bytes)}", theme.MUTED)
        )
        set_title(self.output, title)
        set_remark(self.output, Content(""))
        if size_bytes:
            self.output.show_log(log)
        else:
            self.output.show_problem("It printed nothing.")
        self._hold_to_hash(log)

    def _hold_to_hash(self, log: Path) -> None:
        """Says of the log that is shown that it is not the stored one, where that is so."""

        def get(reruns: Reruns) -> Callable[[], None]:
            return partial(self._say_changed, log, reruns.store.changed(log))

        self._sitting.read(get, "holding the output to its hash")

    def _say_changed(self, log: Path, why: str | None) -> None:
        result = self._rows.result
        is_shown = self.is_attached and result is not None and log in result.logs[:1]
        if is_shown and why is not None and not self._is_running:
            set_remark(self.output, pieces((f"▲ {why}", theme.WARN)))

    def _over(self, job: RerunJob) -> None:
        """It ended: the result and the whole log take their places."""
        if job.error is not None:
            self.notice(job.error)
            set_title(self.output, pieces(("Output", "bold"), ("  could not be run", theme.FAIL)))
        elif job.is_cancelled:
            where = "copy" if self._session.on_host else "container"
            self.notice(f"stopped after {duration(job.elapsed_s())}; its {where} is removed")
        self._rows.choose(-1)
        self._look_up()

    # Keys

    def _begin(self) -> None:
        view = self._view
        if view is None or view.target is None or view.plan is None:
            said = view.error if view is not None and view.error else "… still asking the engine"
            self.notice(said)
            return
        if view.plan.unavailable is not None:
            self.notice(with_keys(view.plan.unavailable))
            return
        session = self._session
        if not session.confirm():
            self._redraw()
            self.result.move_to(self._rows.first)
            return
        if not session.on_host:
            self._sitting.confirm()
        refused = self._sitting.begin(view, view.target, session.times, on_host=session.on_host)
        if refused is not None:
            self.notice(refused)
        elif self._sitting.job is not None:
            self._show(view)
            self._moved(self._sitting.job)

    def action_start(self) -> None:
        """Runs it."""
        self._begin()

    def action_previous_state(self) -> None:
        """The state before."""
        self._step_state(-1)

    def action_next_state(self) -> None:
        """The next state."""
        self._step_state(1)

    def _step_state(self, by: int) -> None:
        refused = self._session.step_state(by)
        if refused is not None:
            self.notice(refused)
            return
        self._view, self._starts = None, False
        self._following.forget()
        self._show(None)
        self.set_class(not self._is_running, "-quiet")
        self._look_up()
        if self._job is not None:
            self._moved(self._job)

    def action_reveal_reference(self) -> None:
        """The reference's states too."""
        self.notice(self._session.reveal_reference())
        self._redraw()

    def action_more_times(self) -> None:
        """Once more."""
        self._session.change_times(1)
        self._redraw()

    def action_fewer_times(self) -> None:
        """Once less."""
        self._session.change_times(-1)
        self._redraw()

    def action_toggle_engine(self) -> None:
        """On this machine, and back into containers."""
        self._session.toggle_engine()
        self._plan_again()

    def action_other_image(self) -> None:
        """Any image of the recorded name, and back to the recorded one only."""
        images = self._session.images
        images.allow_other = not images.allow_other
        self._plan_again()

    def action_pull(self) -> None:
        """Fetch the image where it is missing, and back."""
        images = self._session.images
        images.pull = not images.pull
        self._plan_again()

    def _plan_again(self) -> None:
        if self._view is not None:
            self._view = replace(self._view, plan=None)
        self._show(self._view)
        self.result.scroll_home(animate=False, force=True)  # where the choices are
        self._look_up()

    def action_stop_or_close(self) -> None:
        """Does not run it on this machine, or stops what runs; else back."""
        if self._session.is_asked:
            self._session.is_asked = False
            self._redraw()
        else:
            super().action_stop_or_close()

    def action_differences_only(self) -> None:
        """Without the tests that ended as recorded, and back."""
        self._session.differences_only = not self._session.differences_only
        self._redraw()

    def _show(self, view: RerunView | None) -> None:
        """Shows what is known, without asking whether to run it."""
        with self.result.keeping_place():
            self._rows.show(view, asks=False)

    def _redraw(self) -> None:
        with self.result.keeping_place():
            self._rows.refresh()

    @on(RowView.Picked, "#result")
    def _picked(self, message: RowView.Picked) -> None:
        message.stop()
        row = self._rows.at(message.index)
        if row.kind is RerunRowKind.START:
            self._begin()
        elif row.choice is not None:
            self._choose(row.choice.key)
        elif row.attempt is not None:
            with self.result.keeping_place():
                self._rows.choose(row.attempt)
            self._show_log()
        elif row.change is not None:
            self._open_test(message.index)
        else:
            with self.result.keeping_place():
                self._rows.toggle(message.index)

    def _choose(self, key: str) -> None:
        match key:
            case "engine":
                self.action_toggle_engine()
            case "image":
                self.action_other_image()
            case _:
                self.action_pull()

    def _open_test(self, index: int) -> None:
        test = self._rows.test_at(index)
        if test is not None:
            rows = SectionRows(failure_sections(test, None))
            title = pieces((f"{one_line(test.id)}", "bold"), ("  rerun", theme.MUTED))
            self.app.push_screen(TextScreen(title, rows))

    def action_whole_log(self) -> None:
        """The log from its beginning."""
        result = self._rows.result
        if self._is_running:
            self.notice("while it runs, its end is shown; the whole log is kept")
        elif result is None or not result.logs:
            self.notice("nothing was run here yet")
        else:
            self.output.focus()
            self.output.move_to(0)
