"""One step of a trajectory as parts to be read: thinking, text, calls, results, remarks.

Pure: lines are outside text as it came; `steps_lines` cleans them when they are drawn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Literal

from arcview.model.trajectory import Image, Role, Step, StepKind, ToolCall, ToolKind
from arcview.model.trajectory_refs import Usage
from arcview.secrets import mask_private_keys
from arcview.ui.rows.diff_lines import size

Jump = Literal["step", "error", "edit", "test", "message"]
"""What a jump goes to."""


class PartKind(StrEnum):
    """What a part of a step is."""

    META = "meta"
    THINKING = "thinking"
    TEXT = "text"
    CALL = "call"
    """A command or the arguments of a call."""
    CHANGE = "change"
    """What an edit takes out and puts in, as a small diff."""
    CONTENT = "content"
    """What a write puts into a file."""
    RESULT = "result"
    NOTE = "note"
    RAW = "raw"


FOLD_LINES = {
    PartKind.THINKING: 16,
    PartKind.TEXT: 80,
    PartKind.CALL: 24,
    PartKind.CHANGE: 40,
    PartKind.CONTENT: 24,
    PartKind.RESULT: 18,
    PartKind.RAW: 12,
}
"""Lines from which on a part is folded to its first and last ones until it is opened."""


@dataclass(frozen=True, slots=True)
class StepPart:
    """A part of a step: lines of outside text and what they are."""

    kind: PartKind
    lines: tuple[str, ...]
    call: ToolCall | None = None
    is_error: bool = False
    signs: str = ""
    """For changes: `+`, `-` or a blank for each line."""
    path: str | None = None
    """Name of the file the lines are of, for syntax colours."""

    @property
    def size_bytes(self) -> int:
        """Bytes of its text in UTF-8, roughly: lone surrogates count as one."""
        return sum(len(line.encode("utf-8", "replace")) + 1 for line in self.lines)


def parts_of(step: Step) -> tuple[StepPart, ...]:
    """The parts of a step in the order in which they are read."""
    return tuple(_parts(step))


def _parts(step: Step) -> Iterator[StepPart]:
    meta = meta_line(step)
    if meta:
        yield StepPart(PartKind.META, (meta,))
    if step.thinking:
        yield StepPart(PartKind.THINKING, _lines(step.thinking))
    if step.text:
        yield StepPart(PartKind.TEXT, _lines(step.text), is_error=step.is_error)
    if step.images:
        yield StepPart(PartKind.NOTE, tuple(map(_image, step.images)))
    for call in step.calls:
        yield from _call_parts(call)
    if step.raw is not None:
        yield StepPart(PartKind.RAW, _lines(step.raw))


def _lines(text: str) -> tuple[str, ...]:
    return tuple(mask_private_keys(text).strip("\n").split("\n"))


def _image(image: Image) -> str:
    known = f", {size(image.size_bytes)}" if image.size_bytes is not None else ""
    return f"[image {image.media_type}{known}]"


def meta_line(step: Step) -> str:
    """Time, model, tokens and cost of a step in one line; what is not recorded is left out."""
    words: list[str] = []
    if step.at:
        words.append(step.at[:19].replace("T", " "))
    if step.model:
        words.append(step.model)
    if step.agent:
        words.append(f"sub-agent {step.agent}")
    if step.usage is not None:
        words += _usage(step.usage)
    return " · ".join(words)


def _usage(usage: Usage) -> Iterator[str]:
    if usage.input_tokens is not None:
        cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
        yield f"{usage.input_tokens:,} tokens in{cached}"
    if usage.output_tokens is not None:
        yield f"{usage.output_tokens:,} out"
    if usage.reasoning_tokens:
        yield f"{usage.reasoning_tokens:,} reasoning"
    if usage.cost_usd is not None:
        yield f"${usage.cost_usd:.4f}"


def _call_parts(call: ToolCall) -> Iterator[StepPart]:
    yield from _argument_parts(call)
    if call.note:
        yield StepPart(PartKind.NOTE, _lines(call.note), call)
    result = call.result
    if result is None:
        yield StepPart(PartKind.NOTE, ("no result recorded",), call)
        return
    failed = has_failed(call)
    yield StepPart(PartKind.RESULT, _lines(result.text), call, is_error=failed)
    if result.images:
        yield StepPart(PartKind.NOTE, tuple(map(_image, result.images)), call)


def _argument_parts(call: ToolCall) -> Iterator[StepPart]:
    if call.command is not None:
        yield StepPart(PartKind.CALL, _lines(call.command), call, path="command.sh")
        return
    # The file first: it says what the other arguments are about.
    rest = dict(sorted(call.arguments.items(), key=lambda item: item[1] != call.path))
    parts: list[StepPart] = []
    for old_name, new_name in (("old_string", "new_string"), ("old_str", "new_str")):
        old, new = rest.get(old_name), rest.get(new_name)
        if isinstance(old, str) and isinstance(new, str):
            del rest[old_name], rest[new_name]
            parts.append(_change(call, old, new))
    for name in ("content", "file_text"):
        content = rest.get(name)
        if call.kind is ToolKind.WRITE and isinstance(content, str):
            del rest[name]
            parts.append(StepPart(PartKind.CONTENT, _lines(content), call, path=call.path))
    lines = [line for name, value in rest.items() for line in _argument(name, value)]
    if call.raw_arguments is not None and not call.arguments:
        lines = list(_lines(call.raw_arguments))
    if lines or not parts:
        yield StepPart(PartKind.CALL, tuple(lines) or ("(no arguments)",), call)
    yield from parts


def _argument(name: str, value: object) -> Iterator[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    lines = text.split("\n")
    if len(lines) == 1:
        yield f"{name}: {text}"
    else:
        yield f"{name}:"
        yield from (f"  {line}" for line in lines)


_COMPARED_LINES = 400


def _change(call: ToolCall, old: str, new: str) -> StepPart:
    """What an edit changed; very long ones as all old lines and then all new ones."""
    before, after = old.split("\n"), new.split("\n")
    lines: list[str] = []
    signs: list[str] = []

    def put(sign: str, texts: Sequence[str]) -> None:
        lines.extend(texts)
        signs.extend(sign * len(texts))

    if max(len(before), len(after)) > _COMPARED_LINES:
        put("-", before)
        put("+", after)
    else:
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag == "equal":
                put(" ", before[i1:i2])
            else:
                put("-", before[i1:i2])
                put("+", after[j1:j2])
    return StepPart(PartKind.CHANGE, tuple(lines), call, signs="".join(signs), path=call.path)


def has_failed(call: ToolCall) -> bool:
    """Whether the result says that the call failed: by its mark or its exit code."""
    result = call.result
    return result is not None and (bool(result.is_error) or result.exit_code not in (None, 0))


def step_failed(step: Step) -> bool:
    """Whether the step or one of its calls failed."""
    return step.is_error or any(map(has_failed, step.calls))


def is_message(step: Step) -> bool:
    """Whether somebody says something to be read: a user turn, or text without a call."""
    if step.kind is not StepKind.MESSAGE:
        return False
    return step.role is Role.USER or bool(step.text and not step.calls)


def is_opening(step: Step) -> bool:
    """Whether the user or the main agent says something: nothing that only sets up a session."""
    spoken = step.role in (Role.USER, Role.ASSISTANT)
    return spoken and step.kind is StepKind.MESSAGE and step.agent is None


def goal(kind: Jump, tests: Container[str]) -> Callable[[Step], bool]:
    """Whether a step is what a jump goes to; `tests` holds the keys of the calls that test."""
    match kind:
        case "step":
            return lambda step: True
        case "error":
            return step_failed
        case "edit":
            from arcview.analysis.shell_edits import files_written  # 20 ms with a parser's tables

            return lambda step: any(map(files_written, step.calls))
        case "message":
            return is_message
        case "test":
            return lambda step: any(call.key in tests for call in step.calls)


def texts_of(step: Step) -> Iterator[str]:
    """Everything a search looks through, as it came; cheap, nothing is split or cleaned."""
    yield step.thinking
    yield step.text
    for call in step.calls:
        if call.command is not None:
            yield call.command
        else:
            for name, value in call.arguments.items():
                yield value if isinstance(value, str) else f"{name}: {value}"
            yield call.raw_arguments or ""
        yield call.note or ""
        if call.result is not None:
            yield call.result.text
    yield step.raw or ""


def depths_of(steps: Sequence[Step]) -> list[int]:
    """How deep each step is among sub-agents: 0 for the main agent."""
    by_call: dict[str, int] = {}
    depths: list[int] = []
    for step in steps:
        depth = 0
        if step.agent is not None:
            depth = 1 + by_call.get(step.parent_call or "", 0)
        depths.append(depth)
        for call in step.calls:
            by_call[call.key] = depth
    return depths
