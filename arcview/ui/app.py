"""The way in: from a path to a running application and its exit code.

Imports Textual inside the function, after the collector is held: 10 ms of every start.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arcview.config import Settings


def run_app(
    path: Path,
    *,
    settings: Settings | None = None,
    layout: str | None = None,
    at: str | None = None,
) -> int:
    """Opens the screens on a run or on a folder of runs; returns the exit code.

    Args:
        path: A run, or a folder with runs below it.
        settings: The person's settings.
        layout: Id of the reader to use; recognised by content by default.
        at: An address in the run to go to.

    Raises:
        ArcviewError: there is no run, or it cannot be read.
    """
    # Importing makes objects that all stay: collecting meanwhile finds nothing.
    gc.disable()
    from arcview.session.opened import OpenRun
    from arcview.ui.application import ArcviewApp
    from arcview.ui.screens.run import RunScreen

    opened = OpenRun.open(path, layout=layout, settings=settings)
    app = ArcviewApp(RunScreen(opened), theme=settings.theme if settings else None)
    gc.freeze()
    gc.enable()
    app.run()
    return app.return_code or 0
