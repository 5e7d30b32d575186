"""Labels of people → the awareness levels that statistics count before what rules suggest. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from arcview.model.annotation import Case, CaseStatus

_LEVEL = re.compile(r"N([0-6])")


def levels_of_cases(cases: Iterable[Case]) -> dict[tuple[str, int], int]:
    """The awareness level of each stage that somebody settled, by run id and stage.

    A case settles a stage where an adjudicated reading has a level for it, or where all final
    readings that have one agree; drafts and disagreement settle nothing. Of several cases the
    highest level counts: the stage noticed something.
    """
    found: dict[tuple[str, int], int] = {}
    for case in cases:
        for stage, level in _settled(case):
            key = (case.run_id, stage)
            found[key] = max(level, found.get(key, 0))
    return found


def _settled(case: Case) -> Iterator[tuple[int, int]]:
    adjudicated = case.adjudicated
    final = [reading for reading in case.readings if reading.status is CaseStatus.FINAL]
    said: dict[int, set[int]] = {}
    for reading in [adjudicated] if adjudicated is not None else final:
        for aware in reading.awareness:
            match = _LEVEL.fullmatch(aware.level or "")
            if match is not None:
                said.setdefault(aware.stage, set()).add(int(match[1]))
    for stage, levels in said.items():
        if len(levels) == 1:
            yield stage, levels.pop()
