"""A run, an engine and a sidecar, and after each test: nothing of ours is left in the engine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import pytest

from arcview.gates.docker_engine.container import LABEL
from arcview.gates.owner import Owner
from arcview.gates.results import RerunResult
from arcview.session.opened import OpenRun
from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunOptions
from tests.gates.small_run import SmallRun

ROOT = Path(__file__).parents[2]


@dataclass
class Sitting:
    """One run with its reruns."""

    run: Path
    reruns: Reruns

    def once(self, state: str = "S1", **more: Any) -> RerunResult:
        """One fresh rerun of gate 1."""
        more.setdefault("again", True)
        return self.reruns.run("1", self.reruns.target(state), **more)[-1]

    def output(self, result: RerunResult) -> bytes:
        """What the gate printed."""
        return result.logs[0].read_bytes()


Sit = Callable[..., Sitting]


def content(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of a folder: its mode and its bytes."""
    return {
        str(path.relative_to(root)): (path.lstat().st_mode, path.read_bytes())
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def ours(client: docker.DockerClient, owner: str) -> list[str]:
    """The containers of one owner, running or not."""
    label = f"{LABEL}.owner={owner}"
    return [str(c.id) for c in client.containers.list(all=True, filters={"label": label})]


@pytest.fixture
def sit(engine_host: str, gate_image: Callable[[str], str], tmp_path: Path) -> Iterator[Sit]:
    """Makes a sitting on a small run; the run folder has to stay as it is."""
    made: list[tuple[Path, dict[str, tuple[int, bytes]], Reruns]] = []

    def begin(small: SmallRun, *, url: str = engine_host, **options: Any) -> Sitting:
        if small.image is None:
            small.image = {"ref": gate_image("python")}
        run = small.write(tmp_path / str(len(made)))
        asked = RerunOptions(engine=url, **options)
        reruns = Reruns(OpenRun.open(run), sidecar=tmp_path / "sidecar", options=asked)
        made.append((run, content(run), reruns))
        return Sitting(run, reruns)

    yield begin
    for run, before, reruns in made:
        reruns.close()
        assert content(run) == before
        assert not list(reruns.store.folder.glob(".new-*"))
    client = docker.DockerClient(base_url=engine_host, timeout=30)
    left = ours(client, Owner.current().text)
    client.close()
    assert not left


@dataclass
class OwnEngine:
    """An engine that a test may do anything to."""

    url: str
    folder: Path

    def pid(self) -> int:
        """The daemon's process."""
        return int((self.folder / "pid").read_text())

    def start(self) -> None:
        """Starts it, again where it was killed."""
        script = ROOT / ".ci" / "engine"
        environment = {k: v for k, v in os.environ.items() if k != "DOCKER_HOST"}
        environment["ARCVIEW_ENGINE_DIR"] = str(self.folder)
        subprocess.run([script, "start"], env=environment, check=True, capture_output=True)

    def stop(self) -> None:
        """Ends it with all its data."""
        script = ROOT / ".ci" / "engine"
        environment = {k: v for k, v in os.environ.items() if k != "DOCKER_HOST"}
        environment["ARCVIEW_ENGINE_DIR"] = str(self.folder)
        subprocess.run([script, "stop"], env=environment, check=False, capture_output=True)
        self._end_orphans()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end_orphans(self) -> None:
        """Ends what a daemon that was killed started, and no other could end."""
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                argv = entry.read_bytes().split(b"\0")
                if any(word.startswith(os.fsencode(self.folder)) for word in argv):
                    os.kill(int(entry.parent.name), signal.SIGKILL)


@pytest.fixture
def own_engine(engine_host: str, gate_image: Callable[[str], str]) -> Iterator[OwnEngine]:
    """A second engine with the Python image in it."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        if os.environ.get("ARCVIEW_REQUIRE_ENGINE") == "1":
            pytest.fail("the container tests are required: root and dockerd are needed")
        pytest.skip("an engine of a test's own needs root and dockerd")
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="arcview-own-", dir=memory if memory.is_dir() else None))
    engine = OwnEngine(f"unix://{folder}/docker.sock", folder)
    try:
        engine.start()
        there = docker.DockerClient(base_url=engine_host, timeout=120)
        here = docker.DockerClient(base_url=engine.url, timeout=120)
        image = there.images.get(gate_image("python"))
        here.images.load(b"".join(image.save(named=True)))
        there.close()
        here.close()
        yield engine
    finally:
        engine.stop()
