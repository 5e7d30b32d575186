"""The commands of labelling: noting places, the form of a case, lists of cases, settling."""

from __future__ import annotations

from collections.abc import Iterator

from arcview.session.commands_model import Command, Context, Group, command

_C, _G = Context, Group


def _moving(where: Context) -> Iterator[Command]:
    """Moving in the form, whose letters are the fields' own."""
    for name, keys, title in (
        ("cursor_down", "j down", "Down"),
        ("cursor_up", "k up", "Up"),
        ("cursor_first", "home", "Top"),
        ("cursor_last", "end", "Bottom"),
        ("page_down", "pagedown ctrl+d", "Page down"),
        ("page_up", "pageup ctrl+u", "Page up"),
        ("sideways_left", "left", "Left"),
        ("sideways_right", "right", "Right"),
    ):
        yield command(where, _G.MOVE, name, keys, title, f"{title}.", by_widget=True)


LABEL_COMMANDS: tuple[Command, ...] = (
    # Noting places
    command(
        _C.RUN, _G.LABELS, "annotate", "a", "Annotate what is under the cursor",
        "Starts a case with it, or adds it to the case in hand: a test is an effect, code and "
        "steps are the origin once and evidence afterwards.", "annotate",
    ),
    command(
        _C.RUN, _G.LABELS, "begin_range", "V", "Begin a range of lines",
        "The line under the cursor is one end of a range; a on a line further on is the other.",
    ),
    command(
        _C.RUN, _G.LABELS, "cases", "A", "Cases of this run",
        "Lists them; enter opens one.",
    ),
    command(
        _C.TEXT, _G.LABELS, "annotate", "a", "Annotate this line",
        "Starts a case with the line, or what it leads to, or adds it to the case in hand.",
        "annotate",
    ),
    command(
        _C.TEXT, _G.LABELS, "begin_range", "V", "Begin a range of lines",
        "The line under the cursor is one end of a range; a on a line further on is the other.",
    ),
    # The form of a case; every other letter is a field of the label scheme
    *_moving(_C.CASE),
    command(
        _C.CASE, _G.LABELS, "open_item", "enter", "Open or follow",
        "Opens a field with its codes and what they mean; goes to a piece of evidence.", "open",
    ),
    command(
        _C.CASE, _G.LABELS, "accept", "a", "Take a suggestion over",
        "The one under the cursor, or what is proposed for the field there; the label remembers "
        "its rule.", "accept",
    ),
    command(
        _C.CASE, _G.LABELS, "finish", "s", "Final", "One's reading is final, and done in the "
        "work list; while labelling blind, others' labels and suggestions are shown then.",
        "final",
    ),
    command(
        _C.CASE, _G.LABELS, "reopen", "D", "Draft again",
        "Makes a draft of a final, skipped or retracted case.",
    ),
    command(_C.CASE, _G.LABELS, "undo", "u", "Undo", "Takes one's last change back.", "undo"),
    command(_C.CASE, _G.LABELS, "redo", "U ctrl+r", "Redo", "Does it again."),
    command(
        _C.CASE, _G.LABELS, "write", "w", "Write a note",
        "On the piece of evidence under the cursor, else on the case.", "note",
    ),
    command(
        _C.CASE, _G.LABELS, "write_symbol", "W", "Name the symbol",
        "The function or class that the origin in hand is in, or that the effect comes through.",
    ),
    command(
        _C.CASE, _G.LABELS, "next_role", "r", "Note it as something else",
        "What was noted last becomes the origin, the end of it, awareness, an effect, or only "
        "evidence, in turn.", "role",
    ),
    command(
        _C.CASE, _G.LABELS, "previous_part", "[", "Part before",
        "The origin, effect or stage before: labels go to the one in hand.", "part",
    ),
    command(_C.CASE, _G.LABELS, "next_part", "]", "Next part", "The part after."),
    command(
        _C.CASE, _G.LABELS, "add_origin", "plus", "Another origin",
        "For a case that goes back to several.",
    ),
    command(
        _C.CASE, _G.LABELS, "no_origin", "O", "No origin",
        "Says that there is no defect of the agent, or no longer.",
    ),
    command(
        _C.CASE, _G.LABELS, "remove", "x", "Take away",
        "The origin, effect or piece of evidence under the cursor.",
    ),
    command(
        _C.CASE, _G.LABELS, "retract", "X", "Retract the case",
        "Takes the whole case back; it stays in the store.",
    ),
    command(
        _C.CASE, _G.LABELS, "skip", "z", "Skip",
        "Leaves the gate unlabelled, and goes on in the work list.", "skip",
    ),
    command(
        _C.CASE, _G.LABELS, "next_item", "J", "Next of the work list",
        "The next gate that is not done or skipped; another run where it is in one.", "next",
    ),
    command(_C.CASE, _G.LABELS, "new_case", "A", "Another case about this gate",
        "A gate can have several causes."),
    command(
        _C.CASE, _G.LABELS, "sides", "equals_sign", "Side by side",
        "What everybody says of the case, for settling it.", "settle",
    ),
    command(
        _C.CASE, _G.LABELS, "toggle_blind", "B", "Label blind",
        "Hides what others and rules say until one's own reading is final, and back.",
    ),
    command(
        _C.CASE, _G.PANES, "close", "escape backspace", "Back", "Back to the run.", "back",
    ),
    # Cases of a run
    command(
        _C.CASES, _G.LABELS, "undo", "u", "Undo", "Takes one's last change back.", "undo",
    ),
    command(
        _C.CASES, _G.LABELS, "sides", "equals_sign", "Side by side",
        "What everybody says of the case, for settling it.", "settle",
    ),
    command(
        _C.CASES, _G.LABELS, "toggle_blind", "B", "Label blind",
        "Hides what others and rules say until one's own reading is final, and back.", "blind",
    ),
    command(
        _C.CASES, _G.OUT, "export_cases", "E", "Export the cases",
        "All cases of the run with everybody's readings into a new file: .jsonl for everything, "
        ".csv, or .md as a report.", "export",
    ),
    command(
        _C.CASES, _G.OUT, "import_cases", "I", "Import cases",
        "Adds the cases of a .jsonl or .json file of ours, of Who&When, or of plain records.",
        "import",
    ),
    command(
        _C.CASES, _G.PANES, "close", "backspace escape", "Back", "Back to where you were.", "back",
    ),
    # Everybody's readings beside each other
    command(
        _C.SIDES, _G.LABELS, "adopt", "1 2 3 4 5 6 7 8 9", "Take over from that column",
        "The field under the cursor becomes what that annotator says.", takes_key=True,
    ),
    command(
        _C.SIDES, _G.LABELS, "adopt_all", "a", "Take everything over",
        "All fields of the other annotator; of several others, take fields over one by one.",
        "take all",
    ),
    command(
        _C.SIDES, _G.LABELS, "next_difference", "J", "Next difference",
        "The next field of which people say different things.", "difference",
    ),
    command(
        _C.SIDES, _G.LABELS, "settle", "s", "Settle",
        "One's reading settles the case for everybody.", "settle",
    ),
    command(_C.SIDES, _G.LABELS, "undo", "u", "Undo", "Takes one's last change back.", "undo"),
    command(
        _C.SIDES, _G.PANES, "close", "backspace escape", "Back", "Back to where you were.", "back",
    ),
)  # fmt: skip


WORK_COMMANDS: tuple[Command, ...] = (
    command(
        _C.LIBRARY, _G.LABELS, "work_list", "a", "What is to be labelled",
        "Lists the failing gates of these runs and how far one is with each.", "label",
    ),
    command(
        _C.WORK, _G.LABELS, "next_item", "J", "Next to do",
        "The next gate that is not done or skipped.", "next",
    ),
    command(
        _C.WORK, _G.LABELS, "skip", "z", "Skip", "Leaves the gate unlabelled.", "skip",
    ),
    command(
        _C.WORK, _G.LABELS, "which_gates", "f", "Other gates",
        "All failing gates, the first of each run, those of runs whose first stage failed, or "
        "those after a failed stage.", "which",
    ),
    command(
        _C.WORK, _G.LABELS, "sample", "S", "A sample",
        "Draws 10, 20, 50 or 100 of them, or takes all; the draw is the same for everybody.",
        "sample",
    ),
    command(
        _C.WORK, _G.LABELS, "toggle_blind", "B", "Label blind",
        "Hides what others and rules say until one's own reading is final, and back.", "blind",
    ),
    command(
        _C.WORK, _G.LABELS, "rescan", "ctrl+r", "Look again", "Lists the folder again.",
    ),
    command(
        _C.WORK, _G.PANES, "close", "backspace escape", "Back", "Back to the list of runs.", "back",
    ),
)  # fmt: skip
"""The work list of many runs."""
