"""The replay of one run screen: the workspace after the step under the trajectory's cursor."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.timer import Timer
from textual.widget import Widget

from arcview.model.patch import FileChange, FilePatch
from arcview.session.opened import OpenRun
from arcview.session.replay import Snapshot
from arcview.session.run_session import RunSession
from arcview.session.run_session_stops import end_of_steps
from arcview.ui.screens import run_titles
from arcview.ui.screens.run_content import say
from arcview.ui.screens.run_loader import RunLoader
from arcview.ui.screens.run_messages import (
    ReplayLoaded,
)
from arcview.ui.screens.run_titles import set_remark, set_title

if TYPE_CHECKING:
    from arcview.ui.screens.run_long import RunLong
    from arcview.ui.screens.run_open import RunOpen

_PACE_S = 0.7


class RunReplay:
    """Follows the trajectory's cursor while the session replays.

    Args:
        long: The panes that it reads the cursor of and shows the workspace in.
        loader: Gets the workspaces.
        opened: The run.
        session: Says whether there is a replay at all.
    """

    def __init__(
        self, long: RunLong, loader: RunLoader, opened: OpenRun, session: RunSession
    ) -> None:
        self._long = long
        self._loader = loader
        self._opened = opened
        self._session = session
        self._wanted: tuple[str | None, int] | None = None
        self._shown: Snapshot | None = None
        self._changes: tuple[FileChange, ...] = ()
        self._timer: Timer | None = None

    def follow(self, *, again: bool = False) -> None:
        """Asks for the workspace after the step under the cursor, where that is another one."""
        steps = self._long.steps
        place = steps.rows.step_index(steps.cursor)
        if not self._session.replaying or self._long.trajectory is None or place is None:
            return
        wanted = end_of_steps(self._opened.run, self._session.stop), place
        if again or wanted != self._wanted:
            if again:
                self._shown = None
            self._wanted = wanted
            self._loader.replay(*wanted)

    def put(self, loaded: ReplayLoaded) -> None:
        """Shows a workspace; the cursor goes to what the step changed, else stays on its line."""
        if not self._session.replaying or (loaded.state, loaded.place) != self._wanted:
            return
        snapshot, diff = loaded.snapshot, self._long.diff
        if snapshot is None:
            self._long.changes = None
            say(diff, loaded.error or "not known")
            self._shown = None
            return
        before, self._shown, self._changes = self._shown, snapshot, loaded.changes
        if before is None or not _is_same(before, snapshot):
            at = diff.position
            self._show(snapshot, loaded.changes)
            if snapshot.focus is not None:
                diff.go_to(*snapshot.focus)
            elif at is not None:
                diff.go_to(at.change.path, at.new_line)
        self.title()

    def _show(self, snapshot: Snapshot, changes: tuple[FileChange, ...]) -> None:
        self._long.changes = changes
        store = self._opened.store
        by_path = {patch.change.path: patch for patch in snapshot.patches}

        def load(change: FileChange) -> FilePatch:
            if snapshot.step_state is None:
                return by_path[change.path]
            return store.patch(snapshot.base, snapshot.step_state, change.path)

        def read(change: FileChange) -> bytes | None:
            return self._read(snapshot, change.path)

        self._long.diff.show(changes, load, read, empty=f"Nothing changed since {snapshot.base}")
        self._long.tree.show(changes)

    def _read(self, snapshot: Snapshot, path: str) -> bytes | None:
        if snapshot.step_state is not None:
            return self._opened.store.file(snapshot.step_state, path)
        if path not in snapshot.texts:
            return self._opened.store.file(snapshot.base, path)
        text = snapshot.texts[path]
        return None if text is None else text.encode("utf-8", "replace")

    def view_file(self, to: RunOpen, path: str, line: int) -> None:
        """Opens a file as it stands in the replay; enter on a line goes to the step."""
        if self._shown is None:
            return
        name = f"{self._shown.base} after step {self._shown.number or '–'}"
        opened = to.data(name, path, self._read(self._shown, path), line)
        if opened is not None:
            opened.trace = partial(self.trace, path)

    def trace(self, path: str, line: int) -> None:
        """Finds out which stage and step wrote a line of the workspace that is shown."""
        if self._wanted is not None:
            self._loader.trace_replayed(*self._wanted, path, line)

    def title(self) -> None:
        """Says which step it is after, and how sure that is."""
        if self._shown is not None:
            diff = self._long.diff
            pair = run_titles.replay_pair(self._shown.base, self._shown.number)
            set_title(diff, run_titles.replay_title(pair, self._changes))
            set_title(self._long.tree, run_titles.tree_title(pair, self._changes))
            set_remark(diff, run_titles.replay_remark(self._shown))

    # Playing

    def play(self, on: Widget) -> str:
        """Goes on by itself, or stops; returns what to say."""
        if self._timer is not None:
            self.stop()
            return "paused"
        self._timer = on.set_interval(_PACE_S, self.tick)
        return "playing; > or space pauses"

    def tick(self) -> None:
        """One step on; stops at the last one."""
        if not self._session.replaying or not self._long.jump("step", 1):
            self.stop()

    def stop(self) -> None:
        """Plays no more."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None


def _is_same(one: Snapshot, other: Snapshot) -> bool:
    if (one.base, one.step_state) != (other.base, other.step_state):
        return False
    return one.step_state is not None or one.patches == other.patches
