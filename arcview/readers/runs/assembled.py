"""An opened run of a foreign layout: a skeleton with its gates' tests, and files read on demand.

What is the same for every harness that keeps a stage's trajectory, patch and report as files. Knows
no layout; must not import pydantic.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from arcview.errors import ArcviewError, BadInputError
from arcview.files import is_file, open_file
from arcview.model.problem import Problem
from arcview.model.results import GateRecord, GateTest, Group, GroupCounts
from arcview.model.run import Run
from arcview.model.trajectory import Session, Trajectory
from arcview.model.trajectory_refs import SessionRole, TrajectoryRef
from arcview.readers.fields import read_bytes
from arcview.readers.inside import inside
from arcview.readers.parts import join
from arcview.readers.registry import TrajectoryReader, find_trajectory_reader, trajectory_reader
from arcview.readers.runs.kept_session import KeptSession
from arcview.secrets import mask_settings

GateKey = tuple[str, str | None]
"""Gate and state."""

_ID_DIGITS = 16
_WHOLE_BYTES = 16 << 20
_END_BYTES = 1 << 20


@dataclass(slots=True)
class Assembly:
    """What a reader of a layout has put together."""

    root: Path
    """The folder that every path of the run is relative to; the run folder, or one above it where
    the harness keeps what belongs to a run in several places."""
    run: Run
    tests: Mapping[GateKey, tuple[GateTest, ...]] = field(default_factory=dict)
    """Of every measured gate."""
    details: Mapping[GateKey, Callable[[], tuple[GateTest, ...]]] = field(default_factory=dict)
    """Gives the same tests with messages, where these cost another file."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts that are no files of their own, by the path that the skeleton gives them."""
    read: list[Path] = field(default_factory=list)
    """Every file that the skeleton comes from."""
    problems: list[Problem] = field(default_factory=list)


class AssembledRun:
    """An open run (see `OpenedRun`)."""

    def __init__(self, assembly: Assembly) -> None:
        self._from = assembly
        self._run = replace(assembly.run, problems=tuple(dict.fromkeys(assembly.problems)))
        self._sessions = KeptSession()

    @property
    def run(self) -> Run:
        """The skeleton."""
        return self._run

    def gate_tests(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        """The tests of a recorded gate run with messages; empty when unmeasured."""
        details = self._from.details.get((gate, state))
        return self.gate_outcomes(gate, state) if details is None else details()

    def gate_outcomes(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        """The same tests from the cheapest file."""
        return self._from.tests.get((gate, state), ())

    def trajectory(self, refs: Sequence[TrajectoryRef]) -> Trajectory:
        """The steps of the given trajectories, joined and counted once."""
        return join([read_ref(self._from.root, ref, self._sessions) for ref in refs])

    def text(self, path: str) -> str:
        """A file of the run as text; undecodable bytes are replaced, secrets of logs masked.

        Raises:
            BadInputError: it is missing, unreadable, or outside of the run.
        """
        if path in self._from.texts:
            return self._from.texts[path]
        data = read_bytes(inside(self._from.root, path), path)
        text = data.decode("utf-8-sig", "replace")
        told = {p for s in self._run.stages for p in (s.spec_path, s.contract_path)}
        return text if path in told else mask_settings(text)

    def locate(self, ref: TrajectoryRef, path: str) -> Path:
        """Where a file of a trajectory lies.

        Raises:
            BadInputError: its path leaves the run.
        """
        return inside(self._from.root, path)

    def inputs(self) -> tuple[Path, ...]:
        """Every file that was read, and the trajectories."""
        return tuple(dict.fromkeys(self._inputs()))

    def _inputs(self) -> Iterator[Path]:
        yield from self._from.read
        for stage in self._run.stages:
            for refs in (stage.trajectories, *(p.trajectories for p in stage.passes)):
                for path in (path for ref in refs for path in (ref.path, *ref.companions)):
                    yield self._from.root / path
                    with suppress(OSError):  # no folder
                        yield from sorted((self._from.root / path).iterdir())

    def problems(self) -> tuple[Problem, ...]:
        """What was wrong with any file but the trajectories."""
        return self._run.problems


def read_ref(root: Path, ref: TrajectoryRef, kept: KeptSession | None = None) -> Trajectory:
    """One trajectory with the files that complete it; what is wrong is one of its problems.

    Args:
        root: The folder that its path is relative to.
        ref: Where it lies, and which part of it is wanted.
        kept: The session that was read last, where several parts of one are asked for.
    """
    try:
        files = [inside(root, path) for path in (ref.path, *ref.companions)]
        if ref.format is None:
            reader, _ = find_trajectory_reader(files[0])
        else:
            reader = trajectory_reader(ref.format)
    except ArcviewError as error:
        what = str(error).replace(f"{root}/", "").removeprefix(f"{ref.path}: ")
        problem = Problem(ref.path, f"{what}; its steps cannot be shown")
        return Trajectory(format="unknown", problems=(problem,))
    read = partial(_read_files, root, ref, files, reader)
    return (kept or KeptSession()).part((ref,), files, read)


def _read_files(
    root: Path, ref: TrajectoryRef, files: Sequence[Path], reader: TrajectoryReader
) -> Trajectory:
    found = reader.read(files[0], files[1:])
    problems = (
        replace(each, where=each.where.replace(f"{root}/", ""), what=each.what)
        for each in found.problems
    )
    sessions = tuple(_as_of(session, ref) for session in found.sessions)
    return replace(found, sessions=sessions, problems=tuple(problems))


def _as_of(session: Session, ref: TrajectoryRef) -> Session:
    """The run's own word on what a session is counts more than what its format suggests."""
    is_own = ref.session in (None, session.id) and session.role is not SessionRole.SUBAGENT
    return replace(session, role=ref.role) if is_own else session


def counted(record: GateRecord, tests: Iterable[GateTest]) -> GateRecord:
    """The record with the counts of the groups that its tests belong to."""
    groups: dict[Group, list[GateTest]] = {}
    for test in tests:
        groups.setdefault(test.group, []).append(test)
    counts = {group: GroupCounts.of(found) for group, found in groups.items()}
    return replace(
        record,
        f2p=counts.get(Group.F2P),
        p2p=counts.get(Group.P2P),
        other=counts.get(Group.OTHER),
    )


def derived_id(layout: str, parts: Iterable[str | None], files: Iterable[tuple[str, Path]]) -> str:
    """An id that depends on content alone, so that it is the same on every machine.

    Args:
        layout: Id of the reader.
        parts: Who ran what.
        files: Specifications and results, with names that do not depend on where the run lies.
    """
    text = "\0".join([layout, *(part or "" for part in parts)])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name, path in files:
        with suppress(OSError):
            digest.update(b"\0" + os.fsencode(name) + b"\0" + _telling_bytes(path))
    return f"{layout}-{digest.hexdigest()[:_ID_DIGITS]}"


def _telling_bytes(path: Path) -> bytes:
    """The content of a file; of a very large one its two ends and its size, which tell as much."""
    with open_file(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if size <= _WHOLE_BYTES:
            return file.read()
        begin = file.read(_END_BYTES)
        file.seek(size - _END_BYTES)
        return b"%b%d %b" % (begin, size, file.read(_END_BYTES))


def optional_file(root: Path, relative: str, problems: list[Problem]) -> Path | None:
    """A file below the root; null where there is none or its path leaves (which is reported)."""
    try:
        path = inside(root, relative)
    except BadInputError as error:
        problems.append(Problem(error.path, error.expected))
        return None
    return path if is_file(path) else None
