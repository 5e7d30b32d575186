"""Finds a Docker-compatible engine: `DOCKER_HOST`, the Docker context, the usual sockets, a URL."""

from __future__ import annotations

import os
from pathlib import Path

import docker
import requests
from docker.errors import DockerException

from arcview.files import in_words
from arcview.gates.engine import Engine
from arcview.gates.errors import EngineUnavailableError

_TIMEOUT_S = 60


def open_docker(url: str | None) -> Engine:
    """Opens an engine.

    Args:
        url: `unix://`, `tcp://` or `ssh://`; looked for where it is not given.

    Raises:
        EngineUnavailableError: none answers; says what was tried.
    """
    endpoint = url or os.environ.get("DOCKER_HOST") or _usual()
    try:
        client = docker.APIClient(base_url=endpoint, timeout=_TIMEOUT_S)
        client.close()
    except (DockerException, requests.exceptions.RequestException, OSError) as error:
        raise EngineUnavailableError(
            f"no container engine answers at {endpoint}: {in_words(error)}"
        ) from None
    raise EngineUnavailableError(f"{endpoint}: not supported yet")


def _usual() -> str:
    return next(
        (f"unix://{path}" for path in ("/var/run/docker.sock",) if Path(path).exists()),
        "unix:///var/run/docker.sock",
    )
