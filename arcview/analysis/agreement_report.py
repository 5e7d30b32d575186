"""Label tables → what `arcview agreement` says, people among themselves and against the rules.

Pure. The rules of arcview are one more rater to the same code, so that what they suggest is audited
and not trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from arcview.analysis.agreement import (
    Coefficient,
    Label,
    Level,
    Pairs,
    cohen_kappa,
    jaccard,
    krippendorff_alpha,
    masi,
    raw_agreement,
    step_agreement,
)
from arcview.analysis.agreement_tables import SUGGESTED, FieldKind, LabelTable

WITHIN = 3
"""How far apart two steps may be by default and still agree."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa of one pair of raters."""

    rater_a: str
    rater_b: str
    coefficient: Coefficient
    label: str | None = None
    """Of sets: whether this label is in them."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far some raters agree on one field."""

    raters: tuple[str, ...]
    units: int
    """Units with at least two ratings."""
    single: int
    """Units with one rating, which form no pair."""
    raw: Pairs
    """Equal labels; of sets, equal sets; of steps, the very same step."""
    kappas: tuple[Kappa, ...] = ()
    alpha: Coefficient | None = None
    """Null for steps; for sets its distance is 1 - MASI."""
    jaccard: Coefficient | None = None
    """For sets of labels alone."""
    masi: Coefficient | None = None
    """For sets of labels alone."""
    by_rule: int = 0
    """People's labels that they took over from what a rule proposed: no evidence for the rule."""
    within: Pairs | None = None
    """For steps alone: pairs that are at most `FieldReport.distance` apart."""


@dataclass(frozen=True, slots=True)
class FieldReport:
    """Agreement on one field."""

    field: str
    kind: FieldKind
    people: Agreement
    suggested: Agreement | None
    """Each person's labels against the rules' suggestions; null where there are none of both."""
    distance: int | None
    """For steps: how far apart two of them may be."""


def report(tables: Iterable[LabelTable], within: int = WITHIN) -> tuple[FieldReport, ...]:
    """The agreement on every field.

    Args:
        tables: The labels; those of the rater `SUGGESTED` are the rules'.
        within: How far apart two steps may be.
    """
    return tuple(_field(table, within) for table in tables)


def _field(table: LabelTable, within: int) -> FieldReport:
    people = [
        {rater: label for rater, label in ratings.items() if rater != SUGGESTED}
        for ratings in table.units.values()
    ]
    against = [
        {rater: label, SUGGESTED: ratings[SUGGESTED]}
        for ratings in table.units.values()
        if SUGGESTED in ratings
        for rater, label in ratings.items()
        if rater != SUGGESTED
    ]
    held = {
        (unit, rater)
        for unit, ratings in table.units.items()
        if SUGGESTED in ratings
        for rater in ratings
    }
    is_step = table.kind is FieldKind.STEP
    return FieldReport(
        table.name,
        table.kind,
        _agreement(table, [ratings for ratings in people if ratings], within),
        replace(_agreement(table, against, within), by_rule=len(table.by_rule & held))
        if against
        else None,
        within if is_step else None,
    )


def _agreement(table: LabelTable, units: Sequence[Mapping[str, Label]], within: int) -> Agreement:
    raters = tuple(sorted({rater for ratings in units for rater in ratings}))
    rated = [ratings for ratings in units if len(ratings) > 1]
    single = len(units) - len(rated)
    if table.kind is FieldKind.STEP:
        exact, near = step_agreement(rated, 0), step_agreement(rated, within)
        return Agreement(raters, len(rated), single, exact, within=near)
    raw = raw_agreement(rated)
    if table.kind is FieldKind.MULTI:
        alpha = krippendorff_alpha(rated, "masi")
        kappas = tuple(_kappas_of_sets(raters, rated))
        return Agreement(
            raters, len(rated), single, raw, kappas, alpha, jaccard(rated), masi(rated)
        )
    level: Level = "ordinal" if table.kind is FieldKind.ORDINAL else "nominal"
    alpha = krippendorff_alpha(rated, level, table.scale)
    return Agreement(raters, len(rated), single, raw, tuple(_kappas(raters, rated)), alpha)


def _kappas(
    raters: Sequence[str], rated: Sequence[Mapping[str, Label]], label: str | None = None
) -> Iterator[Kappa]:
    for a, b in combinations(raters, 2):
        if any(a in ratings and b in ratings for ratings in rated):
            yield Kappa(a, b, cohen_kappa(rated, a, b), label)


def _kappas_of_sets(raters: Sequence[str], rated: Sequence[Mapping[str, Label]]) -> Iterator[Kappa]:
    """For each label that somebody used: who says that it applies."""
    sets = [label for ratings in rated for label in ratings.values()]
    used = {str(code) for label in sets if isinstance(label, frozenset) for code in label}
    for code in sorted(used):
        has = [
            {rater: isinstance(label, frozenset) and code in label for rater, label in r.items()}
            for r in rated
        ]
        yield from _kappas(raters, has, code)
