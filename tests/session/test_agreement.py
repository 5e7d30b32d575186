"""Agreement from files to text and JSON, on the hostile label files with their right answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arcview.cli import main


def printed(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> Any:
    assert main(["agreement", str(path), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_two_annotators_who_disagree(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = cases / "hostile" / "annot" / "a01_two_annotators_disagree.json"
    fields = {one["field"]: one["people"] for one in printed(capsys, file)["fields"]}
    assert fields["root_stage"]["raw"] == {"k": 1, "n": 1}
    assert fields["root_stage"]["single"] == 1  # c2 has one rater, who says that there is none
    assert fields["root_step"]["raw"] == {"k": 0, "n": 1}
    assert fields["root_step"]["within"] == {"k": 1, "n": 1}
    assert fields["labels"]["jaccard"]["value"] == 0.5
    exact = printed(capsys, file, "--within", "2")["fields"]
    assert next(one for one in exact if one["field"] == "root_step")["people"]["within"]["k"] == 0


def test_a_single_class_has_no_kappa_and_full_agreement(
    cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = cases / "hostile" / "annot" / "a07_single_class_kappa.json"
    (field,) = printed(capsys, file)["fields"]
    assert field["people"]["raw"] == {"k": 6, "n": 6}
    assert field["people"]["kappa"][0]["value"] is None
    assert field["people"]["alpha"]["value"] is None
    assert main(["agreement", str(file)]) == 0
    text = capsys.readouterr().out
    assert "6/6" in text
    assert text.count("undefined (no variation)") == 2


def test_a_file_in_conflict_is_refused_in_one_line(
    cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = cases / "hostile" / "annot" / "a04_merge_conflict.jsonl"
    assert main(["agreement", str(file)]) == 2
    error = capsys.readouterr().err
    assert "line 2" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.json", "{"), ("a.json", '{"x": 1}'), ("a.jsonl", "[" * 100_000), ("a.json", "\x00")],
)
def test_damaged_files_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["agreement", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["nowhere"], [".", "--within", "-1"]])
def test_wrong_use_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    arguments: list[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["agreement", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_is_read_whole_and_names_are_clean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rater, label in (("ann\x1b[31m", "x"), ("bob", "y")):
        lines = [json.dumps({"case": n, "by": rater, "cause\x07": label}) for n in range(12)]
        (tmp_path / f"{rater[:3]}.jsonl").write_text("\n".join(lines))
    assert main(["agreement", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "0/12, 0.0 %" in text
    assert "\x1b" not in text
    assert "\x07" not in text
