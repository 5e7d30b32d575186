"""The log of mini-swe-agent inside SlopCodeBench: a message a line → messages of its own files.

Lines are `{role, content, wall_clock_time, cost, tokens, meta}`; `environment` is what a command
printed.
"""

from __future__ import annotations

from collections.abc import Mapping

from arcview.readers.trajectories.contents import mapping
from arcview.readers.trajectories.documents import Document
from arcview.readers.trajectories.records import Record, parse_lines

_KEYS = frozenset({"role", "content", "wall_clock_time"})
_RESULT = frozenset({"output", "returncode"})


def is_line(value: object) -> bool:
    """Whether a value is a line of such a log."""
    return isinstance(value, dict) and value.keys() >= _KEYS


def parse_log(data: bytes, shown: str) -> Document | None:
    """A log as the document that the agent itself would write; null for any other file."""
    lines = parse_lines(data, shown)
    if not lines.records or not is_line(lines.records[0][1]):
        return None
    messages = [_message(value) if is_line(value) else value for _, value in lines.records]
    return Document(shown, {"messages": messages}, [*lines.problems])


def _message(value: object) -> Record:
    line = mapping(value)
    role, meta = line["role"], mapping(line.get("meta"))
    if role == "environment":
        extra: Mapping[str, object] = {}
        if meta.keys() >= _RESULT:
            extra = {"raw_output": meta["output"], "returncode": meta["returncode"]}
        return {"role": "user", "content": line["content"], "extra": extra}
    if role != "assistant":
        return {"role": role, "content": line["content"]}
    tokens = mapping(line.get("tokens"))
    usage = {
        "prompt_tokens": tokens.get("input"),
        "completion_tokens": tokens.get("output"),
        "prompt_tokens_details": {"cached_tokens": tokens.get("cache_read")},
        "completion_tokens_details": {"reasoning_tokens": tokens.get("reasoning")},
    }
    extra = {"response": {**meta, "usage": usage}, "cost": line.get("cost")}
    return {"role": role, "content": line["content"], "extra": extra}
