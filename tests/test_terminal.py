"""The whole program on a real pseudo-terminal, on a run whose every text is hostile."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from arcview.text import decode
from arcview.ui.app import write_whole_frames
from tests.bench.terminal import COLUMNS, ROWS, Terminal
from tests.ui.pty_screen import foreign

FIXTURES = Path(__file__).parents[1] / "fixtures"
KEYS = [
    *("j", "j", "\r", "j", "\x7f", "G", "g", "/", "e", "\r", "n"),  # the first pane
    *("\t", "j", "\r", "\x04", "\x7f", "f", "L", "\x7f", "z", "z"),  # the gate
    *("\t", "j", "\r", "\x7f", "\t", "j", "j", "\r", "\x04", "e", "w", "x"),  # the others
    *(
        "s",
        "\x7f",
        "c",
        "\x7f",
        "P",
        "\x7f",
        "?",
        "\x7f",
        "]",
        "]",
        "]",
        "0",
        "y",
        "u",
        "F",
        "\x7f",
    ),
]


def change(path: Path, edit: Callable[[Any], Any]) -> None:
    path.write_text(json.dumps(edit(json.loads(path.read_text(encoding="utf-8")))))


def poison(value: Any, text: str) -> Any:
    """Puts a text behind every string of a trajectory but its machine-read fields."""
    kept = {"schema_version", "source", "timestamp", "tool_call_id", "source_call_id"}
    kept |= {"function_name", "session_id", "trajectory_id"}
    if isinstance(value, dict):
        return {k: v if k in kept else poison(v, text) for k, v in value.items()}
    if isinstance(value, list):
        return [poison(item, text) for item in value]
    return value + text if isinstance(value, str) else value


@pytest.fixture
def hostile_run(cases: Path, tmp_path: Path) -> Path:
    files = sorted((cases / "hostile" / "term").iterdir())
    texts = [decode(path.read_bytes()).text for path in files]
    whole = "\n".join(texts)
    for part in ("chains", "runs"):
        shutil.copytree(FIXTURES / part, tmp_path / part)
    run = tmp_path / "runs" / "scripted-demo" / "notes-cli"
    words = {"agent": {"name": whole, "version": whole}, "model": whole, "status_detail": whole}
    change(run / "run.json", lambda data: {**data, **words, "states": None})
    (run / "workspace.bundle").unlink()
    for number in range(5):
        folder = run / "stages" / str(number) / "workspace"
        folder.mkdir(parents=True)
        for text in texts[: 3 * number + 3]:
            name = text.replace("/", "∕").replace("\0", "")[:40]
            (folder / name).write_text(f"{whole}\n{number}\n", encoding="utf-8", errors="replace")
    for path in run.rglob("trajectory.json"):
        change(path, lambda data: {**data, "steps": poison(data["steps"], whole)})
    for path in run.rglob("tests.jsonl"):
        rows = [json.loads(row) for row in path.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            row |= {"message": whole, "traceback": whole, "stdout": whole, "id": row["id"]}
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for path in [*run.rglob("log.txt"), *tmp_path.glob("chains/*/stages/*/*")]:
        path.write_text(whole, encoding="utf-8", errors="replace")
    chain = tmp_path / "chains" / "notes-cli" / "chain.json"
    change(chain, lambda data: {**data, "title": whole, "stages": poison_titles(data, whole)})
    return run


def poison_titles(data: Any, text: str) -> Any:
    return [{**stage, "title": text} for stage in data["stages"]]


def test_nothing_of_a_run_is_acted_on_by_the_terminal(hostile_run: Path, own_cache: Path) -> None:
    arcview = str(Path(sys.executable).parent / "arcview")
    env = {"ARCVIEW_CACHE": str(own_cache), "TEXTUAL_ANIMATIONS": "none", "PYTHONUNBUFFERED": "1"}
    with Terminal([arcview, str(hostile_run)], env) as terminal:
        terminal.wait_for(lambda text: len(text) >= COLUMNS * ROWS)
        for key in (*KEYS, "q"):
            terminal.settle(quiet_s=0.1)
            terminal.press(key)
        assert terminal.wait() == 0, terminal.text[-3000:]
    copied, rest = copies(terminal.raw)
    assert foreign(rest.encode()) == []
    assert copied
    assert "".join(copied).replace("\n", "").isprintable()


class PartialWrites(io.RawIOBase):
    """Takes at most seven bytes a write, as a busy terminal may."""

    def __init__(self) -> None:
        self.taken = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.taken += bytes(data[:7])
        return len(data[:7])


def test_a_frame_is_written_whole_where_python_does_not_buffer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = PartialWrites()
    unbuffered = io.TextIOWrapper(cast("io.BufferedWriter", terminal), write_through=True)
    monkeypatch.setattr(sys, "__stderr__", unbuffered)
    write_whole_frames()
    stream = sys.__stderr__
    assert stream is not None
    stream.write("a frame of many bytes")
    stream.flush()
    assert terminal.taken == b"a frame of many bytes"


def copies(raw: str) -> tuple[list[str], str]:
    """The texts that the program put into the clipboard, and its output without that."""
    request = re.compile(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07")
    return [b64decode(text).decode() for text in request.findall(raw)], request.sub("", raw)
