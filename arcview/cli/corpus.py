"""`arcview stats`, `agreement` and `audit`: many runs, many labels, and a run's protocol."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arcview.cli.parts import (
    EXIT_OK,
    UsageError,
    add_json,
    add_layout,
    glyphs,
    make_parser,
    open_run,
    print_json,
    print_lines,
    say_no_runs,
)

if TYPE_CHECKING:
    from arcview.analysis.verdicts import Policy
    from arcview.config import Settings
    from arcview.session.stats import Corpus

_OUTCOMES = {
    "skip_ok": "skipped tests count as ok",
    "xfail_ok": "tests that fail as expected count as ok (they do by default)",
    "xpass_ok": "tests that pass though expected to fail count as ok",
    "missing_ok": "expected tests that no report names count as ok",
    "not_run_ok": "expected tests that never started count as ok",
}


def _stats_parser() -> argparse.ArgumentParser:
    parser = make_parser(
        "arcview stats",
        "Print figures over many runs. Each is k of n with a 95 % interval, under the policy that "
        "is printed with it; what is left out is listed with its reason.",
        "examples:\n"
        "  arcview stats runs\n"
        "  arcview stats runs --by agent\n"
        "  arcview stats runs --json | jq .all.f2p_after_fail\n"
        "  arcview stats --figures\n",
    )
    parser.add_argument("path", metavar="DIR", nargs="?", help="a folder with runs")
    parser.add_argument("--figures", action="store_true", help="print what each figure counts")
    parser.add_argument("--by", choices=("agent", "model", "task", "language"), help="groups too")
    parser.add_argument(
        "--policy",
        choices=("clean", "as-recorded"),
        default="clean",
        help="clean leaves out stages that failed for no fault of the agent (default)",
    )
    for name, meaning in _OUTCOMES.items():
        option = f"--{name.replace('_', '-')}"
        action = argparse.BooleanOptionalAction
        parser.add_argument(option, action=action, default=name == "xfail_ok", help=meaning)
    parser.add_argument(
        "--count-tests", action="store_true", help="test files are among the files stages share"
    )
    add_sidecar(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON, schema arcview/stats/1")
    form.add_argument("--csv", action="store_true", help="as CSV, one line a figure and group")
    return parser


def stats(arguments: Sequence[str]) -> int:
    """Prints figures over the runs below a folder."""
    options = _stats_parser().parse_args(arguments)
    if options.figures:
        from arcview.session.stats_text import figure_definitions

        print_lines(figure_definitions())
        return EXIT_OK
    if options.path is None:
        raise UsageError("arcview stats: give a folder with runs (see arcview stats --help)")
    settings = _settings(options)
    _print(options, _corpus(options.path, _outcomes(options), settings), settings)
    return EXIT_OK


def add_sidecar(parser: argparse.ArgumentParser) -> None:
    """The option that names where labels are kept."""
    parser.add_argument("--sidecar", metavar="DIR", help="where people's labels are kept")


def _settings(options: argparse.Namespace) -> Settings:
    from arcview.config import load_settings

    settings = load_settings()
    if options.sidecar:
        return replace(settings, sidecar=Path(options.sidecar))
    # Null leaves it to the environment, which comes before the settings.
    return replace(settings, sidecar=None) if os.environ.get("ARCVIEW_SIDECAR") else settings


def _outcomes(options: argparse.Namespace) -> Policy:
    from arcview.analysis.verdicts import Policy

    return Policy(**{name: getattr(options, name) for name in _OUTCOMES})


def _corpus(path: str, outcomes: Policy, settings: Settings) -> Corpus:
    from arcview.session.stats import collect

    # Reading runs for the first time takes a while; whoever waits is told how far it is.
    is_watched = sys.stderr.isatty()

    def progress(done: int, total: int, name: str) -> None:
        if is_watched:
            sys.stderr.write(f"\rreading run {done + 1} of {total}\x1b[K")
            sys.stderr.flush()

    corpus = collect(Path(path), outcomes=outcomes, settings=settings, progress=progress)
    if is_watched:
        sys.stderr.write("\r\x1b[K")
    if not corpus.runs and not corpus.broken:
        say_no_runs(Path(path))
    return corpus


def _print(options: argparse.Namespace, corpus: Corpus, settings: Settings) -> None:
    from arcview.analysis.statistics import StatsPolicy
    from arcview.session.labels import labelled_levels

    policy = StatsPolicy(options.policy, corpus.outcomes, options.count_tests)
    levels = labelled_levels((run.run_id for run in corpus.runs), settings.sidecar)
    found = corpus.statistics(policy, options.by, levels)
    if options.json:
        from arcview.session.stats_json import stats_json

        print_json(stats_json(found, options.path))
    elif options.csv:
        from arcview.session.stats_json import stats_csv

        print_lines(stats_csv(found))
    else:
        from arcview.session.stats_text import stats_lines

        print_lines(stats_lines(found, options.path, glyphs()))


def agreement(arguments: Sequence[str]) -> int:
    """Prints how far raters agree."""
    parser = make_parser(
        "arcview agreement",
        "Print how far people agree on each labelled field, among themselves and with what the "
        "rules suggest. A field that somebody left empty is unknown and forms no pair.",
        "examples:\n"
        "  arcview agreement runs\n"
        "  arcview agreement cases.jsonl --within 5\n"
        "  arcview agreement runs --json | jq '.fields[].people.alpha'\n",
    )
    parser.add_argument(
        "path", metavar="PATH", help="a folder of runs, a sidecar, or exported cases"
    )
    parser.add_argument(
        "--within", metavar="N", type=int, default=3, help="steps this far apart agree (default 3)"
    )
    parser.add_argument(
        "--no-suggestions", action="store_true", help="leave out what the rules suggest"
    )
    add_sidecar(parser)
    add_json(parser, "as JSON, schema arcview/agreement/1")
    options = parser.parse_args(arguments)
    if options.within < 0:
        raise UsageError("--within: expected a number of steps, 0 or more")
    from arcview.analysis.agreement_report import report
    from arcview.session.agreement import agreement_json, agreement_lines, load

    settings = _settings(options)
    labels = load(Path(options.path), settings, with_suggestions=not options.no_suggestions)
    found = report(labels.tables, options.within)
    if options.json:
        print_json(agreement_json(found, labels, options.path))
    else:
        print_lines(agreement_lines(found, labels, options.path, glyphs()))
    return EXIT_OK


def audit(arguments: Sequence[str]) -> int:
    """Prints where a run may not have kept to its protocol."""
    parser = make_parser(
        "arcview audit",
        "Print where a run may not have kept to its protocol: states, sessions, feedback, hidden "
        "tests in sight, look-ups, files that went back, context compactions. Each finding points "
        "to its step and none is a proof, so that findings exit 0 as well.",
        "examples:\n"
        "  arcview audit runs/opus/task-17\n"
        "  arcview audit runs/opus/task-17 --json | jq '.findings[].address'\n",
    )
    parser.add_argument("path", metavar="PATH", help="a run folder")
    add_json(parser, "as JSON, schema arcview/audit/1")
    add_layout(parser)
    options = parser.parse_args(arguments)
    from arcview.session.audit_report import audit_json, audit_lines
    from arcview.session.audit_run import audit as look_at

    run = open_run(options.path, options.layout)
    found = look_at(run)
    if options.json:
        print_json(audit_json(found, run.run, options.path))
    else:
        print_lines(audit_lines(found, options.path, glyphs()))
    return EXIT_OK
