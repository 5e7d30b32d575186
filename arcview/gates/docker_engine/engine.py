"""The engine behind Docker's API: which it is, its images, one container a job, the reaper."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from docker import APIClient
from docker.errors import APIError, NotFound

from arcview.gates.docker_engine.container import LABEL, GateContainer
from arcview.gates.docker_engine.errors import ANY, is_gone, one_line
from arcview.gates.docker_engine.images import Insides, find_image
from arcview.gates.docker_engine.limits import limits_of, notes_of
from arcview.gates.docker_engine.ssh_socket import SshSocket
from arcview.gates.docker_engine.stage_images import StageImages
from arcview.gates.engine import EngineInfo, Execution, Image, Job, OnPull, Phase
from arcview.gates.errors import EngineUnavailableError, ImageRefusedError
from arcview.gates.owner import Owner

_TIMEOUT_S = 120
"""For one answer; sending a large workspace is one call."""


class DockerEngine:
    """Runs jobs in containers; may be called from several threads.

    Args:
        endpoint: As the user names it.
        base_url: Where it is reached.
        client: A client of it.
        tls: What its clients need for TLS.
        socket: The forwarded socket of a remote engine.

    Raises:
        DockerException: it does not answer.
    """

    def __init__(
        self,
        endpoint: str,
        base_url: str,
        client: APIClient,
        *,
        tls: object | None = None,
        socket: SshSocket | None = None,
    ) -> None:
        self._base_url = base_url
        self._tls = tls
        self._socket = socket
        self._api = client.api_version
        self._stages = StageImages()
        # A client is for one thread.
        self._local = threading.local()
        self._clients: list[APIClient] = []
        self._local.client = client
        self._clients.append(client)
        said = client.info()
        self._host_cpus = int(said.get("NCPU") or 1)
        self._info = _info(endpoint, client.version(), said)
        self._insides = Insides(is_podman=self._info.kind == "podman")

    def info(self) -> EngineInfo:
        """Which engine it is, as it said when it was opened."""
        return self._info

    def image(
        self, ref: str | None, digest: str | None, *, allow_other: bool, on_pull: OnPull | None
    ) -> Image:
        """The image to run in.

        Raises:
            ImageMissingError: it is not there, and is not to be fetched.
            ImageRefusedError: it cannot be fetched, or is not the recorded one.
            EngineUnavailableError: the engine does not answer.
        """
        try:
            return find_image(self._client(), ref, digest, allow_other=allow_other, on_pull=on_pull)
        except APIError as error:
            raise ImageRefusedError(f"image {ref or digest}: {one_line(error)}") from None
        except ANY as error:
            raise self._unavailable(error) from None

    def execute(
        self,
        job: Job,
        on_output: Callable[[bytes], None],
        on_phase: Callable[[Phase], None],
        cancelled: Callable[[], bool],
    ) -> Execution:
        """Runs a job in a container of its own, which is gone afterwards."""
        container = GateContainer(
            self._client(),
            job,
            self._insides,
            self._stages,
            is_podman=self._info.kind == "podman",
            host_cpus=self._host_cpus,
        )
        return container.run(on_output, on_phase, cancelled)

    def reap(self) -> int:
        """Removes containers of an arcview that is gone, or that are past their time."""
        client = self._client()
        count = 0
        with suppress(*ANY):
            for found in client.containers(all=True, filters={"label": LABEL}):
                labels = found.get("Labels") or {}
                if _is_orphan(labels):
                    with suppress(NotFound):
                        client.remove_container(found["Id"], force=True, v=True)
                        count += 1
        return count

    def close(self) -> None:
        """Closes all connections."""
        for client in self._clients:
            client.close()
        if self._socket is not None:
            self._socket.close()

    def _client(self) -> APIClient:
        client: APIClient | None = getattr(self._local, "client", None)
        if client is None:
            try:
                client = APIClient(
                    base_url=self._base_url,
                    version=self._api,
                    timeout=_TIMEOUT_S,
                    tls=self._tls or False,  # type: ignore[arg-type]
                )
            except ANY as error:
                raise self._unavailable(error) from None
            self._local.client = client
            self._clients.append(client)
        client.timeout = _TIMEOUT_S
        return client

    def _unavailable(self, error: Exception) -> EngineUnavailableError:
        verb = "went away" if is_gone(error) else "says"
        return EngineUnavailableError(
            f"the engine at {self._info.endpoint} {verb}: {one_line(error)}"
        )


def _info(endpoint: str, version: Mapping[str, Any], info: Mapping[str, Any]) -> EngineInfo:
    names = [str(part.get("Name", "")) for part in version.get("Components") or ()]
    is_podman = any("podman" in name.lower() for name in names)
    enforced, ignored = limits_of(info)
    return EngineInfo(
        kind="podman" if is_podman else "docker",
        name="Podman" if is_podman else "Docker",
        version=str(version.get("Version", "")),
        endpoint=endpoint,
        limits_enforced=enforced,
        limits_ignored=ignored,
        notes=notes_of(info),
    )


def _is_orphan(labels: dict[str, str]) -> bool:
    owner = Owner.parse(labels.get(f"{LABEL}.owner", ""))
    if owner is not None and owner.is_gone():
        return True
    deadline = labels.get(f"{LABEL}.deadline", "")
    return deadline.isdecimal() and time.time() > int(deadline)
