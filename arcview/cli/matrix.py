"""`arcview matrix` and `arcview whatif`: gates over states, and what made a gate fail."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from arcview.cli.parts import (
    EXIT_INTERRUPTED,
    EXIT_OK,
    UsageError,
    add_json,
    add_layout,
    glyphs,
    make_parser,
    print_json,
    print_lines,
    say,
)
from arcview.cli.reruns import (
    EXIT_UNMEASURED,
    Interrupts,
    add_engine,
    check_gate,
    confirm,
    open_reruns,
    place_words,
    say_problems,
)

if TYPE_CHECKING:
    from arcview.analysis.matrix_plan import MatrixPlan
    from arcview.session.matrix import Matrix
    from arcview.session.matrix_run import MatrixEvent, MatrixOutcome
    from arcview.session.reruns import Reruns
    from arcview.session.what_if import WhatIfEvent


def matrix(arguments: Sequence[str]) -> int:
    """Prints the gate × state matrix, and measures what is missing where asked to."""
    options = _matrix_options(arguments)
    with closing(open_reruns(options)) as reruns:
        return _matrix(reruns, options)


def _matrix_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = make_parser(
        "arcview matrix",
        "Print what each gate says of each state: recorded results, stored reruns, and what "
        "follows from tests that other gates repeat. With --run the missing cells are measured, "
        "the most informative first; it can be interrupted and goes on where it ended.",
        "examples:\n"
        "  arcview matrix runs/opus/task-17\n"
        "  arcview matrix runs/opus/task-17 --run --jobs 2\n"
        "  arcview matrix runs/opus/task-17 --run --gate 2 --state S5\n"
        "  arcview matrix runs/opus/task-17 --json | jq '.regressions'\n",
    )
    parser.add_argument("path", metavar="RUN", help="a run folder")
    parser.add_argument("--run", action="store_true", help="measure the missing cells")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="gate runs at once")
    parser.add_argument("--gate", metavar="K", action="append", help="only this row (repeatable)")
    parser.add_argument(
        "--state", metavar="ID", action="append", help="only this column (repeatable)"
    )
    parser.add_argument(
        "--no-reference", action="store_true", help="measure no cells of reference states"
    )
    add_engine(parser)
    add_json(parser, "as JSON, schema arcview/matrix/1")
    add_layout(parser)
    options = parser.parse_args(arguments)
    if not 1 <= options.jobs <= 64:
        raise UsageError(f"--jobs {options.jobs}: expected 1 to 64")
    return options


def _matrix(reruns: Reruns, options: argparse.Namespace) -> int:
    from arcview.session.matrix import Matrix
    from arcview.session.matrix_report import matrix_json, matrix_lines

    found = Matrix(reruns.opened, reruns)
    _check_names(found, options)
    outcome = None
    if options.run:
        plan = _plan(found, options)
        if plan.cells:
            reruns.engine().info()  # without one nothing is asked
            _confirm(reruns, plan, options)
            outcome = _run(found, plan, options)
    view, plan = found.view(), _plan(found, options)
    say_problems(reruns.store.problems)
    if options.json:
        run_id = reruns.opened.run.run_id
        print_json(matrix_json(view, plan, outcome, run_id, options.path))
    else:
        print_lines(matrix_lines(view, plan, options.path, glyphs()))
    if outcome is not None and outcome.is_cancelled:
        say(f"interrupted after {outcome.done} of {outcome.total}; the same command goes on")
        return EXIT_INTERRUPTED
    is_short = outcome is not None and (outcome.failed_controls or outcome.unmeasured)
    return EXIT_UNMEASURED if is_short else EXIT_OK


def _check_names(found: Matrix, options: argparse.Namespace) -> None:
    known = (
        ("--gate", options.gate, [gate.gate for gate in found.gates]),
        ("--state", options.state, [state.id for state in found.states]),
    )
    for option, asked, names in known:
        for name in asked or ():
            if name not in names:
                raise UsageError(f"{option} {name}: the run has {', '.join(names)}")


def _plan(found: Matrix, options: argparse.Namespace) -> MatrixPlan:
    return found.plan(
        gates=options.gate, states=options.state, with_reference=not options.no_reference
    )


def _confirm(reruns: Reruns, plan: MatrixPlan, options: argparse.Namespace) -> None:
    """Shows how many cells there are and how the first is run, and asks.

    Raises:
        ArcviewError: nothing can be run here; nobody is asked then.
        UsageError: there is nobody to ask, or the answer is no.
    """
    from arcview.session.matrix_report import plan_words

    words = f"to measure {place_words(options)}: {plan_words(plan, options.jobs)}"
    if options.yes:
        sys.stderr.write(f"{words}\n")
        return
    first = plan.cells[0]
    shown = reruns.plan(first.gate, reruns.target(first.state))
    confirm(shown, f"{words}; gate {first.gate} on {first.state} first:", options)


def _run(found: Matrix, plan: MatrixPlan, options: argparse.Namespace) -> MatrixOutcome:
    with Interrupts() as interrupts:
        return found.run(
            plan, jobs=options.jobs, on_event=_tell_cell(), cancelled=interrupts.is_set
        )


def _tell_cell() -> Callable[[MatrixEvent], None]:
    from arcview.session.matrix_run import MatrixPhase
    from arcview.session.plain_text_parts import duration

    signs = glyphs()

    def tell(event: MatrixEvent) -> None:
        where = f"gate {event.gate}" + (f" on {event.state}" if event.state is not None else "")
        if event.phase is MatrixPhase.CONTROL:
            say(f"{where}: control")
        elif event.phase is MatrixPhase.CONTROL_FAILS:
            say(f"{where}: the control fails, its cells stay unmeasured: {event.reason}")
        elif event.phase is MatrixPhase.DONE and event.verdict is not None:
            why = f" ({event.reason})" if event.reason else ""
            took = duration(event.duration_s)
            say(
                f"{event.done}/{event.total} {where}: {signs.verdict(event.verdict)} "
                f"{event.verdict.value}{why} {took}"
            )

    return tell


def whatif(arguments: Sequence[str]) -> int:
    """Prints what made a gate fail: the base, the stage's change, both, or the two together."""
    options = _whatif_options(arguments)
    with closing(open_reruns(options)) as reruns:
        return _whatif(reruns, options)


def _whatif_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = make_parser(
        "arcview whatif",
        "Find out whether a failing gate is the fault of the state before the stage or of the "
        "stage's own change: the gate is run on the reference base with the agent's change (X) "
        "and on the agent's base with the reference change (Y). What does not merge or cannot be "
        "measured is undetermined. The answer is kept in the sidecar.",
        "examples:\n"
        "  arcview whatif runs/opus/task-17 --gate 3\n"
        "  arcview whatif runs/opus/task-17 --gate 3 --json | jq .label\n",
    )
    parser.add_argument("path", metavar="RUN", help="a run folder")
    parser.add_argument("--gate", metavar="K", required=True, help="a stage gate that failed")
    parser.add_argument(
        "--times", metavar="N", type=int, default=3, help="runs of each tree (default 3)"
    )
    parser.add_argument("--again", action="store_true", help="answer anew whatever is kept")
    add_engine(parser)
    add_json(parser, "as JSON, schema arcview/whatif/1")
    add_layout(parser)
    options = parser.parse_args(arguments)
    if not 1 <= options.times <= 100:
        raise UsageError(f"--times {options.times}: expected 1 to 100")
    return options


def _whatif(reruns: Reruns, options: argparse.Namespace) -> int:
    from arcview.analysis.what_if import WhatIfLabel
    from arcview.session.what_if import WhatIfs
    from arcview.session.what_if_report import what_if_lines
    from arcview.session.what_if_store import what_if_json

    check_gate(reruns, options)
    asked = WhatIfs(reruns.opened, reruns)
    runs = asked.most_runs(options.gate, times=options.times, again=options.again)
    if runs:
        reruns.engine().info()  # without one nothing is begun
    if runs and not options.yes and (options.engine == "host" or not reruns.store.all()):
        _confirm_whatif(reruns, runs, options)
    with Interrupts() as interrupts:
        answer = asked.ask(
            options.gate,
            times=options.times,
            again=options.again,
            on_event=_tell_experiment,
            cancelled=interrupts.is_set,
        )
    say_problems((*reruns.store.problems, *asked.store.problems))
    if options.json:
        print_json(what_if_json(answer))
    else:
        print_lines(what_if_lines(answer, glyphs()))
    return EXIT_UNMEASURED if answer.label is WhatIfLabel.UNDETERMINED else EXIT_OK


def _confirm_whatif(reruns: Reruns, runs: int, options: argparse.Namespace) -> None:
    """Shows what would run, and asks.

    Raises:
        ArcviewError: nothing can be run here; nobody is asked then.
        UsageError: there is nobody to ask, or the answer is no.
    """
    target = reruns.default_target(options.gate)
    words = f"to run gate {options.gate} {place_words(options)}, up to {runs} times"
    confirm(reruns.plan(options.gate, target), words, options)


def _tell_experiment(event: WhatIfEvent) -> None:
    from arcview.session.what_if import WhatIfPhase

    if event.phase is WhatIfPhase.MERGING:
        say("merging")
    elif event.phase is WhatIfPhase.CONTROL:
        say("control: the reference state, and what was recorded")
    elif event.phase is WhatIfPhase.RUNNING:
        say(f"{event.label}: run {event.number} of {event.times}")
