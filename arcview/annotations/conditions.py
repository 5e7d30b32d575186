"""A team's own wordings of broken machinery, beside those that are shipped.

`infrastructure.toml` in the sidecar: `[[condition]]` tables with `title` and `pattern`, a regular
expression that is looked for in failures whatever its case.
"""

from __future__ import annotations

import re
from pathlib import Path

from arcview.analysis.infrastructure import CONDITIONS, Condition
from arcview.errors import BadInputError
from arcview.files import in_words, is_file, read_text

NAME = "infrastructure.toml"


def team_conditions(root: Path) -> tuple[Condition, ...]:
    """The conditions to look for: the team's own first, then the shipped ones.

    Args:
        root: The sidecar of all runs.

    Raises:
        BadInputError: the team's file cannot be read, is not TOML, or has an unsound condition.
    """
    path = root / NAME
    if not is_file(path):
        return CONDITIONS
    import tomllib  # 5 ms that only who has such a file pays

    try:
        data = tomllib.loads(read_text(path))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(str(path), f"cannot be read: {in_words(error)}") from error
    except tomllib.TOMLDecodeError as error:
        raise BadInputError(str(path), f"not TOML: {error}") from error
    tables = data.get("condition")
    if not isinstance(tables, list):
        raise BadInputError(str(path), "expected tables", "condition")
    own = (_condition(path, table, f"condition[{n}]") for n, table in enumerate(tables))
    return (*own, *CONDITIONS)


def _condition(path: Path, table: object, where: str) -> Condition:
    title = table.get("title") if isinstance(table, dict) else None
    pattern = table.get("pattern") if isinstance(table, dict) else None
    if not isinstance(title, str) or not isinstance(pattern, str):
        raise BadInputError(str(path), "expected a title and a pattern", where)
    try:
        return Condition(title, re.compile(pattern, re.IGNORECASE))
    except re.error as error:
        what = f"not a regular expression: {error.msg}"
        raise BadInputError(str(path), what, f"{where}.pattern") from error
