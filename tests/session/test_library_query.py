from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arcview.session.library import LibraryRow, summarise
from arcview.session.library_query import GroupKey, QueryError, SortKey, in_order, parse_query

Scb = Callable[[str], Path]

BROKEN = LibraryRow(Path("x/broken"), "x/broken", None, "run.json: not JSON")


@pytest.fixture(scope="session")
def rows(scb: Scb, demo_run: Path) -> tuple[LibraryRow, ...]:
    names = ("circuit-eval", "code-search-collapse", "recli-nothing-built")
    real = (scb(name) for name in names)
    return (*(summarise(p, p.parent) for p in real), summarise(demo_run, demo_run.parent), BROKEN)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["circuit-eval", "code-search-collapse", "notes-cli", "recli-nothing-built", BROKEN]),
        ("agent:claude", ["circuit-eval", "code-search-collapse", "recli-nothing-built"]),
        ("stage2:failed", ["code-search-collapse", "notes-cli"]),
        ("stage2:failed agent:claude", ["code-search-collapse"]),
        ("stage2:failed -agent:claude", ["notes-cli"]),
        ("chain:failed", ["notes-cli"]),
        ("bad:2", ["circuit-eval", "code-search-collapse", "notes-cli"]),
        ("CIRCUIT", ["circuit-eval"]),
        ("status:agent", ["circuit-eval", "recli-nothing-built"]),
        ("broken", [BROKEN]),
        ("stage9:passed", []),
        ("stage3:unmeasured", ["recli-nothing-built"]),
    ],
)
def test_words_and_fields_choose_runs(
    rows: tuple[LibraryRow, ...], text: str, names: list[str | LibraryRow]
) -> None:
    query = parse_query(text)
    found = sorted(row.name for row in rows if query.holds(row))
    assert found == sorted("x/broken" if name is BROKEN else str(name) for name in names)


@pytest.mark.parametrize("text", ["colour:red", "stage2:maybe", "chain:green"])
def test_a_field_or_verdict_that_does_not_exist_is_a_fault(text: str) -> None:
    with pytest.raises(QueryError):
        parse_query(text)


@pytest.mark.parametrize("descending", [False, True])
def test_what_is_unknown_comes_last_either_way(
    rows: tuple[LibraryRow, ...], descending: bool
) -> None:
    ordered = in_order(rows, SortKey.COST, GroupKey.NOTHING, descending=descending)
    costs = [row.overview.totals.cost_usd.known if row.overview else None for row in ordered]
    known = [cost for cost in costs if cost is not None]
    assert known == sorted(known, reverse=descending)
    assert costs[len(known) :] == [None] * (len(costs) - len(known))


@pytest.mark.parametrize("sort", list(SortKey))
def test_every_order_keeps_every_run(rows: tuple[LibraryRow, ...], sort: SortKey) -> None:
    assert sorted(r.name for r in in_order(rows, sort, GroupKey.TASK)) == sorted(
        r.name for r in rows
    )


def test_groups_stand_together_and_what_cannot_be_read_at_the_end(
    rows: tuple[LibraryRow, ...],
) -> None:
    ordered = in_order(rows, SortKey.PATH, GroupKey.AGENT)
    agents = [row.overview.agent if row.overview else None for row in ordered]
    assert agents == ["claude_code", "claude_code", "claude_code", "scripted-demo", None]
