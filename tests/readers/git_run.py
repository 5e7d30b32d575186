"""Makes commits at chosen times, and plain tags, in a repository of a test."""

from __future__ import annotations

from pathlib import Path

from tests.readers.scb_run import write
from tests.states.workspaces import git

_START = 1_767_261_600
"""2026-01-01T10:00:00Z."""


def commit(folder: Path, subject: str, minute: int, **files: str) -> str:
    """Commits all files, that many minutes after ten; returns the id."""
    for name, text in files.items():
        write(folder / name, text)
    git(folder, "add", "-A")
    tree = git(folder, "write-tree").decode().strip()
    head = git(folder, "rev-parse", "--verify", "-q", "HEAD", exit_codes=(0, 1)).decode().strip()
    record = f"tree {tree}\n" + (f"parent {head}\n" if head else "")
    who = f"a <a@example.invalid> {_START + 60 * minute} +0000"
    record += f"author {who}\ncommitter {who}\n\n{subject}\n"
    made = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", stdin=record.encode())
    git(folder, "update-ref", "HEAD", made.decode().strip())
    return made.decode().strip()


def tag(folder: Path, name: str, commit_id: str) -> None:
    git(folder, "update-ref", f"refs/tags/{name}", commit_id)
