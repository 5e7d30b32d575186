"""What `what if` answers, as plain data that is stored, shown and exported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from arcview.analysis.what_if import Arm, Transplant, WhatIfLabel
from arcview.model.results import Verdict


@dataclass(frozen=True, slots=True)
class ArmResult:
    """The gate on one tree, as often as it was run."""

    label: str
    """`S2`, `X2`, `Y2`."""
    tree: str
    verdicts: tuple[Verdict, ...] = ()
    failing: tuple[tuple[str, ...], ...] = ()
    """The failing expected tests of each run."""
    reason: str | None = None
    """Why it is unmeasured, or what besides tests made it fail."""
    results: tuple[str, ...] = ()
    """The stored reruns: key and attempt, as their folders are named."""
    duration_s: float = 0.0
    """Of all runs together."""
    unrun: tuple[str, ...] = ()
    """Those of the failing tests that were never started."""

    @property
    def verdict(self) -> Verdict | None:
        """What all runs say; null where they disagree, or there are none."""
        return self.verdicts[0] if len(set(self.verdicts)) == 1 else None

    @property
    def arm(self) -> Arm:
        """What the label is made from."""
        failing = tuple(frozenset(tests) for tests in self.failing)
        return Arm(self.verdicts, failing, self.reason, frozenset(self.unrun))


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Why a gate failed: the base, the stage's own change, both, or the two together."""

    run_id: str
    gate: str
    label: WhatIfLabel
    reason: str
    """Why, in one line."""
    base: str | None
    """The agent's last state before the stage."""
    end: str | None
    """The state that the stage ended in."""
    reference_base: str
    """`R1`: the reference state before the stage."""
    reference: str
    tests: Mapping[str, WhatIfLabel] = field(default_factory=dict)
    """The same for each failing test; empty where undetermined."""
    control: str | None = None
    """What the control probe found."""
    recorded: ArmResult | None = None
    """The gate on `end`, run again."""
    x: ArmResult | None = None
    """On the reference base with the agent's change; null where it was not run."""
    y: ArmResult | None = None
    """On the agent's base with the reference change."""
    x_made: Transplant | None = None
    y_made: Transplant | None = None
    times: int = 1
    """How often each was run."""
    is_steady: bool = False
    """Each was run more than once and always had the same verdict: evidence of grade A."""
    is_final: bool = True
    """False where asking again may answer more: the engine failed, a control did not hold."""
    engine: str | None = None
    graded_on_host: bool = False
    """Run without containers: kept out of statistics and evidence."""
    created: str = ""
    """ISO 8601, UTC; empty where nothing was measured or stored."""
    arcview_version: str = ""
