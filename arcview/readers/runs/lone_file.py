"""Reads a single file as a run of its own: a trajectory, a patch, a test report or a test log.

What the file does not hold is missing and said. Recognised by content; the name breaks ties. Must
not import pydantic.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from arcview.errors import ArcviewError, BadInputError
from arcview.files import is_dir, is_file, open_file
from arcview.model.problem import Problem
from arcview.model.results import GateRecord
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.states import PatchSource, Provenance, State, StateKind
from arcview.model.trajectory import Trajectory
from arcview.model.trajectory_refs import TrajectoryRef
from arcview.readers.conversation import telling_file
from arcview.readers.exit_words import status_of
from arcview.readers.packed import is_packed, unpacked_head
from arcview.readers.parts import model_of, take_part
from arcview.readers.registry import (
    HEAD_BYTES,
    Detection,
    find_report_reader,
    find_trajectory_reader,
    read_head,
    report_reader,
    trajectory_reader,
)
from arcview.readers.runs.assembled import AssembledRun, Assembly, derived_id, read_ref
from arcview.readers.runs.belonging import part_of
from arcview.readers.runs.instance_folder import START_MISSING
from arcview.readers.runs.kept_session import WholeSession
from arcview.readers.runs.lone_companions import companions_of
from arcview.readers.runs.report_gate import gate_of
from arcview.readers.runs.session_stages import NO_GATE, stages_of

LAYOUT = "lone_file"
WHOLE_BYTES = 8 << 20
"""Up to this size a trajectory is read when it is opened, to know its turns and what it used."""

_SMALL_BYTES = 128 << 10
"""Up to this size reading the whole takes no longer than finding the file did."""

_PATCH_ENDINGS = (".patch", ".diff")
_FORMAT_ENDINGS = (
    *(".gz", ".zst", ".json", ".jsonl", ".traj", ".trajectory", ".output", ".eval"),
    *(*_PATCH_ENDINGS, ".txt", ".log", ".xml"),
)
_PATCH = re.compile(
    rb"^(?:diff --(?:git|cc|combined) .|--- (?:.*\n)\+\+\+ .*\n@@ |Index: .*\n=+\n"
    rb"|(?:---|\+\+\+)\s*\n(?:\+\+\+|---)?\s*\n?@@ )",
    re.MULTILINE,
)
_AGENTS = {
    "claude_code": "claude_code",
    "codex": "Codex CLI",
    "gemini": "Gemini CLI",
    "mini_swe_agent": "mini-swe-agent",
    "swe_agent": "SWE-agent",
    "openhands": "OpenHands",
}
"""What agents are called whose format is theirs alone."""
_AGENT = re.compile(rb'"agent"\s*:\s*\{\s*"name"\s*:\s*"([^"\\]{1,120})"')
_MODEL = re.compile(rb'"model(?:_name)?"\s*:\s*"([^"\\]{1,120})"')
_EXIT_STATUS = re.compile(rb'"exit_status"\s*:\s*"([^"\\]{1,200})"')


class LoneFileReader:
    """Reads one file; the user turns of a session are its stages."""

    id = LAYOUT
    title = "single trajectory, patch, test report or test log"
    one_stage = False

    def detect(self, path: Path) -> Detection | None:
        """Recognises what the file is."""
        found = kind_of(path)
        return None if found is None else Detection(self.id, found.reason)

    def summarise(self, path: Path) -> Run:
        """The skeleton from the ends of a long trajectory, or from the whole of another file.

        Raises:
            BadInputError: nothing in it is recognised.
        """
        found = self.kind(path)
        if found.kind == "trajectory" and _size(path) > _SMALL_BYTES and not _is_packed(path):
            # How many turns there are, only all of it tells.
            return replace(_glanced(path, found, self.id), is_glanced=not self.one_stage)
        return self.read(path).run

    def read(self, path: Path) -> AssembledRun:
        """Opens the file.

        Raises:
            BadInputError: nothing in it is recognised.
        """
        found = self.kind(path)
        if found.kind == "trajectory":
            return _read_session(path, found, self.id, one_stage=self.one_stage)
        if found.kind == "patch":
            return AssembledRun(_of_patch(path, self.id))
        return AssembledRun(_of_report(path, self.id, found.reader))

    def kind(self, path: Path) -> Kind:
        """What the file is.

        Raises:
            BadInputError: nothing in it is recognised.
        """
        return _need_kind(path)


class SingleStageReader(LoneFileReader):
    """Reads one file; a session is one stage, however often the user spoke."""

    id = "single_stage"
    title = "single trajectory as one stage, whatever the user said later (--as only)"
    one_stage = True

    def detect(self, path: Path) -> Detection | None:
        """Never by itself: nothing in a file asks for it."""
        return None


class AskedFormatReader(LoneFileReader):
    """Reads a file in a format that the user named, whatever its content looks like.

    Args:
        format_id: Id of a trajectory or report format.
    """

    def __init__(self, format_id: str) -> None:
        self._format = format_id

    @classmethod
    def knows(cls, format_id: str) -> bool:
        """Whether there is such a format."""
        return format_id == "patch" or _kind_named(format_id) is not None

    def kind(self, path: Path) -> Kind:
        """What the user says it is."""
        kind = "patch" if self._format == "patch" else _kind_named(self._format)
        return Kind(kind or "report", self._format, f"asked for as {self._format}")


def _kind_named(format_id: str) -> str | None:
    for kind, find in (("trajectory", trajectory_reader), ("report", report_reader)):
        with suppress(ArcviewError):
            find(format_id)
            return kind
    return None


@dataclass(frozen=True, slots=True)
class Kind:
    """What a single file is."""

    kind: str
    """`trajectory`, `patch` or `report`."""
    reader: str
    """Id of the reader that knows it; `patch` for patches."""
    reason: str


def kind_of(path: Path) -> Kind | None:
    """Recognises a file, or a folder that is one conversation; null where nobody knows it."""
    if is_dir(path) and telling_file(path) is None:
        return None
    head = b"" if is_dir(path) else read_head(path, HEAD_BYTES)
    is_named_patch = path.name.lower().endswith(_PATCH_ENDINGS)
    if is_named_patch and (not head.strip() or _PATCH.search(head)):
        return Kind("patch", "patch", "a unified diff" if head.strip() else "an empty patch file")
    for kind, find in (("trajectory", find_trajectory_reader), ("report", find_report_reader)):
        if is_dir(path) and kind == "report":
            continue
        if kind == "report" and _PATCH.search(head) and _begins_as_patch(head):
            break
        try:
            _, detection = find(path)
        except ArcviewError:
            continue
        return Kind(kind, detection.reader, detection.reason)
    if _PATCH.search(head):
        return Kind("patch", "patch", "a unified diff")
    return None


def _begins_as_patch(head: bytes) -> bool:
    return _PATCH.match(head.lstrip()) is not None or head.startswith((b"From ", b"commit "))


def _need_kind(path: Path) -> Kind:
    found = kind_of(path)
    if found is None:
        raise BadInputError(str(path), why_unknown(path))
    return found


def why_unknown(path: Path) -> str:
    """What to say of a file that nobody knows."""
    unknown = "not a trajectory, patch, test report or test log that arcview can read"
    if is_dir(path) or not is_file(path):
        return unknown
    size = path.stat().st_size
    if size == 0:
        return "the file is empty"
    if read_head(path, 2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "UTF-16 text, which some shells write; convert it to UTF-8 first"
    if _is_packed(path) and not unpacked_head(read_head(path, HEAD_BYTES), 1):
        return "packed, and damaged"
    return (part_of(read_head(path, size)) if size <= WHOLE_BYTES else None) or unknown


def _end_of(path: Path, size: int) -> bytes:
    try:
        with open_file(path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - size))
            return file.read(size)
    except OSError as error:
        raise BadInputError(str(path), f"cannot be read: {error.strerror}") from error


def _is_packed(path: Path) -> bool:
    """Whether the ends of a file tell nothing of what is in it."""
    return not is_dir(path) and is_packed(read_head(path, 4))


def _place(path: Path) -> tuple[Path, str]:
    """The root of a run that is one file (or folder), and the file's path in it."""
    absolute = path.absolute()
    return (absolute, ".") if is_dir(absolute) else (absolute.parent, absolute.name)


def _name(path: Path) -> str:
    """What a file is about: its name without the endings of formats."""
    name = path.absolute().name
    for ending in _FORMAT_ENDINGS:
        name = name.removesuffix(ending) or name
    return name


def _size(path: Path) -> int:
    if is_dir(path):
        return sum(entry.stat().st_size for entry in path.rglob("*") if is_file(entry))
    return path.stat().st_size


class _OpenedSession(AssembledRun):
    """A session; what was read of it for its stages is not read again for its steps."""

    def __init__(self, assembly: Assembly, whole: Trajectory) -> None:
        super().__init__(assembly)
        self._whole = WholeSession(whole)

    def trajectory(self, refs: Sequence[TrajectoryRef]) -> Trajectory:
        """The steps of a part of the session."""
        return self._whole.part(refs[0]) if len(refs) == 1 else super().trajectory(refs)


class _GlancedSession(AssembledRun):
    """A long session, of which only the ends were looked at when it was opened."""

    def __init__(self, path: Path, found: Kind, layout: str, ref: TrajectoryRef, one: bool) -> None:
        root, _ = _place(path)
        run = _glanced(path, found, layout)
        stage = replace(run.stages[0], trajectories=(ref,))
        run = replace(run, stages=(stage,), is_glanced=True)
        super().__init__(Assembly(root, run, read=[path.absolute()]))
        self._session = partial(_whole_session, path, found, layout, ref, one)
        self._read = partial(read_ref, root, ref)
        self._steps: Trajectory | None = None

    def trajectory(self, refs: Sequence[TrajectoryRef]) -> Trajectory:
        """The steps of a part of the session, all of which is read once."""
        if self._steps is None:
            self._steps = self._read()
        return take_part(self._steps, refs[0]) if len(refs) == 1 else self._steps

    def whole(self) -> AssembledRun:
        """The session with its stages."""
        return self._session(self.trajectory(()))


def _read_session(path: Path, found: Kind, layout: str, *, one_stage: bool) -> AssembledRun:
    root, name = _place(path)
    ref = TrajectoryRef(name, found.reader, companions=companions_of(root, name, found.reader))
    if _size(path) > WHOLE_BYTES:
        return _GlancedSession(path, found, layout, ref, one_stage)
    return _whole_session(path, found, layout, ref, one_stage, read_ref(root, ref))


def _whole_session(
    path: Path, found: Kind, layout: str, ref: TrajectoryRef, one_stage: bool, whole: Trajectory
) -> AssembledRun:
    root, _ = _place(path)
    session = stages_of(whole, (ref,), one_stage=one_stage, patch_file=path.name)
    status, detail = status_of(whole.exit_status)
    begun = [stage.started for stage in session.stages if stage.started]
    run = replace(
        _run(path, found, layout, whole),
        status=status,
        status_detail=detail,
        started=min(begun, default=None),
        ended=session.stages[-1].ended,
        states=session.states,
        stages=session.stages,
        gates=session.gates,
    )
    assembly = Assembly(root, run, texts=session.specs, read=[path.absolute()])
    return _OpenedSession(assembly, whole)


def _glanced(path: Path, found: Kind, layout: str) -> Run:
    """The skeleton of a session from the two ends of its file."""
    file = telling_file(path) or path
    ends = read_head(file, HEAD_BYTES) + b"\n" + _end_of(file, HEAD_BYTES)
    model, word, agent = (
        match[1].decode("utf-8", "replace") if (match := known.search(ends)) else None
        for known in (_MODEL, _EXIT_STATUS, _AGENT)
    )
    status, detail = status_of(word)
    stage = Stage(1, None, status, detail)
    run = _run(path, found, layout, None)
    return replace(
        run,
        agent=run.agent or agent,
        model=model,
        status=status,
        status_detail=detail,
        stages=(stage,),
        gates=(GateRecord("1", None, unmeasured=NO_GATE),),
    )


def _run(path: Path, found: Kind, layout: str, whole: Trajectory | None) -> Run:
    agent = whole.agent if whole is not None else None
    file = telling_file(path) or path
    return Run(
        run_id=derived_id(layout, [_name(path)], [("file", file)]),
        layout=layout,
        path=str(path),
        chain=Chain(task_id=_name(path)),
        agent=agent or _AGENTS.get(found.reader),
        agent_version=whole.agent_version if whole is not None else None,
        model=model_of(whole) if whole is not None else None,
    )


def _of_patch(path: Path, layout: str) -> Assembly:
    root, name = _place(path)
    states = (
        State("S0", 0, StateKind.START, Provenance.UNKNOWN, missing=START_MISSING),
        State(
            "S1", 1, StateKind.STAGE_END, Provenance.RECORDED, PatchSource(str(root / name), "S0")
        ),
    )
    stage = Stage(1, None, Status.UNKNOWN, base="S0", end="S1")
    run = replace(
        _run(path, Kind("patch", "patch", ""), layout, None),
        states=states,
        stages=(stage,),
        gates=(GateRecord("1", "S1", unmeasured=NO_GATE),),
    )
    return Assembly(root, run, read=[path.absolute()])


def _of_report(path: Path, layout: str, format_id: str) -> Assembly:
    root, name = _place(path)
    problems: list[Problem] = []
    try:
        report = report_reader(format_id).read(path)
    except BadInputError as error:
        raise BadInputError(str(path), error.expected, error.field) from error
    problems += report.problems
    record, tests = gate_of(GateRecord("1", None, log_paths=(name,)), report)
    run = replace(
        _run(path, Kind("report", format_id, ""), layout, None),
        stages=(Stage(1, None, Status.UNKNOWN),),
        gates=(record,),
    )
    return Assembly(root, run, {("1", None): tests}, read=[path.absolute()], problems=problems)
