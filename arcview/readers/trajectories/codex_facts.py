"""What Codex recorded about a call beside the output that the model was shown → facts.

Only these have the exit code as a number, the whole output and what became of each file. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from arcview.model.trajectory import Image, Role, StepKind, ToolCall, ToolResult
from arcview.readers.trajectories.codex_items import call_of, code_of, content_of
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.cuts import length_of
from arcview.readers.trajectories.drafts import CallSpot, Draft, Drafts, joined, with_result
from arcview.readers.trajectories.records import as_json, text_or_none

_NAMES = {
    "ImageGeneration": "image_generation",
    "ImageView": "view_image",
    "WebSearch": "web_search",
    "collab_agent_interaction_end": "send_input",
    "collab_agent_spawn_end": "spawn_agent",
    "collab_close_end": "close_agent",
    "collab_resume_end": "resume_agent",
    "image_generation_end": "image_generation",
    "spawnAgent": "spawn_agent",
    "view_image_tool_call": "view_image",
    "web_search_end": "web_search",
}
"""Events and items by the name of the tool."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What the client recorded about a call, beside the output that the model was shown."""

    name: str
    """The tool, for calls that stand nowhere else."""
    arguments: Mapping[str, object]
    output: str | None = None
    exit_code: int | None = None
    is_error: bool | None = None
    remark: str | None = None
    images: tuple[Image, ...] = ()
    by_user: bool = False

    def on(self, result: ToolResult) -> tuple[ToolResult, str | None]:
        """The result with what is known better, and a remark where the model saw less."""
        text, remark = result.text, self.remark
        if self.output is not None and length_of(self.output) > length_of(text):
            text = self.output
            if result.text:
                of = length_of(text)
                told = f"the model was shown {length_of(result.text):,} of {of:,} characters"
                remark = joined(remark, told)
        code = result.exit_code if self.exit_code is None else self.exit_code
        is_error = result.is_error if self.is_error is None else self.is_error
        images = result.images or self.images
        return ToolResult(text, is_error, code, images, result.at), remark

    def closing(self, call: ToolCall, at: str | None) -> ToolCall:
        """The call with this for its result, unless nothing says that it ended."""
        known = (self.output, self.exit_code, self.is_error)
        result = None
        if any(value is not None for value in known):
            result = ToolResult(self.output or "", self.is_error, self.exit_code, self.images, at)
        return with_result(call, result, joined(call.note, self.remark))

    def call(self, key: str) -> ToolCall:
        """The call itself, where the log has it in no other place."""
        made = call_of({"name": self.name, "arguments": dict(self.arguments)}, key)
        note = "the client ran it; the log holds no call of the model for it"
        return with_result(made, None, joined(made.note, note))


def fact_of(event: Mapping[str, object]) -> Fact:
    """The fact that an event or a completed item records, by its name or its fields."""
    kind = str(event.get("type"))
    if "changes" in event or kind.startswith("patch_apply"):
        return _file_change(event)
    if "command" in event or kind.startswith("exec_command"):
        return _execution(event)
    if "invocation" in event or "server" in event:
        return _tool_of_server(event)
    return _other(event)


def _execution(event: Mapping[str, object]) -> Fact:
    output = text_or_none(event.get("aggregated_output"))
    if output is None:
        streams = [text_or_none(event.get(stream)) for stream in ("stdout", "stderr")]
        output = "\n".join(filter(None, streams)) or text_or_none(event.get("formatted_output"))
    code = code_of(event.get("exit_code"))
    declined = event.get("status") == "declined"
    return Fact(
        "exec_command",
        {"command": event.get("command"), "workdir": event.get("cwd")},
        output=output if output is not None else ("" if code is not None else None),
        exit_code=code,
        is_error=True if declined else None,
        remark="declined: it was not run" if declined else None,
        by_user="user" in str(event.get("source")),
    )


def _file_change(event: Mapping[str, object]) -> Fact:
    """A patch that was applied, or was not."""
    changes = event.get("changes")
    named = changes.items() if isinstance(changes, dict) else _listed(changes)
    lines = [f"{_verb(change)} {path}" for path, change in named]
    failed = event.get("success") is False or event.get("status") in ("failed", "declined")
    done = event.get("success") is True or event.get("status") == "completed"
    streams = [text_or_none(event.get(stream)) for stream in ("stdout", "stderr")]
    return Fact(
        "apply_patch",
        {"path": _first_path(named), "changes": changes},
        output="\n".join(filter(None, streams)) or ("" if done or failed else None),
        is_error=True if failed else (False if done else None),
        remark=", ".join(lines) or None,
    )


def _listed(changes: object) -> list[tuple[str, object]]:
    return [(str(mapping(change).get("path")), change) for change in listed(changes)]


def _first_path(named: Iterable[tuple[str, object]]) -> str | None:
    return next((path for path, _ in named), None)


def _verb(change: object) -> str:
    """What happens to a file: `update`; old clients wrote `{"update": {…}}`."""
    fields = mapping(change)
    kind = fields.get("type", fields.get("kind"))
    return str(kind) if kind is not None else next(iter(fields), "change")


def _tool_of_server(event: Mapping[str, object]) -> Fact:
    invocation = mapping(event.get("invocation")) or event
    result = mapping(event.get("result"))
    failure = result.get("Err", event.get("error"))
    answer = mapping(result.get("Ok", event.get("result")))
    content = content_of(answer.get("content"))
    texts = content.texts or ([as_json(failure)] if failure is not None else [])
    is_done = bool(answer) or failure is not None
    failed = failure is not None or answer.get("isError", answer.get("is_error")) is True
    return Fact(
        f"{invocation.get('server')}.{invocation.get('tool')}",
        mapping(invocation.get("arguments")),
        output="\n".join(texts) if is_done else None,
        is_error=failed if is_done else None,
        images=tuple(content.images),
    )


def _other(event: Mapping[str, object]) -> Fact:
    """Searches, images, messages to sub-agents: what they say as it is."""
    hidden = ("type", "id", "call_id", "kind", "result", "status", "tool")
    rest = {name: value for name, value in event.items() if name not in hidden and value}
    picture = event.get("result")
    images = (Image("image/png", data_base64=picture),) if isinstance(picture, str) else ()
    kind = str(event.get("type"))
    name = event.get("tool") or event.get("kind") or _NAMES.get(kind, kind)
    failed = event.get("status") == "failed" or event.get("success") is False
    return Fact(
        _NAMES.get(str(name), str(name)), rest, is_error=True if failed else None, images=images
    )


class _Known(msgspec.Struct):
    """A fact whose call is there."""

    spot: CallSpot
    fact: Fact | None
    """Null once the result of the call has it: what it said is not held any longer."""


@dataclass(slots=True)
class _Waiting:
    """A fact whose call has not come, and where it stands until then."""

    fact: Fact
    at: str | None
    place: Draft
    step: Draft | None
    """The response that was being answered when it came."""


@dataclass(slots=True)
class Facts:
    """Brings facts and calls together, whichever comes first."""

    drafts: Drafts
    searches: Counter[str] = field(default_factory=Counter)
    """Searches of the web that the log has calls for: what tells of them names another id."""
    _known: dict[str, _Known] = field(default_factory=dict)
    """By the key of the call."""
    _waiting: dict[str, list[_Waiting]] = field(default_factory=dict)

    def take(
        self, call_id: str | None, fact: Fact, address: str, at: str | None, step: Draft | None
    ) -> None:
        """Takes a fact; `step` is the response that is being answered."""
        spot = self.drafts.spot(call_id)
        if spot is not None and spot.call.key not in self._known:
            self._know(spot, fact)
            return
        place = self.drafts.add(Role.SYSTEM, StepKind.NOTE, address, at=at)
        self._waiting.setdefault(call_id or address, []).append(_Waiting(fact, at, place, step))

    def called(self, spot: CallSpot, call_id: str | None) -> None:
        """Tells of a new call: the fact that came before it is its own."""
        waiting = self._waiting.get(call_id or "")
        if waiting:
            found = waiting.pop(0)
            found.place.is_dropped = True
            self._know(spot, found.fact)

    def answered(self, spot: CallSpot) -> None:
        """Tells of a new result."""
        known = self._known.get(spot.call.key)
        if known is not None:
            _improve(known)

    def _know(self, spot: CallSpot, fact: Fact) -> None:
        known = self._known[spot.call.key] = _Known(spot, fact)
        _improve(known)

    def finish(self) -> None:
        """Lets facts stand for the results and the calls that did not come."""
        for known in self._known.values():
            call, fact = known.spot.call, known.fact
            if fact is not None and call.result is None:
                known.spot.call = fact.closing(call, known.spot.draft.at)
        for call_id, waiting in self._waiting.items():
            for index, one in enumerate(waiting):
                if self._is_known_search(one.fact):
                    one.place.is_dropped = True
                    continue
                is_taken = index > 0 or self.drafts.spot(call_id) is not None
                call = one.fact.call(one.place.address if is_taken else call_id)
                self._place(one, one.fact.closing(call, one.at))
            waiting.clear()  # one by one, see `threads`
        self._waiting.clear()
        self._known.clear()

    def _is_known_search(self, fact: Fact) -> bool:
        """Whether the log has the call of a search of the web, under another id or none."""
        if fact.name != "web_search":
            return False
        search = as_json(fact.arguments.get("action"))
        self.searches[search] -= 1
        return self.searches[search] >= 0

    def _place(self, one: _Waiting, call: ToolCall) -> None:
        """A fact without a call: part of the response that it belongs to, or a note."""
        if one.fact.by_user:
            one.place.role = Role.USER
        home = one.place
        if one.step is not None and not one.fact.by_user:
            one.place.is_dropped = True
            home = one.step
        home.calls.append(call)
        home.is_settled = False


def _improve(known: _Known) -> None:
    """Gives what a fact tells to the result of its call, if that is there."""
    call = known.spot.call
    if known.fact is not None and call.result is not None:
        result, remark = known.fact.on(call.result)
        known.spot.call = with_result(call, result, joined(call.note, remark))
        known.fact = None
