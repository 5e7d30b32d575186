"""The grading of an instance in SWE-bench harness logs that lie above its own folder.

Inference and grading are two programs that write two trees; what the second says of the first is
taken in only where it is plain which grading is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from arcview.errors import ArcviewError
from arcview.files import is_dir, is_file
from arcview.model.results import GateRecord, GateTest
from arcview.readers.inside import inside
from arcview.readers.reports.swe_bench import read_instances
from arcview.readers.runs.assembled import GateKey
from arcview.readers.runs.instance_folder import around
from arcview.readers.runs.swe_bench import REPORT, read_details, read_gate

_LOGS = "logs/run_evaluation"


@dataclass(frozen=True, slots=True)
class Graded:
    """What was found of the grading."""

    record: GateRecord
    root: Path
    """The folder that the log paths are relative to: the instance's own, or one above it."""
    tests: tuple[GateTest, ...] = ()
    folder: Path | None = None

    @property
    def read(self) -> list[Path]:
        """The files that it comes from."""
        return [] if self.folder is None else [self.folder / REPORT]

    def by_gate(
        self,
    ) -> tuple[
        dict[GateKey, tuple[GateTest, ...]], dict[GateKey, Callable[[], tuple[GateTest, ...]]]
    ]:
        """The tests, and how they are had with messages."""
        key = (self.record.gate, self.record.state)
        if self.folder is None or not self.tests:
            return {key: self.tests}, {}
        return {key: self.tests}, {key: partial(read_details, self.folder, self.tests)}


def grade_above(path: Path, instance: str) -> Graded:
    """The grading of an instance, where the harness's logs lie above and name it only once.

    Args:
        path: The instance's folder, absolute.
        instance: Its id.
    """
    record = GateRecord("1", "S1")
    folders = list(_gradings(path, instance))
    if not folders:
        reason = f"no gate result is recorded: no {_LOGS}/…/{instance} above"
        return Graded(replace(record, unmeasured=reason), path)
    if len(folders) > 1:
        listed = ", ".join(folder.parent.parent.name for folder in folders[:3])
        reason = f"graded {len(folders)} times ({listed}): open the one that is meant"
        return Graded(replace(record, unmeasured=reason), path)
    folder = folders[0]
    try:
        reports = read_instances(inside(folder, REPORT))
    except ArcviewError as error:
        return Graded(replace(record, unmeasured=str(error)), path)
    record, tests = read_gate(folder, reports.get(instance), "the report names another instance")
    root = next(above for above in (path, *path.parents) if folder.is_relative_to(above))
    place = folder.relative_to(root).as_posix()
    logs = tuple(f"{place}/{log}" for log in record.log_paths)
    return Graded(replace(record, log_paths=logs), root, tests, folder)


def _gradings(path: Path, instance: str) -> Iterator[Path]:
    """The instance's folders in the nearest harness logs above."""
    stamps = {folder.name for folder in around(path) if folder.name}
    for above in around(path):
        logs = above / _LOGS
        if not is_dir(logs):
            continue
        found = [f.parent for f in logs.glob(f"*/*/{_plain(instance)}/{REPORT}") if is_file(f)]
        same = [f for f in found if any(stamp in f.parent.parent.name for stamp in stamps)]
        yield from sorted(same or found)
        return


def _plain(name: str) -> str:
    """A name as a pattern that matches only itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
