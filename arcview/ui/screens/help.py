"""Every key of a screen, and what its signs mean; made from the command registry."""

from __future__ import annotations

from textual.content import Content

from arcview.session.commands import Context
from arcview.session.commands_help import help_rows, keys_label
from arcview.ui import theme
from arcview.ui.rows.help import HelpEntry, HelpRows
from arcview.ui.screens.text import TextScreen

_SIGNS = (
    ("✓ ✗ ?", "passed, failed, not measured; ? is never counted as failed"),
    ("!", "the harness recorded another verdict than its tests give"),
    ("▲7", "seven earlier tests were broken already when the stage began"),
    ("◇✗", "a state between two stages, made by something else, and its gate; ◆✗ is on the screen"),
    ("F2P 9/11", "tests that must fail before the stage and pass after it: passed of expected"),
    ("P2P 88/88", "tests that passed before and must still pass"),
    ("new", "the test was ok at its last earlier gate; also: broken again, inherited, first"),
    ("3#14  3#14?", "left of a line of code: written by step 14 of stage 3; ? is a candidate"),
    ("3  2p#7", "by stage 3, in a step nobody knows; by step 7 of the pass after stage 2"),
    ("–  ∅", "skipped; expected but missing from the report"),
    ("Claim gap", "the agent's last message claims success and the gate failed"),
    ("self-tested?", "whether its tests exercised what a failing test checks: guessed from names"),
    ("›", "the line goes on: l scrolls to the right"),
)


def help_screen(context: Context) -> TextScreen:
    """The help for a context."""
    entries: list[HelpEntry] = []
    for group, commands in help_rows(context):
        entries.append(HelpEntry(heading=group.value))
        entries += [
            HelpEntry(keys_label(command) or "palette", command.title, command.help)
            for command in commands
        ]
        entries.append(HelpEntry())
    if context not in (Context.TEXT, Context.CHOICE, Context.APP):
        entries.append(HelpEntry(heading="Signs"))
        entries += [HelpEntry(sign, explanation=meaning) for sign, meaning in _SIGNS]
    title = Content.assemble(("Help", "bold"), (f"  {context.value}", theme.MUTED))
    return TextScreen(title, HelpRows(entries))
