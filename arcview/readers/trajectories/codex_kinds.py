"""Names of Codex records that are treated alike."""

from __future__ import annotations

CALLS = frozenset(
    {
        "custom_tool_call",
        "function_call",
        "image_generation_call",
        "local_shell_call",
        "tool_search_call",
        "web_search_call",
    }
)
"""Response items that ask for a tool."""
OUTPUTS = frozenset(
    {
        "custom_tool_call_output",
        "function_call_output",
        "local_shell_call_output",
        "mcp_tool_call_output",
        "tool_search_output",
    }
)
"""Response items that answer such a call."""
COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compaction"})
"""Response items that stand for earlier turns."""
FACT_EVENTS = frozenset(
    {
        "collab_agent_interaction_end",
        "collab_agent_spawn_end",
        "collab_close_end",
        "collab_resume_end",
        "dynamic_tool_call_response",
        "exec_command_end",
        "image_generation_end",
        "mcp_tool_call_end",
        "patch_apply_end",
        "view_image_tool_call",
        "web_search_end",
    }
)
"""Events that tell what came of a call."""
FACT_ITEMS = frozenset(
    {
        "CollabAgentToolCall",
        "CommandExecution",
        "DynamicToolCall",
        "Extension",
        "FileChange",
        "ImageGeneration",
        "ImageView",
        "McpToolCall",
        "WebSearch",
    }
)
"""Completed items that tell what came of a call."""
NOTE_ITEMS = frozenset({"HookPrompt", "Sleep", "SubAgentActivity"})
"""Completed items that are only remarked on."""
TURN_BORDERS = frozenset({"task_complete", "task_started", "turn_aborted", "turn_complete"})
"""Events after which no response goes on."""
