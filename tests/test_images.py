"""The images of the gates: both ways to make them agree, and what is made works offline."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

IMAGES = Path(__file__).parents[1] / "fixtures" / "images"
LANGUAGES = ("python", "node", "rust", "go")
OFFLINE = ("--network=none", "--user=1000", "--cap-drop=ALL", "--security-opt=no-new-privileges")
WORKS = {
    "python": "echo 'def test_it(): pass' >test_it.py && python -m pytest --report-log=log",
    "node": 'echo \'import {test} from "vitest"; test("it", () => {})\' >a.test.ts && vitest run',
    "rust": "cargo init -q --lib --vcs none --name it && cargo test -q && cargo nextest run",
    "go": "echo 'module it' >go.mod && printf 'package it\nimport \"testing\"\n"
    "func TestIt(t *testing.T) {}\n' >it_test.go && go test ./...",
}
"""What writes a test and runs it, by language."""


def dockerfile(language: str) -> str:
    return (IMAGES / language / "Dockerfile").read_text(encoding="utf-8")


def pinned(name: str) -> str:
    """The version of a wheel that build.sh takes."""
    found = re.search(
        rf"^{name}_WHEEL=\S+==(\S+)$", (IMAGES / "build.sh").read_text(), re.MULTILINE
    )
    assert found is not None, name
    return found[1]


def run(image: str, command: str) -> subprocess.CompletedProcess[str]:
    argv = ["docker", "run", "--rm", *OFFLINE, "--tmpfs=/tmp:exec,mode=1777", image]
    return subprocess.run([*argv, "sh", "-c", command], capture_output=True, text=True, check=False)


def test_both_ways_have_the_same_version_of_node() -> None:
    assert f"FROM node:{pinned('NODE').split('.')[0]}-" in dockerfile("node")


def test_both_ways_have_the_same_version_of_nextest() -> None:
    assert f"--version {pinned('NEXTEST')} cargo-nextest" in dockerfile("rust")


def test_both_ways_have_the_same_version_of_go() -> None:
    assert f"FROM golang:{pinned('GO').rpartition('.')[0]}-" in dockerfile("go")


def test_versions_from_pypi_and_npm_are_exact() -> None:
    lines = (IMAGES / "python" / "requirements.txt").read_text(encoding="utf-8").split()
    wanted = json.loads((IMAGES / "node" / "package.json").read_text(encoding="utf-8"))
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", line) for line in lines)
    assert all(re.fullmatch(r"[\d.]+", version) for version in wanted["dependencies"].values())


def test_no_mirror_is_named() -> None:
    for path in (*IMAGES.rglob("*"), IMAGES.parents[1] / ".ci" / "engine"):
        if path.is_file():
            assert "://" not in path.read_text(encoding="utf-8").replace("unix://", ""), path


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_image_runs_tests_offline_as_a_user_without_rights(
    language: str, gate_image: Callable[[str], str], engine_host: str
) -> None:
    done = run(gate_image(language), WORKS[language])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_image_has_the_tools_of_a_shell(
    language: str, gate_image: Callable[[str], str], engine_host: str
) -> None:
    done = run(gate_image(language), "printf 1 | awk '{ print }' && ps >/dev/null && bash -c id")
    assert done.returncode == 0, done.stderr


def test_images_that_are_there_are_not_made_again(
    gate_image: Callable[[str], str], engine_host: str, tmp_path: Path
) -> None:
    gate_image("python")
    argv = [str(IMAGES / "build.sh"), "python"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stderr.endswith("all are there\n")


def test_an_unknown_language_is_refused_in_one_line() -> None:
    argv = [str(IMAGES / "build.sh"), "cobol"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "no image for cobol; there are rust, go, node and python"
    )
