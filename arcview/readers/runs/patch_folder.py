"""Reads a folder of patches as a run: one patch a stage, each on top of the one before.

The state that the first applies to is not in the folder; `--base` names it. Without it the patches
are shown as they are. Must not import pydantic.
"""

from __future__ import annotations

import re
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import is_file, is_symlink, open_file
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
_HEAD_BYTES = 4096


class PatchFolderReader:
    """Reads `1.patch`, `2.patch` … or the output of `git format-patch`."""

    id = LAYOUT
    title = "folder of patches, one a stage"
    sample = "made in the tests"

    def detect(self, path: Path) -> Detection | None:
        """Recognises a folder in which patches lie and nothing but patches ends like one."""
        names = _names(path)
        if not names or len(names) > _MAX_STAGES:
            return None
        for name in names:
            try:
                found = kind_of(path / name)
            except BadInputError:
                return None
            if found is None or found.kind != "patch":
                return None
        return Detection(self.id, f"{len(names)} patches, {names[0]} first")

    def summarise(self, path: Path) -> Run:
        """The skeleton."""
        return self.read(path).run

    def read(self, path: Path) -> AssembledRun:
        """Opens the folder.

        Raises:
            BadInputError: there is no patch in it.
        """
        names = _names(path)
        if not names:
            raise BadInputError(str(path), "expected files ending in .patch or .diff")
        states = [State("S0", 0, StateKind.START, Provenance.UNKNOWN, missing=START_MISSING)]
        stages = []
        for index, name in enumerate(names, start=1):
            source = PatchSource(name, states[-1].id)
            end = State(f"S{index}", index, StateKind.STAGE_END, Provenance.RECORDED, source)
            title = _title(path / name)
            stages.append(
                Stage(index, title, Status.UNKNOWN, base=states[-1].id, end=end.id, notes=(name,))
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
        return AssembledRun(Assembly(path.absolute(), run, read=read))


def _names(path: Path) -> list[str]:
    """The patches in a folder, numbers in their order."""
    try:
        entries = [e for e in path.iterdir() if e.name.endswith(_ENDINGS) and is_file(e)]
    except OSError:
        return []
    return sorted((e.name for e in entries if not is_symlink(e)), key=_in_order)


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
