"""One append-only file of events: read line by line, appended to in one write under a lock.

Whatever is not one of our lines stays where it is and is reported. Knows nothing of cases.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from arcview.annotations.events import CaseEvent, from_line
from arcview.errors import ArcviewError

_MARK = re.compile(rb"(?:<{7}|>{7}|\|{7})(?: .*)?|={7}")
PATIENCE_S = 2.0
HELD = "another program holds the file"
_POLL_S = 0.005


class StoreError(ArcviewError):
    """A label could not be saved; nothing of it is in the store."""


class HeldError(StoreError):
    """Another program holds the file."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is none of ours. It stays in the file."""

    file: str
    number: int
    """1-based."""
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place that a version control system left for people to settle."""

    file: str
    line: int
    """1-based, of the first mark."""
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


class Held(NamedTuple):
    """A file that no other program writes to meanwhile."""

    descriptor: int
    is_new: bool


class LogFile:
    """The events of one file; reads what was appended since it was last looked at.

    Attributes:
        events: In the order of the file.
        bad_lines: Torn and foreign lines.
    """

    events: list[CaseEvent]
    bad_lines: list[BadLine]
    _read_to: int
    _line_number: int
    _identity: tuple[int, int] | None
    _tail: bytes
    """The last bytes that were read: what is still there when the file only grew."""
    _closed: list[Conflict]
    _open: _OpenConflict | None

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Merge conflicts, also one whose last mark is missing; any makes the file read-only."""
        still_open = (self._open.closed(str(self.path)),) if self._open is not None else ()
        return (*self._closed, *still_open)

    def refresh(self) -> bool:
        """Reads what is new; says whether there was anything.

        Raises:
            StoreError: the file is there and cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                return self._refresh_from(file.fileno())
        except FileNotFoundError:
            changed = self._identity is not None
            self._forget()
            return changed
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read: {error.strerror}") from error

    @contextmanager
    def held(self, patience_s: float = PATIENCE_S) -> Iterator[Held]:
        """Keeps other programs from the file inside; what was read of it is not touched yet.

        Args:
            patience_s: How long another program is waited for.

        Raises:
            HeldError: another program holds it.
            StoreError: it cannot be opened for writing.
        """
        try:
            is_new = not self.path.exists()
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = self._locked(patience_s)
        except OSError as error:
            raise self._unsaved(error.strerror) from error
        try:
            yield Held(descriptor, is_new)
        finally:
            os.close(descriptor)

    def append(self, held: Held, lines: Sequence[bytes]) -> None:
        """Adds whole lines, all or none, and waits until the disk has them.

        Raises:
            StoreError: nothing was saved, and why.
        """
        try:
            self._refresh_from(held.descriptor)
            if self.conflicts:
                raise self._unsaved(
                    "the file has merge conflicts; keep both sides' lines and delete the marks"
                )
            self._write(held.descriptor, b"".join(lines))
            if held.is_new:
                _sync_folder(self.path.parent)
            self._refresh_from(held.descriptor)
        except OSError as error:
            raise self._unsaved(error.strerror) from error

    def _unsaved(self, why: str | None) -> StoreError:
        # The reason first: a line of a screen may have no room for the path.
        return StoreError(f"not saved: {why} ({self.path})")

    def _write(self, descriptor: int, data: bytes) -> None:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            # A line that a crash cut off stays a line of its own.
            data = b"\n" + data
        try:
            written = os.write(descriptor, data)
            if written < len(data):
                # The disk filled up within the write: the next write says so.
                os.write(descriptor, data[written:])
                raise self._unsaved("the disk took a part of it only")
            os.fsync(descriptor)
        except (OSError, StoreError):
            # What cannot be taken back either stays a torn line, which is never read as whole.
            with suppress(OSError):
                os.ftruncate(descriptor, size)
                os.fsync(descriptor)
            raise

    def _locked(self, patience_s: float) -> int:
        """The file, open and locked; also when it was replaced while we waited."""
        deadline = time.monotonic() + patience_s
        while True:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self.path, flags, 0o600)
            try:
                self._lock(descriptor, deadline)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(descriptor), self.path.stat()):
                        return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _lock(self, descriptor: int, deadline: float) -> None:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise HeldError(f"not saved: {HELD} ({self.path})") from None
                time.sleep(_POLL_S)
            else:
                return

    # Reading

    def _refresh_from(self, descriptor: int) -> bool:
        found = os.fstat(descriptor)
        if self._identity != (found.st_dev, found.st_ino) or not self._only_grew(descriptor, found):
            self._forget()
            self._identity = (found.st_dev, found.st_ino)
        size = found.st_size
        if size == self._read_to:
            return False
        data = _read(descriptor, self._read_to, size - self._read_to)
        # A last line without its end may still be on its way: it is read when the end is there.
        whole = data[: data.rfind(b"\n") + 1]
        for line in whole.split(b"\n")[:-1]:
            self._line_number += 1
            self._take(line.removesuffix(b"\r"))
        self._read_to += len(whole)
        self._tail = (self._tail + whole)[-64:]
        self._note_torn_end(data[len(whole) :])
        return bool(whole)

    def _only_grew(self, descriptor: int, found: os.stat_result) -> bool:
        if found.st_size < self._read_to:
            return False
        tail = self._tail
        return _read(descriptor, self._read_to - len(tail), len(tail)) == tail

    def _forget(self) -> None:
        self.events, self.bad_lines = [], []
        self._read_to = self._line_number = 0
        self._identity, self._tail = None, b""
        self._closed, self._open = [], None

    def _note_torn_end(self, rest: bytes) -> None:
        number = self._line_number + 1
        self.bad_lines = [bad for bad in self.bad_lines if bad.number != number]
        if rest:
            self.bad_lines.append(
                BadLine(str(self.path), number, _shown(rest), "the last line has no end")
            )

    def _take(self, line: bytes) -> None:
        if self._is_mark(line):
            self._take_mark(line)
            return
        if self._open is not None:
            self._open.add(_shown(line))
        if not line.strip():
            return
        try:
            self.events.append(from_line(line))
        except ValueError as error:
            self.bad_lines.append(
                BadLine(str(self.path), self._line_number, _shown(line), str(error))
            )

    def _is_mark(self, line: bytes) -> bool:
        begins = line[:1] == b"<"
        return bool(_MARK.fullmatch(line)) and (begins or self._open is not None)

    def _take_mark(self, line: bytes) -> None:
        if self._open is None:
            self._open = _OpenConflict(self._line_number)
        self._open.mark(line)
        if line.startswith(b">"):
            self._closed.append(self._open.closed(str(self.path)))
            self._open = None


class _OpenConflict:
    """A conflict whose last mark has not been met."""

    def __init__(self, line: int) -> None:
        self._line = line
        self._sides: dict[bytes, list[str]] = {b"<": [], b"|": [], b"=": []}
        self._side = b"<"

    def mark(self, line: bytes) -> None:
        if line[:1] in self._sides:
            self._side = line[:1]

    def add(self, text: str) -> None:
        self._sides[self._side].append(text)

    def closed(self, file: str) -> Conflict:
        return Conflict(file, self._line, tuple(self._sides[b"<"]), tuple(self._sides[b"="]))


def _read(descriptor: int, start: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        part = os.pread(descriptor, size, start)
        if not part:
            break
        parts.append(part)
        start, size = start + len(part), size - len(part)
    return b"".join(parts)


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def _sync_folder(folder: Path) -> None:
    """A new file is only there for certain when its folder has been written too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Some network file systems have nothing to do here and say so by failing.
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
