"""The recorded gates of a native run from their summaries: result.json and the lists of chain.json.

Reads no tests.jsonl and no report: that is `native_tests`, which a listing never needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from arcview.errors import BadInputError
from arcview.model.results import GateRecord, Group, GroupCounts, Outcome, OverlayFile, Verdict
from arcview.model.run import Stage, Status
from arcview.model.states import State, StateKind
from arcview.readers.fields import Fields
from arcview.readers.runs.native_fields import amount, as_problem, has, label, note, word
from arcview.readers.runs.native_folder import CHAIN_PREFIX, Folder
from arcview.readers.runs.native_overlay import laid_files
from arcview.readers.runs.native_states import folder_of
from arcview.schema.words import RESULT_VERSION, shown

CHAIN_GATE = "chain"
CHAIN_GATE_FOLDER = "chain-gate"
LOG_FILE = "log.txt"

_VERDICTS = {verdict.value: verdict for verdict in Verdict}
_OUTCOMES = tuple(outcome.value for outcome in Outcome)
_SUMMARIES = frozenset({"result.json", "tests.jsonl"})
_SPLIT = (Group.F2P, Group.P2P)
_IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class Expected:
    """The id lists of one gate in chain.json; null where it has none."""

    f2p: tuple[str, ...] | None = None
    p2p: tuple[str, ...] | None = None
    overlay: tuple[OverlayFile, ...] = ()

    def of(self, group: Group) -> tuple[str, ...] | None:
        """The list of one group, without repetitions."""
        return self.f2p if group is Group.F2P else self.p2p if group is Group.P2P else None

    @property
    def is_known(self) -> bool:
        """Whether either list is there."""
        return self.f2p is not None or self.p2p is not None


@dataclass(frozen=True, slots=True)
class GateSpot:
    """One gate run: what its summary says, and where the rest lies."""

    record: GateRecord
    folder: str
    """Relative to the run folder; it may not be there."""
    expected: Expected
    files: tuple[str, ...] = ()
    """Names in the folder."""
    has_result: bool = False
    """There is a readable result.json."""
    is_unmeasured: bool = False
    """The result itself says so."""
    has_counts: bool = False
    """The result counts tests of at least one group."""
    is_partial: bool = False
    """The result says that its tests are not all named."""
    is_imported: bool = False
    """arcview made the result of another layout's: what a log could tell is in it."""


def read_expected(chain: Fields | None, folder: Folder | None) -> dict[str, Expected]:
    """The id lists and own files of every gate that chain.json declares, by gate id."""
    gates: dict[str, Expected] = {}
    for entry in chain.records("gates") if chain else ():
        gate = label(entry, "id")
        if gate is None:
            note(entry, "id", "required, and missing; the gate is left out")
        elif gate in gates:
            note(entry, "id", f'gate "{gate}" is there twice; the first one counts')
        else:
            overlay = _overlay(entry, folder, gate) if folder is not None else ()
            gates[gate] = Expected(_ids(entry, "f2p"), _ids(entry, "p2p"), overlay)
    return gates


def _overlay(entry: Fields, chain: Folder, gate: str) -> tuple[OverlayFile, ...]:
    files = laid_files(entry, chain, gate)
    return tuple(OverlayFile(file.path, CHAIN_PREFIX + file.place) for file in files)


def _ids(entry: Fields, key: str) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(entry.texts(key))) if has(entry, key) else None


def read_gates(
    run: Folder,
    stages: Sequence[Stage],
    states: Sequence[State],
    expected: Mapping[str, Expected],
    image_digest: str | None,
) -> tuple[GateSpot, ...]:
    """Every gate run in the order of its state; what is not there is unmeasured, with a reason.

    A stage's gate lies in `stages/<k>/gate`, that of a between-state in `stages/<k>.<name>/gate`
    (gate k again, on that state), the chain gate in `chain-gate`.
    """
    reader = _GateReader(run, states, expected, image_digest)
    spots: list[GateSpot] = []
    for stage in stages:
        spots.append(reader.stage_gate(stage))
        for state in states:
            if state.kind is StateKind.BETWEEN and state.stage == stage.index:
                folder = f"{folder_of(state)}/gate"
                if run.names(folder):
                    spots.append(reader.spot(str(stage.index), state.id, folder, None))
    if CHAIN_GATE in expected or run.names(CHAIN_GATE_FOLDER):
        spots.append(reader.spot(CHAIN_GATE, _final(stages, states), CHAIN_GATE_FOLDER, None))
    return tuple(spots)


def _final(stages: Sequence[Stage], states: Sequence[State]) -> str | None:
    """The last state, if the run came as far as the last stage."""
    own = [state for state in states if state.kind is not StateKind.REFERENCE]
    reached = own and stages and own[-1].stage == stages[-1].index
    return own[-1].id if reached else None


@dataclass(frozen=True, slots=True)
class _GateReader:
    run: Folder
    states: Sequence[State]
    expected: Mapping[str, Expected]
    image_digest: str | None

    def stage_gate(self, stage: Stage) -> GateSpot:
        why = None
        if stage.status is Status.NOT_STARTED:
            why = "the stage was not started"
        elif stage.status is Status.SKIPPED:
            why = "the stage was skipped"
        elif stage.status not in (Status.COMPLETED, Status.UNKNOWN):
            detail = f" ({stage.status_detail})" if stage.status_detail else ""
            why = f"the stage ended as {stage.status.value}{detail}"
        return self.spot(str(stage.index), stage.end, f"stages/{stage.index}/gate", why)

    def spot(self, gate: str, state: str | None, folder: str, why: str | None) -> GateSpot:
        """One gate run.

        Args:
            gate: Its id as the folder says it.
            state: The state it ran on unless its result names another.
            folder: Where its files lie.
            why: What else explains that there is no result.
        """
        files = self.run.names(folder)
        name = f"{folder}/result.json"
        expected = self.expected.get(gate, Expected())
        logs = tuple(f"{folder}/{file}" for file in _logs(files))
        record = GateRecord(gate=gate, state=state, log_paths=logs, overlay=expected.overlay)
        fields = self._result(name)
        if fields is None:
            broken = "result.json" in files
            reason = _no_result(folder, files, broken)
            if why is not None:
                reason = f"{why}; {reason}" if files else why
            return GateSpot(replace(record, unmeasured=reason), folder, expected, files)
        is_unmeasured = fields.values.get("verdict") == Verdict.UNMEASURED.value
        is_partial = fields.flag("partial") is True
        has_counts = any(has(fields, group.value) for group in Group)
        record = self._fill(record, fields, expected if has_counts else Expected())
        return GateSpot(
            record,
            folder,
            expected,
            files,
            has_result=True,
            is_unmeasured=is_unmeasured,
            has_counts=has_counts,
            is_partial=is_partial,
            is_imported=_is_imported(fields),
        )

    def _result(self, name: str) -> Fields | None:
        path = self.run.file(name)
        if path is None:
            return None
        try:
            fields = Fields.json_file(path, name, self.run.problems)
        except BadInputError as error:
            self.run.problems.append(as_problem(error))
            return None
        if fields.values.get("schema") != RESULT_VERSION:
            found = shown(fields.values.get("schema"))
            note(fields, "schema", f'expected "{RESULT_VERSION}", found {found}; not used')
            return None
        return fields

    def _fill(self, record: GateRecord, fields: Fields, expected: Expected) -> GateRecord:
        verdict = word(fields, "verdict", _VERDICTS)
        recorded = word(fields, "recorded_verdict", _VERDICTS)
        if not _is_imported(fields):
            recorded = recorded or verdict
        reason = fields.text("reason")
        counts = {group: read_counts(fields, group, expected) for group in Group}
        unmeasured = None
        if verdict is Verdict.UNMEASURED and (reason or not _is_imported(fields)):
            unmeasured = reason or "result.json says so and gives no reason"
        elif not any(counts.values()):
            unmeasured = reason or "result.json has no counts"
        notes = (*self._misplaced(record, fields), *self._notes(fields))
        if reason and unmeasured is None:
            notes = (reason, *notes)
        codes = _exit_codes(fields)
        return replace(
            record,
            f2p=counts[Group.F2P],
            p2p=counts[Group.P2P],
            other=counts[Group.OTHER],
            unmeasured=unmeasured,
            recorded_verdict=recorded,
            exit_codes=tuple(code for code in codes if code is not None),
            timed_out=bool(fields.flag("timed_out")),
            started=fields.text("started"),
            duration_s=amount(fields, "duration_s"),
            notes=notes,
        )

    def _misplaced(self, record: GateRecord, fields: Fields) -> tuple[str, ...]:
        """What the result says of itself against the folder that it lies in, which decides."""
        own = (
            ("gate", label(fields, "gate"), record.gate),
            ("state", fields.text("state"), record.state),
        )
        found = []
        for key, says, here in own:
            if says is not None and says != here:
                note(fields, key, f'says "{says}", lies where {key} {here or "unknown"} belongs')
                found.append(f"result.json says {key} {says}")
        return tuple(found)

    def _notes(self, fields: Fields) -> tuple[str, ...]:
        notes = []
        digest = fields.text("image_digest")
        if digest and self.image_digest and not self.image_digest.endswith(digest):
            notes.append(f"ran in another image than chain.json names: {digest}")
        if (version := fields.text("arcview_version")) is not None:
            notes.append(f"a rerun by arcview {version} that came with the run folder")
        if fields.sub("engine").flag("limits_enforced") is False:
            notes.append("its engine did not enforce the limits")
        if (attempt := fields.count("attempt")) is not None and attempt > 1:
            notes.append(f"attempt {attempt}")
        notes += fields.texts("notes")
        if None in _exit_codes(fields):
            notes.append("a step of the gate did not end by itself")
        tree = fields.text("tree")
        state = next((s for s in self.states if s.id == fields.text("state")), None)
        if tree and state is not None and state.tree and state.tree != tree:
            note(fields, "tree", f"is not the tree that run.json records for {state.id}")
        return tuple(notes)


def _is_imported(fields: Fields) -> bool:
    """Whether arcview made the result of another one: its verdict is nothing that was recorded."""
    return fields.values.get("provenance") == _IMPORTED


def _exit_codes(fields: Fields) -> tuple[int | None, ...]:
    """Of the gate's steps; null for one that did not end by itself."""
    codes = fields.values.get("exit_codes")
    if codes is None:
        return ()
    if isinstance(codes, list) and all(code is None or type(code) is int for code in codes):
        return tuple(codes)
    note(fields, "exit_codes", f"expected a list of whole numbers, found {shown(codes)}; ignored")
    return ()


def _logs(files: Sequence[str]) -> list[str]:
    """Raw logs and reports, the log first."""
    return sorted(set(files) - _SUMMARIES, key=lambda name: (name != LOG_FILE, name))


def _no_result(folder: str, files: Sequence[str], broken: bool) -> str:
    if broken:
        return "result.json is damaged"
    if not files:
        return f"no gate result is recorded ({folder} is not there)"
    if "tests.jsonl" in files:
        return "there is no result.json; tests.jsonl is counted when the run is opened"
    if any(name.startswith("report.") for name in files):
        return "there is no result.json; the report is counted when the run is opened"
    if LOG_FILE in files:
        return f"there is no result.json; {LOG_FILE} is read when the run is opened"
    return "there is no result.json, no tests.jsonl and no report"


def read_counts(fields: Fields, group: Group, expected: Expected) -> GroupCounts | None:
    """The counts of one group, settled against the gate's own list: missing is never left out."""
    ids = expected.of(group)
    if not has(fields, group.value):
        # An empty list is measured by doing nothing; a list without counts is not measured.
        return GroupCounts() if ids == () else None
    entry = fields.sub(group.value)
    outcomes = {name: entry.count(name) or 0 for name in _OUTCOMES}
    total = sum(outcomes.values())
    declared = entry.count("expected")
    if declared is not None and declared != total:
        note(entry, "expected", f"is {declared}, its outcomes add up to {total}")
    size = max(total, declared or 0)
    if ids is not None and len(ids) != size:
        note(entry, "expected", f"is {size}, chain.json lists {len(ids)} ids")
        size = max(size, len(ids))
    outcomes["missing"] += size - total
    return GroupCounts(
        expected=size,
        extra=entry.count("extra") or 0,
        duplicated=entry.count("duplicated") or 0,
        **outcomes,
    )
