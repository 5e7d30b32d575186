"""`arcview detect` and `arcview formats`: what a path is and why, and what can be read at all.

Asks every reader, not only up to the first that knows: what else fits, and what nearly does, is
what somebody needs to know whose files are taken for something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import cast

from arcview.errors import ArcviewError, UnknownLayoutError
from arcview.files import exists, is_dir, is_file
from arcview.readers import registry, run_layouts
from arcview.readers.conversation import telling_file
from arcview.readers.packed import unpacked_head
from arcview.readers.plugins import ask, load, plugins_of
from arcview.readers.protocols import (
    Detection,
    ReportReader,
    RunReader,
    TrajectoryReader,
)

_MAX_BELOW = 10_000
_SAMPLE = "recorded"
"""What `Format.sample` says of readers that were held to files that somebody recorded."""

GROUPS = ("run layout", "trajectory", "report")


@dataclass(frozen=True, slots=True)
class Format:
    """Something that can be read."""

    group: str
    """`run layout`, `trajectory` or `report`."""
    id: str
    title: str
    module: str
    sample: str
    """What the reader was held to: recorded files, or why there are none."""


@dataclass(frozen=True, slots=True)
class Match:
    """A reader that knows a path, or nearly does."""

    format: Format
    reason: str


@dataclass(frozen=True, slots=True)
class DetectReport:
    """What a path is."""

    path: str
    taken: Match | None = None
    """The run layout that it is opened as; null where it is none."""
    content: Match | None = None
    """For a single file: the format of what is in it."""
    also: tuple[Match, ...] = ()
    """What else fits; `--as` chooses it."""
    rejected: tuple[Match, ...] = ()
    """What nearly fits, and what is missing for it."""
    below: Mapping[str, int] | None = None
    """For a folder that is no run: the runs below it, by layout."""
    message: str | None = None
    """Why nothing was recognised."""

    @property
    def is_recognised(self) -> bool:
        """Whether there is something to open."""
        return self.taken is not None or bool(self.below)


def formats() -> tuple[Format, ...]:
    """Everything that can be read, built in or from another package."""
    found = []
    for group, (entry_group, table) in _tables().items():
        found += [_format(group, load(target), target) for target in table.values()]
        plugins, _ = plugins_of(entry_group, table)
        found += [_format(group, each, type(each).__module__) for each in plugins]
    return tuple(found)


def detect(path: Path) -> DetectReport:
    """What a path is, and why.

    Raises:
        UnknownLayoutError: there is nothing at the path.
    """
    if not exists(path):
        raise UnknownLayoutError(f"{path}: no such file or folder")
    try:
        reader, detection = run_layouts.find_run_reader(path)
    except ArcviewError as error:
        below = _below(path)
        message = None if below else str(error)
        return DetectReport(
            str(path), rejected=tuple(_near(path)), below=below or None, message=message
        )
    taken = Match(_format(GROUPS[0], reader, type(reader).__module__), detection.reason)
    fitting = list(_fitting(path))
    return DetectReport(
        str(path),
        taken,
        fitting[0] if fitting else None,
        (*_other_layouts(path, reader.id), *fitting[1:]),
        tuple(_near(path, taken=reader.id)),
    )


def _tables() -> dict[str, tuple[str, Mapping[str, str]]]:
    return {
        GROUPS[0]: ("arcview.runs", run_layouts.READERS),
        GROUPS[1]: ("arcview.trajectories", registry.TRAJECTORY_READERS),
        GROUPS[2]: ("arcview.reports", registry.REPORT_READERS),
    }


def _format(group: str, reader: object, target: str) -> Format:
    known = cast("RunReader", reader)
    module = target.partition(":")[0]
    return Format(group, known.id, known.title, module, getattr(reader, "sample", _SAMPLE))


def _below(path: Path) -> dict[str, int]:
    """The runs below a folder, counted by layout."""
    if not is_dir(path):
        return {}
    counts: Counter[str] = Counter()
    for run in islice(run_layouts.iter_runs(path), _MAX_BELOW):
        try:
            counts[run_layouts.find_run_reader(run)[0].id] += 1
        except ArcviewError:
            continue
    return dict(counts)


def _fitting(path: Path) -> Iterator[Match]:
    """Every format of single files that knows a file (or a conversation folder), best first."""
    file = telling_file(path) or path
    if not is_file(file):
        return
    for size in (registry.HEAD_BYTES, registry.LONG_HEAD_BYTES):
        head = unpacked_head(registry.read_head(file, size), size)
        found = list(_knowing(head, file, GROUPS[1:] if is_file(path) and head else GROUPS[1:2]))
        if found or len(head) < size:
            break
    yield from found


def _knowing(head: bytes, file: Path, groups: Sequence[str]) -> Iterator[Match]:
    """The formats of these groups that know a file by how it begins."""
    for group in groups:
        entry_group, table = _tables()[group]
        own = [(load(target), target) for target in table.values()]
        foreign = [(each, type(each).__module__) for each in plugins_of(entry_group, table)[0]]
        for known, target in (*own, *foreign):
            reader = cast("TrajectoryReader | ReportReader", known)
            detection = ask(reader, partial(reader.detect, head, file.name), [])
            if detection is not None:
                yield Match(_format(group, reader, target), detection.reason)


def _other_layouts(path: Path, taken: str) -> Iterator[Match]:
    """Further run layouts that know a folder."""
    if not is_dir(path):
        return
    for layout, target in run_layouts.READERS.items():
        if layout == taken:
            continue
        detection = _asked(target, path)
        if detection is not None:
            yield Match(_format(GROUPS[0], load(target), target), detection.reason)


def _near(path: Path, taken: str | None = None) -> Iterator[Match]:
    """Layouts whose marker files are there, and that do not know the folder all the same."""
    if not is_dir(path):
        return
    for layout, markers in run_layouts.MARKERS.items():
        there = run_layouts.marker_in(path, markers)
        if layout == taken or there is None:
            continue
        target = run_layouts.READERS[layout]
        reader = cast("RunReader", load(target))
        if _asked(target, path) is None:
            reason = f"{there} is there, but not as {reader.title} has it"
            yield Match(_format(GROUPS[0], reader, target), reason)


def _asked(target: str, path: Path) -> Detection | None:
    try:
        return cast("RunReader", load(target)).detect(path)
    except ArcviewError:
        return None
