"""Images of an engine: the recorded one found or refused, and what is to be known of its inside."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

from docker import APIClient
from docker.errors import APIError, ImageNotFound, NotFound

from arcview.gates.collect import list_files, read_member
from arcview.gates.docker_engine.errors import one_line
from arcview.gates.engine import Image, Job
from arcview.gates.errors import ImageRefusedError

_ROOT = ("", "root", "0")


def find_image(
    client: APIClient, ref: str | None, digest: str | None, *, allow_other: bool, pull: bool
) -> Image:
    """The image to run in; by its digest where the run records one.

    Raises:
        ImageRefusedError: it is not there, or another image has its name.
    """
    if ref is None and digest is None:
        raise ImageRefusedError("chain.json names no image to run in (image.ref)")
    name = ref or str(digest)
    wanted = digest.rpartition("@")[2] if digest is not None else None
    for exact in _exact_names(ref, digest, wanted):
        found = inspect(client, exact)
        if found is not None and wanted is not None:
            return _image(name, found, wanted)
    found = inspect(client, name)
    if found is None and pull:
        _pull(client, _exact_names(ref, digest, wanted)[:1] or [name])
        return find_image(client, ref, digest, allow_other=allow_other, pull=False)
    if found is None:
        raise ImageRefusedError(f"image {name} is not on this engine (--pull fetches it)")
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
    user = config.get("User") if isinstance(config, dict) else None
    return Image(name, image_id, wanted or image_id, str(user) if user else None, notes)


def _pull(client: APIClient, names: list[str]) -> None:
    try:
        for line in client.pull(names[0], stream=True, decode=True):
            if "error" in line:
                raise ImageRefusedError(f"image {names[0]} cannot be pulled: {line['error']}")
    except APIError as error:
        raise ImageRefusedError(f"image {names[0]} cannot be pulled: {one_line(error)}") from None


def _short(digest: object) -> str:
    return f"{str(digest)[:19]}…"


@dataclass(frozen=True, slots=True)
class Inside:
    """What has to be known of an image before files go into its containers."""

    workdir: str
    """The workspace folder, links followed."""
    ids: tuple[int, int]
    """User and group that the commands run as."""
    is_root: bool
    files: frozenset[str] = frozenset()
    """What lies in the workspace folder; asked for only where the chain does not say it."""


class Insides:
    """Looks into images, once each; may be called from several threads."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str | None, bool], Inside] = {}
        self._lock = threading.Lock()

    def of(self, client: APIClient, container: str, job: Job) -> Inside:
        """The inside of a job's image, read from a container of it that was not started.

        Raises:
            DockerException: the engine says no.
        """
        user = job.user or job.image.user
        needs_files = job.tree.base is None
        key = (job.image.id, job.workdir, user, needs_files)
        with self._lock:
            if key not in self._known:
                self._known[key] = _look(client, container, job.workdir, user, needs_files)
            return self._known[key]


def _look(
    client: APIClient, container: str, workdir: str, user: str | None, needs_files: bool
) -> Inside:
    place = _link_target(client, container, workdir) or workdir
    files: frozenset[str] = frozenset()
    if needs_files:
        try:
            stream, _ = client.get_archive(container, place)
        except NotFound:
            pass
        else:
            files = list_files(stream)
    name, _, group = (user or "").partition(":")
    if name in _ROOT:
        return Inside(place, (0, 0), True, files)
    return Inside(place, _ids(client, container, name, group), False, files)


def _link_target(client: APIClient, container: str, path: str) -> str | None:
    try:
        stream, stat = client.get_archive(container, path)
    except NotFound:
        return None
    _close(stream)
    target = stat.get("linkTarget") if isinstance(stat, dict) else None
    return str(target) if target else None


def _close(stream: Iterator[bytes]) -> None:
    close = getattr(stream, "close", None)
    if close is not None:
        close()


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
    text = read_member(stream).decode("utf-8", "replace")
    rows = [line.split(":") for line in text.splitlines()]
    return [r for r in rows if len(r) >= 4 and r[2].isdecimal()]
