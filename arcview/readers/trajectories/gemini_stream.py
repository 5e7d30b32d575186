"""Records of `gemini --output-format stream-json` → drafts.

A stream has no thoughts, no exit codes, no output of edits, and tokens only as totals.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from arcview.model.trajectory import Role, StepKind, ToolResult
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.contents import mapping
from arcview.readers.trajectories.drafts import Draft, Drafts
from arcview.readers.trajectories.gemini_items import call_of, stats_usage
from arcview.readers.trajectories.records import Record, kind_of, text_or_none

_ABSURD = 1e12
"""More milliseconds than any run takes: thirty years."""


@dataclass(slots=True)
class GeminiStream:
    """Takes the records of one stream in their order."""

    drafts: Drafts = field(default_factory=Drafts)
    sessions: dict[str, None] = field(default_factory=dict)
    usage: list[Usage] = field(default_factory=list)
    model: str | None = None
    exit_status: str | None = None
    """What the closing record says; null where the stream has none."""
    _open: Draft | None = None
    _is_spoken: bool = False
    """Whether the last record was a piece of text that the next one may go on."""

    def take(self, value: object, address: str) -> None:
        """Takes one record.

        Args:
            value: The parsed line.
            address: File and line.
        """
        if not isinstance(value, dict):
            self.drafts.raw(value, address, type(value).__name__)
            return
        at = text_or_none(value.get("timestamp"))
        kind = kind_of(value)
        if kind != "message":
            self._is_spoken = False
        match kind:
            case "init":
                self._start(value, address, at)
            case "message":
                self._take_message(value, address, at)
            case "tool_use":
                self._take_call(value, address, at)
            case "tool_result":
                self._take_result(value, address, at)
            case "error":
                is_error = value.get("severity") != "warning"
                text = f"{value.get('severity') or 'error'}: {value.get('message')}"
                self.drafts.note(text, address, at=at, is_error=is_error)
            case "result":
                self._end(value, address, at)
            case _:
                self.drafts.raw(value, address, kind or "no type", at=at)

    def _start(self, record: Record, address: str, at: str | None) -> None:
        self._open = self.exit_status = None
        self.model = text_or_none(record.get("model"))
        session = text_or_none(record.get("session_id"))
        self.drafts.session = session
        if session is not None:
            self.sessions.setdefault(session)
        told = f": model {self.model}" if self.model else ""
        self.drafts.note(f"session started{told}", address, at=at)

    def _take_message(self, record: Record, address: str, at: str | None) -> None:
        text = record.get("content")
        role = record.get("role")
        if not isinstance(text, str) or role not in ("assistant", "user"):
            self.drafts.raw(dict(record), address, f"message of {role}", at=at)
            return
        if role == "user":
            self._open, self._is_spoken = None, False
            self.drafts.add(Role.USER, StepKind.MESSAGE, address, text=text, at=at)
            return
        step = self._response(address, at)
        if self._is_spoken and step.texts:
            step.texts[-1] += text
        else:
            step.texts.append(text)
        self._is_spoken = record.get("delta") is True

    def _response(self, address: str, at: str | None) -> Draft:
        """The response that goes on; a result or a user turn ends it."""
        if self._open is None:
            self._open = self.drafts.add(Role.ASSISTANT, StepKind.MESSAGE, address, at=at)
            self._open.model = self.model
        return self._open

    def _take_call(self, record: Record, address: str, at: str | None) -> None:
        call_id = text_or_none(record.get("tool_id"))
        step = self._response(address, at)
        self.drafts.call(step, call_of(record, call_id or address), call_id, address)

    def _take_result(self, record: Record, address: str, at: str | None) -> None:
        self._open = None
        output = text_or_none(record.get("output"))
        error = text_or_none(mapping(record.get("error")).get("message"))
        status = text_or_none(record.get("status"))
        result = ToolResult(
            text=max(output or "", error or "", key=len),
            is_error=None if status is None else status != "success",
            at=at,
        )
        self.drafts.give(text_or_none(record.get("tool_id")), result, address)

    def _end(self, record: Record, address: str, at: str | None) -> None:
        self._open = None
        stats = mapping(record.get("stats"))
        self.exit_status = text_or_none(record.get("status"))
        status = self.exit_status or "no status"
        error = text_or_none(mapping(record.get("error")).get("message"))
        took = _duration(stats.get("duration_ms"))
        text = f"session ended: {status}{took}" + (f"\n{error}" if error else "")
        draft = self.drafts.note(text, address, at=at, is_error=status == "error")
        draft.usage = stats_usage(stats)
        if draft.usage is not None:
            self.usage.append(draft.usage)

    def finish(self) -> None:
        """Notes what waited for something that did not come."""
        self.drafts.report_orphans()


def _duration(milliseconds: object) -> str:
    is_number = isinstance(milliseconds, (int, float)) and not isinstance(milliseconds, bool)
    if is_number and 0 <= milliseconds < _ABSURD:  # type: ignore[operator]
        return f", {milliseconds / 1000:.1f} s"  # type: ignore[operator]
    return ""
