from __future__ import annotations

import pytest

from arcview.model.results import GroupCounts, Verdict
from arcview.session.run_session_stops import StopKind
from arcview.ui.rows.rail import RailItem, lay_out


def _stage(number: int, ok: int, expected: int, **more: object) -> RailItem:
    counts = (
        ("F2P", GroupCounts(expected=expected, passed=ok, failed=expected - ok)),
        ("P2P", GroupCounts(expected=88, passed=88)),
    )
    verdict = Verdict.PASSED if ok == expected else Verdict.FAILED
    return RailItem(
        StopKind.STAGE, str(number), f"title {number}", verdict, counts=counts,
        figures=("$0.41", "3m12s", "48 steps"), **more,  # type: ignore[arg-type]
    )  # fmt: skip


_BETWEEN = RailItem(StopKind.BETWEEN, "refactor", "", Verdict.PASSED)


def _text(items: list[RailItem], selected: int, width: int, *, tall: bool = True) -> str:
    return "\n".join(line.plain for line in lay_out(items, selected, width, tall=tall).lines)


def test_a_card_has_verdict_counts_figures_badge_and_debt() -> None:
    items = [_stage(1, 12, 12), _stage(2, 9, 11, badge="agent error", debt=7)]
    assert _text(items, 0, 60) == (
        "┏ 1 title 1 ━━━━━━━━━━━━━━━━┓  ╭ 2 title 2 ────────────────╮\n"
        "┃✓ F2P 12/12 P2P 88/88      ┃─▸│✗ F2P 9/11 P2P 88/88       │\n"
        "┃$0.41 · 3m12s · 48 steps   ┃  │$0.41 · 3m12s · 48 steps   │\n"
        "┗━━━━━━━━━━━━━━━━━━━━━━━━━━━┛  ╰ agent error ────────── ▲7 ╯"
    )


def test_a_between_state_is_a_mark_with_its_own_verdict() -> None:
    rail = lay_out([_stage(1, 1, 1), _BETWEEN, _stage(2, 1, 1)], 0, 80, tall=True)
    assert "─◇✓─▸" in rail.lines[1].plain
    mark = rail.lines[1].plain.index("◇")
    assert rail.stop_at(mark) == 1


@pytest.mark.parametrize("tall", [True, False])
def test_the_between_state_on_the_screen_is_told_by_more_than_a_colour(tall: bool) -> None:
    items = [_stage(1, 1, 1), _BETWEEN, _stage(2, 1, 1)]
    assert "◆✓" in _text(items, 1, 80, tall=tall)
    assert "◆" not in _text(items, 0, 80, tall=tall)


def test_a_click_beside_the_cards_hits_nothing() -> None:
    assert lay_out([_stage(1, 1, 1)], 0, 80, tall=True).stop_at(70) is None


def test_unmeasured_is_said_and_has_its_own_sign() -> None:
    item = RailItem(StopKind.STAGE, "1", "", Verdict.UNMEASURED)
    assert "? unmeasured" in _text([item], 0, 40)


def test_a_verdict_that_contradicts_the_harness_is_marked() -> None:
    assert "✗! F2P 1/2" in _text([_stage(1, 1, 2, conflict=True)], 0, 60)


@pytest.mark.parametrize("width", [20, 40, 80, 120, 160])
@pytest.mark.parametrize("tall", [True, False])
@pytest.mark.parametrize("selected", [0, 11, 22])
def test_with_many_stages_the_selected_one_is_in_view(
    width: int, tall: bool, selected: int
) -> None:
    items = [_stage(number, number % 2, 1, debt=number) for number in range(1, 24)]
    rail = lay_out(items, selected, width, tall=tall)
    assert selected in [stop for _, _, stop in rail.areas]
    assert all(line.cell_length <= width for line in rail.lines)


def test_how_many_stages_are_out_of_view_is_said_on_both_sides() -> None:
    items = [_stage(number, 1, 1) for number in range(1, 24)]
    middle = _text(items, 11, 80).splitlines()[1]
    assert middle.startswith("‹10")
    assert middle.rstrip().endswith("›9")


def test_names_of_the_groups_are_left_out_on_every_card_or_on_none() -> None:
    items = [_stage(1, 1, 1), _stage(2, 100, 1000), _stage(3, 1, 1)]
    assert _text(items, 0, 70).count("F2P") == 0
    assert _text(items, 0, 120).count("F2P") == 3


def test_counts_are_never_cut() -> None:
    items = [_stage(number, 1000, 1000) for number in range(1, 9)]
    for width in (40, 80, 120):
        for line in (_text(items, 3, width, tall=tall).splitlines()[1] for tall in (True, False)):
            assert "…" not in line


def test_the_selected_stage_is_told_without_colour() -> None:
    first_line = _text([_stage(1, 1, 1), _stage(2, 1, 1)], 1, 80, tall=False).splitlines()[0]
    assert "▌2" in first_line
    assert "▌1" not in first_line


def test_a_narrow_card_without_a_gate_has_title_and_how_the_stage_ended() -> None:
    item = RailItem(StopKind.STAGE, "1", "stage 1 work", Verdict.UNMEASURED, badge="status unknown")
    first, second = _text([item], 0, 80, tall=False).splitlines()
    assert "1 ? stage 1 work" in first
    assert "status unknown" in second
    plain = RailItem(StopKind.STAGE, "1", "stage 1 work", Verdict.UNMEASURED)
    assert "unmeasured" in _text([plain], 0, 80, tall=False).splitlines()[1]


@pytest.mark.parametrize("tall", [True, False])
@pytest.mark.parametrize("width", [80, 160])
def test_cards_are_drawn_straight_beside_hundreds_that_are_left_out(tall: bool, width: int) -> None:
    items = [_stage(number, 1, 1) for number in range(1, 1501)]
    rail = lay_out(items, 700, width, tall=tall)
    assert len({line.cell_length for line in rail.lines}) == 1
    assert rail.lines[0].cell_length <= width
    start, _, stop = next(area for area in rail.areas if area[2] == 700)
    assert rail.lines[1 if tall else 0].plain[start] in "┃▌"
    assert stop == 700
