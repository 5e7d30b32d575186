"""What a command is: its keys, its words, and where it applies. Knows nothing of Textual."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Context(StrEnum):
    """Where a command applies. A key means one thing within a context and all that enclose it."""

    APP = "everywhere"
    ROWS = "in every list and text"
    RUN = "run screen"
    DIFF = "diff pane"
    TREE = "tree of changed files"
    GATE = "gate pane"
    SELF_TESTS = "self-test pane"
    TRAJECTORY = "trajectory pane"
    LIBRARY = "list of runs"
    TEXT = "text screen"
    FILE = "file of a state"
    FIND = "finding"
    COMPARE = "comparing"
    COVERAGE = "contract coverage"
    CHOICE = "choosing"
    CASE = "labelling a case"
    CASES = "cases of a run"
    WORK = "work list"
    SIDES = "settling a case"
    STATS = "statistics"
    RERUN = "rerunning a gate"
    MATRIX = "gates by states"
    WHAT_IF = "what if"


class Group(StrEnum):
    """The headings of the help screen and of the key table."""

    STAGES = "Stages"
    PANES = "Panes"
    MOVE = "Moving"
    SEARCH = "Searching"
    GATE = "Gate"
    RERUN = "Running gates again"
    DIFF = "Diff"
    STEPS = "Steps"
    RUN = "The run"
    COMPARE = "Comparing"
    LABELS = "Labelling"
    STATS = "Statistics"
    OUT = "Taking something out"
    APP = "arcview"


class Command(NamedTuple):
    """One thing that can be done. A tuple: a frozen dataclass each costs every start 1 ms."""

    id: str
    """Name of the action; the screen that the context belongs to has a method for it."""
    keys: tuple[str, ...]
    """Textual key names, the first one is the one that hints show; empty: palette only."""
    title: str
    """What it does, as a palette entry: `Next stage`."""
    help: str
    """One sentence for the help screen."""
    group: Group
    context: Context
    hint: str = ""
    """Its short name in the line of key hints; empty keeps it out of that line."""
    takes_key: bool = False
    """The key itself is the argument (digits); such a command is not in the palette."""
    by_widget: bool = False
    """The list widget in focus acts on it, not the screen."""
    action: str = ""
    """What is called, where that is not the id (`jump('step', 1)`)."""


def command(
    context: Context,
    group: Group,
    name: str,
    keys: str,
    title: str,
    explanation: str,
    hint: str = "",
    *,
    takes_key: bool = False,
    by_widget: bool = False,
    action: str = "",
) -> Command:
    """One entry of the list; the keys are parted by blanks."""
    return Command(
        name, tuple(keys.split()), title, explanation, group, context, hint,
        takes_key, by_widget, action or name,
    )  # fmt: skip
