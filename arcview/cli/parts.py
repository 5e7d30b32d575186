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

from arcview.errors import ArcviewError

if TYPE_CHECKING:
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
    """The option that names a reader."""
    parser.add_argument(
        "--layout", metavar="ID", help="read it as this layout (native, slop_code_bench …)"
    )


def add_json(parser: argparse._ActionsContainer, help_text: str) -> None:
    """The option for programs."""
    parser.add_argument("--json", action="store_true", help=help_text)


def open_run(path: str, layout: str | None) -> OpenRun:
    """Opens a run under the user's settings.

    Raises:
        ArcviewError: it is not a run, or the settings cannot be read.
    """
    from arcview.config import load_settings
    from arcview.session.opened import OpenRun

    return OpenRun.open(Path(path), layout=layout, settings=load_settings())


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
