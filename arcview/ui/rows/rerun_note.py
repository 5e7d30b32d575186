"""What the gate pane says of reruns: one or two lines, and a mark at the tests that moved. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from arcview.gates.results import Change
from arcview.session.rerun_view import RerunView
from arcview.session.what_if_answer import WhatIf
from arcview.ui import theme
from arcview.ui.rows.figures import VERDICT_GLYPH, counted, fraction, plural
from arcview.ui.rows.gate_facts import Fact
from arcview.ui.rows.rerun_facts import headline
from arcview.ui.rows.what_if import what_if_facts
from arcview.ui.safe import one_line

_MARK = {
    Change.FLIPPED_UP: "rerun ✓",
    Change.FLIPPED_DOWN: "rerun ✗",
    Change.MISSING_NOW: "rerun ∅",
}


@dataclass(frozen=True, slots=True)
class RerunNote:
    """What stands in the gate pane beside the recorded result."""

    facts: tuple[Fact, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    """Test id → what the rerun says of it, where that is not what was recorded."""


def rerun_note(view: RerunView, answer: WhatIf | None = None) -> RerunNote:
    """The note on the last rerun of a gate on a state and on why it failed; empty without either.

    Args:
        view: The gate on the state.
        answer: What what-if found; null where nobody asked.
    """
    if not view.results:
        return RerunNote(what_if_facts(answer))
    result, comparison = view.results[-1], view.comparisons[-1]
    text, style = headline(result, comparison)
    groups = counted(result.f2p, result.p2p, result.other)
    counts = "  ".join(f"{name} {fraction(group)}" for name, group in groups)
    said = [] if result.is_silent else [f"{VERDICT_GLYPH[result.verdict]} {counts}".strip()]
    how = "without a container" if result.graded_on_host else one_line(result.engine.name)
    flaky = view.flakiness(result)
    more = [*said, how, plural(len(view.results), "attempt")]
    if flaky.flaky:
        more.append(f"{plural(len(flaky.flaky), 'flaky test')}")
    facts = (
        ("rerun", f"↻ rerun: {text}", style),
        ("rerun-counts", f"  {' · '.join(more)}", theme.MUTED),
        *what_if_facts(answer),
    )
    changes = comparison.tests if comparison is not None and not result.is_silent else ()
    marks = {test.id: _MARK[test.change] for test in changes if test.change in _MARK}
    marks |= {name: f"flaky: {flaky.words(name)}" for name in flaky.flaky}
    return RerunNote(facts, marks)
