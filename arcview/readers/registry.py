"""How the reader for a path is found: run layouts, trajectory formats, report formats.

Built-in readers are looked up in static tables first, entry points of other packages only when none
of them matches: importing `importlib.metadata` costs 46 ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import cast

from arcview.errors import BadInputError, UnknownLayoutError
from arcview.files import open_file
from arcview.readers.conversation import telling_file
from arcview.readers.packed import unpacked_head
from arcview.readers.plugins import ask, load, named, plugins_of
from arcview.readers.protocols import Detection as Detection
from arcview.readers.protocols import Given as Given
from arcview.readers.protocols import OpenedRun as OpenedRun
from arcview.readers.protocols import Progress as Progress
from arcview.readers.protocols import ReportReader as ReportReader
from arcview.readers.protocols import RunReader as RunReader
from arcview.readers.protocols import TrajectoryReader as TrajectoryReader
from arcview.readers.run_layouts import find_run_reader as find_run_reader
from arcview.readers.run_layouts import iter_runs as iter_runs
from arcview.readers.run_layouts import open_run as open_run

TRAJECTORY_READERS = {
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
REPORT_READERS = {
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

_CLUES: Mapping[str, tuple[bytes, ...]] = {
    "atif": (b'"schema_version"', b'"step_id"'),
    "swe_agent": (b'"trajectory"', b'"history"', b'"attempts"'),
    "mini_swe_agent": (
        b"[",
        b'"messages"',
        b'"exit_status"',
        b'"model_stats"',
        b'"wall_clock_time"',
    ),
    "inspect_log": (b"_journal/", b"header.json", b"samples/", b'"eval"'),
}
"""What the head of a file of that format can hold; a single byte is what the file begins with.

Where nothing of it is there, the reader is not even imported, which costs 5 to 20 ms.
"""

HEAD_BYTES = 64 * 1024
"""How much of a file the readers of single files are shown when asked whether they know it."""
LONG_HEAD_BYTES = 1 << 20
"""How much they are shown where nobody knows it by less: a long text may stand before the rest."""


def find_trajectory_reader(
    path: Path, *, only_built_in: bool = False
) -> tuple[TrajectoryReader, Detection]:
    """Finds the reader for one trajectory file by its content.

    Args:
        path: The file, or a folder that is one conversation.
        only_built_in: Do without readers of other packages; the first look for them takes 17 ms.

    Raises:
        UnknownLayoutError: no reader knows the file.
        BadInputError: it cannot be read at all.
    """
    readers = _readers_of_files(
        "arcview.trajectories", TRAJECTORY_READERS, path, only_built_in=only_built_in
    )
    return cast("tuple[TrajectoryReader, Detection]", readers)


def find_report_reader(path: Path) -> tuple[ReportReader, Detection]:
    """Finds the reader for one test report by its content.

    Raises:
        UnknownLayoutError: no reader knows the file.
        BadInputError: it cannot be read at all.
    """
    readers = _readers_of_files("arcview.reports", REPORT_READERS, path)
    return cast("tuple[ReportReader, Detection]", readers)


def trajectory_reader(format_id: str) -> TrajectoryReader:
    """The trajectory reader with that id.

    Raises:
        UnknownLayoutError: there is none, or it cannot be loaded.
    """
    found = named("arcview.trajectories", TRAJECTORY_READERS, format_id)
    return cast("TrajectoryReader", found)


def report_reader(format_id: str) -> ReportReader:
    """The report reader with that id.

    Raises:
        UnknownLayoutError: there is none, or it cannot be loaded.
    """
    return cast("ReportReader", named("arcview.reports", REPORT_READERS, format_id))


def _readers_of_files(
    group: str, built_in: Mapping[str, str], path: Path, *, only_built_in: bool = False
) -> tuple[object, Detection]:
    """Asks the readers of single files, built-in ones first, about the head of a file."""
    # Some trajectories are folders.
    told_by = telling_file(path) or path
    broken: list[str] = []
    for head in _heads_of(told_by, str(path)):
        for name, target in built_in.items():
            if not _has_clue(name, head):
                continue
            reader = cast("TrajectoryReader | ReportReader", load(target))
            if detection := reader.detect(head, told_by.name):
                return reader, detection
        plugins, broken = ([], []) if only_built_in else plugins_of(group, built_in)
        for plugin in cast("Iterable[TrajectoryReader | ReportReader]", plugins):
            detection = ask(plugin, partial(plugin.detect, head, told_by.name), broken)
            if detection is not None:
                return plugin, detection
        if group == "arcview.reports":
            break
    what = "trajectory" if group == "arcview.trajectories" else "test report"
    raise UnknownLayoutError("; ".join([f"{path}: not a known {what} format", *broken]))


def _heads_of(file: Path, shown: str) -> Iterator[bytes]:
    """The beginning of a file, and a longer one where it goes on."""
    for size in (HEAD_BYTES, LONG_HEAD_BYTES):
        start = read_head(file, size)
        head = unpacked_head(start, size)
        if not head:
            raise BadInputError(shown, "packed, and damaged" if start else "the file is empty")
        yield head
        if len(head) < size:
            return


def read_head(path: Path, size: int) -> bytes:
    """The first bytes of a file.

    Raises:
        BadInputError: it cannot be read.
    """
    try:
        with open_file(path) as file:
            return file.read(size)
    except OSError as error:
        raise BadInputError(str(path), f"cannot be read: {error.strerror}") from error


def _has_clue(name: str, head: bytes) -> bool:
    """Whether a built-in reader may know a file; true for those without clues."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    clues = _CLUES.get(name)
    return clues is None or any(c in head if len(c) > 1 else c == start for c in clues)
