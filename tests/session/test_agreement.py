"""Agreement from files to text and JSON, on the hostile label files with their right answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from arcview.annotations.cases import case_id, flat
from arcview.annotations.events import EventKind
from arcview.annotations.store import AnnotationStore, Draft
from arcview.cli import main
from arcview.schema.agreement import AgreementFile
from arcview.schema.faults import find_faults
from arcview.session.annotate import AnnotateSession
from arcview.session.opened import OpenRun
from arcview.sidecar import run_sidecar


def printed(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> Any:
    assert main(["agreement", str(path), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


# What people keep in the sidecar


def label(
    sidecar: Path, run_id: str, by: str, values: dict[str, object], *, status: str = "final"
) -> None:
    folder = run_sidecar(sidecar, run_id) / "annotations"
    store = AnnotationStore(folder, run_id, by, host="here")
    draft = Draft(
        case_id(run_id, "gate:2"), EventKind.CREATE, {**values, "status": status}, unit="gate:2"
    )
    store.save(draft)


@pytest.fixture
def labelled(tmp_path: Path, demo_run: Path) -> Path:
    """A sidecar in which two people labelled gate 2 of the sample run, and a third is at it."""
    run_id = OpenRun.open(demo_run).run.run_id
    sidecar = tmp_path / "sidecar"
    label(sidecar, run_id, "ann", {"validity": "V0", "awareness/3/level": "N2"})
    label(sidecar, run_id, "bob", {"validity": "V0", "awareness/3/level": "N1"})
    label(sidecar, run_id, "eve", {"validity": "V1"}, status="draft")
    return sidecar


def test_a_run_that_lies_in_two_places_counts_once(
    labelled: Path, tmp_path: Path, demo_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(demo_run.parents[2] / "chains", tmp_path / "chains")
    for name in ("a", "b"):
        shutil.copytree(demo_run, runs / "x" / name)
    once = printed(capsys, runs / "x" / "a", "--sidecar", str(labelled))
    assert once["cases"] == 1
    twice = printed(capsys, runs, "--sidecar", str(labelled))
    assert (twice["cases"], twice["fields"]) == (1, once["fields"])


def test_exported_cases_are_compared_like_those_of_the_sidecar(
    labelled: Path, tmp_path: Path, demo_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.jsonl"
    export = ["annotate", "export", str(demo_run), "--sidecar", str(labelled), "-o", str(file)]
    assert main(export) == 0
    assert printed(capsys, file)["fields"] == printed(capsys, labelled)["fields"]


def test_labels_of_a_run_whose_id_is_no_file_name_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for by in ("ann", "bob"):
        label(tmp_path, "team/run 1:" + "x" * 90, by, {"validity": "V0"})
    assert printed(capsys, tmp_path)["cases"] == 1


def test_labels_of_a_sidecar_are_compared(
    labelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, labelled)
    assert (found["cases"], found["drafts"]) == (1, 1)
    fields = {one["field"]: one for one in found["fields"]}
    assert fields["validity"]["people"]["raw"] == {"k": 1, "n": 1}
    assert fields["awareness"]["kind"] == "ordinal"
    assert fields["awareness"]["people"]["raw"] == {"k": 0, "n": 1}
    assert fields["awareness"]["suggested"] is None


def test_settling_a_case_changes_no_agreement_neither_here_nor_after_an_import(
    labelled: Path, tmp_path: Path, demo_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = printed(capsys, labelled)["fields"]
    session = AnnotateSession.open(OpenRun.open(demo_run), annotator="bob", sidecar=labelled)
    session.choose_unit("gate:2")
    assert session.adopt("ann", ["awareness/3/level"]).saved
    assert session.settle().saved
    assert printed(capsys, labelled)["fields"] == before
    file, again = tmp_path / "cases.jsonl", str(tmp_path / "again")
    export = ["annotate", "export", str(demo_run), "--sidecar", str(labelled), "-o", str(file)]
    assert main(export) == 0
    assert printed(capsys, file)["fields"] == before
    take_in = ["annotate", "import", str(file), str(demo_run), "--sidecar", again]
    assert main([*take_in, "--annotator", "eve"]) == 0
    capsys.readouterr()
    assert printed(capsys, Path(again))["fields"] == before
    other = AnnotateSession.open(OpenRun.open(demo_run), annotator="bob", sidecar=Path(again))
    other.choose_unit("gate:2")
    assert session.reading is not None
    assert other.reading is not None
    assert flat(other.reading) == flat(session.reading)
    assert other.reading.adopted_from == ("ann",)


def test_labels_about_runs_are_also_held_against_the_rules(
    labelled: Path, demo_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, demo_run.parent, "--sidecar", str(labelled))
    fields = {one["field"]: one for one in found["fields"]}
    # The rules suggest N2 for stage 3, as ann says and bob does not.
    assert fields["awareness"]["suggested"]["raw"] == {"k": 1, "n": 2}
    plain = printed(capsys, demo_run.parent, "--sidecar", str(labelled), "--no-suggestions")
    assert all(one["suggested"] is None for one in plain["fields"])


def test_what_is_printed_keeps_to_its_schema(
    labelled: Path, demo_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, demo_run.parent, "--sidecar", str(labelled))
    assert find_faults(AgreementFile, found) == ()


def test_statistics_count_what_people_settled_before_what_rules_suggest(
    labelled: Path, demo_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = OpenRun.open(demo_run).run.run_id
    label(labelled, run_id, "bob", {"awareness/4/level": "N0"})
    arguments = ["stats", str(demo_run), "--json", "--sidecar", str(labelled)]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)["all"]
    # Stage 3 is in dispute, so the suggested N2 stays; stage 4 is N6 by the rules and N0 by bob.
    assert (found["awareness_labelled"]["k"], found["awareness_labelled"]["n"]) == (1, 2)
    assert (found["unnoticed_n2"]["k"], found["unnoticed_n5"]["k"]) == (1, 2)


# Exported files


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
    ids=["cut off", "no list", "deep", "no text"],
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
