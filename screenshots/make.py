"""Makes these pictures by opening sample runs in the program: `make screenshots`.

The picture of a rerun needs a container engine; without one the old picture stays.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
SAMPLE = Path("fixtures/runs/scripted-demo/notes-cli")
IN_CONTAINERS = Path("fixtures/runs/scripted-demo/ledger-py")


@dataclass(frozen=True, slots=True)
class Picture:
    """A screen, reached by keys."""

    name: str
    keys: Sequence[str] = ()
    size: tuple[int, int] = (160, 46)
    run: Path = SAMPLE
    needs_engine: bool = False


PICTURES = (
    Picture("run", ("3",)),
    Picture("gate", ("3", "z")),
    Picture("rerun", ("2", "r", "+", "r"), (150, 34), IN_CONTAINERS, needs_engine=True),
    Picture("matrix", ("2", "number_sign"), (120, 30), IN_CONTAINERS),
    Picture("annotate", ("3", "a", "v", "0", "m")),
    Picture("narrow-light", ("3", "t"), size=(100, 40)),
)
# Pictures fetch nothing when somebody looks at them; without Fira Code any monospace font will do.
FONT_ADDRESS = re.compile(r',\s*url\("[^"]*"\) format\("[^"]*"\)')


async def take(picture: Picture) -> None:
    """Opens the run, presses the keys, and saves what is on the screen."""
    from arcview.session.opened import OpenRun
    from arcview.ui.application import ArcviewApp
    from arcview.ui.screens.run import RunScreen

    open_run = partial(OpenRun.open, picture.run)
    app = ArcviewApp(RunScreen(open_run(), open_run))
    async with app.run_test(size=picture.size) as pilot:
        for key in ("", *picture.keys):
            if key:
                await pilot.press(key)
            await app.workers.wait_for_complete()
            await pilot.pause()
        svg = FONT_ADDRESS.sub("", app.export_screenshot(title="arcview"))
        (HERE / f"{picture.name}.svg").write_text(svg, encoding="utf-8")


def has_engine() -> bool:
    """Whether a container engine answers."""
    from arcview.errors import ArcviewError
    from arcview.gates.engines import open_engine

    try:
        open_engine("auto").close()
    except ArcviewError as error:
        sys.stderr.write(f"no picture of a rerun: {error}\n")
        return False
    return True


def main() -> None:
    """Takes every picture, with a cache and labels of its own."""
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as labels:
        os.environ |= {
            "ARCVIEW_CACHE": cache,
            "ARCVIEW_SIDECAR": labels,
            "ARCVIEW_ANNOTATOR": "ann",
            "TEXTUAL_ANIMATIONS": "none",
        }
        for picture in PICTURES:
            if not picture.needs_engine or has_engine():
                asyncio.run(take(picture))


if __name__ == "__main__":
    main()
