"""One search over a whole run: every place, its address, and what was left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arcview import cli
from arcview.analysis.search import Hit, compile_pattern
from arcview.errors import CancelledError
from arcview.model.trajectory import Trajectory
from arcview.schema.faults import find_faults
from arcview.schema.reports import FindHit
from arcview.session.address import Address, parse_address
from arcview.session.find import RunSearch
from arcview.session.opened import OpenRun
from tests.readers.native_run import full_run, result_line

Scb = Callable[[str], Path]
Capture = pytest.CaptureFixture[str]


def opened(path: Path) -> OpenRun:
    run = OpenRun.open(path)
    run.ensure_states()
    return run


def found(path: Path, text: str, **options: object) -> tuple[list[Hit], RunSearch]:
    search = RunSearch(opened(path), compile_pattern(text), **options)  # type: ignore[arg-type]
    return list(search.run()), search


def text_of(trajectory: Trajectory) -> str:
    """Every text of a trajectory that came from the run, plainly put together."""
    parts: list[str] = []
    for step in trajectory.steps:
        parts += [step.text, step.thinking, step.raw or ""]
        for call in step.calls:
            parts += [str(value) for value in call.arguments.values()]
            parts.append(call.result.text if call.result else "")
    return "\n".join(parts)


@pytest.mark.parametrize("needle", ["Undefined signal: X", "UndefinedNameError", "radix"])
def test_every_line_of_every_step_is_searched(scb: Scb, needle: str) -> None:
    run = opened(scb("circuit-eval"))
    expected = 0
    for stage in run.run.stages:
        for state in (None, *(one.state for one in stage.passes)):
            text = text_of(run.trajectory(stage.index, state))
            folded = text if needle != needle.lower() else text.lower()
            expected += sum(needle in line for line in folded.split("\n"))
    search = RunSearch(run, compile_pattern(needle), kinds=("step",))

    assert len(list(search.run())) == search.hits["step"] == expected > 0


def test_hits_are_counted_by_place(demo_run: Path) -> None:
    hits, search = found(demo_run, "search")

    assert sum(search.hits.values()) == len(hits)
    assert set(search.hits) == {"gate", "step", "diff", "spec", "log"}
    assert all(search.searched[kind] >= 1 for kind in search.hits)


def test_a_hit_in_a_step_is_at_that_step(demo_run: Path) -> None:
    hits, _ = found(demo_run, "The whole suite passes.", kinds=("step",))
    (hit,) = hits
    last = opened(demo_run).trajectory(3).steps[-1]

    assert parse_address(hit.address) == Address("step", "3", (last.key,))
    assert hit.place.title == "stage 3 #7 · assistant"


def test_a_hit_in_a_diff_is_at_its_line_of_the_new_file(demo_run: Path) -> None:
    hits, _ = found(demo_run, "def from_dict", kinds=("diff",))
    added = [hit for hit in hits if hit.text.startswith("+")]
    address = parse_address(added[0].address)
    code = opened(demo_run).store.file(f"S{address.where}", address.path)

    assert code is not None
    assert address.line is not None
    assert "def from_dict" in code.decode().split("\n")[address.line - 1]


def test_a_file_is_found_by_its_name(demo_run: Path) -> None:
    hits, _ = found(demo_run, "notes/importer.py", kinds=("diff",))
    assert "diff:4/notes/importer.py" in {hit.address for hit in hits}


def test_a_hit_in_a_message_is_at_its_test(demo_run: Path) -> None:
    hits, _ = found(demo_run, "KeyError: 'tags'", kinds=("gate",))
    addresses = {hit.address for hit in hits}
    assert "gate:3/p2p/gate_tests%2Ftest_base.py%3A%3Atest_old_file_loads" in addresses


def test_a_hit_in_a_log_is_at_its_line(demo_run: Path) -> None:
    hits, _ = found(demo_run, "KeyError", kinds=("log",))
    address = parse_address(hits[0].address)
    run = opened(demo_run)
    path = "/".join(address.parts[1:])

    assert address.parts[0] == "log"
    assert address.line is not None
    assert "KeyError" in run.text(path).split("\n")[address.line - 1]


def test_passes_and_the_chain_gate_are_searched(demo_run: Path) -> None:
    hits, _ = found(demo_run, "e")
    wheres = {parse_address(hit.address).where for hit in hits}
    assert {"1", "2", "3", "4", "S2.refactor", "chain"} <= wheres


def test_the_stage_at_hand_is_searched_first(demo_run: Path) -> None:
    hits, _ = found(demo_run, "def ", first_stage=3, kinds=("diff",))
    order = list(dict.fromkeys(parse_address(hit.address).where for hit in hits))
    assert order == ["3", "4", "1", "2", "S2.refactor"]


def test_every_address_leads_back_to_its_place(scb: Scb) -> None:
    hits, _ = found(scb("circuit-eval"), "literal_x")
    assert hits
    assert all(parse_address(hit.address) for hit in hits)


def test_a_search_stops_when_it_is_told_to(demo_run: Path) -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 5

    with pytest.raises(CancelledError):
        found(demo_run, "not there at all", cancelled=cancelled)


def test_the_first_hit_does_not_wait_for_the_last_stage(
    demo_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = opened(demo_run)
    trajectory, read = run.trajectory, list[int]()

    def noted(stage: int, state: str | None = None) -> Trajectory:
        read.append(stage)
        return trajectory(stage, state)

    monkeypatch.setattr(run, "trajectory", noted)
    next(RunSearch(run, compile_pattern("tag"), kinds=("step",)).run())

    assert read == [1]


def test_what_cannot_be_searched_is_said(scb: Scb, tmp_path: Path) -> None:
    _, search = found(scb("recli-nothing-built"), "x", kinds=("diff",))
    assert search.left_out
    assert search.left_out[0].startswith("the diff of stage 1: state S1 is missing")

    made = full_run(tmp_path / "run")
    made.write_text("stages/2/workspace/node_modules/x/index.js", "needle\n")
    hits, search = found(made.write(), "needle", kinds=("diff",))
    assert hits == []
    assert search.left_out == ["the diff of stage 2: 1 vendored, generated, lock and cache files"]


def test_the_command_prints_addresses_lines_and_counts(demo_run: Path, capsys: Capture) -> None:
    assert cli.main(["find", str(demo_run), "the whole suite passes."]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("step:3/")
    assert out[0].endswith("The whole suite passes.")
    assert out[-1].startswith("1 matching line: gate 0, step 1")


def test_the_command_prints_json_lines_of_its_schema(demo_run: Path, capsys: Capture) -> None:
    command = ["find", str(demo_run), "Key.rror", "--regex", "--json", "--in", "gate"]
    assert cli.main(command) == 0
    hits = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert hits
    for hit in hits:
        assert find_faults(FindHit, hit) == ()
        start, end = hit["spans"][0]
        assert hit["text"][start:end] == "KeyError"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["not there at all"], 1, "0 matching lines"),
        (["(", "--regex"], 2, "not a regular expression"),
        ([""], 2, "TEXT is empty"),
        (["x", "--in", "nowhere"], 2, "invalid choice"),
    ],
)
def test_what_the_command_answers(
    arguments: list[str], code: int, said: str, demo_run: Path, capsys: Capture
) -> None:
    assert cli.main(["find", str(demo_run), *arguments]) == code
    printed = capsys.readouterr()
    assert said in printed.out + printed.err


@pytest.mark.parametrize(
    "text", ["the whole suite", "cut_short", "command: python", "none", "true"]
)
def test_steps_that_are_passed_over_hold_no_hit(text: str, demo_run: Path) -> None:
    run = opened(demo_run)
    run.complete_overview()
    kept = opened(demo_run)
    pattern = compile_pattern(text)
    careful = RunSearch(kept, replace(pattern, word=None), kinds=("step",))
    quick = RunSearch(kept, pattern, kinds=("step",))

    assert [hit.address for hit in quick.run()] == [hit.address for hit in careful.run()]
    assert quick.hits == careful.hits
    assert (quick.searched["step"] > 0) == (careful.searched["step"] > 0)


def test_a_long_hostile_line_is_cut_clean_and_masked(tmp_path: Path, capsys: Capture) -> None:
    made = full_run(tmp_path / "run")
    key = "sk-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    line = f"{'x' * 5000} needle \x1b]0;owned\x07 {key} {'y' * 5000}"
    made.write_gate(1, {"t::a": "failed"})
    made.write_tests("stages/1/gate", [result_line("t::a", "f2p", "failed", message=line)])
    assert cli.main(["find", str(made.write()), "needle", "--in", "gate"]) == 0
    first = capsys.readouterr().out.splitlines()[0]

    assert "needle" in first
    assert len(first) < 300
    assert "\x1b" not in first
    assert key not in first
