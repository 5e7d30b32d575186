"""The tar streams that go into a container: files of the state, hidden files, our own script.

Bytes come from the state store unchanged. Must not import an engine's implementation.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from arcview.errors import ArcviewError, CancelledError
from arcview.gates.definition import HiddenFile
from arcview.gates.engine import Job
from arcview.gates.script import HOME, PLUGINS, RESULTS
from arcview.gates.tested_tree import Delivery
from arcview.states.objects import MODE_EXECUTABLE, MODE_SYMLINK

_IN_MEMORY_BYTES = 32 << 20

_HOSTS = b"127.0.0.1\tlocalhost\n::1\tlocalhost\n"
"""A container without any network has no such file of the engine's, which costs 0.1 s to set up."""

Ids = tuple[int, int]
"""User and group that files in the container belong to."""


class TarStream:
    """A tar stream that is being sent; reading it ends when the user cancels."""

    def __init__(self, file: IO[bytes], size_bytes: int, cancelled: Callable[[], bool]) -> None:
        self._file = file
        self._size_bytes = size_bytes
        self._cancelled = cancelled

    def __len__(self) -> int:
        return self._size_bytes

    def read(self, size: int = -1) -> bytes:
        """The next bytes.

        Raises:
            CancelledError: the user cancelled.
        """
        if self._cancelled():
            raise CancelledError("cancelled")
        return self._file.read(size)

    def rewind(self) -> None:
        """Back to its start."""
        self._file.seek(0)


class TarWriter:
    """One tar stream with files for a container.

    Args:
        ids: Whom they belong to.
        cancelled: Asked for each file, and while the stream is sent.
    """

    def __init__(self, ids: Ids, cancelled: Callable[[], bool] = lambda: False) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115
        # GNU headers carry any name as the bytes it is.
        self._tar = tarfile.open(  # noqa: SIM115
            fileobj=self._file,
            mode="w",
            format=tarfile.GNU_FORMAT,
            encoding="utf-8",
            errors="surrogateescape",
        )
        self._ids = ids
        self._cancelled = cancelled
        # Later than what the image was built from, so that nothing built stays by its date.
        self._time = int(time.time())
        self._folders: set[str] = set()

    def file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """A file, and the folders above it."""
        info = self._info(path, mode)
        info.size = len(data)
        self._tar.addfile(info, io.BytesIO(data))

    def link(self, path: str, target: str) -> None:
        """A symbolic link."""
        info = self._info(path, 0o777)
        info.type, info.linkname = tarfile.SYMTYPE, target
        self._tar.addfile(info)

    def hosts(self) -> None:
        """The file of host names; the folder that it lies in stays as it is."""
        self._folders.add("etc")
        self.file("etc/hosts", _HOSTS)

    def workspace(self, workdir: str) -> str:
        """The workspace folder, which belongs to the user; those above it stay as they are."""
        base = workdir.strip("/")
        self._folders.update(_folders(base))
        self.folder(base)
        return base

    def folder(self, path: str, mode: int = 0o755, ids: Ids | None = None) -> None:
        """A folder, once."""
        if path in self._folders:
            return
        self._folders.add(path)
        info = tarfile.TarInfo(path)
        info.type, info.mode, info.mtime = tarfile.DIRTYPE, mode, self._time
        info.uid, info.gid = ids or self._ids
        self._tar.addfile(info)

    def __enter__(self) -> TarWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def finish(self) -> TarStream:
        """The stream from its start; good for as long as the writer is open."""
        self._tar.close()
        size_bytes = self._file.tell()
        self._file.seek(0)
        return TarStream(self._file, size_bytes, self._cancelled)

    def _info(self, path: str, mode: int) -> tarfile.TarInfo:
        if self._cancelled():
            raise CancelledError("cancelled")
        for folder in _folders(path):
            self.folder(folder)
        info = tarfile.TarInfo(path)
        info.mode, info.mtime = mode, self._time
        info.uid, info.gid = self._ids
        return info


def _folders(path: str) -> Iterator[str]:
    """The folders of a relative path, the topmost first."""
    at = path.find("/")
    while at > 0:
        yield path[:at]
        at = path.find("/", at + 1)


def add_state(tar: TarWriter, workdir: str, job: Job, delivery: Delivery) -> None:
    """The files of the state that the image does not have as they are.

    Args:
        tar: Where to.
        workdir: The workspace folder in the container, links followed.
        job: The job.
        delivery: What to send and to remove.
    """
    base = tar.workspace(workdir)
    # The folders that things are removed from have to belong to whoever removes them.
    sent = {entry.path for entry in delivery.send}
    for path in delivery.remove:
        for folder in _folders(path):
            if folder in sent:
                break  # the state has a file of that name now
            tar.folder(f"{base}/{folder}")
    data = job.tree.read(entry.blob for entry in delivery.send)
    for entry, content in zip(delivery.send, data, strict=True):
        path = f"{base}/{entry.path}"
        if entry.mode == MODE_SYMLINK:
            tar.link(path, content.decode("utf-8", "surrogateescape"))
        else:
            tar.file(path, content, 0o755 if entry.mode == MODE_EXECUTABLE else 0o644)


def add_overlay(tar: TarWriter, workdir: str, delivery: Delivery) -> None:
    """The hidden files, last of all.

    Raises:
        ArcviewError: one cannot be read, or has changed since the gate was read.
    """
    base = tar.workspace(workdir)
    for file in delivery.overlay:
        data = read_overlay(file)
        tar.file(f"{base}/{file.path}", data, 0o755 if file.is_executable else 0o644)


def add_control(tar: TarWriter, script: bytes, plugins: Iterable[Path]) -> None:
    """Our own folder: the script, a place for results, plugins."""
    tar.hosts()
    home, plug = HOME.lstrip("/"), PLUGINS.lstrip("/")
    tar.folder(home, ids=(0, 0))
    tar.folder(RESULTS.lstrip("/"), 0o1777, ids=(0, 0))
    tar.file(f"{home}/run.sh", script)
    for plugin in plugins:
        tar.file(f"{plug}/{plugin.name}", plugin.read_bytes())


def read_overlay(file: HiddenFile) -> bytes:
    """The bytes of a hidden file.

    Raises:
        ArcviewError: it cannot be read, or has changed since the gate was read.
    """
    try:
        data = file.source.read_bytes()
    except OSError as error:
        raise ArcviewError(f"{file.source}: cannot be read: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise ArcviewError(f"{file.source}: changed since the run was opened; open it again")
    return data
