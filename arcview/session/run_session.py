"""What the run screen is looking at: stage, pane, diff mode, filter, way back.

A plain state machine without Textual and without I/O: every method changes the state and returns
a `Change` that says which parts of the screen no longer show it. The screen applies it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from arcview.model.run import Run
from arcview.session.run_session_stops import (
    DiffMode,
    StatePair,
    Stop,
    StopKind,
    pair_for,
    stops_of,
)


class Column(StrEnum):
    """The panes of the run screen, in the order of `tab`."""

    DIFF = "diff"
    GATE = "gate"
    SELF_TESTS = "self-tests"
    TRAJECTORY = "trajectory"


class Part(StrEnum):
    """What of the screen shows something else now."""

    STOP = "stop"
    """Another stage, between-state or the chain gate: all panes load."""
    DIFF = "diff"
    """The same stop, other states to compare or another layout of the same diff."""
    GATE = "gate"
    """The same gate, filtered otherwise."""
    FOCUS = "focus"
    """Another pane has the keys; in a narrow terminal, another tab is up."""
    LAYOUT = "layout"
    """Zoomed or not."""


@dataclass(frozen=True, slots=True)
class Target:
    """A place inside a pane that its cursor should go to."""

    column: Column
    step: str | None = None
    """Key of a step, for the trajectory."""
    path: str | None = None
    """A file, for the diff."""
    line: int | None = None
    """1-based line in the new file."""
    test: str | None = None
    """Id of a test, for the gate."""
    row: int | None = None
    """A row of the pane, when coming back to it."""
    hunk: int | None = None
    """1-based change of the file."""
    part: tuple[str, ...] = ()
    """Of the step, as an address calls it (`text`, or the key of a call and `result`)."""
    offset: int = 0
    """A character of that part, 0-based."""
    match: int | None = None
    """Which match of what is being found, in the step; 0-based."""


@dataclass(frozen=True, slots=True)
class Change:
    """What the screen has to do after a key."""

    parts: frozenset[Part] = frozenset()
    target: Target | None = None
    notice: str | None = None
    """One line for the person: why nothing happened, or what did."""
    leave: bool = False
    """There is nothing left to go back to: leave the screen."""


@dataclass(frozen=True, slots=True)
class _Place:
    stop: int
    column: Column
    mode: DiffMode
    zoomed: bool
    row: int


_MAIN = (Column.DIFF, Column.GATE, Column.TRAJECTORY)


def _absent_in(run: Run) -> frozenset[Column]:
    """The panes that stay empty all over a run, such as the diff of a lone trajectory."""
    absent = set()
    if all(state.missing is not None for state in run.agent_states()):
        absent.add(Column.DIFF)
    if all(gate.unmeasured is not None for gate in run.gates):
        absent.add(Column.GATE)
    if not any(stage.trajectories for stage in run.stages):
        absent |= {Column.TRAJECTORY, Column.SELF_TESTS}
    return frozenset(absent)


def _changed(*parts: Part, target: Target | None = None, notice: str | None = None) -> Change:
    return Change(frozenset(parts), target, notice)


@dataclass(slots=True)
class RunSession:
    """The state of one run screen; the run has at least one stage.

    Opens at the first failing gate's stage with the gate pane focused, else at stage 1 with the
    first pane that has something to show.
    """

    run: Run
    first_failing_gate: str | None = None
    """Id of the first gate that failed (`"3"`, `"chain"`); null when none did."""
    first_bad_stage: int | None = None
    """Stage in which the first failure arose; null when there is none."""
    first_bad_state: str | None = None
    """State in which it did: the end of that stage, or a between-state after it."""
    stops: tuple[Stop, ...] = field(init=False)
    absent: frozenset[Column] = field(init=False)
    """Panes that have nothing to show at any place of the run."""
    at: int = field(init=False, default=0)
    column: Column = field(init=False, default=Column.DIFF)
    zoomed: bool = field(init=False, default=False)
    tab: Column = field(init=False, default=Column.DIFF)
    """Which of the three upper panes is up when there is room for only one."""
    failing_only: bool = field(init=False, default=False)
    mode: DiffMode = field(init=False, default=DiffMode.STAGE)
    split: bool = field(init=False, default=False)
    replaying: bool = field(init=False, default=False)
    """The diff pane shows the workspace after the step under the trajectory's cursor."""
    who_wrote: bool = field(init=False, default=False)
    """Stage and step stand left of every line of code."""
    reference_revealed: bool = field(init=False, default=False)
    chosen: tuple[str, str] | None = field(init=False, default=None)
    _way: list[_Place] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        """Takes the place that answers "why did it fail" soonest."""
        self.stops = stops_of(self.run)
        self.absent = _absent_in(self.run)
        failing = self._index_of_gate(self.first_failing_gate)
        if failing is not None:
            self.at = failing
            self._focus(Column.GATE)
        else:
            present = (column for column in _MAIN if column not in self.absent)
            self._focus(next(present, Column.DIFF))

    # Where we are

    @property
    def stop(self) -> Stop:
        """The selected place of the rail."""
        return self.stops[self.at]

    @property
    def pair(self) -> StatePair:
        """The two states that the diff pane compares."""
        pair = pair_for(self.run, self.stop, self.mode, self.chosen)
        return pair or StatePair(None, None, "", "nothing to compare here")

    @property
    def modes(self) -> tuple[DiffMode, ...]:
        """The diff modes that have something to show here, in the order of the key."""
        return tuple(
            mode
            for mode in DiffMode
            if (mode is not DiffMode.REFERENCE or self.reference_revealed)
            and pair_for(self.run, self.stop, mode, self.chosen) is not None
        )

    # Stages and states

    def go_to(self, index: int) -> Change:
        """Selects a place of the rail by its position in `stops`."""
        if not 0 <= index < len(self.stops):
            return _changed(notice="there is nothing further")
        if index == self.at:
            return _changed()
        self.at = index
        if self.mode not in self.modes:
            self.mode = DiffMode.STAGE
        return _changed(Part.STOP)

    def step_stage(self, by: int) -> Change:
        """Moves between the stages and the chain gate, over the between-states."""
        index = self.at + by
        while 0 <= index < len(self.stops) and self.stops[index].kind is StopKind.BETWEEN:
            index += by
        return self.go_to(index)

    def step_state(self, by: int) -> Change:
        """Moves to the next place of the rail, whatever it is."""
        return self.go_to(self.at + by)

    def go_to_stage(self, index: int) -> Change:
        """Selects a stage by its number; 0 is the chain gate."""
        position = self._index_of_gate(str(index) if index else "chain")
        if position is None:
            what = f"stage {index}" if index else "chain gate"
            return _changed(notice=f"this run has no {what}")
        return self.go_to(position)

    def go_to_first_failing(self) -> Change:
        """Selects the stage whose gate failed first."""
        position = self._index_of_gate(self.first_failing_gate)
        if position is None:
            return _changed(notice="no measured gate failed")
        return self._with_focus(self.go_to(position), Column.GATE)

    def go_to_first_bad(self) -> Change:
        """Selects the state in which the first failure arose that was not there before."""
        if self.first_bad_stage is None:
            return _changed(notice="no failure arose in any measured state")
        for position, stop in enumerate(self.stops):
            if stop.state == self.first_bad_state and stop.kind is not StopKind.CHAIN:
                return self._with_focus(self.go_to(position), Column.GATE)
        return self._with_focus(self.go_to_stage(self.first_bad_stage), Column.GATE)

    def _index_of_gate(self, gate: str | None) -> int | None:
        """Position of the stage (or chain gate) with that gate; between-states are not it."""
        return next(
            (
                position
                for position, stop in enumerate(self.stops)
                if stop.gate == gate and stop.kind is not StopKind.BETWEEN
            ),
            None,
        )

    # Panes

    def focus(self, column: Column) -> Change:
        """Gives the keys to a pane."""
        if column is self.column:
            return _changed()
        self._focus(column)
        return _changed(Part.FOCUS)

    def step_pane(self, by: int) -> Change:
        """Moves to the next pane, round and round."""
        columns = tuple(Column)
        return self.focus(columns[(columns.index(self.column) + by) % len(columns)])

    def toggle_zoom(self) -> Change:
        """The focused pane alone on the screen, and back."""
        self.zoomed = not self.zoomed
        return _changed(Part.LAYOUT)

    def _focus(self, column: Column) -> None:
        self.column = column
        if column is not Column.TRAJECTORY:
            self.tab = column

    def _with_focus(self, change: Change, column: Column) -> Change:
        return replace(change, parts=change.parts | self.focus(column).parts)

    # Gate and diff

    def toggle_failing_only(self) -> Change:
        """Leaves passed tests out of the gate pane, and back."""
        self.failing_only = not self.failing_only
        return _changed(Part.GATE)

    def toggle_split(self) -> Change:
        """One column or two."""
        self.split = not self.split
        return _changed(Part.DIFF)

    def toggle_who_wrote(self) -> Change:
        """Stage and step beside every line, and away again."""
        self.who_wrote = not self.who_wrote
        return _changed(Part.DIFF)

    def toggle_replay(self) -> Change:
        """The workspace step by step in the diff pane, and back to the whole change."""
        self.replaying = not self.replaying
        if self.replaying:
            self.tab = Column.DIFF  # where there is room for one pane it would not be seen
        return self._with_focus(_changed(Part.DIFF, Part.LAYOUT), Column.TRAJECTORY)

    def next_mode(self) -> Change:
        """The next diff mode that has something to show here."""
        modes = self.modes
        if len(modes) < 2:
            return _changed(notice="there is nothing else to compare with here")
        at = modes.index(self.mode) if self.mode in modes else -1
        self.mode, self.replaying = modes[(at + 1) % len(modes)], False
        return self._with_focus(_changed(Part.DIFF), Column.DIFF)

    def compare(self, old: str, new: str) -> Change:
        """Compares two chosen states."""
        if old == new:
            return _changed(notice="a state does not differ from itself")
        self.chosen = (old, new)
        self.mode, self.replaying = DiffMode.CHOSEN, False
        return self._with_focus(_changed(Part.DIFF), Column.DIFF)

    def reveal_reference(self) -> Change:
        """Makes the reference a diff mode, and shows it; it stays hidden until asked for."""
        if pair_for(self.run, self.stop, DiffMode.REFERENCE, None) is None:
            return _changed(notice="this run has no reference for this state")
        self.reference_revealed = True
        self.mode, self.replaying = DiffMode.REFERENCE, False
        return self._with_focus(_changed(Part.DIFF), Column.DIFF)

    # Following and coming back

    def follow(self, target: Target, row: int | None, stop: int | None = None) -> Change:
        """Goes to where something comes from and remembers the way.

        Args:
            target: The place to go to.
            row: The cursor's row in the pane that is left; null does not remember it.
            stop: Position in `stops` to select first; null stays.
        """
        if row is not None:
            self._way.append(_Place(self.at, self.column, self.mode, self.zoomed, row))
        change = _changed() if stop is None else self.go_to(stop)
        change = self._with_focus(change, target.column)
        if self.zoomed:
            change = replace(change, parts=change.parts | {Part.LAYOUT})
        return replace(change, target=target)

    def back(self) -> Change:
        """Returns to where the last link was followed; from a zoom, to all panes."""
        if not self._way:
            return self.toggle_zoom() if self.zoomed else Change(leave=True)
        place = self._way.pop()
        parts: set[Part] = set()
        if place.mode is not self.mode:
            self.mode = place.mode
            parts.add(Part.DIFF)
        if place.zoomed is not self.zoomed:
            self.zoomed = place.zoomed
            parts.add(Part.LAYOUT)
        parts |= self.go_to(place.stop).parts | self.focus(place.column).parts
        return Change(frozenset(parts), Target(place.column, row=place.row))

    def take_place_of(self, other: RunSession) -> None:
        """Goes to where another session was, as far as this run has that place."""
        at = next((i for i, stop in enumerate(self.stops) if _same(stop, other.stop)), None)
        if at is not None:
            self.at = at
        self.column, self.tab, self.zoomed = other.column, other.tab, other.zoomed
        self.failing_only, self.split = other.failing_only, other.split
        self.who_wrote = other.who_wrote
        self.reference_revealed, self.chosen = other.reference_revealed, other.chosen
        self.mode = other.mode if other.mode in self.modes else DiffMode.STAGE


def _same(stop: Stop, other: Stop) -> bool:
    return (stop.kind, stop.gate, stop.state) == (other.kind, other.gate, other.state)
