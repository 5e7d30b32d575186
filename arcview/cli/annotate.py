"""`arcview annotate …`: labels of error propagation without a screen."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.cli.parts import (
    EXIT_DOES_NOT_HOLD,
    EXIT_OK,
    Parser,
    UsageError,
    add_json,
    add_layout,
    clean_line,
    glyphs,
    make_parser,
    open_run,
    print_json,
    print_lines,
    say,
)

if TYPE_CHECKING:
    from arcview.annotations.scheme import Scheme
    from arcview.session.annotate import AnnotateSession

_HELP = """\
commands:
  arcview annotate list PATH         print the cases of a run, or of the runs below a folder
  arcview annotate check PATH        print stale pointers, unknown labels and damaged lines
  arcview annotate worklist DIR      print the failing gates to label, and how far one is
  arcview annotate export PATH       write cases as JSON Lines, CSV, Markdown, Who&When or MAST
  arcview annotate import FILE RUN   add cases from our export, Who&When or plain records
  arcview annotate scheme            print the labels and what they mean
  arcview annotate COMMAND --help

Labels are kept in a sidecar folder, never in the run: --sidecar DIR, ARCVIEW_SIDECAR, `sidecar` in
the settings, or the user's data folder. Whoever labels is named by --annotator NAME,
ARCVIEW_ANNOTATOR or `annotator` in the settings.
"""


def annotate(arguments: Sequence[str]) -> int:
    """Runs one of the commands about labels."""
    commands: dict[str, Callable[[Sequence[str]], int]] = {
        "list": list_cases,
        "check": check,
        "worklist": worklist,
        "export": export,
        "import": import_cases,
        "scheme": scheme,
    }
    if arguments and arguments[0] in commands:
        return commands[arguments[0]](arguments[1:])
    parser = make_parser("arcview annotate", "Labels of error propagation.", _HELP)
    parser.add_argument("command", metavar="COMMAND", choices=tuple(commands))
    parser.parse_args(arguments)
    raise UsageError("arcview annotate: give a command (see arcview annotate --help)")


def _parser(name: str, description: str, examples: str) -> Parser:
    parser = make_parser(f"arcview annotate {name}", description, examples)
    parser.add_argument("--sidecar", metavar="DIR", help="where labels are kept")
    return parser


def _add_annotator(parser: Parser, help_text: str = "whoever labels") -> None:
    parser.add_argument("--annotator", metavar="NAME", help=help_text)


def _add_scheme(parser: Parser) -> None:
    parser.add_argument("--scheme", metavar="FILE", help="a label scheme of one's own (TOML)")


def _annotator(options: argparse.Namespace) -> str | None:
    from arcview.config import load_settings
    from arcview.session.annotate_worklist import name_of_annotator

    given = getattr(options, "annotator", None)
    return name_of_annotator(given, os.environ.get("ARCVIEW_ANNOTATOR"), load_settings().annotator)


def _sidecar(options: argparse.Namespace) -> Path | None:
    """The flag, else the environment (null says so), else the setting."""
    from arcview.config import load_settings

    if options.sidecar is not None:
        return Path(options.sidecar)
    return None if os.environ.get("ARCVIEW_SIDECAR") else load_settings().sidecar


def _session(options: argparse.Namespace, path: str) -> AnnotateSession:
    from arcview.session.annotate import AnnotateSession

    given = getattr(options, "scheme", None)
    return AnnotateSession.open(
        open_run(path, options.layout),
        annotator=_annotator(options),
        sidecar=_sidecar(options),
        scheme=Path(given) if given is not None else None,
    )


def _run_paths(path: str) -> list[Path]:
    """The run at a path, or the runs below it.

    Raises:
        UsageError: there are none.
    """
    from arcview.readers.registry import iter_runs

    found = list(iter_runs(Path(path)))
    if not found:
        raise UsageError(f"{path}: no runs there")
    return found


def list_cases(arguments: Sequence[str]) -> int:
    """Prints cases, a block each."""
    parser = _parser(
        "list",
        "Print the cases of a run, or of the runs below a folder, every annotator side by side.",
        "examples:\n  arcview annotate list runs/opus/task-17\n"
        "  arcview annotate list runs --json | jq .annotators\n",
    )
    parser.add_argument("path", metavar="PATH", help="a run, or a folder with runs")
    _add_scheme(parser)
    add_json(parser, "one case a line, schema arcview/case/1")
    add_layout(parser)
    options = parser.parse_args(arguments)
    from arcview.session.annotate_files import export_text, labelled_cases
    from arcview.session.annotate_text import case_lines

    for path in _run_paths(options.path):
        session = _session(options, str(path))
        cases = [case for case in session.store.cases if case.readings]
        if options.json:
            labelled = labelled_cases(session.opened.overview, cases)
            print_lines(export_text("jsonl", labelled, session.scheme).splitlines())
        else:
            for case in cases:
                print_lines(case_lines(case, session.scheme, str(path)))
        _say_problems(session)
    return EXIT_OK


def _say_problems(session: AnnotateSession) -> None:
    for problem in session.store.problems():
        say(f"{problem.where}: {problem.what}")


def check(arguments: Sequence[str]) -> int:
    """Prints what is wrong with the labels."""
    parser = _parser(
        "check",
        "Print pointers whose target changed or is gone, labels that the scheme does not have, "
        "origins and effects without evidence, and lines that are torn, foreign or in conflict. "
        "Exits 1 where there is any.",
        "examples:\n  arcview annotate check runs/opus/task-17\n",
    )
    parser.add_argument("path", metavar="PATH", help="a run, or a folder with runs")
    _add_scheme(parser)
    add_layout(parser)
    options = parser.parse_args(arguments)
    from arcview.session.annotate_text import fault_lines

    faults = 0
    for path in _run_paths(options.path):
        faults += print_lines(fault_lines(_session(options, str(path)), str(path)))
    return EXIT_DOES_NOT_HOLD if faults else EXIT_OK


def _work_parser(names: tuple[str, ...]) -> Parser:
    parser = _parser(
        "worklist",
        "Print the failing gates of the runs below a folder that are to be labelled, and how far "
        "the annotator is. A sample is the same for everybody who gives the same seed.",
        "examples:\n  arcview annotate worklist runs --annotator ann\n"
        "  arcview annotate worklist runs --which first --sample 30 --seed 7\n",
    )
    parser.add_argument("path", metavar="DIR", help="a folder with runs")
    parser.add_argument("--which", choices=names, default=names[0])
    for name in ("agent", "model", "task"):
        parser.add_argument(f"--{name}", metavar="NAME", action="append", default=[])
    parser.add_argument("--sample", metavar="N", type=int, help="draw so many")
    parser.add_argument("--seed", metavar="S", type=int, default=0)
    parser.add_argument("--blind", action="store_true", help="do not say what others labelled")
    _add_annotator(parser, "whose progress it is")
    add_json(parser, "one item a line")
    return parser


def worklist(arguments: Sequence[str]) -> int:
    """Prints the failing gates to be labelled."""
    from arcview.session.annotate_worklist import Which

    parser = _work_parser(tuple(which.value for which in Which))
    options = parser.parse_args(arguments)
    if options.sample is not None and options.sample < 1:
        raise UsageError("--sample: expected a number of gates, 1 or more")
    from arcview.session.annotate_text import work_json, work_lines
    from arcview.session.annotate_worklist import WorkFilter, collect_work

    found = collect_work(
        Path(options.path),
        annotator=_annotator(options),
        sidecar=_sidecar(options),
        wanted=WorkFilter(
            Which(options.which), tuple(options.agent), tuple(options.model), tuple(options.task),
            options.sample, options.seed,
        ),
        blind=options.blind,
    )  # fmt: skip
    print_lines(work_json(found) if options.json else work_lines(found))
    for problem in found.problems:
        say(f"{problem.where}: {problem.what}")
    return EXIT_OK


def export(arguments: Sequence[str]) -> int:
    """Writes cases in a format for other tools or for people."""
    parser = _parser(
        "export",
        "Write the cases of a run, or of the runs below a folder. jsonl holds everything and can "
        "be imported again; csv has a line for each case and annotator; markdown is a report with "
        "the evidence quoted; who-when and mast are the fields of those data sets.",
        "examples:\n  arcview annotate export runs > cases.jsonl\n"
        "  arcview annotate export runs/opus/task-17 --format markdown -o cases.md\n",
    )
    parser.add_argument("path", metavar="PATH", help="a run, or a folder with runs")
    formats = ("jsonl", "csv", "markdown", "who-when", "mast")
    parser.add_argument("--format", choices=formats, default="jsonl")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there; else to the terminal")
    _add_scheme(parser)
    add_layout(parser)
    options = parser.parse_args(arguments)
    sessions = [_session(options, str(path)) for path in _run_paths(options.path)]
    text = _exported(options.format, sessions)
    if options.output is not None:
        from arcview.session.annotate_files import write_text

        write_text(Path(options.output), text)
    else:
        print_lines(text.splitlines())
    for session in sessions:
        _say_problems(session)
    return EXIT_OK


def _exported(format_: str, sessions: Sequence[AnnotateSession]) -> str:
    from arcview.session.annotate_files import export_text, labelled_cases

    if format_ == "markdown":
        from arcview.session.annotate_report import report

        labelled_runs = [(s, [c for c in s.store.cases if c.readings]) for s in sessions]
        return "\n".join(report(s.opened, cases, s.scheme) for s, cases in labelled_runs if cases)
    labelled = [pair for s in sessions for pair in labelled_cases(s.opened.overview, s.store.cases)]
    scheme_ = sessions[0].scheme
    match format_:
        case "csv" | "who-when" | "mast":
            return export_text(format_, labelled, scheme_)
    return export_text("jsonl", labelled, scheme_)


def import_cases(arguments: Sequence[str]) -> int:
    """Adds cases from a file."""
    parser = _parser(
        "import",
        "Add the cases of a file to those of a run: our own JSON Lines, Who&When records "
        "(mistake_agent, mistake_step, mistake_reason), or plain records of one case and rater "
        "each. Importing the same again adds nothing; labels that are there already stay. What "
        "was assumed is printed.",
        "examples:\n  arcview annotate import cases.jsonl runs/opus/task-17 --annotator ann\n"
        "  arcview annotate import who.json runs/x --stage 2 --step-base 0 --by their-team\n",
    )
    parser.add_argument("file", metavar="FILE", help="a .json or .jsonl file")
    parser.add_argument("path", metavar="RUN", help="the run they belong to")
    _add_annotator(parser, "whoever imports")
    parser.add_argument("--by", metavar="NAME", help="whose labels they are, if the file is silent")
    parser.add_argument("--stage", metavar="K", type=int, help="of records that name no stage")
    parser.add_argument(
        "--step-base", metavar="N", type=int, choices=(0, 1), help="number of the first step (0, 1)"
    )
    parser.add_argument("--replace", action="store_true", help="overwrite labels that are there")
    _add_scheme(parser)
    add_layout(parser)
    options = parser.parse_args(arguments)
    from arcview.annotations.store import checked_annotator
    from arcview.session.annotate_files import import_file

    checked_annotator(_annotator(options))
    session = _session(options, options.path)
    plan, saved = import_file(
        Path(options.file), session.opened, session.store, session.scheme,
        stage=options.stage, base=options.step_base, by=options.by, replace=options.replace,
    )  # fmt: skip
    readings = f"{saved} reading{'' if saved == 1 else 's'}"
    print_lines([f"{readings} added from {clean_line(options.file)} ({plan.format})"])
    print_lines(clean_line(note) for note in plan.notes)
    for label in plan.unknown:
        near = f"; nearest: {label.nearest}" if label.nearest is not None else ""
        print_lines([clean_line(f"not in the scheme, kept: {label.field} {label.code!r}{near}")])
    return EXIT_OK


def scheme(arguments: Sequence[str]) -> int:
    """Prints the labels and what they mean."""
    parser = _parser(
        "scheme",
        "Print every label with its key and definition.",
        "examples:\n  arcview annotate scheme\n  arcview annotate scheme --scheme ours.toml\n",
    )
    _add_scheme(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")
    options = parser.parse_args(arguments)
    from arcview.annotations.scheme import team_scheme
    from arcview.session.annotate_text import scheme_json, scheme_lines
    from arcview.sidecar import sidecar_root

    given = Path(options.scheme) if options.scheme is not None else None
    found: Scheme = team_scheme(sidecar_root(_sidecar(options)), given)
    if options.json:
        print_json(scheme_json(found))
        return EXIT_OK
    lines: Iterable[str] = scheme_lines(found, glyphs())
    print_lines(lines)
    return EXIT_OK
