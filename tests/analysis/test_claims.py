from __future__ import annotations

import json
from pathlib import Path

import pytest

from arcview.analysis.claims import ClaimKind, find_claims, strongest


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("All tests pass.", "tests_pass"),
        ("All 15 tests passed, 0 failed.", "tests_pass"),
        ("The whole suite passes.", "tests_pass"),
        ("12/12 tests pass", "tests_pass"),
        ("All tests of the project pass.", "tests_pass"),
        ("All spec examples pass correctly:", "tests_pass"),
        ("All tests passed including:\n- regex", "tests_pass"),
        ("The tests are green.", "tests_pass"),
        ("It passes all of the tests.", "tests_pass"),
        ("`notes` works as expected", "works"),
        ("The backup scheduler is fully functional.", "works"),
        ("The implementation correctly handles nested calls", "works"),
        ("The output matches the expected example exactly.", "works"),
        ("No behavioral changes.", "unchanged"),
        ("**1165 lines → 969 lines** (17% reduction, 0 behavior changes)", "unchanged"),
        ("Comparing text goes through `fold` now; behaviour is unchanged.", "unchanged"),
        ("All changes preserve behavior - the logic is identical.", "unchanged"),
        ("The Part 3 implementation is complete.", "done"),
        ("## Code Quality Audit Complete", "done"),
        ("Based on my testing, I've successfully implemented the features.", "done"),
        ("Done. Removed comments.", "done"),
        ("I have implemented incremental backups.", "done"),
    ],
)
def test_a_claim_is_found(message: str, kind: str) -> None:
    found = strongest(find_claims(message))
    assert found is not None
    assert found.kind == ClaimKind(kind)


@pytest.mark.parametrize(
    "message",
    [
        "Not all tests pass.",
        "All tests pass except two.",
        "All tests pass, but 3 fail.",
        "The tests don't pass.",
        "2 of 15 tests failed.",
        "Now let me make sure that all tests pass:",
        "Once it is done, all tests should pass.",
        "Do all tests pass?",
        "I need to verify that everything works correctly.",
        "It isn't complete.",
        "The feature is not working correctly.",
        "Let me run the tests:",
        "```\nAll tests pass.\n```",
        "| `check` command parsing | Done |",
        "I could not get all tests to pass.",
        "Now let me test again:",
        "",
    ],
)
def test_what_is_denied_asked_or_intended_is_no_claim(message: str) -> None:
    assert find_claims(message) == ()


def test_the_phrase_that_decided_is_marked() -> None:
    message = "Import is in.\n\nAll 4 tests pass. Have fun."
    (claim,) = find_claims(message)

    assert claim.text == "All 4 tests pass."
    assert message[claim.start : claim.end] == "All 4 tests pass"


def test_code_before_a_claim_does_not_shift_its_place() -> None:
    message = "```\nx = 1\n```\nAll tests pass."
    (claim,) = find_claims(message)

    assert message[claim.start : claim.end] == "All tests pass"


def test_the_strongest_claim_leads() -> None:
    found = strongest(find_claims("The work is complete. It works correctly. All tests pass."))

    assert found is not None
    assert found.kind is ClaimKind.TESTS_PASS


def test_every_planted_claim_is_found(demo_run: Path) -> None:
    for planted in json.loads((demo_run / "truth.json").read_text())["claims"]:
        path = demo_run / "stages" / str(planted["stage"]) / "trajectory.json"
        steps = json.loads(path.read_text())["steps"]
        found = strongest(find_claims(steps[-1]["message"]))

        assert found is not None
        assert (found.kind, found.text) == (ClaimKind.TESTS_PASS, planted["text"])
