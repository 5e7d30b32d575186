"""Threads of agents, one log each → one trajectory: in order, sub-agents at their call.

Shared by the readers of formats that keep sub-agents in files of their own. Reads no file.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from arcview.model.problem import Problem
from arcview.model.trajectory import Session, Step, Trajectory, heads_of
from arcview.model.trajectory_refs import SessionRole, Usage
from arcview.readers.trajectories.drafts import Draft, Drafts, steps_of
from arcview.readers.trajectories.usages import added


@dataclass(frozen=True, slots=True)
class About:
    """What a log says of its session as a whole; see the fields of `Trajectory`."""

    agent: str | None = None
    agent_version: str | None = None
    model: str | None = None
    exit_status: str | None = None
    patch: str | None = None


@dataclass(slots=True)
class Thread:
    """What one agent did, as one log has it."""

    names: tuple[str, ...]
    """Its id and what else it may be called; the file name where it has no id."""
    drafts: Drafts
    sessions: Mapping[str | None, str | None] = field(default_factory=dict)
    """Ids of its sessions in order, each with a remark; a thread without an id has `None`."""
    usage: Usage | None = None
    spawned: Mapping[str, str] = field(default_factory=dict)
    """Names of the sub-agents that it started → keys of the calls that did."""
    is_subagent: bool = False
    started_by: str | None = None
    """Key of the call that started it."""
    about: About = About()


def link(threads: Sequence[Thread]) -> None:
    """Finds the call that started each sub-agent."""
    starts: dict[str, str] = {}
    for thread in threads:
        starts.update(thread.spawned)
    for thread in threads:
        if not thread.is_subagent:
            continue
        thread.started_by = next((starts[name] for name in thread.names if name in starts), None)
        for draft in thread.drafts.items:
            draft.agent, draft.parent_call = thread.names[0], thread.started_by


def trajectory_of(
    format_id: str, threads: Sequence[Thread], problems: Sequence[Problem]
) -> Trajectory:
    """Everything in order. Threads that are no sub-agent's come one after the other.

    How the whole ended, the last of these says. What the threads held is not there any more then.
    """
    link(threads)
    aside = next((one.drafts.aside for one in threads if one.drafts.aside is not None), None)
    steps = steps_of(_ordered(threads), aside)
    mains = [thread.about for thread in threads if not thread.is_subagent]
    mains = mains or [thread.about for thread in threads]
    last = mains[-1] if mains else About()
    unknown: Counter[str] = Counter()
    for thread in threads:
        unknown += thread.drafts.unknown
    return Trajectory(
        format=format_id,
        steps=steps,
        sessions=tuple(_sessions(threads, steps)),
        problems=(*problems, *(found for one in threads for found in one.drafts.problems)),
        unknown_records=tuple(sorted(unknown.items())),
        usage=added(thread.usage for thread in threads),
        agent=next((one.agent for one in mains if one.agent), None),
        agent_version=next((one.agent_version for one in mains if one.agent_version), None),
        model=next((one.model for one in mains if one.model), None),
        exit_status=last.exit_status,
        patch=last.patch,
    )


def _ordered(threads: Sequence[Thread]) -> Iterator[Draft]:
    children: dict[str, list[Thread]] = {}
    for thread in threads:
        if thread.started_by is not None:
            children.setdefault(thread.started_by, []).append(thread)
    done: set[int] = set()
    # Those whose call is nowhere come last.
    for thread in sorted(threads, key=lambda thread: thread.is_subagent):
        yield from _drafts(thread, children, done)


def _drafts(
    thread: Thread, children: Mapping[str, Sequence[Thread]], done: set[int]
) -> Iterator[Draft]:
    if id(thread) in done:
        return
    done.add(id(thread))
    # Each is let go of when it is a step: all of them beside all steps take half as much memory
    # again, and letting go of all of them at once holds up the screen.
    drafts = deque(thread.drafts.items)
    thread.drafts.items.clear()
    while drafts:
        draft = drafts.popleft()
        yield draft
        for call in draft.calls:
            for child in children.get(call.key, ()):
                yield from _drafts(child, children, done)


def _sessions(threads: Sequence[Thread], steps: Sequence[Step]) -> Iterator[Session]:
    counts: Counter[tuple[str | None, str | None]] = Counter(
        (step.session, step.agent) for step in heads_of(steps) if step.number is not None
    )
    seen: set[str] = set()
    for thread in threads:
        agent = thread.names[0] if thread.is_subagent else None
        for session, note in thread.sessions.items():
            name = session or thread.names[0]
            if name in seen:
                continue
            role, told = _role(thread, is_first=not seen)
            seen.add(name)
            yield Session(name, role, counts[session, agent], told or note)


def _role(thread: Thread, *, is_first: bool) -> tuple[SessionRole, str | None]:
    if thread.is_subagent:
        started = f"started by {thread.started_by}" if thread.started_by else None
        return SessionRole.SUBAGENT, started or "the call that started it is not recorded"
    return (SessionRole.MAIN if is_first else SessionRole.RETRY), None
