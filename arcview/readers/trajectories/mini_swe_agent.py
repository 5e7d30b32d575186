"""Reads mini-swe-agent trajectories: versions 1 and 2, and bare lists of messages.

The file is rewritten after every step, so that a killed run leaves one that is cut off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.trajectory import (
    Role,
    Session,
    SessionRole,
    Step,
    StepKind,
    Trajectory,
    Usage,
)
from arcview.readers.fields import read_bytes
from arcview.readers.registry import Detection
from arcview.readers.trajectories.contents import mapping
from arcview.readers.trajectories.documents import Document, parse_document, peek
from arcview.readers.trajectories.mini_swe_agent_messages import Walk
from arcview.readers.trajectories.mini_swe_agent_parts import dollars
from arcview.readers.trajectories.pairing import numbered
from arcview.readers.trajectories.records import Record, text_or_none

_FORMAT = "mini-swe-agent"
_OTHER_FORMATS = frozenset(
    {"attempts", "eval", "history", "loglines", "projectHash", "sessionId", "trajectory", "uuid"}
)
"""Keys beside `messages` or `info` that belong to other formats."""
_INFO_KEYS = frozenset({"exit_status", "mini_version", "model_stats", "submission"})
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "exit"})


class MiniSweAgentReader:
    """Reads `.traj.json` files and lists of chat messages."""

    id = "mini_swe_agent"
    title = "mini-swe-agent trajectory"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises the format field or, without one, an object with messages that have roles."""
        value = peek(head)
        if isinstance(value, dict):
            return self._detect_object(value)
        if isinstance(value, list) and value and all(map(_is_message, value)):
            return Detection(self.id, "a list of messages with roles")
        return None

    def _detect_object(self, value: Mapping[str, object]) -> Detection | None:
        named = value.get("trajectory_format")
        if isinstance(named, str) and named.startswith(_FORMAT):
            return Detection(self.id, f"trajectory_format is {named}")
        if value.keys() & _OTHER_FORMATS:
            return None
        messages = value.get("messages")
        if isinstance(messages, list) and all(map(_is_message, messages)):
            return Detection(self.id, "an object with messages that have roles")
        info = mapping(value.get("info"))
        if "messages" not in value and info.keys() & _INFO_KEYS:
            field = sorted(info.keys() & _INFO_KEYS)[0]
            return Detection(self.id, f"an object that begins with info.{field}")
        return None

    def read(self, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        """Reads a trajectory, and more files after it; damage never raises."""
        steps: list[Step] = []
        sessions: list[Session] = []
        problems: list[Problem] = []
        unknown: Counter[str] = Counter()
        infos: list[Record] = []
        for file in (path, *companions):
            try:
                document = parse_document(read_bytes(file, str(file)), str(file), ("messages",))
            except BadInputError as error:
                problems.append(Problem(error.path, error.expected))
                continue
            walk, info = _walked(document, file.name)
            problems += document.problems
            if walk is None:
                continue
            steps += walk.steps
            unknown += walk.unknown
            infos.append(info)
            own = sum(
                step.role is Role.ASSISTANT and step.kind is StepKind.MESSAGE for step in walk.steps
            )
            sessions.append(Session(walk.session, SessionRole.MAIN, own))
        return Trajectory(
            format=self.id,
            steps=numbered(steps),
            sessions=tuple(sessions),
            problems=tuple(problems),
            unknown_records=tuple(sorted(unknown.items())),
            usage=_total(infos),
            exit_status=text_or_none(infos[-1].get("exit_status")) if infos else None,
        )


def _is_message(value: object) -> bool:
    """Whether a value can be a message; a list that ends in a `result` record is something else."""
    if not isinstance(value, dict):
        return False
    is_response = value.get("object") == "response" or value.get("type") == "function_call_output"
    return is_response or (value.get("role") in _ROLES and "uuid" not in value)


def _walked(document: Document, name: str) -> tuple[Walk | None, Record]:
    """The steps of one file and its `info`; null, with a problem, for what is no trajectory."""
    value = document.value
    root: Record = value if isinstance(value, dict) else {"messages": value}
    messages = root.get("messages")
    info = mapping(root.get("info"))
    if messages is None and info:
        document.note("holds no messages")
        messages = []
    if not isinstance(messages, list):
        if value is not None or not document.problems:
            document.note("not a trajectory: expected an object or a list with messages")
        return None, {}
    walk = Walk(
        name=name,
        session=text_or_none(root.get("instance_id"))
        or name.removesuffix(".json").removesuffix(".traj"),
        model=text_or_none(mapping(mapping(info.get("config")).get("model")).get("model_name")),
        is_first_version=_is_first_version(root, info),
        has_ended=bool(info.get("exit_status")),
    )
    _start(walk, info)
    walk.take_all(messages, is_cut=document.is_cut)
    _end(walk, info)
    return walk, info


def _is_first_version(root: Record, info: Record) -> bool:
    """Version 1 names itself in one of two fields; its first releases had only the counts."""
    named = root.get("trajectory_format")
    version = info.get("mini_version")
    if isinstance(named, str) or isinstance(version, str):
        return named == f"{_FORMAT}-1" or str(version).startswith("1.")
    return "model_stats" in info


def _start(walk: Walk, info: Record) -> None:
    """A note on who ran, where the file says so."""
    config = mapping(info.get("config"))
    environment = text_or_none(config.get("environment_type"))
    facts = [
        ("mini-swe-agent", info.get("mini_version")),
        ("model", walk.model),
        ("environment", environment and environment.rpartition(".")[2]),
        ("in", mapping(config.get("environment")).get("cwd")),
    ]
    told = ", ".join(f"{name} {value}" for name, value in facts if value)
    if told:
        walk.pairing.add(
            Step(
                key=f"{walk.name}#start",
                number=None,
                role=Role.UNKNOWN,
                kind=StepKind.NOTE,
                text=f"session started: {told}",
                session=walk.session,
            )
        )


def _end(walk: Walk, info: Record) -> None:
    """A note on the end, where only `info` tells it."""
    status = text_or_none(info.get("exit_status"))
    ends = [step for step in walk.steps[-1:] if step.text.startswith("session ended")]
    if status is None or ends:
        return
    shown = {call.result.text for step in walk.steps[-2:] for call in step.calls if call.result}
    told = [text_or_none(info.get(key)) for key in ("submission", "exception_str", "traceback")]
    walk.end(f"{walk.name}#end", status, [text for text in told if text not in shown])


def _total(infos: Sequence[Record]) -> Usage | None:
    """What the files record of the cost; they have no totals of tokens."""
    costs = [dollars(mapping(info.get("model_stats")).get("instance_cost")) for info in infos]
    known = [cost for cost in costs if cost is not None]
    return Usage(cost_usd=sum(known)) if known else None
