"""Records of Codex that are no part of a response → notes: starts, ends, errors, housekeeping."""

from __future__ import annotations

from collections.abc import Mapping

from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.records import as_json, text_or_none

BOILERPLATE = (
    "# agents.md instructions",
    "<agent_message_board_notification>",
    "<application_context",
    "<apps_instructions>",
    "<codex_internal_context",
    "<collaboration_mode>",
    "<environment_context>",
    "<extension_context>",
    "<external_",
    "<goal_context>",
    "<hook_prompt",
    "<instructions>",
    "<model_switch>",
    "<permissions instructions>",
    "<personality_spec>",
    "<plugins_instructions>",
    "<realtime_conversation>",
    "<recommended_plugins>",
    "<skill>",
    "<skills_instructions>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_action>",
    "<user_instructions>",
    "<user_shell_command>",
    "warning: apply_patch was requested via",
    "warning: your account was flagged for potentially high-risk cyber activity",
    "warning: the maximum number of unified exec processes",
)
"""How the messages start that the client writes in the user's name, in lower case."""
SUMMARY = "another language model started to solve this problem and produced a summary"
COMPACTED = "context compacted"

_ERRORS = frozenset({"error", "stream_error", "turn_aborted", "turn.failed"})
_HOUSEKEEPING = frozenset(
    {
        "additional_tools",
        "apply_patch_approval_request",
        "background_event",
        "collab_agent_interaction_begin",
        "collab_agent_spawn_begin",
        "collab_close_begin",
        "collab_resume_begin",
        "collab_waiting_begin",
        "collab_waiting_end",
        "conversation_path",
        "deprecation_notice",
        "dynamic_tool_call_request",
        "elicitation_request",
        "entered_review_mode",
        "exec_approval_request",
        "exec_command_begin",
        "exited_review_mode",
        "ghost_snapshot",
        "guardian_assessment",
        "guardian_warning",
        "hook_completed",
        "hook_started",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "mcp_startup_complete",
        "mcp_startup_update",
        "mcp_tool_call_begin",
        "model_reroute",
        "patch_apply_begin",
        "plan_update",
        "request_user_input",
        "session_configured",
        "shutdown_complete",
        "sub_agent_activity",
        "task_complete",
        "task_started",
        "thread_goal_updated",
        "thread_name_updated",
        "thread_rolled_back",
        "thread_settings_applied",
        "turn_complete",
        "turn_diff",
        "turn_started",
        "undo_completed",
        "undo_started",
        "warning",
        "web_search_begin",
        "world_state",
    }
)
_PLUMBING = frozenset(
    {
        "completed_at",
        "id",
        "internal_chat_message_metadata_passthrough",
        "last_agent_message",
        "root_turn_id",
        "started_at",
        "thread_id",
        "turn_attribution",
        "turn_id",
        "type",
    }
)


def is_boilerplate(text: str, item: Mapping[str, object]) -> bool:
    """Whether the client wrote a message of the user, by its provenance or by its beginning."""
    passed = mapping(item.get("internal_chat_message_metadata_passthrough"))
    sources = [
        mapping(mapping(entry).get("provenance")).get("type")
        for entry in listed(passed.get("content_item_metadata"))
    ]
    if any(isinstance(source, str) for source in sources):
        return "user" not in sources
    kinds = [kind for kind in listed(passed.get("content_item_kinds")) if isinstance(kind, str)]
    if kinds and not {"", "unknown"}.intersection(kinds):
        return not any(kind.startswith(("user.", "images.", "audio.")) for kind in kinds)
    return text.lstrip()[:80].lower().startswith(BOILERPLATE)


def is_summary(text: str) -> bool:
    """Whether a message of the user is the summary that replaced earlier turns."""
    return text.lstrip()[: len(SUMMARY)].lower() == SUMMARY


def note_of(kind: str, fields: Mapping[str, object]) -> tuple[str, bool] | None:
    """The note for a record and whether it tells of an error; null when its kind is unknown."""
    if kind in _ERRORS:
        return _failure(kind, fields), True
    if kind not in _HOUSEKEEPING:
        return None
    if (failure := mapping(fields.get("error"))) or fields.get("error"):
        return f"{kind}: {failure.get('message') or as_json(fields.get('error'))}", True
    rest = {name: value for name, value in fields.items() if name not in _PLUMBING and value}
    return f"{kind}: {as_json(rest)}" if rest else kind, False


def _failure(kind: str, fields: Mapping[str, object]) -> str:
    error = fields.get("error")
    told = [fields.get("message"), mapping(error).get("message"), error, fields.get("reason")]
    text = next((part for part in told if isinstance(part, str) and part), None)
    return f"{kind}: {text}" if text else kind


def exit_status_of(kind: str, event: Mapping[str, object]) -> str | None:
    """How a turn ended, by the event at its border; null for the one at its beginning."""
    if kind.endswith("_started"):
        return None
    return "turn.failed" if event.get("error") else kind.replace("turn_complete", "task_complete")


def started_note(meta: Mapping[str, object], model: str | None) -> str:
    """The note for the start of a session."""
    git = mapping(meta.get("git"))
    facts = [
        ("model", model),
        ("Codex", meta.get("cli_version")),
        ("by", meta.get("originator")),
        ("in", meta.get("cwd")),
        ("at commit", git.get("commit_hash")),
        ("forked from", meta.get("forked_from_id")),
    ]
    told = ", ".join(f"{name} {value}" for name, value in facts if value)
    return f"session started: {told}" if told else "session started"


def turn_note(context: Mapping[str, object]) -> str:
    """The note for the settings of a turn."""
    settings = mapping(mapping(context.get("collaboration_mode")).get("settings"))
    facts = [
        ("model", context.get("model")),
        ("effort", context.get("effort") or settings.get("reasoning_effort")),
        ("approvals", context.get("approval_policy")),
        ("in", context.get("cwd")),
    ]
    return "turn: " + ", ".join(f"{name} {value}" for name, value in facts if value)


def compacted_text(payload: Mapping[str, object]) -> str:
    """What replaced the earlier turns, as far as it can be read."""
    history = listed(payload.get("replacement_history"))
    head = COMPACTED + (f" to {len(history)} items" if history else "")
    summary = text_or_none(payload.get("message"))
    return f"{head}\n{summary}" if summary else head
