"""One test as it ended in two runs, the one below the other."""

from __future__ import annotations

from dataclasses import replace

from arcview.analysis.overview import GateCell
from arcview.model.results import GateTest
from arcview.session.opened import OpenRun
from arcview.ui.rows.failure import failure_sections
from arcview.ui.rows.sections import Section, SectionRows
from arcview.ui.safe import one_line, pieces
from arcview.ui.screens.text import TextScreen


def both_failures(
    runs: tuple[OpenRun, OpenRun],
    gate: str,
    cells: tuple[GateCell | None, GateCell | None],
    group: str,
    test_id: str,
) -> TextScreen:
    """All that is recorded of a test in both runs.

    Args:
        runs: A and B.
        gate: Id of the gate.
        cells: The gate in each of them, which names its state.
        group: Of the test.
        test_id: Of the test.
    """
    sections: list[Section] = []
    for name, run, cell in zip("AB", runs, cells, strict=True):
        test = _test(run, gate, cell, group, test_id)
        if test is None:
            sections.append(Section(f"{name}: the gate does not have this test", ""))
            continue
        own = failure_sections(test, None)
        sections += [replace(own[0], title=f"Run {name}")]
        sections += [replace(one, title=f"{name} · {one.title}") for one in own[1:]]
    return TextScreen(pieces((one_line(test_id), "bold")), SectionRows(sections))


def _test(
    run: OpenRun, gate: str, cell: GateCell | None, group: str, test_id: str
) -> GateTest | None:
    if cell is None:
        return None
    view = run.gate_view(gate, cell.state)
    tests = (*(failing.test for failing in view.failing), *view.passing)
    return next((t for t in tests if (t.group.value, t.id) == (group, test_id)), None)
