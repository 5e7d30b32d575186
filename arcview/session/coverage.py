"""Contract coverage: what a stage was told to provide, looked up in every state of the run.

Static and offline: nothing of the workspace is run. Knows no screen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arcview.analysis.contract import (
    ContractItem,
    Finding,
    Presence,
    extract_items,
    find_items,
    items_from_json,
    listing,
)
from arcview.session.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from arcview.session.opened import OpenRun

_GOOD = (Presence.PRESENT, Presence.MOVED)


@dataclass(frozen=True, slots=True)
class Drift:
    """A state in which an item that was there before is gone or different."""

    before: str
    """The last state that had it."""
    after: str
    presence: Presence


@dataclass(frozen=True, slots=True)
class CoveredItem:
    """One item of a contract in every state that was looked at."""

    item: ContractItem
    findings: tuple[Finding | None, ...]
    """In the order of `ContractCoverage.states`; null where the files of a state are missing."""
    drift: tuple[Drift, ...]
    """From the end of the stage on; what came back and went again stands there twice."""


@dataclass(frozen=True, slots=True)
class ContractCoverage:
    """The contract of one stage."""

    stage: int
    origin: str | None
    """`contract.json`, `contract` (prose) or `spec` (no contract is recorded: taken from the
    specification); null where neither is there."""
    states: tuple[str, ...]
    items: tuple[CoveredItem, ...]
    end: str | None
    """The state that the stage ended in, where it should have all of them."""

    def count(self, state: str) -> dict[Presence, int]:
        """How many items stand how in a state; empty where its files are missing."""
        place = self.states.index(state)
        found = [item.findings[place] for item in self.items]
        present = [finding.presence for finding in found if finding is not None]
        return {presence: present.count(presence) for presence in Presence} if present else {}


def contract_of(opened: OpenRun, stage: int) -> tuple[tuple[ContractItem, ...], str | None]:
    """The items of a stage's contract and where they come from.

    Raises:
        BadInputError: a file that the run names is not there.
    """
    found = opened.run.stage(stage)
    text = opened.contract(stage)
    if text is not None and found is not None:
        if (found.contract_path or "").endswith(".json"):
            try:
                return items_from_json(json.loads(text)), "contract.json"
            except ValueError:
                pass  # said by `check`; what can be read of it is read as prose
        return extract_items(text), "contract"
    spec = opened.spec(stage)
    return (extract_items(spec), "spec") if spec is not None else ((), None)


def contract_text(opened: OpenRun, stage: int) -> str | None:
    """A contract to be read: what `contract.json` lists by kind, then how it is written.

    Raises:
        BadInputError: a file that the run names is not there.
    """
    text = opened.contract(stage)
    items, origin = contract_of(opened, stage) if text is not None else ((), None)
    if origin != "contract.json" or not items:
        return text
    return f"{listing(items)}\n\nAs it is written\n\n{text}"


def cover(
    opened: OpenRun,
    stage: int,
    files: WorkspaceFiles | None = None,
    states: Sequence[str] | None = None,
) -> ContractCoverage:
    """Looks a stage's contract up in the states of the run.

    Args:
        opened: The run; its states must be built (`store.ready()`).
        stage: 1-based.
        files: What other questions have read already.
        states: Ids; all states of the agent's line by default.

    Raises:
        BadInputError: a file that the run names is not there.
    """
    files = files or WorkspaceFiles(opened)
    items, origin = contract_of(opened, stage)
    line = [state.id for state in opened.run.agent_states()]
    wanted = tuple(line if states is None else states)
    by_state = {state: _findings(files, state, items) for state in wanted}
    its_stage = opened.run.stage(stage)
    end = its_stage.end if its_stage is not None else None
    later = wanted[wanted.index(end) :] if end in wanted else ()
    covered = tuple(
        CoveredItem(
            item,
            tuple(found[place] if found is not None else None for found in by_state.values()),
            _drift([(s, found[place]) for s in later if (found := by_state[s]) is not None]),
        )
        for place, item in enumerate(items)
    )
    return ContractCoverage(stage, origin, wanted, covered, end)


def _findings(
    files: WorkspaceFiles, state: str, items: Sequence[ContractItem]
) -> tuple[Finding, ...] | None:
    if not files.is_there(state):
        return None
    return find_items(items, files.source_texts(state))


def _drift(findings: Sequence[tuple[str, Finding]]) -> tuple[Drift, ...]:
    found: list[Drift] = []
    last_good: str | None = None
    for state, finding in findings:
        if finding.presence in _GOOD:
            last_good = state
        elif last_good is not None:
            found.append(Drift(last_good, state, finding.presence))
            last_good = None
    return tuple(found)
