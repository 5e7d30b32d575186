"""Texts that both generations of OpenHands put into a conversation themselves. Pure."""

from __future__ import annotations

from arcview.readers.trajectories.contents import mapping
from arcview.readers.trajectories.records import text_or_none

_NUDGES = (
    "Please continue working on the task on whatever approach",
    "Please continue working on the task. If you think you have completed",
)


def is_nudge(text: str) -> bool:
    """Whether a message is what an evaluation answers in the name of the user, to go on."""
    return text.lstrip().startswith(_NUDGES)


def still_running(metadata: object) -> str:
    """What the model was told below the output of a command that had not ended."""
    return text_or_none(mapping(metadata).get("suffix")) or ""
