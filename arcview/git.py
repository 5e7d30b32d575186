"""The only caller of the git program, hardened once: nothing of a workspace can run or alter bytes.

Knows nothing of runs and imports nothing of arcview but the errors.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from arcview.errors import CancelledError, GitError

MINIMUM_VERSION = (2, 38)
"""The first with `merge-tree --write-tree` and `cat-file -z`."""

BIG_FILE_BYTES = 32 << 20
"""Larger files are neither held in memory nor compared line by line: they count as binary."""

_POLL_SECONDS = 0.05

_GLOBAL_FLAGS = (
    "--no-pager",
    "--no-replace-objects",
    "--no-optional-locks",
    "--literal-pathspecs",
)

_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.autocrlf": "false",
    "core.eol": "lf",
    "core.safecrlf": "false",
    "core.fsmonitor": "false",
    "core.symlinks": "true",
    "core.fileMode": "true",
    # Nothing is ever checked out, so names that other file systems dislike may stay.
    "core.protectNTFS": "false",
    "core.protectHFS": "false",
    "core.bigFileThreshold": str(BIG_FILE_BYTES),
    "core.commitGraph": "false",
    "diff.renameLimit": "1000",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
}

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    # Wins over every protocol.<name>.allow that a foreign repository's own configuration may have.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}

NEUTRAL_ATTRIBUTES = (
    "* !text !eol !crlf !filter !ident !working-tree-encoding !diff !merge !whitespace "
    "!export-subst !export-ignore !conflict-marker-size !delta\n"
)
"""For `info/attributes`, the file that wins over every `.gitattributes` in a tree."""


@dataclass(frozen=True, slots=True)
class GitOutput:
    """What one call of git wrote."""

    stdout: bytes
    stderr: str
    code: int = 0


@dataclass(frozen=True, slots=True)
class Git:
    """Calls git on one bare repository of ours."""

    git_dir: Path

    def run(
        self,
        args: Sequence[str],
        *,
        stdin: bytes | None = None,
        index: Path | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> bytes:
        """Runs `git <args>` and returns what it wrote to its standard output.

        Args:
            args: Command and arguments; paths in them may hold surrogate-escaped bytes.
            stdin: What it reads; nothing by default.
            index: An index file to use for this call.
            cancelled: Asked about twenty times a second.

        Raises:
            GitError: git is missing, too old, or ends with an error.
            CancelledError: `cancelled` said so; git was ended.
        """
        return self.run_fully(args, stdin=stdin, index=index, cancelled=cancelled).stdout

    def run_fully(
        self,
        args: Sequence[str],
        *,
        stdin: bytes | None = None,
        index: Path | None = None,
        cancelled: Callable[[], bool] | None = None,
        fine: Collection[int] = (0,),
    ) -> GitOutput:
        """As `run`, with what git wrote to its standard error (warnings) beside it.

        Args:
            args: As for `run`, like the rest.
            stdin: As for `run`.
            index: As for `run`.
            cancelled: As for `run`.
            fine: Exit codes that are answers and no errors.
        """
        config = [part for name, value in _CONFIG.items() for part in ("-c", f"{name}={value}")]
        command = [_program(), f"--git-dir={self.git_dir}", *_GLOBAL_FLAGS, *config, *args]
        extra = {} if index is None else {"GIT_INDEX_FILE": str(index)}
        code, stdout, stderr = _call(command, self.git_dir, stdin, extra, cancelled)
        if code not in fine:
            raise GitError(f"git {args[0]} failed: {_first_line(stderr) or f'exit code {code}'}")
        return GitOutput(stdout, stderr.decode("utf-8", "replace"), code)


def _call(
    command: Sequence[str],
    folder: Path,
    stdin: bytes | None,
    extra: Mapping[str, str],
    cancelled: Callable[[], bool] | None,
) -> tuple[int, bytes, bytes]:
    with contextlib.ExitStack() as opened:
        try:
            process = subprocess.Popen(
                [os.fsencode(part) for part in command],
                stdin=subprocess.DEVNULL if stdin is None else opened.enter_context(_file(stdin)),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={**_inherited(), **_ENVIRONMENT, **extra},
            )
        except OSError as error:
            raise GitError(f"git cannot be run: {error.strerror}") from error
        opened.enter_context(process)
        stdout, stderr = _output(process, cancelled)
        return process.returncode, stdout, stderr


def _file(data: bytes) -> IO[bytes]:
    """A file to read from: what a pipe did not take before a time-out would be lost."""
    import tempfile  # 6 ms, and most calls read nothing

    file = tempfile.TemporaryFile()  # noqa: SIM115 -- the caller closes it
    file.write(data)
    file.seek(0)
    return file


def _output(
    process: subprocess.Popen[bytes], cancelled: Callable[[], bool] | None
) -> tuple[bytes, bytes]:
    while True:
        try:
            timeout_s = None if cancelled is None else _POLL_SECONDS
            return process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            if cancelled is not None and cancelled():
                process.kill()
                raise CancelledError("cancelled") from None


@functools.cache
def _program() -> str:
    """The absolute path of a git that is new enough; looked up and asked once per process."""
    path = shutil.which("git", path=_absolute_path())
    if path is None:
        raise GitError(f"git {_minimum()} or newer is needed for diffs and was not found")
    code, stdout, _ = _call([path, "--version"], Path(os.sep), None, {}, None)
    found = re.search(rb"(\d+)\.(\d+)[^\s]*", stdout)
    if code != 0 or found is None:
        raise GitError(f"{path} does not say which version of git it is")
    if (int(found[1]), int(found[2])) < MINIMUM_VERSION:
        version = found[0].decode("ascii", "replace")
        raise GitError(f"git {_minimum()} or newer is needed for diffs; {path} is {version}")
    return path


def _minimum() -> str:
    return ".".join(map(str, MINIMUM_VERSION))


def _absolute_path() -> str:
    """PATH without relative entries: a `git` lying in the current folder is never run."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if Path(entry).is_absolute())


def _inherited() -> dict[str, str]:
    """The caller's environment without anything that steers git."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "PATH": _absolute_path()}


def _first_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ").removeprefix("error: ") if lines else ""
