from __future__ import annotations

import pytest

from arcview.analysis.edits import FileEdit
from arcview.analysis.shell_edits import files_written, shell_edits
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
        (
            "cd sub && apply_patch <<'E'\n*** Begin Patch\n*** Update File: a.py\n-x\n+y\n"
            "*** Add File: b.py\n+z\n*** End Patch\nE",
            [("sub/a.py", "replace", ""), ("sub/b.py", "write", "")],
        ),
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
        "git > out.txt",
        "ls",
    ],
)
def test_what_is_not_spelled_out_is_no_edit(command: str) -> None:
    assert edits(command) == []


def written(command: str) -> list[str | None]:
    return list(files_written(ToolCall("c", "Bash", ToolKind.SHELL, command=command)))


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cat > n.py <<'E'\nx > 1\nE", ["n.py"]),
        ("cat <<'E' >> sub/n.py\nx\nE", ["sub/n.py"]),
        ("pytest | tee out.txt", ["out.txt"]),
        ("python gen.py > data/out.json 2>&1", ["data/out.json"]),
        ("sed -i 's/a/b/' a.py b.py", ["a.py", "b.py"]),
        ("cd sub && sed -i.bak -e 's/a/b/' a.py", ["sub/a.py"]),
        ("sed -i '' 's/a/b/' a.py", ["a.py"]),
        ("sed -i 's/a/b/' *.py", [None]),
        ("perl -pi -e 's/a/b/' a.py", ["a.py"]),
        ("apply_patch <<'E'\n*** Begin Patch\n*** Update File: a.py\n-x\n+y\nE", ["a.py"]),
        ("git apply <<'E'\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\nE", ["a.py"]),
        ("git apply fix.diff", [None]),
        ("patch -p1 < fix.diff", [None]),
        ("mv a.py b.py", ["b.py", "a.py"]),
        ("rm -rf build *.pyc", ["build", None]),
        ("touch pkg/__init__.py", ["pkg/__init__.py"]),
        ("for f in a b; do sed -i s/a/b/ $f; done", [None]),
        ("bash -c 'echo x > a.py'", ["a.py"]),
        ("cp /tmp/try.py a.py", ["a.py"]),
        ("touch /tmp/repo/a.py", ["/tmp/repo/a.py"]),
    ],
)
def test_a_line_writes_the_files_that_its_text_tells(command: str, paths: list[str | None]) -> None:
    assert list(dict.fromkeys(written(command))) == paths


@pytest.mark.parametrize(
    "command",
    [
        "ls > /dev/null 2>&1",
        "pytest -q > /tmp/out.txt; tail /tmp/out.txt",
        "pytest 2>&1 | tee /tmp/log | tail",
        "cat > /tmp/try.py <<'E'\nx = 1\nE\npython /tmp/try.py; rm /tmp/try.py",
        "sed -n 's/a/b/p' a.py",
        "git apply --check fix.diff",
        "patch --dry-run < fix.diff",
        "grep -rn 'a -> b' src",
        "echo 'rm a.py; sed -i s/a/b/ c.py'",
        "git log --patch",
    ],
)
def test_what_only_looks_or_logs_writes_no_file(command: str) -> None:
    assert written(command) == []


def test_a_tool_that_edits_writes_the_file_that_it_names_or_one_not_named() -> None:
    named = ToolCall("c", "Edit", ToolKind.EDIT, {"file_path": "a.py"}, path="a.py")
    assert files_written(named) == ("a.py",)
    assert files_written(ToolCall("c", "Edit", ToolKind.EDIT)) == (None,)
    assert files_written(ToolCall("c", "Read", ToolKind.READ, path="a.py")) == ()
