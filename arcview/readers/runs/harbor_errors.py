"""How a Harbor step ended, from the exception that it recorded: whose fault, and what it says.

The names are those of harbor 0.26, `models/trial/error_policy.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from arcview.model.run import Status
from arcview.readers.fields import Fields

_VERIFIERS = frozenset(
    {
        "VerifierTimeoutError",
        "RewardFileNotFoundError",
        "RewardFileEmptyError",
        "VerifierOutputParseError",
        "AddTestsDirError",
        "DownloadVerifierDirError",
    }
)
_INFRASTRUCTURE = frozenset(
    {
        "EnvironmentStartTimeoutError",
        "EnvironmentBuildTimeoutError",
        "SandboxBuildFailedError",
        "AgentSetupTimeoutError",
        "HealthcheckError",
        "SandboxLikelyOutOfMemoryError",
        "MemoryLimitExceededError",
        "SSHAccessError",
        "GKEExecStreamClosedError",
        "GKEPodNotFoundError",
        "RuntimeRequestError",
    }
)
_INTERRUPTED = frozenset({"CancelledError", "KeyboardInterrupt"})
_TIMEOUT = "AgentTimeoutError"


@dataclass(frozen=True, slots=True)
class StepError:
    """An exception that the harness caught and recorded."""

    kind: str
    """Name of its class."""
    detail: str
    """The name and the first line of its message."""

    @property
    def is_verifiers(self) -> bool:
        """It happened in the verifier: the agent had come to its end."""
        return self.kind in _VERIFIERS


def step_error(fields: Fields) -> StepError | None:
    """The exception of a step, or of a trial without steps; null where there was none."""
    info = fields.sub("exception_info")
    if not info.values:
        return None
    kind = info.text("exception_type") or "an unnamed exception"
    message = info.text("exception_message") or ""
    first_line = next(iter(message.strip().splitlines()), "")
    return StepError(kind, f"{kind}: {first_line}" if first_line else kind)


def step_status(
    error: StepError | None, *, has_begun: bool, is_over: bool
) -> tuple[Status, str | None]:
    """How a step ended.

    Args:
        error: Its exception.
        has_begun: The agent was started.
        is_over: The harness came to the end of the trial.
    """
    if error is None:
        if is_over:
            return Status.COMPLETED, None
        return Status.INTERRUPTED, "no result.json: the trial was killed, or is running"
    if error.is_verifiers:
        return Status.COMPLETED, None
    if error.kind == _TIMEOUT:
        return Status.AGENT_TIMEOUT, error.detail
    if error.kind in _INTERRUPTED:
        return Status.INTERRUPTED, error.detail
    if error.kind in _INFRASTRUCTURE or not has_begun:
        return Status.INFRASTRUCTURE_ERROR, error.detail
    return Status.AGENT_ERROR, error.detail
