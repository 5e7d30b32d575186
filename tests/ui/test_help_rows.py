from __future__ import annotations

import pytest

from arcview.session.commands import Context
from arcview.session.commands_help import help_rows, keys_label
from arcview.text import cells
from arcview.ui.rows.help import HelpEntry, HelpRows


def lines_of(width: int, *entries: HelpEntry) -> list[str]:
    rows = HelpRows(entries)
    rows.fit(width)
    return [rows.row(index).plain for index in range(len(rows))]


def test_a_long_name_stands_above_its_sentence() -> None:
    name = "Annotate what is under the cursor"
    first, second, *_ = lines_of(100, HelpEntry("a", name, "Starts a case, or adds to it."))
    assert first.rstrip().endswith(name)
    assert second.strip() == "Starts a case, or adds to it."


@pytest.mark.parametrize("width", [40, 80, 118, 158])
@pytest.mark.parametrize("context", Context)
def test_nothing_runs_into_anything_else(context: Context, width: int) -> None:
    for _, commands in help_rows(context):
        for command in commands:
            keys = keys_label(command)
            entry = HelpEntry(keys or "palette", command.title, command.help)
            lines = lines_of(width, entry)
            assert max(map(cells, lines)) <= width
            assert lines[0].startswith(f"  {entry.keys} ")
            named = next(line for line in lines if command.title in line)
            after = named.partition(f" {command.title}")[2]
            assert not after or after.startswith(" ")
