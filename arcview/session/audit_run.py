"""The protocol audit of one open run: hands steps, texts and states to the checks.

Knows no screen. Everything may take a while on a large run and belongs into a worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arcview.analysis.audit import (
    Check,
    Finding,
    Part,
    Unchecked,
    find_compactions,
    find_sessions,
)
from arcview.analysis.audit_feedback import Feedback, find_feedback, strongest, user_turns
from arcview.analysis.audit_leaks import Hidden, find_leaks
from arcview.analysis.audit_lookups import find_lookups
from arcview.analysis.audit_states import find_foreign_reads, find_lost_edits, find_put_back
from arcview.analysis.overview import NEVER_RAN
from arcview.errors import ArcviewError, BadInputError
from arcview.model.patch import FileChange
from arcview.model.run import Stage
from arcview.model.states import StateKind
from arcview.session.address import Address
from arcview.session.evidence import EvidenceFinder

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun

ORDER = tuple(Check)


@dataclass(frozen=True, slots=True)
class Audit:
    """What looking at a run's protocol brought up."""

    declared: str | None
    """The declared delegation level (`L4`), as recorded."""
    observed: Feedback | None
    """The strongest feedback between stages that was found, by its words; null where no turn of a
    user could be compared with a specification."""
    findings: tuple[Finding, ...]
    """By stage, then in the order of the checks, then of the steps."""
    unchecked: tuple[Unchecked, ...]
    """What could not be looked at: no finding there means nothing."""

    @property
    def contradicts(self) -> bool:
        """Level L4 is declared, and the agent was told more than the specification."""
        return self.declared == "L4" and self.observed not in (None, "none")


def address_of(finding: Finding) -> Address | None:
    """Where a finding points to; null where its stage has no step."""
    if finding.step_key is None:
        return None
    where = finding.state or str(finding.stage)
    return Address("step", where, (finding.step_key, *finding.part), span=finding.span)


def audit(opened: OpenRun) -> Audit:
    """Looks at a whole run. Reads every trajectory and builds the states."""
    found: list[Finding] = []
    unchecked: list[Unchecked] = []
    for one in _Auditor(opened).everything():
        if isinstance(one, Finding):
            found.append(one)
        else:
            unchecked.append(one)
    # The order of the steps within a check is that in which they were found.
    found.sort(key=lambda finding: (finding.stage, ORDER.index(finding.check)))
    blind = {one.stage for one in unchecked if one.check in (Check.FEEDBACK, None)}
    seen = any(stage.status not in NEVER_RAN and stage.index not in blind
               for stage in opened.run.stages)  # fmt: skip
    observed = strongest(found) if seen else None
    unique = tuple(dict.fromkeys(unchecked))
    return Audit(opened.run.delegation, observed, tuple(found), unique)


Results = Iterator[Finding | Unchecked]


class _Auditor:
    """Goes through the stages of one run."""

    def __init__(self, opened: OpenRun) -> None:
        self._opened = opened
        self._run = opened.run
        finder = EvidenceFinder(opened)
        self._files = finder.trails.workspace
        self._attribution = finder.trails.attribution
        self._stages = [s for s in self._run.stages if s.status not in NEVER_RAN]
        self._parts = {s.index: Part(s.index, opened.trajectory(s.index)) for s in self._stages}

    def everything(self) -> Results:
        with_steps = [part for part in self._parts.values() if part.trajectory.steps]
        yield from find_sessions(with_steps)
        hidden = self._hidden()
        for stage in self._stages:
            part = self._parts[stage.index]
            if not part.trajectory.steps:
                yield Unchecked(None, stage.index, "no step is recorded")
                continue
            yield from self._state(stage, part)
            yield from self._feedback(stage, part)
            yield from self._leaks(stage, part, hidden)
            yield from find_lookups(part, self._own_names())
            yield from self._reverted(stage, part)
            for one in (part, *self._passes(stage)):
                yield from find_compactions(one)
        if not hidden.is_known:
            yield Unchecked(Check.LEAK, None, "no ids of hidden tests are recorded")
        if not self._own_names():
            why = "the repository is not recorded: look-ups of its own releases are not told apart"
            yield Unchecked(Check.LOOKUP, None, why)

    def _passes(self, stage: Stage) -> Iterator[Part]:
        for pass_ in stage.passes:
            if pass_.trajectories:
                steps = self._opened.trajectory(stage.index, pass_.state)
                yield Part(stage.index, steps, pass_.state)

    def _own_names(self) -> tuple[str, ...]:
        repository = (self._run.chain.repository or "").rstrip("/").removesuffix(".git")
        name = repository.rpartition("/")[2]
        return (name,) if name else ()

    def _state(self, stage: Stage, part: Part) -> Results:
        states = [state.id for state in self._run.agent_states()]
        before = self._before(stage)
        if stage.base is None or before is None:
            yield Unchecked(Check.STATE, stage.index, "the start of the stage is not recorded")
            return
        if stage.base in states and stage.base != before:
            what = (
                f"is recorded to begin with {stage.base}, and the last state before it is {before}"
            )
            yield part.finding(Check.STATE, None, what)
        if self._opened.store.tree(stage.base) is None:
            why = f"{stage.base} has no files to compare with what was read"
            yield Unchecked(Check.STATE, stage.index, why)
            return
        resolve = self._attribution.resolve(stage.end) if stage.end is not None else None

        def read_base(path: str) -> str | None:
            inside = resolve(path) if resolve is not None else None
            return self._files.text(stage.base, inside) if inside is not None else None

        yield from find_foreign_reads(part, read_base)

    def _before(self, stage: Stage) -> str | None:
        """The last state before a stage."""
        earlier = [s.id for s in self._run.agent_states() if s.stage < stage.index]
        return earlier[-1] if earlier else None

    def _known_texts(self, stage: int) -> list[str]:
        found = []
        for read in (self._opened.spec, self._opened.contract):
            try:
                found.append(read(stage))
            except BadInputError:  # named among the problems of the run
                continue
        return [text for text in found if text]

    def _feedback(self, stage: Stage, part: Part) -> Results:
        known = self._known_texts(stage.index)
        if not known:
            yield Unchecked(Check.FEEDBACK, stage.index, "the specification is not recorded")
            return
        if not user_turns(part):
            yield Unchecked(Check.FEEDBACK, stage.index, "no turn of a user is recorded")
            return
        first = self._parts.get(1)
        opening = [step.text for step in user_turns(first)[:1]] if first is not None else []
        yield from find_feedback(part, known, opening)

    def _hidden(self) -> Hidden:
        """What the gates know and neither the start state nor the specifications do."""
        ids = []
        for gate in self._run.gates:
            view = self._opened.gate_view(gate.gate, gate.state)
            ids += [failing.test.id for failing in view.failing]
            ids += [test.id for test in view.passing]
        hidden = Hidden(ids)
        start = next((s.id for s in self._run.agent_states() if s.kind is StateKind.START), None)
        if start is not None:
            hidden.forget_files(self._files.paths(start))
            for text in self._files.texts(start).values():
                hidden.forget(text)
        return hidden

    def _leaks(self, stage: Stage, part: Part, hidden: Hidden) -> Results:
        for text in self._known_texts(stage.index):
            hidden.forget(text)
        yield from find_leaks(part, hidden)
        for one in self._passes(stage):
            yield from find_leaks(one, hidden)

    def _reverted(self, stage: Stage, part: Part) -> Results:
        own = self._changes(stage.base, stage.end)
        if own is None or stage.base is None or stage.end is None:
            yield Unchecked(Check.REVERTED, stage.index, "the change of the stage is not known")
            return
        base = frozenset(self._files.paths(stage.base))
        yield from find_lost_edits(part, self._attribution.edits(stage.end), own, base)
        following = [s for s in self._run.agent_states() if s.stage == stage.index]
        for state in following:
            if state.kind is StateKind.BETWEEN:
                between = self._changes(stage.end, state.id) or ()
                named = frozenset(item.edit.path for item in self._attribution.edits(state.id))
                yield from find_put_back(part, own, between, named)

    def _changes(self, base: str | None, end: str | None) -> tuple[FileChange, ...] | None:
        if base is None or end is None:
            return None
        store = self._opened.store
        try:
            if store.tree(base) is None or store.tree(end) is None:
                return None
            return store.changes(base, end)
        except ArcviewError:  # git is missing: said among the problems of the run
            return None
