"""Arguments → one call; every outcome → one line and an exit code.

Imports nothing heavy: each command lives in a module that is imported when it is called, and
imports what it needs. Only opening the screens imports `arcview.ui`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from arcview import __version__
from arcview.cli.parts import (
    EXIT_BAD_INPUT,
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    Parser,
    UsageError,
    add_layout,
    given_in,
    make_parser,
    path_of,
    reader_left,
    say,
)
from arcview.errors import ArcviewError, CancelledError
from arcview.files import exists, is_dir

if TYPE_CHECKING:
    from arcview.config import LabelFlags

_WORD = re.compile(r"[A-Za-z]+")
Command = Callable[[Sequence[str]], int]

_COMMANDS = {
    "show": ("runs", "show"),
    "list": ("runs", "list_runs"),
    "check": ("runs", "check"),
    "detect": ("intake", "detect"),
    "formats": ("intake", "formats"),
    "import": ("intake", "import_run"),
    "contract": ("evidence", "contract"),
    "compare": ("evidence", "compare"),
    "find": ("evidence", "find"),
    "export": ("evidence", "export"),
    "annotate": ("annotate", "annotate"),
    "stats": ("corpus", "stats"),
    "agreement": ("corpus", "agreement"),
    "audit": ("corpus", "audit"),
    "rerun": ("reruns", "rerun"),
    "matrix": ("matrix", "matrix"),
    "whatif": ("matrix", "whatif"),
    "schema": ("upkeep", "schema"),
    "cache": ("upkeep", "cache"),
}
"""Command → module below this package and function."""

_EXIT_CODES = """\
exit codes:
  0  fine
  1  what was asked for does not hold (`check` found a fault, the gate of `rerun` failed)
  2  bad input or use, said in one line
  3  unmeasured, or no container engine
  130  interrupted
"""

_MAIN_HELP = f"""\
commands:
  arcview PATH           open a run, or the runs below a folder (default: ./runs)
  arcview show PATH      print a run: verdicts, diffs stat, failing tests, self-tests
  arcview list DIR       print the runs below a folder, one line each
  arcview check PATH     list what is wrong with a run folder
  arcview detect PATH    say what a file or folder is recognised as, and why
  arcview formats        list the layouts, trajectories and reports that are read
  arcview import A OUT   write a run, or each run below a folder, as run folders of ours
  arcview contract PATH  print which contract items are there in which state
  arcview compare A B    open two runs of one task side by side
  arcview find PATH TEXT search steps, diffs, gate messages and logs of a run
  arcview export PATH    write a report of one run as Markdown or HTML
  arcview annotate …     list, check, export and import labels; print what is to be labelled
  arcview stats DIR      print figures over many runs, with intervals
  arcview agreement PATH print how far annotators agree, by field
  arcview audit PATH     print where a run may not have kept to its protocol
  arcview rerun RUN      run a gate again in a fresh offline container
  arcview matrix RUN     print what each gate says of each state; measure what is missing
  arcview whatif RUN     tell whether the base or the stage's change made a gate fail
  arcview schema [NAME]  print the JSON Schema of our formats
  arcview cache          show or clear what is kept to open runs faster
  arcview COMMAND --help

examples:
  arcview runs/opus/task-17
  arcview runs
  arcview ./show         a run that is called like a command

{_EXIT_CODES}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; never raises, never prints a traceback."""
    _never_fail_on_encoding()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        command = _command(arguments[0]) if arguments else None
        if command is None:
            _check_command(arguments)
        code = command(arguments[1:]) if command is not None else _open(arguments)
        sys.stdout.flush()
    except SystemExit as stop:  # argparse leaves this way after --help and --version
        return stop.code if isinstance(stop.code, int) else EXIT_BAD_INPUT
    except BrokenPipeError:
        return reader_left()
    except KeyboardInterrupt:
        say("interrupted")
        return EXIT_INTERRUPTED
    except CancelledError as error:
        say(str(error))
        return EXIT_INTERRUPTED
    except ArcviewError as error:
        say(str(error))
        return error.exit_code
    except Exception as error:  # noqa: BLE001 -- the last border: a user never sees a traceback
        return _internal_error(error)
    return code


def _command(name: str) -> Command | None:
    if name not in _COMMANDS:
        return None
    module, function = _COMMANDS[name]
    return cast("Command", getattr(import_module(f"arcview.cli.{module}"), function))


def _check_command(arguments: Sequence[str]) -> None:
    """Refuses a word that is no command and no path, where a command was meant.

    Raises:
        UsageError: names the command that is spelled nearly so.
    """
    word = arguments[0] if arguments else ""
    if not _WORD.fullmatch(word) or exists(Path(word)):
        return
    from difflib import get_close_matches  # only who mistyped needs it

    near = get_close_matches(word, _COMMANDS, 1, cutoff=0.75)
    if near:
        raise UsageError(f"no command and no path is called {word}; did you mean {near[0]}?")
    if len(arguments) > 1 and not arguments[1].startswith("-"):
        raise UsageError(f"no command and no path is called {word} (see arcview --help)")


def _open(arguments: Sequence[str]) -> int:
    """Opens the screens on a run or on a folder of runs."""
    parser = make_parser(
        "arcview", "Replay multi-stage coding-agent runs in the terminal.", _MAIN_HELP
    )
    parser.add_argument("path", metavar="PATH", nargs="?", help="a run, or a folder of runs")
    parser.add_argument("--at", metavar="ADDRESS", help="go there: gate:3/f2p/ID, file:S3/PATH#L10")
    _add_labels(parser)
    add_layout(parser)
    parser.add_argument("--version", action="version", version=f"arcview {__version__}")
    options = parser.parse_args(arguments)
    if options.path is None and not is_dir(Path("runs")):
        raise UsageError("give a run folder, or start where ./runs is (see arcview --help)")
    path = path_of(options.path or "runs")
    if not exists(path):
        raise ArcviewError(f"{path}: no such file or folder")
    labels = _label_flags(options)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"the screens need a terminal; use `arcview show {path}` instead")
    from arcview.config import load_settings
    from arcview.ui.app import run_app  # textual: about 250 ms that only the screens pay

    return run_app(
        path,
        settings=load_settings(),
        layout=options.layout,
        given=given_in(options),
        at=options.at,
        labels=labels,
    )


def _add_labels(parser: Parser) -> None:
    parser.add_argument("--annotator", metavar="NAME", help="whoever labels")
    parser.add_argument("--sidecar", metavar="DIR", help="where labels are kept")
    parser.add_argument("--scheme", metavar="FILE", help="a label scheme of one's own (TOML)")
    parser.add_argument(
        "--blind",
        action="store_true",
        help="hide what others and rules say at first",
    )


def _label_flags(options: argparse.Namespace) -> LabelFlags | None:
    """What is said of labelling; what is wrong with it is said before the screens open."""
    given = (options.annotator, options.sidecar, options.scheme)
    if given == (None, None, None) and not options.blind:
        return None
    from arcview.annotations.scheme import load_scheme  # only who says so
    from arcview.annotations.store import checked_annotator
    from arcview.config import LabelFlags

    if options.annotator is not None:
        checked_annotator(options.annotator)
    if options.scheme is not None:
        load_scheme(Path(options.scheme))
    sidecar, scheme = (Path(one) if one is not None else None for one in given[1:])
    return LabelFlags(options.annotator, sidecar, scheme, options.blind)


def _never_fail_on_encoding() -> None:
    """A character that the terminal's encoding lacks is written as its escape."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _internal_error(error: Exception) -> int:
    import traceback

    from arcview.states.cache import cache_root

    log = cache_root() / "last-error.log"
    where = f"; the details are in {log}"
    try:
        log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        log.write_text(
            f"arcview {__version__}\n" + "".join(traceback.format_exception(error)),
            encoding="utf-8",
            errors="backslashreplace",
        )
    except OSError:
        where = ""
    say(f"internal error: {type(error).__name__}: {error}{where}; please report it")
    return EXIT_INTERNAL
