"""Finds a Docker-compatible engine: a URL, `DOCKER_HOST`, the Docker context, the usual sockets."""

from __future__ import annotations

import os
import socket as socketlib
from pathlib import Path

from docker import APIClient
from docker.context import ContextAPI
from docker.context.config import get_current_context_name
from docker.errors import DockerException
from requests.exceptions import RequestException

from arcview.gates.docker_engine.engine import DockerEngine
from arcview.gates.docker_engine.errors import one_line
from arcview.gates.docker_engine.ssh_socket import SshSocket
from arcview.gates.engines import is_url
from arcview.gates.errors import EngineUnavailableError

_SYSTEM_SOCKET = Path("/var/run/docker.sock")
_TIMEOUT_S = 20
_HELP = "start one, or name it by DOCKER_HOST or --engine"


def open_docker(url: str | None) -> DockerEngine:
    """Opens an engine.

    Args:
        url: `unix://`, `tcp://` or `ssh://`; looked for where it is not given.

    Raises:
        EngineUnavailableError: none answers; says what was tried.
    """
    endpoint, tls = (url, None) if url is not None else _found()
    if not is_url(endpoint):
        raise EngineUnavailableError(
            f"no container engine answers at {endpoint} (not a URL such as unix://…); {_HELP}"
        )
    socket = None
    try:
        base_url = endpoint
        if endpoint.startswith("ssh://"):
            socket = SshSocket(endpoint)
            base_url = socket.url
        _touch(base_url)
        client = APIClient(base_url=base_url, version="auto", timeout=_TIMEOUT_S, tls=tls or False)  # type: ignore[arg-type]
        return DockerEngine(endpoint, base_url, client, tls=tls, socket=socket)
    except (DockerException, RequestException, OSError, ValueError) as error:
        if socket is not None:
            socket.close()
        raise EngineUnavailableError(
            f"no container engine answers at {endpoint} ({one_line(error)}); {_HELP}"
        ) from None


def _touch(url: str) -> None:
    """Connects once, since the library leaves a socket open for each try that fails.

    Raises:
        OSError: nothing listens there, or it may not be entered.
    """
    if url.startswith("unix://"):
        with socketlib.socket(socketlib.AF_UNIX) as probe:
            probe.settimeout(_TIMEOUT_S)
            probe.connect(url.removeprefix("unix://"))


def _found() -> tuple[str, object | None]:
    """Where an engine is looked for, and what TLS it wants."""
    given = os.environ.get("DOCKER_HOST")
    if given:
        return given, _tls_of_environment()
    name = os.environ.get("DOCKER_CONTEXT") or get_current_context_name()
    if name != "default":
        return _of_context(str(name))
    for path in _sockets():
        if path.is_socket():
            return f"unix://{path}", None
    return f"unix://{_sockets()[0]}", None


def _of_context(name: str) -> tuple[str, object | None]:
    """Where the engine of a Docker context is: whoever chose one wants no other."""
    why = "there is none of that name"
    try:
        context = ContextAPI.get_context(name)
        if context is not None and context.Host:
            return str(context.Host), context.TLSConfig
    except (DockerException, OSError, ValueError, KeyError) as error:
        why = f"it cannot be read ({one_line(error)})"
    raise EngineUnavailableError(f"Docker context {name}: {why}; {_HELP}")


def _sockets() -> tuple[Path, ...]:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    own = (Path(runtime) / "docker.sock", Path(runtime) / "podman/podman.sock") if runtime else ()
    return (_SYSTEM_SOCKET, *own, Path("/run/podman/podman.sock"))


def _tls_of_environment() -> object | None:
    from docker.utils import kwargs_from_env

    try:
        return kwargs_from_env().get("tls")
    except (DockerException, OSError):
        place = os.environ.get("DOCKER_CERT_PATH") or Path.home() / ".docker"
        raise EngineUnavailableError(
            f"DOCKER_TLS_VERIFY asks for certificates, and they cannot be read from {place}"
        ) from None
