"""Claude Code records of several files → items, each counted once, sorted into threads.

A thread is one session's main line or one sub-agent. An item becomes one step: a model message
(several records share its id), a user turn, a note, a summary. Results go to their calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from pathlib import PurePosixPath

from arcview.model.problem import Problem
from arcview.model.trajectory import Role, StepKind, ToolResult
from arcview.readers.trajectories.claude_code_blocks import (
    Parts,
    cut_call,
    more_of,
    parts_of,
    task_prompt,
    tool_result,
    usage_of,
)
from arcview.readers.trajectories.claude_code_drafts import (
    Call,
    Item,
    Spot,
    Thread,
    Unpaired,
)
from arcview.readers.trajectories.claude_code_ends import Ends
from arcview.readers.trajectories.claude_code_notes import (
    COMMAND,
    LOCAL_OUTPUT,
    NO_MODEL,
    SUMMARY,
    is_by_the_client,
    note_of,
    queued_command,
)
from arcview.readers.trajectories.claude_code_threads import Threads
from arcview.readers.trajectories.cuts import cut, cut_image, cut_result, mark_of
from arcview.readers.trajectories.records import Lines, Record, as_json, kind_of, text_or_none


class Items:
    """Takes records one after another; session files before streams.

    Args:
        is_cut: Whether to keep of every text what a folded step shows.
    """

    def __init__(self, *, is_cut: bool = False) -> None:
        self.is_cut = is_cut
        self.items: dict[str, Item] = {}
        self.threads = Threads()
        self.calls: dict[str, list[Call]] = {}
        self.unknown: Counter[str] = Counter()
        self.problems: list[Problem] = []
        self.partial_events = 0
        self.ends = Ends()
        self._by_uuid: dict[str, str] = {}
        self._prompts: dict[tuple[str, str], Item] = {}
        """The user's turns by what they answer."""
        self._said: dict[tuple[str, Hashable], str] = {}
        self._queued: set[tuple[str, Hashable]] = set()
        """Prompts that wait, by thread: they are told of again when their turn comes."""
        self._file = ""
        self._in_stream = False
        self._record = -1
        """Number of the record that is being taken."""
        self._line = 0
        """Its line in the file."""
        self._key = ""
        """Key of the last item that a record had a part in."""

    def take(
        self,
        lines: Lines,
        *,
        in_stream: bool,
        records: Iterable[tuple[int, object]] | None = None,
    ) -> None:
        """Takes all records of a file.

        Args:
            lines: The file.
            in_stream: Whether it is a stream.
            records: Its records, where they come one by one and `lines` has none.
        """
        self._file = PurePosixPath(lines.shown).name
        self._in_stream = in_stream
        self.threads.begin(lines.shown, in_stream=in_stream)
        first_problem = len(self.problems)
        for self._line, value in lines.records if records is None else records:
            self._record += 1
            if isinstance(value, dict):
                self._take_record(value)
            else:
                self._take_raw(value, self.threads.loose, type(value).__name__)
        self.problems[first_problem:first_problem] = lines.problems

    @property
    def _place(self) -> str:
        """Where the record that is being taken stands."""
        return f"{self._file}:{self._line}"

    def _take_record(self, record: Record) -> None:
        thread = self.threads.of(record)
        uuid = text_or_none(record.get("uuid"))
        if uuid is None:
            self._take_new(record, thread)
        elif uuid in self._by_uuid:
            self._again(record, self._by_uuid[uuid])
        else:
            self.threads.of_uuid[uuid] = thread
            self._key = ""
            self._take_new(record, thread)
            self._by_uuid[uuid] = self._key

    def _take_new(self, record: Record, thread: Thread) -> None:
        """A record that no file before had."""
        if self.ends.version is None:
            self.ends.see(record)
        kind = record.get("type")
        if kind is None and "role" in record and "content" in record:
            # A bare message of the API, as some harnesses log them line by line.
            kind = record["role"]
            record = {"type": kind, "message": record, "content": record["content"]}
        match kind:
            case "assistant":
                self._take_message(record, thread)
            case "user":
                self._take_user(record, thread)
            case "stream_event":
                self.partial_events += 1
            case "system" if record.get("subtype") == "thinking_tokens":
                self.partial_events += 1
            case "queue-operation":
                self._take_queued(record, thread)
            case "attachment" if (queued := queued_command(record)) is not None:
                self._take_queued({**queued, "timestamp": record.get("timestamp")}, thread)
            case _:
                self._take_other(record, thread)

    def _again(self, record: Record, key: str) -> None:
        """A record that another file has too: only its place and later figures count."""
        item = self.items.get(key)
        if item is None:
            return
        item.thread.add(key, in_stream=self._in_stream)
        parent = text_or_none(record.get("parent_tool_use_id"))
        if parent is not None and item.thread.agent is not None:
            item.thread.parent_call = parent
        message = record.get("message")
        if isinstance(message, dict) and item.role is Role.ASSISTANT:
            self._add_usage(item, message)

    def _item(
        self, key: str, thread: Thread, role: Role, kind: StepKind, address: str, record: Record
    ) -> Item:
        """The item with that key, made when it is new, and its place in this source."""
        item = self.items.get(key)
        if item is None:
            item = self.items[key] = Item(key, thread, role, kind, address, [self._record])
            item.file, item.at = self._file, text_or_none(record.get("timestamp"))
        else:
            item.records.append(self._record)
            if thread.parent_call is not None and item.thread.agent is not None:
                item.thread.parent_call = thread.parent_call
        item.thread.add(key, in_stream=self._in_stream)
        self._key = key
        return item

    def _take_message(self, record: Record, thread: Thread) -> None:
        message = record.get("message")
        if not isinstance(message, dict) or "parts" in message:
            self._take_raw(dict(record), thread, "assistant without a message")
            return
        message_id = text_or_none(message.get("id"))
        address = message_id or text_or_none(record.get("uuid")) or self._place
        item = self._item(f"m:{address}", thread, Role.ASSISTANT, StepKind.MESSAGE, address, record)
        model = text_or_none(message.get("model"))
        if model is not None and model != NO_MODEL:
            item.model = model
        failed = record.get("isApiErrorMessage") is True or record.get("error") is not None
        item.is_error = item.is_error or failed
        self._add_usage(item, message)
        parts = parts_of(message.get("content"))
        self._add_blocks(item, parts)
        for index, block in enumerate(parts.tool_uses):
            self._add_call(item, block, index)
        for index, block in enumerate(parts.results):
            self._pair(block, record, thread, Spot(self._record, index))

    def _add_usage(self, item: Item, message: Mapping[str, object]) -> None:
        """Early records of a message carry partial counts: the last ones count."""
        told = message.get("usage")
        if told == item.told:
            return  # most records of a message repeat them
        item.told = told
        usage = usage_of(told)
        so_far = item.usage.output_tokens if item.usage else None
        if usage is not None and (usage.output_tokens or 0) >= (so_far or 0):
            item.usage = usage

    def _add_blocks(self, item: Item, parts: Parts) -> None:
        """Adds what this file has more often than any file before it."""
        for block in parts.blocks:
            if block[1] and (item.file == self._file or item.is_news(block, self._file)):
                item.blocks.append((block[0], cut(block[1])) if self.is_cut else block)
        if parts.images and not item.images:
            item.images += map(cut_image, parts.images) if self.is_cut else parts.images

    def _add_call(self, item: Item, block: Mapping[str, object], index: int) -> None:
        call_id = text_or_none(block.get("id"))
        if call_id is not None and any(call.id == call_id for call in item.calls):
            return
        known_as = call_id or f"{self._place}.{index}"
        same = self.calls.setdefault(known_as, [])
        kept = cut_call(block) if self.is_cut else block
        call = Call(known_as, known_as, kept, task_prompt(block))
        if same:
            call.key = f"{call_id}#{len(same) + 1}"
            call.note = f"duplicate id: {len(same)} earlier call(s) have it too"
            where = f"{self._place}.{index}"
            self.problems.append(Problem(where, f"tool call id {call_id} is used again"))
        same.append(call)
        item.calls.append(call)

    def _take_user(self, record: Record, thread: Thread) -> None:
        message = record.get("message")
        if not isinstance(message, dict) or "content" not in message:
            self._take_raw(dict(record), thread, "user without a message")
            return
        parts = parts_of(message.get("content"))
        for index, block in enumerate(parts.results):
            self._pair(block, record, thread, Spot(self._record, index))
        if not parts.blocks and not parts.images:
            return
        text = parts.text
        is_summary = record.get("isCompactSummary") is True or text.startswith(SUMMARY)
        is_summary, thread.after_boundary = is_summary or thread.after_boundary, False
        kind = StepKind.COMPACTION if is_summary else StepKind.MESSAGE
        role = Role.USER
        if kind is StepKind.MESSAGE and is_by_the_client(record, text):
            kind, role = StepKind.NOTE, Role.SYSTEM
            if text.startswith(LOCAL_OUTPUT):
                self._note_command(record, thread)
        address = text_or_none(record.get("uuid")) or self._place
        # A stream may give a turn another id than the session does.
        said = self._said.setdefault((thread.id, mark_of(text)), f"u:{address}")
        key = said if self._in_stream and said not in thread.stream_order else f"u:{address}"
        item = self._item(key, thread, role, kind, address, record)
        item.said = mark_of(text.strip()) if item.said is None else item.said
        self._add_blocks(item, parts)
        for index, block in enumerate(parts.tool_uses):
            self._add_call(item, block, index)
        if kind is StepKind.MESSAGE and not parts.results:
            self._take_back(item, text_or_none(record.get("parentUuid")))

    def _note_command(self, record: Record, thread: Thread) -> None:
        """What the client answers itself, the user did not say to the model."""
        order = thread.stream_order if self._in_stream else thread.session_order
        key = self._by_uuid.get(str(record.get("parentUuid"))) or next(reversed(order), "")
        asked = self.items.get(key)
        if asked is not None and asked.text("text").startswith(COMMAND):
            asked.kind, asked.role = StepKind.NOTE, Role.SYSTEM

    def _take_back(self, item: Item, parent: str | None) -> None:
        """Of several prompts at one place of the conversation the last is the user's."""
        if parent is None:
            return
        earlier = self._prompts.setdefault((item.thread.id, parent), item)
        if earlier is not item:
            earlier.kind = StepKind.NOTE
            self._prompts[item.thread.id, parent] = item
            what = f"taken back: the user went on with another prompt ({item.address})"
            self.problems.append(Problem(earlier.address, what))

    def _pair(self, block: Record, record: Record, thread: Thread, spot: Spot) -> None:
        """Gives a result to its call; one whose call is not known yet waits for it."""
        richer = more_of(record)
        call_id = text_or_none(block.get("tool_use_id"))
        agent = richer.get("agentId") if isinstance(richer, dict) else None
        if call_id is not None and isinstance(agent, str):
            self.threads.agent_of_call[call_id] = agent
        at = text_or_none(record.get("timestamp"))
        result, remark = self._result(block, richer, at)
        if call_id is not None and self._give(call_id, result, remark, spot):
            return
        place = self._place
        key = f"r:{place}:{call_id}"
        item = self._item(key, thread, Role.USER, StepKind.NOTE, place, record)
        result, remark = self._result(block, None, item.at)
        item.said = (key, mark_of(result.text))
        item.unpaired = Unpaired(call_id, result, remark, spot._replace(with_more=False))

    def _result(
        self, block: Mapping[str, object], richer: object, at: str | None
    ) -> tuple[ToolResult, str | None]:
        result, remark = tool_result(block, richer, at)
        return (cut_result(result) if self.is_cut else result), remark

    def _give(self, call_id: str, result: ToolResult, remark: str | None, spot: Spot) -> bool:
        """Whether the result was given to a call, or is one that the call already has."""
        calls = self.calls.get(call_id, [])
        free = next((call for call in calls if call.result is None), None)
        if free is not None:
            free.result, free.spot = result, spot
            free.from_stream = self._in_stream
            if remark is not None:
                free.note = remark if free.note is None else f"{free.note}; {remark}"
            return True
        return any(
            call.from_stream is not self._in_stream
            or (call.result is not None and mark_of(call.result.text) == mark_of(result.text))
            for call in calls
        )

    def pair_late(self) -> None:
        """Pairs results that came before their calls; the others stay as orphans."""
        for key, item in list(self.items.items()):
            late = item.unpaired
            if late is None:
                continue
            call_id = late.call_id
            self._in_stream = key in item.thread.stream_order
            if call_id and self._give(call_id, late.result, late.remark, late.spot):
                del self.items[key]
                continue
            why = "a second result for" if call_id in self.calls else "a result without a call:"
            late.why = f"{why} {call_id or 'no id'}"
            self.problems.append(Problem(item.address, late.why))

    def _take_queued(self, record: Record, thread: Thread) -> None:
        content = text_or_none(record.get("content"))
        if content is None:
            return
        mark = thread.id, mark_of(content.strip())
        if record.get("operation", "enqueue") != "enqueue" and mark in self._queued:
            return
        self._queued.add(mark)
        place = self._place
        item = self._item(f"f:{place}", thread, Role.USER, StepKind.NOTE, place, record)
        item.blocks.append(("text", cut(content) if self.is_cut else content))
        item.said = mark_of(content.strip())
        item.queued = True

    def _take_other(self, record: Record, thread: Thread) -> None:
        note = note_of(record)
        if note is None:
            self._take_raw(dict(record), thread, kind_of(record) or "no type")
            return
        address = text_or_none(record.get("uuid")) or self._place
        item = self._item(f"u:{address}", thread, Role.SYSTEM, note.kind, address, record)
        item.blocks.append(("text", cut(note.text) if self.is_cut else note.text))
        item.is_error, item.usage, item.model = note.is_error, note.usage, note.model
        if kind_of(record) == "result":
            item.usage = self.ends.close(record, thread.session, note.usage)
        thread.after_boundary = note.is_boundary

    def _take_raw(self, value: object, thread: Thread, kind: str) -> None:
        self.unknown[kind] += 1
        record = value if isinstance(value, dict) else {}
        self.threads.by_id.setdefault(thread.id, thread)
        place = self._place
        item = self._item(f"f:{place}", thread, Role.UNKNOWN, StepKind.RAW, place, record)
        raw = as_json(value)
        item.raw = cut(raw) if self.is_cut else raw
