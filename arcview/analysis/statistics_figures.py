"""The figures of `arcview stats` in order: their names, and what each of them counts in words.

One table, so that the command, the screen, the schema and the documents say the same. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from arcview.analysis import statistics_counts as counts
from arcview.analysis.statistics_counts import Count, CountAt, Values
from arcview.model.results import Verdict


@dataclass(frozen=True, slots=True)
class FigureSpec:
    """A share k of n."""

    name: str
    title: str
    counts: str
    """What k and n are, in words."""
    count: Count = field(compare=False)


@dataclass(frozen=True, slots=True)
class ListSpec:
    """A share for each position in the chain."""

    name: str
    title: str
    counts: str
    at: CountAt = field(compare=False)
    """The tally of a run at a position, counted from 1."""


@dataclass(frozen=True, slots=True)
class MedianSpec:
    """A middle value."""

    name: str
    title: str
    counts: str
    unit: str
    values: Values = field(compare=False)


FIGURES: tuple[FigureSpec, ...] = (
    FigureSpec(
        "first_stage_pass",
        "first stage passes",
        "stage gates 1 that passed, of those with a verdict",
        lambda run: counts.stage_pass(run, 1),
    ),
    FigureSpec(
        "completion_chain",
        "chain gate passes",
        "chain gates that passed, of those with a verdict",
        counts.completion_chain,
    ),
    FigureSpec(
        "completion_strict",
        "chain gate and every stage pass",
        "runs whose chain gate and all stage gates passed, of runs where that is known",
        counts.completion_strict,
    ),
    FigureSpec(
        "f2p_after_fail",
        "new behaviour works after a failed stage",
        "stages all of whose F2P tests are ok, of stages after one whose gate failed",
        counts.f2p_after(Verdict.FAILED),
    ),
    FigureSpec(
        "f2p_after_pass",
        "new behaviour works after a passed stage",
        "stages all of whose F2P tests are ok, of stages after one whose gate passed",
        counts.f2p_after(Verdict.PASSED),
    ),
    FigureSpec(
        "f2p_after_f2p_fail",
        "… after a stage whose new behaviour does not work",
        "stages all of whose F2P tests are ok, of stages after one with an F2P test that is not",
        counts.f2p_after_f2p(worked=False),
    ),
    FigureSpec(
        "f2p_after_f2p_pass",
        "… after a stage whose new behaviour works",
        "stages all of whose F2P tests are ok, of stages after one all of whose F2P tests are ok",
        counts.f2p_after_f2p(worked=True),
    ),
    FigureSpec(
        "f2p_after_any_fail",
        "… after any failed stage",
        "stages all of whose F2P tests are ok, of stages after a failed one, however long before",
        counts.f2p_after_all(passed=False),
    ),
    FigureSpec(
        "f2p_after_no_fail",
        "… after passed stages only",
        "stages all of whose F2P tests are ok, of stages before which every gate passed",
        counts.f2p_after_all(passed=True),
    ),
    FigureSpec(
        "regression",
        "the new works, something earlier is broken",
        "stages with a P2P test that is not ok, of stages all of whose F2P tests are ok, "
        "also those without P2P tests",
        counts.regression,
    ),
    FigureSpec(
        "regression_true",
        "… broken by this stage",
        "of the same stages, those with such a P2P test that was ok at its last earlier result",
        counts.regression_true,
    ),
    FigureSpec(
        "regression_inherited",
        "… broken before",
        "of the same stages, those all of whose such P2P tests were not ok at their last result",
        counts.regression_inherited,
    ),
    FigureSpec(
        "regression_unclear",
        "… broken at an unknown time",
        "of the same stages, those with such P2P tests of which no earlier result tells",
        counts.regression_unclear,
    ),
    FigureSpec(
        "regression_tests",
        "… tests broken by this stage",
        "P2P tests that were ok at their last earlier result and are not, of the P2P tests there",
        counts.regression_tests,
    ),
    FigureSpec(
        "regression_chain",
        "… at the chain gate",
        "chain gates with a P2P test that is not ok, of those all of whose F2P tests are ok",
        counts.regression_chain,
    ),
    FigureSpec(
        "healed",
        "stage heals something broken before",
        "stages with a test that is ok and was not, of stages whose gate has tests broken before",
        counts.healed,
    ),
    FigureSpec(
        "broken_again",
        "stage breaks again what was healed",
        "stages with a healed test that is not ok, of stages whose gate has healed tests",
        counts.broken_again,
    ),
    FigureSpec(
        "unnoticed_n2",
        "failure before not even seen (below N2)",
        "stages with awareness below N2, of stages after a failed one",
        counts.unnoticed(2),
    ),
    FigureSpec(
        "unnoticed_n3",
        "failure before not acknowledged (below N3)",
        "stages with awareness below N3, of stages after a failed one",
        counts.unnoticed(3),
    ),
    FigureSpec(
        "unnoticed_n5",
        "no repair tried (below N5)",
        "stages with awareness below N5, of stages after a failed one",
        counts.unnoticed(5),
    ),
    FigureSpec(
        "awareness_labelled",
        "awareness labelled by people",
        "stages whose level a person set, of stages that have one; the rest is suggested by rules",
        counts.labelled,
    ),
    FigureSpec(
        "self_tests_revisit",
        "own tests go back to earlier stages",
        "stages that ran tests of an earlier stage, of later stages where that can be told",
        counts.revisits,
    ),
    FigureSpec(
        "self_tests_revisit_events",
        "… runs of own tests that do",
        "runs of own tests that ran tests of an earlier stage, of those in later stages where that "
        "can be told",
        counts.revisiting_events,
    ),
    FigureSpec(
        "self_tests_revisit_files",
        "… their test files that run again",
        "test files that a later stage ran again, of those that earlier stages had left it, in "
        "stages where each is known",
        counts.revisited_files,
    ),
    FigureSpec(
        "shared_files",
        "changed files that an earlier stage changed too",
        "files an earlier stage changed, of all files that later stages changed",
        counts.shared_files,
    ),
)

LISTS: tuple[ListSpec, ...] = (
    ListSpec(
        "stage_pass",
        "stage passes, by position",
        "gates of this stage that passed, of those with a verdict",
        counts.stage_pass,
    ),
    ListSpec(
        "survival",
        "no failure so far, by position",
        "runs whose gates all passed up to this stage, of runs where that is known",
        counts.survival,
    ),
    ListSpec(
        "hazard",
        "first failure, by position",
        "gates of this stage that failed, of those with a verdict before which every gate passed",
        counts.hazard,
    ),
    ListSpec(
        "debt",
        "earlier tests broken before a stage, by position",
        "stages before which the last result of some test is not ok, of stages where that is known",
        counts.debt,
    ),
    ListSpec(
        "healed_at_age",
        "failure healed, by its age in stages",
        "failures whose tests are ok so many stages later, of those followed so long; all that "
        "begins to fail at one gate is one failure",
        counts.healed_at,
    ),
)


MEDIANS: tuple[MedianSpec, ...] = (
    MedianSpec(
        "source_lines",
        "source lines a stage",
        "added and removed lines of source files",
        "lines",
        counts.lines("source_added", "source_removed"),
    ),
    MedianSpec(
        "source_lines_added",
        "… added",
        "added lines of source files",
        "lines",
        counts.lines("source_added"),
    ),
    MedianSpec(
        "source_lines_removed",
        "… removed",
        "removed lines of source files",
        "lines",
        counts.lines("source_removed"),
    ),
    MedianSpec(
        "test_lines",
        "test lines a stage",
        "added and removed lines of test files",
        "lines",
        counts.lines("test_added", "test_removed"),
    ),
    MedianSpec(
        "test_lines_added",
        "… added",
        "added lines of test files",
        "lines",
        counts.lines("test_added"),
    ),
    MedianSpec(
        "test_lines_removed",
        "… removed",
        "removed lines of test files",
        "lines",
        counts.lines("test_removed"),
    ),
    MedianSpec(
        "shared_files_per_stage",
        "share of its files that a later stage shares",
        "files an earlier stage changed, of the files that a later stage changed",
        "share",
        counts.shared_shares,
    ),
    MedianSpec(
        "debt_tests",
        "broken earlier tests when a later stage begins",
        "tests whose last result before the stage is not ok",
        "tests",
        counts.debt_tests,
    ),
    MedianSpec(
        "cost_per_passed_stage_usd",
        "cost of a passed stage",
        "what a stage cost whose gate passed",
        "usd",
        counts.of_passed("cost_usd"),
    ),
    MedianSpec(
        "time_per_passed_stage_s",
        "time of a passed stage",
        "what a stage took whose gate passed",
        "s",
        counts.of_passed("duration_s"),
    ),
)
