"""`arcview contract`, `compare`, `find` and `export`: what is asked about the evidence of runs."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.cli.parts import (
    EXIT_DOES_NOT_HOLD,
    EXIT_OK,
    UsageError,
    add_json,
    add_layout,
    checked_stage,
    glyphs,
    make_parser,
    open_asked,
    open_run,
    print_json,
    print_lines,
    say,
)
from arcview.errors import ArcviewError

if TYPE_CHECKING:
    from arcview.session.find import RunSearch


def contract(arguments: Sequence[str]) -> int:
    """Prints which items of the contracts are there in which state."""
    parser = make_parser(
        "arcview contract",
        "Print for each item of the stages' contracts whether it is present, different, missing or "
        "moved in every state of the run. Python is read by its syntax, other languages by names.",
        "examples:\n"
        "  arcview contract runs/opus/task-17\n"
        "  arcview contract runs/opus/task-17 --stage 2 --json\n",
    )
    parser.add_argument("path", metavar="PATH", help="a run folder")
    parser.add_argument("--stage", metavar="K", type=int, help="the contract of this stage only")
    add_json(parser, "as JSON, schema arcview/contract/1")
    add_layout(parser)
    options = parser.parse_args(arguments)
    from arcview.session import coverage_report
    from arcview.session.coverage import cover
    from arcview.session.workspace_files import WorkspaceFiles

    run = open_asked(options)
    only = checked_stage(run, options.stage)
    run.ensure_states()
    files = WorkspaceFiles(run)
    wanted = [stage.index for stage in run.run.stages if only in (None, stage.index)]
    found = [cover(run, stage, files) for stage in wanted]
    if options.json:
        states = [state.id for state in run.run.agent_states()]
        print_json(coverage_report.as_json(run.run.run_id, options.path, states, found))
        return EXIT_OK
    shown = glyphs()
    for coverage in found:
        print_lines(coverage_report.coverage_lines(coverage, shown))
    print_lines([coverage_report.legend(shown)])
    return EXIT_OK


def compare(arguments: Sequence[str]) -> int:
    """Opens two runs of one task side by side, or prints them."""
    parser = make_parser(
        "arcview compare",
        "Open two runs of one task side by side, aligned by stage: verdicts, where they part "
        "first, the tests whose outcome differs, code against code, steps. With --json, or without "
        "a terminal, print it.",
        "examples:\n"
        "  arcview compare runs/opus/task-17 runs/sonnet/task-17\n"
        "  arcview compare A B --json | jq '.first_divergence'\n",
    )
    parser.add_argument("a", metavar="A", help="a run folder")
    parser.add_argument("b", metavar="B", help="another run folder")
    add_json(parser, "as JSON, schema arcview/compare/1")
    options = parser.parse_args(arguments)
    if not options.json and sys.stdin.isatty() and sys.stdout.isatty():
        from arcview.config import load_settings
        from arcview.ui.app import run_compare

        for path in (options.a, options.b):
            open_run(path, None)  # what is wrong with it is said before the screen is taken
        return run_compare(Path(options.a), Path(options.b), settings=load_settings())
    from arcview.session import compare_report
    from arcview.session.compare import compare_runs

    found = compare_runs(open_run(options.a, None), open_run(options.b, None))
    if options.json:
        print_json(compare_report.as_json(found))
    else:
        print_lines(compare_report.comparison_lines(found, glyphs()))
    return EXIT_OK


def find(arguments: Sequence[str]) -> int:
    """Prints every line of a run that matches; exits 1 where there is none."""
    parser = make_parser(
        "arcview find",
        "Search a whole run: steps, diffs, gate messages, specifications and raw logs. Prints the "
        "address of each matching line and the line; small letters match capitals too. Exits 1 "
        "where nothing matches.",
        "examples:\n"
        "  arcview find runs/opus/task-17 'Undefined signal'\n"
        "  arcview find runs/opus/task-17 --regex 'KeyError|ValueError' --in gate --in step\n"
        "  arcview find runs/opus/task-17 overlap --json | jq -r .address\n",
    )
    parser.add_argument("path", metavar="PATH", help="a run folder")
    parser.add_argument("text", metavar="TEXT", help="what to look for")
    parser.add_argument("--regex", action="store_true", help="TEXT is a regular expression")
    parser.add_argument(
        "--in", dest="kinds", metavar="KIND", action="append", choices=_KINDS,
        help=f"look there only, may be repeated: {', '.join(_KINDS)}",
    )  # fmt: skip
    add_json(parser, "one JSON object per hit and line, schema arcview/find/1")
    add_layout(parser)
    options = parser.parse_args(arguments)
    from arcview.analysis.search import compile_pattern
    from arcview.session.find import RunSearch

    if not options.text:
        raise UsageError("TEXT is empty")
    pattern = compile_pattern(options.text, regex=options.regex)
    run = open_asked(options)
    kinds = tuple(options.kinds or _KINDS)
    if "diff" in kinds:
        run.ensure_states()
    found = _print_hits(RunSearch(run, pattern, kinds=kinds), as_json=options.json)
    return EXIT_OK if found else EXIT_DOES_NOT_HOLD


def _print_hits(search: RunSearch, *, as_json: bool) -> int:
    from arcview.session import find_report, twin

    if as_json:
        found = print_lines(twin.dumps(find_report.hit_json(hit)) for hit in search.run())
        for what in search.left_out:
            say(f"not searched: {what}")
        return found
    shown = glyphs()
    found = print_lines(find_report.hit_line(hit, shown) for hit in search.run())
    print_lines(find_report.summary_lines(search))
    return found


_KINDS = ("gate", "step", "diff", "spec", "log")


def export(arguments: Sequence[str]) -> int:
    """Writes a report of one run that stands alone, or its trajectories."""
    options = _export_parser().parse_args(arguments)
    from arcview.session.export import export as report

    target = _outside(options.output, options.path) if options.output is not None else None
    run = open_asked(options)
    stage = checked_stage(run, options.stage)
    if options.format == "atif":
        from arcview.cli.trajectories import export_atif

        return export_atif(run, stage, target)
    text = report(run, options.format, stage)
    if target is None:
        print_lines([text.rstrip("\n")])
        return EXIT_OK
    try:
        target.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise ArcviewError(f"{options.output}: cannot be written: {error.strerror}") from error
    return EXIT_OK


def _export_parser() -> ArgumentParser:
    parser = make_parser(
        "arcview export",
        "Write a report of one run that stands alone and opens offline: stages, failing tests by "
        "cause with what they lead to, self-tests. Text is cleaned, what looks like a secret is "
        "masked. Or, as atif, its trajectories for other tools: in full and as they are, nothing "
        "masked. Nothing is written into the run folder.",
        "examples:\n"
        "  arcview export runs/opus/task-17 --format html -o report.html\n"
        "  arcview export runs/opus/task-17 --format md | less\n"
        "  arcview export runs/opus/task-17 --format atif --stage 2 > trajectory.json\n"
        "  arcview export runs/opus/task-17 --format atif -o trajectories/\n",
    )
    parser.add_argument("path", metavar="PATH", help="a run folder")
    parser.add_argument(
        "--format", choices=("md", "html", "atif"), required=True, help="the format"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write it there, not to the terminal; a folder for the trajectories of all stages",
    )
    parser.add_argument("--stage", metavar="K", type=int, help="this stage only")
    add_layout(parser)
    return parser


def _outside(output: str, run: str) -> Path:
    """Where to write to: never into the run, which is a record."""
    target = Path(output)
    if target.resolve().is_relative_to(Path(run).resolve()):
        raise UsageError(f"{output} lies inside the run folder, which is never written to")
    return target
