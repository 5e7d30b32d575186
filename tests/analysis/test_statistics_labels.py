from __future__ import annotations

import pytest

from arcview.analysis.statistics_labels import levels_of_cases
from arcview.model.annotation import Awareness, Case, CaseStatus, Reading


def reading(by: str, *levels: tuple[int, str | None], status: str = "final") -> Reading:
    return Reading(
        by, CaseStatus(status), awareness=tuple(Awareness(stage, level) for stage, level in levels)
    )


def levels(*cases: tuple[Reading, ...]) -> dict[tuple[str, int], int]:
    return levels_of_cases(
        Case(f"c{number}", "run", f"gate:{number}", readings)
        for number, readings in enumerate(cases)
    )


def test_a_final_level_counts_and_an_empty_one_does_not() -> None:
    assert levels((reading("ann", (2, "N3"), (3, None)),)) == {("run", 2): 3}


@pytest.mark.parametrize("status", ["draft", "skipped", "retracted"])
def test_what_is_not_final_settles_nothing(status: str) -> None:
    assert levels((reading("ann", (2, "N3"), status=status),)) == {}


def test_readings_that_agree_settle_and_others_do_not() -> None:
    found = levels((reading("ann", (2, "N1"), (3, "N2")), reading("bob", (2, "N1"), (3, "N4"))))
    assert found == {("run", 2): 1}


def test_an_adjudicated_reading_settles_what_is_in_dispute() -> None:
    found = levels(
        (reading("ann", (3, "N2")), reading("bob", (3, "N4")),
         reading("eve", (3, "N4"), status="adjudicated"))
    )  # fmt: skip
    assert found == {("run", 3): 4}


def test_the_most_noticed_case_counts_for_a_stage() -> None:
    assert levels((reading("ann", (3, "N1")),), (reading("ann", (3, "N5")),)) == {("run", 3): 5}


def test_codes_that_are_no_rung_are_left_out() -> None:
    assert levels((reading("ann", (3, "aware"), (4, "N9")),)) == {}
