"""What a reader is: the protocols that built-in readers and those of other packages fulfil.

Readers are registered as entry points (`arcview.runs`, `arcview.trajectories`, `arcview.reports`);
the value names a class without constructor arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from arcview.model.problem import Problem
from arcview.model.results import GateTest, Report
from arcview.model.run import Run
from arcview.model.trajectory import Trajectory
from arcview.model.trajectory_refs import TrajectoryRef


@dataclass(frozen=True, slots=True)
class Detection:
    """Why a reader thinks that it can read something."""

    reader: str
    reason: str
    """`problem.yaml beside checkpoint_1/checkpoint.yaml`"""


class OpenedRun(Protocol):
    """A run whose skeleton is read; details are read when they are asked for."""

    @property
    def run(self) -> Run:
        """The skeleton, with the counts of every recorded gate."""
        ...

    def gate_tests(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        """The single tests of a recorded gate run, with messages; empty when unmeasured."""
        ...

    def gate_outcomes(self, gate: str, state: str | None) -> tuple[GateTest, ...]:
        """The same tests without messages, from the cheapest file that has them."""
        ...

    def trajectory(self, refs: Sequence[TrajectoryRef]) -> Trajectory:
        """The steps of the given trajectories of one stage or pass, joined and counted once."""
        ...

    def text(self, path: str) -> str:
        """A file of the run (spec, log, contract) by its path as the skeleton names it.

        Undecodable bytes are replaced. Refuses paths that leave the run (and its chain) folder.
        """
        ...

    def inputs(self) -> tuple[Path, ...]:
        """Every file that the skeleton, the tests and the trajectories come from.

        Their names, sizes and times tell whether a cached view is stale; workspace files are not
        among them.
        """
        ...

    def problems(self) -> tuple[Problem, ...]:
        """What was wrong with the skeleton's files."""
        ...


def whole_of(opened: OpenedRun) -> OpenedRun:
    """The run with what only all of its steps tell; itself where nothing more is to be known.

    A reader that only glances at what is long (`Run.is_glanced`) gives it as `whole()`.
    """
    whole = getattr(opened, "whole", None)
    return opened if whole is None else cast("OpenedRun", whole())


class RunReader(Protocol):
    """Reads one run layout. Opening never writes into the run."""

    id: str
    title: str
    """For people: `SlopCodeBench output folder`."""

    def detect(self, path: Path) -> Detection | None:
        """Recognises the layout by content, cheaply; null when it is something else."""
        ...

    def summarise(self, path: Path) -> Run:
        """The skeleton from summary files alone; the library uses only this.

        Raises:
            BadInputError: a required file is missing or is not what the layout promises.
        """
        ...

    def read(self, path: Path) -> OpenedRun:
        """Opens the run.

        Raises:
            BadInputError: as for `summarise`.
        """
        ...


class TrajectoryReader(Protocol):
    """Reads one trajectory format."""

    id: str
    title: str

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the format from the first 64 KiB of a file and, as a tie-break, its name."""
        ...

    def read(self, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        """Reads one trajectory; damage is reported in `Trajectory.problems`, never raised.

        Args:
            path: The main file.
            companions: Files that complete it; each record is counted once.
        """
        ...


class ReportReader(Protocol):
    """Reads one test-report format, keyed by the report's own ids."""

    id: str
    title: str

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the format from the first 64 KiB of a file and, as a tie-break, its name."""
        ...

    def read(self, path: Path) -> Report:
        """Reads the report; damage is reported in `Report.problems`, what can be read is kept.

        Raises:
            BadInputError: the file is not such a report.
        """
        ...


Progress = Callable[[int, int, str], None]
"""Called with (done, total, what) while something long goes on; total 0 means unknown."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the user named."""

    trajectory: Path | None = None
    base: str | None = None
    """A folder, `REPOSITORY@REF`, or a ref of the run's own repository."""

    def __bool__(self) -> bool:
        return self.trajectory is not None or self.base is not None

    def key(self) -> str:
        """Tells one set of them from another."""
        trajectory = str(self.trajectory.absolute()) if self.trajectory is not None else ""
        return f"{trajectory}\0{self.base or ''}" if self else ""
