"""Hostile text put into every place of the model that a pane shows."""

from __future__ import annotations

from collections.abc import Sequence

from arcview.model.patch import (
    ChangeKind,
    DiffLine,
    FileChange,
    FilePatch,
    Hunk,
    LineKind,
)
from arcview.model.trajectory import (
    Role,
    Step,
    StepKind,
    ToolCall,
    ToolKind,
    ToolResult,
    Trajectory,
)


def hostile_patches(texts: Sequence[str]) -> list[FilePatch]:
    """A file for each text, whose name, heading, warning and lines are that text."""
    return [_patch(number, text) for number, text in enumerate(texts)]


def _patch(number: int, text: str) -> FilePatch:
    lines: list[DiffLine] = []
    for at, line in enumerate(text.split("\n")):
        first, second = 2 * at + 1, 2 * at + 2
        lines += [
            DiffLine(LineKind.CONTEXT, line, first, first),
            DiffLine(LineKind.REMOVED, f"old {line}", second, None),
            DiffLine(LineKind.ADDED, f"new {line}", None, second),
        ]
    change = FileChange(
        path=f"{number}/{text}.py",
        kind=ChangeKind.RENAMED,
        old_path=text,
        added=len(lines) // 3,
        removed=len(lines) // 3,
        similarity=50,
    )
    count = 2 * len(lines) // 3
    hunk = Hunk(1, count, 1, count, heading=text, lines=tuple(lines))
    return FilePatch(change, (hunk,), warnings=(text,), raw=text if number % 5 == 4 else None)


def hostile_trajectory(texts: Sequence[str]) -> Trajectory:
    """Steps of every kind whose words, calls and results are the texts."""
    steps: list[Step] = []
    for number, text in enumerate(texts, 1):
        calls = (
            _call(f"s{number}", text, ToolKind.SHELL, command=text),
            _call(f"e{number}", text, ToolKind.EDIT, old_string=text, new_string=f"{text}!"),
            _call(f"w{number}", text, ToolKind.WRITE, content=text),
            _call(f"o{number}", text, ToolKind.OTHER, **{text: text}),
        )
        steps += [
            Step(
                key=f"m{number}",
                number=number,
                role=Role.ASSISTANT,
                kind=StepKind.MESSAGE,
                text=text,
                thinking=text,
                calls=calls,
                at=text,
                model=text,
            ),
            Step(f"u{number}", None, Role.USER, StepKind.MESSAGE, text=text, agent=text),
            Step(f"n{number}", None, Role.SYSTEM, StepKind.NOTE, text=text, is_error=True),
            Step(f"c{number}", None, Role.SYSTEM, StepKind.COMPACTION, text=text),
            Step(f"r{number}", None, Role.UNKNOWN, StepKind.RAW, raw=text),
        ]
    return Trajectory(format="hostile", steps=tuple(steps))


def _call(key: str, text: str, kind: ToolKind, **arguments: str) -> ToolCall:
    return ToolCall(
        key=key,
        name=text,
        kind=kind,
        arguments=arguments,
        command=arguments.get("command"),
        path=text,
        result=ToolResult(text, is_error=True, exit_code=1),
        note=text,
    )
