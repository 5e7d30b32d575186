"""The rows of a trajectory: one for each step, and the lines of those that are open.

Pure. Bodies are made when a step is opened; closed steps cost a number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from textual.content import Content

from arcview.analysis.syntax import LazySyntax, SyntaxSpan
from arcview.model.trajectory import Step, ToolCall, Trajectory
from arcview.ui import theme
from arcview.ui.rows import steps_lines
from arcview.ui.rows.lines import Cell, Needle, RowSource
from arcview.ui.rows.steps_layout import FOLD, lay_body, row_of_line
from arcview.ui.rows.steps_layout import BodyRow as BodyRow
from arcview.ui.rows.steps_lines import Badge, Columns
from arcview.ui.rows.steps_notes import NoteRuns, gist
from arcview.ui.rows.steps_parts import Jump as Jump
from arcview.ui.rows.steps_parts import StepPart, depths_of, goal, is_opening, parts_of
from arcview.ui.rows.steps_search import ABOVE_ALL, HEADER, Hit, first_hit
from arcview.ui.safe import plain


class StepRows(RowSource):
    """Rows of all steps, in order.

    Args:
        trajectory: What the agent did.
        badges: Short remarks by tool-call key, such as test outcomes; jumps to tests go to them.
        empty: What is said when there are no steps.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        *,
        badges: Mapping[str, Badge] | None = None,
        empty: str = "No steps recorded",
    ) -> None:
        self.steps = trajectory.steps
        self.heads = trajectory.heads
        """The same with long texts cut where they are not held: enough for closed steps."""
        self._badges = badges or {}
        self._empty = empty
        self._width = 80
        self._bodies: dict[int, list[BodyRow]] = {}
        self._opened_parts: dict[int, set[int]] = {}
        self._parts: dict[int, tuple[StepPart, ...]] = {}
        self._syntax: dict[tuple[int, int, bool], LazySyntax] = {}
        self._depths = depths_of(self.heads)
        self._notes = NoteRuns(self.heads, self._depths)
        self._starts: Sequence[int] = ()
        self._lay()
        # Notes have figures of their own, such as the cost of a whole session: no column for those.
        messages = [step for step in self.heads if step.number is not None]
        usages = [step.usage for step in messages if step.usage is not None]
        self._columns = Columns(
            duration=any(step.duration_s is not None for step in messages),
            tokens=any(usage.output_tokens is not None for usage in usages),
            cost=any(usage.cost_usd is not None for usage in usages),
        )

    # Structure

    def __len__(self) -> int:
        return self._starts[-1] or 1

    def step_index(self, row: int) -> int | None:
        """The step a row belongs to, as a position in `steps`."""
        if not self.steps:
            return None
        return min(bisect_right(self._starts, row) - 1, len(self.steps) - 1)

    def step_at(self, row: int) -> Step | None:
        """The step a row belongs to."""
        index = self.step_index(row)
        return None if index is None else self.steps[index]

    def part_at(self, row: int) -> StepPart | None:
        """The part of a step that a row shows; null on a header."""
        found = self._body_row(row)
        return None if found is None else self.parts(found[0])[found[1].part]

    def call_at(self, row: int) -> ToolCall | None:
        """The call a row belongs to; on a header the first call of the step."""
        part = self.part_at(row)
        if part is not None:
            return part.call
        step = self.step_at(row)
        return step.calls[0] if step is not None and step.calls else None

    def row_of(self, index: int) -> int:
        """The header row of a step, or the row of the notes that it is folded with."""
        folded = self._notes.folded(index)
        return self._starts[index if folded is None else folded.start]

    @property
    def first_row(self) -> int:
        """The first thing that the user or the model says: what comes before is setting up."""
        index = next((index for index, step in enumerate(self.heads) if is_opening(step)), None)
        return 0 if index is None else self.row_of(index)

    def index_of_key(self, key: str) -> int | None:
        """The step with that key, or the one that makes the call with that key."""
        for index, step in enumerate(self.heads):
            if step.key == key or any(call.key == key for call in step.calls):
                return index
        return None

    def parts(self, index: int) -> tuple[StepPart, ...]:
        """The parts of a step."""
        parts = self._parts.get(index)
        if parts is None:
            parts = self._parts[index] = parts_of(self.steps[index])
        return parts

    def _body_row(self, row: int) -> tuple[int, BodyRow] | None:
        index = self.step_index(row)
        if index is None or row == self._starts[index]:
            return None
        return index, self._bodies[index][row - self._starts[index] - 1]

    def set_badges(self, badges: Mapping[str, Badge]) -> None:
        """Shows other remarks."""
        self._badges = badges

    # Opening and closing

    def is_open(self, index: int) -> bool:
        """Whether the parts of a step are shown."""
        return index in self._bodies

    def open_as(self, before: StepRows) -> None:
        """Opens the steps that are open in other rows, and the notes that are not folded there."""
        for opened, show in ((before._notes.opened(), self.unfold), (before._bodies, self._open)):
            keys = {before.heads[index].key for index in opened}
            if keys:
                show([index for index, step in enumerate(self.heads) if step.key in keys])

    def _open(self, indexes: Sequence[int]) -> None:
        self.set_open(indexes, is_open=True)

    def is_folded(self, index: int) -> bool:
        """Whether a step is a note that is shown with others in one row."""
        return self._notes.folded(index) is not None

    def unfold(self, indexes: Sequence[int]) -> None:
        """Gives notes rows of their own."""
        self._notes.open(indexes)
        self._lay()

    def close_all(self) -> None:
        """Closes every step, and folds notes that follow one another."""
        self._bodies.clear()
        self._notes.fold()
        self._lay()

    def set_open(self, indexes: Sequence[int], *, is_open: bool) -> None:
        """Opens or closes steps."""
        if is_open:
            self._notes.open(indexes)
        for index in indexes:
            if not is_open:
                self._bodies.pop(index, None)
            elif index not in self._bodies:
                self._bodies[index] = self._lay_body(index)
        self._lay()

    def open_part(self, row: int) -> bool:
        """Unfolds the part whose folded lines a row stands for; false on other rows."""
        found = self._body_row(row)
        if found is None or found[1].line != FOLD:
            return False
        self._unfold(found[0], found[1].part)
        self._lay()
        return True

    def _unfold(self, index: int, part: int) -> None:
        self._opened_parts.setdefault(index, set()).add(part)
        self._bodies[index] = self._lay_body(index)

    def _lay(self) -> None:
        heights = [1] * len(self.steps)
        for index, body in self._bodies.items():
            heights[index] += len(body)
        for run in self._notes.all_folded():
            heights[run.start + 1 : run.stop] = [0] * (len(run) - 1)
        is_plain = not self._bodies and 0 not in heights
        # A range costs nothing to look into, and most long trajectories are one.
        self._starts = range(len(heights) + 1) if is_plain else [0, *accumulate(heights)]

    def _lay_body(self, index: int) -> list[BodyRow]:
        width = self._width - steps_lines.MARGIN - 2 * self._depths[index]
        return lay_body(self.parts(index), width, self._opened_parts.get(index, ()))

    def fit(self, width: int) -> bool:
        """Wraps the open steps anew for another width."""
        changed = width != self._width and bool(self._bodies)
        self._width = width
        if changed:
            self._bodies = {index: self._lay_body(index) for index in self._bodies}
            self._lay()
        return changed

    def anchor(self, index: int) -> object:
        """The step, and of an open one the part and line."""
        found = self._body_row(index)
        step = self.step_index(index)
        return (step, None) if found is None else (step, found[1])

    def locate(self, anchor: object) -> int:
        """The row that shows the same now, or the header of its step."""
        if not isinstance(anchor, tuple) or anchor[0] is None:
            return 0
        index, row = anchor
        if row is None or index not in self._bodies:
            return self.row_of(index)
        line = row.start if row.line == FOLD else row.line
        return self._row_of_hit(index, Hit(row.part, line, row.start))

    def _row_of_hit(self, index: int, hit: Hit) -> int:
        return self.row_of(index) + row_of_line(self._bodies.get(index, ()), *hit)

    # Jumps and search

    def next_step(self, row: int, kind: Jump, direction: int) -> int | None:
        """The header of the next or previous step of a kind; null where there is none."""
        index = self.step_index(row)
        if index is None:
            return None
        if kind == "step" and direction < 0 and row > self._starts[index]:
            return self._starts[index]
        wanted = goal(kind, self._badges)
        stop = len(self.steps) if direction > 0 else -1
        for other in range(index + direction, stop, direction):
            # Of notes in one row the first stands for all of them.
            if wanted(self.heads[other]) and self.step_index(self.row_of(other)) == other:
                return self._starts[other]
        return None

    def find(self, needle: Needle, start: int, step: int) -> Iterator[int | None]:
        """Looks through the whole text of every step; a hit in a closed step opens it.

        Where only the row of a step says it (the name of a tool, an outcome), that row is the hit.
        """
        first = self.step_index(start)
        if first is None:
            return
        found = self._body_row(start)
        here = None if found is None else found[1]
        if found is None and step < 0:
            # What is closed stands behind its row: a search upwards comes by it first.
            here = ABOVE_ALL if self.is_open(first) else None
            folded = self._notes.folded(first)
            first = first if folded is None else folded.stop - 1
        stop = len(self.steps) if step > 0 else -1
        for count, index in enumerate(range(first, stop, step), 1):
            hit = self._hit(needle, index, step, here if index == first else None)
            if hit is not None:
                yield self._show_hit(index, hit)
                return
            if count % 50 == 0:
                yield None

    def _hit(self, needle: Needle, index: int, step: int, here: BodyRow | None) -> Hit | None:
        return first_hit(
            needle,
            self.steps[index],
            lambda: self.parts(index),
            lambda: self._told(index),
            is_open=self.is_open(index),
            direction=step,
            here=here,
        )

    def _told(self, index: int) -> Iterator[str]:
        """What the row of a step says besides the gist of its parts."""
        folded = self._notes.folded(index)
        if folded is None:
            step, columns = self.heads[index], self._columns.fitting(self._width)
            yield from steps_lines.told(step, columns, self._badges_of(step))
        elif folded.start == index:
            yield steps_lines.notes_name(len(folded))

    def _show_hit(self, index: int, hit: Hit) -> int:
        if hit != HEADER:
            self._notes.open((index,))
            if index not in self._bodies:
                self._bodies[index] = self._lay_body(index)
            if any(row.hides(hit.part, hit.line) for row in self._bodies[index]):
                self._unfold(index, hit.part)
        self._lay()
        return self._row_of_hit(index, hit)

    # Looks

    def row(self, index: int) -> Content:
        """The row without columns, for copies and tests."""
        return Content("").join([cell.content for cell in self.cells(index, self._width)])

    def text(self, index: int, lane: int = 0) -> str:
        """The text of a row without its margin."""
        del lane
        cells = [cell for cell in self.cells(index, self._width) if cell.scrolls]
        return cells[0].content.plain if cells else ""

    def full_text(self, row: int) -> str:
        """The whole part that a row shows, or everything of the step on its header; as it came."""
        part = self.part_at(row)
        if part is not None:
            return "\n".join(part.lines)
        index = self.step_index(row)
        if index is None:
            return ""
        steps = self._notes.folded(index) or (index,)
        return "\n\n".join("\n".join(part.lines) for one in steps for part in self.parts(one))

    def cells(self, index: int, width: int) -> Sequence[Cell]:
        """The columns of a row."""
        number = self.step_index(index)
        if number is None:
            return (Cell(plain(self._empty, theme.MUTED)),)
        found = self._body_row(index)
        depth = self._depths[number]
        folded = self._notes.folded(number)
        if folded is not None:
            said = gist(self.heads[folded.start : folded.stop])
            return steps_lines.folded_notes(len(folded), said, depth, width)
        if found is None:
            step = self.heads[number]
            return steps_lines.header(
                step,
                depth=depth,
                is_open=number in self._bodies,
                columns=self._columns,
                badges=self._badges_of(step),
                width=width,
            )
        row = found[1]
        part = self.parts(number)[row.part]
        if row.line == FOLD:
            return (
                steps_lines.margin(part, row.start, depth, first=False),
                Cell(steps_lines.folded(part, row.end - row.start), scrolls=True),
            )
        return (
            steps_lines.margin(part, row.line, depth, first=row.start == 0),
            steps_lines.line(
                part, row.line, row.start, row.end, self._syntax_of(number, row.part, row.line)
            ),
        )

    def _badges_of(self, step: Step) -> list[Badge]:
        badges = Counter(self._badges[c.key] for c in step.calls if c.key in self._badges)
        shown = [
            badge if count == 1 else Badge(f"{badge.text} ×{count}", badge.style)
            for badge, count in badges.items()
        ]
        outcome = steps_lines.outcome(step)
        if outcome is None:
            return shown
        return [*(badge for badge in shown if badge.text not in outcome.text), outcome]

    def _syntax_of(self, index: int, number: int, line: int) -> Sequence[SyntaxSpan]:
        part = self.parts(index)[number]
        if part.path is None:
            return ()
        removed = bool(part.signs) and part.signs[line] == "-"
        other = "+" if removed else "-"
        key = (index, number, removed)
        signs = part.signs or " " * len(part.lines)
        syntax = self._syntax.get(key)
        if syntax is None:
            lines = [
                steps_lines.cleaned(part, text)
                for text, sign in zip(part.lines, signs, strict=True)
                if sign != other
            ]
            syntax = self._syntax[key] = LazySyntax(part.path, lines)
        return syntax.line(line - signs[:line].count(other))
