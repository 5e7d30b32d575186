"""Labels on disk → agreement, as text and as JSON.

Finds the labels in the sidecar or in exported files and hands them to the pure agreement.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.analysis.agreement import Coefficient, Pairs
from arcview.analysis.agreement_report import Agreement, FieldReport
from arcview.analysis.agreement_tables import tables_of_records
from arcview.analysis.statistics import MIN_PERCENT_N
from arcview.config import Settings
from arcview.errors import ArcviewError, BadInputError
from arcview.files import exists, in_words, is_dir, read_text
from arcview.session.plain_text_parts import Glyphs, aligned, one_line

if TYPE_CHECKING:
    from arcview.analysis.suggestions import Suggestion
    from arcview.model.annotation import Case
    from arcview.session.labels import Gathered

SCHEMA = "arcview/agreement/1"

Json = dict[str, object]


def load(
    path: Path, settings: Settings | None = None, *, with_suggestions: bool = True
) -> Gathered:
    """Finds labels: in a sidecar, in the sidecar of the runs below a folder, or in exported files.

    Args:
        path: A folder of runs, a sidecar, a file of exported cases, or a folder of such files.
        settings: What the user set; the defaults where not given.
        with_suggestions: For runs, also what rules propose for the labelled gates.

    Raises:
        BadInputError: a file is not JSON, or holds records of no known shape.
        ArcviewError: there is nothing to read.
    """
    from arcview.session.labels import cases_below, gather

    settings = settings or Settings()
    if not exists(path):
        raise ArcviewError(f"{path}: no such file or folder")
    if not is_dir(path):
        return _exported([path], path)
    cases = list(cases_below(path))
    if cases:
        return gather(cases, settings.sidecar)
    found = _of_runs(path, settings, with_suggestions=with_suggestions)
    if found is not None:
        return found
    files = sorted(file for file in path.iterdir() if file.suffix in (".json", ".jsonl"))
    if not files:
        raise ArcviewError(f"{path}: no labels, no run and no .json or .jsonl file in it")
    return _exported(files, path)


def _of_runs(root: Path, settings: Settings, *, with_suggestions: bool) -> Gathered | None:
    """The labels of the runs below a folder; null where there is no run."""
    from arcview.readers.registry import iter_runs
    from arcview.session.labels import cases_of_runs, gather, suggested
    from arcview.session.opened import OpenRun

    cases: list[Case] = []
    proposed: list[tuple[Case, tuple[Suggestion, ...]]] = []
    known: set[str] = set()
    is_any = False
    for path in iter_runs(root):
        is_any = True
        try:
            opened = OpenRun.open(path, settings=settings)
        except BadInputError:  # `arcview list` and `stats` say what is wrong with it
            continue
        if opened.run.run_id in known:  # a copy, which has the same labels
            continue
        known.add(opened.run.run_id)
        about = list(cases_of_runs([opened.run.run_id], settings.sidecar))
        cases += about
        if with_suggestions and about:
            proposed += suggested(opened, about)
    return gather(cases, settings.sidecar, proposed) if is_any else None


def _exported(files: Sequence[Path], path: Path) -> Gathered:
    from arcview.annotations.records import SCHEMA as CASE_SCHEMA
    from arcview.annotations.records import case_from_record
    from arcview.session.labels import Gathered, gather

    records = [record for file in files for record in _records(file)]
    own = [r for r in records if isinstance(r, dict) and r.get("schema") == CASE_SCHEMA]
    if own and len(own) == len(records):
        return gather(case_from_record(record, str(path)) for record in own)
    return Gathered(tables_of_records(records, str(path)), len(records), 0)


def _records(file: Path) -> list[object]:
    try:
        text = read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(str(file), f"cannot be read: {in_words(error)}") from error
    if file.suffix == ".jsonl":
        return list(_lines(file, text))
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInputError(str(file), f"not JSON: {error}") from error
    if not isinstance(found, list):
        raise BadInputError(str(file), "expected a list of records")
    return found


def _lines(file: Path, text: str) -> Iterator[object]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadInputError(str(file), f"not JSON: {error}", f"line {number}") from error


def agreement_json(reports: Sequence[FieldReport], labels: Gathered, path: str) -> Json:
    """The agreement as one JSON object."""
    return {
        "schema": SCHEMA,
        "path": path,
        "cases": labels.cases,
        "drafts": labels.drafts,
        "fields": [
            {
                "field": report.field,
                "kind": report.kind.value,
                "within": report.distance,
                "people": _agreement(report.people),
                "suggested": None if report.suggested is None else _agreement(report.suggested),
            }
            for report in reports
        ],
    }


def _agreement(found: Agreement) -> Json:
    return {
        "raters": list(found.raters),
        "units": found.units,
        "single": found.single,
        "by_rule": found.by_rule,
        "raw": _pairs(found.raw),
        "kappa": [
            {
                "raters": [kappa.rater_a, kappa.rater_b],
                "label": kappa.label,
                **_coefficient(kappa.coefficient),
            }
            for kappa in found.kappas
        ],
        "alpha": None if found.alpha is None else _coefficient(found.alpha),
        "jaccard": None if found.jaccard is None else _coefficient(found.jaccard),
        "masi": None if found.masi is None else _coefficient(found.masi),
        "within": None if found.within is None else _pairs(found.within),
    }


def _pairs(pairs: Pairs) -> Json:
    return {"k": pairs.agree, "n": pairs.pairs}


def _coefficient(found: Coefficient) -> Json:
    interval = found.interval
    return {
        "value": found.value,
        "low": interval.low if interval is not None else None,
        "high": interval.high if interval is not None else None,
        "units": found.units,
        "undefined": found.undefined,
    }


def agreement_lines(
    reports: Sequence[FieldReport], labels: Gathered, path: str, glyphs: Glyphs
) -> Iterator[str]:
    """The agreement as text: each field, people among themselves and against the rules."""
    cases = f"{labels.cases} case{'' if labels.cases == 1 else 's'}"
    yield f"{one_line(path)}: agreement by field, over {cases}"
    if labels.drafts:
        yield f"Readings that are still drafts, left out: {labels.drafts}."
    yield (
        "Units with one rater form no pair. Intervals are 95 %, by leaving out one unit at a time."
    )
    table: list[tuple[str, ...]] = []
    for report in reports:
        table += [("",), (f"{one_line(report.field)} ({report.kind.value})",)]
        table += _rows(report, report.people, "people", glyphs)
        if report.suggested is not None:
            table += _rows(report, report.suggested, "people and rules", glyphs)
    wide = [row for row in table if len(row) > 1]
    lines = iter(list(aligned(wide, right=frozenset({2}))) if wide else [])
    for row in table:
        yield row[0] if len(row) == 1 else next(lines)


def _rows(
    report: FieldReport, found: Agreement, who: str, glyphs: Glyphs
) -> Iterator[tuple[str, ...]]:
    single = f"{found.single} with one rater" if found.single else ""
    if found.by_rule:
        single = f"{found.by_rule} taken over from the rules, which say nothing for them"
    yield (f"  {who}", "agree", _share(found.raw), "", single)
    if found.within is not None:
        yield ("", f"within {report.distance}", _share(found.within), "", "")
    if found.jaccard is not None:
        yield ("", "Jaccard", *_value(found.jaccard, glyphs), "")
    if found.masi is not None:
        yield ("", "MASI", *_value(found.masi, glyphs), "")
    for kappa in found.kappas:
        raters = f"{one_line(kappa.rater_a)}, {one_line(kappa.rater_b)}"
        of = f" of {one_line(kappa.label)}" if kappa.label is not None else ""
        yield ("", f"Cohen's kappa{of}", *_value(kappa.coefficient, glyphs), raters)
    if found.alpha is not None:
        of = " by MASI" if found.masi is not None else ""
        yield ("", f"Krippendorff's alpha{of}", *_value(found.alpha, glyphs), "")


def _share(pairs: Pairs) -> str:
    share = f"{pairs.agree}/{pairs.pairs}"
    if pairs.pairs < MIN_PERCENT_N:
        return share
    return f"{share}, {100 * pairs.agree / pairs.pairs:.1f} %"


def _value(found: Coefficient, glyphs: Glyphs) -> tuple[str, str]:
    if found.value is None:
        return found.undefined or "", ""
    value = f"{found.value:.3f}".replace("-", glyphs.minus)
    if found.interval is None:
        return value, ""
    low, high = (f"{end:.2f}".replace("-", glyphs.minus) for end in
                 (found.interval.low, found.interval.high))  # fmt: skip
    return value, f"{low} to {high}"
