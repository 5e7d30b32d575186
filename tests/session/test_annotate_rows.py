"""What the screens of labelling show, and the keys that set labels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.analysis.suggestions import Suggestion
from arcview.annotations.events import EventKind
from arcview.annotations.store import Draft
from arcview.model.annotation import PointerState
from arcview.session.address import Address
from arcview.session.annotate import AnnotateSession
from arcview.session.annotate_keys import KeyPad
from arcview.session.annotate_marks import Part
from arcview.session.annotate_rows import (
    case_rows,
    check_evidence,
    code_rows,
    evidence_rows,
    form_rows,
    side_rows,
)
from arcview.session.opened import OpenRun

DEMO = Path(__file__).parents[2] / "fixtures" / "runs" / "scripted-demo" / "notes-cli"
TEST = str(Address("gate", "2", ("f2p", "gate_tests/test_search.py::test_newest_first")))
STEP = "step:2/call_2_02"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    return OpenRun.open(DEMO, cache_root=tmp_path_factory.mktemp("cache"))


@pytest.fixture
def begin(opened: OpenRun, tmp_path: Path) -> Callable[..., AnnotateSession]:
    def open_session(annotator: str = "ann", *, blind: bool = False) -> AnnotateSession:
        session = AnnotateSession.open(opened, annotator=annotator, sidecar=tmp_path, blind=blind)
        session.mark(TEST)
        session.mark(STEP)
        return session

    return open_session


def press(session: AnnotateSession, keys: str) -> KeyPad:
    pad = KeyPad(session)
    for key in keys:
        pad.press(key)
    return pad


def test_two_keys_set_a_label(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    press(session, "v0da")
    own = session.reading
    assert own is not None
    assert (own.validity, own.origins[0].defect) == ("V0", "D10")


def test_codes_of_one_field_can_follow_each_other(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    pad = press(session, "m12")
    own = session.reading
    assert own is not None
    assert own.effects[0].mechanisms == ("M1", "M2")
    assert pad.field is not None
    pad.press("m")
    assert pad.field is None


def test_a_slip_sets_nothing_and_leaves_the_field_open(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin()
    pad = press(session, "d")
    pressed = pad.press("z")
    assert (pressed.taken, pressed.change) == (False, None)
    assert pad.field is not None
    assert not pad.press("escape").change
    assert pad.field is None


def test_a_key_of_no_field_is_somebody_elses(begin: Callable[..., AnnotateSession]) -> None:
    assert not KeyPad(begin()).press("j").taken


def test_parts_are_gone_through_in_the_order_of_the_form(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin()
    session.choose(session.case_id)
    pad = KeyPad(session)
    kinds = []
    for _ in range(5):
        pad.press("]")
        assert session.part is not None
        kinds.append(
            (session.part.kind, session.part.id if session.part.kind == "awareness" else "")
        )
    assert kinds == [
        ("origins", ""), ("effects", ""), ("awareness", "3"), ("awareness", "4"), ("origins", ""),
    ]  # fmt: skip
    pad.press("[")
    assert session.part == Part("awareness", "4")


def test_the_form_shows_validity_first_and_where_labels_go(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin()
    press(session, "v1d2")
    rows = form_rows(session)
    assert (rows[0].title, rows[0].text, rows[0].key) == (
        "Validity",
        "V1 unspecified behaviour",
        "v",
    )
    headings = [row.title for row in rows if row.is_heading]
    assert headings == [
        "Origin", "Effect on gate 2", "Awareness in stage 3", "Awareness in stage 4",
    ]  # fmt: skip
    assert [row.title for row in rows if row.in_hand] == ["Origin"]
    assert next(row for row in rows if row.field == "defect").codes == ("D2",)


def test_an_empty_form_can_be_shown(opened: OpenRun, tmp_path: Path) -> None:
    session = AnnotateSession.open(opened, annotator="ann", sidecar=tmp_path)
    assert [row.text for row in form_rows(session) if row.text] == []
    assert case_rows(session) == ()
    assert side_rows(session) == ()


def test_a_taken_over_label_and_an_unknown_one_are_marked(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin()
    session.accept(Suggestion("validity", "V1", "", "", "determinacy", 1, "x"))
    session.store.save(Draft(session.case_id or "", EventKind.EDIT, {"grade": "b"}))
    rows = {row.field: row for row in form_rows(session) if row.field}
    assert rows["validity"].by_rule == "determinacy"
    assert [label.nearest for label in rows["grade"].unknown] == ["B"]


def test_codes_have_their_definitions_and_say_what_is_set_and_proposed(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin()
    session.label("validity", "V0")
    session.offer([Suggestion("validity", "V1", "", "why", "determinacy", 1, "x")])
    rows = {row.code: row for row in code_rows(session, "validity")}
    assert rows["V0"].chosen
    assert [suggestion.reason for suggestion in rows["V1"].suggested] == ["why"]
    assert all(row.definition for row in rows.values())


def test_sides_show_where_people_disagree(begin: Callable[..., AnnotateSession]) -> None:
    ann, bob = begin("ann"), begin("bob")
    press(ann, "v0gb")
    press(bob, "v1gb")
    bob.write("note", "not told")
    rows = {row.title: row for row in side_rows(bob)}
    assert not rows["validity"].agree
    assert rows["validity"].texts == {"bob": "V1 unspecified behaviour", "ann": "V0 valid"}
    assert rows["grade"].agree
    assert rows["note"].agree


def test_a_row_of_the_sides_can_be_taken_over(begin: Callable[..., AnnotateSession]) -> None:
    ann, bob = begin("ann"), begin("bob")
    press(ann, "d2v0")
    assert bob.refresh()
    before = bob.reading
    rows = {row.title: row for row in side_rows(bob)}
    bob.adopt("ann", rows["origin: defect"].paths)
    own, theirs = bob.reading, ann.reading
    assert own is not None
    assert theirs is not None
    assert before is not None
    assert own.origins == theirs.origins
    assert own.effects == before.effects
    assert {one.id for one in before.evidence} < {one.id for one in own.evidence}
    assert own.validity is None


def test_while_blind_no_row_shows_anybody_else(begin: Callable[..., AnnotateSession]) -> None:
    ann = begin("ann")
    press(ann, "v0")
    ann.finish()
    bob = begin("bob", blind=True)
    bob.offer([Suggestion("validity", "V1", "", "why", "determinacy", 1, "x")])
    assert [row.annotators for row in case_rows(bob)] == [("bob",)]
    assert all(set(row.texts) == {"bob"} for row in side_rows(bob))
    assert {row.annotator for row in evidence_rows(bob)} == {"bob"}
    assert [row.suggested for row in code_rows(bob, "validity") if row.suggested] == []
    press(bob, "v1")
    bob.finish()
    assert [row.annotators for row in case_rows(bob)] == [("bob", "ann")]


def test_evidence_says_whether_it_is_still_what_it_was(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin()
    values: dict[str, object] = {
        "evidence/x/address": "file:S2/gone.py#L4",
        "evidence/y/address": "spec:2#L1",
        "evidence/y/sha256": "0" * 64,
    }
    session.store.save(Draft(session.case_id or "", EventKind.EDIT, values))
    assert {row.state for row in evidence_rows(session)} == {None}
    states = check_evidence(session)
    found = {row.evidence.pointer.address: row.state for row in evidence_rows(session, states)}
    assert found == {
        TEST: PointerState.OK,
        STEP: PointerState.OK,
        "file:S2/gone.py#L4": PointerState.NOT_FOUND,
        "spec:2#L1": PointerState.STALE,
    }
    assert evidence_rows(session)[0].supports == "effect on gate 2"


def test_a_case_in_the_list_says_what_and_who(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    press(session, "v0")
    session.finish()
    (row,) = case_rows(session)
    assert (row.unit, row.status, row.validity) == ("gate:2", "final", "V0 valid")
    assert (row.origin, row.in_hand) == ("stage 2 #2", True)
