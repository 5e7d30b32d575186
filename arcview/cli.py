"""Arguments → one call; every outcome → one line and an exit code.

Imports nothing heavy: each command imports what it needs. Only the command that opens the screens
imports `arcview.ui`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from arcview import __version__
from arcview.errors import ArcviewError, CancelledError

if TYPE_CHECKING:
    from arcview.config import Settings

EXIT_OK = 0
EXIT_DOES_NOT_HOLD = 1
"""What was asked for does not hold: `check` found a fault."""
EXIT_BAD_INPUT = 2
EXIT_INTERNAL = 70
"""A fault of arcview itself (`EX_SOFTWARE`)."""
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141

_EXIT_CODES = """\
exit codes:
  0  fine
  1  what was asked for does not hold (`check` found a fault)
  2  bad input or use, said in one line
"""

_MAIN_HELP = f"""\
commands:
  arcview PATH           open a run, or the runs below a folder (default: ./runs)
  arcview show PATH      print a run: verdicts, diffs stat, failing tests, self-tests
  arcview list DIR       print the runs below a folder, one line each
  arcview check PATH     list what is wrong with a run folder
  arcview schema [NAME]  print the JSON Schema of our formats
  arcview cache          show or clear what is kept to open runs faster
  arcview COMMAND --help

examples:
  arcview runs/opus/task-17
  arcview runs
  arcview ./show         a run that is called like a command

{_EXIT_CODES}"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line instead of printing its usage."""

    def error(self, message: str) -> NoReturn:
        raise _UsageError(f"{self.prog}: {message} (see {self.prog} --help)")


class _UsageError(ArcviewError):
    """The arguments make no sense."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; never raises, never prints a traceback."""
    _never_fail_on_encoding()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        command = _COMMANDS.get(arguments[0]) if arguments else None
        code = command(arguments[1:]) if command is not None else _open(arguments)
        sys.stdout.flush()
    except SystemExit as stop:  # argparse leaves this way after --help and --version
        return stop.code if isinstance(stop.code, int) else EXIT_BAD_INPUT
    except BrokenPipeError:
        return _reader_left()
    except KeyboardInterrupt:
        _say("interrupted")
        return EXIT_INTERRUPTED
    except CancelledError as error:
        _say(str(error))
        return EXIT_INTERRUPTED
    except ArcviewError as error:
        _say(str(error))
        return error.exit_code
    except Exception as error:  # noqa: BLE001 -- the last border: a user never sees a traceback
        return _internal_error(error)
    return code


def _open(arguments: Sequence[str]) -> int:
    """Opens the screens on a run or on a folder of runs."""
    parser = _parser("arcview", "Replay multi-stage coding-agent runs in the terminal.", _MAIN_HELP)
    parser.add_argument("path", metavar="PATH", nargs="?", help="a run, or a folder of runs")
    parser.add_argument("--at", metavar="ADDRESS", help="go there: gate:3/f2p/ID, file:S3/PATH#L10")
    _add_layout(parser)
    parser.add_argument("--version", action="version", version=f"arcview {__version__}")
    options = parser.parse_args(arguments)
    if options.path is None and not Path("runs").is_dir():
        raise _UsageError("give a run folder, or start where ./runs is (see arcview --help)")
    path = Path(options.path or "runs")
    if not path.exists():
        raise ArcviewError(f"{path}: no such file or folder")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise _UsageError(f"the screens need a terminal; use `arcview show {path}` instead")
    from arcview.config import load_settings
    from arcview.ui.app import run_app  # textual: about 250 ms that only the screens pay

    return run_app(path, settings=load_settings(), layout=options.layout, at=options.at)


def _show(arguments: Sequence[str]) -> int:
    parser = _parser(
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
    parser.add_argument("--json", action="store_true", help="the JSON twin, schema arcview/show/1")
    _add_layout(parser)
    options = parser.parse_args(arguments)
    from arcview.config import load_settings
    from arcview.session.opened import OpenRun

    run = OpenRun.open(Path(options.path), layout=options.layout, settings=load_settings())
    if options.stage is not None and run.run.stage(options.stage) is None:
        known = ", ".join(str(stage.index) for stage in run.run.stages)
        raise _UsageError(f"--stage {options.stage}: the run has stages {known}")
    if options.json:
        from arcview.session import twin

        print(twin.dumps(twin.show(run, options.stage), indent=2))
    else:
        from arcview.session.plain_text import Glyphs, show_lines

        _print_lines(show_lines(run, options.stage, Glyphs.for_encoding(sys.stdout.encoding)))
    return EXIT_OK


def _list(arguments: Sequence[str]) -> int:
    parser = _parser(
        "arcview list",
        "Print the runs below a folder. The table is made from summary files; --json opens each "
        "run and prints the object of `arcview show` without single tests, one run a line.",
        "examples:\n"
        "  arcview list runs\n"
        "  arcview list runs --json | jq -r 'select(.first_bad_stage == 2).run_id'\n",
    )
    parser.add_argument("path", metavar="DIR", help="a folder with runs")
    parser.add_argument("--json", action="store_true", help="one JSON object per run and line")
    options = parser.parse_args(arguments)
    from arcview.session.library import scan

    rows = scan(Path(options.path))
    if options.json:
        from arcview.config import load_settings

        settings = load_settings()
        found = _print_lines(_json_line(row.path, row.error, settings) for row in rows)
    else:
        from arcview.session.plain_text import Glyphs, list_lines

        found = _print_lines(list_lines(rows, Glyphs.for_encoding(sys.stdout.encoding)))
    if not found:
        _say(f"no runs below {options.path}")
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


def _check(arguments: Sequence[str]) -> int:
    parser = _parser(
        "arcview check",
        "List every fault of a run folder with its file and field, and what each missing optional "
        "part switches off. Exits 1 when there is a fault.",
        "examples:\n  arcview check runs/opus/task-17\n  arcview check runs/opus/task-17 --json\n",
    )
    parser.add_argument("path", metavar="PATH", help="a run folder")
    parser.add_argument("--json", action="store_true", help="as JSON: faults and off")
    _add_layout(parser)
    options = parser.parse_args(arguments)
    from arcview.readers.check import check

    report = check(Path(options.path), options.layout)
    if options.json:
        from arcview.session import twin

        found = {
            name: [{"where": problem.where, "what": problem.what} for problem in problems]
            for name, problems in (("faults", report.faults), ("off", report.off))
        }
        print(twin.dumps({"schema": "arcview/check/1", "path": options.path, **found}, indent=2))
    else:
        lines = [f"fault: {problem.where}: {problem.what}" for problem in report.faults]
        lines += [f"off:   {problem.where}: {problem.what}" for problem in report.off]
        count = len(report.faults)
        lines.append(f"{options.path}: {count or 'no'} fault{'' if count == 1 else 's'}")
        _print_lines(_clean(line) for line in lines)
    return EXIT_DOES_NOT_HOLD if report.faults else EXIT_OK


def _schema(arguments: Sequence[str]) -> int:
    parser = _parser(
        "arcview schema",
        "Print the JSON Schema of a format that arcview reads and writes, or of all of them.",
        "examples:\n  arcview schema run\n  arcview schema > schemas.json\n",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="run, chain, result, test, show …")
    options = parser.parse_args(arguments)
    from arcview.schema import json_schemas

    schemas = json_schemas()
    if options.name is not None and options.name not in schemas:
        raise _UsageError(f"{options.name}: no such format; known: {', '.join(schemas)}")
    wanted: object = schemas if options.name is None else schemas[options.name]
    print(json.dumps(wanted, indent=2))
    return EXIT_OK


def _cache(arguments: Sequence[str]) -> int:
    parser = _parser(
        "arcview cache",
        "Show what is kept to open runs faster, or remove it. Nothing of a run itself is touched.",
        "examples:\n"
        "  arcview cache\n  arcview cache clear\n  arcview cache clear runs/opus/task-17\n",
    )
    parser.add_argument("action", choices=("show", "clear"), nargs="?", default="show")
    parser.add_argument("run", metavar="RUN", nargs="?", help="clear what is kept of this run only")
    options = parser.parse_args(arguments)
    from arcview.config import load_settings
    from arcview.states import cache

    root = cache.cache_root()
    if options.action == "clear":
        freed = cache.clear(root, Path(options.run) if options.run is not None else None)
        print(f"{_size(freed)} set free")
        return EXIT_OK
    usage = cache.cache_usage(root, load_settings().cache_limit_mb << 20)
    _print_lines(
        _clean(
            f"{_size(run.size_bytes):>9}  {run.last_opened:%Y-%m-%d %H:%M}  {run.path or run.key}"
        )
        for run in usage.runs
    )
    print(f"{_size(usage.total_bytes):>9}  of {_size(usage.limit_bytes)} in {_clean(str(root))}")
    return EXIT_OK


_COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "show": _show,
    "list": _list,
    "check": _check,
    "schema": _schema,
    "cache": _cache,
}


def _parser(program: str, description: str, epilog: str) -> _Parser:
    return _Parser(
        prog=program,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_layout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--layout", metavar="ID", help="read it as this layout (native, slop_code_bench …)"
    )


def _size(size_bytes: int) -> str:
    if size_bytes < 1 << 20:
        return f"{size_bytes / 1024:.0f} kB"
    return f"{size_bytes / (1 << 20):.1f} MB"


def _print_lines(lines: Iterable[str]) -> int:
    count = 0
    for line in lines:
        print(line)
        count += 1
    return count


def _clean(text: str) -> str:
    from arcview.text import clean

    return clean(text)


def _say(line: str) -> None:
    """One clean line on stderr."""
    one_line = " ".join(_clean(line).split())
    with suppress(OSError):
        print(f"arcview: {one_line}".replace("arcview: arcview", "arcview"), file=sys.stderr)


def _never_fail_on_encoding() -> None:
    """A character that the terminal's encoding lacks is written as its escape."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _reader_left() -> int:
    """Whoever read our output has gone; the interpreter must not complain about it at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_BROKEN_PIPE


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
    _say(f"internal error: {type(error).__name__}: {error}{where}; please report it")
    return EXIT_INTERNAL
