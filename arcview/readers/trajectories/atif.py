"""Reads trajectories in the Agent Trajectory Interchange Format, versions 1.0 to 1.8.

Continuations and sub-agents in files of their own are joined where they lie beside the main file.
Damage is reported; of a file that is cut short, the whole steps are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from arcview.errors import BadInputError
from arcview.files import is_file, is_symlink
from arcview.model.problem import Problem
from arcview.model.trajectory import Role, Session, Step, StepKind, Trajectory
from arcview.model.trajectory_refs import SessionRole, Usage
from arcview.readers.fields import parse_json
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import Detection
from arcview.readers.trajectories.atif_marks import marks_of, restored
from arcview.readers.trajectories.atif_steps import (
    Reading,
    Record,
    Speaker,
    steps_of,
    usage_of,
)
from arcview.readers.trajectories.atif_totals import total_of_chain
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.documents import peek
from arcview.readers.trajectories.pairing import numbered
from arcview.readers.trajectories.usages import added

_VERSION = re.compile(rb'"schema_version"\s*:\s*"ATIF')
_SHAPE = (b'"steps"', b'"agent"', b'"step_id"', b'"source"')
_STEPS_FIRST = re.compile(rb'\{\s*"steps"\s*:\s*\[')
_SOURCES = ("agent", "system", "user")
_KNOWN = re.compile(r"ATIF-v1\.[0-8]")
_MAX_DEPTH = 8
"""Sub-agents of sub-agents; deeper ones are a loop or a joke."""


class AtifReader:
    """Reads ATIF documents."""

    id = "atif"
    title = "Agent Trajectory Interchange Format"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the version field or, without one, the fields that every document has."""
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if not start.startswith(b"{"):
            return None
        if _VERSION.search(head):
            return Detection(self.id, "schema_version starts with ATIF")
        if all(field in head for field in _SHAPE) or _begins_with_steps(start):
            return Detection(self.id, "steps with step_id and source, and an agent")
        return None

    def read(self, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        """Reads a trajectory with its continuations and sub-agents; damage never raises."""
        return _Joined(path, companions).trajectory()


def _begins_with_steps(start: bytes) -> bool:
    """Whether steps stand before all that names the format; the first can fill what is seen."""
    if not _STEPS_FIRST.match(start):
        return False
    value = peek(start)
    steps = listed(value.get("steps")) if isinstance(value, dict) else []
    first = steps[0] if steps else None
    return isinstance(first, dict) and "step_id" in first and first.get("source") in _SOURCES


@dataclass(frozen=True, slots=True)
class _Document:
    """One parsed file or embedded trajectory."""

    name: str
    record: Record
    path: Path
    is_embedded: bool = False
    """In the document of the agent that started it."""

    @property
    def records(self) -> Sequence[object]:
        steps = self.record.get("steps")
        return steps if isinstance(steps, list) else []

    @property
    def ids(self) -> tuple[str, ...]:
        """What a reference can call it."""
        known = (self.record.get(key) for key in ("trajectory_id", "session_id"))
        return (self.name, *(value for value in known if isinstance(value, str)))

    @property
    def session(self) -> str:
        """Id of its session; the file name where it has none."""
        return self.ids[-1]

    def agent(self) -> Record:
        value = self.record.get("agent")
        return value if isinstance(value, dict) else {}


class _Joined:
    """All documents of one trajectory and what is wrong with them."""

    def __init__(self, path: Path, companions: Sequence[Path]) -> None:
        self.reading = Reading()
        self.sessions: list[Session] = []
        self.open: list[_Document] = []
        """Documents that no step has claimed yet."""
        self.seen: set[Path] = set()
        """Files that are read already: a reference back to one of them is a loop."""
        self.taken: set[str] = set()
        """Sessions that are named already."""
        self.depth = 0
        self.main = self._load(path)
        self.reading.is_ours = self.main is not None and bool(marks_of(self.main.record))
        for companion in companions:
            document = self._load(companion)
            if document is not None:
                self.open.append(document)

    def trajectory(self) -> Trajectory:
        if self.main is None:
            return Trajectory(AtifReader.id, problems=tuple(self.reading.problems))
        steps, totals = self._chain(self.main)
        # What nothing refers to is a later attempt or part of its own: shown at the end.
        while self.open:
            document = self.open.pop(0)
            if document.is_embedded:
                steps += self._steps(document, None, is_sub_agent=True)
            else:
                more, total = self._chain(document)
                steps, totals = steps + more, added([totals, total])
        marks = marks_of(self.main.record)
        if marks:
            totals = usage_of(mapping(marks.get("usage")), "total_", is_ours=True)
        agent = self.main.agent()
        found = Trajectory(
            format=AtifReader.id,
            steps=numbered(steps),
            sessions=tuple(self.sessions),
            problems=tuple(self.reading.problems),
            unknown_records=tuple(sorted(self.reading.unknown.items())),
            usage=totals,
            agent=_text(agent.get("name")),
            agent_version=_text(agent.get("version")),
            model=_text(agent.get("model_name")),
        )
        return restored(found, marks)

    def _chain(self, document: _Document) -> tuple[list[Step], Usage | None]:
        """The steps of a document and its continuations, and what they spent."""
        steps: list[Step] = []
        records: list[Record] = []
        following: _Document | None = document
        while following is not None:
            steps += self._steps(following, None)
            records.append(following.record)
            following = self._continuation(following)
        return steps, total_of_chain(records)

    def _steps(
        self, document: _Document, started_by: str | None, *, is_sub_agent: bool = False
    ) -> list[Step]:
        """The steps of a document; it joins the sessions, its embedded documents the open ones."""
        self._check(document)
        embedded = document.record.get("subagent_trajectories")
        for number, record in enumerate(embedded if isinstance(embedded, list) else [], start=1):
            if isinstance(record, dict):
                name = f"{document.name}.{number}"
                self.open.append(_Document(name, record, document.path, is_embedded=True))
        session = self._session(document)
        speaker = Speaker(
            name=document.name,
            session=session,
            model=_text(document.agent().get("model_name")),
            agent=session if is_sub_agent else None,
            parent_call=started_by,
        )
        place = len(self.sessions)
        steps = steps_of(
            document.records,
            speaker,
            self.reading,
            lambda ref, call: self._sub_agent(ref, call, document),
        )
        own = sum(_is_counted(step) and step.session == speaker.session for step in steps)
        role = SessionRole.SUBAGENT if is_sub_agent else SessionRole.MAIN
        self.sessions.insert(place, Session(session, role, own))
        return steps

    def _session(self, document: _Document) -> str:
        """What to call the session of a document: all agents of a run may share its id."""
        session = document.session
        if document.is_embedded and session in self.taken and not self.reading.is_ours:
            session = _text(document.record.get("trajectory_id")) or document.name
        self.taken.add(session)
        return session

    def _sub_agent(self, ref: Record, call_key: str, parent: _Document) -> Sequence[Step]:
        names = [
            name
            for key in ("trajectory_id", "trajectory_path", "session_id")
            if (name := _text(ref.get(key))) is not None
        ]
        document = self._claim(names) or self._beside(parent, _text(ref.get("trajectory_path")))
        if document is None:
            called = names[0] if names else "no name"
            self._note(parent, f"the sub-agent of {call_key} is not there ({called})")
            return ()
        if self.depth >= _MAX_DEPTH:
            self._note(parent, f"sub-agents are nested more than {_MAX_DEPTH} deep; left out")
            return ()
        self.depth += 1
        try:
            return self._steps(document, call_key, is_sub_agent=True)
        finally:
            self.depth -= 1

    def _continuation(self, document: _Document) -> _Document | None:
        named = _text(document.record.get("continued_trajectory_ref"))
        if named is None:
            return None
        found = self._claim([named]) or self._beside(document, named)
        if found is None:
            self._note(document, f"its continuation is not there ({named})")
        return found

    def _claim(self, names: Sequence[str]) -> _Document | None:
        """The open document of one of these names, paths by their last part."""
        for name in names:
            for document in self.open:
                if name in document.ids or PurePosixPath(name).name == document.name:
                    self.open.remove(document)
                    return document
        return None

    def _beside(self, document: _Document, named: str | None) -> _Document | None:
        """A file that a document names and that lies in its own folder; no other is followed."""
        if named is None or "/" in named or "\\" in named or named in ("", ".", ".."):
            return None
        path = document.path.parent / named
        if path in self.seen or is_symlink(path) or not is_file(path):
            return None
        return self._load(path)

    def _load(self, path: Path) -> _Document | None:
        self.seen.add(path)
        try:
            data = read_unpacked(path, str(path))
            try:
                value = parse_json(data, str(path))
            except BadInputError as error:
                value = _salvaged(data)
                if value is None:
                    raise
                kept = len(value["steps"])
                what = f"{error.field or 'the end'}: {error.expected}; {kept} whole steps are kept"
                self.reading.problems.append(Problem(str(path), what))
            if not isinstance(value, dict) or not isinstance(value.get("steps"), list):
                raise BadInputError(str(path), "expected an ATIF trajectory with a list of steps")
        except BadInputError as error:
            place = f"{error.path}: {error.field}" if error.field else error.path
            self.reading.problems.append(Problem(place, error.expected))
            return None
        return _Document(path.name, value, path)

    def _check(self, document: _Document) -> None:
        version = document.record.get("schema_version")
        if isinstance(version, str) and not _KNOWN.fullmatch(version):
            self._note(document, f"{version} is not a version that is known; read as ATIF-v1.8")
        metrics = document.record.get("final_metrics")
        total = metrics.get("total_steps") if isinstance(metrics, dict) else None
        there = len(document.records)
        if type(total) is int and total != there:
            self._note(document, f"final_metrics counts {total} steps, {there} are there")

    def _note(self, document: _Document, what: str) -> None:
        self.reading.problems.append(Problem(str(document.path), what))


def _is_counted(step: Step) -> bool:
    return step.kind is StepKind.MESSAGE and step.role is Role.ASSISTANT


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _salvaged(data: bytes) -> dict[str, list[object]] | None:
    """What stands before the steps of a document that is cut short, and its whole steps.

    Null where there is not one whole step.
    """
    text = data.decode("utf-8-sig", "replace")
    match = re.search(r'"steps"\s*:\s*\[', text)
    steps = [*_whole_values(text, match.end())] if match else []
    if not match or not steps:
        return None
    try:
        head = json.loads(text[: match.start()].rstrip().rstrip(",") + "}")
    except ValueError:
        head = {}
    return {**head, "steps": steps}


def _whole_values(text: str, start: int) -> Iterator[object]:
    """The JSON values of a list up to the first that is torn."""
    decoder = json.JSONDecoder()
    place = start
    while True:
        gap = re.compile(r"[\s,]*").match(text, place)
        place = gap.end() if gap else place
        if place >= len(text) or text[place] == "]":
            return
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield value
