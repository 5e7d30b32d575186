"""Labels as plain text and JSON for the command line. Every text of a run is cleaned and masked."""

from __future__ import annotations

import json
from collections.abc import Iterator

from arcview.annotations.scheme import Scheme
from arcview.model.annotation import Case, PointerState
from arcview.session.annotate import AnnotateSession
from arcview.session.annotate_paths import without_evidence
from arcview.session.annotate_report import side_by_side
from arcview.session.annotate_worklist import Progress, WorkList
from arcview.session.plain_text_parts import Glyphs, aligned, one_line


def case_lines(case: Case, scheme: Scheme, path: str) -> Iterator[str]:
    """One case: a line that names it, then a row a field with a column an annotator."""
    about = f" about {case.unit}" if case.unit else ""
    settled = case.adjudicated
    by = f", settled by {settled.annotator}" if settled is not None else ""
    yield one_line(f"{path}: case {case.id}{about}{by}")
    columns = [dict(side_by_side(reading, scheme)) for reading in case.readings]
    rows = [("", *(one_line(reading.annotator) for reading in case.readings))]
    rows += [
        (one_line(name), *(one_line(column.get(name, "")) for column in columns))
        for name in dict.fromkeys(name for column in columns for name in column)
    ]
    for line in aligned(rows, right=frozenset()):
        yield f"  {line}".rstrip()
    for reading in case.readings:
        if reading.note:
            yield f"  {one_line(reading.annotator)}: {one_line(reading.note)}"


def fault_lines(session: AnnotateSession, path: str) -> Iterator[str]:
    """What is wrong with the labels of a run, one line each."""
    for problem in session.store.problems():
        yield one_line(f"{path}: {problem.where}: {problem.what}")
    for case in session.store.cases:
        for reading in case.readings:
            where = f"{path}: case {case.id} by {reading.annotator}"
            for one in reading.evidence:
                state = session.targets.check(one.pointer)
                if state is not PointerState.OK:
                    yield one_line(f"{where}: {one.pointer.address}: {state.value}")
            for label in session.scheme.unknown_in(reading):
                near = f"; nearest: {label.nearest}" if label.nearest is not None else ""
                yield one_line(f"{where}: {label.field} {label.code!r} is not in the scheme{near}")
            for lacking in without_evidence(reading):
                yield one_line(f"{where}: {lacking} has no evidence")


def work_lines(found: WorkList) -> Iterator[str]:
    """The work list: a row a gate, then the counts."""
    rows = [("", "run", "gate", "agent", "failing", "others")]
    rows += [
        (
            item.progress.value,
            one_line(item.name),
            item.gate,
            one_line(item.agent or ""),
            str(item.failing),
            "" if item.others is None else str(item.others),
        )
        for item in found.items
    ]
    yield from aligned(rows, right=frozenset({4, 5}))
    counts = found.counts()
    done, skipped = counts[Progress.DONE], counts[Progress.SKIPPED]
    yield f"{done}/{len(found.items)} done, {skipped} skipped, {counts[Progress.DRAFT]} drafts"


def work_json(found: WorkList) -> Iterator[str]:
    """The work list, one JSON object a line."""
    for item in found.items:
        yield json.dumps(
            {
                "path": str(item.path),
                "run_id": item.run_id,
                "task_id": item.task,
                "agent": item.agent,
                "model": item.model,
                "unit": item.unit,
                "stage": item.stage,
                "failing": item.failing,
                "progress": item.progress.value,
                "others": item.others,
            }
        )


def scheme_lines(scheme: Scheme, glyphs: Glyphs) -> Iterator[str]:
    """Every field, its codes, what they mean and which keys set them."""
    yield one_line(str(scheme))
    for field in scheme.fields:
        key = f" [{field.key}]" if field.key else ""
        kind = {"one": "one", "many": "any number", "scale": "one, ordered"}[field.kind]
        yield ""
        yield one_line(f"{field.title}{key} {glyphs.dot} {kind}, of the {field.of}. {field.help}")
        rows = [
            (f"[{code.key}]" if code.key else "", one_line(code.code), one_line(code.name),
             one_line(code.definition))
            for code in field.codes
        ]  # fmt: skip
        for line in aligned(rows, right=frozenset()):
            yield f"  {line}".rstrip()


def scheme_json(scheme: Scheme) -> dict[str, object]:
    """The scheme for programs."""
    return {
        "schema": "arcview/scheme/1",
        "name": scheme.name,
        "version": scheme.version,
        "fields": [
            {
                "id": field.id,
                "title": field.title,
                "kind": field.kind,
                "of": field.of,
                "help": field.help,
                "codes": [
                    {"code": code.code, "name": code.name, "definition": code.definition,
                     "source": code.source, "maps": dict(code.maps)}
                    for code in field.codes
                ],
            }
            for field in scheme.fields
        ],
    }  # fmt: skip
