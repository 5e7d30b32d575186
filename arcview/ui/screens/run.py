"""The run screen: rail above, diff, gate and self-tests side by side, the trajectory below.

Applies what the session says to the widgets; decides nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.events import DescendantFocus, Resize

from arcview.model.problem import Problem
from arcview.session.commands import Context
from arcview.session.opened import OpenRun
from arcview.session.run_session import Change, Column, Part, RunSession, Target
from arcview.session.run_session_layout import is_tall, is_wide, visible_columns
from arcview.ui.bindings import bindings
from arcview.ui.rows.header import header_line
from arcview.ui.rows.rail import rail_items
from arcview.ui.safe import PlainStatic
from arcview.ui.screens.run_content import RunContent
from arcview.ui.screens.run_links import RunLinks
from arcview.ui.screens.run_loader import RunLoader
from arcview.ui.widgets.hint_bar import HintBar
from arcview.ui.widgets.panes import ListPane
from arcview.ui.widgets.rail import RailView
from arcview.ui.widgets.row_view import RowView
from arcview.ui.widgets.tabs import TabLine

if TYPE_CHECKING:
    from arcview.session.run_session_address import Destination
    from arcview.ui.rows.steps import Jump
    from arcview.ui.screens.annotate_run import RunAnnotate
    from arcview.ui.screens.run_find import RunFind
    from arcview.ui.screens.run_follow import RunFollow
    from arcview.ui.screens.run_long import RunLong

_CONTEXTS = {
    "diff": Context.DIFF,
    "tree": Context.TREE,
    "gate": Context.GATE,
    "self-tests": Context.SELF_TESTS,
    "trajectory": Context.TRAJECTORY,
}
_COLUMNS = {
    "diff": Column.DIFF,
    "diff-place": Column.DIFF,
    "tree": Column.DIFF,
    "gate": Column.GATE,
    "self-tests": Column.SELF_TESTS,
    "trajectory": Column.TRAJECTORY,
    "trajectory-place": Column.TRAJECTORY,
}
_LOOK_EVERY_S = 15
_TABS = {"Diff": Column.DIFF, "Gate": Column.GATE, "Self-tests": Column.SELF_TESTS}


class RunScreen(RunLinks):
    """One run."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Context.RUN)

    def __init__(
        self,
        opened: OpenRun,
        reopen: Callable[[], OpenRun],
        *,
        at: Destination | None = None,
        returns: bool = False,
    ) -> None:
        """Makes the screen.

        Args:
            opened: The run.
            reopen: Reads it again.
            at: Where to begin, instead of at the first failing gate.
            returns: There is a list of runs below that `backspace` returns to.
        """
        super().__init__()
        self._reopen = reopen
        self._at = at
        self._returns = returns
        self.is_stale = False
        self.tree_wanted = False
        """Whether the tree of changed files stands in the place of the diff."""
        self.long: RunLong | None = None
        self._take(opened)
        if at is not None:
            self.session.go_to(at.stop)
            self.session.focus(at.target.column)

    def _take(self, opened: OpenRun) -> None:
        """Makes everything that belongs to one reading of the run."""
        self.opened = opened
        overview = opened.overview
        self.session = RunSession(
            opened.run,
            overview.first_failing_gate,
            overview.first_bad_stage,
            overview.first_bad_state,
        )
        self.loader = RunLoader(self, opened, self._reopen)
        self.content = RunContent(self.loader, opened, self.session)
        self.long = self._following = self._finding = self._annotating = None
        self.forget_reruns()

    def compose(self) -> ComposeResult:
        """The lines and panes from top to bottom; two panes are places to be taken."""
        yield PlainStatic(id="header")
        yield RailView()
        yield TabLine(tuple(_TABS))
        with Container(id="columns"):
            yield ListPane(id="diff-place", classes="pane diff")
            yield self.content.gate
            yield self.content.self_tests
        yield ListPane(id="trajectory-place", classes="pane trajectory")
        yield HintBar()

    def on_mount(self) -> None:
        """Begins, and looks from time to time whether the run is still the same."""
        self._begin()
        self.set_interval(_LOOK_EVERY_S, lambda: self.loader.look_for_changes())

    def _begin(self) -> None:
        """Shows the gate and the tests in the first frame; the rest follows it."""
        self.lay_out()
        self.show_overview()
        self.content.show()
        self.content.show_beginning(self.query_one("#trajectory-place", ListPane))
        self._focus()
        self.call_after_refresh(self._bring_long_panes)

    async def _bring_long_panes(self) -> None:
        """Puts diff and trajectory into their places, and what they show into them."""
        from arcview.ui.screens.run_long import RunLong  # 40 ms after the first frame

        columns = self.query_one("#columns")
        if not columns.is_attached:
            return  # the person has quit already
        self.long = long = RunLong(
            self.loader, self.opened, self.session, self.content, absent=self._absent
        )
        with self.app.batch_update():
            await columns.mount(long.diff, long.tree, before="#diff-place")
            await self.mount(long.steps, before="#trajectory-place")
            self.lay_out()
            self._focus()
            await self.query(ListPane).remove()  # not before: the keys would go to another pane
        self.content.show_details()
        long.lay_out_diff()
        long.load()
        if self._at is not None:
            self._arrive(self._at)
        self.loader.overview()
        self.look_for_cases()
        self.look_for_reruns()

    async def take_again(self, opened: OpenRun) -> None:
        """Shows another reading of the run at the same place."""
        before, labels = self.session, self._annotating
        self.workers.cancel_all()
        self.is_stale, self._at = False, None
        self._take(opened)
        self.session.take_place_of(before)
        if labels is not None:
            self.annotating().work = labels.work
        await self.recompose()
        self._begin()
        self.content.filter_gate()

    def problems(self) -> tuple[Problem, ...]:
        """What is damaged or missing, as far as it was read."""
        states = self.opened.store.problems() if self.long is not None else ()
        steps = self.long.trajectory.problems if self.long and self.long.trajectory else ()
        return tuple(dict.fromkeys((*self.opened.problems, *states, *steps)))

    def on_unmount(self) -> None:
        """Removes the copies that an editor was given."""
        if self._following is not None:
            self._following.open.close()
        self.close_reruns()
        if self._annotating is not None:
            self._annotating.close()

    def _arrive(self, destination: Destination) -> None:
        """Goes to where the command line asked for."""
        if not self._reach(destination.target):
            self.notice("there is no such place in this run")
        if destination.spec or destination.log or destination.cell:
            self.following().open.arrive(destination)

    @property
    def context(self) -> Context:
        """The context of the focused pane."""
        return _CONTEXTS.get((self.focused.id if self.focused else None) or "", Context.RUN)

    # Applying changes

    def apply(self, change: Change) -> None:
        """Does what the session asks for."""
        if change.leave:
            self.leave()
            return
        if Part.STOP in change.parts:
            self.query_one(RailView).select(self.session.at)
            self.content.show()
            self.show_cases()
            self.show_reruns()
            if self.long is not None:
                self.long.expect()
            self.call_after_refresh(self._load_long)
        elif Part.DIFF in change.parts and self.long is not None:
            self.long.lay_out_diff()
            self.long.load_diff()
        if Part.GATE in change.parts:
            self.content.filter_gate()
        if change.parts & {Part.FOCUS, Part.LAYOUT}:
            self.lay_out()
            self._focus()
        if change.target is not None and not self._reach(change.target):
            self.notice("that is not shown here")
        if change.notice:
            self.notice(change.notice)

    def _absent(self, target: Target) -> None:
        """A place that was waited for is not in its pane."""
        state = self.session.pair.new
        if target.path is not None and state is not None:
            self.following().open.file(state, target.path, target.line or 1)
        else:
            self.notice("there is no such place here")

    def _load_long(self) -> None:
        if self.long is not None:
            self.long.load()

    def _reach(self, target: Target) -> bool:
        if target.test is not None:
            return self.content.go_to_test(target.test)
        if target.column is Column.SELF_TESTS and target.step is not None:
            return self.content.go_to_self_test(target.step)
        if target.column in (Column.DIFF, Column.TRAJECTORY):
            return self.long is not None and self.long.reach(target)
        if target.row is not None:
            self.pane(target.column).move_to(target.row)
        return True

    def pane(self, column: Column) -> RowView:
        """The widget that stands for a pane now."""
        match column:
            case Column.GATE:
                return self.content.gate
            case Column.SELF_TESTS:
                return self.content.self_tests
            case Column.DIFF if self.long is not None:
                return self.long.tree if self.tree_wanted else self.long.diff
            case Column.TRAJECTORY if self.long is not None:
                return self.long.steps
        return self.query_one(f"#{column.value}-place", ListPane)

    def lay_out(self) -> None:
        """Shows the panes that there is room for."""
        size = self.room
        shown = visible_columns(self.session, size.width, size.height)
        for column in Column:
            self.pane(column).display = column in shown
        if self.long is not None:
            beside = is_wide(size.width) and self.session.zoomed and Column.DIFF in shown
            self.long.tree.set_class(beside, "-beside")
            self.long.tree.display = Column.DIFF in shown and (beside or self.tree_wanted)
            self.long.diff.display = Column.DIFF in shown and (beside or not self.tree_wanted)
        self.query_one("#columns").display = shown != {Column.TRAJECTORY}
        absent = self.session.absent
        # Not for every run: a class that is new costs the first frame 3 ms.
        self.set_class(bool(absent) and is_wide(size.width), "-wide")
        self.set_class(Column.DIFF in absent, "-no-diff")
        self.set_class(Column.GATE in absent, "-no-gate")
        self.set_class(Column.TRAJECTORY in absent, "-no-steps")
        tabs = self.query_one(TabLine)
        tabs.display = not is_wide(size.width) and not self.session.zoomed
        tabs.select(next(name for name, c in _TABS.items() if c is self.session.tab))
        rail = self.query_one(RailView)
        rail.display = not self.session.zoomed
        rail.styles.height = 4 if is_tall(size.height) else 2

    def _focus(self) -> None:
        self.set_focus(self.pane(self.session.column))
        self.show_hints()

    def show_overview(self) -> None:
        """Draws header and rail."""
        overview = self.opened.overview
        self.query_one(RailView).set_items(
            rail_items(overview, self.session.stops), self.session.at
        )
        header = self.query_one("#header", PlainStatic)
        problems = len(self.problems())
        header.show(header_line(overview, self.room.width, problems=problems, stale=self.is_stale))

    def on_resize(self, event: Resize) -> None:
        """Another size may have room for other panes."""
        del event
        self.lay_out()
        self.show_overview()

    @on(DescendantFocus)
    def _pane_focused(self, event: DescendantFocus) -> None:
        """A click into a pane gives it the keys in the session too."""
        column = _COLUMNS.get(event.widget.id or "")
        if column is not None:
            self.apply(self.session.focus(column))

    # What is clicked and picked

    @on(RailView.StopPicked)
    def _stop_picked(self, message: RailView.StopPicked) -> None:
        self.apply(self.session.go_to(message.index))

    @on(TabLine.TabPicked)
    def _tab_picked(self, message: TabLine.TabPicked) -> None:
        self.apply(self.session.focus(_TABS[message.name]))

    @on(RowView.Picked)
    def _picked(self, message: RowView.Picked) -> None:
        message.stop()
        self.following().pick(message.view, message.index)

    def following(self) -> RunFollow:
        """The links of the screen."""
        if self._following is None:
            from arcview.ui.screens.run_follow import RunFollow  # 10 ms nobody needs to open a run

            self._following = RunFollow(self)
        return self._following

    def finding(self) -> RunFind:
        """The search through the whole run."""
        if self._finding is None:
            from arcview.ui.screens.run_find import RunFind  # only who searches needs it

            self._finding = RunFind(self)
        return self._finding

    def annotating(self) -> RunAnnotate:
        """The labels of the run."""
        if self._annotating is None:
            from arcview.ui.screens.annotate_run import RunAnnotate  # only who labels needs it

            self._annotating = RunAnnotate(self)
        return self._annotating

    # Keys that are more than a change of the session

    def action_file_tree(self) -> None:
        """The tree of changed files, and back."""
        self.show_tree(wanted=not self.tree_wanted)

    def show_tree(self, *, wanted: bool) -> None:
        """Puts the tree in the place of the diff, or takes it away."""
        self.tree_wanted = wanted
        self.session.focus(Column.DIFF)
        self.lay_out()
        self._focus()

    def jump(self, kind: Jump, direction: int) -> None:
        """Moves in the trajectory, from whatever pane."""
        self.apply(self.session.focus(Column.TRAJECTORY))
        if self.long is not None and not self.long.jump(kind, direction):
            what = {"test": "self-test"}.get(kind, kind)
            self.notice(f"no {what} {'further on' if direction > 0 else 'before'}")

    def action_play(self) -> None:
        """Goes on by itself from step to step, or stops."""
        self.play()

    def play(self) -> None:
        """Goes on by itself from step to step of a replay, or stops."""
        if not self.session.replaying:
            self.apply(self.session.toggle_replay())
        if self.long is not None:
            self.notice(self.long.replay.play(self))

    def jump_file(self, direction: int) -> None:
        """Moves to another file of the diff, from whatever pane."""
        self.show_tree(wanted=False)
        if self.long is not None and not self.long.jump_file(direction):
            self.notice(f"no file {'further on' if direction > 0 else 'before'}")

    def leave(self) -> None:
        """Back to the list of runs, where there is one."""
        if self._returns:
            self.dismiss()
        else:
            self.notice("there is nothing to go back to; q quits")
