"""What stands in the borders of the panes: names, counts, modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from arcview.analysis.gate_view import GateView
from arcview.analysis.overview import StageRow
from arcview.analysis.self_tests import SelfTest
from arcview.model.patch import FileChange
from arcview.model.results import Verdict
from arcview.model.run import Run
from arcview.model.states import Provenance
from arcview.session.run_session_stops import DiffMode, StatePair, Stop, StopKind
from arcview.ui import theme
from arcview.ui.rows.figures import (
    STATUS_BADGE,
    VERDICT_GLYPH,
    VERDICT_STYLE,
    counted,
    fraction,
    plural,
)
from arcview.ui.rows.self_tests import summary
from arcview.ui.safe import one_line, pieces

if TYPE_CHECKING:
    from arcview.model.trajectory import Step
    from arcview.session.replay import Snapshot

_MODE_NAME = {
    DiffMode.STAGE: "",
    DiffMode.BEFORE: "before the stage",
    DiffMode.CUMULATIVE: "since the start",
    DiffMode.CHOSEN: "two states",
    DiffMode.REFERENCE: "against the reference",
}
_TRACK = 16


def stop_name(stop: Stop) -> str:
    """`stage 3`, `S2.refactor`, `chain gate`."""
    if stop.kind is StopKind.CHAIN:
        return "chain gate"
    if stop.kind is StopKind.BETWEEN:
        return one_line(stop.state or "between")
    return f"stage {stop.stage}"


def diff_title(pair: StatePair, mode: DiffMode, changes: Sequence[FileChange] | None) -> Content:
    """`Diff S2→S3  4 files +212 −31`."""
    parts: list[tuple[str, str]] = [("Diff ", "bold"), (one_line(pair.title), "")]
    if _MODE_NAME[mode]:
        parts.append((f" {_MODE_NAME[mode]}", theme.MUTED))
    if changes is not None and not changes:
        parts.append(("  unchanged", theme.MUTED))
    elif changes is not None:
        added = sum(change.added or 0 for change in changes)
        removed = sum(change.removed or 0 for change in changes)
        parts += [
            (f"  {plural(len(changes), 'file')} ", theme.MUTED),
            (f"+{added:,} ", theme.ADDED),
            (f"−{removed:,}", theme.REMOVED),
        ]
    return pieces(*parts)


def replay_pair(base: str, number: int | None) -> StatePair:
    """A state and the workspace after a step: `S2→step 12`."""
    step = f"step {number}" if number is not None else "here"
    return StatePair(base, None, f"{base}→{step}")


def replay_title(pair: StatePair, changes: Sequence[FileChange]) -> Content:
    """`Replay S2→step 12  3 files +40 −2`."""
    counted = diff_title(pair, DiffMode.STAGE, changes)
    return pieces(("Replay ", "bold"), counted[len("Diff ") :])


def replay_remark(snapshot: Snapshot) -> Content:
    """How sure the workspace of a replay is."""
    if snapshot.step_state is not None:
        return pieces(("as recorded after the step", theme.MUTED))
    said = [f"reconstructed from {plural(snapshot.edits, 'edit')}"]
    if snapshot.misfits:
        said[0] += f", {snapshot.misfits:,} did not fit"
    if snapshot.commands:
        said.append(f"{plural(snapshot.commands, 'shell command')} not replayed")
    return pieces((" · ".join(said), theme.WARN))


def tree_title(pair: StatePair, changes: Sequence[FileChange] | None) -> Content:
    """`Files S2→S3  4 changed`."""
    count = f"  {len(changes):,} changed" if changes is not None else ""
    return pieces(("Files ", "bold"), one_line(pair.title), (count, theme.MUTED))


def diff_remark(run: Run, pair: StatePair, notes: Sequence[str], *, split: bool) -> Content:
    """What stands in the lower border of the diff: its layout, and how sure its states are."""
    remarks = ["side by side"] if split else []
    for state_id in (pair.old, pair.new):
        state = run.state(state_id)
        if state is not None and state.provenance is not Provenance.RECORDED:
            remarks.append(f"{state.id} is {state.provenance.value}")
    return pieces((one_line(" · ".join((*remarks, *notes))), theme.MUTED))


def steps_remark(row: StageRow | None, stop: Stop) -> Content:
    """What stands in the lower border of the trajectory: how the stage ended, where not well."""
    if row is None or stop.kind is not StopKind.STAGE:
        return Content("")
    badge = STATUS_BADGE.get(row.status, "")
    detail = f": {row.status_detail}" if badge and row.status_detail else ""
    said = (f"{badge}{detail}", *row.notes) if badge else row.notes
    return pieces((one_line(" · ".join(said)), theme.WARN if badge else theme.MUTED))


def gate_title(stop: Stop, view: GateView | None) -> Content:
    """`Gate 3  ✗ F2P 4/9  P2P 97/99`."""
    name = "chain" if stop.kind is StopKind.CHAIN else str(stop.stage)
    after = f" on {one_line(stop.state or '')}" if stop.kind is StopKind.BETWEEN else ""
    parts: list[tuple[str, str]] = [(f"Gate {name}{after}", "bold")]
    if view is not None:
        verdict = view.cell.judgement.verdict
        parts.append((f"  {VERDICT_GLYPH[verdict]} ", VERDICT_STYLE[verdict]))
        parts.append((_gate_counts(view), ""))
    return pieces(*parts)


def _gate_counts(view: GateView) -> str:
    cell = view.cell
    groups = counted(cell.f2p, cell.p2p, cell.other)
    counts = [f"{name} {fraction(group)}" for name, group in groups]
    if not counts:
        return "not measured" if cell.judgement.verdict is Verdict.UNMEASURED else ""
    return "  ".join(counts)


def set_title(widget: Widget, title: Content) -> None:
    """Puts content into the upper border; a plain string there would be parsed as markup."""
    widget.border_title = title


def set_remark(widget: Widget, remark: Content) -> None:
    """Puts content into the lower border."""
    widget.border_subtitle = remark


def self_tests_title(tests: Sequence[SelfTest] | None, *, known: bool) -> Content:
    """`Self-tests  7 runs, 2 red`; unknown where no trajectory is recorded."""
    text = ""
    if known:
        text = "  unknown" if tests is None else f"  {summary(tests)}"
    return pieces(("Self-tests", "bold"), (text, theme.MUTED))


def steps_title(
    stop: Stop, at: int | None, steps: Sequence[Step], *, goes_on: bool = False
) -> Content:
    """`Trajectory stage 3 · step 77/120  ◂━━━━━●━━▸`.

    Args:
        stop: Where we are.
        at: Position of the step under the cursor.
        steps: All steps, notes included; empty while they load.
        goes_on: These are the first of them only.
    """
    name = stop_name(stop) if stop.kind is not StopKind.CHAIN else f"stage {stop.stage}"
    parts: list[tuple[str, str]] = [("Trajectory ", "bold"), (name, "")]
    if steps and at is not None:
        count = sum(step.number is not None for step in steps)
        number = steps[at].number
        if goes_on:
            told = f"step {number}" if number is not None else "first steps"
            return pieces(*parts, (f" · {told}, reading the rest …", theme.MUTED))
        said = f"step {number}/{count}" if number is not None else plural(count, "step")
        parts += [(f" · {said}  ", theme.MUTED), *_scrubber(at, len(steps))]
    return pieces(*parts)


def _scrubber(at: int, of: int) -> list[tuple[str, str]]:
    place = round(at / (of - 1) * (_TRACK - 1)) if of > 1 else 0
    return [
        (f"◂{'━' * place}", theme.INFO),
        ("●", f"bold {theme.INFO}"),
        (f"{'━' * (_TRACK - 1 - place)}▸", theme.FAINT),
    ]
