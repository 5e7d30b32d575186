"""The documents of a run folder of ours from what is known of any run: run.json, chain.json, gates.

Pure: from the model to JSON values. Unknown stays out, never 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from arcview import __version__
from arcview.analysis.verdicts import judge
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest, Group, GroupCounts
from arcview.model.run import Run, Stage, Status
from arcview.model.states import State
from arcview.model.trajectory_refs import Usage
from arcview.readers.times import seconds_between, time_of
from arcview.schema.words import CHAIN_VERSION, RESULT_VERSION, RUN_VERSION

Json = dict[str, object]

_COUNTS = tuple(part.name for part in fields(GroupCounts))
_SPLIT = (Group.F2P, Group.P2P)


def dumps(value: object) -> str:
    """JSON that people can read and that no terminal acts on."""
    return json.dumps(value, indent=2, ensure_ascii=True) + "\n"


@dataclass(frozen=True, slots=True)
class StagePart:
    """What was written for one stage beside run.json."""

    trajectories: Sequence[Json] = ()
    spec: str | None = None
    """Relative to the chain folder."""
    contract: str | None = None


def run_json(
    run: Run,
    parts: Mapping[int, StagePart],
    missing: Mapping[str, str],
    problems: Iterable[Problem],
) -> Json:
    """run.json.

    Args:
        run: The run.
        parts: What was written for each stage.
        missing: Why a state's files are not there, by its id.
        problems: What was wrong with the files that the run was read from.
    """
    usages = {each.state: each.usage for stage in run.stages for each in stage.passes}
    origin: Json = {"layout": run.layout, "arcview_version": __version__}
    found = [{"where": each.where, "what": each.what} for each in problems]
    return _known(
        {
            "schema": RUN_VERSION,
            "run_id": run.run_id,
            "agent": _known({"name": run.agent, "version": run.agent_version}) or None,
            "model": run.model,
            "task_id": run.chain.task_id,
            "attempt": run.attempt,
            "chain": "chain",
            "delegation": {"declared": run.delegation} if run.delegation else None,
            "started": _time(run.started),
            "ended": end_time(run.started, run.ended),
            "harness": {"name": run.harness} if run.harness else None,
            "status": _status(run.status),
            "status_detail": run.status_detail,
            "states": [
                _state(state, missing.get(state.id), usages.get(state.id))
                for state in run.agent_states()
            ],
            "stages": [_stage(stage, parts.get(stage.index, StagePart())) for stage in run.stages],
            "origin": origin | ({"problems": found} if found else {}),
        }
    )


def _state(state: State, missing: str | None, usage: Usage | None) -> Json:
    return _known(
        {
            "id": state.id,
            "stage": state.stage,
            "kind": state.kind.value,
            "provenance": state.provenance.value,
            "tree": state.tree,
            "unchanged": state.unchanged,
            "missing": missing,
            "usage": _usage(usage),
        }
    )


def _stage(stage: Stage, part: StagePart) -> Json:
    return _known(
        {
            "index": stage.index,
            "status": _status(stage.status),
            "status_detail": stage.status_detail,
            "base": stage.base,
            "end": stage.end,
            "started": _time(stage.started),
            "ended": end_time(stage.started, stage.ended),
            "duration_s": stage.duration_s,
            "usage": _usage(stage.usage),
            "notes": list(stage.notes) or None,
            "trajectories": list(part.trajectories),
        }
    )


def chain_json(run: Run, parts: Mapping[int, StagePart], gates: Sequence[Json]) -> Json:
    """chain.json.

    Args:
        run: The run.
        parts: What was written for each stage.
        gates: The gates with their lists (see `gate_json`).
    """
    chain, rules = run.chain, run.chain.path_rules
    names = ("source", "test", "generated", "vendored", "docs")
    globs = {name: list(getattr(rules, name)) for name in names if getattr(rules, name)}
    return _known(
        {
            "schema": CHAIN_VERSION,
            "task_id": chain.task_id,
            "title": chain.title,
            "repository": chain.repository,
            "languages": list(chain.languages) or None,
            "image": _known({"ref": chain.image_ref, "digest": chain.image_digest}) or None,
            "workdir": chain.workdir,
            "path_rules": globs or None,
            "stages": [
                _known(
                    {
                        "index": stage.index,
                        "title": stage.title,
                        "spec": parts.get(stage.index, StagePart()).spec,
                        "contract": parts.get(stage.index, StagePart()).contract,
                    }
                )
                for stage in run.stages
            ],
            "gates": list(gates) or None,
        }
    )


def gate_json(gate: str, runs: Sequence[tuple[GateRecord, Sequence[GateTest]]]) -> Json:
    """What chain.json says of a gate: its lists, where every recorded run of it agrees on them.

    Args:
        gate: Its id.
        runs: Every recorded run of it with its tests.
    """
    found: Json = {"id": gate}
    tests = [test for _, listed in runs for test in listed]
    if any(t.group is Group.OTHER and not t.extra for t in tests) and not any(
        t.extra for t in tests
    ):
        return found  # beside lists, expected tests that are on none would count as extra
    for group in _SPLIT:
        lists = {_expected(record, tests, group) for record, tests in runs}
        only = next(iter(lists)) if len(lists) == 1 else None
        if only is not None:
            found[group.value] = list(only)
    return found


def _expected(
    record: GateRecord, tests: Sequence[GateTest], group: Group
) -> tuple[str, ...] | None:
    """The expected ids of a group; null where the record does not name all of them."""
    counts: GroupCounts | None = getattr(record, group.value)
    if counts is None or record.unmeasured is not None:
        return None
    ids = tuple(t.id for t in tests if t.group is group and not t.extra)
    return ids if len(ids) == counts.expected else None


def result_json(record: GateRecord, tests: Sequence[GateTest]) -> Json:
    """gate/result.json. The verdict is our own; what was recorded stands beside it."""
    judgement = judge(record)
    recorded = record.recorded_verdict
    return _known(
        {
            "schema": RESULT_VERSION,
            "gate": record.gate,
            "state": record.state,
            "verdict": judgement.verdict.value,
            "reason": record.unmeasured,
            "recorded_verdict": recorded.value if recorded is not None else None,
            "exit_codes": list(record.exit_codes) or None,
            "timed_out": record.timed_out or None,
            "started": _time(record.started),
            "duration_s": record.duration_s,
            "f2p": _counts(record.f2p),
            "p2p": _counts(record.p2p),
            "other": _counts(record.other),
            "provenance": "imported",
            "notes": list(record.notes) or None,
            "partial": is_partial(record, tests) or None,
        }
    )


def is_partial(record: GateRecord, tests: Sequence[GateTest]) -> bool:
    """Whether a record counts tests that nobody names."""
    for group in Group:
        counts: GroupCounts | None = getattr(record, group.value)
        named = [test for test in tests if test.group is group]
        if counts is not None and GroupCounts.of(named) != counts:
            return True
    return False


def test_line(test: GateTest) -> str:
    """One line of tests.jsonl."""
    line = _known(
        {
            "id": test.id,
            "group": test.group.value,
            "outcome": test.outcome.value,
            "duration_s": test.duration_s,
            "message": test.message,
            "traceback": test.traceback,
            "stdout": test.stdout,
            "stderr": test.stderr,
            "reported": test.reported,
            "copies": test.copies if test.copies > 1 else None,
            "evidence": test.evidence,
            "conflict": test.conflict,
        }
    )
    return json.dumps(line, ensure_ascii=True) + "\n"


def _counts(counts: GroupCounts | None) -> Json | None:
    if counts is None:
        return None
    values = {name: getattr(counts, name) for name in _COUNTS}
    return {name: value for name, value in values.items() if value or name == "expected"}


def _usage(usage: Usage | None) -> Json | None:
    if usage is None:
        return None
    return _known({part.name: getattr(usage, part.name) for part in fields(Usage)})


def _status(status: Status) -> str | None:
    """The format has no word for what is not known."""
    return None if status is Status.UNKNOWN else status.value


def _time(text: str | None) -> str | None:
    """A time that the format allows; another one is left out."""
    return text if time_of(text) is not None else None


def end_time(start: str | None, end: str | None) -> str | None:
    """An end that can be compared with its start; without a start any time."""
    if start is None or _time(start) is None:
        return _time(end)
    return end if seconds_between(start, end) is not None else None


def _known(values: Json) -> Json:
    return {name: value for name, value in values.items() if value is not None}
