"""Which process something belongs to, as one text, and whether that process is gone.

Imports nothing of arcview.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_STARTED = 19
"""Field 22 of `/proc/<pid>/stat`, counted behind the name."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A process: where it runs, its number, when it started."""

    host: str
    """Name, boot and process namespace: a number means nothing outside of them."""
    pid: int
    started: str
    """In ticks since boot; empty where the system does not say."""

    @classmethod
    def current(cls) -> Owner:
        """This process."""
        return cls(_host(), os.getpid(), _started(os.getpid()) or "")

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        """The owner that `text` was made of; null where it is something else."""
        parts = text.strip().rsplit(":", 2)
        if len(parts) != 3 or not parts[1].isdecimal():
            return None
        return cls(parts[0], int(parts[1]), parts[2])

    @property
    def text(self) -> str:
        """As `parse` reads it."""
        return f"{self.host}:{self.pid}:{self.started}"

    def is_gone(self) -> bool:
        """Whether that process has surely ended; false for one that cannot be seen from here."""
        if self.host != _host():
            return False
        with suppress(PermissionError):
            try:
                os.kill(self.pid, 0)
            except (ProcessLookupError, OverflowError):
                return True
        now = _started(self.pid)
        return now is not None and self.started != "" and now != self.started


def _host() -> str:
    boot = namespace = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
    with suppress(OSError):
        namespace = str(os.stat("/proc/self/ns/pid").st_ino)  # noqa: PTH116 -- a link to no file
    return "/".join((socket.gethostname(), boot, namespace))


def _started(pid: int) -> str | None:
    """When a process started; null where that is not known, `zombie` for one that has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    if len(fields) <= _STARTED:
        return None
    return "zombie" if fields[0] in "ZX" else fields[_STARTED]
