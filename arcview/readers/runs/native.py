"""Reads arcview's own run folders, version 1 of the run format.

Partial runs are the rule: only run.json and one stage are required, and what is damaged or missing
is a problem beside the rest. Loads no pydantic; must not import anything of the terminal.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import exists, is_dir, open_file, read_file
from arcview.model.problem import Problem
from arcview.model.results import GateTest, Outcome
from arcview.model.run import Chain, PathRules, Run, Status
from arcview.model.trajectory import Trajectory
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.readers.fields import Fields, read_bytes
from arcview.readers.registry import Detection
from arcview.readers.runs.kept_session import KeptSession
from arcview.readers.runs.native_fields import as_problem, label, note, tidy, word
from arcview.readers.runs.native_folder import (
    CHAIN_PREFIX,
    Folder,
    chain_folder,
    inside,
)
from arcview.readers.runs.native_gates import (
    CHAIN_GATE,
    CHAIN_GATE_FOLDER,
    GateSpot,
    read_expected,
    read_gates,
)
from arcview.readers.runs.native_stages import STATUSES, read_declared, read_stages
from arcview.readers.runs.native_states import BUNDLE, read_states
from arcview.readers.runs.native_tests import SPLIT, GateDetails, read_details, recount
from arcview.schema.words import CHAIN_VERSION, RUN_VERSION, shown

RUN_FILE = "run.json"
_HEAD_BYTES = 4096
_ANY_VERSION = re.compile(rb'"schema"\s*:\s*"arcview/run/')


class NativeReader:
    """Reads `run.json` folders."""

    id = "native"
    title = "arcview run folder"

    def detect(self, path: Path) -> Detection | None:
        """Recognises a folder whose run.json names the format, in whatever version."""
        try:
            with open_file(path / RUN_FILE) as file:
                head = file.read(_HEAD_BYTES)
        except OSError:
            return None
        if not head.strip() and is_dir(path / "stages"):
            return Detection(self.id, f"{RUN_FILE}, which is empty, beside stages")
        if _ANY_VERSION.search(head) is None:
            return None
        return Detection(self.id, f"{RUN_FILE} with schema arcview/run/…")

    def summarise(self, path: Path) -> Run:
        """The skeleton from run.json, chain.json and the gates' result.json alone.

        Raises:
            BadInputError: run.json is missing, no JSON, of another version, or without a stage.
        """
        return _Skeleton(path).run

    def read(self, path: Path) -> NativeRun:
        """Opens the run; the single tests are read too, so that wrong counts are found.

        Raises:
            BadInputError: as for `summarise`.
        """
        return NativeRun(_Skeleton(path))


class _Skeleton:
    """What the summary files of a run say."""

    def __init__(self, path: Path) -> None:
        problems: list[Problem] = []
        # Absolute, since where states lie is remembered longer than the working directory.
        self.folder = Folder(path.absolute(), "", problems)
        fields = _run_fields(path, problems)
        self.chain_folder = chain_folder(self.folder, fields)
        chain_fields = self._chain_fields(problems)
        if chain_fields is None:
            self.chain_folder = None
        expected = read_expected(chain_fields, self.chain_folder)
        chain = _chain(fields, chain_fields)
        states = read_states(self.folder, self.chain_folder, fields)
        declared = read_declared(self.chain_folder, chain_fields)
        stages = read_stages(self.folder, fields, states, declared)
        self.spots = read_gates(self.folder, stages, states, expected, chain.image_digest)
        has_chain_gate = any(spot.record.gate == CHAIN_GATE for spot in self.spots)
        agent, harness = fields.sub("agent"), fields.sub("harness")
        problems += origin_problems(fields)
        self.run = Run(
            run_id=fields.text("run_id") or self._derived_id(fields),
            layout=NativeReader.id,
            path=str(path),
            chain=replace(chain, has_chain_gate=has_chain_gate),
            agent=agent.text("name"),
            agent_version=agent.text("version"),
            model=fields.text("model"),
            attempt=label(fields, "attempt"),
            delegation=fields.sub("delegation").text("declared"),
            harness=_harness(harness),
            status=word(fields, "status", STATUSES) or Status.UNKNOWN,
            status_detail=fields.text("status_detail"),
            started=fields.text("started"),
            ended=fields.text("ended"),
            states=states,
            stages=stages,
            gates=tuple(spot.record for spot in self.spots),
            problems=tidy(problems),
        )

    def _chain_fields(self, problems: list[Problem]) -> Fields | None:
        if self.chain_folder is None:
            return None
        name = f"{CHAIN_PREFIX}chain.json"
        path = self.chain_folder.file("chain.json")
        if path is None:
            return None
        try:
            fields = Fields.json_file(path, name, problems)
        except BadInputError as error:
            problems.append(as_problem(error))
            return None
        version = fields.values.get("schema")
        if version != CHAIN_VERSION:
            what = f'expected "{CHAIN_VERSION}", found {shown(version)}; the chain is not used'
            note(fields, "schema", what)
            return None
        return fields

    def _derived_id(self, fields: Fields) -> str:
        """An id from what the run consists of, the same on every machine."""
        digest = hashlib.sha256()
        names = [RUN_FILE, *(f"{spot.folder}/result.json" for spot in self.spots)]
        for name in names:
            path = self.folder.file(name)
            if path is not None:
                digest.update(name.encode() + b"\0" + read_file(path) + b"\0")
        task = fields.text("task_id") or "run"
        return f"{task}-{digest.hexdigest()[:12]}"


def _run_fields(path: Path, problems: list[Problem]) -> Fields:
    file = path / RUN_FILE
    try:
        read = Fields.json_file(inside(path, RUN_FILE), RUN_FILE, problems)
        version = read.values.get("schema")
        if version != RUN_VERSION:
            found = "it is missing" if version is None else f"found {shown(version)}"
            raise BadInputError(RUN_FILE, f'expected "{RUN_VERSION}", {found}', "schema")
    except BadInputError as error:
        # The one file without which there is nothing: named as the user would name it.
        raise BadInputError(str(file), error.expected, error.field) from error
    return read


def origin_problems(fields: Fields) -> tuple[Problem, ...]:
    """What was wrong with the files that an imported run was made from, as run.json says it."""
    entries = fields.sub("origin").records("problems")
    named = ((entry.text("where"), entry.text("what")) for entry in entries)
    return tidy(Problem(where, what) for where, what in named if where and what)


def _harness(fields: Fields) -> str | None:
    parts = [part for part in (fields.text("name"), fields.text("version")) if part]
    return " ".join(parts) or None


def _chain(fields: Fields, chain: Fields | None) -> Chain:
    named = fields.text("task_id")
    if chain is None:
        return Chain(task_id=named or "unknown")
    task = chain.text("task_id")
    if named is not None and task is not None and named != task:
        note(fields, "task_id", f'is "{named}", chain.json says "{task}"')
    image, rules = chain.sub("image"), chain.sub("path_rules")
    return Chain(
        task_id=named or task or "unknown",
        title=chain.text("title"),
        repository=chain.text("repository"),
        languages=tuple(chain.texts("languages")),
        image_ref=image.text("ref"),
        image_digest=image.text("digest"),
        workdir=chain.text("workdir"),
        path_rules=PathRules(
            source=tuple(rules.texts("source")),
            test=tuple(rules.texts("test")),
            generated=tuple(rules.texts("generated")),
            vendored=tuple(rules.texts("vendored")),
            docs=tuple(rules.texts("docs")),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """The tests of one gate without their texts, and the record that follows from them."""

    spot: GateSpot
    outcomes: tuple[GateTest, ...]
    source: str | None


class NativeRun:
    """An open native run (see `OpenedRun`)."""

    def __init__(self, skeleton: _Skeleton) -> None:
        self._skeleton = skeleton
        self._folder = skeleton.folder
        self._chain_folder = skeleton.chain_folder
        self._sessions = KeptSession()

    @cached_property
    def _read(self) -> tuple[Run, tuple[_Counted, ...]]:
        """The run with its recounted gates; a text or a trajectory is to be had without."""
        problems: list[Problem] = []
        gates: list[_Counted] = []
        for spot in self._skeleton.spots:
            details = read_details(self._folder, spot)
            record, contradictions = recount(spot, details)
            problems += (*details.problems, *contradictions)
            outcomes = tuple(_without_text(test) for test in details.tests)
            gates.append(_Counted(replace(spot, record=record), outcomes, details.source))
        # Those of the folder last: looking for tests may have met a link that leaves it.
        found = tidy([*self._folder.problems, *problems])
        records = tuple(counted.spot.record for counted in gates)
        return replace(self._skeleton.run, gates=records, problems=found), tuple(gates)

    @property
    def _gates(self) -> tuple[_Counted, ...]:
        return self._read[1]

    @property
    def run(self) -> Run:
        """The skeleton; where counts and single tests contradict each other, the tests count."""
        return self._read[0]

    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with any file but the trajectories."""
        return self.run.problems

    def gate_tests(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        """The tests of a gate run with their texts; empty where none is reported."""
        counted = self._counted(gate, state)
        if counted is None:
            return ()
        details: GateDetails = read_details(self._folder, counted.spot)
        return details.tests if details.reported else ()

    def gate_outcomes(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        """The tests of a gate run without their texts.

        Where none is reported, the expected ones are all missing: which tests an unmeasured gate
        contains tells what is unknown at the later ones.
        """
        counted = self._counted(gate, state)
        if counted is None:
            return ()
        if counted.outcomes:
            return counted.outcomes
        expected = counted.spot.expected
        return tuple(
            GateTest(id=test_id, group=group, outcome=Outcome.MISSING)
            for group in SPLIT
            for test_id in expected.of(group) or ()
        )

    def trajectory(self, refs: Sequence[TrajectoryRef]) -> Trajectory:
        """The steps of the given trajectories, joined and counted once."""
        from arcview.readers.runs.native_trajectories import read_trajectory

        found = read_trajectory(self._folder, refs, self._sessions)
        return replace(found, problems=tidy(found.problems))

    def text(self, path: str) -> str:
        """A file of the run, or below `chain/` one of the chain, wherever that lies.

        Raises:
            BadInputError: it is not there, or the path leaves its folder.
        """
        root, relative = self._folder.root, path
        if self._chain_folder is not None and path.startswith(CHAIN_PREFIX):
            root, relative = self._chain_folder.root, path.removeprefix(CHAIN_PREFIX)
        return read_bytes(inside(root, relative), path).decode("utf-8-sig", "replace")

    def inputs(self) -> tuple[Path, ...]:
        """Every file that is read, and the folders whose listing decides what is there."""
        return tuple(path for path in dict.fromkeys(self._inputs()) if exists(path))

    def _inputs(self) -> Iterator[Path]:
        root = self._folder.root
        yield from (root, root / RUN_FILE, root / BUNDLE, root / "stages")
        if self._chain_folder is not None:
            chain = self._chain_folder.root
            yield from (chain, chain / "chain.json", chain / "reference.bundle")
        folders = [folder.path for folder in self._folder.stages()]
        yield from (root / folder for folder in folders)
        for counted in self._gates:
            folder = root / counted.spot.folder
            yield from (folder, folder / "result.json")
            if counted.source is not None:
                yield root / counted.source
        yield root / CHAIN_GATE_FOLDER
        for stage in self.run.stages:
            for refs in (stage.trajectories, *(p.trajectories for p in stage.passes)):
                yield from (path for ref in refs for path in self._folder.watched(ref.path))

    def _counted(self, gate: str, state: str | None) -> _Counted | None:
        return next(
            (
                counted
                for counted in self._gates
                if counted.spot.record.gate == gate and counted.spot.record.state == state
            ),
            None,
        )


def _without_text(test: GateTest) -> GateTest:
    return replace(test, message=None, traceback=None, stdout=None, stderr=None)
