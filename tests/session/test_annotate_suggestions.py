"""What is proposed for the cases of real runs: held to what was planted in the sample run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.analysis.suggestions import Suggestion
from arcview.annotations.scheme import default_scheme
from arcview.model.annotation import PointerState
from arcview.session.annotate import AnnotateSession
from arcview.session.annotate_suggestions import SuggestionFinder, finder_for
from arcview.session.annotate_targets import Targets
from arcview.session.opened import OpenRun

DEMO = Path(__file__).parents[2] / "fixtures" / "runs" / "scripted-demo" / "notes-cli"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    return OpenRun.open(DEMO, cache_root=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def about(opened: OpenRun) -> Callable[[str], tuple[Suggestion, ...]]:
    finder = SuggestionFinder(opened)
    known = {gate: finder.about(f"gate:{gate}") for gate in ("1", "2", "3", "4", "chain")}
    return known.__getitem__


def of(found: tuple[Suggestion, ...], field: str) -> list[Suggestion]:
    return [suggestion for suggestion in found if suggestion.field == field]


def test_a_gate_that_passed_has_no_case(about: Callable[[str], tuple[Suggestion, ...]]) -> None:
    assert about("1") == ()


def test_the_planted_step_is_among_the_proposed_origins(
    about: Callable[[str], tuple[Suggestion, ...]],
) -> None:
    steps = [s.values.get("step") for s in of(about("2"), "origin")]
    assert "call_2_02" in steps
    first = of(about("3"), "origin")[0]
    assert (first.values["step"], first.values["path"]) == ("call_3_03", "notes/store.py")
    assert first.exact


def test_what_persists_what_is_new_and_what_was_healed_is_told_apart(
    about: Callable[[str], tuple[Suggestion, ...]],
) -> None:
    assert [s.code for s in of(about("3"), "mechanism")] == ["M1", "M0", "M9"]


def test_later_stages_have_a_level_with_its_span(
    about: Callable[[str], tuple[Suggestion, ...]],
) -> None:
    found = {s.stage: s for s in of(about("2"), "awareness")}
    assert (found[3].code, set(found)) == ("N1", {3, 4})
    span = found[3].spans[0]
    assert span.text[span.start : span.end] in span.text
    assert "show their thinking" in found[3].reason


def test_a_claim_of_success_beside_a_red_gate_is_proposed(
    about: Callable[[str], tuple[Suggestion, ...]],
) -> None:
    (found,) = of(about("2"), "awareness_flags")
    assert found.spans[0].text == "All search tests pass."


def test_every_span_leads_somewhere(
    opened: OpenRun, about: Callable[[str], tuple[Suggestion, ...]]
) -> None:
    targets = Targets(opened)
    spans = [span for gate in ("2", "3", "4") for s in about(gate) for span in s.spans]
    assert spans
    states = {targets.check(targets.pointer(span.address)) for span in spans}
    assert states == {PointerState.OK}


def test_every_label_is_one_of_the_scheme(
    about: Callable[[str], tuple[Suggestion, ...]],
) -> None:
    scheme = default_scheme()
    found = [s for gate in ("2", "3", "4", "chain") for s in about(gate) if s.field != "origin"]
    assert [s for s in found if scheme.unknown(s.field, s.code) is not None] == []


def test_every_suggestion_can_be_taken_over(
    opened: OpenRun, about: Callable[[str], tuple[Suggestion, ...]], tmp_path: Path
) -> None:
    session = AnnotateSession.open(opened, annotator="ann", sidecar=tmp_path)
    session.choose_unit("gate:3")
    session.offer(about("3"))
    assert session.suggestions
    for suggestion in session.suggestions:
        assert session.accept(suggestion).saved
    own = session.reading
    assert own is not None
    assert set(own.effects[0].mechanisms) == {"M0", "M1", "M9"}
    assert {by.rule for by in own.suggested.values()} == {
        "origin", "mechanism", "claim", "awareness",
    }  # fmt: skip


def test_a_teams_own_conditions_are_looked_for(opened: OpenRun, tmp_path: Path) -> None:
    (tmp_path / "infrastructure.toml").write_text(
        "[[condition]]\ntitle = 'our proxy'\npattern = 'assert'\n"
    )
    session = AnnotateSession.open(opened, annotator="ann", sidecar=tmp_path)
    (found, *_) = finder_for(session).about("gate:2")
    assert (found.code, found.title) == ("V3", "V3 our proxy")


@pytest.mark.parametrize("name", ["circuit-eval", "database-migration-rising"])
def test_real_runs_have_suggestions_for_their_failing_gates(
    scb: Callable[[str], Path], name: str
) -> None:
    opened = OpenRun.open(scb(name))
    finder = SuggestionFinder(opened)
    gate = opened.overview.first_failing_gate
    found = finder.about(f"gate:{gate}")
    assert of(found, "origin")
    assert all(suggestion.reason and suggestion.inputs for suggestion in found)
