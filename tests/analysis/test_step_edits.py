from __future__ import annotations

import pytest

from arcview.analysis.step_edits import resolver, step_edits, workspace_root
from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory

FILES = ("src/a.py", "b.py")


def write(path: str, number: int = 1) -> Step:
    call = ToolCall(
        f"c{number}",
        "Write",
        ToolKind.WRITE,
        {"file_path": path, "content": "x\n"},
        path=path,
    )
    return Step(f"c{number}", number, Role.ASSISTANT, StepKind.MESSAGE, calls=(call,))


def shell(command: str) -> Step:
    call = ToolCall("c1", "Bash", ToolKind.SHELL, {"command": command}, command=command)
    return Step("c1", 1, Role.ASSISTANT, StepKind.MESSAGE, calls=(call,))


def trajectory(*paths: str) -> Trajectory:
    return Trajectory("t", tuple(write(path, n) for n, path in enumerate(paths, 1)))


@pytest.mark.parametrize(
    ("paths", "known", "root"),
    [
        (["/workspace/src/a.py"], None, "/workspace"),
        (["/tmp/b.py", "/workspace/src/a.py"], None, "/workspace"),
        (["/workspace/b.py", "/workspace/b.py", "/tmp/b.py"], None, "/workspace"),
        (["/elsewhere/c.py"], None, None),
        (["src/a.py"], None, None),
        (["/home/me/b.py"], "/workspace", "/home/me"),
        (["/workspace/b.py"], "/workspace/", "/workspace"),
        (["src/a.py"], "/workspace", "/workspace"),
    ],
)
def test_the_root_is_where_the_agent_s_calls_found_the_files(
    paths: list[str], known: str | None, root: str | None
) -> None:
    assert workspace_root(trajectory(*paths), FILES, known) == root


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/workspace/src/a.py", "src/a.py"),
        ("src/a.py", "src/a.py"),
        ("./b.py", "b.py"),
        ("/tmp/b.py", None),
        ("/workspace/src/../b.py", "b.py"),
        ("/workspace/../b.py", None),
        ("../b.py", None),
        ("~/b.py", None),
    ],
)
def test_only_paths_inside_the_workspace_are_resolved(path: str, found: str | None) -> None:
    assert resolver("/workspace", FILES)(path) == found


def test_a_file_that_came_and_went_is_resolved_below_the_root() -> None:
    assert resolver("/workspace", FILES)("/workspace/scratch.py") == "scratch.py"
    assert resolver(None, FILES)("scratch.py") is None


def test_a_scratch_file_of_the_same_name_is_no_edit_of_the_workspace() -> None:
    steps = trajectory("/workspace/b.py", "/workspace/src/a.py", "/tmp/b.py")
    resolve = resolver(workspace_root(steps, FILES), FILES)
    assert [item.edit.path for item in step_edits(steps, resolve)] == ["b.py", "src/a.py"]


def test_a_heredoc_is_an_edit() -> None:
    steps = Trajectory("t", (shell("cat > b.py <<'E'\nprint()\nE"),))
    (item,) = step_edits(steps, resolver(None, FILES))
    assert (item.step, item.edit.path, item.edit.kind) == ("c1", "b.py", "write")
