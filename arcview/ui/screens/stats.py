"""Figures over many runs: read in a thread, under a policy that keys change."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar, get_args

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.types import CSSPathType
from textual.worker import Worker, get_current_worker

from arcview.analysis.statistics import By, Levels, PolicyName, Statistics, StatsPolicy
from arcview.config import load_settings
from arcview.errors import ArcviewError, CancelledError
from arcview.session.commands import Context
from arcview.session.labels import labelled_levels
from arcview.session.stats import Corpus, collect
from arcview.ui import theme
from arcview.ui.bindings import bindings
from arcview.ui.rows.figures import plural
from arcview.ui.rows.stats import StatsRows
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.annotate_labels import labels_of
from arcview.ui.screens.base import BaseScreen
from arcview.ui.screens.run_content import say
from arcview.ui.screens.run_titles import set_remark, set_title
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.panes import ListPane
from arcview.ui.widgets.row_view import RowView

_OUTCOMES = ("skip_ok", "xfail_ok", "xpass_ok", "missing_ok")
"""The outcomes whose meaning a key changes, in the order of the keys."""
_BAR = 30


class RunsRead(Message):
    """How far the runs are read; only the last one matters."""

    def __init__(self, done: int, total: int, name: str) -> None:
        super().__init__()
        self.done = done
        self.total = total
        self.name = name

    def can_replace(self, message: Message) -> bool:
        """A flood of them collapses."""
        return isinstance(message, RunsRead)


class Counted(Message):
    """The figures, or why there are none."""

    def __init__(
        self,
        corpus: Corpus | None,
        levels: Levels,
        found: Statistics | None,
        error: str | None = None,
    ) -> None:
        super().__init__()
        self.corpus = corpus
        self.levels = levels
        self.found = found
        self.error = error


class StatsScreen(BaseScreen):
    """All figures in sections; the policy stands above them."""

    CSS_PATH: ClassVar[CSSPathType | None] = "annotate.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.STATS)

    def __init__(self, root: Path, only: Collection[str] | None = None) -> None:
        """Makes the screen.

        Args:
            root: The folder with the runs.
            only: Names of the runs that count; null takes all.
        """
        super().__init__()
        self._root = root
        self._only = None if only is None else frozenset(only)
        self._policy = StatsPolicy()
        self._by: By | None = None
        self._corpus: Corpus | None = None
        self._levels: Levels = {}
        self._found: Statistics | None = None
        self._worker: Worker[None] | None = None
        self.view = ListPane(id="stats")

    def compose(self) -> ComposeResult:
        """The figures and the line of keys."""
        yield self.view
        yield HintBar()

    def on_mount(self) -> None:
        """Begins to read."""
        self.view.focus()
        self.show_hints()
        self._count()

    @property
    def context(self) -> Context:
        """Statistics."""
        return Context.STATS

    # Reading and counting

    def _count(self) -> None:
        """Counts again; reads the runs first where the outcomes changed."""
        if self._found is None:
            say(self.view, "… reading the runs")
        self._title(" …")
        self._worker = self.run_worker(
            partial(self._counting, self._policy, self._by, self._corpus, self._levels),
            thread=True,
            exclusive=True,
            exit_on_error=False,
            group="stats",
            description="counting",
        )

    def _counting(
        self, policy: StatsPolicy, by: By | None, corpus: Corpus | None, levels: Levels
    ) -> None:
        worker = get_current_worker()
        try:
            if corpus is None or corpus.outcomes != policy.outcomes:
                corpus = self._read(policy, lambda: worker.is_cancelled)
                sidecar = labels_of(self.app).sidecar
                levels = labelled_levels((run.run_id for run in corpus.runs), sidecar)
            found = corpus.statistics(policy, by, levels)
        except CancelledError:
            return
        except ArcviewError as error:
            self._post(worker, Counted(None, {}, None, str(error)))
        else:
            self._post(worker, Counted(corpus, levels, found))

    def _post(self, worker: Worker[object], message: Message) -> None:
        if not worker.is_cancelled:
            self.post_message(message)

    def _read(self, policy: StatsPolicy, cancelled: Callable[[], bool]) -> Corpus:
        def progress(done: int, total: int, name: str) -> None:
            self.post_message(RunsRead(done, total, name))

        corpus = collect(
            self._root,
            outcomes=policy.outcomes,
            settings=replace(load_settings(), sidecar=labels_of(self.app).sidecar),
            progress=progress,
            cancelled=cancelled,
        )
        only = self._only
        if only is None:
            return corpus
        return replace(
            corpus,
            runs=tuple(run for run in corpus.runs if run.name in only),
            broken=tuple(one for one in corpus.broken if one.run in only),
        )

    @on(RunsRead)
    def _runs_read(self, message: RunsRead) -> None:
        part = message.done * _BAR // max(1, message.total)
        bar = "█" * part + "·" * (_BAR - part)
        said = f"… reading run {message.done + 1} of {message.total}: {message.name}"
        if self._found is None:
            say(self.view, f"{bar} {said}  (escape stops)")
        else:
            self.notice(said)

    @on(Counted)
    def _counted(self, message: Counted) -> None:
        self._worker = None
        if message.found is None:
            say(self.view, message.error or "there are no figures")
            return
        self._corpus, self._levels, self._found = message.corpus, message.levels, message.found
        if not message.found.all.runs:
            say(self.view, f"no run below {self._root} can be counted")
            return
        rows = StatsRows(message.found)
        with self.view.keeping_place():
            before = self.view.source.anchor(self.view.cursor)
            self.view.set_source(rows)
            self.view.move_to(rows.locate(before))
        self._title()
        self.notice("")

    def _title(self, going: str = "") -> None:
        found = self._found
        parts = [f"{self._policy.name}"]
        if self._by is not None:
            parts.append(f"by {self._by}")
        counts = ""
        if found is not None:
            runs, tasks = plural(found.all.runs, "run"), plural(found.all.tasks, "task")
            counts = f"  {runs} of {tasks}, {plural(found.all.stages, 'stage')} with a verdict"
        only = "" if self._only is None else ", those shown in the list"
        title = pieces(
            ("Statistics  ", "bold"),
            (one_line(str(self._root)), "bold"),
            (f"{counts}{only}", ""),
            (f"  policy {' · '.join(parts)}{going}", theme.MUTED),
        )
        set_title(self.view, title)

    @on(RowView.CursorMoved)
    def _moved(self, message: RowView.CursorMoved) -> None:
        """Says below what the figure under the cursor counts."""
        source = message.view.source
        counts = source.at(message.index).counts if isinstance(source, StatsRows) else ""
        set_remark(self.view, pieces((counts, theme.MUTED)))

    # Keys

    def action_next_policy(self) -> None:
        """The other policy."""
        other: PolicyName = "as-recorded" if self._policy.name == "clean" else "clean"
        self._policy = replace(self._policy, name=other)
        self._count()

    def action_group_figures(self) -> None:
        """By the next property, or not at all."""
        names: tuple[By | None, ...] = (None, *get_args(By))
        self._by = names[(names.index(self._by) + 1) % len(names)]
        self._count()

    def action_outcome_ok(self, number: int) -> None:
        """An outcome counts as ok, or no longer."""
        name = _OUTCOMES[number - 1]
        outcomes = self._policy.outcomes
        changed = replace(outcomes, **{name: not getattr(outcomes, name)})
        self._policy = replace(self._policy, outcomes=changed)
        self._count()

    def action_count_tests(self) -> None:
        """Test files are among the shared files, or not."""
        self._policy = replace(self._policy, count_tests=not self._policy.count_tests)
        self._count()

    def action_next_section(self) -> None:
        """The next heading."""
        self._step_section(1)

    def action_previous_section(self) -> None:
        """The heading before."""
        self._step_section(-1)

    def _step_section(self, by: int) -> None:
        source = self.view.source
        row = source.next_section(self.view.cursor, by) if isinstance(source, StatsRows) else None
        if row is not None:
            self.view.move_to(row, "top")

    def action_left_out(self) -> None:
        """What does not count."""
        source = self.view.source
        for title in ("Left out", "Nothing is left out"):
            row = source.row_of(title) if isinstance(source, StatsRows) else None
            if row is not None:
                self.view.move_to(row, "top")

    @on(RowView.Picked)
    def _picked(self, message: RowView.Picked) -> None:
        message.stop()
        source = message.view.source
        if isinstance(source, StatsRows) and source.at(message.index).counts:
            self.notice(f"k and n: {source.at(message.index).counts}")

    def action_stop_or_close(self) -> None:
        """Stops reading; when that is done, back."""
        if self._worker is not None:
            self._worker.cancel()
            self._worker = None
            self.notice("stopped; escape goes back, p counts again")
            if self._found is None:
                say(self.view, "Stopped before all runs were read.")
        else:
            self.dismiss()
