"""Measures the cells of a plan, several at once: each gate's control first, then what it allows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from arcview.analysis.matrix_plan import MatrixPlan, PlannedCell
from arcview.errors import CancelledError
from arcview.model.results import Verdict
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import Target

_POLL_SECONDS = 0.1


class MatrixPhase(StrEnum):
    """What happened."""

    CONTROL = "control"
    """The control probe of a gate began."""
    CONTROL_HOLDS = "control_holds"
    CONTROL_FAILS = "control_fails"
    STARTED = "started"
    """A cell is being measured."""
    DONE = "done"
    LEFT = "left"
    """A cell is not measured since the control of its gate failed."""


@dataclass(frozen=True, slots=True)
class MatrixEvent:
    """One thing that happened."""

    phase: MatrixPhase
    gate: str
    state: str | None
    """Null for controls."""
    done: int
    """Cells that are settled so far."""
    total: int
    verdict: Verdict | None = None
    reason: str | None = None
    duration_s: float | None = None
    also: tuple[str, ...] = ()
    """Other states that the result holds for."""


@dataclass(frozen=True, slots=True)
class MatrixOutcome:
    """How a run of a plan ended."""

    done: int
    """Cells that have a result now, unmeasured ones included."""
    total: int
    unmeasured: int
    """Those of `done` that are unmeasured."""
    failed_controls: dict[str, str]
    """Gate → why its control failed."""
    probed: tuple[str, ...]
    """Gates whose control was made."""
    is_cancelled: bool = False


@dataclass(slots=True)
class _Work:
    """What the threads share; guarded by `lock`."""

    left: list[PlannedCell]
    total: int
    lock: threading.Condition = field(default_factory=threading.Condition)
    probing: set[str] = field(default_factory=set)
    controls: dict[str, str | None] = field(default_factory=dict)
    """Gate → why its control failed, null where it holds."""
    done: int = 0
    measured: int = 0
    unmeasured: int = 0
    error: BaseException | None = None


def run_plan(
    reruns: Reruns,
    plan: MatrixPlan,
    jobs: int,
    on_event: Callable[[MatrixEvent], None],
    cancelled: Callable[[], bool],
) -> MatrixOutcome:
    """Measures the cells of a plan.

    Args:
        reruns: The reruns of the run.
        plan: The cells, in order.
        jobs: How many gate runs at once.
        on_event: Told of every start and end, from the threads that work.
        cancelled: Asked about ten times a second.

    Raises:
        ArcviewError: what the first thread that failed met; the others end first.
    """
    work = _Work(list(plan.cells), len(plan.cells))

    def stopped() -> bool:
        return work.error is not None or cancelled()

    worker = _Worker(reruns, work, on_event, stopped)
    threads = [threading.Thread(target=worker.work_on, daemon=True) for _ in range(max(1, jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if work.error is not None:
        raise work.error
    failed = {gate: why for gate, why in work.controls.items() if why is not None}
    is_cancelled = cancelled() and bool(work.left or work.done < work.total)
    return MatrixOutcome(
        work.measured, work.total, work.unmeasured, failed, tuple(work.controls), is_cancelled
    )


class _Worker:
    def __init__(
        self,
        reruns: Reruns,
        work: _Work,
        on_event: Callable[[MatrixEvent], None],
        stopped: Callable[[], bool],
    ) -> None:
        self._reruns, self._work = reruns, work
        self._on_event, self._stopped = on_event, stopped

    def work_on(self) -> None:
        """Does one thing after the other until nothing is left; may be called by many threads."""
        try:
            while self._step():
                pass
        except BaseException as error:  # noqa: BLE001 -- handed to the thread that waits
            with self._work.lock:
                self._work.error = self._work.error or error
                self._work.lock.notify_all()

    def _step(self) -> bool:
        task = self._next()
        if task is None:
            return False
        if isinstance(task, str):
            self._probe(task)
        else:
            self._measure(task)
        return True

    def _next(self) -> PlannedCell | str | None:
        """The first cell that may be measured, or a gate whose control has to come first."""
        work = self._work
        with work.lock:
            while work.left and not self._stopped():
                for cell in work.left:
                    if cell.gate in work.controls:
                        work.left.remove(cell)
                        return cell
                    if cell.gate not in work.probing:
                        work.probing.add(cell.gate)
                        return cell.gate
                work.lock.wait(_POLL_SECONDS)
        return None

    def _probe(self, gate: str) -> None:
        self._say(MatrixPhase.CONTROL, gate)
        try:
            control = self._reruns.control(gate, cancelled=self._stopped)
        except CancelledError:
            return
        if self._stopped():
            return
        with self._work.lock:
            self._work.probing.discard(gate)
            self._work.controls[gate] = None if control.ok else control.reason
            self._work.lock.notify_all()
        phase = MatrixPhase.CONTROL_HOLDS if control.ok else MatrixPhase.CONTROL_FAILS
        self._say(phase, gate, reason=control.reason)

    def _measure(self, cell: PlannedCell) -> None:
        why = self._work.controls[cell.gate]
        if why is not None:
            self._settle(MatrixPhase.LEFT, cell, Verdict.UNMEASURED, why, None)
            return
        self._say(MatrixPhase.STARTED, cell.gate, cell.state, also=cell.also)
        target = Target(cell.state, cell.tree)
        found = self._reruns.run(cell.gate, target, cancelled=self._stopped)
        if not found or (self._stopped() and not found[-1].is_measured):
            return
        last = found[-1]
        self._settle(MatrixPhase.DONE, cell, last.verdict, last.reason, last.duration_s)

    def _settle(
        self,
        phase: MatrixPhase,
        cell: PlannedCell,
        verdict: Verdict,
        reason: str | None,
        duration_s: float | None,
    ) -> None:
        with self._work.lock:
            self._work.done += 1
            self._work.measured += phase is MatrixPhase.DONE
            self._work.unmeasured += phase is MatrixPhase.DONE and verdict is Verdict.UNMEASURED
        self._say(
            phase, cell.gate, cell.state, verdict=verdict, reason=reason,
            duration_s=duration_s, also=cell.also,
        )  # fmt: skip

    def _say(
        self,
        phase: MatrixPhase,
        gate: str,
        state: str | None = None,
        *,
        verdict: Verdict | None = None,
        reason: str | None = None,
        duration_s: float | None = None,
        also: tuple[str, ...] = (),
    ) -> None:
        done, total = self._work.done, self._work.total
        self._on_event(
            MatrixEvent(phase, gate, state, done, total, verdict, reason, duration_s, also)
        )
