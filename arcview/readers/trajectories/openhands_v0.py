"""Events of OpenHands up to 0.x → drafts: actions and the observations that they caused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from arcview.model.trajectory import Image, Role, StepKind, ToolCall, ToolKind, ToolResult
from arcview.readers.trajectories.contents import image_at, listed, mapping, parts_of
from arcview.readers.trajectories.drafts import CallSpot, Draft, Drafts
from arcview.readers.trajectories.openhands_metrics import Spending, usage_of
from arcview.readers.trajectories.openhands_phrases import is_nudge, still_running
from arcview.readers.trajectories.records import Record, as_json, loaded, text_or_none
from arcview.readers.trajectories.times import iso_time
from arcview.readers.trajectories.tools import command_of, kind_of, path_of

_ACTIONS = {
    "browse": ToolKind.OTHER,
    "browse_interactive": ToolKind.OTHER,
    "call_tool_mcp": ToolKind.OTHER,
    "delegate": ToolKind.TASK,
    "edit": ToolKind.EDIT,
    "finish": ToolKind.OTHER,
    "mcp": ToolKind.OTHER,
    "read": ToolKind.READ,
    "reject": ToolKind.OTHER,
    "run": ToolKind.SHELL,
    "run_ipython": ToolKind.OTHER,
    "task_tracking": ToolKind.OTHER,
    "think": ToolKind.OTHER,
    "write": ToolKind.WRITE,
}
"""Actions that are tools."""
_NOTED = frozenset(
    {
        "add_memory",
        "agent_state_changed",
        "change_agent_state",
        "condensation_request",
        "loop_detection",
        "loop_recovery",
        "null",
        "pause",
        "recall",
        "resume",
        "server_ready",
        "start_recording",
        "stop",
        "success",
        "system",
    }
)
"""Actions and observations that are only remarked on."""
_COMPACTIONS = frozenset({"agent_condensation", "condensation", "condense"})
_PRIVATE = frozenset(
    {
        "blocking",
        "confirmation_state",
        "hidden",
        "impl_source",
        "is_confirmed",
        "is_static",
        "security_risk",
        "thought",
    }
)
"""Arguments that the client adds to those of the model."""
_ERROR = "ERROR:\n"
_DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,")
"""How a picture, a film or another document begins that was read from a file."""
_OBSERVED_AS = {"browse_interactive": "browse", "call_tool_mcp": "mcp"}
"""What the observation of an action is called where it has another name."""


@dataclass(slots=True)
class EventLog:
    """Takes the events of one conversation in their order."""

    spending: Spending = field(default_factory=Spending)
    model: str | None = None
    prefix: str = ""
    """Stands before the keys of calls where one file holds several conversations."""
    drafts: Drafts = field(default_factory=Drafts)
    state: str | None = None
    """The last state that the agent was in, where events tell of it."""
    metrics: object = None
    """What was spent up to the last event that tells it."""
    _open: Draft | None = None
    _response: str | None = None
    _by_event: dict[object, CallSpot] = field(default_factory=dict)
    _last: tuple[str, CallSpot] | None = None
    """The last action that is a tool, with its call."""
    _delegates: list[tuple[str | None, str | None]] = field(default_factory=list)

    def take(self, value: object, address: str) -> None:
        """Takes one event, or a pair of an action and its observation, as old logs have them."""
        if isinstance(value, list):
            for number, event in enumerate(value, start=1):
                self.take(event, f"{address}.{number}")
            return
        if not isinstance(value, dict):
            self.drafts.raw(value, address, type(value).__name__)
            return
        at = iso_time(value.get("timestamp"))
        self.metrics = value.get("llm_metrics") or self.metrics
        action, observation = value.get("action"), value.get("observation")
        if isinstance(action, str) and action:
            self._take_action(action, value, address, at)
        elif isinstance(observation, str) and observation:
            self._take_observation(observation, value, address, at)
        else:
            self.drafts.raw(value, address, "neither action nor observation", at=at)

    def _take_action(self, action: str, event: Record, address: str, at: str | None) -> None:
        args = mapping(event.get("args"))
        if action == "message":
            self._take_message(event, args, address, at)
        elif action in _COMPACTIONS:
            self._compact(args, address, at)
        elif action in _NOTED:
            told = text_or_none(args.get("content")) or text_or_none(event.get("message"))
            told = told or _rest(args)
            self.drafts.note(f"{action}: {told}" if told else action, address, at=at)
        elif action in _ACTIONS or "tool_call_metadata" in event:
            self._take_call(action, event, args, address, at)
        else:
            self.drafts.raw(dict(event), address, f"action {action}", at=at)

    def _take_message(self, event: Record, args: Record, address: str, at: str | None) -> None:
        self._open = None
        text = text_or_none(args.get("content")) or text_or_none(event.get("message")) or ""
        if self._source_of(event) == "agent":
            response = text_or_none(event.get("response_id"))
            draft = self._answer(response, address, at)
            draft.texts.append(text)
            self._open = None
        elif self._source_of(event) == "user":
            kind = StepKind.NOTE if is_nudge(text) else StepKind.MESSAGE
            draft = self.drafts.add(Role.USER, kind, address, text=text, at=at)
        else:
            draft = self.drafts.note(text, address, at=at)
        draft.images += _images(args.get("image_urls") or args.get("images_urls"))

    def _source_of(self, event: Record) -> object:
        """Who sends a message; the first logs do not say, and begin with what the user wants."""
        if "source" in event:
            return event["source"]
        has_begun = any(draft.role in (Role.ASSISTANT, Role.USER) for draft in self.drafts.items)
        return "agent" if has_begun else "user"

    def _answer(self, response: str | None, address: str, at: str | None) -> Draft:
        """The response that goes on, or a new one."""
        if self._open is None or response is None or response != self._response:
            self._open = self.drafts.add(Role.ASSISTANT, StepKind.MESSAGE, address, at=at)
            self._open.model = self.model
            self._open.usage = self.spending.of(response)
            self._response = response
        return self._open

    def _take_call(
        self, action: str, event: Record, args: Record, address: str, at: str | None
    ) -> None:
        metadata = mapping(event.get("tool_call_metadata"))
        answer = mapping(metadata.get("model_response"))
        response = text_or_none(answer.get("id")) or text_or_none(event.get("response_id"))
        if event.get("source") == "user":
            self._open = None
            step = self.drafts.add(Role.USER, StepKind.NOTE, address, at=at)
        else:
            step = self._answer(response, address, at)
            self._say(step, answer, args, is_thought=action == "think")
        call_id = text_or_none(metadata.get("tool_call_id"))
        made = self._call(action, metadata, args, f"{self.prefix}{call_id}" if call_id else address)
        spot = self.drafts.call(step, made, call_id, address)
        self._by_event[_hashed(event.get("id"))] = spot
        self._last = action, spot
        if action == "delegate":
            self._delegates.append((self.drafts.agent, self.drafts.parent_call))
            agent = text_or_none(args.get("agent")) or "delegate"
            self.drafts.agent = f"{agent} {event.get('id')}"
            self.drafts.parent_call = spot.call.key

    def _say(self, step: Draft, answer: Record, args: Record, *, is_thought: bool) -> None:
        """What the model said beside its calls; parallel calls repeat the whole response."""
        if step.calls:
            return
        message = mapping(mapping(next(iter(listed(answer.get("choices"))), None)).get("message"))
        said = parts_of(message.get("content"))
        thought = text_or_none(args.get("thought"))
        if not said.texts and thought and not is_thought:
            said.texts.append(thought)
        step.texts += said.texts
        reasoning = text_or_none(message.get("reasoning_content"))
        blocks = parts_of(message.get("thinking_blocks")).thoughts
        step.thoughts += [reasoning] if reasoning else [*said.thoughts, *blocks]
        step.model = text_or_none(answer.get("model")) or step.model
        if step.usage is None:
            step.usage = usage_of(mapping(answer.get("usage")))

    def _call(self, action: str, metadata: Record, args: Record, key: str) -> ToolCall:
        name = text_or_none(metadata.get("function_name")) or action
        asked = _asked(metadata)
        own = {field: value for field, value in args.items() if field not in _PRIVATE}
        if action == "think" and not asked:
            own["thought"] = args.get("thought")
        arguments = asked or own
        kind = kind_of(name, arguments)
        if kind is ToolKind.OTHER or name == action:
            kind = _ACTIONS.get(action, ToolKind.OTHER)
        return ToolCall(
            key=key,
            name=name,
            kind=kind,
            arguments=arguments,
            command=command_of(kind, arguments) or command_of(kind, args),
            path=path_of(kind, arguments) or path_of(kind, args),
            note="rejected" if args.get("confirmation_state") == "rejected" else None,
        )

    def _take_observation(
        self, observation: str, event: Record, address: str, at: str | None
    ) -> None:
        text = event.get("content")
        text = text if isinstance(text, str) else ("" if text is None else as_json(text))
        if observation == "agent_state_changed":
            state = mapping(event.get("extras")).get("agent_state")
            self.state = text_or_none(state) or self.state
        if observation in _COMPACTIONS:
            self._compact({"summary": text}, address, at)
            return
        metadata = mapping(event.get("tool_call_metadata"))
        call_id = text_or_none(metadata.get("tool_call_id"))
        spot = self._spot(observation, event, call_id)
        if observation == "delegate" and self._delegates:
            self.drafts.agent, self.drafts.parent_call = self._delegates.pop()
        if spot is not None and spot.call.result is None:
            spot.give(_result(observation, event, text, at))
        elif observation in _NOTED:
            told = "\n".join(filter(None, (text, _rest(mapping(event.get("extras"))))))
            if told or observation != "null":
                self.drafts.note(f"{observation}: {told}", address, at=at)
        elif observation == "error":
            self._open = None
            self.drafts.note(f"error: {text}", address, at=at, is_error=True)
        elif call_id is not None or event.get("cause") is not None:
            name = call_id or f"event {event.get('cause')}"
            self.drafts.give(name, _result(observation, event, text, at), address)
        else:
            self.drafts.raw(dict(event), address, f"observation {observation}", at=at)

    def _spot(self, observation: str, event: Record, call_id: str | None) -> CallSpot | None:
        """The call that was observed; in old logs it is told by the order alone."""
        cause = _hashed(event.get("cause"))
        if cause is not None or call_id is not None:
            return self._by_event.get(cause) or self.drafts.spot(call_id)
        action, spot = self._last or ("", None)
        expected = (_OBSERVED_AS.get(action, action), "error", "user_rejected")
        return spot if observation in expected else None

    def _compact(self, args: Record, address: str, at: str | None) -> None:
        self._open = None
        forgotten = listed(args.get("forgotten_event_ids"))
        start, end = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
        text = "context condensed"
        if forgotten:
            text += f": {len(forgotten)} events forgotten"
        elif start is not None:
            text += f": events {start} to {end} forgotten"
        summary = text_or_none(args.get("summary"))
        text = f"{text}\n{summary}" if summary else text
        self.drafts.add(Role.SYSTEM, StepKind.COMPACTION, address, text=text, at=at)


def _rest(fields: Record) -> str:
    """What else an event tells of, as JSON; nothing where it is all empty."""
    told = {name: value for name, value in fields.items() if value and name not in _PRIVATE}
    return as_json(told) if told else ""


def _hashed(event_id: object) -> object:
    """An id as a key: numbers in some logs, texts in others."""
    return str(event_id) if isinstance(event_id, (int, str)) else None


def _asked(metadata: Record) -> Mapping[str, object]:
    """The arguments as the model wrote them, from the response that is repeated in the event."""
    answer = mapping(metadata.get("model_response"))
    call_id = metadata.get("tool_call_id")
    for choice in listed(answer.get("choices")):
        for call in listed(mapping(mapping(choice).get("message")).get("tool_calls")):
            function = mapping(mapping(call).get("function"))
            if mapping(call).get("id") == call_id and isinstance(function.get("arguments"), str):
                return mapping(loaded(str(function["arguments"]).encode("utf-8", "replace")))
    return {}


def _result(observation: str, event: Record, text: str, at: str | None) -> ToolResult:
    extras = mapping(event.get("extras"))
    code = mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    failed = observation in ("error", "user_rejected") or text.startswith(_ERROR)
    # -1 stands for a command that still runs.
    if code == -1:
        text += still_running(extras.get("metadata"))
    if not text and observation == "delegate":
        text = as_json(extras.get("outputs"))
    problem = text_or_none(extras.get("last_browser_action_error"))
    if problem is not None and problem not in text:
        text = f"{text}\n{problem}"
    images = _screens(extras)
    if _DATA.match(text):
        text, images = "", [image_at(text), *images]
    return ToolResult(
        text=text,
        is_error=True if failed or extras.get("error") is True else None,
        exit_code=code if type(code) is int and code != -1 else None,
        images=tuple(images),
        at=at,
    )


def _screens(extras: Record) -> list[Image]:
    """Pictures of the browser, and those that were read from files."""
    found = []
    for name in ("screenshot", "set_of_marks"):
        picture = text_or_none(extras.get(name))
        if picture is not None:
            address = picture if ":" in picture[:12] else f"data:image/png;base64,{picture}"
            found.append(image_at(address, "image/png"))
    return found + _images(extras.get("image_urls"))


def _images(urls: object) -> list[Image]:
    return [image_at(url) for url in listed(urls) if isinstance(url, str)]
