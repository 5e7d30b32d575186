"""A text longer than what is looked at first may stand before what tells the format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arcview.readers.detect import detect
from arcview.readers.registry import HEAD_BYTES, find_trajectory_reader, open_run

LONG = "word " * (HEAD_BYTES // 4)
MESSAGES = [{"role": "user", "content": "Do it."}, {"role": "assistant", "content": "Done."}]
LOGS: dict[str, list[dict[str, object]]] = {
    "mini_swe_agent": [
        {
            "info": {"config": {"agent": {"instance_template": LONG}}, "mini_version": "1.0"},
            "messages": MESSAGES,
            "trajectory_format": "mini-swe-agent-1",
        }
    ],
    "openhands": [
        {
            "source": "agent",
            "system_prompt": {"type": "text", "text": LONG},
            "tools": [],
            "id": "a",
            "timestamp": "2026-01-01T10:00:00",
            "kind": "SystemPromptEvent",
        }
    ],
    "codex": [
        {
            "timestamp": "2026-01-01T10:00:00Z",
            "ordinal": 0,
            "payload": {"instructions": LONG, "id": "t"},
            "type": "session_meta",
        }
    ],
}


@pytest.mark.parametrize("format_id", LOGS)
def test_the_format_of_a_file_that_begins_with_a_long_text_is_known(
    tmp_path: Path, format_id: str
) -> None:
    file = tmp_path / "log.json"
    file.write_text("".join(json.dumps(record) + "\n" for record in LOGS[format_id]))
    reader, detection = find_trajectory_reader(file)
    assert (reader.id, detection.reader) == (format_id, format_id)
    (stage,) = open_run(file).run.stages
    assert open_run(file).trajectory(stage.trajectories).steps
    content = detect(file).content
    assert content is not None
    assert content.format.id == format_id
