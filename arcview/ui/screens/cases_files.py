"""Taking the cases of a run out into a file and reading cases in: what the keys of the list do.

Reads and writes files: belongs into a thread. Asks nobody.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arcview.errors import ArcviewError
from arcview.files import exists
from arcview.session.annotate_files import export_text, import_file, labelled_cases, write_text
from arcview.ui.rows.figures import plural

if TYPE_CHECKING:
    from arcview.session.annotate import AnnotateSession

FORMATS = ".jsonl, .csv or .md"


def take_out(session: AnnotateSession, name: str) -> str:
    """Writes all cases of the run into a new file; says what it did in one line.

    Args:
        session: The labels.
        name: The file, as it was typed; its ending says the format.

    Raises:
        ArcviewError: nothing was written, and why.
    """
    path = _path(name)
    if session.blind:
        raise ArcviewError("what others say is hidden while labelling blind: B ends that")
    if exists(path):
        raise ArcviewError(f"{path}: is there already; give another name")
    if path.resolve().is_relative_to(Path(session.opened.run.path).resolve()):
        raise ArcviewError(f"{path}: lies inside the run, which stays as it is")
    labelled = labelled_cases(session.opened.overview, session.store.cases)
    match path.suffix:
        case ".jsonl":
            text = export_text("jsonl", labelled, session.scheme)
        case ".csv":
            text = export_text("csv", labelled, session.scheme)
        case ".md":
            from arcview.session.annotate_report import report

            text = report(session.opened, [case for case, _ in labelled], session.scheme)
        case _:
            raise ArcviewError(f"{path}: end the name in {FORMATS}")
    write_text(path, text)
    return f"{plural(len(labelled), 'case')} written to {path}"


def take_in(session: AnnotateSession, name: str) -> str:
    """Adds the cases of a file to those of the run; says what it did in one line.

    Labels that are there already stay as they are.

    Raises:
        ArcviewError: nothing was read in, and why.
    """
    plan, saved = import_file(_path(name), session.opened, session.store, session.scheme)
    notes = f": {plan.notes[0]}" if plan.notes else ""
    more = f" (+{len(plan.notes) - 1} more)" if len(plan.notes) > 1 else ""
    return f"{plural(saved, 'reading')} read in as {plan.format}{notes}{more}"


def _path(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError as error:  # `~somebody` who is not there
        raise ArcviewError(f"{name}: {error}") from error
