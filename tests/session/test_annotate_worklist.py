"""The work list: which failing gates are on it, in which order, and how far somebody is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.errors import ArcviewError
from arcview.session.annotate import AnnotateSession
from arcview.session.annotate_worklist import (
    Progress,
    Which,
    WorkFilter,
    WorkList,
    collect_work,
    name_of_annotator,
    stores_below,
)
from arcview.session.opened import OpenRun
from tests.session.boolean_runs import write_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    root = tmp_path / "runs"
    write_run(root / "a" / "t1", [True, False, False], False, task="t1", agent="a")
    write_run(root / "a" / "t2", [False, True, False], True, task="t2", agent="a")
    write_run(root / "b" / "t1", [True, True, True], True, task="t1", agent="b")
    write_run(root / "b" / "t2", [None, False], task="t2", agent="b")
    return root


@pytest.fixture
def work(runs: Path, tmp_path: Path) -> Callable[..., WorkList]:
    def collect(
        wanted: WorkFilter | None = None, by: str | None = "ann", *, blind: bool = False
    ) -> WorkList:
        return collect_work(
            runs, annotator=by, sidecar=tmp_path / "side", wanted=wanted, blind=blind
        )

    return collect


def label(work_list: WorkList, sidecar: Path, by: str = "ann", *, final: bool = True) -> None:
    item = work_list.item
    assert item is not None
    session = AnnotateSession.open(OpenRun.open(item.path), annotator=by, sidecar=sidecar)
    session.choose_unit(item.unit)
    session.label("validity", "V0")
    if final:
        session.finish()


def named(work_list: WorkList) -> list[str]:
    return [f"{item.name} {item.gate}" for item in work_list.items]


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (Which.FAILING, ["a/t1 2", "a/t1 3", "a/t1 chain", "a/t2 1", "a/t2 3", "b/t2 2"]),
        (Which.FIRST, ["a/t1 2", "a/t2 1", "b/t2 2"]),
        (Which.FIRST_STAGE, ["a/t2 1", "a/t2 3"]),
        (Which.AFTER_FAILURE, ["a/t1 3", "a/t1 chain"]),
    ],
)
def test_the_list_holds_the_gates_that_were_asked_for(
    work: Callable[..., WorkList], which: Which, expected: list[str]
) -> None:
    assert named(work(WorkFilter(which))) == expected


def test_agents_and_tasks_are_filtered(work: Callable[..., WorkList]) -> None:
    assert named(work(WorkFilter(agents=("b",)))) == ["b/t2 2"]
    assert named(work(WorkFilter(tasks=("t1",)))) == ["a/t1 2", "a/t1 3", "a/t1 chain"]


def test_a_sample_is_the_same_for_everybody_with_the_seed(work: Callable[..., WorkList]) -> None:
    one, again = (work(WorkFilter(sample=3, seed=1), by) for by in ("ann", "bob"))
    assert len(one.items) == 3
    assert named(one) == named(again)
    assert any(named(work(WorkFilter(sample=3, seed=seed))) != named(one) for seed in range(2, 9))


def test_further_runs_do_not_reshuffle_a_sample(runs: Path, work: Callable[..., WorkList]) -> None:
    before = set(named(work(WorkFilter(sample=4, seed=1))))
    write_run(runs / "c" / "t1", [False], task="t1", agent="c")
    after = set(named(work(WorkFilter(sample=4, seed=1))))
    assert len(before & after) >= 3


def test_progress_follows_the_labels(work: Callable[..., WorkList], tmp_path: Path) -> None:
    listed = work()
    label(listed, tmp_path / "side")
    listed.next_open()
    label(listed, tmp_path / "side", final=False)
    listed.refresh()
    assert [item.progress for item in listed.items[:3]] == [
        Progress.DONE, Progress.DRAFT, Progress.OPEN,
    ]  # fmt: skip
    assert listed.counts()[Progress.OPEN] == 4


def test_the_list_goes_on_where_one_left_off(work: Callable[..., WorkList], tmp_path: Path) -> None:
    label(work(), tmp_path / "side")
    assert work().at == 1


def test_next_goes_over_what_is_done_and_skipped_and_round(
    work: Callable[..., WorkList], tmp_path: Path
) -> None:
    listed = work(WorkFilter(Which.FIRST))
    listed.move(1)
    label(listed, tmp_path / "side")
    listed.move(1)
    item = listed.item
    assert item is not None
    session = AnnotateSession.open(
        OpenRun.open(item.path), annotator="ann", sidecar=tmp_path / "side"
    )
    session.skip(item.unit)
    listed.refresh()
    assert [one.progress for one in listed.items] == [
        Progress.OPEN, Progress.DONE, Progress.SKIPPED,
    ]  # fmt: skip
    assert listed.next_open() == listed.items[0]
    label(listed, tmp_path / "side")
    listed.refresh()
    assert listed.next_open() is None


def test_moving_stays_on_the_list(work: Callable[..., WorkList]) -> None:
    listed = work()
    listed.move(-5)
    assert listed.at == 0
    listed.move(100)
    assert listed.at == len(listed.items) - 1


def test_blind_does_not_even_say_that_others_labelled(
    work: Callable[..., WorkList], tmp_path: Path
) -> None:
    label(work(None, "bob"), tmp_path / "side", "bob")
    assert work().items[0].others == 1
    assert work(blind=True).items[0].others is None
    assert work().items[0].progress is Progress.OPEN


def test_a_run_that_cannot_be_read_is_said(runs: Path, work: Callable[..., WorkList]) -> None:
    (runs / "c").mkdir()
    (runs / "c" / "run.json").write_text('{"schema": "arcview/run/1", "stages": 3}')
    assert [problem.where for problem in work().problems] == ["c"]


def test_the_labels_of_all_runs_are_found(
    runs: Path, work: Callable[..., WorkList], tmp_path: Path
) -> None:
    label(work(), tmp_path / "side")
    found = {
        row.name: len(store.cases) for row, store in stores_below(runs, sidecar=tmp_path / "side")
    }
    assert found == {"a/t1": 1, "a/t2": 0, "b/t1": 0, "b/t2": 0}


@pytest.mark.parametrize(
    ("flag", "environment", "setting", "name"),
    [("a", "b", "c", "a"), (None, "b", "c", "b"), (None, None, "c", "c"), (None, "", None, None)],
)
def test_whoever_labels_is_told_never_guessed(
    flag: str | None, environment: str | None, setting: str | None, name: str | None
) -> None:
    assert name_of_annotator(flag, environment, setting) == name


def test_an_address_of_mail_is_no_name() -> None:
    with pytest.raises(ArcviewError):
        name_of_annotator("ann@example.org", None, None)
