"""Causes of failures that too many runs share for each to be its own agent's fault. Pure.

"Agent failures are diverse, infrastructure failures are identical", but a wrong choice that agents
share looks the same, and so does behaviour that nothing specifies: suspects, and never a reason to
leave a run out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arcview.analysis.failure_text import message_lines
from arcview.analysis.infrastructure import CONDITIONS, Condition, condition_in
from arcview.analysis.signatures import signature
from arcview.model.results import GateTest

MANY_AGENTS = 3
SHARE = 0.8
"""The share of a gate's failures from which one cause stands for the gate."""

CAUTION = (
    "suspects: look first whether the behaviour is specified, a wrong choice that agents share "
    "looks the same; nothing is left out for them"
)


@dataclass(frozen=True, slots=True)
class GateSignatures:
    """What the failing tests of one gate of one run died of."""

    run: str
    agent: str | None
    task: str
    gate: str
    counts: tuple[tuple[str, int], ...]
    """Signature and failing tests that have it; tests without a message have none."""


@dataclass(frozen=True, slots=True)
class SharedSignature:
    """A cause that is shared."""

    signature: str
    reason: str
    """Who shares it, in words."""
    condition: str | None
    """The known condition of broken machinery that it words."""
    runs: tuple[str, ...]
    agents: tuple[str, ...]
    gates: int
    """Gate runs it occurs in."""
    failures: int


def signature_counts(tests: Iterable[GateTest]) -> tuple[tuple[str, int], ...]:
    """What failing tests died of, the most frequent first; those without a message say nothing."""
    told = (test for test in tests if any(line.strip() for line in message_lines(test)))
    return tuple(Counter(map(signature, told)).most_common())


def shared_signatures(
    gates: Iterable[GateSignatures], conditions: Sequence[Condition] = CONDITIONS
) -> tuple[SharedSignature, ...]:
    """Signatures of at least three agents, or of 80 % of the failures of one gate of a task.

    For the second the gate must have failed in more than one run: one run shares nothing, nor does
    one failing test.
    """
    gates = list(gates)
    by_signature: dict[str, list[GateSignatures]] = {}
    for gate in gates:
        for one, _ in gate.counts:
            by_signature.setdefault(one, []).append(gate)
    dominant = _dominant(gates)
    found = []
    for one, where in by_signature.items():
        agents = tuple(sorted({gate.agent for gate in where if gate.agent is not None}))
        reason = dominant.get(one)
        if len(agents) >= MANY_AGENTS:
            reason = f"{len(agents)} agents have it"
        if reason is not None:
            found.append(_shared(one, reason, where, agents, conditions))
    return tuple(sorted(found, key=lambda shared: (shared.condition is None, -shared.failures)))


def _shared(
    one: str,
    reason: str,
    where: Sequence[GateSignatures],
    agents: tuple[str, ...],
    conditions: Sequence[Condition],
) -> SharedSignature:
    condition = condition_in(one, conditions)
    return SharedSignature(
        one,
        reason,
        condition[0].title if condition is not None else None,
        tuple(dict.fromkeys(gate.run for gate in where)),
        agents,
        len(where),
        sum(dict(gate.counts)[one] for gate in where),
    )


def _dominant(gates: Iterable[GateSignatures]) -> dict[str, str]:
    """Signature → which gate of a task it stands for."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    runs: dict[tuple[str, str], dict[str, set[str]]] = {}
    for gate in gates:
        key = gate.task, gate.gate
        of = counts.setdefault(key, Counter())
        for one, count in gate.counts:
            of[one] += count
            runs.setdefault(key, {}).setdefault(one, set()).add(gate.run)
    found: dict[str, str] = {}
    for (task, name), of in counts.items():
        failures = of.total()
        for one, count in of.most_common(1):
            shared = len(runs[task, name][one]) > 1
            if shared and count > 1 and count >= SHARE * failures:
                what = f"{count} of {failures} failures of gate {name} of {task}"
                found.setdefault(one, f"{what} have it")
    return found
