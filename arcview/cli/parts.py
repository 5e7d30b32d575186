"""What all commands share: the parser, exit codes, and how lines reach the terminal.

Imports nothing heavy.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from arcview.errors import ArcviewError, UnknownLayoutError
from arcview.files import is_dir

if TYPE_CHECKING:
    from arcview.readers.protocols import Given
    from arcview.session.opened import OpenRun
    from arcview.session.plain_text_parts import Glyphs

EXIT_OK = 0
EXIT_DOES_NOT_HOLD = 1
"""What was asked for does not hold: `check` found a fault."""
EXIT_BAD_INPUT = 2
EXIT_INTERNAL = 70
"""A fault of arcview itself (`EX_SOFTWARE`)."""
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


class UsageError(ArcviewError):
    """The arguments make no sense."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line instead of printing its usage."""

    def error(self, message: str) -> NoReturn:
        """Raises instead of exiting."""
        raise UsageError(f"{self.prog}: {message} (see {self.prog} --help)")


def make_parser(program: str, description: str, epilog: str) -> Parser:
    """A parser whose help ends in examples."""
    return Parser(
        prog=program,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_layout(parser: argparse.ArgumentParser) -> None:
    """The options for what detection cannot know."""
    parser.add_argument(
        "--as",
        dest="layout",
        metavar="LAYOUT",
        help="read it as this layout or format (`arcview formats` lists them)",
    )
    parser.add_argument(
        "--trajectory", metavar="FILE", help="what the agent did, where the run does not hold it"
    )
    parser.add_argument(
        "--base",
        metavar="DIR|GITREF",
        help="the workspace before the first stage: a folder, REPOSITORY@REF, or a ref of the run",
    )


def add_json(parser: argparse._ActionsContainer, help_text: str) -> None:
    """The option for programs."""
    parser.add_argument("--json", action="store_true", help=help_text)


def given_in(options: argparse.Namespace) -> Given | None:
    """What the user named besides the run; null where that is nothing."""
    if options.trajectory is None and options.base is None:
        return None
    from arcview.readers.protocols import Given

    trajectory = Path(options.trajectory) if options.trajectory is not None else None
    return Given(trajectory, options.base)


def open_asked(options: argparse.Namespace) -> OpenRun:
    """Opens the run of `options.path` as the user asked for it (see `add_layout`).

    Raises:
        ArcviewError: it is not a run, or the settings cannot be read.
    """
    return open_run(options.path, options.layout, given_in(options))


def path_of(text: str) -> Path:
    """A path that the user gave; `..` is followed, since layouts go by what folders are called."""
    path = Path(text)
    return path.resolve() if ".." in path.parts else path


def open_run(path: str, layout: str | None, given: Given | None = None) -> OpenRun:
    """Opens a run under the user's settings; of a folder with one run below it, that run.

    Raises:
        ArcviewError: it is not a run, or the settings cannot be read.
    """
    from arcview.config import load_settings
    from arcview.session.opened import OpenRun

    settings = load_settings()
    place = path_of(path)
    try:
        return OpenRun.open(place, layout=layout, given=given, settings=settings)
    except UnknownLayoutError:
        only = None if layout is not None else only_run_below(place)
        if only is None:
            raise
    return OpenRun.open(only, given=given, settings=settings)


def only_run_below(path: Path) -> Path | None:
    """The one run below a folder that is none itself; null where there are several or none."""
    from itertools import islice

    from arcview.readers.registry import iter_runs

    found = list(islice(iter_runs(path), 2)) if is_dir(path) else []
    return found[0] if len(found) == 1 else None


def say_no_runs(path: Path) -> None:
    """Says that no run lies below a folder, and how to open what lies there instead."""
    from arcview.readers.unlisted import in_place_of_runs

    instead = in_place_of_runs(path) if is_dir(path) else None
    say(f"no runs below {path}" + (f", but {instead}" if instead is not None else ""))


def checked_stage(run: OpenRun, stage: int | None) -> int | None:
    """The stage that was asked for.

    Raises:
        UsageError: the run has no such stage.
    """
    if stage is not None and run.run.stage(stage) is None:
        known = ", ".join(str(found.index) for found in run.run.stages)
        raise UsageError(f"--stage {stage}: the run has stages {known}")
    return stage


def glyphs() -> Glyphs:
    """What standard output can show."""
    from arcview.session.plain_text_parts import Glyphs

    return Glyphs.for_encoding(sys.stdout.encoding)


def print_json(value: object) -> None:
    """One JSON document, in ASCII."""
    from arcview.session import twin

    print_lines([twin.dumps(value, indent=2)])


def print_lines(lines: Iterable[str]) -> int:
    """Writes lines that are clean already; says how many."""
    count = 0
    for line in lines:
        sys.stdout.write(line + "\n")
        count += 1
    return count


def clean_line(text: str) -> str:
    """A text that a terminal can only print."""
    from arcview.text import clean

    return clean(text)


def say(line: str) -> None:
    """One clean line on stderr."""
    one_line = " ".join(clean_line(line).split())
    with suppress(OSError):
        sys.stderr.write(f"arcview: {one_line}\n".replace("arcview: arcview", "arcview"))


def reader_left() -> int:
    """Whoever read our output has gone; the interpreter must not complain about it at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_BROKEN_PIPE
