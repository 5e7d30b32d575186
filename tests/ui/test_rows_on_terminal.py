"""Every pane under a real pseudo-terminal, with every hostile text: nothing of it is acted on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.ui.pty_screen import foreign, run_on_terminal, shown

ROOT = Path(__file__).parent.parent.parent
PANES = ("static", "rows", "diff", "split", "tree", "steps", "text", "file")


def show(pane: str, files: list[Path]) -> bytes:
    argv = [sys.executable, "-m", "tests.ui.pty_program", pane, *map(str, files)]
    return run_on_terminal(argv, env={"PYTHONPATH": str(ROOT), "TEXTUAL_ANIMATIONS": "none"})


@pytest.mark.parametrize("pane", PANES)
def test_no_hostile_byte_reaches_the_terminal(pane: str, cases: Path, tmp_path: Path) -> None:
    hostile = cases / "hostile"
    files = sorted((hostile / "term").iterdir())
    files += [
        hostile / "diff" / name
        for name in (
            "d25_nul_byte.patch",
            "d26_escape_sequences_in_content.patch",
            "d29_bidi_override.patch",
            "d43_emoji_selector_context.patch",
        )
    ]
    files += [
        hostile / "log" / "l20_invalid_utf8.txt",
        hostile / "traj" / "t08_nul_and_controls.traj.json",
    ]
    if pane == "file":
        joined = tmp_path / "joined.log"
        joined.write_bytes(b"\n".join(path.read_bytes() for path in files))
        files = [joined]
    output = show(pane, files)
    assert foreign(output) == []
    assert "before" in shown(output), "the pane drew nothing"


def test_the_check_finds_what_does_get_through(tmp_path: Path) -> None:
    program = (
        "import sys; sys.stdout.write('\\x1b]52;c;eA==\\x07 a\\x9b31m \\x1b[31m b\\u202e\\0\\b')"
    )
    output = run_on_terminal([sys.executable, "-c", program])
    assert foreign(output) == ["\x1b]52;c;eA==\x07", "\x1b[31m", "\x9b", "\u202e", "\0", "\b"]
