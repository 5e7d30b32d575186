"""The labels of one run: append-only files in the sidecar, one per annotator and host.

Everybody's files are read and merged; only one's own is written. Nothing of the run is touched.
"""

from __future__ import annotations

import re
import socket
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock

from arcview.annotations.cases import case_from
from arcview.annotations.events import CaseEvent, EventKind, to_line
from arcview.annotations.log_file import (
    PATIENCE_S,
    BadLine,
    Conflict,
    HeldError,
    LogFile,
    StoreError,
)
from arcview.errors import ArcviewError
from arcview.files import is_file
from arcview.model.annotation import Case, SuggestedBy
from arcview.model.problem import Problem

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def checked_annotator(name: str | None) -> str:
    """The name of whoever labels, as they gave it.

    Raises:
        ArcviewError: none was given, or it is none that a file can be called by.
    """
    if not name:
        raise ArcviewError(
            "say who labels: --annotator NAME, ARCVIEW_ANNOTATOR, or annotator in the settings"
        )
    if not _NAME.fullmatch(name):
        raise ArcviewError(
            f"{name!r}: an annotator's name is up to 40 letters, digits, dots, dashes and "
            "underscores"
        )
    return name


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be saved; the store adds who, when and in which order."""

    case: str
    kind: EventKind
    values: dict[str, object]
    removed: tuple[str, ...] = ()
    unit: str | None = None
    of: str | None = None
    suggested_by: SuggestedBy | None = None
    scheme: str | None = None
    blind: bool = False
    by: str | None = None
    """Whose reading it belongs to, where that is not the one who writes (an import)."""
    imported: str | None = None
    id: str | None = None
    """Given where saving the same again must add nothing."""
    adopted_from: str | None = None
    """The annotator whose labels the values are."""


class AnnotationStore:
    """The labels of one run.

    Args:
        folder: Where the files of the run lie; made on the first save.
        run_id: The run; null reads whatever runs the files are about, and saves nothing.
        annotator: Whoever labels; null only reads.
        host: Name of this machine; asked for by default.
        run_hash: Of what the run says about itself, see `fingerprint`.
        clock: Gives the time of an event.

    Attributes:
        when_held: Told that events are kept in memory, since another program holds the file: they
            are saved by `flush`. Null waits for that program instead.
    """

    def __init__(
        self,
        folder: Path,
        run_id: str | None,
        annotator: str | None,
        *,
        host: str | None = None,
        run_hash: str | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.folder = folder
        self.run_id = run_id
        self.annotator = annotator
        self._run_hash = run_hash
        self._clock = clock or (lambda: datetime.now(UTC))
        self.when_held: Callable[[], None] | None = None
        self._pending: tuple[CaseEvent, ...] = ()
        self._guard = RLock()
        """Held for moments only: never while another program is waited for by `flush`."""
        self._logs: dict[Path, LogFile] = {}
        self._cases: dict[str, Case] | None = None
        self._by_case: dict[str, list[CaseEvent]] = {}
        self._own: LogFile | None = None
        if annotator is not None:
            machine = re.sub(r"[^A-Za-z0-9_-]+", "-", host or socket.gethostname()) or "host"
            name = f"{checked_annotator(annotator)}@{machine}.jsonl"
            self._own = self._log(folder / name)
        self.refresh()

    # Reading

    def refresh(self) -> bool:
        """Reads what this and other processes have added since; says whether there was anything.

        Raises:
            ArcviewError: a file is there and cannot be read.
        """
        try:
            # A named pipe would wait for ever.
            paths = sorted(path for path in self.folder.glob("*.jsonl") if is_file(path))
        except OSError as error:
            raise StoreError(f"{self.folder}: cannot be read: {error.strerror}") from error
        with self._guard:
            for path in (*paths, *self._logs):
                self._log(path)
            changed = [log.refresh() for log in self._logs.values()]
            if any(changed) or self._cases is None:
                self._sort()
        return any(changed)

    @property
    def cases(self) -> tuple[Case, ...]:
        """Every case of the run with all readings, in the order in which they were begun."""
        return tuple((self._cases or {}).values())

    def case(self, case_id: str) -> Case | None:
        """The case with that id, or null."""
        return (self._cases or {}).get(case_id)

    def events(self, case_id: str | None = None) -> tuple[CaseEvent, ...]:
        """All events, or those of one case, in the order in which they count."""
        if case_id is not None:
            return tuple(self._by_case.get(case_id, ()))
        return tuple(event for events in self._by_case.values() for event in events)

    @property
    def bad_lines(self) -> tuple[BadLine, ...]:
        """Torn and foreign lines of all files; they stay where they are."""
        return tuple(bad for log in self._logs.values() for bad in log.bad_lines)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Merge conflicts in all files, with both versions."""
        return tuple(found for log in self._logs.values() for found in log.conflicts)

    @property
    def read_only(self) -> str | None:
        """Why nothing can be saved now, or null."""
        if self._own is None:
            return "nobody is named as annotator (--annotator NAME)"
        if self._own.conflicts:
            return f"{self._own.path} has merge conflicts: keep both sides, delete the marks"
        return None

    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the files, one line each."""
        found = [
            Problem(f"{_name(bad.file)}: line {bad.number}", f"{bad.why}; kept and not used")
            for bad in self.bad_lines
        ]
        found += [
            Problem(
                f"{_name(one.file)}: line {one.line}",
                f"a merge conflict ({len(one.ours)} lines against {len(one.theirs)}): both sides "
                "are shown, the file is read-only until its marks are gone",
            )
            for one in self.conflicts
        ]
        hashes = {event.run_hash for event in self.events()} - {None, self._run_hash}
        if self._run_hash is not None and hashes:
            what = "some labels were made on a run of this id that recorded something else"
            found.append(Problem(str(self.run_id), what))
        return tuple(found)

    # Writing

    @property
    def pending(self) -> tuple[CaseEvent, ...]:
        """What was to be saved and no file has yet."""
        return self._pending

    def save(self, *drafts: Draft) -> tuple[CaseEvent, ...]:
        """Saves events, all or none; when it returns the disk has them, or they are pending.

        Raises:
            StoreError: nothing was saved, and why.
        """
        own = self._own
        if own is None or self.annotator is None or self.run_id is None:
            raise StoreError(f"not saved: {self.read_only}")
        with self._guard:
            # What others saved meanwhile comes before this.
            self.refresh()
            new = self._made(drafts, self.annotator, self.run_id)
            if new:
                self._keep(own, new)
                self._sort()
            return new

    def flush(self) -> None:
        """Saves what is pending, all or none; waits for a program that holds the file.

        Raises:
            StoreError: nothing was saved, and why; it stays pending.
        """
        if self._own is None:
            return
        with self._own.held() as held, self._guard:
            self._own.append(held, [to_line(event) for event in self._pending])
            self._pending = ()
            self._sort()

    def _keep(self, own: LogFile, events: tuple[CaseEvent, ...]) -> None:
        """Writes events to the file, or keeps them where that would mean waiting."""
        if not self._pending:
            try:
                with own.held(PATIENCE_S if self.when_held is None else 0) as held:
                    own.append(held, [to_line(event) for event in events])
                return
            except HeldError:
                if self.when_held is None:
                    raise
        self._pending += events
        if self.when_held is not None:
            self.when_held()

    def _made(self, drafts: Iterable[Draft], by: str, run_id: str) -> tuple[CaseEvent, ...]:
        known = self._known()
        order = 1 + max((event.order for event in known.values()), default=0)
        at = self._clock().astimezone(UTC).isoformat(timespec="milliseconds")
        events = [
            CaseEvent(
                draft.id or uuid.uuid4().hex[:16], order + place, at, draft.by or by,
                run_id, draft.case, draft.kind, draft.unit, draft.values, draft.removed,
                draft.of, draft.suggested_by, draft.scheme, draft.blind, draft.imported,
                self._run_hash, draft.adopted_from,
            )
            for place, draft in enumerate(drafts)
        ]  # fmt: skip
        return tuple(event for event in events if event.id not in known)

    def undo(self, is_blind: Callable[[str], bool] | None = None) -> CaseEvent | None:
        """Takes one's own last event back; null where there is none left.

        Args:
            is_blind: Says of a case whether others' labels are hidden now.
        """
        done, _ = self._stacks()
        return self._take_back(done[-1], is_blind) if done else None

    def redo(self, is_blind: Callable[[str], bool] | None = None) -> CaseEvent | None:
        """Does again what was taken back last; null where something was done since."""
        _, taken_back = self._stacks()
        return self._take_back(taken_back[-1], is_blind) if taken_back else None

    def undone_by(self, undo: CaseEvent) -> CaseEvent | None:
        """What an undo took back, or what an undo of an undo did again."""
        events = {event.id: event for event in self._by_case.get(undo.case, ())}
        found = events.get(undo.of or "")
        while found is not None and found.kind is EventKind.UNDO:
            found = events.get(found.of or "")
        return found

    def _take_back(self, event: CaseEvent, is_blind: Callable[[str], bool] | None) -> CaseEvent:
        blind = is_blind is not None and is_blind(event.case)
        draft = Draft(event.case, EventKind.UNDO, {}, unit=event.unit, of=event.id, blind=blind)
        return self.save(draft)[0]

    def _stacks(self) -> tuple[list[CaseEvent], list[CaseEvent]]:
        """One's own events that stand, and the undos that could be taken back, the latest last."""
        done: list[CaseEvent] = []
        taken_back: list[CaseEvent] = []
        for event in self._mine():
            if event.kind is not EventKind.UNDO:
                done.append(event)
                taken_back.clear()
            elif (undone := next((e for e in done if e.id == event.of), None)) is not None:
                done.remove(undone)
                taken_back.append(event)
            elif (again := next((e for e in taken_back if e.id == event.of), None)) is not None:
                taken_back.remove(again)
                done += [e for e in self._mine() if e.id == again.of]
        return done, taken_back

    def _mine(self) -> list[CaseEvent]:
        mine = [event for event in self.events() if event.by == self.annotator]
        return sorted(mine, key=_order)

    def _known(self) -> dict[str, CaseEvent]:
        saved = {event.id: event for log in self._logs.values() for event in log.events}
        return saved | {event.id: event for event in self._pending}

    def _log(self, path: Path) -> LogFile:
        if path not in self._logs:
            self._logs[path] = LogFile(path)
        return self._logs[path]

    def _sort(self) -> None:
        by_case: dict[str, list[CaseEvent]] = {}
        for event in sorted(self._known().values(), key=_order):
            if self.run_id in (None, event.run_id):
                by_case.setdefault(event.case, []).append(event)
        old, self._by_case = self._by_case, by_case
        kept = self._cases or {}
        self._cases = {
            name: kept[name] if name in kept and old.get(name) == events else case_from(events)
            for name, events in by_case.items()
        }


def _order(event: CaseEvent) -> tuple[int, str, str]:
    return event.order, event.at, event.id


def _name(file: str) -> str:
    return Path(file).name
