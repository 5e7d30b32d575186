"""The commands of the statistics over many runs."""

from __future__ import annotations

from arcview.session.commands_model import Command, Context, Group, command

_C, _G = Context, Group

STATS_COMMANDS: tuple[Command, ...] = (
    command(
        _C.LIBRARY, _G.STATS, "statistics", "percent_sign", "Statistics",
        "Figures over all these runs, each k of n with its intervals, under a named policy.",
        "statistics",
    ),
    command(
        _C.STATS, _G.STATS, "next_policy", "p", "Other policy",
        "Clean leaves out stages that failed for no fault of the agent; as-recorded takes every "
        "verdict.", "policy",
    ),
    command(
        _C.STATS, _G.STATS, "group_figures", "b", "Group by something else",
        "By agent, model, task or language, and not at all.", "group",
    ),
    command(
        _C.STATS, _G.STATS, "outcome_ok", "1 2 3 4", "What counts as ok",
        "1 skipped, 2 expected failure, 3 unexpected pass, 4 missing: counts as ok, and back.",
        takes_key=True,
    ),
    command(
        _C.STATS, _G.STATS, "count_tests", "5", "Test files as shared files",
        "Test files are among the files that stages share, and back.",
    ),
    command(
        _C.STATS, _G.STATS, "next_section", "J", "Next section", "The next heading.", "section",
    ),
    command(_C.STATS, _G.STATS, "previous_section", "K", "Section before", "The one before."),
    command(
        _C.STATS, _G.STATS, "left_out", "x", "What is left out",
        "The runs and stages that do not count, with reasons.", "left out",
    ),
    command(
        _C.STATS, _G.STATS, "stop_or_close", "escape backspace", "Stop or go back",
        "Stops reading runs; when that is done, back to the list of runs.", "stop, back",
    ),
)  # fmt: skip
