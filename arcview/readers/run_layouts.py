"""Finds runs: which layout a path is, which runs lie below a folder.

Built-in layouts are looked up in a table, with marker files that spare importing a reader that
cannot match. Layouts that many folders resemble (a git repository, a folder of patches) are asked
last, and only about the very path that was given: most collections of runs are repositories.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import cast

from arcview.errors import BadInputError, UnknownLayoutError
from arcview.files import exists, is_dir, is_file, why_unreadable
from arcview.readers.conversation import telling_file
from arcview.readers.plugins import ask, load, named, plugins_of
from arcview.readers.protocols import Detection, Given, OpenedRun, RunReader

_RUNS = "arcview.readers.runs"
READERS = {
    "native": f"{_RUNS}.native:NativeReader",
    "slop_code_bench": f"{_RUNS}.slop_code_bench:SlopCodeBenchReader",
    "harbor": f"{_RUNS}.harbor:HarborReader",
    "terminal_bench": f"{_RUNS}.terminal_bench:TerminalBenchReader",
    "feature_bench": f"{_RUNS}.feature_bench:FeatureBenchReader",
    "swe_evo": f"{_RUNS}.swe_evo:SweEvoReader",
    "swe_bench": f"{_RUNS}.swe_bench:SweBenchReader",
    "evo_claw": f"{_RUNS}.evo_claw:EvoClawReader",
    "agent_folder": f"{_RUNS}.agent_folder:AgentFolderReader",
    "lone_file": f"{_RUNS}.lone_file:LoneFileReader",
    "single_stage": f"{_RUNS}.lone_file:SingleStageReader",
    "git_repository": f"{_RUNS}.git_repository:GitRepositoryReader",
    "patch_folder": f"{_RUNS}.patch_folder:PatchFolderReader",
}
"""Id → where the reader lives; in the order in which they are asked."""

MARKERS = {
    "native": ("run.json",),
    "slop_code_bench": (
        "problem.yaml",
        "checkpoint_1/checkpoint.yaml",
        "checkpoint_1/inference_result.json",
        "checkpoint_1/evaluation.json",
    ),
    "harbor": ("result.json", "config.json"),
    "terminal_bench": ("results.json", "sessions", "panes"),
    "feature_bench": ("infer.log", "run.log", "patch.diff", "report.json", "run_instance.log"),
    "swe_evo": ("cli_result.json",),
    "swe_bench": ("report.json", "run_instance.log"),
    "evo_claw": ("trial_metadata.json",),
    "agent_folder": ("{name}.traj.json", "{name}.traj"),
    "lone_file": ("base_state.json", "events"),
}
"""Files of which one must be there before a reader is even imported."""

_OF_FILES = ("lone_file", "single_stage")
_WEAK = ("git_repository", "patch_folder")
_TRAJECTORY_ENDINGS = (
    ".jsonl",
    ".traj",
    ".traj.json",
    "trajectory.json",
    ".eval",
    ".jsonl.zst",
    ".jsonl.gz",
)
_PATCH_ENDINGS = (".patch", ".diff")
TRAJECTORY_FOLDERS = ("trajs", "trajectories", "traj")
"""Where benchmarks keep the trajectories of their instances."""
_SUBAGENT = "agent-"
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv"})
"""Folders in which nobody keeps runs."""
_MAX_WEAK = 100
"""How many folders in one that is no run are asked whether they hold patches."""

_MAX_FOLDERS = 3_000
"""How many folders in a repository are looked at for runs before it is taken for one itself."""

_LEVELS = 8
"""How far to look above a path that is no run, and below a folder of runs."""


def find_run_reader(path: Path, layout: str | None = None) -> tuple[RunReader, Detection]:
    """Finds the reader for a run by its content, or the one that `layout` names.

    Built-in readers are asked first; readers of other packages only when none of them matches.

    Args:
        path: A folder or a single file.
        layout: Id of a run layout.

    Raises:
        UnknownLayoutError: nothing there can be read as a run; the message says what to give
            instead where that is known.
    """
    if not exists(path):
        raise UnknownLayoutError(f"{path}: no such file or folder")
    if layout is not None:
        return _asked_for(path, layout)
    if found := detect_run(path):
        return found
    plugins, broken = plugins_of("arcview.runs", READERS)
    for plugin in cast("Iterable[RunReader]", plugins):
        detection = ask(plugin, partial(plugin.detect, path), broken)
        if detection is not None:
            return plugin, detection
    if found := _detect_weak(path):
        return found
    raise UnknownLayoutError("; ".join([_no_run(path), *broken]))


def _asked_for(path: Path, layout: str) -> tuple[RunReader, Detection]:
    """The reader that the user named: of a run layout, or of the format of a single file."""
    try:
        reader = cast("RunReader", named("arcview.runs", READERS, layout))
    except UnknownLayoutError:
        from arcview.readers.runs.lone_file import AskedFormatReader  # rarely asked for

        if not AskedFormatReader.knows(layout):
            raise
        if is_dir(path) and telling_file(path) is None:
            what = f"{path}: a folder; {layout} is the format of a single file"
            raise UnknownLayoutError(what) from None
        reader = AskedFormatReader(layout)
    if not is_dir(path) and layout in READERS and layout not in _OF_FILES:
        raise UnknownLayoutError(f"{path}: a file; {layout} is a folder ({reader.title})")
    return reader, Detection(layout, f"asked for as {layout}")


def open_run(path: Path, layout: str | None = None, given: Given | None = None) -> OpenedRun:
    """Finds the reader for a run and opens it.

    Args:
        path: A folder or a single file.
        layout: Id of a run layout; recognised by content by default.
        given: What the user named where detection cannot know it.

    Raises:
        UnknownLayoutError: as for `find_run_reader`.
        BadInputError: the layout is known but a required file is missing or wrong.
        ArcviewError: what the user named is not there.
    """
    reader, _ = find_run_reader(path, layout)
    try:
        return _opened(reader, path, given)
    except OSError as error:
        shown = str(error.filename or path)
        raise BadInputError(shown, f"cannot be read: {error.strerror or error}") from error


def _opened(reader: RunReader, path: Path, given: Given | None) -> OpenedRun:
    if not given:
        return reader.read(path)
    from arcview.readers.given import open_given  # imports git, which most runs do without

    return open_given(reader, path, given)


def iter_runs(root: Path) -> Iterator[Path]:
    """Yields the runs at or below `root`, in order of their paths.

    Folders that are runs, and single trajectories that lie in folders that are none. Goes neither
    into runs nor along links; unreadable folders are passed over. A git repository or a folder of
    numbered patches is a run only where no other run lies below it.
    """
    if detect_run(root):
        yield root
        return
    plugins = cast("list[RunReader]", plugins_of("arcview.runs", READERS)[0])
    if any(ask(plugin, partial(plugin.detect, root), []) for plugin in plugins):
        yield root
        return
    found = False
    for run in _below(root, plugins, _LEVELS, with_series=not _is_repository(root)):
        found = True
        yield run
    if not found and _detect_weak(root):
        yield root


def _below(
    folder: Path, plugins: list[RunReader], levels: int, *, with_series: bool = True
) -> Iterator[Path]:
    """The runs in a folder that is none itself; patches that a repository keeps are none."""
    folders, files = _entries(folder)
    single = frozenset(files)
    for child in sorted((*folders, *files)):
        if child in single:
            if detect_run(child) and not _is_part_of_graded(child):
                yield child
        elif _is_part_of_graded(child):
            continue
        elif detect_run(child) or any(
            ask(plugin, partial(plugin.detect, child), []) for plugin in plugins
        ):
            yield child
        elif levels > 1:
            is_repository = _is_repository(child)
            with_inner = with_series and not is_repository
            inner = _below(child, plugins, levels - 1, with_series=with_inner)
            first = next(inner, None)
            if first is not None:
                yield first
                yield from inner
            elif is_repository or (with_series and _is_series(child)):
                yield child


def _is_part_of_graded(child: Path) -> bool:
    """Whether a trajectory belongs to an instance whose grading lies beside, and has it.

    A submission to SWE-bench keeps `logs/<instance>/` and `trajs/<instance>…` side by side.
    """
    if child.parent.name not in TRAJECTORY_FOLDERS:
        return False
    name = child.name
    for ending in _TRAJECTORY_ENDINGS:
        name = name.removesuffix(ending)
    graded = child.parent.parent / "logs" / name
    return is_file(graded / "report.json") and detect_run(graded) is not None


def _entries(folder: Path) -> tuple[list[Path], list[Path]]:
    """The folders to look into, and the files that may be trajectories."""
    folders, files = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if name not in SKIPPED_FOLDERS:
                        folders.append(folder / name)
                elif _may_be_trajectory(name) and entry.is_file(follow_symlinks=False):
                    files.append(folder / name)
    except OSError:
        return [], []
    return folders, files


def _may_be_trajectory(name: str) -> bool:
    """Whether a name is worth opening the file; what it is, its content says."""
    if name.startswith(_SUBAGENT):
        return False
    is_session = name.startswith("session-") and name.endswith(".json")
    return is_session or name.endswith(_TRAJECTORY_ENDINGS)


def _is_repository(folder: Path) -> bool:
    """Whether a folder is a git repository that a run may be; what it holds is not looked at."""
    if is_file(folder / ".git" / "HEAD"):
        return True
    is_bare = is_dir(folder / "objects") and is_dir(folder / "refs")
    return is_bare and is_file(folder / "HEAD")


def _is_series(folder: Path) -> bool:
    """Whether a folder holds patches that are numbered, as stages are; others may be of a task."""
    try:
        with os.scandir(folder) as entries:
            if not any(entry.name.endswith(_PATCH_ENDINGS) for entry in entries):
                return False
    except OSError:
        return False
    from arcview.readers.runs.patch_folder import is_series  # only where patches lie

    return is_series(folder)


def _folders_in(path: Path) -> list[Path]:
    return sorted(_entries(path)[0])[:_MAX_WEAK]


def detect_run(path: Path) -> tuple[RunReader, Detection] | None:
    """Asks the built-in run readers whose marker file is there; about a file, the one for files."""
    if is_file(path):
        return _asked("lone_file", path)
    if not is_dir(path):
        return None
    for layout, markers in MARKERS.items():
        if marker_in(path, markers) is not None and (found := _asked(layout, path)):
            return found
    return None


def marker_in(path: Path, markers: Iterable[str]) -> str | None:
    """The first of the marker files that is in a folder, or null."""
    for marker in markers:
        name = marker.format(name=path.absolute().name) if "{" in marker else marker
        if is_file(path / name) or is_dir(path / name):
            return name
    return None


def _detect_weak(path: Path) -> tuple[RunReader, Detection] | None:
    found = _asked_weak(path)
    if found is None or next(_run_folders(path, [_MAX_FOLDERS]), None) is None:
        return found
    return found if found[0].id == "git_repository" and _has_stages(path) else None


def _asked_weak(path: Path) -> tuple[RunReader, Detection] | None:
    if not is_dir(path):
        return None
    return next((found for name in _WEAK if (found := _asked(name, path))), None)


def _has_stages(path: Path) -> bool:
    from arcview.readers.runs.git_repository import has_stages  # runs git; rarely asked

    return has_stages(path)


def _run_folders(folder: Path, left: list[int], levels: int = _LEVELS) -> Iterator[Path]:
    """The folders below one that are runs, as far as `left` folders can be looked at."""
    for child in sorted(_entries(folder)[0]):
        left[0] -= 1
        if left[0] < 0:
            return
        if detect_run(child):
            yield child
        elif levels > 1:
            yield from _run_folders(child, left, levels - 1)


def _asked(name: str, path: Path) -> tuple[RunReader, Detection] | None:
    reader = cast("RunReader", load(READERS[name]))
    detection = reader.detect(path)
    return None if detection is None else (reader, detection)


def run_above(path: Path) -> Path | None:
    """The run that a file or folder lies in; null where it lies in none."""
    above = list(path.absolute().parents)[:_LEVELS]
    return next((folder for folder in above if detect_run(folder)), None)


def _no_run(path: Path) -> str:
    """Why nothing was recognised, with the run above or the runs below where there are some."""
    run = run_above(path)
    if (why := why_unreadable(path)) is not None:
        return f"{path}: {why}"
    if run is not None:
        kind = "a folder" if is_dir(path) else "a file"
        return f"{path}: {kind} inside a run; open the run itself: {run}"
    if not is_dir(path):
        from arcview.readers.runs.lone_file import why_unknown  # only for the message

        return f"{path}: {why_unknown(path)}"
    from arcview.readers.runs.feature_bench import graded_attempt  # only for the message
    from arcview.readers.runs.repository import elsewhere  # only for the message

    if (why := elsewhere(path)) is not None:
        return f"{path}: {why}"
    if (run := graded_attempt(path)) is not None:
        return f"{path}: the grading of an attempt; open the attempt itself: {run}"
    below = next(_below(path, [], _LEVELS), None)
    below = below or next((each for each in _folders_in(path) if _detect_weak(each)), None)
    if below is not None:
        weak = _asked_weak(path)
        how = f" (--as {weak[0].id} reads the folder itself)" if weak is not None else ""
        return f"{path}: holds runs but is none; open one of them, such as {below}{how}"
    from arcview.readers.runs.patch_folder import why_not  # only for the message

    if (why := why_not(path)) is not None:
        return f"{path}: {why}"
    from arcview.readers.unlisted import in_place_of_runs  # only for the message

    if (instead := in_place_of_runs(path)) is not None:
        return f"{path}: no run, but {instead}"
    return f"{path}: not a run that arcview can read (`arcview formats` lists what it reads)"
