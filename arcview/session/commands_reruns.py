"""The commands of running gates again: from the run screen, on the rerun screen, in the matrix."""

from __future__ import annotations

from arcview.session.commands_model import Command, Context, Group, command

_C, _G = Context, Group

RERUN_COMMANDS: tuple[Command, ...] = (
    command(
        _C.RUN, _G.RERUN, "rerun", "r", "Run this gate again",
        "In its container, on the state that is shown or another one; the result stands beside "
        "the recorded one and never replaces it.", "rerun",
    ),
    # One gate again
    command(
        _C.RERUN, _G.RERUN, "start", "r", "Run it",
        "On the chosen state, as often as chosen, each time in a fresh container.", "run",
    ),
    command(
        _C.RERUN, _G.RERUN, "previous_state", "[ {", "State before", "Another state to run it on.",
        "state",
    ),
    command(_C.RERUN, _G.RERUN, "next_state", "] }", "Next state", "The state after."),
    command(
        _C.RERUN, _G.RERUN, "reveal_reference", "R", "Reference states",
        "Lets the reference's states be chosen too; they are hidden until then.",
    ),
    command(
        _C.RERUN, _G.RERUN, "more_times", "plus", "Once more",
        "Runs it as often, to find out which tests are flaky.", "times",
    ),
    command(_C.RERUN, _G.RERUN, "fewer_times", "minus", "Once less", "At least once."),
    command(
        _C.RERUN, _G.RERUN, "toggle_engine", "e", "Containers or this machine",
        "On this machine there is no container: the commands may reach your files and the "
        "network, so you are asked before every run.", "engine",
    ),
    command(
        _C.RERUN, _G.RERUN, "other_image", "i", "Which image will do",
        "Only the recorded one, or any of its name; the result says which it was.",
    ),
    command(
        _C.RERUN, _G.RERUN, "pull", "p", "Fetch a missing image",
        "When the gate is run and its image is not there, the engine fetches it; never otherwise.",
    ),
    command(
        _C.RERUN, _G.RERUN, "differences_only", "f", "Differing tests only",
        "Leaves out the tests that ended as recorded, and back.", "differing",
    ),
    command(
        _C.RERUN, _G.RERUN, "whole_log", "L", "Whole log",
        "Everything that the attempt printed; while it runs, the end of it is shown.", "log",
    ),
    command(
        _C.RERUN, _G.RERUN, "stop_or_close", "escape", "Stop or go back",
        "Stops what is running and removes its container; when nothing runs, goes back.", "stop",
    ),
    command(
        _C.RERUN, _G.PANES, "next_pane", "tab shift+tab", "Result or output",
        "The other of the two panes.", "pane",
    ),
    command(
        _C.RERUN, _G.PANES, "close", "backspace", "Back",
        "Back to where you were; what is running goes on.", "back",
    ),
)  # fmt: skip


MATRIX_COMMANDS: tuple[Command, ...] = (
    command(
        _C.RUN, _G.RERUN, "matrix", "number_sign", "Gates by states",
        "Every gate on every state: recorded, derived, run again, and what was never measured.",
        "matrix",
    ),
    command(
        _C.RUN, _G.RERUN, "what_if", "H", "What if",
        "A failing gate on the reference's base with the agent's change, and on the agent's base "
        "with the reference's change: says whether the failure is inherited or local.",
    ),
    # Inherited or local
    command(
        _C.WHAT_IF, _G.RERUN, "start", "r", "Find out",
        "Runs the gate on both mixed states, several times each.", "run",
    ),
    command(
        _C.WHAT_IF, _G.RERUN, "stop_or_close", "escape", "Stop or go back",
        "Stops what is running; when nothing runs, goes back.", "stop, back",
    ),
    command(
        _C.WHAT_IF, _G.PANES, "next_pane", "tab shift+tab", "Answer or output",
        "The other of the two panes.", "pane",
    ),
    command(
        _C.WHAT_IF, _G.PANES, "close", "backspace", "Back",
        "Back to where you were; what is running goes on.", "back",
    ),
    # Gates by states
    command(
        _C.MATRIX, _G.RERUN, "rerun_cell", "r", "Run this cell",
        "The gate of the row on the state of the column.", "run cell",
    ),
    command(
        _C.MATRIX, _G.RERUN, "run_missing", "x", "Run what is missing",
        "Says how many cells and about how long; once more runs them, the most telling first.",
        "run missing",
    ),
    command(
        _C.MATRIX, _G.RERUN, "reveal_reference", "R", "Reference states",
        "The reference's states as columns, and away again; they are hidden until then.",
        "reference",
    ),
    command(
        _C.MATRIX, _G.RERUN, "what_if", "H", "What if",
        "Whether the failure of the gate under the cursor is inherited or local.", "what if",
    ),
    command(
        _C.MATRIX, _G.RERUN, "more_jobs", "plus", "One more at once",
        "Runs one cell more at the same time.",
    ),
    command(_C.MATRIX, _G.RERUN, "fewer_jobs", "minus", "One less at once", "At least one."),
    command(
        _C.MATRIX, _G.RERUN, "telling_only", "f", "Telling tests only",
        "Leaves out the tests that pass in all of their states, and back.", "telling",
    ),
    command(
        _C.MATRIX, _G.RERUN, "stop_or_close", "escape", "Stop or go back",
        "Stops what is running; when nothing runs, goes back.", "stop, back",
    ),
    command(
        _C.MATRIX, _G.PANES, "next_pane", "tab shift+tab", "Cells or tests",
        "The other of the two panes.", "pane",
    ),
    command(
        _C.MATRIX, _G.PANES, "close", "backspace", "Back",
        "Back to the run; what is running goes on.",
    ),
)  # fmt: skip
