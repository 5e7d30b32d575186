"""Steps in the making, for logs that are one line of events: results find their calls by id.

Shared by the readers of such logs. Knows no format and reads no file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from arcview.model.problem import Problem
from arcview.model.trajectory import Image, LongSteps, Role, Step, StepKind, ToolCall, ToolResult
from arcview.model.trajectory_refs import Usage
from arcview.readers.times import seconds_between
from arcview.readers.trajectories.aside import Aside
from arcview.readers.trajectories.records import as_json

_UNSETTLED = 500
"""How many of the last steps are held whole, as results and facts still come to them."""


class Draft(msgspec.Struct):
    """One step in the making. There are many: a dataclass takes four times as long to make."""

    address: str
    """Message id, or file and record: the key of a step without calls."""
    role: Role
    kind: StepKind
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    images: list[Image] = []
    at: str | None = None
    usage: Usage | None = None
    model: str | None = None
    agent: str | None = None
    parent_call: str | None = None
    is_error: bool = False
    session: str | None = None
    raw: str | None = None
    is_dropped: bool = False
    """Something else says the same: it becomes no step."""
    is_settled: bool = False
    """Its calls and images as they are now lie aside, as far as they are long."""


class CallSpot(msgspec.Struct):
    """Where a call is kept: calls are replaced when their result comes."""

    draft: Draft
    index: int

    @property
    def call(self) -> ToolCall:
        """The call as it is now."""
        return self.draft.calls[self.index]

    @call.setter
    def call(self, call: ToolCall) -> None:
        self.draft.calls[self.index] = call
        self.draft.is_settled = False

    def give(self, result: ToolResult) -> None:
        """Sets the result of the call."""
        self.call = with_result(self.call, result, self.call.note)


@dataclass(slots=True)
class Drafts:
    """Takes the messages, calls and results of one log in their order."""

    session: str | None = None
    """Whose steps come next; readers set it while they read."""
    agent: str | None = None
    parent_call: str | None = None
    aside: Aside | None = None
    """Takes the long texts of a log that is too long to be held."""
    items: list[Draft] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    _spots: dict[str, list[CallSpot]] = field(default_factory=dict)
    _settled: int = 0
    _answered: dict[str, int] = field(default_factory=dict)
    """How many of the first calls of an id have their results."""
    _early: dict[str, list[tuple[Draft, ToolResult]]] = field(default_factory=dict)

    def add(
        self,
        role: Role,
        kind: StepKind,
        address: str,
        *,
        text: str = "",
        at: str | None = None,
        is_error: bool = False,
    ) -> Draft:
        """Appends a step of whoever speaks now."""
        draft = Draft(address, role, kind, at=at, is_error=is_error, session=self.session)
        if text:
            draft.texts.append(text)
        if self.agent is not None:
            draft.agent, draft.parent_call = self.agent, self.parent_call
        self.items.append(draft)
        if self.aside is not None and len(self.items) - self._settled > 2 * _UNSETTLED:
            self.settle(len(self.items) - _UNSETTLED)
        return draft

    def settle(self, end: int) -> None:
        """Puts the long texts of the steps before a place aside: little comes to them any more."""
        aside = self.aside
        if aside is None:
            return
        for draft in self.items[self._settled : end]:
            _settle(draft, aside)
        self._settled = end

    def note(
        self, text: str, address: str, *, at: str | None = None, is_error: bool = False
    ) -> Draft:
        """Appends what the harness or the client says."""
        role = Role.SYSTEM
        return self.add(role, StepKind.NOTE, address, text=text, at=at, is_error=is_error)

    def take_back(self, turns: object) -> None:
        """The last turns of the user are taken back: what was said is shown, and starts none."""
        left = turns if type(turns) is int else 0
        is_within = False
        for draft in reversed(self.items):
            is_turn = draft.role is Role.USER and draft.kind is StepKind.MESSAGE
            if is_within and not is_turn:
                left -= 1
            if left <= 0:
                return
            if is_turn:
                draft.kind = StepKind.NOTE
            is_within = is_turn

    def raw(self, value: object, address: str, kind: str, *, at: str | None = None) -> None:
        """Appends a record that no rule knows, and counts it."""
        self.unknown[kind] += 1
        draft = self.add(Role.UNKNOWN, StepKind.RAW, address, at=at)
        draft.raw = as_json(value)

    def call(self, draft: Draft, call: ToolCall, call_id: str | None, address: str) -> CallSpot:
        """Adds a call to a step, with the result that came before it, if one did.

        A second call of the same id gets a key of its own and a remark.
        """
        known = self._spots.setdefault(call_id, []) if call_id is not None else []
        if known:
            self.problems.append(Problem(address, f"tool call id {call_id} is used again"))
            note = f"duplicate id: {len(known)} earlier call(s) have it too"
            call = replace(call, key=f"{call.key}#{len(known) + 1}", note=joined(call.note, note))
        draft.calls.append(call)
        spot = CallSpot(draft, len(draft.calls) - 1)
        known.append(spot)
        if call_id is not None and self._early.get(call_id):
            orphan, result = self._early[call_id].pop(0)
            orphan.is_dropped = True
            spot.give(result)
        return spot

    def spot(self, call_id: str | None) -> CallSpot | None:
        """The first call of that id without a result, else the last one of that id."""
        spots = self._spots.get(call_id) if call_id is not None else None
        if not spots or call_id is None:
            return None
        # A call that has its result keeps it: nobody has to look at it again.
        first = self._answered.get(call_id, 0)
        while first < len(spots) and spots[first].call.result is not None:
            first += 1
        self._answered[call_id] = first
        return spots[min(first, len(spots) - 1)]

    def give(self, call_id: str | None, result: ToolResult, address: str) -> CallSpot | None:
        """Gives a result to its call; one that belongs to none becomes a note of its own."""
        spot = self.spot(call_id)
        if spot is not None and spot.call.result is None:
            spot.give(result)
            return spot
        why = "a second result for" if spot is not None else "a result without a call:"
        text = f"({why} {call_id or 'no id'})\n{result.text}"
        orphan = self.add(Role.USER, StepKind.NOTE, address, text=text, at=result.at)
        orphan.images += result.images
        if spot is None and call_id is not None:
            self._early.setdefault(call_id, []).append((orphan, result))
        return None

    def report_orphans(self) -> None:
        """Notes the results that no call took, once everything is read."""
        for call_id, early in self._early.items():
            for orphan, _ in early:
                self.problems.append(Problem(orphan.address, f"a result without a call: {call_id}"))
        self._early.clear()
        self._spots.clear()


def with_result(call: ToolCall, result: ToolResult | None, note: str | None) -> ToolCall:
    """A call with another result and remark. Written out: `replace` takes four times as long."""
    return ToolCall(
        call.key,
        call.name,
        call.kind,
        call.arguments,
        call.raw_arguments,
        call.command,
        call.path,
        result,
        note,
    )


def joined(*remarks: str | None) -> str | None:
    """Remarks in one line; null when there is none."""
    return "; ".join(filter(None, remarks)) or None


def steps_of(drafts: Iterable[Draft], aside: Aside | None = None) -> Sequence[Step]:
    """The steps in their order, the model's messages numbered, every key used once.

    Args:
        drafts: What becomes steps.
        aside: Where their long texts lie, and where those go that are not there yet.
    """
    steps: list[Step] = []
    keys: set[str] = set()
    number = 0
    for draft in drafts:
        if draft.is_dropped:
            continue
        key = draft.calls[0].key if draft.calls else draft.address
        if key in keys:
            key = _unique(key, keys)
        keys.add(key)
        is_model = draft.role is Role.ASSISTANT and draft.kind is StepKind.MESSAGE
        number += is_model
        steps.append(_step(draft, key, number if is_model else None, aside))
    if aside is None:
        return tuple(steps)
    return LongSteps(steps, [(aside, 0)] * len(steps))


def _unique(key: str, keys: Container[str]) -> str:
    name, times = key, 1
    while name in keys:
        times += 1
        name = f"{key}#{times}"
    return name


def _settle(draft: Draft, aside: Aside) -> None:
    """Puts the long texts of a step aside; those that lie there stay."""
    if draft.texts:
        draft.texts = [aside.text(text) for text in draft.texts]
    if draft.thoughts:
        draft.thoughts = [aside.text(text) for text in draft.thoughts]
    if draft.calls:
        draft.calls = [aside.call(call) for call in draft.calls]
    if draft.images:
        draft.images = [aside.image(image) for image in draft.images]
    if draft.raw is not None:
        draft.raw = aside.text(draft.raw)
    draft.is_settled = True


def _step(draft: Draft, key: str, number: int | None, aside: Aside | None) -> Step:
    joined_texts = "\n".join
    if aside is not None:
        joined_texts = aside.joined
        if not draft.is_settled and (draft.calls or draft.images or draft.raw is not None):
            _settle(draft, aside)
    # By place: the names cost a tenth.
    return Step(
        key,
        number,
        draft.role,
        draft.kind,
        joined_texts(draft.texts) if draft.texts else "",
        joined_texts(draft.thoughts) if draft.thoughts else "",
        tuple(draft.calls),
        draft.at,
        _duration(draft.at, draft.calls) if draft.calls else None,
        draft.usage,
        draft.model,
        draft.agent,
        draft.parent_call,
        draft.is_error,
        draft.session,
        tuple(draft.images),
        draft.raw,
    )


def _duration(at: str | None, calls: Sequence[ToolCall]) -> float | None:
    """From a step to the last of its results; null where the times cannot be compared."""
    spans = [seconds_between(at, call.result.at) for call in calls if call.result is not None]
    return max((span for span in spans if span is not None), default=None)
