"""Cases as text for people: Markdown with quoted evidence, and what the command line prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.annotations.events import EventKind
from arcview.annotations.store import Draft
from arcview.errors import BadInputError
from arcview.session.address import Address
from arcview.session.annotate import AnnotateSession
from arcview.session.annotate_files import import_file, load_records
from arcview.session.annotate_report import report
from arcview.session.annotate_text import case_lines, fault_lines
from arcview.session.opened import OpenRun

DEMO = Path(__file__).parents[2] / "fixtures" / "runs" / "scripted-demo" / "notes-cli"
TEST = str(Address("gate", "2", ("f2p", "gate_tests/test_search.py::test_newest_first")))
SECRET = "sk-ant-" + "a1b2" * 8


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    return OpenRun.open(DEMO, cache_root=tmp_path_factory.mktemp("cache"))


@pytest.fixture
def session(opened: OpenRun, tmp_path: Path) -> AnnotateSession:
    found = AnnotateSession.open(opened, annotator="ann", sidecar=tmp_path)
    found.mark(TEST)
    found.mark("file:S2/notes/search.py#L3-L5")
    found.label("validity", "V0")
    found.label("defect", "D2")
    return found


def written(session: AnnotateSession) -> str:
    return report(session.opened, session.store.cases, session.scheme)


def test_the_report_names_codes_and_quotes_evidence(session: AnnotateSession) -> None:
    text = written(session)
    assert "D2 wrong behaviour" in text
    assert "assert [1, 2, 3] == [3, 2, 1]" in text
    assert "from __future__ import annotations" in text


def test_annotators_stand_side_by_side(session: AnnotateSession, tmp_path: Path) -> None:
    other = AnnotateSession.open(session.opened, annotator="bob", sidecar=tmp_path)
    other.mark(TEST)
    other.label("validity", "V1")
    assert "| validity | V0 valid | V1 unspecified behaviour |" in written(other)


def test_what_is_gone_is_said_not_dropped(session: AnnotateSession) -> None:
    values = {"evidence/x/address": "file:S3/src/gone.py#L40", "evidence/x/sha256": "0" * 64}
    session.store.save(Draft(session.case_id or "", EventKind.EDIT, dict(values)))
    assert "file:S3/src/gone.py#L40 — not found" in written(session)
    assert any("gone.py#L40: not found" in line for line in fault_lines(session, "run"))


@pytest.mark.parametrize(
    "note", [f"key {SECRET}", "\x1b[31mred", "# heading", "<script>", "| bar", "a\n```\nb"]
)
def test_a_hostile_note_stays_text(session: AnnotateSession, note: str) -> None:
    session.write("note", note)
    text = written(session)
    assert SECRET not in text
    assert "\x1b" not in text
    assert "\n# heading" not in text
    assert "<script>" not in text


def test_no_export_holds_a_secret_of_a_note(session: AnnotateSession) -> None:
    session.write("note", f"the key is {SECRET}")
    lines = "\n".join(case_lines(session.store.cases[0], session.scheme, "run"))
    assert SECRET not in lines


def test_a_sound_case_has_no_fault(session: AnnotateSession) -> None:
    assert list(fault_lines(session, "run")) == []


def test_faults_name_unknown_labels_and_missing_evidence(session: AnnotateSession) -> None:
    values: dict[str, object] = {"origins/z/defect": "d2", "grade": "Z"}
    session.store.save(Draft(session.case_id or "", EventKind.EDIT, values))
    text = "\n".join(fault_lines(session, "run"))
    assert "defect 'd2' is not in the scheme; nearest: D2" in text
    assert "grade 'Z' is not in the scheme" in text
    assert "origin 2 has no evidence" in text


# Importing files


def test_who_when_records_find_their_steps(session: AnnotateSession, tmp_path: Path) -> None:
    file = tmp_path / "who.json"
    file.write_text(
        json.dumps(
            [{"mistake_agent": "a", "mistake_step": "1", "mistake_reason": "why", "case": "w"}]
        )
    )
    plan, saved = import_file(
        file, session.opened, session.store, session.scheme, stage=2, by="their-team"
    )
    assert saved == 1
    assert "assumed to count from 0" in plan.notes[0]
    case = session.store.case("w")
    assert case is not None
    assert case.readings[0].annotator == "their-team"
    assert case.readings[0].origins[0].step == "call_2_02"
    assert {path.name.partition("@")[0] for path in session.store.folder.iterdir()} == {"ann"}


def test_a05_brings_its_own_scheme(cases: Path) -> None:
    records, scheme = load_records(cases / "hostile" / "annot" / "a05_label_not_in_schema.json")
    assert len(records) == 2
    assert scheme is not None
    assert scheme.unknown("cause", "regression") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "{"),
        ("a.json", "3"),
        ("a.jsonl", '{"case": "a"}\n{'),
        ("a.json", "[" * 100_000),
    ],
)
def test_what_is_no_json_is_one_line(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInputError) as caught:
        load_records(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        load_records(tmp_path / "none.json")


def test_a_case_goes_out_and_comes_back_on_a_real_run(
    scb: Callable[[str], Path], tmp_path: Path
) -> None:
    from arcview.session.annotate_files import export_text, labelled_cases

    opened = OpenRun.open(scb("code-search-refactor-pass"))
    first = AnnotateSession.open(opened, annotator="ann", sidecar=tmp_path / "one")
    failing = opened.gate_view("3").failing[0].test
    first.mark(str(Address("gate", "3", (failing.group.value, failing.id))))
    first.label("validity", "V0")
    first.label("mechanism", "M2")
    first.finish()
    file = tmp_path / "cases.jsonl"
    file.write_text(
        export_text("jsonl", labelled_cases(opened.overview, first.store.cases), first.scheme)
    )
    second = AnnotateSession.open(opened, annotator="carol", sidecar=tmp_path / "two")
    _, saved = import_file(file, opened, second.store, second.scheme)
    assert saved == 1
    mine, theirs = first.store.cases[0], second.store.cases[0]
    assert (theirs.id, theirs.unit) == (mine.id, mine.unit)
    assert theirs.readings[0].effects == mine.readings[0].effects
    assert theirs.readings[0].evidence == mine.readings[0].evidence
