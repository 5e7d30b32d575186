from __future__ import annotations

import pytest

from arcview.session.commands import COMMANDS, Context, commands_in, find, key_conflicts
from arcview.session.commands_help import (
    help_rows,
    hints,
    key_table_markdown,
    keys_label,
    standing_hints,
)


@pytest.mark.parametrize("context", list(Context))
def test_no_key_means_two_things_in_one_context(context: Context) -> None:
    assert key_conflicts(context) == {}


def test_every_command_says_what_it_does_in_whole_words() -> None:
    for command in COMMANDS:
        assert command.title[0].isupper(), command.id
        assert command.help.endswith("."), command.id


def test_ids_are_unique_within_each_context() -> None:
    for context in Context:
        ids = [command.id for command in commands_in(context)]
        assert len(ids) == len(set(ids)), context


def test_a_pane_also_has_the_keys_of_its_screen_and_of_the_app() -> None:
    ids = {command.id for command in commands_in(Context.GATE)}
    assert {"cursor_down", "next_stage", "quit"} <= ids


def test_a_command_of_another_screen_is_not_found() -> None:
    with pytest.raises(KeyError):
        find("next_stage", Context.LIBRARY)


def test_help_lists_every_key_of_the_context() -> None:
    explained = {c.id for _, group in help_rows(Context.GATE) for c in group}
    assert explained == {c.id for c in commands_in(Context.GATE)}


def test_hints_name_the_first_key() -> None:
    assert ("z", "zoom") in hints(Context.GATE)


def test_hints_begin_with_what_the_pane_has_of_its_own() -> None:
    assert hints(Context.DIFF)[0] == ("J K", "change")


def test_hints_of_a_pane_go_on_with_what_is_about_it() -> None:
    names = [name for _, name in hints(Context.GATE)]
    assert names[:8] == ["open", "stage", "pane", "failing", "log", "rerun", "matrix", "annotate"]
    assert [name for _, name in hints(Context.TRAJECTORY)][:5] == [
        *("step", "open", "stage", "pane", "replay"),
    ]


def test_a_hint_names_the_key_that_does_the_reverse_too() -> None:
    assert ("[ ]", "stage") in hints(Context.GATE)
    assert ("+ -", "times") in hints(Context.RERUN)


def test_hints_of_a_list_begin_with_what_enter_does() -> None:
    assert hints(Context.LIBRARY)[0] == ("enter", "open")


def test_a_file_says_how_to_get_back() -> None:
    assert ("backspace", "back") in hints(Context.FILE)


def test_help_and_quit_are_hinted_everywhere() -> None:
    assert [name for _, name in standing_hints()] == ["commands", "help", "quit"]


def test_digits_are_written_as_a_range() -> None:
    assert keys_label(find("go_to_stage", Context.RUN)) == "1–9"


def test_key_table_names_every_key() -> None:
    table = key_table_markdown()
    for command in COMMANDS:
        for key in keys_label(command).split():
            assert f"`{key}`" in table, command.id
