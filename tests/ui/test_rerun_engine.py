"""Running a gate again from its screen in a real container."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.session.reruns import Reruns
from arcview.session.reruns_model import RerunOptions
from arcview.ui.screens.rerun_sitting import RerunSitting
from tests.ui.screen_text import on_screen, press, run_screen


@pytest.fixture
def run_in_containers(demo_run: Path, tmp_path: Path, gate_image: Callable[[str], str]) -> Path:
    """The sample run with an image that its gates can be run in."""
    chain = tmp_path / "chains" / "notes-cli"
    shutil.copytree(demo_run.parents[2] / "chains" / "notes-cli", chain)
    run = tmp_path / "runs" / demo_run.parent.name / demo_run.name
    shutil.copytree(demo_run, run)
    values = json.loads((chain / "chain.json").read_text(encoding="utf-8"))
    values["image"] = {"ref": gate_image("python")}
    (chain / "chain.json").write_text(json.dumps(values), encoding="utf-8")
    return run


async def test_a_gate_in_a_container_says_what_was_recorded(
    run_in_containers: Path, engine_host: str
) -> None:
    screen = run_screen(run_in_containers)
    options = RerunOptions(engine=engine_host)
    screen.sitting = RerunSitting(screen, lambda opened: Reruns(opened, options=options))
    async with on_screen(screen) as (_, pilot):
        text = await press(pilot, "2", "r")
        assert "enter or r runs this command" in text
        text = await press(pilot, "r")
        assert "= reproduces the recorded verdict" in text
        assert "test_phrase_in_quotes FAILED" in text or "3 failed, 23 passed" in text
        assert "↻ rerun: = reproduces" in await press(pilot, "escape")
