from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from arcview.session import library_cache
from arcview.session.library import LibraryRow, scan, summarise
from arcview.session.library_cache import scan_kept
from tests.readers.scb_run import write
from tests.readers.test_lone_file import turns


@pytest.fixture
def runs(tmp_path: Path, demo_run: Path) -> Path:
    fixtures = demo_run.parents[2]
    shutil.copytree(fixtures / "chains", tmp_path / "chains")
    folder = tmp_path / "runs"
    for name in ("one", "two"):
        shutil.copytree(demo_run, folder / "demo" / name)
    broken = folder / "demo" / "broken"
    broken.mkdir()
    (broken / "run.json").write_text('{"schema": "arcview/run/1", "run_id": ')
    return folder


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the runs that were really read."""
    names: list[str] = []

    def noting(*arguments: object) -> LibraryRow:
        row = summarise(*arguments)  # type: ignore[arg-type]
        names.append(row.name)
        return row

    monkeypatch.setattr("arcview.session.library_cache.summarise", noting)
    return names


def test_rows_from_the_cache_are_those_of_a_first_look(runs: Path, read: list[str]) -> None:
    first = list(scan_kept(runs))
    read.clear()
    assert list(scan_kept(runs)) == first == list(scan(runs))
    assert read == []


def test_a_session_of_unknown_length_is_so_from_the_cache_too(tmp_path: Path) -> None:
    write(tmp_path / "runs" / "long.jsonl", turns("go", "on " * 60_000))
    (row,) = scan_kept(tmp_path / "runs")
    assert row.is_glanced
    assert list(scan_kept(tmp_path / "runs")) == [row]


def test_a_run_that_changed_is_read_again_and_no_other(runs: Path, read: list[str]) -> None:
    list(scan_kept(runs))
    read.clear()
    result = runs / "demo" / "two" / "stages" / "1" / "gate" / "result.json"
    result.write_text(result.read_text() + "\n")
    list(scan_kept(runs))
    assert read == ["demo/two"]


def test_a_new_run_is_found_and_a_removed_one_is_gone(runs: Path) -> None:
    list(scan_kept(runs))
    (runs / "demo" / "one").rename(runs / "demo" / "three")
    assert [row.name for row in scan_kept(runs)] == ["demo/broken", "demo/three", "demo/two"]


def test_looking_again_reads_every_run(runs: Path, read: list[str]) -> None:
    list(scan_kept(runs))
    read.clear()
    list(scan_kept(runs, fresh=True))
    assert read == ["demo/broken", "demo/one", "demo/two"]


def test_a_run_of_very_many_files_is_read_each_time(
    runs: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_cache, "_MAX_ENTRIES", 3)
    list(scan_kept(runs))
    read.clear()
    list(scan_kept(runs))
    assert read == ["demo/one", "demo/two"]


def test_nothing_is_written_into_the_runs(runs: Path) -> None:
    before = sorted(runs.rglob("*"))
    list(scan_kept(runs))
    assert sorted(runs.rglob("*")) == before


def test_a_changed_chain_beside_the_runs_is_seen(runs: Path, read: list[str]) -> None:
    list(scan_kept(runs))
    read.clear()
    chain = runs.parent / "chains" / "notes-cli" / "chain.json"
    fields = json.loads(chain.read_text())
    fields["task_id"] = "renamed"
    chain.write_text(json.dumps(fields))
    list(scan_kept(runs))

    assert read == ["demo/one", "demo/two"]


def test_a_chain_that_comes_later_is_seen(runs: Path, read: list[str]) -> None:
    chain = runs.parent / "chains" / "notes-cli" / "chain.json"
    moved = chain.rename(chain.with_name("away"))
    before = {row.name: row for row in scan_kept(runs)}
    moved.rename(chain)
    after = {row.name: row for row in scan_kept(runs)}

    assert before["demo/one"] != after["demo/one"]
