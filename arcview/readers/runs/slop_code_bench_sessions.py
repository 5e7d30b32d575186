"""Which Claude Code sessions in a SlopCodeBench checkpoint belong to what.

The harness copies every session that is new since the last checkpoint, so a folder may hold the
session of the pass that ran before its stage. Told apart by session id, first prompt and time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from arcview.model.trajectory_refs import SessionRole, TrajectoryRef
from arcview.readers.runs.slop_code_bench_agent import (
    OTHER_TRAJECTORIES,
    STREAM,
    AgentFiles,
    StreamEnds,
    records,
)

CLAUDE_CODE = "claude_code"
# What the harness says to a session that it continues after an error.
_RETRY_PROMPT = "Continue from where you left off."
_SESSION_FILE = re.compile(r"^workspace/projects/.+\.jsonl$")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about a run when the sessions of one stage are sorted."""

    prompts: Mapping[int, str]
    """What each stage was told, by stage index."""
    pass_prompts: Sequence[str] = ()
    """Beginnings of the prompts that passes between stages were given."""
    silent_passes: frozenset[int] = frozenset()
    """Stages after which a pass ran that left no agent log of its own."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The trajectories found in one stage's agent folder."""

    stage: tuple[TrajectoryRef, ...] = ()
    """Of the stage itself: one main trajectory with its companions, and what does not belong."""
    passes: tuple[tuple[int, TrajectoryRef], ...] = ()
    """Of passes, with the index of the stage that each ran after."""


@dataclass(frozen=True, slots=True)
class _Head:
    """What the beginning of a session file tells."""

    file: str
    session: str
    is_subagent: bool
    prompt: str | None
    started: str | None


def place_pass(files: AgentFiles, ends: StreamEnds) -> tuple[TrajectoryRef, ...]:
    """The trajectories in the agent folder of a pass: all of it belongs to the pass."""
    main = _main_ref(files, _heads(files), ends.session, SessionRole.BETWEEN)
    return () if main is None else (main,)


def place_stage(files: AgentFiles, ends: StreamEnds, stage: int, known: Known) -> Placed:
    """Sorts what the agent folder of a stage holds.

    Args:
        files: The folder.
        ends: What the ends of its stream say.
        stage: The stage in whose folder they are.
        known: What is known about the run.
    """
    heads = _heads(files)
    own = ends.session
    prompt = _plain(known.prompts.get(stage))
    sessions = [head for head in heads if not head.is_subagent]
    told = {_RETRY_PROMPT, prompt}
    ours = {head.session for head in sessions if head.prompt and _plain(head.prompt) in told}
    ours |= {own} if own else set()
    if not ours and len(sessions) == 1 and _pass_of(sessions[0], stage, known, None) is None:
        ours = {sessions[0].session}
    begun = [head.started for head in sessions if head.session in ours and head.started]
    first = min(begun, default=None)
    main = _main_ref(files, [h for h in heads if h.session in ours], own, SessionRole.MAIN)
    refs = [] if main is None else [main]
    passes: list[tuple[int, TrajectoryRef]] = []
    for head in sessions:
        if head.session in ours:
            continue
        companions = [h.file for h in heads if h.is_subagent and h.session == head.session]
        after = _pass_of(head, stage, known, first)
        role = SessionRole.OTHER_STAGE if after is None else SessionRole.BETWEEN
        ref = _ref(files, head.file, role, head.session, companions)
        refs.append(ref)
        passes += [] if after is None else [(after, ref)]
    return Placed(tuple(refs), tuple(passes))


def _pass_of(head: _Head, stage: int, known: Known, first: str | None) -> int | None:
    """The stage after which the pass ran that a session belongs to; null when it is no pass's.

    Args:
        head: The session.
        stage: The stage in whose folder it was found.
        known: What is known about the run.
        first: When the stage's own session began; a pass that began later ran after this stage.
    """
    after = stage if first and head.started and head.started > first else stage - 1
    text = _plain(head.prompt)
    if text and any(text.startswith(_plain(prompt) or text) for prompt in known.pass_prompts):
        return after
    others = {_plain(prompt) for index, prompt in known.prompts.items() if index != stage}
    if text in others or after not in known.silent_passes:
        return None
    return after


def _main_ref(
    files: AgentFiles, heads: Sequence[_Head], own: str | None, role: SessionRole
) -> TrajectoryRef | None:
    """The stream with the sessions that complete it; without a stream, the first session."""
    sessions = sorted(
        (head for head in heads if not head.is_subagent), key=lambda head: head.started or ""
    )
    names = [head.file for head in sessions]
    names += [head.file for head in heads if head.is_subagent]
    present = files.names()
    session = sessions[0].session if sessions else None
    if STREAM in present:
        return _ref(files, STREAM, role, own or session, names, is_claude=bool(own or names))
    if names:
        return _ref(files, names[0], role, session, names[1:])
    other = next((name for name in OTHER_TRAJECTORIES if name in present), None)
    return None if other is None else _ref(files, other, role, None, (), is_claude=False)


def _ref(
    files: AgentFiles,
    name: str,
    role: SessionRole,
    session: str | None,
    companions: Sequence[str],
    *,
    is_claude: bool = True,
) -> TrajectoryRef:
    return TrajectoryRef(
        path=f"{files.shown}/{name}",
        format=CLAUDE_CODE if is_claude else None,
        role=role,
        session=session,
        companions=tuple(f"{files.shown}/{companion}" for companion in companions),
    )


def _heads(files: AgentFiles) -> list[_Head]:
    """The beginnings of all session files.

    Where there is only one session, its sub-agents' files need not be opened to know whose
    they are.
    """
    names = [name for name in files.names() if _SESSION_FILE.match(name)]
    mains = [_head(files, name) for name in names if not _is_subagent(name)]
    only = mains[0].session if len(mains) == 1 else None
    subagents = [
        _Head(name, only, True, None, None) if only else _head(files, name)
        for name in names
        if _is_subagent(name)
    ]
    return mains + subagents


def _is_subagent(name: str) -> bool:
    return PurePosixPath(name).name.startswith("agent-")


def _head(files: AgentFiles, name: str) -> _Head:
    session = prompt = started = None
    for record in records(files.head(name)):
        session = session or _text(record.get("sessionId"))
        started = started or _text(record.get("timestamp"))
        prompt = prompt or next(_prompts(record), None)
        if session and prompt and started:
            break
    return _Head(name, session or PurePosixPath(name).stem, _is_subagent(name), prompt, started)


def _prompts(record: Mapping[str, object]) -> Iterator[str]:
    """What a record says to the agent: the queued prompt or the text of a user message."""
    if record.get("type") == "queue-operation" and isinstance(record.get("content"), str):
        yield str(record["content"])
    message = record.get("message")
    if record.get("type") != "user" or not isinstance(message, dict):
        return
    content = message.get("content")
    if isinstance(content, str):
        yield content
    if isinstance(content, list):
        blocks = [block for block in content if isinstance(block, dict)]
        yield from (text for block in blocks if (text := _text(block.get("text"))))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _plain(prompt: str | None) -> str | None:
    """A prompt as it is compared: the client trims it and a writer may change line ends."""
    return prompt.replace("\r\n", "\n").strip() if prompt else None
