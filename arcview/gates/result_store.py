"""Reruns in the sidecar of a run: a folder an attempt, written whole or not at all, then fixed.

`<run sidecar>/reruns/<key>/<attempt>/`: result.json, tests.jsonl, log.txt, reports, origins. Must
not import an engine.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from arcview.errors import ArcviewError, BadInputError
from arcview.files import in_words, is_dir, is_file, read_file
from arcview.gates.owner import Owner
from arcview.gates.result_json import (
    problem_of,
    read_summary,
    read_tests,
    summary_bytes,
    tests_bytes,
)
from arcview.gates.results import RerunResult, ResultKey
from arcview.gates.tested_tree import FileOrigin, Origin
from arcview.model.problem import Problem

_STAGING = ".new-"
_SUMMARY = "result.json"
_TESTS = "tests.jsonl"
_ORIGINS = "origins.json.gz"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


class ResultStore:
    """The reruns of one run.

    Args:
        run_sidecar: The run's folder in the sidecar; nothing is made before something is stored.

    Attributes:
        problems: Stored results that are damaged and not used; grows as they are read.
    """

    def __init__(self, run_sidecar: Path) -> None:
        self.folder = run_sidecar / "reruns"
        self.problems: tuple[Problem, ...] = ()
        self._known: dict[Path, RerunResult] = {}
        self._digests: dict[Path, Mapping[str, str]] = {}

    def find(self, key: ResultKey) -> tuple[RerunResult, ...]:
        """The attempts of one key, oldest first."""
        return tuple(r for r in self._attempts(self.folder / key.name) if r.key == key)

    def find_any_image(self, gate_digest: str, tree: str) -> tuple[RerunResult, ...]:
        """The attempts of one gate on one tree, in whatever image, oldest first."""
        prefix = ResultKey(gate_digest, tree, "").prefix
        names = [name for name in self._keys() if name.startswith(f"{prefix}-")]
        found = [result for name in names for result in self._attempts(self.folder / name)]
        return tuple(sorted(found, key=lambda result: result.started))

    def all(self) -> tuple[RerunResult, ...]:
        """Every stored attempt."""
        return tuple(r for name in self._keys() for r in self._attempts(self.folder / name))

    def stage(self) -> Path:
        """A new folder for the files of an attempt that is under way.

        Raises:
            ArcviewError: the sidecar cannot be written.
        """
        path = self.folder / f"{_STAGING}{os.urandom(6).hex()}"
        try:
            path.mkdir(parents=True, mode=0o700)
            (path / "owner").write_text(Owner.current().text, encoding="utf-8")
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        return path

    def add(
        self, result: RerunResult, staged: Path, origins: Iterable[FileOrigin] = ()
    ) -> RerunResult:
        """Stores an attempt: the staged folder becomes its folder in one step.

        Args:
            result: The result; its attempt is numbered here.
            staged: What `stage` gave, with log.txt and reports in it.
            origins: Where each file of the tested tree came from.

        Raises:
            ArcviewError: the sidecar cannot be written.
        """
        try:
            (staged / "owner").unlink(missing_ok=True)
            (staged / _TESTS).write_bytes(tests_bytes(result.tests))
            _write_origins(staged / _ORIGINS, origins)
            files = {path.name: _sha256(path) for path in sorted(staged.iterdir())}
            key = self.folder / result.key.name
            key.mkdir(exist_ok=True, mode=0o700)
            while True:
                attempt = max(_taken(key), default=0) + 1
                (staged / _SUMMARY).write_bytes(summary_bytes(result, attempt, files))
                for path in staged.iterdir():
                    path.chmod(0o400)
                try:
                    staged.rename(key / str(attempt))
                except OSError:
                    if attempt not in _taken(key):
                        raise
                    (staged / _SUMMARY).chmod(0o600)  # another process was quicker
                    continue
                break
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        stored = self._read(key / str(attempt))
        if stored is None:
            raise ArcviewError(f"{key / str(attempt)}: was stored and cannot be read again")
        return stored

    def drop(self, staged: Path) -> None:
        """Removes the files of an attempt that is not stored."""
        shutil.rmtree(staged, ignore_errors=True)

    def reap(self) -> int:
        """Removes what a process that is gone had under way; says how many folders."""
        count = 0
        for path in self.folder.glob(f"{_STAGING}*") if is_dir(self.folder) else ():
            try:
                owner = Owner.parse((path / "owner").read_text(encoding="utf-8"))
            except OSError:
                continue
            if owner is not None and owner.is_gone():
                self.drop(path)
                count += 1
        return count

    def origins(self, result: RerunResult) -> tuple[FileOrigin, ...]:
        """Where each file of the tested tree came from.

        Raises:
            BadInputError: the file is damaged.
        """
        path = result.origins_file
        if path is None:
            return ()
        try:
            rows = json.loads(gzip.decompress(read_file(path)))
            return tuple(FileOrigin(name, Origin(origin), digest) for name, origin, digest in rows)
        except (OSError, ValueError, TypeError, EOFError) as error:
            raise BadInputError(str(path), f"cannot be read: {in_words(error)}") from error

    def changed(self, log: Path) -> str | None:
        """Why the log or a report of a stored attempt is not what was stored; null where it is.

        Reads the whole file: for a thread, and only where it is shown.
        """
        if self._read(log.parent) is None:
            return None
        try:
            if _sha256(log) == self._digests[log.parent].get(log.name):
                return None
        except OSError as error:
            return f"{log.name} cannot be read: {in_words(error)}"
        return f"{log.name} was changed since it was stored"

    def _keys(self) -> list[str]:
        return sorted(name for name in _names(self.folder) if not name.startswith("."))

    def _attempts(self, key: Path) -> tuple[RerunResult, ...]:
        found = (self._read(key / str(number)) for number in sorted(_numbers(key)))
        return tuple(result for result in found if result is not None)

    def _read(self, folder: Path) -> RerunResult | None:
        if folder in self._known:
            return self._known[folder]
        shown = f"reruns/{folder.parent.name}/{folder.name}/{_SUMMARY}"
        try:
            result, files = read_summary(_bytes(folder / _SUMMARY, shown), shown, folder)
            if (result.key.name, str(result.attempt)) != (folder.parent.name, folder.name):
                raise BadInputError(shown, "copied or moved from another place")
            tests = _bytes(folder / _TESTS, shown)
            if hashlib.sha256(tests).hexdigest() != files.get(_TESTS):
                raise BadInputError(shown, "tests.jsonl beside it was changed")
            result = replace(result, tests=read_tests(tests, shown))
        except BadInputError as error:
            self._note(problem_of(error))
            return None
        except (KeyError, ValueError, TypeError) as error:
            self._note(Problem(shown, f"not a stored rerun ({error}); not used"))
            return None
        self._known[folder], self._digests[folder] = result, files
        return result

    def _note(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems = (*self.problems, problem)


def _numbers(key: Path) -> list[int]:
    return [number for number in _taken(key) if is_file(key / str(number) / _SUMMARY)]


def _taken(key: Path) -> list[int]:
    """The numbers that are in use, whether or not their folders are whole."""
    return [int(name) for name in _names(key) if _NUMBER.fullmatch(name)]


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:  # what cannot be listed holds nothing that could be used
        return []


def _bytes(path: Path, shown: str) -> bytes:
    try:
        return read_file(path)
    except OSError as error:
        raise BadInputError(shown, f"cannot be read: {error.strerror}") from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_origins(path: Path, origins: Iterable[FileOrigin]) -> None:
    rows = [[o.path, o.origin.value, o.hash] for o in origins]
    if rows:
        # Level 1: 5,000 files take 8 ms.
        path.write_bytes(gzip.compress(json.dumps(rows).encode("ascii"), 1, mtime=0))


def _unwritable(folder: Path, error: OSError) -> ArcviewError:
    return ArcviewError(f"{folder}: the rerun cannot be stored: {error.strerror or error}")
