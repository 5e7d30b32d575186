"""Records of `codex exec --json` → drafts: items of today's client, events of the one up to 0.40.

Neither has times, patches or the borders of responses: a response is taken to go on while it
speaks before it calls, and while calls run side by side.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from arcview.model.trajectory import Role, StepKind, ToolCall, ToolKind, ToolResult
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.codex_facts import fact_of
from arcview.readers.trajectories.codex_items import code_of, content_of
from arcview.readers.trajectories.codex_kinds import TURN_BORDERS
from arcview.readers.trajectories.codex_notes import exit_status_of, note_of
from arcview.readers.trajectories.codex_tokens import Tokens, usage_of, without
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.drafts import CallSpot, Draft, Drafts
from arcview.readers.trajectories.records import Record, as_json, kind_of, text_or_none
from arcview.readers.trajectories.tools import command_of
from arcview.readers.trajectories.tools import kind_of as tool_kind

_TEXT_ITEMS = frozenset({"agent_message", "assistant_message", "plan"})
_CALL_ITEMS = frozenset(
    {
        "collab_tool_call",
        "command_execution",
        "file_change",
        "mcp_tool_call",
        "todo_list",
        "web_search",
    }
)
_STARTS = frozenset({"thread.started", "session.created"})
_BEGINNINGS = frozenset(
    {"exec_command_begin", "mcp_tool_call_begin", "patch_apply_begin", "web_search_begin"}
)
_ENDS = frozenset({"exec_command_end", "mcp_tool_call_end", "patch_apply_end", "web_search_end"})
_PIECES = frozenset(
    {
        "agent_message_content_delta",
        "agent_message_delta",
        "agent_reasoning_delta",
        "agent_reasoning_raw_content_delta",
        "agent_reasoning_section_break",
        "exec_command_output_delta",
        "item.plan.delta",
        "mcp_list_tools_response",
    }
)
"""Pieces of what follows whole."""


@dataclass(slots=True)
class ExecLog:
    """Takes the records of one stream in their order."""

    shown: str
    """Name of the file: item ids count from 0 in every one."""
    totals: dict[str | None, Usage]
    """What each thread had spent so far; shared by the streams of one reading."""
    drafts: Drafts = field(default_factory=Drafts)
    threads: dict[str, None] = field(default_factory=dict)
    usage: list[Usage] = field(default_factory=list)
    """What each turn spent."""
    model: str | None = None
    exit_status: str | None = None
    """The word for the end of the last turn; null while it goes on."""
    _starts: int = 0
    _open: Draft | None = None
    _running: set[str] = field(default_factory=set)
    _spots: dict[str, CallSpot] = field(default_factory=dict)
    _tokens: Tokens = field(default_factory=Tokens)

    def take(self, value: object, address: str) -> None:
        """Takes one record.

        Args:
            value: The parsed line.
            address: File and line.
        """
        if not isinstance(value, dict):
            self.drafts.raw(value, address, type(value).__name__)
            return
        event = value.get("msg")
        kind = kind_of(value)
        if kind is None and isinstance(event, dict):
            self._take_event(event, address)
        elif kind is None and isinstance(value.get("prompt"), str):
            prompt = str(value["prompt"])
            self.drafts.add(Role.USER, StepKind.MESSAGE, address, text=prompt)
        elif kind is None and "model" in value:
            self._take_settings(value, address)
        else:
            self._take_record(kind or "no type", value, address)

    def _take_settings(self, settings: Record, address: str) -> None:
        """The first line of old clients: the settings in words."""
        self.model = text_or_none(settings.get("model"))
        told = ", ".join(f"{name} {value}" for name, value in settings.items() if value)
        self.drafts.note(f"session started: {told}", address)

    def _take_record(self, kind: str, record: Record, address: str) -> None:
        if kind in _STARTS:
            thread = text_or_none(record.get("thread_id")) or text_or_none(record.get("session_id"))
            self._start(thread, address)
        elif kind == "turn.started":
            self._open = self.exit_status = None
        elif kind in ("item.started", "item.updated", "item.completed"):
            self._take_item(mapping(record.get("item")), kind, address)
        elif kind == "turn.completed":
            self._end_turn(usage_of(record.get("usage")), address)
        elif kind in ("turn.failed", "error"):
            self._open = None
            self.exit_status = kind if kind == "turn.failed" else self.exit_status
            text, _ = note_of(kind, record) or (kind, True)
            self.drafts.note(text, address, is_error=True)
        elif kind not in _PIECES:
            self.drafts.raw(dict(record), address, kind)

    def _start(self, thread: str | None, address: str) -> None:
        self._starts += 1
        self._open = None
        self._spots.clear()
        self._running.clear()
        self.drafts.session = thread
        if thread is not None:
            self.threads.setdefault(thread)
        self.drafts.note("session started" if self._starts == 1 else "session resumed", address)

    def _end_turn(self, total: Usage | None, address: str) -> None:
        """The end of a turn. Its count is the total of the whole thread, earlier runs included."""
        self._open, self.exit_status = None, "turn.completed"
        draft = self.drafts.note("turn ended", address)
        if total is not None:
            thread = self.drafts.session
            draft.usage = without(total, self.totals.get(thread))
            self.totals[thread] = total
            self.usage.append(draft.usage)

    def _take_item(self, item: Record, stage: str, address: str) -> None:
        kind = text_or_none(item.get("type")) or text_or_none(item.get("item_type")) or "no type"
        if kind in _TEXT_ITEMS or kind == "reasoning":
            if stage == "item.completed":
                self._say(kind, item.get("text"), address)
        elif kind == "error":
            # Some are mere warnings: that a turn failed is said in a record of its own.
            self.drafts.note(f"warning or error: {item.get('message')}", address)
        elif kind in _CALL_ITEMS:
            self._take_call(item, kind, stage, address)
        elif stage == "item.completed":
            self.drafts.raw(dict(item), address, f"item {kind}")

    def _say(self, kind: str, text: object, address: str) -> None:
        if not isinstance(text, str) or not text:
            return
        step = self._open
        speaks = step is not None and bool(step.texts)
        if step is None or step.calls or speaks:
            step = self._response(address)
        (step.thoughts if kind == "reasoning" else step.texts).append(text)

    def _response(self, address: str) -> Draft:
        step = self.drafts.add(Role.ASSISTANT, StepKind.MESSAGE, address)
        step.model = self.model
        self._open = step
        return step

    def _take_call(self, item: Record, kind: str, stage: str, address: str) -> None:
        item_id = text_or_none(item.get("id")) or address
        made = _call(item, kind, self._key(item_id))
        spot = self._spots.get(item_id)
        if spot is None:
            spot = self._called(item_id, made, address)
        is_done = stage == "item.completed"
        spot.call = replace(made, result=_result(item, kind) if is_done else None)
        if is_done:
            self._running.discard(item_id)

    def _called(self, item_id: str, call: ToolCall, address: str) -> CallSpot:
        """Adds a call to the response that goes on, or to a new one."""
        step = self._open
        if step is None or (step.calls and not self._running):
            step = self._response(address)
        spot = self.drafts.call(step, call, None, address)
        self._spots[item_id] = spot
        if call.name != "todo_list":  # such a list stays open until the turn ends
            self._running.add(item_id)
        return spot

    def _key(self, item_id: str) -> str:
        run = f".{self._starts}" if self._starts > 1 else ""
        return f"{self.shown}{run}:{item_id}"

    def _take_event(self, event: Record, address: str) -> None:
        """An event of the client up to 0.40."""
        kind = kind_of(event) or "no type"
        match kind:
            case "agent_message":
                self._say(kind, event.get("message"), address)
            case "agent_reasoning" | "agent_reasoning_raw_content":
                self._say("reasoning", event.get("text"), address)
            case "token_count":
                self._count(event)
            case "session_configured":
                self.model = text_or_none(event.get("model")) or self.model
                self._start(text_or_none(event.get("session_id")), address)
            case _ if kind in _BEGINNINGS:
                self._begin(event, address)
            case _ if kind in _ENDS:
                self._end(event, address)
            case _ if kind in _PIECES:
                return
            case _:
                note = note_of(kind, event)
                if kind in TURN_BORDERS:
                    self._open, self.exit_status = None, exit_status_of(kind, event)
                if note is None:
                    self.drafts.raw(dict(event), address, kind)
                else:
                    self.drafts.note(note[0], address, is_error=note[1])

    def _count(self, event: Record) -> None:
        info = mapping(event.get("info"))
        last = usage_of(info.get("last_token_usage") or event)
        spent = self._tokens.take(last, usage_of(info.get("total_token_usage")))
        if spent is None:
            return
        self.usage.append(spent)
        if self._open is not None:
            self._open.usage, self._open = spent, None

    def _begin(self, event: Record, address: str) -> CallSpot:
        call_id = text_or_none(event.get("call_id")) or address
        made = fact_of(event).call(self._key(call_id))
        return self._called(call_id, replace(made, note=None), address)

    def _end(self, event: Record, address: str) -> None:
        call_id = text_or_none(event.get("call_id")) or address
        spot = self._spots.get(call_id) or self._begin(event, address)
        spot.call = fact_of(event).closing(spot.call, None)
        self._running.discard(call_id)


def _call(item: Record, kind: str, key: str) -> ToolCall:
    """The call of an item, without its result."""
    match kind:
        case "command_execution":
            written = item.get("command")
            command = written if isinstance(written, str) else as_json(written)
            arguments: Mapping[str, object] = {"command": written}
            return ToolCall(key, kind, ToolKind.SHELL, arguments, command=_unwrapped(command))
        case "file_change":
            changes = listed(item.get("changes"))
            path = next((text_or_none(mapping(change).get("path")) for change in changes), None)
            note = "this log holds no text of the change"
            return ToolCall(key, kind, ToolKind.EDIT, {"changes": changes}, path=path, note=note)
        case "mcp_tool_call":
            name = f"{item.get('server')}.{item.get('tool')}"
            return ToolCall(key, name, ToolKind.OTHER, mapping(item.get("arguments")))
        case "collab_tool_call":
            name = str(item.get("tool") or kind)
            return ToolCall(key, name, tool_kind(name, {}), _rest(item))
        case _:
            return ToolCall(key, kind, tool_kind(kind, {}), _rest(item))


def _rest(item: Record) -> Mapping[str, object]:
    hidden = ("id", "type", "item_type", "status", "tool")
    return {name: value for name, value in item.items() if name not in hidden and value}


def _unwrapped(command: str) -> str:
    """The script of `/bin/bash -lc '…'`; other commands as they are."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        return command_of(ToolKind.SHELL, {"command": words}) or command
    return command


def _result(item: Record, kind: str) -> ToolResult:
    """What came of a completed item."""
    status = item.get("status")
    failed = status in ("failed", "declined")
    done = status == "completed"
    error = mapping(item.get("error")).get("message")
    content = content_of(mapping(item.get("result")).get("content"))
    text = text_or_none(item.get("aggregated_output")) or text_or_none(error) or content.text
    code = code_of(item.get("exit_code"))
    if kind == "command_execution" and code is not None:
        # The status only repeats the code.
        return ToolResult(text, None, code)
    is_error = True if failed else (False if done else None)
    return ToolResult(text, is_error, code, tuple(content.images))
