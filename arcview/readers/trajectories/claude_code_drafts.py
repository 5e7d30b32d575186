"""What Claude Code records become before they are steps: threads, items and calls in the making.

Without rules: `claude_code_items` fills them. Of some there are very many: these are no
dataclasses, which take four times as long to make.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from arcview.model.trajectory import Image, Role, StepKind, ToolResult
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.cuts import mark_of


class Spot(NamedTuple):
    """Where a result is recorded."""

    record: int
    """Number of the record, in the order in which all are taken."""
    place: int
    """Which of the results in it."""
    with_more: bool = True
    """Whether what the client recorded beside it counts too."""


class Call(msgspec.Struct):
    """One tool call with what came back."""

    id: str
    key: str
    block: Mapping[str, object]
    prompt: Hashable = None
    """What a sub-agent is told by it, as `mark_of` has it; null for other calls."""
    note: str | None = None
    result: ToolResult | None = None
    spot: Spot | None = None
    """Where the result is recorded."""
    from_stream: bool = False
    """Whether the result was taken from a stream; the same one comes again in the session."""


@dataclass(slots=True)
class Thread:
    """One session's main line, or one sub-agent; keys of items in the order of each source."""

    id: str
    session: str | None
    agent: str | None = None
    parent_call: str | None = None
    session_order: dict[str, None] = field(default_factory=dict)
    stream_order: dict[str, None] = field(default_factory=dict)
    after_boundary: bool = False

    def add(self, key: str, *, in_stream: bool) -> None:
        """Notes that the item comes next in that source."""
        (self.stream_order if in_stream else self.session_order).setdefault(key)


@dataclass(slots=True)
class Other:
    """Counts of the blocks of a further file, which repeats most of those that are known."""

    file: str
    counts: Counter[Hashable]
    """What was known before it, block by block."""
    counted: Counter[Hashable] = field(default_factory=Counter)


class Item(msgspec.Struct):
    """One step in the making."""

    key: str
    thread: Thread
    role: Role
    kind: StepKind
    address: str
    """Message id, record id, or file and line."""
    records: list[int]
    """Which records, in the order in which all are taken, have a part in it; results left out."""
    blocks: list[tuple[str, str]] = []
    file: str = ""
    """The file that it was first seen in."""
    other: Other | None = None
    """What a further file has of it."""
    calls: list[Call] = []
    images: list[Image] = []
    at: str | None = None
    usage: Usage | None = None
    told: object = None
    """The counts that `usage` was last looked for in, as the client wrote them."""
    model: str | None = None
    is_error: bool = False
    raw: str | None = None
    said: Hashable = None
    """What a user turn or a queued prompt says, as `mark_of` has it."""
    queued: bool = False
    """A queued prompt: shown only when no user turn repeats it."""
    unpaired: Unpaired | None = None

    def is_news(self, block: tuple[str, str], file: str) -> bool:
        """Whether a further file has a block more often than was known before it."""
        if self.other is None or self.other.file != file:
            known: Counter[Hashable] = Counter((k, mark_of(text)) for k, text in self.blocks)
            self.other = Other(file, known)
        mark = (block[0], mark_of(block[1]))
        self.other.counted[mark] += 1
        return self.other.counted[mark] > self.other.counts[mark]

    def text(self, kind: str) -> str:
        """The text or thinking blocks below each other."""
        if self.unpaired is not None and kind == "text":
            return f"({self.unpaired.why})\n{self.unpaired.result.text}"
        if not self.blocks:
            return ""
        return "\n".join([text for name, text in self.blocks if name == kind])


@dataclass(slots=True)
class Unpaired:
    """A result whose call has not been seen yet."""

    call_id: str | None
    result: ToolResult
    remark: str | None
    spot: Spot
    why: str | None = None
    """What to say of it when no call takes it; null while one may."""
