"""Checks the documents of a native run one by one against the models, then against each other.

Needs pydantic, which costs 100 ms: only `arcview check` comes here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from arcview.errors import BadInputError
from arcview.files import is_file, is_symlink
from arcview.model.problem import Problem
from arcview.model.run import Run
from arcview.readers.fields import Fields, parse_json, read_bytes
from arcview.readers.runs.native import origin_problems
from arcview.readers.runs.native_fields import as_problem
from arcview.readers.runs.native_folder import Folder, chain_folder
from arcview.readers.runs.native_gates import CHAIN_GATE, CHAIN_GATE_FOLDER
from arcview.readers.runs.native_states import BUNDLE, PATCH, REF_PREFIX, open_bundle
from arcview.schema.base import Model
from arcview.schema.chain import ChainFile, GateInfo
from arcview.schema.faults import explain
from arcview.schema.result import GateResultFile, GateTestLine
from arcview.schema.run import RunFile, StateEntry

_M = TypeVar("_M", bound=Model)

_STATE_ID = re.compile(r"S(0|[1-9][0-9]*)(?:\.(.+))?")
_NO_LISTS = "a test that is not reported cannot be told to be missing"
_SECRET = "looks like a secret, and whoever has the run folder can read it"
_SECRET_KEY = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|key|token|secret|password|passwd|credentials?|authorization)$", re.I
)


@dataclass(slots=True)
class Documents:
    """The parsed documents of a run; null where one is not there or does not fit its model."""

    run: RunFile | None = None
    chain: ChainFile | None = None
    chain_folder: Folder | None = None
    results: dict[str, GateResultFile] = field(default_factory=dict)
    """By folder."""
    bundled: tuple[str, ...] = ()
    """States in the bundle."""
    faults: list[Problem] = field(default_factory=list)
    secrets: list[Problem] = field(default_factory=list)
    origin: tuple[Problem, ...] = ()
    """What was wrong with the files that the run was imported from."""

    def off(self, run: Run) -> Iterator[Problem]:
        """What is missing in the documents themselves, and what follows."""
        if self.run is not None and self.run.run_id is None:
            yield Problem("run.json: run_id", f"none: {run.run_id} is made from the content")
        if self.run is not None and self.run.states is None:
            yield Problem("run.json: states", "none: inferred from the workspaces that are there")
        if not any(state.id in self.bundled for state in run.states):
            what = "none: the workspace between two steps of a stage is not recorded"
            yield Problem(BUNDLE, what)
        if self.chain is None:
            what = "none: no titles, no lists of expected tests (so none can be missing), no reruns"
            yield Problem("chain", what)
            return
        gates = {gate.id: gate for gate in self.chain.gates or []}
        for stage in run.stages:
            if str(stage.index) not in gates:
                yield Problem(f"chain/chain.json: gate {stage.index}", f"none: {_NO_LISTS}")
        for number, gate in enumerate(self.chain.gates or []):
            place = f"chain/chain.json: gates[{number}]"
            if gate.f2p is None or gate.p2p is None:
                missing = " and ".join(k for k in ("f2p", "p2p") if getattr(gate, k) is None)
                yield Problem(f"{place}.{missing}", f"none: {_NO_LISTS}")
            if not gate.steps:
                yield Problem(f"{place}.steps", "none: the gate cannot be run again")


def check_documents(root: Path) -> Documents:
    """Compares every document of a run with its model and with the others.

    Args:
        root: The run folder; run.json is there.
    """
    found = Documents()
    # What the folders themselves report, the reader reports again.
    folder = Folder(root, "", [])
    data = _load(folder, "run.json", found)
    found.run = _checked(RunFile, data, "run.json", found)
    if isinstance(data, dict):
        fields = Fields.of(data, "run.json", [])
        found.chain_folder = chain_folder(folder, fields)
        found.origin = origin_problems(fields)
    if found.chain_folder is not None:
        data = _load(found.chain_folder, "chain.json", found)
        found.chain = _checked(ChainFile, data, "chain/chain.json", found)
    gate_folders = [f"{stage.path}/gate" for stage in folder.stages()]
    for gate_folder in (*gate_folders, CHAIN_GATE_FOLDER):
        _check_gate(folder, gate_folder, found)
    if found.run is not None:
        found.faults += _check_run(found.run, found.chain)
    if (bundle := open_bundle(folder, BUNDLE)) is not None:
        found.bundled = bundle.states
        found.faults += _check_bundle(folder, found.run, bundle.states)
    if found.chain is not None and found.chain_folder is not None:
        found.faults += _check_chain(found.chain)
        found.faults += _check_overlays(found.chain, found.chain_folder)
    return found


def _load(folder: Folder, name: str, found: Documents) -> object:
    path = folder.file(name)
    if path is None:
        return None
    shown = folder.prefix + name
    try:
        value = parse_json(read_bytes(path, shown), shown)
    except BadInputError as error:
        found.faults.append(as_problem(error))
        return None
    found.secrets += (Problem(f"{shown}: {place}", _SECRET) for place in _secret_keys(value, ""))
    return value


def _secret_keys(value: object, place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            at = f"{place}.{key}" if place else str(key)
            if isinstance(item, str) and item and _SECRET_KEY.search(str(key)):
                yield at
            yield from _secret_keys(item, at)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _secret_keys(item, f"{place}[{number}]")


def _checked(model: type[_M], data: object, name: str, found: Documents) -> _M | None:
    """The document as its model, with a fault for each field that does not fit.

    Without those fields it is compared with the other documents all the same.
    """
    if data is None:
        return None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        for fault in explain(error):
            where = f"{name}: {fault.field}" if fault.field else name
            found.faults.append(Problem(where, fault.expected))
        rest = _without(data, [details["loc"] for details in error.errors(include_url=False)])
    try:
        return model.model_validate(rest)
    except ValidationError:
        return None


def _without(data: object, places: Sequence[tuple[int | str, ...]]) -> object:
    """A copy without the fields at these places. Entries of lists stay, so that counts hold."""
    rest = deepcopy(data)
    for place in places:
        if not place:
            return None
        part: object = rest
        for step in place[:-1]:
            if isinstance(part, dict):
                part = part.get(step)
            elif isinstance(part, list) and isinstance(step, int):
                part = part[step]
        if isinstance(part, dict):
            part.pop(place[-1], None)
    return rest


def _check_gate(folder: Folder, gate_folder: str, found: Documents) -> None:
    name = f"{gate_folder}/result.json"
    result = _checked(GateResultFile, _load(folder, name, found), name, found)
    if result is not None:
        found.results[gate_folder] = result
    name = f"{gate_folder}/tests.jsonl"
    path = folder.file(name)
    if path is None:
        return
    try:
        rows = read_bytes(path, name).split(b"\n")
    except BadInputError:
        return  # the reader reports what cannot be read
    seen: Counter[tuple[str | None, str]] = Counter()
    for number, row in enumerate(rows, start=1):
        try:
            data = json.loads(row)
        except (ValueError, RecursionError):
            continue  # the reader reports what is no JSON
        line = _checked(GateTestLine, data, f"{name}: line {number}", found)
        if line is not None:
            seen[line.group, line.id] += 1
            if seen[line.group, line.id] == 2:
                where = f"{name}: line {number}: id"
                found.faults.append(Problem(where, f'"{line.id}" is there more than once'))


def _check_run(run: RunFile, chain: ChainFile | None) -> Iterator[Problem]:
    yield from _check_states(run.states or [])
    yield from _check_indexes("run.json", [stage.index for stage in run.stages])
    order = [state.id for state in run.states or []]
    for number, stage in enumerate(run.stages):
        place = f"run.json: stages[{number}]"
        for key, state_id in (("base", stage.base), ("end", stage.end)):
            if run.states is not None and state_id is not None and state_id not in order:
                yield Problem(f"{place}.{key}", f'"{state_id}" is not among the states')
        end = stage.end or f"S{stage.index}"
        known = [order.index(s) for s in (stage.base, end) if s is not None and s in order]
        if len(known) == 2 and known[0] >= known[1]:
            what = f"{stage.base} does not stand before {end} among the states"
            yield Problem(f"{place}.base", what)
    if chain is not None and chain.stages is not None:
        declared = {stage.index for stage in chain.stages}
        for number, stage in enumerate(run.stages):
            if stage.index not in declared:
                what = f"chain.json declares no stage {stage.index}"
                yield Problem(f"run.json: stages[{number}].index", what)


def _check_states(states: Sequence[StateEntry]) -> Iterator[Problem]:
    yield from _repeated("run.json: states", "id", [state.id for state in states])
    previous: StateEntry | None = None
    for number, state in enumerate(states):
        place = f"run.json: states[{number}]"
        match = _STATE_ID.fullmatch(state.id)
        if match is None:
            yield Problem(f"{place}.id", f'"{state.id}" is a reference state; the chain has those')
            continue
        stage, name = int(match[1]), match[2]
        kind = "between" if name else "stage_end" if stage else "start"
        if state.stage is not None and state.stage != stage:
            yield Problem(f"{place}.stage", f"is {state.stage}, the id {state.id} says {stage}")
        if state.kind is not None and state.kind != kind:
            yield Problem(f"{place}.kind", f"is {state.kind}, the id {state.id} says {kind}")
        if previous is not None and _rank(state.id) < _rank(previous.id):
            yield Problem(f"{place}.id", f"{state.id} stands after {previous.id}: not in order")
        yield from _check_tree(place, state, previous)
        previous = state


def _rank(state_id: str) -> tuple[int, bool]:
    match = _STATE_ID.fullmatch(state_id)
    return (int(match[1]), match[2] is not None) if match else (0, False)


def _check_tree(place: str, state: StateEntry, previous: StateEntry | None) -> Iterator[Problem]:
    if previous is None or state.tree is None or previous.tree is None or state.unchanged is None:
        return
    is_same = state.tree == previous.tree
    if is_same != state.unchanged:
        says = "true, but the tree is not" if state.unchanged else "false, but the tree is"
        yield Problem(f"{place}.unchanged", f"is {says} that of {previous.id}")


def _check_indexes(name: str, indexes: Sequence[int]) -> Iterator[Problem]:
    yield from _repeated(f"{name}: stages", "index", indexes)
    distinct = list(dict.fromkeys(indexes))
    if distinct != sorted(distinct):
        yield Problem(f"{name}: stages", "are not in the order of their indexes")
    wanted = list(range(1, len(distinct) + 1))
    if sorted(distinct) != wanted:
        missing = next(index for index in wanted if index not in distinct)
        yield Problem(f"{name}: stages", f"expected stages 1 to {max(distinct)}; no {missing}")


def _repeated(place: str, key: str, values: Sequence[object]) -> Iterator[Problem]:
    seen: set[object] = set()
    for number, value in enumerate(values):
        if value in seen:
            where = f"{place}[{number}].{key}" if key else f"{place}[{number}]"
            yield Problem(where, f'"{value}" is there already')
        seen.add(value)


def _check_bundle(folder: Folder, run: RunFile | None, bundled: Sequence[str]) -> Iterator[Problem]:
    for number, state in enumerate(run.states or [] if run is not None else []):
        place = f"stages/{state.id.removeprefix('S')}"
        is_elsewhere = any(folder.find(f"{place}/{name}") for name in ("workspace", PATCH))
        is_said = state.unchanged is True or state.missing is not None
        if state.id not in bundled and not is_said and not is_elsewhere:
            what = f"{BUNDLE} has no {REF_PREFIX}{state.id}"
            yield Problem(f"run.json: states[{number}].id", what)


def _check_chain(chain: ChainFile) -> Iterator[Problem]:
    name = "chain/chain.json"
    stages = chain.stages or []
    yield from _check_indexes(name, [stage.index for stage in stages])
    declared = {str(stage.index) for stage in stages}
    for number, stage in enumerate(stages):
        for needed in stage.depends_on or []:
            if needed >= stage.index or str(needed) not in declared:
                where = f"{name}: stages[{number}].depends_on"
                yield Problem(where, f"{needed} is no earlier stage")
    gates = chain.gates or []
    yield from _repeated(f"{name}: gates", "id", [gate.id for gate in gates])
    for number, gate in enumerate(gates):
        place = f"{name}: gates[{number}]"
        if stages and gate.id != CHAIN_GATE and gate.id not in declared:
            yield Problem(f"{place}.id", f"there is no stage {gate.id}")
        yield from _check_lists(place, gate)
        steps = {step.name for step in gate.steps or []}
        for position, report in enumerate(gate.reports or []):
            if report.step is not None and report.step not in steps:
                where = f"{place}.reports[{position}].step"
                yield Problem(where, f'there is no step "{report.step}"')


def _check_lists(place: str, gate: GateInfo) -> Iterator[Problem]:
    f2p, p2p = gate.f2p or [], gate.p2p or []
    yield from _repeated(f"{place}.f2p", "", f2p)
    yield from _repeated(f"{place}.p2p", "", p2p)
    both = set(f2p)
    for number, test_id in enumerate(p2p):
        if test_id in both:
            yield Problem(f"{place}.p2p[{number}]", f'"{test_id}" is on the f2p list, too')


def _check_overlays(chain: ChainFile, folder: Folder) -> Iterator[Problem]:
    for number, gate in enumerate(chain.gates or []):
        root = f"gates/{gate.id}/overlay"
        listed: set[str] = set()
        for position, entry in enumerate(gate.overlay or []):
            where = f"chain/chain.json: gates[{number}].overlay[{position}]"
            listed.add(entry.path)
            path = folder.file(f"{root}/{entry.path}")
            if path is None:
                yield Problem(f"{where}.path", f"there is no file {root}/{entry.path}")
            elif entry.sha256 is not None:
                yield from _other_hash(path, entry.path, entry.sha256, where)
        if gate.overlay is not None:
            for name in _files_below(folder, root):
                if name not in listed:
                    what = f"is not on the overlay list of gate {gate.id}"
                    yield Problem(f"chain/{root}/{name}", what)


def _other_hash(path: Path, name: str, sha256: str, where: str) -> Iterator[Problem]:
    try:
        found = hashlib.sha256(read_bytes(path, name)).hexdigest()
    except BadInputError as error:
        yield Problem(f"{where}.path", error.expected)
        return
    if found != sha256:
        yield Problem(f"{where}.sha256", f"the file has {found}")


def _files_below(folder: Folder, root: str) -> list[str]:
    path = folder.directory(root)
    if path is None:
        return []
    files = (entry for entry in path.rglob("*") if is_file(entry) and not is_symlink(entry))
    return sorted(entry.relative_to(path).as_posix() for entry in files)
