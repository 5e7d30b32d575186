from __future__ import annotations

import pytest
from textual.widget import Widget

from arcview.session.commands import COMMANDS, Context
from arcview.ui.application import ArcviewApp
from arcview.ui.screens.annotate_case import CaseScreen
from arcview.ui.screens.annotate_panes import FormPane
from arcview.ui.screens.cases import CasesScreen
from arcview.ui.screens.cases_sides import SidesScreen
from arcview.ui.screens.cases_work import WorkScreen
from arcview.ui.screens.compare import CompareScreen
from arcview.ui.screens.coverage import CoverageScreen
from arcview.ui.screens.file import FileScreen
from arcview.ui.screens.find import FindScreen
from arcview.ui.screens.library import LibraryScreen
from arcview.ui.screens.matrix import MatrixScreen
from arcview.ui.screens.rerun import RerunScreen
from arcview.ui.screens.run import RunScreen
from arcview.ui.screens.stats import StatsScreen
from arcview.ui.screens.text import TextScreen
from arcview.ui.screens.what_if import WhatIfScreen
from arcview.ui.widgets.long_panes import DiffPane, StepsPane, TreePane
from arcview.ui.widgets.matrix_grid import MatrixGrid
from arcview.ui.widgets.output import OutputPane
from arcview.ui.widgets.panes import GatePane, ListPane, SelfTestPane

_WIDGETS: dict[Context, tuple[type[Widget], ...]] = {
    Context.ROWS: (
        ListPane,
        GatePane,
        SelfTestPane,
        DiffPane,
        TreePane,
        StepsPane,
        OutputPane,
        MatrixGrid,
    ),
    Context.DIFF: (DiffPane,),
    Context.TREE: (TreePane,),
    Context.GATE: (GatePane,),
    Context.SELF_TESTS: (SelfTestPane,),
    Context.TRAJECTORY: (StepsPane,),
    Context.CASE: (FormPane,),
}
_SCREENS = {
    Context.ROWS: (RunScreen, LibraryScreen, TextScreen, FindScreen),
    Context.LIBRARY: (LibraryScreen,),
    Context.TEXT: (TextScreen,),
    Context.CHOICE: (TextScreen,),
    Context.FILE: (FileScreen,),
    Context.FIND: (FindScreen,),
    Context.CASE: (CaseScreen,),
    Context.CASES: (CasesScreen,),
    Context.SIDES: (SidesScreen,),
    Context.WORK: (WorkScreen,),
    Context.STATS: (StatsScreen,),
    Context.COVERAGE: (CoverageScreen,),
    Context.RERUN: (RerunScreen,),
    Context.MATRIX: (MatrixScreen,),
    Context.WHAT_IF: (WhatIfScreen,),
    Context.COMPARE: (CompareScreen,),
}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.id)
def test_every_command_has_a_method_where_it_applies(command: object) -> None:
    from arcview.session.commands import Command

    assert isinstance(command, Command)
    name = f"action_{command.action.partition('(')[0]}"
    if command.by_widget:
        owners: tuple[type, ...] = _WIDGETS[command.context]
    elif command.context is Context.APP and command.id != "help":
        owners = (ArcviewApp,)
    else:
        owners = _SCREENS.get(command.context, (RunScreen,))
    for owner in owners:
        assert callable(getattr(owner, name, None)), f"{owner.__name__}.{name}"


def test_a_list_widget_has_no_key_that_the_registry_does_not_know() -> None:
    known = {key for command in COMMANDS for key in command.keys} | {"comma"}
    for widgets in _WIDGETS.values():
        for widget in widgets:
            bound = {binding.key for binding in widget.BINDINGS}  # type: ignore[union-attr]
            assert bound <= known, widget.__name__
