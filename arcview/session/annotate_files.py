"""Labels to and from files: reads what an import is given, writes what an export asks for.

The only place where exports and imports of labels meet the disk and an open run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from arcview.annotations.imports import FindStep, ImportOptions, ImportPlan, plan_import
from arcview.annotations.records import RunAbout, case_record
from arcview.annotations.scheme import Scheme, scheme_of_lists
from arcview.annotations.store import AnnotationStore
from arcview.annotations.tables import Labelled, csv_text, mast_records, who_when_records
from arcview.errors import ArcviewError, BadInputError
from arcview.files import in_words, read_text
from arcview.model.annotation import Case

if TYPE_CHECKING:
    from arcview.analysis.overview import Overview
    from arcview.session.opened import OpenRun

Format = Literal["jsonl", "csv", "who-when", "mast"]


def about_run(overview: Overview) -> RunAbout:
    """What an export says of a run."""
    return RunAbout(
        overview.run_id, overview.task_id, overview.agent, overview.model, overview.layout
    )


def export_text(format_: Format, labelled: Iterable[Labelled], scheme: Scheme) -> str:
    """Cases as a text of that format, in the order given."""
    if format_ == "csv":
        return csv_text(labelled)
    records: Iterable[object]
    if format_ == "jsonl":
        records = (case_record(case, about) for case, about in labelled)
    else:
        writer = who_when_records if format_ == "who-when" else mast_records
        records = writer(labelled, scheme)
    return "".join(json.dumps(record, allow_nan=False) + "\n" for record in records)


def load_records(path: Path) -> tuple[list[object], Scheme | None]:
    """Reads a `.json` or JSON Lines file of records, and the scheme where it brings one.

    Raises:
        BadInputError: it cannot be read, is no JSON, or holds no list of records.
    """
    try:
        text = read_text(path, "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(str(path), f"cannot be read: {in_words(error)}") from error
    if path.suffix == ".jsonl":
        return list(_lines(text, str(path))), None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInputError(str(path), f"not JSON: {error}") from error
    match data:
        case list():
            return data, None
        case {"schema": dict() as lists, "labels": list() as labels}:
            named = {name: codes for name, codes in lists.items() if isinstance(codes, list)}
            return labels, scheme_of_lists(path.name, named)
        case dict():
            return [data], None
    raise BadInputError(str(path), "expected a list of records")


def _lines(text: str, file: str) -> Iterator[object]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadInputError(file, f"not JSON: {error}", f"line {number}") from error


def import_file(
    path: Path,
    opened: OpenRun,
    store: AnnotationStore,
    scheme: Scheme,
    *,
    stage: int | None = None,
    base: int | None = None,
    by: str | None = None,
    replace: bool = False,
) -> tuple[ImportPlan, int]:
    """Imports the records of a file into the labels of a run.

    Args:
        path: A `.json` or `.jsonl` file.
        opened: The run.
        store: Its labels; all is saved into the file of whoever imports.
        scheme: What labels are held against, unless the file brings its own.
        stage: Of records that name none.
        base: Number of the first step in the file.
        by: Whose labels they are, where the file does not say.
        replace: Labels that are there already give way.

    Returns:
        What was planned with its notes, and how many readings were saved.

    Raises:
        BadInputError: the file cannot be read or is of no known shape.
        ArcviewError: nothing could be saved.
    """
    records, own_scheme = load_records(path)
    options = ImportOptions(opened.run.run_id, len(opened.run.stages), stage, base, by, replace)

    plan = plan_import(
        records, path.name, options, store.cases, own_scheme or scheme, _step_finder(opened)
    )
    saved = store.save(*plan.drafts) if plan.drafts else ()
    return plan, len({(event.case, event.by) for event in saved})


def _step_finder(opened: OpenRun) -> FindStep:
    def find(stage: int, number: int) -> str | None:
        if opened.run.stage(stage) is None:
            return None
        steps = opened.trajectory(stage).steps
        return next((step.key for step in steps if step.number == number), None)

    return find


def labelled_cases(overview: Overview, cases: Iterable[Case]) -> list[Labelled]:
    """The cases of a run that have a reading, for an export."""
    about = about_run(overview)
    return [(case, about) for case in cases if case.readings]


def write_text(path: Path, text: str) -> None:
    """Writes an export.

    Raises:
        ArcviewError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise ArcviewError(f"{path}: cannot be written: {error.strerror}") from error
