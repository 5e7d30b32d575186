"""Writes small SlopCodeBench folders, whole ones that tests then damage."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SESSION = "11111111-2222-3333-4444-555555555555"


def write(file: Path, content: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_text(text, "utf-8", errors="surrogatepass")
    return file


def evaluation(tests: Mapping[str, Mapping[str, Sequence[str]]], **more: object) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "duration": 1.5,
        "tests": tests,
        "pytest_exit_code": 1,
        "pytest_collected": 99,
        "infrastructure_failure": False,
        **more,
    }


def entry(node_id: str, outcome: str = "passed", message: str | None = None) -> dict[str, Any]:
    call: dict[str, Any] = {"duration": 0.5, "outcome": outcome}
    if message is not None:
        call |= {"crash": {"path": "x.py", "lineno": 3, "message": message}, "longrepr": "E boom"}
    phases = {"setup": {"duration": 0.1, "outcome": "passed"}, "call": call}
    return {"nodeid": node_id, "outcome": outcome, **phases}


def report(*entries: object) -> dict[str, Any]:
    return {"created": 1.0, "exitcode": 1, "root": "/workspace", "tests": list(entries)}


def inference(**more: object) -> dict[str, Any]:
    tokens = {"input": 100, "cache_read": 20, "output": 30, "reasoning": 0, "cache_write": 0}
    usage = {"cost": 0.25, "steps": 2, "net_tokens": tokens}
    return {
        "started": "2026-01-01T10:00:00",
        "completed": "2026-01-01T10:05:00",
        "elapsed": 300.0,
        "had_error": False,
        "error_message": None,
        "usage": usage,
        **more,
    }


def stream(*texts: str, session: str = SESSION) -> str:
    records: list[dict[str, Any]] = [
        {
            "type": "system",
            "subtype": "init",
            "session_id": session,
            "model": "model-1",
            "claude_code_version": "2.0",
            "cwd": "/workspace",
        }
    ]
    for number, text in enumerate(texts):
        message = {"id": f"msg_{number}", "role": "assistant", "model": "model-1"}
        content = [{"type": "text", "text": text}]
        records.append(
            {
                "type": "assistant",
                "message": {**message, "content": content},
                "session_id": session,
                "parent_tool_use_id": None,
                "uuid": f"u{number}",
            }
        )
    return "".join(json.dumps(record) + "\n" for record in records)


def session_file(prompt: str, *texts: str, session: str, at: str) -> str:
    def record(kind: str, number: int, message: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": kind,
            "sessionId": session,
            "uuid": f"{session}-{number}",
            "timestamp": at,
            "message": message,
        }

    records = [record("user", 0, {"role": "user", "content": prompt})]
    for number, text in enumerate(texts, start=1):
        content = [{"type": "text", "text": text}]
        message = {"id": f"{session}-m{number}", "role": "assistant", "content": content}
        records.append(record("assistant", number, message))
    return "".join(json.dumps(line) + "\n" for line in records)


def write_run(root: Path, *, stages: int = 2, declared: int | None = None) -> Path:
    """A finished run: every stage ran and was measured, one test fails in each gate."""
    names = [f"checkpoint_{k}" for k in range(1, (declared or stages) + 1)]
    listed = "".join(f"  {n}:\n    name: {n}\n    order: {i}\n" for i, n in enumerate(names, 1))
    write(root / "problem.yaml", f"name: demo\ncheckpoints:\n{listed}")
    states = "".join(f"    {name}: ran\n" for name in names[:stages])
    states += "".join(f"    {name}: skipped\n" for name in names[stages:])
    write(
        root / "run_info.yaml",
        "agent_type: claude_code\nagent_version: '2.0'\nmodel_name: model-1\n"
        f"summary:\n  state: completed\n  checkpoints:\n{states}",
    )
    checksum = "0" * 32
    for index, name in enumerate(names[:stages], start=1):
        folder = root / name
        write(folder / "checkpoint.yaml", f"name: {name}\norder: {index}\n")
        write(folder / "prompt.txt", f"# Part {index}\nDo {index}.\n")
        write(folder / "inference_result.json", inference())
        write(folder / "snapshot" / "main.py", f"print({index})\n")
        write(folder / "agent" / "stdout.jsonl", stream("one", "two"))
        ended = f"{index}" * 32
        write(
            folder / "diff.json",
            {"from_checksum": checksum, "to_checksum": ended, "file_diffs": {}},
        )
        checksum = ended
        tests = {f"{name}-Core": {"passed": ["test_a"], "failed": ["test_b"], "skipped": []}}
        write(folder / "evaluation.json", evaluation(tests))
        file = f".evaluation_tests/test_{name}.py"
        entries = entry(f"{file}::test_a"), entry(f"{file}::test_b", "failed", "assert 1 == 2")
        write(folder / "evaluation" / "report.json", report(*entries))
    return root
