"""`arcview show`, `list` and `check`: a run, or many, as plain text or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.cli.parts import (
    EXIT_DOES_NOT_HOLD,
    EXIT_OK,
    add_json,
    add_layout,
    checked_stage,
    clean_line,
    given_in,
    glyphs,
    make_parser,
    only_run_below,
    open_asked,
    path_of,
    print_json,
    print_lines,
    say_no_runs,
)
from arcview.errors import ArcviewError, UnknownLayoutError

if TYPE_CHECKING:
    from arcview.config import Settings


def show(arguments: Sequence[str]) -> int:
    """Prints one run."""
    parser = make_parser(
        "arcview show",
        "Print a run: verdicts, what each stage changed, failing tests with their messages, and "
        "the agent's self-tests. Viewing is not judging: a failed gate exits 0 as well.",
        "examples:\n"
        "  arcview show runs/opus/task-17\n"
        "  arcview show runs/opus/task-17 --stage 3\n"
        "  arcview show runs/opus/task-17 --json | jq '.stages[].failures[].id'\n",
    )
    parser.add_argument("path", metavar="PATH", help="a run folder")
    parser.add_argument("--stage", metavar="K", type=int, help="this stage only")
    add_json(parser, "the JSON twin, schema arcview/show/1")
    add_layout(parser)
    options = parser.parse_args(arguments)
    run = open_asked(options)
    stage = checked_stage(run, options.stage)
    if options.json:
        from arcview.session import twin

        print_json(twin.show(run, stage))
    else:
        from arcview.session.plain_text import show_lines

        print_lines(show_lines(run, stage, glyphs()))
    return EXIT_OK


def list_runs(arguments: Sequence[str]) -> int:
    """Prints the runs below a folder."""
    parser = make_parser(
        "arcview list",
        "Print the runs below a folder. The table is made from summary files; --json opens each "
        "run and prints the object of `arcview show` without single tests, one run a line.",
        "examples:\n"
        "  arcview list runs\n"
        "  arcview list runs --json | jq -r 'select(.first_bad_stage == 2).run_id'\n",
    )
    parser.add_argument("path", metavar="DIR", help="a folder with runs")
    add_json(parser, "one JSON object per run and line")
    options = parser.parse_args(arguments)
    from arcview.session.library import scan

    rows = scan(path_of(options.path))
    if options.json:
        from arcview.config import load_settings

        settings = load_settings()
        found = print_lines(_json_line(row.path, row.error, settings) for row in rows)
    else:
        from arcview.session.plain_text import list_lines

        found = print_lines(list_lines(rows, glyphs()))
    if not found:
        say_no_runs(path_of(options.path))
    return EXIT_OK


def _json_line(path: Path, error: str | None, settings: Settings) -> str:
    from arcview.session import twin
    from arcview.session.opened import OpenRun

    if error is None:
        try:
            return twin.dumps(twin.list_row(OpenRun.open(path, settings=settings)))
        except ArcviewError as broken:
            error = str(broken)
    return twin.dumps(twin.broken_row(str(path), error))


def check(arguments: Sequence[str]) -> int:
    """Lists what is wrong with a run folder."""
    parser = make_parser(
        "arcview check",
        "List every fault of a run folder with its file and field, and what each missing optional "
        "part switches off. Exits 1 when there is a fault.",
        "examples:\n  arcview check runs/opus/task-17\n  arcview check runs/opus/task-17 --json\n",
    )
    parser.add_argument("path", metavar="PATH", help="a run folder")
    add_json(parser, "as JSON: faults and off")
    add_layout(parser)
    options = parser.parse_args(arguments)
    from arcview.readers import check as reading

    path = path_of(options.path)
    try:
        report = reading.check(path, options.layout, given_in(options))
    except UnknownLayoutError:
        only = None if options.layout is not None else only_run_below(path)
        if only is None:
            raise
        report = reading.check(only, None, given_in(options))
    if options.json:
        found = {
            name: [{"where": problem.where, "what": problem.what} for problem in problems]
            for name, problems in (("faults", report.faults), ("off", report.off))
        }
        print_json({"schema": "arcview/check/1", "path": options.path, **found})
    else:
        lines = [f"fault: {problem.where}: {problem.what}" for problem in report.faults]
        lines += [f"off:   {problem.where}: {problem.what}" for problem in report.off]
        count = len(report.faults)
        lines.append(f"{options.path}: {count or 'no'} fault{'' if count == 1 else 's'}")
        print_lines(clean_line(line) for line in lines)
    return EXIT_DOES_NOT_HOLD if report.faults else EXIT_OK
