"""What enter and the jump keys of the run screen do: open what is whole, follow what leads on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcview.analysis.frames import Frame, PathMapper
from arcview.errors import ArcviewError
from arcview.session.run_session import Column, Target
from arcview.session.run_session_links import next_in, steps_editing
from arcview.text import decode
from arcview.ui import theme
from arcview.ui.rows.failure import failure_sections, frame_in
from arcview.ui.rows.gate import GateRow, GateRowKind, GateRows
from arcview.ui.rows.lines import RowSource
from arcview.ui.rows.sections import Section, SectionRows
from arcview.ui.rows.self_tests import SelfTestRowKind, SelfTestRows
from arcview.ui.rows.text_view import TextRows
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.base import say_on_top
from arcview.ui.screens.run_titles import stop_name
from arcview.ui.screens.text import Follow, TextScreen
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.ui.screens.run import RunScreen
    from arcview.ui.screens.run_long import RunLong


class RunFollow:
    """The links of one run screen."""

    def __init__(self, screen: RunScreen) -> None:
        self._screen = screen
        self._mappers: dict[str, PathMapper] = {}

    def pick(self, view: RowView, index: int) -> None:
        """Opens or follows a row of a pane."""
        source = view.source
        if isinstance(source, GateRows):
            self._pick_gate(source, view, index)
        elif isinstance(source, SelfTestRows):
            self._pick_self_test(source, view, index)
        elif view is self._long.tree:
            self._pick_file()
        elif view is self._long.diff:
            self.next_editing_step()
        elif view is self._long.steps:
            self._pick_step()

    @property
    def _long(self) -> RunLong:
        long = self._screen.long
        if long is None:
            raise ArcviewError("diff and trajectory are still being made ready")
        return long

    # Gate

    def _pick_gate(self, rows: GateRows, view: RowView, index: int) -> None:
        row = rows.at(index)
        if row.kind is GateRowKind.LOG:
            self.open_log(row.key[1])
        elif row.test is not None:
            self._open_test(row)
        else:
            with view.keeping_place():
                rows.toggle(index)

    def _open_test(self, row: GateRow) -> None:
        assert row.test is not None
        rows = SectionRows(failure_sections(row.test, row.history))

        def follow(index: int) -> None:
            number, line = rows.place(index)
            frame = frame_in(rows.sections[number].text, line)
            if frame is not None:
                self._follow_frame(frame)

        self._open(row.test.id, rows, follow=follow)

    def _follow_frame(self, frame: Frame) -> None:
        """To the file and line in the diff if it is there, else in the workspace."""
        screen = self._screen
        state = screen.session.stop.state
        mapper = self._mapper(state)
        if state is None or mapper is None:
            return
        path = mapper.resolve(frame.path)
        if path is None:
            say_on_top(screen.app, f"{frame.path} is not a file of the workspace")
            return
        if self._diff_shows(path, frame.line):
            screen.app.pop_screen()
            self._follow(Target(Column.DIFF, path=path, line=frame.line))
        else:
            self.open_file(state, path, frame.line)

    def _diff_shows(self, path: str, line: int) -> bool:
        pair = self._screen.session.pair
        changes = self._long.changes or ()
        if pair.new != self._screen.session.stop.state or pair.old is None or pair.new is None:
            return False
        if not any(change.path == path for change in changes):
            return False
        patch = self._screen.opened.store.patch(pair.old, pair.new, path)
        return any(h.new_start <= line < h.new_start + h.new_count for h in patch.hunks)

    def open_first_log(self) -> None:
        """The raw log of the gate on the screen."""
        source = self._screen.content.gate.source
        paths = source.logs if isinstance(source, GateRows) else ()
        if paths:
            self.open_log(paths[0])
        else:
            self._screen.notice("no log of this gate is recorded")

    def open_log(self, path: str) -> None:
        """A raw log or report of the gate."""
        try:
            text = self._screen.opened.text(path)
        except ArcviewError as error:
            self._screen.notice(str(error))
            return
        self._open(path, TextRows(text, numbered=True))

    # Self-tests, files, steps

    def _pick_self_test(self, rows: SelfTestRows, view: RowView, index: int) -> None:
        row = rows.at(index)
        if row.test is not None:
            self._follow(Target(Column.TRAJECTORY, step=row.test.call_key))
        elif row.kind is SelfTestRowKind.FILE and row.change is not None:
            self._follow(Target(Column.DIFF, path=row.change.path))
        else:
            with view.keeping_place():
                rows.toggle(index)

    def _pick_file(self) -> None:
        change = self._long.tree.change
        if change is not None:
            self._screen.show_tree(wanted=False)
            self._long.diff.go_to(change.path)

    def _pick_step(self) -> None:
        """A line of an edit leads to the file in the diff; any other opens whole."""
        call = self._long.steps.call
        mapper = self._mapper(self._screen.session.pair.new, quiet=True)
        changes = self._long.changes or ()
        if call is not None and call.path is not None and mapper is not None:
            path = mapper.resolve(call.path)
            if path is not None and any(change.path == path for change in changes):
                self._follow(Target(Column.DIFF, path=path))
                return
        self.whole_text()

    def whole_text(self) -> None:
        """What is under the cursor of the trajectory, not cut anywhere."""
        detail = self._long.steps.detail
        step = self._long.steps.step
        if detail and step is not None:
            number = f" · step {step.number}" if step.number is not None else ""
            self._open(f"{stop_name(self._screen.session.stop)}{number}", TextRows(detail))

    def next_editing_step(self) -> None:
        """Goes round the steps that edited the file under the cursor of the diff."""
        screen = self._screen
        path = self.file_under_cursor()
        if path is None:
            screen.notice("no file is under the cursor")
            return
        trajectory = self._long.trajectory
        mapper = self._mapper(screen.session.pair.new)
        if mapper is None:
            return
        if trajectory is None:
            screen.notice("no trajectory is recorded, or it is still being read")
            return
        keys = steps_editing(trajectory, path, mapper)
        step = self._long.steps.step
        key = next_in(keys, step.key if step is not None else None)
        if key is None:
            screen.notice(f"no edit call of this stage names {path}; a shell command may have")
            return
        self._follow(Target(Column.TRAJECTORY, step=key))
        screen.notice(f"{path}: edit {keys.index(key) + 1} of {len(keys)} (i: next one)")

    def file_under_cursor(self) -> str | None:
        """The file that the cursor of the diff, the tree or the trajectory is on."""
        content = self._long
        if self._screen.focused is content.tree:
            return content.tree.change.path if content.tree.change else None
        if self._screen.focused is content.steps:
            call = content.steps.call
            mapper = self._mapper(self._screen.session.pair.new, quiet=True)
            if call is not None and call.path is not None and mapper is not None:
                return mapper.resolve(call.path)
            return None
        position = content.diff.position
        return position.change.path if position is not None else None

    # Going

    def _follow(self, target: Target) -> None:
        view = self._screen.rows_view
        row = view.cursor if view is not None else 0
        self._screen.apply(self._screen.session.follow(target, row))

    def _mapper(self, state: str | None, *, quiet: bool = False) -> PathMapper | None:
        """Maps container paths to files of a state, once its files are known."""
        if state is None:
            return None
        if state not in self._mappers:
            if self._long.changes is None:
                if not quiet:
                    self._screen.notice("the workspaces are not read yet, or not recorded")
                return None
            files = [entry.path for entry in self._screen.opened.store.entries(state)]
            workdir = self._screen.opened.run.chain.workdir
            self._mappers[state] = PathMapper(files, workdir)
        return self._mappers[state]

    # Opening

    def open_file(self, state: str, path: str, line: int = 1) -> None:
        """A whole file of a state, at a line."""
        data = self._screen.opened.store.file(state, path)
        if data is None:
            self._screen.notice(f"{path} is not in {state}")
            return
        decoded = decode(data)
        if decoded.binary:
            self._screen.notice(f"{path} is not text")
            return
        rows = TextRows(decoded.text, wrapped=False, numbered=True, terminal=False, path=path)
        self._open(f"{path} in {state}", rows, cursor=rows.row_of(line))

    def open_sections(self, title: str, sections: tuple[Section, ...]) -> None:
        """Texts under headings."""
        self._open(title, SectionRows(sections))

    def open_text(self, title: str, text: str) -> None:
        """One text."""
        self._open(title, TextRows(text))

    def _open(
        self, title: str, rows: RowSource, *, follow: Follow | None = None, cursor: int = 0
    ) -> None:
        content = pieces((one_line(title), "bold"), ("  backspace returns", theme.MUTED))
        self._screen.app.push_screen(TextScreen(content, rows, follow=follow, cursor=cursor))
