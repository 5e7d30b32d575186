"""Fixtures shared by all tests: the real cases, a container engine, and our own sample run."""

from __future__ import annotations

import os
import shutil
import socket
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import docker
import pytest

ROOT = Path(__file__).parent.parent
SAMPLE = ("chains/notes-cli", "runs/scripted-demo/notes-cli", "runs/scripted-demo/notes-cli-2")
DEFAULT_ENGINE = "unix:///var/run/docker.sock"


@pytest.fixture(scope="session")
def cases() -> Path:
    folder = Path(os.environ.get("ARCVIEW_CASES", ROOT.parent / "shared" / "cases"))
    if not folder.is_dir():
        if os.environ.get("ARCVIEW_REQUIRE_CASES") == "1":
            pytest.fail(f"the real cases are required and not at {folder}")
        pytest.skip("real cases not found (set ARCVIEW_CASES)")
    return folder


@pytest.fixture(scope="session")
def scb(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    unpacked: dict[str, Path] = {}

    def unpack(name: str) -> Path:
        if name not in unpacked:
            target = tmp_path_factory.mktemp(name)
            with tarfile.open(cases / "scb" / f"{name}.tar.xz") as archive:
                archive.extractall(target, filter="data")
            unpacked[name] = target / name
        return unpacked[name]

    return unpack


@pytest.fixture(scope="session")
def engine_host() -> str:
    """The address of a container engine that answers."""
    host = os.environ.get("DOCKER_HOST", DEFAULT_ENGINE)
    try:
        # Where nobody listens, the client of docker leaves its socket open.
        if host.startswith("unix://"):
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(host.removeprefix("unix://"))
        client = docker.DockerClient(base_url=host, timeout=30)
    except (OSError, docker.errors.DockerException):
        _leave_out("no container engine answers (set DOCKER_HOST)")
    client.close()
    return host


@pytest.fixture(scope="session")
def gate_image(engine_host: str) -> Callable[[str], str]:
    """The name of the image of a language: `python`, `node`, `rust` or `go`."""

    def find(language: str) -> str:
        ref = f"arcview/gate-{language}:1"
        client = docker.DockerClient(base_url=engine_host, timeout=30)
        try:
            client.images.get(ref)
        except docker.errors.ImageNotFound:
            _leave_out(f"no image {ref} (make it with fixtures/images/build.sh)")
        finally:
            client.close()
        return ref

    return find


def _leave_out(reason: str) -> NoReturn:
    if os.environ.get("ARCVIEW_REQUIRE_ENGINE") == "1":
        pytest.fail(f"the container tests are required: {reason}")
    pytest.skip(reason)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "engine: needs a container engine that answers")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "engine_host" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.engine)


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample run, in a folder of runs that holds the two of the sample chain and no other."""
    fixtures = tmp_path_factory.mktemp("sample")
    for part in SAMPLE:
        shutil.copytree(ROOT / "fixtures" / part, fixtures / part)
    return fixtures / SAMPLE[1]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the user's own cache, settings or sidecar."""
    monkeypatch.setenv("ARCVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("ARCVIEW_SIDECAR", "ARCVIEW_ANNOTATOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says in one line for each reason how many tests were left out."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports)
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"left out: {count} tests: {reason}")
