"""Reads mini-swe-agent trajectories: versions 1 and 2, and bare lists of messages.

The file is rewritten after every step, so that a killed run leaves one that is cut off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.trajectory import Session, Trajectory
from arcview.model.trajectory_refs import SessionRole, Usage
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import LONG_HEAD_BYTES, Detection
from arcview.readers.trajectories.contents import mapping, patch_in
from arcview.readers.trajectories.documents import Document, parse_document, peek
from arcview.readers.trajectories.mini_swe_agent_lines import is_line, parse_log
from arcview.readers.trajectories.mini_swe_agent_messages import Walk
from arcview.readers.trajectories.pairing import counted, numbered
from arcview.readers.trajectories.records import Record, text_or_none
from arcview.readers.trajectories.usages import added, dollars, total_of

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
        if isinstance(value, list) and value and _are_messages(value):
            return Detection(self.id, "a list of messages with roles")
        return None

    def _detect_object(self, value: Mapping[str, object]) -> Detection | None:
        named = value.get("trajectory_format")
        if isinstance(named, str) and named.startswith(_FORMAT):
            return Detection(self.id, f"trajectory_format is {named}")
        if is_line(value):
            return Detection(self.id, "a message a line, with its wall_clock_time")
        if value.keys() & _OTHER_FORMATS:
            return None
        messages = value.get("messages")
        if isinstance(messages, list) and _are_messages(messages):
            return Detection(self.id, "an object with messages that have roles")
        info = mapping(value.get("info"))
        if "messages" not in value and info.keys() & _INFO_KEYS:
            field = sorted(info.keys() & _INFO_KEYS)[0]
            return Detection(self.id, f"an object that begins with info.{field}")
        return None

    def read(self, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        """Reads a trajectory, and more files after it; damage never raises."""
        walks: list[Walk] = []
        problems: list[Problem] = []
        for file in (path, *companions):
            try:
                data = read_unpacked(file, str(file))
            except BadInputError as error:
                problems.append(Problem(error.path, error.expected))
                continue
            log = parse_log(data, str(file)) if is_line(peek(data[:LONG_HEAD_BYTES])) else None
            document = log or parse_document(data, str(file), ("messages",))
            walk = _walked(document, file.name)
            problems += document.problems
            if walk is not None:
                walks.append(walk)
        return _joined(self.id, walks, problems)


def _joined(format_id: str, walks: Sequence[Walk], problems: Sequence[Problem]) -> Trajectory:
    """The files one after the other; what is said of the whole is what the last of them says.

    The files have totals of the cost, the tokens are told call by call.
    """
    unknown = sum((walk.unknown for walk in walks), Counter[str]())
    if not walks:
        return Trajectory(format_id, problems=tuple(problems))
    last = walks[-1]
    found = Trajectory(
        format=format_id,
        steps=numbered([step for walk in walks for step in walk.steps]),
        sessions=tuple(
            Session(walk.session, SessionRole.MAIN, counted(walk.steps)) for walk in walks
        ),
        problems=tuple(problems),
        unknown_records=tuple(sorted(unknown.items())),
        usage=added(walk.total for walk in walks),
        agent=last.agent,
        agent_version=last.agent_version,
        model=last.model,
        exit_status=last.exit_status,
        patch=patch_in(last.submission),
    )
    return replace(found, usage=total_of(found))


def _are_messages(values: Sequence[object]) -> bool:
    """Whether values can be messages; the end of what was seen may cut the role of the last one."""
    if len(values) > 1 and isinstance(last := values[-1], dict) and last.get("role", "") is None:
        values = values[:-1]
    return all(map(_is_message, values))


def _is_message(value: object) -> bool:
    """Whether a value can be a message; a list that ends in a `result` record is something else."""
    if not isinstance(value, dict):
        return False
    is_response = value.get("object") == "response" or value.get("type") == "function_call_output"
    return is_response or (str(value.get("role")) in _ROLES and "uuid" not in value)


def _walked(document: Document, name: str) -> Walk | None:
    """The steps of one file; null, with a problem, for what is no trajectory."""
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
        return None
    config = mapping(info.get("config"))
    cost = dollars(mapping(info.get("model_stats")).get("instance_cost"))
    walk = Walk(
        name=name,
        session=text_or_none(root.get("instance_id")) or _stem(name),
        model=text_or_none(mapping(config.get("model")).get("model_name")),
        agent=_FORMAT if info else None,
        agent_version=text_or_none(info.get("mini_version")),
        exit_status=text_or_none(info.get("exit_status")),
        submission=text_or_none(info.get("submission")),
        total=None if cost is None else Usage(cost_usd=cost),
        is_first_version=_is_first_version(root, info),
    )
    _start(walk, config)
    walk.take_all(messages, is_cut=document.is_cut)
    _end(walk, info)
    return walk


def _stem(name: str) -> str:
    """The file name without what all such files end in."""
    for ending in (".json", ".traj"):
        name = name.removesuffix(ending) or name
    return name


def _is_first_version(root: Record, info: Record) -> bool:
    """Version 1 names itself in one of two fields; its first releases had only the counts."""
    named = root.get("trajectory_format")
    version = info.get("mini_version")
    if isinstance(named, str) or isinstance(version, str):
        return named == f"{_FORMAT}-1" or str(version).startswith("1.")
    return "model_stats" in info


def _start(walk: Walk, config: Record) -> None:
    """A note on who ran, where the file says so."""
    environment = text_or_none(config.get("environment_type"))
    facts = [
        (_FORMAT, walk.agent_version),
        ("model", walk.model),
        ("environment", environment and environment.rpartition(".")[2]),
        ("in", mapping(config.get("environment")).get("cwd")),
    ]
    told = ", ".join(f"{name} {value}" for name, value in facts if value)
    if told:
        walk.note(f"{walk.name}#start", f"session started: {told}")


def _end(walk: Walk, info: Record) -> None:
    """A note on the end, where no message tells it."""
    if walk.exit_status is None or walk.has_told_end:
        return
    shown = {call.result.text for step in walk.steps[-2:] for call in step.calls if call.result}
    told = [walk.submission, *(text_or_none(info.get(k)) for k in ("exception_str", "traceback"))]
    walk.end(f"{walk.name}#end", walk.exit_status, [text for text in told if text not in shown])
