"""The steps of an open run and what was tested in them: each read once, the latest kept."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import proxy

from arcview.analysis.self_tests import SelfTest, find_self_tests
from arcview.files import is_dir
from arcview.readers.trajectories.long_files import is_long

if TYPE_CHECKING:
    from arcview.model.trajectory import Trajectory
    from arcview.session.opened import OpenRun

_KEPT_TRAJECTORIES = 3


class RunSteps:
    """Reads the steps of one open run, from any thread."""

    def __init__(self, opened: OpenRun) -> None:
        # Not a circle: an open run goes with the last who refers to it.
        self._opened: OpenRun = proxy(opened)
        self._trajectories: dict[str, Trajectory] = {}
        self._self_tests: dict[str, tuple[SelfTest, ...]] = {}
        self._reading, self._finding = Lock(), Lock()
        """Held while steps are read, and while tests are looked for in them: what two threads want
        is got once."""

    def trajectory(self, stage: int, state: str | None) -> Trajectory:
        """See `OpenRun.trajectory`."""
        name = steps_name(stage, state)
        found = self._trajectories.get(name)
        if found is not None:
            return found
        from arcview.model.trajectory import Trajectory  # 5 ms, and no first frame needs it

        with self._reading:
            found = self._trajectories.get(name) or self._opened.load_view(name, Trajectory)
            if found is None:
                found = self._read(stage, state)
                # A copy of something long would take as long to read again.
                if not self.is_long(stage, state):
                    self._opened.save_view(name, Trajectory, found)
            # Trajectories are the bulk of a run: those looked at last are kept in memory.
            self._trajectories.pop(name, None)
            while len(self._trajectories) >= _KEPT_TRAJECTORIES:
                self._trajectories.pop(next(iter(self._trajectories)), None)
            self._trajectories[name] = found
        return found

    def _read(self, stage: int, state: str | None) -> Trajectory:
        # Nothing kept is read.
        from arcview.model.trajectory import Trajectory
        from arcview.session.collector import held_collector

        refs = self._opened.trajectory_refs(stage, state)
        with held_collector(is_much=self.is_long(stage, state)):
            return self._opened.reader().trajectory(refs) if refs else Trajectory("none")

    def forget(self) -> None:
        """Lets go of the steps; who asks for them again has them read again."""
        self._trajectories.clear()

    def is_long(self, stage: int, state: str | None) -> bool:
        """Whether nobody should wait for the whole of a trajectory."""
        return is_long(files_of(self._opened, stage, state))

    def kept_beginning(self, stage: int, state: str | None) -> Trajectory | None:
        """The first steps of a long trajectory, where they are kept."""
        if not self.is_long(stage, state):
            return None
        from arcview.model.trajectory import Trajectory  # as above

        found = self._opened.load_view(beginning_name(stage, state), Trajectory)
        return found if found is not None and found.steps else None

    def self_tests(self, stage: int, state: str | None) -> tuple[SelfTest, ...]:
        """See `OpenRun.self_tests`."""
        name = _self_tests_name(stage, state)
        found = self._kept_self_tests(name)
        if found is not None:
            return found
        with self._finding:
            found = self._self_tests.get(name)
            if found is None:
                found = find_self_tests(self.trajectory(stage, state))
                self._opened.save_view(name, tuple[SelfTest, ...], found)
                self._self_tests[name] = found
        return found

    def knows_self_tests(self, stage: int) -> bool:
        """Whether those of a stage are there without reading its trajectory."""
        return self._kept_self_tests(_self_tests_name(stage, None)) is not None

    def _kept_self_tests(self, name: str) -> tuple[SelfTest, ...] | None:
        found = self._self_tests.get(name)
        if found is None:
            found = self._opened.load_view(name, tuple[SelfTest, ...])
            if found is not None:
                self._self_tests[name] = found
        return found


def steps_name(stage: int, state: str | None) -> str:
    """What the steps of a stage or pass are kept under."""
    return f"steps-{stage if state is None else state}"


def beginning_name(stage: int, state: str | None) -> str:
    """What the first steps of something long are kept under."""
    return f"beginning-{stage if state is None else state}"


def files_of(opened: OpenRun, stage: int, state: str | None) -> list[Path]:
    """The files of a stage's (or pass's) trajectory."""
    root = Path(opened.run.path)
    folder = root if is_dir(root) else root.parent
    refs = opened.trajectory_refs(stage, state)
    return [folder / path for ref in refs for path in (ref.path, *ref.companions)]


def _self_tests_name(stage: int, state: str | None) -> str:
    return f"self-tests-{stage if state is None else state}"
