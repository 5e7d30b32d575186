"""What if the base, or the change, were the reference's? Asked of one failing gate of an open run.

Answers are kept in the sidecar and found again. Must not import the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from arcview import __version__
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy, is_ok, judge
from arcview.analysis.what_if import Transplant, WhatIfLabel, judge_what_if
from arcview.errors import ArcviewError, CancelledError
from arcview.gates.definition import GateDefinition
from arcview.gates.results import RerunResult
from arcview.gates.sealed import digest_of
from arcview.model.results import WITHOUT_RESULT, Verdict
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import Target
from arcview.session.what_if_answer import ArmResult, WhatIf
from arcview.session.what_if_store import WhatIfStore
from arcview.session.what_if_transplant import METHOD, Transplanter

TIMES = 3
"""How often each tree is run by default: one run cannot tell a flaky gate."""

Cancelled = Callable[[], bool]


class WhatIfPhase(StrEnum):
    """What is being done."""

    MERGING = "merging"
    CONTROL = "control"
    RUNNING = "running"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class WhatIfEvent:
    """Where it stands."""

    phase: WhatIfPhase
    label: str | None = None
    """The tree that is run: `S2`, `X2`, `Y2`."""
    number: int = 0
    """Which of its runs, from 1."""
    times: int = 0


OnEvent = Callable[[WhatIfEvent], None]


class NothingToExplainError(ArcviewError):
    """The gate is no failing stage gate."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class _Question:
    """One failing gate and the trees around it."""

    gate: str
    definition: GateDefinition
    base: Target
    end: Target
    reference_base: Target
    reference: Target
    where: str
    """How it is run: answers from the host, or from another image, are apart."""

    @property
    def key(self) -> str:
        """The name under which the answer is kept."""
        trees = [t.tree for t in (self.base, self.end, self.reference_base, self.reference)]
        image = self.definition.image_digest or self.definition.image_ref
        facts = [METHOD, self.definition.digest, image, trees, self.where]
        return f"{self.gate}-{digest_of(facts)[:16]}"


class WhatIfs:
    """What-if of one run.

    Args:
        opened: The run.
        reruns: Its reruns, whose sidecar is used.
    """

    def __init__(self, opened: OpenRun, reruns: Reruns) -> None:
        self.opened = opened
        self.reruns = reruns
        self.store = WhatIfStore(reruns.store.folder.parent)

    def known(self, gate: str) -> WhatIf | None:
        """The stored answer for a gate, or null; needs no engine. May ingest the states."""
        try:
            question = self._question(gate)
        except ArcviewError:
            return None
        return None if isinstance(question, WhatIf) else self.store.find(question.key)

    def most_runs(self, gate: str, *, times: int = TIMES, again: bool = False) -> int:
        """How many gate runs an answer takes at most; 0 where it is known, or needs none.

        Raises:
            ArcviewError: as for `ask`.
        """
        question = self._question(gate)
        if isinstance(question, WhatIf):
            return 0
        found = None if again else self.store.find(question.key)
        is_known = found is not None and found.is_final and found.times >= times
        return 0 if is_known else 2 + 3 * times

    def ask(
        self,
        gate: str,
        *,
        times: int = TIMES,
        again: bool = False,
        on_event: OnEvent = lambda _event: None,
        on_output: Callable[[bytes], None] = lambda _data: None,
        cancelled: Cancelled = lambda: False,
    ) -> WhatIf:
        """Finds out what made a gate fail.

        Args:
            gate: The stage gate.
            times: How often each tree is run; more than once for evidence that is steady.
            again: Answer anew whatever is stored; stored reruns are used all the same.
            on_event: Told where it stands.
            on_output: Gets what the gate prints.
            cancelled: Asked about ten times a second.

        Raises:
            NothingToExplainError: the gate did not fail, or is no stage gate.
            CannotRerunError: the run does not say how the gate is run.
            EngineUnavailableError: no engine answers.
            CancelledError: `cancelled` said so.
        """
        question = self._question(gate)
        if isinstance(question, WhatIf):
            return question
        found = None if again else self.store.find(question.key)
        if found is not None and found.is_final and found.times >= times:
            return found
        how = _How(max(1, times), on_event, on_output, cancelled)
        answer = _Asking(self.opened, self.reruns, question, how).answer()
        if cancelled():
            raise CancelledError("cancelled")
        on_event(WhatIfEvent(WhatIfPhase.DONE))
        return self.store.add(question.key, answer)

    def _question(self, gate: str) -> _Question | WhatIf:
        """The trees, or an answer that needs none: without a reference nothing can be told."""
        stage = self.opened.run.stage(int(gate)) if gate.isdecimal() else None
        if stage is None:
            raise NothingToExplainError(f"gate {gate}: what-if is about the gate of one stage")
        judged = judge(self.opened.run.stage_gate(stage.index), self.opened.policy)
        if judged.verdict is not Verdict.FAILED:
            why = f" ({judged.reason})" if judged.reason else ""
            raise NothingToExplainError(
                f"gate {gate} {judged.verdict.value}{why}: what-if explains a gate that failed"
            )
        definition = self.reruns.definition(gate)
        names = (stage.base, stage.end, f"R{stage.index - 1}", f"R{stage.index}")
        found = WhatIf(
            self.opened.run.run_id, gate, WhatIfLabel.UNDETERMINED, "", *names, is_final=False
        )
        targets: list[Target] = []
        for name in names:
            if name is None:
                return replace(found, reason="the states around the stage are not recorded")
            try:
                targets.append(self._target(name))
            except ArcviewError as error:
                return replace(found, reason=str(error))
        options = self.reruns.options
        where = "host" if options.engine == "host" else "other" * options.allow_other_image
        base, end, reference_base, reference = targets
        return _Question(gate, definition, base, end, reference_base, reference, where)

    def _target(self, state: str) -> Target:
        if state == "R0" and self.opened.run.state("R0") is None:
            return replace(self.reruns.target("S0"), label="R0")
        return self.reruns.target(state)


@dataclass(frozen=True, slots=True)
class _How:
    times: int
    on_event: OnEvent
    on_output: Callable[[bytes], None]
    cancelled: Cancelled


class _Asking:
    """One question on its way to an answer."""

    def __init__(self, opened: OpenRun, reruns: Reruns, question: _Question, how: _How) -> None:
        self._opened, self._reruns = opened, reruns
        self._question, self._how = question, how

    def answer(self) -> WhatIf:
        ask = self._question
        self._how.on_event(WhatIfEvent(WhatIfPhase.MERGING))
        x_made, y_made = self._made()
        found = WhatIf(
            self._opened.run.run_id, ask.gate, WhatIfLabel.UNDETERMINED, "",
            ask.base.label, ask.end.label, ask.reference_base.label, ask.reference.label,
            x_made=x_made, y_made=y_made, times=self._how.times,
            created=datetime.now(UTC).isoformat(timespec="seconds"), arcview_version=__version__,
        )  # fmt: skip
        for name, made in (("X", x_made), ("Y", y_made)):
            if made.tree is None:
                return replace(found, reason=f"{name} cannot be made: {made.reason}")
        self._how.on_event(WhatIfEvent(WhatIfPhase.CONTROL))
        control = self._reruns.control(ask.gate, cancelled=self._how.cancelled)
        found = replace(found, control=control.reason)
        if not control.ok:
            return replace(found, reason=f"the control fails: {control.reason}", is_final=False)
        return self._measured(found)

    def _made(self) -> tuple[Transplant, Transplant]:
        ask = self._question
        put = Transplanter(self._opened.store, ask.definition, self._how.cancelled).put
        x = put(ask.base.tree, ask.end.tree, ask.reference_base.tree)
        y = put(ask.reference_base.tree, ask.reference.tree, ask.base.tree)
        return x, y

    def _measured(self, found: WhatIf) -> WhatIf:
        assert found.x_made is not None
        assert found.y_made is not None
        assert found.x_made.tree is not None
        assert found.y_made.tree is not None
        gate = self._question.gate
        recorded, first = self._run(self._question.end)
        x, _ = self._run(Target(f"X{gate}", found.x_made.tree))
        y, _ = self._run(Target(f"Y{gate}", found.y_made.tree))
        judged = judge_what_if(recorded.arm, x.arm, y.arm, found.x_made, found.y_made)
        arms = (recorded, x, y)
        is_measured = all(v is not Verdict.UNMEASURED for arm in arms for v in arm.verdicts)
        return replace(
            found,
            label=judged.label,
            reason=judged.reason,
            tests=judged.tests,
            recorded=recorded,
            x=x,
            y=y,
            is_steady=self._how.times > 1
            and is_measured
            and all(arm.arm.is_steady for arm in arms),
            is_final=is_measured,
            engine=f"{first.engine.name} {first.engine.version}",
            graded_on_host=first.graded_on_host,
        )

    def _run(self, target: Target) -> tuple[ArmResult, RerunResult]:
        """The gate on one tree; ends early where two verdicts disagree, since that settles it."""
        times = self._how.times
        for number in range(1, times + 1):
            self._how.on_event(WhatIfEvent(WhatIfPhase.RUNNING, target.label, number, times))
            results = self._reruns.run(
                self._question.gate,
                target,
                times=number,
                on_output=self._how.on_output,
                cancelled=self._how.cancelled,
            )
            if self._how.cancelled():
                raise CancelledError("cancelled")
            arm = _arm(target, results, self._opened.policy)
            if not arm.arm.is_steady or arm.verdict is Verdict.UNMEASURED:
                break
        last = results[-1]
        if last.is_measured:  # what earlier sittings found of this tree counts, too
            known = [r for r in self._reruns.store.find(last.key) if r.is_measured]
            arm = _arm(target, known, self._opened.policy)
        return arm, last


def _arm(target: Target, results: Sequence[RerunResult], policy: Policy) -> ArmResult:
    reasons = [result.reason for result in results if result.reason]
    return ArmResult(
        target.label,
        target.tree,
        tuple(result.verdict for result in results),
        tuple(failing_tests(result, policy) for result in results),
        reasons[0] if reasons else None,
        tuple(f"{result.key.name}/{result.attempt}" for result in results),
        sum(result.duration_s for result in results),
        tuple(sorted({test for result in results for test in _unrun(result)})),
    )


def _unrun(result: RerunResult) -> set[str]:
    """The expected tests that were never started."""
    return {t.id for t in result.tests if not t.extra and t.outcome in WITHOUT_RESULT}


def failing_tests(result: RerunResult, policy: Policy = DEFAULT_POLICY) -> tuple[str, ...]:
    """The expected tests that are not ok in a rerun, sorted, each once."""
    failing = {t.id for t in result.tests if not t.extra and not is_ok(t.outcome, policy)}
    return tuple(sorted(failing))
