"""An engine without containers: says of each gate on each tree what a test tells it to say."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from arcview.gates.engine import (
    Collected,
    End,
    EngineInfo,
    Execution,
    Image,
    Job,
    OnPull,
    Phase,
    StepEnd,
)
from arcview.gates.errors import ImageMissingError

IMAGE_ID = "sha256:" + "1" * 64


@dataclass(frozen=True)
class Play:
    """What one run of a gate does: outcomes by test id, and how it ends."""

    outcomes: Mapping[str, str] = field(default_factory=dict)
    """`passed`, `failed`, `error`, `skipped`."""
    output: bytes = b"output\n"
    exit_code: int | None = None
    """By default 1 where a test failed, else 0."""
    end: End = End.EXITED
    oom: bool = False
    detail: str | None = None
    report: bytes | None = None
    """Another report than the one with the outcomes; empty for none."""


Script = Callable[[str, str, str], Play | Mapping[str, str]]
"""Takes gate, label and tree."""


class FakeEngine:
    """Plays what a script says; keeps the jobs it got."""

    def __init__(self, script: Script, info: EngineInfo | None = None) -> None:
        self.script = script
        self.jobs: list[Job] = []
        self.reaped = 0
        self.left_behind = 0
        """Containers of a killed arcview."""
        self.is_closed = False
        self._info = info or EngineInfo(
            "docker", "fake", "1", "fake://", ("memory", "pids", "cpus")
        )
        self._lock = threading.Lock()

    def info(self) -> EngineInfo:
        return self._info

    def image(
        self, ref: str | None, digest: str | None, *, allow_other: bool, on_pull: OnPull | None
    ) -> Image:
        return Image(ref or "fake", IMAGE_ID, digest or IMAGE_ID)

    def execute(
        self,
        job: Job,
        on_output: Callable[[bytes], None],
        on_phase: Callable[[Phase], None],
        cancelled: Callable[[], bool],
    ) -> Execution:
        with self._lock:
            self.jobs.append(job)
        on_phase(Phase.COPYING)
        play = self.script(job.gate, job.label, job.tree.tree)
        if not isinstance(play, Play):
            play = Play(play)
        on_phase(Phase.RUNNING)
        on_output(play.output)
        if cancelled():
            return Execution(End.CANCELLED, delivery=job.tree.delivery())
        on_phase(Phase.COLLECTING)
        bad = any(word in ("failed", "error") for word in play.outcomes.values())
        code = play.exit_code if play.exit_code is not None else int(bad)
        ends = play.end is End.EXITED
        return Execution(
            play.end,
            play.detail,
            tuple(StepEnd(s.name, code, s.is_build) for s in job.steps) if ends else (),
            code if ends else 137,
            play.oom,
            self._reports(job, play),
            delivery=job.tree.delivery(),
            duration_s=0.5,
            overhead_s=0.25,
        )

    def _reports(self, job: Job, play: Play) -> tuple[Collected, ...]:
        data = play.report if play.report is not None else _pytest_json(play.outcomes)
        if not data or not job.reports:
            return ()
        from dataclasses import replace

        path = job.out / "report-1.json"
        path.write_bytes(data)
        # What a gate declares does not matter here: the report is told by its content.
        return (Collected(replace(job.reports[0], format=None), path),)

    def reap(self) -> int:
        self.reaped += 1
        return self.left_behind

    def close(self) -> None:
        self.is_closed = True


def _pytest_json(outcomes: Mapping[str, str]) -> bytes:
    tests = [
        {"nodeid": test_id, "outcome": outcome, "call": {"duration": 0.01, "outcome": outcome}}
        for test_id, outcome in outcomes.items()
    ]
    return json.dumps({"created": 1.0, "exitcode": 0, "root": "/", "tests": tests}).encode()


class HeldEngine(FakeEngine):
    """Prints something and then goes on until it is let go or cancelled."""

    def __init__(self, printed: bytes = b"", info: EngineInfo | None = None) -> None:
        super().__init__(lambda *_: Play({}), info)
        self.printed = printed
        self.has_printed = threading.Event()
        self.goes_on = threading.Event()
        self.has_ended = threading.Event()
        self.was_cancelled = False

    def execute(
        self,
        job: Job,
        on_output: Callable[[bytes], None],
        on_phase: Callable[[Phase], None],
        cancelled: Callable[[], bool],
    ) -> Execution:
        on_phase(Phase.RUNNING)
        on_output(self.printed)
        self.has_printed.set()
        while not cancelled() and not self.goes_on.wait(0.01):
            pass
        self.was_cancelled = cancelled()
        self.has_ended.set()
        return super().execute(job, lambda _: None, on_phase, cancelled)


class LackingEngine(FakeEngine):
    """Has no image until that was fetched."""

    fetches = ("1 Pulling from gate", "a1 Downloading", "a1 Downloading", "a1 Pull complete")

    def __init__(self, script: Script, info: EngineInfo | None = None) -> None:
        super().__init__(script, info)
        self.has_image = False

    def image(
        self, ref: str | None, digest: str | None, *, allow_other: bool, on_pull: OnPull | None
    ) -> Image:
        if not self.has_image and on_pull is None:
            raise ImageMissingError(f"image {ref} is not on this engine (--pull fetches it)")
        if not self.has_image and on_pull is not None:
            for line in self.fetches:
                on_pull(line)
            self.has_image = True
        return super().image(ref, digest, allow_other=allow_other, on_pull=on_pull)
