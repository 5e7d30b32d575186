"""The script that a container runs: prepares the workspace, runs the steps, keeps their exit codes.

Plain POSIX shell, so that any image with a shell will do. Pure.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arcview.gates.collect import LIMITS
from arcview.gates.engine import Job, JobStep, StepEnd
from arcview.gates.tested_tree import Delivery

HOME = "/arcview"
"""Folder of ours in the container."""
RESULTS = f"{HOME}/res"
PLUGINS = f"{HOME}/plug"
STREAM_LOG = "tests.reportlog.jsonl"
"""What our pytest plugin writes into `RESULTS`."""
STEPS_FILE = "steps"
EXIT_UNPREPARED = 125

_OOM_COUNTS = (
    "/sys/fs/cgroup/memory.events",
    "/sys/fs/cgroup/memory/memory.oom_control",
)
"""Of cgroup versions 2 and 1."""

_ULIMIT_BYTES = 512
"""What a shell counts the size of files in."""
_BATCH = 200
_GRACE_S = 5
"""How long after TERM a command that runs over its time is killed."""


def run_script(
    job: Job, delivery: Delivery, results: str = RESULTS, *, timeout: str = "timeout"
) -> bytes:
    """The whole script.

    Args:
        job: What to run.
        delivery: What was sent; its removals are done here, as the container's user.
        results: Where reports and exit codes go.
        timeout: The program that ends a step; left out where it does not work.
    """
    said = f"{shlex.quote(results)}/{STEPS_FILE}"
    lines = [
        b"exec 2>&1 </dev/null",
        f'unprepared() {{ echo "$1"; echo "unprepared $1" >>{said}; '.encode(),
        b"exit %d; }" % EXIT_UNPREPARED,
        b"cd " + _quoted(job.workdir) + b" || unprepared 'the workspace is not there'",
        *_removals(delivery),
        *(b"rm -f -- " + _quoted(report.path) for report in job.reports),
        b"export PYTHONDONTWRITEBYTECODE=1",
        f"limit=; {timeout} 9 true 2>/dev/null && limit='{timeout}'".encode(),
        f"echo ready >>{said}".encode(),
    ]
    for number, step in enumerate(job.steps):
        lines += _step(job, number, step, said, is_only=len(job.steps) == 1)
    lines += _memory_kills(said)
    lines += [
        *(_copied(number, r.path, results, said) for number, r in enumerate(job.reports, 1)),
    ]
    return b"\n".join([*lines, f"echo done >>{said}".encode(), b"exit $worst", b""])


def _copied(number: int, path: str, results: str, said: str) -> bytes:
    """Copies a report to the results, unless it is larger than results may be."""
    # A link could lead to anything; a file of holes is not all there, and its copy could be.
    source, copy = _quoted(path), _quoted(f"{results}/{report_name(number)}")
    most = LIMITS.total_bytes // _ULIMIT_BYTES
    bounded = b"( trap '' XFSZ; ulimit -f %d; cp %s %s )" % (most, source, copy)
    failed = b"{ rm -f %s; echo 'uncopied %d' >>%s; }" % (copy, number, said.encode())
    return b"[ -f %s ] && [ ! -L %s ] && { %s || %s; }" % (source, source, bounded, failed)


def _memory_kills(said: str) -> Iterator[bytes]:
    """Notes how many processes were killed for want of memory: engines do not always say so."""
    yield b"for counts in %s %s; do" % tuple(path.encode("ascii") for path in _OOM_COUNTS)
    yield b'  [ -r "$counts" ] && while read -r name count; do'
    yield f'    [ "$name" = oom_kill ] && echo "oom $count" >>{said}'.encode()
    yield b'  done <"$counts"'
    yield b"done"


def report_name(number: int) -> str:
    """What a declared report is called among the results, by its place from 1."""
    return f"report-{number}"


def _step(job: Job, number: int, step: JobStep, said: str, *, is_only: bool) -> Iterator[bytes]:
    # A single step is timed from outside; of several nobody outside sees where one ends.
    limit = int(step.timeout_s + (_GRACE_S if is_only else 0.999))
    settings = [
        b"export %s=%s;" % (name.encode("utf-8", "surrogateescape"), _quoted(value))
        for name, value in step.env
    ]
    settings += _plugin_settings(job, step)
    command = b" ".join(_quoted(part) for part in step.command)
    yield f'echo "begin {number} $(date +%s)" >>{said}'.encode()
    yield b"( %s exec ${limit:+$limit -k %d %d} %s )" % (
        b" ".join(settings),
        _GRACE_S,
        limit,
        command,
    )
    yield f'code=$?; echo "end {number} $code $(date +%s)" >>{said}'.encode()
    yield b'[ "$code" = 0 ] || worst=$code' if number else b"worst=$code"
    if step.is_build:
        yield b'if [ "$code" != 0 ]; then'
        yield from _memory_kills(said)
        yield b"exit $code; fi"


def uses_pytest(step: JobStep) -> bool:
    """Whether a step runs pytest itself, so that our plugin may listen."""
    names = [part.rpartition("/")[2] for part in step.command]
    return any(name in ("pytest", "py.test") for name in names)


def _plugin_settings(job: Job, step: JobStep) -> Iterator[bytes]:
    if job.plugins and uses_pytest(step):
        yield b'export PYTHONPATH="%s${PYTHONPATH:+:$PYTHONPATH}";' % PLUGINS.encode()
        yield b'export ARCVIEW_REPORT_LOG="%s/%s";' % (RESULTS.encode(), STREAM_LOG.encode())
        yield b'export PYTEST_ADDOPTS="-p arcview_reportlog${PYTEST_ADDOPTS:+ $PYTEST_ADDOPTS}";'


def _removals(delivery: Delivery) -> Iterator[bytes]:
    """Files of the image that the state does not have, and folders that are empty without them."""
    files = {entry.path for entry in delivery.send} | {o.path for o in delivery.origins}
    folders = {folder for path in files for folder in _above(path)}
    # What is now a folder, or lies below what is now a file, sending has replaced already.
    gone = [
        path
        for path in delivery.remove
        if path not in folders and not any(above in files for above in _above(path))
    ]
    for start in range(0, len(gone), _BATCH):
        names = b" ".join(_quoted(f"./{path}") for path in gone[start : start + _BATCH])
        yield b"rm -f -- " + names + b" || unprepared 'files of the image cannot be removed'"
    empty = {folder for path in gone for folder in _above(path)} - folders
    for folder in sorted(empty, key=lambda name: -name.count("/")):
        yield b"rmdir -- " + _quoted(f"./{folder}") + b" 2>/dev/null"


def _above(path: str) -> Iterator[str]:
    at = path.rfind("/")
    while at > 0:
        yield path[:at]
        at = path.rfind("/", 0, at)


def _quoted(text: str) -> bytes:
    return shlex.quote(text).encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Said:
    """What the script wrote of its steps; the tested code may have written there, too."""

    steps: tuple[StepEnd, ...] = ()
    """Those that began."""
    unprepared: str | None = None
    """Why the workspace could not be prepared."""
    is_done: bool = False
    """It came to its end."""
    memory_kills: int = 0
    """Processes that were killed for want of memory."""
    uncopied: frozenset[int] = frozenset()
    """Numbers of reports that are there and could not be copied to the results."""


def read_said(job: Job, said: bytes) -> Said:
    """Reads what the script wrote."""
    began: dict[int, int | None] = {}
    ended: dict[int, tuple[int, int | None]] = {}
    unprepared, is_done, kills = None, False, 0
    uncopied: set[int] = set()
    for line in said.decode("utf-8", "replace").splitlines():
        match line.split(" "):
            case ["unprepared", *words]:
                unprepared = " ".join(words)
            case ["done"]:
                is_done = True
            case ["oom", count] if _is_count(count):
                kills = int(count)
            case ["uncopied", number] if _is_count(number):
                uncopied.add(int(number))
            case ["begin", number, at] if _is_count(number):
                began.setdefault(int(number), _number(at))
            case ["end", number, code, at] if _is_count(number) and _is_count(code):
                ended.setdefault(int(number), (int(code), _number(at)))
    steps = tuple(_end(job.steps[n], began[n], ended.get(n)) for n in _in_order(began, job.steps))
    return Said(steps, unprepared, is_done, kills, frozenset(uncopied))


def _in_order(began: dict[int, int | None], steps: Sequence[JobStep]) -> list[int]:
    return [number for number in sorted(began) if number < len(steps)]


def _end(step: JobStep, began_s: int | None, ended: tuple[int, int | None] | None) -> StepEnd:
    code, ended_s = ended if ended is not None else (None, None)
    took = None if began_s is None or ended_s is None else ended_s - began_s
    is_late = code in (124, 137) and took is not None and took >= int(step.timeout_s)
    return StepEnd(step.name, code, step.is_build, timed_out=is_late)


def _number(text: str) -> int | None:
    return int(text) if _is_count(text) else None


def _is_count(text: str) -> bool:
    # The tested code may write any number; Python reads none of thousands of digits.
    return text.isdecimal() and len(text) < 19
