"""The cache folder: one folder per run, its size and age, and how it is kept within bounds.

Never removes anything but the run folders that arcview itself made below a root that it marked.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.errors import ArcviewError, CancelledError
from arcview.files import exists, is_file, is_symlink

if TYPE_CHECKING:
    from datetime import datetime

DEFAULT_LIMIT_BYTES = 2 << 30

_MARKER = "CACHEDIR.TAG"
_MARKER_TEXT = """Signature: 8a477f597d28d172789f06886806bc55
# Made by arcview (`arcview cache` shows and clears it); see https://bford.info/cachedir/
"""
_KEY = re.compile(r"[A-Za-z0-9_.-]+-[0-9a-f]{16}")
_DOOMED = re.compile(rf"\.{_KEY.pattern}\.[0-9a-f]{{12}}")
_META = "meta.json"
_IN_USE = "in-use.lock"
_INGEST = "ingest.lock"
_POLL_SECONDS = 0.05


def cache_root() -> Path:
    """The cache folder: `ARCVIEW_CACHE`, else below `XDG_CACHE_HOME`, else below `~/.cache`."""
    own = os.environ.get("ARCVIEW_CACHE")
    if own:
        return Path(own).absolute()
    shared = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules say that a relative path is to be ignored.
    base = Path(shared) if Path(shared).is_absolute() else Path.home() / ".cache"
    return base / "arcview"


@dataclass(frozen=True, slots=True)
class RunCache:
    """The cache folder of one run: `<root>/runs/<key>/`; evicted whole."""

    root: Path
    key: str
    run_path: str
    """The resolved run folder, for people who look at the cache."""

    @classmethod
    def for_run(cls, run_path: Path, root: Path | None = None) -> RunCache:
        """The cache of the run in that folder; nothing is made yet.

        Args:
            run_path: The run folder; links in it are resolved, so each run has one cache.
            root: The cache folder, `cache_root()` by default.
        """
        resolved = run_path.resolve()
        digest = hashlib.sha256(os.fsencode(resolved), usedforsecurity=False).hexdigest()
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", resolved.name).strip("-")[:40] or "run"
        return cls((root or cache_root()).absolute(), f"{name}-{digest[:16]}", str(resolved))

    @property
    def folder(self) -> Path:
        """Everything cached about the run."""
        return self.root / "runs" / self.key

    @property
    def states_git(self) -> Path:
        """The private object store of its states."""
        return self.folder / "states.git"

    @property
    def views(self) -> Path:
        """The folder of its cached views; made when it is asked for."""
        return self._made("views")

    @property
    def changes(self) -> Path:
        """The folder of its cached lists of changes; made when it is asked for."""
        return self._made("changes")

    def prepare(self) -> None:
        """Makes the folder.

        Raises:
            ArcviewError: it cannot be made.
        """
        meta = self.folder / _META
        if exists(meta):
            return
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not exists(self.root / _MARKER):
                (self.root / _MARKER).write_text(_MARKER_TEXT, encoding="ascii")
            for folder in (self.folder.parent, self.folder):
                folder.mkdir(exist_ok=True, mode=0o700)
            write_atomically(meta, json.dumps({"path": self.run_path}).encode("ascii"))
        except OSError as error:
            raise ArcviewError(
                f"{self.root}: cannot be used as the cache folder ({error.strerror}); "
                "set ARCVIEW_CACHE to another one"
            ) from error

    def touch(self) -> None:
        """Marks the run as opened now, which puts it last in the order of eviction."""
        self.prepare()
        os.utime(self.folder / _META)

    def hold(self) -> int:
        """Protects the folder from eviction by any process until the descriptor is closed."""
        while True:
            self.prepare()
            descriptor = _lock(self.folder / _IN_USE, fcntl.LOCK_SH)
            if descriptor is not None:
                return descriptor

    @contextlib.contextmanager
    def ingesting(self, cancelled: Callable[[], bool] | None = None) -> Iterator[None]:
        """Lets one process at a time build the states; others wait here.

        Raises:
            CancelledError: `cancelled` said so while waiting.
        """
        descriptor = None
        while descriptor is None:
            self.prepare()
            try:
                descriptor = _lock(self.folder / _INGEST, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if cancelled is not None and cancelled():
                    raise CancelledError("cancelled") from None
                time.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            os.close(descriptor)

    def _made(self, name: str) -> Path:
        self.prepare()
        path = self.folder / name
        path.mkdir(exist_ok=True, mode=0o700)
        return path


@dataclass(frozen=True, slots=True)
class RunUsage:
    """What the cache of one run takes up."""

    key: str
    path: str | None
    """The run folder; null where that is not readable any more."""
    size_bytes: int
    last_opened: datetime
    """In UTC."""


@dataclass(frozen=True, slots=True)
class CacheUsage:
    """What the whole cache takes up."""

    root: Path
    runs: tuple[RunUsage, ...]
    """Least recently opened first, which is the order of eviction."""
    total_bytes: int
    limit_bytes: int


def cache_usage(root: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> CacheUsage:
    """Adds up the cache below a root; an absent or foreign folder counts as empty."""
    runs = sorted(
        (_usage(folder) for folder in _run_folders(root)), key=lambda run: run.last_opened
    )
    return CacheUsage(root, tuple(runs), sum(run.size_bytes for run in runs), limit_bytes)


def clear(root: Path, run: Path | None = None) -> int:
    """Removes the cache of one run, or of all; what another arcview has open stays.

    Args:
        root: The cache folder.
        run: The run folder whose cache goes; all by default.

    Returns:
        The number of bytes set free.
    """
    only = None if run is None else RunCache.for_run(run, root).key
    return sum(
        _remove(root, used) for used in cache_usage(root).runs if only is None or used.key == only
    )


def enforce_limit(root: Path, limit_bytes: int, keep: str | None = None) -> int:
    """Removes caches, least recently opened first, until the rest is within the limit.

    Args:
        root: The cache folder.
        limit_bytes: What may stay.
        keep: Key of a run that stays in any case.

    Returns:
        The number of bytes set free.
    """
    usage = cache_usage(root, limit_bytes)
    excess = usage.total_bytes - limit_bytes
    freed = 0
    for run in usage.runs:
        if freed >= excess:
            break
        if run.key != keep:
            freed += _remove(root, run)
    return freed


def write_atomically(path: Path, data: bytes) -> None:
    """Writes a file so that a reader sees the old one or the new one, never a part."""
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _run_folders(root: Path) -> Iterator[Path]:
    try:
        if "arcview" not in (root / _MARKER).read_text(encoding="ascii"):
            return
        folders = sorted((root / "runs").iterdir())
    except (OSError, UnicodeDecodeError):
        return
    for folder in folders:
        if _KEY.fullmatch(folder.name) and not is_symlink(folder) and is_file(folder / _META):
            yield folder


def _usage(folder: Path) -> RunUsage:
    from datetime import UTC, datetime  # 4 ms that opening a run spares

    size_bytes = 0
    for where, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                facts = (Path(where) / name).lstat()
                # Many small files take up more than they hold.
                size_bytes += max(facts.st_size, facts.st_blocks * 512)
    path: str | None = None
    opened = 0.0
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        opened = (folder / _META).stat().st_mtime
        path = str(json.loads((folder / _META).read_bytes())["path"])
    return RunUsage(folder.name, path, size_bytes, datetime.fromtimestamp(opened, UTC))


def _remove(root: Path, run: RunUsage) -> int:
    folder = root / "runs" / run.key
    try:
        descriptor = _lock(folder / _IN_USE, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0
    if descriptor is None:
        return 0
    try:
        # Out of the way first: who opens the run meanwhile starts a folder of their own.
        folder.rename(folder.with_name(f".{run.key}.{os.urandom(6).hex()}"))
    finally:
        os.close(descriptor)
    _sweep(root)
    return run.size_bytes


def _sweep(root: Path) -> None:
    """Removes what was put out of the way, also by a process that did not get to the end."""
    import shutil  # 3 ms that opening a run spares

    for folder in (root / "runs").iterdir():
        if _DOOMED.fullmatch(folder.name) and not is_symlink(folder):
            # Another process may be sweeping too; what is left goes the next time.
            shutil.rmtree(folder, ignore_errors=True)


def _lock(path: Path, kind: int) -> int | None:
    """Opens and locks a file; null when its folder is or was just removed.

    Raises:
        BlockingIOError: `kind` has `LOCK_NB` and somebody else holds the lock.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, kind)
        if os.fstat(descriptor).st_ino == path.stat().st_ino:
            return descriptor
    except FileNotFoundError:
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None
