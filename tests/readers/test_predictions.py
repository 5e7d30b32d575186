"""Predictions files in each of their shapes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arcview.errors import BadInputError
from arcview.readers.runs.predictions import Prediction, find_prediction
from tests.readers.scb_run import write

RECORD = {"instance_id": "a-1", "model_name_or_path": "m", "model_patch": "diff"}
OTHER = {**RECORD, "instance_id": "b-2", "model_patch": "other"}


@pytest.mark.parametrize(
    "content",
    [
        {"a-1": RECORD, "b-2": OTHER},
        [OTHER, RECORD],
        RECORD,
        json.dumps(OTHER) + "\n" + json.dumps(RECORD) + "\n",
        json.dumps(RECORD) + "\n" + '{"instance_id": "b',
    ],
)
def test_an_instance_is_found_in_every_shape(tmp_path: Path, content: object) -> None:
    file = write(tmp_path / "preds.json", content)
    assert find_prediction(file, "a-1") == Prediction("diff", "m", "preds.json")


def test_an_instance_that_is_not_named_has_no_prediction(tmp_path: Path) -> None:
    assert find_prediction(write(tmp_path / "preds.json", [OTHER]), "a-1") is None


def test_the_last_of_several_records_counts(tmp_path: Path) -> None:
    lines = [RECORD, {**RECORD, "model_patch": "later"}]
    file = write(tmp_path / "all_preds.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    found = find_prediction(file, "a-1")
    assert found is not None
    assert found.patch == "later"


def test_null_is_kept_apart_from_an_empty_patch(tmp_path: Path) -> None:
    file = write(tmp_path / "preds.json", [{**RECORD, "model_patch": None}])
    assert find_prediction(file, "a-1") == Prediction(None, "m", "preds.json")
    file = write(tmp_path / "preds.json", [{**RECORD, "model_patch": ""}])
    assert find_prediction(file, "a-1") == Prediction("", "m", "preds.json")


def test_something_else_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadInputError):
        find_prediction(write(tmp_path / "preds.json", "no json\n"), "a-1")
