"""Opens the engine that was asked for; what an engine needs is imported only here."""

from __future__ import annotations

from arcview.gates.engine import Engine

_KINDS = ("unix://", "tcp://", "http://", "https://", "ssh://", "npipe://")


def is_url(address: str) -> bool:
    """Whether an engine could be at that address."""
    return address.startswith(_KINDS)


def open_engine(asked: str) -> Engine:
    """Opens an engine.

    Args:
        asked: `auto` (`DOCKER_HOST`, the Docker context, the usual sockets), `host`, or a URL
            (`unix://`, `tcp://`, `ssh://user@host:port`).

    Raises:
        EngineUnavailableError: none answers; says what was tried.
    """
    if asked == "host":
        from arcview.gates.host_engine import HostEngine

        return HostEngine()
    from arcview.gates.docker_engine import open_docker  # 150 ms, only for who runs containers

    return open_docker(None if asked == "auto" else asked)
