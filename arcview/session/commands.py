"""The one list of what a person can do, from which keys, palette, help and README are made.

Knows nothing of Textual; the screens turn it into bindings. Keys are Textual key names.
"""

from __future__ import annotations

from collections.abc import Iterator

from arcview.session.commands_model import Command as Command
from arcview.session.commands_model import Context as Context
from arcview.session.commands_model import Group as Group

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
    Context.CHOICE: (Context.ROWS, Context.APP),
}


def _command(
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
    return Command(
        name, tuple(keys.split()), title, explanation, group, context, hint,
        takes_key, by_widget, action or name,
    )  # fmt: skip


_C, _G = Context, Group

COMMANDS: tuple[Command, ...] = (
    # Stages
    _command(
        _C.RUN, _G.STAGES, "previous_stage", "[", "Previous stage",
        "The stage before this one.", "stage",
    ),
    _command(
        _C.RUN, _G.STAGES, "next_stage", "]", "Next stage",
        "The stage after this one; after the last comes the chain gate.",
    ),
    _command(
        _C.RUN, _G.STAGES, "go_to_stage", "1 2 3 4 5 6 7 8 9", "Stage by number",
        "That stage.", takes_key=True,
    ),
    _command(
        _C.RUN, _G.STAGES, "chain_gate", "0", "Chain gate",
        "The gate on the final code.",
    ),
    _command(
        _C.RUN, _G.STAGES, "previous_state", "{", "Previous state",
        "The state before this one, those between the stages included.",
    ),
    _command(
        _C.RUN, _G.STAGES, "next_state", "}", "Next state",
        "The state after this one, those between the stages included.",
    ),
    _command(
        _C.RUN, _G.STAGES, "first_failing_gate", "!", "First failing gate",
        "The first stage whose gate failed.", "first fail",
    ),
    _command(
        _C.RUN, _G.STAGES, "first_bad_stage", "b", "First bad stage",
        "Where the first failure arose that was not there before, between-states included.",
    ),
    # Panes
    _command(
        _C.RUN, _G.PANES, "next_pane", "tab", "Next pane",
        "Diff, gate, self-tests, trajectory; in a narrow terminal they are tabs.", "pane",
    ),
    _command(
        _C.RUN, _G.PANES, "previous_pane", "shift+tab", "Previous pane",
        "The same, backwards.",
    ),
    _command(
        _C.RUN, _G.PANES, "zoom", "z", "Zoom the pane",
        "The pane alone on the screen, and back.", "zoom",
    ),
    _command(
        _C.RUN, _G.PANES, "back", "backspace", "Back",
        "Where you were before you followed something; from there to the list of runs.", "back",
    ),
    # Moving
    _command(
        _C.ROWS, _G.MOVE, "cursor_down", "j down", "Down", "One row down.", by_widget=True,
    ),
    _command(
        _C.ROWS, _G.MOVE, "cursor_up", "k up", "Up", "One row up.", by_widget=True,
    ),
    _command(
        _C.ROWS, _G.MOVE, "sideways_left", "h left", "Left", "Scrolls to the left.",
        by_widget=True,
    ),
    _command(
        _C.ROWS, _G.MOVE, "sideways_right", "l right", "Right", "Scrolls to the right.",
        by_widget=True,
    ),
    _command(
        _C.ROWS, _G.MOVE, "cursor_first", "g home", "Top", "The first row.", by_widget=True,
    ),
    _command(
        _C.ROWS, _G.MOVE, "cursor_last", "G end", "Bottom", "The last row.", by_widget=True,
    ),
    _command(
        _C.ROWS, _G.MOVE, "half_page_down", "ctrl+d", "Half a page down", "Half a page down.",
        by_widget=True,
    ),
    _command(
        _C.ROWS, _G.MOVE, "half_page_up", "ctrl+u", "Half a page up", "Half a page up.",
        by_widget=True,
    ),
    _command(
        _C.ROWS, _G.MOVE, "page_down", "pagedown ctrl+f", "Page down", "A page down.",
        by_widget=True,
    ),
    _command(
        _C.ROWS, _G.MOVE, "page_up", "pageup ctrl+b", "Page up", "A page up.", by_widget=True,
    ),
    _command(
        _C.ROWS, _G.MOVE, "pick", "enter", "Open or follow",
        "Opens what is under the cursor, or follows it to where it comes from.", "open",
        by_widget=True,
    ),
    # Searching
    _command(
        _C.ROWS, _G.SEARCH, "search", "/", "Search",
        "Searches the pane; in the trajectory, all steps. Lower case finds both cases.", "search",
    ),
    _command(
        _C.ROWS, _G.SEARCH, "search_next", "n", "Next match", "The next match.",
        by_widget=True,
    ),
    _command(
        _C.ROWS, _G.SEARCH, "search_previous", "N", "Previous match", "The match before.",
        by_widget=True,
    ),
    # Gate
    _command(
        _C.RUN, _G.GATE, "failing_only", "f", "Failing tests only",
        "Leaves out what passed, and back.", "failing",
    ),
    _command(
        _C.RUN, _G.GATE, "raw_log", "L", "Raw log of the gate",
        "What the gate's commands printed.", "log",
    ),
    # Diff
    _command(
        _C.RUN, _G.DIFF, "unified_or_split", "u", "Unified or side by side",
        "The diff in one column or in two.", "split",
    ),
    _command(
        _C.RUN, _G.DIFF, "next_diff_mode", "m", "Compare with something else",
        "What this stage changed, what changed before it began, everything since the start, "
        "two chosen states, and the reference once it is revealed.", "mode",
    ),
    _command(
        _C.RUN, _G.DIFF, "choose_states", "M", "Compare two states",
        "Choose any two states to compare.",
    ),
    _command(
        _C.RUN, _G.DIFF, "reveal_reference", "", "Reveal the reference",
        "Makes the reference solution one of the diff modes; it is hidden until then.",
    ),
    _command(
        _C.DIFF, _G.DIFF, "next_hunk", "J", "Next change", "The next changed lines.",
        "change", by_widget=True,
    ),
    _command(
        _C.DIFF, _G.DIFF, "previous_hunk", "K", "Previous change", "The changed lines before.",
        by_widget=True,
    ),
    _command(
        _C.RUN, _G.DIFF, "next_file", ")", "Next file", "The next changed file, in the diff.",
        "file",
    ),
    _command(
        _C.RUN, _G.DIFF, "previous_file", "(", "Previous file", "The changed file before.",
    ),
    _command(
        _C.DIFF, _G.DIFF, "toggle_file", "space", "Fold the file",
        "Folds the file under the cursor, or opens it.", by_widget=True,
    ),
    _command(
        _C.DIFF, _G.DIFF, "whole_file", "O", "Whole file",
        "Opens every unchanged part of the file under the cursor.", by_widget=True,
    ),
    _command(
        _C.DIFF, _G.DIFF, "fold_all", "minus", "Fold all files", "Folds every file.",
        by_widget=True,
    ),
    _command(
        _C.DIFF, _G.DIFF, "open_all", "plus", "Open all files",
        "Opens every file that is not vendored, generated, a cache or a lock file.",
        by_widget=True,
    ),
    _command(
        _C.RUN, _G.DIFF, "file_tree", "F", "Tree of changed files",
        "The changed files as a tree with their counts; enter goes to one.", "files",
    ),
    _command(
        _C.RUN, _G.DIFF, "next_editing_step", "i", "Steps that edited this file",
        "Goes through the steps that wrote or edited the file under the cursor, one by one.",
        "who wrote",
    ),
    # Steps
    _command(
        _C.RUN, _G.STEPS, "next_error", "e", "Next error", "The next step with an error.",
    ),
    _command(
        _C.RUN, _G.STEPS, "previous_error", "E", "Previous error", "The one before.",
    ),
    _command(
        _C.RUN, _G.STEPS, "next_edit", "w", "Next edit", "The next step that writes a file.",
    ),
    _command(
        _C.RUN, _G.STEPS, "previous_edit", "W", "Previous edit", "The one before.",
    ),
    _command(
        _C.RUN, _G.STEPS, "next_test_run", "x", "Next self-test",
        "The next step that ran a test or checked something.",
    ),
    _command(
        _C.RUN, _G.STEPS, "previous_test_run", "X", "Previous self-test", "The one before.",
    ),
    _command(
        _C.TRAJECTORY, _G.STEPS, "next_step", "J", "Next step", "The next step.", "step",
        by_widget=True, action="jump('step', 1)",
    ),
    _command(
        _C.TRAJECTORY, _G.STEPS, "previous_step", "K", "Previous step", "The one before.",
        by_widget=True, action="jump('step', -1)",
    ),
    _command(
        _C.TRAJECTORY, _G.STEPS, "next_message", ".", "Next message",
        "The next step in which somebody says something.",
        by_widget=True, action="jump('message', 1)",
    ),
    _command(
        _C.TRAJECTORY, _G.STEPS, "previous_message", ",", "Previous message", "The one before.",
        by_widget=True, action="jump('message', -1)",
    ),
    _command(
        _C.TRAJECTORY, _G.STEPS, "toggle_step", "space", "Open the step",
        "Opens the step under the cursor, or closes it.", by_widget=True,
    ),
    _command(
        _C.TRAJECTORY, _G.STEPS, "open_all", "plus", "Open all steps", "Opens every step.",
        by_widget=True,
    ),
    _command(
        _C.TRAJECTORY, _G.STEPS, "close_all", "minus", "Close all steps", "Closes every step.",
        by_widget=True,
    ),
    _command(
        _C.TRAJECTORY, _G.STEPS, "whole_text", "O", "Whole text",
        "What is under the cursor on a screen of its own, not cut anywhere.",
    ),
    # The run
    _command(
        _C.RUN, _G.RUN, "spec", "s", "Specification", "What the agent was told at this stage.",
        "spec",
    ),
    _command(
        _C.RUN, _G.RUN, "contract", "c", "Contract",
        "Names, signatures, constants and messages that the stage promises.", "contract",
    ),
    _command(
        _C.RUN, _G.RUN, "problems", "P", "Problems of the run",
        "Damaged and missing files, and what each of them switches off.",
    ),
    _command(
        _C.RUN, _G.RUN, "reload", "ctrl+r", "Read the run again",
        "Reads it again from the disk, at the same place.",
    ),
    # Taking something out
    _command(
        _C.ROWS, _G.OUT, "copy", "y", "Copy",
        "Copies the selection, or the row under the cursor, cleaned of control characters.",
    ),
    _command(
        _C.RUN, _G.OUT, "open_in_editor", "o", "Open in $EDITOR",
        "Opens the file under the cursor, as it was in that state, in your editor.",
    ),
    # List of runs
    _command(
        _C.LIBRARY, _G.RUN, "failed_runs_only", "f", "Failing runs only",
        "Leaves out the runs whose gates all passed, and back.", "failing",
    ),
    _command(
        _C.LIBRARY, _G.RUN, "rescan", "ctrl+r", "Look again", "Lists the folder again.",
    ),
    # A text on its own
    _command(
        _C.TEXT, _G.PANES, "close", "backspace escape", "Back", "Back to where you were.", "back",
    ),
    _command(
        _C.CHOICE, _G.PANES, "close", "backspace escape", "Back", "Chooses nothing.", "back",
    ),
    # arcview
    _command(
        _C.APP, _G.APP, "palette", ": ctrl+p", "Command palette",
        "Finds every command by its name.", "commands",
    ),
    _command(_C.APP, _G.APP, "help", "?", "Help", "Every key of this screen.", "help"),
    _command(
        _C.APP, _G.APP, "next_theme", "t", "Dark or light", "The other theme.",
    ),
    _command(
        _C.APP, _G.APP, "interrupt", "ctrl+c", "Copy or quit",
        "Copies what the mouse has selected; without a selection it leaves arcview.",
    ),
    _command(_C.APP, _G.APP, "quit", "q ctrl+q", "Quit", "Leaves arcview.", "quit"),
)  # fmt: skip


def commands_in(context: Context) -> Iterator[Command]:
    """Every command that applies in that context: its own, then those of what encloses it."""
    for where in (context, *_ENCLOSING[context]):
        yield from (command for command in COMMANDS if command.context is where)


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
