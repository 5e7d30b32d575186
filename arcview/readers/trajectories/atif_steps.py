"""Steps of one ATIF document → steps of the model; pairs every result with its call.

Pure: no files. Sub-agents are looked up through a callable that the reader gives.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from arcview.model.problem import Problem
from arcview.model.trajectory import Role, Step, StepKind, ToolCall
from arcview.model.trajectory_refs import Usage
from arcview.readers.trajectories.atif_marks import marks_of, restored_call, restored_step
from arcview.readers.trajectories.atif_results import content_of, result_of
from arcview.readers.trajectories.tools import command_of, kind_of, path_of
from arcview.readers.trajectories.usages import dollars

Record = Mapping[str, object]
SubAgents = Callable[[Record, str], Sequence[Step]]
"""Takes a `subagent_trajectory_ref` and the key of the call that started it; gives its steps."""

Spot = tuple[int, int]
"""Place of a step among those found, and of a call in it."""

_AGENT = Role.ASSISTANT
_REMEMBERED = frozenset({"compaction", "pruning"})
_SUMMARIZED = "Performed context summarization"
_HANDOVERS = (
    "Here are the answers the other agent provided",
    "You are picking up work from a previous AI agent",
)
_ROLES = {"user": Role.USER, "system": Role.SYSTEM, "agent": _AGENT}


@dataclass(slots=True)
class Reading:
    """What is shared by all documents of one trajectory."""

    problems: list[Problem] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    is_ours: bool = False
    """Exported by arcview, which writes what it knows and nothing else."""
    call_keys: set[str] = field(default_factory=set)
    """Keys that are taken; a second call of the same id gets another."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whose steps a document holds."""

    name: str
    """File name or trajectory id; keys of steps without calls start with it."""
    session: str
    model: str | None = None
    agent: str | None = None
    """Null for the main agent."""
    parent_call: str | None = None


def steps_of(
    records: Sequence[object], speaker: Speaker, reading: Reading, sub_agents: SubAgents
) -> list[Step]:
    """The steps of one document in order, each sub-agent after the step that started it.

    Numbers are not given yet: `numbered` does that when everything is joined.
    """
    found: list[Step] = []
    waiting: dict[str, list[Spot]] = {}
    """By call id, in order: the calls whose result is not there yet."""
    for ordinal, record in enumerate(records, start=1):
        key = f"{speaker.name}#{ordinal}"
        if not isinstance(record, dict):
            found.append(_raw(key, record, speaker, reading, "not an object"))
            continue
        if record.get("is_copied_context") is True:
            found.append(_copied(key, record, speaker))
            continue
        role = _ROLES.get(str(record.get("source")))
        if role is None:
            what = f"source {record.get('source')!r}"
            found.append(_raw(key, record, speaker, reading, what))
            continue
        step = _message(key, record, role, speaker, reading)
        place = len(found)
        found.append(step)
        for number, entry in enumerate(_entries(record.get("tool_calls"))):
            if (call_id := _text(_mapping(entry).get("tool_call_id"))) is not None:
                waiting.setdefault(call_id, []).append((place, number))
        results = _results(record.get("observation"))
        orphans = _pair(results, found, place, waiting)
        if step.kind is StepKind.COMPACTION:
            found[place], orphans = _with_summary(step, orphans), []
        found += (_observation(f"{key}.{n}", orphan, speaker) for n, orphan in orphans)
        for result in results:
            call_key = _text(result.get("source_call_id")) or found[place].key
            for ref in _records(result.get("subagent_trajectory_ref")):
                found += sub_agents(ref, call_key)
    return found


def usage_of(metrics: Record, prefix: str = "", *, is_ours: bool = False) -> Usage | None:
    """Tokens and cost of a step (`prompt_tokens` …) or of all (`total_prompt_tokens` …).

    An amount of 0 beside a call of a model is not believed: it is unknown. In what arcview itself
    has written, 0 is 0.
    """
    extra = _mapping(metrics.get("extra"))
    reasoning = (_count(extra.get(key)) for key in ("reasoning_tokens", "thoughts_tokens"))
    usage = Usage(
        input_tokens=_count(metrics.get(f"{prefix}prompt_tokens")),
        cached_tokens=_count(metrics.get(f"{prefix}cached_tokens")),
        output_tokens=_count(metrics.get(f"{prefix}completion_tokens")),
        reasoning_tokens=next((count for count in reasoning if count is not None), None),
        cost_usd=dollars(metrics.get(f"{prefix}cost_usd")),
    )
    if not is_ours:
        usage = replace(
            usage,
            input_tokens=usage.input_tokens or None,
            output_tokens=usage.output_tokens or None,
        )
        if usage.input_tokens is None and usage.output_tokens is None:
            usage = replace(usage, cached_tokens=usage.cached_tokens or None)
    return None if usage == Usage() else usage


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _message(key: str, record: Record, role: Role, speaker: Speaker, reading: Reading) -> Step:
    text, images = content_of(record.get("message"))
    thinking, _ = content_of(record.get("reasoning_content"))
    extra, marks = _mapping(record.get("extra")), marks_of(record)
    side = extra.get("agent_id") if extra.get("is_sidechain") is True else None
    calls = tuple(
        _call(entry, f"{key}.{number}", reading)
        for number, entry in enumerate(_entries(record.get("tool_calls")), start=1)
    )
    step = Step(
        key=calls[0].key if calls else key,
        number=None,
        role=role,
        kind=_kind(role, text, extra, speaker),
        text=text,
        # One converter writes every message twice.
        thinking="" if thinking == text else thinking,
        calls=calls,
        at=_text(record.get("timestamp")),
        usage=usage_of(
            _mapping(record.get("metrics") or marks.get("usage")), is_ours=reading.is_ours
        ),
        model=_text(record.get("model_name")) or (speaker.model if role is _AGENT else None),
        agent=_text(side) or speaker.agent,
        parent_call=speaker.parent_call,
        session=speaker.session,
        images=images,
    )
    return restored_step(step, marks, lambda entry: _marked_call(entry, key, reading))


def _kind(role: Role, text: str, extra: Record, speaker: Speaker) -> StepKind:
    """A message, or a change of what the model remembers, which is no turn of the user's."""
    change = _text(_mapping(extra.get("context_management")).get("type"))
    is_change = change in _REMEMBERED or text.startswith(_SUMMARIZED)
    # After it, one agent writes what the next one is to know in the name of the user.
    is_handover = speaker.agent is None and text.startswith(_HANDOVERS)
    if (role is Role.SYSTEM and is_change) or (role is Role.USER and is_handover):
        return StepKind.COMPACTION
    return StepKind.MESSAGE


def _with_summary(step: Step, results: Sequence[tuple[int, Record]]) -> Step:
    """A compaction with what is remembered, which stands in the results of its step."""
    read = [result_of(result) for _, result in results]
    texts = [text for text in (step.text, *(one.text for one in read)) if text]
    images = [image for one in read for image in one.images]
    return replace(step, text="\n".join(texts), images=(*step.images, *images))


def _marked_call(entry: Record, key: str, reading: Reading) -> ToolCall:
    """A call, with its result, that stands beside the step of somebody else than the agent."""
    call = _call(entry, key, reading)
    result = entry.get("result")
    return replace(call, result=result_of(result)) if isinstance(result, dict) else call


def _call(entry: object, ordinal_key: str, reading: Reading) -> ToolCall:
    record = _mapping(entry)
    call_id = _text(record.get("tool_call_id"))
    key = call_id or ordinal_key
    notes = []
    if key in reading.call_keys:
        notes.append(f"another call has the id {call_id} too")
        key = ordinal_key
    reading.call_keys.add(key)
    name = _text(record.get("function_name")) or _text(record.get("name")) or "(no name)"
    given = record.get("arguments")
    arguments = _parsed(given)
    raw = None
    if arguments is None:
        arguments, raw = {}, given if isinstance(given, str) else _json(given)
        notes.append("the arguments are not a JSON object")
    kind = kind_of(name, arguments)
    call = ToolCall(
        key=key,
        name=name,
        kind=kind,
        arguments=arguments,
        raw_arguments=raw,
        command=command_of(kind, arguments),
        path=path_of(kind, arguments),
        note="; ".join(notes) or None,
    )
    return restored_call(call, marks_of(record))


def _parsed(value: object) -> Record | None:
    """Arguments as an object; some writers give them as JSON text. Null is none at all."""
    if value is None:
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return value if isinstance(value, dict) else None


def _results(observation: object) -> list[Record]:
    """The results of an observation; some writers leave out what stands around them."""
    given = observation
    if isinstance(observation, dict) and "results" in observation:
        given = observation["results"]
    elif isinstance(observation, dict) and observation and "content" not in observation:
        given = {"content": observation}
    entries = (entry for entry in _entries(given) if entry is not None)
    return [entry if isinstance(entry, dict) else {"content": entry} for entry in entries]


def _entries(value: object) -> list[object]:
    """The entries of a list; a single one may stand alone."""
    if value is None or value in ("", {}):
        return []
    return value if isinstance(value, list) else [value]


def _pair(
    results: Sequence[Record], found: list[Step], place: int, waiting: dict[str, list[Spot]]
) -> list[tuple[int, Record]]:
    """Gives every result to its call, by id or else by position; returns those without one."""
    left: list[tuple[int, Record]] = []
    for number, result in enumerate(results, start=1):
        call_id = _text(result.get("source_call_id"))
        if marks_of(result).get("no_result") is True:
            continue
        if call_id is not None and waiting.get(call_id):
            _give(found, waiting[call_id].pop(0), result)
        else:
            left.append((number, result))
    open_calls = [n for n, call in enumerate(found[place].calls) if call.result is None]
    orphans = []
    for number, result in left:
        if _text(result.get("source_call_id")) is None and open_calls:
            spot = (place, open_calls.pop(0))
            _give(found, spot, result)
            for spots in waiting.values():
                if spot in spots:
                    spots.remove(spot)
        else:
            orphans.append((number, result))
    return orphans


def _give(found: list[Step], spot: Spot, result: Record) -> None:
    place, number = spot
    step = found[place]
    calls = list(step.calls)
    calls[number] = replace(calls[number], result=result_of(result))
    found[place] = replace(step, calls=tuple(calls))


def _observation(key: str, result: Record, speaker: Speaker) -> Step:
    """A result that belongs to no call, as a note of its own."""
    read = result_of(result)
    call_id = _text(result.get("source_call_id"))
    head = f"result for a call that is not here ({call_id})\n" if call_id else ""
    return Step(
        key=key,
        number=None,
        role=Role.UNKNOWN,
        kind=StepKind.NOTE,
        text=head + read.text,
        images=read.images,
        agent=speaker.agent,
        parent_call=speaker.parent_call,
        session=speaker.session,
    )


def _copied(key: str, record: Record, speaker: Speaker) -> Step:
    """A step that was copied from an earlier trajectory as context: shown, counted nowhere."""
    text, images = content_of(record.get("message"))
    return Step(
        key=key,
        number=None,
        role=_ROLES.get(str(record.get("source")), Role.UNKNOWN),
        kind=StepKind.NOTE,
        text=f"copied context\n{text}",
        at=_text(record.get("timestamp")),
        agent=speaker.agent,
        session=speaker.session,
        images=images,
        raw=_json(record),
    )


def _raw(key: str, record: object, speaker: Speaker, reading: Reading, what: str) -> Step:
    reading.unknown[what] += 1
    return Step(
        key=key,
        number=None,
        role=Role.UNKNOWN,
        kind=StepKind.RAW,
        agent=speaker.agent,
        session=speaker.session,
        raw=_json(record),
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _mapping(value: object) -> Record:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _records(value: object) -> Iterator[Record]:
    return (entry for entry in _list(value) if isinstance(entry, dict))
