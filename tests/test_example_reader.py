"""The reader that CONTRIBUTING.md shows works as it stands: one file plus one entry point."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "tests" / "data" / "example_reader"
MODULE = "chat_log_reader.py"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The example as an installer leaves it: its module beside what its metadata says."""
    metadata = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (tmp_path / MODULE).write_bytes((EXAMPLE / MODULE).read_bytes())
    info = tmp_path / f"{metadata['name'].replace('-', '_')}-{metadata['version']}.dist-info"
    info.mkdir()
    about = f"Metadata-Version: 2.1\nName: {metadata['name']}\nVersion: {metadata['version']}\n"
    (info / "METADATA").write_text(about, encoding="utf-8")
    lines = []
    for group, entries in metadata["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def run(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "arcview", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=EXAMPLE,
    )


@pytest.mark.parametrize("name", [MODULE, "pyproject.toml"])
def test_what_is_shown_is_what_runs(name: str) -> None:
    shown = re.findall(r"```\w+\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.S)
    assert (EXAMPLE / name).read_text(encoding="utf-8") in shown


def test_a_file_of_the_new_format_opens(installed: Path) -> None:
    done = run(installed, "show", "session.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    (stage,) = shown["stages"]
    assert (stage["steps"], stage["tool_calls"]) == (2, 2)
    assert shown["problems"] == [
        {"where": "session.jsonl: line 4", "what": "expected who and says"}
    ]


def test_the_new_format_is_detected_and_listed(installed: Path) -> None:
    detected = json.loads(run(installed, "detect", "session.jsonl", "--json").stdout)
    assert detected["content"]["id"] == "chat_log"
    assert detected["content"]["reason"] == "the first line says who"
    known = json.loads(run(installed, "formats", "--json").stdout)["formats"]
    assert ("trajectory", "chat_log", "chat_log_reader") in [
        (each["group"], each["id"], each["module"]) for each in known
    ]


def test_without_the_reader_nobody_knows_the_format(tmp_path: Path) -> None:
    done = run(tmp_path, "show", "session.jsonl")
    assert done.returncode == 2
    assert "not a trajectory, patch, test report or test log" in done.stderr


def test_a_run_of_the_new_format_can_be_imported(installed: Path, tmp_path: Path) -> None:
    done = run(installed, "import", "session.jsonl", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    imported = json.loads(run(installed, "show", str(tmp_path / "out"), "--json").stdout)
    assert imported["stages"][0]["steps"] == 2
