from __future__ import annotations

import pytest

from arcview.analysis.edits import FileEdit, edits_of
from arcview.model.trajectory import ToolCall, ToolKind, ToolResult

PATCH = """\
*** Begin Patch
*** Add File: new.py
+one
+two
*** Update File: a.py
@@ def f
 def f():
-    return 1
+    return 2
*** Delete File: gone.py
*** End Patch
"""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"file_path": "a.py", "content": "x\n"}, [FileEdit("a.py", "write", new="x\n")]),
        (
            {"file_path": "a.py", "old_string": "x", "new_string": "y", "replace_all": True},
            [FileEdit("a.py", "replace", new="y", old="x", replace_all=True)],
        ),
        (
            {"file_path": "a.py", "edits": [{"old_string": "x", "new_string": "y"}]},
            [FileEdit("a.py", "replace", new="y", old="x")],
        ),
        (
            {"command": "create", "path": "/r/a.py", "file_text": "x"},
            [FileEdit("/r/a.py", "write", new="x")],
        ),
        (
            {"command": "insert", "path": "a.py", "insert_line": 3, "new_str": "x"},
            [FileEdit("a.py", "insert", new="x", after_line=3)],
        ),
        (
            {"file_path": "a.py", "old_string": "", "new_string": "x"},
            [FileEdit("a.py", "write", new="x")],
        ),
        (
            {"input": PATCH},
            [
                FileEdit("new.py", "write", new="one\ntwo\n"),
                FileEdit(
                    "a.py", "replace", new="def f():\n    return 2", old="def f():\n    return 1"
                ),
                FileEdit("gone.py", "delete"),
            ],
        ),
        ({"path": "a.py", "command": "view"}, []),
        ({"file_path": 3, "content": None}, []),
    ],
)
def test_edits_are_read_from_the_arguments_of_every_tool(
    arguments: dict[str, object], expected: list[FileEdit]
) -> None:
    call = ToolCall("c", "tool", ToolKind.EDIT, arguments)

    assert list(edits_of(call)) == expected


@pytest.mark.parametrize(
    "result",
    [ToolResult("String not found", is_error=True), ToolResult("patch: no such file", None, 1)],
)
def test_a_call_that_failed_edited_nothing(result: ToolResult) -> None:
    call = ToolCall("c", "Edit", ToolKind.WRITE, {"path": "a", "content": "x"}, result=result)

    assert edits_of(call) == ()


def test_a_shell_call_is_not_read_here() -> None:
    assert edits_of(ToolCall("c", "Bash", ToolKind.SHELL, {"path": "a", "content": "x"})) == ()
