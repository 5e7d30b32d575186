"""`arcview rerun`: runs a gate again on the workspace as it stood, beside the recorded result."""

from __future__ import annotations

import argparse
import codecs
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, TextIO

from arcview.cli.parts import (
    EXIT_DOES_NOT_HOLD,
    EXIT_INTERRUPTED,
    EXIT_OK,
    UsageError,
    add_json,
    add_layout,
    clean_line,
    glyphs,
    make_parser,
    open_asked,
    print_json,
    print_lines,
    say,
)
from arcview.cli.unhurried import Unhurried

if TYPE_CHECKING:
    from types import FrameType

    from arcview.gates.results import RerunResult
    from arcview.model.problem import Problem
    from arcview.session.reruns import Reruns
    from arcview.session.reruns_model import RerunPlan

EXIT_UNMEASURED = 3


def add_engine(parser: argparse.ArgumentParser) -> None:
    """The options of every command that runs gates."""
    parser.add_argument(
        "--engine",
        metavar="auto|host|URL",
        default="auto",
        help="a Docker-compatible engine, found by itself (default); a URL of one; or host: "
        "no container, in a temporary copy on this machine",
    )
    parser.add_argument("--pull", action="store_true", help="fetch the image where it is not there")
    parser.add_argument(
        "--allow-other-image",
        action="store_true",
        help="run in an image of the recorded name that is not the recorded one",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before the first run")
    parser.add_argument("--sidecar", metavar="DIR", help="where results are kept")


def sidecar_in(options: argparse.Namespace) -> Path | None:
    """The flag, else the environment (null says so), else the setting."""
    from arcview.config import load_settings

    if options.sidecar is not None:
        return Path(options.sidecar)
    return None if os.environ.get("ARCVIEW_SIDECAR") else load_settings().sidecar


def open_reruns(options: argparse.Namespace) -> Reruns:
    """The reruns of the run that was asked for.

    Raises:
        ArcviewError: it is not a run, or no engine has such a name.
    """
    from arcview.gates.engines import is_url
    from arcview.session.reruns import Reruns
    from arcview.session.reruns_model import RerunOptions

    if options.engine not in ("auto", "host") and not is_url(options.engine):
        raise UsageError(
            f"--engine {options.engine}: expected auto, host, or a URL such as unix://…"
        )
    asked = RerunOptions(options.engine, options.pull, options.allow_other_image)
    return Reruns(open_asked(options), sidecar=sidecar_in(options), options=asked)


def check_gate(reruns: Reruns, options: argparse.Namespace) -> None:
    """Refuses a gate that the run does not have.

    Raises:
        UsageError: names those that it has.
    """
    known = reruns.opened.run.gate_ids()
    if options.gate not in known:
        raise UsageError(f"--gate {options.gate}: the run has {', '.join(known)}")


def _check_state(reruns: Reruns, options: argparse.Namespace) -> None:
    known = [state.id for state in reruns.opened.run.states]
    is_of_a_step = "@" in (options.state or "")
    if options.state is not None and options.state not in known and not is_of_a_step:
        raise UsageError(f"--state {options.state}: the run has {', '.join(known) or 'none'}")


def confirm(plan: RerunPlan, words: str, options: argparse.Namespace) -> None:
    """Shows how a gate would be run, and asks.

    Args:
        plan: The gate, or one of several.
        words: What is about to be done.
        options: Of the command.

    Raises:
        EngineUnavailableError: nothing can be run here; nobody is asked then.
        UsageError: there is nobody to ask, or the answer is no.
    """
    from arcview.gates.errors import EngineUnavailableError
    from arcview.session.reruns_report import plan_lines

    if plan.unavailable is not None:
        raise EngineUnavailableError(plan.unavailable)
    for line in (words, *plan_lines(plan)):
        sys.stderr.write(f"{line}\n")
    if not sys.stdin.isatty():
        raise UsageError("nobody to ask: add --yes to run it unasked")
    sys.stderr.write("run it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was run")


def place_words(options: argparse.Namespace) -> str:
    """Where gates are run, for whoever is asked."""
    return "on this machine, without containers" if options.engine == "host" else "in containers"


def say_problems(problems: Iterable[Problem]) -> None:
    """Names what is stored and not used, one line each."""
    for problem in problems:
        say(f"{problem.where}: {problem.what}")


def rerun(arguments: Sequence[str]) -> int:
    """Runs a gate again."""
    options = _options(arguments)
    with closing(open_reruns(options)) as reruns:
        return _rerun(reruns, options)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = make_parser(
        "arcview rerun",
        "Run a gate again in a fresh offline container, on the workspace as it stood after a "
        "stage. The recorded result stays as it is; the new one is kept in the sidecar.",
        "examples:\n"
        "  arcview rerun runs/opus/task-17 --gate 3\n"
        "  arcview rerun runs/opus/task-17 --gate 3 --state S5 --times 5\n"
        "  arcview rerun runs/opus/task-17 --gate 3 --engine host\n",
    )
    parser.add_argument("path", metavar="RUN", help="a run folder")
    parser.add_argument("--gate", metavar="K", required=True, help="1 … n, or chain")
    parser.add_argument("--state", metavar="ID", help="S3, R2, S2.refactor (default: as recorded)")
    parser.add_argument("--times", metavar="N", type=int, default=1, help="results to have")
    parser.add_argument("--again", action="store_true", help="run it whatever is kept already")
    add_engine(parser)
    add_json(parser, "print one JSON object, and the gate's output to standard error")
    add_layout(parser)
    options = parser.parse_args(arguments)
    if not 1 <= options.times <= 1000:
        raise UsageError(f"--times {options.times}: expected 1 to 1000")
    return options


def _rerun(reruns: Reruns, options: argparse.Namespace) -> int:
    check_gate(reruns, options)
    _check_state(reruns, options)
    target = (
        reruns.target(options.state)
        if options.state is not None
        else reruns.default_target(options.gate)
    )
    plan = reruns.plan(options.gate, target)
    if plan.unavailable is not None:
        return _without_engine(plan, options)
    # Asked before the first rerun of a run, and before every one on the host.
    if not options.yes and (options.engine == "host" or not reruns.store.all()):
        often = "once" if options.times == 1 else f"{options.times} times"
        confirm(plan, f"gate {options.gate} on {target.label}, {often}", options)
    with Interrupts() as interrupts:
        show = LiveText(sys.stderr if options.json else sys.stdout)
        unhurried = Unhurried(show.feed)
        results = reruns.run(
            options.gate,
            target,
            times=options.times,
            again=options.again,
            on_output=unhurried.feed,
            cancelled=interrupts.is_set,
        )
        unhurried.finish()
        show.finish()
    if interrupts.is_set():
        say("interrupted; the container is gone, what it printed is kept")
        return EXIT_INTERRUPTED
    return _show(reruns, results, options)


def _show(reruns: Reruns, results: Sequence[RerunResult], options: argparse.Namespace) -> int:
    from arcview.model.results import Verdict
    from arcview.session.reruns_report import rerun_json, result_lines

    comparison = reruns.comparison(results[-1])
    flakiness = reruns.flakiness(tuple(results))
    say_problems(reruns.store.problems)
    if options.json:
        run_id = reruns.opened.run.run_id
        print_json(rerun_json(run_id, results, comparison, flakiness))
    else:
        print_lines(result_lines(results, comparison, flakiness, glyphs()))
    codes = {Verdict.PASSED: EXIT_OK, Verdict.FAILED: EXIT_DOES_NOT_HOLD}
    return codes.get(results[-1].verdict, EXIT_UNMEASURED)


def _without_engine(plan: RerunPlan, options: argparse.Namespace) -> int:
    from arcview.session.reruns_report import stored_line

    say(f"{plan.unavailable}")
    for result in plan.known:
        say(f"kept from before: {stored_line(result, glyphs())}")
    image = plan.definition.image_ref
    unnamed = "" if image is not None else ", once IMAGE is replaced: the run names no image"
    say(f"without arcview, this does the same{unnamed}:")
    if options.json:  # standard output is for one JSON object or none
        sys.stderr.write(f"{clean_line(plan.shell)}\n")
    else:
        print_lines([clean_line(plan.shell)])
    return EXIT_UNMEASURED


class Interrupts:
    """Turns Ctrl+C and the usual ways to end a program into a flag, so that containers go too."""

    def __init__(self) -> None:
        self._flag = Event()
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interrupts:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def is_set(self) -> bool:
        """Whether to stop."""
        return self._flag.is_set()

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._flag.set()


class LiveText:
    """Writes what a gate prints as it comes, clean; called from threads of the engine.

    Args:
        stream: Where to.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._is_read = True

    def feed(self, data: bytes) -> None:
        """Takes in a piece; only what could still become part of an escape is held back."""
        self._held += self._decoder.decode(data)
        whole, _, rest = self._held.rpartition("\n")
        if whole or self._held.endswith("\n"):
            self._write("".join(f"{clean_line(line)}\n" for line in whole.split("\n")))
            self._held = rest
        if self._held and not {"\x1b", "\r"} & set(self._held):
            self._write(clean_line(self._held))
            self._held = ""

    def finish(self) -> None:
        """Writes what is held back."""
        if self._held:
            self._write(clean_line(self._held) + "\n")
            self._held = ""

    def _write(self, text: str) -> None:
        if self._is_read:
            try:
                self._stream.write(text)
                self._stream.flush()
            except BrokenPipeError:  # the gate goes on; what it prints is kept
                self._is_read = False
