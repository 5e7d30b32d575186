"""What the head of a Codex rollout says of its thread: whose it is, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from arcview.readers.trajectories.contents import mapping
from arcview.readers.trajectories.records import Record, text_or_none


@dataclass(frozen=True, slots=True)
class SessionMeta:
    """The first `session_meta`, or the head of a bare rollout; false while there is none."""

    fields: Mapping[str, object] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether it has been read."""
        return bool(self.fields)

    @property
    def id(self) -> str | None:
        """Id of the thread."""
        return text_or_none(self.fields.get("id")) or text_or_none(self.fields.get("session_id"))

    @property
    def parent(self) -> str | None:
        """Id of the thread that it was started or copied from."""
        spawn = self._spawn
        named = (
            self.fields.get("parent_thread_id"),
            spawn.get("parent_thread_id"),
            self.fields.get("forked_from_id"),
        )
        return next((name for name in named if isinstance(name, str) and name), None)

    @property
    def path(self) -> str | None:
        """What a sub-agent is called among the agents of its tree (`/root/tests`)."""
        spawn = self._spawn
        return text_or_none(self.fields.get("agent_path")) or text_or_none(spawn.get("agent_path"))

    @property
    def is_subagent(self) -> bool:
        """Whether another thread started it as a sub-agent."""
        source = self.fields.get("source")
        return "subagent" in (source if isinstance(source, (dict, str)) else "")

    @property
    def own_start(self) -> int | None:
        """Ordinal of the first record that is its own; null where that is not recorded."""
        base = mapping(self.fields.get("history_base"))
        for value in (
            self.fields.get("subagent_history_start_ordinal"),
            base.get("end_ordinal_exclusive"),
        ):
            if type(value) is int:
                return value
        return None

    @property
    def version(self) -> str | None:
        """The client's version."""
        return text_or_none(self.fields.get("cli_version"))

    @property
    def _spawn(self) -> Record:
        source = mapping(self.fields.get("source"))
        return mapping(mapping(source.get("subagent")).get("thread_spawn"))
