"""The hardened call of git: nothing around it steers it, and its errors are one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arcview import git as arcview_git
from arcview.errors import CancelledError, GitError
from arcview.git import Git
from arcview.states.objects import ObjectStore


@pytest.fixture(autouse=True)
def _forget_program() -> Iterator[None]:
    arcview_git._program.cache_clear()
    yield
    arcview_git._program.cache_clear()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.git"
    ObjectStore(path).flush()
    return path


def script(folder: Path, text: str) -> Path:
    folder.mkdir()
    path = folder / "git"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
    path.chmod(0o755)
    return folder


def test_user_configuration_has_no_effect(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = hostile\n[alias]\n\tx = !touch owned\n")
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "config").write_text("[user]\n\tname = hostile\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "hostile")
    assert b"hostile" not in Git(store).run(["config", "--list", "--show-origin"])


def test_inherited_variables_do_not_move_git_elsewhere(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    oid = Git(store).run(["hash-object", "-w", "--stdin"], stdin=b"x").decode().strip()
    assert (store / "objects" / oid[:2] / oid[2:]).exists()


def test_failure_is_one_line(store: Path) -> None:
    with pytest.raises(GitError, match=r"^git cat-file failed: [^\n]+$"):
        Git(store).run(["cat-file", "blob", "1" * 40])


def test_missing_git_is_said_in_one_line(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match=r"^git 2\.38 or newer is needed for diffs and was not"):
        Git(store).run(["version"])


def test_old_git_is_said_in_one_line(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = script(tmp_path / "old", "echo git version 2.37.9")
    monkeypatch.setenv("PATH", str(old))
    with pytest.raises(GitError, match=r"git 2\.38 or newer is needed for diffs; .* is 2\.37\.9$"):
        Git(store).run(["version"])


def test_git_of_a_vendor_is_recognised(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor = script(tmp_path / "vendor", "echo 'git version 3.0.1 (Apple Git-200)'")
    monkeypatch.setenv("PATH", str(vendor))
    assert Git(store).run(["version"]) == b"git version 3.0.1 (Apple Git-200)\n"


def test_git_in_the_current_folder_is_never_run(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(script(tmp_path / "workspace", "echo git version 9.9.9"))
    monkeypatch.setenv("PATH", ".::relative")
    with pytest.raises(GitError, match="was not found"):
        Git(store).run(["version"])


def test_cancelling_ends_git(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = script(
        tmp_path / "slow",
        'for last; do :; done\n[ "$last" = --version ] && echo git version 2.40.0 && exit\n'
        "exec /bin/sleep 60",
    )
    monkeypatch.setenv("PATH", str(slow))
    with pytest.raises(CancelledError):
        Git(store).run(["log"], cancelled=lambda: True)


def test_large_input_and_output_pass_without_a_deadlock(store: Path) -> None:
    data = b"x" * (4 << 20)
    git = Git(store)
    oid = git.run(["hash-object", "-w", "--stdin"], stdin=data, cancelled=lambda: False)
    assert git.run(["cat-file", "blob", oid.decode().strip()], cancelled=lambda: False) == data


def test_input_that_takes_longer_than_a_look_for_cancelling_is_read_to_its_end(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arcview_git, "_POLL_SECONDS", 0.001)
    git, data = Git(store), b"x" * (4 << 20)
    args = ["hash-object", "--stdin"]
    patient = git.run(args, stdin=data)
    assert git.run(args, stdin=data, cancelled=lambda: False) == patient
