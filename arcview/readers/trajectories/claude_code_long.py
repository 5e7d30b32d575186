"""Reads long Claude Code logs: the heads of all steps, and each step again from its own records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path

from arcview.files import open_file
from arcview.model.problem import Problem
from arcview.model.trajectory import LongSteps, Step, ToolResult, Trajectory
from arcview.readers.trajectories.claude_code_blocks import (
    more_of,
    parts_of,
    tool_call,
    tool_result,
)
from arcview.readers.trajectories.claude_code_drafts import Item, Spot
from arcview.readers.trajectories.claude_code_items import Items
from arcview.readers.trajectories.claude_code_join import Placed, build
from arcview.readers.trajectories.claude_code_lines import LINES_TO_ASK, is_stream
from arcview.readers.trajectories.record_index import Found, RecordIndex, unreadable
from arcview.readers.trajectories.records import Lines, each_record, loaded, text_or_none

_HEAD_BYTES = 1 << 16


def read_long(files: Sequence[Path]) -> Trajectory | None:
    """Reads logs without holding them.

    Null where one of them is not plain JSON Lines: that one has to be read as a whole.
    """
    logs: list[tuple[bool, Path]] = []
    problems: list[Problem] = []
    for path in files:
        try:
            if not _is_plain(path):
                return None
            with open_file(path) as file:
                head = islice(each_record(file, Lines("")), LINES_TO_ASK)
                logs.append((is_stream(value for _, value in head), path))
        except OSError as error:
            problems.append(Problem(str(path), unreadable(error)))
    index, items = RecordIndex(), Items(is_cut=True)
    # Sessions first: they have the times and every block, the stream adds order and ends.
    logs.sort(key=lambda log: log[0])
    for in_stream, path in logs:
        lines = Lines(path.name)
        try:
            items.take(lines, in_stream=in_stream, records=index.read(path, lines))
        except OSError as error:
            problems.append(Problem(str(path), unreadable(error)))
    trajectory, order = build(items)
    source = _Source(index, [in_stream for in_stream, _ in logs], order)
    steps = LongSteps(trajectory.steps, [(source, place) for place in range(len(order))])
    _let_go(items, order)
    return replace(trajectory, steps=steps, problems=(*problems, *trajectory.problems))


def _let_go(items: Items, order: list[Placed]) -> None:
    """Lets go of what became steps, one by one: all of it at once would hold up the screen."""
    while order:
        order.pop()
    while items.items:
        items.items.popitem()
    while items.calls:
        items.calls.popitem()


def _is_plain(path: Path) -> bool:
    """Whether a file has a record in its first line; a lone line may be a whole document."""
    with open_file(path) as file:
        if not file.read(_HEAD_BYTES).strip(b"\0 \t\r\n"):
            return False
        file.seek(0)
        first = next((line for line in file if line.strip()), b"").removeprefix(b"\xef\xbb\xbf")
        record = loaded(first)
        is_of_session = isinstance(record, dict) and "sessionId" in record
        return is_of_session or (record is not None and any(line.strip() for line in file))


class _Source:
    """Fetches steps from the records that have a part in them."""

    def __init__(self, index: RecordIndex, in_stream: Sequence[bool], order: list[Placed]) -> None:
        self._index = index
        self._in_stream = in_stream
        self._parts = [_parts_of(placed.item) for placed in order]

    def whole(self, head: Step, place: int) -> Step:
        """A step as it is recorded; what cannot be read any more is said in its text."""
        key, records, spots = self._parts[place]
        wanted = {*records, *(spot.record for spot in spots if spot is not None)}
        try:
            found = self._index.again(wanted)
            results = [_result_at(spot, found) for spot in spots]
            item = None
            if key is not None:
                item = self._item(key, [found[record] for record in sorted(set(records))])
        except OSError as error:
            return replace(head, text=f"{head.text}\n({unreadable(error)})")
        except LookupError:
            return replace(head, text=f"{head.text}\n(the file has changed: the rest is not there)")
        if item is None:
            # Whether there is a call for a lone result, only the whole log tells.
            why = head.text.partition("\n")[0]
            return replace(head, text="\n".join([why, *(r.text for r in results if r)]))
        calls = [
            replace(tool_call(call.block, known.key, result), note=known.note)
            for call, known, result in zip(item.calls, head.calls, results, strict=False)
        ]
        return replace(
            head,
            text=item.text("text"),
            thinking=item.text("thinking"),
            calls=tuple(calls),
            images=tuple(item.images),
            raw=item.raw,
        )

    def _item(self, key: str, found: Sequence[Found]) -> Item:
        items = Items()
        for file, group in groupby(found, key=attrgetter("file")):
            lines = Lines(self._index.files[file].name, [(each.line, each.value) for each in group])
            items.take(lines, in_stream=self._in_stream[file])
        return items.items[key]


def _parts_of(item: Item) -> tuple[str | None, tuple[int, ...], tuple[Spot | None, ...]]:
    """What a step is made from: the item's key, its records, and the results of its calls.

    A result that belongs to no call has no key: it is nothing but that result.
    """
    if item.unpaired is not None:
        return None, (), (item.unpaired.spot,)
    return item.key, tuple(item.records), tuple([call.spot for call in item.calls])


def _result_at(spot: Spot | None, found: Mapping[int, Found]) -> ToolResult | None:
    """The result that is recorded at a spot."""
    record = found[spot.record].value if spot is not None else None
    if spot is None or not isinstance(record, dict):
        return None
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else record.get("content")
    block = parts_of(content).results[spot.place]
    more = more_of(record) if spot.with_more else None
    return tool_result(block, more, text_or_none(record.get("timestamp")))[0]
