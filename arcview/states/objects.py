"""Writes git objects: a bare store of our own, file by file, without index, filters or processes.

Loose objects written here took 0.45 s for 5,000 files (65 MB) where `git fast-import` took 1.6 s;
they carry any file name, need no lock, and what was written before a cancellation stays.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from arcview.errors import ArcviewError
from arcview.git import NEUTRAL_ATTRIBUTES

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

MODE_FILE = "100644"
MODE_EXECUTABLE = "100755"
MODE_SYMLINK = "120000"
MODE_SUBMODULE = "160000"
_MODE_TREE = "40000"

_LEVEL = 1
"""Of compression: level 6 takes three times as long for a tenth less."""

_WHOLE_BYTES = 16 << 20
"""Files up to this size are read at once, larger ones in pieces of it."""


class SourceError(Exception):
    """What is being stored cannot be read to its end."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One file or symlink of a tree that is being built."""

    path: bytes
    """Relative, separated by `/`."""
    mode: str
    oid: str


class ObjectStore:
    """The objects folder of a bare repository. Safe to use from several threads and processes."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        # A plain string: building a Path per object is a third of the time of a small one.
        self._objects = f"{git_dir}{os.sep}objects{os.sep}"

    def create(self) -> None:
        """Makes the bare repository unless it is there."""
        for folder in ("objects/info", "objects/pack", "refs/arcview", "info"):
            (self._git_dir / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
        # HEAD names nothing on purpose: some versions of git read attributes from it.
        head = "ref: refs/heads/none\n"
        files = {"config": config, "info/attributes": NEUTRAL_ATTRIBUTES, "HEAD": head}
        for name, text in files.items():
            if not (self._git_dir / name).exists():
                (self._git_dir / name).write_text(text, encoding="ascii")
        self.write("blob", b"")
        self.write("tree", b"")

    def write(self, kind: str, data: bytes) -> str:
        """Stores an object (`blob`, `tree`, `commit`) and returns its id.

        Raises:
            ArcviewError: the store cannot be written (a full disk).
        """
        header = f"{kind} {len(data)}\0".encode("ascii")
        digest = hashlib.sha1(header, usedforsecurity=False)
        digest.update(data)
        oid = digest.hexdigest()
        if not self.has(oid):
            packer = zlib.compressobj(_LEVEL)
            self._place(oid, packer.compress(header) + packer.compress(data) + packer.flush())
        return oid

    def write_stream(self, stream: BinaryIO, size_bytes: int) -> str:
        """Stores a blob of exactly that size from a stream and returns its id.

        Raises:
            SourceError: the stream cannot be read, or ends early (a file that shrank meanwhile).
            ArcviewError: the store cannot be written.
        """
        if size_bytes <= _WHOLE_BYTES:
            return self.write("blob", _read_exactly(stream, size_bytes))
        header = f"blob {size_bytes}\0".encode("ascii")
        digest = hashlib.sha1(header, usedforsecurity=False)
        packer = zlib.compressobj(_LEVEL)
        with self._new_file() as (temporary, out):
            out.write(packer.compress(header))
            left = size_bytes
            while left:
                piece = _read_exactly(stream, min(left, _WHOLE_BYTES))
                left -= len(piece)
                digest.update(piece)
                out.write(packer.compress(piece))
            out.write(packer.flush())
            out.close()
            self._move(temporary, digest.hexdigest())
        return digest.hexdigest()

    def write_tree(self, leaves: Iterable[Leaf]) -> str:
        """Stores the folders that hold the given files and returns the id of the topmost.

        Every path must be unique and no path may be a folder of another.
        """
        folders: dict[bytes, list[tuple[bytes, str, str]]] = {b"": []}
        for leaf in leaves:
            folder, _, name = leaf.path.rpartition(b"/")
            above = folder
            while above not in folders:
                folders[above] = []
                above = above.rpartition(b"/")[0]
            folders[folder].append((name, leaf.mode, leaf.oid))
        for folder in sorted(folders, key=lambda path: -path.count(b"/")):
            if folder:
                parent, _, name = folder.rpartition(b"/")
                folders[parent].append((name, _MODE_TREE, self._write_folder(folders[folder])))
        return self._write_folder(folders[b""])

    def write_commit(self, tree: str, parents: Iterable[str], order: int, message: str) -> str:
        """Stores a commit; the same arguments always give the same id.

        Args:
            tree: Its tree.
            parents: Its parents.
            order: Its place in the run, which becomes its time: history sorts as the run went.
            message: Its message.
        """
        who = f"arcview <arcview> {order} +0000"
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {who}", f"committer {who}", "", message, ""]
        return self.write("commit", "\n".join(lines).encode("utf-8", "surrogateescape"))

    def has(self, oid: str) -> bool:
        """Tells whether the object lies here unpacked."""
        try:
            # A crash of the machine can leave an empty file behind.
            return os.stat(self._path(oid)).st_size > 0  # noqa: PTH116
        except FileNotFoundError:
            return False

    def _write_folder(self, entries: list[tuple[bytes, str, str]]) -> str:
        # Git sorts a folder as if its name ended in a slash.
        entries.sort(key=lambda e: e[0] + b"/" if e[1] == _MODE_TREE else e[0])
        parts = [
            mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid) for name, mode, oid in entries
        ]
        return self.write("tree", b"".join(parts))

    def _path(self, oid: str) -> str:
        return f"{self._objects}{oid[:2]}{os.sep}{oid[2:]}"

    @contextlib.contextmanager
    def _new_file(self) -> Iterator[tuple[str, BinaryIO]]:
        """A temporary file that is removed unless it was moved to its place."""
        temporary = f"{self._objects}tmp_{os.urandom(12).hex()}"
        try:
            with open(temporary, "xb") as out:  # noqa: PTH123
                yield temporary, out
        except OSError as error:
            raise ArcviewError(f"{self._git_dir}: cannot be written: {error.strerror}") from error
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)  # noqa: PTH108

    def _place(self, oid: str, packed: bytes) -> None:
        with self._new_file() as (temporary, out):
            out.write(packed)
            out.close()
            self._move(temporary, oid)

    def _move(self, temporary: str, oid: str) -> None:
        path = self._path(oid)
        try:
            os.rename(temporary, path)  # noqa: PTH104
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
            os.rename(temporary, path)  # noqa: PTH104


def _read_exactly(stream: BinaryIO, size_bytes: int) -> bytes:
    try:
        data = stream.read(size_bytes)
        while len(data) < size_bytes:
            more = stream.read(size_bytes - len(data))
            if not more:
                raise SourceError("it ends early")
            data += more
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from error
    return data
