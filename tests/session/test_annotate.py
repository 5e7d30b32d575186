"""Labelling a run by keys: what each does, that it is saved, and what stays hidden."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arcview.analysis.suggestions import Suggestion
from arcview.errors import ArcviewError, BadInputError
from arcview.model.annotation import CaseStatus, Origin, Reading, SuggestedBy
from arcview.session.address import Address
from arcview.session.annotate import AnnotateSession
from arcview.session.annotate_marks import Part, Role
from arcview.session.opened import OpenRun

DEMO = Path(__file__).parents[2] / "fixtures" / "runs" / "scripted-demo" / "notes-cli"
TEST = str(Address("gate", "2", ("f2p", "gate_tests/test_search.py::test_newest_first")))
OTHER_TEST = str(Address("gate", "2", ("f2p", "gate_tests/test_search.py::test_phrase_in_quotes")))
LINES = "file:S2/notes/search.py#L3-L5"
STEP = "step:2/call_2_02"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    return OpenRun.open(DEMO, cache_root=tmp_path_factory.mktemp("cache"))


@pytest.fixture
def begin(opened: OpenRun, tmp_path: Path) -> Callable[..., AnnotateSession]:
    def open_session(annotator: str | None = "ann", *, blind: bool = False) -> AnnotateSession:
        return AnnotateSession.open(opened, annotator=annotator, sidecar=tmp_path, blind=blind)

    return open_session


def mine(session: AnnotateSession) -> Reading:
    own = session.reading
    assert own is not None
    return own


def origin(session: AnnotateSession) -> Origin:
    return mine(session).origins[0]


def test_marking_a_test_starts_a_case_about_its_gate(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    change = session.mark(TEST)
    assert change.saved
    assert session.case is not None
    assert session.case.unit == "gate:2"
    (effect,) = mine(session).effects
    assert (effect.gate, effect.stage, effect.group) == ("2", 2, "f2p")
    assert effect.tests == ("gate_tests/test_search.py::test_newest_first",)
    assert (effect.verdict_before, effect.verdict_after) == ("passed", "failed")


def test_what_is_marked_is_evidence_with_a_hash(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    (evidence,) = mine(session).evidence
    assert evidence.pointer.address == TEST
    assert evidence.pointer.sha256 is not None
    assert evidence.supports == mine(session).effects[0].id


def test_further_marks_extend_the_case_in_hand(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    for address in (TEST, OTHER_TEST, LINES, STEP, "spec:2#L3"):
        assert session.mark(address).saved
    assert len(session.store.cases) == 1
    assert len(mine(session).effects[0].tests) == 2
    assert (origin(session).path, origin(session).lines) == ("notes/search.py", (3, 5))
    assert (origin(session).stage, origin(session).step_number) == (2, 2)
    assert len(mine(session).evidence) == 5


def test_the_stage_of_a_line_is_not_guessed_from_the_state_it_is_seen_in(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin()
    session.mark(LINES)
    assert origin(session).stage is None


def test_a_changed_line_of_a_diff_belongs_to_its_stage(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin()
    session.mark("diff:2/notes/search.py#h1")
    assert (origin(session).stage, origin(session).path) == (2, "notes/search.py")


def test_a_second_step_is_evidence_or_what_the_person_says(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin()
    session.mark(STEP)
    session.mark("step:2/call_2_03")
    assert origin(session).last_step is None
    session.mark("step:2/call_2_03", Role.ORIGIN_END)
    assert (origin(session).step, origin(session).last_step) == ("call_2_02", "call_2_03")
    assert (origin(session).step_number, origin(session).last_step_number) == (2, 3)
    session.mark("step:3/call_3_01", Role.AWARENESS)
    aware = mine(session).aware_at(3)
    assert aware is not None
    assert aware.step == "call_3_01"


def test_marking_the_same_again_adds_nothing_twice(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark("spec:2#L3")
    session.mark("spec:2#L3")
    assert len(mine(session).evidence) == 1


def test_a_gate_can_have_several_cases(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    session.mark(OTHER_TEST, new=True)
    assert [case.unit for case in session.store.cases] == ["gate:2", "gate:2"]


def test_a_step_of_a_stage_that_passed_belongs_to_the_next_failing_gate(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin()
    session.mark("step:1/call_1_01")
    assert session.case is not None
    assert session.case.unit == "gate:2"


def test_no_address_is_one_line(begin: Callable[..., AnnotateSession]) -> None:
    with pytest.raises(BadInputError):
        begin().mark("nowhere")


@pytest.mark.parametrize(
    ("field", "code", "read"),
    [
        ("validity", "V1", lambda r: r.validity),
        ("defect", "D10", lambda r: r.origins[0].defect),
        ("cause", "C8", lambda r: r.origins[0].cause),
        ("mechanism", "M2", lambda r: r.effects[0].mechanisms[0]),
        ("awareness", "N3", lambda r: r.aware_at(2).level),
        ("awareness_flags", "claimed-success", lambda r: r.aware_at(2).flags[0]),
        ("outcome", "healed", lambda r: r.outcome[0]),
        ("grade", "B", lambda r: r.grade),
        ("confidence", "3", lambda r: str(r.confidence)),
    ],
)
def test_a_label_goes_where_it_belongs_and_again_takes_it_away(
    begin: Callable[..., AnnotateSession], field: str, code: str, read: Callable[[Reading], object]
) -> None:
    session = begin()
    session.mark(TEST)
    assert session.label(field, code).saved
    assert read(mine(begin_again(session))) == code
    session.label(field, code)
    with pytest.raises((IndexError, AttributeError, AssertionError)):
        assert read(mine(session)) == code


def begin_again(session: AnnotateSession) -> AnnotateSession:
    """The same labels as another start of the program reads them."""
    again = AnnotateSession.open(
        session.opened, annotator=session.annotator, sidecar=session.store.folder.parents[1]
    )
    again.choose(session.case_id)
    return again


def test_labels_go_to_the_part_in_hand(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    session.label("defect", "D1")
    session.add_origin()
    session.label("defect", "D2")
    session.choose(session.case_id, Part("awareness", "4"))
    session.label("awareness", "N2")
    assert [origin.defect for origin in mine(session).origins] == ["D1", "D2"]
    assert [aware.stage for aware in mine(session).awareness] == [4]


def test_texts_are_written(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(LINES)
    session.write("note", "what went wrong first")
    session.write("symbol", "search.matches")
    evidence = mine(session).evidence[0]
    session.write(f"evidence/{evidence.id}/note", "here")
    assert mine(session).note == "what went wrong first"
    assert origin(session).symbol == "search.matches"
    assert mine(session).evidence[0].note == "here"


def test_no_defect_is_a_label_of_its_own(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    assert mine(session).no_origin is None
    session.no_origin()
    assert mine(session).no_origin is True


def test_a_code_that_the_scheme_lacks_is_not_set(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    assert not session.label("defect", "D99").saved


def test_without_a_case_a_label_says_what_to_do(begin: Callable[..., AnnotateSession]) -> None:
    change = begin().label("validity", "V0")
    assert (change.saved, change.notice) == (False, "no case is in hand: mark something first")


def test_validity_comes_first(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    assert session.finish().notice == "decide the validity first"
    session.label("validity", "V0")
    assert session.finish().saved
    assert mine(session).status is CaseStatus.FINAL


def test_an_origin_without_evidence_is_pointed_out(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    session.label("validity", "V0")
    session.label("defect", "D2")
    assert session.finish().notice == "final; without evidence: origin 1"


def test_undo_and_redo_reach_over_cases(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    first = session.case_id
    session.label("validity", "V1")
    session.mark(TEST, new=True)
    session.undo()
    assert session.reading is None
    session.undo()
    assert session.case_id == first
    assert mine(session).validity is None
    session.redo()
    assert mine(session).validity == "V1"


def test_a_retracted_case_is_not_extended(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    retracted = session.case_id
    session.retract()
    session.mark(OTHER_TEST)
    assert session.case_id != retracted


def test_skipping_labels_nothing(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    assert session.skip("gate:3").saved
    assert mine(session).status is CaseStatus.SKIPPED
    assert not mine(session).is_labelled


def test_without_an_annotator_nothing_can_be_labelled(
    begin: Callable[..., AnnotateSession],
) -> None:
    change = begin(None).mark(TEST)
    assert not change.saved
    assert "annotator" in change.notice


# What is hidden


def finished(session: AnnotateSession, validity: str) -> AnnotateSession:
    session.mark(TEST)
    session.label("validity", validity)
    session.finish()
    return session


def a_suggestion() -> Suggestion:
    return Suggestion("validity", "V1", "V1", "not specified", "determinacy", 1, "abc")


def test_blind_shows_no_other_case_before_ones_own(begin: Callable[..., AnnotateSession]) -> None:
    finished(begin("ann"), "V0")
    bob = begin("bob", blind=True)
    assert bob.visible_cases() == ()
    assert len(begin("bob").visible_cases()) == 1


def test_blind_hides_others_and_rules_until_ones_own_is_final(
    begin: Callable[..., AnnotateSession],
) -> None:
    ann = finished(begin("ann"), "V0")
    bob = begin("bob", blind=True)
    bob.mark(OTHER_TEST)
    assert bob.case_id == ann.case_id
    bob.offer([a_suggestion()])
    assert bob.hidden
    assert bob.suggestions == ()
    assert not bob.accept(a_suggestion()).saved
    assert not bob.adopt("ann").saved
    bob.label("validity", "V1")
    bob.finish()
    assert not bob.hidden
    assert bob.suggestions == (a_suggestion(),)


def test_a_reading_says_whether_it_was_made_blind(begin: Callable[..., AnnotateSession]) -> None:
    bob = finished(begin("bob", blind=True), "V1")
    assert mine(bob).blind
    bob.label("validity", "V0")
    assert not mine(bob).blind


def test_one_who_sees_everything_was_not_blind(begin: Callable[..., AnnotateSession]) -> None:
    assert not mine(finished(begin("bob"), "V1")).blind


# Adjudication and suggestions


def test_somebody_elses_field_is_taken_over(begin: Callable[..., AnnotateSession]) -> None:
    ann = finished(begin("ann"), "V0")
    ann.label("grade", "B")
    judge = begin("carol")
    judge.choose(ann.case_id)
    judge.adopt("ann", ["validity"])
    assert (mine(judge).validity, mine(judge).grade) == ("V0", None)


def test_a_whole_reading_is_taken_over_and_settles_the_case(
    begin: Callable[..., AnnotateSession],
) -> None:
    ann = begin("ann")
    for address in (TEST, LINES, STEP):
        ann.mark(address)
    ann.label("defect", "D2")
    judge = begin("carol")
    judge.choose(ann.case_id)
    judge.adopt("ann")
    judge.settle()
    assert judge.case is not None
    assert judge.case.adjudicated is not None
    assert judge.case.adjudicated.origins == mine(ann).origins
    assert judge.case.adjudicated.effects == mine(ann).effects


def test_evidence_comes_with_the_parts_that_are_taken_over_alone(
    begin: Callable[..., AnnotateSession],
) -> None:
    ann = begin("ann")
    for address in (TEST, LINES, STEP):
        ann.mark(address)
    bob = begin("bob")
    bob.choose(ann.case_id)
    bob.adopt("ann", ["effects", "evidence"])
    assert [one.pointer.address for one in mine(bob).evidence] == [TEST]


def test_who_settles_a_case_keeps_what_they_had_judged_before(
    begin: Callable[..., AnnotateSession],
) -> None:
    for who, validity in (("ann", "V0"), ("bob", "V1")):
        session = begin(who)
        session.mark(TEST)
        session.label("validity", validity)
        session.finish()
    session.adopt("ann", ["validity"])
    session.settle()
    settled = mine(session)
    assert (settled.validity, settled.status) == ("V0", CaseStatus.ADJUDICATED)
    assert settled.adopted_from == ("ann",)
    assert settled.own_judgement is not None
    assert (settled.own_judgement.validity, settled.own_judgement.status) == ("V1", "final")
    session.undo()
    session.undo()
    assert mine(session).own_judgement == mine(session)


def test_a_reading_that_began_with_others_labels_is_no_judgement_of_ones_own(
    begin: Callable[..., AnnotateSession],
) -> None:
    ann = begin("ann")
    ann.mark(TEST)
    ann.label("validity", "V0")
    ann.finish()
    bob = begin("bob")
    bob.choose_unit("gate:2")
    bob.adopt("ann")
    bob.finish()
    assert (mine(bob).status, mine(bob).own_judgement) == (CaseStatus.FINAL, None)
    bob.retract()
    assert mine(bob).own_judgement is None


def test_who_took_final_back_after_seeing_others_was_not_blind(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin("bob", blind=True)
    session.mark(TEST)
    session.label("validity", "V0")
    session.undo()
    session.redo()
    session.finish()
    assert mine(session).blind
    session.undo()
    session.label("validity", "V1")
    session.finish()
    assert not mine(session).blind


def test_an_accepted_suggestion_remembers_its_rule(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    assert session.accept(a_suggestion()).saved
    assert mine(session).validity == "V1"
    assert mine(session).suggested == {"validity": SuggestedBy("determinacy", 1, "abc")}


def test_an_accepted_mechanism_goes_to_the_effect_on_its_gate(
    begin: Callable[..., AnnotateSession],
) -> None:
    session = begin()
    session.mark(TEST)
    for gate in ("2", "3"):
        session.accept(
            Suggestion("mechanism", "M1", "", "", "history", 1, "x", gate=gate, stage=int(gate))
        )
    found = [(effect.gate, effect.stage, effect.mechanisms) for effect in mine(session).effects]
    assert found == [("2", 2, ("M1",)), ("3", 3, ("M1",))]


def test_an_accepted_origin_fills_the_origin(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(LINES)
    values = {"stage": 2, "step": "call_2_02", "step_number": 2}
    session.accept(Suggestion("origin", "", "", "", "origin", 1, "x", values=values))
    assert (origin(session).stage, origin(session).step) == (2, "call_2_02")
    assert origin(session).path == "notes/search.py"


def test_an_accepted_level_goes_to_its_stage(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    session.accept(
        Suggestion("awareness", "N2", "", "", "awareness", 1, "x", stage=3, step="call_3_02")
    )
    aware = mine(session).aware_at(3)
    assert aware is not None
    assert (aware.level, aware.step) == ("N2", "call_3_02")


# The run and the sidecar


def digests(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(folder)), hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_run_stays_as_it_is_byte_for_byte(begin: Callable[..., AnnotateSession]) -> None:
    before = list(digests(DEMO))
    finished(begin(), "V0").undo()
    assert list(digests(DEMO)) == before


def test_a_sidecar_inside_the_run_is_refused(opened: OpenRun) -> None:
    with pytest.raises(ArcviewError, match="inside the run"):
        AnnotateSession.open(opened, annotator="ann", sidecar=DEMO / "labels")


def test_a_scheme_in_the_sidecar_is_the_teams(opened: OpenRun, tmp_path: Path) -> None:
    (tmp_path / "scheme.toml").write_text(
        'schema = "arcview/scheme/1"\nname = "ours"\nversion = "1"\n[[field]]\nid = "validity"\n'
        'title = "Valid"\nkind = "one"\nof = "case"\n[[field.code]]\ncode = "yes"\nname = "yes"\n'
        'definition = "It is."\n'
    )
    session = AnnotateSession.open(opened, annotator="ann", sidecar=tmp_path)
    session.mark(TEST)
    assert session.label("validity", "yes").saved
    assert mine(session).scheme == "ours 1"


@pytest.mark.parametrize("name", ["code-search-refactor-pass", "circuit-eval"])
def test_real_runs_can_be_labelled(scb: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    opened = OpenRun.open(scb(name))
    session = AnnotateSession.open(opened, annotator="ann", sidecar=tmp_path)
    gate = opened.overview.first_failing_gate
    assert gate is not None
    failing = opened.gate_view(gate).failing[0].test
    session.mark(str(Address("gate", gate, (failing.group.value, failing.id))))
    session.label("validity", "V0")
    assert session.finish().saved
    assert begin_again(session).reading == mine(session)


def test_undo_says_what_it_took_back(begin: Callable[..., AnnotateSession]) -> None:
    session = begin()
    session.mark(TEST)
    session.label("validity", "V0")
    session.label("defect", "D2")
    session.finish()
    said = [session.undo().notice for _ in range(4)]
    assert said == [
        "taken back: final", "taken back: defect", "taken back: validity",
        "taken back: effect, evidence",
    ]  # fmt: skip
    assert session.redo().notice == "done again: effect, evidence"


def test_why_nothing_was_saved_comes_first_and_stays_until_something_is(
    begin: Callable[..., AnnotateSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begin()
    session.mark(TEST)

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    assert session.label("validity", "V0").notice.startswith("not saved: No space left on device (")
    assert session.unsaved is not None
    monkeypatch.undo()
    assert session.label("validity", "V0").saved
    assert session.unsaved is None
