"""`arcview check`: every fault of a run with its file and field, and what is off without what.

Works for every layout; native runs are compared with their models and document by document. What
is missing is no fault: a run may be partial.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from arcview.errors import ArcviewError, BadInputError
from arcview.files import is_file
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest
from arcview.model.run import Run, Stage, Status
from arcview.model.states import StateKind
from arcview.readers.registry import Given, OpenedRun, open_run
from arcview.readers.runs.native_fields import tidy

_RUN_FILE = "run.json"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What is wrong with a run and what it does not have."""

    faults: tuple[Problem, ...] = ()
    """What contradicts the format, its own documents or itself; none means that it holds."""
    off: tuple[Problem, ...] = ()
    """Each optional part that is missing, with what that switches off."""


def check(path: Path, layout: str | None = None, given: Given | None = None) -> CheckReport:
    """Checks one run. Writes nothing into it; its states are built in the cache.

    Args:
        path: The run folder.
        layout: Id of its reader; recognised by content by default.
        given: What else the user named.

    Raises:
        UnknownLayoutError: there is no run at the path.
        BadInputError: a run of a foreign layout that cannot be opened at all.
    """
    if layout in (None, "native") and is_file(path / _RUN_FILE):
        return _check_native(path)
    opened = open_run(path, layout, given)
    built = _built_states(opened)
    faults = [*opened.run.problems, *opened.problems(), *_trajectory_faults(opened), *built.faults]
    return CheckReport(tidy(faults), tidy([*_off(opened), *built.off]))


def _check_native(path: Path) -> CheckReport:
    from arcview.readers.check_native import check_documents  # pydantic: 100 ms
    from arcview.readers.runs.native import NativeReader

    documents = check_documents(path)
    faults = [*documents.faults]
    off: list[Problem] = []
    try:
        opened = NativeReader().read(path)
    except BadInputError as error:
        shown = error.path.removeprefix(f"{path}/")
        where = f"{shown}: {error.field}" if error.field else shown
        faults = _with_others(faults, [Problem(where, error.expected)])
    else:
        built = _built_states(opened)
        others = tidy([*opened.problems(), *_trajectory_faults(opened), *built.faults])
        # What was wrong before the import is no fault of this folder.
        faults = _with_others(faults, [p for p in others if p not in documents.origin])
        off += (*_off(opened), *documents.off(opened.run), *built.off)
    return CheckReport(tidy(faults), tidy([*off, *documents.secrets]))


def _with_others(faults: list[Problem], others: Iterable[Problem]) -> list[Problem]:
    """Adds what the reader found, except where a fault at the same place says it already."""
    places = [fault.where for fault in faults]
    return faults + [
        other
        for other in others
        if not any(place == other.where or place.startswith(f"{other.where}: ") for place in places)
    ]


def _trajectory_faults(opened: OpenedRun) -> Iterator[Problem]:
    for stage in opened.run.stages:
        for refs in (stage.trajectories, *(each.trajectories for each in stage.passes)):
            if refs:
                yield from opened.trajectory(refs).problems


def _built_states(opened: OpenedRun) -> CheckReport:
    """Builds every state: whether bundles are whole, patches apply and trees are as recorded."""
    # 10 ms that listing what is missing would not need.
    from arcview.states.cache import RunCache
    from arcview.states.store import StateStore

    try:
        found = StateStore(opened.run, RunCache.for_run(Path(opened.run.path))).ingest()
    except ArcviewError as error:
        return CheckReport(off=(Problem("states", f"not checked: {error}"),))
    sourceless = {f"state {state.id}" for state in opened.run.states if state.source is None}
    faults = (each for each in found if each.where.startswith("state "))
    return CheckReport(
        # What has no files at all is missing, which is no fault.
        faults=tuple(each for each in faults if each.where not in sourceless),
        off=tuple(each for each in found if not each.where.startswith("state ")),
    )


def _off(opened: OpenedRun) -> Iterator[Problem]:
    """What is missing in a run of any layout, and what follows."""
    run = opened.run
    if not any(state.kind is StateKind.REFERENCE for state in run.states):
        yield Problem("reference", "none: no comparison with the reference, no check of the gates")
    if run.chain.image_digest is None:
        yield Problem("image digest", "none: nothing proves that a rerun uses the same image")
    if not run.chain.has_chain_gate:
        yield Problem("chain gate", "none: nothing is known of the whole feature on the last state")
    for state in run.states:
        if state.source is None:
            what = state.missing or "its files are not there"
            yield Problem(f"state {state.id}", f"{what}: no diff, file or blame that needs it")
    for stage in run.stages:
        yield from _stage_off(run, stage)
    for gate in run.gates:
        of_stage = run.stage(int(gate.gate)) if gate.gate.isdecimal() else None
        if of_stage is None or of_stage.status is not Status.NOT_STARTED:
            yield from _gate_off(gate, opened)


def _stage_off(run: Run, stage: Stage) -> Iterator[Problem]:
    where = f"stage {stage.index}"
    if stage.spec_path is None:
        yield Problem(where, "no specification: what the agent was told is not shown")
    if stage.contract_path is None:
        yield Problem(where, "no contract: its names, signatures and messages are not shown")
    if stage.status is Status.NOT_STARTED:
        yield Problem(where, "not started: everything of it is unknown")
        return
    if not stage.trajectories:
        what = "no trajectory: no steps, no self-tests, no links from code to steps"
        yield Problem(where, what)
    if stage.end is None:
        yield Problem(where, "no end state: no diff, and the base of the next stage is unknown")
    elif stage.base is None:
        yield Problem(where, "its base is not recorded: no diff of the stage")
    if stage.usage is None or stage.usage.cost_usd is None:
        yield Problem(where, "no cost: sums of cost leave the stage out")
    if stage.duration_s is None:
        yield Problem(where, "no duration: sums of time leave the stage out")
    if run.stage_gate(stage.index) is None:
        yield Problem(where, "no gate: its verdict is unmeasured")


def _gate_off(gate: GateRecord, opened: OpenedRun) -> Iterator[Problem]:
    where = f"gate {gate.gate}" + (f" on {gate.state}" if gate.state else "")
    if gate.unmeasured is not None:
        yield Problem(where, f"unmeasured, so neither passed nor failed: {gate.unmeasured}")
        return
    counts = (gate.f2p, gate.p2p, gate.other)
    tests = opened.gate_tests(gate.gate, gate.state)
    if not tests and any(group is not None and group.expected for group in counts):
        yield Problem(where, "only counts: no failing tests, and no history for later gates")
        return
    failing = [test for test in tests if _has_failed(test)]
    silent = [test for test in failing if not test.message and not test.traceback]
    if silent:
        share = f"{len(silent)} of {len(failing)} failing tests"
        what = f"no messages ({share}): no causes, no grouping, no links into the code"
        yield Problem(where, what)
    if not gate.log_paths:
        yield Problem(where, "no log: the raw output of the gate is not shown")


def _has_failed(test: GateTest) -> bool:
    return test.outcome.value in ("failed", "error", "timeout")
