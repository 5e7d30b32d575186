"""Which place of the run is under a cursor, as the address that a label points at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from arcview.analysis.candidates import Candidate
from arcview.analysis.frames import Frame, PathMapper, classify_frames
from arcview.analysis.symptoms import Symptom
from arcview.model.patch import FileChange
from arcview.model.results import GateTest
from arcview.session.address import Address
from arcview.session.annotate_marks import Role
from arcview.session.run_session_stops import DiffMode, Stop, StopKind
from arcview.session.trail import LineSource
from arcview.ui.rows.diff_file import Kind
from arcview.ui.rows.diff_layout import DiffPosition
from arcview.ui.rows.gate import GateRowKind, GateRows
from arcview.ui.rows.self_tests import SelfTestRows
from arcview.ui.rows.steps import BodyRow, StepRows
from arcview.ui.rows.steps_parts import PartKind, StepPart
from arcview.ui.rows.trail import StepLink

if TYPE_CHECKING:
    from arcview.session.annotate import AnnotateSession
    from arcview.ui.screens.run import RunScreen
    from arcview.ui.screens.run_long import RunLong


ROLES: Mapping[str, tuple[Role, ...]] = {
    "gate": (Role.EFFECT, Role.EVIDENCE),
    "cell": (Role.EFFECT, Role.EVIDENCE),
    "file": (Role.ORIGIN, Role.EVIDENCE),
    "diff": (Role.ORIGIN, Role.EVIDENCE),
    "step": (Role.ORIGIN, Role.ORIGIN_END, Role.AWARENESS, Role.EVIDENCE),
    "self": (Role.AWARENESS, Role.ORIGIN, Role.EVIDENCE),
    "spec": (Role.EVIDENCE, Role.ORIGIN),
}
"""What a place of a kind can be to a case, in the order of the key."""


def role_index(session: AnnotateSession, address: Address) -> int:
    """Position in its roles of what a place was just noted as."""
    part, roles = session.part, ROLES[address.pane]
    kinds = {"origins": Role.ORIGIN, "effects": Role.EFFECT, "awareness": Role.AWARENESS}
    role = kinds.get(part.kind) if part is not None else None
    events = session.store.events(session.case_id)
    carried = any(p.startswith("origins/") for p in events[-1].values) if events else False
    if role is Role.ORIGIN and not carried:
        role = Role.EVIDENCE
    return roles.index(role) if role in roles else roles.index(Role.EVIDENCE)


def gate_where(stop: Stop) -> str:
    """What addresses call a place of the rail: its gate, or the state that a pass ended in."""
    return stop.state or stop.gate if stop.kind is StopKind.BETWEEN else stop.gate


def steps_where(stop: Stop) -> str:
    """The same for its steps; those of the chain gate are the last stage's."""
    return str(stop.stage) if stop.kind is StopKind.CHAIN else gate_where(stop)


def under_cursor(screen: RunScreen) -> tuple[Address, ...]:
    """The places that the focused pane's cursor is on: several for a cause of many failures."""
    view, stop = screen.rows_view, screen.session.stop
    if view is not None and isinstance(view.source, GateRows):
        tests = view.source.members(view.cursor)
        if tests:
            return tuple(test_address(gate_where(stop), test) for test in tests)
    found = _under_cursor(screen)
    return () if found is None else (found,)


def _under_cursor(screen: RunScreen) -> Address | None:
    stop, view, long = screen.session.stop, screen.rows_view, screen.long
    if view is None:
        return None
    source = view.source
    if isinstance(source, GateRows):
        return _gate(source, view.cursor, gate_where(stop))
    if isinstance(source, SelfTestRows):
        return _self_test(source, view.cursor, stop)
    if long is None:
        return None
    if view is long.steps:
        return step_address(long.steps.rows, view.cursor, steps_where(stop))
    if view is long.tree:
        change = long.tree.change
        return None if change is None else _file(screen, long, DiffPosition(change, Kind.HEADER))
    position = long.diff.position if view is long.diff else None
    return None if position is None else _file(screen, long, position)


def _gate(rows: GateRows, cursor: int, where: str) -> Address:
    row = rows.at(cursor)
    if row.kind is GateRowKind.LOG:
        return log_address(where, row.key[1])
    return Address("gate", where)


def log_address(where: str, path: str, line: int | None = None) -> Address:
    """A line of a raw log of a gate."""
    return Address("gate", where, ("log", *path.split("/")), line)


def test_address(where: str, test: GateTest) -> Address:
    """A test of a gate."""
    return Address("gate", where, (test.group.value, test.id))


def _self_test(rows: SelfTestRows, cursor: int, stop: Stop) -> Address | None:
    row = rows.at(cursor)
    if row.test is not None:
        return Address("self", steps_where(stop), (row.test.step_key,))
    if row.change is not None:
        return Address("diff", gate_where(stop), tuple(row.change.path.split("/")))
    return None


def _file(screen: RunScreen, long: RunLong, position: DiffPosition) -> Address | None:
    """A line, a hunk or a file of the diff; of a replay nothing can be noted."""
    session = screen.session
    if session.replaying:
        return None
    parts = tuple(position.change.path.split("/"))
    own = session.mode is DiffMode.STAGE
    if position.new_line is not None and position.kind is not Kind.HUNK:
        if own:
            return Address("diff", gate_where(session.stop), parts, position.new_line)
        state = session.pair.new
        return None if state is None else Address("file", state, parts, position.new_line)
    if not own:
        state = session.pair.new
        return None if state is None else Address("file", state, parts)
    hunk = None if position.hunk is None else position.hunk + 1
    return Address("diff", gate_where(session.stop), parts, hunk=hunk)


def step_address(rows: StepRows, cursor: int, where: str) -> Address | None:
    """A step, or the line of one of its parts."""
    step, part = rows.step_at(cursor), rows.part_at(cursor)
    if step is None:
        return None
    whole = Address("step", where, (step.key,))
    if part is None:
        return whole
    name: tuple[str, ...]
    match part.kind:
        case PartKind.TEXT:
            name, text = ("text",), step.text
        case PartKind.THINKING:
            name, text = ("thinking",), step.thinking
        case PartKind.RAW:
            name, text = ("record",), step.raw or ""
        case PartKind.RESULT if part.call is not None and part.call.result is not None:
            name, text = (part.call.key, "result"), part.call.result.text
        case PartKind.CALL | PartKind.CHANGE | PartKind.CONTENT if part.call is not None:
            name, text = (part.call.key, "call"), part.call.command or ""
        case _:
            return whole
    anchor = rows.anchor(cursor)
    row = anchor[1] if isinstance(anchor, tuple) else None
    span = _line_span(part, row, text) if isinstance(row, BodyRow) and text else None
    return replace(whole, parts=(step.key, *name), span=span)


def _line_span(part: StepPart, row: BodyRow, text: str) -> tuple[int, int] | None:
    """Offsets of the line in the text that the part shows; null for a folded or empty line."""
    if row.line < 0 or "\n".join(part.lines) != text.strip("\n") or not part.lines[row.line]:
        return None
    before = len(text) - len(text.lstrip("\n"))
    start = before + sum(len(line) + 1 for line in part.lines[: row.line])
    return start, start + len(part.lines[row.line])


def link_address(link: object, stop: Stop, mapper: PathMapper | None) -> Address | None:
    """What a link on the screen of a failing test leads to; null for one that leads nowhere."""
    state = stop.state or ""
    match link:
        case Frame():
            path = link.workspace_path
            if path is None and mapper is not None:
                path = classify_frames([link], mapper)[0].workspace_path
            return None if path is None else Address("file", state, _parts(path), link.line)
        case Candidate():
            return Address("file", state, _parts(link.path), link.line)
        case FileChange():
            return Address("diff", gate_where(stop), _parts(link.path))
        case StepLink():
            return Address("step", link.state, (link.share.step_key,))
        case LineSource() if link.step_key is not None:
            where = link.state if link.is_pass else str(link.stage)
            return Address("step", where, (link.step_key,))
        case Symptom():
            return Address("step", link.state or str(link.stage), (link.step,))
    return None


def _parts(path: str) -> tuple[str, ...]:
    return tuple(path.split("/"))


def ranged(begin: Address | None, end: Address) -> Address:
    """From one place to another of the same text; the second alone where they are of two."""
    if begin is None or (begin.pane, begin.where, begin.parts) != (end.pane, end.where, end.parts):
        return end
    if begin.line is not None and end.line is not None and begin.line != end.line:
        first, last = sorted((begin.line, end.line))
        return replace(end, line=first, last_line=last)
    if begin.span is not None and end.span is not None:
        return replace(end, span=(min(*begin.span, *end.span), max(*begin.span, *end.span)))
    return end
