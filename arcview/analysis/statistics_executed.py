"""The figures that rest on gates run again on other states: what was executed, not inferred. Pure.

Results without a container are no part of them; whoever hands the facts in leaves those out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from arcview.analysis.statistics_counts import CountedRun, Tally, tally
from arcview.analysis.statistics_facts import ExecutedFacts, StageFacts
from arcview.analysis.statistics_figures import FigureSpec
from arcview.analysis.what_if import WhatIfLabel
from arcview.model.results import Verdict

_TITLES = {
    WhatIfLabel.BASE: ("inherited from the state before", "the state before the stage"),
    WhatIfLabel.CHANGE: ("the stage's own change", "the stage's own change"),
    WhatIfLabel.INTERACTION: ("only the two together", "neither alone, but the two together"),
    WhatIfLabel.BOTH: ("each on its own", "each on its own"),
}


def _failed(run: CountedRun) -> Iterator[tuple[StageFacts, ExecutedFacts | None]]:
    """The failing stages that have a stage before them, with what was executed about them."""
    executed = {one.stage: one for one in run.facts.executed}
    for index, stage in run.measured.items():
        if index > 1 and stage.gate.verdict is Verdict.FAILED:
            yield stage, executed.get(index)


def _asked(run: CountedRun) -> Tally:
    return tally(found is not None and found.label is not None for _, found in _failed(run))


def _labelled(run: CountedRun, label: WhatIfLabel) -> Tally:
    labels = [found.label for _, found in _failed(run) if found is not None and found.label]
    known = (None if one is WhatIfLabel.UNDETERMINED else one is label for one in labels)
    return tally(known)


def _clean_base(run: CountedRun) -> Tally:
    known = (found.x_passes for _, found in _failed(run) if found is not None)
    return tally(passes for passes in known if passes is not None)


def _at_end(run: CountedRun, own: Verdict) -> Tally:
    """Whether gates with this verdict fail on the last state, where they were run there again."""
    ends = (
        one.passes_at_end
        for one in run.facts.executed
        if one.stage in run.measured and run.measured[one.stage].gate.verdict is own
    )
    return tally(not passes for passes in ends if passes is not None)


EXECUTED: tuple[FigureSpec, ...] = (
    FigureSpec(
        "asked",
        "failing gates that were asked about",
        "failing gates after the first with a what-if answer, of all such gates",
        _asked,
    ),
    *(
        FigureSpec(
            label.value,
            title,
            f"answers that say: {what}, of all answers that are determined",
            partial(_labelled, label=label),
        )
        for label, (title, what) in _TITLES.items()
    ),
    FigureSpec(
        "clean_base_passes",
        "would pass on a clean base",
        "failing gates that pass with the agent's change on the reference base, of those run there",
        _clean_base,
    ),
    FigureSpec(
        "still_fails_at_end",
        "failed and still fail on the last state",
        "failed stage gates that fail on the last state too, of those run there again",
        partial(_at_end, own=Verdict.FAILED),
    ),
    FigureSpec(
        "broken_at_end",
        "passed and fail on the last state",
        "passed stage gates that fail on the last state, of those run there again",
        partial(_at_end, own=Verdict.PASSED),
    ),
)
