"""What is exported and stored of labels fits the schema that is published for it."""

from __future__ import annotations

import json
from pathlib import Path

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from arcview.annotations.events import EventKind
from arcview.annotations.records import RunAbout, case_record
from arcview.annotations.store import AnnotationStore, Draft
from arcview.model.annotation import SuggestedBy
from arcview.schema import json_schemas

VALUES: dict[str, object] = {
    "validity": "V0",
    "origins/a/stage": 2,
    "origins/a/lines": [10, 12],
    "effects/e/gate": "3",
    "effects/e/mechanisms": ["M1"],
    "awareness/3/level": "N2",
    "evidence/v/address": "gate:3/f2p/t",
    "confidence": 3,
    "later": {"any": ["thing"]},
}


def labelled(folder: Path) -> AnnotationStore:
    store = AnnotationStore(folder, "run", "ann", host="h", run_hash="00")
    by = SuggestedBy("origin", 1, "abc")
    store.save(
        Draft("c1", EventKind.CREATE, VALUES, unit="gate:3", scheme="arcview 1", suggested_by=by)
    )
    store.undo()
    store.redo()
    store.save(Draft("c1", EventKind.RETRACT, {}, ("origins/a",)))
    store.save(Draft("c2", EventKind.CREATE, {}))
    return store


def test_an_exported_case_fits_its_schema(tmp_path: Path) -> None:
    validator = Draft202012Validator(json_schemas()["case"])
    for case in labelled(tmp_path).cases:
        validator.validate(json.loads(json.dumps(case_record(case, RunAbout("run")))))


def test_every_line_of_the_store_fits_its_schema(tmp_path: Path) -> None:
    labelled(tmp_path)
    validator = Draft202012Validator(json_schemas()["case-event"])
    lines = (tmp_path / "ann@h.jsonl").read_text().splitlines()
    assert len(lines) == 5
    for line in lines:
        validator.validate(json.loads(line))
