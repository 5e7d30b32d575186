"""The commands of the run screen, a part of the one list in `commands`."""

from __future__ import annotations

from arcview.session.commands_model import Command, Context, Group, command

_C, _G = Context, Group

RUN_COMMANDS: tuple[Command, ...] = (
    # Stages
    command(
        _C.RUN, _G.STAGES, "previous_stage", "[", "Previous stage",
        "The stage before this one.", "stage",
    ),
    command(
        _C.RUN, _G.STAGES, "next_stage", "]", "Next stage",
        "The stage after this one; after the last comes the chain gate.",
    ),
    command(
        _C.RUN, _G.STAGES, "go_to_stage", "1 2 3 4 5 6 7 8 9", "Stage by number",
        "That stage; the palette finds the others by number or title.", takes_key=True,
    ),
    command(
        _C.RUN, _G.STAGES, "chain_gate", "0", "Chain gate",
        "The gate on the final code.",
    ),
    command(
        _C.RUN, _G.STAGES, "previous_state", "{", "Previous state",
        "The state before this one, those between the stages included.",
    ),
    command(
        _C.RUN, _G.STAGES, "next_state", "}", "Next state",
        "The state after this one, those between the stages included.",
    ),
    command(
        _C.RUN, _G.STAGES, "first_failing_gate", "!", "First failing gate",
        "The first stage whose gate failed.", "first fail",
    ),
    command(
        _C.RUN, _G.STAGES, "first_bad_stage", "b", "First bad stage",
        "Where the first failure arose that was not there before, between-states included.",
    ),
    # Panes
    command(
        _C.RUN, _G.PANES, "next_pane", "tab", "Next pane",
        "Diff, gate, self-tests, trajectory; in a narrow terminal they are tabs.", "pane",
    ),
    command(
        _C.RUN, _G.PANES, "previous_pane", "shift+tab", "Previous pane",
        "The same, backwards.",
    ),
    command(
        _C.RUN, _G.PANES, "zoom", "z", "Zoom the pane",
        "The pane alone on the screen, and back.", "zoom",
    ),
    command(
        _C.RUN, _G.PANES, "back", "backspace", "Back",
        "Where you were before you followed something; from there to the list of runs.", "back",
    ),
    # Gate
    command(
        _C.RUN, _G.GATE, "failing_only", "f", "Failing tests only",
        "Leaves out what passed, and back.", "failing",
    ),
    command(
        _C.RUN, _G.GATE, "raw_log", "L", "Raw log of the gate",
        "What the gate's commands printed.", "log",
    ),
    # Diff
    command(
        _C.RUN, _G.DIFF, "unified_or_split", "u", "Unified or side by side",
        "The diff in one column or in two.", "split",
    ),
    command(
        _C.RUN, _G.DIFF, "next_diff_mode", "m", "Compare with something else",
        "What this stage changed, what changed before it began, everything since the start, "
        "two chosen states, and the reference once it is revealed.", "mode",
    ),
    command(
        _C.RUN, _G.DIFF, "choose_states", "M", "Compare two states",
        "Choose any two states to compare.",
    ),
    command(
        _C.RUN, _G.DIFF, "reveal_reference", "", "Reveal the reference",
        "Makes the reference solution one of the diff modes; it is hidden until then.",
    ),
    command(
        _C.DIFF, _G.DIFF, "next_hunk", "J", "Next change", "The next changed lines.",
        "change", by_widget=True,
    ),
    command(
        _C.DIFF, _G.DIFF, "previous_hunk", "K", "Previous change", "The changed lines before.",
        by_widget=True,
    ),
    command(
        _C.RUN, _G.DIFF, "next_file", ")", "Next file", "The next changed file, in the diff.",
    ),
    command(
        _C.RUN, _G.DIFF, "previous_file", "(", "Previous file", "The changed file before.",
    ),
    command(
        _C.DIFF, _G.DIFF, "toggle_file", "space", "Fold the file",
        "Folds the file under the cursor, or opens it.", by_widget=True,
    ),
    command(
        _C.DIFF, _G.DIFF, "whole_file", "O", "Whole file",
        "Opens every unchanged part of the file under the cursor.", by_widget=True,
    ),
    command(
        _C.DIFF, _G.DIFF, "fold_all", "minus", "Fold all files", "Folds every file.",
        by_widget=True,
    ),
    command(
        _C.DIFF, _G.DIFF, "open_all", "plus", "Open all files",
        "Opens every file that is not vendored, generated, a cache or a lock file.",
        by_widget=True,
    ),
    command(
        _C.RUN, _G.DIFF, "file_tree", "F", "Tree of changed files",
        "The changed files as a tree with their counts; enter goes to one, or folds a folder.",
        "files",
    ),
    command(
        _C.RUN, _G.DIFF, "next_editing_step", "i", "Steps that edited this file",
        "Goes through the steps that wrote or edited the file under the cursor, one by one.",
        "edits",
    ),
    command(
        _C.RUN, _G.DIFF, "who_wrote", "B", "Who wrote each line",
        "Stage and step left of every line, and away again; enter on a line goes to its step.",
        "who wrote",
    ),
    command(
        _C.RUN, _G.DIFF, "view_file", "v", "View the whole file",
        "The file under the cursor as it stands in that state.", "file",
    ),
    # Steps
    command(
        _C.RUN, _G.STEPS, "next_error", "e", "Next error", "The next step with an error.",
    ),
    command(
        _C.RUN, _G.STEPS, "previous_error", "E", "Previous error", "The one before.",
    ),
    command(
        _C.RUN, _G.STEPS, "next_edit", "w", "Next edit", "The next step that writes a file.",
    ),
    command(
        _C.RUN, _G.STEPS, "previous_edit", "W", "Previous edit", "The one before.",
    ),
    command(
        _C.RUN, _G.STEPS, "next_test_run", "x", "Next self-test",
        "The next step that ran a test or checked something.",
    ),
    command(
        _C.RUN, _G.STEPS, "previous_test_run", "X", "Previous self-test", "The one before.",
    ),
    command(
        _C.TRAJECTORY, _G.STEPS, "next_step", "J", "Next step", "The next step.", "step",
        by_widget=True, action="jump('step', 1)",
    ),
    command(
        _C.TRAJECTORY, _G.STEPS, "previous_step", "K", "Previous step", "The one before.",
        by_widget=True, action="jump('step', -1)",
    ),
    command(
        _C.TRAJECTORY, _G.STEPS, "next_message", ".", "Next message",
        "The next step in which somebody says something.",
        by_widget=True, action="jump('message', 1)",
    ),
    command(
        _C.TRAJECTORY, _G.STEPS, "previous_message", ",", "Previous message", "The one before.",
        by_widget=True, action="jump('message', -1)",
    ),
    command(
        _C.TRAJECTORY, _G.STEPS, "toggle_step", "space", "Open the step",
        "Opens the step under the cursor, or closes it.", by_widget=True,
    ),
    command(
        _C.TRAJECTORY, _G.STEPS, "open_all", "plus", "Open all steps", "Opens every step.",
        by_widget=True,
    ),
    command(
        _C.TRAJECTORY, _G.STEPS, "close_all", "minus", "Close all steps", "Closes every step.",
        by_widget=True,
    ),
    command(
        _C.TRAJECTORY, _G.STEPS, "whole_text", "O", "Whole text",
        "What is under the cursor on a screen of its own, not cut anywhere.",
    ),
    # Replay
    command(
        _C.RUN, _G.STEPS, "replay", "p", "Replay the stage",
        "The diff shows the workspace as it stood after the step under the trajectory's cursor; "
        "and back to the whole change.", "replay",
    ),
    command(
        _C.RUN, _G.STEPS, "play", "greater_than_sign", "Play or pause",
        "In a replay, goes on by itself from step to step; so does space in the trajectory.",
    ),
    # Searching
    command(
        _C.RUN, _G.SEARCH, "find", "ctrl+f", "Find in the whole run",
        "Searches steps, diffs, gate messages, specifications and logs of every stage.", "find",
    ),
    # Taking something out
    command(
        _C.RUN, _G.OUT, "copy_address", "Y", "Copy the address",
        "Copies where the cursor is, as `arcview RUN --at` takes it.",
        action="copy_part('address')",
    ),
    command(
        _C.RUN, _G.OUT, "copy_test", "T", "Copy the test's id",
        "Copies the id of the test under the cursor, or those of a whole cause.",
        action="copy_part('test')",
    ),
    command(
        _C.RUN, _G.OUT, "copy_message", "S", "Copy the message",
        "Copies what the test under the cursor says, or the step.",
        action="copy_part('message')",
    ),
    command(
        _C.RUN, _G.OUT, "copy_hunk", "D", "Copy the change",
        "Copies the change under the diff's cursor as a patch; on a heading, all of the file.",
        action="copy_part('hunk')",
    ),
    # The run
    command(
        _C.RUN, _G.RUN, "spec", "s", "Specification", "What the agent was told at this stage.",
        "spec",
    ),
    command(
        _C.RUN, _G.RUN, "contract", "c", "Contract",
        "Names, signatures, constants and messages that the stage promises.", "contract",
    ),
    command(
        _C.RUN, _G.RUN, "coverage", "C", "Contract against the code",
        "Each item of the contract: present, different, missing or moved, in every state; the code "
        "beside it.", "coverage",
    ),
    command(
        _C.RUN, _G.RUN, "problems", "P", "Problems of the run",
        "Damaged and missing files, and what each of them switches off.",
    ),
    command(
        _C.RUN, _G.RUN, "reload", "ctrl+r", "Read the run again",
        "Reads it again from the disk, at the same place.",
    ),
)  # fmt: skip
