"""Threads of Claude Code items → one trajectory in order.

The main line follows the stream where there is one; what only the session has stands between its
neighbours there. A sub-agent's steps follow the step that started it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from arcview.model.problem import Problem
from arcview.model.trajectory import Role, Session, Step, StepKind, ToolCall, Trajectory
from arcview.model.trajectory_refs import SessionRole
from arcview.readers.times import seconds_between
from arcview.readers.trajectories.claude_code_blocks import tool_call
from arcview.readers.trajectories.claude_code_drafts import Call, Item, Thread
from arcview.readers.trajectories.claude_code_items import Items

FORMAT = "claude_code"


@dataclass(slots=True)
class Placed:
    """An item in its place."""

    item: Item
    thread: Thread
    key: str
    kind: StepKind

    @property
    def is_model(self) -> bool:
        """Whether it counts as a message of the model."""
        return self.item.role is Role.ASSISTANT and self.kind is StepKind.MESSAGE


@dataclass(slots=True)
class _Joiner:
    """State of one join."""

    items: Items
    children: dict[str, list[Thread]] = field(default_factory=lambda: defaultdict(list))
    """Sub-agents by the id of the call that started them."""
    done: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)


def build(items: Items) -> tuple[Trajectory, list[Placed]]:
    """Orders, numbers and completes what was taken; with the item that each step comes from."""
    items.pair_late()
    _drop_repeated_prompts(items)
    joiner = _Joiner(items)
    _link_subagents(joiner)
    mains = _main_threads(items)
    order = [placed for thread in mains for placed in _placed_of(joiner, thread)]
    alone = [
        t for t in items.threads.by_id.values() if t.agent is not None and t.id not in joiner.done
    ]
    is_agent_only = not any(placed.kind is StepKind.MESSAGE for placed in order)
    for thread in sorted(alone, key=lambda thread: _first_time(items, thread) or ""):
        group = list(_placed_of(joiner, thread))
        if not is_agent_only and _is_warm_up(group):
            for placed in group:
                placed.kind = StepKind.NOTE
        at = next((placed.item.at for placed in group if placed.item.at), None)
        index = _place_of(order, at)
        order[index:index] = group
    steps = tuple(_numbered(order))
    problems = list(items.problems)
    if items.partial_events:
        what = f"{items.partial_events} partial-message events left out: the messages follow whole"
        problems.append(Problem("stream", what))
    trajectory = Trajectory(
        format=FORMAT,
        steps=steps,
        sessions=tuple(_sessions(items, mains, steps)),
        problems=tuple(problems),
        unknown_records=tuple(sorted(items.unknown.items())),
        usage=items.ends.total((p.thread.session, p.item.usage) for p in order if p.is_model),
        agent_version=items.ends.version,
        exit_status=items.ends.exit_status,
    )
    return trajectory, order


def _drop_repeated_prompts(items: Items) -> None:
    """A prompt is queued and then said: it is shown once."""
    said = {
        (item.thread.id, item.said)
        for item in items.items.values()
        if item.role is Role.USER and not item.queued
    }
    sessions = {thread.session for thread in items.threads.by_id.values() if thread.session}
    for key, item in list(items.items.items()):
        if not item.queued:
            continue
        # The first queue record of a session comes before its id is known.
        threads = [item.thread.id, *(f"main:{session}" for session in sessions)]
        if any((thread, item.said) in said for thread in threads):
            del items.items[key]


def _link_subagents(joiner: _Joiner) -> None:
    """Finds the call that started each sub-agent."""
    threads = joiner.items.threads.by_id
    # A sub-agent that is told more later stands where it was started.
    for call_id, agent in reversed(joiner.items.threads.agent_of_call.items()):
        if (thread := threads.get(f"agent:{agent}")) is not None:
            thread.parent_call = call_id
    taken = set(joiner.items.threads.agent_of_call)
    prompts: dict[Hashable, list[str]] = defaultdict(list)
    for calls in joiner.items.calls.values():
        for call in calls:
            if call.prompt is not None and call.id not in taken:
                prompts[call.prompt].append(call.id)
    for thread in threads.values():
        if thread.agent is None:
            continue
        if thread.parent_call is None:
            same = prompts.get(_first_prompt(joiner.items, thread))
            thread.parent_call = same.pop(0) if same else None
        if thread.parent_call is not None:
            joiner.children[thread.parent_call].append(thread)
    # The stream knows a sub-agent by its call only, the session by its own id: one thread.
    for call_id, group in joiner.children.items():
        by_call = next((t for t in group if t.id == f"call:{call_id}"), None)
        by_agent = next((t for t in group if t.id != f"call:{call_id}"), None)
        if by_call is not None and by_agent is not None:
            said = {_said(joiner.items, key) for key in by_agent.session_order}
            own = {k: None for k in by_call.stream_order if _said(joiner.items, k) not in said}
            by_agent.stream_order = {**own, **by_agent.stream_order}
            group.remove(by_call)
            joiner.done.add(by_call.id)


def _said(items: Items, key: str) -> Hashable:
    """What a user turn says; null for anything else."""
    item = items.items.get(key)
    return item.said if item is not None and item.role is Role.USER else None


def _first_prompt(items: Items, thread: Thread) -> Hashable:
    keys = thread.session_order or thread.stream_order
    return _said(items, next(iter(keys), ""))


def _main_threads(items: Items) -> list[Thread]:
    """The main lines in order of their first time; those without one keep their order."""
    mains = [thread for thread in items.threads.by_id.values() if thread.agent is None]
    return sorted(mains, key=lambda thread: _first_time(items, thread) or "")


def _first_time(items: Items, thread: Thread) -> str | None:
    keys = [*thread.session_order, *thread.stream_order]
    found = (items.items[key].at for key in keys if key in items.items)
    return next((at for at in found if at), None)


def _placed_of(joiner: _Joiner, thread: Thread) -> Iterator[Placed]:
    """The items of a thread, each followed by those of the sub-agents that it started."""
    if thread.id in joiner.done:
        return
    joiner.done.add(thread.id)
    for key in merged_order(joiner.items, thread):
        item = joiner.items.items[key]
        name = item.calls[0].key if item.calls else item.address
        if name in joiner.keys:
            name = item.key
        joiner.keys.add(name)
        yield Placed(item, thread, name, item.kind)
        if joiner.children:
            for call in item.calls:
                for child in joiner.children.get(call.id, ()):
                    yield from _placed_of(joiner, child)


def merged_order(items: Items, thread: Thread) -> list[str]:
    """The keys of a thread's items: the stream's order, completed by the session's.

    What only one of them has stands between the two shared items around it. In such a gap the
    session's own items come first and the user turn that ends them last, so that the start of a
    later attempt stands before the prompt of that attempt.
    """
    stream = [key for key in thread.stream_order if key in items.items]
    session = [key for key in thread.session_order if key in items.items]
    shared = set(stream) & set(session)
    before: dict[str, list[str]] = defaultdict(list)
    pending: list[str] = []
    for key in session:
        if key in shared:
            before[key] += pending
            pending = []
        else:
            pending.append(key)
    order: list[str] = []
    gap: list[str] = []
    for key in stream:
        if key not in shared:
            gap.append(key)
            continue
        order += [*_filled(items, before[key], gap), key]
        gap = []
    return [*order, *_filled(items, pending, gap)]


def _filled(items: Items, session: Sequence[str], stream: Sequence[str]) -> list[str]:
    """A gap between two shared items: see `merged_order`."""
    cut = len(session)
    while cut and items.items[session[cut - 1]].role is Role.USER:
        cut -= 1
    return [*session[:cut], *stream, *session[cut:]]


def _step(placed: Placed, number: int | None) -> Step:
    item, thread = placed.item, placed.thread
    calls = tuple([_call(call) for call in item.calls])
    times = [call.result.at for call in calls if call.result and call.result.at]
    return Step(  # by place: the names cost a tenth
        placed.key,
        number,
        item.role,
        placed.kind,
        item.text("text"),
        item.text("thinking"),
        calls,
        item.at,
        seconds_between(item.at, max(times)) if times else None,
        item.usage,
        item.model,
        thread.agent,
        thread.parent_call,
        item.is_error,
        thread.session,
        tuple(item.images),
        item.raw,
    )


def _call(call: Call) -> ToolCall:
    return tool_call(call.block, call.key, call.result, call.note)


def _is_warm_up(group: Sequence[Placed]) -> bool:
    """No call started it and it called nothing: the client's own warm-up."""
    return not any(placed.item.calls or placed.thread.parent_call for placed in group)


def _place_of(order: Sequence[Placed], at: str | None) -> int:
    """Where something of that time belongs among the main line's steps."""
    if at is None:
        return len(order)
    later = (
        index
        for index, placed in enumerate(order)
        if placed.thread.agent is None and placed.item.at is not None and placed.item.at > at
    )
    return next(later, len(order))


def _numbered(order: Sequence[Placed]) -> Iterator[Step]:
    """The steps, the model's messages numbered in their final order."""
    number = 0
    for placed in order:
        is_model = placed.is_model
        number += is_model
        yield _step(placed, number if is_model else None)


def _sessions(items: Items, mains: Sequence[Thread], steps: Sequence[Step]) -> Iterator[Session]:
    """What was found, with the number of messages of each."""
    counts: dict[tuple[str | None, str | None], int] = defaultdict(int)
    for step in steps:
        counts[step.session, step.agent] += step.number is not None
    known = [t.session for t in items.threads.by_id.values() if t.agent is None and t.session]
    first = set(items.threads.stream_sessions or known[:1])
    other = "not in the stream" if items.threads.stream_sessions else "another session"
    for thread in mains:
        if thread.session is None:
            continue
        is_main = thread.session in first
        yield Session(
            thread.session,
            SessionRole.MAIN if is_main else SessionRole.RETRY,
            counts[thread.session, None],
            _lost(items, thread) if is_main else other,
        )
    seen = set()
    for step in steps:
        if step.agent is None or step.agent in seen:
            continue
        seen.add(step.agent)
        if step.parent_call is not None:
            note = f"started by {step.parent_call}"
        elif step.kind is StepKind.NOTE:
            note = "warm-up of the client: no call started it; not counted"
        else:
            note = "the call that started it is not recorded"
        yield Session(step.agent, SessionRole.SUBAGENT, counts[step.session, step.agent], note)


def _lost(items: Items, thread: Thread) -> str | None:
    """What the stream lost of a session: earlier attempts overwrite it."""
    if not thread.stream_order:
        return None
    keys = {*thread.session_order, *thread.stream_order} & items.items.keys()
    messages = [key for key in keys if items.items[key].role is Role.ASSISTANT]
    kept = sum(key in thread.stream_order for key in messages)
    if kept == len(messages):
        return None
    return f"the stream holds {kept} of its {len(messages)} messages, the session has the others"
