"""Small trajectories for the tests of the steps pane."""

from __future__ import annotations

from arcview.model.trajectory import (
    Role,
    Step,
    StepKind,
    ToolCall,
    ToolKind,
    ToolResult,
    Trajectory,
)
from arcview.model.trajectory_refs import Usage


def shell(key: str, command: str, output: str, exit_code: int | None = 0) -> ToolCall:
    """A shell call with its result."""
    return ToolCall(
        key, "Bash", ToolKind.SHELL, command=command, result=ToolResult(output, None, exit_code)
    )


def edit(key: str, path: str, old: str, new: str) -> ToolCall:
    """An edit of a file."""
    return ToolCall(
        key,
        "Edit",
        ToolKind.EDIT,
        arguments={"file_path": path, "old_string": old, "new_string": new},
        path=path,
        result=ToolResult("done"),
    )


def said(number: int, text: str = "", *calls: ToolCall, thinking: str = "") -> Step:
    """A message of the model."""
    return Step(
        key=f"m{number}",
        number=number,
        role=Role.ASSISTANT,
        kind=StepKind.MESSAGE,
        text=text,
        thinking=thinking,
        calls=calls,
        duration_s=2.1,
        usage=Usage(input_tokens=16_500, output_tokens=206, cost_usd=0.031),
    )


def trajectory(*steps: Step) -> Trajectory:
    """Steps in order."""
    return Trajectory(format="test", steps=steps)


OUTPUT = "\n".join(f"output line {i}" for i in range(1, 101))

SAMPLE = trajectory(
    Step("u0", None, Role.USER, StepKind.MESSAGE, text="Build the engine.\nWith care."),
    said(1, "I will look first.", shell("c1", "ls -la", "a.py\nb.py"), thinking="What is here?"),
    said(2, "", edit("c2", "src/a.py", "x = 1\ny = 2", "x = 1\ny = 3")),
    said(3, "", shell("c3", "pytest -q | tail", OUTPUT, 1)),
    Step("n1", None, Role.SYSTEM, StepKind.NOTE, text="retry after an overload"),
    Step("c1", None, Role.SYSTEM, StepKind.COMPACTION, text="Summary of what came before"),
    said(4, "All tests pass."),
)


def note(key: str, text: str, *, is_error: bool = False) -> Step:
    """Something that the client wrote."""
    return Step(key, None, Role.SYSTEM, StepKind.NOTE, text=text, is_error=is_error)


NOISY = trajectory(
    note("n0", 'file-history-snapshot: {"a": 1}'),
    note("n1", "<command-name>/clear</command-name>"),
    note("n2", 'file-history-snapshot: {"b": 2}\nneedle'),
    note("n3", ""),
    said(1, "Hello."),
    note("n4", "retry: overloaded"),
    note("n5", "retry: overloaded"),
    said(2, "Done."),
)
"""Begins with notes that are folded into one row."""
