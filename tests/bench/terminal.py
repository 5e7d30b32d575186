"""Starts a program on a pseudo-terminal and says when what is on its screen."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType

COLUMNS, ROWS = 160, 50
FRAME_GAP_S = 0.008
"""A pause of half a frame separates one frame from the next."""
_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-Za-z]|[@-Z=>78])"
)
_NOT_PASSED_ON = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}


@dataclass(frozen=True, slots=True)
class Painted:
    """Instants at which output ended."""

    frame: float
    """The first frame: what was written without a pause."""
    settled: float
    """Everything, what came later from workers included."""


class Terminal:
    """One program on a pseudo-terminal of 160×50; `with` ends it."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self.raw = ""
        """Everything the program wrote so far."""
        self.started = time.perf_counter()
        self._argv = list(argv)
        self._env = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            **(env or {}),
        }
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._fd = -1
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Terminal:
        self._fd, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            self._argv,
            env=self._env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        os.close(self._fd)

    def press(self, keys: str) -> float:
        """Sends keys; the instant at which they were sent."""
        os.write(self._fd, keys.encode())
        return time.perf_counter()

    def read(self, timeout_s: float) -> bool:
        """Reads what is there; false when nothing came in time.

        Raises:
            EOFError: The program ended.
        """
        ready, _, _ = select.select([self._fd], [], [], timeout_s)
        if not ready:
            return False
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError as error:  # Linux says EIO when the other side is closed
            raise EOFError(f"the program ended:\n{self.text[-2000:]}") from error
        if not data:
            raise EOFError(f"the program ended:\n{self.text[-2000:]}")
        self.raw += self._decoder.decode(data)
        return True

    @property
    def text(self) -> str:
        """What was written so far, without control sequences."""
        return _ESCAPE.sub("", self.raw)

    def wait_for(self, seen: Callable[[str], bool], timeout_s: float = 30) -> float:
        """Seconds from the start until the written text satisfies a condition.

        Raises:
            TimeoutError: It did not in time.
        """
        limit = time.perf_counter() + timeout_s
        while not seen(self.text):
            if not self.read(max(0.0, limit - time.perf_counter())):
                raise TimeoutError(f"not seen in {timeout_s} s:\n{self.text[-2000:]}")
        return time.perf_counter() - self.started

    def settle(self, quiet_s: float = 0.15, timeout_s: float = 30) -> Painted | None:
        """Reads until nothing comes for a while; null when nothing came at all."""
        times: list[float] = []
        limit = time.perf_counter() + timeout_s
        while time.perf_counter() < limit and self.read(quiet_s):
            times.append(time.perf_counter())
        if not times:
            return None
        gaps = (i for i, (a, b) in enumerate(pairwise(times)) if b - a >= FRAME_GAP_S)
        return Painted(times[next(gaps, len(times) - 1)], times[-1])

    def wait(self) -> int:
        """Reads until the program ends; its exit status."""
        assert self._process is not None
        try:
            while self.read(30):
                pass
        except EOFError:
            pass
        return self._process.wait(30)

    def cpu_s(self) -> float:
        """Processor time of the program itself; what else runs hardly changes it."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="utf-8")
        user, system = status.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def rss_bytes(self) -> int:
        """Resident memory of the program itself."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        row = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(row.split()[1]) * 1024
