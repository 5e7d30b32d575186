"""Lines of a Claude Code log → records. Damage costs the damaged line, never the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from arcview.model.problem import Problem

Record = Mapping[str, object]


@dataclass(slots=True)
class Lines:
    """What a file holds."""

    shown: str
    """The file, as the user would name it."""
    records: list[tuple[int, object]] = field(default_factory=list)
    """1-based line and parsed value; values that are no mapping are kept as they are."""
    problems: list[Problem] = field(default_factory=list)

    def damage(self, line: int, what: str) -> None:
        """Notes what is wrong with a line."""
        self.problems.append(Problem(f"{self.shown}: line {line}", what))


def kind_of(record: Record) -> str | None:
    """The type that a record names; null when it is missing or no text."""
    kind = record.get("type")
    return kind if isinstance(kind, str) else None


def parse_lines(data: bytes, shown: str) -> Lines:
    """Parses JSON Lines, or one JSON document where the file is that.

    A byte-order mark is skipped, NUL padding removed, bytes that are not UTF-8 replaced and
    `NaN` read as text, each with a remark; lines that are not JSON are reported with their size.

    Args:
        data: The file.
        shown: How the user would name it.
    """
    lines = Lines(shown)
    if not data.strip(b"\0 \t\r\n"):
        what = "the file is empty" if not data else f"{len(data)} bytes, all blank or NUL"
        lines.problems.append(Problem(shown, what))
        return lines
    data = data.removeprefix(b"\xef\xbb\xbf")
    document = _document(data)
    if document is not None:
        lines.records = list(enumerate(document, start=1))
        return lines
    split = data.split(b"\n")
    is_last_whole = not split[-1]
    for number, line in enumerate(split, start=1):
        is_torn = number == len(split) and not is_last_whole
        _parse_line(line, number, is_torn=is_torn, lines=lines)
    return lines


def _parse_line(line: bytes, number: int, *, is_torn: bool, lines: Lines) -> None:
    if b"\0" in line:
        kept = line.strip(b"\0")
        lines.damage(number, f"{len(line) - len(kept)} bytes of NUL padding")
        line = kept
    line = line.strip()
    if not line:
        return
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        lines.damage(number, f"byte {error.start + 1} is not UTF-8; such bytes are replaced")
        text = line.decode("utf-8", "replace")
    try:
        # `parse_constant` sees NaN and Infinity, which no other JSON reader would accept back.
        lines.records.append((number, json.loads(text, parse_constant=str)))
    except json.JSONDecodeError:
        what = "cut off" if is_torn and line[:1] in b"{[" else "not JSON"
        lines.damage(number, f"{what}: {len(line)} bytes left out")
    except (RecursionError, ValueError) as error:
        lines.damage(number, f"cannot be parsed: {len(line)} bytes left out ({error})")


def _document(data: bytes) -> list[object] | None:
    """The records of a file that is one JSON document; null when it is JSON Lines.

    Known documents: `{"loglines": […]}` (web export), a list of messages or a lone closing record
    (`--output-format json`).
    """
    first, _, rest = data.lstrip().partition(b"\n")
    if first[:1] not in (b"{", b"["):
        return None
    document = _loaded(first)
    is_one_line = document is not None
    if is_one_line and rest.strip():
        return None
    document = document if is_one_line else _loaded(data)
    if isinstance(document, dict):
        inner = document.get("loglines")
        whole: list[object] | None = None if is_one_line else [document]
        return inner if isinstance(inner, list) else whole
    return document if isinstance(document, list) else None


def _loaded(data: bytes) -> object:
    """The value of a JSON text; null when it is none."""
    try:
        value: object = json.loads(data.decode("utf-8", "replace"), parse_constant=str)
    except (RecursionError, ValueError):
        return None
    return value
