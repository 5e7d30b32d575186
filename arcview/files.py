"""What lies at a path of somebody else: asking never raises, and reading never waits.

`pathlib` raises where a folder above may not be entered, and opening a named pipe waits for ever.
Must not import anything of arcview.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EBADF, errno.ENAMETOOLONG})


def is_file(path: Path) -> bool:
    """Whether a path leads to a regular file, as far as can be told."""
    return os.path.isfile(path)  # noqa: PTH113 -- never raises


def is_dir(path: Path) -> bool:
    """Whether a path leads to a folder, as far as can be told."""
    return os.path.isdir(path)  # noqa: PTH112 -- never raises


def is_symlink(path: Path) -> bool:
    """Whether a path is a link, as far as can be told."""
    return os.path.islink(path)  # noqa: PTH114 -- never raises


def exists(path: Path) -> bool:
    """Whether something is or may be at a path: false only where nothing is.

    What may not be looked at is no gap: whoever reads it afterwards says why that failed.
    """
    try:
        path.stat()
    except OSError as error:
        return error.errno not in _ABSENT
    except ValueError:  # no file can be called that
        return False
    return True


def open_file(path: Path, *, buffer_bytes: int = -1) -> BinaryIO:
    """Opens a regular file for reading; never waits for a pipe or a device.

    Args:
        path: The file.
        buffer_bytes: How much is read at once; a block of the file system where nothing is said.

    Raises:
        OSError: it cannot be read, or is something else than a file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb", buffer_bytes)
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "a folder, not a file", str(path))
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def read_file(path: Path) -> bytes:
    """The content of a regular file.

    Raises:
        OSError: as for `open_file`.
    """
    with open_file(path) as file:
        return file.read()


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The text of a regular file; never waits for a pipe or a device.

    Raises:
        OSError: as for `open_file`.
        UnicodeDecodeError: it is no text.
    """
    return io.TextIOWrapper(io.BytesIO(read_file(path)), encoding).read()


def in_words(error: Exception) -> str:
    """What went wrong with a file, for a line that names it already: no number, no path."""
    if isinstance(error, UnicodeDecodeError):
        return f"not {error.encoding} text (byte {error.start})"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)


def why_unreadable(path: Path) -> str | None:
    """Why a folder or file cannot be looked into; null where it can."""
    try:
        if is_dir(path):
            with os.scandir(path) as entries:
                next(entries, None)
            os.close(os.open(os.fspath(path) + "/.", os.O_RDONLY))  # may it be entered, too?
        else:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None
