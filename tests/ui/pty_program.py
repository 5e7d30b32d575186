"""Shows hostile files in one pane on the terminal, pages through everything, and ends.

`python -m tests.ui.pty_program PANE FILE…`; run by `test_panes_on_terminal`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from textual.app import App, ComposeResult
from textual.widget import Widget

from arcview.text import decode
from arcview.ui import theme
from arcview.ui.rows.lines import ListRows
from arcview.ui.rows.steps_lines import Badge
from arcview.ui.rows.text_view_file import LogFile
from arcview.ui.safe import PlainStatic, notify_plain, plain
from arcview.ui.widgets.diff import DiffTree, DiffView
from arcview.ui.widgets.log import TextPane
from arcview.ui.widgets.row_view import RowView
from arcview.ui.widgets.steps import StepsView
from tests.ui.hostile import hostile_patches, hostile_trajectory


class Program(App[None]):
    """One pane with hostile content."""

    def __init__(self, pane: str, files: list[Path]) -> None:
        super().__init__()
        self._pane = pane
        self._files = files
        self._texts = [decode(path.read_bytes()).text for path in files]

    def compose(self) -> ComposeResult:
        for known in theme.THEMES:
            self.register_theme(known)
        self.theme = theme.DARK.name
        panes: dict[str, type[Widget]] = {
            "static": PlainStatic,
            "rows": RowView,
            "diff": DiffView,
            "split": DiffView,
            "tree": DiffTree,
            "steps": StepsView,
            "text": TextPane,
            "file": TextPane,
        }
        self._shown = panes[self._pane]()
        yield self._shown

    def on_mount(self) -> None:
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        pane = self._shown
        whole = "\n".join(self._texts)
        patches = {patch.change.path: patch for patch in hostile_patches(self._texts)}
        changes = [patch.change for patch in patches.values()]
        if isinstance(pane, PlainStatic):
            pane.show(whole)
            notify_plain(self, self._texts[0], title=self._texts[0])
        elif isinstance(pane, DiffView):
            pane.show(
                changes, lambda c: patches[c.path], lambda c: whole.encode("utf-8", "replace")
            )
            pane.set_mode("split" if self._pane == "split" else "unified")
            pane.set_origin(lambda path, line: self._texts[0])
        elif isinstance(pane, DiffTree):
            pane.show(changes)
        elif isinstance(pane, StepsView):
            badges = {f"s{n}": Badge(text) for n, text in enumerate(self._texts, 1)}
            pane.show(hostile_trajectory(self._texts), badges=badges)
            pane.action_open_all()
        elif isinstance(pane, TextPane) and self._pane == "file":
            file = LogFile(self._files[0])
            for counts in file.count_lines():
                file.extend(counts)
            pane.set_source(file)
        elif isinstance(pane, TextPane):
            pane.show_text(whole, numbered=True)
        elif isinstance(pane, RowView):
            pane.set_source(ListRows([plain(line) for line in whole.split("\n")]))
        self.run_worker(self._page_through(), exclusive=True)

    async def _page_through(self) -> None:
        """Draws every row, then the same shifted sideways and with a search."""
        pane = self._shown
        await self._drawn()
        if isinstance(pane, RowView):
            for search in ("", "e"):
                pane.move_to(0)
                pane.search(search)
                while pane.cursor < len(pane.source) - 1:
                    pane.action_page_down()
                    await self._drawn()
                pane.action_sideways_right()
                pane.action_sideways_right()
                await self._drawn()
        self.exit()

    async def _drawn(self) -> None:
        """Waits until what was loaded is on the screen."""
        for _ in range(2):
            drawn = asyncio.Event()
            self.call_after_refresh(drawn.set)
            await drawn.wait()
            loading = [worker for worker in self.workers if worker.group == "diff"]
            if loading:
                await self.workers.wait_for_complete(loading)


if __name__ == "__main__":
    app = Program(sys.argv[1], [Path(name) for name in sys.argv[2:]])
    app.run()
    sys.exit(app.return_code or 0)
