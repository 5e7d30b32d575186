"""What addresses point at, and what becomes of a pointer when that changes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.errors import GitError
from arcview.model.annotation import Pointer, PointerState
from arcview.session.address import Address
from arcview.session.annotate_targets import Targets, sha256_of
from arcview.session.opened import OpenRun

TEST = "gate_tests/test_search.py::test_newest_first"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Targets:
    run = Path(__file__).parents[2] / "fixtures" / "runs" / "scripted-demo" / "notes-cli"
    return Targets(OpenRun.open(run, cache_root=tmp_path_factory.mktemp("cache")))


@pytest.mark.parametrize(
    ("address", "quoted"),
    [
        ("gate:2", "gate 2: failed"),
        (str(Address("gate", "2", ("f2p", TEST))), "assert [1, 2, 3] == [3, 2, 1]"),
        ("gate:S2.refactor", "gate 2: failed"),
        ("gate:chain", "gate chain: failed"),
        ("cell:2@S2", "gate 2: failed"),
        ("spec:2#L1", "# Search"),
        ("file:S2/notes/search.py#L1-L2", '"""Search over notes."""\n'),
        ("diff:2/notes/search.py#h1", "+from notes.store import Note"),
        ("diff:2/notes/search.py#L1", '"""Search over notes."""'),
        ("diff:S2.refactor/notes/search.py", "+from notes.text import fold"),
        ("step:2/call_2_01", "Search gets a module of its own."),
        ("step:2/call_2_01/text#c0-c6", "Search"),
        ("step:2/call_2_01/call_2_01/result", ""),
        ("self:2/call_2_05", "And once through the command."),
    ],
)
def test_everything_that_can_be_labelled_can_be_pointed_at(
    demo: Targets, address: str, quoted: str
) -> None:
    found = demo.find(address)
    assert found is not None
    assert quoted in found.quote
    assert demo.check(demo.pointer(address)) is PointerState.OK


@pytest.mark.parametrize(
    "address",
    [
        "gate:9",
        "gate:2/f2p/no%20such%20test",
        "cell:2@S9",
        "spec:2#L300",
        "spec:2#L1-L300",
        "file:S2/gone.py#L4",
        "file:S2/notes/search.py#L9000",
        "file:S9/notes/search.py",
        "diff:2/notes/search.py#h9",
        "diff:2/gone.py",
        "step:2/gone",
        "step:2/call_2_01/thinking",
        "step:2/call_2_01/text#c5-c999999",
        "gate:2/log/..%2F..%2Fetc%2Fpasswd",
        "not an address",
    ],
)
def test_what_is_not_there_is_not_found(demo: Targets, address: str) -> None:
    assert demo.check(Pointer(address, "0" * 64)) is PointerState.NOT_FOUND


def test_a02_anchors_that_are_gone_are_not_found(cases: Path, demo: Targets) -> None:
    records = json.loads((cases / "hostile" / "annot" / "a02_anchor_gone.json").read_text())
    file, step = (record["anchor"] for record in records)
    gone = (
        Address("file", f"S{file['stage']}", tuple(file["file"].split("/")), file["line"]),
        Address("step", str(step["stage"]), (str(step["step"]),)),
    )
    hashed = sha256_of(file["text"].encode())
    assert [demo.check(Pointer(str(address), hashed)) for address in gone] == [
        PointerState.NOT_FOUND
    ] * 2


def test_a_pointer_without_a_hash_is_not_verified(demo: Targets) -> None:
    assert demo.check(Pointer("gate:2")) is PointerState.UNVERIFIED


def test_a_changed_target_is_stale_and_stays_where_it_was(demo_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "a" / "b"
    shutil.copytree(demo_run, run)
    shutil.copytree(demo_run.parents[2] / "chains", tmp_path / "chains")
    spec = tmp_path / "chains" / "notes-cli" / "stages" / "2" / "spec.md"
    before = Targets(OpenRun.open(run)).pointer("spec:2#L1")
    spec.write_text("# A new line before it\n" + spec.read_text())
    after = Targets(OpenRun.open(run))
    assert after.check(before) is PointerState.STALE
    assert after.pointer("spec:2#L2").sha256 == before.sha256


def test_without_git_a_pointer_into_files_is_not_verified(
    demo: Targets, monkeypatch: pytest.MonkeyPatch
) -> None:
    pointer = demo.pointer("file:S2/notes/search.py#L1")

    def broken(*_: object) -> bytes:
        raise GitError("git is missing")

    monkeypatch.setattr("arcview.states.store.StateStore.file", broken)
    assert demo.check(pointer) is PointerState.UNVERIFIED


@pytest.mark.parametrize(
    "name", ["circuit-eval", "code-search-refactor-pass", "mocked-http-no-evaluation"]
)
def test_the_steps_and_failing_tests_of_real_runs_can_be_pointed_at(
    scb: Callable[[str], Path], name: str
) -> None:
    opened = OpenRun.open(scb(name))
    targets = Targets(opened)
    addresses = [str(Address("step", "1", (step.key,))) for step in opened.trajectory(1).steps[:40]]
    for stage in opened.run.stages:
        view = opened.gate_view(str(stage.index))
        addresses += [
            str(Address("gate", str(stage.index), (f.test.group.value, f.test.id)))
            for f in view.failing[:10]
        ]
    assert addresses
    states = {targets.check(targets.pointer(address)) for address in addresses}
    assert states == {PointerState.OK}
