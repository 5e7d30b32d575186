"""Reads SWE-agent `.traj` files, versions 0.x to 1.1 and later, with all attempts of a retry.

Every step repeats the whole conversation so far: what the file grows by most is never parsed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from arcview.errors import BadInputError
from arcview.model.problem import Problem
from arcview.model.trajectory import Role, Session, Step, StepKind, Trajectory
from arcview.model.trajectory_refs import SessionRole, Usage
from arcview.readers.packed import read_unpacked
from arcview.readers.registry import Detection
from arcview.readers.trajectories.contents import listed, mapping, patch_in
from arcview.readers.trajectories.documents import Document, parse_document, peek
from arcview.readers.trajectories.pairing import counted, numbered
from arcview.readers.trajectories.records import Record, count_or_none, text_or_none
from arcview.readers.trajectories.swe_agent_steps import Attempt, exit_status_of
from arcview.readers.trajectories.usages import added, dollars

_LISTS = ("trajectory", "history")
_REPEATED = ("query", "messages")


class SweAgentReader:
    """Reads `.traj` files."""

    id = "swe_agent"
    title = "SWE-agent trajectory"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises steps with an action, a history of messages, or attempts made of both."""
        value = peek(head)
        if not isinstance(value, dict):
            return None
        if reason := _reason(value):
            return Detection(self.id, reason)
        if value == {"attempts": []}:
            return Detection(self.id, "attempts, none of them finished")
        first = next(iter(listed(value.get("attempts"))), None)
        if isinstance(first, dict) and (reason := _reason(first)):
            return Detection(self.id, f"attempts, each {reason}")
        return None

    def read(self, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        """Reads a trajectory, and more files after it; damage never raises."""
        files = _Files()
        for file in (path, *companions):
            files.take(file)
        return files.trajectory(self.id)


def _reason(value: Record) -> str | None:
    steps = value.get("trajectory")
    first = mapping(next(iter(listed(steps)), None))
    if "action" in first and first.keys() & {"observation", "response", "thought"}:
        return "an object with a trajectory of actions"
    if steps == value.get("history") == [] and isinstance(value.get("info"), dict):
        return "an object with no trajectory and no history yet"
    entry = mapping(next(iter(listed(value.get("history"))), None))
    # A long content can stand before the role, where nobody sees that any more.
    if len({"agent", "content", "role"} & entry.keys()) > 1:
        kind = "a history of messages"
        return f"an object with {kind}" + (" and an empty trajectory" if steps == [] else "")
    return None


class _Files:
    """What several files give together."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.sessions: list[Session] = []
        self.problems: list[Problem] = []
        self.unknown: Counter[str] = Counter()
        self.usages: list[Usage | None] = []
        self.status: str | None = None
        self.submission: str | None = None
        self.version: str | None = None
        self.model: str | None = None

    def take(self, path: Path) -> None:
        try:
            data = read_unpacked(path, str(path))
        except BadInputError as error:
            self.problems.append(Problem(error.path, error.expected))
            return
        # Without a history, the prompts stand in the repeated conversation only.
        without = _REPEATED if b'"history"' in data else ()
        document = parse_document(data, str(path), _LISTS, without)
        del data
        self._take(document, path.name)
        self.problems += document.problems

    def _take(self, document: Document, name: str) -> None:
        root = document.value
        if not isinstance(root, dict) or not root.keys() & {"trajectory", "history", "attempts"}:
            if root is not None or not document.problems:
                document.note("not a trajectory: expected an object with steps or attempts")
            return
        attempts = [mapping(attempt) for attempt in listed(root.get("attempts"))]
        info = mapping(root.get("info"))
        stem = name.removesuffix(".traj")
        if not attempts:
            self._attempt(root, name, stem, SessionRole.MAIN)
        best = info.get("best_attempt_idx")
        for number, attempt in enumerate(attempts):
            # The chosen attempt is repeated at the top; it is the one that counts.
            is_chosen = number == (best if type(best) is int else len(attempts) - 1)
            role = SessionRole.MAIN if is_chosen else SessionRole.RETRY
            label = f"attempt {number + 1} of {len(attempts)}"
            self._attempt(
                {"replay_config": root.get("replay_config"), **attempt},
                f"{name}#{number + 1}",
                f"{stem}#{number + 1}",
                role,
                label + (", chosen" if type(best) is int and is_chosen else ""),
            )
        self.status = exit_status_of(info) or self.status
        self.submission = text_or_none(info.get("submission")) or self.submission
        of_attempts = (_usage(mapping(attempt.get("info"))) for attempt in attempts)
        self.usages.append(_usage(info) or added(of_attempts))

    def _attempt(
        self, record: Record, name: str, session: str, role: SessionRole, note: str | None = None
    ) -> None:
        info = mapping(record.get("info"))
        config = _config(record.get("replay_config"))
        attempt = Attempt(name, session, model=_model(config))
        self.model = attempt.model or self.model
        self.version = text_or_none(info.get("swe_agent_version")) or self.version
        started = _started(info, attempt.model, note)
        if started:
            attempt.pairing.add(
                Step(
                    key=f"{name}#start",
                    number=None,
                    role=Role.UNKNOWN,
                    kind=StepKind.NOTE,
                    text=f"session started: {started}",
                    session=session,
                )
            )
        attempt.take(listed(record.get("trajectory")), listed(record.get("history")))
        attempt.end(info)
        steps = attempt.pairing.steps
        self.steps += steps
        self.unknown += attempt.unknown
        self.sessions.append(Session(session, role, counted(steps), note))

    def trajectory(self, format_id: str) -> Trajectory:
        return Trajectory(
            format=format_id,
            steps=numbered(self.steps),
            sessions=tuple(self.sessions),
            problems=tuple(self.problems),
            unknown_records=tuple(sorted(self.unknown.items())),
            usage=added(self.usages),
            agent="SWE-agent" if self.sessions else None,
            agent_version=self.version,
            model=self.model,
            exit_status=self.status,
            patch=patch_in(self.submission),
        )


def _started(info: Record, model: str | None, note: str | None) -> str:
    version = text_or_none(info.get("swe_agent_version"))
    facts = (
        f"SWE-agent {version}" if version else None,
        f"model {model}" if model else None,
        note,
    )
    return ", ".join(filter(None, facts))


def _config(value: object) -> Record:
    """The configuration to replay the run with; newer versions store it as JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return mapping(value)


def _model(config: Record) -> str | None:
    agent = mapping(config.get("agent"))
    if "model" not in agent:  # a retry agent has a list of agents
        agent = mapping(next(iter(listed(agent.get("agent_configs"))), None))
    return text_or_none(mapping(agent.get("model")).get("name"))


def _usage(info: Record) -> Usage | None:
    """Tokens and cost of a run; a count of 0 is one that nobody made."""
    stats = mapping(info.get("model_stats"))
    # The total is that of all runs that one process made.
    cost = stats.get("instance_cost", stats.get("total_cost"))
    usage = Usage(
        input_tokens=count_or_none(stats.get("tokens_sent")) or None,
        output_tokens=count_or_none(stats.get("tokens_received")) or None,
        cost_usd=dollars(cost),
    )
    return None if usage == Usage() else usage
