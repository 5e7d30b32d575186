"""What a file is that says nothing alone: a part of a run folder, which should be opened instead.

Only for the message; recognises by keys. Must not import a reader.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

_PARTS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"trial_name", "task_checksum"}), "the result of a Harbor trial"),
    (frozenset({"n_total_trials"}), "the result of a Harbor job"),
    (frozenset({"job_name", "jobs_dir"}), "the settings of a Harbor job"),
    (frozenset({"trials", "harbor"}), "the lock file of a Harbor job"),
    (frozenset({"checkpoint_name", "pass_counts"}), "the evaluation of a SlopCodeBench checkpoint"),
    (frozenset({"file_diffs"}), "the changes of a SlopCodeBench checkpoint"),
    (frozenset({"had_error", "elapsed", "snapshot_dir"}), "the end of a SlopCodeBench checkpoint"),
    (frozenset({"n_attempt", "model_patch"}), "the outputs of a FeatureBench run"),
    (frozenset({"total_instances", "n_attempt"}), "the summary of a FeatureBench run"),
    (frozenset({"resolved_ids", "total_instances"}), "the summary of a SWE-bench evaluation"),
    (frozenset({"is_resolved", "failure_mode"}), "the result of a classic Terminal-Bench trial"),
    (frozenset({"results", "n_resolved"}), "the summary of a classic Terminal-Bench run"),
    (frozenset({"trial_name", "repo_name"}), "the metadata of an EvoClaw trial"),
    (frozenset({"schema", "stages"}), "a part of an arcview run"),
)
_PREDICTION = "model_patch"


def part_of(data: bytes) -> str | None:
    """What to say of a file that is known and no run; null where nothing is known of it."""
    record = _first(data)
    if record is None:
        return None
    inner = next((value for value in record.values() if isinstance(value, dict)), {})
    for keys, what in _PARTS:
        if keys <= record.keys() or keys <= inner.keys():
            return f"{what}: open the folder that it belongs to"
    if _PREDICTION in record or _PREDICTION in inner:
        return "predictions: they are read beside the harness logs or trajectories of a run"
    return None


def _first(data: bytes) -> Mapping[str, object] | None:
    """The document, else the first line; of a list the first item."""
    for text in (data, data.strip().partition(b"\n")[0]):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and value:
            value = value[0]
        return value if isinstance(value, dict) else None
    return None
