"""The one list of what a person can do, from which keys, palette, help and README are made.

Knows nothing of Textual; the screens turn it into bindings. Keys are Textual key names.
"""

from __future__ import annotations

from collections.abc import Iterator

from arcview.session.commands_annotate import LABEL_COMMANDS, WORK_COMMANDS
from arcview.session.commands_lists import LIST_COMMANDS
from arcview.session.commands_model import Command as Command
from arcview.session.commands_model import Context as Context
from arcview.session.commands_model import Group as Group
from arcview.session.commands_reruns import MATRIX_COMMANDS, RERUN_COMMANDS
from arcview.session.commands_run import RUN_COMMANDS
from arcview.session.commands_stats import STATS_COMMANDS

_ENCLOSING: dict[Context, tuple[Context, ...]] = {
    Context.APP: (),
    Context.ROWS: (Context.APP,),
    Context.RUN: (Context.APP,),
    Context.DIFF: (Context.ROWS, Context.RUN, Context.APP),
    Context.TREE: (Context.ROWS, Context.RUN, Context.APP),
    Context.GATE: (Context.ROWS, Context.RUN, Context.APP),
    Context.SELF_TESTS: (Context.ROWS, Context.RUN, Context.APP),
    Context.TRAJECTORY: (Context.ROWS, Context.RUN, Context.APP),
    Context.LIBRARY: (Context.ROWS, Context.APP),
    Context.TEXT: (Context.ROWS, Context.APP),
    Context.FILE: (Context.TEXT, Context.ROWS, Context.APP),
    Context.FIND: (Context.ROWS, Context.APP),
    Context.COMPARE: (Context.ROWS, Context.APP),
    Context.COVERAGE: (Context.ROWS, Context.APP),
    Context.CHOICE: (Context.ROWS, Context.APP),
    # The letters of the form are those of the label scheme, not those of a list.
    Context.CASE: (Context.APP,),
    Context.CASES: (Context.ROWS, Context.APP),
    Context.WORK: (Context.ROWS, Context.APP),
    Context.SIDES: (Context.ROWS, Context.APP),
    Context.STATS: (Context.ROWS, Context.APP),
    Context.RERUN: (Context.ROWS, Context.APP),
    Context.MATRIX: (Context.ROWS, Context.APP),
    Context.WHAT_IF: (Context.ROWS, Context.APP),
}

COMMANDS: tuple[Command, ...] = (
    *RUN_COMMANDS,
    *RERUN_COMMANDS,
    *MATRIX_COMMANDS,
    *LABEL_COMMANDS,
    *WORK_COMMANDS,
    *STATS_COMMANDS,
    *LIST_COMMANDS,
)


_BY_CONTEXT: dict[Context, list[Command]] = {context: [] for context in Context}
for _each in COMMANDS:
    _BY_CONTEXT[_each.context].append(_each)


def commands_in(context: Context) -> Iterator[Command]:
    """Every command that applies in that context: its own, then those of what encloses it."""
    for where in (context, *_ENCLOSING[context]):
        yield from _BY_CONTEXT[where]


def key_conflicts(context: Context) -> dict[str, tuple[str, ...]]:
    """The keys that would do two things there, with the ids of the commands; empty when sound."""
    owners: dict[str, list[str]] = {}
    for command in commands_in(context):
        for key in command.keys:
            owners.setdefault(key, []).append(command.id)
    return {key: tuple(ids) for key, ids in owners.items() if len(ids) > 1}


def find(command_id: str, context: Context) -> Command:
    """The command with that id in that context.

    Raises:
        KeyError: there is none.
    """
    for command in commands_in(context):
        if command.id == command_id:
            return command
    raise KeyError(command_id)
