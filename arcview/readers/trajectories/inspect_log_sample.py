"""One sample of an Inspect log, in whichever of its two shapes it was written.

A sample is one document, or a folder of numbered slices; either way long texts stand apart from
where they are used, and so do the messages that were sent to a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.records import Record

_REFERENCES = ("attachment://", "tc://")
_WHOLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d+)\.json", re.DOTALL)
_SLICED = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d+)/sample\.json", re.DOTALL)
_SLICES = ("messages", "events", "attachments")
_MAX_MESSAGES = 100_000
"""More than any conversation has: a longer list of references is damage."""


@dataclass(frozen=True, slots=True)
class SampleName:
    """Which sample an entry holds."""

    id: str
    epoch: int
    entry: str
    is_sliced: bool = False


@dataclass(slots=True)
class Sample:
    """A sample with what it refers to."""

    record: Record
    events: Sequence[object] = ()
    messages: Sequence[object] = ()
    """The conversation as it was at the end."""
    pool: Sequence[object] = ()
    """The messages that model calls refer to by number."""
    attachments: Mapping[str, object] | Sequence[object] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """The text that a reference stands for; any other text, and a dead reference, as it is."""
        prefix = next((p for p in _REFERENCES if text.startswith(p)), None)
        if prefix is None:
            return text
        name = text.removeprefix(prefix)
        found: object = None
        if isinstance(self.attachments, Mapping):
            found = self.attachments.get(name)
        elif name.isdigit() and int(name) < len(self.attachments):
            found = self.attachments[int(name)]
        return found if isinstance(found, str) else text

    def resolved(self, value: object, depth: int = 0) -> object:
        """A value with every text in it resolved; for the arguments of calls."""
        if isinstance(value, str):
            return self.text(value)
        if depth > _MAX_DEPTH:
            return value
        if isinstance(value, dict):
            return {key: self.resolved(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list):
            return [self.resolved(item, depth + 1) for item in value]
        return value

    def sent(self, event: Record) -> list[Record]:
        """The messages that a model call was given."""
        own = [mapping(message) for message in listed(event.get("input"))]
        return own + _at(event.get("input_refs"), self.pool)


_MAX_DEPTH = 20


def _at(ranges: object, pool: Sequence[object]) -> list[Record]:
    """The messages at ranges of a pool: start, and end without itself."""
    found: list[Record] = []
    for pair in listed(ranges):
        if isinstance(pair, list) and len(pair) == 2 and all(type(n) is int for n in pair):
            start, end = max(pair[0], 0), min(pair[1], len(pool))
            found += [mapping(message) for message in pool[start:end]]
            if len(found) > _MAX_MESSAGES:
                return found[:_MAX_MESSAGES]
    return found


def sample_names(entries: Sequence[str]) -> list[SampleName]:
    """The samples among the entries of an archive, in order of first appearance."""
    found: dict[tuple[str, int], SampleName] = {}
    for entry in entries:
        for pattern in (_WHOLE, _SLICED):
            if match := pattern.fullmatch(entry):
                key = match["id"], int(match["epoch"])
                found.setdefault(key, SampleName(*key, entry, is_sliced=pattern is _SLICED))
    return list(found.values())


def whole_sample(record: Record) -> Sample:
    """A sample that is one document."""
    data = mapping(record.get("events_data"))
    attachments = record.get("attachments")
    transcript = mapping(record.get("transcript"))  # where the first versions had both
    if transcript:
        attachments = transcript.get("content")
    return Sample(
        record=record,
        events=listed(record.get("events")) or listed(transcript.get("events")),
        messages=listed(record.get("messages")),
        pool=listed(data.get("messages")),
        attachments=attachments if isinstance(attachments, (dict, list)) else {},
    )


def sliced_sample(
    name: SampleName, entries: Sequence[str], load: Callable[[str], object]
) -> Sample:
    """A sample whose lists are cut into numbered slices.

    Args:
        name: The sample.
        entries: All entries of the archive.
        load: Gives the JSON value of an entry; null for one that cannot be read.
    """
    folder = name.entry.removesuffix("sample.json")
    lists: dict[str, list[object]] = {kind: [] for kind in _SLICES}
    for kind in _SLICES:
        prefix = f"{folder}{kind}/"
        starts = sorted(
            int(number)
            for entry in entries
            if entry.startswith(prefix)
            and (number := entry.removeprefix(prefix).removesuffix(".json")).isdigit()
        )
        for start in starts:
            lists[kind] += listed(load(f"{prefix}{start}.json"))
    record = mapping(load(name.entry))
    return Sample(
        record=record,
        events=lists["events"],
        messages=_at(record.get("message_refs"), lists["messages"]),
        pool=lists["messages"],
        attachments=lists["attachments"],
    )
