"""Reads chat logs: a JSON object a line, `{"who": …, "says": …, "runs": …, "got": …}`."""

import json
from collections.abc import Sequence
from pathlib import Path

from arcview.model.problem import Problem
from arcview.model.trajectory import (
    Role,
    Step,
    StepKind,
    ToolCall,
    ToolKind,
    ToolResult,
    Trajectory,
)
from arcview.readers.registry import Detection


class ChatLogReader:
    id = "chat_log"
    title = "chat log"

    def detect(self, head: bytes, name: str) -> Detection | None:
        """Looks at content first; the name is only a tie-break."""
        is_ours = head.startswith(b'{"who": ')
        return Detection(self.id, "the first line says who") if is_ours else None

    def read(self, path: Path, companions: Sequence[Path] = ()) -> Trajectory:
        """Damage goes into `problems`; a record that no rule knows becomes a RAW step."""
        steps: list[Step] = []
        problems: list[Problem] = []
        number = 0
        for row, line in enumerate(path.read_bytes().splitlines(), start=1):
            key, text = f"line-{row}", line.decode("utf-8", "replace")
            try:
                record = json.loads(text)
                who, says = record["who"], record["says"]
            except (ValueError, TypeError, KeyError):
                problems.append(Problem(f"{path.name}: line {row}", "expected who and says"))
                steps.append(Step(key, None, Role.UNKNOWN, StepKind.RAW, raw=text))
                continue
            calls: tuple[ToolCall, ...] = ()
            if "runs" in record:
                got = ToolResult(record["got"]) if "got" in record else None
                calls = (ToolCall(key, "run", ToolKind.SHELL, command=record["runs"], result=got),)
            # Only what the model said is numbered; what is not recorded stays null, never 0.
            is_step = who == "agent"
            number += is_step
            role = Role.ASSISTANT if is_step else Role.USER
            kind = StepKind.MESSAGE
            steps.append(Step(key, number if is_step else None, role, kind, says, calls=calls))
        return Trajectory(self.id, tuple(steps), problems=tuple(problems))
