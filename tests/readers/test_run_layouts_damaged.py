"""Run folders in which one document holds an odd value, or ends early: read, or said in a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arcview.errors import ArcviewError
from arcview.readers.registry import find_run_reader, open_run
from tests.readers.harbor_trial import step, write_trial
from tests.readers.odd_values import with_odd_values
from tests.readers.scb_run import write
from tests.readers.test_agent_folder import write_folder
from tests.readers.test_evo_claw import write_trial as write_evo_claw
from tests.readers.test_feature_bench import graded as fb_graded
from tests.readers.test_feature_bench import line, write_attempt
from tests.readers.test_lone_file import PATCH
from tests.readers.test_swe_bench import INSTANCE, graded, write_logs
from tests.readers.test_swe_evo import write_instance
from tests.readers.test_terminal_bench import write_trial as write_terminal_bench

Make = Callable[[Path], Path]


def harbor(root: Path) -> Path:
    return write_trial(root, [step("one")])


def feature_bench(root: Path) -> Path:
    return write_attempt(root, fb_graded(), line())


def swe_bench(root: Path) -> Path:
    write(root / "preds.json", {INSTANCE: {"instance_id": INSTANCE, "model_patch": PATCH}})
    return write_logs(root, {INSTANCE: graded()}, patch=None)


def evo_claw(root: Path) -> Path:
    trial = write_evo_claw(root, ["M1"], {"M1-retry1": {"error": "x"}})
    write(trial / "agent_stats.json", {"modelUsage": {"m": {"inputTokens": 3}}, "summary": {}})
    return trial


LAYOUTS: dict[str, Make] = {
    "harbor": harbor,
    "feature_bench": feature_bench,
    "swe_bench": swe_bench,
    "swe_evo": write_instance,
    "evo_claw": evo_claw,
    "agent_folder": write_folder,
    "terminal_bench": write_terminal_bench,
}


def said(run: Path, layout: str) -> str:
    """What is said of a run that cannot be opened; empty where it can."""
    try:
        read_all(run, layout)
    except ArcviewError as error:
        return str(error)
    return ""


def read_all(run: Path, layout: str) -> None:
    """Everything that a reader can be asked for."""
    reader, _ = find_run_reader(run, layout)
    reader.detect(run)
    reader.summarise(run)
    opened = open_run(run, layout)
    opened.inputs()
    for gate in opened.run.gates:
        opened.gate_tests(gate.gate, gate.state)
    for stage in opened.run.stages:
        opened.trajectory(stage.trajectories)
        if stage.spec_path is not None:
            opened.text(stage.spec_path)


def documents(root: Path) -> Iterator[tuple[Path, Any]]:
    for file in sorted(root.rglob("*.json*")):
        text = file.read_text(encoding="utf-8")
        if "trajectory" not in file.name and "stream" not in file.name:
            yield file, json.loads(text)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_odd_value_anywhere_is_read_or_said_in_one_line(layout: str, tmp_path: Path) -> None:
    run = LAYOUTS[layout](tmp_path)
    for file, document in documents(tmp_path):
        whole = file.read_bytes()
        for changed in with_odd_values(document):
            write(file, json.dumps(changed))
            assert "\n" not in said(run, layout)
        file.write_bytes(whole)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_file_that_ends_early_is_read_or_said_in_one_line(layout: str, tmp_path: Path) -> None:
    run = LAYOUTS[layout](tmp_path)
    for file in sorted(path for path in tmp_path.rglob("*") if path.is_file()):
        whole = file.read_bytes()
        for content in (b"", whole[: len(whole) // 2], b"\x00\xff" + whole, None):
            file.unlink()
            if content is not None:
                file.write_bytes(content)
            assert "\n" not in said(run, layout)
            if content is None:
                file.write_bytes(whole)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_links_that_leave_the_run_are_not_followed(layout: str, tmp_path: Path) -> None:
    secret = write(tmp_path / "elsewhere" / "secret.txt", "do not read me")
    run = LAYOUTS[layout](tmp_path / "runs")
    for file in sorted(path for path in run.rglob("*") if path.is_file()):
        whole = file.read_bytes()
        file.unlink()
        file.symlink_to(secret)
        try:
            opened = open_run(run, layout)
            for gate in opened.run.gates:
                texts = [_text(opened.text, path) for path in gate.log_paths]
                assert not any("do not read me" in text for text in texts)
        except ArcviewError:
            pass
        file.unlink()
        file.write_bytes(whole)


def _text(read: Callable[[str], str], path: str) -> str:
    try:
        return read(path)
    except ArcviewError:
        return ""
