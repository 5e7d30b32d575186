from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from arcview.analysis.agreement import Label, Pairs, StepRange
from arcview.analysis.agreement_report import report
from arcview.analysis.agreement_tables import (
    SUGGESTED,
    FieldKind,
    LabelTable,
    tables_of_cases,
    tables_of_records,
)
from arcview.analysis.suggestions import Suggestion
from arcview.errors import BadInputError
from arcview.model.annotation import (
    Awareness,
    Case,
    CaseStatus,
    Effect,
    Origin,
    Reading,
    SuggestedBy,
)

SCALES = {"awareness": ("N0", "N1", "N2", "N3"), "grade": ("A", "B", "C", "D")}


def units(tables: tuple[LabelTable, ...], name: str) -> dict[str, dict[str, Label]]:
    return next((table.units for table in tables if table.name == name), {})


def a_case(*readings: Reading, case: str = "c1", unit: str | None = "gate:2") -> Case:
    return Case(case, "run", unit, readings)


FULL = Reading(
    "ann",
    CaseStatus.FINAL,
    validity="V0",
    origins=(
        Origin("o1", 2, "k14", step_number=14, defect="D2", cause="C1", causes=("C7", "C8")),
        Origin("o2", 1, "k3", step_number=3, defect="D1"),
    ),
    effects=(
        Effect("e1", 3, "3", "f2p", mechanisms=("M1", "M2")),
        Effect("e2", 3, "3", "p2p", mechanisms=("M7",)),
        Effect("e3", 4, "chain"),
    ),
    awareness=(Awareness(3, "N1"), Awareness(4, "N3", flags=("claimed-success",)), Awareness(5)),
    grade="B",
    confidence=2,
)


EMPTY = Reading("ann", CaseStatus.FINAL)


def test_a_reading_becomes_labels_of_the_gate_it_is_about() -> None:
    tables = tables_of_cases([a_case(FULL)], SCALES)
    found = {table.name: {u: r["ann"] for u, r in table.units.items()} for table in tables}
    assert found == {
        "validity": {"run gate:2": "V0"},
        "origin_stage": {"run gate:2": 2},
        "origin_step": {"run gate:2": StepRange(2, 14, 14)},
        "defect": {"run gate:2": "D2"},
        "cause": {"run gate:2": "C1"},
        "causes": {"run gate:2": frozenset({"C7", "C8"})},
        "mechanism": {"run gate:2 gate 3": frozenset({"M1", "M2", "M7"})},
        "awareness": {"run gate:2 stage 3": "N1", "run gate:2 stage 4": "N3"},
        "awareness_flags": {"run gate:2 stage 4": frozenset({"claimed-success"})},
        "grade": {"run gate:2": "B"},
        "confidence": {"run gate:2": "2"},
    }


def test_no_defect_at_all_is_a_label_and_an_empty_field_is_none() -> None:
    tables = tables_of_cases(
        [a_case(replace(EMPTY, no_origin=True), replace(EMPTY, annotator="bob"))], SCALES
    )
    assert units(tables, "origin_stage") == {"run gate:2": {"ann": None}}
    assert units(tables, "defect") == {}


def test_two_people_who_label_one_gate_in_cases_of_their_own_are_compared() -> None:
    cases = [a_case(FULL), a_case(replace(FULL, annotator="bob"), case="c2")]
    assert units(tables_of_cases(cases, SCALES), "defect") == {
        "run gate:2": {"ann": "D2", "bob": "D2"}
    }


def test_several_cases_of_one_person_about_one_gate_stay_apart() -> None:
    cases = [a_case(FULL), a_case(FULL, case="c2")]
    assert set(units(tables_of_cases(cases, SCALES), "defect")) == {"run c1", "run c2"}


@pytest.mark.parametrize("status", [s for s in CaseStatus if s is not CaseStatus.FINAL])
def test_only_a_final_reading_is_an_independent_label(status: CaseStatus) -> None:
    assert tables_of_cases([a_case(replace(FULL, status=status))], SCALES) == ()


def test_a_scale_makes_a_field_ordinal_unless_a_label_is_off_it() -> None:
    kinds = {t.name: t.kind for t in tables_of_cases([a_case(FULL)], SCALES)}
    assert kinds["awareness"] is FieldKind.ORDINAL
    assert kinds["confidence"] is FieldKind.NOMINAL  # no scale was given
    strange = replace(FULL, awareness=(Awareness(3, "N9"),))
    kinds = {t.name: t.kind for t in tables_of_cases([a_case(strange)], SCALES)}
    assert kinds["awareness"] is FieldKind.NOMINAL


def test_records_of_one_rater_each_are_joined() -> None:
    tables = tables_of_records(
        [
            {"case": "c1", "by": "ann", "root_stage": 2, "root_step": 14, "labels": ["x"]},
            {"case": "c1", "by": "bob", "root_stage": 2, "root_step": [16, 17], "labels": []},
            {"case": "c2", "by": "ann", "root_stage": None},
        ],
        "labels.json",
    )
    assert [(table.name, table.kind) for table in tables] == [
        ("root_stage", FieldKind.NOMINAL),
        ("root_step", FieldKind.STEP),
        ("labels", FieldKind.MULTI),
    ]
    assert units(tables, "root_stage") == {"c1": {"ann": 2, "bob": 2}, "c2": {"ann": None}}
    assert units(tables, "root_step")["c1"]["bob"] == StepRange(2, 16, 17)
    assert units(tables, "labels")["c1"] == {"ann": frozenset("x"), "bob": frozenset()}


def test_records_with_everybody_side_by_side_are_read() -> None:
    tables = tables_of_records(
        [
            {
                "case": "c1",
                "run_id": "r",
                "annotators": {
                    "ann": {"validity": "V0", "awareness": {"3": "N1", "4": "N2"}},
                    "bob": {"validity": "V1", "origins": [{"defect": "D2"}]},
                },
            }
        ],
        "cases.jsonl",
    )
    assert units(tables, "validity") == {"r c1": {"ann": "V0", "bob": "V1"}}
    assert units(tables, "awareness") == {"r c1 3": {"ann": "N1"}, "r c1 4": {"ann": "N2"}}
    assert units(tables, "origins.defect") == {"r c1 origins 1": {"bob": "D2"}}


def test_a_column_for_each_rater_is_read() -> None:
    tables = tables_of_records([{"item": 0, "ann": "x", "bob": "y"}], "items.json")
    assert units(tables, "label") == {"0": {"ann": "x", "bob": "y"}}


@pytest.mark.parametrize(
    "record", [17, {"by": "ann"}, {"case": "c1", "x": 1}, {"case": "c1", "annotators": {"a": 3}}]
)
def test_a_record_of_another_shape_is_refused_with_its_place(record: object) -> None:
    with pytest.raises(BadInputError, match="record 1"):
        tables_of_records([record], "labels.json")


def test_the_rules_are_compared_with_people_and_not_counted_among_them() -> None:
    table = LabelTable("awareness", FieldKind.ORDINAL, ("N0", "N1", "N2"))
    for unit, ann, bob, rules in (("1", "N0", "N0", "N1"), ("2", "N2", "N2", "N2")):
        for rater, label in (("ann", ann), ("bob", bob), (SUGGESTED, rules)):
            table.add(unit, rater, label)
    table.add("3", "ann", "N1")
    (found,) = report([table])
    assert found.people.raters == ("ann", "bob")
    assert (found.people.units, found.people.single) == (2, 1)
    assert (found.people.raw.agree, found.people.raw.pairs) == (2, 2)
    assert found.people.alpha is not None
    assert found.people.alpha.value == 1
    assert found.suggested is not None
    assert (found.suggested.raw.agree, found.suggested.raw.pairs) == (2, 4)
    assert {(k.rater_a, k.rater_b) for k in found.suggested.kappas} == {
        (SUGGESTED, "ann"), (SUGGESTED, "bob")
    }  # fmt: skip


def proposal(field: str, code: str = "", **more: Any) -> Suggestion:
    return Suggestion(field, code, "", "", "rule", 1, "", **more)


def test_what_rules_propose_are_labels_of_one_more_rater() -> None:
    proposed = [
        proposal("defect", "D2"),
        proposal("defect", "D3"),
        proposal("mechanism", "M1", gate="3"),
        proposal("mechanism", "M2", gate="3"),
        proposal("awareness", "N1", stage=3),
        proposal("origin", values={"stage": 2, "step_number": 15}),
        proposal("another", "x"),
    ]
    tables = tables_of_cases([a_case(FULL)], SCALES, {"c1": proposed})
    found = {
        table.name: {unit: ratings[SUGGESTED] for unit, ratings in table.units.items()
                     if SUGGESTED in ratings}
        for table in tables
    }  # fmt: skip
    assert {name: labels for name, labels in found.items() if labels} == {
        "defect": {"run gate:2": "D2"},
        "mechanism": {"run gate:2 gate 3": frozenset({"M1", "M2"})},
        "awareness": {"run gate:2 stage 3": "N1"},
        "origin_stage": {"run gate:2": 2},
        "origin_step": {"run gate:2": StepRange(2, 15, 15)},
    }
    against = {one.field: one.suggested for one in report(tables)}
    assert against["defect"] is not None
    assert against["defect"].raw == Pairs(1, 1)
    assert against["validity"] is None


def test_fields_are_measured_by_what_their_labels_are() -> None:
    tables = tables_of_cases([a_case(FULL, replace(FULL, annotator="bob"))], SCALES)
    found = {one.field: one.people for one in report(tables, within=5)}
    assert found["mechanism"].jaccard is not None
    assert found["mechanism"].masi is not None
    assert found["origin_step"].within is not None
    assert found["origin_step"].kappas == ()
    assert found["defect"].alpha is not None


def test_sets_of_labels_have_a_kappa_for_each_label_and_an_alpha() -> None:
    table = LabelTable("mechanism", FieldKind.MULTI)
    for unit, ann, bob in (("1", "M1 M2", "M1"), ("2", "M2", "M2"), ("3", "", "M1")):
        table.add(unit, "ann", frozenset(ann.split()))
        table.add(unit, "bob", frozenset(bob.split()))
    (found,) = report([table])
    kappas = {kappa.label: kappa.coefficient.value for kappa in found.people.kappas}
    # M1: ann yes no no, bob yes no yes: p_o 2/3, p_e 4/9. M2: yes yes no, no yes no: the same.
    assert kappas == {"M1": pytest.approx(0.4), "M2": pytest.approx(0.4)}
    assert found.people.masi is not None
    assert found.people.masi.value == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert found.people.alpha is not None


def test_an_origin_that_is_a_range_of_steps_is_compared_as_one() -> None:
    ranged = replace(FULL, origins=(Origin("o", stage=2, step_number=9, last_step_number=12),))
    tables = tables_of_cases([a_case(ranged, replace(ranged, annotator="bob"))], SCALES)
    (steps,) = (table for table in tables if table.name == "origin_step")
    (ratings,) = steps.units.values()
    assert ratings["bob"] == StepRange(2, 9, 12)


def test_labels_that_were_taken_over_from_a_rule_are_counted_beside_its_agreement() -> None:
    by = SuggestedBy("determinacy", 1, "x")
    taken = replace(FULL, suggested={"validity": by})
    case = a_case(taken, replace(FULL, annotator="bob"))
    proposed = Suggestion("validity", "V0", "V0", "", "determinacy", 1, "x")
    tables = tables_of_cases([case], SCALES, {case.id: (proposed,)})
    (validity,) = (one for one in report(tables) if one.field == "validity")
    assert validity.suggested is not None
    assert (validity.suggested.units, validity.suggested.by_rule) == (2, 1)
    assert validity.people.by_rule == 0
