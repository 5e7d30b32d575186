"""Images of an engine: the recorded one found or refused, and what is to be known of its inside."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass

from docker import APIClient
from docker.errors import APIError, ImageNotFound, NotFound

from arcview.gates.collect import list_files, read_member
from arcview.gates.docker_engine.errors import one_line
from arcview.gates.engine import Image, Job, OnPull
from arcview.gates.errors import ImageMissingError, ImageRefusedError


def find_image(
    client: APIClient,
    ref: str | None,
    digest: str | None,
    *,
    allow_other: bool,
    on_pull: OnPull | None,
) -> Image:
    """The image to run in; by its digest where the run records one.

    Raises:
        ImageMissingError: it is not there, and is not to be fetched.
        ImageRefusedError: it cannot be fetched, or another image has its name.
    """
    if ref is None and digest is None:
        raise ImageRefusedError("chain.json names no image to run in: add image.ref to it")
    name = ref or str(digest)
    wanted = digest.rpartition("@")[2] if digest is not None else None
    for exact in _exact_names(ref, digest, wanted):
        found = inspect(client, exact)
        if found is not None and wanted is not None:
            return _image(name, found, wanted)
    found = inspect(client, name)
    if found is None and on_pull is not None:
        _pull(client, next(iter(_exact_names(ref, digest, wanted)), name), on_pull)
        return find_image(client, ref, digest, allow_other=allow_other, on_pull=None)
    if found is None:
        raise ImageMissingError(f"image {name} is not on this engine (--pull fetches it)")
    if wanted is None or wanted in _digests(found):
        return _image(name, found, wanted)
    said = f"{name} on this engine is {_short(found['Id'])}, the run recorded {_short(wanted)}"
    if not allow_other:
        raise ImageRefusedError(f"{said}: another image (--allow-other-image runs in it)")
    return _image(name, found, None, (f"ran in another image: {said}",))


def _exact_names(ref: str | None, digest: str | None, wanted: str | None) -> list[str]:
    if digest is None or wanted is None:
        return []
    repository = digest.rpartition("@")[0] or _repository(ref)
    return [*([f"{repository}@{wanted}"] if repository else []), wanted]


def _repository(ref: str | None) -> str:
    name, _, tag = (ref or "").rpartition(":")
    return name if name and "/" not in tag else ref or ""


def inspect(client: APIClient, name: str) -> dict[str, object] | None:
    """What the engine knows of an image; null where it has none of that name."""
    try:
        found: dict[str, object] = client.inspect_image(name)  # type: ignore[no-untyped-call]
    except (ImageNotFound, NotFound):
        return None
    except APIError as error:
        if error.status_code == 400:  # no possible name
            return None
        raise
    return found


def _digests(found: dict[str, object]) -> set[str]:
    repo = found.get("RepoDigests")
    named = [str(d).rpartition("@")[2] for d in repo] if isinstance(repo, list) else []
    return {str(found["Id"]), *named}


def _image(
    name: str, found: dict[str, object], wanted: str | None, notes: tuple[str, ...] = ()
) -> Image:
    image_id = str(found["Id"])
    config = found.get("Config")
    config = config if isinstance(config, dict) else {}
    user = str(config["User"]) if config.get("User") else None
    has_volumes = bool(config.get("Volumes"))
    return Image(name, image_id, wanted or image_id, user, notes, has_volumes)


def _pull(client: APIClient, name: str, on_pull: OnPull) -> None:
    try:
        # Closed early, the engine stops fetching.
        with closing(client.pull(name, stream=True, decode=True)) as lines:
            for line in lines:
                if "error" in line:
                    raise ImageRefusedError(f"image {name} cannot be pulled: {line['error']}")
                on_pull(" ".join(str(line[key]) for key in ("id", "status") if line.get(key)))
    except APIError as error:
        raise ImageRefusedError(f"image {name} cannot be pulled: {one_line(error)}") from None


def _short(digest: object) -> str:
    return f"{str(digest)[:19]}…"


@dataclass(frozen=True, slots=True)
class Inside:
    """What has to be known of an image before files go into its containers."""

    workdir: str
    """The workspace folder, links followed."""
    ids: tuple[int, int]
    """User and group that the commands run as."""
    files: frozenset[str] = frozenset()
    """What lies in the workspace folder; asked for only where the chain does not say it."""


class Insides:
    """Looks into images, once each; may be called from several threads.

    Args:
        is_podman: The engine is Podman, whose volumes are empty until a container starts.
    """

    def __init__(self, *, is_podman: bool) -> None:
        self._is_podman = is_podman
        self._known: dict[tuple[str | None, ...], Inside] = {}
        self._lock = threading.Lock()

    def known(self, job: Job) -> Inside | None:
        """The inside of a job's image; null before the first look."""
        return self._known.get(_key(job))

    def look(self, client: APIClient, container: str, job: Job) -> Inside:
        """The inside of a job's image, read from a container of it that was not started.

        Raises:
            DockerException: the engine says no.
        """
        key = _key(job)
        with self._lock:
            if key not in self._known:
                if self._is_podman and job.image.has_volumes:
                    with _without_volumes(client, container, job) as other:
                        self._known[key] = _look(client, other, job)
                else:
                    self._known[key] = _look(client, container, job)
            return self._known[key]


@contextmanager
def _without_volumes(client: APIClient, container: str, job: Job) -> Iterator[str]:
    """A container that shows what the image has where its volumes will be."""
    settings = {
        "image": job.image.id,
        "image_volume_mode": "ignore",
        "command": ["true"],
        "labels": client.inspect_container(container)["Config"]["Labels"],
    }
    # Docker's own API, which Podman speaks as well, has no word for it.
    url = f"{client.base_url}/v4.0.0/libpod/containers/create"
    answer = client.post(url, json=settings, timeout=client.timeout)
    if not answer.ok:
        raise APIError(answer.text)
    other = str(answer.json()["Id"])
    try:
        yield other
    finally:
        client.remove_container(other, force=True)


def _key(job: Job) -> tuple[str | None, ...]:
    return job.image.id, job.workdir, job.user or job.image.user, job.base_tree


def is_root(user: str | None) -> bool:
    """Whether a user as images and gates name it (`name`, `1000:1000`) is root."""
    return (user or "").partition(":")[0] in ("", "root", "0")


def _look(client: APIClient, container: str, job: Job) -> Inside:
    user = job.user or job.image.user
    place = _link_target(client, container, job.workdir) or job.workdir
    files: frozenset[str] = frozenset()
    if job.tree.files.base is None:
        with suppress(NotFound):  # the image has no such folder
            stream, _ = client.get_archive(container, place)
            with closing(stream):
                files = list_files(stream)
    if is_root(user):
        return Inside(place, (0, 0), files)
    name, _, group = (user or "").partition(":")
    return Inside(place, _ids(client, container, name, group), files)


def _link_target(client: APIClient, container: str, path: str) -> str | None:
    """Where a path leads that is a link; null where it is none, or there is nothing."""
    # Of `get_archive` only the head: its body would be all that lies there.
    url = f"{client.base_url}/v{client.api_version}/containers/{container}/archive"
    answer = client.head(url, params={"path": path}, timeout=client.timeout)
    stat = answer.headers.get("X-Docker-Container-Path-Stat")
    if not answer.ok or stat is None:
        return None
    target = json.loads(base64.b64decode(stat)).get("linkTarget")
    return str(target) if target else None


def _ids(client: APIClient, container: str, name: str, group: str) -> tuple[int, int]:
    """Numbers of a user as the image's own files name them; its group is 0 where they do not."""
    users = _table(client, container, "/etc/passwd")
    row = next((r for r in users if name in (r[0], r[2])), None)
    uid = int(row[2]) if row is not None else int(name) if name.isdecimal() else 0
    gid = int(row[3]) if row is not None else 0
    if group.isdecimal():
        gid = int(group)
    elif group:
        groups = _table(client, container, "/etc/group")
        gid = next((int(r[2]) for r in groups if r[0] == group), gid)
    return uid, gid


def _table(client: APIClient, container: str, path: str) -> list[list[str]]:
    try:
        stream, _ = client.get_archive(container, path)
    except NotFound:
        return []
    with closing(stream):
        text = read_member(stream).decode("utf-8", "replace")
    rows = [line.split(":") for line in text.splitlines()]
    return [r for r in rows if len(r) >= 4 and r[2].isdecimal()]
