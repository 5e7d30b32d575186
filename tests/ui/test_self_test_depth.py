from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arcview.analysis.claims import Claim, ClaimKind
from arcview.analysis.self_test_depth import Exercise, LateEdit
from arcview.model.results import GateTest, Group, Outcome
from arcview.session.run_session import Column
from arcview.session.self_test_depth import SelfTestDepth
from arcview.ui.rows.self_test_depth import depth_rows, earlier_note
from arcview.ui.rows.self_tests import SelfTestRowKind, SelfTestRows
from tests.ui.screen_text import on_screen, press, run_screen

Scb = Callable[[str], Path]

CLAIM = Claim(ClaimKind.TESTS_PASS, "All tests\x1b[2J pass.", 0, 9)


def _test(name: str) -> GateTest:
    return GateTest(f"tests/test_a.py::{name}", Group.F2P, Outcome.FAILED)


def _texts(depth: SelfTestDepth, *failing: GateTest) -> list[str]:
    return [row.text for row in depth_rows(depth, failing, has_tests=True)]


def test_a_claim_beside_a_red_gate_is_a_gap_and_is_clean_text() -> None:
    (text,) = _texts(SelfTestDepth(claim=CLAIM, claim_key="k", claim_step=7, claim_gap=True))
    assert text == "Claim gap #7, gate failed: “All tests␛[2J pass.”"


def test_a_claim_beside_a_green_or_unmeasured_gate_is_no_gap() -> None:
    (green,) = _texts(SelfTestDepth(claim=CLAIM, claim_step=7, claim_gap=False))
    assert green.startswith("Claimed #7: ")
    (unmeasured,) = _texts(SelfTestDepth(claim=CLAIM, claim_step=7, claim_gap=None))
    assert "gate not measured" in unmeasured


def test_edits_after_the_last_green_run_lead_to_their_steps() -> None:
    depth = SelfTestDepth(
        last_green_key="g",
        last_green_step=4,
        edits_after_green=(LateEdit("s9", 9, "src/a.py"),),
    )
    section, edit = depth_rows(depth, (), has_tests=True)
    assert section.text == ("Changed after the last green run #4, as far as edit calls show  1")
    assert (edit.text.split(), edit.step) == (["#9", "src/a.py"], "s9")


def test_without_a_green_run_nothing_is_said_of_later_edits() -> None:
    assert _texts(SelfTestDepth(edits_after_green=None)) == []


def test_failures_that_nothing_exercised_come_first_with_the_reason() -> None:
    depth = SelfTestDepth(
        exercised=(
            Exercise("likely", "step 6 names Note", "s6", 6),
            Exercise("unlikely", "no self-test names parse"),
        )
    )
    rows = list(depth_rows(depth, (_test("a"), _test("b")), has_tests=True))
    assert rows[0].text == "Gate failures self-tested?  1 unlikely, 1 likely"
    assert [row.gate_test.id[-1] for row in rows if row.gate_test] == ["b", "a"]
    assert rows[2].text.strip() == "no self-test names parse"


def test_runs_of_earlier_stages_are_named() -> None:
    assert earlier_note((1, 2)) == "also runs tests of stage 1, 2"
    assert earlier_note(()) == earlier_note(None) == ""


def test_many_failures_are_folded_away() -> None:
    failing = tuple(_test(str(n)) for n in range(9))
    depth = SelfTestDepth(exercised=tuple(Exercise("unknown", "?") for _ in failing))
    rows = SelfTestRows((), ())
    rows.set_depth(depth, failing)
    kinds = [rows.at(n).kind for n in range(len(rows))]
    assert SelfTestRowKind.EXERCISED not in kinds
    section = kinds.index(SelfTestRowKind.SECTION)
    rows.toggle(section)
    kinds = [rows.at(n).kind for n in range(len(rows))]
    assert kinds.count(SelfTestRowKind.EXERCISED) == 9


async def test_the_pane_says_what_the_tests_were_worth(demo_run: Path) -> None:
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "3")
        assert "Claim gap #7, gate failed: “The whole suite" in text
        assert "Changed after the last green run #5  1" in text
        assert "also runs tests of stage 1" in text
        assert "▸ Gate failures" in text


async def test_a_claim_leads_to_its_step_and_a_failure_to_its_test(scb: Scb) -> None:
    screen = run_screen(scb("circuit-eval"))
    async with on_screen(screen) as (_, pilot):
        text = await press(pilot, "tab", "j", "enter")
        assert "Claim gap #77, gate failed" in text
        assert screen.long is not None
        assert screen.long.steps.step is not None
        assert screen.long.steps.step.number == 77
        await press(pilot, "backspace")
        pane, rows = screen.content.self_tests, screen.content.self_tests.source
        assert isinstance(rows, SelfTestRows)
        failures = (n for n in range(len(rows)) if rows.at(n).gate_test is not None)
        await press(pilot, *["j"] * (next(failures) - pane.cursor), "enter")
        assert screen.session.column is Column.GATE
        assert "literal_x" in screen.content.gate.cursor_text
