"""The labels that people keep in the sidecar, gathered over many runs.

For statistics, which count them before what rules suggest, and for agreement, which holds the rules
to them. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.analysis.agreement_tables import LabelTable, Scales, tables_of_cases
from arcview.analysis.statistics_labels import levels_of_cases
from arcview.annotations.scheme import team_scheme
from arcview.annotations.store import AnnotationStore
from arcview.files import is_dir
from arcview.model.annotation import Case, CaseStatus
from arcview.sidecar import run_sidecar, sidecar_root

if TYPE_CHECKING:
    from arcview.analysis.statistics import Levels
    from arcview.analysis.suggestions import Suggestion
    from arcview.annotations.scheme import Scheme
    from arcview.model.annotation import Case
    from arcview.session.opened import OpenRun

FOLDER = "annotations"
"""Below the sidecar of a run."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Labels as tables, and what of them does not count."""

    tables: tuple[LabelTable, ...]
    cases: int
    drafts: int
    """Readings that nobody has called final."""


def cases_of_runs(run_ids: Iterable[str], sidecar: Path | None = None) -> Iterator[Case]:
    """The cases about runs, from the sidecar.

    Args:
        run_ids: The runs.
        sidecar: The sidecar of all runs; the user's own by default.
    """
    root = sidecar_root(sidecar)
    for run_id in run_ids:
        folder = run_sidecar(root, run_id) / FOLDER
        if is_dir(folder):
            yield from AnnotationStore(folder, run_id, None).cases


def cases_below(folder: Path) -> Iterator[Case]:
    """The cases of a sidecar, or of the part of it that belongs to one run."""
    for found in sorted((*folder.glob(FOLDER), *folder.glob(f"*/{FOLDER}"))):
        # The folder's name is made from the run's id and does not always give it back.
        yield from AnnotationStore(found, None, None).cases


def labelled_levels(run_ids: Iterable[str], sidecar: Path | None = None) -> Levels:
    """The awareness levels that people settled, by run id and stage."""
    return levels_of_cases(cases_of_runs(run_ids, sidecar))


def gather(
    cases: Iterable[Case],
    sidecar: Path | None = None,
    suggestions: Iterable[tuple[Case, tuple[Suggestion, ...]]] = (),
) -> Gathered:
    """The labels of cases as tables, on the scales of the label scheme.

    Args:
        cases: The cases.
        sidecar: The sidecar of all runs, which may bring a scheme.
        suggestions: What rules propose for some of the cases.
    """
    cases = list(cases)
    scales = scales_of(team_scheme(sidecar_root(sidecar), None))
    drafts = sum(r.status is CaseStatus.DRAFT for case in cases for r in case.readings)
    proposed = {case.id: found for case, found in suggestions}
    return Gathered(tables_of_cases(cases, scales, proposed), len(cases), drafts)


def scales_of(scheme: Scheme) -> Scales:
    """The ordered codes of the scheme's scales, the lowest first."""
    return {
        field.id: tuple(code.code for code in field.codes)
        for field in scheme.fields
        if field.kind == "scale"
    }


def suggested(
    opened: OpenRun, cases: Iterable[Case]
) -> Iterator[tuple[Case, tuple[Suggestion, ...]]]:
    """What rules propose for the cases about one run. Reads steps, states and code.

    Args:
        opened: The run.
        cases: Those about it; cases that are about no gate have no suggestions.
    """
    from arcview.session.annotate_suggestions import SuggestionFinder  # 30 ms of rules

    finder = SuggestionFinder(opened)
    for case in cases:
        if case.unit is not None:
            yield case, finder.about(case.unit)
