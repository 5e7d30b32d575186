"""Fixtures shared by all tests: the real cases, unpacked once, and our own sample run."""

from __future__ import annotations

import os
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


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
def demo_run() -> Path:
    return ROOT / "fixtures" / "runs" / "scripted-demo" / "notes-cli"


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
