"""Which thread a Claude Code record belongs to: a session's main line, or a sub-agent.

Knows nothing of what the records say.
"""

from __future__ import annotations

from arcview.readers.trajectories.claude_code_drafts import Thread
from arcview.readers.trajectories.records import Record, text_or_none


class Threads:
    """The threads of the files of one trajectory, and the records that were sorted into them."""

    def __init__(self) -> None:
        self.by_id: dict[str, Thread] = {}
        self.of_uuid: dict[str, Thread] = {}
        """By the ids of the records that were taken."""
        self.agent_of_call: dict[str, str] = {}
        """Sub-agents by the calls that they answered."""
        self.stream_sessions: dict[str, None] = {}
        """Sessions that a stream names, in order."""
        self._in_stream = False
        self._latest: Thread | None = None
        """The main line that the last record of a session belongs to."""
        self._main: Thread | None = None
        """The main line that records of no session stand in."""
        self._file = Thread("", None)
        """Takes the records of no session while there is no main line."""

    def begin(self, shown: str, *, in_stream: bool) -> None:
        """The next records are those of another file."""
        self._in_stream = in_stream
        self._latest = self._main = None
        self._file = Thread("file:" + shown, None)

    @property
    def loose(self) -> Thread:
        """Where records stand that name no session."""
        return self._main or self.by_id.setdefault(self._file.id, self._file)

    def of(self, record: Record) -> Thread:
        """The thread that a record belongs to."""
        latest = self._latest
        if (
            latest is not None
            and record.get("sessionId") == latest.session
            and not record.get("isSidechain")
            and not record.get("parent_tool_use_id")
        ):
            return latest
        session = text_or_none(record.get("sessionId")) or text_or_none(record.get("session_id"))
        if self._in_stream and session:
            self.stream_sessions.setdefault(session)
        agent = text_or_none(record.get("agentId")) if record.get("isSidechain") else None
        parent = text_or_none(record.get("parent_tool_use_id"))
        if parent is not None:
            linked = self.agent_of_call.get(parent)
            name = f"agent:{linked}" if linked else f"call:{parent}"
            thread = self.by_id.setdefault(name, Thread(name, session, linked or parent))
            thread.parent_call = parent
            return thread
        if agent is None and record.get("isSidechain") is True:
            return self._inline_sidechain(record, session)
        if agent is not None:
            name = f"agent:{agent}"
            return self.by_id.setdefault(name, Thread(name, session, agent))
        if session is None:
            return self.loose
        if latest is not None and not self._in_stream:
            before = self.of_uuid.get(str(record.get("parentUuid")))
            if before is latest:  # older clients copied what was resumed, under its own session
                return latest
        name = f"main:{session}"
        thread = self.by_id.setdefault(name, Thread(name, session))
        self._main = thread
        if not self._in_stream:
            self._latest = thread
        return thread

    def _inline_sidechain(self, record: Record, session: str | None) -> Thread:
        """Old clients wrote a sub-agent's records into the main file, as a chain of their own."""
        parent = self.of_uuid.get(str(record.get("parentUuid")))
        if parent is not None and parent.agent is not None:
            return parent
        agent = text_or_none(record.get("uuid")) or f"sidechain {len(self.by_id)}"
        name = f"agent:{agent}"
        return self.by_id.setdefault(name, Thread(name, session, agent))
