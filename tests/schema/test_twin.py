"""The JSON twin of real runs against its published schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from arcview.schema.faults import find_faults
from arcview.schema.show import ListRow, ShowTwin
from arcview.session import twin
from arcview.session.opened import OpenRun

REAL_RUNS = [
    "circuit-eval",
    "code-search-collapse",
    "code-search-refactor-pass",
    "database-migration-rising",
    "file-backup-infra",
    "mocked-http-no-evaluation",
    "mvvault-interrupted",
    "recli-nothing-built",
]


def printed(value: dict[str, object]) -> object:
    """As another program reads it."""
    return json.loads(twin.dumps(value))


def undescribed(value: object, place: str = "") -> Iterator[str]:
    """The names that no model describes, at any depth."""
    if isinstance(value, BaseModel):
        yield from (f"{place}.{name}" for name in value.model_extra or {})
        for name, item in value:
            yield from undescribed(item, f"{place}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from undescribed(item, f"{place}[]")


@pytest.mark.parametrize("name", REAL_RUNS)
def test_the_twin_of_a_real_run_fits_its_schema(scb: Callable[[str], Path], name: str) -> None:
    assert find_faults(ShowTwin, printed(twin.show(OpenRun.open(scb(name))))) == ()


@pytest.mark.parametrize("name", REAL_RUNS)
def test_the_list_row_of_a_real_run_fits_its_schema(scb: Callable[[str], Path], name: str) -> None:
    assert find_faults(ListRow, printed(twin.list_row(OpenRun.open(scb(name))))) == ()


def test_the_twins_of_our_own_runs_fit_their_schema(demo_run: Path) -> None:
    for path in sorted(demo_run.parent.iterdir()):
        run = OpenRun.open(path)
        assert find_faults(ShowTwin, printed(twin.show(run))) == ()
        assert find_faults(ListRow, printed(twin.list_row(run))) == ()


def test_the_row_of_a_run_that_cannot_be_read_fits_the_schema() -> None:
    assert find_faults(ListRow, printed(twin.broken_row("runs/x", "no stage"))) == ()


def test_the_schema_describes_every_name_that_is_printed(demo_run: Path) -> None:
    run = OpenRun.open(demo_run)
    shown = ShowTwin.model_validate(printed(twin.show(run)))
    row = ListRow.model_validate(printed(twin.list_row(run)))
    assert sorted({*undescribed(shown), *undescribed(row)}) == []
