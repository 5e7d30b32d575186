"""What holds for the project as a whole: its imports, its documents, its packaging."""

from __future__ import annotations

import fnmatch
import platform
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from arcview.session.commands_help import key_table_markdown

ROOT = Path(__file__).parents[1]
HEAVY = {"textual", "rich", "docker", "pydantic", "yaml", "pygments", "tree_sitter", "unidiff"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = done.stdout.decode().rstrip("\0").split("\0")
    return [path for name in names if (path := ROOT / name).is_file()]


def modules_after(code: str) -> set[str]:
    """Top-level names of every module that some code loads in a fresh interpreter."""
    code += "\nimport sys; print(' '.join({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_the_cli_loads_nothing_heavy() -> None:
    assert modules_after("import arcview.cli") & HEAVY == set()


def test_a_run_opens_from_the_cache_without_pydantic(demo_run: Path, own_cache: Path) -> None:
    opening = f"""
from pathlib import Path
from arcview.session.opened import OpenRun
opened = OpenRun.open(Path({str(demo_run)!r}), cache_root=Path({str(own_cache)!r}))
opened.gate_view("2")
opened.self_tests(2)
"""
    modules_after(opening)
    assert "pydantic" not in modules_after(opening + "assert opened.from_cache")


def test_no_file_names_the_machine_it_was_made_on() -> None:
    names = {str(ROOT), sys.prefix, platform.node()} - {"", "localhost", "/usr", "/usr/local"}
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in tracked()
        for name in names
        if len(name) > 4 and name.encode() in path.read_bytes()
    ]
    assert found == []


def test_nothing_that_was_opened_or_kept_here_is_part_of_the_project() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in tracked()}
    assert not names & {"runs", "CACHEDIR.TAG", ".arcview"}


def test_no_file_names_a_package_registry() -> None:
    registry = re.compile(rb"index[-_]url\s*=|/simple/|files\.pythonhosted|registry\s*=\s*.?http")
    texts = (path for path in tracked() if path.suffix not in {".svg", ".bundle"})
    found = [path.name for path in texts if registry.search(path.read_bytes())]
    assert [name for name in found if name != Path(__file__).name] == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    every = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[<>=~!\[; ]", text)[0] for text in every}
    rows = re.findall(r"^\| ([^|]+) \|", read("CONTRIBUTING.md"), flags=re.MULTILINE)
    told = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert names - told == set()


def test_the_readme_shows_the_keys_that_there_are() -> None:
    shown = re.search(r"<!-- keys -->\n(.*?)\n<!-- /keys -->", read("README.md"), re.DOTALL)
    assert shown is not None
    assert shown[1].strip() == key_table_markdown().strip()


def readme_commands() -> list[str]:
    blocks = re.findall(r"^```(?:sh|console)?\n(.*?)^```", read("README.md"), re.DOTALL | re.M)
    lines = (line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines())
    return sorted({line.partition("  #")[0].strip() for line in lines if line})


@pytest.mark.parametrize("command", [c for c in readme_commands() if c.startswith("arcview ")])
def test_a_command_of_the_readme_exists(command: str) -> None:
    words = command.split()[1:]
    # Only the words up to the first path matter: help is printed before anything is opened.
    depth = 2 if words[0] == "annotate" else 1
    sub = [word for word in words[:depth] if word.isalpha() and word.islower()]
    done = subprocess.run(
        [sys.executable, "-m", "arcview", *sub, "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0
    options = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert {option for option in options if option not in done.stdout} == set()


def test_the_make_targets_of_the_readme_exist() -> None:
    asked = {c.split()[1] for c in readme_commands() if c.startswith("make ")}
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    assert asked - targets == set()


def test_every_picture_of_the_readme_is_there() -> None:
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", read("README.md"))
    assert pictures
    assert [name for name in pictures if not (ROOT / name).is_file()] == []


def test_what_is_not_python_is_packaged() -> None:
    globs = tomllib.loads(read("pyproject.toml"))["tool"]["setuptools"]["package-data"]["arcview"]
    package = ROOT / "arcview"
    others = [
        path.relative_to(package).as_posix()
        for path in tracked()
        if path.is_relative_to(package) and path.suffix != ".py"
    ]
    missing = [name for name in others if not any(fnmatch.fnmatch(name, glob) for glob in globs)]
    assert others
    assert missing == []


def test_every_hostile_diff_has_a_test(cases: Path) -> None:
    index = (cases / "hostile" / "INDEX.tsv").read_text(encoding="utf-8")
    names = re.findall(r"^diff/(d\d+_\w+)\.", index, re.MULTILINE)
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert names
    assert [name for name in names if name not in tests] == []
