"""Trajectories: what the agent did, as ordered steps with their tool calls and results.

Text is as it came from the run: hostile and untruncated.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from threading import Lock
from typing import Protocol, overload

from arcview.model.problem import Problem
from arcview.model.trajectory_refs import SessionRole, Usage

_KEPT_STEPS = 64
"""How many whole steps of a long trajectory are kept: about what is looked at."""


class Role(StrEnum):
    """Who speaks in a step."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    UNKNOWN = "unknown"


class StepKind(StrEnum):
    """What a step is. Only `MESSAGE` steps of the assistant count as steps of the run."""

    MESSAGE = "message"
    COMPACTION = "compaction"
    """A context boundary or the summary that replaced earlier turns; never a user turn."""
    NOTE = "note"
    """Something the harness or the client wrote: init, status, retries, end of the session."""
    RAW = "raw"
    """A record that no rule knows; kept as it is in `Step.raw`."""


class ToolKind(StrEnum):
    """What a tool call does, across agents."""

    SHELL = "shell"
    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    SEARCH = "search"
    TASK = "task"
    """Starts a sub-agent."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Image:
    """An image in a message or a tool result, shown as a placeholder that opens."""

    media_type: str
    data_base64: str | None = None
    path: str | None = None
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back from a tool call."""

    text: str
    is_error: bool | None = None
    exit_code: int | None = None
    """Recorded, or read from a fixed phrase such as `Exit code 1`; null where neither is there."""
    images: tuple[Image, ...] = ()
    at: str | None = None
    """ISO 8601 time at which the result was recorded."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, paired with its result by id."""

    key: str
    """Stable: the tool-call id where there is one, else file and record ordinal."""
    name: str
    kind: ToolKind
    arguments: Mapping[str, object] = field(default_factory=dict)
    raw_arguments: str | None = None
    """The argument text as written, where it is not a JSON object."""
    command: str | None = None
    """The shell text of a `SHELL` call."""
    path: str | None = None
    """The file that a `READ`, `WRITE` or `EDIT` call names, as the agent wrote it."""
    result: ToolResult | None = None
    """Null where the trajectory holds no result for this call."""
    note: str | None = None
    """A remark of the reader: an orphaned result, a duplicate id, arguments that are not JSON."""


@dataclass(frozen=True, slots=True)
class Step:
    """One message of the model with its calls, or one note, summary or user turn between them."""

    key: str
    """Stable address: the first tool-call id, else the message id, else file and record ordinal."""
    number: int | None
    """1-based number among the model's messages of this stage, for people; null for the others."""
    role: Role
    kind: StepKind
    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    at: str | None = None
    """ISO 8601 time as recorded; null where the format has none."""
    duration_s: float | None = None
    """From this step to the last of its results, where both times are comparable."""
    usage: Usage | None = None
    model: str | None = None
    agent: str | None = None
    """Id of the sub-agent that speaks; null for the main agent."""
    parent_call: str | None = None
    """Key of the tool call that started that sub-agent."""
    is_error: bool = False
    """An API error or a failed end of session; failed tool calls are marked on their results."""
    session: str | None = None
    images: tuple[Image, ...] = ()
    raw: str | None = None
    """The record itself, for `RAW` steps."""


class StepSource(Protocol):
    """Where the steps of a long trajectory are fetched from."""

    def whole(self, head: Step, place: int) -> Step:
        """A step as it is recorded.

        Args:
            head: The step with its long texts cut.
            place: Which of the source's steps it is.
        """
        ...


class LongSteps(Sequence[Step]):
    """The steps of a trajectory that is too long to be held: each is fetched when it is asked for.

    Args:
        heads: The steps with long texts cut to what a folded step shows, and images left out.
        places: Where each of them is fetched from.
    """

    def __init__(self, heads: Sequence[Step], places: Sequence[tuple[StepSource, int]]) -> None:
        self.heads = tuple(heads)
        self._places = tuple(places)
        self._kept: OrderedDict[int, Step] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self.heads)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> LongSteps: ...
    def __getitem__(self, index: int | slice) -> Step | LongSteps:
        if isinstance(index, slice):
            return LongSteps(self.heads[index], self._places[index])
        head = self.heads[index]
        with self._lock:
            found = self._kept.pop(index, None)
            if found is None:
                source, place = self._places[index]
                found = source.whole(head, place)
            self._kept[index] = found
            if len(self._kept) > _KEPT_STEPS:
                self._kept.popitem(last=False)
        return found

    def __iter__(self) -> Iterator[Step]:
        # Not kept: whoever walks through all of them would push out what is looked at.
        for head, (source, place) in zip(self.heads, self._places, strict=True):
            yield source.whole(head, place)

    def renumbered(self, numbers: Sequence[int | None]) -> LongSteps:
        """The same steps with other numbers."""
        pairs = zip(self.heads, numbers, strict=True)
        return LongSteps([replace(head, number=number) for head, number in pairs], self._places)

    @classmethod
    def joined(cls, parts: Iterable[Sequence[Step]]) -> LongSteps:
        """Steps one after the other; those that are held stay so."""
        heads: list[Step] = []
        places: list[tuple[StepSource, int]] = []
        for part in parts:
            heads += heads_of(part)
            if isinstance(part, LongSteps):
                places += part._places
            else:
                held = _Held(part)
                places += ((held, place) for place in range(len(part)))
        return cls(heads, places)


class _Held:
    """Steps that are in memory."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps

    def whole(self, head: Step, place: int) -> Step:
        """The step, with the number that it has now."""
        return replace(self._steps[place], number=head.number)


def heads_of(steps: Sequence[Step]) -> Sequence[Step]:
    """The steps, with long texts cut where they are not held in memory: quick to walk along."""
    return steps.heads if isinstance(steps, LongSteps) else steps


@dataclass(frozen=True, slots=True)
class Session:
    """One session found in the files of a stage."""

    id: str
    role: SessionRole
    steps: int
    """Model messages in it, counted once."""
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """All steps of one stage (or one pass), in order."""

    format: str
    steps: Sequence[Step] = ()
    """All of them in memory, or `LongSteps`, which fetch each one from its file."""
    sessions: tuple[Session, ...] = ()
    problems: tuple[Problem, ...] = ()
    unknown_records: tuple[tuple[str, int], ...] = ()
    """Record kinds that no rule knows, with how often they occur; each is a `RAW` step."""
    usage: Usage | None = None
    """Totals that the trajectory itself records; null where it has none."""
    agent: str | None = None
    """Name of the agent, where the trajectory says it."""
    agent_version: str | None = None
    model: str | None = None
    """The language model that the session as a whole names; steps may name others."""
    exit_status: str | None = None
    """How the session ended, in the format's own word (`Submitted`, `error_max_turns`)."""
    patch: str | None = None
    """The final patch, where the format keeps one (a submission)."""

    @property
    def heads(self) -> Sequence[Step]:
        """The steps, with long texts cut where they are not held in memory: quick to walk along."""
        return heads_of(self.steps)

    @property
    def step_count(self) -> int:
        """Messages of the model, sub-agents included."""
        return sum(step.number is not None for step in self.heads)

    @property
    def tool_call_count(self) -> int:
        """Tool calls in those messages."""
        return sum(len(step.calls) for step in self.heads)
