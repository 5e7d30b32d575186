"""Paths that stay inside a run folder: nothing else of a run may be opened. Imports no reader."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from arcview.errors import BadInputError

_STAYS = "it is not followed: paths stay inside the folder"


def inside(root: Path, relative: str) -> Path:
    """A path below `root`, whether or not there is something at it.

    Raises:
        BadInputError: it is absolute, has `..` in it, or a link on it leads out of `root`.
    """
    pure = PurePosixPath(relative)
    if not _can_be_a_name(relative):
        raise BadInputError(relative, "no file can be called that")
    if pure.is_absolute() or ".." in pure.parts:
        raise BadInputError(relative, f"the path leaves its folder; {_STAYS}")
    if _has_link(root, pure.parts) and not _stays(root, pure):
        raise BadInputError(relative, f"a link leads out of its folder; {_STAYS}")
    return root / pure


def _has_link(root: Path, parts: tuple[str, ...]) -> bool:
    """Whether one of the names is a link; three times as fast as resolving the whole path."""
    place = os.fspath(root)
    for part in parts:
        place = f"{place}/{part}"
        if os.path.islink(place):  # noqa: PTH114 -- a Path for each part costs more than the check
            return True
    return False


def _stays(root: Path, pure: PurePosixPath) -> bool:
    """Whether a path is below `root` once all links are followed."""
    real_root = os.path.realpath(root)
    real = os.path.realpath(root / pure)
    return real == real_root or real.startswith(real_root.rstrip("/") + "/")


def _can_be_a_name(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:  # a lone surrogate
        return False
