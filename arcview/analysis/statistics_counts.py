"""How the figures of `arcview stats` are counted on one run, under a policy.

Pure. An answer is yes, no or not known; what is not known is kept apart and is never a no.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from arcview.analysis.lifetimes import FailureSpan
from arcview.analysis.matched import Transition
from arcview.analysis.overview import NEVER_RAN
from arcview.analysis.statistics_facts import GateFacts, RunFacts, StageFacts
from arcview.model.results import Verdict


@dataclass(frozen=True, slots=True)
class Tally:
    """k of n units, and how many more belong to n but say nothing."""

    k: int
    n: int
    unknown: int = 0


class CountedRun:
    """A run as a policy lets it count.

    Args:
        facts: The run.
        left_out: Stages that do not count, nor the transitions that touch them.
        levels: Awareness by stage as people labelled it; it counts before what is suggested.
        chain_counts: Whether the chain gate counts.
        count_tests: Whether test files are among the files that stages share.
    """

    def __init__(
        self,
        facts: RunFacts,
        left_out: frozenset[int],
        levels: dict[int, int],
        *,
        chain_counts: bool,
        count_tests: bool,
    ) -> None:
        self.facts = facts
        self.levels = levels
        self.count_tests = count_tests
        self.chain = facts.chain if chain_counts else None
        self.length = max((stage.index for stage in facts.stages), default=0)
        """How many stages the chain has, whatever became of them."""
        self.stages = tuple(
            stage for stage in facts.stages if stage.index not in left_out and _began(stage)
        )

    @cached_property
    def measured(self) -> dict[int, StageFacts]:
        """The stages whose gate has a verdict, by index."""
        return {
            stage.index: stage
            for stage in self.stages
            if stage.gate.verdict is not Verdict.UNMEASURED
        }

    @cached_property
    def pairs(self) -> tuple[tuple[StageFacts, StageFacts], ...]:
        """Each stage that counts with the one before it, where that one has a verdict."""
        return tuple(
            (self.measured[stage.index - 1], stage)
            for stage in self.stages
            if stage.index - 1 in self.measured
        )

    def transitions(self) -> Iterator[Transition]:
        """The pairs as transitions, where both ends are known."""
        for before, stage in self.pairs:
            if stage.gate.f2p_ok is not None:
                passed = before.gate.verdict is Verdict.PASSED
                yield Transition(self.facts.task, stage.index, passed, stage.gate.f2p_ok)


def _began(stage: StageFacts) -> bool:
    return stage.status not in NEVER_RAN or stage.gate.verdict is not Verdict.UNMEASURED


Count = Callable[[CountedRun], Tally]


class CountAt(Protocol):
    """Counts a run at one position of its chain."""

    def __call__(self, run: CountedRun, position: int) -> Tally:
        """The tally at this position, counted from 1."""
        ...


Values = Callable[[CountedRun], tuple[list[float], int]]
"""The values of a run, and how many of its units have none."""


def tally(answers: Iterable[bool | None]) -> Tally:
    """Counts answers, those that are not known apart."""
    known = unknown = true = 0
    for answer in answers:
        known += answer is not None
        unknown += answer is None
        true += answer is True
    return Tally(true, known, unknown)


def _passed(gate: GateFacts | None) -> bool | None:
    if gate is None or gate.verdict is Verdict.UNMEASURED:
        return None
    return gate.verdict is Verdict.PASSED


def _all_passed(run: CountedRun, last: int) -> bool | None:
    """Whether all stages up to this one passed: one failure says no, whatever else is missing."""
    verdicts = [
        run.measured[index].gate.verdict if index in run.measured else None
        for index in range(1, last + 1)
    ]
    if Verdict.FAILED in verdicts:
        return False
    return None if None in verdicts else True


def stage_pass(run: CountedRun, position: int) -> Tally:
    """Whether the gate of the stage at this position passed."""
    if not any(stage.index == position for stage in run.stages):
        return Tally(0, 0)
    stage = run.measured.get(position)
    return tally([_passed(stage.gate if stage is not None else None)])


def survival(run: CountedRun, position: int) -> Tally:
    """Whether every gate up to this position passed; only chains that are long enough."""
    if position > run.length:
        return Tally(0, 0)
    return tally([_all_passed(run, position)])


def hazard(run: CountedRun, position: int) -> Tally:
    """Whether the gate of this stage is the first that failed, where all before it passed."""
    if position > run.length or (position > 1 and not _all_passed(run, position - 1)):
        return Tally(0, 0)
    passed = stage_pass(run, position)
    return Tally(passed.n - passed.k, passed.n, passed.unknown)


def debt(run: CountedRun, position: int) -> Tally:
    """Whether a test of an earlier stage is not ok when the stage at this position begins."""
    debts = [stage.gate.debt for stage in run.stages if stage.index == position]
    return tally(None if one is None else one > 0 for one in debts)


def debt_tests(run: CountedRun) -> tuple[list[float], int]:
    """How many such tests there are, in later stages."""
    debts = [stage.gate.debt for stage in run.stages if stage.index > 1]
    known = [float(one) for one in debts if one is not None]
    return known, len(debts) - len(known)


def failure_spans(run: CountedRun) -> tuple[list[FailureSpan], int]:
    """How long the failures of a run lasted, and how many were never looked at again."""
    spans = [s.gate.lasts for s in run.measured.values() if s.gate.lasts is not None]
    seen = [span for span in spans if span.stages]
    return seen, len(spans) - len(seen)


def healed_at(run: CountedRun, position: int) -> Tally:
    """Whether a failure is healed at this age, of those that were followed so far."""
    spans = [span for span in failure_spans(run)[0] if span.stages >= position]
    return tally(span.ended and span.stages == position for span in spans)


def completion_chain(run: CountedRun) -> Tally:
    """Whether the chain gate passed."""
    return tally([_passed(run.chain)] if run.facts.chain is not None else ())


def completion_strict(run: CountedRun) -> Tally:
    """Whether the chain gate and every stage gate passed."""
    if run.facts.chain is None:
        return Tally(0, 0)
    chain = _passed(run.chain)
    return tally([chain and _all_passed(run, run.length)])


def f2p_after(verdict: Verdict) -> Count:
    """Whether the new behaviour works, in stages after one whose gate has this verdict."""
    return lambda run: tally(
        stage.gate.f2p_ok for before, stage in run.pairs if before.gate.verdict is verdict
    )


def f2p_after_f2p(*, worked: bool) -> Count:
    """Whether the new behaviour works, by whether that of the stage before does."""
    return lambda run: tally(
        stage.gate.f2p_ok for before, stage in run.pairs if before.gate.f2p_ok is worked
    )


def f2p_after_all(*, passed: bool) -> Count:
    """Whether the new behaviour works, by whether all stages before passed, as far as is known."""
    return lambda run: tally(
        stage.gate.f2p_ok
        for stage in run.stages
        if stage.index > 1 and _all_passed(run, stage.index - 1) is passed
    )


def _working(run: CountedRun) -> list[GateFacts]:
    """The gates whose new behaviour works."""
    return [stage.gate for stage in run.measured.values() if stage.gate.f2p_ok]


def regression(run: CountedRun) -> Tally:
    """Whether something earlier is broken where the new behaviour works."""
    return tally(None if gate.p2p_ok is None else not gate.p2p_ok for gate in _working(run))


def regression_true(run: CountedRun) -> Tally:
    """Whether this stage broke it. With the next two it adds up to `regression`."""
    return tally(None if g.regressed is None else g.regressed > 0 for g in _working(run))


def regression_inherited(run: CountedRun) -> Tally:
    """Whether all of it was broken before."""
    return tally(
        None if g.regressed is None else not g.regressed and not g.unclear and bool(g.inherited)
        for g in _working(run)
    )


def regression_unclear(run: CountedRun) -> Tally:
    """Whether no earlier result tells when it broke, and nothing is known to be broken here."""
    return tally(
        None if g.regressed is None else not g.regressed and bool(g.unclear) for g in _working(run)
    )


def regression_tests(run: CountedRun) -> Tally:
    """P2P tests that the stage broke, of the P2P tests there."""
    known = [gate for gate in _working(run) if gate.regressed is not None]
    return Tally(sum(gate.regressed or 0 for gate in known), sum(gate.p2p_tests for gate in known))


def regression_chain(run: CountedRun) -> Tally:
    """Whether something earlier is broken on the final code where all new behaviour works."""
    chain = run.chain
    if chain is None or not chain.f2p_ok:
        return Tally(0, 0)
    return tally([None if chain.p2p_ok is None else not chain.p2p_ok])


def healed(run: CountedRun) -> Tally:
    """Whether a stage heals a test, where its gate has tests that were broken before."""
    gates = [stage.gate for stage in run.measured.values()]
    return tally(bool(gate.healed) for gate in gates if gate.broken_before)


def broken_again(run: CountedRun) -> Tally:
    """Whether a stage breaks a healed test, where its gate has such tests."""
    gates = [stage.gate for stage in run.measured.values()]
    return tally(bool(gate.broken_again) for gate in gates if gate.recovered_before)


def _levels_after_failure(run: CountedRun) -> list[tuple[int | None, bool]]:
    """Awareness in the stages after a failed one, and whether a person set it."""
    return [
        (run.levels.get(stage.index, stage.awareness), stage.index in run.levels)
        for before, stage in run.pairs
        if before.gate.verdict is Verdict.FAILED
    ]


def unnoticed(cut: int) -> Count:
    """Whether awareness stays below this level, in stages after a failed one."""
    return lambda run: tally(
        None if level is None else level < cut for level, _ in _levels_after_failure(run)
    )


def labelled(run: CountedRun) -> Tally:
    """Whether a person set the level, in stages after a failed one that have a level."""
    return tally(by_person for level, by_person in _levels_after_failure(run) if level is not None)


def revisits(run: CountedRun) -> Tally:
    """Whether a later stage ran tests of an earlier one again."""
    return tally(stage.revisits for stage in run.stages if stage.index > 1)


def revisiting_events(run: CountedRun) -> Tally:
    """Executions of own tests in later stages that ran tests of an earlier stage."""
    own = [s.own_tests for s in run.stages if s.index > 1 and s.own_tests is not None]
    return Tally(
        sum(o.revisits for o in own), sum(o.events for o in own), sum(o.unknown for o in own)
    )


def revisited_files(run: CountedRun) -> Tally:
    """Test files of earlier stages that a later stage ran again; stages are what is not known."""
    later = [stage.own_tests for stage in run.stages if stage.index > 1]
    known = [(o.files_run, o.files) for o in later if o is not None and o.files is not None]
    return Tally(sum(k for k, _ in known), sum(n for _, n in known), len(later) - len(known))


def shared_files(run: CountedRun) -> Tally:
    """Files of later stages that an earlier stage changed; stages are what is not known."""
    shares, unknown = _shares(run)
    return Tally(sum(k for k, _ in shares), sum(n for _, n in shares), unknown)


def shared_shares(run: CountedRun) -> tuple[list[float], int]:
    """The same share stage by stage; undefined where a stage changed no file."""
    shares, unknown = _shares(run)
    return [k / n for k, n in shares if n], unknown + sum(n == 0 for _, n in shares)


def _shares(run: CountedRun) -> tuple[list[tuple[int, int]], int]:
    """Shared files and files of each later stage, and how many stages are not known."""
    changes = [stage.change for stage in run.stages if stage.index > 1]
    known = [change for change in changes if change is not None]
    with_tests = run.count_tests
    shares = [
        (c.shared_with_tests, c.files_with_tests) if with_tests else (c.shared, c.files)
        for c in known
    ]
    return shares, len(changes) - len(known)


def lines(*parts: str) -> Values:
    """Changed lines of each stage, these parts of `ChangeFacts` added up."""

    def values(run: CountedRun) -> tuple[list[float], int]:
        changes = [stage.change for stage in run.stages]
        known = [change for change in changes if change is not None]
        sums = [float(sum(getattr(change, part) for part in parts)) for change in known]
        return sums, len(changes) - len(known)

    return values


def of_passed(part: str) -> Values:
    """This part of `StageFacts` of each stage whose gate passed."""

    def values(run: CountedRun) -> tuple[list[float], int]:
        passed = [s for s in run.measured.values() if s.gate.verdict is Verdict.PASSED]
        known = [getattr(stage, part) for stage in passed]
        return [value for value in known if value is not None], known.count(None)

    return values


def spent(part: str) -> Callable[[CountedRun], tuple[float, int] | None]:
    """What all stages of a run took together, and how many passed; null where a part is unknown."""

    def total(run: CountedRun) -> tuple[float, int] | None:
        parts = [getattr(stage, part) for stage in run.stages]
        if None in parts:
            return None
        return sum(parts), tally(_passed(stage.gate) for stage in run.stages).k

    return total
