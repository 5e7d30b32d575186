"""Which state or step last wrote each line of a file, over the ordered states of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from arcview.git import Git
from arcview.states.patch_names import decode, unquote


@dataclass(frozen=True, slots=True)
class BlameLine:
    """Where one line of a file comes from."""

    state_id: str
    """The state that the line first stood in, blanks and moves within a file left aside."""
    original_path: str
    """The file's path in that state."""
    original_line: int
    """1-based line number in that state."""


def blame(
    git: Git,
    commit: str,
    path: str,
    states: Mapping[str, str],
    cancelled: Callable[[], bool] | None = None,
) -> tuple[BlameLine, ...]:
    """Blames every line of a file, in order.

    Args:
        git: The store.
        commit: The commit of the state whose file it is.
        path: The file.
        states: State ids by commit id.
        cancelled: Asked while git works.

    Raises:
        GitError: the file is not there, or git cannot do it.
        CancelledError: `cancelled` said so.
    """
    return tuple(
        BlameLine(states[origin], original_path, number)
        for origin, original_path, number in _blamed(git, commit, path, cancelled)
    )


def blame_steps(
    git: Git,
    commit: str,
    path: str,
    keys: Mapping[str, str | None],
    cancelled: Callable[[], bool] | None = None,
) -> tuple[str | None, ...]:
    """The key of the step that wrote each line of a file; null for what no step of `keys` wrote.

    Args:
        git: The store.
        commit: The commit of the last step.
        path: The file.
        keys: Step keys by commit id.
        cancelled: Asked while git works.

    Raises:
        GitError: the file is not there, or git cannot do it.
        CancelledError: `cancelled` said so.
    """
    return tuple(keys.get(origin) for origin, _, _ in _blamed(git, commit, path, cancelled))


def _blamed(
    git: Git, commit: str, path: str, cancelled: Callable[[], bool] | None
) -> Iterator[tuple[str, str, int]]:
    """Commit, path and 1-based line number there, of every line."""
    args = ["blame", "--porcelain", "-w", "-M", commit, "--", path]
    paths: dict[str, str] = {}
    origin, number, is_head = "", 0, True
    for line in git.run(args, cancelled=cancelled).split(b"\n"):
        if line.startswith(b"\t"):
            yield origin, paths[origin], number
            is_head = True
        elif is_head and line:
            commit_id, original, *_ = line.split(b" ")
            origin, number, is_head = commit_id.decode("ascii"), int(original), False
        elif line.startswith(b"filename "):
            paths[origin] = decode(unquote(line.removeprefix(b"filename ")).path)
