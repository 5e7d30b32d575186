"""The files that an agent left in a SlopCodeBench checkpoint: `agent/` or `agent.tar.gz`.

Reads first and last lines; the steps themselves are the trajectory reader's business.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

from arcview.errors import BadInputError
from arcview.files import in_words, is_dir, is_file, is_symlink, open_file
from arcview.model.problem import Problem
from arcview.model.trajectory_refs import Usage
from arcview.readers.fields import Fields, read_bytes
from arcview.readers.inside import inside
from arcview.readers.trajectories.claude_code_ends import spent_in_all

if TYPE_CHECKING:
    import tarfile

FOLDER = "agent"
ARCHIVE = "agent.tar.gz"
STREAM = "stdout.jsonl"
# What other agents of the benchmark leave, in the order of how much it tells.
OTHER_TRAJECTORIES = ("trajectory.jsonl", "trajectory.json", "messages.jsonl", "events.jsonl")

_HEAD_BYTES = 256 * 1024
_TAIL_BYTES = 64 * 1024
_MAX_MEMBERS = 20_000
_MAX_MEMBER_BYTES = 256 * 1024 * 1024
_MAX_ARCHIVE_BYTES = 1024 * 1024 * 1024


class AgentFiles(Protocol):
    """The files of one agent folder, packed or not; names are relative to it."""

    @property
    def shown(self) -> str:
        """The folder or archive relative to the run."""
        ...

    def names(self) -> Sequence[str]:
        """The names of all regular files, sorted."""
        ...

    def read(self, name: str) -> bytes:
        """The content of a file.

        Raises:
            BadInputError: it cannot be read.
        """
        ...

    def head(self, name: str) -> bytes:
        """The first 256 KiB; empty when the file is missing or cannot be read."""
        ...

    def tail(self, name: str) -> bytes:
        """The last 64 KiB; empty when the file is missing or cannot be read."""
        ...


def find_agent_files(root: Path, shown: str, problems: list[Problem]) -> AgentFiles | None:
    """The agent's files in a checkpoint or an `after_skill` folder; null when it has none.

    Args:
        root: The run folder.
        shown: The checkpoint or `after_skill` folder relative to it.
        problems: Takes what is wrong.
    """
    try:
        folder = inside(root, f"{shown}/{FOLDER}")
        archive = inside(root, f"{shown}/{ARCHIVE}")
    except BadInputError as error:
        problems.append(Problem(error.path, error.expected))
        return None
    if is_dir(folder):
        return FolderFiles(folder, f"{shown}/{FOLDER}")
    if is_file(archive):
        return ArchiveFiles(archive, f"{shown}/{ARCHIVE}", problems)
    return None


@dataclass(slots=True)
class FolderFiles:
    """An agent folder as it is; links are not followed."""

    root: Path
    shown: str
    _names: tuple[str, ...] | None = field(default=None, init=False)

    def names(self) -> Sequence[str]:
        """The names of all regular files, sorted."""
        if self._names is None:
            self._names = tuple(sorted(self._walked()))
        return self._names

    def _walked(self) -> Iterator[str]:
        for folder, _, names in os.walk(self.root):
            inner = Path(folder)
            for file in (inner / name for name in names):
                if is_file(file) and not is_symlink(file):
                    yield file.relative_to(self.root).as_posix()

    def read(self, name: str) -> bytes:
        """The content of a file."""
        return read_bytes(self.root / name, f"{self.shown}/{name}")

    def head(self, name: str) -> bytes:
        """The first 256 KiB."""
        return self._part(name, _HEAD_BYTES, from_end=False)

    def tail(self, name: str) -> bytes:
        """The last 64 KiB."""
        return self._part(name, _TAIL_BYTES, from_end=True)

    def _part(self, name: str, size: int, *, from_end: bool) -> bytes:
        if name not in self.names():
            return b""
        try:
            with open_file(self.root / name) as file:
                if from_end:
                    file.seek(max(0, file.seek(0, os.SEEK_END) - size))
                return file.read(size)
        except OSError:
            return b""


@dataclass(slots=True)
class ArchiveFiles:
    """A packed agent folder, read into memory at first use.

    Nothing is written to disk, so member paths, links and devices can do no harm; members with
    unsafe names are left out and reported.
    """

    path: Path
    shown: str
    problems: list[Problem]
    _contents: dict[str, bytes] | None = field(default=None, init=False)

    def names(self) -> Sequence[str]:
        """The names of all regular files, sorted."""
        return sorted(self._loaded())

    def read(self, name: str) -> bytes:
        """The content of a file."""
        content = self._loaded().get(name)
        if content is None:
            raise BadInputError(f"{self.shown}/{name}", "the file is missing")
        return content

    def head(self, name: str) -> bytes:
        """The first 256 KiB."""
        return self._loaded().get(name, b"")[:_HEAD_BYTES]

    def tail(self, name: str) -> bytes:
        """The last 64 KiB."""
        return self._loaded().get(name, b"")[-_TAIL_BYTES:]

    def _loaded(self) -> dict[str, bytes]:
        if self._contents is None:
            import tarfile  # 3 ms, and most runs are not packed
            import zlib

            self._contents = {}
            try:
                with tarfile.open(self.path, "r:*") as archive:
                    self._load(archive, self._contents)
            except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
                what = (
                    f"damaged archive, {len(self._contents)} files could be read: {in_words(error)}"
                )
                self.problems.append(Problem(self.shown, what))
        return self._contents

    def _load(self, archive: tarfile.TarFile, contents: dict[str, bytes]) -> None:
        """Reads regular members within the limits."""
        left_out = 0
        total = 0
        for count, member in enumerate(archive):
            name = _safe_name(member.name)
            total += member.size
            if count >= _MAX_MEMBERS or total > _MAX_ARCHIVE_BYTES:
                self.problems.append(Problem(self.shown, f"too large: only {count} members read"))
                break
            if member.isdir():
                continue
            if name is None or not member.isreg() or member.size > _MAX_MEMBER_BYTES:
                left_out += 1
                continue
            opened = archive.extractfile(member)
            if opened is not None:
                contents[name] = opened.read()
        if left_out:
            what = f"{left_out} members left out: unsafe names, links, devices or too large"
            self.problems.append(Problem(self.shown, what))


def _safe_name(name: str) -> str | None:
    """A member's name below the agent folder; null when it points outside."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        return None
    parts = path.parts[1:] if path.parts[:1] == (FOLDER,) else path.parts
    return "/".join(parts) or None


def records(data: bytes) -> Iterator[Mapping[str, object]]:
    """The JSON objects among the lines; lines that are cut or something else are passed over."""
    for line in io.BytesIO(data):  # split lazily: mostly the first line is enough
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


@dataclass(frozen=True, slots=True)
class StreamEnds:
    """What the first and the last line of a Claude Code stream say."""

    session: str | None = None
    model: str | None = None
    version: str | None = None
    cwd: str | None = None
    result: Fields | None = None
    """The closing record; null when the agent was killed before it wrote one."""

    @property
    def failed(self) -> bool:
        """The last attempt ended in an error, whatever its subtype says."""
        return self.result is not None and self.result.values.get("is_error") is True

    @property
    def message(self) -> str | None:
        """The first line of the closing message."""
        text = self.result.values.get("result") if self.result is not None else None
        lines = text.strip().splitlines() if isinstance(text, str) else []
        return lines[0] if lines else None

    @property
    def usage(self) -> Usage | None:
        """Tokens and cost that the client itself added up."""
        usage = spent_in_all(self.result.values) if self.result is not None else None
        return None if usage is None else measured(usage)


def stream_ends(files: AgentFiles | None) -> StreamEnds:
    """Reads the ends of `stdout.jsonl`; everything is unknown when it is not a Claude stream."""
    if files is None:
        return StreamEnds()
    init = next(records(files.head(STREAM)), {})
    texts = {key: value for key, value in init.items() if isinstance(value, str)}
    if "session_id" not in texts or texts.get("type") == "init":
        return StreamEnds()  # `init` is the first line of Gemini's
    last_line = files.tail(STREAM).rstrip().rpartition(b"\n")[2]
    closing = next(records(last_line), {})
    result = None
    if closing.get("type") == "result":
        result = Fields.of(dict(closing), f"{files.shown}/{STREAM}", [])
    return StreamEnds(
        texts["session_id"],
        texts.get("model"),
        texts.get("claude_code_version"),
        texts.get("cwd"),
        result,
    )


def measured(usage: Usage) -> Usage | None:
    """The usage with figures that were never measured as null; null when nothing was.

    No output at all means that the harness or the client did not count; a cost of 0 beside tokens
    means the same for the cost.
    """
    if not usage.output_tokens and not usage.input_tokens and not usage.cost_usd:
        return None
    return Usage(
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        usage.reasoning_tokens or None,
        usage.cost_usd or None,
    )
