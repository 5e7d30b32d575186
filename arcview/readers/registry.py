"""What a reader is, and how the one for a path is found.

Built-in and foreign readers alike are registered as entry points (`arcview.runs`,
`arcview.trajectories`, `arcview.reports`); the value names a class without constructor arguments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from arcview.errors import BadInputError, UnknownLayoutError
from arcview.model.problem import Problem
from arcview.model.results import GateTest, Report
from arcview.model.run import Run
from arcview.model.trajectory import Trajectory, TrajectoryRef


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


# Where the built-in readers live. The table spares the 46 ms that importing `importlib.metadata`
# costs; the marker file spares importing a reader that cannot match.
_RUN_READERS = {
    "native": "arcview.readers.runs.native:NativeReader",
    "slop_code_bench": "arcview.readers.runs.slop_code_bench:SlopCodeBenchReader",
}
_MARKERS = {"native": "run.json", "slop_code_bench": "problem.yaml"}
_TRAJECTORY_READERS = {
    # Single documents come first: a list of plain chat messages is one, and is not JSON Lines.
    "atif": "arcview.readers.trajectories.atif:AtifReader",
    "swe_agent": "arcview.readers.trajectories.swe_agent:SweAgentReader",
    "mini_swe_agent": "arcview.readers.trajectories.mini_swe_agent:MiniSweAgentReader",
    "inspect_log": "arcview.readers.trajectories.inspect_log:InspectLogReader",
    "claude_code": "arcview.readers.trajectories.claude_code:ClaudeCodeReader",
    "codex": "arcview.readers.trajectories.codex:CodexReader",
    "gemini": "arcview.readers.trajectories.gemini:GeminiReader",
    "openhands": "arcview.readers.trajectories.openhands:OpenHandsReader",
}
_REPORT_READERS = {
    "pytest_json": "arcview.readers.reports.pytest_json:PytestJsonReader",
    "junit": "arcview.readers.reports.junit:JunitReader",
    "ctrf": "arcview.readers.reports.ctrf:CtrfReader",
    "pytest_reportlog": "arcview.readers.reports.pytest_reportlog:PytestReportlogReader",
    "go_test": "arcview.readers.reports.go_test:GoTestReader",
    "libtest": "arcview.readers.reports.libtest:LibtestReader",
    "jest_json": "arcview.readers.reports.jest_json:JestJsonReader",
    "mocha_json": "arcview.readers.reports.mocha_json:MochaJsonReader",
    "swe_bench": "arcview.readers.reports.swe_bench:SweBenchReader",
    "tap": "arcview.readers.reports.tap:TapReader",
    "text_log": "arcview.readers.reports.text_log:TextLogReader",
}
"""Text logs come last: they are scraped only where no structured report was written."""

HEAD_BYTES = 64 * 1024
"""How much of a file the readers of single files are shown when asked whether they know it."""

_STATE_FILE = "base_state.json"
"""Says what a folder is that holds one conversation, a file for every event."""

_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv"})
_LEVELS = 8
"""How far to look above a path that is no run, and below a folder of runs."""


def find_run_reader(path: Path, layout: str | None = None) -> tuple[RunReader, Detection]:
    """Finds the reader for a run folder by its content, or the one that `layout` names.

    Built-in readers are asked first; readers of other packages only when none of them matches.

    Raises:
        UnknownLayoutError: nothing there can be read as a run; the message says what to give
            instead where that is known.
    """
    if not path.exists():
        raise UnknownLayoutError(f"{path}: no such file or folder")
    if layout is not None:
        reader = cast("RunReader", _named("arcview.runs", _RUN_READERS, layout))
        return reader, Detection(layout, f"asked for as layout {layout}")
    if found := _detect_run(path):
        return found
    plugins, broken = _plugins("arcview.runs", _RUN_READERS)
    for plugin in cast("Iterable[RunReader]", plugins):
        detection = _ask(plugin, partial(plugin.detect, path), broken)
        if detection is not None:
            return plugin, detection
    raise UnknownLayoutError("; ".join([_no_run(path), *broken]))


def open_run(path: Path, layout: str | None = None) -> OpenedRun:
    """Finds the reader for a run folder and opens it.

    Raises:
        UnknownLayoutError: as for `find_run_reader`.
        BadInputError: the layout is known but a required file is missing or wrong.
    """
    reader, _ = find_run_reader(path, layout)
    return reader.read(path)


def find_trajectory_reader(path: Path) -> tuple[TrajectoryReader, Detection]:
    """Finds the reader for one trajectory file by its content.

    Raises:
        UnknownLayoutError: no reader knows the file.
        BadInputError: it cannot be read at all.
    """
    readers = _readers_of_files("arcview.trajectories", _TRAJECTORY_READERS, path)
    return cast("tuple[TrajectoryReader, Detection]", readers)


def find_report_reader(path: Path) -> tuple[ReportReader, Detection]:
    """Finds the reader for one test report by its content.

    Raises:
        UnknownLayoutError: no reader knows the file.
        BadInputError: it cannot be read at all.
    """
    readers = _readers_of_files("arcview.reports", _REPORT_READERS, path)
    return cast("tuple[ReportReader, Detection]", readers)


def trajectory_reader(format_id: str) -> TrajectoryReader:
    """The trajectory reader with that id.

    Raises:
        UnknownLayoutError: there is none, or it cannot be loaded.
    """
    found = _named("arcview.trajectories", _TRAJECTORY_READERS, format_id)
    return cast("TrajectoryReader", found)


def iter_runs(root: Path) -> Iterator[Path]:
    """Yields the run folders at or below `root`, in order of their paths.

    Goes neither into runs nor along links; unreadable folders are passed over.
    """
    if _detect_run(root):
        yield root
        return
    plugins, _ = _plugins("arcview.runs", _RUN_READERS)
    yield from _runs_below(root, cast("list[RunReader]", plugins), _LEVELS)


def _runs_below(folder: Path, plugins: list[RunReader], levels: int) -> Iterator[Path]:
    if _detect_run(folder) or any(
        _ask(plugin, partial(plugin.detect, folder), []) for plugin in plugins
    ):
        yield folder
        return
    if levels == 0:
        return
    for child in _folders_in(folder):
        yield from _runs_below(child, plugins, levels - 1)


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [
        folder / name
        for name in sorted(names)
        if name not in _SKIPPED_FOLDERS and not name.startswith(".")
    ]


def _detect_run(path: Path) -> tuple[RunReader, Detection] | None:
    """Asks the built-in run readers whose marker file is there."""
    if not path.is_dir():
        return None
    for name, target in _RUN_READERS.items():
        if not (path / _MARKERS[name]).exists():
            continue
        reader = cast("RunReader", _load(target))
        if detection := reader.detect(path):
            return reader, detection
    return None


def _no_run(path: Path) -> str:
    """Why nothing was recognised, with the run above or the runs below where there are some."""
    above = path.absolute().parents
    run = next((folder for folder in list(above)[:_LEVELS] if _detect_run(folder)), None)
    if run is not None:
        kind = "a folder" if path.is_dir() else "a file"
        return f"{path}: {kind} inside a run; open the run itself: {run}"
    if not path.is_dir():
        return f"{path}: a file; give the folder of a run"
    below = next(_runs_below(path, [], _LEVELS), None)
    if below is not None:
        return f"{path}: holds runs but is none; open one of them, such as {below}"
    expected = ", ".join(f"{marker} ({name})" for name, marker in _MARKERS.items())
    return f"{path}: not a run that arcview can read: none of {expected} is there"


def _readers_of_files(
    group: str, built_in: Mapping[str, str], path: Path
) -> tuple[object, Detection]:
    """Asks the readers of single files, built-in ones first, about the head of a file."""
    # Some trajectories are folders.
    told_by = path / _STATE_FILE if (path / _STATE_FILE).is_file() else path
    try:
        with told_by.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise BadInputError(str(path), f"cannot be read: {error.strerror}") from error
    if not head:
        raise BadInputError(str(path), "the file is empty")
    for target in built_in.values():
        reader = cast("TrajectoryReader | ReportReader", _load(target))
        if detection := reader.detect(head, told_by.name):
            return reader, detection
    plugins, broken = _plugins(group, built_in)
    for plugin in cast("Iterable[TrajectoryReader | ReportReader]", plugins):
        detection = _ask(plugin, partial(plugin.detect, head, told_by.name), broken)
        if detection is not None:
            return plugin, detection
    what = "trajectory" if group == "arcview.trajectories" else "test report"
    raise UnknownLayoutError("; ".join([f"{path}: not a known {what} format", *broken]))


def _load(target: str) -> object:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)()


def _named(group: str, built_in: Mapping[str, str], name: str) -> object:
    """The reader with that id, built-in or from another package."""
    if name in built_in:
        return _load(built_in[name])
    plugins, broken = _plugins(group, built_in)
    for plugin in cast("Iterable[RunReader]", plugins):
        if plugin.id == name:
            return plugin
    known = ", ".join([*built_in, *(cast("RunReader", p).id for p in plugins)])
    raise UnknownLayoutError("; ".join([f"{name}: no such reader; known: {known}", *broken]))


def _plugins(group: str, built_in: Mapping[str, str]) -> tuple[list[object], list[str]]:
    """Loads the readers of other packages; returns them with a line for each that is broken."""
    from importlib.metadata import entry_points  # 46 ms, needed only when nothing built in matches

    readers: list[object] = []
    broken: list[str] = []
    for entry in entry_points(group=group):
        if entry.value in built_in.values():
            continue
        try:
            readers.append(entry.load()())
        except Exception as error:  # noqa: BLE001 -- foreign code may raise anything; it is reported
            broken.append(_broken(entry.name, error))
    return readers, broken


def _ask(
    reader: object, detect: Callable[[], Detection | None], broken: list[str]
) -> Detection | None:
    """Asks a reader of another package; what it raises is reported, never passed on."""
    try:
        return detect()
    except Exception as error:  # noqa: BLE001 -- foreign code may raise anything; it is reported
        broken.append(_broken(str(getattr(reader, "id", type(reader).__name__)), error))
        return None


def _broken(name: str, error: Exception) -> str:
    first_line = next(iter(str(error).splitlines()), "")
    return f"reader {name} does not work: {type(error).__name__}: {first_line}"
