"""Which agent and which tool call an event of an Inspect log belongs to.

Newer logs open and close spans with ids; older ones nest steps by their order alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from arcview.readers.trajectories.contents import mapping
from arcview.readers.trajectories.records import Record, text_or_none

_MAX_DEPTH = 200
_SCORING = frozenset({"scorer", "scorers"})


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a transcript."""

    id: str
    type: str | None
    name: str
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who acts in an event."""

    agent: str | None = None
    """Null for the main agent."""
    parent_call: str | None = None
    """Id of the tool call that started it."""
    is_scoring: bool = False
    """A scorer acts, not the agent."""
    in_tool: bool = False


@dataclass(slots=True)
class Spans:
    """All spans of one sample, and where the walk through its events stands."""

    by_id: dict[str, Span] = field(default_factory=dict)
    _call_of: dict[str, str] = field(default_factory=dict)
    """By span of an agent or a tool: the id of the call."""
    agent_calls: set[str] = field(default_factory=set)
    """Ids of the calls whose work a sub-agent did."""
    results: set[str] = field(default_factory=set)
    """Ids of the messages that results became; after a handover they are passed on as a user's."""
    _names: dict[str, str] = field(default_factory=dict)
    """By span of a sub-agent: what it is called, each differently."""
    _steps: list[Span] = field(default_factory=list)
    """The open steps of an older log."""

    @classmethod
    def of(cls, events: Sequence[object]) -> Spans:
        """Finds the spans and which calls they belong to."""
        spans = cls()
        opened: list[Span] = []
        for event in map(mapping, events):
            kind = event.get("event")
            if kind == "span_begin" and (span := _span(event)):
                spans.by_id[span.id] = span
                opened.append(span)
            elif kind == "tool" and (call := text_or_none(event.get("id"))):
                if message := text_or_none(event.get("message_id")):
                    spans.results.add(message)
                if agent := text_or_none(event.get("agent_span_id")):
                    spans._call_of[agent] = call
                # The span of a call opens right before its event.
                named = [s for s in opened[-20:] if s.name == event.get("function")]
                own = [s for s in named if s.type == "tool" and s.id not in spans._call_of]
                if own:
                    spans._call_of[own[-1].id] = call
        agents = [span.id for span in spans.by_id.values() if span.type == "agent"]
        started = (spans._starter(spans._chain(span_id)) for span_id in agents)
        spans.agent_calls = {call for call in started if call is not None}
        return spans

    def enter(self, event: Record) -> None:
        """Follows the steps of an older log."""
        if event.get("event") != "step":
            return
        if event.get("action") == "begin":
            name = str(event.get("name"))
            self._steps.append(Span(f"{name}#{len(self._steps)}", _type(event), name))
        elif self._steps:
            self._steps.pop()

    def speaker(self, event: Record) -> Speaker:
        """Who acts in an event; an agent within another agent is a sub-agent."""
        chain = self._chain(text_or_none(event.get("span_id"))) or self._steps
        agents = [span for span in chain if span.type == "agent"]
        is_scoring = any(span.type in _SCORING for span in chain)
        in_tool = any(span.type == "tool" for span in chain)
        if len(agents) < 2:
            return Speaker(is_scoring=is_scoring, in_tool=in_tool)
        inner = agents[-1]
        call = self._starter(chain[: chain.index(inner) + 1])
        return Speaker(self._name(inner), call, is_scoring, in_tool)

    def _starter(self, chain: Sequence[Span]) -> str | None:
        """The call that started the agent whose span is the last of a chain."""
        calls = [self._call_of[span.id] for span in chain if span.id in self._call_of]
        return calls[-1] if calls else None

    def _chain(self, span_id: str | None) -> list[Span]:
        """A span with all that it is in, the outermost first."""
        chain: list[Span] = []
        while span_id is not None and len(chain) < _MAX_DEPTH:
            span = self.by_id.get(span_id)
            if span is None:
                break
            chain.append(span)
            span_id = span.parent
        return chain[::-1]

    def _name(self, span: Span) -> str:
        if span.id not in self._names:
            taken = sum(name.partition("#")[0] == span.name for name in self._names.values())
            self._names[span.id] = f"{span.name}#{taken + 1}" if taken else span.name
        return self._names[span.id]


def _span(event: Record) -> Span | None:
    span_id = text_or_none(event.get("id"))
    if span_id is None:
        return None
    name = text_or_none(event.get("name")) or "(no name)"
    return Span(span_id, _type(event), name, text_or_none(event.get("parent_id")))


def _type(event: Record) -> str | None:
    return text_or_none(event.get("type"))
