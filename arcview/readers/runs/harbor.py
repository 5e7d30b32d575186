"""Reads a Harbor trial: one task, one agent; a stage per step, or one stage where it has none.

Layout: harbor 0.26, `models/trial/paths.py` and `trial/multi_step.py`. A job is a folder of trials.
Must not import pydantic.
"""

from __future__ import annotations

from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.run import Run
from arcview.readers.fields import Fields
from arcview.readers.inside import inside
from arcview.readers.registry import Detection
from arcview.readers.runs.assembled import AssembledRun
from arcview.readers.runs.harbor_trial import CONFIG, LAYOUT, RESULT, read_trial

_RESULT_KEYS = frozenset({"trial_name", "task_checksum"})
_CONFIG_KEYS = frozenset({"trial_name", "task"})


class HarborReader:
    """Reads `<job>/<task>__<7 characters>/` folders."""

    id = LAYOUT
    title = "Harbor trial"
    sample = "a job of the harness itself, with a scripted agent"

    def detect(self, path: Path) -> Detection | None:
        """Recognises the result of a trial or, while it has none, its configuration."""
        if (keys := _keys(path, RESULT)) is not None and keys >= _RESULT_KEYS:
            return Detection(self.id, f"{RESULT} with trial_name and task_checksum")
        if (keys := _keys(path, CONFIG)) is not None and keys >= _CONFIG_KEYS:
            return Detection(self.id, f"{CONFIG} of a trial that has no {RESULT} yet")
        return None

    def summarise(self, path: Path) -> Run:
        """The skeleton; trajectories are not looked for.

        Raises:
            BadInputError: neither file of the trial can be read.
        """
        return AssembledRun(read_trial(path, with_trajectories=False)).run

    def read(self, path: Path) -> AssembledRun:
        """Opens the trial.

        Raises:
            BadInputError: as for `summarise`.
        """
        return AssembledRun(read_trial(path, with_trajectories=True))


def _keys(path: Path, name: str) -> frozenset[str] | None:
    try:
        return frozenset(Fields.json_file(inside(path, name), name, []).values)
    except BadInputError:
        return None
