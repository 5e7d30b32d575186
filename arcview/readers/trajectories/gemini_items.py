"""Parts, tool calls and token counts of Gemini CLI records → parts of the model. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from arcview.model.trajectory import Image, ToolCall, ToolKind, ToolResult
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.contents import base64_size, listed, mapping
from arcview.readers.trajectories.drafts import joined
from arcview.readers.trajectories.records import Record, as_json, count_or_none, text_or_none
from arcview.readers.trajectories.tools import command_of, kind_of, path_of

_EXIT_CODE = "\nExit Code: "
_TAIL = re.compile(
    r"\nExit Code: (-?\d{1,10})"
    r"(?:\n(?:Signal|Background PIDs|Process Group PGID|Error): .*|\n</untrusted_context>|\n)*\Z"
)
"""The exit code among the lines that the shell tool puts below the output, and nothing else."""
_CUT = ("Output too large.", "<untrusted_context>\nOutput too large.")
_ENDED = frozenset({"success", "error", "cancelled"})


@dataclass(slots=True)
class Parts:
    """What a content holds, in order of appearance per kind."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Record] = field(default_factory=list)
    """`functionCall` parts."""
    results: list[Record] = field(default_factory=list)
    """`functionResponse` parts."""
    images: list[Image] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All texts below each other."""
        return "\n".join(self.texts)

    @property
    def is_answer(self) -> bool:
        """Whether these are results of tools and nothing else."""
        return bool(self.results) and not (self.texts or self.images or self.calls)


def parts_of(content: object) -> Parts:
    """Sorts a content: a text, a part, a list of them, or something else, kept as JSON."""
    parts = Parts()
    for part in content if isinstance(content, list) else [content]:
        _add(parts, part)
    return parts


def _add(parts: Parts, part: object) -> None:
    if part is None or part == "":
        return
    if isinstance(part, str):
        parts.texts.append(part)
        return
    fields = mapping(part)
    text = fields.get("text")
    if isinstance(text, str):
        (parts.thoughts if fields.get("thought") is True else parts.texts).append(text)
    elif isinstance(fields.get("functionCall"), dict):
        parts.calls.append(mapping(fields["functionCall"]))
    elif isinstance(fields.get("functionResponse"), dict):
        parts.results.append(mapping(fields["functionResponse"]))
    elif "inlineData" in fields or "fileData" in fields:
        parts.images.append(_image(fields))
    else:
        parts.texts.append(as_json(part))


def _image(part: Record) -> Image:
    inline, file = mapping(part.get("inlineData")), mapping(part.get("fileData"))
    data = text_or_none(inline.get("data"))
    return Image(
        media_type=text_or_none((inline or file).get("mimeType")) or "image",
        data_base64=data,
        path=text_or_none(file.get("fileUri")),
        size_bytes=None if data is None else base64_size(data),
    )


def thoughts_of(value: object) -> list[str]:
    """The summaries of a message's thoughts: subject and description."""
    found = []
    for thought in listed(value):
        fields = mapping(thought)
        told = [text_or_none(fields.get(key)) for key in ("subject", "description")]
        text = ": ".join(filter(None, told)) or (thought if isinstance(thought, str) else "")
        if text:
            found.append(text)
    return found


def call_of(record: Record, key: str) -> ToolCall:
    """A tool call as a session (`args`) or a stream (`parameters`) has it, without its result."""
    name = text_or_none(record.get("name")) or text_or_none(record.get("tool_name")) or "(no name)"
    given = record.get("args", record.get("parameters"))
    arguments = mapping(given)
    is_odd = given is not None and not isinstance(given, dict)
    kind = kind_of(name, arguments)
    progress = mapping(record.get("resultDisplay"))
    if text_or_none(record.get("agentId")) or progress.get("isSubagentProgress") is True:
        kind = ToolKind.TASK
    return ToolCall(
        key=key,
        name=name,
        kind=kind,
        arguments=arguments,
        raw_arguments=(given if isinstance(given, str) else as_json(given)) if is_odd else None,
        command=command_of(kind, arguments),
        path=path_of(kind, arguments),
        note="the arguments are not a JSON object" if is_odd else None,
    )


def result_of(call: Record) -> tuple[ToolResult | None, str | None]:
    """The result of a recorded tool call and a remark; null while it had not ended."""
    status = text_or_none(call.get("status"))
    given = call.get("result")
    display = call.get("resultDisplay")
    shown = _shown(display)
    if given is None and shown is None and status not in _ENDED:
        return None, joined(f"status {status}" if status else None)
    parts = parts_of(given)
    answer = _own_answer(parts.results, call.get("id"))
    text, images = response_of(answer) if parts.results else (parts.text, tuple(parts.images))
    remark = "cancelled" if status == "cancelled" else None
    if shown and (not text or (text.startswith(_CUT) and len(shown) > len(text))):
        if text:
            told = f"the model was shown {len(text):,} of {len(shown):,} characters"
            remark = joined(remark, told)
        text, code = shown, exit_code_of(text)
    else:
        code = exit_code_of(text)
    result = ToolResult(
        text=text,
        is_error=None if status is None else status != "success",
        exit_code=code,
        images=(*images, *(parts.images if parts.results else ())),
        at=text_or_none(call.get("timestamp")),
    )
    return result, remark


def _shown(display: object) -> str | None:
    """What the client showed of a result, where it is a text or has one."""
    if isinstance(display, str):
        return display
    texts = (text_or_none(mapping(display).get(key)) for key in ("fileDiff", "result", "summary"))
    return next((text for text in texts if text is not None), None)


def _own_answer(answers: Sequence[Record], call_id: object) -> Record:
    """The response to a call: where the client masks outputs it copies all those of a turn."""
    own = (answer for answer in answers if call_id and answer.get("id") == call_id)
    return next(own, next(iter(answers), {}))


def response_of(answer: Record) -> tuple[str, tuple[Image, ...]]:
    """Text and images of a `functionResponse`."""
    response = answer.get("response")
    fields = mapping(response)
    told = [fields[key] for key in ("output", "error", "content") if fields.get(key) is not None]
    if told:
        texts = [one if isinstance(one, str) else as_json(one) for one in told]
    else:
        texts = [] if response in (None, {}) else [as_json(response)]
    extra = parts_of(answer.get("parts"))
    return "\n".join([*texts, *extra.texts]), tuple(extra.images)


def is_failure(answer: Record) -> bool:
    """Whether a `functionResponse` tells of an error."""
    return mapping(answer.get("response")).get("error") is not None


def exit_code_of(text: str) -> int | None:
    """The exit code that the shell tool wrote below the output; null where there is none.

    It writes none for a command that succeeded, in newer versions.
    """
    start = text.rfind(_EXIT_CODE)
    match = _TAIL.match(text, start) if start >= 0 else None
    return int(match[1]) if match else None


def usage_of(tokens: object) -> Usage | None:
    """Token counts of a message; the client counts thoughts beside its output."""
    fields = mapping(tokens)
    said, thoughts = (count_or_none(fields.get(key)) for key in ("output", "thoughts"))
    usage = Usage(
        input_tokens=count_or_none(fields.get("input")),
        cached_tokens=count_or_none(fields.get("cached")),
        output_tokens=None if said is None else said + (thoughts or 0),
        reasoning_tokens=thoughts,
    )
    return usage if usage.input_tokens or usage.output_tokens else None


def stats_usage(stats: Mapping[str, object]) -> Usage | None:
    """Token counts of a whole stream; thoughts are only in its total, beside input and output."""
    sent, said, total = (
        count_or_none(stats.get(f"{what}_tokens")) for what in ("input", "output", "total")
    )
    if sent is not None and said is not None and total is not None:
        said = max(said, total - sent)
    usage = Usage(sent, count_or_none(stats.get("cached")), said)
    return usage if usage.input_tokens or usage.output_tokens else None
