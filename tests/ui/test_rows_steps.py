"""Rows of a trajectory, without an app: headers, opened parts, folding, jumps, search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arcview.model.trajectory import (
    Image,
    Role,
    Step,
    StepKind,
    ToolCall,
    ToolKind,
    ToolResult,
    Trajectory,
)
from arcview.model.trajectory_refs import Usage
from arcview.ui import theme
from arcview.ui.rows import steps_lines
from arcview.ui.rows.lines import Needle
from arcview.ui.rows.steps import StepRows
from arcview.ui.rows.steps_lines import Badge
from arcview.ui.rows.steps_parts import Jump, PartKind, meta_line, parts_of, texts_of
from tests.ui.hostile import hostile_trajectory
from tests.ui.trajectories import NOISY, OUTPUT, SAMPLE, edit, note, said, shell, trajectory


def rows_of(source: Trajectory = SAMPLE, width: int = 120) -> StepRows:
    rows = StepRows(source)
    rows.fit(width)
    return rows


def lines(rows: StepRows, width: int = 120) -> list[str]:
    """The rows as they are drawn, each cell in its place."""
    shown = []
    for index in range(len(rows)):
        cells = rows.cells(index, width)
        fixed = sum(cell.width or 0 for cell in cells)
        shown.append(
            "".join(
                cell.content.plain[: width - fixed].ljust(width - fixed)
                if cell.width is None
                else cell.content.plain
                for cell in cells
            ).rstrip()
        )
    return shown


# Headers


def test_a_step_is_one_row() -> None:
    assert lines(rows_of(), 84) == [
        "▸      ◆ user       Build the engine.",
        "▸    1 $ Bash       ls -la  — I will look first.                      2.1s   $0.031",
        "▸    2 ✎ Edit       src/a.py                                          2.1s   $0.031",
        "▸    3 $ Bash       pytest -q | tail                      ✗ exit 1    2.1s   $0.031",
        "▸      · note       retry after an overload",
        "▸      ≋ compaction Summary of what came before",
        "▸    4 ● assistant  All tests pass.                                   2.1s   $0.031",
    ]


def test_tokens_are_shown_where_there_is_room() -> None:
    assert "↑16.5k    ↓206" in lines(rows_of(), 120)[1]
    assert "↑" not in lines(rows_of(), 100)[1]


def test_narrow_views_keep_the_gist() -> None:
    assert lines(rows_of(), 50)[3] == "▸    3 $ Bash       pytest -q | tail     ✗ exit 1"


def test_figures_that_no_step_has_take_no_room() -> None:
    step = replace(said(1, "hello"), duration_s=None, usage=None)
    assert lines(rows_of(trajectory(step)), 120) == ["▸    1 ● assistant    hello"]


@pytest.mark.parametrize(
    ("call", "gist"),
    [
        (shell("k", "cd x &&\n  make\n", ""), "cd x && ⏎ make"),
        (ToolCall("k", "Read", ToolKind.READ, path="src/a.py"), "src/a.py"),
        (
            ToolCall("k", "Grep", ToolKind.SEARCH, arguments={"pattern": "def x", "path": "src"}),
            "def x  src",
        ),
        (
            ToolCall(
                "k", "Task", ToolKind.TASK, arguments={"description": "Explore", "prompt": "…"}
            ),
            "Explore",
        ),
        (ToolCall("k", "Todo", ToolKind.OTHER, arguments={"todos": [1, 2, 3]}), "3 todos"),
        (ToolCall("k", "x", ToolKind.OTHER, raw_arguments="{not json"), "{not json"),
        (ToolCall("k", "x", ToolKind.OTHER), ""),
    ],
)
def test_a_call_is_told_by_what_it_does(call: ToolCall, gist: str) -> None:
    assert steps_lines.call_summary(call) == gist


def test_further_calls_of_a_step_are_counted() -> None:
    step = said(1, "", shell("a", "ls", ""), shell("b", "pwd", ""), edit("c", "x", "1", "2"))
    assert steps_lines.summary(step).plain == "ls  +2: Bash, Edit"


def test_a_call_without_a_result_says_so() -> None:
    step = said(1, "", ToolCall("k", "Bash", ToolKind.SHELL, command="ls"))
    assert steps_lines.outcome(step) == Badge("◌ no result", theme.WARN)


def test_several_failed_calls_are_counted() -> None:
    step = said(1, "", shell("a", "x", "", 2), shell("b", "y", "", 1))
    assert steps_lines.outcome(step) == Badge("✗ exit 2 ×2", theme.FAIL)


def test_badges_stand_with_the_figures() -> None:
    rows = StepRows(SAMPLE, badges={"c3": Badge("✓ 12 ✗ 1", theme.FAIL)})
    assert "✓ 12 ✗ 1  ✗ exit 1" in lines(rows)[3]


def test_a_badge_that_says_what_the_outcome_says_is_left_out() -> None:
    rows = StepRows(SAMPLE, badges={"c3": Badge("exit 1")})
    assert lines(rows)[3].count("exit 1") == 1


def test_equal_badges_of_a_step_are_counted() -> None:
    step = said(1, "", shell("a", "x", ""), shell("b", "y", ""), shell("c", "z", ""))
    badges = {"a": Badge("exit 3"), "b": Badge("exit 3"), "c": Badge("prints")}
    rows = StepRows(trajectory(step), badges=badges)
    assert "exit 3 ×2  prints" in lines(rows)[0]


def test_the_cost_of_a_note_needs_no_column() -> None:
    note = Step(
        "n", None, Role.SYSTEM, StepKind.NOTE, text="session ended", usage=Usage(cost_usd=1.5)
    )
    message = replace(said(1, "hello"), duration_s=None, usage=None)
    shown = lines(rows_of(trajectory(message, note)), 120)
    assert shown[0] == "▸    1 ● assistant    hello"
    assert shown[1].endswith("$1.500")


def test_sub_agents_are_indented_by_their_depth() -> None:
    task = ToolCall("t1", "Task", ToolKind.TASK, result=ToolResult("done"))
    inner = replace(said(2, "", ToolCall("t2", "Task", ToolKind.TASK)), agent="a", parent_call="t1")
    innermost = replace(said(3, "deep"), agent="b", parent_call="t2")
    shown = lines(rows_of(trajectory(said(1, "", task), inner, innermost)))
    assert [line[:13] for line in shown] == ["▸    1 » Task", "▸    2 ╎ » Ta", "▸    3 ╎ ╎ ● "]


def test_an_empty_trajectory_says_so() -> None:
    assert lines(StepRows(trajectory(), empty="none")) == ["none"]


# Opened steps


def opened(step: Step, width: int = 80) -> list[str]:
    rows = rows_of(trajectory(step), width)
    rows.set_open((0,), is_open=True)
    return lines(rows, width)[1:]


def test_an_opened_step_shows_thinking_text_call_and_result() -> None:
    assert opened(SAMPLE.steps[1]) == [
        "         16,500 tokens in · 206 out · $0.0310",
        "     ┆   What is here?",
        "         I will look first.",
        "     $   ls -la",
        "     │   a.py",
        "     │   b.py",
    ]


def test_an_edit_is_a_small_diff() -> None:
    assert opened(SAMPLE.steps[2])[1:] == [
        "     ✎   file_path: src/a.py",
        "     │   x = 1",
        "     │ − y = 2",
        "     │ + y = 3",
        "     │   done",
    ]


def test_long_output_is_folded_with_its_size() -> None:
    shown = opened(SAMPLE.steps[3])
    assert shown[2] == "     │   output line 1"
    assert shown[14] == "     │   … 82 more lines (1.5 kB in all) — enter opens"
    assert shown[-1] == "     │   output line 100"
    assert len(shown) == 2 + 12 + 1 + 6


def test_folded_output_opens_whole() -> None:
    rows = rows_of()
    rows.set_open((3,), is_open=True)
    index = next(i for i in range(len(rows)) if "more lines" in rows.text(i))
    assert rows.open_part(index)
    texts = [rows.text(i) for i in range(len(rows))]
    assert [text for text in texts if text.startswith("output")] == OUTPUT.split("\n")
    assert not rows.open_part(index)


def test_long_lines_wrap_and_nothing_is_lost() -> None:
    text = "word " * 100
    rows = rows_of(trajectory(said(1, text)), 60)
    rows.set_open((0,), is_open=True)
    body = [rows.text(i) for i in range(2, len(rows))]
    assert len(body) > 8
    assert "".join(body) == text
    rows.fit(200)
    assert len([rows.text(i) for i in range(2, len(rows))]) == 3


def test_colours_of_output_are_kept_and_escapes_elsewhere_are_drawn() -> None:
    step = said(1, "say \x1b[31m", shell("k", "echo \x1b[1m", "\x1b[32mgreen\x1b[0m"))
    shown = opened(step)
    assert shown[1:] == ["         say ␛[31m", "     $   echo ␛[1m", "     │   green"]
    rows = rows_of(trajectory(step))
    rows.set_open((0,), is_open=True)
    styles = [span.style for cell in rows.cells(4, 80) for span in cell.content.spans]
    assert "$ansi-2" in styles


def test_raw_records_notes_and_images_have_parts_of_their_own() -> None:
    raw = Step("r", None, Role.UNKNOWN, StepKind.RAW, raw='{"type": "odd"}')
    assert [part.kind for part in parts_of(raw)] == [PartKind.RAW]
    call = replace(shell("k", "x", ""), note="a duplicate id", result=None)
    image = Image("image/png", size_bytes=20_000)
    step = replace(said(1, "", call), images=(image,), usage=None)
    assert [(part.kind, part.lines) for part in parts_of(step)] == [
        (PartKind.NOTE, ("[image image/png, 20.0 kB]",)),
        (PartKind.CALL, ("x",)),
        (PartKind.NOTE, ("a duplicate id",)),
        (PartKind.NOTE, ("no result recorded",)),
    ]


def test_a_written_file_has_its_content_as_a_part() -> None:
    call = ToolCall(
        "k",
        "Write",
        ToolKind.WRITE,
        arguments={"file_path": "a.py", "content": "x = 1\n"},
        path="a.py",
    )
    parts = parts_of(said(1, "", call))
    assert [(part.kind, part.lines) for part in parts[1:3]] == [
        (PartKind.CALL, ("file_path: a.py",)),
        (PartKind.CONTENT, ("x = 1",)),
    ]


def test_what_is_not_recorded_is_not_in_the_figures() -> None:
    assert meta_line(replace(said(1), usage=Usage(output_tokens=5))) == "5 out"
    assert meta_line(replace(said(1), usage=None)) == ""
    assert meta_line(replace(said(1), usage=None, at="2026-01-02T03:04:05.678Z")) == (
        "2026-01-02 03:04:05"
    )


# Places, jumps


def test_a_place_survives_opening_steps_before_it() -> None:
    rows = rows_of()
    rows.set_open((3,), is_open=True)
    index = next(i for i in range(len(rows)) if rows.text(i) == "output line 3")
    anchor = rows.anchor(index)
    rows.set_open((0, 1, 2), is_open=True)
    assert rows.text(rows.locate(anchor)) == "output line 3"
    rows.set_open((3,), is_open=False)
    assert rows.locate(anchor) == rows.row_of(3)


@pytest.mark.parametrize(
    ("kind", "start", "direction", "step"),
    [
        ("step", 0, 1, 1),
        ("step", 2, -1, 1),
        ("error", 0, 1, 3),
        ("error", 3, 1, None),
        ("edit", 0, 1, 2),
        ("test", 0, 1, 1),
        ("message", 0, 1, 6),
        ("message", 6, -1, 0),
        ("step", 6, 1, None),
    ],
)
def test_jumps_go_by_kind(kind: Jump, start: int, direction: int, step: int | None) -> None:
    rows = StepRows(SAMPLE, badges={"c1": Badge("✓ 1")})
    assert rows.next_step(start, kind, direction) == step


def test_what_a_shell_writes_is_an_edit_too() -> None:
    rows = rows_of(
        trajectory(
            said(1, "", shell("a", "cat notes.py", "")),
            said(2, "", shell("b", "cat > notes.py <<'E'\nx = 1\nE", "")),
            said(3, "", shell("c", "pytest -q 2>&1 | tail", "")),
        )
    )
    assert rows.next_step(0, "edit", 1) == 1
    assert rows.next_step(1, "edit", 1) is None


def test_back_from_within_a_step_is_its_header() -> None:
    rows = rows_of()
    rows.set_open((1,), is_open=True)
    assert rows.next_step(4, "step", -1) == 1


def test_a_key_finds_its_step_and_its_call() -> None:
    rows = rows_of()
    assert rows.index_of_key("m3") == 3
    assert rows.index_of_key("c2") == 2
    assert rows.index_of_key("nothing") is None


def test_the_call_under_a_row_is_known() -> None:
    rows = rows_of()
    call = rows.call_at(2)
    assert call is not None
    assert call.key == "c2"
    assert rows.call_at(0) is None
    rows.set_open((3,), is_open=True)
    assert rows.full_text(6) == OUTPUT
    assert rows.full_text(3).endswith(OUTPUT)


# Search


def find(rows: StepRows, text: str, start: int, step: int = 1) -> int | None:
    hits = [hit for hit in rows.find(Needle(text), start, step) if hit is not None]
    return hits[0] if hits else None


def test_a_search_finds_folded_output_of_closed_steps_and_opens_it() -> None:
    rows = rows_of()
    hit = find(rows, "output line 50", 0)
    assert hit is not None
    assert rows.text(hit) == "output line 50"
    assert rows.is_open(3)
    assert not rows.is_open(1)


def test_the_next_match_is_the_next_line_that_has_one() -> None:
    rows = rows_of()
    first = find(rows, "output line 9", 0)
    assert first is not None
    second = find(rows, "output line 9", first + 1)
    assert second is not None
    assert (rows.text(first), rows.text(second)) == ("output line 9", "output line 90")
    assert find(rows, "output line 9", second - 1, -1) == first


def test_a_wrapped_line_is_not_found_again_from_its_second_row() -> None:
    text = "needle " + "x " * 100 + "needle"
    rows = rows_of(trajectory(said(1, f"{text}\nneedle last")), 60)
    rows.set_open((0,), is_open=True)
    hits = []
    start = 0
    while start < len(rows):
        hit = find(rows, "needle", start)
        assert hit is not None
        hits.append(hit)
        start = hit + 1
    assert len(hits) == 3
    assert hits == sorted(set(hits))


def test_a_search_backwards_from_a_header_goes_to_the_step_before() -> None:
    rows = rows_of()
    hit = find(rows, "output line 100", 6, -1)
    assert hit is not None
    assert rows.text(hit) == "output line 100"


def test_a_search_upwards_comes_by_what_is_closed_but_not_by_what_is_open_below() -> None:
    rows = rows_of()
    hit = find(rows, "engine", 0, -1)
    assert hit is not None
    assert rows.text(hit) == "Build the engine."
    assert find(rows, "engine", 0, -1) is None
    assert find(rows, "engine", hit, -1) == hit


@pytest.mark.parametrize(
    ("text", "row"), [("bash", 1), ("EDIT", None), ("Edit", 2), ("✗ exit 1", 3), ("2.1s", 1)]
)
def test_a_search_finds_what_only_the_row_of_a_step_says(text: str, row: int | None) -> None:
    rows = rows_of()
    assert find(rows, text, 0) == row
    assert len(rows) == len(SAMPLE.steps)


def test_a_row_is_found_once_upwards_and_downwards() -> None:
    rows = rows_of()
    assert find(rows, "bash", 2) == 3
    rows.set_open((1, 3), is_open=True)
    header = rows.row_of(3)
    assert find(rows, "bash", 2) == header
    assert find(rows, "bash", header + 1) is None
    assert find(rows, "bash", header + 3, -1) == header
    assert find(rows, "bash", header - 1, -1) == 1


def test_a_search_finds_the_figures_of_an_open_step() -> None:
    rows = rows_of()
    assert find(rows, "16,500 tokens in", 0) is None
    rows.set_open((2,), is_open=True)
    assert find(rows, "16,500 tokens in", 0) == 3


# Notes that follow one another


def test_notes_that_follow_one_another_are_one_row_until_they_are_opened() -> None:
    rows = rows_of(NOISY, 80)
    assert len(rows) == 5
    assert lines(rows, 80)[0] == (
        "▸      · 4 notes    file-history-snapshot ×2, command-name, (empty)"
    )
    assert (rows.row_of(3), rows.row_of(4), rows.first_row) == (0, 1, 1)
    rows.unfold((2,))
    assert len(rows) == len(NOISY.steps)
    assert rows.first_row == 4
    rows.close_all()
    assert len(rows) == 5


def test_two_notes_a_failure_and_a_bill_keep_their_rows() -> None:
    bill = replace(note("b", "session ended"), usage=Usage(cost_usd=1.2))
    rows = rows_of(
        trajectory(
            note("a", "x"), note("c", "y"), bill, note("e", "z", is_error=True), note("d", "")
        )
    )
    assert len(rows) == 5


def test_jumps_pass_folded_notes_as_one_row() -> None:
    rows = rows_of(NOISY)
    assert rows.next_step(0, "step", 1) == 1
    assert rows.next_step(1, "step", -1) == 0
    assert rows.next_step(0, "step", -1) is None
    assert rows.next_step(0, "message", 1) == 1


def test_a_search_that_leads_into_folded_notes_opens_them() -> None:
    rows = rows_of(NOISY)
    assert find(rows, "4 notes", 0) == 0
    hit = find(rows, "needle", 0)
    assert hit is not None
    assert rows.text(hit) == "needle"
    assert not rows.is_folded(0)
    rows.close_all()
    hit = find(rows, "needle", 1, -1)
    assert hit is not None
    assert rows.text(hit) == "needle"


def test_opening_every_step_opens_folded_notes_too() -> None:
    rows = rows_of(NOISY)
    rows.set_open(range(len(rows.steps)), is_open=True)
    assert not rows.is_folded(0)
    other = rows_of(NOISY)
    other.open_as(rows)
    assert len(other) == len(rows)


def test_folded_notes_are_copied_whole() -> None:
    assert "needle" in rows_of(NOISY).full_text(0)


def test_a_search_sees_arguments_thinking_notes_and_raw_records() -> None:
    texts = "\n".join(t for step in SAMPLE.steps for t in texts_of(step))
    for word in ("care", "What is here?", "src/a.py", "y = 3", "overload", "Summary"):
        assert word in texts


# Whatever it holds


def test_hostile_steps_make_drawable_rows() -> None:
    rows = rows_of(
        hostile_trajectory(["\x1b[2J\x00\u202e\ud800[/x]\tz", "\r\r\x1b]52;c;e\x07", ""])
    )
    rows.set_open(range(len(rows.steps)), is_open=True)
    for index in range(len(rows)):
        for cell in rows.cells(index, 80):
            assert "\x1b" not in cell.content.plain
            list(cell.content.render(end=""))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "<0.1s"),
        (0.06, "0.1s"),
        (9.96, "10s"),
        (12, "12s"),
        (59.6, "1m00s"),
        (185, "3m05s"),
        (4_020, "1h07m"),
    ],
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert steps_lines.duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"), [(950, "950"), (16_548, "16.5k"), (999_960, "1.0M"), (1_234_567, "1.2M")]
)
def test_counts_are_for_people(number: int, text: str) -> None:
    assert steps_lines.count(number) == text
