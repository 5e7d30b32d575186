from __future__ import annotations

from arcview.analysis.gate_view import GateView, build_gate_view
from arcview.analysis.history import GateHistory, History
from arcview.model.results import GateRecord, GateTest, Group, GroupCounts, Outcome, Verdict
from arcview.ui.rows.failure import failure_sections
from arcview.ui.rows.figures import fit_test_name
from arcview.ui.rows.gate import GateRowKind, GateRows


def _test(name: str, outcome: Outcome, message: str = "", **more: object) -> GateTest:
    return GateTest(
        name, Group.F2P, outcome, message=message or None, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def _view(
    *tests: GateTest, histories: dict[str, History] | None = None, **record: object
) -> GateView:
    counts = GroupCounts.of(tests)
    made = GateRecord("3", "S3", f2p=counts, **record)  # type: ignore[arg-type]
    failing = {("f2p", name): history for name, history in (histories or {}).items()}
    return build_gate_view("3", "S3", made, tests, GateHistory("3", "S3", failing, ()))


def _lines(rows: GateRows) -> list[str]:
    return [
        "".join(cell.content.plain for cell in rows.cells(index, 60)) for index in range(len(rows))
    ]


def test_failing_tests_come_first_with_their_history_then_passed_ones_folded() -> None:
    view = _view(
        _test("a::ok", Outcome.PASSED),
        _test("a::bad", Outcome.FAILED, "AssertionError: assert 3 == 4"),
        histories={"a::bad": History.NEW},
    )
    assert _lines(GateRows(view)) == [
        "F2P 1/2: 1 failed",
        "▾ F2P failing  1 of 2  a::",
        "  ✗ bad new",
        "      expected  4",
        "      actual    3",
        "▸ F2P passed  1  a::",
    ]


def test_many_tests_that_died_of_the_same_are_one_folded_row() -> None:
    tests = [_test(f"t{n}", Outcome.FAILED, "ConnectionError: refused") for n in range(66)]
    rows = GateRows(_view(*tests))
    assert [row.text for row in map(rows.at, range(len(rows))) if "66×" in row.text] == [
        "66×  ConnectionError: refused"
    ]
    assert not any(rows.at(n).kind is GateRowKind.TEST for n in range(len(rows)))


def test_a_folded_cause_opens_and_closes() -> None:
    tests = [_test(f"t{n}", Outcome.FAILED, "ConnectionError: refused") for n in range(9)]
    rows = GateRows(_view(*tests))
    folded = len(rows)
    cause = next(n for n in range(folded) if rows.at(n).kind is GateRowKind.SIGNATURE)
    assert rows.toggle(cause)
    assert len(rows) == folded + 9
    rows.toggle(cause)
    assert len(rows) == folded


def test_the_first_failing_test_is_unfolded_where_every_cause_is_folded() -> None:
    tests = [_test(f"t{n}", Outcome.FAILED, "ConnectionError: refused") for n in range(9)]
    rows = GateRows(_view(*tests))
    assert rows.at(rows.first_failing()).kind is GateRowKind.TEST


def test_a_long_name_keeps_what_tells_it_from_others() -> None:
    long = "gate_tests/deep/test_search.py::TestQuotes::test_phrase_in_quotes[two words-1]"
    assert fit_test_name(long, 200) == long
    assert fit_test_name(long, 46) == "…estQuotes::test_phrase_in_quotes[two words-1]"
    assert fit_test_name(long, 36) == "…test_phrase_in_quotes[two words-1]"
    assert fit_test_name(long, 24) == "…test…uotes[two words-…"
    assert fit_test_name("gate_tests/test_search.py::test_phrase", 20) == "…rch.py::test_phrase"


def test_what_all_tests_of_a_cause_say_alike_is_said_once() -> None:
    message = "AssertionError: assert 1 == 0"
    view = _view(_test("a", Outcome.FAILED, message), _test("b", Outcome.FAILED, message))
    details = [line.strip() for line in _lines(GateRows(view)) if "expected" in line]
    assert details == ["expected  0"]


def test_a_relation_that_is_not_equality_stands_before_the_expected_side() -> None:
    bad = _test("bad", Outcome.FAILED, "assert None is not None")
    details = [line.strip() for line in _lines(GateRows(_view(bad)))[-2:]]
    assert details == ["expected  is not None", "actual    None"]
    both = next(s.text for s in failure_sections(bad, None) if s.title == "Actual and expected")
    assert both.startswith("expected  is not None\nactual    None\n(")


def test_failing_only_leaves_out_what_passed() -> None:
    view = _view(_test("ok", Outcome.PASSED), _test("bad", Outcome.FAILED, "no"))
    rows = GateRows(view, failing_only=True)
    assert not any("passed" in line for line in _lines(rows))
    rows.show_failing_only(False)
    assert any("passed" in line for line in _lines(rows))


def test_unmeasured_says_why_and_nothing_failed() -> None:
    record = GateRecord("1", "S1", unmeasured="infrastructure failure: exit 126")
    lines = _lines(GateRows(build_gate_view("1", "S1", record, (), None)))
    assert lines == ["? not measured: infrastructure failure: exit 126"]


def test_a_contradicted_harness_is_said() -> None:
    view = _view(_test("bad", Outcome.FAILED, "no"), recorded_verdict=Verdict.PASSED)
    assert "! the harness recorded passed; the tests say otherwise" in _lines(GateRows(view))


def test_expected_against_observed_is_counted() -> None:
    view = _view(
        _test("gone", Outcome.MISSING),
        _test("twice", Outcome.PASSED, copies=2),
        _test("surprise", Outcome.PASSED, extra=True),
    )
    assert _lines(GateRows(view))[0] == (
        "F2P 1/2, 1 test observed: 1 missing, 1 extra, 1 duplicated"
    )


def test_missing_and_skipped_tests_have_other_signs_than_failed_ones() -> None:
    view = _view(_test("gone", Outcome.MISSING), _test("left", Outcome.SKIPPED))
    text = "\n".join(_lines(GateRows(view)))
    assert "∅ gone  missing" in text
    assert "– left  skipped" in text


def test_skipped_tests_have_a_section_of_their_own_that_says_how_they_count() -> None:
    view = _view(
        _test("bad", Outcome.FAILED, "no"),
        _test("left", Outcome.SKIPPED),
        _test("ok", Outcome.PASSED),
    )
    rows = GateRows(view)
    lines = _lines(rows)
    assert lines[0] == "F2P 1/3: 1 failed, 1 skipped (counts as not ok)"
    assert "▾ F2P failing  1 of 3" in lines
    assert "▾ F2P skipped (counts as not ok)  1 of 3" in lines
    at = lines.index("▾ F2P skipped (counts as not ok)  1 of 3")
    assert lines[at + 1].strip().startswith("– left  skipped")
    assert rows.toggle(at)
    assert "left" not in "".join(_lines(rows))
    assert "bad" in "".join(_lines(rows))


def test_a_gate_with_skipped_tests_only_names_no_failing_ones() -> None:
    rows = GateRows(_view(_test("left", Outcome.SKIPPED, "needs a GPU")))
    assert not any("failing" in line for line in _lines(rows))
    assert rows.at(rows.first_failing()).test is not None


def test_copying_a_row_gives_the_whole_test_id() -> None:
    rows = GateRows(_view(_test("dir/test_x.py::test_a", Outcome.FAILED, "no")))
    assert rows.text(rows.first_failing()) == "dir/test_x.py::test_a"


def test_going_to_a_passed_test_unfolds_its_section() -> None:
    rows = GateRows(_view(_test("a", Outcome.PASSED), _test("b", Outcome.PASSED)))
    row = rows.row_of_test("b")
    assert row is not None
    assert rows.at(row).test is not None
    assert rows.row_of_test("nobody") is None


def test_a_hostile_test_id_is_one_clean_row() -> None:
    rows = GateRows(_view(_test("evil\x1b[2J[/red]\nline", Outcome.FAILED, "[bold]\x07")))
    line = _lines(rows)[rows.first_failing()]
    assert "evil␛[2J[/red]␊line" in line
    assert all(char.isprintable() for text in _lines(rows) for char in text)


def test_details_can_follow_later_without_moving_the_cursor_off_its_test() -> None:
    view = _view(_test("bad", Outcome.FAILED, "AssertionError: assert 3 == 4"))
    rows = GateRows(view, with_details=False)
    anchor = rows.anchor(rows.first_failing())
    before = len(rows)
    rows.show_details()
    assert len(rows) == before + 2
    assert rows.locate(anchor) == rows.first_failing()


def test_a_pass_in_doubt_is_no_silent_pass() -> None:
    view = _view(
        _test("a::ok", Outcome.PASSED),
        _test("a::odd", Outcome.PASSED, conflict="reported twice", evidence="PASSED a::odd"),
    )
    rows = GateRows(view)
    assert _lines(rows)[-1] == "▸ F2P passed  2, 1 in doubt  a::"
    rows.toggle(len(rows) - 1)
    assert _lines(rows)[-1] == "  ✓ odd  in doubt"


def test_why_an_outcome_is_in_doubt_stands_with_its_line_on_top() -> None:
    test = _test("a::odd", Outcome.FAILED, conflict="line 3 says passed", evidence="FAILED a::odd")
    text = failure_sections(test, None)[0].text
    assert "in doubt: line 3 says passed" in text
    assert "read from the log: FAILED a::odd" in text
