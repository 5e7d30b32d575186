from __future__ import annotations

import json
import multiprocessing
import shutil
from pathlib import Path

import pytest

from arcview.errors import ArcviewError
from arcview.gates.owner import Owner
from arcview.gates.result_store import ResultStore
from arcview.gates.sealed import sealed, unsealed
from arcview.gates.tested_tree import FileOrigin, Origin
from tests.gates.some_results import result


def stored(root: Path, word: str = "passed") -> ResultStore:
    store = ResultStore(root)
    staged = store.stage()
    (staged / "log.txt").write_bytes(b"output\n")
    (staged / "report-1.xml").write_bytes(b"<x/>")
    origins = [
        FileOrigin("a\udc80.py", Origin.AGENT, "0" * 40),
        FileOrigin("b", Origin.IMAGE, None),
    ]
    store.add(result({"t": word}, notes=("noted",)), staged, origins)
    return store


def test_a_result_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    key = result({}).key
    stored(tmp_path)
    store = ResultStore(tmp_path)
    (found,) = store.find(key)
    expected = result({"t": "passed"})
    assert (found.attempt, found.tests, found.verdict) == (1, expected.tests, expected.verdict)
    assert (found.f2p, found.p2p, found.engine) == (expected.f2p, None, expected.engine)
    assert [path.name for path in found.logs] == ["log.txt", "report-1.xml"]
    assert store.origins(found)[0] == FileOrigin("a\udc80.py", Origin.AGENT, "0" * 40)
    assert store.all() == (found,)
    assert store.find_any_image(key.gate_digest, key.tree) == (found,)


def test_attempts_are_numbered_and_never_written_over(tmp_path: Path) -> None:
    for word in ("passed", "failed", "passed"):
        store = stored(tmp_path, word)
    found = store.find(result({}).key)
    assert [(r.attempt, r.tests[0].outcome.value) for r in found] == [
        (1, "passed"),
        (2, "failed"),
        (3, "passed"),
    ]
    assert not [path for path in store.folder.rglob("*") if path.name.startswith(".new-")]


def test_a_log_or_a_report_that_was_changed_is_told_when_it_is_looked_at(tmp_path: Path) -> None:
    (found,) = stored(tmp_path).all()
    log, report = found.logs
    assert ResultStore(tmp_path).changed(log) is None
    log.chmod(0o600)
    log.write_bytes(b"another output\n")
    store = ResultStore(tmp_path)
    assert store.all() == (found,)
    assert store.changed(log) == "log.txt was changed since it was stored"
    assert store.changed(report) is None
    report.unlink()
    assert (store.changed(report) or "").startswith("report-1.xml cannot be read: ")


def test_a_result_that_was_changed_by_hand_is_reported_and_not_used(tmp_path: Path) -> None:
    store = stored(tmp_path)
    (path,) = store.folder.rglob("result.json")
    values = json.loads(path.read_text())
    path.chmod(0o600)
    path.write_text(json.dumps(values | {"verdict": "passed"}))
    again = ResultStore(tmp_path)
    assert again.all() == ()
    assert "changed by hand" in again.problems[0].what


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"schema": "x"}'])
def test_a_damaged_result_does_not_hide_the_others(tmp_path: Path, damage: bytes) -> None:
    stored(tmp_path)
    store = stored(tmp_path)
    path = next(p for p in store.folder.rglob("result.json") if p.parent.name == "1")
    path.chmod(0o600)
    path.write_bytes(damage)
    again = ResultStore(tmp_path)
    assert [r.attempt for r in again.all()] == [2]
    assert len(again.problems) == 1


def test_tests_that_were_changed_by_hand_are_not_used(tmp_path: Path) -> None:
    store = stored(tmp_path)
    (path,) = store.folder.rglob("tests.jsonl")
    path.chmod(0o600)
    path.write_text(path.read_text().replace("passed", "failed"))
    assert ResultStore(tmp_path).all() == ()


def _store_many(root: str) -> None:
    for _ in range(10):
        stored(Path(root))


def test_two_processes_that_store_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_store_many, args=(str(tmp_path),)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    found = ResultStore(tmp_path).find(result({}).key)
    assert [r.attempt for r in found] == list(range(1, 21))


def test_what_a_killed_process_had_under_way_is_removed(tmp_path: Path) -> None:
    store = ResultStore(tmp_path)
    own, gone = store.stage(), store.stage()
    dead = Owner(Owner.current().host, 2**22 + 1, "1")
    (gone / "owner").write_text(dead.text)
    assert store.reap() == 1
    assert own.is_dir()
    assert not gone.exists()


def test_a_sidecar_that_cannot_be_written_says_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArcviewError, match="the rerun cannot be stored"):
        ResultStore(tmp_path / "file").stage()


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_torn_attempt_keeps_its_number_and_the_next_one_is_stored(
    tmp_path: Path, is_folder: bool
) -> None:
    (path,) = stored(tmp_path).folder.rglob("result.json")
    path.unlink()
    if is_folder:
        path.mkdir()
    assert [r.attempt for r in stored(tmp_path).all()] == [2]


def test_an_attempt_that_was_copied_is_not_counted_twice(tmp_path: Path) -> None:
    store = stored(tmp_path)
    (key,) = store.folder.iterdir()
    shutil.copytree(key / "1", key / "2")
    shutil.copytree(key, store.folder / f"{'0' * 16}{key.name[16:]}")
    again = ResultStore(tmp_path)
    assert len(again.all()) == 1
    assert {problem.what for problem in again.problems} == {
        "copied or moved from another place; not used"
    }


@pytest.mark.parametrize(
    "values",
    [
        {"files": ["log.txt"]},
        {"files": {"tests.jsonl": "x", "report/../../../../etc/passwd": "x"}},
        {"files": {"tests.jsonl": 5}},
        {"exit_codes": 5},
        {"exit_codes": ["1"]},
        {"exit_codes": [True]},
    ],
)
def test_a_result_of_odd_values_is_reported_though_it_is_sealed(
    tmp_path: Path, values: dict[str, object]
) -> None:
    (path,) = stored(tmp_path).folder.rglob("result.json")
    path.chmod(0o600)
    path.write_bytes(sealed(unsealed(path.read_bytes(), "x") | values))
    again = ResultStore(tmp_path)
    assert again.all() == ()
    assert len(again.problems) == 1


def test_a_test_without_a_name_is_kept(tmp_path: Path) -> None:
    store = ResultStore(tmp_path)
    kept = store.add(result({"": "passed"}), store.stage())
    assert [test.id for test in kept.tests] == [""]


def test_reruns_that_cannot_be_listed_are_none(tmp_path: Path) -> None:
    (tmp_path / "reruns").symlink_to("reruns")
    assert ResultStore(tmp_path).all() == ()
