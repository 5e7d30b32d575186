"""Paths that may not be ours to read, and things that are no files: asked, opened, and in runs."""

from __future__ import annotations

import ast
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcview.errors import ArcviewError
from arcview.files import (
    exists,
    in_words,
    is_dir,
    is_file,
    open_file,
    read_file,
    read_text,
    why_unreadable,
)
from arcview.readers.check import check
from arcview.readers.registry import open_run
from arcview.session.library import scan
from arcview.session.opened import OpenRun
from arcview.session.stats import collect
from arcview.session.twin import show

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "arcview"

Deny = Callable[[Path], None]


@pytest.fixture
def deny(monkeypatch: pytest.MonkeyPatch) -> Deny:
    """Refuses all that is below a folder, as its mode does to everybody but root."""

    def refuse(folder: Path) -> None:
        top = os.path.realpath(folder)

        def guarded(function: Callable[..., Any], *, itself: bool) -> Callable[..., Any]:
            def call(path: Any, *args: Any, **kwargs: Any) -> Any:
                if isinstance(path, (str, bytes, os.PathLike)):
                    place = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 -- resolving asks
                    if place.startswith(top + "/") or (itself and place == top):
                        raise PermissionError(13, "Permission denied", place)
                return function(path, *args, **kwargs)

            return call

        for name in ("stat", "lstat", "open"):
            monkeypatch.setattr(os, name, guarded(getattr(os, name), itself=False))
        for name in ("scandir", "listdir"):
            monkeypatch.setattr(os, name, guarded(getattr(os, name), itself=True))
        monkeypatch.setattr(io, "open", guarded(io.open, itself=False))

    return refuse


def test_what_may_not_be_looked_at_is_neither_file_nor_folder_but_may_exist(
    tmp_path: Path, deny: Deny
) -> None:
    deny(tmp_path)
    place = tmp_path / "x"
    assert (is_file(place), is_dir(place), exists(place)) == (False, False, True)


def test_what_is_not_there_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    absent = ["x", "loop", "file/x", "x" * 5000, "a\0b"]
    assert not any(exists(tmp_path / name) for name in absent)


def test_an_unreadable_folder_says_why(tmp_path: Path, deny: Deny) -> None:
    deny(tmp_path)
    assert why_unreadable(tmp_path) == "cannot be read: Permission denied"


def test_a_readable_folder_and_a_readable_file_are_no_matter(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert (why_unreadable(tmp_path), why_unreadable(file)) == (None, None)


def test_a_named_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        open_file(tmp_path / "pipe")


def test_a_device_is_refused() -> None:
    with pytest.raises(OSError, match="not a regular file"):
        read_file(Path(os.devnull))


def test_a_folder_is_refused_as_a_folder(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_file(tmp_path)


@pytest.fixture
def native(tmp_path: Path, demo_run: Path) -> Path:
    run = tmp_path / "runs" / "agent" / "task"
    shutil.copytree(demo_run, run)
    shutil.copytree(ROOT / "fixtures" / "chains", tmp_path / "chains")
    return run


def said_of(run: Path, cache: Path) -> str:
    """The one line about a run that does not open; empty where it does."""
    try:
        show(OpenRun.open(run, cache_root=cache))
    except ArcviewError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("folder", ["stages", "stages/3", "stages/3/gate", "chain-gate"])
def test_a_native_run_opens_with_a_folder_that_may_not_be_entered(
    native: Path, tmp_path: Path, deny: Deny, folder: str
) -> None:
    deny(native / folder)
    opened = OpenRun.open(native, cache_root=tmp_path / "cache")
    told = [problem.what for problem in (*opened.problems, *check(native).faults)]
    assert len(opened.run.stages) == 4
    assert show(opened)["run_id"] == "scripted-demo-notes-cli-1"
    assert any("Permission denied" in what for what in told)


def test_an_unreadable_chain_is_not_called_missing(native: Path, deny: Deny) -> None:
    deny(native.parents[2] / "chains" / "notes-cli")
    problems = open_run(native).run.problems
    assert any("Permission denied" in problem.what for problem in problems)


def test_an_unreadable_run_is_one_line(native: Path, deny: Deny) -> None:
    deny(native)
    with pytest.raises(ArcviewError, match="Permission denied"):
        open_run(native)


@pytest.mark.parametrize("ask", [scan, collect])
def test_an_unreadable_folder_of_runs_is_not_called_empty(
    native: Path, deny: Deny, ask: Callable[[Path], object]
) -> None:
    deny(native.parents[1])
    with pytest.raises(ArcviewError, match="Permission denied"):
        ask(native.parents[1])


@pytest.mark.parametrize(
    "name",
    [
        "run.json",
        "workspace.bundle",
        "stages/1/gate/result.json",
        "stages/1/gate/tests.jsonl",
        "stages/1/gate/report.xml",
    ],
)
def test_a_named_pipe_in_a_native_run_is_not_waited_for(
    native: Path, tmp_path: Path, name: str
) -> None:
    (native / name).unlink()
    os.mkfifo(native / name)
    assert "\n" not in said_of(native, tmp_path / "cache")


@pytest.mark.parametrize(
    "name",
    [
        "problem.yaml",
        "checkpoint_1/checkpoint.yaml",
        "checkpoint_1/evaluation.json",
        "checkpoint_1/inference_result.json",
        "checkpoint_1/prompt.txt",
        "checkpoint_1/diff.json",
        "checkpoint_1/evaluation/report.json",
        "checkpoint_1/evaluation/stdout.txt",
        "checkpoint_1/agent/stdout.jsonl",
    ],
)
def test_a_named_pipe_in_a_benchmark_folder_is_not_waited_for(
    scb: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(scb("mvvault-interrupted"), run)
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name)
    assert "\n" not in said_of(run, tmp_path / "cache")


def test_nobody_asks_a_path_in_a_way_that_raises_or_waits() -> None:
    asked = {"is_file", "is_dir", "exists", "is_symlink"}
    found = []
    for part in ("readers", "states", "session", "cli", "ui"):
        for file in (ROOT / "arcview" / part).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                    continue
                plain = not node.args and not node.keywords
                reads = part == "readers" and node.func.attr == "read_bytes" and plain
                if (node.func.attr in asked and plain) or reads:
                    found.append(f"{file.relative_to(ROOT)}:{node.lineno}: {node.func.attr}")
    assert found == []


def test_a_text_of_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a regular file"):
        read_text(pipe)


def test_line_ends_of_a_text_are_unified_and_a_mark_of_byte_order_is_dropped(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\n")
    assert read_text(file, "utf-8-sig") == "a\nb\n"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied", "secret/path"), "Permission denied"),
        (UnicodeDecodeError("utf-8", b"ab\xff", 2, 3, "invalid"), "not utf-8 text (byte 2)"),
        (ValueError("embedded null byte"), "embedded null byte"),
        (OSError("cannot"), "cannot"),
    ],
)
def test_what_went_wrong_is_said_in_words(error: Exception, words: str) -> None:
    assert in_words(error) == words


def test_no_message_shows_the_number_of_a_system_error() -> None:
    raw = [
        f"{file.relative_to(PACKAGE)}:{handler.lineno}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for handler in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(handler, ast.ExceptHandler) and _catches_system_errors(handler)
        if _shows_as_it_is(handler)
    ]
    assert raw == []


def _catches_system_errors(handler: ast.ExceptHandler) -> bool:
    return handler.type is not None and "OSError" in {
        node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)
    }


def _shows_as_it_is(handler: ast.ExceptHandler) -> bool:
    return any(
        isinstance(node, ast.FormattedValue)
        and isinstance(node.value, ast.Name)
        and node.value.id == handler.name
        for node in ast.walk(handler)
    )
