"""The gate pane: what failed and why first, what passed last. Pure rows over a gate view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from arcview.analysis.gate_view import FailingTest, GateView
from arcview.analysis.history import History
from arcview.model.results import GateTest, Group, GroupCounts, Outcome
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.figures import OUTCOME_GLYPH, duration, fit_end, fit_test_name
from arcview.ui.rows.gate_facts import gate_facts, skipped_words
from arcview.ui.rows.lines import Cell, RowSource
from arcview.ui.rows.notes import wrap_words
from arcview.ui.safe import one_line, pieces, plain

if TYPE_CHECKING:
    from arcview.analysis.signatures import SignatureGroup
    from arcview.ui.rows.rerun_note import RerunNote

HISTORY_WORD = {
    History.FIRST: "first",
    History.NEW: "new",
    History.BROKEN_AGAIN: "broken again",
    History.INHERITED: "inherited",
    History.UNKNOWN: "unknown",
}
GROUP_NAME = {Group.F2P: "F2P", Group.P2P: "P2P", Group.OTHER: "tests"}
_FOLDED_FROM = 6
"""A signature with this many tests starts folded: it is one cause, not so many rows."""


class GateRowKind(StrEnum):
    """What a row of the gate pane is."""

    FACT = "fact"
    SECTION = "section"
    SIGNATURE = "signature"
    TEST = "test"
    DETAIL = "detail"
    """A line of a test's failure below its name."""
    LOG = "log"
    """A raw log or report; `key[1]` is its path."""


class GateRow(NamedTuple):
    """One row, not drawn yet. A tuple: a dataclass costs every start 1 ms."""

    kind: GateRowKind
    text: str = ""
    style: str = ""
    key: tuple[str, ...] = ()
    """Names what is there, also after the rows have changed; of foldable rows, the fold."""
    test: GateTest | None = None
    failing: FailingTest | None = None
    """The test with its history, where it is expected and not ok."""
    depth: int = 0
    below: str = ""
    """Of a section: the file or class that all its tests share."""

    @property
    def history(self) -> History | None:
        """What earlier gates say of a failing test."""
        return self.failing.history if self.failing is not None else None


class GateRows(RowSource):
    """The rows of one gate; some fold. Contents are made when a row is drawn."""

    def __init__(
        self, view: GateView, *, failing_only: bool = False, with_details: bool = True
    ) -> None:
        """Makes the rows.

        Args:
            view: The gate.
            failing_only: Leaves out what passed.
            with_details: Says below each failing test what it says; `show_details` does so later.
        """
        self._view = view
        self._failing_only = failing_only
        self._with_details = with_details
        self._width = 80
        self._toggled: set[tuple[str, ...]] = set()
        self._rows: tuple[GateRow, ...] = ()
        self.in_cases: frozenset[str] = frozenset()
        """Ids of the tests that belong to a case of error propagation."""
        self._rerun: RerunNote | None = None
        words = (HISTORY_WORD[failing.history] for failing in view.failing)
        self._history_width = max(map(len, words), default=0) + 1
        self._rebuild()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def logs(self) -> tuple[str, ...]:
        """Raw logs and reports, relative to the run folder."""
        return self._view.logs

    @property
    def failing(self) -> tuple[GateTest, ...]:
        """The failing tests, in the order of the gate."""
        return tuple(failing.test for failing in self._view.failing)

    def at(self, index: int) -> GateRow:
        """What a row is."""
        return self._rows[index]

    def members(self, index: int) -> tuple[GateTest, ...]:
        """The tests that fail for the cause of a row; the test of any other row."""
        row = self._rows[index]
        if row.kind is not GateRowKind.SIGNATURE:
            return () if row.test is None else (row.test,)
        found = (one for one in self._view.groups if one.signature == row.key[2])
        return tuple(test for one in found for test in one.tests if test.group == row.key[1])

    def first_failing(self) -> int:
        """The row of the first failing test; unfolds what hides all of them; 0 without one."""
        for kind in (GateRowKind.TEST, GateRowKind.SIGNATURE):
            for number, row in enumerate(self._rows):
                if row.kind is kind and row.history:
                    if kind is GateRowKind.TEST:
                        return number
                    self.toggle(number)
                    return self.first_failing()
        return 0

    def row_of_test(self, test_id: str) -> int | None:
        """The row of a test by its id; unfolds what hides it."""
        for attempt in range(2):
            for number, row in enumerate(self._rows):
                if row.kind is GateRowKind.TEST and row.test and row.test.id == test_id:
                    return number
            if attempt == 0:
                self._toggled = {row.key for row in self._foldable() if not self._is_open(row)}
                self._rebuild()
        return None

    def toggle(self, index: int) -> bool:
        """Folds or unfolds what is at a row; false where nothing folds."""
        row = self._rows[index]
        if row.kind not in (GateRowKind.SECTION, GateRowKind.SIGNATURE):
            return False
        self._toggled ^= {row.key}
        self._rebuild()
        return True

    def show_failing_only(self, failing_only: bool) -> None:
        """Leaves out what passed, or shows it."""
        self._failing_only = failing_only
        self._rebuild()

    def set_rerun(self, note: RerunNote) -> None:
        """Says what the gate said when it was run again."""
        self._rerun = note
        self._rebuild()

    def show_details(self) -> None:
        """Says below each failing test what it says."""
        self._with_details = True
        self._rebuild()

    def anchor(self, index: int) -> object:
        """The key of the row."""
        return self._rows[index].key

    def locate(self, anchor: object) -> int:
        """The row with that key, or the nearest thing that holds it."""
        for number, row in enumerate(self._rows):
            if row.key == anchor:
                return number
        return 0

    def text(self, index: int, lane: int = 0) -> str:
        """A test's full id, or the line."""
        del lane
        row = self._rows[index]
        return row.test.id if row.kind is GateRowKind.TEST and row.test else row.text

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return self.cells(index, 80)[0].content

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """The name, and the history in a column of its own."""
        row = self._rows[index]
        content = self._draw(row, width)
        style = theme.HEADING_LINE if row.kind is GateRowKind.SECTION else ""
        if row.kind is not GateRowKind.TEST or row.history is None or width < 30:
            return (Cell(content, scrolls=True, style=style),)
        word = HISTORY_WORD[row.history]
        quiet = row.history in (History.INHERITED, History.UNKNOWN)
        room = self._history_width
        note = plain(word.rjust(room), theme.MUTED if quiet else theme.WARN)
        return (Cell(content, scrolls=True), Cell(note, width=room))

    def _draw(self, row: GateRow, width: int) -> Content:
        indent = "  " * row.depth
        match row.kind:
            case GateRowKind.SECTION | GateRowKind.SIGNATURE:
                fold = "▾" if self._is_open(row) else "▸"
                room = width - len(indent) - 4 - cells(row.text)
                below = f"  {fit_end(row.below, room)}" if row.below and room > 4 else ""
                return pieces((f"{indent}{fold} ", theme.MUTED), (row.text + below, row.style))
            case GateRowKind.TEST if row.test is not None:
                room = width - (self._history_width if row.history and width >= 30 else 0)
                in_case = row.test.id in self.in_cases
                rerun = self._rerun.marks.get(row.test.id) if self._rerun is not None else None
                return _draw_test(row.test, indent, row.text, room, in_case=in_case, rerun=rerun)
            case GateRowKind.LOG:
                return pieces(("log  ", theme.MUTED), (row.text, row.style))
            case _:
                return pieces(indent, (row.text, row.style))

    def _is_open(self, row: GateRow) -> bool:
        starts_open = row.style != theme.MUTED and not row.key[-1].startswith("many")
        return starts_open is not (row.key in self._toggled)

    def _foldable(self) -> list[GateRow]:
        kinds = (GateRowKind.SECTION, GateRowKind.SIGNATURE)
        return [row for row in self._rows if row.kind in kinds]

    def fit(self, width: int) -> bool:
        """Wraps what is said of the gate as a whole."""
        before, self._width = self._rows, width
        self._rebuild()
        return len(before) != len(self._rows)

    def _rebuild(self) -> None:
        self._rows = tuple(self._all_rows())

    def _all_rows(self) -> Iterator[GateRow]:
        reruns = self._rerun.facts if self._rerun is not None else ()
        for name, text, style in (*gate_facts(self._view.cell), *reruns):
            for number, line in enumerate(wrap_words(text, self._width)):
                yield GateRow(GateRowKind.FACT, line, style, ("fact", name, str(number)))
        for group in Group:
            yield from self._failing(group, skipped=False)
            yield from self._failing(group, skipped=True)
        yield from self._listed(
            "not expected, and not ok: no part of the verdict", self._view.other_not_ok, "extra"
        )
        if not self._failing_only:
            yield from self._listed("healed: not ok before, ok here", self._view.healed, "healed")
            for group in Group:
                passed = [test for test in self._view.passing if test.group is group]
                yield from self._listed(f"{GROUP_NAME[group]} passed", passed, f"passed-{group}")
            yield from self._listed("not expected, ok", self._view.extra_ok, "extra-ok")
        for path in self._view.logs:
            yield GateRow(GateRowKind.LOG, one_line(path), theme.INFO, ("log", path))

    def _failing(self, group: Group, *, skipped: bool) -> Iterator[GateRow]:
        """The tests of a group that are not ok; those that were skipped stand apart."""
        found = {
            t.test.id: t
            for t in self._view.failing
            if t.test.group is group and (t.test.outcome is Outcome.SKIPPED) is skipped
        }
        if not found:
            return
        counts = _counts(self._view, group)
        of = f" of {counts.expected}" if counts else ""
        prefix = _common_prefix(found)
        what = skipped_words(len(found)) if skipped else "failing"
        section = GateRow(
            GateRowKind.SECTION,
            f"{GROUP_NAME[group]} {what}  {len(found)}{of}",
            theme.HEADING,
            ("skipped" if skipped else "failing", group),
            below=one_line(prefix),
        )
        yield section
        if not self._is_open(section):
            return
        for signature in self._view.groups:
            members = [found[t.id] for t in signature.tests if t.group is group and t.id in found]
            if members:
                yield from self._signature(group, signature, members, prefix)

    def _signature(
        self, group: Group, signature: SignatureGroup, members: list[FailingTest], prefix: str
    ) -> Iterator[GateRow]:
        depth = 1
        if len(members) > 1:
            many = "many" if len(members) >= _FOLDED_FROM else "few"
            head = GateRow(
                GateRowKind.SIGNATURE,
                f"{len(members)}×  {one_line(signature.title)}",
                theme.FAIL,
                ("signature", group, signature.signature, many),
                failing=members[0],
                depth=1,
            )
            yield head
            if not self._is_open(head):
                return
            depth = 2
        details = [
            _details(member, signature, alone=depth == 1) if self._with_details else ()
            for member in members
        ]
        # What all tests of a cause say alike is said once.
        alike = depth == 2 and len(set(details)) == 1
        if alike:
            yield from _detail_rows(members[0], details[0], depth + 1)
        for member, lines in zip(members, details, strict=True):
            yield GateRow(
                GateRowKind.TEST,
                one_line(member.test.id.removeprefix(prefix)),
                key=("test", group, member.test.id),
                test=member.test,
                failing=member,
                depth=depth,
            )
            if not alike:
                yield from _detail_rows(member, lines, depth + 2)

    def _listed(self, title: str, tests: Sequence[GateTest], key: str) -> Iterator[GateRow]:
        if not tests:
            return
        prefix = _common_prefix(test.id for test in tests)
        doubted = sum(test.conflict is not None for test in tests)
        section = GateRow(
            GateRowKind.SECTION,
            f"{title}  {len(tests)}" + (f", {doubted} in doubt" if doubted else ""),
            theme.MUTED,
            ("listed", key),
            below=one_line(prefix),
        )
        yield section
        if self._is_open(section):
            for test in tests:
                test_key = ("test", key, test.group.value, test.id)
                name = one_line(test.id.removeprefix(prefix))
                yield GateRow(GateRowKind.TEST, name, key=test_key, test=test, depth=1)


def _common_prefix(ids: Iterable[str]) -> str:
    """The file or class that all tests share, up to and with its `::`; it is said only once."""
    prefixes = {id_[: id_.find("::") + 2] if "::" in id_ else "" for id_ in ids}
    return prefixes.pop() if len(prefixes) == 1 else ""


def _draw_test(
    test: GateTest, indent: str, name: str, room: int, *, in_case: bool, rerun: str | None
) -> Content:
    glyph, style = OUTCOME_GLYPH[test.outcome]
    notes = [] if test.outcome in (Outcome.PASSED, Outcome.FAILED) else [test.outcome.value]
    if rerun:
        notes.append(rerun)
    if test.reported:
        notes.append(f"reported as {test.reported}")
    if test.copies > 1:
        notes.append(f"reported {test.copies} times")
    if test.conflict:
        notes.append("in doubt")
    if test.extra:
        notes.append("not expected")
    if test.duration_s is not None and test.duration_s >= 1:
        notes.append(duration(test.duration_s))
    note = one_line(f"  {', '.join(notes)}") if notes else ""
    case = "◆ " if in_case else ""
    shown = fit_test_name(name, room - len(indent) - 2 - len(case) - cells(note))
    return pieces(indent, (f"{glyph} ", style), (case, theme.INFO), shown, (note, theme.MUTED))


def _details(member: FailingTest, signature: SignatureGroup, *, alone: bool) -> tuple[str, ...]:
    """Expected beside actual where the message has both, else the line that killed it."""
    from arcview.analysis.comparison import split_actual_expected  # needed only where one failed

    comparison = split_actual_expected(member.test)
    if comparison is not None:
        return (f"expected  {comparison.demand}", f"actual    {comparison.actual}")
    return (signature.title,) if alone else ()


def _detail_rows(member: FailingTest, lines: Iterable[str], depth: int) -> Iterator[GateRow]:
    test = member.test
    for number, line in enumerate(lines):
        yield GateRow(
            GateRowKind.DETAIL,
            one_line(line),
            theme.MUTED,
            ("detail", test.group, test.id, str(number)),
            test=test,
            failing=member,
            depth=depth,
        )


def _counts(view: GateView, group: Group) -> GroupCounts | None:
    cell = view.cell
    return {Group.F2P: cell.f2p, Group.P2P: cell.p2p, Group.OTHER: cell.other}[group]
