"""What enter and the jump keys of the run screen do: open what is whole, follow what leads on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcview.analysis.candidates import Candidate
from arcview.analysis.frames import Frame, PathMapper, classify_frames
from arcview.analysis.gate_view import FailingTest
from arcview.analysis.symptoms import Symptom
from arcview.errors import ArcviewError
from arcview.model.patch import FileChange, LineKind
from arcview.model.results import GateTest
from arcview.session.address import Address
from arcview.session.run_session import Column, Target
from arcview.session.run_session_stops import StopKind
from arcview.session.trail import LineSource
from arcview.ui.rows.failure import failure_sections
from arcview.ui.rows.gate import GateRow, GateRowKind, GateRows
from arcview.ui.rows.sections import Section, SectionRows
from arcview.ui.rows.self_tests import SelfTestRowKind, SelfTestRows
from arcview.ui.rows.text_view import TextRows
from arcview.ui.rows.trail import StepLink, written_by
from arcview.ui.screens.base import say_on_top
from arcview.ui.screens.run_follow_edits import EditingSteps
from arcview.ui.screens.run_messages import (
    LineTraced,
    TrailFound,
)
from arcview.ui.screens.run_open import RunOpen
from arcview.ui.screens.run_titles import stop_name
from arcview.ui.screens.text import TextScreen
from arcview.ui.widgets.row_view import RowView

if TYPE_CHECKING:
    from arcview.session.copied import CopyPart
    from arcview.ui.screens.run import RunScreen
    from arcview.ui.screens.run_long import RunLong


class RunFollow:
    """The links of one run screen."""

    def __init__(self, screen: RunScreen) -> None:
        self._screen = screen
        self.open = RunOpen(screen)
        self._editing = EditingSteps(screen, self._mapper, self._follow)
        self._mappers: dict[tuple[str, str | None], PathMapper] = {}
        self._failure: tuple[FailingTest, SectionRows, TextScreen] | None = None

    def pick(self, view: RowView, index: int) -> None:
        """Opens or follows a row of a pane."""
        source = view.source
        if isinstance(source, GateRows):
            self._pick_gate(source, view, index)
        elif isinstance(source, SelfTestRows):
            self._pick_self_test(source, view, index)
        elif self._screen.long is None:
            return
        elif view is self._long.tree:
            self._pick_file()
        elif view is self._long.diff:
            self._pick_line()
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
            self.open.log(row.key[1])
        elif row.test is not None:
            self._open_test(row)
        else:
            with view.keeping_place():
                rows.toggle(index)

    def open_test_under_cursor(self) -> tuple[SectionRows, TextScreen] | None:
        """The test that the gate's cursor is on; null where it is on none."""
        gate = self._screen.content.gate
        row = gate.source.at(gate.cursor) if isinstance(gate.source, GateRows) else None
        return self._open_test(row) if row is not None and row.test is not None else None

    def _open_test(self, row: GateRow) -> tuple[SectionRows, TextScreen]:
        """All of a test at once; where it comes from follows from a thread."""
        assert row.test is not None
        waiting = (Section("Where it comes from", "… following the failure\n"),)
        trail = waiting if row.failing is not None else ()
        rows = SectionRows(failure_sections(row.test, row.history, trail))

        def follow(index: int) -> None:
            self._follow_link(rows.link_at(index))

        screen = self.open.rows(row.test.id, rows, follow=follow)
        screen.test = test = row.test
        screen.edit = lambda index: self._edit_link(rows.link_at(index))
        self.open.annotatable(screen, lambda index: self._place(rows.link_at(index), test))
        if row.failing is not None:
            self._failure = row.failing, rows, screen
            self._screen.loader.trail(self._screen.session.stop, row.failing)
        return rows, screen

    def put_trail(self, found: TrailFound) -> None:
        """Shows where the test leads that is open."""
        if self._failure is None or self._failure[0] != found.test:
            return
        failing, rows, screen = self._failure
        if screen is self._screen.app.screen:
            # Where the screen is to begin may not be shown yet, and its row has another number now.
            begin = rows.anchor(screen.cursor) if screen.cursor else None
            with screen.view.keeping_place():
                rows.replace(failure_sections(failing.test, failing.history, found.sections))
            if begin is not None:
                screen.cursor = rows.locate(begin)
            lead = rows.first_link(found.sections[0].title) if found.sections else None
            if lead is not None and begin is None and screen.view.cursor == 0:
                screen.cursor = lead  # where the screen begins, if it does not show anything yet
                screen.view.move_to(lead)

    def open_first_log(self) -> None:
        """The raw log of the gate on the screen."""
        source = self._screen.content.gate.source
        paths = source.logs if isinstance(source, GateRows) else ()
        if paths:
            self.open.log(paths[0])
        else:
            self._screen.notice("no log of this gate is recorded")

    def _place(self, link: object | None, test: GateTest) -> Address | None:
        """What a row of a test's screen is: what it leads to, else the test."""
        from arcview.ui.screens.annotate_places import gate_where, link_address, test_address

        stop = self._screen.session.stop
        if link is None:
            return test_address(gate_where(stop), test)
        found = link_address(link, stop, self._mapper(stop.state, stop.gate))
        # The gate's own files have no address; what is said of them is said of the test.
        return found or test_address(gate_where(stop), test)

    # Links inside a test

    def _follow_link(self, link: object | None) -> None:
        match link:
            case Frame():
                self._follow_frame(link)
            case Candidate():
                self._follow_place(link.path, link.line)
            case FileChange():
                self._follow_place(link.path, self._first_changed_line(link.path))
            case StepLink():
                self._follow_step(link)
            case Symptom():
                stop = self._stop_of_steps(link.stage, link.state)
                self._close_and_follow(Target(Column.TRAJECTORY, step=link.call), stop)
            case LineSource():
                self._follow_source(link)

    def _follow_frame(self, frame: Frame) -> None:
        frame = self._mapped(frame)
        if frame.overlay_path is not None:
            gate = self._screen.session.stop.gate
            self.open.gate_file(gate, frame.overlay_path, frame.line)
        elif frame.workspace_path is not None:
            self._follow_place(frame.workspace_path, frame.line)
        else:
            say_on_top(self._screen.app, f"{frame.path} is not a file of the workspace")

    def _edit_link(self, link: object | None) -> bool:
        """The file that a link leads to, in the editor; false where it leads to none."""
        state, path, line = self._screen.session.stop.state, None, 1
        match link:
            case Frame():
                path, line = self._mapped(link).workspace_path, link.line
            case Candidate():
                path, line = link.path, link.line
            case FileChange():
                path, line = link.path, self._first_changed_line(link.path) or 1
        if state is None or path is None:
            return False
        return self.open.in_editor(state, path, line)

    def _mapped(self, frame: Frame) -> Frame:
        """A frame with the file that it is in, where that is known."""
        stop = self._screen.session.stop
        mapper = self._mapper(stop.state, stop.gate)
        if frame.workspace_path is not None or mapper is None:
            return frame
        return classify_frames([frame], mapper)[0]

    def _follow_place(self, path: str, line: int | None) -> None:
        """To the file and line in the diff if it is there, else in the workspace."""
        state = self._screen.session.stop.state
        if self._diff_shows(path, line):
            self._close_and_follow(Target(Column.DIFF, path=path, line=line))
        elif state is not None:
            self.open.file(state, path, line or 1)

    def _first_changed_line(self, path: str) -> int | None:
        pair = self._screen.session.pair
        if pair.old is None or pair.new is None or not self._diff_shows(path, None):
            return None
        hunks = self._screen.opened.store.patch(pair.old, pair.new, path).hunks
        lines = (line for hunk in hunks for line in hunk.lines if line.kind is LineKind.ADDED)
        return next((line.new_number for line in lines), None)

    def _follow_step(self, link: StepLink) -> None:
        stops = enumerate(self._screen.session.stops)
        stop = next(
            (i for i, s in stops if s.state == link.state and s.kind is not StopKind.CHAIN), None
        )
        self._close_and_follow(Target(Column.TRAJECTORY, step=link.share.step_key), stop)

    def _diff_shows(self, path: str, line: int | None) -> bool:
        pair = self._screen.session.pair
        changes = self._long.changes or ()
        if pair.new != self._screen.session.stop.state or pair.old is None or pair.new is None:
            return False
        if not any(change.path == path for change in changes):
            return False
        if line is None:
            return True
        patch = self._screen.opened.store.patch(pair.old, pair.new, path)
        return any(h.new_start <= line < h.new_start + h.new_count for h in patch.hunks)

    def _close_and_follow(self, target: Target, stop: int | None = None) -> None:
        self.uncover()
        self._follow(target, stop)

    def uncover(self) -> None:
        """Closes the texts that are open over the run screen."""
        app = self._screen.app
        while app.screen is not self._screen:
            app.pop_screen()

    def _follow_source(self, source: LineSource) -> None:
        """To the step that wrote a line, whatever stage that was in."""
        stop = self._stop_of(source)
        if source.step_key is None or stop is None:
            say_on_top(self._screen.app, f"written by {written_by(source)}")
            return
        target = Target(Column.TRAJECTORY, step=source.step_key)
        self._close_and_follow(target, stop)
        self._screen.notice(f"written by {written_by(source)}; backspace returns")

    def _stop_of(self, source: LineSource) -> int | None:
        return self._stop_of_steps(source.stage, source.state if source.is_pass else None)

    def _stop_of_steps(self, stage: int, between: str | None) -> int | None:
        """The stop whose trajectory has the steps of a stage, or of the pass to a state."""
        stops = enumerate(self._screen.session.stops)
        if between is not None:
            return next((i for i, stop in stops if stop.state == between), None)
        return next((i for i, stop in stops if stop.gate == str(stage)), None)

    # Self-tests, files, steps

    def _pick_self_test(self, rows: SelfTestRows, view: RowView, index: int) -> None:
        row = rows.at(index)
        if row.step is not None:
            self._follow(Target(Column.TRAJECTORY, step=row.step))
        elif row.gate_test is not None:
            self._follow(Target(Column.GATE, test=row.gate_test.id))
        elif row.test is not None:
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

    def _pick_line(self) -> None:
        """To the step that wrote the line under the cursor of the diff."""
        position = self._long.diff.position
        state = self._screen.session.pair.new
        if position is None or position.new_line is None or state is None:
            self.next_editing_step()
            return
        if self._screen.session.replaying:
            self._long.replay.trace(position.change.path, position.new_line)
            return
        self._screen.notice("… who wrote this line")
        self._screen.loader.trace_line(state, position.change.path, position.new_line)

    def put_line(self, traced: LineTraced) -> None:
        """Follows a line to the step that wrote it."""
        if traced.source is None:
            say_on_top(self._screen.app, traced.error or f"not known who wrote line {traced.line}")
        else:
            self._follow_source(traced.source)

    def _pick_step(self) -> None:
        """A line of an edit leads to the file in the diff; any other opens whole."""
        path = self.file_under_cursor()
        if path is not None and any(c.path == path for c in self._long.changes or ()):
            self._follow(Target(Column.DIFF, path=path))
        else:
            self.whole_text()

    def whole_text(self) -> None:
        """What is under the cursor of the trajectory, not cut anywhere."""
        detail = self._long.steps.detail
        step = self._long.steps.step
        if detail and step is not None:
            number = f" · step {step.number}" if step.number is not None else ""
            self.open.rows(f"{stop_name(self._screen.session.stop)}{number}", TextRows(detail))

    def next_editing_step(self) -> None:
        """Goes round the steps that edited the file under the cursor."""
        self._editing.next(self.file_under_cursor())

    def authors_known(self, state: str, path: str) -> None:
        """Told that a thread found out who wrote the lines of a file."""
        self._editing.authors_known(state, path)

    def file_under_cursor(self) -> str | None:
        """The file that the cursor of the diff, the tree or the trajectory is on."""
        long = self._long
        if self._screen.focused is long.tree:
            return long.tree.change.path if long.tree.change else None
        if self._screen.focused is long.steps:
            call = long.steps.call
            mapper = self._mapper(self._screen.session.pair.new)
            named = call.path if call is not None else None
            return mapper.resolve(named) if named is not None and mapper is not None else None
        position = long.diff.position
        return position.change.path if position is not None else None

    def view_file(self) -> None:
        """The file under the cursor as it is in the newer state, at the line of the cursor."""
        path, state = self.file_under_cursor(), self._screen.session.pair.new
        if path is None or state is None:
            self._screen.notice("no file is under the cursor")
        elif self._screen.session.replaying:
            self._long.replay.view_file(self.open, path, self._line_under_cursor())
        else:
            self.open.file(state, path, self._line_under_cursor())

    def _line_under_cursor(self) -> int:
        on_diff = self._screen.focused is self._long.diff
        position = self._long.diff.position if on_diff else None
        return (position.new_line if position is not None else None) or 1

    def open_in_editor(self) -> None:
        """The file under the cursor, as it is in the newer state, at the line of the cursor."""
        path = self.file_under_cursor()
        pair = self._screen.session.pair
        if path is None or pair.new is None:
            self._screen.notice("no file is under the cursor")
            return
        self.open.in_editor(pair.new, path, self._line_under_cursor())

    def part_under_cursor(self, part: CopyPart) -> str:
        """The address, test id, message or change under the cursor; empty where there is none."""
        from arcview.ui.screens.run_copy import part_under_cursor  # only who copies needs it

        return part_under_cursor(self._screen, part)

    # Going

    def _follow(self, target: Target, stop: int | None = None) -> None:
        view = self._screen.rows_view
        row = view.cursor if view is not None else 0
        self._screen.apply(self._screen.session.follow(target, row, stop))

    def _mapper(self, state: str | None, gate: str | None = None) -> PathMapper | None:
        """Maps container paths to files of a state and a gate, once the state's are known."""
        if state is None or self._screen.long is None or self._long.changes is None:
            return None
        if (state, gate) not in self._mappers:
            run = self._screen.opened.run
            files = [entry.path for entry in self._screen.opened.store.entries(state)]
            laid = [file.path for file in run.overlay(gate)] if gate is not None else []
            self._mappers[state, gate] = PathMapper(files, run.chain.workdir, laid)
        return self._mappers[state, gate]
