"""Records of Claude Code that are no messages → notes: starts, ends, summaries, housekeeping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from arcview.model.trajectory import StepKind, Usage
from arcview.readers.trajectories.claude_code_blocks import usage_of
from arcview.readers.trajectories.records import as_json, kind_of, text_or_none

# Housekeeping of the client: known, of no consequence for the run, shown in one line each.
_HOUSEKEEPING = frozenset(
    {
        "agent-name",
        "ai-title",
        "attachment",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "rate_limit_event",
        "tag",
        "tool_progress",
        "tool_use_summary",
        "worktree-state",
    }
)
_PLUMBING = frozenset(
    {
        "cwd",
        "gitBranch",
        "isMeta",
        "isSidechain",
        "level",
        "parentUuid",
        "sessionId",
        "session_id",
        "slug",
        "subtype",
        "timestamp",
        "type",
        "userType",
        "uuid",
        "version",
    }
)


@dataclass(frozen=True, slots=True)
class Note:
    """What a record says."""

    text: str
    kind: StepKind = StepKind.NOTE
    is_error: bool = False
    usage: Usage | None = None
    model: str | None = None
    is_boundary: bool = False
    """A user turn right after it is the summary that replaced earlier turns."""


def note_of(record: Mapping[str, object]) -> Note | None:
    """The note for a record that is neither message nor partial event; null when unknown."""
    kind = kind_of(record)
    if kind == "summary":
        return Note(f"title of an earlier conversation: {record.get('summary')}")
    if kind == "result":
        return _closing(record)
    if kind == "system":
        subtype = str(record.get("subtype"))
        return _SYSTEM.get(subtype, _other_system)(record)
    if kind in _HOUSEKEEPING:
        return Note(f"{kind}{_details(record)}")
    return None


def _init(record: Mapping[str, object]) -> Note:
    tools = record.get("tools")
    facts = [
        ("model", record.get("model")),
        ("Claude Code", record.get("claude_code_version")),
        ("permission mode", record.get("permissionMode")),
        ("in", record.get("cwd")),
        ("tools", len(tools) if isinstance(tools, list) else None),
    ]
    text = "session started: " + ", ".join(f"{name} {value}" for name, value in facts if value)
    return Note(text, model=text_or_none(record.get("model")))


def _boundary(record: Mapping[str, object]) -> Note:
    details = record.get("compactMetadata") or record.get("compact_metadata")
    fields = details if isinstance(details, dict) else {}
    tokens = fields.get("preTokens", fields.get("pre_tokens"))
    facts = [str(fields["trigger"])] if fields.get("trigger") else []
    facts += [f"{tokens} tokens before"] if tokens else []
    text = "context compacted" + (f" ({', '.join(facts)})" if facts else "")
    return Note(text, StepKind.COMPACTION, is_boundary=True)


def _failure(record: Mapping[str, object]) -> Note:
    told = text_or_none(record.get("content")) or text_or_none(record.get("error"))
    return Note(f"{record.get('subtype')}: {told or _details(record)}", is_error=True)


def _other_system(record: Mapping[str, object]) -> Note:
    told = text_or_none(record.get("content"))
    subtype = text_or_none(record.get("subtype")) or "system"
    return Note(f"{subtype}: {told}" if told else f"{subtype}{_details(record)}")


_SYSTEM: Mapping[str, Callable[[Mapping[str, object]], Note]] = {
    "init": _init,
    "compact_boundary": _boundary,
    "api_error": _failure,
}


def _closing(record: Mapping[str, object]) -> Note:
    """The end of a session. `success` may come with `is_error`: then it is an error."""
    cost = record.get("total_cost_usd")
    facts = [
        str(record.get("subtype") or "no subtype"),
        f"{record['num_turns']} turns" if record.get("num_turns") else "",
        f"${cost:.4f}" if isinstance(cost, float) and cost else "",
        _duration(record.get("duration_ms")),
    ]
    is_error = record.get("is_error") is True
    text = "session ended: " + ", ".join(filter(None, facts))
    told = text_or_none(record.get("result"))
    if is_error:
        text = f"session ended in an error: {told or facts[0]}"
    elif told:
        text = f"{text}\n{told}"
    return Note(text, is_error=is_error, usage=usage_of(record.get("usage"), cost))


def _duration(milliseconds: object) -> str:
    if isinstance(milliseconds, (int, float)) and not isinstance(milliseconds, bool):
        return f"{milliseconds / 1000:.1f} s"
    return ""


def _details(record: Mapping[str, object]) -> str:
    """The rest of a record in one line."""
    shown = {key: value for key, value in record.items() if key not in _PLUMBING and value}
    return f": {as_json(shown)}" if shown else ""
