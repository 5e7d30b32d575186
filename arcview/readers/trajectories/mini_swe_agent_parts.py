"""Parts of mini-swe-agent messages: answers of models, observations, actions in plain text.

Pure. The same observation stands in a message twice: as a template rendered for the model, and in
`extra` as it was; the latter is read where it is there.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from arcview.model.trajectory import Image, ToolResult
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.contents import Parts, listed, mapping, parts_of, thoughts_of
from arcview.readers.trajectories.pairing import Asked, asked_in, shell
from arcview.readers.trajectories.records import Record, count_or_none, text_or_none
from arcview.readers.trajectories.times import iso_time
from arcview.readers.trajectories.usages import dollars, sent_in_all

# The action of a text-based model, in the order of preference of the writers' configurations.
# Their own patterns stand in the file too, but a pattern from outside is never run.
_ACTIONS = (
    re.compile(r"```mswea_bash_command\s*\n(.*?)\n```", re.DOTALL),
    re.compile(r"<mswea_bash_command>(.*?)</mswea_bash_command>", re.DOTALL),
    re.compile(r"```bash\s*\n(.*?)\n```", re.DOTALL),
)
_EXCEPTION = re.compile(r"\s*<exception>(.*?)</exception>\s*", re.DOTALL)
_RETURN_CODE = re.compile(r"\s*<returncode>\s*(-?\d{1,10})\s*</returncode>\n?")
_OUTPUT = re.compile(r"\s*<output>\n?")
_OUTPUT_END = "</output>"
_TIMED_OUT = re.compile(r"The last command <command>.*?</command> timed out", re.DOTALL)
_PYTHON = re.compile(r"Observation: \{'output': .*'returncode': (-?\d{1,10})[,}]", re.DOTALL)
"""What the agent wrote where no template was configured."""
_NOT_EXECUTED = "action was not executed"
_BODY_KEYS = ("output", "output_head", "elided_chars", "output_tail", "warning", "exception_info")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said in one message."""

    text: str
    thinking: str = ""
    asked: tuple[Asked, ...] = ()
    images: tuple[Image, ...] = ()
    usage: Usage | None = None
    model: str | None = None
    at: str | None = None
    parts: Parts | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What came back for one action."""

    result: ToolResult
    note: str | None = None
    """A remark on the call."""


def answer_of(message: Record) -> Answer:
    """A model's message in chat form, or a whole response object of the Responses API."""
    extra = mapping(message.get("extra"))
    response = mapping(extra.get("response"))
    if message.get("object") == "response" or isinstance(message.get("output"), list):
        parts, asked = _output_items(message.get("output"))
        response = message
    else:
        parts = parts_of(message.get("content"))
        asked = asked_in(message) or tuple(_from_part(part) for part in parts.calls)
    usage = response.get("usage") or message.get("usage")
    return Answer(
        text=parts.text,
        thinking="\n".join(_reasoning(message, response)) or parts.thinking,
        asked=asked or _recorded_actions(extra),
        images=tuple(parts.images),
        usage=usage_of(mapping(usage), extra.get("cost")),
        model=text_or_none(response.get("model")),
        at=iso_time(extra.get("timestamp", message.get("timestamp"))),
        parts=parts,
    )


def rejected_answer(extra: Record) -> Answer | None:
    """What the model had said before a format error: only the error is stored as a message.

    Args:
        extra: Of the message about the error.
    """
    response = mapping(extra.get("response"))
    said = text_or_none(extra.get("model_response"))
    if isinstance(response.get("output"), list):
        inner: Record = response
    else:
        inner = _choice(response)
    if not inner and said is None:
        return None
    answer = answer_of({**inner, "extra": {"response": response, "cost": extra.get("cost")}})
    asked = tuple(replace(call, note="rejected: never run") for call in answer.asked)
    return replace(answer, text=answer.text or said or "", asked=asked)


def _output_items(output: object) -> tuple[Parts, tuple[Asked, ...]]:
    """Texts, thoughts and calls among the output items of the Responses API."""
    parts = Parts()
    asked: list[Asked] = []
    for item in map(mapping, listed(output)):
        match item.get("type"):
            case "message":
                inner = parts_of(item.get("content"))
                parts.texts += inner.texts
                parts.images += inner.images
            case "reasoning":
                parts.thoughts += thoughts_of(item)
            case "function_call":
                call_id = text_or_none(item.get("call_id")) or text_or_none(item.get("id"))
                asked.append(Asked(text_or_none(item.get("name")), item.get("arguments"), call_id))
            case _:
                parts.texts += parts_of([item]).texts
    return parts, tuple(asked)


def _from_part(part: Record) -> Asked:
    return Asked(text_or_none(part.get("name")), part.get("input"), text_or_none(part.get("id")))


def _recorded_actions(extra: Record) -> tuple[Asked, ...]:
    """The actions that the harness found in a message without tool calls."""
    return tuple(
        shell(command, text_or_none(entry.get("tool_call_id")))
        for entry in map(mapping, listed(extra.get("actions")))
        if (command := text_or_none(entry.get("command"))) is not None
    )


def action_in(text: str) -> Asked | None:
    """The one action in the text of a text-based model; null when it has none or several."""
    for pattern in _ACTIONS:
        found = pattern.findall(text)
        if found:
            return shell(found[0].strip()) if len(found) == 1 else None
    return None


def _choice(response: Record) -> Record:
    """The message in a chat completion."""
    choices = listed(response.get("choices"))
    return mapping(mapping(choices[0]).get("message")) if choices else {}


def _reasoning(message: Record, response: Record) -> list[str]:
    """The reasoning beside the content. The same is often told in several ways: one counts."""
    for place in (message, _choice(response)):
        for key in ("reasoning_content", "reasoning"):
            if told := text_or_none(place.get(key)):
                return [told]
        for key in ("thinking_blocks", "reasoning_details"):
            blocks = listed(place.get(key))
            told_in = [text for block in blocks for text in thoughts_of(mapping(block))]
            if told_in:
                return told_in
    return []


def usage_of(usage: Record, cost: object = None) -> Usage | None:
    """Tokens and cost of one call; input counts include what came from a cache.

    Args:
        usage: As the provider reported it, in one of its three spellings.
        cost: As the harness computed it; 0 where it does not know the price.
    """
    read, written = (
        count_or_none(usage.get(f"cache_{what}_input_tokens")) for what in ("read", "creation")
    )
    sent = count_or_none(usage.get("prompt_tokens"))
    details = mapping(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    cached = count_or_none(details.get("cached_tokens"))
    if sent is None:
        sent = count_or_none(usage.get("input_tokens"))
        if "input_tokens_details" not in usage:
            # The one interface that counts what came from the cache apart.
            sent = sent_in_all(sent, read, written)
    received = count_or_none(usage.get("completion_tokens", usage.get("output_tokens")))
    more = mapping(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
    found = Usage(
        input_tokens=sent or None,
        cached_tokens=cached if cached is not None else read,
        output_tokens=received or None,
        reasoning_tokens=count_or_none(more.get("reasoning_tokens")),
        cost_usd=dollars(cost) or dollars(usage.get("cost")),
    )
    if found.input_tokens is None and found.output_tokens is None:
        return None if found.cost_usd is None else Usage(cost_usd=found.cost_usd)
    return found


def looks_like_observation(text: str) -> bool:
    """Whether a user message is the rendered output of a command."""
    patterns = (_RETURN_CODE, _EXCEPTION, _TIMED_OUT, _PYTHON)
    return any(pattern.match(text) for pattern in patterns)


def observation_of(message: Record) -> Observation:
    """The result that a message brings."""
    extra = mapping(message.get("extra"))
    parts = parts_of(message.get("output", message.get("content")))
    at = iso_time(extra.get("timestamp", message.get("timestamp")))
    raw = extra.get("raw_output")
    if isinstance(raw, str) and not parts.images:
        text = raw
        code, failure = extra.get("returncode"), text_or_none(extra.get("exception_info"))
    else:
        text, code, failure = _rendered(parts.text)
        code = extra.get("returncode", code)
    if failure == _NOT_EXECUTED:
        return Observation(ToolResult(text=text, images=tuple(parts.images), at=at), "not executed")
    timed_out = bool(_TIMED_OUT.match(text))
    result = ToolResult(
        text="\n".join(filter(None, (text, failure))),
        is_error=True if failure or timed_out else None,
        # Where the command could not be run, -1 stands for "no exit code".
        exit_code=code if type(code) is int and not failure else None,
        images=tuple(parts.images),
        at=at,
    )
    return Observation(result)


def _rendered(text: str) -> tuple[str, int | None, str | None]:
    """Output, exit code and failure from the text that the model was shown."""
    if text.startswith("{") and '"returncode"' in text:
        try:
            fields = json.loads(text)
        except ValueError:
            fields = None
        if isinstance(fields, dict):
            code = fields.get("returncode")
            shown = [str(fields[key]) for key in _BODY_KEYS[:-1] if fields.get(key)]
            failure = text_or_none(fields.get("exception_info"))
            return "\n".join(shown), code if type(code) is int else None, failure
    if python := _PYTHON.match(text):
        return text, int(python[1]), None
    exception = _EXCEPTION.match(text)
    body = text[exception.end() :] if exception else text
    code_tag = _RETURN_CODE.match(body)
    if code_tag is None:
        return body, None, exception[1] if exception else None
    body = body[code_tag.end() :]
    return (
        _output_in(body),
        int(code_tag[1]),
        exception[1] if exception else None,
    )


def _output_in(body: str) -> str:
    """What stands between the tags of an output, where there is nothing else."""
    opening = _OUTPUT.match(body)
    closed = body.rstrip()
    if opening is None or not closed.endswith(_OUTPUT_END):
        return body
    # A search for the end from the front would take a hundred times as long.
    return closed[opening.end() : -len(_OUTPUT_END)].removesuffix("\n")
