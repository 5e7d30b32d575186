"""The pydantic model of `arcview agreement --json`. Every field is always present."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from arcview.schema.base import Count, Model


class AgreementPairs(Model):
    """Pairs of ratings that agree, of all pairs."""

    k: Count
    n: Count


class AgreementCoefficient(Model):
    """A measure of agreement with a 95 % interval by leaving out one unit at a time."""

    value: float | None
    low: float | None
    high: float | None
    units: Count
    """Units with at least two ratings."""
    undefined: str | None
    """Why there is no value."""


class AgreementKappa(AgreementCoefficient):
    """Cohen's kappa of two raters."""

    raters: list[str]
    label: str | None
    """Of sets: whether this label is in them."""


class Agreement(Model):
    """How far some raters agree on one field."""

    raters: list[str]
    units: Count
    single: Count
    """Units with one rating, which form no pair."""
    by_rule: Count
    """Of people and rules: labels that people took over from what a rule proposed."""
    raw: AgreementPairs
    kappa: list[AgreementKappa]
    alpha: AgreementCoefficient | None
    """Krippendorff's; null for steps, of sets with 1 - MASI for a distance."""
    jaccard: AgreementCoefficient | None
    """For sets of labels alone."""
    masi: AgreementCoefficient | None
    """For sets of labels alone."""
    within: AgreementPairs | None
    """For steps alone: pairs at most `within` apart."""


class AgreementField(Model):
    """Agreement on one field."""

    field: str
    kind: Literal["nominal", "ordinal", "multi", "step"]
    within: Count | None
    """For steps: how far apart two of them may be."""
    people: Agreement
    suggested: Agreement | None
    """People's labels against what the rules suggest."""


class AgreementFile(Model):
    """What `arcview agreement --json` prints."""

    schema_: Literal["arcview/agreement/1"] = Field(alias="schema")
    path: str
    cases: Count
    """Cases, or records of exported files, that were looked at."""
    drafts: Count
    """Readings of them that are still drafts and do not count."""
    fields: list[AgreementField]
