"""Runs a gate's commands on this machine, in a temporary copy: no container, no limits but time.

For those without a container engine, and only when asked for by name; results are stamped.
"""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO

from arcview.gates.collect import LIMITS
from arcview.gates.engine import End, EngineInfo, Execution, Image, Job, OnPull, Phase
from arcview.gates.output import GateOutput
from arcview.gates.owner import Owner
from arcview.gates.results_folder import Results
from arcview.gates.script import run_script
from arcview.gates.tested_tree import Delivery
from arcview.gates.workspace_tar import read_overlay
from arcview.states.objects import MODE_EXECUTABLE, MODE_SYMLINK

_PREFIX = "arcview-gate-"
_OWNER = "owner"
_POLL_S = 0.05
_TIMEOUT = "timeout --foreground"
"""Without a process group of its own a command ends with all the others."""
_IGNORED = ("memory", "pids", "cpus", "network", "capabilities")


class HostEngine:
    """Runs jobs as the user's own processes; may be called from several threads."""

    def info(self) -> EngineInfo:
        """This machine."""
        return EngineInfo(
            kind="host",
            name="host",
            version=f"{platform.system()} {platform.release()}",
            endpoint="this machine",
            limits_enforced=("time", "output"),
            limits_ignored=_IGNORED,
            notes=("no container: the commands may reach your files and the network",),
        )

    def image(
        self, ref: str | None, digest: str | None, *, allow_other: bool, on_pull: OnPull | None
    ) -> Image:
        """No image at all; the result says so."""
        name = ref or digest
        why = f"not in image {name}" if name is not None else "in no image: none is recorded"
        return Image("host", "host", "host", notes=(f"ran on the host, {why}",))

    def execute(
        self,
        job: Job,
        on_output: Callable[[bytes], None],
        on_phase: Callable[[Phase], None],
        cancelled: Callable[[], bool],
    ) -> Execution:
        """Runs the commands in a copy that is gone afterwards."""
        on_phase(Phase.COPYING)
        began = time.monotonic()
        root = Path(tempfile.mkdtemp(prefix=_PREFIX))
        try:
            (root / _OWNER).write_text(Owner.current().text, encoding="utf-8")
            delivery = job.tree.delivery()
            here = _moved(job, root / "work")
            _write(root / "work", job, delivery)
            (root / "res").mkdir()
            script = root / "run.sh"
            script.write_bytes(run_script(here, delivery, str(root / "res"), timeout=_TIMEOUT))
            on_phase(Phase.RUNNING)
            started = time.monotonic()
            end, code = _run(script, here, on_output, cancelled)
            ran_s = time.monotonic() - started
            on_phase(Phase.COLLECTING)
            found = _collected(here, job, root, end, code)
        finally:
            shutil.rmtree(root, ignore_errors=True)
        overhead_s = time.monotonic() - began - ran_s
        notes = (*found.notes, *delivery.notes)
        return replace(
            found, delivery=delivery, duration_s=ran_s, overhead_s=overhead_s, notes=notes
        )

    def reap(self) -> int:
        """Removes the copies of an arcview that is gone."""
        count = 0
        for root in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            with suppress(OSError):
                owner = Owner.parse((root / _OWNER).read_text(encoding="utf-8"))
                if owner is not None and owner.is_gone():
                    shutil.rmtree(root, ignore_errors=True)
                    count += 1
        return count

    def close(self) -> None:
        """Has nothing to let go of."""


def _moved(job: Job, work: Path) -> Job:
    """The job with its workspace in another place.

    A report that lies outside of it would be a file of this machine: it is neither removed before
    nor taken afterwards.
    """
    reports = tuple(replace(r, path=_place(r.path, job.workdir, work)) for r in job.reports)
    return replace(job, workdir=str(work), reports=reports, plugins=())


def _place(path: str, workdir: str, work: Path) -> str:
    pure = PurePosixPath(path)
    if not pure.is_relative_to(workdir) or ".." in pure.parts:
        return str(work.parent / "outside" / pure.name)
    return str(work / pure.relative_to(workdir))


def _write(work: Path, job: Job, delivery: Delivery) -> None:
    work.mkdir()
    data = job.tree.read(entry.blob for entry in delivery.send)
    for entry, content in zip(delivery.send, data, strict=True):
        path = work / entry.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.mode == MODE_SYMLINK:
            path.symlink_to(os.fsdecode(content))
        else:
            path.write_bytes(content)
            path.chmod(0o755 if entry.mode == MODE_EXECUTABLE else 0o644)
    for file in delivery.overlay:
        path = work / file.path
        _make_room(work, path)
        path.write_bytes(read_overlay(file))
        path.chmod(0o755 if file.is_executable else 0o644)


def _make_room(work: Path, path: Path) -> None:
    """A place for a hidden file: a link of the state on the way to it would lead elsewhere."""
    for above in reversed(path.relative_to(work).parents[:-1]):
        folder = work / above
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        folder.mkdir(exist_ok=True)
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)


def _run(
    script: Path, job: Job, on_output: Callable[[bytes], None], cancelled: Callable[[], bool]
) -> tuple[End, int]:
    process = subprocess.Popen(
        ["/bin/sh", str(script)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=job.workdir,
        start_new_session=True,
    )
    assert process.stdout is not None  # a pipe was asked for
    output = GateOutput(on_output, job.limits.output_bytes)
    pump = _Pump(process.stdout, output)
    pump.start()
    try:
        end = _watch(process, output, job, cancelled)
    finally:
        # What it started and left running goes with it.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        pump.join(5)
        process.stdout.close()
    output.check()
    return end, process.returncode


def _watch(
    process: subprocess.Popen[bytes], output: GateOutput, job: Job, cancelled: Callable[[], bool]
) -> End:
    deadline = time.monotonic() + sum(step.timeout_s for step in job.steps)
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
            return End.EXITED
        output.check()
        if cancelled():
            return End.CANCELLED
        if output.is_over_limit:
            return End.OUTPUT_LIMIT
        if time.monotonic() > deadline:
            return End.TIMED_OUT


def _collected(here: Job, job: Job, root: Path, end: End, code: int) -> Execution:
    """What came out, under the names that the gate gave it."""
    results = Results(job)
    for name, target in results.wanted().items():
        _take(root / "res" / name, target, name, results)
    places = dict(zip((r.path for r in job.reports), here.reports, strict=True))
    for name, target, report in results.still_wanted():
        _take(Path(places[report.path].path), target, name, results)
    unprepared = results.said().unprepared
    if end is End.EXITED and unprepared is not None:
        return Execution(End.NOT_STARTED, f"not prepared: {unprepared}")
    outside = [r.path for r in job.reports if not r.path.startswith(f"{job.workdir}/")]
    notes = tuple(f"{path} lies outside of the workspace and is not read" for path in outside)
    return Execution(
        end,
        steps=results.said().steps,
        exit_code=code,
        reports=results.reports(),
        large=results.large,
        notes=notes,
    )


def _take(found: Path, target: Path, name: str, results: Results) -> None:
    if found.is_file() and not found.is_symlink():
        is_large = found.stat().st_size > LIMITS.total_bytes
        results.note_large(name, is_large=is_large)
        if not is_large:
            shutil.copyfile(found, target)


class _Pump(threading.Thread):
    """Takes the output off the pipe as it comes."""

    def __init__(self, source: IO[bytes], output: GateOutput) -> None:
        super().__init__(name="gate output", daemon=True)
        self._source = source
        self._output = output

    def run(self) -> None:
        with suppress(ValueError, OSError):  # closed while something still wrote to it
            while data := os.read(self._source.fileno(), 1 << 16):
                if not self._output.take(data):
                    return
