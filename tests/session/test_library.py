from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.errors import ArcviewError
from arcview.session.library import scan
from arcview.session.plain_text import list_lines
from arcview.session.plain_text_parts import Glyphs
from tests.readers.scb_run import write
from tests.readers.test_lone_file import turns


@pytest.fixture
def runs(tmp_path: Path, demo_run: Path) -> Path:
    folder = tmp_path / "runs"
    shutil.copytree(demo_run, folder / "demo" / "notes-cli")
    broken = folder / "broken" / "notes-cli"
    broken.mkdir(parents=True)
    (broken / "run.json").write_text('{"schema": "arcview/run/1", "run_id": ')
    (folder / "empty").mkdir()
    return folder


def test_every_run_is_a_row_and_a_broken_one_says_what_is_wrong(runs: Path) -> None:
    broken, demo = scan(runs)
    assert (broken.name, broken.overview) == ("broken/notes-cli", None)
    assert broken.error is not None
    assert "run.json" in broken.error
    assert "\n" not in broken.error
    assert (demo.name, demo.error) == ("demo/notes-cli", None)
    assert demo.overview is not None
    assert demo.overview.first_failing_gate == "2"


def test_a_run_itself_is_a_library_of_one(demo_run: Path) -> None:
    (row,) = scan(demo_run)
    assert row.name == "notes-cli"


def test_a_listing_reads_no_single_test(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in runs.glob("**/tests.jsonl"):
        file.write_text("damaged")
    _, demo = scan(runs)
    assert demo.error is None


def test_a_reader_that_falls_over_is_a_row(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fall_over(*_: object) -> None:
        raise RecursionError("too deep\nsecond line")

    monkeypatch.setattr("arcview.readers.registry.find_run_reader", fall_over)
    assert {row.error for row in scan(runs) if row.error} == {
        f"{runs / 'broken' / 'notes-cli'}: RecursionError: too deep",
        f"{runs / 'demo' / 'notes-cli'}: RecursionError: too deep",
    }


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_a_folder_is_needed(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArcviewError, match=name):
        list(scan(tmp_path / name))


def test_counts_of_a_listing_are_those_of_the_whole_run(scb: Callable[[str], Path]) -> None:
    from arcview.session.opened import OpenRun

    for name in ("circuit-eval", "file-backup-infra", "mocked-http-no-evaluation"):
        (row,) = scan(scb(name))
        whole = OpenRun.open(scb(name)).overview
        assert row.overview is not None
        assert [(s.f2p, s.p2p, s.judgement) for s in row.overview.stages] == [
            (s.f2p, s.p2p, s.judgement) for s in whole.stages
        ]
        assert row.overview.first_bad_state == whole.first_bad_state


@pytest.mark.parametrize(
    ("stages", "strip", "ascii_strip"),
    [(180, "?×180", "?*180"), (20, "?×20", "?*20"), (19, "?" * 19, "?" * 19)],
)
def test_many_equal_stages_are_counted(
    tmp_path: Path, stages: int, strip: str, ascii_strip: str
) -> None:
    write(tmp_path / "session.jsonl", turns(*map(str, range(stages))))
    rows = list(scan(tmp_path))
    for encoding, shown in (("utf-8", strip), ("ascii", ascii_strip)):
        _, line = list_lines(rows, Glyphs.for_encoding(encoding))
        assert f" {shown} " in line


def test_the_stages_of_a_session_that_was_not_read_are_not_known(tmp_path: Path) -> None:
    write(tmp_path / "session.jsonl", turns("go", "on " * 60_000))
    (row,) = scan(tmp_path)
    assert row.is_glanced
    _, line = list_lines([row], Glyphs())
    assert line.split()[2:5] == ["session", "…", "–"]
