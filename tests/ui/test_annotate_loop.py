"""The whole loop by keys alone: make, extend, read again by somebody else, settle, out and in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.annotations.cases import evidence_values, flat
from arcview.annotations.events import EventKind
from arcview.annotations.store import Draft
from arcview.model.annotation import Evidence, Pointer, Reading
from arcview.session.annotate import AnnotateSession
from arcview.ui.screens.run import RunScreen
from tests.ui.screen_text import notice, on_screen, open_run, press, run_screen, screen_text

Scb = Callable[[str], Path]
HOSTILE = "evil\x1b]0;title\x07\x1b[2J[/red][@click=app.quit]‮\n"


def reading(screen: RunScreen) -> Reading:
    own = screen.annotating().session.reading
    assert own is not None
    return own


@pytest.fixture(params=["sample", "circuit-eval", "code-search-refactor-pass"])
def run(request: pytest.FixtureRequest, demo_run: Path) -> Path:
    if request.param == "sample":
        return demo_run
    scb: Scb = request.getfixturevalue("scb")
    return scb(request.param)


async def test_a_case_is_made_extended_settled_exported_and_read_in_again(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCVIEW_ANNOTATOR", "ann")
    screen = run_screen(run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "a", "v", "0", "escape")  # the failing test
        await press(pilot, "shift+tab", "J", "a", "d", "2", "c", "7", "escape")  # a changed line
        await press(pilot, "shift+tab", "w", "a", "w", "=seen here", "enter")  # an editing step
        await press(pilot, "escape", "]", "tab", "tab", "a", "s")  # the next stage's gate
        own = reading(screen)
        assert (own.validity, own.origins[0].defect, own.origins[0].cause) == ("V0", "D2", "C7")
        assert own.origins[0].path is not None
        assert own.note == "seen here"
        assert len(own.evidence) >= 3
        text = screen_text(app)
        assert "final · ann" in text
        assert "✓ ok" in text
        assert "stale" not in text
        unit = screen.annotating().unit

    monkeypatch.setenv("ARCVIEW_ANNOTATOR", "bob")
    screen = run_screen(run)
    async with on_screen(screen) as (app, pilot):
        await press(pilot, "a", "v", "0", "O", "s")
        assert screen.annotating().unit == unit
        text = await press(pilot, "equals_sign")
        assert "1 bob" in text
        assert "2 ann" in text
        await press(pilot, "a")
        assert reading(screen).origins[0].defect == "D2"
        text = await press(pilot, "s")
        assert "settled by bob" in text

    monkeypatch.chdir(tmp_path)
    async with on_screen(run_screen(run)) as (app, pilot):
        await press(pilot, "A", "E", "=cases.jsonl", "enter")
        assert "1 case written to cases.jsonl" in notice(app)
        await press(pilot, "E", "=cases.jsonl", "enter")
        assert "is there already" in notice(app)
        await press(pilot, "E", "=cases.md", "enter")
        assert "1 case written to cases.md" in notice(app)
    cases = AnnotateSession.open(open_run(run), annotator="bob").store.cases

    monkeypatch.setenv("ARCVIEW_SIDECAR", str(tmp_path / "other"))
    monkeypatch.setenv("ARCVIEW_ANNOTATOR", "eve")
    async with on_screen(run_screen(run)) as (app, pilot):
        text = await press(pilot, "A", "I", "=cases.jsonl", "enter")
        assert "2 readings read in" in notice(app)
        assert "settled by bob" in text
    other = AnnotateSession.open(open_run(run), annotator="eve").store.cases
    again = {(case.unit, one.annotator): flat(one) for case in other for one in case.readings}
    for case in cases:
        for one in case.readings:
            assert again[case.unit, one.annotator] == flat(one)


async def test_a_file_is_never_written_into_the_run_nor_what_is_hidden(
    demo_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCVIEW_ANNOTATOR", "ann")
    async with on_screen(run_screen(demo_run)) as (app, pilot):
        await press(pilot, "A", "E", f"={demo_run / 'x.csv'}", "enter")
        assert "lies inside the run" in notice(app)
        await press(pilot, "E", "=x.pdf", "enter")
        assert "end the name in .jsonl, .csv or .md" in notice(app)
        await press(pilot, "B", "E", "=x.csv", "enter")
        assert "hidden while labelling blind" in notice(app)
        await press(pilot, "I", "=none.jsonl", "enter")
        assert "cannot be read" in notice(app)
    assert not (demo_run / "x.csv").exists()


async def test_stale_evidence_stands_beside_the_case(
    demo_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCVIEW_ANNOTATOR", "ann")
    session = AnnotateSession.open(open_run(demo_run), annotator="ann")
    session.mark("diff:2/notes/cli.py#L7")
    assert session.case_id is not None
    for name, address in (("e1", "diff:2/notes/cli.py#L8"), ("e2", "file:S2/gone.py#L1")):
        values = evidence_values(Evidence(name, Pointer(address, "0" * 64)))
        session.store.save(Draft(session.case_id, EventKind.EDIT, values, unit="gate:2"))
    async with on_screen(run_screen(demo_run)) as (_, pilot):
        text = await press(pilot, "A", "enter")
        assert "✓ ok" in text
        assert "▲ stale: what stood there has changed" in text
        assert "∅ not found" in text


async def test_hostile_labels_and_schemes_reach_the_screen_clean(
    demo_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCVIEW_ANNOTATOR", "ann")
    session = AnnotateSession.open(open_run(demo_run), annotator="bob")
    session.mark("gate:2/f2p/gate_tests%2Ftest_search.py%3A%3Atest_newest_first")
    session.mark("diff:2/notes/cli.py#L7")
    session.write("note", HOSTILE)
    session.write("symbol", HOSTILE)
    session.write("contract_item", HOSTILE)
    scheme = tmp_path / "data" / "arcview" / "sidecar" / "scheme.toml"
    shown = json.dumps(HOSTILE)
    scheme.write_text(
        f"""schema = "arcview/scheme/1"
name = {shown}
version = "1"
[[field]]
id = "validity"
key = "v"
title = {shown}
kind = "one"
of = "case"
help = {shown}
[[field.code]]
code = {shown}
key = "0"
name = {shown}
definition = {shown}
""",
        "utf-8",
    )
    screen = run_screen(demo_run)
    async with on_screen(screen) as (app, pilot):
        for keys in (("a",), ("v",), ("0",), ("s",), ("equals_sign",), ("escape", "escape", "A")):
            text = await press(pilot, *keys)
            assert all(line.isprintable() for line in text.split("\n"))
        assert "evil␛]0;title␇" in text
        assert app.is_running
        assert "nothing" not in notice(app)
