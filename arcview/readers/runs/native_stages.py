"""The stages of a native run: from run.json, from the folders that are there, from the chain.

Reads names only: no trajectory, no gate, no specification is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.run import Pass, Stage, Status
from arcview.model.states import Provenance, State, StateKind
from arcview.model.trajectory_refs import SessionRole, TrajectoryRef, Usage
from arcview.readers.fields import Fields
from arcview.readers.runs.native_fields import amount, has, note, word
from arcview.readers.runs.native_folder import CHAIN_PREFIX, Folder
from arcview.readers.runs.native_states import folder_of

STATUSES = {status.value: status for status in Status if status is not Status.UNKNOWN}
_ROLES = {
    role.value: role
    for role in (SessionRole.MAIN, SessionRole.RETRY, SessionRole.BETWEEN, SessionRole.SUBAGENT)
}
_NEVER_RAN = (Status.SKIPPED, Status.NOT_STARTED)


@dataclass(frozen=True, slots=True)
class Declared:
    """A stage as the chain declares it."""

    title: str | None = None
    spec_path: str | None = None
    contract_path: str | None = None


def read_declared(chain: Folder | None, fields: Fields | None) -> dict[int, Declared]:
    """The stages that chain.json declares, by index."""
    declared: dict[int, Declared] = {}
    for entry in fields.records("stages") if chain and fields else ():
        index = entry.count("index")
        if index is None or index < 1:
            note(entry, "index", "required, a whole number of 1 or more; the stage is left out")
        elif index in declared:
            note(entry, "index", f"stage {index} is there twice; the first one counts")
        elif chain is not None:
            folder = f"stages/{index}"
            declared[index] = Declared(
                title=entry.text("title"),
                spec_path=_document(chain, entry, "spec", (f"{folder}/spec.md",)),
                contract_path=_document(
                    chain, entry, "contract", (f"{folder}/contract.json", f"{folder}/contract.md")
                ),
            )
    return declared


def _document(chain: Folder, entry: Fields, key: str, usual: Sequence[str]) -> str | None:
    """The file that a field names, or the first of the usual ones that is there."""
    named = entry.text(key)
    for path in (named,) if named is not None else usual:
        if chain.file(path) is not None:
            return CHAIN_PREFIX + path
    if named is not None:
        note(entry, key, f'there is no file "{named}" in the chain')
    return None


def read_stages(
    run: Folder, fields: Fields, states: Sequence[State], declared: Mapping[int, Declared]
) -> tuple[Stage, ...]:
    """Every stage in order: those of run.json, those that left a folder, those never started.

    Raises:
        BadInputError: there is not one stage.
    """
    entries = _entries(fields)
    left_behind = {folder.stage for folder in run.stages() if folder.stage} - set(entries)
    for index in sorted(left_behind):
        what = "is there, but run.json does not list the stage; shown as far as it goes"
        run.problems.append(Problem(f"stages/{index}", what))
    indexes = sorted({*entries, *left_behind, *declared})
    if not indexes:
        raise BadInputError(fields.shown, "expected at least one stage", fields.place("stages"))
    usages = _between_usages(fields)
    stages: list[Stage] = []
    for index in indexes:
        entry = entries.get(index)
        is_known = entry is not None or index in left_behind
        status = Status.UNKNOWN if is_known else Status.NOT_STARTED
        entry = entry or Fields(fields.shown, {}, fields.problems, f"stages[{index - 1}]")
        reader = _StageReader(run, entry, index, states)
        about = declared.get(index, Declared())
        stages.append(reader.stage(status, about, stages, usages))
    return tuple(stages)


def _entries(fields: Fields) -> dict[int, Fields]:
    entries: dict[int, Fields] = {}
    for position, entry in enumerate(fields.records("stages"), start=1):
        index = entry.count("index")
        if not index:
            if index == 0 or not has(entry, "index"):  # a wrong type is reported already
                note(entry, "index", f"required, a whole number of 1 or more; taken as {position}")
            index = position
        if index in entries:
            note(entry, "index", f"stage {index} is there twice; the first one counts")
        else:
            entries[index] = entry
    return entries


def _between_usages(fields: Fields) -> dict[str, Usage]:
    entries = ((e.text("id"), e) for e in fields.records("states") if has(e, "usage"))
    return {state_id: read_usage(e.sub("usage"))[0] for state_id, e in entries if state_id}


@dataclass(frozen=True, slots=True)
class _StageReader:
    run: Folder
    entry: Fields
    index: int
    states: Sequence[State]

    def stage(
        self,
        status: Status,
        declared: Declared,
        earlier: Sequence[Stage],
        usages: Mapping[str, Usage],
    ) -> Stage:
        entry = self.entry
        status = word(entry, "status", STATUSES) or status
        end = self._state("end") or self._own_state()
        usage, notes = read_usage(entry.sub("usage")) if has(entry, "usage") else (None, ())
        refs = self._refs()
        passes = self._passes(refs, usages)
        taken = {ref for stage_pass in passes for ref in stage_pass.trajectories}
        started, ended = entry.text("started"), entry.text("ended")
        return Stage(
            index=self.index,
            title=declared.title,
            status=status,
            status_detail=entry.text("status_detail") or self._odd_status(),
            base=self._state("base") or self._base(end, status, earlier),
            end=end,
            started=started,
            ended=ended,
            duration_s=self._measured(started, ended),
            usage=usage,
            trajectories=tuple(ref for ref in refs if ref not in taken),
            spec_path=declared.spec_path,
            contract_path=declared.contract_path,
            passes=passes,
            notes=(*entry.texts("notes"), *notes),
        )

    def _measured(self, started: str | None, ended: str | None) -> float | None:
        """What the harness measured, else what lies between the two times."""
        if has(self.entry, "duration_s"):
            return amount(self.entry, "duration_s")
        return self._duration(started, ended)

    def _odd_status(self) -> str | None:
        """A status that is none of the format's words is shown as it is."""
        value = self.entry.values.get("status")
        return value if isinstance(value, str) and value not in STATUSES else None

    def _state(self, key: str) -> str | None:
        state_id = self.entry.text(key)
        if state_id is None or any(state.id == state_id for state in self.states):
            return state_id
        note(self.entry, key, f'"{state_id}" is not among the states; taken as unknown')
        return None

    def _own_state(self) -> str | None:
        own = (
            state.id
            for state in self.states
            if state.kind is StateKind.STAGE_END and state.stage == self.index
        )
        return next(own, None)

    def _base(self, end: str | None, status: Status, earlier: Sequence[Stage]) -> str | None:
        """The last state before the stage's own; null where that one is not known.

        A state further back does not do: what an earlier stage did would be put down to this one.
        """
        if status in _NEVER_RAN:
            return None
        before = [
            state
            for state in self.states
            if state.kind is not StateKind.REFERENCE and state.stage < self.index
        ]
        ids = [state.id for state in self.states]
        if end is not None:
            before = [state for state in before if ids.index(state.id) < ids.index(end)]
        if not before:
            return None
        last = before[-1]
        between = self.index - last.stage - 1
        skipped = sum(s.status in _NEVER_RAN and s.index > last.stage for s in earlier)
        return last.id if skipped == between else None

    def _duration(self, started: str | None, ended: str | None) -> float | None:
        """Seconds between two times that can be compared; null where they cannot."""
        if started is None or ended is None:
            return None
        try:
            seconds = (
                datetime.fromisoformat(ended) - datetime.fromisoformat(started)
            ).total_seconds()
        except (ValueError, TypeError):  # no time, or only one of the two has a zone
            note(self.entry, "ended", "cannot be compared with started; the duration is unknown")
            return None
        if seconds < 0:
            note(self.entry, "ended", "is before started; the duration is unknown")
            return None
        return seconds

    def _refs(self) -> tuple[TrajectoryRef, ...]:
        """The trajectories that run.json names, and those in folders for which it names none."""
        refs = [ref for entry in self.entry.records("trajectories") if (ref := self._ref(entry))]
        for folder in self.run.stages():
            if folder.stage != self.index or any(_is_below(ref, folder.path) for ref in refs):
                continue
            role = SessionRole.BETWEEN if folder.between else SessionRole.MAIN
            refs += [
                TrajectoryRef(path, role=role)
                for name in self.run.names(folder.path)
                if name.startswith("trajectory")
                and self.run.file(path := f"{folder.path}/{name}") is not None
            ]
        return tuple(refs)

    def _ref(self, entry: Fields) -> TrajectoryRef | None:
        path = entry.text("path")
        if not path:
            note(entry, "path", "required, and missing; the trajectory is left out")
            return None
        if self.run.find(path) is None:
            note(entry, "path", f'there is no file "{path}" in the run')
            return None
        return TrajectoryRef(
            path,
            entry.text("format"),
            word(entry, "role", _ROLES) or SessionRole.MAIN,
            entry.text("session"),
            since=entry.text("since"),
            until=entry.text("until"),
            turns=_turns(entry),
        )

    def _passes(
        self, refs: Sequence[TrajectoryRef], usages: Mapping[str, Usage]
    ) -> tuple[Pass, ...]:
        """What followed the stage; a trajectory belongs to the pass whose folder it lies in."""
        between = [
            state
            for state in self.states
            if state.kind is StateKind.BETWEEN and state.stage == self.index
        ]
        homeless = [
            ref
            for ref in refs
            if ref.role is SessionRole.BETWEEN
            and not any(_is_below(ref, folder_of(state)) for state in between)
        ]
        passes = [
            Pass(
                state=state.id,
                name=state.id.partition(".")[2] or state.id,
                trajectories=(
                    *(ref for ref in refs if _is_below(ref, folder_of(state))),
                    *(homeless if number == 0 else ()),
                ),
                usage=usages.get(state.id),
            )
            for number, state in enumerate(between)
        ]
        return tuple(p for p, state in zip(passes, between, strict=True) if self._ran(p, state))

    def _ran(self, found: Pass, state: State) -> bool:
        """Whether anything is known to have run; a state may differ for reasons unknown."""
        is_recorded = state.provenance is not Provenance.UNKNOWN or found.usage is not None
        return is_recorded or bool(found.trajectories) or bool(self.run.names(folder_of(state)))


def _turns(entry: Fields) -> tuple[int, int] | None:
    turns = entry.values.get("turns")
    if turns is None:
        return None
    if isinstance(turns, list) and len(turns) == 2 and all(type(turn) is int for turn in turns):
        return turns[0], turns[1]
    note(entry, "turns", "expected the first and the last of the user turns; ignored")
    return None


def _is_below(ref: TrajectoryRef, folder: str) -> bool:
    return ref.path.startswith(f"{folder}/")


def read_usage(fields: Fields) -> tuple[Usage, tuple[str, ...]]:
    """Tokens and cost, and a note for each figure that is 0 beside real work and so unknown."""
    figures: dict[str, float | None] = {
        "input_tokens": fields.count("input_tokens"),
        "output_tokens": fields.count("output_tokens"),
        "cost_usd": amount(fields, "cost_usd"),
    }
    worked = any(figures.values())
    unreal = [name for name, value in figures.items() if value == 0 and worked]
    notes = tuple(f"{name} is recorded as 0 beside real work: unknown" for name in unreal)
    known = {name: None if name in unreal else value for name, value in figures.items()}
    tokens_in, tokens_out = known["input_tokens"], known["output_tokens"]
    usage = Usage(
        input_tokens=None if tokens_in is None else int(tokens_in),
        cached_tokens=fields.count("cached_tokens"),
        output_tokens=None if tokens_out is None else int(tokens_out),
        reasoning_tokens=fields.count("reasoning_tokens"),
        cost_usd=known["cost_usd"],
    )
    return usage, notes
