"""`arcview schema` and `cache`: our formats, and what is kept to open runs faster."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from arcview.cli.parts import EXIT_OK, UsageError, clean_line, make_parser, print_lines


def schema(arguments: Sequence[str]) -> int:
    """Prints the JSON Schema of a format."""
    parser = make_parser(
        "arcview schema",
        "Print the JSON Schema of a format that arcview reads and writes, or of all of them.",
        "examples:\n  arcview schema run\n  arcview schema > schemas.json\n",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="run, chain, result, test, show …")
    options = parser.parse_args(arguments)
    from arcview.schema import json_schemas

    schemas = json_schemas()
    if options.name is not None and options.name not in schemas:
        raise UsageError(f"{options.name}: no such format; known: {', '.join(schemas)}")
    wanted: object = schemas if options.name is None else schemas[options.name]
    print_lines([json.dumps(wanted, indent=2)])
    return EXIT_OK


def cache(arguments: Sequence[str]) -> int:
    """Shows or clears what is kept."""
    parser = make_parser(
        "arcview cache",
        "Show what is kept to open runs faster, or remove it. Nothing of a run itself is touched.",
        "examples:\n"
        "  arcview cache\n  arcview cache clear\n  arcview cache clear runs/opus/task-17\n",
    )
    parser.add_argument("action", choices=("show", "clear"), nargs="?", default="show")
    parser.add_argument("run", metavar="RUN", nargs="?", help="clear what is kept of this run only")
    options = parser.parse_args(arguments)
    from arcview.config import load_settings
    from arcview.states import cache as kept

    root = kept.cache_root()
    if options.action == "clear":
        freed = kept.clear(root, Path(options.run) if options.run is not None else None)
        print_lines([f"{_size(freed)} set free"])
        return EXIT_OK
    usage = kept.cache_usage(root, load_settings().cache_limit_mb << 20)
    print_lines(
        clean_line(
            f"{_size(run.size_bytes):>9}  {run.last_opened:%Y-%m-%d %H:%M}  {run.path or run.key}"
        )
        for run in usage.runs
    )
    total = f"{_size(usage.total_bytes):>9}  of {_size(usage.limit_bytes)}"
    print_lines([f"{total} in {clean_line(str(root))}"])
    return EXIT_OK


def _size(size_bytes: int) -> str:
    if size_bytes < 1 << 20:
        return f"{size_bytes / 1024:.0f} kB"
    return f"{size_bytes / (1 << 20):.1f} MB"
