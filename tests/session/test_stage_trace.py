"""How much of each stage is traced to its steps, as the JSON twin prints it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arcview.session import twin
from arcview.session.opened import OpenRun
from arcview.session.plain_text_trail import trace_lines
from arcview.session.stage_trace import StageTrace

Json = dict[str, Any]
Scb = Callable[[str], Path]


def traces(path: Path) -> dict[str, Json]:
    """State → trace."""
    show = json.loads(twin.dumps(twin.show(OpenRun.open(path))))
    found = {}
    for row in show["stages"]:
        found[row["end"]] = row["trace"]
        found |= {between["state"]: between["trace"] for between in row["between"]}
    return found


def test_recorded_steps_trace_every_line(demo_run: Path) -> None:
    found = traces(demo_run)
    assert set(found) == {"S1", "S2", "S2.refactor", "S3", "S4"}
    for trace in found.values():
        assert trace["recorded"] is True
        assert trace["exact"] == trace["lines"] > 0


def test_a_replay_of_visible_edits_is_held_to_the_recorded_end(scb: Scb) -> None:
    third = traces(scb("circuit-eval"))["S3"]
    assert third["recorded"] is False
    assert (third["files"], third["equal"], third["unlike"]) == (1, 1, [])
    assert third["lines"] == 650
    assert third["exact"] >= 645


def test_files_that_a_program_wrote_are_named(scb: Scb) -> None:
    fourth = traces(scb("code-search-collapse"))["S4"]
    assert 0 < fourth["equal"] < fourth["files"]
    assert len(fourth["unlike"]) == fourth["files"] - fourth["equal"]
    assert "code_search.py" not in fourth["unlike"]


def test_without_states_there_is_no_trace(scb: Scb) -> None:
    assert traces(scb("recli-nothing-built"))["S1"] is None


def test_the_text_says_what_is_traced_and_how() -> None:
    replayed = StageTrace(False, 10, 7, 2, 3, 2, ("a.py",))
    (line,) = trace_lines(replayed)
    assert line.strip() == (
        "7 of 10 changed lines of code are traced to their step, 2 more are likely; "
        "the replayed edits give 2 of 3 files as they are"
    )
    (line,) = trace_lines(StageTrace(True, 10, 10, 0, 3, 3, ()))
    assert line.strip().endswith("(the run recorded each step)")
    assert list(trace_lines(None)) == []
