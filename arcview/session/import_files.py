"""Copies the files of a run that stay as they are: trajectories, logs, specifications.

A trajectory keeps its name and its place among the files that complete it, since both are part of
how its steps are addressed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from arcview.errors import ArcviewError
from arcview.files import exists, in_words, is_dir, is_file, is_symlink
from arcview.model.problem import Problem
from arcview.model.trajectory_refs import SessionRole, TrajectoryRef
from arcview.readers.protocols import OpenedRun
from arcview.readers.registry import find_trajectory_reader
from arcview.secrets import mask_settings

_OF_STAGES = (SessionRole.MAIN, SessionRole.RETRY, SessionRole.SUBAGENT)
_OF_PASSES = (*_OF_STAGES, SessionRole.BETWEEN)
_BESIDE = {
    "atif": ("trajectory*.json", "*.trajectory*.json", "images/*"),
    "codex": ("rollout-*.jsonl*",),
    "inspect_log": (),
}
"""What readers of a format look for beside a file."""

_RESERVED = frozenset({"result.json", "tests.jsonl"})


@dataclass(slots=True)
class Copied:
    """The trajectories that are in the new run folder already, by where they came from."""

    out: Path
    opened: OpenedRun
    places: dict[str, str] = field(default_factory=dict)
    left_out: list[Problem] = field(default_factory=list)

    def entries(
        self, refs: Sequence[TrajectoryRef], folder: str, *, of_pass: bool = False
    ) -> list[dict[str, object]]:
        """Copies the trajectories of a stage or pass; what run.json says of each.

        Args:
            refs: Where they lie. What lies in a stage and belongs to a pass, the pass has too.
            folder: The stage's folder in the new run.
            of_pass: They are those of a pass.
        """
        wanted = [ref for ref in refs if ref.role in (_OF_PASSES if of_pass else _OF_STAGES)]
        paths = [path for ref in wanted for path in (ref.path, *ref.companions)]
        above = _above(paths)
        return [entry for ref in wanted for entry in self._entry(ref, above, folder)]

    def _entry(self, ref: TrajectoryRef, above: str, folder: str) -> Iterator[dict[str, object]]:
        reader = ref.format or self._format(ref)
        for path in (ref.path, *ref.companions):
            try:
                place = self._place(ref, path, above, folder, reader)
            except (ArcviewError, OSError) as error:
                self.left_out.append(Problem(path, f"cannot be copied: {in_words(error)}"))
                continue
            found: dict[str, object] = {"path": place, "role": ref.role.value}
            if reader is not None:
                found["format"] = reader
            if ref.session is not None and path == ref.path:
                found["session"] = ref.session
            parts = {"since": ref.since, "until": ref.until, "turns": ref.turns}
            yield found | {name: value for name, value in parts.items() if value is not None}

    def _place(
        self, ref: TrajectoryRef, path: str, above: str, folder: str, reader: str | None
    ) -> str:
        source = locate(self.opened, ref, path)
        known = str(source) if source is not None else path
        if known not in self.places:
            name = PurePosixPath(path).relative_to(above).as_posix() if above else path
            if source is not None and is_dir(source):
                name = source.name
            place = f"{folder}/trajectory/{name}"
            _copy(self.opened, source, path, self.out / place)
            if source is not None and is_file(source):
                _copy_beside(source, (self.out / place).parent, _BESIDE.get(reader or "", ()))
            self.places[known] = place
        return self.places[known]

    def _format(self, ref: TrajectoryRef) -> str | None:
        source = locate(self.opened, ref, ref.path)
        if source is None:
            return None
        try:
            return find_trajectory_reader(source)[1].reader
        except ArcviewError:
            return None


def locate(opened: OpenedRun, ref: TrajectoryRef, path: str) -> Path | None:
    """Where a file of a trajectory lies on disk; null where it is packed into another."""
    find = getattr(opened, "locate", None)
    if find is not None:
        found: Path | None = find(ref, path)
        return found
    file = Path(opened.run.path) / path
    return file if exists(file) else None


def _above(paths: Sequence[str]) -> str:
    """The folder that all files of a stage's trajectories have above them."""
    parents = [PurePosixPath(path).parent.as_posix() for path in paths]
    above = os.path.commonpath(parents) if parents else ""
    return "" if above == "." else above


def _copy(opened: OpenedRun, source: Path | None, path: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if source is None:
        content = getattr(opened, "content", None)
        data = content(path) if content is not None else opened.text(path).encode("utf-8")
        place.write_bytes(data)
    elif is_dir(source):
        shutil.copytree(source, place, ignore=_links)
    else:
        shutil.copyfile(source, place)


def _links(folder: str, names: list[str]) -> set[str]:
    """Links are not copied: what they lead to may lie anywhere."""
    return {name for name in names if is_symlink(Path(folder) / name)}


def _copy_beside(source: Path, folder: Path, patterns: Sequence[str]) -> None:
    for pattern in patterns:
        for file in sorted(source.parent.glob(pattern)):
            place = folder / file.relative_to(source.parent)
            if is_symlink(file) or not is_file(file) or exists(place):
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)


def copy_logs(
    opened: OpenedRun, paths: Sequence[str], folder: Path, left_out: list[Problem]
) -> None:
    """Copies logs and reports of a gate, secrets masked; the first one is called `log.txt`.

    A report is not called one any more: tests.jsonl says what it says.
    """
    taken: set[str] = set()
    for path in paths:
        name = PurePosixPath(path).name
        if not taken and not name.endswith((".json", ".xml")):
            name = "log.txt"
        if name in _RESERVED or name.startswith("report."):
            name = f"harness-{name}"
        while name in taken:
            name = f"more-{name}"
        try:
            text = mask_settings(opened.text(path))
        except ArcviewError as error:
            left_out.append(Problem(path, str(error)))
            continue
        taken.add(name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
