"""Files of OpenHands: what they are, and the conversations in them, folders and archives alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from arcview.files import in_words, is_dir, is_file, is_symlink, open_file, read_file
from arcview.model.problem import Problem
from arcview.readers.packed import GZIP, is_tar, unpacked_head
from arcview.readers.trajectories.contents import listed, mapping
from arcview.readers.trajectories.documents import parse_document, peek
from arcview.readers.trajectories.records import Lines, Record, each_record, parse_lines

_EVENT_FILE = re.compile(r"event-(\d{1,12})-.*\.json|event-(\d{1,12})\.json")
_LENGTH_FILE = re.compile(r"\.eventlog-len-(\d{1,12})\.marker")
_STATE_FILE = "base_state.json"
_LINES_TO_ASK = 60
_WRAPPERS = ("trajectory", "events", "history")
_BEGUN = frozenset({"id", "source", "timestamp"})
_BODIES = frozenset({"llm_message", "system_prompt"})
"""What can be so long that nobody sees the kind of the event, which comes last."""
_TOLD = frozenset({"info", "instance_id", "issue", "source", "test_result"})
"""Keys that stand beside such lists in records of a task, and in other formats."""
_MOST_MEMBERS = 500_000
_MOST_BYTES = 2 << 30
"""How much an archive may hold."""
_HEAD_BYTES = 1 << 16


@dataclass(slots=True)
class Conversation:
    """One conversation folder of the SDK, or an archive of one."""

    name: str
    state: Record = field(default_factory=dict)
    events: list[tuple[str, object]] = field(default_factory=list)
    """File name and parsed event, in the order of their numbers."""
    problems: list[Problem] = field(default_factory=list)


def told_by(head: bytes, name: str) -> str | None:
    """Why a file is one of OpenHands'; null when nothing says so."""
    if is_tar(head):
        is_ours = b"/events/event-" in head or _STATE_FILE.encode() in head
        return "an archive of a conversation" if is_ours else None
    for _, record in parse_lines(head, name).records[:_LINES_TO_ASK]:
        if isinstance(record, dict) and (reason := _reason(record)):
            return reason
    value = peek(head)
    if isinstance(value, dict):
        return _reason(value)
    first = value[0] if isinstance(value, list) and value else None
    if isinstance(first, list) and first:  # pairs of action and observation
        first = first[0]
    return _reason(first) if isinstance(first, dict) else None


def _reason(record: Mapping[str, object]) -> str | None:
    keys = record.keys()
    if is_sdk_event(record):
        return f"an event of kind {record['kind']}"
    if keys >= _BEGUN and _BODIES & keys:
        return "an event with a message or a system prompt"
    if _is_event(record):
        return "an event with source and action or observation"
    if is_state(record):
        return "the state of a conversation"
    has_history = "history" in keys and {"git_patch", "instance_id", "test_result"} & keys
    if has_history or ("instance_id" in keys and {"swe_instance", "test_result"} & keys):
        return "a record with instance_id, test_result and history"
    if {"issue", "instruction", "base_commit", "git_patch"} <= keys:
        return "a record of the issue resolver"
    event = next(iter(wrapped_events(record) or ()), None)
    return "an object around events" if event is not None and _is_any_event(event) else None


def wrapped_events(record: object) -> list[object] | None:
    """The events in an object that tells nothing of a task; null for any other value."""
    fields = mapping(record)
    if _TOLD & fields.keys():
        return None
    lists = (listed(fields.get(name)) for name in _WRAPPERS)
    return next((found for found in lists if found), None)


def is_state(value: object) -> bool:
    """Whether a value is the state of a conversation."""
    return isinstance(value, dict) and {"agent", "workspace", "execution_status"} <= value.keys()


def is_sdk_event(record: Mapping[str, object]) -> bool:
    """Whether a record is an event of the SDK."""
    kind = record.get("kind")
    is_event = isinstance(kind, str) and kind[:1].isupper() and "source" in record
    return is_event and ("timestamp" in record or "id" in record)


def _is_event(record: Mapping[str, object]) -> bool:
    keys = record.keys()
    is_told = bool({"args", "extras", "content", "message", "timestamp"} & keys)
    return "source" in keys and bool({"action", "observation"} & keys) and is_told


def _is_any_event(value: object) -> bool:
    return isinstance(value, dict) and (is_sdk_event(value) or _is_event(value))


def is_output(record: Mapping[str, object]) -> bool:
    """Whether a record is a line of an evaluation: one task with its whole history."""
    return "history" in record or "test_result" in record or "instance_id" in record


def is_archive(path: Path) -> bool:
    """Whether a file is a tar archive packed with gzip.

    Raises:
        OSError: it cannot be read.
    """
    with open_file(path) as file:
        head = file.read(_HEAD_BYTES)
    return head.startswith(GZIP) and is_tar(unpacked_head(head, _HEAD_BYTES))


def each_line(file: BinaryIO, lines: Lines) -> Iterator[tuple[int, object]]:
    """Parses JSON Lines; of a damaged line, which can hold a whole task, the good part is kept."""
    for number, line in enumerate(file, start=1):
        found = Lines(lines.shown)
        records = [*each_record([line], found, first=number)]
        if not records and line.lstrip(b"\0 ").startswith((b"{", b"[")):
            document = parse_document(line, lines.shown)
            if document.value:
                records = [(number, document.value)]
                found.problems = []
                for problem in document.problems:
                    lines.damage(number, problem.what)
        lines.problems += found.problems
        yield from records


def conversation_folder(path: Path) -> Path | None:
    """The conversation folder that a path is, or whose state or event it is."""
    if is_dir(path):
        candidates = [path]
    elif path.name == _STATE_FILE:
        candidates = [path.parent]
    else:
        candidates = []
    return next((folder for folder in candidates if _is_conversation(folder)), None)


def _is_conversation(folder: Path) -> bool:
    return is_dir(folder / "events") or is_file(folder / _STATE_FILE)


def folder_conversation(folder: Path) -> Conversation:
    """Reads a conversation folder; damage costs the event that it is in."""
    conversation = Conversation(folder.name)
    files: dict[str, Path] = {}
    inner = folder / "events"
    for file in [folder / _STATE_FILE, *(sorted(inner.iterdir()) if is_dir(inner) else ())]:
        if is_symlink(file):
            conversation.problems.append(Problem(str(file), "a link; it is not followed"))
        elif is_file(file):
            files[file.name] = file
    _fill(conversation, {name: _Source(str(file), file) for name, file in files.items()})
    return conversation


@dataclass(frozen=True, slots=True)
class _Source:
    shown: str
    file: Path | bytes

    def read(self) -> bytes:
        return self.file if isinstance(self.file, bytes) else read_file(self.file)


def _fill(conversation: Conversation, files: Mapping[str, _Source]) -> None:
    numbered: dict[int, str] = {}
    told: int | None = None
    for name in files:
        if match := _EVENT_FILE.fullmatch(name):
            numbered[int(match[1] or match[2])] = name
        elif match := _LENGTH_FILE.fullmatch(name):
            told = max(told or 0, int(match[1]))
    if _STATE_FILE in files:
        conversation.state = mapping(_parsed(files[_STATE_FILE], conversation.problems))
    for number in sorted(numbered):
        source = files[numbered[number]]
        value = _parsed(source, conversation.problems)
        if value is not None:
            conversation.events.append((numbered[number], value))
    count = max([told or 0, *(number + 1 for number in numbered)])
    missing = [number for number in range(count) if number not in numbered]
    if missing:
        shown = ", ".join(map(str, missing[:10])) + (", …" if len(missing) > 10 else "")
        what = f"{len(missing)} of {count} events are not there ({shown})"
        conversation.problems.append(Problem(conversation.name, what))


def _parsed(source: _Source, problems: list[Problem]) -> object:
    try:
        document = parse_document(source.read(), source.shown)
    except OSError as error:
        problems.append(Problem(source.shown, f"cannot be read: {error.strerror or error}"))
        return None
    problems += document.problems
    return document.value


def packed_conversation(path: Path) -> Conversation:
    """Reads an archive of a conversation folder; nothing is unpacked to the disk."""
    import tarfile  # 5 ms, and only archives need it

    conversation = Conversation(path.name.removesuffix(".gz").removesuffix(".tar"))
    files: dict[str, _Source] = {}
    read = 0
    try:
        with tarfile.open(path, "r:gz") as archive:
            for number, member in enumerate(archive, start=1):
                name = PurePosixPath(member.name)
                is_ours = name.name == _STATE_FILE or name.parent.name == "events"
                if not member.isfile() or not is_ours or "subagents" in name.parts:
                    continue
                read += member.size
                if number > _MOST_MEMBERS or read > _MOST_BYTES:
                    what = "holds more than a conversation could; the rest is left out"
                    conversation.problems.append(Problem(str(path), what))
                    break
                content = archive.extractfile(member)
                if content is not None:
                    files[name.name] = _Source(f"{path.name}:{member.name}", content.read())
    except (tarfile.TarError, EOFError, OSError) as error:
        conversation.problems.append(Problem(str(path), f"damaged archive: {in_words(error)}"))
    _fill(conversation, files)
    return conversation


def packed_beside(path: Path, instance: str) -> Path | None:
    """The archive of an instance's conversation beside an output file that has no history."""
    if "/" in instance or "\\" in instance:
        return None
    archive = path.parent / "conversations" / f"{instance}.tar.gz"
    return archive if is_file(archive) and not is_symlink(archive) else None
