"""No key of a run reaches a screen or the clipboard whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from arcview.secrets import MASK
from arcview.session.run_session import Column
from tests.readers.native_run import full_run, result_line
from tests.ui.screen_text import on_screen, press, run_screen, screen_text

KEY = "sk-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDExample"
PRIVATE = f"-----BEGIN PRIVATE KEY-----\n{BODY}\n-----END PRIVATE KEY-----"


@pytest.fixture
def leaky(tmp_path: Path) -> Path:
    """A run that has a key in its code, its gate's message and log, its steps and its spec."""
    made = full_run(tmp_path / "run")
    made.write_text("stages/1/workspace/a.py", f'KEY = "{KEY}"\nPEM = """{PRIVATE}"""\n')
    made.write_gate(1, {"t::a": "failed"})
    message = f"Error: no access with {KEY}"
    made.write_tests("stages/1/gate", [result_line("t::a", "f2p", "failed", message=message)])
    made.write_text("stages/1/gate/log.txt", f"\x1b[31musing {KEY}\x1b[0m\n{PRIVATE}\n")
    made.write_text("chain/stages/1/spec.md", f"Use {KEY}.\n")
    call = {"tool_call_id": "c", "function_name": "bash", "arguments": {"command": f"K={KEY} run"}}
    step = {
        "step_id": 1,
        "source": "agent",
        "message": f"I take {KEY}",
        "tool_calls": [call],
        "observation": {"results": [{"source_call_id": "c", "content": f"{KEY}\n{PRIVATE}"}]},
    }
    made.write_json(
        "stages/1/trajectory.json",
        {
            "schema_version": "ATIF-v1.7",
            "session_id": "s",
            "agent": {"name": "a", "version": "1"},
            "steps": [step],
        },
    )
    return made.write()


def _holds_none(text: str) -> None:
    assert KEY[6:] not in text
    assert BODY[:20] not in text


async def test_every_pane_of_a_run_masks_keys(leaky: Path) -> None:
    screen = run_screen(leaky)
    async with on_screen(screen, (160, 60)) as (app, pilot):
        await press(pilot, "1")
        for column in Column:
            screen.apply(screen.session.focus(column))
            text = await press(pilot, "plus")
            _holds_none(text)
        assert MASK in screen_text(app)


@pytest.mark.parametrize("keys", ["s", "L", "ctrl+f"])
async def test_texts_over_the_run_mask_keys(leaky: Path, keys: str) -> None:
    async with on_screen(run_screen(leaky), (160, 60)) as (_, pilot):
        text = await press(pilot, "1", keys)
        if keys == "ctrl+f":
            text = await press(pilot, *"sk", "enter")
        _holds_none(text)
        assert MASK in text


async def test_a_file_masks_keys(leaky: Path) -> None:
    screen = run_screen(leaky)
    async with on_screen(screen, (160, 60)) as (_, pilot):
        await press(pilot, "1")
        screen.apply(screen.session.focus(Column.DIFF))
        text = await press(pilot, "v")
        _holds_none(text)
        assert f"sk-a{MASK}" in text


async def test_a_copy_is_masked_too(leaky: Path) -> None:
    screen = run_screen(leaky)
    async with on_screen(screen, (160, 60)) as (app, pilot):
        await press(pilot, "1")
        screen.apply(screen.session.focus(Column.GATE))
        assert screen.content.go_to_test("t::a")
        await press(pilot, "S")
        assert app.clipboard == f"Error: no access with sk-a{MASK}"
        screen.apply(screen.session.focus(Column.DIFF))
        await press(pilot, "D")
        _holds_none(app.clipboard)
        assert MASK in app.clipboard
