"""Line → stage → step, held against the states that the sample run recorded after each step."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arcview.session.attribution import Attribution, LineSource
from arcview.session.opened import OpenRun
from arcview.session.workspace_files import WorkspaceFiles

STATES = ("S1", "S2", "S2.refactor", "S3", "S4")


def attribution_of(path: Path, *, use_recorded_steps: bool = True) -> tuple[OpenRun, Attribution]:
    run = OpenRun.open(path)
    run.store.ingest()
    return run, Attribution(run, WorkspaceFiles(run), use_recorded_steps=use_recorded_steps)


@pytest.fixture(scope="session")
def recorded(
    demo_run: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str], list[str]]:
    """Step keys by line, from plain `git blame` over the commits that were made after each step."""
    clone = tmp_path_factory.mktemp("recorded") / "bundle.git"
    bundle = demo_run / "workspace.bundle"
    subprocess.run(["git", "clone", "-q", "--mirror", bundle, clone], check=True)

    def git(*args: str) -> str:
        done = subprocess.run(["git", "-C", clone, *args], check=True, capture_output=True)
        return done.stdout.decode()

    def steps(state: str, path: str) -> list[str]:
        ref = f"refs/arcview/{state}"
        blamed = git("blame", "-l", "-s", "-w", "-M", ref, "--", path).splitlines()
        commits = [line.lstrip("^").split(" ")[0] for line in blamed]
        trailer = "--format=%(trailers:key=Step-Key,valueonly)"
        keys = {commit: git("log", "-1", trailer, commit).strip() for commit in set(commits)}
        return [keys[commit] for commit in commits]

    return steps


def with_truth(
    run: OpenRun, attribution: Attribution, recorded: Callable[[str, str], list[str]]
) -> Iterator[tuple[LineSource, str]]:
    """Every line that a step wrote, with the key of that step."""
    for state in STATES:
        for entry in run.store.entries(state):
            truth = recorded(state, entry.path)
            for source, key in zip(attribution.sources(state, entry.path), truth, strict=True):
                if key:
                    yield source, key


def test_recorded_steps_decide_every_line(
    demo_run: Path, recorded: Callable[[str, str], list[str]]
) -> None:
    run, attribution = attribution_of(demo_run)
    found = list(with_truth(run, attribution, recorded))

    assert len(found) > 300
    assert all(source.step_key == key for source, key in found)
    assert all(source.certainty == "exact" and source.recorded for source, _ in found)


def test_the_replay_alone_is_never_wrong_where_it_is_sure(
    demo_run: Path, recorded: Callable[[str, str], list[str]]
) -> None:
    run, attribution = attribution_of(demo_run, use_recorded_steps=False)
    found = list(with_truth(run, attribution, recorded))
    counts = Counter((s.certainty, s.step_key == key) for s, key in found)
    exact = counts["exact", True]
    candidates = counts["candidate", True] + counts["candidate", False]

    assert counts["exact", False] == 0
    assert exact / len(found) >= 0.65  # programs in the shell wrote the rest
    assert counts["candidate", True] / candidates >= 0.9
    assert (exact + candidates) / len(found) >= 0.8


def test_lines_that_stood_at_the_start_are_of_no_step(demo_run: Path) -> None:
    _, attribution = attribution_of(demo_run)
    first = [s for s in attribution.sources("S4", "notes/cli.py") if s.state == "S0"]
    assert first
    assert {(source.stage, source.certainty) for source in first} == {(0, "none")}


def test_coverage_counts_the_lines_of_the_own_change(demo_run: Path) -> None:
    _, attribution = attribution_of(demo_run)
    exact, own = attribution.coverage("S2", "notes/search.py")
    assert exact == own > 0


def test_the_shell_steps_of_a_state_are_there_for_what_no_edit_shows(demo_run: Path) -> None:
    _, attribution = attribution_of(demo_run)
    commands = [step.command for step in attribution.shell_steps("S3")]
    assert any("notes/cli.py" in command for command in commands)
    assert not any(command.startswith("ls ") for command in commands)


REAL = {
    "circuit-eval": 0.93,
    "code-search-collapse": 0.93,
    "code-search-refactor-pass": 0.93,
    "database-migration-rising": 0.93,
    "file-backup-infra": 0.93,
    "mvvault-interrupted": 0.93,
}
"""Run → the least share of source lines with an exact step."""


@pytest.mark.parametrize("name", REAL)
def test_most_lines_of_real_runs_have_an_exact_step(name: str, scb: Callable[[str], Path]) -> None:
    run, attribution = attribution_of(scb(name))
    exact = own = 0
    for state in run.run.agent_states()[1:]:
        for path in WorkspaceFiles(run).texts(state.id):
            counted = attribution.coverage(state.id, path)
            exact, own = exact + counted[0], own + counted[1]
    assert own > 100
    assert exact / own >= REAL[name], f"{exact} of {own}"
