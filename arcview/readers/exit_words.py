"""How sessions say that they ended, in the words of the agents, as statuses of a stage.

A word that no rule knows is shown as it is, beside an unknown status. Reads no file.
"""

from __future__ import annotations

import re

from arcview.model.run import Status

_WORDS = {
    # mini-swe-agent, SWE-agent
    "submitted": Status.COMPLETED,
    "limitsexceeded": Status.INTERRUPTED,
    "timeexceeded": Status.AGENT_TIMEOUT,
    "exit_cost": Status.INTERRUPTED,
    "exit_context": Status.AGENT_ERROR,
    "exit_format": Status.AGENT_ERROR,
    "exit_api": Status.AGENT_ERROR,
    "exit_error": Status.AGENT_ERROR,
    "exit_environment_error": Status.INFRASTRUCTURE_ERROR,
    "exit_command_timeout": Status.AGENT_TIMEOUT,
    "exit_total_execution_time": Status.AGENT_TIMEOUT,
    "exit_forfeit": Status.COMPLETED,
    "early_exit": Status.INTERRUPTED,
    "skipped": Status.SKIPPED,
    "userinterruption": Status.INTERRUPTED,
    "keyboardinterrupt": Status.INTERRUPTED,
    # Claude Code, Gemini CLI, Inspect
    "success": Status.COMPLETED,
    "error_max_turns": Status.INTERRUPTED,
    "error_max_budget_usd": Status.INTERRUPTED,
    "error_during_execution": Status.AGENT_ERROR,
    "error": Status.AGENT_ERROR,
    "cancelled": Status.INTERRUPTED,
    "started": Status.INTERRUPTED,
    # Codex
    "turn.completed": Status.COMPLETED,
    "turn.failed": Status.AGENT_ERROR,
    "task_complete": Status.COMPLETED,
    "turn_aborted": Status.INTERRUPTED,
    # OpenHands
    "finished": Status.COMPLETED,
    "awaiting_user_input": Status.COMPLETED,
    "stuck": Status.AGENT_ERROR,
    "stopped": Status.INTERRUPTED,
    "paused": Status.INTERRUPTED,
    "running": Status.INTERRUPTED,
}
_ERROR_NAME = re.compile(r"[A-Za-z_.]*(?:Error|Exception)\Z")


def status_of(word: str | None) -> tuple[Status, str | None]:
    """The status that a word of an agent stands for, and the word where it says more.

    `submitted (exit_cost)` is what SWE-agent says when a limit ended a session whose changes it
    then submitted: the limit counts.
    """
    if not word:
        return Status.UNKNOWN, None
    plain = word.strip().lower()
    inner = re.fullmatch(r"submitted \((\w+)\)", plain)
    status = _WORDS.get(inner[1] if inner else plain)
    if status is None and _ERROR_NAME.match(word):
        status = Status.AGENT_ERROR
    if status is None:
        return Status.UNKNOWN, word
    return status, None if status is Status.COMPLETED and not inner else word
