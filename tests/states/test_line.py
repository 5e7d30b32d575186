"""What each state changed, for the whole line at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from arcview.states.line import LineChange
from tests.states.workspaces import folder_run, ingested, store_of

LONG = b"".join(b"line %d\n" % n for n in range(50))


def test_every_state_lists_what_it_changed(tmp_path: Path) -> None:
    run = folder_run(
        tmp_path,
        {"a.py": b"1\n", "b.py": LONG},
        {"a.py": b"2\n", "b.py": LONG},
        {"a.py": b"2\n", "c.py": LONG},
        {"a.py": b"2\n", "c.py": LONG},
    )
    store = ingested(run)
    line = store.line()
    blobs = {entry.path: entry.blob for entry in store.entries("S2")}

    assert list(line) == ["S0", "S1", "S2", "S3"]
    assert [change.path for change in line["S0"]] == ["a.py", "b.py"]
    assert line["S1"] == (LineChange("a.py", blobs["a.py"]),)
    assert line["S2"] == (LineChange("c.py", blobs["c.py"], "b.py"),)
    assert line["S3"] == ()


def test_what_is_gone_has_no_content(tmp_path: Path) -> None:
    store = ingested(folder_run(tmp_path, {"a": b"1\n", "b": b"2\n"}, {"a": b"1\n"}))
    assert store.line()["S1"] == (LineChange("b", None),)


def test_odd_names_come_through(tmp_path: Path) -> None:
    names = ("with space", "tab\there", "line\nbreak", "é.py", "f" * 40)
    store = ingested(folder_run(tmp_path, {}, dict.fromkeys(names, b"x\n")))
    assert {change.path for change in store.line()["S1"]} == set(names)


def test_the_files_of_a_state_follow_from_the_line(scb: Callable[[str], Path]) -> None:
    from arcview.session.opened import OpenRun

    run = OpenRun.open(scb("circuit-eval"))
    run.ensure_states()
    files: dict[str, str] = {}
    for state, changes in run.store.line().items():
        for change in changes:
            if change.old_path is not None:
                files.pop(change.old_path, None)
            files.pop(change.path, None)
            if change.blob is not None:
                files[change.path] = change.blob
        assert files == {entry.path: entry.blob for entry in run.store.entries(state)}


def test_a_run_without_states_has_no_line(tmp_path: Path) -> None:
    assert ingested(folder_run(tmp_path)).line() == {}


def test_a_state_that_is_gone_by_now_leaves_the_line(tmp_path: Path) -> None:
    run = folder_run(tmp_path, {"a": b"1\n"}, {"a": b"2\n"}, {"a": b"2\n", "b": b"3\n"})
    ingested(run)
    without = replace(run.states[1], source=None, missing="no longer there")
    run = replace(run, states=(run.states[0], without, run.states[2]))
    store = store_of(run)
    assert not store.ready()
    store.ingest()
    assert store.ready()
    assert [(state, len(changes)) for state, changes in store.line().items()] == [
        ("S0", 1),
        ("S2", 2),
    ]
    assert [line.state_id for line in store.blame("S2", "a")] == ["S2"]
