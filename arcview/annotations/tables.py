"""Cases in other people's shapes: CSV, Who&When records, MAST keys. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from arcview.annotations.records import Json, RunAbout
from arcview.annotations.scheme import Scheme
from arcview.model.annotation import Case, Origin, Reading
from arcview.secrets import mask_secrets
from arcview.text import clean

Labelled = tuple[Case, RunAbout]

MAST_KEYS = (
    "1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "3.1", "3.2",
    "3.3",
)  # fmt: skip
"""The fourteen failure modes of MAST (arXiv 2503.13657)."""

_COLUMNS = (
    "run_id", "task_id", "agent", "model", "case", "unit", "annotator", "status", "validity",
    "no_origin", "origin_stage", "origin_step", "origin_step_key", "origin_path", "origin_lines",
    "defect", "cause", "causes", "mechanisms", "awareness", "awareness_flags", "outcome", "grade",
    "confidence", "note", "evidence", "blind", "suggested", "scheme", "updated",
)  # fmt: skip


def csv_text(labelled: Iterable[Labelled]) -> str:
    """One line for each case and annotator; several values of a field stand one after the other.

    Cells that a spreadsheet would take for a formula have an apostrophe before them.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for case, about in labelled:
        for reading in case.readings:
            writer.writerow([_cell(value) for value in _row(case, about, reading)])
    return out.getvalue()


def _row(case: Case, about: RunAbout, reading: Reading) -> Sequence[object]:
    origins = reading.origins
    return (
        case.run_id, about.task_id, about.agent, about.model, case.id, case.unit,
        reading.annotator, reading.status.value, reading.validity, reading.no_origin,
        _joined(origin.stage for origin in origins),
        _joined(origin.step_number for origin in origins),
        _joined(origin.step for origin in origins),
        _joined(origin.path for origin in origins),
        _joined("-".join(map(str, o.lines)) if o.lines else None for o in origins),
        _joined(origin.defect for origin in origins),
        _joined(origin.cause for origin in origins),
        _joined(cause for origin in origins for cause in origin.causes),
        _joined(f"{e.gate}:{code}" for e in reading.effects for code in e.mechanisms),
        _joined(f"{a.stage}:{a.level}" for a in reading.awareness if a.level is not None),
        _joined(f"{a.stage}:{flag}" for a in reading.awareness for flag in a.flags),
        _joined(reading.outcome), reading.grade, reading.confidence, mask_secrets(reading.note),
        _joined(one.pointer.address for one in reading.evidence), reading.blind,
        _joined(f"{path}={by.rule}/{by.version}" for path, by in reading.suggested.items()),
        reading.scheme, reading.updated,
    )  # fmt: skip


def _joined(values: Iterable[object]) -> str:
    return " ".join(str(value) for value in values if value is not None)


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    # Readers of CSV, and the terminal it may be printed on, take control characters at their word.
    text = clean(text)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def who_when_records(labelled: Iterable[Labelled], scheme: Scheme) -> Iterator[Json]:
    """One record for each origin that somebody names: who, when, why.

    `mistake_agent`, `mistake_step` (a text) and `mistake_reason` as in the Who&When data set
    (arXiv 2505.00212), where a step is a position in the list of messages, the first one 0. Ours
    counts the model's messages of the stage; `step_base` and `step_unit` say so.
    """
    for case, about in labelled:
        for reading in case.readings:
            for origin in reading.origins if reading.is_labelled else ():
                number = origin.step_number
                yield {
                    "question_ID": case.run_id,
                    "is_correct": False,
                    "mistake_agent": about.agent,
                    "mistake_step": None if number is None else str(number - 1),
                    "mistake_reason": _reason(reading, origin, scheme),
                    "step_base": 0,
                    "step_unit": "model message of the stage",
                    "stage": origin.stage,
                    "step_key": origin.step,
                    "run_id": case.run_id,
                    "case": case.id,
                    "unit": case.unit,
                    "annotator": reading.annotator,
                }


def _reason(reading: Reading, origin: Origin, scheme: Scheme) -> str:
    labels = [scheme.name_of("defect", origin.defect), scheme.name_of("cause", origin.cause)]
    said = (mask_secrets(reading.note), "; ".join(filter(None, labels)))
    return ". ".join(part for part in said if part)


def mast_records(labelled: Iterable[Labelled], scheme: Scheme) -> Iterator[Json]:
    """One record for each case and annotator, with the fourteen MAST keys.

    A key that no cause of the scheme maps to is null: nobody looked for that mode.
    """
    field = scheme.field("cause")
    known = {code.maps["mast"] for code in field.codes if "mast" in code.maps} if field else set()
    for case, about in labelled:
        for reading in case.readings:
            if not reading.is_labelled:
                continue
            causes = [c for o in reading.origins for c in (o.cause, *o.causes) if c is not None]
            found = {scheme.mapped("cause", cause, "mast") for cause in causes}
            yield {
                "run_id": case.run_id,
                "task_id": about.task_id,
                "agent": about.agent,
                "case": case.id,
                "annotator": reading.annotator,
                "failure_modes": {
                    key: key in found if key in known and causes else None for key in MAST_KEYS
                },
            }
