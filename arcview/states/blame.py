"""Which state last wrote each line of a file, over the ordered states of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    args = ["blame", "--porcelain", "-w", "-M", commit, "--", path]
    data = git.run(args, cancelled=cancelled)
    lines: list[BlameLine] = []
    paths: dict[str, str] = {}
    origin, number = "", 0
    for line in data.split(b"\n"):
        if line.startswith(b"\t"):
            lines.append(BlameLine(states[origin], paths[origin], number))
        elif line.startswith(b"filename "):
            paths[origin] = decode(unquote(line.removeprefix(b"filename ")).path)
        elif line[:40].decode("ascii", "replace") in states:
            origin = line[:40].decode("ascii")
            number = int(line.split(b" ")[1])
    return tuple(lines)
