"""Events of an Inspect log that are neither a model's answer nor a tool's result → notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from arcview.model.trajectory import StepKind
from arcview.readers.trajectories.contents import Resolve, listed, mapping
from arcview.readers.trajectories.records import Record, as_json, text_or_none

STRUCTURE = frozenset({"anchor", "sample_init", "span_begin", "span_end", "state", "step", "store"})
"""Events that only tell where others belong, or repeat what other events say."""


@dataclass(frozen=True, slots=True)
class Note:
    """What an event says."""

    text: str
    kind: StepKind = StepKind.NOTE
    is_error: bool = False


def note_of(event: Record, resolve: Resolve) -> Note | None:
    """The note for an event; null for a kind that is not known."""
    write = _WRITERS.get(str(event.get("event")))
    return None if write is None else write(event, resolve)


def score_text(name: str, score: Record, resolve: Resolve) -> str:
    """A score in a line, with its explanation below."""
    value = score.get("value")
    facts = [f"score {name}: {value if isinstance(value, str) else as_json(value)}"]
    answer = text_or_none(score.get("answer"))
    if answer:
        facts.append(f"answer {resolve(answer)}")
    explanation = text_or_none(score.get("explanation"))
    told = ", ".join(facts)
    is_more = explanation is not None and explanation != answer
    return f"{told}\n{resolve(explanation)}" if explanation and is_more else told


def error_text(error: Record, resolve: Resolve) -> str:
    """An error with its traceback."""
    told = (text_or_none(error.get(key)) for key in ("message", "traceback"))
    return "\n".join(resolve(text) for text in told if text)


def _score(event: Record, resolve: Resolve) -> Note:
    name = text_or_none(event.get("scorer")) or ""
    text = score_text(name, mapping(event.get("score")), resolve)
    return Note(f"intermediate {text}" if event.get("intermediate") is True else text)


def _score_edit(event: Record, _: Resolve) -> Note:
    return Note(f"score {event.get('score_name')} edited: {as_json(event.get('edit'))}")


def _error(event: Record, resolve: Resolve) -> Note:
    return Note(f"error: {error_text(mapping(event.get('error')), resolve)}", is_error=True)


def _limit(event: Record, resolve: Resolve) -> Note:
    told = text_or_none(event.get("message")) or f"limit {event.get('limit')}"
    return Note(f"stopped by a limit ({event.get('type')}): {resolve(told)}", is_error=True)


def _compaction(event: Record, _: Resolve) -> Note:
    tokens = [event.get(key) for key in ("tokens_before", "tokens_after")]
    told = f", {tokens[0]} tokens before, {tokens[1]} after" if all(tokens) else ""
    return Note(f"context compacted ({event.get('type') or 'summary'}{told})", StepKind.COMPACTION)


def _approval(event: Record, resolve: Resolve) -> Note:
    who = event.get("approver") or event.get("reviewer")
    call = mapping(event.get("call")).get("function")
    why = text_or_none(event.get("explanation"))
    told = f"{event.get('event')} of {call} by {who}: {event.get('decision')}"
    return Note(f"{told}\n{resolve(why)}" if why else told)


def _input(event: Record, resolve: Resolve) -> Note:
    asked = text_or_none(event.get("message"))
    given = text_or_none(event.get("input")) or as_json(event.get("content"))
    return Note("\n".join(filter(None, ("input of a person", asked, resolve(given)))))


def _info(event: Record, resolve: Resolve) -> Note:
    data = event.get("data")
    told = resolve(data) if isinstance(data, str) else as_json(data)
    source = text_or_none(event.get("source"))
    return Note(f"info from {source}: {told}" if source else f"info: {told}")


def _logger(event: Record, resolve: Resolve) -> Note:
    message = mapping(event.get("message"))
    return Note(f"log {message.get('level')}: {resolve(str(message.get('message')))}")


def _interrupt(event: Record, _: Resolve) -> Note:
    return Note(f"interrupted by {event.get('source')} during {event.get('interrupted')}")


def _branch(event: Record, _: Resolve) -> Note:
    return Note(f"a branch begins at {event.get('from_anchor') or 'an unnamed place'}")


def _checkpoint(event: Record, _: Resolve) -> Note:
    return Note(f"checkpoint {event.get('checkpoint_id') or ''}".rstrip())


def _sandbox(event: Record, resolve: Resolve) -> Note:
    what = text_or_none(event.get("cmd")) or text_or_none(event.get("file")) or ""
    lines = [f"sandbox {event.get('action')}: {resolve(what)}"]
    if type(event.get("result")) is int:
        lines[0] += f" (exit code {event['result']})"
    told = (text_or_none(event.get(key)) for key in ("input", "output"))
    lines += (resolve(text) for text in told if text)
    return Note("\n".join(lines))


def _subtask(event: Record, resolve: Resolve) -> Note:
    result = event.get("result")
    shown = resolve(result) if isinstance(result, str) else as_json(result)
    given = as_json(event.get("input"))
    return Note(f"subtask {event.get('name')}: {given}" + (f"\n{shown}" if result else ""))


_WRITERS: Mapping[str, Callable[[Record, Resolve], Note]] = {
    "approval": _approval,
    "branch": _branch,
    "checkpoint": _checkpoint,
    "compaction": _compaction,
    "error": _error,
    "info": _info,
    "input": _input,
    "interrupt": _interrupt,
    "logger": _logger,
    "review": _approval,
    "sample_limit": _limit,
    "sandbox": _sandbox,
    "score": _score,
    "score_edit": _score_edit,
    "subtask": _subtask,
}


def unsaid(record: Record, kinds: Iterable[str], resolve: Resolve) -> list[Note]:
    """How a sample ended, as far as no event of it says so.

    Args:
        record: The sample.
        kinds: The kinds of its events.
        resolve: For its texts.
    """
    there = set(kinds)
    found: list[Note] = []
    error, limit = mapping(record.get("error")), mapping(record.get("limit"))
    if error and "error" not in there:
        found.append(Note(f"error: {error_text(error, resolve)}", is_error=True))
    if limit and "sample_limit" not in there:
        told = f"stopped by a limit ({limit.get('type')}): {limit.get('limit')}"
        found.append(Note(told, is_error=True))
    retries = [mapping(retry) for retry in listed(record.get("error_retries"))]
    found += [Note(f"an earlier try failed: {error_text(retry, resolve)}") for retry in retries]
    if "score" not in there:
        scores = mapping(record.get("scores"))
        found += [Note(score_text(n, mapping(s), resolve)) for n, s in scores.items()]
    return found
