from __future__ import annotations

import pytest

from arcview.analysis.edits import FileEdit
from arcview.analysis.shell_edits import shell_edits
from arcview.model.trajectory import ToolCall, ToolKind


def edits(command: str) -> list[FileEdit]:
    return list(shell_edits(ToolCall("c", "Bash", ToolKind.SHELL, command=command)))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("mv /w/a.py /w/b.py", [("/w/b.py", "move", "/w/a.py")]),
        ("git mv a.py b.py", [("b.py", "move", "a.py")]),
        ("cp -p a.py b.py && mv b.py c/", [("b.py", "copy", "a.py"), ("c/b.py", "move", "b.py")]),
        ("mv a.py b.py pkg", [("pkg/a.py", "move", "a.py"), ("pkg/b.py", "move", "b.py")]),
        ("rm -rf a.py b", [("a.py", "delete", ""), ("b", "delete", "")]),
        ("cd sub && rm x.py", [("sub/x.py", "delete", "")]),
        (
            "cat > n.py <<'E'\nx = 1\nE\nmv n.py m.py",
            [("n.py", "write", ""), ("m.py", "move", "n.py")],
        ),
        ("echo hi >> log.txt", [("log.txt", "append", "")]),
    ],
)
def test_what_a_line_spells_out_is_an_edit(
    command: str, expected: list[tuple[str, str, str]]
) -> None:
    assert [(edit.path, edit.kind, edit.source) for edit in edits(command)] == expected


@pytest.mark.parametrize(
    "command",
    [
        "rm *.pyc",
        "mv $A b.py",
        "for f in a b; do rm $f; done",
        "sed -i 's/a/b/' a.py",
        "git commit -m 'mv a b'",
        "echo mv a b",
        "grep -rn mv .",
        "mv a.py",
        "ls",
    ],
)
def test_what_is_not_spelled_out_is_no_edit(command: str) -> None:
    assert edits(command) == []
