"""Reads Codex CLI: rollouts of every era, packed or not, and the streams of `codex exec --json`.

A rollout has all that a stream of the same thread has: of the two, only the rollout is shown.
Sub-agents in rollouts of their own follow the call that started them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arcview.model.trajectory import Trajectory
from arcview.readers.registry import Detection
from arcview.readers.trajectories.aside import Aside
from arcview.readers.trajectories.codex_files import recognised
from arcview.readers.trajectories.codex_join import FORMAT, Reading
from arcview.readers.trajectories.long_files import is_long


class CodexReader:
    """Reads rollouts and `exec --json` streams."""

    id = FORMAT
    title = "Codex CLI rollout or exec stream"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the records of either; see the table of tests in the format notes."""
        found = recognised(head, name)
        return None if found is None else Detection(self.id, found[1])

    def read(self, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        """Reads a rollout or a stream with the files that complete it.

        Rollouts of sub-agents that lie beside the one that started them are found by their ids.
        """
        reading = Reading(Aside() if is_long((path, *companions)) else None)
        for file in (path, *companions):
            reading.take(file)
        reading.take_started()
        return reading.trajectory()
