"""What lies around the folder of one benchmark instance: predictions, trajectories, harness logs.

Harnesses keep the parts of one attempt in sibling trees. Only names that are made from the
instance's own are looked for, a few levels up, and no link is followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from arcview.errors import ArcviewError, BadInputError
from arcview.files import is_file, is_symlink
from arcview.model.problem import Problem
from arcview.model.states import PatchSource, Provenance, State, StateKind
from arcview.readers.inside import inside
from arcview.readers.run_layouts import TRAJECTORY_FOLDERS
from arcview.readers.runs.predictions import Prediction, find_prediction

_LEVELS = 5
_PREDICTIONS = ("preds.json", "all_preds.jsonl", "preds.jsonl", "predictions.jsonl",
                "predictions.json", "all_preds.json")  # fmt: skip
_ENDINGS = (".traj.json", ".traj", ".json", ".jsonl", ".eval")

START_MISSING = "the repository before the agent's changes is not recorded (--base names it)"


def around(path: Path) -> Iterator[Path]:
    """The folder itself and those above it, nearest first, as far as is looked."""
    yield path
    yield from list(path.parents)[:_LEVELS]


def prediction_for(
    path: Path, instance: str, problems: list[Problem]
) -> tuple[Prediction, Path] | None:
    """The nearest predictions file that names an instance, and what it says.

    Args:
        path: The instance's folder.
        instance: Its id.
        problems: Takes what is wrong with predictions files in the folder itself.
    """
    for folder in around(path):
        for name in _PREDICTIONS:
            file = folder / name
            if is_symlink(file) or not is_file(file):
                continue
            try:
                found = find_prediction(file, instance)
            except (ArcviewError, OSError) as error:
                if folder == path:
                    problems.append(Problem(name, str(error).removeprefix(f"{name}: ")))
                continue
            if found is not None:
                return found, file
    return None


def trajectory_for(path: Path, instance: str) -> Path | None:
    """A trajectory of an instance in a sibling tree, such as `trajs/<instance>.traj`."""
    for folder in around(path):
        for name in TRAJECTORY_FOLDERS:
            for place in (f"{name}/{instance}", f"{name}/{instance}/{instance}"):
                if (
                    file := _first(folder, (f"{place}{ending}" for ending in _ENDINGS))
                ) is not None:
                    return file
        place = f"{instance}/{instance}"
        if (file := _first(folder, (f"{place}{ending}" for ending in _ENDINGS[:2]))) is not None:
            return file
    return None


def _first(folder: Path, names: Iterable[str]) -> Path | None:
    for name in names:
        try:
            file = inside(folder, name)
        except BadInputError:
            return None
        if is_file(file) and not is_symlink(file):
            return file
    return None


def patch_states(
    run: Path, patch: str | None, prediction: Prediction | None, missing: str
) -> tuple[State, State]:
    """The two states of an attempt that only a patch is recorded of.

    Args:
        run: The run folder.
        patch: The patch file relative to it; null where there is none.
        prediction: What a predictions file says; counts where there is no patch file.
        missing: Why the state after the attempt is not there, if it is not.
    """
    start = State("S0", 0, StateKind.START, Provenance.UNKNOWN, missing=START_MISSING)
    end = State("S1", 1, StateKind.STAGE_END, Provenance.RECORDED)
    if patch is not None and is_file(run / patch):
        source = PatchSource(patch, start.id)
    elif prediction is not None and prediction.patch is not None:
        source = PatchSource(prediction.file, start.id, prediction.patch)
    else:
        end = State(end.id, 1, end.kind, Provenance.UNKNOWN, missing=missing)
        return start, end
    return start, State(end.id, 1, end.kind, end.provenance, source)
