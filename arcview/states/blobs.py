"""Reads many blobs of the store with few git processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from arcview.git import Git

_BATCH = 256
"""Blobs asked for in one call: what one call returns is held in memory."""


def read_blobs(
    git: Git, blobs: Iterable[str], cancelled: Callable[[], bool] | None = None
) -> Iterator[bytes]:
    """The bytes of each blob, in the order asked for.

    Args:
        git: The store.
        blobs: Object ids; all must be in the store.
        cancelled: Asked while git works.

    Raises:
        GitError: git is missing, too old, or cannot read the store.
        CancelledError: `cancelled` said so.
    """
    pending = iter(blobs)
    while batch := list(islice(pending, _BATCH)):
        stdin = "\n".join([*batch, ""]).encode("ascii")
        data = git.run(["cat-file", "--batch"], stdin=stdin, cancelled=cancelled)
        at = 0
        for _ in batch:
            end = data.index(b"\n", at)
            size_bytes = int(data[at:end].rpartition(b" ")[2])
            yield data[end + 1 : end + 1 + size_bytes]
            at = end + 1 + size_bytes + 1
