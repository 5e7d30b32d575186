"""Gathers from an open run what rules propose for the case about one failing gate.

Reads trajectories, states and code: belongs into a worker. Everything it gives is marked as a
suggestion wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.analysis.determinacy import Source, Sources, suggest_unspecified
from arcview.analysis.infrastructure import CONDITIONS, Condition, suggest_infrastructure
from arcview.analysis.suggest_effects import (
    ChangeAuthor,
    CodePlace,
    FailureFacts,
    GateFailures,
    blamed,
    suggest_mechanisms,
    suggest_origins,
)
from arcview.analysis.suggest_protocol import suggest_from_audit
from arcview.analysis.suggestions import Span, Suggestion, inputs_hash
from arcview.annotations.conditions import team_conditions
from arcview.errors import ArcviewError, CancelledError
from arcview.model.states import StateKind
from arcview.session.address import Address, parse_address
from arcview.session.annotate_targets import Place, Targets
from arcview.session.evidence import Evidence, EvidenceFinder

if TYPE_CHECKING:
    from arcview.analysis.audit import Finding
    from arcview.analysis.awareness import DefectAwareness
    from arcview.analysis.awareness import Span as AwarenessSpan
    from arcview.analysis.gate_view import FailingTest
    from arcview.session.annotate import AnnotateSession
    from arcview.session.opened import OpenRun

_MOST_TESTS = 200
"""Failing tests of one gate that are looked at; beyond them a gate is broken as a whole."""


class SuggestionFinder:
    """Finds suggestions in one open run and keeps what several gates share.

    Args:
        opened: The run.
        finder: Shared with whatever else looks at the run.
        conditions: What broken machinery says.
        sidecar: Where reruns are kept; without it nothing that was executed is looked at.
    """

    def __init__(
        self,
        opened: OpenRun,
        finder: EvidenceFinder | None = None,
        conditions: Sequence[Condition] = CONDITIONS,
        sidecar: Path | None = None,
    ) -> None:
        self._sidecar = sidecar
        self._opened = opened
        self._finder = finder or EvidenceFinder(opened)
        self._targets = Targets(opened)
        self._conditions = conditions
        self._audited: list[tuple[str | None, Finding]] | None = None

    def about(self, unit: str) -> tuple[Suggestion, ...]:
        """What rules propose for the case about a failing gate, by field.

        Args:
            unit: Its address, `gate:3`.
        """
        place = self._targets.place(parse_address(unit).where)
        if place is None:
            return ()
        view = self._opened.gate_view(place.gate, place.state)
        failing = view.failing[:_MOST_TESTS]
        if not failing:
            return ()
        tests = [(self._address(place, one), one.test) for one in failing]
        failures = self._failures(place)
        return (
            *suggest_infrastructure(tests, self._conditions),
            *suggest_unspecified(tests, Sources(self._sources(place))),
            *suggest_from_audit(place.stage, self._findings()),
            *suggest_origins(failures),
            *suggest_mechanisms(failures, self._blamed_before(place)),
            *self._executed(place, failures),
            *self._claimed(place),
            *self._awareness(place, [one.test.id for one in failing]),
        )

    # What the rules look at

    def _failures(self, place: Place) -> GateFailures:
        view = self._opened.gate_view(place.gate, place.state)
        found = self._finder.of_gate(place.gate, place.state)
        pairs = zip(view.failing[:_MOST_TESTS], found, strict=False)
        return GateFailures(
            place.gate,
            place.stage,
            tuple(self._facts(place, failing, evidence) for failing, evidence in pairs),
            expected=len(view.failing) + len(view.passing),
            changed=self._changed(place),
            healed=tuple(
                str(Address("gate", _where(place), (test.group.value, test.id)))
                for test in view.healed
            ),
        )

    def _facts(self, place: Place, failing: FailingTest, evidence: Evidence) -> FailureFacts:
        since = self._opened.run.state(failing.since)
        return FailureFacts(
            self._address(place, failing),
            failing.test.id,
            failing.history,
            failing.since,
            since.stage if since is not None else None,
            tuple(self._places(place, evidence)),
            _first_line(failing.test.message or failing.test.traceback or ""),
            tuple(self._authors(evidence)),
        )

    def _places(self, place: Place, evidence: Evidence) -> Iterator[CodePlace]:
        for found in evidence.places:
            state = place.state or ""
            address = Address("file", state, tuple(found.path.split("/")), found.line)
            yield CodePlace(
                str(address), found.path, found.line, found.state, found.stage,
                found.step_key, found.step, found.basis == "traceback",
            )  # fmt: skip

    def _authors(self, evidence: Evidence) -> Iterator[ChangeAuthor]:
        """Who wrote the change that a failure began with, for one that leads to no code."""
        began = self._opened.run.state(evidence.began)
        if began is None:
            return
        where = began.id if began.kind is StateKind.BETWEEN else str(began.stage)
        for share in evidence.suspect_steps:
            yield ChangeAuthor(
                str(Address("step", where, (share.step_key,))), began.id, began.stage,
                share.step_key, share.step, share.lines,
            )  # fmt: skip

    def _blamed_before(self, place: Place) -> dict[str, int] | None:
        if not place.gate.isdecimal():
            return None
        before = self._targets.place(str(int(place.gate) - 1))
        return None if before is None else blamed(self._failures(before))

    def _changed(self, place: Place) -> frozenset[str]:
        stage = self._opened.run.stage(place.stage)
        if stage is None or place.gate == "chain":
            return frozenset()
        files = self._finder.trails.workspace
        base = files.before(place.between) if place.between else stage.base
        return frozenset(
            change.path for change in files.changes(base, place.state or stage.end or "")
        )

    def _sources(self, place: Place) -> Iterator[Source]:
        """What could have told the agent: this stage first, then what was there before."""
        stages = [s for s in self._opened.run.stages if s.index <= place.stage]
        for stage in reversed(stages):
            for title, path in (
                ("specification", stage.spec_path),
                ("contract", stage.contract_path),
            ):
                text = self._text(path)
                if text is not None:
                    yield Source(f"{title} {stage.index}", text)
        base = stages[-1].base if stages else None
        if base is not None:
            texts = self._finder.trails.workspace.texts(base)
            if texts:
                yield Source(f"code of {base}", "\n".join(texts.values()))
        yield from self._reference(place.stage - 1)

    def _reference(self, stage: int) -> Iterator[Source]:
        for state in self._opened.run.states:
            if state.kind is StateKind.REFERENCE and state.stage == stage:
                texts = self._finder.trails.workspace.texts(state.id)
                if texts:
                    yield Source(f"code of {state.id}", "\n".join(texts.values()))

    def _text(self, path: str | None) -> str | None:
        if path is None:
            return None
        try:
            return self._opened.text(path)
        except CancelledError:
            raise
        except ArcviewError:  # it is not there: said among the problems of the run
            return None

    def _findings(self) -> list[tuple[str | None, Finding]]:
        from arcview.session.audit_run import address_of, audit

        if self._audited is None:
            found = audit(self._opened).findings
            addresses = [address_of(finding) for finding in found]
            self._audited = [
                (None if address is None else str(address), finding)
                for address, finding in zip(addresses, found, strict=True)
            ]
        return self._audited

    def _executed(self, place: Place, failures: GateFailures) -> Iterator[Suggestion]:
        """What an experiment showed, where one was made."""
        if self._sidecar is None or place.between is not None or not place.gate.isdecimal():
            return
        from arcview.session.what_if_evidence import executed_about  # only where reruns are kept

        yield from executed_about(self._opened, self._sidecar, failures)

    # Awareness

    def _awareness(self, place: Place, tests: Sequence[str]) -> Iterator[Suggestion]:
        """One level for each later stage: how far it got with what this gate shows broken."""
        from arcview.analysis.awareness import RULE, VERSION
        from arcview.session.awareness import suggest_awareness

        for stage in self._opened.run.stages:
            if stage.index <= place.stage or place.gate == "chain":
                continue
            found = suggest_awareness(self._opened, self._finder, stage.index)
            if found is None:
                continue
            about = [one for one in found.defects if set(one.defect.tests) & set(tests)]
            if not about:
                continue
            most = max(about, key=lambda one: one.level)
            level = f"N{most.level.value}"
            last = most.spans[-1] if most.spans else None
            covered = f"{found.with_thinking} of {found.messages} messages show their thinking"
            why = last.reason if last is not None else "nothing of it was read, shown or said"
            yield Suggestion(
                "awareness", level, f"{level} in stage {stage.index}", f"{why} ({covered})",
                RULE, VERSION, _awareness_hash(stage.index, most),
                spans=tuple(self._span(stage.index, span) for span in reversed(most.spans)),
                stage=stage.index, step=last.step_key if last is not None else None,
            )  # fmt: skip

    def _span(self, stage: int, span: AwarenessSpan) -> Span:
        steps = self._opened.trajectory(stage).steps
        step = next((step for step in steps if step.key == span.step_key), None)
        if step is None:
            return Span(str(Address("step", str(stage), (span.step_key,))), span.reason)
        call = next((call for call in step.calls if call.key == span.call_key), None)
        where: tuple[str, ...] = (span.channel,)
        text = step.thinking if span.channel == "thinking" else step.text
        if span.channel == "result" and call is not None and call.result is not None:
            where, text = (call.key, "result"), call.result.text
        elif span.channel == "arguments" and call is not None and call.command is not None:
            where, text = (call.key, "call"), call.command
        elif call is not None:
            return Span(str(Address("step", str(stage), (step.key,))), call.path or span.reason)
        start, end = _line_around(text, span.start, span.end)
        address = Address("step", str(stage), (step.key, *where), span=(span.start, span.end))
        return Span(str(address), text[start:end], span.start - start, span.end - start)

    def _claimed(self, place: Place) -> Iterator[Suggestion]:
        """The stage ended with a claim of success, and its gate failed."""
        from arcview.session.self_test_depth import self_test_depth

        if place.gate == "chain" or place.between is not None:
            return
        depth = self_test_depth(self._opened, self._finder, place.stage)
        if depth.claim_gap and depth.claim is not None and depth.claim_key is not None:
            claim = depth.claim
            at = (depth.claim_key, "text")
            address = Address("step", str(place.stage), at, span=(claim.start, claim.end))
            yield Suggestion(
                "awareness_flags", "claimed-success", f"claimed success in stage {place.stage}",
                "the closing message claims success and the gate failed", "claim", 1,
                inputs_hash(claim.text), spans=(Span(str(address), claim.text),),
                stage=place.stage, step=depth.claim_key,
            )  # fmt: skip

    def _address(self, place: Place, failing: FailingTest) -> str:
        test = failing.test
        return str(Address("gate", _where(place), (test.group.value, test.id)))


def finder_for(session: AnnotateSession, finder: EvidenceFinder | None = None) -> SuggestionFinder:
    """What finds suggestions for a run that is labelled, with the team's own conditions.

    Args:
        session: The labels of the run.
        finder: Shared with whatever else looks at the run.

    Raises:
        BadInputError: the team's file of conditions is unsound.
    """
    root = session.store.folder.parents[1]
    return SuggestionFinder(session.opened, finder, team_conditions(root), root)


def _where(place: Place) -> str:
    return place.between or place.gate


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")


def _line_around(text: str, start: int, end: int) -> tuple[int, int]:
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    return first, last if last >= 0 else len(text)


def _awareness_hash(stage: int, found: DefectAwareness) -> str:
    spans = [[s.level, s.step_key, s.channel, s.start, s.end] for s in found.spans]
    return inputs_hash(stage, found.defect.title, sorted(found.defect.tests), spans)
