"""One gate run in one container: made, filled, watched, emptied, removed, whatever happens.

The container's main process is the gate's script; its output is attached before it starts and kept
by no log driver, so that no byte is lost.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from docker import APIClient
from docker.errors import APIError, ImageNotFound, NotFound
from docker.types import LogConfig

from arcview.errors import CancelledError
from arcview.gates.docker_engine.errors import ANY, is_gone, one_line
from arcview.gates.docker_engine.fetch import fetch_results
from arcview.gates.docker_engine.images import Inside, Insides, is_root
from arcview.gates.docker_engine.pump import Pump
from arcview.gates.docker_engine.stage_images import StageImages, tags_of
from arcview.gates.engine import End, Execution, Job, Phase, StepEnd
from arcview.gates.output import GateOutput
from arcview.gates.owner import Owner
from arcview.gates.results_folder import Results
from arcview.gates.script import HOME, run_script
from arcview.gates.tested_tree import Delivery
from arcview.gates.workspace_tar import TarStream, TarWriter, add_control, add_overlay, add_state

LABEL = "org.arcview.gate"
"""Only containers have it: labels of an image appear on its containers."""

_POLL_S = 0.05
_LATE_S = 120
"""How long after its time a container counts as an orphan whoever owns it."""
_PODMAN_LATE_S = 2.0
"""How long Podman may call a container running whose output has ended."""
_ROOT_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID")
"""Without them root cannot write files of others, which a test run as root does."""


class GateContainer:
    """One container for one job.

    Args:
        client: A client for this thread.
        job: What to run.
        insides: What is known of images.
        stages: Images of states.
        is_podman: The engine is Podman, which does some things otherwise.
        host_cpus: How many the engine's machine has.
    """

    def __init__(
        self,
        client: APIClient,
        job: Job,
        insides: Insides,
        stages: StageImages,
        *,
        is_podman: bool,
        host_cpus: int,
    ) -> None:
        self._client = client
        self._job = job
        self._insides = insides
        self._stages = stages
        self._is_podman = is_podman
        self._host_cpus = host_cpus
        self._id = ""
        self._delivery: Delivery | None = None
        self._results = Results(job)
        self._notes: list[str] = []
        self._began = time.monotonic()
        self._started: float | None = None
        self._ended: float | None = None
        self._is_running = False
        self._last_state: Mapping[str, Any] = {}
        self._attached: Any = None

    def run(
        self,
        on_output: Callable[[bytes], None],
        on_phase: Callable[[Phase], None],
        cancelled: Callable[[], bool],
    ) -> Execution:
        """Runs the job; the container is gone afterwards."""
        try:
            found = self._run(on_output, on_phase, cancelled)
        except CancelledError:
            found = Execution(End.CANCELLED)
        except (ImageNotFound, NotFound) as error:
            found = self._failed(error, "removed by somebody else")
        except APIError as error:
            found = self._failed(error, None)
        except ANY as error:
            found = self._failed(error, "the engine went away")
        finally:
            self._remove()
            self._detach()
        return self._finished(found)

    def _run(
        self,
        on_output: Callable[[bytes], None],
        on_phase: Callable[[Phase], None],
        cancelled: Callable[[], bool],
    ) -> Execution:
        on_phase(Phase.COPYING)
        if cancelled():
            return Execution(End.CANCELLED)
        self._create(cancelled)
        if cancelled():
            return Execution(End.CANCELLED)
        output = GateOutput(on_output, self._job.limits.output_bytes)
        pump = Pump(self._attach(), output)
        on_phase(Phase.RUNNING)
        self._started = time.monotonic()
        self._client.start(self._id)
        self._is_running = True
        pump.start()
        end = self._watch(pump, output, cancelled)
        self._ended = time.monotonic()
        on_phase(Phase.COLLECTING)
        return self._collected(end, pump)

    def _create(self, cancelled: Callable[[], bool]) -> None:
        """Makes the container and fills it."""
        job = self._job
        put = partial(self._put, cancelled)
        inside = self._insides.known(job)
        if inside is None:
            self._id = self._new(job.image.id)
            inside = self._insides.look(self._client, self._id, job)
        delivery = self._delivery = job.tree.delivery(inside.files)
        script = run_script(job, delivery)
        state, whole = tags_of(job, inside, delivery, script)
        if job.image.has_volumes:  # what lies in a volume is in no image made of the container
            self._id = self._id or self._new(job.image.id)
            put(inside, delivery, script, has_state=True)
            return
        ready = self._stages.find(self._client, whole)
        stage = ready or self._stages.find(self._client, state)
        if stage is not None:
            self._remove()
        if not self._id:
            self._id = self._new(stage or job.image.id)
        if ready is not None:
            self._put_hosts(inside, cancelled)
            return
        if stage is None and self._stages.wants(state):
            put(inside, delivery, None, has_state=True)
            self._stages.keep(self._client, self._id, state)
            stage = state
        put(inside, delivery, script, has_state=stage is None)
        if self._stages.wants(whole):
            self._stages.keep(self._client, self._id, whole)

    def _put(
        self,
        cancelled: Callable[[], bool],
        inside: Inside,
        delivery: Delivery,
        script: bytes | None,
        *,
        has_state: bool,
    ) -> None:
        with TarWriter(inside.ids, cancelled) as tar:
            if has_state:
                add_state(tar, inside.workdir, self._job, delivery)
            if script is not None:
                add_overlay(tar, inside.workdir, delivery)
                add_control(tar, script, self._job.plugins)
            self._send(tar.finish())

    def _put_hosts(self, inside: Inside, cancelled: Callable[[], bool]) -> None:
        """Engines empty this file of every image, so that none keeps it."""
        with TarWriter(inside.ids, cancelled) as tar:
            tar.hosts()
            self._send(tar.finish())

    def _send(self, stream: TarStream) -> None:
        try:
            self._client.put_archive(self._id, "/", stream)
        except APIError:
            if not self._is_podman:
                raise
            stream.rewind()  # Podman's first try sometimes ends in a broken pipe
            self._client.put_archive(self._id, "/", stream)

    def _new(self, image: str) -> str:
        """Makes a container.

        Raises:
            DockerException: the engine says no.
        """
        job = self._job
        user = job.user or job.image.user
        settings = self._settings(user)
        deadline = int(time.time() + self._timeout_s() + _LATE_S)
        labels = {
            LABEL: f"{job.gate} on {job.label}",
            f"{LABEL}.owner": Owner.current().text,
            f"{LABEL}.deadline": str(deadline),
        }
        while True:
            try:
                made = self._client.create_container(
                    image,
                    [f"{HOME}/run.sh"],
                    entrypoint=["/bin/sh"],
                    healthcheck={"test": ["NONE"]},
                    user=user,
                    working_dir=job.workdir,
                    network_disabled=True,
                    labels=labels,
                    host_config=self._client.create_host_config(**settings),
                )
            except APIError as error:
                if settings.get("init") and "init" in one_line(error):
                    settings["init"] = None  # no init program on the engine's machine
                    self._notes.append("without an init process")
                    continue
                raise
            return str(made["Id"])

    def _settings(self, user: str | None) -> dict[str, Any]:
        """The limits and what the container may do."""
        limits = self._job.limits
        memory = limits.memory_mb << 20
        return {
            "network_mode": "none",
            "log_config": LogConfig(type="none"),
            "init": True,
            "mem_limit": memory,
            "memswap_limit": memory,
            "nano_cpus": int(self._cpus() * 1e9),
            "pids_limit": limits.pids,
            "cap_drop": ["ALL"],
            "cap_add": list(_ROOT_CAPABILITIES) if is_root(user) else None,
            "security_opt": ["no-new-privileges"],
            "tmpfs": self._tmpfs(),
        }

    def _cpus(self) -> float:
        """As many as there are: an engine refuses to promise more."""
        wanted = self._job.limits.cpus
        if wanted > self._host_cpus:
            self._notes.append(f"{self._host_cpus} cpus, the engine has no more")
        return min(wanted, self._host_cpus)

    def _tmpfs(self) -> Mapping[str, str]:
        """`/tmp` in memory, unless a report is written there: nothing comes out of a tmpfs."""
        inside = [r for r in self._job.reports if PurePosixPath(r.path).is_relative_to("/tmp")]
        below = PurePosixPath(self._job.workdir).is_relative_to("/tmp")
        if inside or below:
            self._notes.append("/tmp is on the disk, since reports are written there")
            return {}
        return {"/tmp": f"exec,mode=1777,size={self._job.limits.tmp_mb}m"}

    def _attach(self) -> socket.socket:
        params = {"stdout": 1, "stderr": 1, "stream": 1, "logs": 0}
        attached: Any = self._client.attach_socket(self._id, params=params)
        raw: socket.socket = getattr(attached, "_sock", attached)
        raw.settimeout(None)
        self._attached = attached
        return raw

    def _detach(self) -> None:
        """Closes the output's connection, with the response that it came by."""
        attached, self._attached = self._attached, None
        if attached is not None:
            raw = getattr(attached, "_sock", None)
            for each in (getattr(attached, "_response", None), attached, raw):
                if each is not None:
                    with suppress(OSError, ValueError):  # one of them closed another
                        each.close()

    def _timeout_s(self) -> float:
        steps = self._job.steps
        grace_s = 0.0 if len(steps) == 1 else 10.0 * len(steps)
        return sum(step.timeout_s for step in steps) + grace_s

    def _watch(self, pump: Pump, output: GateOutput, cancelled: Callable[[], bool]) -> End:
        """Waits for the end, the deadline or the user; ends the container in the latter cases."""
        deadline = time.monotonic() + self._timeout_s()
        late_s = _PODMAN_LATE_S if self._is_podman else 0.0
        end = None
        while end is None:
            pump.join(_POLL_S)
            output.check()
            if cancelled():
                end = End.CANCELLED
            elif time.monotonic() > deadline:
                end = End.TIMED_OUT
            elif output.is_over_limit:
                end = End.OUTPUT_LIMIT
            elif not pump.is_alive():
                # The stream may be lost while the container goes on.
                self._last_state = self._state()
                if not self._last_state.get("Running"):
                    output.check()
                    return End.EXITED
                late_s -= _POLL_S
                pump.is_cut = pump.is_cut or late_s < 0
                time.sleep(_POLL_S)
        with suppress(APIError):  # it ended by itself meanwhile
            self._client.kill(self._id)
        pump.join(10)
        return end

    def _state(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._client.inspect_container(self._id)["State"]
        return found

    def _collected(self, end: End, pump: Pump) -> Execution:
        state = self._last_state if end is End.EXITED else self._state()
        patience = time.monotonic() + 15
        # Podman's `stopped` is before `exited`: it still takes the files away from under a reader.
        while _is_busy(state) and time.monotonic() < patience:
            time.sleep(_POLL_S)
            state = self._state()
        self._notes += fetch_results(self._client, self._id, self._results)
        return Execution(
            end,
            steps=self._results.said().steps,
            exit_code=state.get("ExitCode"),
            oom=bool(state.get("OOMKilled")) or self._results.said().memory_kills > 0,
            reports=self._results.reports(),
            large=self._results.large,
            stream_complete=pump.is_whole,
        )

    def _failed(self, error: Exception, why: str | None) -> Execution:
        """What became of a run that the engine ended, or would not begin."""
        said = one_line(error)
        if isinstance(error, ImageNotFound):
            return Execution(End.NOT_STARTED, f"the image is gone: {said}")
        if not self._is_running and not is_gone(error):
            return Execution(End.NOT_STARTED, f"the container could not be started: {said}")
        return Execution(End.LOST, f"{why or 'the engine says'}: {said}")

    def _finished(self, found: Execution) -> Execution:
        now = time.monotonic()
        ran_s = 0.0 if self._started is None else (self._ended or now) - self._started
        unprepared = self._results.said().unprepared
        if found.end is End.EXITED and unprepared is not None:
            found = replace(found, end=End.NOT_STARTED, detail=f"not prepared: {unprepared}")
        elif found.end is End.EXITED and not found.steps:
            found = self._without_record(found)
        notes = (*self._notes, *(self._delivery.notes if self._delivery else ()))
        return replace(
            found,
            delivery=self._delivery,
            duration_s=ran_s,
            overhead_s=now - self._began - ran_s,
            notes=tuple(dict.fromkeys(notes)),
        )

    def _without_record(self, found: Execution) -> Execution:
        """A run that left no record of its steps: it never began, or it removed that, too."""
        if found.exit_code in (126, 127):
            why = "the container could not be started: the image has no /bin/sh"
            return replace(found, end=End.NOT_STARTED, detail=why)
        self._notes.append("the record of its steps is gone; the container's exit code counts")
        if len(self._job.steps) > 1:
            return found
        step = self._job.steps[0]
        return replace(found, steps=(StepEnd(step.name, found.exit_code, step.is_build),))

    def _remove(self) -> None:
        """Removes the container with its volumes; what cannot be is found by label next time."""
        if not self._id:
            return
        for _ in range(2):
            try:
                self._client.remove_container(self._id, force=True, v=True)
            except NotFound:
                break
            except ANY as error:
                failure = one_line(error)
            else:
                break
        else:
            self._notes.append(f"the container is left for the next start to remove: {failure}")
        self._id = ""


def _is_busy(state: Mapping[str, Any]) -> bool:
    return bool(state.get("Running")) or state.get("Status") == "stopped"
