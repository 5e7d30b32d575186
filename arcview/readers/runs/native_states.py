"""The states of a native run and where their bytes lie: a bundle, a folder, a tarball or a patch.

Reads names and the header of the bundle only; ingesting is the business of `arcview.states`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from arcview.errors import BadInputError
from arcview.files import open_file
from arcview.model.problem import Problem
from arcview.model.states import (
    ArchiveSource,
    BundleSource,
    FolderSource,
    PatchSource,
    Provenance,
    State,
    StateKind,
    StateSource,
)
from arcview.readers.fields import Fields
from arcview.readers.runs.native_fields import has, note, word
from arcview.readers.runs.native_folder import Folder

REF_PREFIX = "refs/arcview/"
BUNDLE = "workspace.bundle"
ARCHIVES = ("workspace.tar", "workspace.tar.gz", "workspace.tar.xz", "workspace.tar.zst")
PATCH = "stage.patch"

_ID = re.compile(r"S(0|[1-9][0-9]*)(?:\.(.+))?")
_REFERENCE_PATCH = re.compile(r"([1-9][0-9]*)\.patch")
_MAX_HEADER_BYTES = 1 << 20

_KINDS = {kind.value: kind for kind in (StateKind.START, StateKind.STAGE_END, StateKind.BETWEEN)}
_PROVENANCES = {provenance.value: provenance for provenance in Provenance}


@dataclass(frozen=True, slots=True)
class Bundle:
    """A git bundle: where it lies and the states that its refs name."""

    path: Path
    states: tuple[str, ...]
    """Ids from `refs/arcview/<id>`."""


def bundle_refs(path: Path, name: str) -> tuple[str, ...]:
    """The refs in the header of a git bundle, without running git.

    Raises:
        BadInputError: it cannot be read, is not a bundle, or needs commits that are not in it.
    """
    try:
        with open_file(path) as file:
            return _refs_in_header(file, name)
    except OSError as error:
        raise BadInputError(name, f"cannot be read: {error.strerror}") from error


def _refs_in_header(file: BinaryIO, name: str) -> tuple[str, ...]:
    if not file.readline(64).startswith((b"# v2 git bundle", b"# v3 git bundle")):
        raise BadInputError(name, "expected a git bundle (version 2 or 3)")
    refs: list[str] = []
    while file.tell() < _MAX_HEADER_BYTES:
        line = file.readline(4096)
        if line == b"\n":
            return tuple(refs)
        if not line.endswith(b"\n"):
            break
        if line.startswith(b"-"):
            what = "needs commits that are not in it; make it from whole histories"
            raise BadInputError(name, what)
        if not line.startswith(b"@"):
            refs.append(line.rstrip(b"\n").decode(errors="replace").partition(" ")[2])
    raise BadInputError(name, "expected a git bundle, its list of refs is cut short")


def open_bundle(folder: Folder, relative: str) -> Bundle | None:
    """The bundle at a relative path; null where there is none or it is damaged (reported)."""
    path = folder.file(relative)
    if path is None:
        return None
    try:
        refs = bundle_refs(path, folder.prefix + relative)
    except BadInputError as error:
        folder.problems.append(Problem(error.path, error.expected))
        return None
    ids = (ref.removeprefix(REF_PREFIX) for ref in refs if ref.startswith(REF_PREFIX))
    return Bundle(path, tuple(ids))


def read_states(run: Folder, chain: Folder | None, fields: Fields) -> tuple[State, ...]:
    """Every state of the run in order, the reference states last.

    The list of run.json decides. Where there is none, the refs of the bundle and the folders below
    `stages/` do, and the states are marked as inferred.
    """
    bundle = open_bundle(run, BUNDLE)
    states = _recorded(fields) if has(fields, "states") else _inferred(run, bundle, fields)
    bases = {
        f"S{stage.values.get('index')}": base
        for stage in fields.records("stages")
        if isinstance(base := stage.values.get("base"), str)
    }
    placed: list[State] = []
    for state in states:
        previous = placed[-1] if placed else None
        placed.append(_with_source(run, bundle, state, previous, bases))
    if has(fields, "states"):
        _report_unlisted(run, bundle, placed)
    return (*placed, *_reference_states(chain, placed))


def _recorded(fields: Fields) -> list[State]:
    states: list[State] = []
    for entry in fields.records("states"):
        state_id = entry.text("id")
        if not state_id:
            note(entry, "id", "required, and missing; the state is left out")
            continue
        if any(state.id == state_id for state in states):
            note(entry, "id", f'"{state_id}" is there twice; the first one counts')
            continue
        match = _ID.fullmatch(state_id)
        stage = entry.count("stage")
        if stage is None:
            stage = int(match[1]) if match else states[-1].stage if states else 0
        states.append(
            State(
                id=state_id,
                stage=stage,
                kind=word(entry, "kind", _KINDS) or _kind_of(state_id),
                provenance=_provenance(entry),
                missing=entry.text("missing"),
                tree=entry.text("tree"),
                unchanged=entry.flag("unchanged"),
            )
        )
    return states


def _provenance(entry: Fields) -> Provenance:
    if not has(entry, "provenance"):
        return Provenance.RECORDED
    return word(entry, "provenance", _PROVENANCES) or Provenance.UNKNOWN


def _kind_of(state_id: str) -> StateKind:
    match = _ID.fullmatch(state_id)
    if match is None or match[2] is not None:
        return StateKind.BETWEEN
    return StateKind.START if match[1] == "0" else StateKind.STAGE_END


def _inferred(run: Folder, bundle: Bundle | None, fields: Fields) -> list[State]:
    ids = set(bundle.states if bundle else ())
    ids |= {f.state_id for f in run.stages() if _source_in(run, f.path, None) is not None}
    for stage in fields.records("stages"):
        named = (stage.values.get("base"), stage.values.get("end"))
        ids |= {state_id for state_id in named if isinstance(state_id, str)}
    known = {state_id: match for state_id in ids if (match := _ID.fullmatch(state_id))}
    in_order = sorted(known, key=lambda i: (int(known[i][1]), known[i][2] or ""))
    return [
        State(state_id, int(known[state_id][1]), _kind_of(state_id), Provenance.INFERRED)
        for state_id in in_order
    ]


def folder_of(state: State) -> str:
    """The folder of a state below the run folder: `stages/2`, `stages/2.refactor`."""
    if state.kind is StateKind.BETWEEN:
        return f"stages/{state.stage}.{state.id.partition('.')[2] or state.id}"
    return f"stages/{state.stage}"


def _with_source(
    run: Folder,
    bundle: Bundle | None,
    state: State,
    previous: State | None,
    bases: Mapping[str, str],
) -> State:
    if bundle is not None and state.id in bundle.states:
        return replace(state, source=BundleSource(str(bundle.path), REF_PREFIX + state.id))
    if state.missing is not None:
        return state
    folder = folder_of(state)
    base = bases.get(state.id) or (previous.id if previous else None)
    source = _source_in(run, folder, base)
    if isinstance(source, PatchSource) and base is None:
        return replace(state, missing=f"{folder}/{PATCH} has no state before it to be applied to")
    if source is not None:
        return replace(state, source=source)
    if state.unchanged and previous is not None and previous.source is not None:
        # The run itself says that the two are equal.
        return replace(state, source=previous.source)
    no_ref = f"{BUNDLE} has no {REF_PREFIX}{state.id}" if bundle else f"there is no {BUNDLE}"
    return replace(state, missing=f"{no_ref}, no {folder}/workspace and no {folder}/{PATCH}")


def _source_in(run: Folder, folder: str, base: str | None) -> StateSource | None:
    """The best source in one stage folder. A patch without a base names an empty one."""
    if (directory := run.directory(f"{folder}/workspace")) is not None:
        return FolderSource(str(directory))
    for name in ARCHIVES:
        if (archive := run.file(f"{folder}/{name}")) is not None:
            return ArchiveSource(str(archive))
    if (patch := run.file(f"{folder}/{PATCH}")) is not None:
        return PatchSource(str(patch), base or "")
    return None


def _report_unlisted(run: Folder, bundle: Bundle | None, states: list[State]) -> None:
    listed = {state.id for state in states}
    for state_id in bundle.states if bundle else ():
        if state_id not in listed:
            what = f"holds {state_id}, which is not among the states of run.json"
            run.problems.append(Problem(BUNDLE, what))
    for folder in run.stages():
        is_state = _source_in(run, folder.path, None) is not None
        if is_state and folder.state_id not in listed:
            what = f"holds {folder.state_id}, which is not among the states of run.json"
            run.problems.append(Problem(folder.path, what))


def _reference_states(chain: Folder | None, states: list[State]) -> list[State]:
    """R0 … Rn from the chain's bundle or, on top of R0 = S0, from its patches."""
    if chain is None:
        return []
    start = next((state for state in states if state.kind is StateKind.START), None)
    bundle = open_bundle(chain, "reference.bundle")
    sources: dict[int, StateSource | None] = {}
    if start is not None:
        sources[0] = start.source
    if bundle is not None:
        for state_id in bundle.states:
            if re.fullmatch(r"R(0|[1-9][0-9]*)", state_id):
                sources[int(state_id[1:])] = BundleSource(str(bundle.path), REF_PREFIX + state_id)
    else:
        for name in chain.names("reference"):
            match = _REFERENCE_PATCH.fullmatch(name)
            path = chain.file(f"reference/{name}") if match else None
            if match and path is not None:
                sources[int(match[1])] = PatchSource(str(path), f"R{int(match[1]) - 1}")
    if not any(sources.get(number) for number in sources if number):
        return []
    return [
        State(
            id=f"R{number}",
            stage=number,
            kind=StateKind.REFERENCE,
            provenance=Provenance.RECORDED,
            source=source,
            missing=None if source else "R0 is S0, and the files of S0 are not there",
        )
        for number, source in sorted(sources.items())
    ]
