"""What is known about the states that were built: one small file beside their objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arcview.errors import ArcviewError
from arcview.model.problem import Problem
from arcview.states.cache import write_atomically

_FORMAT = 2
_NAME = "arcview-states.json"


@dataclass(frozen=True, slots=True)
class StepRecord:
    """The workspace after one step, where the run recorded it."""

    key: str | None
    """Key of the step; null where the run does not name exactly one."""
    tree: str
    commit: str | None = None
    """On the line of the steps of its state, for blame."""


@dataclass(frozen=True, slots=True)
class StateRecord:
    """One state that was built, or why it could not be."""

    fingerprint: str
    """Of the source it was built from; a different one now makes it stale."""
    tree: str | None
    missing: str | None = None
    """Why there is no tree."""
    problems: tuple[Problem, ...] = ()
    commit: str | None = None
    """On the line of all states in order, for blame."""
    steps: tuple[StepRecord, ...] = ()
    """What is recorded of the way to it from the state before, in order."""


def load_records(git_dir: Path) -> dict[str, StateRecord]:
    """The states that were built, by id; none where the file is absent or not ours."""
    try:
        data = json.loads((git_dir / _NAME).read_bytes())
        if data["format"] != _FORMAT:
            return {}
        return {
            state_id: StateRecord(
                fingerprint=entry["fingerprint"],
                tree=entry["tree"],
                missing=entry["missing"],
                problems=tuple(Problem(where, what) for where, what in entry["problems"]),
                commit=entry["commit"],
                steps=tuple(StepRecord(*step) for step in entry["steps"]),
            )
            for state_id, entry in data["states"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def save_records(git_dir: Path, records: Mapping[str, StateRecord]) -> None:
    """Replaces the file in one step.

    Raises:
        ArcviewError: it cannot be written.
    """
    states = {
        state_id: {
            "fingerprint": record.fingerprint,
            "tree": record.tree,
            "missing": record.missing,
            "problems": [[problem.where, problem.what] for problem in record.problems],
            "commit": record.commit,
            "steps": [[step.key, step.tree, step.commit] for step in record.steps],
        }
        for state_id, record in records.items()
    }
    data = json.dumps({"format": _FORMAT, "states": states}).encode("ascii")
    try:
        write_atomically(git_dir / _NAME, data)
    except OSError as error:
        raise ArcviewError(f"{git_dir}: cannot be written: {error.strerror}") from error
