"""Makes these pictures by opening the sample run in the program: `make screenshots`."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
SAMPLE = Path("fixtures/runs/scripted-demo/notes-cli")


@dataclass(frozen=True, slots=True)
class Picture:
    """A screen, reached by keys."""

    name: str
    keys: Sequence[str] = ()
    size: tuple[int, int] = (160, 46)


PICTURES = (
    Picture("run", ("3",)),
    Picture("gate", ("3", "z")),
    Picture("annotate", ("3", "a", "v", "0", "m")),
    Picture("narrow-light", ("3", "t"), size=(100, 40)),
)
# Pictures fetch nothing when somebody looks at them; without Fira Code any monospace font will do.
FONT_ADDRESS = re.compile(r',\s*url\("[^"]*"\) format\("[^"]*"\)')


async def take(picture: Picture) -> None:
    """Opens the sample run, presses the keys, and saves what is on the screen."""
    from arcview.session.opened import OpenRun
    from arcview.ui.application import ArcviewApp
    from arcview.ui.screens.run import RunScreen

    open_run = partial(OpenRun.open, SAMPLE)
    app = ArcviewApp(RunScreen(open_run(), open_run))
    async with app.run_test(size=picture.size) as pilot:
        for key in ("", *picture.keys):
            if key:
                await pilot.press(key)
            await app.workers.wait_for_complete()
            await pilot.pause()
        svg = FONT_ADDRESS.sub("", app.export_screenshot(title="arcview"))
        (HERE / f"{picture.name}.svg").write_text(svg, encoding="utf-8")


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
            asyncio.run(take(picture))


if __name__ == "__main__":
    main()
