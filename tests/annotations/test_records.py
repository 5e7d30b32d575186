"""Labels out of the store and back: records, tables, foreign shapes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from arcview.annotations.cases import flat
from arcview.annotations.events import EventKind
from arcview.annotations.imports import ImportOptions, ImportPlan, plan_import
from arcview.annotations.records import RunAbout, case_from_record, case_record
from arcview.annotations.scheme import Scheme, default_scheme, scheme_of_lists
from arcview.annotations.store import AnnotationStore, Draft
from arcview.annotations.tables import MAST_KEYS, csv_text, mast_records, who_when_records
from arcview.errors import BadInputError
from arcview.model.annotation import Case, SuggestedBy

ABOUT = RunAbout("run", "task", "agent-x", "model-y", "native")
FULL: dict[str, object] = {
    "status": "final",
    "validity": "V0",
    "origins/a/stage": 2,
    "origins/a/step": "k7",
    "origins/a/step_number": 7,
    "origins/a/path": "notes/search.py",
    "origins/a/lines": [10, 12],
    "origins/a/defect": "D2",
    "origins/a/cause": "C8",
    "origins/a/causes": ["C1"],
    "effects/e/gate": "3",
    "effects/e/stage": 3,
    "effects/e/tests": ["t::a"],
    "effects/e/mechanisms": ["M1", "M2"],
    "awareness/3/level": "N2",
    "awareness/3/flags": ["claimed-success"],
    "evidence/v/address": "gate:3/f2p/t",
    "evidence/v/sha256": "0" * 64,
    "evidence/v/supports": "e",
    "outcome": ["healed"],
    "grade": "B",
    "confidence": 3,
    "note": "the query is split at every blank",
    "severity": "of a later version",
}


@pytest.fixture
def store(tmp_path: Path) -> AnnotationStore:
    return AnnotationStore(tmp_path / "a", "run", "ann", host="h")


@pytest.fixture
def case(store: AnnotationStore) -> Case:
    by = SuggestedBy("origin", 1, "abc")
    store.save(
        Draft("c1", EventKind.CREATE, FULL, unit="gate:3", scheme="arcview 1", blind=True),
        Draft("c1", EventKind.EDIT, {"origins/a/stage": 2}, suggested_by=by, blind=True),
    )
    return store.cases[0]


def step_of(stage: int, number: int) -> str | None:
    return f"k{number}" if number < 20 else None


def planned(
    records: Sequence[object],
    existing: Sequence[Case] = (),
    scheme: Scheme | None = None,
    **options: Any,
) -> ImportPlan:
    stages = options.pop("stages", 4)
    return plan_import(
        records, "file.json", ImportOptions("run", stages, **options), existing,
        scheme or default_scheme(), step_of,
    )  # fmt: skip


def saved(plan: ImportPlan, folder: Path) -> tuple[Case, ...]:
    store = AnnotationStore(folder, "run", "importer", host="h")
    if plan.drafts:
        store.save(*plan.drafts)
    return store.cases


# Our own records


def test_a_record_has_everybodys_fields_side_by_side(case: Case, store: AnnotationStore) -> None:
    AnnotationStore(store.folder, "run", "bob", host="h").save(
        Draft("c1", EventKind.CREATE, {"validity": "V1", "status": "adjudicated"})
    )
    store.refresh()
    record: dict[str, Any] = case_record(store.cases[0], ABOUT)
    assert record["annotators"]["ann"]["validity"] == "V0"
    assert record["annotators"]["bob"]["validity"] == "V1"
    assert (record["adjudicated"], record["unit"], record["agent"]) == ("bob", "gate:3", "agent-x")


def test_a_record_becomes_the_same_case_again(case: Case) -> None:
    record = json.loads(json.dumps(case_record(case, ABOUT)))
    again = case_from_record(record, "file")
    assert again == case


def test_an_export_that_is_imported_says_the_same(case: Case, tmp_path: Path) -> None:
    record = json.loads(json.dumps(case_record(case, ABOUT)))
    (again,) = saved(planned([record]), tmp_path / "b")
    assert (again.id, again.unit) == (case.id, case.unit)
    mine, theirs = again.readings[0], case.readings[0]
    assert flat(mine) == flat(theirs)
    assert (mine.annotator, mine.blind, mine.suggested) == ("ann", True, theirs.suggested)
    assert mine.imported == "file.json (arcview)"


def test_importing_twice_adds_nothing(case: Case, tmp_path: Path) -> None:
    record = json.loads(json.dumps(case_record(case, ABOUT)))
    cases = saved(planned([record]), tmp_path / "b")
    assert planned([record], cases).drafts == []
    store = AnnotationStore(tmp_path / "b", "run", "importer", host="h")
    assert store.save(*planned([record]).drafts) == ()


def test_an_import_does_not_overwrite_other_labels(case: Case, store: AnnotationStore) -> None:
    record: dict[str, Any] = json.loads(json.dumps(case_record(case, ABOUT)))
    record["annotators"]["ann"]["validity"] = "V3"
    plan = planned([record], store.cases)
    assert plan.drafts == []
    assert plan.notes == ["c1 by ann: other labels are there; kept those"]
    assert planned([record], store.cases, replace=True).drafts[0].values["validity"] == "V3"


def test_cases_of_other_runs_are_left_out_and_counted(case: Case) -> None:
    record = {**case_record(case, ABOUT), "run_id": "other"}
    plan = planned([record])
    assert (plan.drafts, plan.notes) == ([], ["1 of 1 cases belong to other runs; left out"])


@pytest.mark.parametrize(
    "broken",
    [
        {"schema": "arcview/case/9"},
        {"schema": "arcview/case/1", "case": "c"},
        {"schema": "arcview/case/1", "case": "c", "run_id": "r", "annotators": []},
        {"schema": "arcview/case/1", "case": "c", "run_id": "r", "annotators": {"a": 3}},
        {
            "schema": "arcview/case/1",
            "case": "c",
            "run_id": "r",
            "annotators": {"a": {"origins": 3}},
        },
    ],
)
def test_a_broken_record_is_one_line(broken: dict[str, object]) -> None:
    with pytest.raises(BadInputError):
        case_from_record(broken, "file")


# Tables


def test_the_csv_has_a_line_for_each_annotator(case: Case) -> None:
    (row,) = csv.DictReader(io.StringIO(csv_text([(case, ABOUT)])))
    assert (row["annotator"], row["defect"], row["cause"]) == ("ann", "D2", "C8")
    assert (row["mechanisms"], row["awareness"]) == ("3:M1 3:M2", "3:N2")
    assert (row["origin_stage"], row["origin_step"], row["origin_lines"]) == ("2", "7", "10-12")


@pytest.mark.parametrize("note", ["=cmd()", "+1", "-1", "@x"])
def test_no_cell_is_a_formula(store: AnnotationStore, note: str) -> None:
    store.save(Draft("c1", EventKind.CREATE, {"note": note}))
    (row,) = csv.DictReader(io.StringIO(csv_text([(store.cases[0], ABOUT)])))
    assert row["note"] == f"'{note}"


def test_who_when_fields_are_agent_step_and_reason(case: Case) -> None:
    (record,) = who_when_records([(case, ABOUT)], default_scheme())
    assert record["mistake_agent"] == "agent-x"
    assert (record["mistake_step"], record["step_base"]) == ("6", 0)
    assert record["mistake_reason"] == (
        "the query is split at every blank. D2 wrong behaviour; C8 wrong verification"
    )
    assert (record["stage"], record["step_key"]) == (2, "k7")


def test_an_export_of_who_when_comes_back_to_the_same_step(case: Case, tmp_path: Path) -> None:
    records = list(who_when_records([(case, ABOUT)], default_scheme()))
    (again,) = saved(planned(records), tmp_path / "b")
    origin = again.readings[0].origins[0]
    assert (origin.stage, origin.step, origin.step_number) == (2, "k7", 7)


def test_mast_keys_that_no_cause_maps_to_are_unknown_not_false(case: Case) -> None:
    (record,) = mast_records([(case, ABOUT)], default_scheme())
    modes = record["failure_modes"]
    assert isinstance(modes, dict)
    assert tuple(modes) == MAST_KEYS
    assert {key for key, value in modes.items() if value} == {"1.1", "3.3"}
    assert {key for key, value in modes.items() if value is False} == {"1.4", "3.1", "3.2"}
    assert modes["2.3"] is None


def test_without_a_cause_no_mast_key_is_known(store: AnnotationStore) -> None:
    store.save(Draft("c1", EventKind.CREATE, {"validity": "V0"}))
    (record,) = mast_records([(store.cases[0], ABOUT)], default_scheme())
    modes = record["failure_modes"]
    assert isinstance(modes, dict)
    assert set(modes.values()) == {None}


def test_a_skipped_case_is_no_who_when_record(store: AnnotationStore) -> None:
    store.save(Draft("c1", EventKind.CREATE, {**FULL, "status": "skipped"}))
    assert list(who_when_records([(store.cases[0], ABOUT)], default_scheme())) == []


# Who&When records


def who_when(step: object, **more: object) -> dict[str, object]:
    return {"mistake_agent": "Coder", "mistake_step": step, "mistake_reason": "why", **more}


def history(*names: str) -> list[dict[str, str]]:
    return [{"content": "", "role": "user", "name": name} for name in names]


def imported_steps(plan: ImportPlan) -> list[object]:
    return [draft.values.get("origins/imported/step_number") for draft in plan.drafts]


def test_a_step_is_assumed_to_count_from_0_and_that_is_said() -> None:
    plan = planned([who_when("3", question_ID="q1")], by="x", stage=2)
    assert imported_steps(plan) == [4]
    assert plan.notes[0].startswith("steps are assumed to count from 0")


def test_the_base_is_what_the_histories_say() -> None:
    records = [who_when("1", history=history("Coder", "Checker"), question_ID="q")]
    plan = planned(records, by="x", stage=1)
    assert imported_steps(plan) == [1]
    assert plan.notes[0].startswith("steps are taken to count from 1: there the blamed agent")


def test_histories_of_the_published_kind_count_from_0() -> None:
    records = [who_when("1", history=history("Checker", "Coder", "Checker"), question_ID="q")]
    assert imported_steps(planned(records, by="x", stage=1)) == [2]


def test_the_user_can_say_the_base() -> None:
    plan = planned([who_when(3, question_ID="q")], by="x", stage=1, base=1)
    assert imported_steps(plan) == [3]
    assert plan.notes[0] == "steps count from 1, as asked for"


def test_a_step_before_the_first_is_kept_and_said() -> None:
    plan = planned([who_when(0, question_ID="q")], by="x", stage=1, base=1)
    assert plan.drafts[0].values["mistake_step"] == "0"
    assert "record 1: step 0 lies before the first, 1" in plan.notes


def test_a_step_that_the_stage_lacks_is_kept_as_a_number_and_said() -> None:
    plan = planned([who_when(50, question_ID="q")], by="x", stage=1)
    assert imported_steps(plan) == [51]
    assert "record 1: stage 1 has no step #51" in plan.notes


def test_without_a_stage_the_step_is_a_number_only() -> None:
    plan = planned([who_when(5, question_ID="q")], by="x")
    assert "origins/imported/stage" not in plan.drafts[0].values
    assert any("no stage is named" in note for note in plan.notes)
    assert planned([who_when(5)], by="x", stages=1).drafts[0].values["origins/imported/stage"] == 1


def test_what_who_when_says_besides_is_kept(tmp_path: Path) -> None:
    (case,) = saved(planned([who_when(5, question_ID="q1")], by="x", stage=1), tmp_path)
    assert (case.id, case.readings[0].note) == ("q1", "why")
    assert case.readings[0].extra == {"mistake_agent": "Coder"}


def test_labels_of_nobody_are_not_taken() -> None:
    with pytest.raises(BadInputError, match="nobody is named"):
        planned([who_when(5)], stage=1)


# The hostile records


@pytest.fixture
def annot(cases: Path) -> Callable[[str], Any]:
    return lambda name: json.loads((cases / "hostile" / "annot" / name).read_text())


def test_a01_both_annotators_are_kept_apart(annot: Callable[[str], Any], tmp_path: Path) -> None:
    c1, _ = saved(planned(annot("a01_two_annotators_disagree.json")), tmp_path)
    assert [(r.annotator, r.origins[0].step_number) for r in c1.readings] == [
        ("ann", 14),
        ("bob", 17),
    ]
    assert [len(reading.origins[0].causes) for reading in c1.readings] == [1, 2]
    assert c1.readings[0].no_origin is None


def test_a01_an_explicit_none_is_a_label(annot: Callable[[str], Any], tmp_path: Path) -> None:
    _, c2 = saved(planned(annot("a01_two_annotators_disagree.json")), tmp_path)
    (reading,) = c2.readings
    assert (reading.no_origin, reading.origins) == (True, ())


def test_a02_anchors_are_kept_as_pointers(annot: Callable[[str], Any], tmp_path: Path) -> None:
    plan = planned(annot("a02_anchor_gone.json"))
    addresses = [v for d in plan.drafts for p, v in d.values.items() if p.endswith("/address")]
    assert addresses == ["file:S3/src/gone.py#L40", "step:9/99999"]


def test_a05_unknown_labels_are_kept_and_flagged(
    annot: Callable[[str], Any], tmp_path: Path
) -> None:
    data = annot("a05_label_not_in_schema.json")
    scheme = scheme_of_lists("theirs", data["schema"])
    plan = planned(data["labels"], scheme=scheme, by="ann")
    assert [(label.code, label.nearest) for label in plan.unknown] == [
        ("spec_misread", "spec-misread"),
        ("flaky", None),
    ]
    assert [d.values["origins/imported/cause"] for d in plan.drafts] == ["spec_misread", "flaky"]


def test_a07_ratings_of_items_are_no_cases(annot: Callable[[str], Any]) -> None:
    with pytest.raises(BadInputError, match="no known shape"):
        planned(annot("a07_single_class_kappa.json"))


@pytest.mark.parametrize("records", [[], [3], [None], [["case"]], [{"case": "c", "by": "a"}, 3]])
def test_what_is_no_record_is_one_line(records: list[object]) -> None:
    with pytest.raises(BadInputError):
        planned(records)
