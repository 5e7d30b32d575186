"""The pydantic model of `arcview stats --json`. Every field is always present; unknown is null."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from arcview.schema.base import Count, Model, StageIndex, StatusWord

Share = Annotated[float, Field(ge=0, le=1)]


class StatsExcluded(Model):
    """Something that does not count, and why."""

    run: str
    """The run by its path below the folder."""
    stage: StageIndex | None
    """Null for the run as a whole and for its chain gate."""
    reason: str


class StatsBootstrap(Model):
    """How the clustered intervals were drawn."""

    draws: Literal["task"]
    resamples: Count
    seed: int


class StatsPolicy(Model):
    """What counted, and how."""

    name: Literal["clean", "as-recorded"]
    leaves_out: list[StatusWord]
    """Statuses whose stages do not count, nor the transitions that touch them."""
    skip_ok: bool
    xfail_ok: bool
    xpass_ok: bool
    missing_ok: bool
    not_run_ok: bool
    count_tests: bool
    """Test files are among the files that stages share."""
    bootstrap: StatsBootstrap


class StatsInterval(Model):
    """A 95 % interval of a share."""

    low: Share
    high: Share


class StatsFigure(Model):
    """A share k of n."""

    k: Count
    n: Count
    low: Share | None
    """Wilson's 95 % interval, which takes the units as independent; null for n = 0."""
    high: Share | None
    clustered: StatsInterval | None
    """The 95 % interval that draws whole tasks; null where no task has more than one unit, where
    there is one task, and where k is 0 or n."""
    tasks: Count
    """Tasks that the units come from; under 20 the clustered interval is rough."""
    left_out: Count
    """Units that belong there and tell nothing; stages, where n counts files or tests."""


class StatsMedian(Model):
    """A middle value; its interval draws whole tasks."""

    median: float | None
    low: float | None
    high: float | None
    n: Count
    left_out: Count


class StatsEstimate(Model):
    """A number with a 95 % interval that draws whole tasks."""

    value: float | None
    low: float | None
    high: float | None
    unbounded: list[Literal["value", "high"]]
    """Those that are null because they are infinite."""


class StatsSpent(StatsEstimate):
    """All that was spent, for each stage that passed."""

    n: Count
    """Passed stages."""
    left_out: Count
    """Runs of which a part is not known."""


class StatsHalfLife(Model):
    """After how many stages half of the failures are healed (median of Kaplan and Meier).

    All that begins to fail at one gate is one failure.
    """

    value: Count | None
    """Null where fewer than half are healed as far as any failure was followed."""
    low: float | None
    high: float | None
    unbounded: list[Literal["high"]]
    """The upper end where it is null because too many resamples never get there."""
    n: Count
    """Failures that a later gate looks at."""
    ended: Count
    followed: Count
    """Stages that the longest was followed for."""
    left_out: Count
    """Failures that no later gate looks at."""


class StatsSharedCause(Model):
    """A cause of failures that many runs share: suspected machinery, or unspecified behaviour."""

    signature: str
    """The fatal line without what differs from run to run."""
    reason: str
    condition: str | None
    """The known condition of broken machinery that it words."""
    runs: list[str]
    agents: list[str]
    gates: Count
    failures: Count


class StatsInformative(Model):
    """Strata that hold transitions of both kinds, of all strata."""

    k: Count
    n: Count


class StatsCrude(Model):
    """The gap between stages after a passed and after a failed one, whatever the task."""

    risk_difference: StatsEstimate


class StatsMatched(Model):
    """Mantel–Haenszel estimates over strata of one task and stage."""

    risk_difference: StatsEstimate
    odds_ratio: StatsEstimate
    informative: StatsInformative
    transitions: Count
    """Transitions in informative strata."""


class StatsExecuted(Model):
    """From gates run again on other states, in containers."""

    asked: StatsFigure
    """Failing gates after the first with a what-if answer."""
    base: StatsFigure
    change: StatsFigure
    interaction: StatsFigure
    both: StatsFigure
    clean_base_passes: StatsFigure
    """Failing gates that pass with the agent's change on the reference base."""
    still_fails_at_end: StatsFigure
    """Failed stage gates that fail on the last state too."""
    broken_at_end: StatsFigure
    """Passed stage gates that fail on the last state."""


class StatsGroup(Model):
    """Every figure over some runs; what each counts is said by `arcview stats --figures`."""

    runs: Count
    tasks: Count
    stages: Count
    """Stages whose gate has a verdict."""
    first_stage_pass: StatsFigure
    stage_pass: list[StatsFigure]
    """The first is that of stage 1."""
    survival: list[StatsFigure]
    completion_chain: StatsFigure
    completion_strict: StatsFigure
    hazard: list[StatsFigure]
    debt: list[StatsFigure]
    healed_at_age: list[StatsFigure]
    """The first is that of age 1, the stage after the one that failed."""
    half_life_stages: StatsHalfLife
    completion_difference: list[str]
    """Runs whose chain gate passed though a stage gate failed."""
    f2p_after_fail: StatsFigure
    f2p_after_pass: StatsFigure
    f2p_after_f2p_fail: StatsFigure
    f2p_after_f2p_pass: StatsFigure
    f2p_after_any_fail: StatsFigure
    f2p_after_no_fail: StatsFigure
    regression: StatsFigure
    regression_true: StatsFigure
    regression_inherited: StatsFigure
    regression_unclear: StatsFigure
    regression_tests: StatsFigure
    regression_chain: StatsFigure
    healed: StatsFigure
    broken_again: StatsFigure
    unnoticed_n2: StatsFigure
    unnoticed_n3: StatsFigure
    unnoticed_n5: StatsFigure
    awareness_labelled: StatsFigure
    """How many of the levels above a person set; the others are suggested by rules."""
    self_tests_revisit: StatsFigure
    self_tests_revisit_events: StatsFigure
    self_tests_revisit_files: StatsFigure
    shared_files: StatsFigure
    source_lines: StatsMedian
    source_lines_added: StatsMedian
    source_lines_removed: StatsMedian
    test_lines: StatsMedian
    test_lines_added: StatsMedian
    test_lines_removed: StatsMedian
    shared_files_per_stage: StatsMedian
    debt_tests: StatsMedian
    cost_per_passed_stage_usd: StatsMedian
    time_per_passed_stage_s: StatsMedian
    cost_spent_per_passed_stage_usd: StatsSpent
    time_spent_per_passed_stage_s: StatsSpent
    crude: StatsCrude
    matched: StatsMatched
    executed: StatsExecuted | None
    """From gates run again on other states; null where there are none."""


class StatsCaptions(Model):
    """What to print with the layers of propagation."""

    crude: str
    matched: str
    shared_causes: str


class StatsFile(Model):
    """What `arcview stats --json` prints."""

    schema_: Literal["arcview/stats/1"] = Field(alias="schema")
    """The version of this format."""
    path: str
    """The folder of the runs, as it was given."""
    policy: StatsPolicy
    excluded: list[StatsExcluded]
    shared_causes: list[StatsSharedCause]
    """Those that word a known condition first, then by number of failures."""
    same_run_id: list[list[str]]
    """Runs that share an id: copies of one run, as far as can be told; each of them counts."""
    by: Literal["agent", "model", "task", "language"] | None
    all: StatsGroup
    groups: dict[str, StatsGroup]
    """By name; empty where no grouping was asked for."""
    captions: StatsCaptions
