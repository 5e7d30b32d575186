"""Reads a folder of patches as a run: one patch a stage, each on top of the one before.

The state that the first applies to is not in the folder; `--base` names it. Without it the patches
are shown as they are. Must not import pydantic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import is_file, is_symlink, open_file
from arcview.model.problem import Problem
from arcview.model.results import GateRecord
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.states import PatchSource, Provenance, State, StateKind
from arcview.readers.registry import Detection
from arcview.readers.runs.assembled import AssembledRun, Assembly, derived_id
from arcview.readers.runs.instance_folder import START_MISSING
from arcview.readers.runs.lone_file import kind_of
from arcview.readers.runs.session_stages import NO_GATE

LAYOUT = "patch_folder"
_ENDINGS = (".patch", ".diff")
_MAX_STAGES = 200
_SUBJECT = re.compile(rb"^Subject: (?:\[PATCH[^\]]*\] ?)?(.+(?:\n[ \t].+)*)", re.MULTILINE)
_MAILED = re.compile(rb"From [0-9a-f]{7,64} .*\r?\n", re.I)
_HEAD_BYTES = 4096
_NUMBER = re.compile(r"\d+")


class PatchFolderReader:
    """Reads `1.patch`, `2.patch` … or the output of `git format-patch`."""

    id = LAYOUT
    title = "folder of patches, one a stage"
    sample = "made in the tests"

    def detect(self, path: Path) -> Detection | None:
        """Recognises a folder in which patches lie and nothing but patches ends like one."""
        found = _found(path)
        if not found.patches or found.others or len(found.patches) > _MAX_STAGES:
            return None
        count = len(found.patches)
        plural = "patch" if count == 1 else "patches"
        return Detection(self.id, f"{count} {plural}, {found.patches[0]} first")

    def summarise(self, path: Path) -> Run:
        """The skeleton."""
        return self.read(path).run

    def read(self, path: Path) -> AssembledRun:
        """Opens the folder.

        Raises:
            BadInputError: there is no patch in it.
        """
        found = _found(path)
        names = [name for name in _names(path) if name not in found.letters]
        if not names:
            raise BadInputError(str(path), "expected files ending in .patch or .diff")
        states = [State("S0", 0, StateKind.START, Provenance.UNKNOWN, missing=START_MISSING)]
        stages = []
        for index, name in enumerate(names, start=1):
            source = PatchSource(name, states[-1].id)
            end = State(f"S{index}", index, StateKind.STAGE_END, Provenance.RECORDED, source)
            title = _title(path / name)
            notes = (name, *(f"{each}: a cover letter" for each in found.letters * (index == 1)))
            stages.append(
                Stage(index, title, Status.UNKNOWN, base=states[-1].id, end=end.id, notes=notes)
            )
            states.append(end)
        run = Run(
            run_id=derived_id(LAYOUT, [], [(name, path / name) for name in names]),
            layout=LAYOUT,
            path=str(path),
            chain=Chain(task_id=path.absolute().name),
            states=tuple(states),
            stages=tuple(stages),
            gates=tuple(GateRecord(str(s.index), s.end, unmeasured=NO_GATE) for s in stages),
        )
        read = [path.absolute(), *(path.absolute() / name for name in names)]
        problems = [Problem(name, "a link, which is not followed") for name in _links(path)]
        return AssembledRun(Assembly(path.absolute(), run, read=read, problems=problems))


def is_series(path: Path) -> bool:
    """Whether a folder holds several patches and all are numbered: `stage-1.patch`, `0002-x.patch`.

    Only such a one is listed among runs: single patches in a folder are often a task's own.
    """
    found = _found(path)
    numbers = [int(number[0]) for name in found.patches if (number := _NUMBER.search(name))]
    are_all = len(numbers) == len(found.patches) and len(set(numbers)) == len(numbers)
    return len(numbers) > 1 and are_all and not found.others and len(numbers) <= _MAX_STAGES


def why_not(path: Path) -> str | None:
    """Why a folder in which patches lie is not read as one of patches; null where none do."""
    found = _found(path)
    if not found.patches:
        return None
    if found.others:
        return f"{found.others[0]} is called a patch and is none (--as patch_folder reads it)"
    return f"{len(found.patches)} patches: too many to be stages (at most {_MAX_STAGES})"


@dataclass(slots=True)
class _Found:
    """The files of a folder that are called patches, by what they are."""

    patches: list[str] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    """Cover letters of mailed patches, which change nothing."""
    others: list[str] = field(default_factory=list)


def _found(path: Path) -> _Found:
    found = _Found()
    for name in _names(path):
        try:
            kind = kind_of(path / name)
        except BadInputError:
            kind = None
        if kind is not None and kind.kind == "patch":
            found.patches.append(name)
        elif _is_letter(path / name):
            found.letters.append(name)
        else:
            found.others.append(name)
    return found


def _is_letter(path: Path) -> bool:
    """Whether a file is a mail of a series; only asked of what holds no change."""
    try:
        with open_file(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return _MAILED.match(head) is not None and _SUBJECT.search(head) is not None


def _names(path: Path) -> list[str]:
    """The patches in a folder, numbers in their order."""
    return sorted((e.name for e in _called_so(path) if not is_symlink(e)), key=_in_order)


def _links(path: Path) -> list[str]:
    return sorted((e.name for e in _called_so(path) if is_symlink(e)), key=_in_order)


def _called_so(path: Path) -> list[Path]:
    """The files that are called patches."""
    try:
        return [e for e in path.iterdir() if e.name.lower().endswith(_ENDINGS) and is_file(e)]
    except OSError:
        return []


def _in_order(name: str) -> list[tuple[int, int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def _title(path: Path) -> str | None:
    """The subject of a patch that was mailed; the others have no title."""
    try:
        with open_file(path) as file:
            found = _SUBJECT.search(file.read(_HEAD_BYTES))
    except OSError:
        return None
    return " ".join(found[1].decode("utf-8", "replace").split()) if found else None
