"""The script that starts an engine for the tests starts one of its own and ends no other."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "engine"


def call(word: str, folder: Path, host: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ARCVIEW_ENGINE_DIR": str(folder)}
    environment.pop("DOCKER_HOST", None)
    if host is not None:
        environment["DOCKER_HOST"] = host
    argv = [str(SCRIPT), word]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)


def is_running(pid: int) -> bool:
    """A process that ended and that nobody has asked for has no command line any more."""
    path = Path(f"/proc/{pid}/cmdline")
    return path.exists() and path.read_bytes() != b""


@pytest.fixture
def folder(engine_host: str) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root can start an engine")
    # The path of a socket is short by necessity.
    folder = Path(tempfile.mkdtemp(prefix="arcview-"))
    yield folder
    if (folder / "pid").exists():
        call("stop", folder)
    shutil.rmtree(folder, ignore_errors=True)


def test_an_engine_is_started_once_and_ended_without_a_trace(folder: Path) -> None:
    first, second = call("start", folder), call("start", folder)
    address = f"export DOCKER_HOST=unix://{folder}/docker.sock\n"
    assert first.stdout == f"export ARCVIEW_ENGINE_STARTED=1\n{address}"
    assert second.stdout == address
    pid = int((folder / "pid").read_text())
    call("stop", folder)
    assert not folder.exists()
    assert not is_running(pid)


def test_an_engine_that_answers_is_used_and_left_alone(folder: Path, engine_host: str) -> None:
    done = call("start", folder, engine_host)
    assert done.stdout == f"export DOCKER_HOST={engine_host}\n"
    assert not (folder / "pid").exists()


def test_a_process_that_only_has_the_number_is_not_ended(folder: Path) -> None:
    (folder / "pid").write_text(str(os.getpid()))
    call("stop", folder)
    assert not folder.exists()
