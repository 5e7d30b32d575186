"""The commands of every list, of the other screens and of the program; part of `commands`."""

from __future__ import annotations

from arcview.session.commands_model import Command, Context, Group, command

_C, _G = Context, Group

LIST_COMMANDS: tuple[Command, ...] = (
    # Moving
    command(
        _C.ROWS, _G.MOVE, "cursor_down", "j down", "Down", "One row down.", by_widget=True,
    ),
    command(
        _C.ROWS, _G.MOVE, "cursor_up", "k up", "Up", "One row up.", by_widget=True,
    ),
    command(
        _C.ROWS, _G.MOVE, "sideways_left", "h left", "Left", "Scrolls to the left.",
        by_widget=True,
    ),
    command(
        _C.ROWS, _G.MOVE, "sideways_right", "l right", "Right", "Scrolls to the right.",
        by_widget=True,
    ),
    command(
        _C.ROWS, _G.MOVE, "cursor_first", "g home", "Top", "The first row.", by_widget=True,
    ),
    command(
        _C.ROWS, _G.MOVE, "cursor_last", "G end", "Bottom", "The last row.", by_widget=True,
    ),
    command(
        _C.ROWS, _G.MOVE, "half_page_down", "ctrl+d", "Half a page down", "Half a page down.",
        by_widget=True,
    ),
    command(
        _C.ROWS, _G.MOVE, "half_page_up", "ctrl+u", "Half a page up", "Half a page up.",
        by_widget=True,
    ),
    command(
        _C.ROWS, _G.MOVE, "page_down", "pagedown", "Page down", "A page down.",
        by_widget=True,
    ),
    command(
        _C.ROWS, _G.MOVE, "page_up", "pageup", "Page up", "A page up.", by_widget=True,
    ),
    command(
        _C.ROWS, _G.MOVE, "pick", "enter", "Open or follow",
        "Opens what is under the cursor, or follows it to where it comes from.", "open",
        by_widget=True,
    ),
    # Searching
    command(
        _C.ROWS, _G.SEARCH, "search", "/", "Search",
        "Searches the pane; in the trajectory, all steps. Lower case finds both cases.", "search",
    ),
    command(
        _C.ROWS, _G.SEARCH, "search_next", "n", "Next match",
        "The next match; of a search through the whole run, in whatever pane it is.",
        by_widget=True,
    ),
    command(
        _C.ROWS, _G.SEARCH, "search_previous", "N", "Previous match", "The match before.",
        by_widget=True,
    ),
    # Taking something out
    command(
        _C.ROWS, _G.OUT, "copy", "y", "Copy",
        "Copies the selection, or the row under the cursor, cleaned of control characters.",
    ),
    command(
        _C.RUN, _G.OUT, "open_in_editor", "o", "Open in $EDITOR",
        "Opens the file under the cursor, as it was in that state, in your editor.",
    ),
    # Finding
    command(
        _C.FIND, _G.SEARCH, "find_box", "ctrl+f i", "Change the text",
        "Back to the box in which the text stands.", "text",
    ),
    command(
        _C.FIND, _G.SEARCH, "toggle_regex", "ctrl+r", "Literal or regular expression",
        "Searches again, with the text taken the other way.", "regex",
    ),
    command(
        _C.FIND, _G.SEARCH, "stop_or_close", "escape backspace", "Stop or go back",
        "Stops a search that is under way; without one, back to where you were.", "stop, back",
    ),
    # List of runs
    command(
        _C.LIBRARY, _G.RUN, "failed_runs_only", "f", "Failing runs only",
        "Keeps the runs with a failed gate, and those that cannot be read; and back.", "failing",
    ),
    command(
        _C.LIBRARY, _G.RUN, "filter_runs", "F", "Filter the runs",
        "By words and fields: agent:opus stage2:failed chain:passed bad:3 status:completed -word.",
        "filter",
    ),
    command(
        _C.LIBRARY, _G.RUN, "sort_runs", "s", "Sort by something else",
        "By path, first bad stage, stages passed, cost, time or start; what is unknown comes last.",
        "sort",
    ),
    command(
        _C.LIBRARY, _G.RUN, "reverse_runs", "S", "Reverse the order", "The other way round.",
    ),
    command(
        _C.LIBRARY, _G.RUN, "group_runs", "b", "Group by something else",
        "By task, agent or attempt, and not at all.", "group",
    ),
    command(
        _C.LIBRARY, _G.COMPARE, "mark_run", "space", "Mark for comparing",
        "Marks the run under the cursor, or no more; two can be marked.", "mark",
    ),
    command(
        _C.LIBRARY, _G.COMPARE, "compare_runs", "equals_sign", "Compare two runs",
        "The two marked runs beside each other, or the marked one and that under the cursor.",
        "compare",
    ),
    command(
        _C.LIBRARY, _G.RUN, "rescan", "ctrl+r", "Look again", "Lists the folder again.",
    ),
    # Two runs beside each other
    command(
        _C.COMPARE, _G.STAGES, "previous_stage", "[", "Previous stage", "The stage before.",
        "stage",
    ),
    command(
        _C.COMPARE, _G.STAGES, "next_stage", "]", "Next stage", "The stage after.",
    ),
    command(
        _C.COMPARE, _G.STAGES, "go_to_stage", "0 1 2 3 4 5 6 7 8 9", "Stage by number",
        "That stage; 0 is the chain gate.", takes_key=True,
    ),
    command(
        _C.COMPARE, _G.PANES, "next_pane", "tab", "Next pane",
        "Stages, tests, code, steps of A, steps of B; the steps of both move together, by number.",
        "pane",
    ),
    command(
        _C.COMPARE, _G.PANES, "previous_pane", "shift+tab", "Previous pane",
        "The same, backwards.",
    ),
    command(
        _C.COMPARE, _G.DIFF, "unified_or_split", "u", "Unified or side by side",
        "The code in one column or in two.", "split",
    ),
    command(
        _C.COMPARE, _G.COMPARE, "open_a", "A", "Open run A", "Run A at this stage.", "open A",
    ),
    command(
        _C.COMPARE, _G.COMPARE, "open_b", "B", "Open run B", "Run B at this stage.", "open B",
    ),
    command(
        _C.COMPARE, _G.PANES, "close", "backspace escape", "Back", "Back to where you were.",
        "back",
    ),
    # A contract against the code
    command(
        _C.COVERAGE, _G.STAGES, "previous_state", "[ {", "State before",
        "Looks at the state before.", "state",
    ),
    command(
        _C.COVERAGE, _G.STAGES, "next_state", "] }", "Next state", "Looks at the next state.",
    ),
    command(
        _C.COVERAGE, _G.PANES, "next_pane", "tab shift+tab", "Other pane",
        "Items and code by turns.", "pane",
    ),
    command(
        _C.COVERAGE, _G.RUN, "spec_text", "s", "Specification",
        "The specification in the place of the items, and back.", "spec",
    ),
    command(
        _C.COVERAGE, _G.RUN, "contract_text", "c", "Contract as written",
        "The contract's own text in the place of the items, and back.", "contract",
    ),
    command(
        _C.COVERAGE, _G.PANES, "close", "backspace escape", "Back", "Back to the run.", "back",
    ),
    # A text on its own
    command(
        _C.TEXT, _G.PANES, "close", "backspace escape", "Back", "Back to where you were.", "back",
    ),
    command(
        _C.TEXT, _G.MOVE, "next_section", "J", "Next section",
        "The next heading of a text that has some, at its first link.",
    ),
    command(_C.TEXT, _G.MOVE, "previous_section", "K", "Section before", "The one before."),
    command(
        _C.TEXT, _G.OUT, "copy_address", "Y", "Copy the address",
        "Copies where the cursor is, as `arcview RUN --at` takes it.",
        action="copy_part('address')",
    ),
    command(
        _C.TEXT, _G.OUT, "copy_test", "T", "Copy the test's id",
        "Copies the id of the test whose failure is shown.", action="copy_part('test')",
    ),
    command(
        _C.TEXT, _G.OUT, "copy_message", "S", "Copy the message",
        "Copies what the test says whose failure is shown.", action="copy_part('message')",
    ),
    command(
        _C.TEXT, _G.OUT, "open_in_editor", "o", "Open in $EDITOR",
        "Opens the file that the line is of or leads to, as it was in that state, in your editor.",
    ),
    command(
        _C.FILE, _G.DIFF, "who_wrote", "B", "Who wrote each line",
        "Stage and step left of every line, and away again; enter on a line goes to its step.",
        "who wrote",
    ),
    command(
        _C.CHOICE, _G.PANES, "close", "backspace escape", "Back", "Chooses nothing.", "back",
    ),
    # arcview
    command(
        _C.APP, _G.APP, "palette", ": ctrl+p", "Command palette",
        "Finds every command by its name, and every stage by its number or title.", "commands",
    ),
    command(_C.APP, _G.APP, "help", "?", "Help", "Every key of this screen.", "help"),
    command(
        _C.APP, _G.APP, "next_theme", "t", "Dark or light", "The other theme.",
    ),
    command(
        _C.APP, _G.APP, "interrupt", "ctrl+c", "Copy or quit",
        "Copies what the mouse has selected; without a selection it leaves arcview.",
    ),
    command(_C.APP, _G.APP, "quit", "q ctrl+q", "Quit", "Leaves arcview.", "quit"),
)  # fmt: skip
