"""The diff, its tree and the trajectory of the run screen; imported after the first frame."""

from __future__ import annotations

from collections.abc import Callable

from arcview.analysis.self_tests import SelfTest
from arcview.model.patch import FileChange, PathClass
from arcview.model.trajectory import Trajectory
from arcview.session.opened import OpenRun
from arcview.session.run_session import Column, RunSession, Target
from arcview.session.run_session_stops import DiffMode, StatePair
from arcview.ui.rows.diff import Origin
from arcview.ui.rows.notes import NoteRows
from arcview.ui.rows.self_tests import badge_of
from arcview.ui.rows.steps import Jump
from arcview.ui.screens import run_titles
from arcview.ui.screens.authors import Authors
from arcview.ui.screens.run_content import RunContent, say
from arcview.ui.screens.run_loader import RunLoader, between
from arcview.ui.screens.run_messages import (
    DiffLoaded,
    DiffProgress,
    FileBlamed,
    StepsLoaded,
)
from arcview.ui.screens.run_replay import RunReplay
from arcview.ui.screens.run_titles import set_remark, set_title
from arcview.ui.widgets.long_panes import DiffPane, StepsPane, TreePane


class RunLong:
    """The long panes of one run screen and what they show."""

    def __init__(
        self,
        loader: RunLoader,
        opened: OpenRun,
        session: RunSession,
        content: RunContent,
        *,
        absent: Callable[[Target], None],
    ) -> None:
        """Makes the panes, empty.

        Args:
            loader: Gets what they show.
            opened: The run.
            session: What the screen is looking at.
            content: The short panes, which are told the test files that changed.
            absent: Told of a place that was waited for and is not there.
        """
        self._absent = absent
        self._loader = loader
        self._opened = opened
        self._session = session
        self._content = content
        self.diff = DiffPane(id="diff", classes="pane diff", mode="unified")
        self.tree = TreePane(id="tree", classes="pane diff")
        self.steps = StepsPane(id="trajectory", classes="pane trajectory")
        self.steps.when_gone = self.forget
        self.changes: tuple[FileChange, ...] | None = None
        """Null while the states are compared, and where they cannot be."""
        self.trajectory: Trajectory | None = None
        self._notes: tuple[str, ...] = ()
        self._shown_pair: StatePair | None = None
        self._awaited: Target | None = None
        self._goes_on = False
        """What is shown of the trajectory is its beginning."""
        self.authors = Authors(loader.blame)
        self.replay = RunReplay(self, loader, opened, session)

    # Loading

    def expect(self) -> None:
        """Forgets what belongs to the stop before: a place to go to waits for the new one."""
        self.trajectory = None
        if self._session.pair != self._shown_pair:
            self.changes = None

    def load(self) -> None:
        """Loads steps and diff of the stop."""
        self.trajectory, self._goes_on = None, False
        stop = self._session.stop
        first = self._opened.kept_beginning(stop.stage, between(stop))
        if first is not None:
            self.put_steps(StepsLoaded(stop, first, is_beginning=True), ())
        else:
            say(self.steps, "… reading the trajectory")
            set_title(self.steps, run_titles.steps_title(stop, None, ()))
        self._loader.steps(stop)
        self.load_diff()

    def load_diff(self) -> None:
        """Loads the diff of the session's two states, unless it is shown already."""
        self.steps.replaying = self._session.replaying
        if self._session.replaying:
            self._shown_pair = None
            self.replay.follow(again=True)
            return
        self.replay.stop()
        pair = self._session.pair
        if pair == self._shown_pair:
            self._title_diff()
            return
        self.changes, self._notes = None, ()
        self._shown_pair = pair
        self._title_diff()
        if pair.missing is not None:
            self.put_diff(DiffLoaded(pair, None, pair.missing))
            return
        say(self.diff, "… comparing")
        self._loader.diff(pair, own=self._session.mode is DiffMode.STAGE)

    def forget(self) -> None:
        """Lets go of the steps, which may be many: the screen is left, or shows others."""
        self.trajectory = None
        self.steps.set_source(NoteRows(""))
        self._opened.forget_steps()

    # What arrived

    def put_steps(self, loaded: StepsLoaded, tests: tuple[SelfTest, ...]) -> None:
        """Shows the steps."""
        if loaded.place != self._session.stop:
            return
        if loaded.error is not None:
            say(self.steps, loaded.error)
            return
        self.trajectory = None if loaded.is_beginning else loaded.value
        badges = {test.call_key: badge_of(test) for test in tests}
        steps = loaded.value or Trajectory(format="")
        goes_on, self._goes_on = self._goes_on, loaded.is_beginning
        self.steps.show(steps, badges=badges, empty="No trajectory is recorded.", goes_on=goes_on)
        self.title_steps()
        if not loaded.is_beginning:
            self.replay.follow(again=True)
            self._arrived()

    def put_badges(self, tests: tuple[SelfTest, ...]) -> None:
        """Marks the steps that tested, where that is known later than the steps themselves."""
        if self.trajectory is not None:
            self.steps.set_badges({test.call_key: badge_of(test) for test in tests})

    def put_diff(self, loaded: DiffLoaded) -> None:
        """Shows the changed files; their contents follow by themselves."""
        if loaded.pair != self._session.pair or self._session.replaying:
            return
        self.changes, self._notes = loaded.changes, loaded.notes
        self._title_diff()
        if loaded.changes is None:
            say(self.diff, loaded.error or "not known")
            say(self.tree, loaded.error or "not known")
            return
        old, new = loaded.pair.old or "", loaded.pair.new or ""
        store = self._opened.store
        self.diff.show(
            loaded.changes,
            lambda change: store.patch(old, new, change.path),
            lambda change: store.file(new, change.path),
            empty=f"Nothing changed: {loaded.pair.title}",
            origin=self._origin(),
        )
        self.tree.show(loaded.changes)
        if loaded.own:
            tests = (c for c in loaded.changes if c.path_class is PathClass.TEST)
            self._content.put_test_files(tuple(tests))
        self._arrived()

    def put_authors(self, blamed: FileBlamed) -> None:
        """Shows who wrote the lines of a file."""
        self.authors.put(blamed.state, blamed.path, blamed.sources)
        if self._session.who_wrote:
            self.diff.redraw_rows()
            self._title_diff()

    def _origin(self) -> Origin | None:
        """What stands in the gutter for a line; null where none is wanted."""
        state = self._session.pair.new
        if not self._session.who_wrote or state is None or self._session.replaying:
            return None
        return lambda path, line: self.authors.label(state, path, line)

    def put_progress(self, progress: DiffProgress) -> None:
        """Says how far the states are read on a first open."""
        of = f"{progress.done:,} of {progress.total:,} files" if progress.total else "counting"
        say(self.diff, f"… reading the workspaces: {of} · {progress.what}")

    # The same things shown otherwise

    def lay_out_diff(self) -> None:
        """Follows the unified or side-by-side switch."""
        self.diff.set_mode("split" if self._session.split else "unified")
        self.diff.set_origin(self._origin())
        self._title_diff()

    def title_steps(self) -> None:
        """Says in the border where the cursor is."""
        steps = self.steps.rows.heads if self.steps.source is self.steps.rows else ()
        at = self.steps.rows.step_index(self.steps.cursor)
        stop = self._session.stop
        set_title(self.steps, run_titles.steps_title(stop, at, steps, goes_on=self._goes_on))
        row = self._opened.overview.stage(stop.stage)
        set_remark(self.steps, run_titles.steps_remark(row, stop))

    def _title_diff(self) -> None:
        if self._session.replaying:
            self.replay.title()
            return
        title = run_titles.diff_title(self._session.pair, self._session.mode, self.changes)
        set_title(self.diff, title)
        set_title(self.tree, run_titles.tree_title(self._session.pair, self.changes))
        pair, split = self._session.pair, self._session.split
        notes = self._notes
        if self._session.who_wrote and pair.new is not None:
            notes = (*notes, *self.authors.remark(pair.new))
        remark = run_titles.diff_remark(self._opened.run, pair, notes, split=split)
        set_remark(self.diff, remark)

    def jump(self, kind: Jump, direction: int) -> bool:
        """To the next step of a kind; false where there is none."""
        row = self.steps.rows.next_step(self.steps.cursor, kind, direction)
        if row is not None:
            self.steps.move_to(row, "top")
        return row is not None

    def jump_file(self, direction: int) -> bool:
        """To the next changed file; false where there is none."""
        row = self.diff.rows.next_file(self.diff.cursor, direction)
        if row is not None:
            self.diff.move_to(row, "top")
        return row is not None

    # Going to a place

    def reach(self, target: Target) -> bool:
        """Moves a pane's cursor to a place; if that still loads, as soon as it is there.

        Returns:
            False where the pane is loaded and has no such place.
        """
        self._awaited = target
        return self._reach()

    def _reach(self) -> bool:
        target = self._awaited
        if target is None:
            return True
        found = self._go(target)
        if found is not None:
            self._awaited = None
        return found is not False

    def _arrived(self) -> None:
        target = self._awaited
        if target is not None and not self._reach():
            self._absent(target)

    def _go(self, target: Target) -> bool | None:
        """Null where the pane still loads."""
        pane = self.steps if target.column is Column.TRAJECTORY else self.diff
        loaded = self.trajectory if pane is self.steps else self.changes
        if loaded is None:
            return None
        if target.row is not None:
            pane.move_to(target.row)
        elif target.step is not None:
            found = self.steps.go_to(target.step)
            if found and target.match is not None:
                self.steps.go_to_match(target.match)
            elif found and target.part:
                self.steps.go_to_part(target.part, target.offset)
            return found
        elif target.path is not None:
            return self.diff.go_to(target.path, target.line, hunk=target.hunk)
        return True
