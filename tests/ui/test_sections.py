from __future__ import annotations

from arcview.analysis.frames import Frame
from arcview.analysis.history import History
from arcview.model.results import GateTest, Group, Outcome
from arcview.ui.rows.failure import failure_sections
from arcview.ui.rows.lines import Needle
from arcview.ui.rows.sections import Section, SectionRows


def _lines(rows: SectionRows) -> list[str]:
    return [rows.row(index).plain for index in range(len(rows))]


def test_headings_stand_above_their_texts() -> None:
    rows = SectionRows((Section("One", "a\nb\n"), Section("", "c\n")))
    assert _lines(rows) == ["One", "a", "b", "c"]


def test_a_link_is_found_on_every_row_of_its_wrapped_line() -> None:
    rows = SectionRows((Section("One", "x" * 30 + "\nplain", {1: "there"}),))
    rows.fit(21)
    assert [rows.link_at(index) for index in range(len(rows))] == [None, "there", "there", None]


def test_a_place_outlives_sections_that_are_put_in_before_it() -> None:
    rows = SectionRows((Section("A", "a"), Section("Z", "y\nz")))
    anchor = rows.anchor(4)
    rows.replace((Section("A", "a"), Section("New", "n\nn\nn"), Section("Z", "y\nz")))
    assert rows.row(rows.locate(anchor)).plain == "z"


def test_search_goes_through_all_sections_both_ways() -> None:
    rows = SectionRows((Section("A", "one\nfind me"), Section("B", "two\nfind me too")))
    forward = [hit for hit in rows.find(Needle("find"), 0, 1) if hit is not None]
    backward = [hit for hit in rows.find(Needle("find"), 5, -1) if hit is not None]
    assert forward == [2]
    assert backward == [5]


def test_a_failure_opens_untruncated_with_its_frames_as_links() -> None:
    traceback = 'File "/w/src/a.py", line 3, in f\n' + "line\n" * 500
    test = GateTest(
        "t::x", Group.F2P, Outcome.FAILED, duration_s=1.5,
        message="AssertionError: assert 1 == 2", traceback=traceback, stdout="out",
    )  # fmt: skip
    sections = failure_sections(test, History.BROKEN_AGAIN)
    titles = [section.title for section in sections]
    assert titles == [
        "", "Actual and expected", "Message  1 line", "Traceback  501 lines",
        "Captured stdout  1 line",
    ]  # fmt: skip
    assert "F2P · failed · broken again · 1.5s" in sections[0].text
    assert sections[3].text == traceback
    link = sections[3].links[1]
    assert isinstance(link, Frame)
    assert (link.path, link.line) == ("/w/src/a.py", 3)


def test_a_long_message_does_not_push_away_where_the_failure_comes_from() -> None:
    test = GateTest("x", Group.F2P, Outcome.FAILED, message="line\n" * 40)
    trail = (Section("Where it comes from", "there"),)
    titles = [section.title for section in failure_sections(test, None, trail)]
    assert titles == ["", "Where it comes from", "Message  40 lines"]


def test_a_test_without_any_text_says_so() -> None:
    sections = failure_sections(GateTest("x", Group.P2P, Outcome.MISSING), None)
    assert sections[-1].text == "Neither message nor output is recorded of this test."
