"""Long logs to measure on: real ones repeated, every repetition with ids of its own."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

from tests.bench.subject import ROOT

_IDS = re.compile(
    rb'"(uuid|parentUuid|leafUuid|messageId|id|tool_use_id|call_id|requestId)":\s*"([\w-]{4,})"'
)
_FORMATS = Path(os.environ.get("ARCVIEW_CASES", ROOT.parent / "shared" / "cases")) / "formats"
CLAUDE_CODE = (
    _FORMATS / "claude-code-session/compaction-long/951e45e1-28c2-4bf5-89eb-ca93576c88f5.jsonl"
)
CLAUDE_CODE_SHORT = _FORMATS / "claude-code-session/full-session-four.jsonl"
"""Records of 2 KB, a fifth of those of the other one."""
CODEX = _FORMATS / (
    "codex-rollout/generated-0.171/"
    "rollout-2026-11-29T18-34-40-01a22896-7aae-7742-8765-bdf0cce8eee0.jsonl"
)
CODEX_TRIMMED = _FORMATS / "codex-rollout/scrubbed-2026-small.jsonl"
"""Every kind of record, its texts cut to a few words: far more records a megabyte than is usual."""


def repeat(source: Path, target: Path, size_bytes: int, *, kept_lines: int = 0) -> Path:
    """A log of that size: the lines of another one again and again.

    Args:
        source: A real log.
        target: Where to write.
        size_bytes: How large it must be at least.
        kept_lines: Its first lines that stand there once.
    """
    lines = source.read_bytes().rstrip(b"\n").splitlines(keepends=True)
    lines[-1] += b"\n"
    body = b"".join(lines[kept_lines:])
    with target.open("wb") as file:
        file.write(b"".join(lines[:kept_lines]))
        number = 0
        while file.tell() < size_bytes:
            file.write(_IDS.sub(rb'"\1":"\2-%d"' % number, body))
            number += 1
    return target


def document(target: Path, size_bytes: int) -> Path:
    """A mini-swe-agent trajectory of that size, as its own writer lays it out."""
    random_ = random.Random(7)
    words = ["".join(random_.choices("abcdefghijklmnop_", k=6)) for _ in range(500)]
    messages: list[object] = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "Please solve this issue: tests fail."},
    ]
    size = 0
    while size < size_bytes:
        number = len(messages) // 2
        thought = " ".join(random_.choices(words, k=40))
        output = "\n".join(" ".join(random_.choices(words, k=9)) for _ in range(110))
        command = f"sed -n {number},{number + 40}p src/{random_.choice(words)}.py"
        messages += (
            {
                "role": "assistant",
                "content": f"THOUGHT: {thought}\n\n```bash\n{command}\n```",
                "extra": {"actions": [{"command": command}], "cost": 0.01},
            },
            {
                "role": "user",
                "content": f"<returncode>0</returncode>\n<output>\n{output}\n</output>",
            },
        )
        size += len(output) + len(thought) + 300
    info = {
        "exit_status": "Submitted",
        "submission": "",
        "model_stats": {"instance_cost": 0.01 * number, "api_calls": number},
        "mini_version": "1.17.5",
        "config": {"model": {"model_name": "claude-sonnet-4-5"}},
    }
    whole = {"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1"}
    target.write_text(json.dumps(whole, indent=2), encoding="utf-8")
    return target
