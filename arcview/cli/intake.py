"""`arcview detect`, `formats` and `import`: what is read, and foreign runs made our own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.cli.parts import (
    EXIT_DOES_NOT_HOLD,
    EXIT_OK,
    UsageError,
    add_json,
    add_layout,
    clean_line,
    given_in,
    make_parser,
    open_asked,
    path_of,
    print_json,
    print_lines,
)
from arcview.cli.ticker import Ticker
from arcview.errors import UnknownLayoutError
from arcview.files import is_dir

if TYPE_CHECKING:
    from arcview.readers.detect import DetectReport, Format, Match
    from arcview.session.import_many import Imported
    from arcview.session.import_run import Written

_MAX_NAMED = 20
"""How many files that are no runs of a folder are named."""


def detect(arguments: Sequence[str]) -> int:
    """Prints what a path is and why."""
    parser = make_parser(
        "arcview detect",
        "Say what a file or folder is recognised as, and why; what else fits, and what nearly "
        "does. Exits 1 when nothing is recognised.",
        "examples:\n"
        "  arcview detect jobs/2026-11-29\n"
        "  arcview detect session.jsonl\n"
        "  arcview detect out --json | jq .taken.id\n",
    )
    parser.add_argument("path", metavar="PATH", help="a file or folder")
    add_json(parser, "as JSON")
    options = parser.parse_args(arguments)
    from arcview.readers import detect as reading

    report = reading.detect(path_of(options.path))
    if options.json:
        print_json(_as_json(report))
    else:
        print_lines(clean_line(line) for line in _lines(report))
    return EXIT_OK if report.is_recognised else EXIT_DOES_NOT_HOLD


def formats(arguments: Sequence[str]) -> int:
    """Prints what can be read."""
    parser = make_parser(
        "arcview formats",
        "List the run layouts, trajectory formats and report formats that are read, the module of "
        "each, and whether it was held to recorded files. --as takes each id.",
        "examples:\n  arcview formats\n  arcview formats --json\n",
    )
    add_json(parser, "as JSON")
    options = parser.parse_args(arguments)
    from arcview.readers.detect import GROUPS
    from arcview.readers.detect import formats as known

    found = known()
    if options.json:
        print_json({"schema": "arcview/formats/1", "formats": [_format(each) for each in found]})
        return EXIT_OK
    width = max(len(each.id) for each in found)
    for group in GROUPS:
        print_lines([f"{group}s".replace("ys", "ies")])
        for each in found:
            if each.group == group:
                note = "" if each.sample == "recorded" else f" ({each.sample})"
                line = f"  {each.id:<{width}}  {each.title}{note}"
                print_lines([clean_line(line), clean_line(f"  {'':<{width}}  {each.module}")])
    return EXIT_OK


def import_run(arguments: Sequence[str]) -> int:
    """Writes a run of any layout, or all below a folder, as run folders of ours."""
    parser = make_parser(
        "arcview import",
        "Write a run of any layout as an arcview run folder: states into one git bundle, "
        "trajectories and logs as they are, results as result.json and tests.jsonl. Never "
        "overwrites; a run that cannot be written whole leaves nothing behind. Of a folder of "
        "runs each is written to its own path below OUT, what is there already stays; exits 1 when "
        "one could not be written.",
        "examples:\n"
        "  arcview import jobs/today/task__abc1234 runs/agent/task\n"
        "  arcview import repo runs/agent/task --trajectory session.jsonl\n"
        "  arcview import jobs/today runs\n",
    )
    parser.add_argument("path", metavar="PATH", help="a run of any layout, or a folder of runs")
    parser.add_argument("out", metavar="OUT", help="the folder to make; a run is never overwritten")
    add_layout(parser)
    options = parser.parse_args(arguments)
    runs = _several_below(options)
    if runs:
        return _import_all(options, runs)
    from arcview.session.import_run import write_run

    with Ticker(f"reading {options.path}") as ticker:
        written = write_run(open_asked(options), Path(options.out), ticker.doing)
    lines = [f"{options.out}: {_files(written)}"]
    lines += [f"not imported: {each.where}: {each.what}" for each in written.left_out]
    print_lines(clean_line(line) for line in lines)
    return EXIT_OK


def _several_below(options: argparse.Namespace) -> list[Path]:
    """The runs of a folder that holds several and is none; empty for anything else.

    Raises:
        UsageError: what the user named besides is about a single run.
    """
    from arcview.readers.run_layouts import find_run_reader, run_above
    from arcview.session.library import run_folders

    path = path_of(options.path)
    if options.layout is not None or not is_dir(path) or run_above(path) is not None:
        return []
    try:
        find_run_reader(path)
    except UnknownLayoutError:
        runs = list(run_folders(path))
    else:
        return []
    if len(runs) > 1 and given_in(options) is not None:
        raise UsageError(
            f"--trajectory and --base are about one run; {path} holds {len(runs)}: give one of them"
        )
    return runs if len(runs) > 1 else []


def _import_all(options: argparse.Namespace, runs: Sequence[Path]) -> int:
    """Imports every run below a folder, with a line of progress for each."""
    from arcview.config import load_settings
    from arcview.session.import_many import check_place, name_below, write_runs

    root, out = path_of(options.path), Path(options.out)
    check_place(root, out)
    outcomes = write_runs(root, runs, out, load_settings())
    tally = _Tally()
    try:
        for number, run in enumerate(runs, start=1):
            with _progress(f"{number}/{len(runs)} {name_below(root, run)}") as end:
                end(tally.add(next(outcomes)))
        tally.lines += _left_in(root, runs)
    finally:
        there = f", {tally.there} there already" if tally.there else ""
        summary = f"{out}: {tally.done} of {len(runs)} runs imported{there}"
        print_lines(clean_line(line) for line in (*tally.lines, *tally.failed, summary))
    return EXIT_DOES_NOT_HOLD if tally.failed else EXIT_OK


@dataclass(slots=True)
class _Tally:
    """What became of the runs of a folder so far."""

    done: int = 0
    there: int = 0
    lines: list[str] = field(default_factory=list)
    """What was left out."""
    failed: list[str] = field(default_factory=list)

    def add(self, outcome: Imported) -> str:
        """Counts one run in; how it ended, in words."""
        if outcome.is_there:
            self.there += 1
            return "there already"
        if outcome.written is None:
            self.failed.append(f"not imported: {outcome.name}: {outcome.error}")
            return "not imported"
        self.done += 1
        self.lines += [
            f"not imported: {outcome.name}: {each.where}: {each.what}"
            for each in outcome.written.left_out
        ]
        return _files(outcome.written)


def _left_in(root: Path, runs: Sequence[Path]) -> Iterator[str]:
    """The reports and patches that no list of runs has."""
    from arcview.readers.unlisted import unlisted
    from arcview.session.import_many import name_below

    found = unlisted(root, runs)
    for each in found[:_MAX_NAMED]:
        what = f"a {each.called} by itself; give its own path to import it"
        yield f"not imported: {name_below(root, each.path)}: {what}"
    if len(found) > _MAX_NAMED:
        yield f"not imported: {len(found) - _MAX_NAMED} more reports and patches by themselves"


@contextmanager
def _progress(what: str) -> Iterator[Callable[[str], None]]:
    """One line on stderr: what is being done, and how it ended as soon as that is known."""
    ended = ["interrupted"]
    with suppress(OSError):
        sys.stderr.write(f"arcview: {clean_line(what)}: ")
        sys.stderr.flush()
    try:
        yield lambda how: ended.__setitem__(0, how)
    finally:
        with suppress(OSError):
            sys.stderr.write(f"{' '.join(clean_line(ended[0]).split())}\n")


def _files(written: Written) -> str:
    return f"{len(written.files)} files"


def _lines(report: DetectReport) -> list[str]:
    if report.below:
        total = sum(report.below.values())
        listed = ", ".join(f"{count} {layout}" for layout, count in report.below.items())
        lines = [f"{report.path}: a folder of {total} run{'s' * (total != 1)}: {listed}"]
    elif report.taken is None:
        lines = [report.message or f"{report.path}: not recognised"]
    else:
        lines = [f"{report.path}: {_named(report.taken)}"]
    if report.content is not None:
        lines.append(f"  content:  {_named(report.content)}")
    lines += [f"  also:     {_named(match)}" for match in report.also]
    lines += [f"  rejected: {match.format.id}: {match.reason}" for match in report.rejected]
    return lines


def _named(match: Match) -> str:
    return f"{match.format.id} ({match.format.title}): {match.reason}"


def _format(known: Format) -> dict[str, str]:
    return {
        "group": known.group,
        "id": known.id,
        "title": known.title,
        "module": known.module,
        "sample": known.sample,
    }


def _match(match: Match | None) -> dict[str, str] | None:
    return None if match is None else {**_format(match.format), "reason": match.reason}


def _as_json(report: DetectReport) -> dict[str, object]:
    return {
        "schema": "arcview/detect/1",
        "path": report.path,
        "recognised": report.is_recognised,
        "taken": _match(report.taken),
        "content": _match(report.content),
        "also": [_match(match) for match in report.also],
        "rejected": [_match(match) for match in report.rejected],
        "below": dict(report.below) if report.below is not None else None,
        "message": report.message,
    }
