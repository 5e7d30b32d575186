"""How the words of agents become statuses."""

from __future__ import annotations

import pytest

from arcview.model.run import Status
from arcview.readers.exit_words import status_of


@pytest.mark.parametrize(
    ("word", "status", "detail"),
    [
        (None, Status.UNKNOWN, None),
        ("", Status.UNKNOWN, None),
        ("Submitted", Status.COMPLETED, None),
        ("submitted (exit_cost)", Status.INTERRUPTED, "submitted (exit_cost)"),
        ("submitted (exit_context)", Status.AGENT_ERROR, "submitted (exit_context)"),
        ("LimitsExceeded", Status.INTERRUPTED, "LimitsExceeded"),
        ("exit_total_execution_time", Status.AGENT_TIMEOUT, "exit_total_execution_time"),
        ("exit_environment_error", Status.INFRASTRUCTURE_ERROR, "exit_environment_error"),
        ("RuntimeError", Status.AGENT_ERROR, "RuntimeError"),
        ("litellm.exceptions.APIError", Status.AGENT_ERROR, "litellm.exceptions.APIError"),
        ("error_max_turns", Status.INTERRUPTED, "error_max_turns"),
        ("finished", Status.COMPLETED, None),
        ("gone fishing", Status.UNKNOWN, "gone fishing"),
    ],
)
def test_a_word_and_its_status(word: str | None, status: Status, detail: str | None) -> None:
    assert status_of(word) == (status, detail)
