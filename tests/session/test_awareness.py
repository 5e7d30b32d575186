"""Suggested awareness on the sample run, against what its script planted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.analysis.awareness import AwarenessSuggestion, Level
from arcview.session.awareness import suggest_awareness
from arcview.session.evidence import EvidenceFinder
from arcview.session.opened import OpenRun


def suggestions(path: Path) -> dict[int, AwarenessSuggestion | None]:
    opened = OpenRun.open(path)
    finder = EvidenceFinder(opened)
    return {
        stage.index: suggest_awareness(opened, finder, stage.index) for stage in opened.run.stages
    }


@pytest.fixture(scope="module")
def planted(demo_run: Path) -> dict[tuple[str, int], str]:
    """Fault and stage → the level that the script planted."""
    truth = json.loads((demo_run / "truth.json").read_text())
    return {
        (fault["id"], aware["stage"]): aware["level"]
        for fault in truth["faults"]
        for aware in fault["awareness"]
    }


TESTS = {
    "phrase-split": "test_phrase_in_quotes",
    "search-order": "test_newest_first",
    "untrimmed-tags": "test_tags_are_trimmed",
    "required-fields": "test_old_file_loads",
}


def test_each_planted_fault_gets_its_level(
    demo_run: Path, planted: dict[tuple[str, int], str]
) -> None:
    found = suggestions(demo_run)
    levels = {}
    for fault, stage in planted:
        suggestion = found[stage]
        assert suggestion is not None
        levels[fault, stage] = next(
            f"N{one.level}"
            for one in suggestion.defects
            if any(TESTS[fault] in test for test in one.defect.tests)
        )
    # Nothing leads from this black-box failure to a line, so all of its change is suspected, and
    # another part of that change was on the screen.
    assert levels.pop(("phrase-split", 4)) == "N1"
    assert planted.pop(("phrase-split", 4)) == "N0"
    assert levels == planted


def test_the_stage_has_the_level_of_its_most_noticed_fault(demo_run: Path) -> None:
    found = suggestions(demo_run)
    assert (found[1], found[2]) == (None, None)
    assert found[3] is not None
    assert found[4] is not None
    assert (found[3].level, found[4].level) == (Level.SYMPTOM_EXPOSED, Level.REPAIRED)


def test_every_span_lies_in_the_text_it_names(demo_run: Path) -> None:
    opened = OpenRun.open(demo_run)
    for stage, suggestion in suggestions(demo_run).items():
        steps = {step.key: step for step in opened.trajectory(stage).steps}
        for defect in suggestion.defects if suggestion is not None else ():
            for span in defect.spans:
                step = steps[span.step_key]
                calls = {call.key: call for call in step.calls}
                texts = {"text": step.text, "thinking": step.thinking}
                if span.channel == "result":
                    result = calls[span.call_key or ""].result
                    texts["result"] = result.text if result is not None else ""
                if span.channel in texts:
                    assert 0 <= span.start < span.end <= len(texts[span.channel])
                else:
                    assert span.call_key in calls


def test_a_kept_suggestion_is_the_same(demo_run: Path) -> None:
    assert suggestions(demo_run) == suggestions(demo_run)


def test_a_real_run_that_repairs_a_syntax_error_is_seen_to(scb: Callable[[str], Path]) -> None:
    # Stage 2 meets the f-string of stage 1 that no interpreter takes, at step 19, and mends it.
    found = suggestions(scb("database-migration-rising"))[2]
    assert found is not None
    assert found.level is Level.REPAIRED
    syntax = next(one for one in found.defects if "SyntaxError" in one.defect.title)
    assert [(span.level, span.step) for span in syntax.spans][1:3] == [
        (Level.SYMPTOM_EXPOSED, 19), (Level.REPAIR_ATTEMPTED, 21)
    ]  # fmt: skip


def test_a_run_without_failures_before_a_stage_suggests_nothing(
    scb: Callable[[str], Path],
) -> None:
    assert set(suggestions(scb("file-backup-infra")).values()) == {None}
