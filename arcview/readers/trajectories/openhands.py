"""Reads OpenHands: evaluation outputs and event arrays of 0.x, conversations of the SDK.

A file of an evaluation holds a task a line; each is a session of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arcview.errors import BadInputError
from arcview.files import is_dir, is_symlink
from arcview.model.problem import Problem
from arcview.model.trajectory import Role, StepKind, ToolKind, Trajectory
from arcview.readers.packed import open_unpacked
from arcview.readers.registry import LONG_HEAD_BYTES, Detection
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.documents import parse_document
from arcview.readers.trajectories.drafts import Draft, Drafts
from arcview.readers.trajectories.openhands_files import (
    Conversation,
    conversation_folder,
    each_line,
    folder_conversation,
    is_archive,
    is_output,
    is_sdk_event,
    is_state,
    packed_beside,
    packed_conversation,
    told_by,
    wrapped_events,
)
from arcview.readers.trajectories.openhands_metrics import metrics_in, spending_of
from arcview.readers.trajectories.openhands_v0 import EventLog
from arcview.readers.trajectories.openhands_v1 import SdkLog
from arcview.readers.trajectories.records import Lines, Record, parse_lines, text_or_none
from arcview.readers.trajectories.threads import About, Thread, trajectory_of
from arcview.readers.trajectories.usages import added

_AGENT = "OpenHands"
_MOST_DEEP = 6
_BAD_ENDS = frozenset({"error", "stuck"})
Log = EventLog | SdkLog


class OpenHandsReader:
    """Reads conversations of either generation."""

    id = "openhands"
    title = "OpenHands events, conversation folder or evaluation output"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Recognises events, states and outputs; see the table of tests in the format notes."""
        reason = told_by(head, name)
        return None if reason is None else Detection(self.id, reason)

    def read(self, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        """Reads a file, a conversation folder or its `base_state.json`, with what completes it."""
        reading = _Reading()
        for file in (path, *companions):
            reading.take(file)
        return trajectory_of(self.id, reading.threads, reading.problems)


@dataclass(slots=True)
class _Reading:
    """All files of one trajectory."""

    threads: list[Thread] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _taken: set[Path] = field(default_factory=set)

    def take(self, path: Path) -> None:
        """Reads a file or folder; what is wrong with it is noted."""
        folder = conversation_folder(path)
        if (folder or path) in self._taken:
            return
        self._taken.add(folder or path)
        try:
            if folder is not None:
                self._take_folder(folder, None, 0)
            elif is_archive(path):
                self._add(packed_conversation(path))
            else:
                self._take_file(path)
        except BadInputError as error:
            self.problems.append(Problem(error.path, error.expected))
        except OSError as error:
            self.problems.append(Problem(str(path), f"cannot be read: {error.strerror or error}"))

    def _take_folder(self, folder: Path, parent: Thread | None, depth: int) -> None:
        """A conversation with those of the sub-agents that it started."""
        thread = self._add(folder_conversation(folder), is_subagent=parent is not None)
        if parent is not None:
            prompts = _prompts(parent.drafts)
            started = prompts.get(_first_prompt(thread.drafts) or "")
            if started is not None:
                parent.spawned = {**parent.spawned, thread.names[0]: started}
        inner = folder / "subagents"
        if depth >= _MOST_DEEP or is_symlink(inner) or not is_dir(inner):
            return
        for child in sorted(inner.iterdir()):
            if not is_symlink(child) and conversation_folder(child) is not None:
                self._take_folder(child, thread, depth + 1)

    def _add(self, conversation: Conversation, *, is_subagent: bool = False) -> Thread:
        state = conversation.state
        llm = mapping(mapping(state.get("agent")).get("llm"))
        spending = spending_of(metrics_in(state.get("stats")))
        log = SdkLog(spending, text_or_none(llm.get("model")) or spending.model)
        name = text_or_none(state.get("id")) or conversation.name
        log.drafts.session = name
        for address, event in conversation.events:
            log.take(event, address)
        self.problems += conversation.problems
        left = log.off_branch(text_or_none(state.get("leaf_event_id")))
        if left:
            what = f"{left} events are not on the branch that the conversation ended with"
            self.problems.append(Problem(conversation.name, what))
        status = text_or_none(state.get("execution_status"))
        if status is not None:
            is_error = status in _BAD_ENDS
            log.drafts.note(f"conversation state: {status}", "base_state.json", is_error=is_error)
        thread = self._finish(log, name, {name: None}, is_subagent=is_subagent)
        thread.about = About(_AGENT, model=log.model, exit_status=status)
        return thread

    def _finish(
        self,
        log: Log,
        name: str,
        sessions: Mapping[str | None, str | None],
        *,
        is_subagent: bool = False,
    ) -> Thread:
        log.drafts.report_orphans()
        spending = log.spending
        if spending.total is None:
            told = metrics_in(log.stats) if isinstance(log, SdkLog) else [log.metrics]
            spending = spending_of(told)
        messages = sum(map(_is_response, log.drafts.items))
        if spending.is_zero_cost and messages and not (spending.total and spending.total.cost_usd):
            what = f"a cost of 0 beside {messages} messages of the model is taken as unknown"
            self.problems.append(Problem(name, what))
        # Of a log that is cut off the totals are gone; what single responses spent is not.
        spent = spending.total or added(draft.usage for draft in log.drafts.items)
        thread = Thread((name,), log.drafts, sessions, spent, is_subagent=is_subagent)
        self.threads.append(thread)
        return thread

    def _take_file(self, path: Path) -> None:
        with open_unpacked(path) as file:
            head = file.read(LONG_HEAD_BYTES)
            file.seek(0)
            if told_by(head, path.name) is None:
                what = "not a log of OpenHands" if head else "the file is empty"
                self.problems.append(Problem(str(path), what))
            elif _is_document(head):
                document = parse_document(file.read(), path.name)
                self.problems += document.problems
                self._take_document(path, document.value)
            else:
                lines = Lines(path.name)
                self._take_records(path, each_line(file, lines))
                self.problems += lines.problems

    def _take_document(self, path: Path, value: object) -> None:
        events = value if isinstance(value, list) else [value]
        self._take_records(path, enumerate(events, start=1))

    def _take_records(self, path: Path, records: Iterable[tuple[int, object]]) -> None:
        """Lines or items: events of one conversation, or whole tasks."""
        log: Log | None = None
        for number, value in records:
            address = f"{path.name}:{number}"
            inner = wrapped_events(value)
            if inner is not None:
                log = log or _log_for(inner[0])
                for place, event in enumerate(inner, start=1):
                    log.take(event, f"{address}#{place}")
                continue
            if isinstance(value, dict) and is_output(value) and "source" not in value:
                self._take_output(path, value, address)
                continue
            if is_state(value):
                self._add(Conversation(path.name, state=mapping(value)))
                continue
            if log is None:
                log = _log_for(value)
            log.take(value, address)
        if log is not None:
            thread = self._finish(log, path.name, {None: None})
            thread.about = About(_AGENT, model=log.model, exit_status=_own_end(log))

    def _take_output(self, path: Path, record: Record, address: str) -> None:
        """One task of an evaluation."""
        issue = mapping(record.get("issue"))
        instance = text_or_none(record.get("instance_id")) or f"issue {issue.get('number')}"
        metadata = mapping(record.get("metadata"))
        name = self._session_name(instance, record)
        history = listed(record.get("history"))
        archive = None if history else packed_beside(path, instance)
        if archive is not None:
            packed = packed_conversation(archive)
            self.problems += packed.problems
            history = [event for _, event in packed.events]
        log = _log_for(next(iter(history), None))
        log.spending = spending_of([record.get("metrics")])
        llm = mapping(metadata.get("llm_config")) or mapping(metadata.get("llm"))
        log.model = text_or_none(llm.get("model")) or text_or_none(metadata.get("model_name"))
        log.drafts.session = name
        log.prefix = f"{name}:" if self.threads else ""
        log.drafts.note(_started(name, log.model, metadata), address)
        for number, event in enumerate(history, start=1):
            log.take(event, f"{address}#{number}")
        _close(log, record, address, bool(history))
        is_first = not self.threads
        thread = self._finish(log, name, {name: None if is_first else "another task in the file"})
        thread.about = _about(log, record) if is_first else About(_AGENT, model=log.model)

    def _session_name(self, instance: str, record: Record) -> str:
        """The instance, with the attempt where there are several."""
        known = {name for thread in self.threads for name in thread.names}
        attempt = record.get("attempt")
        if instance not in known:
            return instance
        numbered = (f"{instance} attempt {n}" for n in range(2, len(known) + 3))
        name = f"{instance} attempt {attempt}" if type(attempt) is int else instance
        return name if name not in known else next(n for n in numbered if n not in known)


def _is_document(head: bytes) -> bool:
    """Whether a file is one JSON document and not a record a line."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return True
    return not any(isinstance(value, dict) for _, value in parse_lines(head, "").records) and (
        b"\n" in head and not start.partition(b"\n")[0].rstrip().endswith(b"}")
    )


def _log_for(event: object) -> Log:
    return SdkLog() if isinstance(event, dict) and is_sdk_event(event) else EventLog()


def _started(name: str, model: str | None, metadata: Record) -> str:
    facts = [
        text_or_none(metadata.get("agent_class")),
        f"model {model}" if model else None,
        f"at most {metadata['max_iterations']} turns" if metadata.get("max_iterations") else None,
        text_or_none(metadata.get("dataset")),
    ]
    told = ", ".join(filter(None, facts))
    return f"task {name}" + (f": {told}" if told else "")


def _close(log: Log, record: Record, address: str, has_history: bool) -> None:
    """What a line of an evaluation says beside the history."""
    drafts = log.drafts
    instruction = text_or_none(record.get("instruction"))
    if instruction is not None and not any(map(_is_user_turn, drafts.items)):
        turn = drafts.add(Role.USER, StepKind.MESSAGE, f"{address}#instruction", text=instruction)
        drafts.items.remove(turn)
        drafts.items.insert(1, turn)
    if not has_history:
        drafts.note("no history is recorded", f"{address}#history")
    error = text_or_none(record.get("error"))
    if error is not None:
        drafts.note(f"error: {error}", f"{address}#error", is_error=True)


def _about(log: Log, record: Record) -> About:
    """What one task of an evaluation says of itself as a whole."""
    patch = mapping(record.get("test_result")).get("git_patch", record.get("git_patch"))
    error = text_or_none(record.get("error"))
    return About(
        _AGENT,
        model=log.model,
        exit_status=error.partition(":")[0] if error else _own_end(log),
        patch=text_or_none(patch),
    )


def _own_end(log: Log) -> str | None:
    """`finished` where the last thing that the agent did was to say so."""
    if isinstance(log, EventLog) and log.state is not None:
        return log.state
    calls = [call for draft in log.drafts.items for call in draft.calls]
    return "finished" if calls and calls[-1].name == "finish" else None


def _is_response(draft: Draft) -> bool:
    return draft.role is Role.ASSISTANT and draft.kind is StepKind.MESSAGE


def _is_user_turn(draft: Draft) -> bool:
    return draft.role is Role.USER and draft.kind is StepKind.MESSAGE


def _first_prompt(drafts: Drafts) -> str | None:
    turns = ("\n".join(draft.texts).strip() for draft in drafts.items if _is_user_turn(draft))
    return next(turns, None)


def _prompts(drafts: Drafts) -> dict[str, str]:
    """What sub-agents were told → the key of the call that told them."""
    return {
        text.strip(): call.key
        for draft in drafts.items
        for call in draft.calls
        if call.kind is ToolKind.TASK
        for text in _texts(call.arguments)
    }


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
