"""What a protocol audit speaks for, in the case of a failing gate."""

from __future__ import annotations

import pytest

from arcview.analysis.audit import Check, Finding
from arcview.analysis.suggest_protocol import suggest_from_audit


def finding(check: Check, stage: int, step: int = 4) -> tuple[str, Finding]:
    key = f"s{step}"
    return f"step:{stage}/{key}", Finding(check, stage, key, step, "what was found", "its words")


@pytest.mark.parametrize(
    ("check", "stage", "expected"),
    [
        (Check.LEAK, 1, [("validity", "V6")]),
        (Check.LEAK, 2, [("validity", "V6")]),
        (Check.LEAK, 3, []),
        (Check.LOOKUP, 2, [("validity", "V6")]),
        (Check.STATE, 2, [("validity", "V5")]),
        (Check.STATE, 1, []),
        (Check.REVERTED, 2, [("validity", "V5")]),
        (Check.COMPACTION, 2, [("cause", "C4")]),
        (Check.SESSION, 2, []),
        (Check.FEEDBACK, 2, []),
    ],
)
def test_findings_speak_for_labels_of_the_stages_they_can_touch(
    check: Check, stage: int, expected: list[tuple[str, str]]
) -> None:
    found = suggest_from_audit(2, [finding(check, stage)])
    assert [(s.field, s.code) for s in found] == expected


def test_a_suggestion_names_the_step_and_how_many_more_there_are() -> None:
    (found,) = suggest_from_audit(2, [finding(Check.LEAK, 1), finding(Check.LEAK, 2, 9)])
    assert found.reason == "what was found (stage 1 #4 and 1 more)"
    assert [span.address for span in found.spans] == ["step:1/s4", "step:2/s9"]
    assert not found.exact
