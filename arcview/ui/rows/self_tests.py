"""The self-test pane: what the agent tested itself, and the test files it wrote. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from arcview.analysis.self_tests import SelfTest
from arcview.model.patch import FileChange
from arcview.text import cells
from arcview.ui import theme
from arcview.ui.rows.figures import fit, fit_test_name, plural
from arcview.ui.rows.lines import Cell, WrappedRows
from arcview.ui.rows.notes import wrap_words
from arcview.ui.safe import one_line, pieces, plain

if TYPE_CHECKING:
    from arcview.model.results import GateTest
    from arcview.session.self_test_depth import SelfTestDepth
    from arcview.ui.rows.steps_lines import Badge

_RESULT_WIDTH = 14
_STEP_WIDTH = 6
_NARROW = 36
"""Columns below which counts take no more room than they need."""
_MOST_LINES = 4
"""Lines that a sentence takes in a narrow pane; a copy has all of it."""
_SHOWN_FAILURES = 6
"""More failures of the gate than that are folded away."""


class SelfTestRowKind(StrEnum):
    """What a row of the pane is."""

    FACT = "fact"
    SECTION = "section"
    RUN = "run"
    NOTE = "note"
    """What is to be known about the run above it."""
    FILE = "file"
    EXERCISED = "exercised"
    """A failing test of the gate, and whether a self-test exercised what it checks."""


class SelfTestRow(NamedTuple):
    """One row, not drawn yet. A tuple: a dataclass costs every start 1 ms."""

    kind: SelfTestRowKind
    text: str = ""
    style: str = ""
    key: str = ""
    test: SelfTest | None = None
    change: FileChange | None = None
    step: str | None = None
    """Key of a step that it leads to."""
    gate_test: GateTest | None = None
    section: str = ""
    """Key of the section that folds it away."""
    path: str = ""
    """A path at the end of the text; it is cut at its beginning."""
    line: str = ""
    """What is drawn of a sentence that takes several rows."""


def is_red(test: SelfTest) -> bool:
    """Whether the agent could see that something failed."""
    return test.outcome == "failed"


def summary(tests: Sequence[SelfTest]) -> str:
    """`7 runs, 2 red`; probes are apart, since they assert nothing."""
    runs = [test for test in tests if test.is_test]
    red = sum(map(is_red, runs))
    probes = len(tests) - len(runs)
    parts = [plural(len(runs), "run") if runs else "none"]
    parts += [f"{red} red"] if red else []
    parts += [plural(probes, "probe")] if probes else []
    return ", ".join(parts)


class SelfTestRows(WrappedRows):
    """Executions in their order, then probes and test files, which fold."""

    def __init__(
        self,
        tests: Sequence[SelfTest],
        files: Sequence[FileChange] | None,
        *,
        nothing: str = "The agent ran no test in this stage.",
    ) -> None:
        """Makes the rows.

        Args:
            tests: What was run, in the order of the steps.
            files: Test files that the stage changed; null while that is not known yet.
            nothing: What to say where there are no tests.
        """
        super().__init__(80)
        self._tests = tests
        self._files = files
        self._nothing = nothing
        self._depth: SelfTestDepth | None = None
        self._failing: Sequence[GateTest] = ()
        self._open = {"files", "late"}
        self._lay()

    def _lay(self) -> None:
        self._rows = tuple(
            drawn for row in self._all_rows() for drawn in _in_lines(row, self._width)
        )

    def __len__(self) -> int:
        return len(self._rows)

    def at(self, index: int) -> SelfTestRow:
        """What a row is."""
        return self._rows[index]

    def set_files(self, files: Sequence[FileChange]) -> None:
        """Tells which test files changed."""
        self._files = files
        self._lay()

    def set_depth(self, depth: SelfTestDepth, failing: Sequence[GateTest]) -> None:
        """Tells what the tests were worth.

        Args:
            depth: What was found out.
            failing: The failing tests of the gate, in the order of `depth.exercised`.
        """
        self._depth, self._failing = depth, failing
        if len(failing) <= _SHOWN_FAILURES:
            self._open.add("exercised")
        self._lay()

    def toggle(self, index: int) -> bool:
        """Folds or unfolds a section; false where nothing folds."""
        row = self._rows[index]
        if row.kind is not SelfTestRowKind.SECTION:
            return False
        self._open ^= {row.key}
        self._lay()
        return True

    def row_of_step(self, step_key: str) -> int | None:
        """The row of the first run in a step."""
        return next(
            (n for n, row in enumerate(self._rows) if row.test and row.test.step_key == step_key),
            None,
        )

    def anchor(self, index: int) -> object:
        """Kind and key of the row."""
        return self._rows[index].kind, self._rows[index].key

    def locate(self, anchor: object) -> int:
        """The row with that kind and key, or the first."""
        return next((n for n in range(len(self._rows)) if self.anchor(n) == anchor), 0)

    def text(self, index: int, lane: int = 0) -> str:
        """The command, the path or the line."""
        del lane
        row = self._rows[index]
        if row.kind is SelfTestRowKind.RUN and row.test is not None:
            return row.test.command
        if row.gate_test is not None:
            return row.gate_test.id
        return row.change.path if row.change is not None else row.text

    def row(self, index: int) -> Content:
        """The row without its columns."""
        return Content("").join([cell.content for cell in self.cells(index, 80)])

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """Step, command and result in columns."""
        row = self._rows[index]
        if row.kind is SelfTestRowKind.RUN and row.test is not None:
            return _run_cells(row.test, width)
        if row.kind is SelfTestRowKind.FILE and row.change is not None:
            return _file_cells(row.change, width)
        if row.kind is SelfTestRowKind.SECTION:
            fold = "▾" if row.key in self._open else "▸"
            content = pieces((f"{fold} ", theme.MUTED), (_heading(row.text, width - 2), row.style))
            return (Cell(content, scrolls=True, style=theme.HEADING_LINE),)
        if row.gate_test is not None:
            name = fit_test_name(one_line(row.gate_test.id), width - 13)
            return (Cell(pieces((f"  {row.text:<8} ", row.style), ("✗ ", theme.FAIL), name)),)
        if row.path:
            return _path_cells(row, width)
        return (Cell(plain(row.line, row.style), scrolls=True),)

    def _earlier(self) -> dict[str, str]:
        if self._depth is None or len(self._depth.earlier_stages) != len(self._tests):
            return {}
        from arcview.ui.rows.self_test_depth import earlier_note

        pairs = zip(self._tests, self._depth.earlier_stages, strict=True)
        return {_key(test): earlier_note(stages) for test, stages in pairs}

    def _worth(self, *, has_tests: bool) -> Iterator[SelfTestRow]:
        if self._depth is None:
            return
        from arcview.ui.rows.self_test_depth import depth_rows

        for row in depth_rows(self._depth, self._failing, has_tests=has_tests):
            if not row.section or row.section in self._open:
                yield row

    def _all_rows(self) -> Iterator[SelfTestRow]:
        runs = [test for test in self._tests if test.is_test]
        probes = [test for test in self._tests if not test.is_test]
        if not runs:
            yield SelfTestRow(SelfTestRowKind.FACT, self._nothing, theme.MUTED, "nothing")
        earlier = self._earlier()
        for test in runs:
            yield from _run_rows(test)
            if note := earlier.get(_key(test)):
                text = f"{' ' * _STEP_WIDTH}{note}"
                key = f"{_key(test)} earlier"
                yield SelfTestRow(SelfTestRowKind.NOTE, text, theme.MUTED, key, test)
        yield from self._worth(has_tests=bool(runs))
        if self._files:
            title = f"Test files changed  {len(self._files)}"
            yield SelfTestRow(SelfTestRowKind.SECTION, title, theme.HEADING, "files")
            if "files" in self._open:
                for change in self._files:
                    yield SelfTestRow(SelfTestRowKind.FILE, key=change.path, change=change)
        elif self._files is not None:
            text = "No test file changed in this stage."
            yield SelfTestRow(SelfTestRowKind.FACT, text, theme.MUTED, "no-files")
        if probes:
            title = f"Probes: they print, they do not assert  {len(probes)}"
            yield SelfTestRow(SelfTestRowKind.SECTION, title, theme.MUTED, "probes")
            if "probes" in self._open:
                for test in probes:
                    yield SelfTestRow(SelfTestRowKind.RUN, key=_key(test), test=test)


def _in_lines(row: SelfTestRow, width: int) -> Iterator[SelfTestRow]:
    """A sentence in as many rows as it takes; anything else in one."""
    if row.kind not in (SelfTestRowKind.FACT, SelfTestRowKind.NOTE) or row.path:
        yield row
        return
    text = row.text.lstrip(" ")
    indent = " " * min(len(row.text) - len(text), max(0, width // 3))
    room = width - len(indent)
    lines = wrap_words(text, room)
    if len(lines) > _MOST_LINES:
        rest = " ".join(lines[_MOST_LINES - 1 :])
        lines = [*lines[: _MOST_LINES - 1], fit(rest, room)]
    yield from (row._replace(line=f"{indent}{line}") for line in lines)


def _heading(text: str, width: int) -> str:
    """A title that fits, with the count at its end."""
    title, blanks, count = text.rpartition("  ")
    return f"{fit(title, max(1, width - cells(count) - 2))}{blanks}{count}"


def _path_cells(row: SelfTestRow, width: int) -> Sequence[Cell]:
    from arcview.ui.rows.diff_lines import shortened  # late edits are known after the first frame

    before = row.text[: len(row.text) - len(row.path)]
    path = shortened(row.path, max(4, width - cells(before)))
    return (Cell(plain(f"{before}{path}", row.style), scrolls=True),)


def _key(test: SelfTest) -> str:
    return f"{test.call_key} {test.ordinal}"


def _run_rows(test: SelfTest) -> Iterator[SelfTestRow]:
    yield SelfTestRow(SelfTestRowKind.RUN, key=_key(test), test=test)
    if test.masked is not None:
        text = f"{' ' * _STEP_WIDTH}exit code masked: {one_line(test.masked)}"
        key = f"{_key(test)} masked"
        yield SelfTestRow(SelfTestRowKind.NOTE, text, theme.WARN, key, test)


def _run_cells(test: SelfTest, width: int) -> Sequence[Cell]:
    quiet = "" if test.is_test else theme.MUTED
    step = "" if test.step_number is None else f"#{test.step_number}"
    gutter = Cell(plain(step.ljust(_STEP_WIDTH), theme.MUTED), width=_STEP_WIDTH)
    # The runner is said where the command line does not name it.
    runner = "" if test.runner in test.command else f"{one_line(test.runner)}: "
    first_line = next((line for line in (test.program or "").split("\n") if line.strip()), "")
    command = Cell(
        pieces(
            (runner, theme.MUTED),
            (one_line(test.command.strip()), quiet),
            (one_line(f"  {first_line.strip()}") if first_line else "", theme.MUTED),
        ),
        scrolls=True,
    )
    result = _result(test)
    if width < _NARROW:
        return (gutter, Cell(Content.assemble(result, "  ", command.content), scrolls=True))
    room = max(0, _RESULT_WIDTH - result.cell_length)
    return (gutter, command, Cell(Content(" " * room) + result, width=_RESULT_WIDTH))


def _result(test: SelfTest) -> Content:
    """Counts where the output has them, else the exit code, else what is known."""
    if not test.is_test:
        exit_code = "" if test.exit_code in (None, 0) else f"exit {test.exit_code}"
        return plain(exit_code or "prints", theme.MUTED)
    parts: list[tuple[str, str]] = []
    if test.passed:
        parts.append((f"{test.passed} ✓", theme.PASS))
    if test.failed:
        parts.append((f"{test.failed} ✗", theme.FAIL))
    if test.skipped:
        parts.append((f"{test.skipped} –", theme.WARN))
    if not parts and test.exit_code is not None and test.masked is None:
        style = theme.PASS if test.exit_code == 0 else theme.FAIL
        mark = "✓" if test.exit_code == 0 else "✗"
        parts.append((f"exit {test.exit_code} {mark}", style))
    if not parts:
        words = {"passed": ("✓", theme.PASS), "failed": ("✗", theme.FAIL)}
        parts.append(words.get(test.outcome, ("? unknown", theme.UNMEASURED)))
    spaced = [(text if not n else f" {text}", style) for n, (text, style) in enumerate(parts)]
    return pieces(*spaced)


def badge_of(test: SelfTest) -> Badge:
    """What stands at the right of the step that ran it."""
    from arcview.ui.rows.steps_lines import Badge  # 10 ms that the first frame need not wait for

    style = {"passed": theme.PASS, "failed": theme.FAIL}.get(test.outcome, theme.MUTED)
    return Badge(_result(test).plain, style if test.is_test else theme.MUTED)


def _file_cells(change: FileChange, width: int) -> Sequence[Cell]:
    # Files are known after the first frame.
    from arcview.ui.rows.diff_lines import kind_letter, shortened

    letter, style = kind_letter(change)
    added = "" if change.added is None else f"+{change.added}"
    removed = "" if change.removed is None else f"−{change.removed}"
    column = 7 if width >= _NARROW else 0
    parts = [(added, theme.ADDED), (removed, theme.REMOVED)]
    counts = pieces(*(((f" {text}".rjust(column)), style) for text, style in parts if text))
    path = shortened(one_line(change.path), max(4, width - counts.cell_length - 3))
    name = pieces((f"{letter} ", style), path)
    return (Cell(name, scrolls=True), Cell(counts, width=counts.cell_length))
