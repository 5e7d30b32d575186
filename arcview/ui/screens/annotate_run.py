"""Labelling from one run screen: notes places, opens cases, looks suggestions and evidence up.

Reading states and steps, and everything that rules look at, happens in threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from textual.app import App
from textual.message import Message
from textual.worker import get_current_worker

from arcview.analysis.suggestions import Suggestion
from arcview.errors import ArcviewError, BadInputError
from arcview.model.annotation import PointerState
from arcview.session.address import Address
from arcview.session.annotate import AnnotateSession, CaseChange
from arcview.session.annotate_marks import Role
from arcview.session.annotate_rows import check_evidence, shown_readings
from arcview.session.run_session_address import destination, parse_address
from arcview.session.run_session_stops import Stop
from arcview.ui.screens.annotate_labels import ask_name, labels_of
from arcview.ui.screens.annotate_places import ROLES, gate_where, ranged, role_index, under_cursor
from arcview.ui.screens.annotate_saving import PendingLabels, said_of
from arcview.ui.screens.base import say_on_top

if TYPE_CHECKING:
    from arcview.session.annotate_suggestions import SuggestionFinder
    from arcview.ui.screens.run import RunScreen


class AnnotationArrived(Message):
    """A thread is done with something about labels."""

    def __init__(self, put: Callable[[], None]) -> None:
        super().__init__()
        self.put = put
        """Shows it; called on the thread of the screen."""


class Work(Protocol):
    """The work list that a run was opened from."""

    def progress(self) -> str:
        """How far one is: `3/12 done`."""

    def done(self, annotate: RunAnnotate) -> None:
        """Something of the run was labelled."""

    def go_on(self, annotate: RunAnnotate) -> str:
        """To the next gate that is to be labelled; says where it stands, in one line."""


class RunAnnotate:
    """The labels of one run screen.

    Attributes:
        work: The work list that the run was opened from, if any.
        changed: Told when something arrived that the form shows.
        states: Address → whether it is still what it was.
        is_looking: For suggestions.
    """

    def __init__(self, screen: RunScreen) -> None:
        self.screen = screen
        self.work: Work | None = None
        self.changed: Callable[[], None] | None = None
        self.states: dict[str, PointerState] = {}
        self.is_looking = False
        self._session: AnnotateSession | None = None
        self._saving: PendingLabels | None = None
        self._unit: str | None = None
        self._begin: Address | None = None
        self._last: Address | None = None
        self._role = 0
        self._events = -1
        self._is_new = False
        self._is_busy = False
        self._suggested: dict[str, tuple[Suggestion, ...]] = {}
        self._finder: SuggestionFinder | None = None
        self._lock = Lock()

    @property
    def app(self) -> App[object]:
        """The program."""
        return self.screen.app

    @property
    def session(self) -> AnnotateSession:
        """The labels; only after `ready` called back."""
        assert self._session is not None
        return self._session

    @property
    def unit(self) -> str | None:
        """The failing gate that the case in hand is about."""
        case = self.session.case
        return case.unit if case is not None else self._unit

    # Making ready

    def ready(self, then: Callable[[], None]) -> None:
        """Calls back when one may label: the name is known and what was saved is read."""
        try:
            labels = labels_of(self.app)
        except ArcviewError as error:
            self.notice(str(error))
            return
        ask_name(self.app, labels, lambda: self._run("labels", partial(self._open, then)))

    def look(self) -> None:
        """Reads what was labelled before, without asking who one is."""
        self._run("labels", partial(self._open, self.screen.show_cases))

    def _open(self, then: Callable[[], None]) -> Callable[[], None]:
        labels = labels_of(self.app)
        with self._lock:
            session = self._session
            if session is None or session.annotator != labels.annotator:
                session = AnnotateSession.open(
                    self.screen.opened,
                    annotator=labels.annotator,
                    sidecar=labels.sidecar,
                    scheme=labels.scheme,
                )
        session.blind = labels.blind

        def put() -> None:
            if session is not self._session:
                self._session = session
                self._saving = PendingLabels(self.app, session, self._arrive, self._flushed)
                labels.stores.append(session.store)
            then()

        return put

    def _flushed(self, error: str | None) -> None:
        """What was pending is saved, or not yet."""
        self.notice("saved" if error is None else f"{error}; it is tried again")
        self._show()

    def close(self) -> None:
        """The screen goes: what is pending is saved."""
        if self._saving is not None:
            self._saving.start()

    def _arrive(self, put: Callable[[], None]) -> None:
        self.screen.post_message(AnnotationArrived(put))

    def _run(self, what: str, get: Callable[[], Callable[[], None]]) -> None:
        """Gets something in a thread and shows it on the screen's own."""

        def work() -> None:
            try:
                put = get()
            except ArcviewError as error:
                put = partial(self._failed, str(error))
            if not get_current_worker().is_cancelled:
                self._arrive(put)

        self.screen.run_worker(
            work, thread=True, exit_on_error=False, group=what, description=f"reading {what}"
        )

    def _failed(self, said: str) -> None:
        self.notice(said)
        self._show()

    def refresh(self) -> None:
        """Reads what others, and other windows, saved since."""
        try:
            self.session.refresh()
        except ArcviewError as error:
            self.notice(str(error))

    def notice(self, text: str) -> None:
        """One line on whatever screen is up."""
        say_on_top(self.app, text)

    def run_on_files(self, get: Callable[[], str], then: Callable[[str], None]) -> None:
        """Does something with files in a thread, and says in one line what came of it."""
        self._run("files", lambda: partial(then, get()))

    # Noting places

    def mark_under_cursor(self) -> None:
        """Notes what the focused pane's cursor is on."""
        self.mark(*under_cursor(self.screen))

    def mark(self, *places: Address | None) -> None:
        """Notes places: starts a case, or adds to the one in hand."""
        addresses = [place for place in places if place is not None]
        if not addresses:
            said = "what a replay shows is nothing recorded: p leaves it"
            replaying = self.screen.session.replaying
            self.notice(said if replaying else "there is nothing here that can be annotated")
            return
        addresses[0], self._begin = ranged(self._begin, addresses[0]), None
        self._mark(tuple(addresses), None)

    def begin_range(self, address: Address | None) -> None:
        """One end of a range; the next place that is noted in the same text is the other."""
        if address is None or (address.line is None and address.span is None):
            self.notice("a range begins at a line")
            return
        self._begin = address
        self.notice("the range begins here; a on its other end")

    def begin_range_under_cursor(self) -> None:
        """The same at the focused pane's cursor."""
        self.begin_range(next(iter(under_cursor(self.screen)), None))

    def next_role(self) -> None:
        """What was noted last becomes something else to the case."""
        if self._last is None or self._events != len(self.session.store.events()):
            self.notice("something was labelled since: note the place again")
            return
        roles = ROLES[self._last.pane]
        known = self._role % len(roles)
        undone = self.session.undo()
        if not undone.saved:
            self.notice(undone.notice)
            return
        self._role = known + 1
        self._mark((self._last,), roles[self._role % len(roles)])

    def new_case(self) -> None:
        """The next place that is noted begins another case."""
        self._is_new = True
        self.notice("the next place that is noted begins another case")

    def _mark(self, addresses: tuple[Address, ...], role: Role | None) -> None:
        if self._is_busy:
            self.notice("… still noting the last place")
            return
        self.notice("… noting it")

        def begin() -> None:
            self._is_busy = True
            self._run("places", partial(self._marking, addresses, role))

        self.ready(begin)

    def _marking(self, addresses: tuple[Address, ...], role: Role | None) -> Callable[[], None]:
        is_new = self._is_new
        try:
            with self._lock:
                for address in addresses:
                    change = self.session.mark(str(address), role, new=is_new)
                    is_new = False
        finally:
            self._is_busy = False
        return partial(self._marked, addresses[-1], role, change)

    def _marked(self, address: Address, role: Role | None, change: CaseChange) -> None:
        if change.saved:
            self._is_new = False
            self._last, self._events = address, len(self.session.store.events())
            if role is None:
                self._role = role_index(self.session, address)
        # What says that it is going on must not be met again when the form is closed.
        self.notice("")
        self.open_case()
        # A form that has just been opened has no line of keys yet.
        self.app.screen.call_after_refresh(self.say, change)

    def say(self, change: CaseChange) -> None:
        """What came of a key, and what follows from it elsewhere."""
        self.notice(said_of(change, self.session))
        if change.saved:
            self.screen.show_cases()
            if self.work is not None:
                self.work.done(self)

    def tests_in_cases(self, stop: Stop) -> frozenset[str]:
        """The tests of a gate that belong to cases, as far as those may be shown."""
        session, where = self._session, gate_where(stop)
        return frozenset(
            test
            for case in (session.visible_cases() if session is not None else ())
            for reading in shown_readings(self.session, case)
            if reading.is_labelled
            for effect in reading.effects
            if effect.gate == where
            for test in effect.tests
        )

    # Cases

    def open_case(self) -> None:
        """The form of the case in hand, beside the run."""
        from arcview.ui.screens.annotate_case import CaseScreen

        self.refresh()
        self.look_up()
        if isinstance(self.app.screen, CaseScreen):
            self.app.screen.show_case()
        else:
            self.app.push_screen(CaseScreen(self))

    def open_unit(self, unit: str) -> None:
        """The form of one's case about a failing gate, begun or not."""

        def begin() -> None:
            self._unit = unit
            self.session.choose_unit(unit)
            self.open_case()

        self.ready(begin)

    def open_cases(self) -> None:
        """All cases of the run."""
        from arcview.ui.screens.cases import CasesScreen

        def push() -> None:
            self.app.push_screen(CasesScreen(self))

        self.ready(push)

    def toggle_blind(self) -> None:
        """Hides what others and rules say, or shows it."""
        labels = labels_of(self.app)
        labels.blind = self.session.blind = not labels.blind
        self.look_up()
        self.screen.show_cases()
        self.notice(
            "blind: others' labels and suggestions stay hidden until your own are final"
            if labels.blind
            else "not blind: what others and rules say is shown"
        )

    # What takes longer

    def look_up(self) -> None:
        """Checks the evidence of the case in hand, and looks for suggestions about it."""
        unit, case = self.unit, self.session.case_id
        self._run("evidence", self._checking)
        if unit is None or self.session.hidden:
            return
        if unit in self._suggested:
            self.session.offer(self._suggested[unit], case)
        elif not self.is_looking:
            self.is_looking = True
            self._run("suggestions", partial(self._suggesting, unit))

    def _checking(self) -> Callable[[], None]:
        found = check_evidence(self.session)

        def put() -> None:
            self.states |= found
            self._show()

        return put

    def _suggesting(self, unit: str) -> Callable[[], None]:
        from arcview.session.annotate_suggestions import finder_for

        try:
            with self._lock:
                self._finder = self._finder or finder_for(self.session)
            found = self._finder.about(unit)
        finally:
            self.is_looking = False

        def put() -> None:
            self._suggested[unit] = found
            if unit == self.unit:
                self.session.offer(found)
            self._show()
            # Another case may have been taken in hand meanwhile.
            if self.unit not in (None, *self._suggested):
                self.look_up()

        return put

    def _show(self) -> None:
        if self.changed is not None:
            self.changed()

    # Going to a place

    def go_to(self, text: str, *, remember: bool = True) -> None:
        """Closes what is over the run and goes to an address in it; backspace returns."""
        screen = self.screen
        try:
            place = destination(parse_address(text), screen.session.stops)
        except BadInputError as error:
            self.notice(str(error))
            return
        screen.following().uncover()
        view = screen.rows_view
        row = (view.cursor if view is not None else 0) if remember else None
        screen.apply(screen.session.follow(place.target, row, place.stop))
        if place.spec or place.log or place.cell:
            screen.following().open.arrive(place)
