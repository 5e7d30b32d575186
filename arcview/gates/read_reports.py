"""The reports that came out of a gate run, as one; a streamed one stands in where others are cut.

Must not import an engine's implementation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arcview.errors import ArcviewError, BadInputError, UnknownLayoutError
from arcview.gates.collect import LIMITS
from arcview.gates.engine import Collected
from arcview.model.results import Report
from arcview.readers.registry import find_report_reader, report_reader
from arcview.readers.reports.collect import combined

STREAM_STEP = "arcview"
"""`ReportFile.step` of the log that arcview's own plugin writes test by test."""

_MAX_LOG_BYTES = 64 << 20
"""A longer output is not looked through for hints of a broken build."""


@dataclass(frozen=True, slots=True)
class ReadReports:
    """What the reports of one run say."""

    report: Report | None
    missing: tuple[str, ...] = ()
    """Declared reports that were not written."""
    damaged: tuple[str, ...] = ()
    """Why a report is not whole, a line each."""
    notes: tuple[str, ...] = ()


def read_reports(
    declared: Sequence[str],
    collected: Sequence[Collected],
    log: Path,
    large: Sequence[str] = (),
) -> ReadReports:
    """Reads what came out.

    Args:
        declared: Paths in the container of the gate's own reports; without any, the output itself
            is taken for the report.
        collected: What came out, our own streamed log among it.
        log: The output.
        large: Those that did not come out since they are too large.
    """
    if not declared:
        return _from_output(log)
    own = [c for c in collected if c.report.step != STREAM_STEP]
    missing = tuple(p for p in declared if p not in {*large, *(c.report.path for c in own)})
    reports: list[Report] = []
    most = f"{LIMITS.total_bytes >> 20:,} MB"
    damaged = [f"{path.rpartition('/')[2]} is larger than {most}" for path in large]
    for each in own:
        found = _read(each, damaged)
        if found is not None:
            reports.append(found)
            if found.is_damaged:
                damaged.append(f"{_name(each)} is cut or damaged")
    whole = combined(reports[0].format, reports) if reports else None
    if whole is not None:
        whole = replace(whole, is_damaged=any(r.is_damaged for r in reports))
    streamed = [c for c in collected if c.report.step == STREAM_STEP]
    if streamed and (missing or damaged):
        stood_in = _read(streamed[0], [])
        if stood_in is not None and len(stood_in.tests) > len(whole.tests if whole else ()):
            note = f"read from the log of single tests: {(*missing, *damaged)[0]} is not whole"
            return ReadReports(stood_in, missing, tuple(damaged), (note,))
    return ReadReports(whole, missing, tuple(damaged))


def broken_build(log: Path) -> str | None:
    """Why the build is broken as the output says it; null where it does not say so."""
    try:
        if log.stat().st_size > _MAX_LOG_BYTES:
            return None
        reader, _ = find_report_reader(log)
        report = reader.read(log)
    except (ArcviewError, OSError):
        return None
    return next((gap.why for gap in report.gaps if gap.own_doing), None)


def _from_output(log: Path) -> ReadReports:
    try:
        reader, _ = find_report_reader(log)
        report = reader.read(log)
    except (BadInputError, UnknownLayoutError):
        return ReadReports(None, ("the output",))
    damaged = ("the output is cut or damaged",) if report.is_damaged else ()
    return ReadReports(report, (), damaged, ("the gate declares no report: read from its output",))


def _read(each: Collected, damaged: list[str]) -> Report | None:
    try:
        if each.report.format is not None:
            try:
                return report_reader(each.report.format).read(each.path)
            except UnknownLayoutError:
                pass  # a format that the chain calls by another name: told by its content
        reader, _ = find_report_reader(each.path)
        return reader.read(each.path)
    except BadInputError as error:
        damaged.append(f"{_name(each)}: {error.expected}")
    except UnknownLayoutError:
        damaged.append(f"{_name(each)} is no known test report")
    return None


def _name(each: Collected) -> str:
    return each.report.path.rpartition("/")[2]
