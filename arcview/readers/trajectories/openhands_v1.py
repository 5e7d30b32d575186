"""Events of OpenHands' software-agent-sdk → drafts."""

from __future__ import annotations

from dataclasses import dataclass, field

from arcview.model.trajectory import Image, Role, StepKind, ToolCall, ToolKind, ToolResult
from arcview.readers.trajectories.contents import image_at, listed, mapping
from arcview.readers.trajectories.drafts import CallSpot, Draft, Drafts
from arcview.readers.trajectories.openhands_metrics import Spending
from arcview.readers.trajectories.openhands_phrases import is_nudge, still_running
from arcview.readers.trajectories.records import Record, as_json, loaded, text_or_none
from arcview.readers.trajectories.times import iso_time
from arcview.readers.trajectories.tools import command_of, kind_of, path_of

_NOTED = frozenset(
    {
        "CondensationRequest",
        "ConversationStateUpdateEvent",
        "HookExecutionEvent",
        "InterruptEvent",
        "LLMCompletionLogEvent",
        "PauseEvent",
        "TokenEvent",
        "WarningEvent",
    }
)
"""Events that are only remarked on."""
_PIECES = frozenset({"StreamingDeltaEvent"})
"""Pieces of what follows whole."""
_ACP_KINDS = {
    "delete": ToolKind.EDIT,
    "edit": ToolKind.EDIT,
    "execute": ToolKind.SHELL,
    "fetch": ToolKind.SEARCH,
    "move": ToolKind.EDIT,
    "read": ToolKind.READ,
    "search": ToolKind.SEARCH,
}
_PLUMBING = frozenset({"id", "kind", "log_data", "parent_id", "source", "timestamp"})


@dataclass(slots=True)
class SdkLog:
    """Takes the events of one conversation in their order."""

    spending: Spending = field(default_factory=Spending)
    model: str | None = None
    prefix: str = ""
    """Stands before the keys of calls where one file holds several conversations."""
    drafts: Drafts = field(default_factory=Drafts)
    stats: object = None
    """The last metrics that an event tells of."""
    parents: dict[str, str | None] = field(default_factory=dict)
    """Events → the ones that they follow, where that is recorded."""
    _open: Draft | None = None
    _response: str | None = None
    _by_event: dict[str, CallSpot] = field(default_factory=dict)
    _acp: dict[str, CallSpot] = field(default_factory=dict)
    _place: str = ""
    """File and line of the event that is being taken."""

    def take(self, value: object, address: str) -> None:
        """Takes one event.

        Args:
            value: The parsed event.
            address: File, and line or place in it.
        """
        if not isinstance(value, dict):
            self.drafts.raw(value, address, type(value).__name__)
            return
        kind = text_or_none(value.get("kind")) or "no kind"
        at = iso_time(value.get("timestamp"))
        event_id = text_or_none(value.get("id"))
        if event_id is not None:
            self.parents[event_id] = text_or_none(value.get("parent_id"))
        self._place, address = address, event_id or address
        match kind:
            case "ActionEvent":
                self._take_call(value, address, at)
            case "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation":
                self._take_result(kind, value, address, at)
            case "MessageEvent":
                self._take_message(value, address, at)
            case "ACPToolCallEvent":
                self._take_acp(value, address, at)
            case "SystemPromptEvent":
                text = _content(value.get("system_prompt"))[0]
                self.drafts.note(f"system prompt\n{text}", address, at=at)
            case "Condensation" | "CondensationSummaryEvent":
                self._compact(value, address, at)
            case _ if kind in _PIECES:
                return
            case _ if kind.endswith("ErrorEvent"):
                told = text_or_none(value.get("detail")) or text_or_none(value.get("error"))
                text = f"{kind}: {told or _rest(value)}"
                self.drafts.note(text, address, at=at, is_error=True)
            case _ if kind in _NOTED:
                self._note(kind, value, address, at)
            case _:
                self.drafts.raw(value, address, kind, at=at)

    def _note(self, kind: str, event: Record, address: str, at: str | None) -> None:
        if kind == "ConversationStateUpdateEvent":
            news = event.get("value")
            if event.get("key") == "stats":
                self.stats = news
            elif event.get("key") == "full_state":
                self.stats = mapping(news).get("stats") or self.stats
            self.drafts.note(f"state: {event.get('key')} = {as_json(news)}", address, at=at)
            return
        self.drafts.note(f"{kind}: {_rest(event)}", address, at=at)

    def _take_message(self, event: Record, address: str, at: str | None) -> None:
        message = mapping(event.get("llm_message"))
        text, images = _content(message.get("content"))
        extension, _ = _content(event.get("extended_content"))
        source = event.get("source")
        if source == "agent" or (source is None and message.get("role") == "assistant"):
            step = self._answer(event, address, at)
            step.texts += [text] if text else []
            step.thoughts += _thoughts(message)
        else:
            self._open = None
            whole = f"{text}\n\n{extension}" if extension else text
            is_user = source == "user"
            role = Role.USER if is_user else Role.SYSTEM
            kind = StepKind.MESSAGE if is_user and not is_nudge(text) else StepKind.NOTE
            step = self.drafts.add(role, kind, address, text=whole, at=at)
        step.images += images

    def _answer(self, event: Record, address: str, at: str | None) -> Draft:
        """The response that goes on, or a new one; parallel calls share its id."""
        response = text_or_none(event.get("llm_response_id"))
        if self._open is None or response is None or response != self._response:
            self._open = self.drafts.add(Role.ASSISTANT, StepKind.MESSAGE, address, at=at)
            self._open.model = self.model
            self._open.usage = self.spending.of(response)
            self._response = response
        return self._open

    def _take_call(self, event: Record, address: str, at: str | None) -> None:
        step = self._answer(event, address, at)
        text, images = _content(event.get("thought"))
        if text:
            step.texts.append(text)
        step.images += images
        step.thoughts += _thoughts(event)
        call_id = text_or_none(event.get("tool_call_id"))
        key = f"{self.prefix}{call_id}" if call_id else address
        spot = self.drafts.call(step, _call(event, key), call_id, self._place)
        self._by_event[address] = spot

    def _take_result(self, kind: str, event: Record, address: str, at: str | None) -> None:
        call_id = text_or_none(event.get("tool_call_id"))
        result = _result(kind, event, at)
        spot = self._by_event.get(str(event.get("action_id")))
        if spot is not None and spot.call.result is None:
            spot.give(result)
        elif kind == "AgentErrorEvent" and self.drafts.spot(call_id) is None:
            self.drafts.note(f"{kind}: {result.text}", address, at=at, is_error=True)
        else:
            self.drafts.give(call_id, result, address)

    def _take_acp(self, event: Record, address: str, at: str | None) -> None:
        """A call of an agent that is driven from outside: told of again as it goes on."""
        call_id = text_or_none(event.get("tool_call_id")) or address
        made = _acp_call(event, f"{self.prefix}{call_id}")
        spot = self._acp.get(call_id)
        if spot is None:
            is_side_by_side = any(one.call.result is None for one in self._acp.values())
            if self._open is None or not is_side_by_side:
                self._open = self.drafts.add(Role.ASSISTANT, StepKind.MESSAGE, address, at=at)
                self._open.model, self._response = self.model, None
            spot = self._acp[call_id] = self.drafts.call(self._open, made, None, self._place)
        else:
            spot.call = made
        if event.get("status") in ("completed", "failed"):
            spot.give(_acp_result(event, at))

    def _compact(self, event: Record, address: str, at: str | None) -> None:
        self._open = None
        forgotten = listed(event.get("forgotten_event_ids"))
        text = "context condensed" + (f": {len(forgotten)} events forgotten" if forgotten else "")
        summary = text_or_none(event.get("summary"))
        text = f"{text}\n{summary}" if summary else text
        self.drafts.add(Role.SYSTEM, StepKind.COMPACTION, address, text=text, at=at)

    def off_branch(self, leaf: str | None) -> int:
        """How many events do not lead to the one that the conversation ended with."""
        if leaf is None or leaf not in self.parents or not any(self.parents.values()):
            return 0
        on_branch: set[str] = set()
        event: str | None = leaf
        while event is not None and event not in on_branch:
            on_branch.add(event)
            event = self.parents.get(event)
        return len(self.parents.keys() - on_branch)


def _rest(event: Record) -> str:
    return as_json({key: value for key, value in event.items() if key not in _PLUMBING and value})


def _content(value: object) -> tuple[str, list[Image]]:
    """Text and images of a content: a text, a part, or a list of parts."""
    texts: list[str] = []
    images: list[Image] = []
    for part in value if isinstance(value, list) else [value]:
        fields = mapping(part)
        if part is None:
            continue
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(fields.get("text"), str):
            texts.append(str(fields["text"]))
        elif "image_urls" in fields:
            images += [image_at(u) for u in listed(fields["image_urls"]) if isinstance(u, str)]
        else:
            texts.append(as_json(part))
    return "\n".join(text for text in texts if text), images


def _thoughts(fields: Record) -> list[str]:
    """Reasoning as a text, else the thinking blocks."""
    told = text_or_none(fields.get("reasoning_content"))
    if told is not None:
        return [told]
    blocks = [mapping(block) for block in listed(fields.get("thinking_blocks"))]
    found = [text for block in blocks if (text := text_or_none(block.get("thinking")))]
    item = mapping(fields.get("responses_reasoning_item"))
    return found or [part for part in listed(item.get("summary")) if isinstance(part, str)]


def _call(event: Record, key: str) -> ToolCall:
    """A call; where it was no valid one, only what the model wrote is there."""
    action = mapping(event.get("action"))
    asked = mapping(event.get("tool_call"))
    written = asked.get("arguments")
    parsed = loaded(written.encode("utf-8", "replace")) if isinstance(written, str) else written
    own = {name: value for name, value in action.items() if name != "kind"}
    arguments = own or mapping(parsed)
    name = text_or_none(event.get("tool_name")) or text_or_none(asked.get("name")) or "(no name)"
    is_odd = not own and written is not None and not isinstance(parsed, dict)
    kind = kind_of(name, arguments)
    return ToolCall(
        key=key,
        name=name,
        kind=kind,
        arguments=arguments,
        raw_arguments=(written if isinstance(written, str) else as_json(written))
        if is_odd
        else None,
        command=command_of(kind, arguments),
        path=path_of(kind, arguments),
        note="the arguments are not a JSON object" if is_odd else None,
    )


def _result(kind: str, event: Record, at: str | None) -> ToolResult:
    if kind == "AgentErrorEvent":
        return ToolResult(text_or_none(event.get("error")) or _rest(event), True, at=at)
    if kind == "UserRejectObservation":
        told = text_or_none(event.get("rejection_reason")) or "rejected"
        return ToolResult(f"rejected: {told}", True, at=at)
    observation = mapping(event.get("observation"))
    contents = (observation.get(key) for key in ("content", "output", "message"))
    text, images = _content(next((one for one in contents if one is not None), None))
    extension, _ = _content(event.get("extended_content"))
    # The first versions have `error`: whether it failed, or what failed.
    failure = observation.get("error")
    is_error = observation.get("is_error")
    if not isinstance(is_error, bool):
        is_error = failure if isinstance(failure, bool) else (True if failure else None)
    if isinstance(failure, str) and failure not in text:
        text = f"{text}\n{failure}" if text else failure
    code = _exit_code(observation)
    if code is None:
        text += still_running(observation.get("metadata"))
    return ToolResult(
        text=f"{text}\n\n{extension}" if extension else text,
        is_error=is_error,
        exit_code=code,
        images=(*images, *_screenshot(observation)),
        at=at,
    )


def _exit_code(observation: Record) -> int | None:
    """The exit code; the first versions have it in the metadata only."""
    places = (observation, mapping(observation.get("metadata")))
    codes = (code for place in places if type(code := place.get("exit_code")) is int)
    code = next(codes, None)
    # -1 stands for a command that still runs.
    return code if code != -1 else None


def _screenshot(observation: Record) -> list[Image]:
    """What a browser showed."""
    data = text_or_none(observation.get("screenshot_data"))
    if data is None:
        return []
    return [image_at(data if ":" in data[:12] else f"data:image/png;base64,{data}", "image/png")]


def _acp_call(event: Record, key: str) -> ToolCall:
    given = event.get("raw_input")
    arguments = mapping(given)
    kind = _ACP_KINDS.get(str(event.get("tool_kind")), ToolKind.OTHER)
    return ToolCall(
        key=key,
        name=text_or_none(event.get("title")) or "(no name)",
        kind=kind,
        arguments=arguments,
        raw_arguments=None if given is None or arguments else as_json(given),
        command=command_of(kind, arguments),
        path=path_of(kind, arguments),
    )


def _acp_result(event: Record, at: str | None) -> ToolResult:
    output = event.get("raw_output")
    text = output if isinstance(output, str) else ("" if output is None else as_json(output))
    blocks = [mapping(mapping(block).get("content")) for block in listed(event.get("content"))]
    told = [one for block in blocks if (one := text_or_none(block.get("text")))]
    failed = event.get("is_error") is True or event.get("status") == "failed"
    return ToolResult("\n".join(told) or text, failed, at=at)
