"""Where arcview keeps what it adds to a run: never in the run folder itself.

Knows nothing of what is kept there; makes no folder.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from urllib.parse import quote

_LONGEST_NAME = 80


def sidecar_root(given: Path | None = None) -> Path:
    """The sidecar folder of all runs.

    Args:
        given: What a flag or setting names; else `ARCVIEW_SIDECAR`, else the user's data folder.
    """
    if given is not None:
        return given.absolute()
    own = os.environ.get("ARCVIEW_SIDECAR")
    if own:
        return Path(own).absolute()
    shared = os.environ.get("XDG_DATA_HOME", "")
    # The XDG rules say that a relative path is to be ignored.
    base = Path(shared) if Path(shared).is_absolute() else Path.home() / ".local" / "share"
    return base / "arcview" / "sidecar"


def run_sidecar(root: Path, run_id: str) -> Path:
    """The folder of one run below the sidecar: its id, made fit for a file name."""
    name = quote(run_id, safe=" ", errors="surrogatepass")
    if name.startswith("."):
        name = "%2E" + name[1:]
    if len(name) > _LONGEST_NAME or not name:
        digest = hashlib.sha256(run_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        name = f"{name[: _LONGEST_NAME - 17]}-{digest}"
    return root / name
