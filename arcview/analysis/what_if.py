"""Is a failing gate the fault of the base or of the stage's own change? From two experiments. Pure.

X is the reference base with the agent's change on it, Y the agent's base with the reference change.
Whatever could have another cause than those two is undetermined, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from arcview.model.results import Verdict


class WhatIfLabel(StrEnum):
    """What made a gate fail."""

    BASE = "base"
    """The state that the stage began with: the agent's change passes on a clean one."""
    CHANGE = "change"
    """The stage's own change: the reference change passes on the same base."""
    INTERACTION = "interaction"
    """Each passes with the reference counterpart, and they fail together."""
    BOTH = "both"
    """Each fails with the reference counterpart."""
    UNDETERMINED = "undetermined"


MergeMode = Literal["lines", "blocks", "none"]


@dataclass(frozen=True, slots=True)
class Transplant:
    """How a change was put on another tree."""

    tree: str | None
    """Null where that was not possible."""
    mode: MergeMode
    """`lines`: git's own three-way merge; `blocks`: some files by top-level blocks."""
    conflicts: tuple[str, ...] = ()
    """Files that did not merge line by line."""
    reason: str | None = None
    """Why there is no tree."""
    copied: tuple[str, ...] = ()
    """Code of the change's own base that it needs and that was copied along."""
    doubts: tuple[str, ...] = ()
    """What the change needs that is missing there, or is another."""
    build_doubts: tuple[str, ...] = ()
    """The same in languages whose compiler would say so: doubts where it does not build."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One experiment: the gate on one tree, as often as it was run."""

    verdicts: tuple[Verdict, ...]
    failing: tuple[frozenset[str], ...]
    """The failing expected tests of each run."""
    reason: str | None = None
    """Why it is unmeasured."""
    unrun: frozenset[str] = frozenset()
    """Those of the failing tests that in some run were never started: it did not build or load."""

    @property
    def is_steady(self) -> bool:
        """Whether all runs have one verdict."""
        return len(set(self.verdicts)) == 1

    @property
    def passes(self) -> bool:
        """Whether every run passed."""
        return all(verdict is Verdict.PASSED for verdict in self.verdicts)

    @property
    def always(self) -> frozenset[str]:
        """The tests that fail in every run."""
        return frozenset.intersection(*self.failing) if self.failing else frozenset()

    @property
    def ever(self) -> frozenset[str]:
        """The tests that fail in some run."""
        return frozenset[str]().union(*self.failing)

    @property
    def flaky(self) -> frozenset[str]:
        """The tests that fail in some runs and not in others."""
        return self.ever - self.always

    def fails(self, flaky: frozenset[str]) -> bool:
        """Whether every run failed, and not only for tests that are flaky anywhere."""
        return Verdict.PASSED not in self.verdicts and bool(self.always - flaky)


@dataclass(frozen=True, slots=True)
class Judged:
    """The answer."""

    label: WhatIfLabel
    reason: str
    """Why, in one line."""
    tests: Mapping[str, WhatIfLabel]
    """The same for each test that always fails in the run; empty where undetermined."""


def judge_what_if(actual: Arm, x: Arm, y: Arm, x_made: Transplant, y_made: Transplant) -> Judged:
    """Labels a failing gate.

    Args:
        actual: The gate on the state that the stage ended in.
        x: The gate on the reference base with the agent's change.
        y: The gate on the agent's base with the reference change.
        x_made: How the tree of `x` was made.
        y_made: How the tree of `y` was made.
    """
    arms = {"the recorded state": actual, "X": x, "Y": y}
    flaky = frozenset[str]().union(*(arm.flaky for arm in arms.values()))
    unclear = _unclear(arms, flaky)
    if unclear is not None:
        return _undetermined(unclear)
    if actual.passes:
        return _undetermined("the gate passes on the recorded state when it is run again")
    doubt = _doubt_of_x(actual, x, x_made, flaky) or _doubt_of_y(actual, y, y_made, flaky)
    if doubt is not None:
        return _undetermined(doubt)
    tests = {
        test: _label(test not in x.always, test not in y.always)
        for test in sorted(actual.always - flaky)
    }
    label = _label(x.passes, y.passes)
    return Judged(label, _REASONS[label], tests)


def _unclear(arms: Mapping[str, Arm], flaky: frozenset[str]) -> str | None:
    """Why a tree neither passes nor fails for certain."""
    for name, arm in arms.items():
        if not arm.verdicts or Verdict.UNMEASURED in arm.verdicts:
            return f"{name} is unmeasured: {arm.reason or 'no result'}"
        if not arm.ever and Verdict.FAILED in arm.verdicts:
            return f"{name} fails without a failing test: {arm.reason or 'no reason'}"
    # Where verdicts disagree comes first: it tells where the flaky tests are.
    for name, arm in sorted(arms.items(), key=lambda one: one[1].is_steady):
        if not arm.passes and not arm.fails(flaky):
            which = _some(sorted(arm.ever & flaky))
            return f"{name} is flaky in {len(arm.verdicts)} runs: {which}"
    return None


_REASONS = {
    WhatIfLabel.BASE: "the agent's change passes on the reference base, and the reference change "
    "fails on the agent's",
    WhatIfLabel.CHANGE: "the agent's change fails on the reference base too, and the reference "
    "change passes on the agent's",
    WhatIfLabel.INTERACTION: "each passes with its reference counterpart; they fail together",
    WhatIfLabel.BOTH: "each fails with its reference counterpart",
}


def _undetermined(reason: str) -> Judged:
    return Judged(WhatIfLabel.UNDETERMINED, reason, {})


def _label(x_passes: bool, y_passes: bool) -> WhatIfLabel:
    if x_passes:
        return WhatIfLabel.INTERACTION if y_passes else WhatIfLabel.BASE
    return WhatIfLabel.CHANGE if y_passes else WhatIfLabel.BOTH


def _doubt_of_x(actual: Arm, x: Arm, made: Transplant, flaky: frozenset[str]) -> str | None:
    """Why a failure of X need not be the agent's change."""
    if x.passes:
        return None
    if made.copied:
        what = _some(made.copied)
        return f"X fails, and may do so for code of the agent's base that the change needs: {what}"
    doubts = _doubts(x, made)
    if doubts:
        return f"X fails, and the change lacks there what it needs: {_some(doubts)}"
    return _others("X", actual, x, flaky)


def _doubt_of_y(actual: Arm, y: Arm, made: Transplant, flaky: frozenset[str]) -> str | None:
    """Why what Y says need not be about the agent's base."""
    if y.passes:
        if made.copied:
            what = _some(made.copied)
            return f"Y passes with code of the reference that the agent's base lacks: {what}"
        return None
    doubts = _doubts(y, made)
    if doubts:
        return f"Y fails, and the reference change lacks there what it needs: {_some(doubts)}"
    return _others("Y", actual, y, flaky)


def _doubts(arm: Arm, made: Transplant) -> tuple[str, ...]:
    return (*made.doubts, *(made.build_doubts if arm.unrun else ()))


def _others(name: str, actual: Arm, arm: Arm, flaky: frozenset[str]) -> str | None:
    """A tree whose failure is not that of the run: broken by the merge, or by something else.

    That other tests fail beside is no reason: what the agent's change repairs, say, is not repaired
    on the agent's base with the reference change.
    """
    unrun = sorted(arm.unrun - actual.unrun - flaky)
    if unrun:
        return f"{name} does not build or load, and the run does: not run there: {_some(unrun)}"
    if not (arm.always & actual.always) - flaky:
        others = sorted(arm.always - flaky)
        return f"{name} fails other tests than the run does: {_some(others)}"
    return None


def _some(what: Sequence[str]) -> str:
    more = f" and {len(what) - 1} more" if len(what) > 1 else ""
    return f"{what[0]}{more}"
