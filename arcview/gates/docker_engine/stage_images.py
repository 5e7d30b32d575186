"""Images of states that are run on again and again: made once, used instead of sending files.

One of a state serves every gate on it; one of a gate on a state has the hidden files, too. Kept by
the engine, few at a time; the one that was not used for longest goes first.
"""

from __future__ import annotations

import hashlib
import threading
from contextlib import suppress

from docker import APIClient
from docker.errors import APIError, DockerException

from arcview.gates.docker_engine.images import Inside, inspect
from arcview.gates.engine import Job
from arcview.gates.tested_tree import Delivery

REPOSITORY = "arcview/stage"
KEPT = 16
USES = 3
"""The run of its kind at which an image is made."""


class StageImages:
    """The stage images of one engine; may be called from several threads."""

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}
        self._touched: set[str] = set()
        self._there: set[str] | None = None
        """What was there at the first look, and what was made since."""
        self._lock = threading.Lock()

    def find(self, client: APIClient, tag: str) -> str | None:
        """The image of that tag, which counts as used in this sitting; null where there is none."""
        name = f"{REPOSITORY}:{tag}"
        with self._lock:
            if self._there is None:
                self._there = set(_names(client))
        found = inspect(client, name) if name in self._there else None
        if found is None:
            return None
        if tag not in self._touched:
            self._touched.add(tag)
            with suppress(APIError):
                client.tag(name, REPOSITORY, tag)  # sets the time that `_evict` goes by
        return str(found["Id"])

    def wants(self, tag: str) -> bool:
        """Counts a run on a state; whether its image is worth making now."""
        with self._lock:
            self._uses[tag] = self._uses.get(tag, 0) + 1
            return self._uses[tag] == USES

    def keep(self, client: APIClient, container: str, tag: str) -> None:
        """Makes the image of a container that has the state's files and was not started."""
        with suppress(DockerException):
            client.commit(container, REPOSITORY, tag, pause=False)
            with self._lock:
                self._there = {*(self._there or ()), f"{REPOSITORY}:{tag}"}
            _evict(client)


def tags_of(job: Job, inside: Inside, delivery: Delivery, script: bytes) -> tuple[str, str]:
    """What the images of a state, and of a gate on it, are called: by what was put into them."""
    sent = "\n".join(f"{entry.path}\0{entry.mode}\0{entry.blob}" for entry in delivery.send)
    facts = (job.image.id, inside.workdir, str(inside.ids), sent, "\n".join(delivery.remove))
    state = hashlib.sha256("\0\0".join(facts).encode("utf-8", "surrogateescape"))
    whole = state.copy()
    for file in delivery.overlay:
        path = file.path.encode("utf-8", "surrogateescape")
        whole.update(b"\0\0%s\0%s" % (path, file.sha256.encode("ascii")))
    for plugin in job.plugins:
        whole.update(b"\0\0" + plugin.read_bytes())
    whole.update(b"\0\0" + script)
    return state.hexdigest()[:32], whole.hexdigest()[:32]


def _names(client: APIClient) -> list[str]:
    names = [str(name) for image in client.images(REPOSITORY) for name in image["RepoTags"] or ()]
    # Podman says from which registry an image would have come, had it come from one.
    return [name[name.index(REPOSITORY) :] for name in names if f"{REPOSITORY}:" in name]


def _evict(client: APIClient) -> None:
    names = _names(client)
    used = {name: _last_used(client, name) for name in names}
    for name in sorted(names, key=lambda n: used[n], reverse=True)[KEPT:]:
        with suppress(APIError):  # a container of another process may be running in it
            client.remove_image(name)


def _last_used(client: APIClient, name: str) -> str:
    found = inspect(client, name) or {}
    metadata = found.get("Metadata")
    tagged = metadata.get("LastTagTime") if isinstance(metadata, dict) else None
    return str(tagged or found.get("Created") or "")
