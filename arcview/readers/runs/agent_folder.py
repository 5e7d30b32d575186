"""Reads the folder that SWE-agent or mini-swe-agent leaves of one instance.

`<instance>/<instance>.traj[.json]` with, perhaps, `.patch` beside it and `preds.json` above. Must
not import pydantic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from arcview.errors import ArcviewError, BadInputError
from arcview.files import is_file, is_symlink
from arcview.model.problem import Problem
from arcview.model.results import GateRecord
from arcview.model.run import Run
from arcview.model.trajectory import Trajectory
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.readers.registry import Detection, find_trajectory_reader
from arcview.readers.runs.assembled import AssembledRun, Assembly, derived_id
from arcview.readers.runs.harness_logs import grade_above
from arcview.readers.runs.instance_folder import patch_states, prediction_for
from arcview.readers.runs.lone_file import LoneFileReader

LAYOUT = "agent_folder"
_ENDINGS = (".traj.json", ".traj")
_FORMATS = frozenset({"swe_agent", "mini_swe_agent"})


class AgentFolderReader:
    """Reads one instance folder; a batch is a folder of them."""

    id = LAYOUT
    title = "SWE-agent or mini-swe-agent folder of one instance"

    def detect(self, path: Path) -> Detection | None:
        """Recognises a trajectory that is called like its folder."""
        file = _trajectory(path)
        if file is None:
            return None
        if file.stat().st_size == 0:  # it is written anew after each step
            return Detection(self.id, f"{file.name}, which is empty")
        try:
            _, detection = find_trajectory_reader(file)
        except ArcviewError:
            return None
        if detection.reader not in _FORMATS:
            return None
        return Detection(self.id, f"{file.name} ({detection.reader})")

    def summarise(self, path: Path) -> Run:
        """The skeleton from the ends of the trajectory.

        Raises:
            BadInputError: there is no trajectory.
        """
        return _in_folder(path, LoneFileReader().summarise(_need(path)))

    def read(self, path: Path) -> AssembledRun:
        """Opens the folder.

        Raises:
            BadInputError: there is no trajectory.
        """
        lone = LoneFileReader().read(_need(path))
        problems: list[Problem] = []
        absolute = path.absolute()
        graded = grade_above(absolute, absolute.name)
        run = _in_folder(path, lone.run)
        if len(run.stages) == 1:
            run = _with_patch(path, run, graded.record, problems)
        tests, details = graded.by_gate()
        texts = {s.spec_path: lone.text(s.spec_path) for s in run.stages if s.spec_path}
        read = [absolute, *lone.inputs(), *graded.read]
        return _OpenedFolder(
            Assembly(graded.root, run, tests, details, texts, read, problems), lone
        )


class _OpenedFolder(AssembledRun):
    """A lone trajectory with what lies around it."""

    def __init__(self, assembly: Assembly, lone: AssembledRun) -> None:
        super().__init__(assembly)
        self._lone = lone

    def trajectory(self, refs: Sequence[TrajectoryRef]) -> Trajectory:
        """The steps, which are read already."""
        return self._lone.trajectory(refs)

    def inputs(self) -> tuple[Path, ...]:
        """Every file that was read: paths of the trajectory are not relative to the same folder."""
        return tuple(dict.fromkeys(self._from.read))

    def locate(self, ref: TrajectoryRef, path: str) -> Path:
        """Where a file of the trajectory lies."""
        return self._lone.locate(ref, path)


def _trajectory(path: Path) -> Path | None:
    name = path.absolute().name
    for ending in _ENDINGS:
        file = path / f"{name}{ending}"
        if is_file(file) and not is_symlink(file):
            return file
    return None


def _need(path: Path) -> Path:
    file = _trajectory(path)
    if file is None:
        raise BadInputError(str(path), "expected a trajectory called like the folder")
    return file


def _in_folder(path: Path, run: Run) -> Run:
    """The run of the trajectory as that of the folder."""
    name = path.absolute().name
    files = [(f"{name}{ending}", path / f"{name}{ending}") for ending in (*_ENDINGS, ".patch")]
    return replace(
        run,
        run_id=derived_id(LAYOUT, [name], files),
        layout=LAYOUT,
        path=str(path),
        chain=replace(run.chain, task_id=name),
    )


def _with_patch(path: Path, run: Run, gate: GateRecord, problems: list[Problem]) -> Run:
    """The run with its gate, and with a patch from beside or above where the session has none."""
    name = path.absolute().name
    states = run.states
    if not states:
        found = prediction_for(path.absolute(), name, problems)
        prediction = found[0] if found is not None else None
        missing = "the session holds no patch, and no patch or predictions file does"
        states = patch_states(path, f"{name}.patch", prediction, missing)
    stage = replace(run.stages[0], base="S0", end="S1")
    return replace(run, states=states, stages=(stage,), gates=(gate,))
