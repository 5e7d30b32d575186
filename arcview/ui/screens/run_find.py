"""The search through the whole run: its thread, its hits, and the way to each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import Worker, get_current_worker

from arcview.analysis.search import Hit, Pattern, PatternError, compile_pattern
from arcview.errors import BadInputError, CancelledError
from arcview.session.find import RunSearch
from arcview.session.run_session import Target
from arcview.session.run_session_address import destination, parse_address
from arcview.ui.rows.hits import HitRows
from arcview.ui.rows.lines import Needle
from arcview.ui.screens.base import say_on_top
from arcview.ui.screens.find import FindScreen

if TYPE_CHECKING:
    from arcview.ui.screens.run import RunScreen

_BATCH_S = 0.05


class HitsFound(Message):
    """Some more hits; the last message says that there are no more."""

    def __init__(
        self,
        search: int,
        hits: tuple[Hit, ...],
        counts: Mapping[str, int],
        left_out: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__()
        self.search = search
        """Which search they are of."""
        self.hits = hits
        self.counts = counts
        self.left_out = left_out
        """What was not searched; null while the search goes on."""


class RunFind:
    """What is being looked for in one run, and where it was found."""

    def __init__(self, screen: RunScreen) -> None:
        self._screen = screen
        self.text = ""
        self.is_regex = False
        self.is_running = False
        self.rows = HitRows()
        self.at = 0
        """The hit that was gone to last."""
        self.changed: Callable[[], None] | None = None
        """Told of more hits while they are on the screen."""
        self._needle: Needle | None = None
        self._number = 0
        self._worker: Worker[None] | None = None

    @property
    def has_hits(self) -> bool:
        """Whether there is a hit to go to."""
        return bool(self.rows.hits)

    def ask(self) -> None:
        """Opens the box and the hits."""
        self._screen.app.push_screen(FindScreen(self))

    def start(self, text: str, *, is_regex: bool) -> str | None:
        """Searches; a search that is under way ends. Returns why that cannot be."""
        self.cancel()
        self.text, self.is_regex = text, is_regex
        try:
            pattern = compile_pattern(text, regex=is_regex)
        except PatternError as error:
            return str(error)
        self.rows, self.at = HitRows(), 0
        self._needle = Needle(text, pattern.regex) if text else None
        if not text:
            return None
        self._number += 1
        self.is_running = True
        self._worker = self._screen.run_worker(
            partial(self._search, self._number, pattern),
            thread=True,
            exclusive=True,
            exit_on_error=False,
            group="find",
            description="searching",
        )
        return None

    def cancel(self) -> None:
        """Ends a search that is under way; what it found stays."""
        if self._worker is not None:
            self._worker.cancel()
        self._worker, self.is_running = None, False

    @property
    def needle(self) -> Needle | None:
        """What is marked in the lines."""
        return self._needle

    def _search(self, number: int, pattern: Pattern) -> None:
        worker = get_current_worker()
        search = RunSearch(
            self._screen.opened,
            pattern,
            first_stage=self._screen.session.stop.stage,
            cancelled=lambda: worker.is_cancelled,
        )
        batch: list[Hit] = []
        posted = 0.0

        def post(left_out: tuple[str, ...] | None = None) -> None:
            counts = Counter(search.hits)
            self._screen.post_message(HitsFound(number, tuple(batch), counts, left_out))
            batch.clear()

        try:
            for hit in search.run():
                batch.append(hit)
                if monotonic() - posted > _BATCH_S:
                    post()
                    posted = monotonic()
        except CancelledError:
            return
        post(tuple(search.left_out))

    def put(self, found: HitsFound) -> None:
        """Adds what was found."""
        if found.search != self._number:
            return
        self.rows.add(found.hits, found.counts)
        if found.left_out is not None:
            self.rows.end(found.left_out)
            self.is_running = False
        if self.changed is not None:
            self.changed()

    # Going to a hit

    def step(self, by: int) -> None:
        """To the next hit or the one before, round and round."""
        count = len(self.rows.hits)
        self.go_to((self.at + by) % count, remember=False)
        more = "+" if self.is_running else ""
        said = f"hit {self.at + 1:,} of {count:,}{more}: {self.text}"
        # A text that has just been opened has no line of keys yet.
        self._screen.app.screen.call_after_refresh(say_on_top, self._screen.app, said)

    def go_to(self, index: int, *, remember: bool = True) -> None:
        """Goes to a hit, in whatever pane or text it is."""
        self.at = index
        hit = self.rows.hits[index]
        screen = self._screen
        screen.following().uncover()
        try:
            place = destination(parse_address(hit.address), screen.session.stops)
        except BadInputError as error:
            screen.notice(str(error))
            return
        self._mark()
        view = screen.rows_view
        row = (view.cursor if view is not None else 0) if remember else None
        same = [h for h in self.rows.hits[:index] if h.address == hit.address]
        target = replace(place.target, match=len(same)) if hit.place.kind == "step" else None
        screen.apply(screen.session.follow(target or place.target, row, place.stop))
        self._open(hit, place.target, len(same))

    def _mark(self) -> None:
        screen = self._screen
        for view in (screen.content.gate, *((screen.long.diff, screen.long.steps)
                     if screen.long is not None else ())):  # fmt: skip
            view.mark(self._needle)

    def _open(self, hit: Hit, target: Target, nth: int) -> None:
        """Opens the text that the hit stands in, where no pane shows it."""
        follow = self._screen.following()
        part = hit.place.title.rpartition(" · ")[2]
        if hit.place.kind == "log":
            opened = follow.open.log("/".join(parse_address(hit.address).parts[1:]), hit.line)
        elif hit.place.kind == "spec":
            open_text = follow.open.contract if part == "contract" else follow.open.spec
            opened = open_text(hit.line)
        elif hit.place.kind == "gate" and part != "test" and target.test is not None:
            found = follow.open_test_under_cursor()
            if found is None or self._needle is None:
                return
            rows, opened = found
            row, start = None, 0
            for _ in range(nth + 1):
                row = next((r for r in rows.find(self._needle, start, 1) if r is not None), row)
                start = (row or 0) + 1
            opened.cursor = row or 0
        else:
            return
        if opened is not None:
            opened.view.mark(self._needle)
