"""Statistics over the runs below a folder: the facts of each run, read once and kept in its cache.

Brings runs, states and the pure statistics together; knows no screen and prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.analysis.history import stage_record
from arcview.analysis.infrastructure import CONDITIONS, Condition
from arcview.analysis.overview import NEVER_RAN
from arcview.analysis.statistics import (
    By,
    Excluded,
    Levels,
    Statistics,
    StatsPolicy,
    compute,
)
from arcview.analysis.statistics_facts import (
    ChangeFacts,
    GateCauses,
    OwnTests,
    RunFacts,
    StageFacts,
    change_facts,
    gate_facts,
)
from arcview.analysis.verdicts import DEFAULT_POLICY, Policy
from arcview.annotations.conditions import team_conditions
from arcview.config import Settings
from arcview.errors import ArcviewError, CancelledError
from arcview.files import exists, is_dir, why_unreadable
from arcview.model.patch import FileChange
from arcview.model.results import GateRecord, GateTest
from arcview.model.run import PathRules, Stage
from arcview.model.states import State, StateKind
from arcview.session.evidence import EvidenceFinder
from arcview.session.opened import OpenRun
from arcview.session.stats_executed import executed_facts
from arcview.sidecar import sidecar_root

if TYPE_CHECKING:
    from arcview.analysis.gate_view import GateView

Progress = Callable[[int, int, str], None]
"""Called with runs done, runs in all, and the name of the run that is looked at."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The facts of all runs below a folder."""

    root: str
    outcomes: Policy
    """What counted as ok when the facts were made."""
    runs: tuple[RunFacts, ...]
    broken: tuple[Excluded, ...] = ()
    """Runs that cannot be read, with what is wrong."""
    conditions: tuple[Condition, ...] = CONDITIONS
    """Known wordings of broken machinery, the team's own first."""

    def statistics(
        self, policy: StatsPolicy, by: By | None = None, levels: Levels | None = None
    ) -> Statistics:
        """Every figure over these runs.

        Args:
            policy: What counts; its outcome policy must be the one that the facts were made under.
            by: Also computes each group by this property.
            levels: Awareness as people labelled it.
        """
        if policy.outcomes != self.outcomes:
            raise ValueError("the facts were made under another outcome policy")
        return compute(
            self.runs, policy, by=by, levels=levels, broken=self.broken, conditions=self.conditions
        )


def collect(
    root: Path,
    *,
    outcomes: Policy = DEFAULT_POLICY,
    cache_root: Path | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Corpus:
    """Reads the facts of every run at or below a folder, from the cache where they are kept.

    The first time each run is read as a whole: gates, trajectories, workspaces.

    Args:
        root: The folder.
        outcomes: Which outcomes count as ok.
        cache_root: The cache folder; the user's own by default.
        settings: What the user set; the defaults where not given.
        progress: Told before each run is looked at.
        cancelled: Asked before each run is looked at, and before each stage of one.

    Raises:
        ArcviewError: there is no such folder.
        CancelledError: `cancelled` said so.
    """
    from arcview.readers.registry import iter_runs  # only who looks for runs needs it

    if not is_dir(root):
        kind = "not a folder" if exists(root) else "no such folder"
        raise ArcviewError(f"{root}: {kind}; give a folder with runs")
    if (why := why_unreadable(root)) is not None:
        raise ArcviewError(f"{root}: {why}")
    conditions = team_conditions(sidecar_root((settings or Settings()).sidecar))
    paths = list(iter_runs(root))
    runs: list[RunFacts] = []
    broken: list[Excluded] = []
    check_stop = partial(_check_stop, cancelled)
    for number, path in enumerate(paths):
        check_stop()
        name = str(path.relative_to(root)) if path != root else path.resolve().name
        if progress is not None:
            progress(number, len(paths), name)
        try:
            opened = OpenRun.open(path, cache_root=cache_root, settings=settings)
            facts = facts_of(opened, outcomes, (settings or Settings()).path_rules, check_stop)
            sidecar = settings.sidecar if settings is not None else None
            runs.append(replace(facts, name=name, executed=executed_facts(opened, sidecar)))
        except CancelledError:
            raise
        except ArcviewError as error:
            broken.append(Excluded(name, None, str(error)))
        except Exception as error:  # noqa: BLE001 -- one bad run, or a foreign reader, must not end the rest
            first_line = next(iter(str(error).splitlines()), "")
            broken.append(Excluded(name, None, f"{type(error).__name__}: {first_line}"))
    return Corpus(str(root), outcomes, tuple(runs), tuple(broken), conditions)


def _check_stop(cancelled: Callable[[], bool] | None) -> None:
    if cancelled is not None and cancelled():
        raise CancelledError("cancelled")


@dataclass(frozen=True, slots=True)
class _Kept:
    states: str
    rules: PathRules
    facts: RunFacts


def facts_of(
    opened: OpenRun,
    outcomes: Policy = DEFAULT_POLICY,
    rules: PathRules | None = None,
    check_stop: Callable[[], None] = lambda: None,
) -> RunFacts:
    """The facts of one run, from its cache where nothing they come from has changed.

    Args:
        opened: The run.
        outcomes: Which outcomes count as ok.
        rules: The user's own path rules, which decide what is a source or a test file.
        check_stop: Called before each stage is looked at; ends it by raising.
    """
    rules = rules or PathRules()
    flags = "".join(str(int(getattr(outcomes, name))) for name in outcomes.__slots__)
    finder = EvidenceFinder(opened)
    states = finder.states_digest()
    kept = opened.load_view(f"facts-{flags}", _Kept)
    if kept is not None and kept.states == states and kept.rules == rules:
        return kept.facts
    facts = _facts(opened, finder, outcomes, check_stop)
    opened.save_view(f"facts-{flags}", _Kept, _Kept(states, rules, facts))
    return facts


def _facts(
    opened: OpenRun, finder: EvidenceFinder, outcomes: Policy, check_stop: Callable[[], None]
) -> RunFacts:
    run = opened.run
    gates, chain = gate_facts(run, partial(_expected_tests, opened), outcomes)
    check_stop()
    changes = change_facts([_step(opened, *step) for step in pairwise(run.agent_states())])
    stages = []
    for stage in run.stages:
        check_stop()
        usage = stage.usage
        stages.append(
            StageFacts(
                stage.index,
                stage.status,
                gates[stage.index],
                usage.cost_usd if usage is not None else None,
                stage.duration_s,
                _change(stage, changes),
                *_own_tests(opened, finder, stage),
                _awareness(opened, finder, stage),
            )
        )
    check_stop()
    return RunFacts(
        name=run.path,
        run_id=run.run_id,
        agent=run.agent,
        model=run.model,
        task=run.chain.task_id,
        languages=run.chain.languages,
        stages=tuple(stages),
        chain=chain,
        causes=tuple(_causes(opened)),
    )


def _causes(opened: OpenRun) -> Iterator[GateCauses]:
    """What the tests of each failed gate died of."""
    from arcview.analysis.shared_failures import signature_counts

    run = opened.run
    for record in [*(stage_record(run, stage) for stage in run.stages), run.chain_gate()]:
        if record is not None:
            view = opened.gate_view(record.gate, record.state)
            counts = signature_counts(failing.test for failing in view.failing)
            if counts:
                yield GateCauses(record.gate, counts)


def _expected_tests(opened: OpenRun, record: GateRecord) -> tuple[GateTest, ...]:
    view: GateView = opened.gate_view(record.gate, record.state)
    return (*(failing.test for failing in view.failing), *view.passing)


def _step(
    opened: OpenRun, before: State, state: State
) -> tuple[int | None, Sequence[FileChange] | None]:
    """Which stage made the step between two states, and what it changed, where that is known."""
    stage = state.stage if state.kind is StateKind.STAGE_END else None
    store = opened.store
    if store.incomparable(before.id, state.id) is not None:
        return stage, () if state.unchanged else None
    try:
        return stage, store.changes(before.id, state.id)
    except CancelledError:
        raise
    except ArcviewError:  # git is missing: said among the problems of the run
        return stage, None


def _change(stage: Stage, changes: dict[int, ChangeFacts]) -> ChangeFacts | None:
    return changes.get(stage.index) if stage.status not in NEVER_RAN else None


def _own_tests(
    opened: OpenRun, finder: EvidenceFinder, stage: Stage
) -> tuple[bool | None, OwnTests | None]:
    """Whether a stage ran tests of earlier stages, and how many executions and files that is."""
    if not opened.trajectory_refs(stage.index) or stage.index == 1:
        return None, None
    from arcview.session.self_test_depth import self_test_depth

    depth = self_test_depth(opened, finder, stage.index)
    tests = zip(opened.self_tests(stage.index), depth.earlier_stages, strict=True)
    answers = [earlier for test, earlier in tests if test.is_test]
    known = [bool(earlier) for earlier in answers if earlier is not None]
    files = depth.earlier_files
    all_known = files is not None and not files.unknown
    return depth.revisits_earlier, OwnTests(
        len(known),
        sum(known),
        len(answers) - len(known),
        files.files if files is not None and all_known else None,
        files.run if files is not None and all_known else 0,
    )


def _awareness(opened: OpenRun, finder: EvidenceFinder, stage: Stage) -> int | None:
    if stage.index == 1:
        return None
    from arcview.session.awareness import suggest_awareness

    found = suggest_awareness(opened, finder, stage.index)
    return int(found.level) if found is not None else None
