from __future__ import annotations

import pytest

from arcview.analysis.frames import PathMapper
from arcview.errors import BadInputError
from arcview.model.run import Chain, Run, Stage, Status
from arcview.model.states import Provenance, State, StateKind
from arcview.model.trajectory import Role, Step, StepKind, ToolCall, ToolKind, Trajectory
from arcview.session.run_session import Column, RunSession
from arcview.session.run_session_address import Address, destination, parse_address
from arcview.session.run_session_layout import visible_columns
from arcview.session.run_session_links import next_in, steps_editing
from arcview.session.run_session_stops import stops_of


def _run() -> Run:
    states = (
        State("S1", 1, StateKind.STAGE_END, Provenance.RECORDED),
        State("S1.refactor", 1, StateKind.BETWEEN, Provenance.RECORDED),
        State("S2", 2, StateKind.STAGE_END, Provenance.RECORDED),
    )
    stages = tuple(Stage(k, None, Status.COMPLETED, end=f"S{k}") for k in (1, 2))
    return Run("r", "native", "p", Chain("t", has_chain_gate=True), states=states, stages=stages)


ALL = frozenset(Column)
UPPER = ALL - {Column.TRAJECTORY}


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [
        (160, 50, ALL),
        (120, 24, ALL),
        (119, 24, {Column.GATE, Column.TRAJECTORY}),
        (160, 12, UPPER),
        (80, 12, {Column.GATE}),
    ],
)
def test_what_there_is_room_for(width: int, height: int, expected: set[Column]) -> None:
    session = RunSession(_run(), first_failing_gate="1")
    assert visible_columns(session, width, height) == expected


def test_without_room_below_the_trajectory_takes_the_place_of_the_others() -> None:
    session = RunSession(_run())
    session.focus(Column.TRAJECTORY)
    assert visible_columns(session, 160, 12) == {Column.TRAJECTORY}


def test_a_zoomed_pane_is_alone_at_every_size() -> None:
    session = RunSession(_run())
    session.toggle_zoom()
    assert visible_columns(session, 200, 60) == {Column.DIFF}


@pytest.mark.parametrize(
    "text",
    [
        "gate:3/f2p/tests%2Ftest_a.py%3A%3Atest%20%5Bx%5D",
        "step:3/call_1",
        "file:S3/src/a.py#L10",
        "spec:2",
        "self:1/call_9",
        "gate:chain/p2p/x",
    ],
)
def test_an_address_survives_reading_and_writing(text: str) -> None:
    assert str(parse_address(text)) == text


def test_a_range_of_lines_begins_at_its_first() -> None:
    assert parse_address("file:S3/src/a.py#L10-L22").line == 10


@pytest.mark.parametrize("text", ["", "gate", "nonsense:3", "gate:", ":3"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(BadInputError):
        parse_address(text)


@pytest.mark.parametrize(
    ("address", "state"),
    [
        (Address("gate", "1"), "S1"),
        (Address("gate", "S1.refactor"), "S1.refactor"),
        (Address("file", "S2", ("a.py",)), "S2"),
        (Address("gate", "chain"), "S2"),
    ],
)
def test_an_address_leads_to_its_stop(address: Address, state: str) -> None:
    stops = stops_of(_run())
    assert stops[destination(address, stops).stop].state == state


def test_a_stage_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInputError, match="no '7'"):
        destination(Address("gate", "7"), stops_of(_run()))


def _edit(key: str, path: str, kind: ToolKind = ToolKind.EDIT) -> Step:
    call = ToolCall(f"call-{key}", "Edit", kind, {"file_path": path}, path=path)
    return Step(key, 1, Role.ASSISTANT, StepKind.MESSAGE, calls=(call,))


def test_steps_that_edited_a_file_are_found_by_their_container_path() -> None:
    trajectory = Trajectory(
        "x",
        (
            _edit("a", "/workspace/src/a.py"),
            _edit("b", "/workspace/src/b.py"),
            _edit("c", "src/a.py", ToolKind.WRITE),
            _edit("d", "src/a.py", ToolKind.READ),
        ),
    )
    mapper = PathMapper(("src/a.py", "src/b.py"), "/workspace")
    assert steps_editing(trajectory, "src/a.py", mapper) == ("a", "c")


def test_steps_that_wrote_a_file_in_a_shell_are_among_them_once() -> None:
    lines = {"a": "sed -i s/x/y/ src/a.py", "b": "cat src/a.py", "c": "cd src && touch a.py b.py"}
    calls = {
        key: ToolCall(f"call-{key}", "Bash", ToolKind.SHELL, command=line)
        for key, line in lines.items()
    }
    steps = [
        Step(key, 1, Role.ASSISTANT, StepKind.MESSAGE, calls=(call, call))
        for key, call in calls.items()
    ]
    mapper = PathMapper(("src/a.py", "src/b.py"), "/workspace")
    assert steps_editing(Trajectory("x", tuple(steps)), "src/a.py", mapper) == ("a", "c")


@pytest.mark.parametrize(
    ("keys", "current", "expected"),
    [((), None, None), (("a", "b"), None, "b"), (("a", "b"), "a", "b"), (("a", "b"), "b", "a")],
)
def test_the_next_editing_step_goes_round_and_begins_with_the_last(
    keys: tuple[str, ...], current: str | None, expected: str | None
) -> None:
    assert next_in(keys, current) == expected


def test_an_address_leads_to_the_part_the_hunk_and_the_line_that_it_names() -> None:
    stops = stops_of(_run())
    part = destination(parse_address("step:2/k/c1/result#c12-c40"), stops).target
    hunk = destination(parse_address("diff:2/a.py#h3"), stops).target
    log = destination(parse_address("gate:2/log/gate/log.txt#L7"), stops)

    assert (part.step, part.part, part.offset) == ("k", ("c1", "result"), 12)
    assert (hunk.path, hunk.hunk) == ("a.py", 3)
    assert (log.log, log.line, log.target.test) == ("gate/log.txt", 7, None)
