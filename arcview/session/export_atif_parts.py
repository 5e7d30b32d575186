"""Steps, calls and results of the model → those of the Agent Trajectory Interchange Format.

What the format has no field for goes into `extra.arcview`, from where our own reader takes it
back. Knows no terminal and writes no file.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from arcview.model.trajectory import Image, Role, Step, StepKind, ToolCall, ToolResult, Trajectory
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.atif_results import result_of
from arcview.readers.trajectories.tools import command_of, kind_of, path_of

Json = dict[str, object]

MARKS = "arcview"
"""Key in `extra` for what is ours."""
_SOURCES = {Role.USER: "user", Role.SYSTEM: "system", Role.ASSISTANT: "agent"}
_ENDINGS = {
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/webp": "webp",
}
"""The kinds of image that the format allows, and what their files end in."""
_MAX_DEPTH = 100


def step_of(step: Step, session: str | None, model: str | None, *, inline: bool = False) -> Json:
    """A step without its number.

    Args:
        step: The step.
        session: Of the document; another one is marked on the step.
        model: Of the document; only another one is named.
        inline: The step of a sub-agent that stands in line, as older writers had it.
    """
    source = _source(step)
    is_agent = source == "agent"
    message, left_out = _content(step.text, step.images)
    marks = _marks(step, session, is_agent=is_agent)
    if left_out:
        marks["images"] = [image_of(image) for image in left_out]
    if is_agent and step.model is None and model is not None:
        marks["model"] = None
    extra: Json = {}
    if inline and step.agent is not None:
        extra = {"is_sidechain": True, "agent_id": clean(step.agent)}
        marks |= {} if step.parent_call is None else {"parent_call": clean(step.parent_call)}
    found: Json = {"source": source, "message": message}
    if _is_time(step.at):
        found["timestamp"] = step.at
    if is_agent:
        found |= {
            "model_name": clean(step.model) if step.model and step.model != model else None,
            "reasoning_content": clean(step.thinking) if step.thinking else None,
            "tool_calls": [call_of(call) for call in step.calls] or None,
            "metrics": metrics_of(step.usage),
        }
        results = [result for call in step.calls if (result := observed(call)) is not None]
        found["observation"] = {"results": results} if results else None
    found["extra"] = extra | ({MARKS: marks} if marks else {}) or None
    return {key: value for key, value in found.items() if value is not None}


def _source(step: Step) -> str:
    """Who speaks; what the harness added is never taken for a turn of the agent."""
    if step.kind is StepKind.MESSAGE:
        return _SOURCES.get(step.role, "system")
    is_turn = step.kind is StepKind.NOTE and step.role is Role.USER
    return "user" if is_turn else "system"


def _marks(step: Step, session: str | None, *, is_agent: bool) -> Json:
    """What the format has no field for."""
    marks: Json = {}
    if not is_agent or not step.calls or step.key != step.calls[0].key:
        marks["key"] = clean(step.key)
    if step.kind is not StepKind.MESSAGE:
        marks["kind"] = step.kind.value
    if step.kind is not StepKind.MESSAGE or step.role is Role.UNKNOWN:
        marks["role"] = step.role.value
    if not _is_time(step.at) and step.at is not None:
        marks["at"] = clean(step.at)
    if is_agent:
        # Our reader drops thoughts that one converter copies from the message.
        marks["thinking"] = clean(step.thinking) if step.thinking == step.text else None
    else:
        marks |= {
            "model": clean(step.model or ""),
            "thinking": clean(step.thinking),
            "usage": metrics_of(step.usage),
            "calls": [_call_with_result(call) for call in step.calls] or None,
        }
    marks |= {
        "duration_s": step.duration_s,
        "is_error": step.is_error or None,
        "raw": clean(step.raw) if step.raw is not None else None,
    }
    known = {key: value for key, value in marks.items() if value not in (None, "")}
    if step.session != session:
        known["session"] = clean(step.session) if step.session else None
    return known


def call_of(call: ToolCall) -> Json:
    """A tool call without its result."""
    marks: Json = {}
    kind = kind_of(call.name, call.arguments)
    if call.kind is not kind:
        marks["kind"] = call.kind.value
    if call.command != command_of(kind, call.arguments):
        marks["command"] = None if call.command is None else clean(call.command)
    if call.path != path_of(kind, call.arguments):
        marks["path"] = None if call.path is None else clean(call.path)
    if call.raw_arguments is not None:
        marks["raw_arguments"] = clean(call.raw_arguments)
    if call.note is not None:
        marks["note"] = clean(call.note)
    found: Json = {
        "tool_call_id": clean(call.key),
        "function_name": clean(call.name),
        "arguments": plain(call.arguments),
    }
    return found | ({"extra": {MARKS: marks}} if marks else {})


def observed(call: ToolCall) -> Json | None:
    """The result of a call; null where there is none."""
    if call.result is None:
        return None
    return {"source_call_id": clean(call.key), **_result(call.result)}


def _call_with_result(call: ToolCall) -> Json:
    """A call where the format allows none: beside the step of somebody else than the agent."""
    result = call.result
    return call_of(call) | ({} if result is None else {"result": _result(result)})


def _result(result: ToolResult) -> Json:
    content, left_out = _content(result.text, result.images)
    extra: Json = {}
    read = result_of({"content": content})
    if result.exit_code is not None or (read.exit_code, read.text) != (None, clean(result.text)):
        extra["exit_code"] = result.exit_code
    if result.is_error is not None:
        extra["is_error"] = result.is_error
    if result.at is not None:
        extra["timestamp"] = clean(result.at)
    if left_out:
        extra[MARKS] = {"images": [image_of(image) for image in left_out]}
    return {"content": content} | ({"extra": extra} if extra else {})


def metrics_of(usage: Usage | None, prefix: str = "") -> Json | None:
    """Tokens and cost of a step, or with the prefix `total_` of all."""
    if usage is None:
        return None
    found: Json = {
        f"{prefix}prompt_tokens": usage.input_tokens,
        f"{prefix}completion_tokens": usage.output_tokens,
        f"{prefix}cached_tokens": usage.cached_tokens,
        f"{prefix}cost_usd": usage.cost_usd,
    }
    if usage.reasoning_tokens is not None:
        found["extra"] = {"reasoning_tokens": usage.reasoning_tokens}
    return {key: value for key, value in found.items() if value is not None} or None


def _content(text: str, images: Sequence[Image]) -> tuple[object, list[Image]]:
    """A content, and the images that the format cannot carry."""
    carried: list[object] = []
    left_out: list[Image] = []
    for image in images:
        path = _address(image)
        if path is None:
            left_out.append(image)
        else:
            source = {"media_type": image.media_type, "path": path}
            carried.append({"type": "image", "source": source})
    if not carried:
        return clean(text), left_out
    texts: list[object] = [{"type": "text", "text": clean(text)}] if text else []
    return [*texts, *carried], left_out


def _address(image: Image) -> str | None:
    """Where an image lies: its own address, or the file it is written to; null for neither."""
    if image.media_type not in _ENDINGS:
        return None
    if image.data_base64 is None:
        return clean(image.path) if image.path else None
    data = _bytes(image.data_base64)
    if data is None:
        return None
    return f"images/{hashlib.sha256(data).hexdigest()[:16]}.{_ENDINGS[image.media_type]}"


def _bytes(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        return None


def image_of(image: Image) -> Json:
    """An image as it is, for the marks."""
    found: Json = {
        "media_type": clean(image.media_type),
        "data_base64": None if image.data_base64 is None else clean(image.data_base64),
        "path": clean(image.path) if image.path else None,
        "size_bytes": image.size_bytes,
    }
    return {key: value for key, value in found.items() if value is not None}


def image_files(trajectory: Trajectory) -> Iterator[tuple[str, bytes]]:
    """The files that an exported trajectory names, with what belongs in them.

    Yields:
        Path relative to the exported document, and the image.
    """
    seen: set[str] = set()
    for step in trajectory.steps:
        results = (call.result for call in step.calls if call.result is not None)
        for image in (*step.images, *(i for result in results for i in result.images)):
            path = _address(image)
            data = _bytes(image.data_base64) if image.data_base64 is not None else None
            if path is not None and data is not None and path not in seen:
                seen.add(path)
                yield path, data


def _is_time(text: str | None) -> bool:
    try:
        datetime.fromisoformat((text or "").replace("Z", "+00:00"))
    except ValueError:
        return False
    return True


def clean(text: str) -> str:
    """The text with what is no character replaced: halves of a pair cannot be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def plain(value: object, depth: int = 0) -> object:
    """A value that every JSON reader accepts: finite numbers, no half characters, not too deep."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if depth > _MAX_DEPTH:
        return "(nested too deeply)"
    if isinstance(value, Mapping):
        return {clean(str(key)): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    return value
